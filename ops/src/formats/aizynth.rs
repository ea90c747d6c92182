//! Routes in AiZynthFinder's format: trees in which molecules and reactions alternate (`ReactionTree.to_dict`), with
//! reactions written backwards, `product>>precursor.precursor`. Several targets are written as the table of its
//! command line.

use serde_json::{Value, json};

use super::known;
use crate::{
    planned::PlannedTarget,
    routes::{Molecule, Route, Step, routes},
};

/// Version of pandas' table schema in the output.
const PANDAS_VERSION: &str = "1.4.0";

/// Returns the trees of a target, best first.
pub(super) fn trees(planned: &PlannedTarget) -> Value {
    let answer = planned.answer();
    Value::Array(answer.map(|answer| routes(answer).iter().map(tree).collect()).unwrap_or_default())
}

/// Writes several targets as `aizynthcli` does: as pandas' JSON of orientation `table`. `pandas.read_json(…,
/// orient="table")` reads it, and so does REINVENT's route component, from the standard output of its
/// `custom_aizynth_command`. The trees have the scores that this component requests by name: everything bought is in
/// stock, and every step is of a class that the request allows.
pub(super) fn table(planned: &[PlannedTarget]) -> Value {
    let column = |name: &str, kind: &str| json!({ "name": name, "type": kind });
    let fields = [
        column("index", "integer"),
        column("target", "string"),
        column("name", "string"),
        column("is_solved", "boolean"),
        column("number_of_routes", "integer"),
        column("search_time", "number"),
        column("trees", "string"),
    ];
    let row = |(index, one): (usize, &PlannedTarget)| {
        let routes = one.answer().map(routes).unwrap_or_default();
        let (trees, count): (Vec<Value>, _) = (routes.iter().map(scored).collect(), routes.len());
        json!({
            "index": index, "target": one.smiles(), "name": one.name, "is_solved": count > 0, "number_of_routes": count,
            "search_time": one.answer().map(|answer| answer.metadata.tree_search_elapsed), "trees": trees,
        })
    };
    let data: Vec<Value> = planned.iter().enumerate().map(row).collect();
    json!({
        "schema": { "fields": fields, "primaryKey": ["index"], "pandas_version": PANDAS_VERSION },
        "data": data,
    })
}

fn scored(route: &Route<'_>) -> Value {
    let mut tree = tree(route);
    tree["scores"]["stock availability"] = json!(1.0);
    tree["scores"]["reaction class membership"] = json!(1.0);
    tree["scores"]["number of reactions"] = json!(route.steps().len());
    tree
}

fn tree(route: &Route<'_>) -> Value {
    let mut tree = molecule(&route.target);
    tree["scores"] =
        route.standing.map_or_else(|| json!({}), |standing| json!({ "retort score": standing.score }));
    tree["metadata"] = json!({ "is_solved": true, "backbone": route.backbone });
    tree
}

fn molecule(molecule_of: &Molecule<'_>) -> Value {
    let data = molecule_of.data;
    let mut tree = json!({
        "type": "mol", "hide": false, "smiles": data.smiles, "is_chemical": true, "in_stock": data.is_building_block,
    });
    if let Some(step) = &molecule_of.made_by {
        tree["children"] = json!([reaction(step, &data.smiles)]);
    }
    tree
}

fn reaction(step: &Step<'_>, product: &str) -> Value {
    let evidence = step.edge.evidence.as_ref();
    let metadata = known([
        ("template_hash", json!(evidence.map(|evidence| &evidence.template))),
        ("classification", json!(evidence.map(|evidence| &evidence.reaction_class))),
        ("library_occurrence", json!(evidence.map(|evidence| evidence.precedents))),
        ("policy_probability", json!(evidence.map(|evidence| evidence.probability))),
        ("policy_name", json!("retort")),
        ("plausibility", json!(step.edge.plausibility)),
    ]);
    let children: Vec<Value> = step.precursors.iter().map(molecule).collect();
    json!({
        "type": "reaction", "hide": false, "smiles": format!("{product}>>{}", step.reactants()), "is_reaction": true,
        "metadata": metadata, "children": children,
    })
}
