-- Sample batches with conditions.

alter table sample_batches
    -- Conditions of all its molecules; null: a batch with neither conditions nor details. Text of JSON, since it is only read as a whole.
    add column conditions json,
    -- True if details of its molecules are stored.
    add column details boolean not null default false;

-- Null: chunks of a batch with conditions wait for their jobs. Samplers of the previous release would give them jobs without conditions;
-- to them, such a batch is begun.
alter table sample_batches alter column is_begun drop not null;
drop index sample_batches_to_begin;
create index sample_batches_to_begin on sample_batches (account_id, id) where is_begun is not true;
