//! Search results in the formats of other programs.
//!
//! The service writes them for its clients, the command line for the results that it has.

mod aizynth;
mod retrocast;

use serde_json::{Map, Value};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ArrayBuilder, Object, ObjectBuilder, RefOr, Schema},
};

pub use aizynth::aizynth_tree;
pub use retrocast::{NoInchiKey, retrocast_candidates};

use crate::TreeSearchResult;

/// Format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Trees for AiZynthFinder.
    Aizynth,
    /// Predictions for RetroCast, which names molecules by their InChIKeys.
    Retrocast,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Aizynth, Self::Retrocast];

    /// Returns the name, as in `?format=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aizynth => "aizynth",
            Self::Retrocast => "retrocast",
        }
    }

    /// Returns the media type of a body.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Aizynth => "application/vnd.retort.aizynth+json",
            Self::Retrocast => "application/vnd.retort.retrocast+json",
        }
    }
}

/// Writes the routes of `result` in `format`. `inchi_key` returns the InChIKey of a SMILES, which only RetroCast's
/// format needs.
///
/// # Errors
/// Fails if that format needs an InChIKey that a molecule does not have.
pub fn export(
    format: ExportFormat,
    result: &TreeSearchResult,
    inchi_key: impl Fn(&str) -> Option<String>,
) -> Result<Value, NoInchiKey> {
    match format {
        ExportFormat::Aizynth => Ok(result.route_trees().iter().map(aizynth_tree).collect()),
        ExportFormat::Retrocast => {
            let candidates = retrocast_candidates(result, &inchi_key)?;
            Ok(Value::Object(Map::from_iter([(result.search_smiles.clone(), candidates)])))
        }
    }
}

/// Collects facts by name, without unknown ones.
fn known<const N: usize>(facts: [(&str, Value); N]) -> Value {
    let known = facts.into_iter().filter(|(_, fact)| !fact.is_null());
    Value::Object(known.map(|(name, fact)| (name.to_owned(), fact)).collect())
}

/// Schema of a body in AiZynthFinder's format.
#[derive(Debug)]
pub struct AizynthTrees;

impl PartialSchema for AizynthTrees {
    fn schema() -> RefOr<Schema> {
        let trees = ArrayBuilder::new().items(Object::new());
        let description = "Routes, best first, as trees in which molecules and reactions alternate (AiZynthFinder's `ReactionTree.to_dict`).";
        RefOr::T(trees.description(Some(description)).build().into())
    }
}

impl ToSchema for AizynthTrees {}

/// Schema of a body in RetroCast's format.
#[derive(Debug)]
pub struct RetrocastPredictions;

impl PartialSchema for RetrocastPredictions {
    fn schema() -> RefOr<Schema> {
        let ranked = ArrayBuilder::new().items(Object::new());
        let predictions =
            ObjectBuilder::new().additional_properties(Some(Schema::from(ranked.build()))).description(Some(
                "Ranked routes by target, as RetroCast's schema 2 has them: molecules by SMILES and InChIKey.",
            ));
        RefOr::T(predictions.build().into())
    }
}

impl ToSchema for RetrocastPredictions {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Answer of a search for prazosin, with one route of two steps.
    const PRAZOSIN: &str = include_str!("../../clients/python/tests/data/prazosin.json");
    const TARGET: &str = "COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC";

    fn prazosin() -> TreeSearchResult {
        serde_json::from_str(PRAZOSIN).unwrap()
    }

    fn expected(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    /// The expected trees are those that AiZynthFinder reads; the Python client's tests hold that.
    #[test]
    fn aizynthfinders_trees_alternate_molecules_and_reactions() {
        let trees = export(ExportFormat::Aizynth, &prazosin(), |_| None);

        assert_eq!(trees.unwrap(), expected(include_str!("../tests/data/prazosin.aizynth.json")));
    }

    /// The expected route is one that RetroCast reads; the Python client's tests hold that.
    #[test]
    fn retrocasts_routes_have_inchikeys_and_prices() {
        let recorded = expected(include_str!("../tests/data/prazosin.retrocast.json"));
        let mut keys = Map::new();
        collect_keys(&recorded, &mut keys);

        let predictions = export(ExportFormat::Retrocast, &prazosin(), |smiles| {
            keys.get(smiles).and_then(Value::as_str).map(str::to_owned)
        });

        assert_eq!(predictions.unwrap(), json!({ TARGET: [{ "rank": 1, "route": recorded[0] }] }));
    }

    #[test]
    fn a_molecule_without_an_inchikey_is_named() {
        let refused = export(ExportFormat::Retrocast, &prazosin(), |_| None).unwrap_err();

        assert_eq!(refused.to_string(), format!("{TARGET} has no InChIKey, which RetroCast's format needs"));
    }

    #[test]
    fn a_route_whose_leaf_is_not_sold_is_not_solved() {
        let mut result = prazosin();
        let graph = &mut result.route_hierarchy.get_mut("2").unwrap().values_mut().next().unwrap()[0][0];
        graph.nodes.last_mut().unwrap().data.is_building_block = false;

        let trees = export(ExportFormat::Aizynth, &result, |_| None).unwrap();

        assert_eq!(trees[0]["metadata"]["is_solved"], json!(false));
    }

    #[test]
    fn a_result_without_a_route_is_exported_too() {
        let result = TreeSearchResult { route_hierarchy: Default::default(), ..prazosin() };

        let exported = ExportFormat::ALL.map(|format| export(format, &result, |_| None).unwrap());

        assert_eq!(exported, [json!([]), json!({ TARGET: [] })]);
    }

    /// Collects the InChIKeys of a route of RetroCast's by SMILES.
    fn collect_keys(value: &Value, keys: &mut Map<String, Value>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
            Value::Object(members) => {
                if let (Some(Value::String(smiles)), Some(key)) =
                    (members.get("smiles"), members.get("inchikey"))
                {
                    keys.insert(smiles.clone(), key.clone());
                }
                members.values().for_each(|member| collect_keys(member, keys));
            }
            _ => {}
        }
    }
}
