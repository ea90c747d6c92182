//! Routes in the console during a search, delivered by an event stream. The service's own tests cover the stream;
//! here the test sends the events.

use contract::CompactResult;
use serde_json::{Value, json};
use test_support::Chromium;

use crate::{
    console_plan::{assert_no_errors, breaks_no_rule, find_routes, stage},
    recorded::{self, RecordedVariant},
};

/// Script that answers the page's search with events that `tell` sends, and breaks the connection on `lose`; it
/// records where the stream was resumed.
const MOCK_STREAM_SCRIPT: &str = "
    const plain = window.fetch;
    window.resumed = [];
    const stream = (signal) => new Response(new ReadableStream({ start(controller) {
        window.stream = controller;
        signal.addEventListener('abort', () => controller.error(signal.reason));
    } }), { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'content-location': '/synth/v1/treesearch/one/events?view=compact' } });
    window.fetch = async (address, how) => {
        if (address === '/synth/v1/treesearch?view=compact') return stream(how.signal);
        // Only this page knows the search.
        if (address === '/synth-batches/v1/plans') return new Response('null', { status: 400 });
        if (address !== '/synth/v1/treesearch/one/events?view=compact') return plain(address, how);
        window.resumed.push(how.headers['Last-Event-ID']);
        return stream(how.signal);
    };
    window.tell = (id, event, data) => window.stream.enqueue(new TextEncoder().encode(`id: ${id}\\nevent: ${event}\\ndata: ${JSON.stringify(data)}\\n\\n`));
    window.lose = () => window.stream.error(new TypeError('network error'));";

async fn tell(browser: &Chromium, id: u32, event: &str, data: &Value) {
    browser.run(&format!("window.tell({id}, '{event}', {data})")).await;
}

/// Returns the routes of the recorded answer as progress events: without shopping lists.
fn routes() -> Vec<Value> {
    let answer = recorded::answer(RecordedVariant::AsFound);
    let mut routes = Vec::new();
    for (steps, backbones) in &answer.route_hierarchy {
        for (backbone, variations) in backbones {
            for graph in variations.iter().flatten() {
                let mut route = serde_json::to_value(graph).unwrap();
                route["graph"].as_object_mut().unwrap().remove("shopping_list");
                routes.push(
                    json!({ "route": route, "backbone": backbone, "steps": steps.parse::<u32>().unwrap() }),
                );
            }
        }
    }
    routes
}

#[tokio::test]
async fn routes_are_seen_as_they_are_found_and_what_is_looked_at_stays_when_the_answer_comes() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(MOCK_STREAM_SCRIPT).await;
    let routes = routes();
    let progress = json!({ "seconds": 1.2, "expansions": 310, "molecules": 2048, "depth": 4, "routes": 1, "best_cost": 5.1 });

    find_routes(&browser, "46").await;
    tell(&browser, 1, "progress", &progress).await;
    let shown = browser.wait_for_text("#elapsed_text", |text| text.contains("expansions")).await;
    tell(&browser, 2, "route", &routes[0]).await;
    browser.wait_for_text("#route_count", |text| text == "1").await;
    browser.run("window.lose()").await;
    browser.run_async("const done = arguments[arguments.length - 1]; const look = () => (window.resumed.length ? done(true) : setTimeout(look, 20)); look();").await;
    tell(&browser, 3, "route", &routes[1]).await;
    browser.wait_for_text("#route_count", |text| text == "2").await;
    browser.type_into("#route_list", "\u{e015}").await; // Arrow down.
    let growing = browser.wait_for_text("#route_title", |text| text == "Route 2").await;
    let drawing = browser.run("return document.querySelector('#scheme .molecule').parentElement.innerHTML.match(/building block [^ \"]+/i)?.[0] ?? ''").await;
    let shopping = browser.text("#shopping").await;
    browser.screenshot("plan_growing").await;
    breaks_no_rule(&browser).await;
    tell(&browser, 4, "answer", &json!(CompactResult::of(recorded::answer(RecordedVariant::AsFound)))).await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let still = browser.run("return document.querySelector('#scheme .molecule').parentElement.innerHTML.match(/building block [^ \"]+/i)?.[0] ?? ''").await;
    let summary = browser.text("#route_summary").await;

    assert!(
        shown.contains("310 expansions · 2,048 molecules · 4 steps deep · 1 route, the best at cost 5.1"),
        "{shown}"
    );
    assert_eq!(browser.run("return window.resumed").await, json!(["2"]));
    assert_eq!(growing, "Route 2");
    assert!(shopping.starts_with("Prices and lead times follow"), "{shopping}");
    assert!(!still.as_str().unwrap().is_empty());
    assert_eq!(still, drawing);
    assert!(summary.contains("for 1 mmol"), "{summary}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_search_that_is_stopped_keeps_what_it_found_and_one_that_fails_on_the_way_says_why() {
    let Some((_service, browser)) = stage().await else { return };
    browser.run(MOCK_STREAM_SCRIPT).await;
    let routes = routes();

    find_routes(&browser, "46").await;
    tell(&browser, 1, "route", &routes[0]).await;
    browser.wait_for_text("#route_count", |text| text == "1").await;
    browser.click("#stop").await;
    let stopped = browser.wait_for_text("#notice", |text| !text.is_empty()).await;
    let shopping = browser.text("#shopping").await;
    browser.click("#change").await;
    browser.click("#run").await;
    let problem = json!({ "status": 504, "detail": [{ "loc": ["body"], "msg": "The search had not the time that it was promised", "type": "timeout" }] });
    tell(&browser, 1, "problem", &problem).await;
    let failed = browser.wait_for_text("#notice", |text| text.starts_with("The search had")).await;

    assert_eq!(stopped, "Stopped. The search is cancelled.");
    assert!(shopping.starts_with("The search was stopped before prices"), "{shopping}");
    assert_eq!(failed, "The search had not the time that it was promised.");
    assert_no_errors(&browser).await;
}
