-- Organisations: their members read each other's samples.

create table organisations (
    id text primary key,
    name text not null,
    created_at timestamptz not null default now()
);

create unique index organisations_name on organisations (lower(name));

-- At most one. An organisation that is removed leaves its members behind, who then share nothing.
alter table accounts add column organisation_id text references organisations (id) on delete set null;

create index accounts_organisation on accounts (organisation_id) where organisation_id is not null;

-- The one place that says who reads whose samples: the accounts whose samples `reader` may see, its own first. Every
-- statement that shows samples asks it, so that what somebody may read changes for all of them at once.
create function accounts_readable_by(reader text) returns setof text language sql stable as $$
    select reader
    union
    select theirs.id
    from accounts mine join accounts theirs on theirs.organisation_id = mine.organisation_id
    where mine.id = reader
$$;
