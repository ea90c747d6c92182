-- Two roles for Retort's database: `retort_owner`, who may change the schema and has it, and `retort_service`, as whom the API and
-- the workers run: it reads and writes rows and can change no table, function or trigger.
--
-- As a superuser, in the database that Retort is to have, empty or with a schema; once more does no harm:
--   psql -d retort -v owner_password=… -v service_password=… -f ops/roles.sql
-- Then `MIGRATION_DATABASE_URL=postgres://retort_owner:…@…/retort retort-api migrate`, and DATABASE_URL of the service's role for all else.

\set ON_ERROR_STOP on
begin;

select format('create role %I login', name)
from unnest(array['retort_owner', 'retort_service']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role retort_owner password :'owner_password';
alter role retort_service password :'service_password';

-- Everybody may connect to a new database, and before PostgreSQL 15 make tables in it.
select format('revoke all on database %I from public', current_database()) \gexec
select format('grant connect, create, temporary on database %I to retort_owner', current_database()) \gexec
select format('grant connect, temporary on database %I to retort_service', current_database()) \gexec
create schema if not exists apalis;
alter schema apalis owner to retort_owner;
alter schema public owner to retort_owner;
revoke create on schema public from public;
grant usage on schema public, apalis to retort_service;

-- What is there already.
select format('alter %s %s owner to retort_owner', kind, name)
from (
    select case relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end as kind, oid::regclass::text as name
    from pg_class
    -- A sequence of a column goes with its table.
    where relnamespace in ('public'::regnamespace, 'apalis'::regnamespace) and relkind in ('r', 'p', 'v', 'S')
        and not exists (
            select from pg_depend
            where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype in ('a', 'i', 'e')
        )
    union all
    select 'function', oid::regprocedure::text
    from pg_proc
    where pronamespace in ('public'::regnamespace, 'apalis'::regnamespace)
        and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
) as ours \gexec
grant select, insert, update, delete on all tables in schema public, apalis to retort_service;
grant usage, select on all sequences in schema public, apalis to retort_service;

-- What migrations will make.
alter default privileges for role retort_owner in schema public, apalis
    grant select, insert, update, delete on tables to retort_service;
alter default privileges for role retort_owner in schema public, apalis
    grant usage, select on sequences to retort_service;

commit;
