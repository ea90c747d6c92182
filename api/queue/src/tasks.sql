-- Settings of apalis' table for this queue's use: a task is written with its job, found by its id, and deleted with the job's outcome.

-- PostgreSQL's defaults vacuum when a fifth of a table's rows is dead; this vacuums at a hundredth (migration 0020).
alter table apalis.jobs set (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_limit = 2000
);

-- `job_waits` names the workers to notify (`job_bell` in `claim.sql`).
drop trigger if exists notify_workers on apalis.jobs;

-- No query uses these, and each would be written with every task.
drop index if exists apalis.idx_apalis_jobs_fetch_partial, apalis.idx_apalis_jobs_lock_by, apalis.idx_jobs_idempotency_key,
    apalis.jobs_in_hand, apalis.lidx, apalis.unique_job_id;
