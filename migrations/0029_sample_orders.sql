-- Samples that nobody waits for: ordered, made when their turns come; and batches of them.

-- Molecules that were asked for together, no two of them the same. Its chunks are orders, all stored with it.
create table sample_batches (
    id text primary key,
    -- By which its claims know it.
    number bigint not null unique generated always as identity,
    account_id text not null references accounts (id) on delete cascade,
    -- As it was asked for; null: whatever the orders name.
    model_id text,
    size integer not null check (size between 1 and 100000),
    chunk_count integer not null check (chunk_count > 0),
    created_at timestamptz not null default now(),
    -- Whether every chunk of it that is to be made has a job, or had one.
    is_begun boolean not null default false
);

create index sample_batches_account on sample_batches (account_id, id);
create index sample_batches_created on sample_batches (created_at);
create index sample_batches_to_begin on sample_batches (account_id, id) where not is_begun;

-- A sample that is to be made, under the id that it will have; it stays when it is made, and says then what batch the sample is of.
create table sample_orders (
    id text primary key,
    account_id text not null references accounts (id) on delete cascade,
    batch_id text references sample_batches (id) on delete cascade,
    -- In the batch, from 0.
    place integer check ((batch_id is null) = (place is null)),
    model_id text not null,
    size integer not null check (size between 1 and 10000),
    seed bigint not null,
    -- One that is pending is being worked on where a worker holds its job.
    status text not null default 'pending' check (status in ('pending', 'completed', 'failed')),
    -- The job that makes it; null: none yet.
    job_id text,
    -- Why there is no sample, as a job's outcome has it.
    problem jsonb,
    created_at timestamptz not null default now()
);

create index sample_orders_of_account on sample_orders (account_id);
create unique index sample_orders_of_batch on sample_orders (batch_id, place) where batch_id is not null;
create unique index sample_orders_of_job on sample_orders (job_id) where job_id is not null;
create index sample_orders_created on sample_orders (created_at) where batch_id is null;
-- What waits for a job, in its order, and what has one.
create index sample_orders_to_begin on sample_orders (batch_id, place) where status = 'pending' and job_id is null;
create index sample_orders_begun on sample_orders (account_id)
    where status = 'pending' and job_id is not null and batch_id is not null;

-- How an order stands.
create function order_stands(wanted sample_orders) returns text language sql stable as $$
    select case
        when wanted.status = 'pending' and exists (
            select from jobs where jobs.id = wanted.job_id and finished_at is null and held_until > now()
        ) then 'processing'
        else wanted.status
    end
$$;

-- How many chunks of a batch stand how.
create function sample_batch_progress(of_batch text, out completed bigint, out failed bigint, out processing bigint)
language sql stable as $$
    select count(*) filter (where stands = 'completed'), count(*) filter (where stands = 'failed'),
        count(*) filter (where stands = 'processing')
    from sample_orders as wanted cross join lateral (select order_stands(wanted) as stands) as standing
    where batch_id = of_batch
$$;

-- An order has the end of its job, whoever ends that, and waits again with it. A sample is stored by the worker that has it.
create function order_follows_job() returns trigger language plpgsql as $$
begin
    if new.finished_at is null then
        update sample_orders set status = 'pending', problem = null where job_id = new.id and status = 'failed';
    elsif new.outcome ? 'Err' then
        update sample_orders set status = 'failed', problem = new.outcome -> 'Err'
        where job_id = new.id and status = 'pending';
    end if;
    return new;
end
$$;

create trigger order_follows_job after update of finished_at on jobs
    for each row when (new.queue = 'order' and old.finished_at is distinct from new.finished_at)
    execute function order_follows_job();

-- The molecules of a batch that has chunks left to be made, by the SHA-256 of their SMILES: a chunk is stored in the transaction in which
-- it claims each of its molecules, and a claim is there once. They go when all chunks are made. No key refers to the batch: whoever
-- claims would lock its row, which who deletes it has.
create table sample_claims (
    batch bigint not null,
    digest bytea not null,
    primary key (batch, digest)
);
alter table sample_claims set (autovacuum_vacuum_scale_factor = 0.05);

create function forget_claims() returns trigger language plpgsql as $$
begin
    delete from sample_claims where batch = old.number;
    return old;
end
$$;

create trigger claims_go_with_their_batch after delete on sample_batches
    for each row execute function forget_claims();
