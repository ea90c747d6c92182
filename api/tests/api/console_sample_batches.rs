//! Sample batches in a real browser: drawing one, its molecules as they come, and its end.

use serde_json::json;
use test_support::Chromium;

use crate::{
    console_parts::{CAPTURE_FILES_SCRIPT, saved},
    console_plan::{assert_no_errors, breaks_no_rule, count, stage},
    support::{Service, complete_async_sample},
};

const VIEW: &str = "section[aria-label='Sample batch']";

/// Draws a sample of this size at the form; returns the id of the batch.
async fn draw_batch(browser: &Chromium, size: &str) -> String {
    browser.go("#/sample").await;
    browser.until("return document.querySelectorAll('#model_id option').length > 1").await;
    browser.put("size", size).await;
    browser.click("#draw").await;
    browser.wait_for_title("Batches · Retort").await;
    browser.run("return location.hash.split('/').at(-1)").await.as_str().unwrap().to_owned()
}

/// Stores the molecules of the chunk at this position as a sampler does.
async fn complete(service: &Service, batch: &str, position: i32) -> String {
    let chunk: String = sqlx::query_scalar("select id from sample_orders where batch_id = $1 and place = $2")
        .bind(batch)
        .bind(position)
        .fetch_one(&service.pool)
        .await
        .unwrap();
    complete_async_sample(&mut service.pool.acquire().await.unwrap(), &chunk).await.unwrap();
    chunk
}

/// Waits until the view of the batch counts its chunks so.
async fn counts(browser: &Chromium, expected: &str) {
    browser.wait_for_text(&format!("{VIEW} .counts"), |text| text == expected).await;
}

/// Presses the button of the view that begins with these words.
async fn press(browser: &Chromium, words: &str) {
    let buttons = format!("[...document.querySelectorAll(\"{VIEW} .tools button\")]");
    browser.run(&format!("{buttons}.find((one) => one.textContent.startsWith('{words}')).click()")).await;
}

#[tokio::test]
async fn a_sample_batch_is_drawn_and_its_molecules_are_seen_ticked_and_taken_away_as_they_come() {
    let Some((service, browser)) = stage().await else { return };
    browser.run(CAPTURE_FILES_SCRIPT).await;

    let batch = draw_batch(&browser, "10.001").await;
    counts(&browser, "21 chunks: 21 to come").await;
    let nothing =
        browser.wait_for_text(&format!("{VIEW} .molecules > .quiet"), |text| text.starts_with("0 of")).await;
    let chunk = complete(&service, &batch, 1).await;
    counts(&browser, "21 chunks: 1 done, 20 to come").await;
    browser.until("return document.querySelectorAll('.molecules .cell svg').length > 3").await;
    // The first two molecules of the second chunk; those of the first chunk then come before them.
    browser.type_into(".molecules .gallery", " \u{e014} ").await;
    complete(&service, &batch, 0).await;
    counts(&browser, "21 chunks: 2 done, 19 to come").await;
    let known =
        browser.wait_for_text(&format!("{VIEW} .molecules > .quiet"), |text| text.starts_with("1,000")).await;
    breaks_no_rule(&browser).await;
    browser.screenshot("sample_batch").await;
    press(&browser, "SMILES").await;
    let ticked = saved(&browser, &format!("{batch}.smi")).await;
    browser.run(&format!("document.querySelector(\"{VIEW} details\").open = true")).await;
    let chunks = count(&browser, &format!("{VIEW} .before a")).await;
    browser.click(&format!("{VIEW} .before a[href$='{chunk}']")).await;
    browser.wait_for_text(".sampled h2", |text| text == "500 molecules").await;
    browser.click(".sampled .found a").await;
    browser.wait_for_title("Batches · Retort").await;
    press(&browser, "Plan 2 ticked").await;
    browser.wait_for_text("#molecules_read", |text| text.starts_with("2 molecules")).await;

    assert_eq!(nothing, "0 of 10,001 molecules are here");
    assert_eq!(known, "1,000 of 10,001 molecules are here · 2 ticked");
    assert_eq!((ticked.as_str(), chunks), ("[1CH4]\n[2CH4]\n", 2));
    assert_eq!(
        browser.run("return document.getElementById('batch_name').value").await,
        json!(format!("2 molecules of {batch}"))
    );
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_sample_batch_is_cancelled_says_why_chunks_failed_is_listed_and_deleted() {
    let Some((service, browser)) = stage().await else { return };

    let batch = draw_batch(&browser, "12000").await;
    counts(&browser, "24 chunks: 24 to come").await;
    complete(&service, &batch, 0).await;
    counts(&browser, "24 chunks: 1 done, 23 to come").await;
    press(&browser, "Cancel").await;
    let question = browser.text("#ask_title").await;
    browser.click("#ask_no").await;
    counts(&browser, "24 chunks: 1 done, 23 to come").await;
    press(&browser, "Cancel").await;
    browser.click("#ask_yes").await;
    counts(&browser, "24 chunks: 1 done, 23 failed").await;
    let told = browser.wait_for_text("#toast", |text| !text.is_empty()).await;
    // Pages of chunks are read one after the other.
    let reasons = browser.wait_for_text(&format!("{VIEW} .reasons"), |text| text.starts_with("23 ")).await;
    let left = browser.run(&format!("return [...document.querySelectorAll(\"{VIEW} .tools button:not([hidden])\")].map((one) => one.textContent).join()")).await;
    browser.go("#/batches").await;
    let listed = browser
        .wait_for_text("section[aria-label='Sample batches'] li", |text| text.starts_with("12,000 molecules"))
        .await;
    browser.screenshot("batch_lists").await;
    browser.click("section[aria-label='Sample batches'] li a").await;
    counts(&browser, "24 chunks: 1 done, 23 failed").await;
    press(&browser, "Delete").await;
    browser.click("#ask_yes").await;
    let none =
        browser.wait_for_text("section[aria-label='Sample batches'] .none", |text| !text.is_empty()).await;
    browser.go(&format!("#/batches/{batch}")).await;
    let gone = browser.wait_for_text(&format!("{VIEW} .notice"), |text| !text.is_empty()).await;
    let refusal = browser.complaints().await;

    assert_eq!(question, "Cancel remaining chunks?");
    assert_eq!(told, "The batch has ended.");
    assert_eq!(reasons, "23 chunks failed: cancelled");
    assert_eq!(left, json!("SMILES,Plan as a batch,Delete"));
    assert!(listed.contains("druglike_gru · incomplete · "), "{listed}");
    assert_eq!(none, "No sample batch yet. Draw more than 10,000 molecules.");
    assert_eq!(gone, "The service answered 404.");
    assert!(refusal.iter().all(|line| line["message"].as_str().unwrap().contains("404")), "{refusal:?}");
}

#[tokio::test]
async fn what_is_wrong_with_a_sample_batch_stands_at_its_field() {
    let Some((_service, browser)) = stage().await else { return };
    browser.go("#/sample").await;
    browser.until("return document.querySelectorAll('#model_id option').length > 1").await;

    browser.run("document.querySelector('.sizes button:last-child').click()").await;
    let (words, note) = (browser.text("#draw").await, browser.text("#size_note").await);
    browser.put("sample_scaffold", "c1ccncc1").await;
    browser.click("#draw").await;
    let fault = browser.wait_for_text("#sample_scaffold_fault", |text| !text.is_empty()).await;
    let focused = browser.run("return document.activeElement.id").await;
    let notice = browser.text(".part .notice").await;
    let refusal = browser.complaints().await;
    browser.put("size", "500").await;
    let again = browser.text("#draw").await;

    assert_eq!((words.as_str(), again.as_str()), ("Draw as a batch", "Draw molecules"));
    assert_eq!(note, "More than 10,000 are drawn in the background.");
    assert!(fault.contains("attachment point") && fault.ends_with('.'), "{fault}");
    assert_eq!((focused, notice.as_str()), (json!("sample_scaffold"), ""));
    assert!(refusal.iter().all(|line| line["message"].as_str().unwrap().contains("422")), "{refusal:?}");
    assert_no_errors(&browser).await;
}
