-- Claiming of jobs by worker processes.
--
-- `apalis.get_jobs` replaces apalis' own function (its migration 20260902075949). A claim begins the job, in one statement. The job
-- with the lowest virtual start time goes first (`admit.sql`); background jobs (`enqueue_job`) go after all others. A job that names a
-- model goes only to a process that serves the model (`run_worker` names apalis' workers `PROCESS/…`).
--
-- A claim uses one of three kinds of place:
--   slot    any job
--   ready   a job with a ready result, which needs no computation
--   guest   a job of an account that has none running, since long jobs of one account may hold all slots for minutes
-- Background jobs take slots alone.
--
-- PL/pgSQL keeps the query plans: as functions in SQL they were planned again for every claim.

-- Terminal outcome of a job that no process holds; null: it may be attempted again.
create or replace function job_verdict(job jobs, out outcome jsonb) language sql stable as $$
    select jsonb_build_object('Err', case
        when job.cancelled_by is not null then jsonb_build_object('problem', 'cancelled_by_operator')
        when job.cancelled_at is not null then jsonb_build_object('problem', 'cancelled')
        when job.attempts >= 3 then jsonb_build_object('problem', 'abandoned', 'attempts', job.attempts)
        when job.deadline <= now() then jsonb_build_object('problem', 'deadline_passed')
        else jsonb_build_object('problem', 'too_late')
    end)
    where job.cancelled_at is not null or job.attempts >= 3 or coalesce(job.begin_by, job.deadline) < now()
$$;

-- Payload of `job_waits` for a job that waits in `of_queue`: the queue, and where more than eight workers are alive the names of four
-- that may claim the job. Each worker that is notified polls, and a thousand polls for one job would cost the database more than the
-- job. If all four are busy, the next worker that ends a job polls, and idle workers poll once a second.
create or replace function job_bell(of_queue text, of_model text, dead_after interval, out payload text) language plpgsql stable as $$
declare
    max_workers_to_broadcast constant integer := 8;
    named_workers constant integer := 4;
begin
    payload := of_queue;
    if (select count(*) from live_workers where queue = of_queue and last_seen > now() - dead_after) > max_workers_to_broadcast then
        select concat_ws(' ', of_queue, string_agg(name, ' ')) into payload from (
            select name from live_workers as worker
            where queue = of_queue and last_seen > now() - dead_after
                and (of_model is null or exists (select from live_models where worker = worker.name and model_id = of_model))
            order by random()
            limit named_workers
        ) as named;
    end if;
end
$$;

create or replace function apalis.get_jobs(worker_id text, v_job_type text, v_job_count integer default 5)
returns setof apalis.jobs language plpgsql volatile as $$
declare
    process live_workers;
    -- Models that the process serves, and the number of samples kept ready of each.
    models text[];
    ready bigint[];
    slots_left bigint;
    ready_left bigint;
    reserved_slots_left bigint;
    -- Accounts that have a job running.
    running_accounts text[];
    claimed integer := 0;
    candidate record;
    free_place text;
    job jobs;
    task apalis.jobs;
    terminal_outcome jsonb;
begin
    if exists (select from paused_queues where queue = v_job_type) then
        return;
    end if;
    select * into process from live_workers where name = split_part(worker_id, '/', 1);
    if not found then
        return;
    end if;

    select process.slots - count(*) filter (where place = 'slot'),
        process.ready_places - count(*) filter (where place = 'ready'),
        process.guest_places - count(*) filter (where place = 'guest')
    into slots_left, ready_left, reserved_slots_left
    from jobs where holder = process.name and finished_at is null;
    select array_agg(model_id), array_agg(live_models.ready) into models, ready
    from live_models where worker = process.name;
    if reserved_slots_left > 0 then
        select coalesce(array_agg(distinct account_id), '{}') into running_accounts from jobs
        where queue = v_job_type and urgency = 0 and held_until > now() and finished_at is null and cancelled_at is null;
    end if;

    for candidate in
        select id, account_id, model_id, attempts, units, urgency from jobs
        where queue = v_job_type and holder is null and finished_at is null and cancelled_at is null
            and (held_until is null or held_until < now())
            and (model_id is null or model_id = any(models))
        order by urgency, turn_begins, deadline
    loop
        exit when claimed = v_job_count or slots_left + ready_left + reserved_slots_left <= 0;
        free_place := case
            when ready_left > 0 and candidate.attempts = 0 and ready[array_position(models, candidate.model_id)] >= candidate.units then 'ready'
            when slots_left > 0 then 'slot'
            when reserved_slots_left > 0 and candidate.urgency = 0 and candidate.account_id <> all(running_accounts) then 'guest'
        end;
        continue when free_place is null;
        -- Another process may be about to take it, or may just have taken it.
        select * into job from jobs
        where id = candidate.id and holder is null and finished_at is null and cancelled_at is null for update skip locked;
        continue when not found;
        select * into task from apalis.jobs where id = candidate.id;
        continue when not found;

        terminal_outcome := job_verdict(job);
        if terminal_outcome is not null then
            update jobs set finished_at = now(), outcome = terminal_outcome where id = job.id;
            continue;
        end if;
        update jobs set holder = process.name, place = free_place, held_until = now() + process.lease,
            attempts = attempts + 1, started_at = now()
        where id = job.id;
        claimed := claimed + 1;
        case free_place
            when 'ready' then ready_left := ready_left - 1;
            when 'slot' then slots_left := slots_left - 1;
            else reserved_slots_left := reserved_slots_left - 1;
        end case;
        if job.urgency = 0 then
            running_accounts := running_accounts || job.account_id;
        end if;
        -- The stored task stays as it is until its job has an outcome; what a worker needs to know is in the returned row alone.
        task.status := 'Queued';
        task.lock_by := worker_id;
        task.lock_at := now();
        task.metadata := coalesce(task.metadata, '') || hstore(
            array['job.attempt', 'job.seconds_left', 'job.seconds_waited'],
            array[
                (job.attempts + 1)::text,
                extract(epoch from job.deadline - now())::text,
                extract(epoch from now() - job.created_at)::text
            ]);
        return next task;
    end loop;
end
$$;
