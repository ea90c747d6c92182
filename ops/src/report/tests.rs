use std::{collections::BTreeSet, path::PathBuf};

use contract::{TreeSearchRequest, TreeSearchResult};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Chromium, Script};

use super::*;

/// Markup that changes the page's title if it is ever interpreted as markup.
const MALICIOUS_MARKUP: &str =
    "<img src=x onerror=\"document.title='caught'\"></script><script>document.title='caught'</script>";

fn imatinib() -> TreeSearchResult {
    serde_json::from_str(include_str!("../../../api/tests/data/imatinib_routes.json")).unwrap()
}

fn prazosin() -> TreeSearchResult {
    serde_json::from_str(include_str!("../../../api/clients/python/tests/data/prazosin.json")).unwrap()
}

/// Returns prazosin's answer, reduced to the last step.
fn one_step() -> TreeSearchResult {
    let mut answer = prazosin();
    let graphs = answer.route_hierarchy.values_mut().flat_map(|groups| groups.values_mut());
    for graph in graphs.flatten().flatten() {
        let target = graph.nodes[0].id.clone();
        graph.edges.retain(|edge| edge.source == target);
        graph.nodes.retain(|node| node.data.depth < 2);
        graph.nodes[1..].iter_mut().for_each(|node| node.data.is_building_block = true);
    }
    answer
}

fn planned(name: &str, outcome: Result<TreeSearchResult, String>) -> PlannedTarget {
    let smiles = outcome.as_ref().map_or("CC.CC", |answer| &answer.search_smiles).to_owned();
    PlannedTarget { name: Some(name.to_owned()), asked: TreeSearchRequest::new(&smiles), outcome }
}

/// Opens the report of `planned` in a browser; returns the browser, and the folder and file of the report. `None` if
/// there is no browser.
async fn opened(planned: &[PlannedTarget]) -> Option<(Chromium, TempDir, PathBuf)> {
    let browser = match Chromium::start(Script::On).await {
        Ok(browser) => browser,
        Err(missing) => {
            crate::terminal::note(&format!("skipped: {missing}"));
            return None;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("routes.html");
    std::fs::write(&file, page(planned).unwrap()).unwrap();
    browser.resize(1200, 900).await;
    browser.open(&format!("file://{}", file.display())).await;
    browser.find("#report > *").await;
    Some((browser, folder, file))
}

async fn count(browser: &Chromium, selector: &str) -> u64 {
    browser
        .run(&format!("return document.querySelectorAll({}).length", json!(selector)))
        .await
        .as_u64()
        .unwrap()
}

/// Script that returns the labels and structures that overlap within a scheme, and the scales of a page's schemes if
/// there are several.
const LAYOUT_SCRIPT: &str = "
    const meet = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5
        && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.5;
    const met = [];
    const scales = [...document.querySelectorAll('.page')].map((page) => {
        const drawn = [...page.querySelectorAll('.view')].map((view) => {
            const parts = [...view.querySelectorAll('text.caption, .class, .agents, .molecule > .formula')];
            const boxes = parts.map((part) => [part.textContent, part.getBoundingClientRect()]);
            boxes.forEach(([name, box], index) => {
                for (const [other, beside] of boxes.slice(index + 1)) if (meet(box, beside)) met.push(`${name} on ${other}`);
            });
            return (view.getBoundingClientRect().width / view.viewBox.baseVal.width).toFixed(2);
        });
        return [...new Set(drawn)];
    });
    return { met, scales };";

#[tokio::test]
async fn a_report_has_a_page_for_each_backbone_on_which_nothing_is_squeezed_or_lies_on_anything_else() {
    let Some((browser, _folder, _)) = opened(&[planned("Imatinib", Ok(imatinib()))]).await else { return };

    let seen = browser.run(LAYOUT_SCRIPT).await;
    browser.screenshot("report_imatinib").await;
    let sheets = browser.sheets().await;

    assert_eq!(seen["met"], json!([]));
    let scales: Vec<Vec<&str>> = seen["scales"].as_array().unwrap()[1..]
        .iter()
        .map(|page| page.as_array().unwrap().iter().map(|scale| scale.as_str().unwrap()).collect())
        .collect();
    assert_eq!(scales.len(), 9, "nine backbones");
    assert!(scales.iter().all(|page| page.len() == 1), "one scale for all of a route: {scales:?}");
    assert!(scales.iter().flatten().all(|scale| scale.parse::<f64>().unwrap() >= 0.69), "{scales:?}");
    assert_eq!(count(&browser, ".page:not(.first) .target").await, 9);
    assert_eq!(sheets, 10, "the routes in a table, and a sheet a backbone");
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_route_is_drawn_in_forward_order_with_its_conditions_and_what_to_buy() {
    let Some((browser, _folder, _)) = opened(&[planned("Prazosin", Ok(prazosin()))]).await else { return };

    let arrows = browser.run("return [...document.querySelectorAll('.view .step')].map((step) => [...step.querySelectorAll('text')].map((line) => line.textContent).join(' '))").await;
    let steps = browser.run("return [...document.querySelectorAll('.beneath > div:first-child tbody tr')].map((row) => row.innerText.replace(/\\s+/g, ' ').trim())").await;
    let bought = browser.text(".beneath > div:last-child").await;
    let right = browser.run("const box = (name) => document.querySelector(name).getBoundingClientRect(); return box('.view .target').left > Math.max(...[...document.querySelectorAll('.view .bought')].map((block) => block.getBoundingClientRect().right));").await;
    browser.screenshot("report_prazosin").await;

    let arrows: BTreeSet<&str> =
        arrows.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert_eq!(
        arrows,
        BTreeSet::from([
            "1.\u{a0}SNAr amination hydrogen chloride, triethylamine, water",
            "2.\u{a0}amide formation from acid halide hydrogen chloride, triethylamine, benzene",
        ])
    );
    assert!(steps[0].as_str().unwrap().starts_with("1 SNAr amination hydrogen chloride"), "{steps}");
    assert!(steps[1].as_str().unwrap().contains("100 % 47 US03962249"), "{steps}");
    assert!(bought.contains("$15 for 1 mmol at 80 % a step") && bought.contains("ISD-006185"), "{bought}");
    assert_eq!(right, json!(true), "the target stands behind all that it is made from");
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[tokio::test]
async fn variations_are_folded_under_their_backbone_and_drawn_once_they_are_opened() {
    let Some((browser, _folder, _)) = opened(&[planned("Imatinib", Ok(imatinib()))]).await else { return };

    let before = count(&browser, ".variation .view").await;
    let summary = browser.text(".variations > summary").await;
    browser
        .run("document.querySelectorAll('.variations, .variation').forEach((one) => { one.open = true; });")
        .await;
    browser.find(".variation .view").await;

    assert_eq!((before, summary.as_str()), (0, "1 variation with the same backbone"));
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[tokio::test]
async fn several_targets_are_a_table_and_each_is_drawn_once_it_is_opened() {
    let mut nothing = prazosin();
    nothing.route_hierarchy.clear();
    let all = [
        planned("Imatinib", Ok(imatinib())),
        planned("One step", Ok(one_step())),
        planned("Nothing", Ok(nothing)),
        planned("Salt", Err("more than one component".to_owned())),
    ];
    let Some((browser, _folder, _)) = opened(&all).await else { return };

    let overview = browser.text(".overview").await;
    let before = count(&browser, ".schemes").await;
    browser.click("a[href='#target_2']").await;
    browser.find("#target_2 .view .target").await;
    let (drawn, steps) = (count(&browser, ".schemes").await, count(&browser, "#target_2 .view .step").await);
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; });").await;
    let reason = browser.wait_for_text("#target_3", |text| text.contains("No route was found")).await;
    browser.screenshot("report_several").await;

    assert!(overview.starts_with("Routes to 4 targets\n2 of them with a route"), "{overview}");
    assert!(overview.contains("more than one component"), "{overview}");
    assert_eq!((before, drawn, steps), (0, 1, 1));
    assert!(reason.contains("Suggestions"), "{reason}");
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[tokio::test]
async fn what_strangers_wrote_is_text() {
    let mut answer = imatinib();
    answer.search_smiles = MALICIOUS_MARKUP.to_owned();
    for offer in &mut answer.pricing_annotations {
        MALICIOUS_MARKUP.clone_into(&mut offer.vendor_name);
        MALICIOUS_MARKUP.clone_into(&mut offer.cs_id);
    }
    let graphs = answer.route_hierarchy.values_mut().flat_map(|groups| groups.values_mut());
    for graph in graphs.flatten().flatten() {
        graph
            .nodes
            .iter_mut()
            .filter(|node| node.data.is_building_block)
            .for_each(|node| MALICIOUS_MARKUP.clone_into(&mut node.data.smiles));
        for evidence in graph.edges.iter_mut().filter_map(|edge| edge.evidence.as_mut()) {
            MALICIOUS_MARKUP.clone_into(&mut evidence.reaction_class);
            evidence.warnings = vec![MALICIOUS_MARKUP.to_owned()];
            evidence.conditions.solvents = [(MALICIOUS_MARKUP.to_owned(), 1)].into();
        }
        let list = graph.graph.as_mut().and_then(|standing| standing.shopping_list.as_mut());
        list.into_iter()
            .flat_map(|list| list.vendors.iter_mut())
            .for_each(|order| MALICIOUS_MARKUP.clone_into(&mut order.vendor_name));
    }
    let Some((browser, _folder, _)) = opened(&[planned(MALICIOUS_MARKUP, Ok(answer))]).await else { return };

    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; });").await;
    browser.find(".variation .view").await;
    let words = browser.text("#report").await;

    assert!(words.contains("<script>document.title"), "{words}");
    assert_eq!(browser.title().await, format!("Routes to {MALICIOUS_MARKUP}"));
    assert_eq!(count(&browser, "#report img, #report script, #report a").await, 0);
    assert_eq!(browser.complaints().await, [] as [Value; 0]);
}

#[test]
fn every_module_that_a_module_of_the_report_imports_is_in_it() {
    let known: BTreeSet<&str> = MODULES.iter().map(|(name, _)| *name).collect();
    let mut imported = BTreeSet::from(["report/report".to_owned()]);
    for (path, text) in &MODULES[..MODULES.len() - 1] {
        let text = absolute_imports(path, text);
        let from = format!("from \"{MODULE_PREFIX}");
        let imports = text.split(&from).skip(1);
        imported.extend(imports.filter_map(|rest| rest.split(".js\"").next()).map(str::to_owned));
    }

    assert_eq!(imported.iter().map(String::as_str).collect::<BTreeSet<_>>(), known);
}

#[test]
fn a_report_asks_for_nothing_and_says_its_routes_to_who_runs_no_scripts() {
    let page = page(&[planned("<b>Prazosin</b>", Ok(prazosin()))]).unwrap();

    assert!(page.contains("default-src 'none'") && !page.contains("src=\"http"), "{}", &page[..2000]);
    assert!(page.contains("<title>Routes to &lt;b&gt;Prazosin&lt;/b&gt;</title>"));
    let noscript = page.split("<noscript>").nth(1).unwrap().split("</noscript>").next().unwrap();
    assert!(noscript.contains("SNAr amination") && noscript.contains("to order for 1 mmol"), "{noscript}");
}
