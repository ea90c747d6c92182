-- Applications that may ask for tokens, and what the browser flows keep between two requests.

create table applications (
    client_id text primary key,
    name text not null,
    -- SHA-256 of the secret, which is 256 random bits; null: a public application, which has none.
    secret_hash bytea,
    redirect_uris text[] not null,
    logout_uris text[] not null default '{}',
    -- Of: code, implicit, device, password.
    flows text[] not null,
    scopes text[] not null,
    created_at timestamptz not null default now()
);

-- The command line's own client. On the loopback address any port will do (RFC 8252, section 7.3).
insert into applications (client_id, name, redirect_uris, flows, scopes) values (
    'retort-cli', 'Retort command line', '{http://127.0.0.1/callback}', '{code,device,password}',
    '{generator_api.samples:create,generator_api.samples:read,generator_api.samples:update,generator_api.samples:delete,
      generator_api.models:create,generator_api.models:read,generator_api.models:update,generator_api.models:delete,
      email,profile,openid,offline_access}'
);

-- A person who is logged in, in one browser.
create table browser_sessions (
    secret_hash bytea primary key,
    account_id text not null references accounts (id) on delete cascade,
    authenticated_at timestamptz not null default now(),
    expires_at timestamptz not null
);

create index browser_sessions_account on browser_sessions (account_id);

-- What a person has allowed an application; asked again when it wants more.
create table consents (
    account_id text not null references accounts (id) on delete cascade,
    client_id text not null references applications (client_id) on delete cascade,
    scopes text[] not null,
    granted_at timestamptz not null default now(),
    primary key (account_id, client_id)
);

-- Used codes stay for a day, so that a second use is seen and ends what the first one bought.
create table authorization_codes (
    code_hash bytea primary key,
    family text not null,
    client_id text not null references applications (client_id) on delete cascade,
    account_id text not null references accounts (id) on delete cascade,
    redirect_uri text not null,
    -- PKCE, always S256.
    code_challenge text not null,
    scopes text[] not null,
    nonce text,
    authenticated_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
);

create index authorization_codes_expiry on authorization_codes (expires_at);

-- Families of tokens, applications and single access tokens that ended before their time. A row outlives the
-- last access token.
create table revocations (
    id text primary key,
    until timestamptz not null
);
