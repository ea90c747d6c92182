-- Tokens that people make for their scripts: good until they end, so kept as hashes and looked up, where access tokens are signed and last minutes.

create table script_tokens (
    id text primary key,
    account_id text not null references accounts (id) on delete cascade,
    -- By which its person knows it again.
    name text not null,
    secret_hash bytea not null unique,
    -- What it may do at most; of these, what its account may do by then.
    scopes text[] not null,
    -- The login in which it was made: a new password and a disabled account end what comes from logins before.
    authenticated_at timestamptz not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
);

create unique index script_tokens_name on script_tokens (account_id, lower(name));
create index script_tokens_expiry on script_tokens (expires_at);

-- What the service marks its script tokens with, so that what was guessed is told without a look into the database. It opens nothing.
create table script_token_mark (
    is_only boolean primary key default true check (is_only),
    key bytea not null default sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea)
);

insert into script_token_mark default values;

-- The console says who somebody is and to which organisation they belong.
update applications set scopes = scopes || array['profile'] where client_id = 'console' and not 'profile' = any(scopes);
