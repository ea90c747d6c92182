//! The AND/OR graph: molecules (OR: one of their reactions is enough) and reactions (AND: every precursor).
//!
//! A molecule occurs once and is shared by all reactions that need it. So the graph is not a tree, and if A can be
//! made from B and B from A it has cycles. A reaction that needs a molecule for which its own product is needed is
//! marked as one that [leads back](ReactionNode::leads_back). Costs do not flow through such reactions, so that
//! without them the graph has no cycle, and costs are kept correct by walking parents only. The products of such
//! reactions still count as solved, and routes may use them: one route may make A from B and another B from A. No
//! route does both, because extraction refuses a route that makes a molecule in two ways.
//!
//! All that the search needs of a node is a field of the node; `update` keeps the fields correct. Nodes lie in two
//! vectors and are never removed, so an id is an index. [`Graph::bytes`] bounds a search's memory.
//!
//! A search that follows bonds of the target has a node for each molecule and [label](bond_label::BondLabel). For such
//! a search "a molecule" means one with those bonds at those positions.
//!
//! This folder holds the graph, its [`nodes`], the template results of one molecule ([`expander`]), the constraint
//! filter in front of the graph ([`constraint_filter`]) and the propagation of costs ([`update`]). It depends on the
//! model and the stock, and everything else depends on it.

pub mod bond_label;
pub mod constraint_filter;
pub mod expander;
pub mod nodes;
pub mod update;

use std::collections::VecDeque;
use std::sync::Arc;

use chem::{Molecule, block};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::bond_label::BondLabel;
use crate::graph::expander::TemplateOutcome;
use crate::graph::nodes::{
    MoleculeId, MoleculeNode, NewStep, Proposal, ReactionId, ReactionNode, UNSOLVED, ValidationState,
};
use crate::model::policy::Ranked;
use catalogue::Block;

/// The search graph of one target.
#[derive(Debug)]
pub struct Graph {
    molecules: Vec<MoleculeNode>,
    reactions: Vec<ReactionNode>,
    by_graph_key: FxHashMap<u128, MoleculeId>,
    target: MoleculeId,
    /// Nodes whose fields must be recomputed, in order.
    stale: VecDeque<StaleNode>,
    /// Bytes owned by the nodes on the heap.
    attached_bytes: usize,
}

/// A node whose fields must be recomputed.
#[derive(Debug, Clone, Copy)]
pub enum StaleNode {
    Molecule(MoleculeId),
    Reaction(ReactionId),
}

impl Graph {
    /// Creates the graph with only the target.
    pub fn new(target: &Molecule) -> Self {
        let mut graph = Self {
            molecules: Vec::new(),
            reactions: Vec::new(),
            by_graph_key: FxHashMap::default(),
            target: MoleculeId(0),
            stale: VecDeque::new(),
            attached_bytes: target.bytes(),
        };
        graph.target = graph.add_molecule(target, target.key().number(), 0, None);
        graph
    }

    pub fn target(&self) -> MoleculeId {
        self.target
    }

    /// Number of molecules.
    pub fn molecule_count(&self) -> usize {
        self.molecules.len()
    }

    /// Number of reactions.
    pub fn reaction_count(&self) -> usize {
        self.reactions.len()
    }

    /// Returns the approximate memory of the graph, including what it shares with the expansion cache.
    pub fn bytes(&self) -> usize {
        /// Bytes of a hash table entry: the table grows before it is full, and has one more byte for each entry.
        const HASH_ENTRY_BYTES: usize = (size_of::<(u128, MoleculeId)>() + 1) * 8 / 7;
        self.molecules.capacity() * size_of::<MoleculeNode>()
            + self.reactions.capacity() * size_of::<ReactionNode>()
            + self.by_graph_key.capacity() * HASH_ENTRY_BYTES
            + self.attached_bytes
    }

    /// Updates the memory counted for the expansion of `molecule`.
    pub fn update_expansion_bytes(&mut self, molecule: MoleculeId) {
        let node = self.molecule_mut(molecule);
        let bytes = node.expansion.as_ref().map_or(0, |expansion| expansion.bytes());
        let before = std::mem::replace(&mut node.expansion_bytes, bytes);
        self.attached_bytes = self.attached_bytes + bytes - before;
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

    /// Iterates over every molecule, in the order of discovery.
    pub fn all_molecules(&self) -> impl Iterator<Item = MoleculeId> + use<> {
        (0..self.molecules.len() as u32).map(MoleculeId)
    }

    /// Iterates over every reaction, in the order of discovery.
    pub fn all_reactions(&self) -> impl Iterator<Item = ReactionId> + use<> {
        (0..self.reactions.len() as u32).map(ReactionId)
    }

    /// Returns the molecule and all molecules for which it is needed, by reactions that do not lead back.
    fn with_ancestors(&self, molecule: MoleculeId) -> FxHashSet<MoleculeId> {
        let mut ancestors = FxHashSet::from_iter([molecule]);
        let mut stack = vec![molecule];
        while let Some(next) = stack.pop() {
            for &reaction in &self.molecule(next).needed_by {
                let reaction = self.reaction(reaction);
                if !reaction.leads_back && ancestors.insert(reaction.product) {
                    stack.push(reaction.product);
                }
            }
        }
        ancestors
    }

    /// Adds the reactions that a template, ranked as `ranked`, finds to make `product`.
    ///
    /// A reaction that needs the product itself is left out. A known reaction gains a proposal. `block_of` returns
    /// the building block of a molecule that is new to the graph, if it can be bought.
    pub fn link(
        &mut self,
        product: MoleculeId,
        ranked: Ranked,
        outcomes: &[Arc<TemplateOutcome>],
        block_of: impl Fn(&Molecule) -> Option<Block>,
    ) {
        self.link_steps(product, ranked, outcomes.iter().map(NewStep::free), |molecule, _| {
            block_of(molecule)
        });
    }

    /// Adds steps likewise, with labels of the precursors.
    fn link_steps(
        &mut self,
        product: MoleculeId,
        ranked: Ranked,
        steps: impl IntoIterator<Item = NewStep>,
        block_of: impl Fn(&Molecule, Option<&BondLabel>) -> Option<Block>,
    ) {
        // Only a molecule that has reactions can be an ancestor, and most precursors are new, so the ancestors are
        // rarely needed. Nothing linked to `product` changes them.
        let mut ancestors: Option<FxHashSet<MoleculeId>> = None;
        let (product_key, depth) = (self.molecule(product).key, self.molecule(product).depth + 1);
        for step in steps {
            let precursors = &step.outcome.precursors;
            if precursors.is_empty()
                || precursors.iter().any(|precursor| precursor.molecule.key() == product_key)
            {
                continue;
            }
            let leads_back = {
                let mut known = step
                    .keyed_precursors()
                    .filter_map(|(_, graph_key, _)| self.by_graph_key.get(&graph_key).copied());
                known.any(|known| {
                    !self.molecule(known).reactions.is_empty()
                        && ancestors.get_or_insert_with(|| self.with_ancestors(product)).contains(&known)
                })
            };
            let mut ids = Vec::with_capacity(precursors.len());
            for (molecule, graph_key, label) in step.keyed_precursors() {
                ids.push(match self.by_graph_key.get(&graph_key) {
                    Some(&known) => known,
                    None => self.add_molecule(molecule, graph_key, depth, block_of(molecule, label)),
                });
            }
            for &id in &ids {
                self.lower_depth(id, depth);
            }
            self.add_step(product, ids.into(), ranked, step, leads_back);
        }
    }

    fn add_step(
        &mut self,
        product: MoleculeId,
        ids: Box<[MoleculeId]>,
        ranked: Ranked,
        step: NewStep,
        leads_back: bool,
    ) {
        let NewStep { outcome: found, met_requirements, .. } = step;
        let probability = ranked.probability * found.share;
        let proposal = Proposal { template: ranked.template, probability, outcome: found, met_requirements };
        let has_same_precursors = |&&id: &&ReactionId| self.reaction(id).precursors == ids;
        match self.molecule(product).reactions.iter().find(has_same_precursors) {
            Some(&known) => {
                self.reaction_mut(known).met_requirements |= met_requirements;
                self.add_proposal(known, proposal);
            }
            None => self.add_reaction(product, ids, proposal, leads_back).met_requirements = met_requirements,
        }
    }

    /// Returns true if two nodes are the same molecule, regardless of labels.
    pub fn are_same_molecule(&self, a: MoleculeId, b: MoleculeId) -> bool {
        a == b || self.molecule(a).key == self.molecule(b).key
    }

    fn add_molecule(
        &mut self,
        molecule: &Molecule,
        graph_key: u128,
        depth: u32,
        block: Option<Block>,
    ) -> MoleculeId {
        let id = MoleculeId(u32::try_from(self.molecules.len()).expect("graph: memory is bounded"));
        let key = molecule.key();
        self.molecules.push(MoleculeNode {
            molecule: molecule.clone(),
            key,
            graph_key,
            heavy_atoms: u32::try_from(molecule.heavy_atoms()).unwrap_or(u32::MAX),
            depth,
            block,
            expansion: None,
            expansion_bytes: 0,
            expanded: false,
            tried: 0,
            untried_cost: 0.0,
            pending: false,
            open: f64::INFINITY,
            best: f64::INFINITY,
            frontier: f64::INFINITY,
            height: UNSOLVED,
            met_requirements: 0,
            satisfiable: 0,
            reactions: Vec::new(),
            needed_by: Vec::new(),
            is_stale: false,
        });
        self.by_graph_key.insert(graph_key, id);
        self.mark_molecule_stale(id);
        id
    }

    fn add_reaction(
        &mut self,
        product: MoleculeId,
        precursors: Box<[MoleculeId]>,
        proposal: Proposal,
        leads_back: bool,
    ) -> &mut ReactionNode {
        let id = ReactionId(u32::try_from(self.reactions.len()).expect("graph: memory is bounded"));
        self.molecule_mut(product).reactions.push(id);
        for same in precursors.chunk_by(|a, b| a == b) {
            self.molecule_mut(same[0]).needed_by.push(id);
        }
        // Most of the vectors that now list it have capacity for four.
        self.attached_bytes += block(size_of::<Proposal>())
            + block(size_of_val(&*precursors))
            + 4 * size_of::<ReactionId>() * (1 + precursors.len());
        self.reactions.push(ReactionNode {
            product,
            precursors,
            proposals: vec![proposal],
            current: 0,
            validation: ValidationState::Unchecked,
            assessment: None,
            leads_back,
            best: f64::INFINITY,
            frontier: f64::INFINITY,
            height: UNSOLVED,
            met_requirements: 0,
            satisfiable: 0,
            is_stale: false,
        });
        self.mark_reaction_stale(id);
        self.reaction_mut(id)
    }

    fn add_proposal(&mut self, id: ReactionId, proposal: Proposal) {
        let node = self.reaction_mut(id);
        if node.proposals.iter().any(|known| known.template == proposal.template) {
            return;
        }
        node.proposals.push(proposal);
        if node.validation == ValidationState::Refused {
            node.validation = ValidationState::Unchecked;
        }
        self.mark_reaction_stale(id);
        self.attached_bytes += 2 * size_of::<Proposal>();
    }

    /// Records a shorter way to `molecule`, and so to all molecules from which it is made.
    fn lower_depth(&mut self, molecule: MoleculeId, depth: u32) {
        let mut stack = vec![(molecule, depth)];
        while let Some((id, depth)) = stack.pop() {
            let node = self.molecule_mut(id);
            if node.depth <= depth {
                continue;
            }
            node.depth = depth;
            self.mark_molecule_stale(id);
            for &reaction in &self.molecule(id).reactions {
                stack.extend(self.reaction(reaction).precursors.iter().map(|&next| (next, depth + 1)));
            }
        }
    }

    /// Marks the fields of `molecule` for the next update.
    pub fn mark_molecule_stale(&mut self, id: MoleculeId) {
        if !std::mem::replace(&mut self.molecule_mut(id).is_stale, true) {
            self.stale.push_back(StaleNode::Molecule(id));
        }
    }

    /// Marks the fields of `reaction` for the next update.
    pub fn mark_reaction_stale(&mut self, id: ReactionId) {
        if !std::mem::replace(&mut self.reaction_mut(id).is_stale, true) {
            self.stale.push_back(StaleNode::Reaction(id));
        }
    }

    /// Takes the next node whose fields must be recomputed.
    pub fn take_stale(&mut self) -> Option<StaleNode> {
        let next = self.stale.pop_front()?;
        match next {
            StaleNode::Molecule(id) => self.molecule_mut(id).is_stale = false,
            StaleNode::Reaction(id) => self.reaction_mut(id).is_stale = false,
        }
        Some(next)
    }
}
