-- The console begins at the root of the service: a login that was begun there leads back there.
update applications set redirect_uris = redirect_uris || '{/}'
where client_id = 'console' and not '/' = any(redirect_uris);
