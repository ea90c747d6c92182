//! Bodies of bulk queries, which answer a question about up to a thousand molecules at once. Extensions of the
//! contract.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{PricingAnnotation, RouteGraph, sample::ListObject, search_request::Country};

/// Maximum number of molecules of one bulk query.
pub const MAX_BULK_QUERY: usize = 1000;
/// Maximum number of precursor sets of a molecule.
pub const MAX_PRECURSOR_SETS: u32 = 200;
/// Maximum number of offers listed for a molecule.
pub const MAX_LISTED_OFFERS: u32 = 100;
/// Minimum and maximum seconds of each molecule's search.
pub const SYNTHESIZABILITY_SECONDS: (f64, f64) = (0.01, 1.0);

/// Maximum number of blocks of a catalogue search.
pub const MAX_CATALOGUE_MATCHES: u32 = 100;
/// Default minimum similarity.
pub const DEFAULT_MIN_SIMILARITY: f64 = 0.3;
/// Maximum length of a catalogue search text, in characters.
pub const MAX_CATALOGUE_TEXT: usize = 1000;
/// Minimum length of a catalogue number prefix, in characters.
pub const LEAST_NUMBER: usize = 2;

/// Error of a molecule that was not processed before the deadline.
pub const NOT_REACHED: &str = "not reached before the deadline of the call";

/// Body of `POST /synth/v1/expansions`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpansionsRequest {
    /// SMILES of the molecules, each as for the target of a tree search. An invalid one gets an error entry at its
    /// position.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// Maximum number of precursor sets of each molecule.
    #[schema(required = false, default = 50, minimum = 1, maximum = 200)]
    pub limit: u32,
    /// Checks that the steps have to pass.
    #[schema(required = false, default = "rules")]
    pub check: StepCheck,
    /// Engine that proposes the steps, one of those that live searchers serve; by default any.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$")]
    pub engine: Option<String>,
}

/// Checks of proposed steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepCheck {
    /// The selectivity rules: a chemist would accept the step.
    Rules,
    /// The rules, and a forward run of the template: it must give the molecule and no other product that would be
    /// expected as well. Steps of routes are checked in this way. It takes several times as long.
    Forwards,
}

impl StepCheck {
    /// Every check.
    pub const ALL: [Self; 2] = [Self::Rules, Self::Forwards];

    /// Returns the name of the check.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Forwards => "forwards",
        }
    }
}

/// Body of `POST /synth/v1/building-blocks`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildingBlocksRequest {
    /// SMILES of the molecules, each as for the target of a tree search. An invalid one gets an error entry at its
    /// position.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// ISO country code of the delivery region, as for a tree search; null: anywhere.
    #[schema(default = "US")]
    pub ships_to: Option<Country>,
    /// Maximum number of offers listed for each molecule, the cheapest first.
    #[schema(required = false, default = 10, minimum = 0, maximum = 100)]
    pub max_offers: u32,
    /// True to return the InChIKey of each molecule, which takes most of the time of a call.
    #[schema(required = false, default = false)]
    pub inchikey: bool,
}

/// Body of `POST /synth/v1/building-blocks/search`: exactly one of `smiles`, `similar_to`, `substructure` and `text`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CatalogueRequest {
    /// SMILES of a molecule: finds the block that is the same compound, if there is one.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 1000)]
    pub smiles: Option<String>,
    /// SMILES of a molecule: finds similar blocks, the most similar first (Tanimoto, Morgan fingerprints of radius
    /// 2).
    #[schema(value_type = String, required = false, min_length = 1, max_length = 1000)]
    pub similar_to: Option<String>,
    /// SMARTS or SMILES of a substructure: finds blocks that contain it, the lightest first.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 1000)]
    pub substructure: Option<String>,
    /// A vendor's catalogue number or a prefix of it, case-insensitive: finds blocks that are offered under it, exact
    /// matches first.
    #[schema(value_type = String, required = false, min_length = 2, max_length = 1000, pattern = r"^[^\x00]*$")]
    pub text: Option<String>,
    /// Minimum similarity of the blocks, for `similar_to`.
    #[schema(required = false, default = 0.3, minimum = 0.0, maximum = 1.0)]
    pub min_similarity: f64,
    /// Maximum number of blocks.
    #[schema(required = false, default = 25, minimum = 1, maximum = 100)]
    pub limit: u32,
    /// ISO country code of the delivery region, as for a tree search; null: anywhere.
    #[schema(default = "US")]
    pub ships_to: Option<Country>,
    /// Maximum number of offers listed for each block, the cheapest first.
    #[schema(required = false, default = 10, minimum = 0, maximum = 100)]
    pub max_offers: u32,
}

/// Body of `POST /synth/v1/analogues`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnaloguesRequest {
    /// A route, as returned by a tree search or edited since. Its steps name their templates (`template`).
    pub route: RouteGraph,
    /// SMILES of a molecule of the route that no step makes.
    #[schema(min_length = 1, max_length = 1000)]
    pub building_block: String,
    /// SMILES of the replacements, tried one at a time. An invalid one gets an error entry at its position.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// Engine that applies the steps, one of those that live searchers serve; by default any.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$")]
    pub engine: Option<String>,
}

/// Body of `POST /synth/v1/synthesizability`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SynthesizabilityRequest {
    /// SMILES of the molecules, each as for the target of a tree search. An invalid one gets an error entry at its
    /// position.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// Seconds that each molecule's search may take on one core.
    #[schema(required = false, default = 0.05, minimum = 0.01, maximum = 1.0)]
    pub max_seconds: f64,
    /// Engine that searches, one of those that live searchers serve; by default any.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$")]
    pub engine: Option<String>,
}

/// Results of a bulk query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Looked)]
pub struct BulkQueryResult<T> {
    /// Resource type: `list`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: ListObject,
    /// One item for each molecule, in the order of the request.
    pub items: Vec<T>,
    /// Seconds since the worker started the query, without those for which tree searches preempted it.
    pub total_elapsed: f64,
    /// Seconds after the worker's start at which the query stops. Molecules that were not reached by then say so in
    /// `error` and can be sent again.
    pub deadline_seconds: f64,
}

/// A molecule with its one-step disconnections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExpandedMolecule {
    /// Canonical SMILES, or the given text if it is invalid.
    pub smiles: String,
    /// Error, if there is no result: the fault in the SMILES and its position, or that the deadline came first.
    pub error: Option<String>,
    /// Precursor sets, ties by canonical SMILES. Of the fifty most probable the first are those that chemists have probably
    /// used, by the number of recorded reactions of the template and of the precursors as well; the others follow, the
    /// most probable first.
    pub precursors: Vec<PrecursorSet>,
}

/// Molecules that may give another in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PrecursorSet {
    /// Canonical SMILES, sorted; a molecule that is needed twice is listed twice.
    #[schema(min_items = 1)]
    pub smiles: Vec<String>,
    /// Probability, from 0 to 1, that the network assigns to the templates that propose the step, among all that
    /// match the molecule.
    #[schema(minimum = 0, maximum = 1)]
    pub probability: f64,
    /// Estimated probability, from 0 to 1, that a chemist would run the step as written, regardless of other products. The
    /// plausibility in a tree search also considers those.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: f64,
    /// Hash of the template that proposes the step, as `template` of an edge of a tree search.
    pub template_id: String,
    /// Common name of the reaction, such as `amide coupling` or `Boc removal`.
    pub reaction_class: String,
    /// Category of the reaction, one of the ten of `NameRxn` or `other`. Absent in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction_category: Option<String>,
    /// Number of recorded reactions of the template; 0 for a template that was written by hand and has no record.
    pub precedents: u32,
    /// Means by which the step gives the configuration of its product, as `needs` of an edge of a tree search. Absent
    /// where it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// For each precursor: true if a tree search of the account with only the default masks can buy it.
    #[schema(min_items = 1)]
    pub in_stock: Vec<bool>,
}

/// Result of a route with another molecule in place of one of its building blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Analogue {
    /// Canonical SMILES of the replacement, or the given text if it is invalid.
    pub smiles: String,
    /// Error, if there is no result: the fault in the SMILES and its position, the step that does not accept it and
    /// the reason, or that the deadline came first.
    pub error: Option<String>,
    /// True if a tree search of the account with only the default masks can buy the molecule.
    pub in_stock: bool,
    /// Canonical SMILES of the route's product with the replacement.
    pub target: Option<String>,
    /// Probability, from 0 to 1, that every step of the route gives its product: the product of the steps'
    /// plausibilities. Null where a step has none.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
    /// The route with the replacement. Steps that it changes pass all checks for steps of routes; the others are as
    /// given. There is no comparison with other routes, and `probability` of a changed step is that of its own
    /// template alone.
    #[schema(nullable)]
    pub route: Option<RouteGraph>,
}

/// Availability and offers of a molecule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = SoldMolecule)]
pub struct MoleculeAvailability {
    /// Canonical SMILES, or the given text if it is invalid.
    pub smiles: String,
    /// Error, if there is no result: the fault in the SMILES and its position, or that the deadline came first.
    pub error: Option<String>,
    /// True if a vendor that the account may buy from sells the molecule, or a tautomer or charged form of it, and
    /// ships it to the region.
    pub in_stock: bool,
    /// Catalogue's integer for the molecule, equal to `major_component_id` of its offers.
    pub building_block_idx: Option<i32>,
    /// USD per gram of the cheapest offer; null where no price is known, 0 for common laboratory chemicals without a
    /// price.
    pub price: Option<f64>,
    /// Days of the fastest delivery to the region; null where none is known.
    pub lead_time_days: Option<f64>,
    /// Standard InChIKey; null where it was not requested or cannot be computed. Absent in answers of earlier
    /// versions.
    #[serde(default)]
    pub inchikey: Option<String>,
    /// Names of the vendors that sell it.
    pub vendors: Vec<String>,
    /// The offers, as in the answer of a tree search, the cheapest first, at most `max_offers`.
    pub offers: Vec<PricingAnnotation>,
}

/// Results of a catalogue search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = FoundBlocks)]
pub struct CatalogueSearchResult {
    /// Resource type: `list`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: ListObject,
    /// The best `limit` of the blocks found, all of them in stock.
    #[schema(max_items = 100)]
    pub items: Vec<CatalogueMatch>,
    /// True if there are more blocks, or may be. If fewer than `limit` are listed as well, the search ran out of
    /// time.
    pub more: bool,
    /// Fraction of the catalogue searched before there were enough blocks or the time was over, from 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub searched: f64,
    /// Seconds since the worker started the search, without those for which tree searches preempted it.
    pub total_elapsed: f64,
}

/// A building block that was found: the data of a query for that block, and its similarity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = FoundBlock)]
pub struct CatalogueMatch {
    /// The block.
    #[serde(flatten)]
    pub sold: MoleculeAvailability,
    /// Molecular weight, daltons.
    pub mw: f64,
    /// Tanimoto similarity, in a search by similarity.
    #[schema(minimum = 0, maximum = 1)]
    pub similarity: Option<f64>,
}

/// Result of a short search for a way to make or buy a molecule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Synthesizability {
    /// Canonical SMILES, or the given text if it is invalid.
    pub smiles: String,
    /// Error, if there is no result: the fault in the SMILES and its position, or that the deadline came first.
    pub error: Option<String>,
    /// True if a validated route was found.
    pub solved: bool,
    /// Reaction steps of the longest branch of the first route; 0 where the molecule itself can be bought.
    pub steps: Option<u32>,
    /// USD of that route's building blocks for a mole of the molecule, at full yield in every step; null where one
    /// has no known price.
    pub price: Option<f64>,
    /// Probability, from 0 to 1, that every step of that route gives its product rather than something else: the
    /// product of the steps' probabilities, taken as independent.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
    /// Seconds of its search.
    #[schema(minimum = 0)]
    pub seconds: f64,
}
