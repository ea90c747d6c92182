//! Several routes in the console: compared, filtered, folded under their backbones, exported as pictures.

use serde_json::json;

use crate::console_plan::{assert_no_errors, breaks_no_rule, count, find_routes, stage};

#[tokio::test]
async fn two_routes_are_compared_and_what_they_share_is_faint() {
    let Some((_service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;

    browser.click("#compare").await;
    let note = browser.text("#compare_note").await;
    browser.type_into("#route_list", "\u{e015}").await; // Arrow down.
    let title = browser.wait_for_text("#comparison_title", |text| !text.is_empty()).await;
    let differences = browser.text("#differences").await;
    let shared = count(&browser, "#left_scheme .step.shared").await;
    let own = count(&browser, "#left_scheme .step.own").await;
    browser.screenshot("plan_compared").await;
    breaks_no_rule(&browser).await;
    browser.click("#compare").await;
    let single = browser.run("return document.getElementById('comparison').hidden").await;

    assert_eq!(note, "Choose another route in the list to see it beside route 1.");
    assert_eq!(title, "Route 1 beside route 2: 4 steps shared");
    assert_eq!((shared, own), (4, 2));
    for shown in [
        "To order $39 better $59",
        "Longest branch 5 4 better",
        "In route 1, not in route 2",
        "6. N-alkylation",
        "the block COC(=O)c1ccc(C=O)cc1",
    ] {
        assert!(differences.contains(shown), "{shown} in {differences}");
    }
    assert_eq!(single, json!(true));
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn routes_are_filtered_by_what_they_cost_need_and_take_and_folded_under_their_backbones() {
    let Some((_service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    let choose = async |field: &str, value: &str| {
        let (field, value) = (json!(field), json!(value));
        browser.run(&format!("const field = document.getElementById({field}); field.value = {value}; field.dispatchEvent(new Event('change'));")).await;
        browser.text("#route_count").await
    };

    browser.click(".finer summary").await;
    breaks_no_rule(&browser).await;
    browser.put("most_usd", "22,5").await;
    let cheap = browser.text("#route_count").await;
    browser.put("most_usd", "cheap").await;
    let fault = browser.text("#most_usd_fault").await;
    browser.click("#filters_clear").await;
    browser.put("most_steps", "4").await;
    let short = browser.text("#route_count").await;
    browser.click("#filters_clear").await;
    let without = choose("without_class", "N-alkylation").await;
    let nobody = choose("without_vendor", "Made-Up Reagents (demo)").await;
    browser.click("#in_a_week").await;
    let soon = browser.text("#route_none").await;
    browser.click("#filters_clear").await;
    let options = count(&browser, "#route_list [role=option]").await;
    browser.click("#best_only").await;
    let best = browser.text(".folds").await;
    browser.type_into("#route_list", "\u{e015}\u{e014}").await; // Arrow down, to the right.
    let unfolded = browser.wait_for_text(".folds", |text| text.starts_with('▾')).await;

    assert_eq!(cheap, "2 of 10");
    assert_eq!(fault, "cheap is not a number.");
    assert_eq!(short, "3 of 10");
    assert_eq!((without.as_str(), nobody.as_str()), ("5 of 10", "0 of 10"));
    assert_eq!(soon, "No route passes the filters.");
    assert!(options >= 4, "{options}");
    assert_eq!(best.split_whitespace().collect::<Vec<_>>().join(" "), "▸ Backbone b1490 best of 2 routes");
    assert!(unfolded.contains("2 routes"), "{unfolded}");
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_route_is_taken_away_as_a_sharp_picture() {
    let Some((_service, browser)) = stage().await else { return };
    find_routes(&browser, "46").await;
    browser.wait_for_text("#route_count", |text| text == "10").await;
    browser
        .run("URL.createObjectURL = (blob) => { window.saved = blob; return 'blob:1'; }; HTMLAnchorElement.prototype.click = function () { window.named = this.download; };")
        .await;

    browser.click("#take_png").await;
    let picture = browser
        .run_async(
            "const done = arguments[arguments.length - 1]; const look = async () => { if (!window.saved) return setTimeout(look, 20); \
             const image = await createImageBitmap(window.saved); const canvas = new OffscreenCanvas(image.width, image.height); \
             const drawing = canvas.getContext('2d'); drawing.drawImage(image, 0, 0); \
             const dots = drawing.getImageData(0, 0, image.width, image.height).data; const paints = new Set(); \
             for (let at = 0; at < dots.length; at += 4) paints.add((dots[at] << 16) | (dots[at + 1] << 8) | dots[at + 2]); \
             done([window.named, image.width > 3000, dots[0], dots[3], paints.has(0x2140c8), paints.has(0xffd27d)]); }; look();",
        )
        .await;

    // The picture has a white background, and the colours of nitrogen and of new bonds.
    assert_eq!(picture, json!(["route_1.png", true, 255, 255, true, true]));
    assert_no_errors(&browser).await;
}
