//! Scope that each operation needs, and the holders of the scopes for plans, kept routes and bulk queries.

use contract::scope;
use serde_json::{Value, json};

use crate::support::{Operation, Service, add_operator, answer, claims, operations};

/// Returns the scopes that the contract does not name.
fn extension_scopes() -> Vec<&'static str> {
    scope::ALL.iter().map(|(name, _)| *name).filter(|name| name.starts_with("synth_api.")).collect()
}

#[tokio::test]
async fn each_operation_needs_the_scope_that_the_document_names_and_no_other() {
    let service = Service::start_without_workers(&[]).await;
    let operator = add_operator(&service.pool, "operator@example.org").await;
    for Operation { method, path, scopes: needed, .. } in operations() {
        let call = async |scopes: Vec<&str>| {
            let mut held = claims(&operator);
            held["scope"] = json!(scopes.join(" "));
            let request = service.http.request(method.clone(), format!("{}{path}", service.base));
            let request = request.bearer_auth(service.token(held).await);
            answer(request.header("content-type", "application/json").body("{}")).await
        };

        let with = call(needed.iter().map(String::as_str).collect()).await;
        assert!(![401, 403].contains(&with.status), "{method} {path}: {with:?}");
        if let [needed] = &needed[..] {
            let all = scope::ALL.iter().map(|(name, _)| *name);
            let without = call(all.filter(|name| name != needed).collect()).await;
            assert_eq!(without.status, 403, "{method} {path}");
            assert_eq!(without.faults(), [("header.authorization".into(), "insufficient_scope".into())]);
            assert!(without.header("www-authenticate").ends_with(&format!("scope=\"{needed}\"")));
        }
    }
}

#[test]
fn only_the_contracts_search_and_the_version_need_no_scope() {
    let document = serde_json::to_value(api::document()).unwrap();

    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap());
    let free = operations.filter(|(_, operation)| operation["security"][0]["bearer"] == json!([]));
    let mut free: Vec<_> = free.map(|(_, operation)| operation["operationId"].as_str().unwrap()).collect();
    free.sort_unstable();

    assert_eq!(
        free,
        ["create_engine_tree_search", "create_tree_search", "version_of_plans", "watch_tree_search"]
    );
}

#[tokio::test]
async fn who_could_plan_before_there_were_scopes_for_it_still_can() {
    let service = Service::start_without_workers(&[]).await;
    let rows = "
        update accounts set scopes = '{openid,synth_api.plans:read}';
        update applications set scopes = '{openid}';
        insert into applications (client_id, name, redirect_uris, flows, scopes) values ('app_1', 'App', '{}', '{code}', '{openid}');
        insert into script_tokens (id, account_id, name, secret_hash, scopes, authenticated_at, expires_at)
        select 'tok_1', id, 'n', 'a', '{}', now(), now() from accounts;
        insert into refresh_tokens (token_hash, family, account_id, client_id, scopes, expires_at)
        select client_id::bytea, client_id, accounts.id, client_id, '{openid}', now() from accounts, applications;
        insert into consents (account_id, client_id, scopes)
        select accounts.id, client_id, '{openid}' from accounts, applications";
    sqlx::raw_sql(rows).execute(&service.pool).await.unwrap();

    let migration = include_str!("../../../migrations/0037_synthesis_scopes.sql");
    sqlx::raw_sql(migration).execute(&service.pool).await.unwrap();

    let held = "
        select 'account' as holder, scopes from accounts union all select 'script token', scopes from script_tokens
        union all select client_id, scopes from applications union all select 'refresh ' || client_id, scopes from refresh_tokens
        union all select 'consent ' || client_id, scopes from consents order by holder";
    let held: Vec<(String, Vec<String>)> = sqlx::query_as(held).fetch_all(&service.pool).await.unwrap();
    assert_eq!(held.len(), 11);
    for (holder, mut scopes) in held {
        let count = scopes.len();
        scopes.sort();
        scopes.dedup();
        assert_eq!(scopes.len(), count, "{holder}: once each");
        let has_ours = extension_scopes().iter().all(|name| scopes.iter().any(|held| held == name));
        assert_eq!(has_ours, !["consent app_1", "refresh app_1"].contains(&holder.as_str()), "{holder}");
    }
}

#[tokio::test]
async fn the_clients_of_the_service_ask_for_every_scope_of_theirs_and_the_server_names_them() {
    let service = Service::start_without_workers(&[]).await;
    let path = "/auth/.well-known/openid-configuration";
    let server = answer(service.http.get(format!("{}{path}", service.base))).await.json();

    let supported = server["scopes_supported"].as_array().unwrap();
    for name in extension_scopes() {
        assert!(supported.contains(&Value::from(name)), "{name}");
        for (client, text) in [
            ("console", include_str!("../../console/app/console.js")),
            ("words of the console", include_str!("../../console/account/account.js")),
            ("Python", include_str!("../../clients/python/src/retort_client/authorization.py")),
        ] {
            assert!(text.contains(name), "{client}: {name}");
        }
    }
}
