-- A company's own inventory: how much of an entry is in stock and where it stands; and what offers cost before.

alter table offers
    -- How much there is, as the file says it; null where nobody says.
    add column amount double precision check (amount >= 0),
    add column amount_uom text,
    -- Grams of the building block in it, whatever salt it is; null where that does not follow, as for a volume without a density.
    add column amount_grams double precision check (amount_grams >= 0),
    -- Where it stands, as the file says it.
    add column location text;

-- A price that an offer had before an import changed it. Nothing that answers a request reads this.
create table offer_prices (
    id bigint primary key generated always as identity,
    building_block_id integer not null references building_blocks (id) on delete cascade,
    vendor_id integer not null references vendors (id) on delete cascade,
    cs_id text not null,
    pack double precision,
    uom text,
    -- Null where it had no price.
    price_usd double precision,
    normalised_usd double precision,
    -- When the vendor said so, and when an import said otherwise.
    said_at timestamptz not null,
    until timestamptz not null default now()
);

create index offer_prices_building_block on offer_prices (building_block_id);

-- Old ones are found by their age.
create index offer_prices_until on offer_prices (until);
