-- Work that nobody waits for: jobs that have no deadline, the plans that they make, and batches of plans.

-- The lower goes first, whoever's turn it is; 0: a job that somebody waits for, or soon comes back for.
alter table jobs add column urgency smallint not null default 0;

drop index jobs_waiting;
create index jobs_waiting on jobs (queue, urgency, turn_begins, deadline)
    where holder is null and finished_at is null and cancelled_at is null;

-- Targets that were asked for together. One that was deleted is shown to nobody, and its plans go in turns.
create table batches (
    id text primary key,
    account_id text not null references accounts (id) on delete cascade,
    name text,
    description text,
    -- What every plan of it is asked with, but for the target; the engine beside it.
    parameters json not null,
    engine text not null,
    plan_count integer not null check (plan_count > 0),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    -- Whether every plan of it that is to be made has a job, or had one.
    is_begun boolean not null default false,
    cancelled_at timestamptz,
    deleted_at timestamptz
);

create index batches_account on batches (account_id, id) where deleted_at is null;
create index batches_created on batches (created_at);
create index batches_to_begin on batches (account_id, id)
    where not is_begun and cancelled_at is null and deleted_at is null;
create index batches_deleted on batches (id) where deleted_at is not null;

create table plans (
    id text primary key,
    account_id text not null references accounts (id) on delete cascade,
    batch_id text references batches (id) on delete cascade,
    -- In the batch, from 0.
    place integer check ((batch_id is null) = (place is null)),
    -- The plan of the batch that has the same target, and so the same result; null: none before it.
    same_as text,
    search_smiles text not null,
    -- Null: the batch's. As text, since JSON may name what jsonb cannot hold.
    parameters json check (batch_id is not null or parameters is not null),
    engine text not null,
    name text,
    description text,
    -- One that is pending is being worked on where a worker holds its job.
    status text not null default 'pending' check (status in ('pending', 'completed', 'failed', 'cancelled')),
    -- The job that makes it; null: none yet.
    job_id text,
    -- The answer, JSON that is gzipped.
    result bytea check ((status = 'completed') = (result is not null)),
    -- Why there is no answer, as a job's outcome has it.
    problem jsonb,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

-- It is compressed already.
alter table plans alter column result set storage external;
alter table plans set (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);

create index plans_of_account on plans (account_id);
create unique index plans_of_batch on plans (batch_id, place) where batch_id is not null;
create unique index plans_of_job on plans (job_id) where job_id is not null;
create index plans_created on plans (created_at) where batch_id is null;
-- What waits for a job, in its order, and what has one.
create index plans_to_begin on plans (batch_id, place)
    where status = 'pending' and job_id is null and same_as is null;
create index plans_pending on plans (engine) where status = 'pending' and same_as is null;
create index plans_begun on plans (account_id)
    where status = 'pending' and job_id is not null and batch_id is not null;

-- How a plan stands whose result `made` has, itself where no other plan of its batch has the same target.
create function plan_stands(plan plans, made plans) returns text language sql stable as $$
    select case
        when plan.status <> 'pending' then plan.status
        when exists (
            select from jobs where jobs.id = made.job_id and finished_at is null and held_until > now()
        ) then 'processing'
        else made.status
    end
$$;

-- A plan has the end of its job, whoever ends that, and waits again with it. An answer is stored by the worker that has it.
create function plan_follows_job() returns trigger language plpgsql as $$
begin
    if new.finished_at is null then
        update plans set status = 'pending', problem = null, updated_at = now()
        where job_id = new.id and status in ('failed', 'cancelled');
    elsif new.outcome ? 'Err' then
        update plans set problem = new.outcome -> 'Err', updated_at = now(),
            status = case when new.outcome #>> '{Err,problem}' in ('cancelled', 'cancelled_by_operator')
                then 'cancelled' else 'failed' end
        where job_id = new.id and status = 'pending';
    end if;
    return new;
end
$$;

create trigger plan_follows_job after update of finished_at on jobs
    for each row when (new.queue = 'plan' and old.finished_at is distinct from new.finished_at)
    execute function plan_follows_job();
