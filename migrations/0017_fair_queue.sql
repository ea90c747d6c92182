-- Whose a job is and when its turn comes, how much of it is left to be expected, and who waits for it.

alter table jobs
    -- Who has a share of the workers; those without an account have one together.
    add column account_id text not null default '',
    -- The process of the API that waits for it.
    add column caller text,
    -- Jobs of one kind take alike, as multiples of what each says of itself.
    add column kind text not null default '',
    add column own_estimate double precision,
    -- The most seconds that it may run; null: until its deadline.
    add column longest_seconds double precision,
    -- After this it cannot have the time any more that it was promised.
    add column begin_by timestamptz,
    -- What it takes of what workers have ready of its model, and whether that lay ready when it was submitted.
    add column units integer,
    add column lay_ready boolean not null default false,
    -- Its turn in its account's share: seconds of service, counted on by every job of the account.
    add column turn_begins double precision not null default 0,
    add column turn_ends double precision not null default 0;

create index jobs_of_account on jobs (queue, account_id, id);
create index jobs_by_kind on jobs (queue, kind, finished_at) where finished_at is not null;

alter table live_workers
    -- Places beside the slots: for jobs whose result lies ready, and for accounts that have nothing in hand.
    add column ready_places integer not null default 0,
    add column guest_places integer not null default 0;

-- What lies ready of the model.
alter table live_models add column ready bigint not null default 0;

-- Processes whose callers wait for jobs; they beat, and the jobs of a silent one are cancelled.
create table live_callers (
    name text primary key,
    last_seen timestamptz not null default now()
);
