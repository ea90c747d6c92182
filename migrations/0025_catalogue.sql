-- The catalogue as companies keep one: where offers do not ship to, and vendors that only some organisations see.

-- Where the vendor is stated not to ship the offer to, which is another fact than a lead time that nobody states. Bits from the least: US,
-- CA, GB, FR, CH, DE, CN, AU.
alter table offers add column refuses smallint not null default 0 check (refuses between 0 and 255);

-- A private vendor, such as a company's own stock, is seen by the organisations that it is shown to and by nobody else.
alter table vendors add column is_private boolean not null default false;

create table vendor_organisations (
    vendor_id integer not null references vendors (id) on delete cascade,
    organisation_id text not null references organisations (id) on delete cascade,
    primary key (vendor_id, organisation_id)
);

create index vendor_organisations_organisation on vendor_organisations (organisation_id);

-- The one place that says who sees which private vendors: those that an account's searches may buy from beside the public ones.
create function vendors_shown_to(account text) returns setof integer language sql stable as $$
    select vendor_id
    from vendor_organisations join accounts on accounts.organisation_id = vendor_organisations.organisation_id
    where accounts.id = account
$$;

-- The names of the organisations that a private vendor is shown to.
create function organisations_shown(of_vendor integer) returns setof text language sql stable as $$
    select name
    from vendor_organisations join organisations on organisations.id = organisation_id
    where vendor_id = of_vendor
    order by name
$$;

-- What the installation (no organisation) or an organisation wants of a vendor: no vendors but these; never this one; what it has from it,
-- whatever others ask.
create table vendor_preferences (
    vendor_id integer not null references vendors (id) on delete cascade,
    organisation_id text references organisations (id) on delete cascade,
    preference text not null check (preference in ('only', 'never', 'first'))
);

create unique index vendor_preferences_whose on vendor_preferences (vendor_id, coalesce(organisation_id, ''));

-- What a search may buy from whom: the private vendors that its account sees, the only ones that count (null: any), those that never
-- do, and the names of those that come first. For "only" and "first" the request's own words count, else the organisation's, else
-- the installation's; what one of the three never wants is never bought.
create function vendor_terms(
    account text, wanted_only text[], wanted_never text[], wanted_first text[],
    out shown integer[], out only_these integer[], out never_these integer[], out first_these text[]
) language sql stable as $$
    with stated as (
        select vendor_id, name, preference, preferences.organisation_id is not null as is_closer
        from vendor_preferences as preferences join vendors on vendors.id = vendor_id
        where preferences.organisation_id is null
            or preferences.organisation_id = (select accounts.organisation_id from accounts where accounts.id = account)
    ), closest as (
        select * from stated
        where is_closer or not exists (
            select from stated as closer where closer.is_closer and closer.preference = stated.preference
        )
    )
    select
        array(select vendors_shown_to(account)),
        case
            when wanted_only is not null then array(select id from vendors where name = any(wanted_only))
            else (select array_agg(vendor_id) from closest where preference = 'only')
        end,
        array(
            select id from vendors where name = any(wanted_never)
            union select vendor_id from stated where preference = 'never'
        ),
        case
            when cardinality(wanted_first) > 0 then wanted_first
            else array(select name from closest where preference = 'first' order by name)
        end
$$;
