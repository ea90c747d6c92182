-- What can be bought: building blocks, and the vendors' offers for them.

create table vendors (
    id integer primary key generated always as identity,
    name text not null unique,
    created_at timestamptz not null default now()
);

create table building_blocks (
    id integer primary key generated always as identity,
    -- Canonical SMILES of the major component, as RDKit writes it.
    smiles text not null unique,
    -- Average molecular weight, daltons.
    mw real not null,
    -- On-bits of the Morgan fingerprint (radius 2, 2048 bits): ascending 16-bit little-endian numbers.
    morgan_bits bytea not null
);

create table offers (
    id bigint primary key generated always as identity,
    building_block_id integer not null references building_blocks (id) on delete cascade,
    vendor_id integer not null references vendors (id) on delete cascade,
    full_canonical text not null,
    minor_components text not null,
    full_mw double precision not null,
    cs_id text not null,
    cs_prefix text not null,
    cs_url text not null,
    pack double precision,
    uom text,
    price_usd double precision,
    normalised_usd double precision,
    lead_time_days_to_us double precision,
    lead_time_days_to_ca double precision,
    lead_time_days_to_gb double precision,
    lead_time_days_to_fr double precision,
    lead_time_days_to_ch double precision,
    lead_time_days_to_de double precision,
    lead_time_days_to_cn double precision,
    lead_time_days_to_au double precision,
    api_timestamp timestamptz not null default now()
);

-- One row per vendor, entry and pack; PostgreSQL 14 has no `nulls not distinct`.
create unique index offers_entry on offers (vendor_id, cs_id, coalesce(pack, -1), coalesce(uom, ''));

create index offers_building_block on offers (building_block_id);
