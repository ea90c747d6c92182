-- Devices that wait for a person to let them in (RFC 8628).

create table device_codes (
    device_code_hash bytea primary key,
    -- What the person types: eight consonants.
    user_code text not null unique,
    client_id text not null references applications (client_id) on delete cascade,
    scopes text[] not null,
    expires_at timestamptz not null,
    -- The device may ask this often; more when it asked too often.
    interval_seconds integer not null default 5,
    polled_at timestamptz,
    -- What the person decided, and who it was: allowed, refused.
    decision text,
    account_id text references accounts (id) on delete cascade,
    authenticated_at timestamptz
);
