-- One row per job beside apalis' own: what the caller waits for and what the queue's admission reads.

create table jobs (
    id text primary key,
    queue text not null,
    -- Seconds of one worker slot that the job may take; admission adds them up.
    expected_seconds double precision not null,
    attempts integer not null default 0,
    created_at timestamptz not null default now(),
    deadline timestamptz not null,
    started_at timestamptz,
    cancelled_at timestamptz,
    finished_at timestamptz,
    outcome jsonb
);

create index jobs_open on jobs (queue, deadline) where finished_at is null and cancelled_at is null;
create index jobs_finished on jobs (finished_at) where finished_at is not null;

create function notify_job_finished() returns trigger language plpgsql as $$
begin
    perform pg_notify('job_finished', new.id);
    return new;
end
$$;

create trigger job_finished after update of finished_at on jobs
    for each row when (old.finished_at is null and new.finished_at is not null)
    execute function notify_job_finished();

create function notify_job_cancelled() returns trigger language plpgsql as $$
begin
    perform pg_notify('job_cancelled', new.id);
    return new;
end
$$;

create trigger job_cancelled after update of cancelled_at on jobs
    for each row when (old.cancelled_at is null and new.cancelled_at is not null)
    execute function notify_job_cancelled();

-- Worker processes that beat every second; one silent for several seconds is dead.
create table live_workers (
    name text primary key,
    queue text not null,
    slots integer not null,
    started_at timestamptz not null default now(),
    last_seen timestamptz not null default now()
);

-- The generative models that each live sampler has loaded.
create table live_models (
    worker text not null references live_workers (name) on delete cascade,
    model_id text not null,
    relative_cost double precision not null,
    primary key (worker, model_id)
);
