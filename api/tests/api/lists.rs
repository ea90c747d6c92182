//! Lists of stored work: for those who may read it, the newest first.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Service, add_account, answer, join_one_organisation};

/// Checks the pages of the list at `path` with three items, the oldest first, as a colleague and a stranger see them;
/// returns the colleague's account.
pub async fn pages_go_both_ways_for_colleagues(service: &Service, path: &str, ids: &[String]) -> String {
    let colleague = add_account(&service.pool, "colleague@example.org").await;
    let stranger = add_account(&service.pool, "other@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    let [oldest, middle, newest] = ids else { panic!("three items, not {ids:?}") };
    let list = async |account: &str, query: &str| {
        let page = service.request_as(account, Method::GET, &format!("{path}{query}")).await;
        let page = answer(page).await.json();
        let ids: Vec<_> = page["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect();
        (ids, page["has_next"] == true, page["has_previous"] == true)
    };

    let first = list(&colleague, "?limit=2").await;
    let rest = list(&colleague, &format!("?starting_after={middle}")).await;
    let back = list(&colleague, &format!("?ending_before={oldest}")).await;

    assert_eq!(first, (vec![json!(newest), json!(middle)], true, false));
    assert_eq!(rest, (vec![json!(oldest)], false, true));
    assert_eq!(back, (vec![json!(newest), json!(middle)], true, false));
    assert_eq!(list(&stranger, "").await.0, Vec::<Value>::new());
    let both = format!("{path}?starting_after={oldest}&ending_before={middle}");
    assert_eq!(service.get(&both).await.status, 400);
    assert_eq!(service.get(&format!("{path}?starting_after=none")).await.status, 400);
    colleague
}
