-- Leases on blocks, models that nobody offers any more, and one order for lists of samples.

-- A sample that has to draw keeps what lies ready for itself meanwhile. The lease of a process that died ends by itself.
alter table reservoir_blocks
    -- The job.
    add column leased_by text,
    add column leased_until timestamptz;

-- How long samplers have run, one at least, without any that offers the model. Time in which none runs is not counted.
create table reservoir_models (
    model_id text primary key,
    unoffered_seconds double precision not null default 0,
    counted_at timestamptz not null default now()
);

-- Where a sample stands in lists: in the order in which samples are stored. Ids are made when a sample is asked for, and of
-- two that are asked for the later may be stored first: in their order, who has seen that one and asks for what came after it
-- would never see the other.
alter table samples add column place bigint;
create sequence sample_places owned by samples.place;
update samples set place = old.place
from (select id, row_number() over (order by id) as place from samples) old
where old.id = samples.id;
select setval('sample_places', max(place)) from samples having count(*) > 0;
alter table samples alter column place set not null;

create unique index samples_account_place on samples (account_id, place);
drop index samples_account;

-- Those who read the samples of an account, as accounts_readable_by has it. Whoever stores a sample shares this lock from its
-- place to its commit; who has it alone knows that of all places so far nothing is on its way.
create function place_sample() returns trigger language plpgsql as $$
declare
    readers text;
begin
    -- Shared until the commit: the account joins an organisation before or after, not meanwhile.
    select coalesce(organisation_id, id) into readers from accounts where id = new.account_id for share;
    perform pg_advisory_xact_lock_shared(hashtext('sample_places'), hashtext(readers));
    new.place := nextval('sample_places');
    new.created_at := clock_timestamp();
    return new;
end
$$;

create trigger sample_placed before insert on samples for each row execute function place_sample();

-- The last place of which `reader` sees in the next statement whatever is there and before it. Waits for the commits that
-- are on their way, some milliseconds; those who store wait for nobody but for this.
create function settled_place(reader text) returns bigint language plpgsql as $$
declare
    readers text;
begin
    select coalesce(organisation_id, id) into readers from accounts where id = reader;
    perform pg_advisory_xact_lock(hashtext('sample_places'), hashtext(readers));
    return (select last_value from sample_places);
end
$$;
