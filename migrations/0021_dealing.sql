-- Who holds a job, since it was dealt, and in which of its places: dealing a job and beginning it are one act.

alter table jobs
    -- The worker process; null: the job waits.
    add column holder text,
    -- 'slot', 'ready' or 'guest'.
    add column place text;

-- What waits, in the order in which it is dealt; what runs, by whom. Neither has a column that changes while a job runs.
create index jobs_waiting on jobs (queue, turn_begins, deadline)
    where holder is null and finished_at is null and cancelled_at is null;
create index jobs_held on jobs (holder) where holder is not null and finished_at is null;

-- How long a job stays a worker's that does not beat. Null: the worker begins by itself what it is dealt, as the release before this did.
alter table live_workers add column lease interval;
