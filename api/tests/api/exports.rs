//! Shapes of search results: that of this API family, the tree search's own, and the formats of other programs. The
//! expected exports are those that the Python client wrote before the service did.

use reqwest::Method;
use serde_json::{Value, json};
use test_support::EventReader;

use crate::support::{Answer, Service, answer, complete_plan};

const SEARCH: &str = "/synth/v1/treesearch";
const BY_ENGINE: &str = "/synth/v1/toy_engine/treesearch";
const PLANS: &str = "/synth-batches/v1/plans";
const ROUTES: &str = "/synth/v1/routes";
const NATIVE: &str = "application/vnd.retort.treesearch+json";
const AIZYNTH: &str = "application/vnd.retort.aizynth+json";
const RETROCAST: &str = "application/vnd.retort.retrocast+json";

/// `max_depth` for the recorded routes of imatinib.
const RECORDED: u32 = 46;

/// `max_depth` for a thousand routes.
const THOUSAND: u32 = 45;

/// `max_depth` of a plan that runs until it is cancelled, and publishes progress while a client watches.
const ENDLESS: u32 = 47;

fn golden(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn result() -> Value {
    golden(include_str!("../golden/treesearch_result.json"))
}

fn engine_answer() -> Value {
    golden(include_str!("../golden/engine_answer.json"))
}

fn trees() -> Value {
    golden(include_str!("../golden/treesearch_result.aizynth.json"))
}

/// Returns the predictions, with InChIKeys as the mock searcher makes them.
fn predictions() -> Value {
    golden(include_str!("../golden/treesearch_result.retrocast.json"))
}

fn told(answer: &Answer) -> (u16, &str, Value) {
    (answer.status, answer.header("content-type"), answer.json())
}

impl Service {
    /// Creates a plan and returns its path.
    async fn plan(&self, max_depth: u32) -> String {
        let wanted = json!({ "parameters": { "search_smiles": "CNC(C)=O", "max_depth": max_depth, "engine": "toy_engine" } });
        let created = self.post(PLANS, &wanted.to_string()).await;
        format!("{PLANS}/{}", created.json()["id"].as_str().unwrap())
    }

    /// Creates a plan that has its result and returns its path.
    async fn completed_plan(&self) -> String {
        let path = self.plan(2).await;
        let id = path.rsplit('/').next().unwrap();
        complete_plan(&mut self.pool.acquire().await.unwrap(), id).await.unwrap();
        path
    }

    async fn accepting(&self, method: Method, path: &str, accept: &str) -> Answer {
        answer(self.request(method, path).await.header("accept", accept)).await
    }
}

#[tokio::test]
async fn a_plan_has_its_result_in_the_search_s_own_shape_where_that_is_asked_for() {
    let service = Service::start_without_workers(&[]).await;
    let path = service.completed_plan().await;

    let plain = service.accepting(Method::GET, &path, "application/json").await;
    let anything = service.accepting(Method::GET, &path, "image/png").await;
    let own = service.accepting(Method::GET, &path, &format!("{NATIVE}, application/json")).await;
    let cancelled = service.accepting(Method::POST, &format!("{path}/cancel"), NATIVE).await;

    for (answer, kind, expected) in [
        (&plain, "application/json", engine_answer()),
        (&anything, "application/json", engine_answer()),
        (&own, NATIVE, result()),
        (&cancelled, NATIVE, result()),
    ] {
        let (status, found, plan) = told(answer);
        assert_eq!((status, found, answer.header("vary")), (200, kind, "accept"));
        assert_eq!((&plan["status"], &plan["result"]), (&json!("completed"), &expected));
    }
}

#[tokio::test]
async fn the_stream_of_a_plan_has_routes_in_the_shape_that_is_asked_for() {
    let service = Service::start().await;
    let path = service.plan(ENDLESS).await;
    let first_route = async |accept: Option<&str>| {
        let request = service.request(Method::GET, &format!("{path}/events")).await;
        let request = match accept {
            Some(kind) => request.header("accept", kind),
            None => request,
        };
        let mut reader = EventReader::of(request).await;
        loop {
            let (_, name, data) = reader.next().await.unwrap();
            if name == "route" {
                return data["route"].clone();
            }
        }
    };

    let of_the_family = first_route(None).await;
    let own = first_route(Some(NATIVE)).await;

    assert_eq!(own, result()["route_hierarchy"]["1"]["b0123456789abcdef"][0][0]);
    assert_eq!(of_the_family["nodes"].as_array().unwrap().len(), own["nodes"].as_array().unwrap().len() + 1);
}

#[tokio::test]
async fn a_search_by_an_engine_is_answered_in_the_search_s_own_shape_too() {
    let service = Service::start().await;
    let body = json!({ "search_smiles": "CCO", "max_depth": RECORDED, "max_backbone_groups": 100 });

    let request = service.request(Method::POST, BY_ENGINE).await.header("accept", NATIVE).json(&body);
    let own = answer(request).await;
    let searched = service.post(SEARCH, &body.to_string()).await;

    assert_eq!(told(&own), (200, NATIVE, searched.json()));
}

#[tokio::test]
async fn a_plan_is_exported_to_other_programs() {
    let service = Service::start().await;
    let path = service.completed_plan().await;

    let aizynth = service.get(&format!("{path}?format=aizynth")).await;
    let retrocast = service.get(&format!("{path}?format=retrocast")).await;

    assert_eq!(told(&aizynth), (200, AIZYNTH, trees()));
    assert_eq!(told(&retrocast), (200, RETROCAST, predictions()));
}

#[tokio::test]
async fn a_search_is_exported_to_other_programs() {
    let service = Service::start().await;
    let body =
        json!({ "search_smiles": "CCO", "max_depth": RECORDED, "max_backbone_groups": 100 }).to_string();

    for path in [SEARCH, BY_ENGINE] {
        let aizynth = service.post(&format!("{path}?format=aizynth"), &body).await;
        let retrocast = service.post(&format!("{path}?format=retrocast"), &body).await;

        let (status, kind, trees) = told(&aizynth);
        assert_eq!((status, kind, trees.as_array().unwrap().len()), (200, AIZYNTH, 10), "{path}");
        let (status, kind, predictions) = told(&retrocast);
        let candidates = predictions["CCO"].as_array().unwrap();
        assert_eq!(
            (status, kind, candidates.len(), &candidates[9]["rank"]),
            (200, RETROCAST, 10, &json!(10))
        );
        let product = trees[0]["smiles"].as_str().unwrap();
        assert_eq!(candidates[0]["route"]["target"]["inchikey"], format!("KEY-{product}"), "{path}");
    }
}

#[tokio::test]
async fn a_compact_result_holds_all_of_a_search() {
    let service = Service::start().await;
    for kind in [RECORDED, THOUSAND] {
        let body =
            json!({ "search_smiles": "CCO", "max_depth": kind, "max_backbone_groups": 100 }).to_string();

        let full = service.post(&format!("{SEARCH}?view=full"), &body).await;
        let compact = service.post(&format!("{SEARCH}?view=compact"), &body).await;

        let (status, media_type, result) = told(&compact);
        assert_eq!((status, media_type), (200, "application/vnd.retort.compact+json"));
        let expanded = serde_json::from_value::<contract::CompactResult>(result).unwrap().expanded();
        assert_eq!(json!(expanded), full.json());
        let (bytes, all) = (compact.text.len(), full.text.len());
        assert!(bytes < all && (kind == RECORDED || 4 * bytes < all), "{bytes} of {all} bytes");
    }
}

#[tokio::test]
async fn a_view_is_one_of_two() {
    let service = Service::start_without_workers(&[]).await;
    let body = r#"{"search_smiles": "CCO"}"#;

    let search = service.post(&format!("{SEARCH}?view=tiny"), body).await;
    let stream = service.get(&format!("{SEARCH}/a/events?view=")).await;
    let plan = service.get("/synth-batches/v1/plans/a?view=compact").await;

    for (refused, kind) in [(search, "enum"), (stream, "enum"), (plan, "extra_forbidden")] {
        let fault = ("query.view".to_owned(), kind.to_owned());
        assert_eq!((refused.status, refused.faults()), (422, vec![fault]));
    }
}

#[tokio::test]
async fn a_kept_route_is_exported_alone() {
    let service = Service::start().await;
    let found = result();
    let kept = json!({
        "parameters": { "search_smiles": "CC(=O)NC" },
        "route": found["route_hierarchy"]["2"]["b0123456789abcdef"][0][0],
        "pricing_annotations": found["pricing_annotations"],
    });
    let id = service.post(ROUTES, &kept.to_string()).await.json()["id"].as_str().unwrap().to_owned();

    let aizynth = service.get(&format!("{ROUTES}/{id}?format=aizynth")).await;
    let retrocast = service.get(&format!("{ROUTES}/{id}?format=retrocast")).await;

    // The key of the backbone belongs to the answer of a search.
    let mut tree = trees()[0].clone();
    tree["metadata"] = json!({ "is_solved": true });
    let mut candidate = predictions()["CNC(C)=O"][0].clone();
    candidate["route"]["annotations"].as_object_mut().unwrap().remove("backbone");
    assert_eq!(told(&aizynth), (200, AIZYNTH, json!([tree])));
    assert_eq!(told(&retrocast), (200, RETROCAST, json!({ "CC(=O)NC": [candidate] })));
}

#[tokio::test]
async fn a_format_that_nobody_writes_is_a_fault_of_the_query() {
    let service = Service::start_without_workers(&[]).await;
    let path = service.completed_plan().await;
    let body = r#"{"search_smiles": "C1CC"}"#;

    let unknown = service.get(&format!("{path}?format=askcos")).await;
    let other = service.get(&format!("{path}?format=aizynth&x=1")).await;
    let searched = service.post(&format!("{SEARCH}?format="), body).await;
    let stream = service.request(Method::POST, &format!("{SEARCH}?format=aizynth")).await;
    let stream =
        answer(stream.header("accept", "text/event-stream").json(&json!({ "search_smiles": "CCO" }))).await;

    let faults = |faults: &[(&str, &str)]| {
        faults.iter().map(|(loc, kind)| ((*loc).to_owned(), (*kind).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!((unknown.status, unknown.faults()), (422, faults(&[("query.format", "enum")])));
    assert_eq!(unknown.json()["detail"][0]["msg"], "Input should be 'aizynth' or 'retrocast'");
    assert_eq!((other.status, other.faults()), (422, faults(&[("query.x", "extra_forbidden")])));
    let both = faults(&[("query.format", "enum"), ("body.search_smiles", "smiles_invalid")]);
    assert_eq!((searched.status, searched.faults()), (422, both));
    assert_eq!((stream.status, stream.faults()), (422, faults(&[("query.format", "value_error")])));
}

#[tokio::test]
async fn what_has_no_result_is_not_exported_nor_is_retrocasts_format_written_without_a_searcher() {
    let service = Service::start_without_workers(&[]).await;
    let pending = service.plan(2).await;

    let refused = service.get(&format!("{pending}?format=aizynth")).await;
    let missing = service.get(&format!("{PLANS}/pln_nothing?format=aizynth")).await;
    let path = service.completed_plan().await;
    let without_a_searcher = service.get(&format!("{path}?format=retrocast")).await;

    assert_eq!((refused.status, missing.status, without_a_searcher.status), (409, 404, 503));
    assert_eq!(refused.json()["detail"][0]["msg"], "The plan has no result");
}
