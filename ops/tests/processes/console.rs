//! The console as a person meets it: the processes of an installation, a real search, a browser.

use std::{io::Write as _, process::Stdio};

use crate::{
    installation::{Installation, Role},
    searches::{CATALOGUE, TARGET},
    webdriver::{Chromium, Script},
};

const PASSWORD: &str = "correct horse battery staple";

/// Makes an account whose password is known.
fn add_account(installation: &Installation, email: &str) {
    let mut add = installation.command("retort");
    add.args(["account", "add", email, "--password-stdin"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut added = add.spawn().unwrap();
    added.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(added.wait().unwrap().success());
}

/// A browser and an installation whose address is the last part; `None` where there is no browser.
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

#[tokio::test(flavor = "multi_thread")]
async fn who_logs_in_and_writes_a_target_sees_a_route_with_its_offers() {
    let Some((browser, mut installation, home)) = stage().await else { return };
    installation.import_catalogue(CATALOGUE);
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    add_account(&installation, "ada@example.org");

    browser.open(&format!("{home}/")).await;
    browser.type_into("#email", "ada@example.org").await;
    browser.type_into("#password", PASSWORD).await;
    browser.click("button").await;
    browser.wait_for_text("#run", |text| text == "Find routes").await;
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
    assert_eq!(browser.complaints().await, [] as [serde_json::Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_of_an_operator_leads_into_the_console() {
    let Some((browser, mut installation, home)) = stage().await else { return };
    installation.start_api().await;
    add_account(&installation, "ada@example.org");

    let link = installation.retort(&["--api", &home, "account", "link", "ada@example.org"]);
    browser.open(link.trim()).await;
    browser.click("button").await;
    let who = browser.wait_for_text("#account", |text| !text.is_empty()).await;

    assert!(link.starts_with(&format!("{home}/auth/link?code=")), "{link}");
    assert_eq!(who, "ada@example.org");
}
