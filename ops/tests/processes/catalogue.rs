//! Catalogue as operators maintain it and callers use it: shown, exported, and with a company's own stock.

use std::process::Command;

use serde_json::{Value, json};
use test_support::eventually;

use crate::{
    client::ApiClient,
    installation::{Installation, Role},
    process::output,
};

const SEARCH: &str = "/synth/v1/treesearch";

/// Anilide from aniline and an acid chloride; the amine is a company's own stock.
const TARGET: &str = "O=C(Nc1ccccc1)C1CC1";

const OFFERS: &str = "\
smiles,vendor_name,cs_id,pack,uom,price_usd,ships_to,lead_time_days_to_US
O=C(Cl)C1CC1,Public,P-1,1,g,5,,3
O=C(Cl)C1CC1,Public,P-1,25,g,50,,3
CC(=O)OC(C)=O,Public,P-2,100,mL,20,DE FR,3
CCO,Public,P-3,1,kg,20,,
Nc1ccccc1,Own stock,A-1,0.1,g,1,,0
Cl.NCc1ccccc1,Own stock,A-2,5,g,10,,0
";

fn lines(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split('\t').collect()).collect()
}

/// Runs a command that must fail; returns its message.
fn refused(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{command:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn retort(installation: &Installation, arguments: &[&str]) -> Command {
    let mut command = installation.command("retort");
    command.args(arguments);
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_inspects_the_catalogue_removes_it_and_restores_it() {
    let installation = Installation::new().await;
    installation.import_catalogue(OFFERS);

    let vendors = installation.retort(&["catalogue", "vendors"]);
    assert_eq!(lines(&vendors)[0][0], "Common Lab Chemicals");
    assert_eq!(
        lines(&vendors)[1..],
        [["Own stock", "2", "2", "2", "everybody"], ["Public", "3", "4", "3", "everybody"]]
    );
    let salt = installation.retort(&["catalogue", "search", "NCc1ccccc1"]);
    assert_eq!(lines(&salt)[0][1], "NCc1ccccc1", "a salt is sold for its base");
    let similar = installation.retort(&["catalogue", "search", "Nc1ccccc1", "--similar", "--least", "0.3"]);
    assert_eq!((lines(&similar)[0][1], lines(&similar)[0][5]), ("Nc1ccccc1", "1.000"));
    let rings = installation.retort(&["catalogue", "search", "--substructure", "c1ccccc1"]);
    let rings: Vec<&str> = lines(&rings).iter().map(|line| line[1]).collect();
    assert!(["Nc1ccccc1", "NCc1ccccc1"].iter().all(|amine| rings.contains(amine)), "{rings:?}");
    let shown = installation.retort(&["catalogue", "show", "C1CC1C(=O)Cl"]);
    assert_eq!(lines(&shown)[1], ["  Public", "P-1", "25 g", "50", "2"]);
    for (arguments, why) in [
        (&["catalogue", "search", "C1CC"][..], "SMILES `C1CC`"),
        (&["catalogue", "search", "--substructure", "[C"], "SMARTS `[C`"),
        (&["catalogue", "search", "CCCCCCCCCC"], "no such building block"),
        (&["catalogue", "show", "0"], "no such building block"),
        (&["catalogue", "remove", "Nobody"], "there is no vendor Nobody"),
        (&["catalogue", "restrict", "Public", "Nowhere"], "there is no organisation Nowhere"),
    ] {
        let message = refused(retort(&installation, arguments));
        assert!(message.contains(why), "{arguments:?}: {message}");
    }

    let exported = installation.retort(&["catalogue", "export"]);
    let removed = output({
        let mut command = retort(&installation, &["catalogue", "remove", "Public"]);
        command.stderr(std::process::Stdio::inherit());
        command
    });
    assert_eq!(removed, "");
    assert_eq!(lines(&installation.retort(&["catalogue", "vendors"])).len(), 2);
    installation.import_catalogue(&exported);

    assert_eq!(installation.retort(&["catalogue", "vendors"]), vendors);
    assert_eq!(installation.retort(&["catalogue", "export"]), exported);
    installation.retort(&["catalogue", "verify"]);
}

fn route_of(answer: &Value) -> Option<&Value> {
    let backbones = answer["route_hierarchy"].as_object().unwrap().values().next()?;
    let variations = backbones.as_object().unwrap().values().next()?;
    Some(&variations[0][0])
}

async fn search(caller: &ApiClient, more: Value) -> Value {
    let mut request = json!({ "search_smiles": TARGET, "max_depth": 1, "max_seconds": 2 });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    caller.create(SEARCH, &request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_companys_own_stock_is_for_the_company_alone() {
    let mut installation = Installation::new().await;
    installation.import_catalogue(OFFERS);
    installation.start_api().await;
    installation.retort(&["org", "add", "Company"]);
    let (insider, outsider) = (installation.account("insider"), installation.account("outsider"));
    installation.retort(&["org", "join", "insider@example.org", "Company"]);
    installation.retort(&["catalogue", "restrict", "Own stock", "Company"]);
    assert_eq!(lines(&installation.retort(&["catalogue", "vendors"]))[1][4], "Company");
    installation.start_worker(Role::Search, &[]).await;

    let (seen, unseen) = (search(&insider, json!({})).await, search(&outsider, json!({})).await);

    let route = route_of(&seen).unwrap_or_else(|| panic!("no route: {seen}"));
    let list = &route["graph"]["shopping_list"];
    assert_eq!((&list["amount_mmol"], &list["step_yield"]), (&json!(1.0), &json!(0.8)));
    let items: Vec<_> = list["vendors"].as_array().unwrap().iter().map(|order| &order["items"][0]).collect();
    // 93.13 g/mol / 0.8, in packs of 0.1 g; and 104.53 g/mol / 0.8.
    assert_eq!(
        (&items[0]["cs_id"], &items[0]["count"], &items[0]["usd"]),
        (&json!("A-1"), &json!(2), &json!(2.0))
    );
    assert_eq!(
        (&items[1]["cs_id"], &items[1]["count"], &items[1]["pack"]),
        (&json!("P-1"), &json!(1), &json!(1.0))
    );
    assert_eq!((&list["total_usd"], &list["lead_time_days"]), (&json!(7.0), &json!(3.0)));
    // Other accounts do not see the private stock: not in routes, offers or similarity results.
    assert!(route_of(&unseen).is_none(), "{unseen}");
    assert_eq!(unseen["pricing_annotations"], json!([]));

    let public_only = search(&insider, json!({ "vendors_only": ["Public"] })).await;
    // A name that no vendor can have is not an error.
    let never = search(&insider, json!({ "vendors_never": ["Public", ""] })).await;
    assert!(route_of(&public_only).is_none() && route_of(&never).is_none());
    for (fields, loc) in [
        (json!({ "vendors_only": "Public" }), json!(["body", "vendors_only"])),
        (json!({ "vendors_never": ["Public", 7] }), json!(["body", "vendors_never", 1])),
        (json!({ "vendors_never": ["\0"] }), json!(["body", "vendors_never", 0])),
        (json!({ "amount_mmol": 0 }), json!(["body", "amount_mmol"])),
        (json!({ "step_yield": 1.5 }), json!(["body", "step_yield"])),
    ] {
        let mut request = json!({ "search_smiles": TARGET });
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let response = insider.post(SEARCH, &request).await;
        assert_eq!(response.status(), 422);
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["detail"][0]["loc"], loc);
    }

    // Imported as an inventory: amounts and places, no prices.
    let inventory = installation.folder().join("inventory.csv");
    let bottles = "smiles,cs_id,Stock (mg),location\nNc1ccccc1,A-1,50,shelf B3\nNc1ccccc1,A-7,1000,cellar\nCCN,A-8,0,shelf C1\n";
    std::fs::write(&inventory, bottles).unwrap();
    let path = inventory.to_str().unwrap();
    installation.retort(&["catalogue", "import", "--vendor", "Own stock", "--replace", path]);
    let shown = installation.retort(&["catalogue", "show", "Nc1ccccc1"]);
    assert!(lines(&shown).contains(&vec!["  Own stock", "A-7", " ", "", "", "1000 mg", "cellar"]), "{shown}");
    let stocked = eventually("the searcher has seen the inventory", async || {
        let answer = search(&insider, json!({})).await;
        let list = route_of(&answer)?["graph"]["shopping_list"].clone();
        list["from_stock"].is_array().then_some((answer, list))
    })
    .await;
    let taken = json!([{ "building_block_idx": stocked.1["from_stock"][0]["building_block_idx"], "grams": 0.1164,
        "vendor_name": "Own stock", "cs_id": "A-7", "location": "cellar" }]);
    assert_eq!((&stocked.1["from_stock"], &stocked.1["total_usd"]), (&taken, &json!(5.0)));
    let offers = stocked.0["pricing_annotations"].as_array().unwrap();
    let bottle = offers.iter().find(|offer| offer["cs_id"] == "A-1").unwrap();
    assert_eq!(
        (&bottle["amount_in_stock"], &bottle["amount_in_stock_uom"], &bottle["location"]),
        (&json!(50.0), &json!("mg"), &json!("shelf B3"))
    );
    assert!(
        offers.iter().all(|offer| offer["vendor_name"] == "Own stock" || offer.get("location").is_none())
    );
    assert!(!search(&outsider, json!({})).await.to_string().contains("cellar"));

    // An account that leaves the organisation no longer sees the stock; published stock is visible to everybody.
    installation.retort(&["org", "leave", "insider@example.org"]);
    assert!(route_of(&search(&insider, json!({})).await).is_none());
    installation.retort(&["catalogue", "publish", "Own stock"]);
    eventually("the searcher has seen that the vendor is public", async || {
        route_of(&search(&outsider, json!({})).await).map(|_| ())
    })
    .await;
}
