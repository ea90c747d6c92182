//! The molecules and reactions of a search graph, and what is known of each.

use std::sync::Arc;

use chem::{Key, Molecule};

use crate::graph::expander::{Expansion, Found};
use crate::graph::label::Label;
use catalogue::Block;

/// Added to the cost of every step, so that of two routes as probable as each other the shorter one wins.
pub const STEP_COST: f64 = 0.2;
/// The height of a molecule that cannot be made yet.
pub const UNSOLVED: u32 = u32::MAX;

/// The least that a step costs: the negative logarithm of its templates' probability, and [`STEP_COST`].
pub fn step_cost(probability: f32) -> f64 {
    STEP_COST - f64::from(probability.max(f32::MIN_POSITIVE)).ln()
}

/// A molecule's place in its graph; ascending in the order of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoleculeId(pub(super) u32);

/// A reaction's place in its graph; ascending in the order of discovery.
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
    pub key: Key,
    /// Its key with the digest of its label: what the graph knows it by.
    pub place: u128,
    pub heavy_atoms: u32,
    /// Fewest steps from the target.
    pub depth: u32,
    /// Set if a route may buy it.
    pub block: Option<Block>,
    /// `None` until the search turns to it or is about to.
    pub expansion: Option<Arc<Expansion>>,
    /// What the graph counts for the expansion.
    pub(super) charged: usize,
    /// Whether templates have been tried on it.
    pub expanded: bool,
    /// How many of the expansion's templates this search has tried.
    pub tried: usize,
    /// Lower bound of the cost of the others; infinite when there are none.
    pub untried: f64,
    /// Whether a helper is at work on it.
    pub pending: bool,
    /// Estimated cost of what this search may still try on it; infinite when nothing is left.
    pub open: f64,
    /// Estimated cost to make it.
    pub best: f64,
    /// The same, over the partial routes in which something is left to try and nobody is at it.
    pub frontier: f64,
    /// Steps of the longest branch of the shallowest way to make it from building blocks, or [`UNSOLVED`].
    pub height: u32,
    /// What buying it gives of what routes must have, as [`gate`](crate::graph::gate) counts those.
    pub gives: u32,
    /// What ways to make it or buying it may give of that; a thing that is not in it none gives.
    pub supply: u32,
    /// The reactions that make it.
    pub reactions: Vec<ReactionId>,
    /// The reactions that need it.
    pub needed_by: Vec<ReactionId>,
    pub(super) queued: bool,
}

impl MoleculeNode {
    /// Whether the search could expand it now.
    pub fn is_open(&self) -> bool {
        self.open.is_finite() && !self.pending
    }
}

/// A template that proposes a reaction.
#[derive(Debug)]
pub struct Proposal {
    pub template: u32,
    pub probability: f32,
    /// What the template made of the product, its precursors in the order of [`ReactionNode::precursors`].
    pub found: Arc<Found>,
    /// What the step gives of what routes must have.
    pub gives: u32,
}

/// What validation found out about a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Unchecked,
    Valid,
    Refused,
}

/// What is known of a step beside its templates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// Probability that the precursors give the product, whatever else they might give; 1 where the model has no judge.
    pub plausibility: f32,
}

impl Assessment {
    /// What it adds to the cost of the step.
    pub fn cost(self) -> f64 {
        -f64::from(self.plausibility.max(f32::MIN_POSITIVE)).ln()
    }
}

/// What is held of a reaction, which changes as it is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    current: usize,
    verdict: Verdict,
    assessment: Option<Assessment>,
}

/// A reaction of the graph.
#[derive(Debug)]
pub struct ReactionNode {
    pub product: MoleculeId,
    /// In the order of their keys; one that is needed twice is listed twice.
    pub precursors: Box<[MoleculeId]>,
    /// The templates that propose it, in the order in which they were tried.
    pub proposals: Vec<Proposal>,
    /// The first proposal that is not refused.
    pub current: usize,
    /// Of the current proposal.
    pub verdict: Verdict,
    /// `None` until somebody wants to know.
    pub assessment: Option<Assessment>,
    /// Whether it needs something that its product was needed for when it was found.
    pub goes_back: bool,
    pub best: f64,
    pub frontier: f64,
    pub height: u32,
    /// What its proposals give of what routes must have.
    pub gives: u32,
    /// The same with what its precursors may give.
    pub supply: u32,
    pub(super) queued: bool,
}

/// A step that is new to a graph.
pub struct NewStep {
    pub found: Arc<Found>,
    /// Of each precursor; none where all are empty.
    pub labels: Box<[Label]>,
    /// What it gives of what routes must have.
    pub gives: u32,
}

impl NewStep {
    /// Of which nothing is asked.
    pub fn free(found: &Arc<Found>) -> Self {
        Self { found: Arc::clone(found), labels: Box::default(), gives: 0 }
    }

    /// What the graph knows each precursor by.
    pub(super) fn places(&self) -> impl Iterator<Item = (&Molecule, u128, Option<&Label>)> {
        self.found.precursors.iter().enumerate().map(|(at, precursor)| {
            let label = self.labels.get(at);
            let place = precursor.molecule.key().number() ^ label.map_or(0, Label::digest);
            (&precursor.molecule, place, label)
        })
    }
}

impl ReactionNode {
    /// The proposal that stands for the reaction.
    pub fn proposal(&self) -> &Proposal {
        &self.proposals[self.current.min(self.proposals.len() - 1)]
    }

    /// The probability of all templates that propose it, but for those that are refused.
    pub fn probability(&self) -> f32 {
        let open = &self.proposals[self.current.min(self.proposals.len() - 1)..];
        open.iter().map(|proposal| proposal.probability).sum::<f32>().min(1.0)
    }

    /// The cost of the step alone, infinite if it is refused.
    pub fn cost(&self) -> f64 {
        match self.verdict {
            Verdict::Refused => f64::INFINITY,
            Verdict::Unchecked | Verdict::Valid => {
                step_cost(self.probability()) + self.assessment.map_or(0.0, Assessment::cost)
            }
        }
    }

    /// What is held of it now.
    pub fn judgement(&self) -> Judgement {
        Judgement { current: self.current, verdict: self.verdict, assessment: self.assessment }
    }

    /// Holds that of it.
    pub fn judge_as(&mut self, judgement: Judgement) {
        Judgement { current: self.current, verdict: self.verdict, assessment: self.assessment } = judgement;
    }

    /// The precursors without repetitions, each with the number of times it is needed.
    pub fn distinct_precursors(&self) -> impl Iterator<Item = (MoleculeId, u32)> {
        self.precursors.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32))
    }
}
