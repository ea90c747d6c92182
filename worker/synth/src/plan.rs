//! What a search answers.

use std::sync::Arc;
use std::time::Duration;

use chem::block;
use petgraph::graph::NodeIndex;
use reactivity::ReactionClass;

use crate::constraints::Verdict;
use crate::model::precedents::Nearness;
use crate::model::records::Records;
use crate::route::RouteGraph;

/// The routes found for a target, grouped, and what it took to find them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Canonical SMILES of the target.
    pub target: String,
    /// Groups of routes with the same number of steps and the same backbone, best first.
    pub groups: Vec<BackboneGroup>,
    /// What was counted on the way.
    pub counts: Counts,
    /// Where the time went.
    pub timings: Timings,
    /// Whether the search ended because nothing was left to try.
    pub exhausted: bool,
    /// Of a search without a route, the molecules that stopped the cheapest attempt: neither made nor bought, canonical SMILES.
    pub stopped_by: Vec<String>,
    /// What each constraint of the task came to.
    pub constraints: Vec<Verdict>,
}

impl Plan {
    /// The routes of all groups, group by group, best first within a group.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.groups.iter().flat_map(|group| group.variations.iter().flatten())
    }

    /// Whether a route was found.
    #[must_use]
    pub fn solved(&self) -> bool {
        !self.groups.is_empty()
    }
}

/// Routes that do the same to the target in the same number of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct BackboneGroup {
    /// Reaction steps of the longest branch; 0 for a target that is bought.
    pub steps: u32,
    /// `b` and 16 hexadecimal digits, the same for the same backbone in every search.
    pub key: String,
    /// The target's SMILES, its atoms numbered by the fragment of the backbone that they end up in: its atom map.
    pub skeleton: String,
    /// One entry per distinct set of building blocks, each with the routes that use exactly that set, best
    /// first and never empty.
    pub variations: Vec<Vec<Route>>,
}

/// What a molecule of a route takes in an answer beside its SMILES, and what each of the edges does, with the evidence of its step.
const ANSWER_BYTES: (usize, usize) = (900, 3600);

/// A validated route.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The molecules, the target first, then those of fewer steps first; what a step takes in order of canonical SMILES.
    pub graph: RouteGraph<RouteNode>,
    /// Sum of the steps' costs (lower is better), a step that is needed twice counted twice.
    pub cost: f64,
    /// What routes are ranked by (lower is better): the cost, and what the lack of convergence and of precedents and
    /// the price of the building blocks add to it.
    pub total: f64,
    /// USD of building blocks for a mole of the target, each step in full yield, by the best offers in the task's region;
    /// `None` when one of them has no known price.
    pub usd_per_mol: Option<f64>,
    /// Days until the last building block is there, by the quickest offers in the task's region; `None` when one of them has
    /// no known lead time.
    pub lead_time_days: Option<f64>,
}

impl Route {
    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let of_step = |step: &Step| block(step.template_hash.len()) + block(size_of_val(&*step.warnings));
        let of_node = |node: &RouteNode| block(node.smiles.len()) + node.step.as_ref().map_or(0, of_step);
        size_of::<Self>() + self.graph.bytes() + self.molecules().map(of_node).sum::<usize>()
    }

    /// About how much memory it takes on its way to who asked: as the contract has it, as text, and as text once more where it is
    /// sent.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        let texts: usize = self.molecules().map(|node| node.smiles.len()).sum();
        let (molecules, edges) = (self.molecules().count(), self.graph.edges().count());
        ANSWER_BYTES.0 * molecules + ANSWER_BYTES.1 * edges + 3 * texts
    }

    /// The molecules, the target first, each once.
    pub fn molecules(&self) -> impl Iterator<Item = &RouteNode> {
        self.graph.molecules()
    }

    /// The steps with the places of their products, each after the one that made its product necessary.
    pub fn steps(&self) -> impl Iterator<Item = (NodeIndex, &Step)> {
        self.graph.places().filter_map(|place| Some((place, self.graph.molecule(place).step.as_ref()?)))
    }

    /// What the step to `product` takes, in order of canonical SMILES; what it takes twice is listed twice.
    pub fn precursors(&self, product: NodeIndex) -> impl Iterator<Item = &RouteNode> {
        let times = |(place, times)| std::iter::repeat_n(self.graph.molecule(place), times as usize);
        self.graph.precursors(product).flat_map(times)
    }
}

/// A molecule of a route.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteNode {
    /// Canonical SMILES.
    pub smiles: String,
    /// Average molecular weight, daltons.
    pub mw: f64,
    /// The catalogue's id of the block, if the route buys this molecule.
    pub building_block: Option<i32>,
    /// Tanimoto similarity to the nearest allowed building block; 1.0 for one, 0.0 when none is allowed.
    pub closest_building_block: f32,
    /// Fewest reaction steps from the target within the route; the target is 0.
    pub depth: u32,
    /// Whether the search expanded it.
    pub expanded: bool,
    /// The step that makes it; `None` if it is bought.
    pub step: Option<Step>,
}

/// The reaction that makes a molecule of a route.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Row of the most probable template that proposes it, in the model's files.
    pub template: u32,
    /// The template's hash in `templates.csv.gz`.
    pub template_hash: String,
    /// Its place among the templates that match the product, from 1, the most probable.
    pub rank: Option<u32>,
    /// Probability that the policy network gives the templates that propose the step, among those that match the product.
    pub probability: f32,
    /// Probability that its precursors give its product and nothing else, by the forward judge; 1 for a model without
    /// one.
    pub plausibility: f32,
    /// How alike the product is to the nearest one that the template is recorded to have made, 0 where none is recorded; `None`
    /// for a model without precedents.
    pub precedent: Option<Nearness>,
    /// The recorded reactions of the template; none for one that was written by hand and that nobody recorded.
    pub records: Arc<Records>,
    /// What chemists call it.
    pub class: ReactionClass,
    /// What speaks against it, though not enough to refuse it.
    pub warnings: Vec<Warning>,
}

/// What a chemist should look at before running a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Warning {
    /// The forward judge takes less plausible steps for what does not happen as often as not.
    #[error("the forward judge doubts that these precursors give this product")]
    Doubtful,
    /// The library makes something else of the flask that the judge takes to be about as likely.
    #[error("the same precursors may give another product")]
    CompetingProduct,
    /// No recorded product of the template is much like this one.
    #[error("no precedent is much like this product")]
    FarFromPrecedents,
}

/// Below this the forward judge takes a step for one that does not happen: 98 of 100 recorded reactions are above.
const DOUBTFUL: f32 = 0.35;
/// A product that has less in common with every recorded one of its template is far from all.
const FAR: f32 = 0.12;

impl Warning {
    /// What speaks against a step of this plausibility alone and beside its rivals, whose product is so near to precedents.
    pub(crate) fn of((alone, beside): (f32, f32), precedent: Option<Nearness>) -> Vec<Self> {
        let mut warnings = Vec::new();
        if alone < DOUBTFUL {
            warnings.push(Self::Doubtful);
        } else if beside < DOUBTFUL {
            warnings.push(Self::CompetingProduct);
        }
        // A hand-written template has no recorded product.
        if precedent.is_some_and(|nearest| nearest.tanimoto > 0.0 && nearest.tanimoto < FAR) {
            warnings.push(Self::FarFromPrecedents);
        }
        warnings
    }
}

/// What a search counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Molecules in the search graph.
    pub molecules: u64,
    /// Reactions in the search graph.
    pub reactions: u64,
    /// About how much memory the search graph took, with the outcomes that hang on it.
    pub graph_bytes: u64,
    /// About how much memory the search took at most: the graph, and the routes as they were read out of it.
    pub memory_bytes: u64,
    /// Molecules that templates were tried on.
    pub expanded_molecules: u64,
    /// Batches of templates that were applied; the unit of [`Budget::max_expansions`](crate::Budget).
    pub expansions: u64,
    /// Templates that were tried on a molecule.
    pub template_applications: u64,
    /// Candidate routes that were extracted and failed validation.
    pub unvalidated_routes: u64,
    /// Distinct routes that passed validation; those cut from the groups are counted too.
    pub validated_routes: u64,
    /// Why steps were refused.
    pub refusals: Refusals,
}

impl Counts {
    /// Nodes of the search graph, molecules and reactions.
    #[must_use]
    pub fn graph_nodes(&self) -> u64 {
        self.molecules + self.reactions
    }
}

/// Why candidates were refused in validation; each reaction counts once per template that proposes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refusals {
    /// A chemist would not sign the step.
    pub unsound: u64,
    /// The step, run forwards, does not give its product.
    pub product_not_regained: u64,
    /// The step, run forwards, gives other products as well.
    pub competing_site: u64,
    /// The route makes one molecule in two different ways.
    pub inconsistent: u64,
}

/// Where a search's time went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Growing the graph.
    pub search: Duration,
    /// Taking routes out of the graph, grouping them and writing them down.
    pub extraction: Duration,
    /// Running steps forwards.
    pub validation: Duration,
    /// From the start to the first validated route, if there is one.
    pub first_route: Option<Duration>,
}
