//! Guides at `/docs/guide`: every page is served, every link leads somewhere, and the search knows every heading.

use std::collections::{BTreeMap, BTreeSet};

use repository::{files, text};
use test_support::{Chromium, Script};

use crate::{
    auth_clients::skip,
    support::{Service, answer},
};

/// Folders of the guides, and their addresses.
const GUIDES: [(&str, &str); 2] = [("api/guide", "/docs/guide"), ("ops/guide", "/docs/guide/operators")];

/// Returns the address of each Markdown file.
fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    for (folder, address) in GUIDES {
        for file in files(folder) {
            let name = file.trim_start_matches(folder).trim_end_matches(".md");
            sources.insert(format!("{address}{}", name.trim_end_matches("/index")), file);
        }
    }
    sources
}

/// Returns the headings of a Markdown file, without backticks.
fn headings(file: &str) -> Vec<String> {
    let text = text(file);
    let prose = text.split("```").step_by(2).flat_map(str::lines).filter(|line| line.starts_with('#'));
    prose.map(|line| line.trim_start_matches('#').trim().replace('`', "")).collect()
}

/// Returns the texts between each `before` and the next quotation mark.
fn quoted<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn every_page_of_the_guides_answers_with_its_heading() {
    let service = Service::start_without_workers(&[]).await;
    let sources = sources();
    assert!(sources.len() > 20, "{sources:?}");

    for (address, file) in sources {
        let page = answer(service.http.get(format!("{}{address}", service.base))).await;
        let again = service.http.get(format!("{}{address}", service.base));
        let again = answer(again.header("if-none-match", page.header("etag"))).await;

        assert_eq!((page.status, again.status), (200, 304), "{address}");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert!(page.header("content-security-policy").starts_with("default-src 'none'; script-src 'self'"));
        assert_eq!(page.text.matches("<h1 ").count(), 1, "{address}");
        let title = &headings(&file)[0];
        assert!(page.text.contains(&format!("<title>{title} · Retort</title>")), "{address}: {title}");
        // Nothing inline, which the policy forbids, and no Markdown left.
        for forbidden in [" style=", "<style", "<script>", " onclick=", ".md\"", "|---"] {
            assert!(!page.text.contains(forbidden), "{address}: {forbidden}");
        }
    }
}

#[tokio::test]
async fn every_link_of_the_guides_leads_to_a_page_and_an_anchor() {
    let service = Service::start_without_workers(&[]).await;
    let mut pages = BTreeMap::new();
    for address in sources().into_keys() {
        let page = answer(service.http.get(format!("{}{address}", service.base))).await;
        pages.insert(address, page.text);
    }

    let mut broken = BTreeSet::new();
    for (address, page) in &pages {
        for link in quoted(page, "<a href=\"").into_iter().chain(quoted(page, "<a class=\"anchor\" href=\""))
        {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = pages.get(if path.is_empty() { address.as_str() } else { path });
            let is_there = match target {
                Some(target) => anchor.is_empty() || target.contains(&format!(" id=\"{anchor}\"")),
                None => ["/", "/docs"].contains(&link) || link.starts_with("https://"),
            };
            if !is_there {
                broken.insert(format!("{address}: {link}"));
            }
        }
    }
    assert_eq!(broken, BTreeSet::new());
}

#[tokio::test]
async fn a_page_that_is_not_there_is_a_404_like_any_other() {
    let service = Service::start_without_workers(&[]).await;

    for path in ["/docs/guide/none", "/docs/guide/operators/none", "/docs/guide/sampling.md"] {
        let none = answer(service.http.get(format!("{}{path}", service.base))).await;

        assert_eq!((none.status, none.text.as_str()), (404, "null"), "{path}");
    }
}

#[tokio::test]
async fn the_search_knows_every_heading() {
    let service = Service::start_without_workers(&[]).await;
    let index = answer(service.http.get(format!("{}/docs/guide.json", service.base))).await;

    let found: BTreeSet<_> = index
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|section| {
            let address = section["address"].as_str().unwrap().split('#').next().unwrap().to_owned();
            (address, section["heading"].as_str().unwrap().to_owned())
        })
        .collect();

    let expected = sources().into_iter().flat_map(|(address, file)| {
        headings(&file).into_iter().map(move |heading| (address.clone(), heading))
    });
    assert_eq!(found, expected.collect());
    assert_eq!(index.header("content-type"), "application/json");
}

#[tokio::test]
async fn a_browser_finds_a_section_by_its_words() {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(why) => return skip("chromium", &why),
    };
    let service = Service::start_without_workers(&[("PUBLIC_URL", "")]).await;
    browser.open(&format!("{}/docs/guide", service.base)).await;

    browser.type_into("#query", "KEEP_SAMPLES_DAYS retention").await;

    browser.wait_for_text("#found", |text| text.contains("Settings: API: retention")).await;
    browser.type_into("#query", " nowhere-to-be-found").await;
    browser.wait_for_text("#found", |text| text == "No section has all of these words.").await;
    assert_eq!(browser.complaints().await, Vec::<serde_json::Value>::new());
}
