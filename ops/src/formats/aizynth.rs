//! Table of `aizynthcli`, in which several targets are written with their trees.

use contract::{RouteTree, aizynth_tree};
use serde_json::{Value, json};

use crate::planned::PlannedTarget;

/// Version of pandas' table schema in the output.
const PANDAS_VERSION: &str = "1.4.0";

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
        let routes = one.route_trees();
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

fn scored(route: &RouteTree<'_>) -> Value {
    let mut tree = aizynth_tree(route);
    tree["scores"]["stock availability"] = json!(1.0);
    tree["scores"]["reaction class membership"] = json!(1.0);
    tree["scores"]["number of reactions"] = json!(route.steps().len());
    tree
}
