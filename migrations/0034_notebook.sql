-- What somebody finds again: the routes that they keep, which nothing but their account deletes, and their searches.

create table kept_routes (
    id text primary key,
    account_id text not null references accounts (id) on delete cascade,
    name text,
    note text,
    starred boolean not null default false,
    -- What was searched for. As text, since JSON may name what jsonb cannot hold.
    parameters json not null,
    -- What the route is like, for lists.
    figures jsonb not null,
    -- The route and its offers, JSON that is gzipped.
    content bytea not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

-- It is compressed already.
alter table kept_routes alter column content set storage external;

create index kept_routes_of_account on kept_routes (account_id, id);

-- Plans of no batch are listed by account.
create index plans_alone on plans (account_id, id) where batch_id is null;
