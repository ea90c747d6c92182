//! Console: it loads nothing from other hosts, its login is that of any web page, and a real browser can use it.

use std::{collections::BTreeSet, path::Path};

use test_support::{Chromium, Script};

use crate::{
    auth_clients::skip,
    browser::{Application, Browser, RedirectTarget, VERIFIER},
    support::{PASSWORD, Service, add_account, add_operator, answer},
};

/// Application of the console, present in every installation.
const CONSOLE: Application = Application {
    client_id: "console",
    secret: None,
    redirects: &["http://retort.test/console/operations", "http://retort.test/"],
    flows: &["code"],
    scopes: &["operations", "openid", "email"],
};

/// Returns the texts between each `before` and the next quotation mark.
fn quoted(text: &str, before: &str) -> Vec<String> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

/// Collects the addresses of the console's style sheets, modules and licences below `folder`. Tests are not served, and
/// the report's files are only in reports.
fn collect_assets(folder: &Path, address: &str, addresses: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{address}/{name}");
        if entry.path().is_dir() {
            if !["report", "tests"].contains(&&*name) {
                collect_assets(&entry.path(), &path, addresses);
            }
        } else if name == "LICENSE" || name.ends_with(".css") || name.ends_with(".js") {
            addresses.insert(path);
        }
    }
}

#[tokio::test]
async fn the_console_needs_nothing_from_elsewhere_and_nothing_inline() {
    let service = Service::start_without_workers(&[]).await;
    let pages = ["/", "/console/operations", "/docs"];
    let mut seen: BTreeSet<_> = pages.map(str::to_owned).into();
    let mut waiting = vec![pages[0].to_owned(), pages[1].to_owned()];
    while let Some(path) = waiting.pop() {
        let file = answer(service.http.get(format!("{}{path}", service.base))).await;

        assert_eq!(file.status, 200, "{path}");
        let policy = file.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
                && !policy.contains("unsafe"),
            "{path}"
        );
        // Third-party code is not searched for these words; browsers apply the policy to it anyway.
        if path.contains("openchemlib") {
            continue;
        }
        for inline in ["innerHTML", " style=\"", " onclick=\"", "<style>", "eval("] {
            // Code that reads and writes drawings as files handles their style sheets.
            let is_of_files = inline == "<style>"
                && ["/console/drawing/picture.js", "/console/drawing/export.js"].contains(&&*path);
            assert!(is_of_files || !file.text.contains(inline), "{inline} in {path}");
        }
        let modules = ["from \"", "import(\"", "new Worker(\""].map(|way| quoted(&file.text, way)).concat();
        let links = [quoted(&file.text, " src=\""), quoted(&file.text, " href=\"")].concat();
        assert!(
            links.iter().all(|link| link.starts_with(['#', '/']) && !link.starts_with("//")),
            "{links:?}"
        );
        let links = links.iter().filter_map(|link| link.split('#').next()).filter(|link| !link.is_empty());
        let links = links.map(str::to_owned);
        let here = url::Url::parse("http://retort.test").unwrap().join(&path).unwrap();
        let modules = modules.iter().filter(|name| name.ends_with(".js"));
        let new = links.chain(modules.map(|name| here.join(name).unwrap().path().to_owned()));
        waiting.extend(new.filter(|name| seen.insert(name.clone())));
    }

    let mut served =
        BTreeSet::from(["/", "/docs", "/console/operations", "/console/icon.svg"].map(str::to_owned));
    collect_assets(concat!(env!("CARGO_MANIFEST_DIR"), "/console").as_ref(), "/console", &mut served);
    assert_eq!(seen, served);
}

#[tokio::test]
async fn browsers_find_the_icon_at_its_default_path() {
    let service = Service::start_without_workers(&[]).await;
    let icon = async |path: &str| answer(service.http.get(format!("{}{path}", service.base))).await;

    let (asked, named) = (icon("/favicon.ico").await, icon("/console/icon.svg").await);

    assert_eq!((asked.status, asked.header("content-type")), (200, "image/svg+xml"));
    assert_eq!(asked.text, named.text);
}

#[tokio::test]
async fn the_console_learns_the_names_of_reaction_classes_from_the_service() {
    let service = Service::start_without_workers(&[]).await;

    let classes = answer(service.http.get(format!("{}/console/reaction_classes.json", service.base))).await;

    assert_eq!((classes.status, classes.header("content-type")), (200, "application/json"));
    let names: Vec<String> = serde_json::from_str(&classes.text).unwrap();
    assert_eq!(names, reactivity::CLASS_NAMES);
}

#[tokio::test]
async fn a_page_is_sent_compressed_and_only_where_it_is_another() {
    let service = Service::start_without_workers(&[]).await;
    let ask = async |headers: &[(&str, &str)]| {
        let mut request =
            service.http.get(format!("{}/console/vendor/openchemlib/openchemlib.js", service.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        let header =
            |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (status, tag, coding) = (response.status().as_u16(), header("etag"), header("content-encoding"));
        (status, coding, tag, response.bytes().await.unwrap().len())
    };

    let (status, coding, tag, plain) = ask(&[("accept-encoding", "gzip;q=0")]).await;
    let packed = ask(&[("accept-encoding", "br, gzip;q=0.8")]).await;
    let same = ask(&[("if-none-match", &format!("\"other\", {tag}"))]).await;
    let another = ask(&[("if-none-match", "\"other\"")]).await;

    assert_eq!((status, coding.as_str(), plain), (200, "", 1_102_769));
    assert_eq!((packed.0, packed.1.as_str(), &packed.2), (200, "gzip", &tag));
    assert!(packed.3 < 400_000, "{}", packed.3);
    assert_eq!((same.0, same.3), (304, 0));
    assert_eq!((another.0, another.3), (200, plain));
}

#[tokio::test]
async fn a_console_login_needs_no_consent_and_gets_the_accounts_scopes() {
    let service = Service::start_without_workers(&[]).await;
    add_operator(&service.pool, "ada@example.org").await;
    let request = CONSOLE.request(&[("scope", "operations openid email")]);
    let scope_of = async |email: &str| {
        let browser = Browser::new(&service);
        let page = browser.get(&request).await;
        let redirected = browser.follow(browser.fill_in(&page, email, PASSWORD).await).await;
        let tokens = CONSOLE
            .exchange(&service, &RedirectTarget::of(&redirected).code(), &[("code_verifier", VERIFIER)])
            .await;
        assert_eq!(tokens.status, 200, "{tokens:?}");
        tokens.json()["scope"].as_str().unwrap().to_owned()
    };

    assert_eq!(scope_of("ada@example.org").await, "operations openid email");
    assert_eq!(scope_of("demo@example.org").await, "openid email");
    let browser = Browser::new(&service);
    let page = browser
        .get(&CONSOLE.request(&[("redirect_uri", "http://retort.test/"), ("scope", "openid email")]))
        .await;
    assert_eq!(page.status, 200, "{page:?}");
    let browser = Browser::new(&service);
    for address in
        ["http://retort.test/console/other", "http://evil.test/console/operations", "/console/operations"]
    {
        let page = browser.get(&CONSOLE.request(&[("redirect_uri", address)])).await;
        assert_eq!((page.status, page.header("location")), (400, ""), "{address}");
    }
}

/// Logs in on the page to which the console redirected.
pub async fn log_in(browser: &Chromium, email: &str) {
    browser.wait_for_title("Log in · Retort").await;
    browser.type_into("#email", email).await;
    browser.type_into("#password", PASSWORD).await;
    browser.click("button").await;
}

#[tokio::test]
async fn an_operator_sees_the_queues_in_a_browser_and_pauses_and_resumes_one() {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(missing) => return skip("chromium", &missing),
    };
    let service = Service::start_with(&[("PUBLIC_URL", "")]).await;
    add_operator(&service.pool, "ada@example.org").await;

    browser.open(&format!("{}/console/operations", service.base)).await;
    log_in(&browser, "ada@example.org").await;
    browser.wait_for_title("Operations · Retort").await;
    browser.wait_for_text("#verdict", |text| text.starts_with("All queues are served")).await;
    let search = browser.text("#queues article:nth-child(2)").await;
    browser.screenshot("operations").await;

    browser.click("#queues article:nth-child(2) button").await;
    assert_eq!(browser.text("#ask_title").await, "Pause search?");
    browser.screenshot("operations_asking").await;
    browser.click("#ask_yes").await;
    let shown = browser.wait_for_text("#told", |text| !text.is_empty()).await;
    let paused = browser.wait_for_text("#verdict", |text| text.starts_with("Paused")).await;
    let by: Vec<(String, String)> =
        sqlx::query_as("select queue, paused_by from paused_queues").fetch_all(&service.pool).await.unwrap();
    browser.resize(360, 800).await;
    browser.screenshot("operations_narrow").await;
    browser.click("#queues article:nth-child(2) button").await;
    browser.wait_for_text("#verdict", |text| text.starts_with("All queues are served")).await;

    assert!(search.starts_with("search") && search.contains("of 4"), "{search}");
    assert_eq!(shown, "Paused search.");
    assert_eq!(paused, "Paused: search. New requests are refused until it is resumed.");
    assert_eq!(by, [("search".to_owned(), "ada@example.org".to_owned())]);
    assert_eq!(browser.complaints().await, [] as [serde_json::Value; 0]);
}

#[tokio::test]
async fn the_console_says_that_an_account_may_not_operate() {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(missing) => return skip("chromium", &missing),
    };
    let service = Service::start_without_workers(&[("PUBLIC_URL", "")]).await;
    add_account(&service.pool, "bob@example.org").await;

    browser.open(&format!("{}/console/operations", service.base)).await;
    log_in(&browser, "bob@example.org").await;
    let shown = browser.wait_for_text("#notice", |text| !text.is_empty()).await;

    assert!(shown.starts_with("bob@example.org may not see this page."), "{shown}");
    assert!(shown.ends_with("retort account scopes bob@example.org --operator"), "{shown}");
    browser.screenshot("operations_refused").await;
    assert_eq!(browser.complaints().await, [] as [serde_json::Value; 0]);
}
