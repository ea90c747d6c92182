-- An account that is disabled leaves no work behind.

-- Cancels all that an account has open, and says how much of each. A batch is held first, so that nobody gives its parts jobs meanwhile; jobs are
-- cancelled as the queue does it: one that nobody holds has its outcome then, any other when its worker has heard of it.
create function cancel_open_work(
    of_account text, out ended_plans bigint, out ended_batches bigint, out ended_samples bigint, out ended_sample_batches bigint,
    out ended_requests bigint
) language plpgsql as $$
begin
    update batches set cancelled_at = now(), updated_at = now()
    where account_id = of_account and cancelled_at is null and deleted_at is null and exists (
        select from plans where batch_id = batches.id and status = 'pending' and same_as is null
    );
    get diagnostics ended_batches = row_count;

    perform id from sample_batches
    where account_id = of_account and exists (select from sample_orders where batch_id = sample_batches.id and status = 'pending')
    order by id for update;
    get diagnostics ended_sample_batches = row_count;

    with ended as (
        update plans set status = 'cancelled', updated_at = now()
        where account_id = of_account and status = 'pending'
            and not exists (select from plans as made where made.id = plans.same_as and made.status in ('completed', 'failed'))
        returning batch_id
    )
    select count(*) into ended_plans from ended where batch_id is null;

    with ended as (
        update sample_orders set status = 'failed', problem = '{"problem": "cancelled"}'
        where account_id = of_account and status = 'pending'
        returning batch_id
    )
    select count(*) into ended_samples from ended where batch_id is null;

    with ended as (
        update jobs set cancelled_at = now(), (finished_at, outcome) = (
            select now(), '{"Err": {"problem": "cancelled"}}'::jsonb where holder is null
        )
        where account_id = of_account and finished_at is null and cancelled_at is null
        returning queue
    )
    select count(*) into ended_requests from ended where queue not in ('plan', 'order');
end
$$;
