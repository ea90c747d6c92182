//! Editing of a route in the console: excluded parts, available materials, manual steps, and undo.

use serde_json::json;
use test_support::Chromium;

use crate::{
    console_plan::{assert_no_errors, breaks_no_rule, count, find_routes, stage},
    console_plan_marks::{RECORD_REQUESTS_SCRIPT, last_search, press},
    recorded::{self, RecordedVariant},
};

/// Presses the button with this label for the selected element.
pub async fn act(browser: &Chromium, words: &str) {
    let words = json!(words);
    browser
        .run(&format!("[...document.querySelectorAll('#acts button')].find((one) => one.textContent === {words}).click()"))
        .await;
}

pub async fn choose(browser: &Chromium, part: &str) {
    let part = json!(format!("#scheme {part}"));
    browser.run(&format!("document.querySelector({part}).dispatchEvent(new Event('click'))")).await;
}

#[tokio::test]
async fn what_is_banned_or_at_hand_holds_in_the_next_search_and_is_undone_step_by_step() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(RECORD_REQUESTS_SCRIPT).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;

    choose(&browser, ".bought").await;
    act(&browser, "I have it").await;
    choose(&browser, ".step").await;
    act(&browser, "Never C-alkylation").await;
    act(&browser, "Never this step").await;
    let changes = browser.text("#changed").await;
    browser.screenshot("plan_changed").await;
    breaks_no_rule(&browser).await;
    browser.click("#undo").await;
    browser.click("#again").await;
    browser.wait_for_text("#undo", |text| text == "Undo the search").await;
    let body = last_search(&browser).await;
    browser.click("#undo").await;
    let back = browser.run("return document.getElementById('changes').hidden").await;

    assert!(
        changes.contains("is at hand")
            && changes.contains("never C-alkylation")
            && changes.contains("never step 1"),
        "{changes}"
    );
    assert_eq!(body["building_blocks_own"].as_array().unwrap().len(), 1);
    assert_eq!(body["reaction_classes_never"], json!(["C-alkylation"]));
    assert_eq!(body.get("templates_never"), None);
    assert_eq!(back, json!(true));
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_menu_at_a_part_of_the_drawing_is_walked_by_keys() {
    let Some((_service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;

    browser
        .run("const part = document.querySelector('#scheme .bought'); part.focus(); part.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: 400, clientY: 300 }));")
        .await;
    let first = browser.run("return document.activeElement.textContent").await;
    breaks_no_rule(&browser).await;
    press(&browser, "ArrowDown").await;
    let second = browser.run("return document.activeElement.textContent").await;
    press(&browser, "End").await;
    let last = browser.run("return document.activeElement.textContent").await;
    browser.run("document.activeElement.click()").await;
    let changes = browser.wait_for_text("#changed", |text| !text.is_empty()).await;
    let focused = browser.run("return document.activeElement.dataset.key ?? ''").await;

    assert_eq!((first, second, last), (json!("Never use it"), json!("I have it"), json!("Always use it")));
    assert!(changes.starts_with("always "), "{changes}");
    assert!(focused.as_str().unwrap().starts_with("molecule "), "{focused}");
    assert_no_errors(&browser).await;
}

/// Script that mocks the service's answers about single steps and vendors.
pub const MOCK_ONE_STEP_SCRIPT: &str = "
    const plain = window.fetch;
    const answers = {
        '/synth/v1/expansions': (asked) => ({ items: asked.smiles.map((smiles) => ({ smiles, error: null, precursors: [
            { smiles: ['CI', 'O=C(O)c1ccc(CN2CCNCC2)cc1'], probability: 0.51, plausibility: 0.97, template_id: 'abc', reaction_class: 'N-alkylation', precedents: 956, in_stock: [true, false] },
        ] })) }),
        '/synth/v1/building-blocks': (asked) => ({ items: asked.smiles.map((smiles) => ({ smiles, error: null, in_stock: true, building_block_idx: 7, price: 1.5, lead_time_days: 3, vendors: ['Lab'],
            offers: [{ major_component_id: 7, full_canonical: smiles, major_component: smiles, minor_components: '', mw: 141.9, vendor_name: 'Lab', cs_id: 'L-1', cs_prefix: 'L', cs_url: '', pack: 5, uom: 'g',
                price_usd: 7.5, normalised_usd: 1.5, api_timestamp: '2026-01-02T03:04:05Z', lead_time_days_to_US: 3 }] })) }),
    };
    window.fetch = async (address, how) => answers[address] ? new Response(JSON.stringify(answers[address](JSON.parse(how.body))), { headers: { 'content-type': 'application/json' } }) : plain(address, how);";

#[tokio::test]
async fn a_molecule_is_made_by_hand_of_precursors_that_are_chosen_and_the_step_is_undone() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(MOCK_ONE_STEP_SCRIPT).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;

    choose(&browser, ".target").await;
    act(&browser, "Make it another way …").await;
    let shown = browser.wait_for_text("#precursors_told", |text| text.starts_with("1 way")).await;
    let card = browser.text("#precursors_list li").await;
    browser.screenshot("plan_precursors").await;
    breaks_no_rule(&browser).await;
    browser.click("#precursors_list button").await;
    browser.wait_for_text("#route_title", |text| text == "By hand 1").await;
    let molecules = count(&browser, "#scheme .molecule").await;
    let drawn = browser.text("#scheme").await;
    browser.click("#undo").await;
    let back = browser.wait_for_text("#route_title", |text| text.starts_with("Route")).await;

    assert_eq!(shown, "1 way, the most probable first.");
    for words in
        ["N-alkylation", "probability 51 % · 97 % plausible · 956 precedents", "in stock", "to be made"]
    {
        assert!(card.contains(words), "{words} in {card}");
    }
    assert_eq!(molecules, 3);
    assert!(drawn.contains("$1.50/g · 3 days") && drawn.contains("to be made"), "{drawn}");
    assert_eq!(back, "Route 1");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn of_two_routes_side_by_side_the_one_is_worked_on_whose_part_was_chosen() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(MOCK_ONE_STEP_SCRIPT).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    browser.click("#compare").await;
    browser.type_into("#route_list", "\u{e015}").await; // Arrow down.
    browser.wait_for_text("#comparison_title", |text| text.starts_with("Route 1 beside route 2")).await;

    let chosen = browser
        .run("const part = document.querySelector('#left_scheme .bought.own'); part.dispatchEvent(new MouseEvent('click', { bubbles: true })); return part.dataset.key;")
        .await;
    act(&browser, "Make it …").await;
    browser.wait_for_text("#precursors_told", |text| text.starts_with("1 way")).await;
    browser.click("#precursors_list button").await;
    let title = browser.wait_for_text("#comparison_title", |text| text.contains("by hand 1")).await;
    let made = browser
        .run("return [...document.querySelectorAll('#right_scheme .molecule')].map((part) => part.dataset.key)")
        .await;

    assert!(title.starts_with("Route 1 beside by hand 1"), "{title}");
    assert!(made.as_array().unwrap().contains(&chosen), "{chosen} in {made}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_block_is_replaced_by_another_that_gives_the_same_with_the_others() {
    let Some((_service, browser)) = stage().await else { return };
    let found = recorded::answer(RecordedVariant::AsFound);
    let mut routes = found.route_hierarchy.values().flat_map(|groups| groups.values()).flatten().flatten();
    let route = routes.find(|route| route.graph.as_ref().is_some_and(|graph| graph.rank == 1)).unwrap();
    let smiles = |id: &str| route.nodes.iter().find(|node| node.id == id).unwrap().data.smiles.as_str();
    let block = route.nodes.iter().find(|node| node.data.is_building_block).unwrap();
    let product = &route.edges.iter().find(|edge| edge.target == block.id).unwrap().source;
    let precursors =
        route.edges.iter().filter(|edge| edge.source == *product).map(|edge| smiles(&edge.target));
    let others: Vec<_> = precursors.filter(|one| *one != block.data.smiles).collect();
    let set = |new: &str, is_sold: bool| {
        json!({
            "smiles": ([&[new], &*others].concat()), "probability": 0.4, "plausibility": 0.9, "template_id": "abc",
            "reaction_class": "N-alkylation", "precedents": 3,
            "in_stock": ([vec![is_sold], vec![true; others.len()]].concat()),
        })
    };
    let apart = json!({
        "smiles": ["CF"], "probability": 0.2, "plausibility": 0.9, "template_id": "d", "reaction_class": "x", "precedents": 1,
        "in_stock": [true],
    });
    let sets =
        json!([set(&block.data.smiles, true), set("CCl", true), set("CI", true), set("CBr", false), apart]);
    let alike = json!({ "items": [{ "smiles": "CI", "similarity": 0.625 }] });
    browser.run(&format!("{MOCK_ONE_STEP_SCRIPT} answers['/synth/v1/building-blocks/search'] = () => ({alike}); answers['/synth/v1/expansions'] = (asked) => ({{ items: asked.smiles.map((smiles) => ({{ smiles, error: null, precursors: {sets} }})) }});")).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let label = json!(block.data.smiles);
    browser
        .run(&format!("[...document.querySelectorAll('#scheme .bought')].find((one) => one.textContent.includes({label}) || one.getAttribute('aria-label')?.includes({label})).dispatchEvent(new Event('click'))"))
        .await;
    act(&browser, "Another block instead …").await;
    let shown = browser.wait_for_text("#precursors_told", |text| !text.starts_with("Looking")).await;
    let first = browser.text("#precursors_list li").await;
    let more = browser.run("return document.querySelector('#precursors_more a').getAttribute('href')").await;
    browser.screenshot("plan_blocks").await;
    browser.click("#precursors_list button").await;
    browser.wait_for_text("#route_title", |text| text == "By hand 1").await;
    let drawn = browser.run("return [...document.querySelectorAll('#scheme .bought')].map((one) => one.getAttribute('aria-label') ?? one.textContent).join()").await;

    assert_eq!(shown, "2 blocks, the most similar first.");
    assert!(first.contains("in stock · 63 % similar"), "{first}");
    assert!(more.as_str().unwrap().starts_with("#/catalogue/similar/"), "{more}");
    let drawn = drawn.as_str().unwrap();
    assert!(drawn.contains("CI") && !drawn.contains(&block.data.smiles), "{drawn}");
    assert_no_errors(&browser).await;
}

/// Script that returns two similar blocks; the worker refuses the second as an invalid molecule.
const TWO_SIMILAR_BLOCKS_SCRIPT: &str = "
    const plain = window.fetch;
    const block = (smiles, similarity) => ({ smiles, error: null, in_stock: true, building_block_idx: 7, price: 2.5, lead_time_days: 3, vendors: ['Acme'], offers: [], mw: 109.1, similarity });
    const found = JSON.stringify({ items: [block('Nc1ccc(O)cc1', 0.63), block('C1CC', 0.4)], more: true, searched: 1 });
    window.fetch = async (address, how) => address.endsWith('/building-blocks/search') ? new Response(found, { headers: { 'content-type': 'application/json' } }) : plain(address, how);";

#[tokio::test]
async fn a_similar_block_gives_another_product_which_is_looked_at_kept_and_undone() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(TWO_SIMILAR_BLOCKS_SCRIPT).await;
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;

    choose(&browser, ".bought").await;
    act(&browser, "Analogues with similar blocks …").await;
    let shown = browser.wait_for_text("#analogues_told", |text| text.starts_with("1 of")).await;
    let card = browser.text("#analogues_list li").await;
    let leads = browser.run("return document.querySelector('#analogues_list a').getAttribute('href')").await;
    browser.run("document.querySelector('#analogues_refused details').open = true").await;
    let refused = browser.text("#analogues_refused").await;
    browser.screenshot("plan_analogues").await;
    breaks_no_rule(&browser).await;
    browser.click("#analogues_list button").await;
    let title = browser.wait_for_text("#route_title", |text| text == "By hand 1").await;
    let how = browser.text("#results_how").await;
    let target = browser.text("#results_target").await;
    browser.click("#keep").await;
    browser.wait_for_text("#kept_whose", |text| text == "You keep this route.").await;
    browser.click("#undo").await;
    let back = browser.wait_for_text("#route_title", |text| text == "Route 1").await;
    let count_again = browser.text("#route_count").await;

    assert_eq!(shown, "1 of 2 similar blocks gives a product.");
    for words in ["50 % plausible overall", "63 % similar · $2.50/g", "Find routes to it"] {
        assert!(card.contains(words), "{words} in {card}");
    }
    assert!(leads.as_str().unwrap().starts_with("#/plan/target/"), "{leads}");
    assert!(refused.contains("C1CC") && refused.contains("no molecule"), "{refused}");
    assert_eq!((title.as_str(), how.as_str()), ("By hand 1", "Route 1 with a similar block"));
    // The mock worker makes the same product from every block.
    assert_eq!(target, recorded::answer(RecordedVariant::AsFound).search_smiles);
    assert_eq!((back.as_str(), count_again.as_str()), ("Route 1", "10"));
    assert_no_errors(&browser).await;
}
