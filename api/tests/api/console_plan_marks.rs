//! Route constraints in the console: bonds and atoms marked in the target, lists of reaction classes, molecules and
//! building blocks.

use std::collections::BTreeSet;

use reactivity::CLASS_NAMES;
use serde_json::{Value, json};
use test_support::Chromium;

use crate::console_plan::{assert_no_errors, breaks_no_rule, count, find_routes, stage};

/// Script that records the requests of the page, except those that store plans, and sends them unchanged.
pub const RECORD_REQUESTS_SCRIPT: &str = "const send = window.fetch; window.fetch = (address, how) => { if (how?.body?.startsWith?.('{') && !address.includes('/plans')) window.asked = JSON.parse(how.body); return send(address, how); };";

/// Presses a key on the focused element.
pub async fn press(browser: &Chromium, key: &str) {
    let key = json!(key);
    browser
        .run(&format!("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: {key}, bubbles: true, cancelable: true }}));"))
        .await;
}

pub async fn last_search(browser: &Chromium) -> Value {
    browser.run("return window.asked").await
}

#[tokio::test]
async fn bonds_that_are_pressed_are_broken_or_kept_and_the_answer_says_what_became_of_them() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(RECORD_REQUESTS_SCRIPT).await;

    browser.put("search_smiles", "CC(=O)Nc1ccc(O)cc1").await;
    browser.click("[data-key='bond 2']").await;
    browser.run("document.querySelector('[data-key=\"bond 3\"]').focus()").await;
    press(&browser, "Enter").await;
    press(&browser, " ").await;
    let focused = browser.run("return document.activeElement.getAttribute('aria-label')").await;
    let marked = browser.text("#marked").await;
    browser.screenshot("plan_marked").await;
    breaks_no_rule(&browser).await;
    browser.click("#run").await;
    let nothing = browser.wait_for_text("#nothing", |text| text.starts_with("No route")).await;
    let first = last_search(&browser).await;
    browser.put("max_depth", "46").await;
    browser.put("max_backbone_groups", "100").await;
    browser.click("#run").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    browser.click("#constraints summary").await;
    let shown = browser.text("#constraints_told").await;

    assert_eq!(focused, "Bond N4–C5: to be kept");
    assert!(marked.contains("Break C2–N4") && marked.contains("Keep N4–C5"), "{marked}");
    assert_eq!((&first["bonds_to_break"], &first["bonds_to_keep"]), (&json!([[2, 4]]), &json!([[4, 5]])));
    let target = first["search_smiles"].as_str().unwrap();
    assert!(target.contains("[C:2]") && target.contains("[NH:4]") && target.contains("[c:5]"), "{target}");
    assert!(
        nothing.contains("Break the bond C2–N4: refused 7 proposals; no proposed step breaks it"),
        "{nothing}"
    );
    assert_eq!(shown, "Break the bond C2–N4: refused 7 proposals");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn marks_are_reached_by_arrows_go_over_to_a_target_that_changed_and_are_taken_back() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(RECORD_REQUESTS_SCRIPT).await;

    browser.put("search_smiles", "CC(=O)Nc1ccc(O)cc1").await;
    for atom in ["atom 4", "atom 5", "atom 6"] {
        browser.click(&format!("[data-key='{atom}']")).await;
    }
    browser.click("[data-key='bond 2']").await;
    browser.run("document.querySelector('[data-key=\"bond 2\"]').focus()").await;
    let mut reached = BTreeSet::new();
    for key in ["ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] {
        press(&browser, key).await;
        let here = browser.run("return document.activeElement.getAttribute('data-key')").await;
        reached.insert(here.as_str().unwrap().to_owned());
    }
    browser.put("search_smiles", "COc1ccc(NC(C)=O)cc1").await;
    let carried = browser.wait_for_text("#marked", |text| text.contains("C8–N7")).await;
    browser.put("max_depth", "46").await;
    browser.put("max_backbone_groups", "100").await;
    browser.click("#run").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let body = last_search(&browser).await;
    browser.click("#change").await;
    browser.click("#marked .cross").await;
    let left = browser.text("#marked").await;
    browser.click("#marked .brief").await;

    let of = |kind: &str| reached.iter().filter(|part| part.starts_with(kind)).count();
    assert!(of("atom") >= 1 && of("bond") >= 1 && reached.len() >= 3, "{reached:?}");
    assert!(carried.contains("Keep 3 atoms whole"), "{carried}");
    assert_eq!(body["bonds_to_break"].as_array().unwrap().len(), 1);
    assert_eq!(body["bonds_to_keep"].as_array().unwrap().len(), 2, "{body}");
    assert!(!left.contains("Break") && left.contains("Keep 3 atoms whole"), "{left}");
    assert_eq!(count(&browser, "#marked .chip").await, 0);
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn what_routes_must_and_may_not_have_is_a_list_of_which_each_can_be_taken_back() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(RECORD_REQUESTS_SCRIPT).await;

    let suggested =
        format!("return document.querySelectorAll('#classes option').length === {}", CLASS_NAMES.len());
    browser.until(&suggested).await;
    browser.click("#more summary").await;
    browser.type_into("#molecules_never", "CC(=O)Cl\u{e007}CCO\u{e007}CCN").await;
    browser.type_into("#building_blocks_own", "OC(=O)c1ccccc1 12,5\u{e007}").await;
    browser.type_into("#reaction_classes_never", "Boc removal, amide coupling\u{e007}").await;
    browser.put("max_steps", "4").await;
    browser.click(".field:has(#molecules_never) .cross").await;
    breaks_no_rule(&browser).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let body = last_search(&browser).await;
    browser.click("#change").await;
    browser.type_into("#substructures_never", "[C,N\u{e007}").await;
    browser.click("#run").await;
    let fault = browser.wait_for_text("#substructures_never_fault", |text| !text.is_empty()).await;

    assert_eq!(body["molecules_never"], json!(["CCO", "CCN"]));
    assert_eq!(body["building_blocks_own"], json!([{ "smiles": "OC(=O)c1ccccc1", "usd_per_gram": 12.5 }]));
    assert_eq!(body["reaction_classes_never"], json!(["Boc removal", "amide coupling"]));
    assert_eq!((&body["max_steps"], &body["protecting_groups"]), (&json!(4), &json!("allowed")));
    assert!(fault.starts_with("[C,N: Input should be a valid SMARTS"), "{fault}");
}
