//! CSV output with one line per target, for spreadsheets: whether there is a route, and the figures of the best one.

use anyhow::{Context as _, anyhow};
use contract::RouteTree;

use crate::{failure::Failure, planned::PlannedTarget};

const COLUMNS: [&str; 11] = [
    "name",
    "smiles",
    "solved",
    "routes",
    "steps",
    "plausibility",
    "order_usd",
    "usd_per_mol",
    "lead_time_days",
    "reactions",
    "error",
];

/// Returns the header line.
///
/// # Errors
/// Never, except for a bug of ours.
pub(super) fn header() -> Result<String, Failure> {
    written(COLUMNS.map(ToOwned::to_owned))
}

/// Returns the line of a target; the first one follows the header.
pub(super) fn line(planned: &PlannedTarget, is_first: bool) -> Result<String, Failure> {
    let routes = planned.route_trees();
    let of_best =
        |fact: &dyn Fn(&RouteTree<'_>) -> Option<String>| routes.first().and_then(fact).unwrap_or_default();
    let line = written([
        escape_formula(planned.name.as_deref().unwrap_or_default()),
        planned.smiles().to_owned(),
        (!routes.is_empty()).to_string(),
        routes.len().to_string(),
        of_best(&|best| Some(best.steps().len().to_string())),
        of_best(&|best| Some(format!("{:.4}", plausibility(best)))),
        of_best(&|best| best.standing?.shopping_list.as_ref()?.total_usd.map(|usd| format!("{usd:.2}"))),
        of_best(&|best| best.standing?.cost_usd_per_mol.map(|usd| format!("{usd:.2}"))),
        of_best(&|best| best.standing?.lead_time_days.map(|days| days.to_string())),
        of_best(&|best| Some(reactions(best))),
        escape_formula(planned.outcome.as_ref().err().map(String::as_str).unwrap_or_default()),
    ])?;
    Ok(if is_first { header()? + &line } else { line })
}

/// Returns the probability that every step gives its product.
fn plausibility(route: &RouteTree<'_>) -> f64 {
    route.steps().iter().map(|(step, _)| step.edge.plausibility.unwrap_or(1.0)).product()
}

/// Returns the steps as reaction SMILES, in synthesis order, separated by spaces.
fn reactions(route: &RouteTree<'_>) -> String {
    let steps = route.steps();
    let written =
        steps.iter().map(|(step, product)| format!("{}>>{}", step.reactants(), product.data.smiles));
    written.collect::<Vec<_>>().join(" ")
}

/// Escapes text that a spreadsheet would read as a formula. SMILES begin with none of these characters.
fn escape_formula(written: &str) -> String {
    let is_formula = written.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula { format!("'{written}") } else { written.to_owned() }
}

fn written(fields: [String; 11]) -> Result<String, Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(fields).context("writing a line of the table")?;
    let bytes = table.into_inner().map_err(|error| anyhow!("writing a line of the table: {error}"))?;
    Ok(String::from_utf8(bytes).context("writing a line of the table")?)
}
