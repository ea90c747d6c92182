-- What operators see of queues and jobs, and what they do to them.

-- Workers are dealt nothing of these queues, and what callers submit to them is refused.
create table paused_queues (
    queue text primary key,
    paused_at timestamptz not null default now(),
    -- Who, as the journal names them.
    paused_by text not null
);

alter table jobs
    -- Why the last attempt that failed did, as its worker's log has it.
    add column last_error text,
    -- The operator who cancelled it, as the journal names them; null: nobody did, or its caller left.
    add column cancelled_by text;

-- What failed last is looked at every few seconds.
create index jobs_failed on jobs (finished_at) where outcome ? 'Err';

alter table live_workers
    -- What its machine is called.
    add column host text,
    -- So much of each of its models it keeps ready; null: a worker of before, which does not say.
    add column ready_target bigint;

-- Counted by every import, so that what the catalogue holds is told for the price of one row.
alter table catalogue_version
    add column imported_at timestamptz,
    add column building_blocks bigint not null default 0,
    add column offers bigint not null default 0;
update catalogue_version set
    building_blocks = (select count(*) from building_blocks), offers = (select count(*) from offers);

-- The command line may ask for what operators may do; accounts have it only where it was given to them.
update applications set scopes = scopes || '{operations}' where client_id = 'retort-cli';

-- The console: pages of the service itself. A redirect address that is a path is one of the service's own, wherever that is.
insert into applications (client_id, name, redirect_uris, flows, scopes)
values ('console', 'Retort console', '{/console/operations}', '{code}', '{operations,openid,profile,email}')
on conflict (client_id) do nothing;
