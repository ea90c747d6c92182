//! Console tests as a user works: the processes of an installation, a real search, a browser.

use std::{io::Write as _, process::Stdio};

use serde_json::{Value, json};
use test_support::{Chromium, Script};

use crate::{
    installation::{Installation, Role},
    searches::{CATALOGUE, TARGET},
};

const PASSWORD: &str = "correct horse battery staple";

/// Creates an account with a known password.
fn add_account(installation: &Installation, email: &str) {
    let mut add = installation.command("retort");
    add.args(["account", "add", email, "--password-stdin"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut added = add.spawn().unwrap();
    added.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(added.wait().unwrap().success());
}

/// Starts a browser and an installation, whose address is the last element; `None` if there is no browser.
async fn stage() -> Option<(Chromium, Installation, String)> {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(missing) => {
            println!("skipped: {missing}");
            return None;
        }
    };
    let mut installation = Installation::new().await;
    let home = format!("http://{}", installation.address());
    installation.set("PUBLIC_URL", &home);
    Some((browser, installation, home))
}

async fn log_in(browser: &Chromium, home: &str) {
    browser.open(&format!("{home}/")).await;
    browser.type_into("#email", "ada@example.org").await;
    browser.type_into("#password", PASSWORD).await;
    browser.click("button").await;
    browser.wait_for_text("#run", |text| text == "Find routes").await;
}

/// Starts a browser at the form of a sample, and an installation with its models and the demo catalogue; `None` if there is
/// no browser.
async fn sampling_stage() -> Option<(Chromium, Installation)> {
    let (browser, mut installation, home) = stage().await?;
    installation.import_demo_catalogue();
    installation.start_all().await;
    add_account(&installation, "ada@example.org");
    log_in(&browser, &home).await;
    browser.go("#/sample").await;
    browser.until("return document.querySelectorAll('#model_id option').length > 1").await;
    Some((browser, installation))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_logs_in_and_writes_a_target_sees_a_route_with_its_offers() {
    let Some((browser, mut installation, home)) = stage().await else { return };
    installation.import_catalogue(CATALOGUE);
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    add_account(&installation, "ada@example.org");

    log_in(&browser, &home).await;
    browser.type_into("#search_smiles", TARGET).await;
    browser.click("#run").await;
    let found = browser.wait_for_text("#route_count", |text| !text.is_empty()).await;
    let (summary, shopping) = (browser.text("#route_summary").await, browser.text("#shopping").await);
    let drawn = browser.run("return document.querySelectorAll('.view .bought').length").await;
    browser.screenshot("plan_real").await;

    assert_ne!(found, "0");
    assert!(summary.contains(" for 1 mmol"), "{summary}");
    assert!(shopping.contains("First"), "{shopping}");
    assert!(drawn.as_u64().unwrap() >= 2, "{drawn}");
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_of_an_operator_leads_into_the_console() {
    let Some((browser, mut installation, home)) = stage().await else { return };
    installation.start_api().await;
    add_account(&installation, "ada@example.org");

    let link = installation.retort(&["--api", &home, "account", "link", "ada@example.org"]);
    browser.open(link.trim()).await;
    browser.click("button").await;
    let email = browser.wait_for_text("#account", |text| !text.is_empty()).await;

    assert!(link.starts_with(&format!("{home}/auth/link?code=")), "{link}");
    assert_eq!(email, "ada@example.org");
}

/// Tests the pages other than the plan, with the data of a new installation: its models and its catalogue of 160,311
/// lines.
#[tokio::test(flavor = "multi_thread")]
async fn molecules_are_drawn_and_planned_and_blocks_are_found_and_replaced() {
    let Some((browser, _installation)) = sampling_stage().await else { return };

    browser.put("size", "200").await;
    browser.click("#draw").await;
    browser.wait_for_text(".sampled h2", |text| text == "200 molecules").await;
    let beside = |text: &str| text.contains("median") && text.contains("training set: ");
    browser.wait_for_text("section[aria-label='Molecular weight']", beside).await;
    browser.until("return document.querySelectorAll('.histogram .learned').length === 7").await;
    browser.until("return document.querySelectorAll('.cell svg').length > 5").await;
    browser.screenshot("sample_real").await;
    // The space key ticks the molecule that the arrow keys have reached.
    browser.type_into(".gallery", " \u{e014} \u{e014} ").await;
    browser.wait_for_text(".sampled .found p", |text| text.ends_with("3 ticked")).await;
    browser.run("[...document.querySelectorAll('.sampled .tools button')].at(-1).click()").await;
    browser.wait_for_title("Batches · Retort").await;
    browser.put("batch_name", "Drawn this morning").await;
    browser.wait_for_text("#plan_all", |text| text == "Plan 3 molecules").await;
    browser.click("#plan_all").await;
    let planned = browser.wait_for_text(".batch .counts", |text| text == "3 molecules: 3 done").await;
    browser.until("return document.querySelectorAll('.lines .picture svg, .lines svg').length >= 3").await;
    browser.screenshot("batch_real").await;

    browser.go("#/catalogue/similar/Cc1cccc(C)c1N/US").await;
    let found = browser.wait_for_text(".block_facts", |text| text.contains("similar")).await;
    browser.until("return document.querySelectorAll('.block svg').length > 3").await;
    browser.screenshot("catalogue_real").await;

    browser.go("#/plan").await;
    browser.put("search_smiles", TARGET).await;
    browser.click("#run").await;
    browser.wait_for_text("#route_count", |text| !text.is_empty() && text != "0").await;
    browser
        .until("return document.getElementById('stop').hidden || !document.getElementById('run').disabled")
        .await;
    let leaf = "document.querySelector('#scheme .bought').dispatchEvent(new Event('click'))";
    browser.run(leaf).await;
    browser.run("[...document.querySelectorAll('#acts button')].find((one) => one.textContent.startsWith('Analogues')).click()").await;
    let output = browser.wait_for_text("#analogues_told", |text| text.ends_with('.')).await;
    browser.screenshot("analogues_real").await;
    let target = browser
        .run("return document.querySelector('#analogues_list [data-smiles], #analogues_list svg') !== null")
        .await;
    browser.click("#analogues_list button").await;
    let title = browser.wait_for_text("#route_title", |text| text == "By hand 1").await;
    let blocks = browser.run("return document.querySelectorAll('.view .bought').length").await;
    browser.screenshot("analogue_real").await;

    assert_eq!(planned, "3 molecules: 3 done");
    assert!(found.contains("100 % similar"), "{found}");
    assert!(output.contains(" a product") && !output.starts_with("None"), "{output}");
    assert_eq!((target, title.as_str()), (json!(true), "By hand 1"));
    assert!(blocks.as_u64().unwrap() >= 2, "{blocks}");
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn molecules_are_drawn_to_order_and_lead_to_their_routes() {
    let Some((browser, _installation)) = sampling_stage().await else { return };
    browser.put("size", "20").await;
    browser.click("#sample_conditions summary").await;

    browser.put("sample_mw_from", "much").await;
    browser.click("#draw").await;
    let fault = browser.wait_for_text("#mw_fault", |text| !text.is_empty()).await;
    browser.put("sample_mw_from", "").await;
    browser.put("sample_scaffold", "[*:1]c1ccncc1").await;
    browser.put("sample_rings_to", "3").await;
    browser.click("#alerts_pains").await;
    browser.click("#sample_makeable").await;
    browser.put("sample_steps", "3").await;
    let conditions = browser.wait_for_text("#sample_conditions .count", |text| text == "4").await;
    browser.click("#draw").await;
    browser.wait_for_text(".sampled h2", |text| text == "20 molecules").await;
    browser.until("return document.querySelectorAll('.cell svg').length > 5").await;
    browser.screenshot("sample_to_order").await;
    let smiles =
        browser.run("return [...document.querySelectorAll('.cell')].map((cell) => cell.title)").await;
    let smiles: Vec<&str> = smiles.as_array().unwrap().iter().map(|title| title.as_str().unwrap()).collect();

    browser.put("rings_from", "2").await;
    browser.click("#draw_within").await;
    let within = browser.run("return document.getElementById('sample_rings_from').value").await;
    browser.put("sample_scaffold", "c1ccncc1").await;
    browser.click("#draw").await;
    let refused = browser.wait_for_text("#sample_scaffold_fault", |text| !text.is_empty()).await;
    let refusal = browser.complaints().await;

    browser.run("document.querySelector('.cell .to_routes').click()").await;
    browser.wait_for_title("Retort").await;
    let target = browser.run("return document.getElementById('search_smiles').value").await;

    assert_eq!(fault, "much is not a number.");
    assert_eq!(conditions, "4");
    assert!(smiles.len() > 5, "{smiles:?}");
    assert!(smiles.iter().all(|smiles| smiles.contains('n')), "{smiles:?}");
    assert_eq!(within, "2");
    assert!(refused.contains("no attachment point"), "{refused}");
    assert!(refusal.iter().all(|line| line["message"].as_str().unwrap().contains("422")), "{refusal:?}");
    assert!(smiles.contains(&target.as_str().unwrap()), "{target} of {smiles:?}");
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}
