-- A token is as old as the login that it came from. What a new password or a disabled account ends is told by that alone, whoever was
-- quicker: a refresh that was under way makes tokens of a login that no longer counts.
alter table refresh_tokens add column authenticated_at timestamptz not null default now();
update refresh_tokens set authenticated_at = created_at;

-- What ends with an account or an application, and what has run out.
create index refresh_tokens_account on refresh_tokens (account_id);
create index refresh_tokens_client on refresh_tokens (client_id);
create index refresh_tokens_expiry on refresh_tokens (expires_at);
create index browser_sessions_expiry on browser_sessions (expires_at);
create index authorization_codes_account on authorization_codes (account_id);
create index device_codes_account on device_codes (account_id);
create index device_codes_expiry on device_codes (expires_at);
create index revocations_until on revocations (until);

-- Browsers from which somebody has logged in to the account: their attempts at its password are counted by themselves, so that
-- nobody else can use them up.
create table known_browsers (
    secret_hash bytea not null,
    account_id text not null references accounts (id) on delete cascade,
    expires_at timestamptz not null,
    primary key (secret_hash, account_id)
);

create index known_browsers_expiry on known_browsers (expires_at);
