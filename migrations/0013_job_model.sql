-- The model that a job needs; only workers that have loaded it take the job. Null: any worker of the queue does.

alter table jobs add column model_id text;
