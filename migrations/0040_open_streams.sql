-- The streams of events that are open, whichever process serves them: an account has so many at most.

-- A row is renewed while its stream is open. Those of a process that died lapse. A crash of PostgreSQL ends the streams, and empties the table.
create unlogged table open_streams (
    id bigint generated always as identity primary key,
    account_id text not null references accounts (id) on delete cascade,
    until timestamptz not null
) with (fillfactor = 50);
create index open_streams_account on open_streams (account_id);

-- Counts a stream of the account for as long as `lease`; null where the account has `most` already. One after the other for an account, so
-- that those at the same moment see each other.
create function open_stream(of_account text, most bigint, lease interval, out stream_id bigint) language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('streams of ' || of_account, 0));
    delete from open_streams where account_id = of_account and until < now();
    insert into open_streams (account_id, until)
    select of_account, now() + lease where (select count(*) from open_streams where account_id = of_account) < most
    returning id into stream_id;
end
$$;
