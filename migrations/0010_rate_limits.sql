-- What accounts have spent of their rations, shared by all API processes. Not logged: after a crash of PostgreSQL everybody
-- begins with a full ration, and a request costs no write to disk.
create unlogged table rate_limits (
    account_id text not null,
    ration text not null,
    -- The generic cell rate algorithm's theoretical arrival time: how far it lies ahead is what is spent.
    spent_until timestamptz not null,
    -- Whether the last request was refused.
    refused boolean not null,
    primary key (account_id, ration)
) with (fillfactor = 50);

-- Where an account has another ration than the settings give everybody; 0 is no limit.
create table account_rations (
    account_id text not null references accounts (id) on delete cascade,
    ration text not null,
    per_minute integer not null check (per_minute >= 0),
    primary key (account_id, ration)
);
