-- Apalis' table as ours (migration 0020): PostgreSQL's own settings clean up when a fifth of it is dead.
alter table apalis.jobs set (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_limit = 2000
);
