//! Routes in RetroCast's schema 2: molecules by SMILES and InChIKey, each with the reaction that produces it.

use std::collections::BTreeMap;

use anyhow::anyhow;
use contract::PricingAnnotation;
use serde_json::{Value, json};

use super::known;
use crate::{
    failure::Failure,
    planned::PlannedTarget,
    routes::{Molecule, Route, Step, routes},
};

/// Cheapest known price by building block, in USD per gram.
type Prices = BTreeMap<i32, f64>;

/// Returns the routes of a target in RetroCast's ranking of candidates, best first.
///
/// # Errors
/// Fails if a molecule has no InChIKey.
pub(super) fn candidates(planned: &PlannedTarget) -> Result<Value, Failure> {
    let Some(answer) = planned.answer() else { return Ok(json!([])) };
    let prices = prices(&answer.pricing_annotations);
    let ranked = (1..).zip(routes(answer));
    let candidates: Result<Vec<Value>, Failure> =
        ranked.map(|(rank, one)| Ok(json!({ "rank": rank, "route": route(&one, &prices)? }))).collect();
    Ok(Value::Array(candidates?))
}

fn prices(offers: &[PricingAnnotation]) -> Prices {
    let mut prices = Prices::new();
    for offer in offers {
        let Some(usd) = offer.normalised_usd else { continue };
        prices.entry(offer.major_component_id).and_modify(|least| *least = least.min(usd)).or_insert(usd);
    }
    prices
}

fn route(route: &Route<'_>, prices: &Prices) -> Result<Value, Failure> {
    let standing = route.standing;
    let annotations = known([
        ("rank", json!(standing.map(|standing| standing.rank))),
        ("score", json!(standing.map(|standing| standing.score))),
        ("backbone", json!(route.backbone)),
        ("cost_usd_per_mol", json!(standing.and_then(|standing| standing.cost_usd_per_mol))),
        ("lead_time_days", json!(standing.and_then(|standing| standing.lead_time_days))),
    ]);
    let target = molecule(&route.target, prices)?;
    Ok(json!({ "target": target, "annotations": annotations, "schema_version": "2" }))
}

fn molecule(Molecule { data, made_by }: &Molecule<'_>, prices: &Prices) -> Result<Value, Failure> {
    let smiles = &data.smiles;
    let key = ::catalogue::inchi_key(smiles)
        .ok_or_else(|| anyhow!("{smiles} has no InChIKey, which RetroCast's format needs"))?;
    let usd = data.building_block_idx.filter(|_| made_by.is_none()).and_then(|block| prices.get(&block));
    let mut tree =
        json!({ "smiles": smiles, "inchikey": key, "annotations": known([("usd_per_gram", json!(usd))]) });
    if let Some(step) = made_by {
        tree["product_of"] = reaction(step, prices)?;
    }
    Ok(tree)
}

fn reaction(step: &Step<'_>, prices: &Prices) -> Result<Value, Failure> {
    let evidence = step.edge.evidence.as_ref();
    let annotations = known([
        ("template_hash", json!(evidence.map(|evidence| &evidence.template))),
        ("reaction_class", json!(evidence.map(|evidence| &evidence.reaction_class))),
        ("probability", json!(evidence.map(|evidence| evidence.probability))),
        ("plausibility", json!(step.edge.plausibility)),
        ("precedents", json!(evidence.map(|evidence| evidence.precedents))),
    ]);
    let reactants: Result<Vec<Value>, Failure> =
        step.precursors.iter().map(|precursor| molecule(precursor, prices)).collect();
    Ok(json!({ "reactants": reactants?, "annotations": annotations }))
}
