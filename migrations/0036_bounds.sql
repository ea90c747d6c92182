-- What an account stores and has waiting is counted as it changes, so that nobody reads a hundred thousand rows to know it; lists are in
-- the order of commits; and a request that creates something can be sent again.

-- How the plans of a batch stand, in up to 16 parts that different processes change: a part is its backend's. A plan counts for all that
-- have its target.
create table batch_progress (
    batch_id text not null references batches (id) on delete cascade,
    part smallint not null,
    pending integer not null default 0,
    completed integer not null default 0,
    failed integer not null default 0,
    cancelled integer not null default 0,
    -- When the first and the last of its plans ended that was completed or failed.
    first_end timestamptz,
    last_end timestamptz,
    primary key (batch_id, part)
) with (fillfactor = 50);

-- Bytes that plans, with their results, and kept routes take, in parts as well.
create table account_storage (
    account_id text not null references accounts (id) on delete cascade,
    part smallint not null,
    bytes bigint not null,
    primary key (account_id, part)
) with (fillfactor = 50);

-- What an account stores, in bytes.
create function stored_bytes(of_account text) returns bigint language sql stable as $$
    select coalesce(sum(bytes), 0)::bigint from account_storage where account_id = of_account
$$;

-- Nobody adds to an account that is gone.
create function add_stored_bytes(of_account text, change bigint) returns void language sql volatile as $$
    insert into account_storage (account_id, part, bytes)
    select of_account, pg_backend_pid() % 8, change where change <> 0 and exists (select from accounts where id = of_account)
    on conflict (account_id, part) do update set bytes = account_storage.bytes + excluded.bytes
$$;

-- Columns and not the row: a row that is handed over is read with its result. A column of JSON is null where its batch has it.
create function plan_bytes(parameters json, result bytea, problem jsonb, description text) returns bigint language sql immutable as $$
    select 300 + coalesce(pg_column_size(parameters), 0) + coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(problem), 0)
        + coalesce(pg_column_size(description), 0)
$$;

create function batch_has_parts() returns trigger language plpgsql as $$
begin
    insert into batch_progress (batch_id, part) select new.id, generate_series(0, least(16, new.plan_count) - 1);
    return new;
end
$$;

create trigger batch_has_parts after insert on batches for each row execute function batch_has_parts();

-- Plans with the same target, which is searched for once.
create index plans_same on plans (same_as) where same_as is not null;
-- Those that were cancelled by themselves: they no longer stand as the plan that they point to.
create index plans_same_ended on plans (batch_id) where same_as is not null and status <> 'pending';

create function plans_are_added() returns trigger language plpgsql as $$
declare
    change record;
begin
    for change in
        select batch_id, count(*) filter (where status = 'pending') as waiting, count(*) filter (where status = 'completed') as made
        from added where batch_id is not null group by batch_id order by batch_id
    loop
        update batch_progress set pending = pending + change.waiting, completed = completed + change.made
        where batch_id = change.batch_id
            and part = pg_backend_pid() % (select least(16, plan_count) from batches where id = change.batch_id);
    end loop;
    perform add_stored_bytes(account_id, sum(plan_bytes(parameters, result, problem, description))::bigint)
    from added group by account_id order by account_id;
    return null;
end
$$;

create function plans_change() returns trigger language plpgsql as $$
declare
    change record;
begin
    for change in
        select after.batch_id, before.status as left_status, after.status,
            count(*) + sum((select count(*) from plans as same where same.same_as = after.id)) as plans
        from changed_before as before join changed_after as after using (id)
        where after.batch_id is not null and after.same_as is null and before.status <> after.status
        group by after.batch_id, before.status, after.status
        order by after.batch_id, before.status, after.status
    loop
        update batch_progress set
            pending = pending + change.plans * ((change.status = 'pending')::int - (change.left_status = 'pending')::int),
            completed = completed + change.plans * ((change.status = 'completed')::int - (change.left_status = 'completed')::int),
            failed = failed + change.plans * ((change.status = 'failed')::int - (change.left_status = 'failed')::int),
            cancelled = cancelled + change.plans * ((change.status = 'cancelled')::int - (change.left_status = 'cancelled')::int),
            first_end = case when change.status in ('completed', 'failed') then least(first_end, now()) else first_end end,
            last_end = case when change.status in ('completed', 'failed') then greatest(last_end, now()) else last_end end
        where batch_id = change.batch_id
            and part = pg_backend_pid() % (select least(16, plan_count) from batches where id = change.batch_id);
    end loop;
    perform add_stored_bytes(after.account_id, sum(
        plan_bytes(after.parameters, after.result, after.problem, after.description)
        - plan_bytes(before.parameters, before.result, before.problem, before.description))::bigint)
    from changed_before as before join changed_after as after using (id)
    where before.status <> after.status
    group by after.account_id order by after.account_id;
    return null;
end
$$;

create function plans_are_gone() returns trigger language plpgsql as $$
begin
    perform add_stored_bytes(account_id, -sum(plan_bytes(parameters, result, problem, description))::bigint)
    from gone group by account_id order by account_id;
    return null;
end
$$;

create function kept_routes_change() returns trigger language plpgsql as $$
declare
    sign integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
    perform add_stored_bytes(account_id, sign * sum(plan_bytes(parameters, content, figures, note))::bigint)
    from changed group by account_id order by account_id;
    return null;
end
$$;

-- What is there already, before anything is counted on.
insert into batch_progress (batch_id, part) select id, generate_series(0, least(16, plan_count) - 1) from batches;

update batch_progress as progress set pending = now_is.pending, completed = now_is.completed, failed = now_is.failed,
    cancelled = now_is.cancelled, first_end = now_is.first_end, last_end = now_is.last_end
from (
    select plan.batch_id,
        count(*) filter (where made.status = 'pending') as pending,
        count(*) filter (where made.status = 'completed') as completed,
        count(*) filter (where made.status = 'failed') as failed,
        count(*) filter (where made.status = 'cancelled') as cancelled,
        min(made.updated_at) filter (where made.status in ('completed', 'failed')) as first_end,
        max(made.updated_at) filter (where made.status in ('completed', 'failed')) as last_end
    from plans as plan join plans as made on made.id = coalesce(plan.same_as, plan.id)
    where plan.batch_id is not null group by plan.batch_id
) as now_is
where progress.batch_id = now_is.batch_id and progress.part = 0;

insert into account_storage (account_id, part, bytes)
select account_id, 0, sum(bytes) from (
    select account_id, plan_bytes(parameters, result, problem, description) as bytes from plans
    union all
    select account_id, plan_bytes(parameters, content, figures, note) from kept_routes
) as stored group by account_id;

-- How many plans of the batch `of_batch` stand how. `plan_stands` of before reads each row with its result.
create function progress_of_batch(
    of_batch text,
    out pending bigint, out processing bigint, out completed bigint, out failed bigint, out cancelled bigint,
    out first_end timestamptz
) language sql stable as $$
    with counted as (
        select sum(part.pending) as pending, sum(part.completed) as completed, sum(part.failed) as failed,
            sum(part.cancelled) as cancelled, min(part.first_end) as first_end
        from batch_progress as part where batch_id = of_batch
    ), apart as (
        select count(*) filter (where made.status = 'pending') as pending, count(*) filter (where made.status = 'completed') as completed,
            count(*) filter (where made.status = 'failed') as failed, count(*) filter (where made.status <> 'cancelled') as cancelled
        from plans as same join plans as made on made.id = same.same_as
        where same.batch_id = of_batch and same.same_as is not null and same.status <> 'pending'
    ), held as (
        select count(*) + coalesce(sum((
            select count(*) from plans as same where same.same_as = plan.id and same.status = 'pending'
        )), 0) as plans
        from jobs join plans as plan on plan.job_id = jobs.id
        where holder is not null and finished_at is null and held_until > now() and queue = 'plan'
            and plan.batch_id = of_batch and plan.status = 'pending'
    )
    select (counted.pending - apart.pending - held.plans)::bigint, held.plans::bigint, (counted.completed - apart.completed)::bigint,
        (counted.failed - apart.failed)::bigint, (counted.cancelled + apart.cancelled)::bigint, counted.first_end
    from counted, apart, held
$$;

-- How a plan of this status stands whose result is made by a plan of `made_status` and its job.
create function plan_standing(status text, made_status text, made_job text) returns text language sql stable as $$
    select case
        when status <> 'pending' then status
        when made_status = 'pending' and exists (
            select from jobs where jobs.id = made_job and finished_at is null and held_until > now()
        ) then 'processing'
        else made_status
    end
$$;

-- Parameters for lists, without their lists of names and molecules; null: `parameters` has none.
alter table plans add column short_parameters json;
alter table batches add column short_parameters json;
alter table kept_routes add column short_parameters json;

-- What a watched search was asked for with, for a plan that is made of it.
alter table watched_jobs add column asked json;

-- What waits of an account beside its batches, and what waits of its samples.
create index plans_waiting_alone on plans (account_id) where status = 'pending' and batch_id is null;
create index sample_orders_waiting on sample_orders (account_id) include (size) where status = 'pending';

-- What is retained so long is retained from its end.
alter table sample_orders add column ended_at timestamptz;

create function order_ends() returns trigger language plpgsql as $$
begin
    new.ended_at := case when new.status <> 'pending' then clock_timestamp() end;
    return new;
end
$$;

create trigger order_ends before update of status on sample_orders
    for each row when (old.status is distinct from new.status) execute function order_ends();

-- Where something stands in lists: in the order of commits, as samples do (`place_sample`). An id is made before that, so that a list by
-- ids can skip what is committed late.
create sequence list_places;
alter table plans add column listed bigint;
alter table batches add column listed bigint;
alter table sample_batches add column listed bigint;
alter table kept_routes add column listed bigint;

-- Runs as the transaction commits. Of a table's readers each waits for nothing but that.
create function take_list_place() returns trigger language plpgsql as $$
declare
    readers text;
begin
    select coalesce(organisation_id, id) into readers from accounts where id = new.account_id for share;
    perform pg_advisory_xact_lock_shared(hashtext('list_places ' || tg_table_name), hashtext(readers));
    execute format('update %I set listed = $1 where id = $2', tg_table_name) using nextval('list_places'), new.id;
    return null;
end
$$;

-- The ids of a page of the list `of_table` for `reader`, the nearest to the cursor first: what is next to it and older, or newer; null where the
-- cursor is not in the list. Without a cursor from the last place before which nothing is still being stored. Of each member a page's worth
-- is read by the index, and of those the nearest.
create function list_page(of_table text, reader text, list_cursor text, is_newer boolean, count bigint) returns text[] language plpgsql as $$
declare
    readers text;
    is_listed text := case of_table when 'plans' then 'batch_id is null' when 'batches' then 'deleted_at is null' else 'true' end;
    direction text := case when is_newer then 'asc' else 'desc' end;
    after bigint := 0;
    before bigint;
    page text[];
begin
    if list_cursor is not null then
        execute format('select listed from %I where id = $1 and %s and account_id in (select accounts_readable_by($2))', of_table, is_listed)
            into before using list_cursor, reader;
        if before is null then
            return null;
        end if;
    end if;
    if is_newer or before is null then
        after := coalesce(before, 0);
        select coalesce(organisation_id, id) into readers from accounts where id = reader;
        perform pg_advisory_xact_lock(hashtext('list_places ' || of_table), hashtext(readers));
        before := (select last_value from list_places) + 1;
    end if;
    execute format('select coalesce(array_agg(id order by listed %3$s), ''{}'') from (
            select page.id, page.listed from accounts_readable_by($1) owner cross join lateral (
                select id, listed from %1$I
                where account_id = owner and %2$s and listed > $2 and listed < $3 order by listed %3$s limit $4
            ) as page order by page.listed %3$s limit $4
        ) as nearest', of_table, is_listed, direction)
        into page using reader, after, before, count;
    return page;
end
$$;

-- Those of before have the order of their ids.
update plans set listed = old.number from (
    select id, row_number() over (order by id) as number from plans where batch_id is null
) as old where plans.id = old.id;
update batches set listed = old.number from (select id, row_number() over (order by id) as number from batches) as old
    where batches.id = old.id;
update sample_batches set listed = old.number from (select id, row_number() over (order by id) as number from sample_batches) as old
    where sample_batches.id = old.id;
update kept_routes set listed = old.number from (select id, row_number() over (order by id) as number from kept_routes) as old
    where kept_routes.id = old.id;
select setval('list_places', greatest(1, (select max(listed) from plans), (select max(listed) from batches),
    (select max(listed) from sample_batches), (select max(listed) from kept_routes)));

create index plans_listed on plans (account_id, listed) where batch_id is null;
create index batches_listed on batches (account_id, listed) where deleted_at is null;
create index sample_batches_listed on sample_batches (account_id, listed);
create index kept_routes_listed on kept_routes (account_id, listed);

create constraint trigger plan_is_listed after insert on plans deferrable initially deferred
    for each row when (new.batch_id is null) execute function take_list_place();
create constraint trigger batch_is_listed after insert on batches deferrable initially deferred
    for each row execute function take_list_place();
create constraint trigger sample_batch_is_listed after insert on sample_batches deferrable initially deferred
    for each row execute function take_list_place();
create constraint trigger kept_route_is_listed after insert on kept_routes deferrable initially deferred
    for each row execute function take_list_place();

-- Requests that created something, by the key that their account gave them (draft-ietf-httpapi-idempotency-key-header); stored with what
-- they created.
create table idempotency_keys (
    account_id text not null references accounts (id) on delete cascade,
    key text not null,
    -- SHA-256 of what was asked for.
    request bytea not null,
    -- The id of what was created.
    resource text not null,
    created_at timestamptz not null default now(),
    primary key (account_id, key)
);

create index idempotency_keys_created on idempotency_keys (created_at);

-- From now on all that changes is counted.
create trigger plans_are_added after insert on plans
    referencing new table as added for each statement execute function plans_are_added();
create trigger plans_change after update on plans
    referencing old table as changed_before new table as changed_after for each statement execute function plans_change();
create trigger plans_are_gone after delete on plans
    referencing old table as gone for each statement execute function plans_are_gone();
create trigger kept_routes_are_added after insert on kept_routes
    referencing new table as changed for each statement execute function kept_routes_change();
create trigger kept_routes_are_gone after delete on kept_routes
    referencing old table as changed for each statement execute function kept_routes_change();
