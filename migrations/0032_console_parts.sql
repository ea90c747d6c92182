-- What the console's parts need: it samples and looks at models, shows what came of the plans of a batch, and is entered by a link once.

update applications
set scopes = scopes || array['generator_api.samples:create', 'generator_api.samples:read', 'generator_api.samples:delete', 'generator_api.models:read']
where client_id = 'console' and not 'generator_api.samples:read' = any(scopes);

-- Figures of a plan's result that lists show without it: how many routes there are, and what the best one is like. Null: not completed, or by a
-- worker of before.
alter table plans add column figures jsonb;

-- Links that log somebody in; a used one stays until its time is over, so that a second use is told apart from a wrong address.
create table login_links (
    secret_hash bytea primary key,
    account_id text not null references accounts (id) on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz
);

create index login_links_account on login_links (account_id);
create index login_links_expiry on login_links (expires_at);
