//! Plan view of the console in a real browser: from the login to a displayed route, and possible failures on the way.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use test_support::{Chromium, Script};

use crate::{auth_clients::skip, console::log_in, recorded::HOSTILE, support::Service};

/// Imatinib, the target of the routes that the test searcher returns by `max_depth`.
const TARGET: &str = "CN1CCN(Cc2ccc(cc2)C(=O)Nc2ccc(C)c(Nc3nccc(n3)-c3cccnc3)c2)CC1";

/// Starts a service, and a browser that is logged in; `None` if there is no browser.
pub async fn stage() -> Option<(Service, Chromium)> {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(missing) => {
            skip("chromium", &missing);
            return None;
        }
    };
    let service = Service::start_with(&[("PUBLIC_URL", "")]).await;
    browser.open(&format!("{}/", service.base)).await;
    log_in(&browser, "demo@example.org").await;
    browser.wait_for_title("Retort").await;
    browser.wait_for_text("#run", |text| text == "Find routes").await;
    Some((service, browser))
}

/// Searches for routes of the kind that `depth` selects.
pub async fn find_routes(browser: &Chromium, depth: &str) {
    browser.put("search_smiles", TARGET).await;
    for (field, text) in [("max_depth", depth), ("max_backbone_groups", "100")] {
        browser.put(field, text).await;
    }
    browser.click("#run").await;
}

pub async fn count(browser: &Chromium, selector: &str) -> u64 {
    let selector = json!(selector);
    browser.run(&format!("return document.querySelectorAll({selector}).length")).await.as_u64().unwrap()
}

pub async fn assert_no_errors(browser: &Chromium) {
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_chemist_sees_routes_chooses_one_and_what_is_known_of_its_parts() {
    let Some((_service, browser)) = stage().await else { return };
    browser.screenshot("plan").await;

    find_routes(&browser, "46").await;
    let found = browser.wait_for_text("#route_count", |text| !text.is_empty()).await;
    browser.screenshot("plan_routes").await;
    let summary = browser.text("#route_summary").await;
    let (molecules, steps) = (count(&browser, ".view .molecule").await, count(&browser, ".view .step").await);
    let marked = count(&browser, ".view .new").await;
    browser.click("#scheme .molecule.target").await;
    let target = browser.wait_for_text("#details", |text| text.starts_with("Target")).await;
    browser.run("document.querySelector('#scheme .step').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))").await;
    let step = browser.wait_for_text("#details", |text| text.starts_with("Step")).await;
    browser.type_into("#route_list", "\u{e015}").await; // Arrow down.
    let next = browser.wait_for_text("#route_title", |text| text != "Route 1").await;
    browser.run("document.querySelector('#scheme .folder').dispatchEvent(new Event('click'))").await;
    let folded = count(&browser, ".view .step").await;

    assert_eq!(found, "10");
    assert!(summary.contains("steps · longest branch") && summary.contains("for 1 mmol"), "{summary}");
    // An amide formation and an N-alkylation form one bond each. The bonds that a ring synthesis forms are uncertain,
    // and are not marked.
    assert_eq!((steps, molecules > steps, marked), (6, true, 2));
    assert!(target.contains("493.62 Da"), "{target}");
    assert!(step.contains("Precedents") && step.contains("Solvents") && step.contains(">>"), "{step}");
    assert_eq!(next, "Route 2");
    assert!(folded < 6, "{folded}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn routes_are_sorted_filtered_ordered_and_taken_away() {
    let Some((_service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    // Captures saved files instead of saving them.
    browser
        .run(
            "window.saved = {}; const blobs = new Map(); URL.createObjectURL = (blob) => { const key = `blob:${blobs.size}`; blobs.set(key, blob); return key; }; \
             HTMLAnchorElement.prototype.click = function () { blobs.get(this.href).text().then((text) => { window.saved[this.download] = text; }); };",
        )
        .await;

    browser.run("const order = document.getElementById('order'); order.value = 'steps'; order.dispatchEvent(new Event('change'));").await;
    let shortest = browser.text("#route_list [role=option]").await;
    browser.put("filter", "suzuki coupling").await;
    let some = browser.text("#route_count").await;
    browser.put("filter", "nothing of this name").await;
    let none = browser.text("#route_none").await;
    for button in ["#take_svg", "#take_csv", "#take_json", "#take_all", "#take_aizynth", "#take_retrocast"] {
        browser.click(button).await;
    }
    let shopping = browser.text("#shopping").await;
    let saved = browser.run_async("const done = arguments[arguments.length - 1]; const look = () => (Object.keys(window.saved).length === 6 ? done(window.saved) : setTimeout(look, 20)); look();").await;

    assert!(shortest.contains("4 steps"), "{shortest}");
    assert!(some.ends_with(" of 10"), "{some}");
    assert_eq!(none, "No route passes the filters.");
    let text = |name: &str| saved[name].as_str().unwrap().to_owned();
    let lines = text("route_1.csv");
    assert!(
        lines.starts_with("vendor,entry,smiles,grams_needed,packs,pack,unit,usd,lead_time_days\r\n"),
        "{lines}"
    );
    let entry = lines.lines().nth(1).unwrap().split(',').nth(1).unwrap();
    assert!(shopping.contains(entry), "{entry} in {shopping}");
    let picture = text("route_1.svg");
    assert!(
        picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && picture.contains("<path"),
        "{picture}"
    );
    let graph: contract::RouteGraph = serde_json::from_str(&text("route_1.json")).unwrap();
    assert_eq!(graph.graph.unwrap().rank, 1);
    let all: contract::TreeSearchResult = serde_json::from_str(&text("routes.json")).unwrap();
    assert_eq!(all, crate::recorded::answer(crate::recorded::RecordedVariant::AsFound));
    let trees: Value = serde_json::from_str(&text("routes_aizynth.json")).unwrap();
    let first = &trees[0]["children"][0];
    assert_eq!((trees.as_array().unwrap().len(), &trees[0]["metadata"]["is_solved"]), (10, &json!(true)));
    assert_eq!((&first["type"], &first["metadata"]["policy_name"]), (&json!("reaction"), &json!("retort")));
    assert!(
        first["smiles"].as_str().unwrap().starts_with(&format!("{}>>", trees[0]["smiles"].as_str().unwrap()))
    );
    let predictions: Value = serde_json::from_str(&text("routes_retrocast.json")).unwrap();
    let candidates = predictions[&all.search_smiles].as_array().unwrap();
    let target = &candidates[0]["route"]["target"];
    assert_eq!(
        (candidates.len(), &candidates[9]["rank"], &target["smiles"]),
        (10, &json!(10), &json!(all.search_smiles))
    );
    assert_eq!(target["inchikey"], format!("KEY-{}", all.search_smiles));
    assert_eq!(target["product_of"]["annotations"]["template_hash"], first["metadata"]["template_hash"]);
    assert!(target["product_of"]["reactants"][0]["inchikey"].as_str().unwrap().starts_with("KEY-"));
    assert_no_errors(&browser).await;
}

/// Script that finds overlapping boxes in a drawing: text on text, text on structures, structures on structures.
const COLLISIONS: &str = "
    const parts = [...document.querySelectorAll('.view text.caption, .view .class, .view .agents, .view .molecule > .formula')];
    const boxes = parts.map((part) => [part.textContent, part.getBoundingClientRect()]);
    const meet = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5
        && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.5;
    const met = [];
    boxes.forEach(([name, box], index) => {
        for (const [other, beside] of boxes.slice(index + 1)) if (meet(box, beside)) met.push(`${name} on ${other}`);
    });
    return { met, parts: parts.length };";

#[tokio::test]
async fn nothing_in_a_drawing_lies_on_anything_else_whatever_the_shape_of_the_route() {
    let Some((_service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;

    let mut titles = BTreeSet::new();
    for _ in 0..10 {
        titles.insert(browser.text("#route_title").await);
        let seen = browser.run(COLLISIONS).await;
        assert_eq!(seen["met"], json!([]), "{titles:?}");
        assert!(seen["parts"].as_u64().unwrap() > 10, "{seen}");
        browser.type_into("#route_list", "\u{e015}").await;
    }

    assert_eq!(titles.len(), 10, "{titles:?}");
}

#[tokio::test]
async fn of_a_thousand_routes_only_those_in_sight_are_in_the_page() {
    let Some((_service, browser)) = stage().await else { return };

    find_routes(&browser, "45").await;
    let found = browser.wait_for_text("#route_count", |text| !text.is_empty()).await;
    let options = count(&browser, "#route_list [role=option]").await;
    browser.type_into("#route_list", "\u{e010}").await; // End.
    let last = browser.wait_for_text("#route_title", |text| text != "Route 1").await;
    let seen = browser.text("#route_list [aria-selected=true]").await;

    assert_eq!(found, "1,000");
    assert!((5..40).contains(&options), "{options}");
    assert_eq!(last, "Route 1000");
    assert!(seen.starts_with("1000"), "{seen}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn what_strangers_wrote_is_text_and_their_links_lead_nowhere() {
    let Some((_service, browser)) = stage().await else { return };

    browser.put("vendors_only", HOSTILE).await;
    find_routes(&browser, "44").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    browser.run("document.querySelector('#scheme .bought').dispatchEvent(new Event('click'))").await;
    let molecule = browser.wait_for_text("#details", |text| text.starts_with("Building block")).await;
    browser.run("document.querySelector('#scheme .step').dispatchEvent(new Event('click'))").await;
    let step = browser.wait_for_text("#details", |text| text.starts_with("Step")).await;

    for words in [molecule, step, browser.text("#shopping").await, browser.text("#results_target").await] {
        assert!(words.contains("<script>document.title"), "{words}");
    }
    assert_eq!(browser.title().await, "Retort");
    assert_eq!(count(&browser, "#results a[href], #results img, #results script").await, 0);
    // A result for another request is not stored.
    let refusal = browser.complaints().await;
    assert!(refusal.iter().all(|line| line["message"].as_str().unwrap().contains("/plans")), "{refusal:?}");
}

#[tokio::test]
async fn what_is_wrong_with_a_request_stands_at_its_field() {
    let Some((_service, browser)) = stage().await else { return };

    browser.click("#run").await;
    let nothing = browser.text("#search_smiles_fault").await;
    browser.put("search_smiles", "CCO").await;
    browser.put("amount_mmol", "1,000").await;
    browser.click("#run").await;
    let ambiguous = browser.text("#amount_mmol_fault").await;
    browser.put("amount_mmol", "0,5").await;
    browser.put("max_depth", "51").await;
    browser.put("search_smiles", "CC.CC").await;
    browser.click("#run").await;
    let depth = browser.wait_for_text("#max_depth_fault", |text| !text.is_empty()).await;
    let target = browser.text("#search_smiles_fault").await;
    browser.screenshot("plan_faults").await;

    assert_eq!(nothing, "Draw or enter a target.");
    assert_eq!(ambiguous, "1,000 may be 1.000 or 1000: write it without a comma.");
    assert_eq!(depth, "Input should be less than or equal to 50.");
    assert!(target.contains("more than one component"), "{target}");
    assert_eq!(browser.text("#amount_mmol_fault").await, "");
    let refusal = browser.complaints().await;
    assert!(refusal.iter().all(|line| line["message"].as_str().unwrap().contains("422")), "{refusal:?}");
}

#[tokio::test]
async fn a_search_that_is_stopped_is_cancelled_and_one_without_a_route_says_why() {
    let Some((service, browser)) = stage().await else { return };

    browser.put("max_seconds", "60").await;
    find_routes(&browser, "47").await;
    browser.wait_for_text("#elapsed_text", |text| text.starts_with("Searching")).await;
    let in_hand = async || -> i64 {
        let running = sqlx::query_scalar("select count(*) from jobs where finished_at is null");
        running.fetch_one(&service.pool).await.unwrap()
    };
    let until = async |jobs: i64| {
        while in_hand().await != jobs {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    until(1).await;
    browser.click("#stop").await;
    let stopped = browser.wait_for_text("#notice", |text| !text.is_empty()).await;
    // An earlier progress event has replaced the form by a route.
    browser
        .run("const change = document.getElementById('change'); if (!change.hidden) change.click();")
        .await;
    browser.put("max_depth", "5").await;
    browser.click("#run").await;
    let nothing = browser.wait_for_text("#nothing", |text| !text.is_empty()).await;
    until(0).await;

    assert_eq!(stopped, "Stopped. The search is cancelled.");
    assert!(nothing.starts_with("No route was found") && nothing.contains("Suggestions"), "{nothing}");
    assert_no_errors(&browser).await;
}

/// Builds the script that runs axe-core and returns its findings.
fn axe_check(axe: &str) -> String {
    // The letters of a structure are part of a picture. Its accessible name is the SMILES, so they are no label.
    format!(
        "{axe}; const done = arguments[arguments.length - 1]; \
         axe.run({{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], rules: {{ 'label-content-name-mismatch': {{ enabled: false }} }} }}).then((found) => \
         done(found.violations.map((rule) => `${{rule.id}}: ${{rule.nodes.map((node) => node.html.slice(0, 200)).join(' | ')}}`)));"
    )
}

/// Asserts that the page in its present state violates no rule of axe-core. `AXE` names the file `axe.min.js` of that
/// npm package, which `.ci/run` provides.
pub async fn breaks_no_rule(browser: &Chromium) {
    let Ok(axe) = std::env::var("AXE") else {
        return skip("axe", "AXE names no axe.min.js: npm pack axe-core");
    };
    let axe = std::fs::read_to_string(axe).unwrap();
    assert_eq!(browser.run_async(&axe_check(&axe)).await, json!([]));
}

#[tokio::test]
async fn no_rule_of_wcag_that_a_program_can_check_is_broken() {
    let Some((_service, browser)) = stage().await else { return };

    browser.run("document.getElementById('more').open = true").await;
    breaks_no_rule(&browser).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    browser.run("document.querySelector('#scheme .bought').dispatchEvent(new Event('click'))").await;
    breaks_no_rule(&browser).await;
}

#[test]
fn what_is_shipped_of_others_is_what_its_manifest_says_with_its_licence() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/console/vendor");
    let manifest = std::fs::read_to_string(format!("{folder}/manifest.tsv")).unwrap();
    let mut files = BTreeSet::new();
    let mut bytes = 0;

    for line in manifest.lines().filter(|line| !line.starts_with('#')) {
        let [package, _version, licence, file, sum] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let text = std::fs::read(format!("{folder}/{file}")).unwrap();
        let hashed: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((hashed.as_str(), licence), (sum, "BSD-3-Clause"), "{file}: run api/console/vendor/fetch");
        assert!(std::path::Path::new(folder).join(package).join("LICENSE").exists(), "{package}");
        bytes += text.len();
        files.insert(file.to_owned());
    }

    let there: BTreeSet<String> = std::fs::read_dir(format!("{folder}/openchemlib"))
        .unwrap()
        .map(|entry| format!("openchemlib/{}", entry.unwrap().file_name().into_string().unwrap()))
        .collect();
    assert_eq!(files, there);
    assert!(bytes < 2 << 20, "{bytes}");
}
