-- Until when the worker that runs the job is believed to live; it moves on with every beat of that worker.
-- Nobody else begins the job before, so that one job never runs twice at the same time.

alter table jobs add column held_until timestamptz;
