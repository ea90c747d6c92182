//! Bulk queries, end to end: a real searcher answers them with the model that ships, beside interactive searches.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    client::ApiClient,
    installation::{Installation, Role, long_search},
    searches::{CATALOGUE, TARGET, installation},
};

async fn items(caller: &ApiClient, path: &str, body: &Value) -> Vec<Value> {
    caller.create(&format!("/synth/v1/{path}"), body).await["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn bulk_queries_agree_with_searches() {
    let installation = installation().await;
    let caller = installation.account("owner");
    let smiles = json!({ "smiles": [TARGET, "CCO", "CC1"] });

    let search =
        caller.create("/synth/v1/treesearch", &json!({ "search_smiles": TARGET, "max_seconds": 20 })).await;
    let expansions = items(&caller, "expansions", &smiles).await;
    let sold = items(&caller, "building-blocks", &smiles).await;
    let body = json!({ "smiles": [TARGET, "CCO", "CC1"], "max_seconds": 1 });
    let made = items(&caller, "synthesizability", &body).await;

    // The last step of the search's route is among the expansions, with the same data.
    let backbones = search["route_hierarchy"].as_object().unwrap().values().next().unwrap();
    let route = &backbones.as_object().unwrap().values().next().unwrap()[0][0];
    let names: BTreeMap<&str, &str> = route["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), node["data"]["smiles"].as_str().unwrap()))
        .collect();
    let edges = route["edges"].as_array().unwrap();
    let last: Vec<&Value> =
        edges.iter().filter(|edge| names[edge["source"].as_str().unwrap()] == TARGET).collect();
    let precursors: Vec<&str> = last.iter().map(|edge| names[edge["target"].as_str().unwrap()]).collect();
    let sets = expansions[0]["precursors"].as_array().unwrap();
    assert!((2..=50).contains(&sets.len()), "{} sets", sets.len());
    let set = sets.iter().find(|set| set["smiles"] == json!(precursors));
    let set = set.unwrap_or_else(|| panic!("{precursors:?} is not in {sets:?}"));
    assert_eq!(
        [&set["reaction_class"], &set["reaction_category"], &set["precedents"], &set["template_id"]],
        ["reaction_class", "reaction_category", "precedents", "template"].map(|name| &last[0][name])
    );
    let probabilities: Vec<f64> = sets.iter().map(|set| set["probability"].as_f64().unwrap()).collect();
    assert!(probabilities.iter().all(|it| (0.0..=1.0).contains(it)), "{probabilities:?}");
    assert!(probabilities.iter().sum::<f64>() < 1.001, "{probabilities:?}");
    let is_sold = sets.iter().any(|set| set["in_stock"].as_array().unwrap().iter().all(|sold| *sold == true));
    assert!(is_sold, "{sets:?}");

    assert_eq!((&sold[0]["in_stock"], &sold[0]["offers"]), (&json!(false), &json!([])));
    assert_eq!((&sold[1]["in_stock"], &sold[1]["price"]), (&json!(true), &json!(0.02)));
    let vendors = json!(["Common Lab Chemicals", "First"]);
    assert_eq!((&sold[1]["vendors"], &sold[1]["lead_time_days"]), (&vendors, &json!(3.0)));
    assert!(sold[1]["offers"].as_array().unwrap().iter().any(|offer| offer["cs_id"] == "9"), "{sold:?}");

    assert_eq!((&made[0]["solved"], &made[1]["steps"]), (&json!(true), &json!(0)), "{made:?}");
    assert!(made[0]["steps"].as_u64() >= Some(1) && made[0]["price"].as_f64() > Some(0.0), "{made:?}");
    for items in [expansions, sold, made] {
        let error = items[2]["error"].as_str().unwrap();
        assert!(error.contains("byte 2"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_bulk_query_pauses_for_a_search_and_loses_nothing() {
    let mut installation = Installation::new().await;
    installation.import_catalogue(CATALOGUE);
    // The whole call has three seconds, most of which the search takes.
    installation.set("MAX_SECONDS_LIMIT", "3");
    installation.start_worker(Role::Search, &[("RETORT_THREADS", "1")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let chain = |length: usize| format!("{TARGET}{}", "C".repeat(length));
    let smiles: Vec<String> = (1..=1000).map(chain).take(400).collect();
    let body = json!({ "smiles": smiles, "max_seconds": 1 });

    let search = long_search(3);
    let (items, searched) = tokio::join!(
        items(&caller, "synthesizability", &body),
        caller.create("/synth/v1/treesearch", &search)
    );

    assert_eq!(items.len(), smiles.len());
    assert!(searched["metadata"]["total_graph_nodes"].as_u64() > Some(1));
    let not_reached = |item: &&Value| item["error"] == "not reached before the deadline of the call";
    let left = items.iter().rev().take_while(not_reached).count();
    assert!(left > 0, "{:?}", items.last());
    assert!(items.iter().filter(not_reached).count() <= left + 1, "molecules are begun in their order");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_is_searched_by_structure_similarity_substructure_and_number() {
    let installation = installation().await;
    let caller = installation.account("owner");
    let search = async |body: Value| {
        let found = caller.create("/synth/v1/building-blocks/search", &body).await;
        assert_eq!(found["searched"], 1.0, "{found}");
        let items = found["items"].as_array().unwrap().clone();
        let names: Vec<String> =
            items.iter().map(|item| item["smiles"].as_str().unwrap().to_owned()).collect();
        (names, items, found["more"] == true)
    };

    let (same, sold, _) = search(json!({ "smiles": "C(C)O" })).await;
    let (similar, likenesses, _) =
        search(json!({ "similar_to": "Cc1cccc(C)c1NC(=O)CCl", "min_similarity": 0.5 })).await;
    let (acids, _, more) = search(json!({ "substructure": "O=C(O)CCl" })).await;
    let (first, _, is_cut) = search(json!({ "substructure": "[#6]", "limit": 1 })).await;
    let (numbered, entries, _) = search(json!({ "text": "EtHanol" })).await;

    assert_eq!(
        (&same[..], &sold[0]["vendors"]),
        (&["CCO".to_owned()][..], &json!(["Common Lab Chemicals", "First"]))
    );
    assert_eq!(similar[..2], ["Cc1cccc(C)c1NC(=O)CCl", "Cc1cccc(C)c1NC(=O)CBr"]);
    let likeness: Vec<f64> = likenesses.iter().map(|item| item["similarity"].as_f64().unwrap()).collect();
    assert!(
        likeness[0] == 1.0 && likeness.is_sorted_by(|a, b| a >= b) && likeness.iter().all(|&one| one >= 0.5)
    );
    assert_eq!((acids, more), (vec!["O=C(O)CCl".to_owned()], false));
    assert_eq!((first.len(), is_cut), (1, true));
    // The catalogue number of a common laboratory chemical is its name.
    assert_eq!((numbered, &entries[0]["similarity"]), (vec!["CCO".to_owned()], &Value::Null));
}
