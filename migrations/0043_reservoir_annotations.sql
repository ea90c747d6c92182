-- Properties and alerts of ready molecules, computed ahead for samples with conditions. A sampler of the previous release makes
-- blocks without them and does not read them.

alter table reservoir_blocks
    -- Of the layout and the values; null: not annotated.
    add column annotation_version smallint,
    -- In the order of the molecules, as `annotations.rs` of the worker describes. Empty: they could not be computed.
    add column annotations bytea;

-- Numbers hardly shrink, so reading them should cost nothing more.
alter table reservoir_blocks alter column annotations set storage external;
