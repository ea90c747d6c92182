-- Accounts, their refresh tokens, and the keys that sign access tokens.

create table accounts (
    id text primary key,
    email text not null,
    name text not null,
    password_hash text not null,
    scopes text[] not null,
    created_at timestamptz not null default now(),
    disabled_at timestamptz
);

create unique index accounts_email on accounts (lower(email));

-- A family begins at a login; each refresh replaces the token. A used token that comes back ends the family.
create table refresh_tokens (
    token_hash bytea primary key,
    family text not null,
    account_id text not null references accounts (id) on delete cascade,
    client_id text not null,
    scopes text[] not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz
);

create index refresh_tokens_family on refresh_tokens (family);

create table signing_keys (
    kid text primary key,
    algorithm text not null,
    private_key_pem text not null,
    public_key_pem text not null,
    created_at timestamptz not null default now(),
    retired_at timestamptz
);
