-- A number that rises with every import of the catalogue, so that searchers see a change that nobody told them of for the
-- price of one row.

create table catalogue_version (
    version bigint not null,
    -- There is one row.
    is_the_only boolean primary key default true check (is_the_only)
);

insert into catalogue_version (version) values (1);
