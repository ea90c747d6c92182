-- Finished molecules, kept per model while samplers are idle, and the models' cards.

create table reservoir_blocks (
    id bigint primary key generated always as identity,
    model_id text not null,
    -- Of the pack that the molecules come from; a changed pack drops its old blocks.
    model_version text not null,
    -- Canonical SMILES, distinct within the block, joined by line feeds; PostgreSQL compresses them.
    smiles text not null,
    molecules integer not null check (molecules > 0),
    created_at timestamptz not null default now()
);

create index reservoir_blocks_model on reservoir_blocks (model_id, model_version, id);

-- What people are told of the model: the pack's metadata.json.
alter table live_models add column card jsonb not null default '{}';
