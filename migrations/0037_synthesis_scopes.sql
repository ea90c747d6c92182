-- Scopes for plans, kept routes and bulk queries, which needed only a valid token so far. Accounts, applications and script tokens keep what they
-- could do, and so do the logins of the service's own applications. People are asked again before any other application gets the scopes.

create function with_synthesis_scopes(scopes text[]) returns text[] language sql as $$
    select scopes || array(
        select scope from unnest(array[
            'synth_api.plans:create', 'synth_api.plans:read', 'synth_api.plans:delete', 'synth_api.routes:create', 'synth_api.routes:read',
            'synth_api.routes:update', 'synth_api.routes:delete', 'synth_api.queries:create'
        ]) with ordinality as new (scope, place)
        where scope <> all(scopes) order by place
    )
$$;

update accounts set scopes = with_synthesis_scopes(scopes);
update applications set scopes = with_synthesis_scopes(scopes);
update script_tokens set scopes = with_synthesis_scopes(scopes);
update refresh_tokens set scopes = with_synthesis_scopes(scopes) where client_id in ('console', 'retort-cli');
update consents set scopes = with_synthesis_scopes(scopes) where client_id in ('console', 'retort-cli');
update authorization_codes set scopes = with_synthesis_scopes(scopes) where client_id in ('console', 'retort-cli');
update device_codes set scopes = with_synthesis_scopes(scopes) where client_id in ('console', 'retort-cli');

drop function with_synthesis_scopes(text[]);
