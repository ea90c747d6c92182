//! The AND/OR graph: molecules (OR: one of their reactions is enough) and reactions (AND: every precursor).
//!
//! A molecule occurs once, whoever needs it, so the graph is not a tree, and where A can be made from B and B
//! from A it has cycles. A reaction that needs something its product is needed for is marked as one that
//! [goes back](ReactionNode::goes_back): costs do not flow through it, so that without those the graph has no
//! cycle and costs are kept true by walking parents only. What it makes still counts as solved, and routes may
//! use it: one route may make A from B and another B from A. No route does both, because extraction refuses a
//! route that makes a molecule in two ways.
//!
//! What the search wants to know of a node is a field of the node; `update` keeps the fields true. Nodes lie in
//! two vectors and never go, so an id is an index. [`Graph::bytes`] bounds a search's memory.
//!
//! In this folder lie the graph, what templates make of one molecule ([`expander`]) and how costs flow ([`update`]). It
//! stands on the model and the stock, and everything else stands on it.

pub mod expander;
pub mod update;

use std::collections::VecDeque;
use std::sync::Arc;

use chem::{Key, Molecule, block};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::expander::{Expansion, Found};
use crate::model::policy::Ranked;
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
pub struct MoleculeId(u32);

/// A reaction's place in its graph; ascending in the order of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReactionId(u32);

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
    pub heavy_atoms: u32,
    /// Fewest steps from the target.
    pub depth: u32,
    /// Set if a route may buy it.
    pub block: Option<Block>,
    /// `None` until the search turns to it or is about to.
    pub expansion: Option<Arc<Expansion>>,
    /// What the graph counts for the expansion.
    charged: usize,
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
    /// The reactions that make it.
    pub reactions: Vec<ReactionId>,
    /// The reactions that need it.
    pub needed_by: Vec<ReactionId>,
    queued: bool,
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
    queued: bool,
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

    /// The precursors without repetitions, each with the number of times it is needed.
    pub fn distinct_precursors(&self) -> impl Iterator<Item = (MoleculeId, u32)> {
        self.precursors.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32))
    }
}

/// The search graph of one target.
#[derive(Debug)]
pub struct Graph {
    molecules: Vec<MoleculeNode>,
    reactions: Vec<ReactionNode>,
    by_key: FxHashMap<Key, MoleculeId>,
    target: MoleculeId,
    /// Nodes whose fields are to be computed anew, in order.
    stale: VecDeque<StaleNode>,
    /// What hangs on the nodes.
    hanging: usize,
}

/// A node whose fields are to be computed anew.
#[derive(Debug, Clone, Copy)]
pub enum StaleNode {
    Molecule(MoleculeId),
    Reaction(ReactionId),
}

impl Graph {
    /// The graph that holds nothing but the target.
    pub fn new(target: &Molecule) -> Self {
        let mut graph = Self {
            molecules: Vec::new(),
            reactions: Vec::new(),
            by_key: FxHashMap::default(),
            target: MoleculeId(0),
            stale: VecDeque::new(),
            hanging: target.bytes(),
        };
        graph.target = graph.add_molecule(target, 0, None);
        graph
    }

    pub fn target(&self) -> MoleculeId {
        self.target
    }

    /// Number of molecules.
    pub fn molecules(&self) -> usize {
        self.molecules.len()
    }

    /// Number of reactions.
    pub fn reactions(&self) -> usize {
        self.reactions.len()
    }

    /// About how much memory the graph takes, what it shares with the expansion cache included.
    pub fn bytes(&self) -> usize {
        /// A table grows before it is full, and has a byte beside each place.
        const KNOWN: usize = (size_of::<(Key, MoleculeId)>() + 1) * 8 / 7;
        self.molecules.capacity() * size_of::<MoleculeNode>()
            + self.reactions.capacity() * size_of::<ReactionNode>()
            + self.by_key.capacity() * KNOWN
            + self.hanging
    }

    /// Counts what the expansion of `molecule` takes now.
    pub fn charge(&mut self, molecule: MoleculeId) {
        let node = self.molecule_mut(molecule);
        let bytes = node.expansion.as_ref().map_or(0, |expansion| expansion.bytes());
        let before = std::mem::replace(&mut node.charged, bytes);
        self.hanging = self.hanging + bytes - before;
    }

    pub fn molecule(&self, id: MoleculeId) -> &MoleculeNode {
        &self.molecules[id.index()]
    }

    pub fn molecule_mut(&mut self, id: MoleculeId) -> &mut MoleculeNode {
        &mut self.molecules[id.index()]
    }

    pub fn reaction(&self, id: ReactionId) -> &ReactionNode {
        &self.reactions[id.index()]
    }

    pub fn reaction_mut(&mut self, id: ReactionId) -> &mut ReactionNode {
        &mut self.reactions[id.index()]
    }

    /// Every molecule, in the order of discovery.
    pub fn all_molecules(&self) -> impl Iterator<Item = MoleculeId> + use<> {
        (0..self.molecules.len() as u32).map(MoleculeId)
    }

    /// Every reaction, in the order of discovery.
    pub fn all_reactions(&self) -> impl Iterator<Item = ReactionId> + use<> {
        (0..self.reactions.len() as u32).map(ReactionId)
    }

    /// The molecule and all that it is needed for, by reactions that do not go back.
    fn with_ancestors(&self, molecule: MoleculeId) -> FxHashSet<MoleculeId> {
        let mut found = FxHashSet::from_iter([molecule]);
        let mut stack = vec![molecule];
        while let Some(next) = stack.pop() {
            for &reaction in &self.molecule(next).needed_by {
                let reaction = self.reaction(reaction);
                if !reaction.goes_back && found.insert(reaction.product) {
                    stack.push(reaction.product);
                }
            }
        }
        found
    }

    /// Adds the reactions that a template, ranked as `ranked` says, finds to make `product`.
    ///
    /// One that needs the product itself is left out; one that is there already gains a proposal. `block_of`
    /// says whether a molecule that is new to the graph can be bought.
    pub fn link(
        &mut self,
        product: MoleculeId,
        ranked: Ranked,
        found: &[Arc<Found>],
        block_of: impl Fn(&Molecule) -> Option<Block>,
    ) {
        // Only a molecule that is made from something can be an ancestor, and most precursors are new, so
        // the ancestors are rarely needed. Nothing linked to `product` changes them.
        let mut ancestors: Option<FxHashSet<MoleculeId>> = None;
        for found in found {
            let known = || {
                let keys = found.precursors.iter().map(|precursor| precursor.molecule.key());
                keys.filter_map(|key| self.by_key.get(&key).copied())
            };
            if found.precursors.is_empty() || known().any(|known| known == product) {
                continue;
            }
            let goes_back = known().any(|known| {
                !self.molecule(known).reactions.is_empty()
                    && ancestors.get_or_insert_with(|| self.with_ancestors(product)).contains(&known)
            });
            let depth = self.molecule(product).depth + 1;
            let ids: Box<[MoleculeId]> = found
                .precursors
                .iter()
                .map(|precursor| {
                    let key = precursor.molecule.key();
                    match self.by_key.get(&key) {
                        Some(&known) => known,
                        None => self.add_molecule(&precursor.molecule, depth, block_of(&precursor.molecule)),
                    }
                })
                .collect();
            for &id in &ids {
                self.lower_depth(id, depth);
            }
            let proposal = Proposal {
                template: ranked.template,
                probability: ranked.probability * found.share,
                found: Arc::clone(found),
            };
            let known = |&&id: &&ReactionId| self.reaction(id).precursors == ids;
            match self.molecule(product).reactions.iter().find(known) {
                Some(&known) => self.add_proposal(known, proposal),
                None => self.add_reaction(product, ids, proposal, goes_back),
            }
        }
    }

    fn add_molecule(&mut self, molecule: &Molecule, depth: u32, block: Option<Block>) -> MoleculeId {
        let id = MoleculeId(u32::try_from(self.molecules.len()).expect("graph: memory is bounded"));
        let key = molecule.key();
        self.molecules.push(MoleculeNode {
            molecule: molecule.clone(),
            key,
            heavy_atoms: u32::try_from(molecule.heavy_atoms()).unwrap_or(u32::MAX),
            depth,
            block,
            expansion: None,
            charged: 0,
            expanded: false,
            tried: 0,
            untried: 0.0,
            pending: false,
            open: f64::INFINITY,
            best: f64::INFINITY,
            frontier: f64::INFINITY,
            height: UNSOLVED,
            reactions: Vec::new(),
            needed_by: Vec::new(),
            queued: false,
        });
        self.by_key.insert(key, id);
        self.mark_molecule(id);
        id
    }

    fn add_reaction(
        &mut self,
        product: MoleculeId,
        precursors: Box<[MoleculeId]>,
        proposal: Proposal,
        goes_back: bool,
    ) {
        let id = ReactionId(u32::try_from(self.reactions.len()).expect("graph: memory is bounded"));
        self.molecule_mut(product).reactions.push(id);
        for same in precursors.chunk_by(|a, b| a == b) {
            self.molecule_mut(same[0]).needed_by.push(id);
        }
        // Of the vectors in which it is listed now, most have room for four.
        self.hanging += block(size_of::<Proposal>())
            + block(size_of_val(&*precursors))
            + 4 * size_of::<ReactionId>() * (1 + precursors.len());
        self.reactions.push(ReactionNode {
            product,
            precursors,
            proposals: vec![proposal],
            current: 0,
            verdict: Verdict::Unchecked,
            assessment: None,
            goes_back,
            best: f64::INFINITY,
            frontier: f64::INFINITY,
            height: UNSOLVED,
            queued: false,
        });
        self.mark_reaction(id);
    }

    fn add_proposal(&mut self, id: ReactionId, proposal: Proposal) {
        let node = self.reaction_mut(id);
        if node.proposals.iter().any(|known| known.template == proposal.template) {
            return;
        }
        node.proposals.push(proposal);
        if node.verdict == Verdict::Refused {
            node.verdict = Verdict::Unchecked;
        }
        self.mark_reaction(id);
        self.hanging += 2 * size_of::<Proposal>();
    }

    /// Records that a shorter way to `molecule` exists, and so to all that it is made from.
    fn lower_depth(&mut self, molecule: MoleculeId, depth: u32) {
        let mut stack = vec![(molecule, depth)];
        while let Some((id, depth)) = stack.pop() {
            let node = self.molecule_mut(id);
            if node.depth <= depth {
                continue;
            }
            node.depth = depth;
            self.mark_molecule(id);
            for &reaction in &self.molecule(id).reactions {
                stack.extend(self.reaction(reaction).precursors.iter().map(|&next| (next, depth + 1)));
            }
        }
    }

    /// Has the fields of `molecule` computed anew by the next update.
    pub fn mark_molecule(&mut self, id: MoleculeId) {
        if !std::mem::replace(&mut self.molecule_mut(id).queued, true) {
            self.stale.push_back(StaleNode::Molecule(id));
        }
    }

    /// Has the fields of `reaction` computed anew by the next update.
    pub fn mark_reaction(&mut self, id: ReactionId) {
        if !std::mem::replace(&mut self.reaction_mut(id).queued, true) {
            self.stale.push_back(StaleNode::Reaction(id));
        }
    }

    /// Takes the next node whose fields are to be computed anew.
    pub fn take_stale(&mut self) -> Option<StaleNode> {
        let next = self.stale.pop_front()?;
        match next {
            StaleNode::Molecule(id) => self.molecule_mut(id).queued = false,
            StaleNode::Reaction(id) => self.reaction_mut(id).queued = false,
        }
        Some(next)
    }
}
