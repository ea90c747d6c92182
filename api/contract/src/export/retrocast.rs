//! Routes in RetroCast's schema 2: molecules by SMILES and InChIKey, each with the reaction that produces it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::known;
use crate::{PricingAnnotation, RouteTree, TreeMolecule, TreeSearchResult, TreeStep};

/// A molecule of a route has no InChIKey, which names molecules in RetroCast's format.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{smiles} has no InChIKey, which RetroCast's format needs")]
pub struct NoInchiKey {
    /// SMILES of the molecule.
    pub smiles: String,
}

/// InChIKeys, and the cheapest known price of each building block in USD per gram.
struct Known<'a> {
    inchi_key: &'a dyn Fn(&str) -> Option<String>,
    prices: BTreeMap<i32, f64>,
}

/// Returns the routes of a target in RetroCast's ranking of candidates, best first.
///
/// # Errors
/// Fails if a molecule has no InChIKey.
pub fn retrocast_candidates(
    result: &TreeSearchResult,
    inchi_key: &dyn Fn(&str) -> Option<String>,
) -> Result<Value, NoInchiKey> {
    let known = Known { inchi_key, prices: prices(&result.pricing_annotations) };
    let ranked = (1..).zip(result.route_trees());
    let candidates = ranked.map(|(rank, tree)| Ok(json!({ "rank": rank, "route": route(&tree, &known)? })));
    candidates.collect()
}

fn prices(offers: &[PricingAnnotation]) -> BTreeMap<i32, f64> {
    let mut prices: BTreeMap<i32, f64> = BTreeMap::new();
    for offer in offers {
        let Some(usd) = offer.normalised_usd else { continue };
        prices.entry(offer.major_component_id).and_modify(|least| *least = least.min(usd)).or_insert(usd);
    }
    prices
}

fn route(route: &RouteTree<'_>, of: &Known<'_>) -> Result<Value, NoInchiKey> {
    let standing = route.standing;
    let annotations = known([
        ("rank", json!(standing.map(|standing| standing.rank))),
        ("score", json!(standing.map(|standing| standing.score))),
        ("backbone", json!(Some(route.backbone).filter(|backbone| !backbone.is_empty()))),
        ("cost_usd_per_mol", json!(standing.and_then(|standing| standing.cost_usd_per_mol))),
        ("lead_time_days", json!(standing.and_then(|standing| standing.lead_time_days))),
    ]);
    let target = molecule(&route.target, of)?;
    Ok(json!({ "target": target, "annotations": annotations, "schema_version": "2" }))
}

fn molecule(TreeMolecule { data, made_by }: &TreeMolecule<'_>, of: &Known<'_>) -> Result<Value, NoInchiKey> {
    let smiles = &data.smiles;
    let key = (of.inchi_key)(smiles).ok_or_else(|| NoInchiKey { smiles: smiles.clone() })?;
    let usd = data.building_block_idx.filter(|_| made_by.is_none()).and_then(|block| of.prices.get(&block));
    let made_by = made_by.as_ref().map(|step| reaction(step, of)).transpose()?;
    Ok(known([
        ("smiles", json!(smiles)),
        ("inchikey", json!(key)),
        ("annotations", known([("usd_per_gram", json!(usd))])),
        ("product_of", json!(made_by)),
    ]))
}

fn reaction(step: &TreeStep<'_>, of: &Known<'_>) -> Result<Value, NoInchiKey> {
    let evidence = step.edge.evidence.as_ref();
    let annotations = known([
        ("template_hash", json!(evidence.map(|evidence| &evidence.template))),
        ("reaction_class", json!(evidence.map(|evidence| &evidence.reaction_class))),
        ("probability", json!(evidence.map(|evidence| evidence.probability))),
        ("plausibility", json!(step.edge.plausibility)),
        ("precedents", json!(evidence.map(|evidence| evidence.precedents))),
    ]);
    let reactants: Result<Vec<Value>, NoInchiKey> =
        step.precursors.iter().map(|precursor| molecule(precursor, of)).collect();
    Ok(json!({ "reactants": reactants?, "annotations": annotations }))
}
