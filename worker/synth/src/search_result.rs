//! The result of a search.

use std::sync::Arc;
use std::time::Duration;

use chem::block;
use petgraph::graph::NodeIndex;
use reactivity::{ReactionClass, StereoSource};

use crate::constraints::ConstraintEffect;
use crate::model::precedents::PrecedentSimilarity;
use crate::model::records::RecordedReactions;
use crate::route::RouteGraph;

/// Routes found for a target, in groups, with the search's counts and timings.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Canonical SMILES of the target.
    pub target: String,
    /// Groups of routes with the same number of steps and the same backbone, best first.
    pub groups: Vec<BackboneGroup>,
    /// Counters of the search.
    pub counts: Counts,
    /// Time spent by stage.
    pub timings: Timings,
    /// True if the search ended because nothing was left to try.
    pub exhausted: bool,
    /// Canonical SMILES of the molecules that the cheapest attempt could neither make nor buy; only for a search
    /// without a route.
    pub stopped_by: Vec<String>,
    /// Outcome of each constraint of the task.
    pub constraints: Vec<ConstraintEffect>,
}

impl SearchResult {
    /// The routes of all groups, group by group, best first within a group.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.groups.iter().flat_map(|group| group.variations.iter().flatten())
    }

    /// Returns true if a route was found.
    #[must_use]
    pub fn solved(&self) -> bool {
        !self.groups.is_empty()
    }
}

/// Routes with the same number of steps and the same backbone.
#[derive(Debug, Clone, PartialEq)]
pub struct BackboneGroup {
    /// Reaction steps of the longest branch; 0 if the target is bought.
    pub steps: u32,
    /// Key of `b` and 16 hexadecimal digits, the same for the same backbone in every search.
    pub key: String,
    /// The target's SMILES with an atom map: each atom is numbered by the fragment of the backbone that it ends up
    /// in.
    pub skeleton: String,
    /// One entry per distinct set of building blocks. It lists the routes that use exactly that set, best first, and
    /// is never empty.
    pub variations: Vec<Vec<Route>>,
}

/// Bytes that a molecule of a route takes in an answer beside its SMILES, and bytes of each edge with the evidence of
/// its step.
const ANSWER_BYTES: (usize, usize) = (900, 3600);

/// A validated route.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Molecules of the route: the target first, then by number of steps from it. The precursors of a step are in
    /// order of canonical SMILES.
    pub graph: RouteGraph<RouteNode>,
    /// Cost in the search, not a price: sum of the steps' costs (lower is better). A step that is needed twice counts
    /// twice.
    pub cost: f64,
    /// Ranking score (lower is better): the cost, plus penalties for lack of convergence, lack of precedents and the
    /// price of the building blocks.
    pub total: f64,
    /// USD of building blocks per mole of the target, each step in full yield, by the best offers in the task's
    /// region; `None` if one of them has no known price.
    pub usd_per_mol: Option<f64>,
    /// Days until the last building block arrives, by the quickest offers in the task's region; `None` if one of them
    /// has no known lead time.
    pub lead_time_days: Option<f64>,
}

impl Route {
    /// Approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of_step =
            |step: &RouteStep| block(step.template_hash.len()) + block(size_of_val(&*step.warnings));
        let of_node = |node: &RouteNode| block(node.smiles.len()) + node.step.as_ref().map_or(0, of_step);
        size_of::<Self>() + self.graph.bytes() + self.molecules().map(of_node).sum::<usize>()
    }

    /// Approximate memory in bytes while the answer is delivered: as the contract type, as text, and as a second copy
    /// of the text where it is sent.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        let texts: usize = self.molecules().map(|node| node.smiles.len()).sum();
        let (molecules, edges) = (self.molecules().count(), self.graph.edges().count());
        ANSWER_BYTES.0 * molecules + ANSWER_BYTES.1 * edges + 3 * texts
    }

    /// Molecules of the route, each once, the target first.
    pub fn molecules(&self) -> impl Iterator<Item = &RouteNode> {
        self.graph.molecules()
    }

    /// Steps with the nodes of their products. Each comes after the step that needs its product.
    pub fn steps(&self) -> impl Iterator<Item = (NodeIndex, &RouteStep)> {
        self.graph.places().filter_map(|place| Some((place, self.graph.molecule(place).step.as_ref()?)))
    }

    /// Returns true if the route is doubtful: a step is too little plausible for it to be run as written.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        is_doubtful(self.steps().map(|(_, step)| step.plausibility))
    }

    /// Precursors of the step to `product`, in order of canonical SMILES. A precursor needed twice is listed twice.
    pub fn precursors(&self, product: NodeIndex) -> impl Iterator<Item = &RouteNode> {
        let times = |(place, times)| std::iter::repeat_n(self.graph.molecule(place), times as usize);
        self.graph.precursors(product).flat_map(times)
    }
}

/// Molecule of a route.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteNode {
    /// Canonical SMILES.
    pub smiles: String,
    /// Average molecular weight, daltons.
    pub mw: f64,
    /// Catalogue id of the building block, if the route buys this molecule.
    pub building_block: Option<i32>,
    /// Tanimoto similarity to the nearest allowed building block; 1.0 for a building block itself, 0.0 if none is
    /// allowed.
    pub closest_building_block: f32,
    /// Fewest reaction steps from the target within the route; 0 for the target.
    pub depth: u32,
    /// True if the search expanded the molecule.
    pub expanded: bool,
    /// Step that makes the molecule; `None` if it is bought.
    pub step: Option<RouteStep>,
}

impl RouteNode {
    /// Molecules that its step makes for each that the route keeps: 2 if a racemate is resolved, else 1.
    #[must_use]
    pub fn molecules_per_product(&self) -> u32 {
        let source = self.step.as_ref().and_then(|step| step.stereo_source);
        source.map_or(1, StereoSource::molecules_per_product)
    }
}

/// Reaction that makes a molecule of a route.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteStep {
    /// Row, in the model's files, of the most probable template that proposes the step.
    pub template: u32,
    /// The template's hash in `templates.csv.gz`.
    pub template_hash: String,
    /// Rank among the templates that match the product, from 1 (most probable).
    pub rank: Option<u32>,
    /// Probability, by the policy network, of the templates that propose the step, among those that match the
    /// product.
    pub probability: f32,
    /// Confidence that a chemist would run the step as written (`steps/confidence.rs`): alone during search, among
    /// competing products where that was computed; 1 without a plausibility model.
    pub plausibility: f32,
    /// Similarity of the product to the nearest recorded product of the template; `None` if none is recorded.
    pub precedent: Option<PrecedentSimilarity>,
    /// Recorded reactions of the template; empty for an unrecorded template written by hand.
    pub records: Arc<RecordedReactions>,
    /// Reaction class of the step.
    pub class: ReactionClass,
    /// Means by which the step gives one stereoisomer, if neither its precursors nor its template determine it.
    pub stereo_source: Option<StereoSource>,
    /// Warnings that are not strong enough to refuse the step.
    pub warnings: Vec<Warning>,
}

/// Warning that a chemist should check before running a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Warning {
    /// Low plausibility: the plausibility model gives such a step about an even chance of not happening.
    #[error("the forward judge doubts that these precursors give this product")]
    Doubtful,
    /// Plausibility below that of the steps that chemists sign.
    #[error("the forward judge is less sure of this step than of those that chemists run as written")]
    Uncertain,
    /// Another product of the same reaction mixture that the plausibility model rates about as likely.
    #[error("the same precursors may give another product")]
    CompetingProduct,
    /// Low similarity of the product to all recorded products of the template.
    #[error("no precedent is much like this product")]
    FarFromPrecedents,
}

/// Confidence below which a step is doubted. Of the steps that were read, a third of those between 0.3 and 0.4 were sound.
const DOUBTFUL: f32 = 0.4;
/// Confidence, among competing products, from which a step is taken to be run as written. Of 68 routes of three readings
/// whose steps all reach it by the fit of the readings before, 53 were signed and 1 rejected; of the 244 others 58 and 99.
const SOUND: f32 = 0.65;
/// Similarity below which a product is far from a recorded one.
const FAR_SIMILARITY: f32 = 0.12;

/// Returns true if a step of these confidences is too doubtful to be run as written.
pub(crate) fn is_doubtful(mut confidences: impl Iterator<Item = f32>) -> bool {
    confidences.any(|confidence| confidence < SOUND)
}

impl Warning {
    /// Warnings for a step of this confidence, alone and beside competing products, whose product is this similar
    /// to precedents.
    pub(crate) fn of((alone, beside): (f32, f32), precedent: Option<PrecedentSimilarity>) -> Vec<Self> {
        let mut warnings = Vec::new();
        if alone < DOUBTFUL {
            warnings.push(Self::Doubtful);
        } else if beside < DOUBTFUL {
            warnings.push(Self::CompetingProduct);
        } else if beside < SOUND {
            warnings.push(Self::Uncertain);
        }
        if precedent.is_some_and(|nearest| nearest.tanimoto < FAR_SIMILARITY) {
            warnings.push(Self::FarFromPrecedents);
        }
        warnings
    }
}

/// Counters of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of molecules in the search graph.
    pub molecules: u64,
    /// Number of reactions in the search graph.
    pub reactions: u64,
    /// Approximate memory of the search graph in bytes, with the template outcomes that it holds.
    pub graph_bytes: u64,
    /// Approximate peak memory of the search in bytes: the graph and the routes extracted from it.
    pub memory_bytes: u64,
    /// Number of molecules that templates were tried on.
    pub expanded_molecules: u64,
    /// Number of template batches applied; the unit of [`Budget::max_expansions`](crate::Budget).
    pub expansions: u64,
    /// Number of template applications to a molecule.
    pub template_applications: u64,
    /// Number of candidate routes that were extracted and failed validation.
    pub unvalidated_routes: u64,
    /// Number of distinct routes that passed validation, including those cut from the groups.
    pub validated_routes: u64,
    /// Refused steps by reason.
    pub refusals: Refusals,
}

impl Counts {
    /// Number of nodes in the search graph, molecules and reactions.
    #[must_use]
    pub fn graph_nodes(&self) -> u64 {
        self.molecules + self.reactions
    }
}

/// Candidates refused in validation, by reason. Each reaction counts once per template that proposes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Steps that the selectivity rules refuse, or that hardly any chemist would run.
    pub unsound: u64,
    /// Steps that do not give their product when run forwards.
    pub product_not_regained: u64,
    /// Steps that also give other products when run forwards.
    pub competing_site: u64,
    /// Routes that make one molecule in two different ways.
    pub inconsistent: u64,
}

/// Time spent by stage of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Time for growing the graph.
    pub search: Duration,
    /// Time for extracting, grouping and writing routes.
    pub extraction: Duration,
    /// Time for running steps forwards.
    pub validation: Duration,
    /// Time from the start to the first validated route, if there is one.
    pub first_route: Option<Duration>,
}
