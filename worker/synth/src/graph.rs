//! The AND/OR graph: molecules (OR: one of their reactions is enough) and reactions (AND: every precursor).
//!
//! A molecule occurs once, whoever needs it, so the graph is not a tree; it is kept free of cycles by refusing,
//! in [`Graph::link`], a reaction that needs its own product or anything the product is needed for. What the
//! search wants to know of a node is a field of the node; `update` keeps the fields true.

use std::collections::VecDeque;
use std::sync::Arc;

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalogue::BlockIndex;
use crate::policy::Ranked;

/// Added to the cost of every step, so that of two routes as probable as each other the shorter one wins.
pub const STEP_COST: f64 = 0.2;
/// Of no atom: an entry of [`Proposal::sources`] for an atom that is not in the product.
pub const NO_ATOM: u16 = u16::MAX;
/// The height of a molecule that cannot be made yet.
pub const UNSOLVED: u32 = u32::MAX;

/// The cost of a step whose template has this probability.
pub fn step_cost(probability: f32) -> f64 {
    STEP_COST - f64::from(probability.max(f32::MIN_POSITIVE)).ln()
}

/// A molecule's place in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoleculeId(NodeIndex);

/// A reaction's place in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReactionId(NodeIndex);

/// What has been tried on a molecule.
#[derive(Debug)]
pub struct Expansion {
    /// The templates worth trying, most probable first.
    pub ranked: Vec<Ranked>,
    /// How many of them have been tried.
    pub tried: usize,
    /// Which of the widths of the search `ranked` is.
    pub width: usize,
}

/// A molecule of the graph.
#[derive(Debug)]
pub struct MoleculeNode {
    /// Canonical SMILES.
    pub smiles: Arc<str>,
    pub heavy_atoms: u32,
    /// Fewest steps from the target.
    pub depth: u32,
    /// Set if a route may buy it.
    pub block: Option<BlockIndex>,
    /// `None` until the network is asked about it.
    pub expansion: Option<Expansion>,
    /// Lower bound of the cost of what has not been tried on it; infinite when nothing is left.
    pub open: f64,
    /// Lower bound of the cost to make it.
    pub best: f64,
    /// The same, over the partial routes in which something is left to try.
    pub frontier: f64,
    /// Steps of the longest branch of the shallowest way to make it from building blocks, or [`UNSOLVED`].
    pub height: u32,
    queued: bool,
}

impl MoleculeNode {
    /// Whether a template has been tried on it.
    pub fn is_expanded(&self) -> bool {
        self.expansion.as_ref().is_some_and(|expansion| expansion.tried > 0)
    }
}

/// A template that proposes a reaction.
#[derive(Debug)]
pub struct Proposal {
    pub template: u32,
    pub probability: f32,
    /// For each precursor, in the order of [`ReactionNode::precursors`], and each of its atoms: the product's
    /// atom that it is, or [`NO_ATOM`].
    pub sources: Vec<Vec<u16>>,
}

/// What validation found out about a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Unchecked,
    Valid,
    Refused,
}

/// A reaction of the graph.
#[derive(Debug)]
pub struct ReactionNode {
    pub product: MoleculeId,
    /// In the order of their canonical SMILES; one that is needed twice is listed twice.
    pub precursors: Vec<MoleculeId>,
    /// The templates that propose it, most probable first.
    pub proposals: Vec<Proposal>,
    /// The first proposal that is not refused.
    pub current: usize,
    /// Of the current proposal.
    pub verdict: Verdict,
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

    /// The cost of the step alone, infinite if it is refused.
    pub fn cost(&self) -> f64 {
        match self.verdict {
            Verdict::Refused => f64::INFINITY,
            Verdict::Unchecked | Verdict::Valid => step_cost(self.proposal().probability),
        }
    }

    /// The precursors without repetitions, each with the number of times it is needed.
    pub fn distinct_precursors(&self) -> impl Iterator<Item = (MoleculeId, u32)> {
        self.precursors.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32))
    }
}

#[derive(Debug)]
enum Node {
    Molecule(MoleculeNode),
    Reaction(ReactionNode),
}

/// A precursor about to be linked.
#[derive(Debug)]
pub struct NewPrecursor {
    pub smiles: String,
    pub heavy_atoms: u32,
    pub sources: Vec<u16>,
}

/// The search graph of one target.
#[derive(Debug)]
pub struct Graph {
    nodes: DiGraph<Node, ()>,
    by_smiles: FxHashMap<Arc<str>, MoleculeId>,
    by_precursors: FxHashMap<(MoleculeId, Vec<MoleculeId>), ReactionId>,
    target: MoleculeId,
    /// Nodes whose fields are to be computed anew, in order.
    stale: VecDeque<StaleNode>,
}

/// A node whose fields are to be computed anew.
#[derive(Debug, Clone, Copy)]
pub enum StaleNode {
    Molecule(MoleculeId),
    Reaction(ReactionId),
}

impl Graph {
    /// The graph that holds nothing but the target.
    pub fn new(smiles: &str, heavy_atoms: u32) -> Self {
        let mut graph = Self {
            nodes: DiGraph::new(),
            by_smiles: FxHashMap::default(),
            by_precursors: FxHashMap::default(),
            target: MoleculeId(NodeIndex::new(0)),
            stale: VecDeque::new(),
        };
        graph.target = graph.add_molecule(smiles, heavy_atoms, 0, None);
        graph
    }

    pub fn target(&self) -> MoleculeId {
        self.target
    }

    pub fn len(&self) -> usize {
        self.nodes.node_count()
    }

    pub fn molecules(&self) -> usize {
        self.by_smiles.len()
    }

    pub fn molecule(&self, id: MoleculeId) -> &MoleculeNode {
        match &self.nodes[id.0] {
            Node::Molecule(node) => node,
            Node::Reaction(_) => unreachable!("graph: a molecule id names a molecule"),
        }
    }

    pub fn molecule_mut(&mut self, id: MoleculeId) -> &mut MoleculeNode {
        match &mut self.nodes[id.0] {
            Node::Molecule(node) => node,
            Node::Reaction(_) => unreachable!("graph: a molecule id names a molecule"),
        }
    }

    pub fn reaction(&self, id: ReactionId) -> &ReactionNode {
        match &self.nodes[id.0] {
            Node::Reaction(node) => node,
            Node::Molecule(_) => unreachable!("graph: a reaction id names a reaction"),
        }
    }

    pub fn reaction_mut(&mut self, id: ReactionId) -> &mut ReactionNode {
        match &mut self.nodes[id.0] {
            Node::Reaction(node) => node,
            Node::Molecule(_) => unreachable!("graph: a reaction id names a reaction"),
        }
    }

    /// The reactions that make `molecule`.
    pub fn reactions_of(&self, molecule: MoleculeId) -> impl Iterator<Item = ReactionId> {
        self.nodes.neighbors(molecule.0).map(ReactionId)
    }

    /// The reactions that need `molecule`.
    pub fn needed_by(&self, molecule: MoleculeId) -> impl Iterator<Item = ReactionId> {
        self.nodes.neighbors_directed(molecule.0, Direction::Incoming).map(ReactionId)
    }

    /// Every molecule, in the order of discovery.
    pub fn all_molecules(&self) -> Vec<MoleculeId> {
        self.nodes
            .node_indices()
            .filter(|&index| matches!(self.nodes[index], Node::Molecule(_)))
            .map(MoleculeId)
            .collect()
    }

    /// The molecule and all that it is needed for.
    pub fn with_ancestors(&self, molecule: MoleculeId) -> FxHashSet<MoleculeId> {
        let mut found = FxHashSet::from_iter([molecule]);
        let mut stack = vec![molecule];
        while let Some(next) = stack.pop() {
            for reaction in self.needed_by(next) {
                let product = self.reaction(reaction).product;
                if found.insert(product) {
                    stack.push(product);
                }
            }
        }
        found
    }

    /// Adds the reaction that makes `product` from `precursors`, which come in the order of their SMILES.
    ///
    /// `ancestors` is [`with_ancestors`](Self::with_ancestors) of the product; a reaction that needs one of
    /// them is left out. A reaction that is there already gains a proposal. `block_of` says whether a molecule
    /// that is new to the graph can be bought.
    pub fn link(
        &mut self,
        product: MoleculeId,
        ancestors: &FxHashSet<MoleculeId>,
        ranked: Ranked,
        precursors: Vec<NewPrecursor>,
        block_of: impl Fn(&str) -> Option<BlockIndex>,
    ) {
        let closes_a_cycle = |precursor: &NewPrecursor| {
            self.by_smiles.get(precursor.smiles.as_str()).is_some_and(|known| ancestors.contains(known))
        };
        if precursors.is_empty() || precursors.iter().any(closes_a_cycle) {
            return;
        }
        let depth = self.molecule(product).depth + 1;
        let mut ids = Vec::with_capacity(precursors.len());
        let mut sources = Vec::with_capacity(precursors.len());
        for precursor in precursors {
            ids.push(match self.by_smiles.get(precursor.smiles.as_str()) {
                Some(&known) => known,
                None => {
                    let block = block_of(&precursor.smiles);
                    self.add_molecule(&precursor.smiles, precursor.heavy_atoms, depth, block)
                }
            });
            sources.push(precursor.sources);
        }
        for &id in &ids {
            self.lower_depth(id, depth);
        }
        let proposal = Proposal { template: ranked.template, probability: ranked.probability, sources };
        match self.by_precursors.get(&(product, ids.clone())) {
            Some(&known) => self.add_proposal(known, proposal),
            None => self.add_reaction(product, ids, proposal),
        }
    }

    fn add_molecule(
        &mut self,
        smiles: &str,
        heavy_atoms: u32,
        depth: u32,
        block: Option<BlockIndex>,
    ) -> MoleculeId {
        let smiles: Arc<str> = smiles.into();
        let id = MoleculeId(self.nodes.add_node(Node::Molecule(MoleculeNode {
            smiles: Arc::clone(&smiles),
            heavy_atoms,
            depth,
            block,
            expansion: None,
            open: f64::INFINITY,
            best: f64::INFINITY,
            frontier: f64::INFINITY,
            height: UNSOLVED,
            queued: false,
        })));
        self.by_smiles.insert(smiles, id);
        self.mark_molecule(id);
        id
    }

    fn add_reaction(&mut self, product: MoleculeId, precursors: Vec<MoleculeId>, proposal: Proposal) {
        let id = ReactionId(self.nodes.add_node(Node::Reaction(ReactionNode {
            product,
            precursors: precursors.clone(),
            proposals: vec![proposal],
            current: 0,
            verdict: Verdict::Unchecked,
            best: f64::INFINITY,
            frontier: f64::INFINITY,
            height: UNSOLVED,
            queued: false,
        })));
        self.nodes.add_edge(product.0, id.0, ());
        for same in precursors.chunk_by(|a, b| a == b) {
            self.nodes.add_edge(id.0, same[0].0, ());
        }
        self.by_precursors.insert((product, precursors), id);
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
            self.mark_reaction(id);
        }
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
            for reaction in self.reactions_of(id) {
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
