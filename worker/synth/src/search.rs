//! Best-first search over the AND/OR graph (Retro*, Chen et al., ICML 2020).
//!
//! The next molecule to expand is the open leaf of the cheapest partial route, where a step costs the negative
//! logarithm of its template's probability. Templates are tried in small batches: once a batch is tried, the
//! molecule is open again at the cost of its next template, so a sure step deep in the tree is tried before an
//! unlikely one at the top. When nothing is open, every molecule gets more templates, until those are used up.

use std::time::{Duration, Instant};

use chem::{Limits, Molecule, Precursor, PreparedMolecule};

use crate::catalogue::{BlockIndex, Catalogue};
use crate::extract::{Choices, Extractor, Source};
use crate::graph::{Expansion, Graph, MoleculeId, NO_ATOM, NewPrecursor, ReactionId, UNSOLVED};
use crate::group::{Groups, Writer};
use crate::model::RetroModel;
use crate::plan::{Counts, Plan, Refusals, Timings};
use crate::policy::TOGETHER;
use crate::task::{Budget, Stop, Task, Trivial};
use crate::update::{Bounds, propagate};
use crate::validate::Validator;

/// How many templates a molecule gets, and the probability at which their list ends: first, and each time
/// that nothing else is left to try.
const WIDTHS: [(usize, f32); 3] = [(50, 0.995), (200, f32::INFINITY), (1000, f32::INFINITY)];
/// Templates tried at a time.
const BATCH: usize = 10;
/// A step that needs more molecules than this is not considered; running it forwards would take factorially
/// many orders.
const MAX_PRECURSORS: usize = 4;
/// The graph stops growing here, so that a long search of a hopeless target does not fill the memory.
const MAX_NODES: usize = 1_500_000;
/// Part of the time that a search for many routes keeps for taking them out of the graph.
const EXTRACTION_SHARE: f64 = 0.15;
/// The most that this part is.
const MAX_EXTRACTION: Duration = Duration::from_millis(600);
/// Routes taken out of the graph for each that may be returned.
const CANDIDATES_PER_PLACE: usize = 20;
/// Routes that make a molecule in two ways, looked past in search of the first route.
const MAX_INCONSISTENT: usize = 100;

/// Searches for routes to the task's target until the budget is spent.
///
/// # Panics
/// Never; a broken template or weight has been refused when the model was loaded.
#[must_use]
pub fn plan(model: &RetroModel, catalogue: &Catalogue, task: &Task, budget: &Budget) -> Plan {
    Search::new(model, catalogue, task, budget).run()
}

struct Search<'a> {
    model: &'a RetroModel,
    catalogue: &'a Catalogue,
    task: &'a Task,
    budget: &'a Budget,
    started: Instant,
    graph: Graph,
    bounds: Bounds,
    validator: Validator<'a>,
    counts: Counts,
    timings: Timings,
}

/// Why the growing of the graph ended.
#[derive(PartialEq, Eq)]
enum End {
    FirstRoute,
    Spent,
    Exhausted,
}

impl<'a> Search<'a> {
    fn new(model: &'a RetroModel, catalogue: &'a Catalogue, task: &'a Task, budget: &'a Budget) -> Self {
        let smiles = task.target.canonical_smiles();
        Self {
            model,
            catalogue,
            task,
            budget,
            started: Instant::now(),
            graph: Graph::new(&smiles, atoms(task.target.heavy_atoms())),
            bounds: Bounds { max_depth: task.max_depth, width: 0 },
            validator: Validator::new(model, budget),
            counts: Counts::default(),
            timings: Timings::default(),
        }
    }

    fn run(mut self) -> Plan {
        let trivial = self.trivial();
        let mut first = None;
        let end = if trivial.is_some() && self.task.stop == Stop::FirstRoute {
            End::FirstRoute
        } else {
            self.grow(&mut first)
        };
        if trivial.is_some() {
            self.timings.first_route = Some(Duration::ZERO);
            self.counts.validated_routes += 1;
        }
        let in_search = self.timings.extraction + self.validator.elapsed;
        self.timings.search = self.started.elapsed().saturating_sub(in_search);

        let start = Instant::now();
        let validated = self.validator.elapsed;
        let smiles = self.graph.molecule(self.graph.target()).smiles.to_string();
        let mut groups = Groups::new(&smiles, self.task);
        match (self.task.stop, first) {
            (Stop::FirstRoute, Some(choices)) => {
                groups.push(&self.graph, choices);
                self.counts.validated_routes += 1;
            }
            (Stop::FirstRoute, None) => {}
            (Stop::Budget, _) => self.collect(&mut groups),
        }
        let mut writer = Writer::new(self.model, self.catalogue, self.task, trivial);
        let mut written: Vec<_> = writer.trivial(&self.graph).into_iter().collect();
        written.extend(groups.finish(&self.graph, &mut writer));
        written.truncate(self.task.max_groups);
        let validation = self.validator.elapsed;
        self.timings.extraction += start.elapsed().saturating_sub(validation - validated);
        self.timings.validation = validation;
        let inconsistent = self.counts.refusals.inconsistent;
        self.counts.refusals = Refusals { inconsistent, ..self.validator.refusals };
        self.counts.molecules = self.graph.molecules() as u64;
        self.counts.reactions = (self.graph.len() - self.graph.molecules()) as u64;
        Plan {
            target: smiles,
            groups: written,
            counts: self.counts,
            timings: self.timings,
            exhausted: end == End::Exhausted,
        }
    }

    /// The target's own block, where buying it counts as a route.
    fn trivial(&self) -> Option<BlockIndex> {
        let smiles = &self.graph.molecule(self.graph.target()).smiles;
        let block = self.catalogue.find(smiles).filter(|_| self.task.trivial == Trivial::Allow)?;
        self.catalogue.is_allowed(block, &self.task.masks).then_some(block)
    }

    /// Grows the graph until the search is over, and puts the first validated route into `first`.
    fn grow(&mut self, first: &mut Option<Choices>) -> End {
        let deadline = match self.task.stop {
            Stop::FirstRoute => self.budget.deadline,
            Stop::Budget => {
                let time = self.budget.deadline.saturating_duration_since(self.started);
                self.budget.deadline - time.mul_f64(EXTRACTION_SHARE).min(MAX_EXTRACTION)
            }
        };
        propagate(&mut self.graph, self.bounds);
        loop {
            if first.is_none() && self.solved() {
                *first = self.first_route();
                if first.is_some() {
                    self.timings.first_route = Some(self.started.elapsed());
                    if self.task.stop == Stop::FirstRoute {
                        return End::FirstRoute;
                    }
                }
            }
            let spent = self.budget.max_expansions.is_some_and(|most| self.counts.expansions >= most);
            if spent || self.budget.spent_at(deadline) || self.graph.len() >= MAX_NODES {
                return End::Spent;
            }
            match self.select() {
                Some(molecule) => self.expand(molecule, deadline),
                None if self.bounds.width + 1 < WIDTHS.len() => self.widen(),
                None => return End::Exhausted,
            }
            propagate(&mut self.graph, self.bounds);
        }
    }

    fn solved(&self) -> bool {
        self.graph.molecule(self.graph.target()).height <= self.task.max_depth
    }

    /// The cheapest route that stands validation. Refused steps are taken out of the graph's solutions.
    fn first_route(&mut self) -> Option<Choices> {
        let start = Instant::now();
        let validated = self.validator.elapsed;
        let mut extractor = Extractor::new(&self.graph, self.task.max_depth);
        let mut source = Source { graph: &mut self.graph, validator: &mut self.validator, dropped: 0 };
        let mut found = None;
        for rank in 0..MAX_INCONSISTENT {
            match extractor.route(&mut source, rank) {
                Some((choices, true)) => {
                    found = Some(choices);
                    break;
                }
                Some((_, false)) => {}
                None => break,
            }
        }
        self.counts.unvalidated_routes += source.dropped;
        propagate(&mut self.graph, self.bounds);
        self.timings.extraction += start.elapsed().saturating_sub(self.validator.elapsed - validated);
        found
    }

    /// Sorts the cheapest routes into `groups` until those are full or the time is over.
    fn collect(&mut self, groups: &mut Groups) {
        if !self.solved() {
            return;
        }
        let places = self.task.max_groups.saturating_mul(self.task.max_group_size);
        let most = places.saturating_mul(CANDIDATES_PER_PLACE).clamp(100, 20_000);
        let mut extractor = Extractor::new(&self.graph, self.task.max_depth);
        let mut source = Source { graph: &mut self.graph, validator: &mut self.validator, dropped: 0 };
        for rank in 0..most {
            match extractor.route(&mut source, rank) {
                None => break,
                Some((_, false)) => {
                    self.counts.unvalidated_routes += 1;
                    self.counts.refusals.inconsistent += 1;
                }
                Some((choices, true)) => {
                    self.counts.validated_routes += 1;
                    if !groups.push(source.graph, choices) {
                        break;
                    }
                }
            }
        }
        self.counts.unvalidated_routes += source.dropped;
    }

    /// The open molecule of the cheapest partial route.
    fn select(&self) -> Option<MoleculeId> {
        let mut next = self.graph.target();
        if self.graph.molecule(next).frontier.is_infinite() {
            return None;
        }
        loop {
            let node = self.graph.molecule(next);
            if node.open <= node.frontier {
                return Some(next);
            }
            let reaction = self
                .graph
                .reactions_of(next)
                .map(|id| self.graph.reaction(id))
                .min_by(|a, b| {
                    a.frontier.total_cmp(&b.frontier).then_with(|| a.precursors.cmp(&b.precursors))
                })
                .expect("search: a frontier comes from the molecule or from a reaction");
            // Of several, the largest: it is the likeliest dead end, so the rest may not be needed.
            next = reaction
                .precursors
                .iter()
                .copied()
                .filter(|&id| self.graph.molecule(id).frontier.is_finite())
                .min_by(|&a, &b| {
                    let (a, b) = (self.graph.molecule(a), self.graph.molecule(b));
                    (a.frontier - a.best)
                        .total_cmp(&(b.frontier - b.best))
                        .then(b.heavy_atoms.cmp(&a.heavy_atoms))
                        .then_with(|| a.smiles.cmp(&b.smiles))
                })
                .expect("search: a reaction's frontier comes from a precursor");
        }
    }

    /// Gives every molecule more templates.
    fn widen(&mut self) {
        self.bounds.width += 1;
        for molecule in self.graph.all_molecules() {
            if self.graph.molecule(molecule).is_expanded() {
                self.graph.mark_molecule(molecule);
            }
        }
    }

    /// Tries the next batch of templates on `id`.
    fn expand(&mut self, id: MoleculeId, deadline: Instant) {
        self.counts.expansions += 1;
        let Some(molecule) = self.parse(id) else {
            // Written by the chemistry as a molecule and refused by it: there is nothing to try.
            let expansion = Expansion { ranked: Vec::new(), tried: 1, width: WIDTHS.len() };
            self.graph.molecule_mut(id).expansion = Some(expansion);
            return self.graph.mark_molecule(id);
        };
        if self.graph.molecule(id).expansion.as_ref().is_none_or(|known| known.tried >= known.ranked.len()) {
            self.rank(id, &molecule);
        }
        let mut expansion = self.graph.molecule_mut(id).expansion.take().expect("search: it was ranked");
        if expansion.tried == 0 {
            self.counts.expanded_molecules += 1;
        }
        self.apply(id, &molecule, &mut expansion, deadline);
        self.graph.molecule_mut(id).expansion = Some(expansion);
        self.graph.mark_molecule(id);
    }

    fn parse(&self, id: MoleculeId) -> Option<Molecule> {
        let limits = Limits { max_bytes: usize::MAX, max_heavy_atoms: usize::MAX };
        Molecule::parse(&self.graph.molecule(id).smiles, limits).ok()
    }

    /// Asks the network about `id` and, in the same pass, about molecules that are likely to be next.
    fn rank(&mut self, id: MoleculeId, molecule: &Molecule) {
        let mut ids = vec![id];
        let mut fingerprints = vec![molecule.fingerprint()];
        for other in self.likely_next(id) {
            if let Some(molecule) = self.parse(other) {
                ids.push(other);
                fingerprints.push(molecule.fingerprint());
            }
        }
        let (limit, mass) = WIDTHS[self.bounds.width];
        for (id, ranked) in ids.into_iter().zip(self.model.rank(&fingerprints, limit, mass)) {
            let known = &mut self.graph.molecule_mut(id).expansion;
            let tried = known.as_ref().map_or(0, |known| known.tried);
            *known = Some(Expansion { ranked, tried, width: self.bounds.width });
        }
    }

    /// Molecules that the network has not been asked about, beside `id`: what is needed together with it, then
    /// what its products could be made from instead, best first.
    fn likely_next(&self, id: MoleculeId) -> Vec<MoleculeId> {
        let mut reactions: Vec<ReactionId> = self.graph.needed_by(id).collect();
        let together = reactions.len();
        for at in 0..together {
            reactions.extend(self.graph.reactions_of(self.graph.reaction(reactions[at]).product));
        }
        reactions[together..].sort_by(|&a, &b| {
            let (a, b) = (self.graph.reaction(a), self.graph.reaction(b));
            a.frontier.total_cmp(&b.frontier).then_with(|| a.precursors.cmp(&b.precursors))
        });
        let mut next = Vec::new();
        for &other in reactions.iter().flat_map(|&reaction| &self.graph.reaction(reaction).precursors) {
            let node = self.graph.molecule(other);
            let waits = node.expansion.is_none() && node.open.is_finite() && other != id;
            if waits && next.len() + 1 < TOGETHER && !next.contains(&other) {
                next.push(other);
            }
        }
        next
    }

    fn apply(&mut self, id: MoleculeId, molecule: &Molecule, expansion: &mut Expansion, deadline: Instant) {
        let batch = BATCH << (2 * self.bounds.width);
        let prepared = PreparedMolecule::new(molecule);
        let ancestors = self.graph.with_ancestors(id);
        let (catalogue, masks) = (self.catalogue, &self.task.masks);
        let block_of =
            |smiles: &str| catalogue.find(smiles).filter(|&block| catalogue.is_allowed(block, masks));
        let first_way = self.graph.molecule(id).height == UNSOLVED;
        let end = expansion.ranked.len().min(expansion.tried + batch);
        while expansion.tried < end && !self.budget.spent_at(deadline) {
            let ranked = expansion.ranked[expansion.tried];
            expansion.tried += 1;
            let Some(template) = self.model.template(ranked.template) else { continue };
            self.counts.template_applications += 1;
            let mut solved = false;
            for outcome in template.apply(&prepared) {
                if outcome.precursors.len() > MAX_PRECURSORS {
                    continue;
                }
                let mut precursors: Vec<_> = outcome.precursors.into_iter().map(NewPrecursor::from).collect();
                precursors.sort_by(|a, b| a.smiles.cmp(&b.smiles));
                solved |= precursors.iter().all(|precursor| block_of(&precursor.smiles).is_some());
                self.graph.link(id, &ancestors, ranked, precursors, block_of);
            }
            // The rest of the batch may not be needed; it stays open at its cost.
            if solved && first_way && self.task.stop == Stop::FirstRoute {
                break;
            }
        }
    }
}

impl From<Precursor> for NewPrecursor {
    /// Sources are those of the atoms in the order of the canonical SMILES, by which the graph names molecules.
    fn from(Precursor { molecule, sources }: Precursor) -> Self {
        let smiles = molecule.canonical_smiles();
        let named = Molecule::trusted(&smiles).ok();
        let order = named.and_then(|named| molecule.correspondence(&named)).unwrap_or_default();
        let sources = order.into_iter().map(|at| atom(sources[at as usize])).collect();
        Self { heavy_atoms: atoms(molecule.heavy_atoms()), sources, smiles }
    }
}

fn atoms(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn atom(source: Option<u32>) -> u16 {
    source.and_then(|atom| u16::try_from(atom).ok()).unwrap_or(NO_ATOM)
}
