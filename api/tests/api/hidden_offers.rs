//! Private vendor's offers in resources that an account stored while its organisation could see them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Service, add_account, answer, complete_plan, join_one_organisation};

const PLANS: &str = "/synth-batches/v1/plans";
const ROUTES: &str = "/synth/v1/routes";

/// Starts a service whose account and a colleague belong to an organisation that alone sees the offers of `Acme`;
/// returns the colleague too.
async fn stage() -> (Service, String) {
    let service = Service::start_without_workers(&[]).await;
    let colleague = add_account(&service.pool, "colleague@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    sqlx::raw_sql(
        "with acme as (insert into vendors (name, is_private) values ('Acme', true) returning id)
        insert into vendor_organisations (vendor_id, organisation_id) select id, 'org_lab' from acme",
    )
    .execute(&service.pool)
    .await
    .unwrap();
    (service, colleague)
}

impl Service {
    async fn read(&self, account: &str, path: &str) -> Value {
        let read = answer(self.request_as(account, Method::GET, path).await).await;
        assert_eq!(read.status, 200, "{read:?}");
        read.json()
    }

    async fn leaves(&self, account: &str) {
        sqlx::query("update accounts set organisation_id = null where id = $1")
            .bind(account)
            .execute(&self.pool)
            .await
            .unwrap();
    }
}

/// Returns the vendors of the offers.
fn vendors(offers: &Value) -> Vec<&str> {
    offers.as_array().unwrap().iter().map(|offer| offer["vendor_name"].as_str().unwrap()).collect()
}

/// Returns the fields of a route's standing that depend on offers.
fn offer_dependent_fields(route_graph: &Value) -> [&Value; 3] {
    ["cost_usd_per_mol", "lead_time_days", "shopping_list"].map(|field| &route_graph[field])
}

const NOTHING: [&Value; 3] = [&Value::Null; 3];

/// Returns the figures that depend on offers.
fn figures(of: &Value) -> (Value, Value, bool) {
    let figures = &of["figures"];
    (figures["price_usd"].clone(), figures["lead_time_days"].clone(), figures["steps"] == 2)
}

#[tokio::test]
async fn whoever_leaves_an_organisation_reads_no_offers_of_its_vendors_in_their_plans() {
    let (service, colleague) = stage().await;
    let parameters = json!({ "search_smiles": "CNC(C)=O", "engine": "toy_engine" });
    let created = service.post(PLANS, &json!({ "parameters": parameters }).to_string()).await.json();
    let batch = json!({ "smiles": ["CNC(C)=O"], "parameters": { "engine": "toy_engine" } });
    let batch = service.post("/synth-batches/v1/batches", &batch.to_string()).await.json();
    let of_batch: String = sqlx::query_scalar("select id from plans where batch_id is not null")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    let id = created["id"].as_str().unwrap();
    let mut connection = service.pool.acquire().await.unwrap();
    for id in [id, &of_batch] {
        complete_plan(&mut connection, id).await.unwrap();
    }
    let batches_plans = format!("/synth-batches/v1/batches/{}/plans", batch["id"].as_str().unwrap());
    let lists = [PLANS, &batches_plans];
    let account = &service.account;

    let before = service.read(&colleague, &format!("{PLANS}/{id}")).await;
    assert_eq!(vendors(&before["result"]["pricing_annotations"]), ["Common Lab Chemicals", "Acme"]);
    assert_eq!(figures(&before), (json!(31.5), json!(4.0), true));
    for list in lists {
        assert_eq!(figures(&service.read(account, list).await["items"][0]), (json!(31.5), json!(4.0), true));
    }
    service.leaves(account).await;

    for id in [id, &of_batch] {
        let after = service.read(account, &format!("{PLANS}/{id}")).await;
        assert_eq!(vendors(&after["result"]["pricing_annotations"]), ["Common Lab Chemicals"]);
        let routes = after["result"]["route_hierarchy"].as_object().unwrap().values();
        let routes = routes.flat_map(|by_steps| by_steps.as_object().unwrap().values());
        let routes: Vec<_> = routes.flat_map(|routes| routes.as_array().unwrap()).collect();
        assert_eq!(routes.len(), 2);
        for route in routes {
            assert_eq!((offer_dependent_fields(&route[0]["graph"]), &route[1]), (NOTHING, &json!(9999.0)));
        }
        assert_eq!(figures(&after), (Value::Null, Value::Null, true));
    }
    for list in lists {
        assert_eq!(figures(&service.read(account, list).await["items"][0]), (Value::Null, Value::Null, true));
    }
}

#[tokio::test]
async fn whoever_leaves_an_organisation_reads_no_offers_of_its_vendors_in_the_routes_that_they_keep() {
    let (service, colleague) = stage().await;
    let search_result: Value =
        serde_json::from_slice(include_bytes!("../golden/treesearch_result.json")).unwrap();
    let mut route = search_result["route_hierarchy"]["2"]["b0123456789abcdef"][0][0].clone();
    let body = |route: &Value, offers: &Value| {
        let parameters = json!({ "search_smiles": "CNC(C)=O" });
        json!({ "parameters": parameters, "route": route, "pricing_annotations": offers }).to_string()
    };
    let save = async |body: String| {
        let kept = service.post(ROUTES, &body).await;
        assert_eq!(kept.status, 201, "{kept:?}");
        kept.json()["id"].as_str().unwrap().to_owned()
    };
    let kept = save(body(&route, &search_result["pricing_annotations"])).await;
    // Only the shopping list names the vendor, as when the client sent no offers.
    let vendor_order =
        json!({ "vendor_name": "Acme", "total_usd": 31.5, "lead_time_days": 4.0, "items": [] });
    route["graph"]["shopping_list"]["vendors"] = json!([vendor_order]);
    let listing = save(body(&route, &json!([]))).await;
    let account = &service.account;

    let before = service.read(&colleague, &format!("{ROUTES}/{kept}")).await;
    assert_eq!(vendors(&before["pricing_annotations"]), ["Common Lab Chemicals", "Acme", "Priceless"]);
    assert_eq!(figures(&before), (json!(31.5), json!(4.0), true));
    service.leaves(account).await;

    for (id, offers) in [(&kept, &["Common Lab Chemicals", "Priceless"][..]), (&listing, &[])] {
        let after = service.read(account, &format!("{ROUTES}/{id}")).await;
        assert_eq!(vendors(&after["pricing_annotations"]), offers);
        assert_eq!(offer_dependent_fields(&after["route"]["graph"]), NOTHING);
        assert_eq!(figures(&after), (Value::Null, Value::Null, true));
        let change = service.request(Method::PATCH, &format!("{ROUTES}/{id}")).await;
        let changed = answer(change.header("content-type", "application/json").body("{}")).await;
        assert_eq!(changed.json()["pricing_annotations"], after["pricing_annotations"]);
    }
    let listed = service.read(account, ROUTES).await;
    for item in listed["items"].as_array().unwrap() {
        assert_eq!(figures(item), (Value::Null, Value::Null, true));
    }
}
