-- The outcome of a search is some megabytes of JSON. LZ4 halves the time that it takes to store one; a server that was
-- built without it goes on with its own method.
do $$
begin
    alter table jobs alter column outcome set compression lz4;
exception
    when feature_not_supported then null;
end
$$;
