-- Samples, complete when they are there. Ids sort by creation.

create table samples (
    id text primary key,
    account_id text not null references accounts (id) on delete cascade,
    model_id text not null,
    num_smiles integer not null check (num_smiles between 1 and 10000),
    smiles text[] not null check (cardinality(smiles) = num_smiles),
    seed bigint not null,
    created_at timestamptz not null default now()
);

create index samples_account on samples (account_id, id);
