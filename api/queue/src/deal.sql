-- Apalis' own function (its migration 20260902075949) but for whose turn it is, the process' places, and that a job is begun as it is dealt.
--
-- A job that names a model goes only to a process that has said that it serves it (apalis names its workers as
-- `run_worker` tells it: `PROCESS/…`). The lowest turn goes first (`admit.sql`). A process has slots for any job, places for what lies
-- ready, which needs none of what slots stand for, and places for accounts that have nothing in hand: long jobs of one account
-- may have all slots for minutes. What is not urgent (`enqueue_job`) goes after all that is, and takes slots alone.
--
-- In PL/pgSQL, which keeps the plans: as functions in SQL they were planned again at every look for jobs.

-- What a job that nobody holds has earned; null: another attempt.
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

-- Whom a job of `of_queue` that waits is told to, as the payload of `job_waits`: the queue, for all of its workers, and where they are many
-- the names of some that may take it. Each that is woken looks, and a thousand looks for one job would cost the database more than the
-- job; if all of the some are busy, who ends a job looks, and who is idle looks once a second.
create or replace function job_bell(of_queue text, of_model text, dead_after interval, out payload text) language plpgsql stable as $$
declare
    most_told constant integer := 8;
    picked constant integer := 4;
begin
    payload := of_queue;
    if (select count(*) from live_workers where queue = of_queue and last_seen > now() - dead_after) > most_told then
        select concat_ws(' ', of_queue, string_agg(name, ' ')) into payload from (
            select name from live_workers as worker
            where queue = of_queue and last_seen > now() - dead_after
                and (of_model is null or exists (select from live_models where worker = worker.name and model_id = of_model))
            order by random()
            limit picked
        ) as told;
    end if;
end
$$;

create or replace function apalis.get_jobs(worker_id text, v_job_type text, v_job_count integer default 5)
returns setof apalis.jobs language plpgsql volatile as $$
declare
    process live_workers;
    -- The models that the process serves, and how much lies ready of each.
    models text[];
    ready bigint[];
    slots_left bigint;
    ready_left bigint;
    guests_left bigint;
    -- Accounts that have something in hand.
    busy text[];
    dealt integer := 0;
    next record;
    seat text;
    job jobs;
    task apalis.jobs;
    verdict jsonb;
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
    into slots_left, ready_left, guests_left
    from jobs where holder = process.name and finished_at is null;
    select array_agg(model_id), array_agg(live_models.ready) into models, ready
    from live_models where worker = process.name;
    if guests_left > 0 then
        select coalesce(array_agg(distinct account_id), '{}') into busy from jobs
        where queue = v_job_type and urgency = 0 and held_until > now() and finished_at is null and cancelled_at is null;
    end if;

    for next in
        select id, account_id, model_id, attempts, units, urgency from jobs
        where queue = v_job_type and holder is null and finished_at is null and cancelled_at is null
            and (held_until is null or held_until < now())
            and (model_id is null or model_id = any(models))
        order by urgency, turn_begins, deadline
    loop
        exit when dealt = v_job_count or slots_left + ready_left + guests_left <= 0;
        seat := case
            when ready_left > 0 and next.attempts = 0 and ready[array_position(models, next.model_id)] >= next.units then 'ready'
            when slots_left > 0 then 'slot'
            when guests_left > 0 and next.urgency = 0 and next.account_id <> all(busy) then 'guest'
        end;
        continue when seat is null;
        -- Another process may be about to take it, or may just have taken it.
        select * into job from jobs
        where id = next.id and holder is null and finished_at is null and cancelled_at is null for update skip locked;
        continue when not found;
        select * into task from apalis.jobs where id = next.id;
        continue when not found;

        verdict := job_verdict(job);
        if verdict is not null then
            update jobs set finished_at = now(), outcome = verdict where id = job.id;
            continue;
        end if;
        update jobs set holder = process.name, place = seat, held_until = now() + process.lease,
            attempts = attempts + 1, started_at = now()
        where id = job.id;
        dealt := dealt + 1;
        case seat
            when 'ready' then ready_left := ready_left - 1;
            when 'slot' then slots_left := slots_left - 1;
            else guests_left := guests_left - 1;
        end case;
        if job.urgency = 0 then
            busy := busy || job.account_id;
        end if;
        -- The task itself stays as it is until its job has an outcome: what a worker is told travels in the answer alone.
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
