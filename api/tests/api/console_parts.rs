//! Other views of the console in a real browser: navigation, samples, batches, models, the account, the link and the
//! tour.

use std::time::Duration;

use identity::tables::accounts;
use serde_json::{Value, json};
use test_support::{Chromium, Script};

use crate::{
    auth_clients::skip,
    console::log_in,
    console_plan::{assert_no_errors, breaks_no_rule, count, stage},
    recorded::HOSTILE,
    support::{Service, complete_plan, sample_id},
};

/// Script that captures saved files in the page, by name.
pub const CAPTURE_FILES_SCRIPT: &str = "
    window.saved = {}; const blobs = new Map();
    URL.createObjectURL = (blob) => { const key = `blob:${blobs.size}`; blobs.set(key, blob); return key; };
    HTMLAnchorElement.prototype.click = function () { blobs.get(this.href).text().then((text) => { window.saved[this.download] = text; }); };";

/// Returns the captured file of this name, once it was exported.
pub async fn saved(browser: &Chromium, name: &str) -> String {
    let name = json!(name);
    browser.until(&format!("return typeof window.saved[{name}] === 'string'")).await;
    browser.run(&format!("return window.saved[{name}]")).await.as_str().unwrap().to_owned()
}

/// Stores a sample of these molecules as a worker does; returns its id.
async fn store_sample(service: &Service, smiles: &[String]) -> String {
    let id = sample_id(1);
    sqlx::query(
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed) values ($1, $2, 'druglike_gru', $3, $4, 0)",
    )
    .bind(&id)
    .bind(&service.account)
    .bind(i32::try_from(smiles.len()).unwrap())
    .bind(smiles)
    .execute(&service.pool)
    .await
    .unwrap();
    id
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[tokio::test]
async fn parts_are_reached_by_links_and_the_back_button_and_keep_what_they_knew() {
    let Some((service, browser)) = stage().await else { return };
    let wire = browser
        .run("return performance.getEntriesByType('resource').reduce((sum, file) => sum + file.encodedBodySize, 0)")
        .await;
    browser.put("search_smiles", "CCO").await;

    browser.click("[data-part=models]").await;
    browser.wait_for_title("Models · Retort").await;
    let current = browser.text(".parts [aria-current]").await;
    browser.click("[data-part=account]").await;
    browser.wait_for_title("Account · Retort").await;
    browser.run("history.go(-2)").await;
    browser.wait_for_title("Retort").await;
    let kept = browser.run("return document.getElementById('search_smiles').value").await;
    // After the login the user is back at the requested view.
    browser.open(&format!("{}/?again#/models", service.base)).await;
    browser.wait_for_title("Models · Retort").await;
    let card = browser.text(".models .card").await;
    browser.open(&format!("{}/?more#/no/such/part", service.base)).await;
    browser.wait_for_text("#run", |text| text == "Find routes").await;

    assert!(wire.as_u64().unwrap() < 1_200_000, "{wire}");
    assert_eq!((current.as_str(), kept), ("Models", json!("CCO")));
    assert!(card.starts_with("druglike_gru") && card.contains("97.00 %"), "{card}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn molecules_are_drawn_measured_sieved_ticked_and_taken_away() {
    let Some((service, browser)) = stage().await else { return };
    let id = store_sample(
        &service,
        &texts(&["CCO", "c1ccncc1", "CC(=O)Nc1ccc(O)cc1", "Cc1ccccn1", "CCCCCCCCCCCCCCCC", HOSTILE]),
    )
    .await;
    browser.run(CAPTURE_FILES_SCRIPT).await;

    browser.go(&format!("#/sample/{id}")).await;
    browser.wait_for_text(".gallery [aria-posinset='5']", |text| text.contains("226 Da")).await;
    browser.until("return document.querySelectorAll('.cell svg').length === 6").await;
    let weights =
        browser.wait_for_text("section[aria-label='Molecular weight']", |text| text.contains("median")).await;
    browser.screenshot("sample").await;
    browser.put("part", "n1ccccc1").await;
    browser.until("return document.querySelectorAll('.cell').length === 2").await;
    browser.run("document.querySelector('.sieve_of .row button').click()").await;
    browser.until("return document.querySelector('.part_editor[open] canvas, .part_editor[open] .editor *') !== null",
    )
    .await;
    browser.run("document.querySelector('.part_editor button[value=use]').click()").await;
    browser.until("return document.getElementById('part').value === 'c1ccncc1'").await;
    browser.put("molecular_weight_from", "80,5").await;
    browser.until("return document.querySelectorAll('.cell').length === 1").await;
    let shown = browser.run("return document.querySelector('.cell').title").await;
    browser.put("part", "C1CC").await;
    let fault = browser.wait_for_text("#part_fault", |text| !text.is_empty()).await;
    browser.put("part", "").await;
    browser.put("molecular_weight_from", "").await;
    browser.until("return document.querySelectorAll('.cell').length === 6").await;
    // Space ticks the molecule that the arrow keys have focused.
    browser.type_into(".gallery", "\u{e014} \u{e014} ").await;
    let message = browser.wait_for_text(".sampled .found p", |text| text.contains("ticked")).await;
    let buttons = "[...document.querySelectorAll('.sampled .tools button')]";
    for name in ["SMILES", "CSV"] {
        browser.run(&format!("{buttons}.find((one) => one.textContent === '{name}').click()")).await;
    }
    let (smiles, csv) =
        (saved(&browser, &format!("{id}.smi")).await, saved(&browser, &format!("{id}.csv")).await);
    browser.run(&format!("{buttons}.at(-1).click()")).await;
    browser.wait_for_title("Batches · Retort").await;
    let entered = browser.run("return document.getElementById('molecules').value").await;

    assert!(weights.contains("median 93"), "{weights}");
    assert_eq!(shown, "Cc1ccccn1");
    assert_eq!(fault, "This is neither SMILES nor SMARTS.");
    assert_eq!(message, "of druglike_gru · 2 ticked");
    assert_eq!(smiles, "c1ccncc1\nCC(=O)Nc1ccc(O)cc1\n");
    assert!(
        csv.starts_with("smiles,molecular_weight,logp,polar_surface,acceptors,donors,rotatable,rings\r\n"),
        "{csv}"
    );
    assert!(csv.lines().nth(2).unwrap().starts_with("CC(=O)Nc1ccc(O)cc1,151.1"), "{csv}");
    assert_eq!(entered, "c1ccncc1\nCC(=O)Nc1ccc(O)cc1");
    assert_eq!(browser.title().await, "Batches · Retort");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn of_ten_thousand_molecules_only_those_in_sight_are_in_the_page() {
    let Some((_service, browser)) = stage().await else { return };
    browser.go("#/sample").await;
    browser.until("return document.querySelectorAll('#model_id option').length > 1").await;

    browser.put("size", "100.001").await;
    browser.click("#draw").await;
    let refused = browser.text("#size_fault").await;
    browser.put("size", "10,000").await;
    browser.click("#draw").await;
    browser.wait_for_text(".sampled h2", |text| text == "10,000 molecules").await;
    browser.until("return document.querySelectorAll('.cell svg').length > 3").await;
    let first = count(&browser, ".cell").await;
    browser.type_into(".gallery", "\u{e010}").await; // End.
    browser.until("return document.querySelector('.cell.active svg') !== null").await;
    let last =
        browser.run("return document.querySelector('.cell.active').getAttribute('aria-posinset')").await;
    let then = count(&browser, ".cell").await;

    assert_eq!(refused, "Enter a whole number from 1 to 100,000.");
    assert!((5..120).contains(&first) && (5..120).contains(&then), "{first}, {then}");
    assert_eq!(last, "10000");
    assert_no_errors(&browser).await;
}

/// Types into the field that matches a selector.
async fn put_into(browser: &Chromium, selector: &str, text: &str) {
    let act = "field.value = text; field.dispatchEvent(new Event('input'))";
    browser
        .run(&format!(
            "const [field, text] = [document.querySelector({}), {}]; {act}",
            json!(selector),
            json!(text)
        ))
        .await;
}

/// Stores the result of the plan for `smiles`.
async fn complete(service: &Service, smiles: &str) {
    let id: String = sqlx::query_scalar("select id from plans where search_smiles = $1")
        .bind(smiles)
        .fetch_one(&service.pool)
        .await
        .unwrap();
    complete_plan(&mut service.pool.acquire().await.unwrap(), &id).await.unwrap();
}

#[tokio::test]
async fn a_batch_is_read_stored_followed_sorted_opened_and_deleted() {
    let Some((service, browser)) = stage().await else { return };
    browser.go("#/batches/new").await;
    browser.wait_for_title("Batches · Retort").await;
    browser.run(CAPTURE_FILES_SCRIPT).await;

    browser.put("molecules", "id;smiles\nEXP-9;CCN\n2;Cxx\nEXP-10;CCO\n4;\nEXP-8;CCCC").await;
    let faults = browser.wait_for_text("#molecules_faults", |text| text.contains("Line 5")).await;
    let read = browser.text("#molecules_read").await;
    browser.click("#molecules_faults button").await;
    browser.until("return document.getElementById('molecules_faults').hidden").await;
    let left = browser.run("return document.getElementById('molecules').value").await;
    browser.put("batch_name", HOSTILE).await;
    browser.click("#plan_all").await;
    browser.wait_for_text(".batch .counts", |text| text == "3 molecules: 3 waiting").await;
    complete(&service, "CCO").await;
    browser.wait_for_text(".batch .counts", |text| text == "3 molecules: 1 done, 2 waiting").await;
    // Lines are rendered again on every update.
    browser.until("return document.querySelector(\".lines [aria-rowindex='3']\")?.textContent.includes('2 routes') === true").await;
    browser.screenshot("batch").await;
    browser.run("document.querySelector('.price .sorts').click()").await;
    let cheapest =
        browser.run("return document.querySelector(\".lines [aria-rowindex='2']\").innerText").await;
    let cheapest = cheapest.as_str().unwrap().to_owned();
    browser.run("document.querySelector('.heading_line .name .sorts').click()").await;
    let names = browser
        .run("return [...document.querySelectorAll('.lines .name')].map((one) => one.textContent).join()")
        .await;
    put_into(&browser, ".of_plans input", "exp-10").await;
    let filtered = browser.wait_for_text(".of_plans p", |text| text.contains("shown")).await;
    browser.run("document.querySelector('.batch .tools button').click()").await;
    let batch = browser.run("return location.hash.split('/').at(-1)").await.as_str().unwrap().to_owned();
    let csv = saved(&browser, &format!("{batch}.csv")).await;
    browser.click(".lines a").await;
    browser.wait_for_text("#route_count", |text| text == "2").await;
    let route = browser.text("#route_summary").await;
    let target = browser.text("#results_target").await;
    browser.run("history.back()").await;
    let name = browser.wait_for_text(".batch h2", |text| !text.is_empty()).await;
    browser.run("[...document.querySelectorAll('.batch:not([hidden]) .tools button')].at(-1).click()").await;
    let question = browser.text("#ask_title").await;
    browser.click("#ask_yes").await;
    let none = browser.wait_for_text("#part_batches .none", |text| !text.is_empty()).await;

    assert_eq!(
        faults,
        "2 lines cannot be read:\nLine 3: Cxx is not a valid SMILES\nLine 5: the SMILES is missing\nRemove them"
    );
    assert_eq!(read, "3 molecules read (CSV), each with its name");
    assert_eq!(left, "CCN EXP-9\nCCO EXP-10\nCCCC EXP-8");
    assert!(
        cheapest.contains("2 routes") && cheapest.contains("$32") && cheapest.contains("72 %"),
        "{cheapest}"
    );
    assert!(csv.lines().nth(1).unwrap().starts_with("2,EXP-10,CCO,completed,2,2,31.5,4,0.72"), "{csv}");
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert_eq!((names, &*filtered), (json!("EXP-8,EXP-9,EXP-10"), "1 of 3 are shown"));
    assert_eq!(target, "EXP-10: CNC(C)=O");
    assert!(route.starts_with("2 steps · longest branch 2"), "{route}");
    assert_eq!(name, HOSTILE);
    assert_eq!(question, "Delete this batch?");
    assert_eq!(none, "No batch yet. Upload molecules, or tick some of a sample.");
    assert_eq!(browser.title().await, "Batches · Retort");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_batch_is_cancelled_and_goes_on_and_what_the_service_refuses_stands_at_its_line() {
    let Some((_service, browser)) = stage().await else { return };
    browser.go("#/batches/new").await;
    browser.wait_for_title("Batches · Retort").await;

    browser.put("molecules", "# two salts\nCCO\nCC.CC\nCCN").await;
    browser.wait_for_text("#plan_all", |text| text == "Plan 3 molecules").await;
    browser.put("batch_max_depth", "51").await;
    browser.click("#plan_all").await;
    let refused = browser.wait_for_text("#molecules_faults", |text| text.contains("Line")).await;
    let depth = browser.text("#batch_max_depth_fault").await;
    let refusal = browser.complaints().await;
    browser.click("#molecules_faults button").await;
    browser.wait_for_text("#plan_all", |text| text == "Plan 2 molecules").await;
    browser.put("batch_max_depth", "5").await;
    browser.click("#plan_all").await;
    browser.wait_for_text(".batch .counts", |text| text == "2 molecules: 2 waiting").await;
    let buttons = "[...document.querySelectorAll('.batch .tools button')]";
    browser.run(&format!("{buttons}.find((one) => one.textContent.startsWith('Cancel')).click()")).await;
    browser.wait_for_text(".batch .counts", |text| text == "2 molecules: 2 cancelled").await;
    browser.run(&format!("{buttons}.find((one) => one.textContent === 'Resume').click()")).await;
    browser.wait_for_text(".batch .counts", |text| text == "2 molecules: 2 waiting").await;

    assert!(refused.contains("Line 3: ") && refused.contains("component"), "{refused}");
    assert_eq!(depth, "Input should be less than or equal to 50.");
    assert!(refusal.iter().all(|line| line["message"].as_str().unwrap().contains("422")), "{refusal:?}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn no_rule_of_wcag_that_a_program_can_check_is_broken_in_any_part() {
    let Some((service, browser)) = stage().await else { return };
    let id = store_sample(&service, &texts(&["CCO", "c1ccncc1", "CC(=O)Nc1ccc(O)cc1"])).await;
    browser.go("#/batches/new").await;
    browser.wait_for_title("Batches · Retort").await;
    browser.put("molecules", "CCO\nCCN").await;
    browser.wait_for_text("#plan_all", |text| text == "Plan 2 molecules").await;
    browser.click("#plan_all").await;
    browser.wait_for_text(".batch .counts", |text| text == "2 molecules: 2 waiting").await;
    let batch = browser.run("return location.hash").await.as_str().unwrap().to_owned();
    complete(&service, "CCO").await;

    let sample = format!("#/sample/{id}");
    for (part, is_there) in [
        (sample.as_str(), ".cell svg"),
        ("#/batches", ".batches a"),
        ("#/batches/new", "#molecules"),
        (batch.as_str(), ".lines a"),
        ("#/catalogue/similar/CCO", ".blocks .block svg"),
        ("#/models", ".models .card"),
        ("#/account", "#part_account .known dd"),
    ] {
        browser.go(part).await;
        browser.until(&format!("return document.querySelector({}) !== null", json!(is_there))).await;
        breaks_no_rule(&browser).await;
        // No element is wider than a small phone.
        browser.resize(360, 800).await;
        let beyond = browser.run("return document.documentElement.scrollWidth - innerWidth").await;
        assert!(beyond.as_i64().unwrap() <= 0, "{part}: {beyond}");
        browser.resize(900, 700).await;
    }
}

#[tokio::test]
async fn the_catalogue_is_searched_and_what_is_found_is_planned() {
    let Some((service, browser)) = stage().await else { return };
    browser.click("[data-part=catalogue]").await;
    browser.wait_for_title("Catalogue · Retort").await;

    browser.click("#search_catalogue").await;
    let nothing = browser.wait_for_text("#sought_fault", |text| !text.is_empty()).await;
    browser.put("sought", "C1CC").await;
    browser.click("#search_catalogue").await;
    let fault = browser.wait_for_text("#sought_fault", |text| text.contains("byte")).await;
    let refusal = browser.complaints().await;
    browser.put("sought", "C/C=C/C").await;
    browser.click("#search_catalogue").await;
    let facts = browser.wait_for_text(".block_facts", |text| text.contains("similar")).await;
    let similar = browser.text(".block .sellers").await;
    let shown = browser.text(".panel [role=status]").await;
    let address = browser.run("return location.hash").await;
    browser.screenshot("catalogue").await;
    browser.run("[...document.querySelectorAll('.block a')].find((one) => one.textContent === 'Similar blocks').click()").await;
    browser.wait_for_text(".block", |text| text.contains("like Nc1ccc(O)cc1 to 0.3")).await;
    let typed = browser.run("return document.getElementById('sought').value").await;
    // An address can hold a search of any kind and region.
    browser.go("#/catalogue/substructure/%5B%236%5DBr/DE").await;
    let part = browser.wait_for_text(".block", |text| text.contains("with [#6]Br")).await;
    browser.go("#/catalogue/number/EN300/anywhere").await;
    let number = browser.wait_for_text(".block", |text| text.contains("number EN300")).await;
    let draws = browser.run("return document.querySelector('.of_catalogue .acts button.plain').hidden").await;
    browser.run("document.querySelector('.block a.button').click()").await;
    browser.wait_for_title("Retort").await;
    let planned = browser.run("return document.getElementById('search_smiles').value").await;
    browser.open(&format!("{}/?again#/catalogue/structure/CCO", service.base)).await;
    let linked = browser.wait_for_text(".block", |text| text.contains("structure CCO")).await;

    assert_eq!(nothing, "Enter what to search for.");
    assert_eq!(fault, "Input should be a valid SMILES: ring bond 1 opened at byte 1 is never closed.");
    assert!(refusal.iter().all(|line| line["message"].as_str().unwrap().contains("422")), "{refusal:?}");
    assert_eq!(facts, "50 % similar · $2.50/g · lead time not known · 46.1 Da");
    assert!(similar.contains("like C/C=C/C to 0.3, limit 24, US"), "{similar}");
    assert_eq!(shown, "1 block; the time was up after 25 % of the catalogue.");
    assert_eq!((address, typed), (json!("#/catalogue/similar/C%2FC%3DC%2FC"), json!("Nc1ccc(O)cc1")));
    assert!(part.contains("limit 24, DE") && number.contains("limit 24, anywhere"), "{part} {number}");
    assert_eq!((draws, planned), (json!(true), json!("Nc1ccc(O)cc1")));
    assert!(linked.contains("limit 24, US"), "{linked}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_newcomer_is_led_around_once() {
    let Some((service, browser)) = stage().await else { return };

    let mut titles = vec![browser.text("#tour_title").await];
    let pointed = count(&browser, "#editor.pointed_at").await;
    for _ in 0..4 {
        browser.type_into("#tour button:nth-of-type(2)", "\u{e014}").await; // Arrow right.
        titles.push(browser.text("#tour_title").await);
    }
    browser.screenshot("tour").await;
    browser.type_into("#tour button:nth-of-type(2)", "\u{e00c}").await; // Escape.
    let left = (count(&browser, "#tour").await, count(&browser, ".pointed_at").await);
    browser.open(&format!("{}/?again", service.base)).await;
    browser.wait_for_text("#run", |text| text == "Find routes").await;

    let shown =
        ["Draw the target", "Choose the kind of search", "Find routes", "Many at once", "From scripts too"];
    assert_eq!(titles, shown);
    assert_eq!((pointed, left), (1, (0, 0)));
    assert_eq!(count(&browser, "#tour").await, 0);
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_link_leads_into_the_console_without_a_password() {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(missing) => return skip("chromium", &missing),
    };
    let service = Service::start_without_workers(&[("PUBLIC_URL", "")]).await;
    let mut connection = service.pool.acquire().await.unwrap();
    let account = accounts::named(&mut connection, "demo@example.org").await.unwrap().unwrap();
    let secret = account.link(&mut connection, Duration::from_secs(600)).await.unwrap().unwrap();
    let address = format!("{}/auth/link?code={secret}", service.base);

    browser.open(&address).await;
    browser.wait_for_title("Log in by a link · Retort").await;
    browser.screenshot("link").await;
    browser.click("button").await;
    browser.wait_for_title("Retort").await;
    let email = browser.wait_for_text("#account", |text| !text.is_empty()).await;
    assert_no_errors(&browser).await;
    browser.open(&address).await;
    browser.wait_for_title("This did not work · Retort").await;
    let refused = browser.text("main").await;

    assert_eq!(email, "demo@example.org");
    assert!(refused.contains("This link has been used."), "{refused}");
    let complaints = browser.complaints().await;
    assert!(
        complaints.iter().all(|line: &Value| line["message"].as_str().unwrap().contains("400")),
        "{complaints:?}"
    );
}

#[tokio::test]
async fn an_operator_is_shown_the_way_to_operations_and_back() {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(missing) => return skip("chromium", &missing),
    };
    let service = Service::start_with(&[("PUBLIC_URL", "")]).await;
    crate::support::add_operator(&service.pool, "ada@example.org").await;

    browser.open(&format!("{}/", service.base)).await;
    log_in(&browser, "ada@example.org").await;
    browser.wait_for_text("#run", |text| text == "Find routes").await;
    browser.click("#to_operations a").await;
    browser.wait_for_title("Operations · Retort").await;
    browser.wait_for_text("#verdict", |text| text.starts_with("All queues are served")).await;
    browser.click(".parts a[href='/#/sample']").await;
    browser.wait_for_title("Sample · Retort").await;

    assert_eq!(browser.text(".parts [aria-current]").await, "Sample");
    assert_no_errors(&browser).await;
}
