//! Saved work in the console: kept routes, and searches.

use reqwest::Method;
use serde_json::{Value, json};
use test_support::Chromium;

use crate::{
    console_plan::{assert_no_errors, breaks_no_rule, count, find_routes, stage},
    console_plan_work::{MOCK_ONE_STEP_SCRIPT, act, choose},
    support::Service,
};

const ROUTES: &str = "/synth/v1/routes";
const PLANS: &str = "/synth-batches/v1/plans";

/// Types into a field and leaves it.
async fn fill(browser: &Chromium, field: &str, text: &str) {
    let (field, text) = (json!(field), json!(text));
    browser
        .run(&format!(
            "const field = document.getElementById({field}); field.value = {text}; field.dispatchEvent(new Event('change'));"
        ))
        .await;
}

/// Waits until the list has `many` items and returns them.
async fn items(service: &Service, path: &str, many: usize) -> Vec<Value> {
    for _ in 0..400 {
        let answer = service.get(path).await;
        let items = answer.json()["items"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone();
        if items.len() == many {
            return items;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("{path} never has {many}");
}

#[tokio::test]
async fn a_route_is_kept_named_starred_found_again_by_its_link_and_let_go() {
    let Some((service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let drawn = count(&browser, "#scheme .molecule").await;
    let summary = browser.text("#route_summary").await;

    browser.click("#keep").await;
    browser.wait_for_text("#kept_whose", |text| text == "You keep this route.").await;
    fill(&browser, "kept_name", "The textbook's").await;
    browser.until("return document.getElementById('toast').textContent === 'Saved.'").await;
    fill(&browser, "kept_note", "Ask Ada first").await;
    browser.click("#kept_star").await;
    browser.wait_for_text("#kept_star", |text| text == "★ Starred").await;
    browser.screenshot("plan_kept").await;
    breaks_no_rule(&browser).await;
    let kept = items(&service, ROUTES, 1).await.remove(0);
    browser.click("[data-part=notebook]").await;
    let entry = browser.wait_for_text(".entries li", |text| text.contains("The textbook's")).await;
    browser.wait_for_text("[aria-label=Searches]", |text| text.contains("10 routes")).await;
    browser.until("return document.querySelectorAll('.entries svg').length === 2").await;
    browser.screenshot("notebook").await;
    breaks_no_rule(&browser).await;
    browser.run("document.querySelector('.entries a').click()").await;
    browser.wait_for_text("#results_how", |text| text.starts_with("kept ")).await;
    let opened = (count(&browser, "#scheme .molecule").await, browser.text("#route_summary").await);
    let note = browser.run("return document.getElementById('kept_note').value").await;
    let target = browser.run("return document.getElementById('search_smiles').value").await;
    let hash = browser.run("return location.hash").await;
    browser.click("#kept_not").await;
    items(&service, ROUTES, 0).await;

    assert_eq!((&kept["name"], &kept["starred"]), (&json!("The textbook's"), &json!(true)));
    assert_eq!(kept["note"], "Ask Ada first");
    for words in ["★", "Ask Ada first", "step", "kept "] {
        assert!(entry.contains(words), "{words} in {entry}");
    }
    assert_eq!(opened, (drawn, summary));
    assert_eq!(note, "Ask Ada first");
    assert_eq!(target, kept["parameters"]["search_smiles"]);
    assert_eq!(hash, json!(format!("#/plan/{}", kept["id"].as_str().unwrap())));
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_structure_is_written_by_the_name_of_a_route_that_is_kept() {
    let Some((service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let smiles = browser.run("return document.getElementById('search_smiles').value").await;
    browser.click("#keep").await;
    browser.wait_for_text("#kept_whose", |text| text == "You keep this route.").await;
    fill(&browser, "kept_name", "Tyrosine kinase hit").await;
    browser.until("return document.getElementById('toast').textContent === 'Saved.'").await;
    items(&service, ROUTES, 1).await;

    browser.click("#change").await;
    browser.put("search_smiles", "tyrosine KINASE hit ").await;
    browser.click("#run").await;
    browser.until(&format!("return document.getElementById('search_smiles').value === {smiles}")).await;
    browser
        .until(
            "return document.getElementById('target_form').hidden && document.getElementById('bar').hidden",
        )
        .await;
    browser.click("#change").await;
    browser.put("search_smiles", "nobody's hit").await;
    browser.click("#run").await;
    let fault = browser.wait_for_text("#search_smiles_fault", |text| !text.is_empty()).await;

    assert!(fault.contains("SMILES"), "{fault}");
}

#[tokio::test]
async fn a_route_that_was_made_by_hand_is_kept_whole() {
    let Some((service, browser)) = stage().await else { return };
    browser.run(MOCK_ONE_STEP_SCRIPT).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    choose(&browser, ".target").await;
    act(&browser, "Make it another way …").await;
    browser.wait_for_text("#precursors_told", |text| text.starts_with("1 way")).await;
    browser.click("#precursors_list button").await;
    browser.wait_for_text("#route_title", |text| text == "By hand 1").await;

    browser.click("#keep").await;
    browser.wait_for_text("#kept_whose", |text| text == "You keep this route.").await;

    let listed = items(&service, ROUTES, 1).await.remove(0);
    let kept = service.get(&format!("{ROUTES}/{}", listed["id"].as_str().unwrap())).await.json();
    assert_eq!(kept["name"], "By hand 1");
    assert_eq!(kept["figures"]["plausibility"], 0.97);
    let nodes = kept["route"]["nodes"].as_array().unwrap();
    let bought = |node: &&Value| node["data"]["is_building_block"] == true;
    assert_eq!((nodes.len(), nodes.iter().filter(bought).count()), (3, 1));
    let edge = &kept["route"]["edges"][0];
    assert_eq!((&edge["reaction_class"], &edge["precedents"]), (&json!("N-alkylation"), &json!(956)));
    assert_eq!(kept["pricing_annotations"][0]["vendor_name"], "Lab");
    browser.go(&format!("#/plan/{}", listed["id"].as_str().unwrap())).await;
    browser.wait_for_text("#results_how", |text| text.starts_with("kept ")).await;
    let shown = browser.text("#shopping").await;
    assert!(shown.starts_with("Routes by hand are not priced."), "{shown}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_search_is_found_again_by_its_address_asks_the_same_again_and_is_deleted() {
    let Some((service, browser)) = stage().await else { return };
    browser.put("amount_mmol", "2.5").await;
    browser.put("molecules_never", "CO").await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let stored = items(&service, PLANS, 1).await.remove(0);
    let id = stored["id"].as_str().unwrap().to_owned();
    browser.until(&format!("return location.hash === '#/plan/{id}'")).await;

    // Simulates a user who receives the link and has another draft.
    browser.put("search_smiles", "CCO").await;
    browser.put("amount_mmol", "7").await;
    browser.go("#/notebook").await;
    browser.wait_for_text("[aria-label=Searches]", |text| text.contains("10 routes")).await;
    browser.run("document.querySelector('[aria-label=Searches] a').click()").await;
    browser.until("return document.getElementById('amount_mmol').value === '2.5'").await;
    let typed = browser.run("return document.getElementById('search_smiles').value").await;
    let shown = browser.text("#route_count").await;
    browser.go("#/notebook").await;
    browser.wait_for_text("[aria-label=Searches] li", |text| text.contains("10 routes")).await;
    browser.click("[aria-label=Searches] button").await;
    browser.click("#ask_yes").await;
    items(&service, PLANS, 0).await;

    assert_eq!((&stored["status"], &stored["figures"]["routes"]), (&json!("completed"), &json!(10)));
    assert_eq!(stored["parameters"]["amount_mmol"], 2.5);
    assert_eq!(typed, stored["parameters"]["search_smiles"]);
    assert_eq!(shown, "10");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_colleagues_kept_route_is_read_only() {
    let Some((service, browser)) = stage().await else { return };
    let colleague = crate::support::add_account(&service.pool, "colleague@example.org").await;
    crate::support::join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    browser.click("#keep").await;
    browser.wait_for_text("#kept_whose", |text| text == "You keep this route.").await;
    let kept = items(&service, ROUTES, 1).await.remove(0);
    let id = kept["id"].as_str().unwrap();
    sqlx::query("update kept_routes set account_id = $1, name = 'Theirs'")
        .bind(&colleague)
        .execute(&service.pool)
        .await
        .unwrap();

    browser.go(&format!("#/plan/{id}")).await;
    browser.wait_for_text("#results_how", |text| text.ends_with("by a colleague")).await;
    let state = browser
        .run("return ['kept_name', 'kept_note'].map((id) => document.getElementById(id).readOnly).concat(document.getElementById('kept_star').disabled, document.getElementById('kept_not').hidden)")
        .await;
    browser.click("#keep").await;
    browser.wait_for_text("#kept_whose", |text| text == "You keep this route.").await;

    assert_eq!(state, json!([true, true, true, true]));
    assert_eq!(items(&service, ROUTES, 2).await[0]["is_own"], true);
    let delete = service.request(Method::DELETE, &format!("{ROUTES}/{id}")).await;
    assert_eq!(crate::support::answer(delete).await.status, 403);
    assert_no_errors(&browser).await;
}
