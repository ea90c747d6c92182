//! Routes in AiZynthFinder's format: trees in which molecules and reactions alternate (`ReactionTree.to_dict`), with
//! reactions written backwards, `product>>precursor.precursor`.

use serde_json::{Map, Value, json};

use super::known;
use crate::{RouteTree, TreeMolecule, TreeStep};

/// Returns a route as a tree.
#[must_use]
pub fn aizynth_tree(route: &RouteTree<'_>) -> Value {
    let mut tree = molecule(&route.target);
    let backbone = Some(route.backbone).filter(|backbone| !backbone.is_empty());
    let scores = known([("retort score", json!(route.standing.map(|standing| standing.score)))]);
    tree.insert("scores".to_owned(), scores);
    let metadata = known([("is_solved", json!(is_solved(&route.target))), ("backbone", json!(backbone))]);
    tree.insert("metadata".to_owned(), metadata);
    Value::Object(tree)
}

/// Returns true if everything that no step makes is bought. A route that somebody changed may lack a building block.
fn is_solved(molecule: &TreeMolecule<'_>) -> bool {
    match &molecule.made_by {
        Some(step) => step.precursors.iter().all(is_solved),
        None => molecule.data.is_building_block,
    }
}

fn molecule(TreeMolecule { data, made_by }: &TreeMolecule<'_>) -> Map<String, Value> {
    let mut tree: Map<String, Value> = [
        ("type", json!("mol")),
        ("hide", json!(false)),
        ("smiles", json!(data.smiles)),
        ("is_chemical", json!(true)),
        ("in_stock", json!(data.is_building_block)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    if let Some(step) = made_by {
        tree.insert("children".to_owned(), json!([reaction(step, &data.smiles)]));
    }
    tree
}

fn reaction(step: &TreeStep<'_>, product: &str) -> Value {
    let evidence = step.edge.evidence.as_ref();
    let metadata = known([
        ("template_hash", json!(evidence.map(|evidence| &evidence.template))),
        ("classification", json!(evidence.map(|evidence| &evidence.reaction_class))),
        ("library_occurrence", json!(evidence.map(|evidence| evidence.precedents))),
        ("policy_probability", json!(evidence.map(|evidence| evidence.probability))),
        ("policy_name", json!("retort")),
        ("plausibility", json!(step.edge.plausibility)),
    ]);
    let children: Vec<_> = step.precursors.iter().map(molecule).collect();
    json!({
        "type": "reaction", "hide": false, "smiles": format!("{product}>>{}", step.reactants()), "is_reaction": true,
        "metadata": metadata, "children": children,
    })
}
