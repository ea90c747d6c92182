-- Hot tables stay small, old rows can go, and who looks after the installation sees what is kept for how long.

-- A job is a row that is written, begun, held, finished and deleted within minutes, hundreds of them a second. PostgreSQL's own
-- settings clean up when a fifth of a table is dead: by then the indexes that every submission reads are mostly dead entries. A
-- beginning and a beat change no indexed column, so with room in the page they cost the indexes nothing.
alter table jobs set (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_limit = 2000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = 1000
);
-- A few rows that change every second, in place.
alter table live_workers set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table live_models set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table live_callers set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Some hundred rows, which are leased, given back and taken, with molecules of 20 kB each beside them.
alter table reservoir_blocks set (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_cost_limit = 2000,
    toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_cost_limit = 2000
);
-- What is deleted of a large table is soon room for what comes.
alter table samples set (
    autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02
);

-- What is kept for how long, as the processes that delete the rest have it, and how much they have deleted.
create table retention (
    what text primary key,
    -- Null: for ever.
    keep interval,
    looked_at timestamptz not null default now(),
    deleted bigint not null default 0
) with (fillfactor = 50);

-- Old samples are found by their age, whoever made them.
create index samples_created on samples (created_at);

-- A line of the journal can go after a year and no earlier, whoever asks for it.
create function keep_journal_line() returns trigger language plpgsql as $$
begin
    if old.at > now() - interval '1 year' then
        raise exception 'the journal is only ever added to: a line stays for a year at least';
    end if;
    return old;
end
$$;

drop trigger journal_is_kept on journal;
create trigger journal_is_kept before update or truncate on journal
    for each statement execute function keep_journal();
create trigger journal_line_is_kept before delete on journal
    for each row execute function keep_journal_line();
