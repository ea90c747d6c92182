//! The molecules and reactions of a search graph, with their search state.

use std::sync::Arc;

use chem::{Molecule, MoleculeKey};
use reactivity::StereoSource;

use crate::graph::bond_label::BondLabel;
use crate::graph::expander::{Expansion, TemplateOutcome};
use catalogue::Block;

/// Added to the cost of every step, so that of two equally probable routes the shorter one wins.
pub const STEP_COST: f64 = 0.2;
/// Height of a molecule that cannot be made yet.
pub const UNSOLVED: u32 = u32::MAX;

/// Returns the minimum cost of a step: the negative logarithm of its templates' probability, plus [`STEP_COST`].
pub fn step_cost(probability: f32) -> f64 {
    STEP_COST - f64::from(probability.max(f32::MIN_POSITIVE)).ln()
}

/// A molecule's index in its graph; ascending in the order of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoleculeId(pub(super) u32);

/// A reaction's index in its graph; ascending in the order of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReactionId(pub(super) u32);

impl MoleculeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ReactionId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A molecule of the graph.
#[derive(Debug)]
pub struct MoleculeNode {
    pub molecule: Molecule,
    pub key: MoleculeKey,
    /// Graph key: the molecule's key combined with the digest of its label.
    pub graph_key: u128,
    pub heavy_atoms: u32,
    /// Minimum number of steps from the target.
    pub depth: u32,
    /// Building block, if a route may buy it.
    pub block: Option<Block>,
    /// Expansion; `None` until the search expands it or is about to.
    pub expansion: Option<Arc<Expansion>>,
    /// Bytes counted for the expansion.
    pub(super) expansion_bytes: usize,
    /// Set once templates have been tried on it.
    pub expanded: bool,
    /// Number of the expansion's templates that this search has tried.
    pub tried: usize,
    /// Lower bound of the cost of the untried templates; infinite if there are none.
    pub untried_cost: f64,
    /// Set while a helper works on it.
    pub pending: bool,
    /// Estimated cost of what this search may still try on it; infinite if nothing is left.
    pub open: f64,
    /// Estimated cost to make it.
    pub best: f64,
    /// Estimated cost over the partial routes that have something left to try that is not pending.
    pub frontier: f64,
    /// Length of the longest branch, in steps, of the shallowest way to make it from building blocks, or
    /// [`UNSOLVED`].
    pub height: u32,
    /// Requirements met by buying it, as counted by [`constraint_filter`](crate::graph::constraint_filter).
    pub met_requirements: u32,
    /// Requirements that buying it or ways to make it may meet; no way meets one outside this set.
    pub satisfiable: u32,
    /// Reactions that make it.
    pub reactions: Vec<ReactionId>,
    /// Reactions that need it.
    pub needed_by: Vec<ReactionId>,
    pub(super) is_stale: bool,
}

impl MoleculeNode {
    /// Returns the molecule without isotopes, once it has been expanded.
    pub fn unlabelled(&self) -> &Molecule {
        let labelled = self.expansion.as_ref().filter(|_| self.molecule.has_isotopes());
        labelled.map_or(&self.molecule, |expansion| expansion.unlabelled().molecule())
    }

    /// Returns true if the search could expand it now.
    pub fn is_open(&self) -> bool {
        self.open.is_finite() && !self.pending
    }
}

/// A template that proposes a reaction.
#[derive(Debug)]
pub struct Proposal {
    pub template: u32,
    pub probability: f32,
    /// Outcome of the template, its precursors in the order of [`ReactionNode::precursors`].
    pub outcome: Arc<TemplateOutcome>,
    /// Requirements that the step meets.
    pub met_requirements: u32,
}

/// The validation result of a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValidationState {
    Unchecked,
    Valid,
    Refused,
}

/// The model's assessment of a step, besides its templates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// Probability that the precursors give the product, without considering rivals; 1 if the model has no
    /// plausibility model.
    pub plausibility: f32,
    /// Means by which it gives one stereoisomer, if neither its precursors nor its template determine it.
    pub stereo_source: Option<StereoSource>,
}

impl Assessment {
    /// Creates the assessment of a step of this plausibility alone.
    pub fn of(plausibility: f32) -> Self {
        Self { plausibility, stereo_source: None }
    }

    /// Returns the part of its cost that is doubt: −ln of the plausibility.
    pub fn doubt(self) -> f64 {
        -f64::from(self.plausibility.max(f32::MIN_POSITIVE)).ln()
    }

    /// Returns the cost that it adds to the step.
    pub fn cost(self) -> f64 {
        let stereo = self.stereo_source.map_or(0.0, |source| match source {
            StereoSource::Auxiliary => AUXILIARY_COST,
            StereoSource::ChiralCatalyst => CATALYST_COST,
            StereoSource::Enzyme => ENZYME_COST,
            StereoSource::Resolution => RESOLUTION_COST,
            StereoSource::Separation => SEPARATION_COST,
        });
        stereo + self.doubt()
    }
}

// Costs of a configuration that is made: about one and three steps, so that a building block with the configuration, if
// there is one, comes first.
const AUXILIARY_COST: f64 = 0.5; // It is put on and taken off in steps of their own.
const CATALYST_COST: f64 = 1.0;
const ENZYME_COST: f64 = 1.5;
const RESOLUTION_COST: f64 = 3.0;
const SEPARATION_COST: f64 = 3.5;

/// The state of a reaction that changes as it is assessed and validated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReactionState {
    current: usize,
    validation: ValidationState,
    assessment: Option<Assessment>,
}

/// A reaction of the graph.
#[derive(Debug)]
pub struct ReactionNode {
    pub product: MoleculeId,
    /// Precursors in the order of their keys; one that is needed twice is listed twice.
    pub precursors: Box<[MoleculeId]>,
    /// Templates that propose it, in the order in which they were tried.
    pub proposals: Vec<Proposal>,
    /// Index of the first proposal that is not refused.
    pub current: usize,
    /// Validation result of the current proposal.
    pub validation: ValidationState,
    /// Assessment of the step; `None` until first requested.
    pub assessment: Option<Assessment>,
    /// Set if it needs a molecule for which its product was already needed when it was found.
    pub leads_back: bool,
    pub best: f64,
    pub frontier: f64,
    pub height: u32,
    /// Requirements that its proposals meet.
    pub met_requirements: u32,
    /// Requirements that its proposals and its precursors may meet.
    pub satisfiable: u32,
    pub(super) is_stale: bool,
}

/// A step that is new to a graph.
pub struct NewStep {
    pub outcome: Arc<TemplateOutcome>,
    /// Label of each precursor; empty if all labels are empty.
    pub labels: Box<[BondLabel]>,
    /// Requirements that it meets.
    pub met_requirements: u32,
}

impl NewStep {
    /// Creates a step without labels or requirements.
    pub fn free(found: &Arc<TemplateOutcome>) -> Self {
        Self { outcome: Arc::clone(found), labels: Box::default(), met_requirements: 0 }
    }

    /// Iterates over the precursors with their graph keys and labels.
    pub(super) fn keyed_precursors(&self) -> impl Iterator<Item = (&Molecule, u128, Option<&BondLabel>)> {
        self.outcome.precursors.iter().enumerate().map(|(at, precursor)| {
            let label = self.labels.get(at);
            let graph_key = precursor.molecule.key().number() ^ label.map_or(0, BondLabel::digest);
            (&precursor.molecule, graph_key, label)
        })
    }
}

impl ReactionNode {
    /// Returns the current proposal of the reaction.
    pub fn proposal(&self) -> &Proposal {
        &self.proposals[self.current.min(self.proposals.len() - 1)]
    }

    /// Returns the probability of all templates that propose it, except the refused ones.
    pub fn probability(&self) -> f32 {
        let open = &self.proposals[self.current.min(self.proposals.len() - 1)..];
        open.iter().map(|proposal| proposal.probability).sum::<f32>().min(1.0)
    }

    /// Returns the cost of the step alone, infinite if it is refused.
    pub fn cost(&self) -> f64 {
        match self.validation {
            ValidationState::Refused => f64::INFINITY,
            ValidationState::Unchecked | ValidationState::Valid => {
                step_cost(self.probability()) + self.assessment.map_or(0.0, Assessment::cost)
            }
        }
    }

    /// Returns its current state.
    pub fn state(&self) -> ReactionState {
        ReactionState { current: self.current, validation: self.validation, assessment: self.assessment }
    }

    /// Restores a state.
    pub fn restore_state(&mut self, state: ReactionState) {
        ReactionState { current: self.current, validation: self.validation, assessment: self.assessment } =
            state;
    }

    /// Iterates over the precursors without repetitions, each with the number of times it is needed.
    pub fn distinct_precursors(&self) -> impl Iterator<Item = (MoleculeId, u32)> {
        self.precursors.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32))
    }
}
