-- Makeable molecules that lie ready: idle searchers find their routes ahead, and samples take them.

-- A cache, so a crash of PostgreSQL may empty it, and taking from it waits for no disk.
create unlogged table makeable_molecules (
    id bigint primary key generated always as identity,
    model_id text not null,
    -- Of the pack that the molecule comes from.
    model_version text not null,
    -- Of the catalogue that has the route's building blocks.
    catalogue_version bigint not null,
    -- Canonical SMILES.
    smiles text not null,
    -- The first validated route: its reaction steps, 0 if the molecule itself can be bought.
    steps integer not null,
    -- Null: a building block has no known price.
    usd_per_mol double precision,
    building_blocks integer not null,
    plausibility double precision not null,
    created_at timestamptz not null default now(),
    unique (model_id, smiles)
);
create index makeable_molecules_place on makeable_molecules (catalogue_version, model_id, model_version, steps);
create index makeable_molecules_created on makeable_molecules (created_at);

-- Some ten thousand rows, all of which are replaced within a day.
alter table makeable_molecules set (
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_limit = 2000
);
