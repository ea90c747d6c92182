-- Access tokens of the account that were made before this count for nothing: set when its password changes or it is
-- disabled.
alter table accounts add column tokens_from timestamptz;
