-- What running searches tell those who watch them. Neither table is logged: a crash of PostgreSQL loses what was told so far, never an
-- answer, and telling costs no write to disk.

create unlogged table job_events (
    job_id text not null,
    -- Milliseconds since 1970 when it was told, or one more than the one before: they rise, whichever attempt at the job tells.
    number bigint not null,
    event text not null check (event in ('progress', 'route')),
    -- JSON on one line.
    data text not null,
    primary key (job_id, number)
);

-- Jobs that somebody watches, from whichever process.
create unlogged table watched_jobs (
    job_id text primary key,
    -- Said again and again while they watch.
    until timestamptz not null,
    -- Whether nobody wants the job's outcome but who watches: then it is cancelled when nobody does any more.
    is_awaited boolean not null
) with (fillfactor = 50);
