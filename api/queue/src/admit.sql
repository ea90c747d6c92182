-- Admission of jobs to a queue.
--
-- Accounts share a queue's workers by start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996). A job's virtual start time
-- (`turn_begins`) is the virtual finish time (`turn_ends`) of the account's job before it, in seconds of service, or the virtual time of
-- the queue, if that is later: the latest virtual start time of the jobs that run. So a new account comes before another's backlog, and
-- an idle account saves up nothing.
--
-- PL/pgSQL keeps the query plans, and sees after the lock what others have committed before it.

-- Load of a queue as a new job would find it, and the seconds until the job would be admitted.

create or replace function job_prospect(
    of_queue text,
    of_account text,
    of_model text,
    of_kind text,
    -- Seconds that the job estimates for itself: from scratch, and from `of_units` units kept ready (null: never kept ready).
    estimate double precision,
    ready_estimate double precision,
    of_units integer,
    longest double precision,
    -- Seconds that the job may wait before it begins.
    patience double precision,
    dead_after interval,
    out slots bigint,
    out all_slots bigint,
    out model_is_known boolean,
    out lies_ready boolean,
    out own_seconds double precision,
    out expected_seconds double precision,
    out turn double precision,
    out in_flight bigint,
    -- Seconds until it would be admitted if no other job came; 0: now.
    out admitted_in double precision
) language plpgsql stable as $$
declare
    ready_places bigint;
    ready bigint;
    pace double precision;
    ahead double precision;
    account_seconds double precision;
    jobs_ahead bigint;
    accounts bigint;
begin
    select
        coalesce(sum(worker.slots) filter (where is_ours), 0), coalesce(sum(worker.slots), 0),
        coalesce(sum(worker.ready_places) filter (where is_ours), 0), coalesce(max(served.ready), 0)
    into slots, all_slots, ready_places, ready
    from live_workers as worker
        left join live_models as served on served.worker = worker.name and served.model_id = of_model
        cross join lateral (select of_model is null or served.model_id is not null as is_ours) as serves
    where worker.queue = of_queue and worker.last_seen > now() - dead_after;

    model_is_known := of_model is null or exists (select from live_models where model_id = of_model);

    lies_ready := ready_places > 0 and of_units <= ready - coalesce((
        select sum(job.units) from jobs as job
        where job.queue = of_queue and job.finished_at is null and job.cancelled_at is null and job.deadline > now()
            and job.model_id = of_model and job.lay_ready
    ), 0);
    lies_ready := coalesce(lies_ready, false);

    -- Seconds that the last twenty jobs of the kind took, as a multiple of their estimates.
    own_seconds := case when lies_ready then ready_estimate else estimate end;
    select sum(took) / sum(own_estimate) into pace
    from (
        select own_estimate, extract(epoch from finished_at - started_at) as took
        from jobs
        where queue = of_queue and kind = of_kind || case when lies_ready then ' ready' else '' end
            and finished_at is not null and started_at is not null and own_estimate > 0
        order by finished_at desc
        limit 20
    ) as last;
    expected_seconds := least(own_seconds * least(greatest(coalesce(pace, 1), 0.01), 1000), longest);

    -- An account that has been idle for a minute starts at the queue's virtual time.
    select case when finished_at is null or finished_at > now() - interval '1 minute' then turn_ends end into turn
    from jobs where queue = of_queue and account_id = of_account
    -- In the order of the index of an account's jobs: by the id alone, all jobs might be read for an account that has none.
    order by queue desc, account_id desc, id desc limit 1;

    -- Open work counts in proportion: of the slots that can run it, the share that can also run the new job.
    with open as materialized (
        select account_id, model_id, turn_begins, lay_ready, held_until > now() as runs,
            case
                -- A job that has run longer than expected is expected to run as long again.
                when held_until > now() then greatest(
                    job.expected_seconds - ran, least(ran, coalesce(longest_seconds, 'infinity') - ran), 0)
                else job.expected_seconds
            end as seconds
        from jobs as job cross join lateral (select extract(epoch from now() - started_at) as ran) as time
        where queue = of_queue and finished_at is null and cancelled_at is null and deadline > now()
    ), own as (
        -- Where no job runs, a new job does not come before those that wait.
        select greatest(turn, coalesce(max(turn_begins) filter (where runs), min(turn_begins), 0)) as begins from open
    ), shared as materialized (
        select wanted.model_id, coalesce(sum(worker.slots) filter (where is_ours), 0)::float8 / sum(worker.slots) as part
        from (select distinct model_id from open) as wanted
            join live_workers as worker on worker.queue = of_queue and worker.last_seen > now() - dead_after
                and (wanted.model_id is null or exists (
                    select from live_models where worker = worker.name and model_id = wanted.model_id
                ))
            cross join lateral (
                select of_model is null or exists (
                    select from live_models where worker = worker.name and model_id = of_model
                ) as is_ours
            ) as serves
        group by wanted.model_id
    )
    select
        own.begins,
        coalesce(sum(seconds * part) filter (where (runs or turn_begins <= own.begins) and (lay_ready or not lies_ready)), 0),
        count(*) filter (where part > 0 and (lay_ready or not lies_ready)),
        coalesce(sum(seconds) filter (where account_id = of_account), 0),
        count(*) filter (where account_id = of_account),
        count(distinct account_id) filter (where account_id <> of_account) + 1
    into turn, ahead, jobs_ahead, account_seconds, in_flight, accounts
    from own left join open on true left join shared on shared.model_id is not distinct from open.model_id
    group by own.begins;

    if slots > 0 then
        admitted_in := case
            when jobs_ahead < slots then 0
            else greatest(0, least(
                -- All work before it is done in time …
                ahead / (slots + case when lies_ready then ready_places else 0 end) - greatest(patience, 0),
                -- … or the account's own share of the slots suffices for all of the account's work.
                account_seconds * accounts / slots + expected_seconds * greatest(accounts::float8 / slots, 1)
                    - (greatest(patience, 0) + expected_seconds)
            ))
        end;
    end if;
end
$$;

-- Stores a job with its task, in one transaction, unless the job would begin too late or the account has `most_in_flight` jobs in
-- flight (null: any number).
create or replace function submit_job(
    job_id text,
    of_queue text,
    of_account text,
    of_caller text,
    of_model text,
    of_kind text,
    estimate double precision,
    ready_estimate double precision,
    of_units integer,
    longest double precision,
    wait interval,
    most_in_flight integer,
    payload bytea,
    trace_keys text[],
    trace_values text[],
    -- Attempts that apalis may make.
    max_deals integer,
    dead_after interval,
    out admitted boolean,
    out is_capped boolean,
    out slots bigint,
    out all_slots bigint,
    out model_is_known boolean,
    out expected_seconds double precision,
    out admitted_in double precision
) language plpgsql volatile as $$
declare
    prospect record;
begin
    -- Submissions of one account are serialised. Those of different accounts at the same moment are not, so each account can exceed the
    -- limit by one job.
    perform pg_advisory_xact_lock(hashtextextended(of_queue || ' ' || of_account, 0));
    select * into prospect from job_prospect(of_queue, of_account, of_model, of_kind, estimate, ready_estimate, of_units,
        longest, extract(epoch from wait) - coalesce(longest, estimate), dead_after);
    slots := prospect.slots;
    all_slots := prospect.all_slots;
    model_is_known := prospect.model_is_known;
    expected_seconds := prospect.expected_seconds;
    admitted_in := prospect.admitted_in;
    is_capped := prospect.in_flight >= most_in_flight;
    admitted := slots > 0 and admitted_in = 0 and is_capped is not true
        and not exists (select from paused_queues where queue = of_queue);
    if admitted then
        insert into jobs (id, queue, account_id, caller, model_id, kind, own_estimate, expected_seconds, longest_seconds, units,
            lay_ready, deadline, begin_by, turn_begins, turn_ends)
        values (job_id, of_queue, of_account, of_caller, of_model,
            of_kind || case when prospect.lies_ready then ' ready' else '' end,
            prospect.own_seconds, prospect.expected_seconds, longest, of_units, prospect.lies_ready, now() + wait,
            now() + wait - make_interval(secs => coalesce(longest, 0)),
            prospect.turn, prospect.turn + prospect.expected_seconds);
        insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata)
        values (job_id, of_queue, payload, 'Pending', 0, max_deals, now(), 0, hstore(trace_keys, trace_values));
        perform pg_notify('job_waits', job_bell(of_queue, of_model, dead_after));
    end if;
end
$$;

-- Stores a background job with its task: no request waits for it, so its deadline is ten years away.
create or replace function enqueue_job(
    job_id text,
    of_queue text,
    of_account text,
    of_model text,
    of_kind text,
    estimate double precision,
    of_urgency smallint,
    payload bytea,
    trace_keys text[],
    trace_values text[],
    -- Attempts that apalis may make.
    max_deals integer,
    dead_after interval
) returns void language plpgsql volatile as $$
declare
    turn double precision;
begin
    perform pg_advisory_xact_lock(hashtextextended(of_queue || ' ' || of_account, 0));
    select case when finished_at is null or finished_at > now() - interval '1 minute' then turn_ends end into turn
    from jobs where queue = of_queue and account_id = of_account
    order by queue desc, account_id desc, id desc limit 1;
    -- Latest virtual start time of the jobs that run, else the first of those that wait: by the indexes of held jobs, which are few, and of
    -- waiting jobs, however many.
    select greatest(turn, coalesce(
        (
            select max(turn_begins) from jobs
            where holder is not null and finished_at is null and queue = of_queue and cancelled_at is null and held_until > now()
        ),
        least(
            (select turn_begins from jobs where queue = of_queue and urgency = 0 and holder is null and finished_at is null and cancelled_at is null
                order by turn_begins limit 1),
            (select turn_begins from jobs where queue = of_queue and urgency = 1 and holder is null and finished_at is null and cancelled_at is null
                order by turn_begins limit 1)
        ),
        0
    )) into turn;
    insert into jobs (id, queue, account_id, model_id, kind, own_estimate, expected_seconds, deadline, urgency, turn_begins, turn_ends)
    values (job_id, of_queue, of_account, of_model, of_kind, estimate, estimate, now() + interval '10 years', of_urgency,
        turn, turn + estimate);
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata)
    values (job_id, of_queue, payload, 'Pending', 0, max_deals, now(), 0, hstore(trace_keys, trace_values));
    perform pg_notify('job_waits', job_bell(of_queue, of_model, dead_after));
end
$$;
