-- What operators did to the installation. A line is written in the transaction of the act that it tells of.

create table journal (
    id bigint primary key generated always as identity,
    at timestamptz not null default now(),
    -- Who, as the operator's own machine says, and the role that the database knows them by.
    operator text not null,
    database_role text not null default session_user,
    -- Of `retort`: `account disable`.
    act text not null,
    -- What it was done to: an e-mail address, a client id, a key, the name of an organisation.
    subject text not null,
    -- No secrets, and no hashes of them.
    details jsonb not null default '{}'
);

create function keep_journal() returns trigger language plpgsql as $$
begin
    raise exception 'the journal is only ever added to';
end
$$;

create trigger journal_is_kept before update or delete or truncate on journal
    for each statement execute function keep_journal();
