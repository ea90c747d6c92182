//! Bodies of the looks: what is told of up to a thousand molecules at once. Extensions of the contract.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{PricingAnnotation, RouteGraph, sample::ListObject, search_request::Country};

/// The most molecules of one look.
pub const MAX_LOOK: usize = 1000;
/// The most sets of precursors of a molecule.
pub const MAX_PRECURSOR_SETS: u32 = 200;
/// The most offers that are listed of a molecule.
pub const MAX_LISTED_OFFERS: u32 = 100;
/// The least and the most seconds of each molecule's search.
pub const SYNTHESIZABILITY_SECONDS: (f64, f64) = (0.01, 1.0);

/// The most blocks of a search of the catalogue.
pub const MAX_FOUND: u32 = 100;
/// How similar blocks are at least where the request does not say.
pub const DEFAULT_MIN_SIMILARITY: f64 = 0.3;
/// The longest text that the catalogue is searched by, in characters.
pub const MAX_SOUGHT: usize = 1000;
/// The least characters of a catalogue number that one is found by.
pub const LEAST_NUMBER: usize = 2;

/// Why there is nothing of a molecule whose turn did not come before the deadline.
pub const NOT_REACHED: &str = "not reached before the deadline of the call";

/// Body of `POST /synth/v1/expansions`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpansionsRequest {
    /// SMILES of the molecules, each as for the target of a tree search. One that cannot be read is answered in its place.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// The most sets of precursors of each.
    #[schema(required = false, default = 50, minimum = 1, maximum = 200)]
    pub limit: u32,
    /// What the steps are held against.
    #[schema(required = false, default = "rules")]
    pub check: StepCheck,
    /// The engine that proposes them, one of those that live searchers serve; by default any.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$")]
    pub engine: Option<String>,
}

/// What steps are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepCheck {
    /// The rules of what a chemist would sign.
    Rules,
    /// These, and the template run forwards: it gives the molecule, and no other that would be expected as well. So the steps of routes
    /// are checked; it takes several times as long.
    Forwards,
}

impl StepCheck {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Rules, Self::Forwards];

    /// Its name.
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
    /// SMILES of the molecules, each as for the target of a tree search. One that cannot be read is answered in its place.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// ISO country code of the delivery region, as for a tree search; null: anywhere.
    #[schema(default = "US")]
    pub ships_to: Option<Country>,
    /// The most offers that are listed of each, the cheapest first.
    #[schema(required = false, default = 10, minimum = 0, maximum = 100)]
    pub max_offers: u32,
    /// Whether the InChIKey of each is told, which takes most of the time of a call.
    #[schema(required = false, default = false)]
    pub inchikey: bool,
}

/// Body of `POST /synth/v1/building-blocks/search`: one of `smiles`, `similar_to`, `substructure` and `text`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CatalogueRequest {
    /// SMILES of a molecule: the block that it is bought as, or none.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 1000)]
    pub smiles: Option<String>,
    /// SMILES of a molecule: blocks that are like it, the most similar first (Tanimoto, Morgan fingerprints of radius 2).
    #[schema(value_type = String, required = false, min_length = 1, max_length = 1000)]
    pub similar_to: Option<String>,
    /// SMARTS, or SMILES of a part of molecules: blocks in which it occurs, the lightest first.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 1000)]
    pub substructure: Option<String>,
    /// A vendor's number of its entry, or how it begins, in capitals or not: blocks that are offered by it, that of just this number first.
    #[schema(value_type = String, required = false, min_length = 2, max_length = 1000, pattern = r"^[^\x00]*$")]
    pub text: Option<String>,
    /// How similar blocks are at least, where they are asked for that are like a molecule.
    #[schema(required = false, default = 0.3, minimum = 0.0, maximum = 1.0)]
    pub min_similarity: f64,
    /// The most blocks.
    #[schema(required = false, default = 25, minimum = 1, maximum = 100)]
    pub limit: u32,
    /// ISO country code of the delivery region, as for a tree search; null: anywhere.
    #[schema(default = "US")]
    pub ships_to: Option<Country>,
    /// The most offers that are listed of each, the cheapest first.
    #[schema(required = false, default = 10, minimum = 0, maximum = 100)]
    pub max_offers: u32,
}

/// Body of `POST /synth/v1/analogues`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnaloguesRequest {
    /// A route, as a tree search answers it or as it was worked on since: its steps say their templates (`template`).
    pub route: RouteGraph,
    /// SMILES of one of its molecules that no step makes.
    #[schema(min_length = 1, max_length = 1000)]
    pub building_block: String,
    /// SMILES of what takes its place, one at a time. One that cannot be read is answered in its place.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// The engine that runs the steps, one of those that live searchers serve; by default any.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$")]
    pub engine: Option<String>,
}

/// Body of `POST /synth/v1/synthesizability`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SynthesizabilityRequest {
    /// SMILES of the molecules, each as for the target of a tree search. One that cannot be read is answered in its place.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// Seconds that each molecule's search may take on one core.
    #[schema(required = false, default = 0.05, minimum = 0.01, maximum = 1.0)]
    pub max_seconds: f64,
    /// The engine that searches, one of those that live searchers serve; by default any.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$")]
    pub engine: Option<String>,
}

/// What was found of many molecules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Looked<T> {
    /// Resource type: `list`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: ListObject,
    /// One for each molecule, in the order in which they were asked for.
    pub items: Vec<T>,
    /// Seconds that it took from the worker's start on it, without those for which it stood aside for tree searches.
    pub total_elapsed: f64,
    /// Seconds after the worker's start at which it ends, whatever is left: molecules that were not reached by then say so in `error`
    /// and can be asked for again.
    pub deadline_seconds: f64,
}

/// What a molecule may be made of in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExpandedMolecule {
    /// Canonical SMILES, or the text as given where it cannot be read.
    pub smiles: String,
    /// Why there is nothing, if that is so: what is wrong with the SMILES and where, or that it was not reached.
    pub error: Option<String>,
    /// What it may be made of, the most probable first, ties by canonical SMILES.
    pub precursors: Vec<PrecursorSet>,
}

/// Molecules that may make another in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PrecursorSet {
    /// Canonical SMILES, in their order; what is needed twice is there twice.
    #[schema(min_items = 1)]
    pub smiles: Vec<String>,
    /// Probability, from 0 to 1, that the network gives the templates that propose the step, of all that match the molecule.
    #[schema(minimum = 0, maximum = 1)]
    pub probability: f64,
    /// Probability, from 0 to 1, that these precursors give the molecule, whatever else they might give; what a tree search tells
    /// of its steps is beside that, and never more.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: f64,
    /// Hash of the template that proposes it, as `template` of an edge of a tree search.
    pub template_id: String,
    /// What chemists call the reaction, as `amide coupling` or `Boc removal`.
    pub reaction_class: String,
    /// The kind of reaction it is, one of the ten of `NameRxn` or `other`. Absent in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction_category: Option<String>,
    /// Recorded reactions of the template; 0 for one that was written by hand and that nobody recorded.
    pub precedents: u32,
    /// Whether each of the precursors can be bought by a tree search of the account with no masks but the default ones.
    #[schema(min_items = 1)]
    pub in_stock: Vec<bool>,
}

/// What a route gives with another molecule in the place of one of its building blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Analogue {
    /// Canonical SMILES of what takes the block's place, or the text as given where it cannot be read.
    pub smiles: String,
    /// Why there is nothing, if that is so: what is wrong with the SMILES and where, which step does not take it and why, or that it was
    /// not reached.
    pub error: Option<String>,
    /// Whether it can be bought by a tree search of the account with no masks but the default ones.
    pub in_stock: bool,
    /// Canonical SMILES of what the route makes of it.
    pub target: Option<String>,
    /// Probability, from 0 to 1, that every step of the route gives its product: the product of what its steps say. Null where one
    /// says nothing.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
    /// The route with it: the steps that it changes stand all that steps of routes must, the others are as they were given. How it stands
    /// beside other routes is not said, and `probability` of a changed step is that of its own template alone.
    #[schema(nullable)]
    pub route: Option<RouteGraph>,
}

/// Whether and where a molecule is sold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SoldMolecule {
    /// Canonical SMILES, or the text as given where it cannot be read.
    pub smiles: String,
    /// Why there is nothing, if that is so: what is wrong with the SMILES and where, or that it was not reached.
    pub error: Option<String>,
    /// Whether somebody whom the account may buy from has it, or a tautomer or charged form of it, and ships it to the region.
    pub in_stock: bool,
    /// The catalogue's integer for it, equal to `major_component_id` of its offers.
    pub building_block_idx: Option<i32>,
    /// USD per gram of the cheapest offer; null where none has a known price, 0 for what every laboratory has and nobody prices.
    pub price: Option<f64>,
    /// Days of the quickest offer to the region; null where none is known.
    pub lead_time_days: Option<f64>,
    /// Standard InChIKey; null where it was not asked for or cannot be told. Absent in answers of earlier versions.
    #[serde(default)]
    pub inchikey: Option<String>,
    /// Who has it, by name.
    pub vendors: Vec<String>,
    /// The offers, as in the answer of a tree search, the cheapest first, at most `max_offers`.
    pub offers: Vec<PricingAnnotation>,
}

/// What a search of the catalogue found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundBlocks {
    /// Resource type: `list`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: ListObject,
    /// The best `limit` of the blocks that were found, each of which is in stock.
    #[schema(max_items = 100)]
    pub items: Vec<FoundBlock>,
    /// Whether there are more than these, or may be: fewer than `limit` with more to come were all that were found in time.
    pub more: bool,
    /// The part of the catalogue that was looked at before there were enough or the time was over, from 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub searched: f64,
    /// Seconds that it took from the worker's start on it, without those for which it stood aside for tree searches.
    pub total_elapsed: f64,
}

/// A building block that was found: what is told of it where it is asked for itself, and how similar it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundBlock {
    /// The block.
    #[serde(flatten)]
    pub sold: SoldMolecule,
    /// Daltons.
    pub mw: f64,
    /// Tanimoto similarity, where that was asked for.
    #[schema(minimum = 0, maximum = 1)]
    pub similarity: Option<f64>,
}

/// Whether a short search finds a way to make or buy a molecule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Synthesizability {
    /// Canonical SMILES, or the text as given where it cannot be read.
    pub smiles: String,
    /// Why there is nothing, if that is so: what is wrong with the SMILES and where, or that it was not reached.
    pub error: Option<String>,
    /// Whether a validated route was found.
    pub solved: bool,
    /// Reaction steps of the longest branch of the first route; 0 where the molecule itself can be bought.
    pub steps: Option<u32>,
    /// USD of that route's building blocks for a mole of the molecule, every step in full yield; null where one has no known price.
    pub price: Option<f64>,
    /// Probability, from 0 to 1, that every step of that route gives its product rather than something else, each taken by itself:
    /// their product.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
    /// Seconds that its search took.
    #[schema(minimum = 0)]
    pub seconds: f64,
}
