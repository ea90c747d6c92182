-- Offers of private vendors that an account saw once and may not see any more; and a clock that jumps.

-- The private vendors that `account` does not see, by name.
create function vendors_hidden_from(account text, out id integer, out name text) returns setof record language sql stable as $$
    select vendors.id, vendors.name from vendors where is_private and vendors.id not in (select vendors_shown_to(account))
$$;

-- The private vendors that the account saw when the result was stored, whose prices its figures may rest on; null: none.
alter table plans add column private_vendors integer[];
alter table kept_routes add column private_vendors integer[];

create function note_private_vendors() returns trigger language plpgsql as $$
begin
    new.private_vendors := nullif(array(select vendors_shown_to(new.account_id)), '{}');
    return new;
end
$$;

-- By triggers, since processes of the release before store results as well.
create trigger plan_notes_private_vendors before insert or update of result on plans
    for each row when (new.result is not null) execute function note_private_vendors();
create trigger kept_route_notes_private_vendors before insert on kept_routes
    for each row execute function note_private_vendors();

update plans set private_vendors = nullif(array(select vendors_shown_to(account_id)), '{}')
where result is not null
    and account_id in (select accounts.id from accounts join vendor_organisations using (organisation_id));
update kept_routes set private_vendors = nullif(array(select vendors_shown_to(account_id)), '{}')
where account_id in (select accounts.id from accounts join vendor_organisations using (organisation_id));

-- Whether `reader` may see the prices of all of these private vendors.
create function sees_prices_of(reader text, private_vendors integer[]) returns boolean language sql stable as $$
    select not exists (select from vendors_hidden_from(reader) hidden where hidden.id = any(private_vendors))
$$;

-- The time of the last deletion by age, and the time at which the clock was found to have jumped ahead; null: it has not.
create table sweep_clock (
    is_only boolean primary key default true check (is_only),
    seen_at timestamptz not null default now(),
    jumped_at timestamptz
);

insert into sweep_clock default values;
