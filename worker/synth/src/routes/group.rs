//! Routes sorted into backbone groups, truncated, and converted to output.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use chem::{Fingerprint, Molecule};
use petgraph::graph::{DiGraph, NodeIndex};
use reactivity::ReactionClass;
use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::nodes::{MoleculeId, ReactionId};
use crate::model::RetroModel;
use crate::model::precedents::PrecedentSimilarity;
use crate::model::records::RecordedReactions;
use crate::route::RouteGraph;
use crate::routes::backbone::{BackboneKeys, BackboneTree, PrecursorAtomOrders};
use crate::routes::choices::{ChosenMolecule, RouteChoices};
use crate::routes::price::{lead_time_days, needs, usd_per_mol};
use crate::routes::rank::RankedRoute;
use crate::search_result::{BackboneGroup, Route, RouteNode, RouteStep, Warning};
use crate::steps::confidence::TemplateEvidence;
use crate::task::{GroupOrder, Task};
use catalogue::{Block, Stock};

/// Maximum number of routes kept for one set of building blocks.
const ROUTES_PER_VARIATION: usize = 5;
/// Factor by which more variations are collected than kept, when they are ranked by price.
const OVERSAMPLING: usize = 4;

/// Backbone groups being filled, in the order of their best routes.
pub struct GroupCollector<'a> {
    keys: BackboneKeys,
    orders: PrecursorAtomOrders,
    groups: Vec<PendingGroup>,
    task: &'a Task,
    /// Maximum number of variations collected for each group.
    max_variations: usize,
    /// Approximate memory of the collected routes.
    memory_bytes: usize,
    /// Approximate memory of the routes in the answer.
    answer_bytes: usize,
}

struct PendingGroup {
    steps: u32,
    key: String,
    skeleton: String,
    /// Variations in the order of their best routes.
    variations: Vec<Variation>,
}

struct Variation {
    blocks: Vec<Block>,
    routes: Vec<Route>,
}

impl<'a> GroupCollector<'a> {
    pub fn new(graph: &Graph, task: &'a Task) -> Self {
        let max_variations = match task.group_order {
            GroupOrder::Total => task.max_group_size,
            GroupOrder::Cost => task.max_group_size.saturating_mul(OVERSAMPLING),
        };
        Self {
            keys: BackboneKeys::new(&graph.molecule(graph.target()).molecule.canonical_smiles()),
            orders: PrecursorAtomOrders::default(),
            groups: Vec::new(),
            task,
            max_variations,
            memory_bytes: 0,
            answer_bytes: 0,
        }
    }

    /// Adds the next best route to its group, if there is room. Returns false once no further route can be added.
    pub fn push(&mut self, graph: &Graph, route: &RankedRoute, writer: &mut RouteWriter<'_>) -> bool {
        let choices = &route.choices;
        let tree = BackboneTree::of(graph, choices, self.keys.atoms(), &mut self.orders);
        let key = self.keys.key(&tree);
        let steps = choices.route.longest_branch();
        let at = self.groups.iter().position(|group| group.steps == steps && group.key == key);
        let group = match at {
            Some(at) => &mut self.groups[at],
            None if self.groups.len() < self.task.max_groups => {
                let skeleton = self.keys.skeleton(&tree);
                self.groups.push(PendingGroup { steps, key, skeleton, variations: Vec::new() });
                self.groups.last_mut().expect("group: one was pushed")
            }
            None => return !self.is_full(),
        };
        let blocks: Vec<Block> = needs(graph, choices).into_iter().map(|(block, _)| block).collect();
        let has_room = group.variations.len() < self.max_variations;
        let same_blocks = group.variations.iter_mut().find(|variation| variation.blocks == blocks);
        let variation = match same_blocks {
            Some(variation) if variation.routes.len() < ROUTES_PER_VARIATION => variation,
            None if has_room => {
                group.variations.push(Variation { blocks, routes: Vec::new() });
                group.variations.last_mut().expect("group: one was pushed")
            }
            Some(_) | None => return !self.is_full(),
        };
        let written = writer.route(graph, choices, route.total);
        self.memory_bytes += written.bytes() + size_of::<Variation>() + size_of_val(&*variation.blocks);
        self.answer_bytes += written.answer_bytes();
        variation.routes.push(written);
        !self.is_full()
    }

    /// Approximate memory of the routes in bytes.
    pub fn bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Approximate memory of the routes in the answer, in bytes.
    pub fn answer_bytes(&self) -> usize {
        self.answer_bytes
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns true if no route has been added.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    fn is_full(&self) -> bool {
        self.groups.len() >= self.task.max_groups
            && self.groups.iter().all(|group| group.variations.len() >= self.max_variations)
    }

    /// Returns the groups, truncated to the requested size.
    pub fn finish(self) -> impl Iterator<Item = BackboneGroup> {
        self.groups.into_iter().map(|group| {
            let mut variations = group.variations;
            if self.task.group_order == GroupOrder::Cost {
                let price = |variation: &Variation| {
                    let prices = variation.routes.iter().filter_map(|route| route.usd_per_mol);
                    prices.fold(f64::INFINITY, f64::min)
                };
                // The sort is stable: of variations with the same price, the one with the better route stays first.
                variations.sort_by(|a, b| price(a).total_cmp(&price(b)));
            }
            variations.truncate(self.task.max_group_size);
            let variations = variations.into_iter().map(|variation| variation.routes).collect();
            BackboneGroup { steps: group.steps, key: group.key, skeleton: group.skeleton, variations }
        })
    }
}

/// Converts choices in the graph into self-contained routes.
pub struct RouteWriter<'a> {
    model: &'a RetroModel,
    stock: &'a dyn Stock,
    /// Building block of the target, if buying it counts as a route.
    target_block: Option<Block>,
    /// Molecular weight and similarity to the nearest building block, which are the same in every route.
    molecule_properties: FxHashMap<MoleculeId, (f64, f32)>,
    /// Evidence of steps, also the same in every route.
    evidence: FxHashMap<(ReactionId, u32), StepEvidence>,
}

/// Evidence for a step.
#[derive(Clone)]
struct StepEvidence {
    records: Arc<RecordedReactions>,
    precedent: Option<PrecedentSimilarity>,
    rank: Option<u32>,
    class: ReactionClass,
    surroundings: f32,
}

impl<'a> RouteWriter<'a> {
    pub fn new(model: &'a RetroModel, stock: &'a dyn Stock, target_block: Option<Block>) -> Self {
        Self {
            model,
            stock,
            target_block,
            molecule_properties: FxHashMap::default(),
            evidence: FxHashMap::default(),
        }
    }

    /// Returns the route that buys the target, as its own group.
    pub fn bought_target_group(&mut self, graph: &Graph) -> Option<BackboneGroup> {
        self.target_block?;
        let choices = RouteChoices::bought(graph.target());
        let mut keys = BackboneKeys::new(&graph.molecule(graph.target()).molecule.canonical_smiles());
        let tree = BackboneTree::of(graph, &choices, keys.atoms(), &mut PrecursorAtomOrders::default());
        let (key, skeleton) = (keys.key(&tree), keys.skeleton(&tree));
        let variations = vec![vec![self.route(graph, &choices, 0.0)]];
        Some(BackboneGroup { steps: 0, key, skeleton, variations })
    }

    /// Converts a route to its output form.
    pub fn route(&mut self, graph: &Graph, choices: &RouteChoices, total: f64) -> Route {
        let order = breadth_first(graph, choices);
        self.compute_properties(
            graph,
            order.iter().map(|&(place, _)| choices.route.molecule(place).molecule),
        );
        let mut output_graph: DiGraph<RouteNode, u32> = DiGraph::with_capacity(order.len(), order.len());
        let mut output_nodes = vec![NodeIndex::end(); order.len()];
        for &(place, depth) in &order {
            let node = self.node(graph, choices, place, depth);
            // Two forms of one building block share a node.
            let same_smiles =
                output_graph.node_indices().find(|&other| output_graph[other].smiles == node.smiles);
            output_nodes[place.index()] = same_smiles.unwrap_or_else(|| output_graph.add_node(node));
        }
        for &(place, _) in &order {
            let mut precursors: Vec<_> = choices
                .route
                .precursors(place)
                .map(|(precursor, times)| (output_nodes[precursor.index()], times))
                .collect();
            precursors.sort_by(|a, b| output_graph[a.0].smiles.cmp(&output_graph[b.0].smiles));
            let product = output_nodes[place.index()];
            for (precursor, times) in precursors {
                if let Some(existing_edge) = output_graph.find_edge(product, precursor) {
                    output_graph[existing_edge] += times;
                } else {
                    output_graph.add_edge(product, precursor, times);
                }
            }
        }
        let block_counts = self.block_counts(graph, choices);
        Route {
            graph: RouteGraph::new(output_graph)
                .expect("group: building blocks have no precursors, so merging their forms adds no cycle"),
            cost: choices.cost,
            total,
            usd_per_mol: usd_per_mol(self.stock, &block_counts, None),
            lead_time_days: lead_time_days(self.stock, &block_counts),
        }
    }

    fn node(&mut self, graph: &Graph, choices: &RouteChoices, place: NodeIndex, depth: u32) -> RouteNode {
        let ChosenMolecule { molecule: id, reaction } = *choices.route.molecule(place);
        let molecule = graph.molecule(id);
        let block = match reaction {
            Some(_) => None,
            None if id == graph.target() => self.target_block,
            None => molecule.block,
        };
        let (mw, nearest) = self.molecule_properties[&id];
        let sold = block.and_then(|block| self.as_sold(graph, choices, block, &molecule.molecule));
        let (smiles, mw) = sold.unwrap_or_else(|| (molecule.molecule.canonical_smiles(), mw));
        RouteNode {
            smiles,
            mw,
            building_block: block.map(|block| self.stock.id(block)),
            closest_building_block: if block.is_some() { 1.0 } else { nearest },
            depth,
            expanded: molecule.expanded,
            step: reaction.map(|reaction| self.step(graph, id, reaction)),
        }
    }

    fn step(&mut self, graph: &Graph, product: MoleculeId, id: ReactionId) -> RouteStep {
        let reaction = graph.reaction(id);
        let proposal = reaction.proposal();
        let evidence = self.evidence(graph, product, id);
        let (alone, beside) = proposal.outcome.plausibilities();
        let of_template = TemplateEvidence::new(
            self.model,
            (proposal.template, reaction.probability()),
            evidence.precedent,
            evidence.surroundings,
        );
        let confidence = |plausibility| of_template.confidence(plausibility);
        RouteStep {
            template: proposal.template,
            template_hash: self.model.template_hash(proposal.template).to_owned(),
            rank: evidence.rank,
            probability: reaction.probability(),
            plausibility: confidence(proposal.outcome.known_plausibility()),
            precedent: evidence.precedent,
            records: evidence.records,
            class: evidence.class,
            stereo_source: reaction.assessment.and_then(|assessment| assessment.stereo_source),
            warnings: Warning::of((confidence(alone), confidence(beside)), evidence.precedent),
        }
    }

    fn evidence(&mut self, graph: &Graph, product: MoleculeId, step: ReactionId) -> StepEvidence {
        let (model, product, proposal) =
            (self.model, graph.molecule(product), graph.reaction(step).proposal());
        let evidence = self.evidence.entry((step, proposal.template)).or_insert_with(|| StepEvidence {
            records: model.records(proposal.template),
            precedent: model.nearest_precedent(proposal.template, &product.unlabelled().fingerprint()),
            rank: product.expansion.as_ref().and_then(|it| it.rank_of(proposal.template)),
            class: product
                .expansion
                .as_ref()
                .map_or_else(ReactionClass::default, |it| proposal.outcome.class(it)),
            surroundings: product.expansion.as_ref().map_or(0.0, |it| proposal.outcome.surroundings(it)),
        });
        evidence.clone()
    }

    /// SMILES and weight of a building block that the route needs as an ion but that is sold without the charge
    /// (cyanide as hydrogen cyanide, nitrite as nitrous acid), if the route does not make that neutral form; or that it
    /// needs with isotopes and that is sold with deuterium on its N and O too.
    fn as_sold(
        &self,
        graph: &Graph,
        choices: &RouteChoices,
        block: Block,
        needed: &Molecule,
    ) -> Option<(String, f64)> {
        let sold = self.stock.smiles(block);
        if needed.canonical_smiles() == sold {
            return None;
        }
        if let Some(labelled) = needed.with_exchangeable_deuterium()
            && labelled.canonical_smiles() == sold
        {
            return Some((sold, labelled.molecular_weight()));
        }
        let neutral = needed.neutral();
        let is_made = || {
            let mut made = choices.made().map(|(made, _)| graph.molecule(made));
            made.any(|made| made.molecule.canonical_smiles() == sold)
        };
        let renamed = neutral.canonical_smiles() == sold && !is_made();
        renamed.then(|| (sold, neutral.molecular_weight()))
    }

    /// Computes weight and similarity of the molecules that were in no earlier route, all in one pass.
    fn compute_properties(&mut self, graph: &Graph, molecules: impl Iterator<Item = MoleculeId>) {
        let mut uncached = Vec::new();
        for id in molecules {
            let node = graph.molecule(id);
            if let Entry::Vacant(place) = self.molecule_properties.entry(id) {
                let is_block = node.block.is_some();
                place.insert((node.molecule.molecular_weight(), if is_block { 1.0 } else { 0.0 }));
                uncached.extend((!is_block).then_some(id));
            }
        }
        let fingerprints: Vec<Fingerprint> =
            uncached.iter().map(|&id| graph.molecule(id).molecule.fingerprint()).collect();
        let nearest = self.stock.nearest(&fingerprints, 1);
        for (id, (_, similarity)) in
            uncached.into_iter().zip(nearest).filter_map(|(id, found)| Some((id, found?)))
        {
            self.molecule_properties.entry(id).and_modify(|(_, nearest)| *nearest = similarity);
        }
    }

    /// Number of molecules of each building block that one molecule of the target takes.
    fn block_counts(&self, graph: &Graph, choices: &RouteChoices) -> Vec<(Block, u32)> {
        let target = self.target_block.filter(|_| choices.made().next().is_none());
        target.map_or_else(|| needs(graph, choices), |block| vec![(block, 1)])
    }
}

/// Molecules of a route, each once, with their number of steps from the target. The precursors of a step are in the
/// order of their SMILES.
fn breadth_first(graph: &Graph, choices: &RouteChoices) -> Vec<(NodeIndex, u32)> {
    let route = &choices.route;
    let smiles = |place| graph.molecule(route.molecule(place).molecule).molecule.canonical_smiles();
    let mut order = vec![(route.target(), 0)];
    let mut at = 0;
    while let Some(&(product, depth)) = order.get(at) {
        let mut precursors: Vec<_> =
            route.precursors(product).map(|(precursor, _)| (smiles(precursor), precursor)).collect();
        precursors.sort_unstable();
        for (_, precursor) in precursors {
            if order.iter().all(|&(known, _)| known != precursor) {
                order.push((precursor, depth + 1));
            }
        }
        at += 1;
    }
    order
}
