-- Storing a sample of 10,000 took PostgreSQL four times as long with its own compression, most of the time that the sample
-- took. Rows that are there stay as they are. A PostgreSQL that was built without LZ4 goes on as before.

do $$
begin
    alter table samples alter column smiles set compression lz4;
    alter table reservoir_blocks alter column smiles set compression lz4;
exception when feature_not_supported then
    raise notice 'this PostgreSQL has no LZ4: samples are stored with its own compression, which is slower';
end
$$;
