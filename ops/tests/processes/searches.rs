//! The tree search, end to end, with the retrosynthesis model that ships and a catalogue of a few molecules.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::installation::{Installation, Role};

/// Lidocaine.
pub const TARGET: &str = "CCN(CC)CC(=O)Nc1c(C)cccc1C";

/// Catalogue with building blocks for several routes to the target; one block has two offers.
pub const CATALOGUE: &str = "\
smiles,vendor_name,cs_prefix,cs_id,cs_url,pack,uom,price_usd,lead_time_days_to_US,lead_time_days_to_DE
Cc1cccc(C)c1N,First,FST,1,https://example.com/1,25,g,50,3,5
Cc1cccc(C)c1N,Second,SND,1,https://example.com/s1,1,kg,400,9,
CCNCC,First,FST,2,https://example.com/2,100,g,40,3,5
O=C(Cl)CCl,First,FST,3,https://example.com/3,5,g,10,3,5
O=C(O)CCl,First,FST,4,https://example.com/4,5,g,12,3,5
CCN(CC)CC(=O)O,First,FST,5,https://example.com/5,500,mg,30,3,5
CCN(CC)CC(=O)OC,First,FST,6,https://example.com/6,5,g,30,3,5
Cc1cccc(C)c1NC(=O)CCl,First,FST,7,https://example.com/7,5,g,30,3,5
Cc1cccc(C)c1NC(=O)CBr,First,FST,8,https://example.com/8,5,g,30,3,5
CCO,First,FST,9,https://example.com/9,1,kg,20,3,5
";

/// Starts an installation with a catalogue of a few blocks, a searcher and an API process.
pub async fn installation() -> Installation {
    let mut installation = Installation::new().await;
    start(&mut installation).await;
    installation
}

/// Starts the same in an installation that has its settings.
pub async fn start(installation: &mut Installation) {
    installation.import_catalogue(CATALOGUE);
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
}

fn request() -> Value {
    json!({ "search_smiles": TARGET, "early_exit_first_solution": false, "max_seconds": 3 })
}

/// Returns all route graphs of an answer.
fn routes(answer: &Value) -> Vec<&Value> {
    let groups = answer["route_hierarchy"].as_object().unwrap().values();
    let variations = groups.flat_map(|group| group.as_object().unwrap().values());
    variations.flat_map(|list| list.as_array().unwrap()).flat_map(|set| set.as_array().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_are_consistent_graphs_whose_leaves_are_offered() {
    let installation = installation().await;
    let caller = installation.account("owner");

    let answer = caller.create("/synth/v1/treesearch", &request()).await;

    assert_eq!(answer["search_smiles"], TARGET);
    let routes = routes(&answer);
    assert!(!routes.is_empty(), "no route to lidocaine from its usual parts: {}", answer["metadata"]);
    let offers = answer["pricing_annotations"].as_array().unwrap();
    let offered: BTreeMap<i64, &str> = offers
        .iter()
        .map(|offer| {
            (offer["major_component_id"].as_i64().unwrap(), offer["major_component"].as_str().unwrap())
        })
        .collect();
    let mut edges_of_steps = BTreeSet::new();
    for edges in answer["reagent_results"]["reaction_to_edges"].as_object().unwrap().values() {
        edges_of_steps.extend(edges.as_array().unwrap().iter().map(|edge| edge.as_str().unwrap()));
    }
    let mut used = BTreeSet::new();
    for route in &routes {
        assert_eq!((&route["directed"], &route["multigraph"]), (&json!(true), &json!(false)));
        let nodes: BTreeMap<&str, &Value> = route["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| (node["id"].as_str().unwrap(), &node["data"]))
            .collect();
        let mut products = BTreeSet::new();
        for edge in route["edges"].as_array().unwrap() {
            let (source, target) = (edge["source"].as_str().unwrap(), edge["target"].as_str().unwrap());
            assert!(
                nodes.contains_key(source) && nodes.contains_key(target),
                "an edge between nodes: {edge}"
            );
            assert!(
                edges_of_steps.contains(&*format!("{source}:{target}")),
                "a reaction has the edge {edge}"
            );
            products.insert(source);
        }
        for (id, data) in &nodes {
            let smiles = data["smiles"].as_str().unwrap();
            assert_eq!(data["depth"] == 0, smiles == TARGET, "the target is at depth 0: {data}");
            if products.contains(id) {
                continue;
            }
            // A leaf can be bought, and the offer is for the same molecule.
            assert_eq!(
                (&data["is_building_block"], &data["closest_building_block"]),
                (&json!(true), &json!(1.0))
            );
            let block = data["building_block_idx"].as_i64().unwrap();
            // A carboxylate is bought as its acid.
            assert_eq!(neutral(offered[&block]), neutral(smiles));
            used.insert(block);
        }
    }
    assert_eq!(
        offered.keys().copied().collect::<BTreeSet<_>>(),
        used,
        "blocks of routes, and no others, are offered"
    );
    assert_eq!(answer["metadata"]["total_bblocks"], json!(used.len()));
    for offer in offers {
        if offer["major_component"] == "Cc1cccc(C)c1N" && offer["vendor_name"] == "Second" {
            assert_eq!(offer["normalised_usd"], 0.4);
            assert_eq!(
                (&offer["lead_time_days_to_US"], &offer["lead_time_days_to_DE"]),
                (&json!(9.0), &Value::Null)
            );
        }
    }
}

fn neutral(smiles: &str) -> String {
    smiles.parse::<chem::Molecule>().unwrap().neutral().canonical_smiles()
}

#[tokio::test(flavor = "multi_thread")]
async fn networkx_reads_the_route_graphs() {
    let knows_edges =
        "import inspect, networkx as nx; inspect.signature(nx.node_link_graph).parameters['edges']";
    let installed = Command::new("python3").args(["-c", knows_edges]).stderr(Stdio::null()).status();
    if !installed.is_ok_and(|status| status.success()) {
        println!("skipped: python3 has no networkx of version 3.4 or newer");
        return;
    }
    let installation = installation().await;
    let caller = installation.account("owner");

    let answer = caller.create("/synth/v1/treesearch", &request()).await;

    let script = "
import json, sys, networkx
answer = json.load(sys.stdin)
graphs = [g for k1 in answer['route_hierarchy'].values() for k2 in k1.values() for s in k2 for g in s]
assert graphs
for data in graphs:
    graph = networkx.node_link_graph(data, edges='edges')
    assert networkx.is_directed_acyclic_graph(graph)
    roots = [node for node in graph if graph.in_degree(node) == 0]
    assert [graph.nodes[node]['data']['smiles'] for node in roots] == [answer['search_smiles']]
";
    let mut python = Command::new("python3").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(answer.to_string().as_bytes()).unwrap();
    assert!(python.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_nothing_leads_to_is_an_empty_answer_and_no_error() {
    let installation = installation().await;
    let caller = installation.account("owner");

    // Common laboratory chemicals would give a route.
    let body = json!({
        "search_smiles": "CC(=O)Oc1ccccc1C(=O)O", "max_seconds": 1, "vendors_never": ["Common Lab Chemicals"]
    });
    let answer = caller.create("/synth/v1/treesearch", &body).await;

    assert_eq!(answer["route_hierarchy"], json!({}));
    assert_eq!(answer["pricing_annotations"], json!([]));
    assert_eq!(answer["metadata"]["validated_routes"], 0);
}
