-- Apalis' table as this queue uses it: a task is written with its job, found by its id, and deleted with its outcome.

-- PostgreSQL's own settings clean up when a fifth of a table is dead; these are ours (migration 0020).
alter table apalis.jobs set (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_limit = 2000
);

-- `job_waits` tells who is to look (`deal.sql`).
drop trigger if exists notify_workers on apalis.jobs;

-- Nothing asks by these, and each would be written with every task.
drop index if exists apalis.idx_apalis_jobs_fetch_partial, apalis.idx_apalis_jobs_lock_by, apalis.idx_jobs_idempotency_key,
    apalis.jobs_in_hand, apalis.lidx, apalis.unique_job_id;
