-- Apalis' own function (its migration 20260902075949) but for the model: a task whose job names one goes only to a
-- process that has said that it serves it. Apalis names its workers as `run_worker` tells it: `PROCESS/…`.
--
-- In PL/pgSQL, which keeps the plan: as a function in SQL it was planned again at every look for jobs.

create or replace function apalis.get_jobs(worker_id text, v_job_type text, v_job_count integer default 5)
returns setof apalis.jobs language plpgsql volatile as $$
begin
    return query
    with next as (
        select task.id
        from apalis.jobs as task left join jobs as job on job.id = task.id
        where (task.status = 'Pending' or (task.status = 'Failed' and task.attempts < task.max_attempts))
            and task.run_at < now()
            and task.job_type = v_job_type
            and (job.model_id is null or job.model_id in (
                select model_id from live_models where worker = split_part(worker_id, '/', 1)
            ))
        order by task.priority desc, task.run_at
        limit v_job_count
        for update of task skip locked
    )
    update apalis.jobs as task set status = 'Queued', lock_by = worker_id, lock_at = now()
    from next
    where task.id = next.id
    returning task.*;
end
$$;
