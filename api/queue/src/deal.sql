-- Apalis' own function (its migration 20260902075949) but for whose turn it is and the process' places.
--
-- A task whose job names a model goes only to a process that has said that it serves it (apalis names its workers as
-- `run_worker` tells it: `PROCESS/…`). The lowest turn goes first (`admit.sql`). A process has slots for any job, places for what lies
-- ready, which needs none of what slots stand for, and places for accounts that have nothing in hand: long jobs of one account
-- may have all slots for minutes.
--
-- Apalis fetches in a transaction that it may leave open for a while: no row is locked but the task's, where the place is noted too.
--
-- In PL/pgSQL, which keeps the plan: as a function in SQL it was planned again at every look for jobs.

-- Done tasks keep the name of their worker.
create index if not exists jobs_in_hand on apalis.jobs (lock_by) where status in ('Queued', 'Running');

create or replace function apalis.get_jobs(worker_id text, v_job_type text, v_job_count integer default 5)
returns setof apalis.jobs language plpgsql volatile as $$
begin
    return query
    -- Once, and not for every task that waits.
    with process as materialized (
        select worker.name, worker.slots, worker.ready_places, worker.guest_places,
            count(*) filter (where task.metadata -> 'place' = 'slot') as slots_taken,
            count(*) filter (where task.metadata -> 'place' = 'ready') as ready_taken,
            count(*) filter (where task.metadata -> 'place' = 'guest') as guests
        from live_workers as worker
            left join (apalis.jobs as task join jobs as job on job.id = task.id and job.finished_at is null)
                on task.lock_by = worker_id and task.status in ('Queued', 'Running')
        where worker.name = split_part(worker_id, '/', 1)
        group by worker.name
    ), busy as (
        select account_id from jobs
        where queue = v_job_type and held_until > now() and finished_at is null and cancelled_at is null
    ), next as (
        select task.id, seat.place
        from process
            cross join apalis.jobs as task
            -- A limit, so that each is looked up by its id: a plan made while the table was small would read all of it.
            left join lateral (select * from jobs where id = task.id limit 1) as job on true
            left join live_models as model on model.worker = process.name and model.model_id = job.model_id
            cross join lateral (
                select case
                    when ready_taken < ready_places and job.attempts = 0 and model.ready >= job.units then 'ready'
                    when slots_taken < slots then 'slot'
                    when guests < guest_places and job.account_id not in (select account_id from busy) then 'guest'
                end as place
            ) as seat
        where (task.status = 'Pending' or (task.status = 'Failed' and task.attempts < task.max_attempts))
            and task.run_at < now()
            and task.job_type = v_job_type
            and (job.model_id is null or model.model_id is not null)
            and not exists (select from paused_queues where queue = v_job_type)
            and seat.place is not null
        order by task.priority desc, job.turn_begins nulls first, job.deadline
        limit v_job_count
        for update of task skip locked
    )
    update apalis.jobs as task set status = 'Queued', lock_by = worker_id, lock_at = now(),
        metadata = coalesce(task.metadata, '') || hstore('place', next.place)
    from next
    where task.id = next.id
    returning task.*;
end
$$;
