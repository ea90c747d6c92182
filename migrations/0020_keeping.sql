-- Hot tables stay small, old rows can go, and who looks after the installation sees what is kept for how long.

-- A job is a row that is written, begun, held, finished and deleted within minutes, hundreds of them a second. PostgreSQL's own
-- settings clean up when a fifth of a table is dead: by then who asks what is open reads more dead entries of the index than live
-- ones. Room in the pages (a fillfactor) was tried: beginnings and beats change no indexed column and find room in their page
-- without, and the table is half as large again with it.
alter table jobs set (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_limit = 2000
);
-- A few rows that change every second.
alter table live_workers set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table live_models set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table live_callers set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Some hundred rows, which are leased, given back and taken, with molecules of 20 kB each beside them.
alter table reservoir_blocks set (
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
);

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
