//! The constraint filter: admits steps to a search's graph or refuses them.
//!
//! Expansions are shared by searches and independent of constraints, so every outcome passes through this filter on
//! its way into the graph. Constraints on a step, or on a molecule and the positions of the target's bonds in it, are
//! decided here for good. For requirements on a whole route, each node stores what it provides, and the available
//! provisions are propagated upwards with the costs (`graph/update.rs`).

use std::cell::OnceCell;
use std::sync::Arc;

use chem::{Molecule, MoleculeKey, Precursor, TautomerKey};
use rustc_hash::FxHashMap;

use crate::constraints::{
    ConstraintEffect, ConstraintKind, ConstraintRef, Constraints, ProtectingGroups, TargetBond,
};
use crate::graph::Graph;
use crate::graph::bond_label::BondLabel;
use crate::graph::expander::{Expansion, SiteCount, TemplateOutcome};
use crate::graph::nodes::{MoleculeId, NewStep};
use crate::model::RetroModel;
use crate::model::policy::Ranked;
use catalogue::Block;
use reactivity::{Category, ReactionClass};

/// A set of requirements of a route: building blocks first, then classes.
pub type Requirements = u32;

/// The constraints of one search, prepared for fast checks.
pub struct ConstraintFilter<'a> {
    constraints: &'a Constraints,
    model: &'a RetroModel,
    rules: Vec<ConstraintRef>,
    /// Number of refusals by each rule.
    refused: Vec<u64>,
    followed: Vec<FollowedBond>,
    labels: FxHashMap<MoleculeId, BondLabel>,
    /// Rule that each forbidden template breaks, by template row.
    templates: FxHashMap<u32, usize>,
    forms_never: Vec<(TautomerKey, usize)>,
    forms_required: Vec<TautomerKey>,
    /// Rule that each molecule checked so far breaks, if any.
    molecules: FxHashMap<MoleculeKey, Option<usize>>,
}

/// A bond of the target that some rule concerns.
struct FollowedBond {
    atoms: TargetBond,
    broken_by_all: Option<usize>,
    kept_by: Vec<usize>,
}

/// An application of a template to a molecule of the graph.
pub struct TemplateApplication<'a> {
    pub product: MoleculeId,
    pub expansion: &'a Expansion,
    pub ranked: Ranked,
    pub outcomes: &'a [Arc<TemplateOutcome>],
    /// Lookup of purchasable building blocks.
    pub block_of: &'a dyn Fn(&Molecule) -> Option<Block>,
    /// Time check: once it returns false, the remaining outcomes are not admitted.
    pub should_continue: &'a dyn Fn() -> bool,
    /// Precursors of the template at each place of the product, for all of `outcomes`; computed at the first request.
    pub apart: OnceCell<Vec<Box<[Precursor]>>>,
}

impl<'a> ConstraintFilter<'a> {
    /// Creates the filter for `graph`, which holds only its target; `None` if there are no constraints.
    pub fn new(constraints: &'a Constraints, model: &'a RetroModel, graph: &Graph) -> Option<Self> {
        let rules = constraints.rules();
        if rules.is_empty() {
            return None;
        }
        let at = |kind| rules.iter().position(|rule| rule.kind == kind).unwrap_or_default();
        let first_never = at(ConstraintKind::MoleculesNever);
        let forms = |molecules: &[Molecule]| molecules.iter().map(Molecule::tautomer_key).collect::<Vec<_>>();
        let followed = followed(constraints, &rules);
        let target = BondLabel::of_target(followed.iter().map(|bond| bond.atoms));
        let first_template = at(ConstraintKind::TemplatesNever);
        let never = |row: &u32| {
            let hash = model.template_hash(*row);
            constraints.templates_never.iter().position(|never| never == hash)
        };
        let rows = 0..if constraints.templates_never.is_empty() { 0 } else { model.templates() as u32 };
        Some(Self {
            constraints,
            model,
            refused: vec![0; rules.len()],
            labels: FxHashMap::from_iter([(graph.target(), target)]),
            templates: rows.filter_map(|row| Some((row, first_template + never(&row)?))).collect(),
            forms_never: forms(&constraints.molecules_never).into_iter().zip(first_never..).collect(),
            forms_required: forms(&constraints.building_blocks_required),
            molecules: FxHashMap::default(),
            followed,
            rules,
        })
    }

    /// Returns the requirements of every route.
    pub fn required(&self) -> Requirements {
        let count = self.forms_required.len() + self.constraints.reaction_classes_required.len();
        (0..count).fold(0, |things, at| things | 1 << at)
    }

    /// Returns the maximum number of steps of a route.
    pub fn max_steps(&self) -> usize {
        self.constraints.max_steps.map_or(usize::MAX, |most| most as usize)
    }

    /// Returns true if nodes are also distinguished by their labels, so that two nodes may be one molecule.
    pub fn follows_bonds(&self) -> bool {
        !self.followed.is_empty()
    }

    /// Links the admitted steps of the application to the graph.
    pub fn link(&mut self, graph: &mut Graph, applied: &TemplateApplication<'_>) {
        let block_of = applied.block_of;
        let steps = self.admitted(graph, applied);
        let known = graph.molecule_count();
        let label_of: FxHashMap<u128, BondLabel> = steps.iter().flat_map(labelled).collect();
        let sellable = |molecule: &Molecule, label: Option<&BondLabel>| {
            let is_withheld = label.is_some_and(|label| self.withholds(label).is_some());
            block_of(molecule).filter(|_| !is_withheld)
        };
        graph.link_steps(applied.product, applied.ranked, steps, sellable);
        for id in graph.all_molecules().skip(known) {
            self.introduce(graph, id, &label_of, block_of);
        }
    }

    /// Returns the steps of the application that no rule refuses.
    fn admitted(&mut self, graph: &Graph, applied: &TemplateApplication<'_>) -> Vec<NewStep> {
        if let Some(&rule) = self.templates.get(&applied.ranked.template) {
            self.refused[rule] += applied.outcomes.len() as u64;
            return Vec::new();
        }
        let label = self.labels.get(&applied.product).cloned().unwrap_or_default();
        let mut steps = Vec::new();
        for found in applied.outcomes {
            if !(applied.should_continue)() {
                break;
            }
            match self.admit(graph, applied, &label, found) {
                Ok(open) => steps.extend(open),
                Err(rules) => distinct(rules).into_iter().for_each(|rule| self.refused[rule] += 1),
            }
        }
        steps
    }

    /// Returns the variants of `outcome` that no rule refuses; if there are none, the rules that refused them.
    fn admit(
        &mut self,
        graph: &Graph,
        applied: &TemplateApplication<'_>,
        label: &BondLabel,
        found: &Arc<TemplateOutcome>,
    ) -> Result<Vec<NewStep>, Vec<usize>> {
        if let Some(rule) = self.forbidden(found) {
            return Err(vec![rule]);
        }
        let (mut open, mut refused) = (Vec::new(), Vec::new());
        for way in self.ways(label, applied, found)? {
            match self.pass(graph, applied, way) {
                Ok(step) => open.push(step),
                Err(rule) => refused.push(rule),
            }
        }
        if open.is_empty() { Err(refused) } else { Ok(open) }
    }

    /// Returns the rule that a precursor of an outcome breaks.
    fn forbidden(&mut self, found: &TemplateOutcome) -> Option<usize> {
        if self.forms_never.is_empty() && self.constraints.substructures_never.is_empty() {
            return None;
        }
        let first = self.first_of(ConstraintKind::SubstructuresNever);
        let Self { molecules, forms_never, constraints, .. } = self;
        found.precursors.iter().find_map(|precursor| {
            let molecule = &precursor.molecule;
            *molecules.entry(molecule.key()).or_insert_with(|| {
                let form = forms_never.iter().find(|(form, _)| *form == molecule.tautomer_key());
                let patterns = &constraints.substructures_never;
                let broken = || patterns.iter().position(|pattern| pattern.matches(molecule));
                form.map(|&(_, rule)| rule).or_else(|| broken().map(|at| first + at))
            })
        })
    }

    /// Returns the variants of `outcome`, by the target atoms that they disconnect, each with the labels of its
    /// precursors; if there are none, the rules that forbid them all.
    fn ways(
        &self,
        label: &BondLabel,
        applied: &TemplateApplication<'_>,
        found: &Arc<TemplateOutcome>,
    ) -> Result<Vec<NewStep>, Vec<usize>> {
        if label.is_empty() {
            return Ok(vec![NewStep::free(found)]);
        }
        let mut ways = Vec::new();
        let mut refusals = Vec::new();
        for way in self.equally_urgent(applied, found) {
            match self.follow(label, &way) {
                Ok(step) if ways.iter().all(|known: &NewStep| known.labels != step.labels) => ways.push(step),
                Ok(_) => {}
                Err(rules) => refusals.extend(rules),
            }
        }
        if ways.is_empty() { Err(refusals) } else { Ok(ways) }
    }

    /// Returns the outcomes of the template at other places of the product with the same precursors.
    fn equally_urgent(
        &self,
        applied: &TemplateApplication<'_>,
        found: &Arc<TemplateOutcome>,
    ) -> Vec<Arc<TemplateOutcome>> {
        let template = self.model.template(applied.ranked.template);
        let (SiteCount::Several, Some(template)) = (found.places, template) else {
            return vec![Arc::clone(found)];
        };
        let keys = |parts: &[Precursor]| parts.iter().map(|part| part.molecule.key()).collect::<Vec<_>>();
        let wanted = keys(&found.precursors);
        let apply = || applied.expansion.precursors_by_site(template, &mut || (applied.should_continue)());
        let alike = applied.apart.get_or_init(apply).iter().filter(|parts| keys(parts) == wanted);
        let mut all: Vec<Arc<TemplateOutcome>> =
            alike.map(|parts| Arc::new(found.like(parts.to_vec()))).collect();
        if all.is_empty() {
            all.push(Arc::clone(found));
        }
        all
    }

    /// Returns the step with the labels of its precursors, or the rules that protect the bonds that it breaks.
    fn follow(&self, label: &BondLabel, found: &Arc<TemplateOutcome>) -> Result<NewStep, Vec<usize>> {
        let labels: Option<Vec<BondLabel>> =
            found.precursors.iter().map(|part| label.in_precursor(part)).collect();
        let about = |bond: u32| &self.followed[bond as usize];
        let Some(labels) = labels else {
            return Err(label.bonds().flat_map(|bond| about(bond).rules()).collect());
        };
        let is_whole = |bond: &u32| labels.iter().any(|label| label.bonds().any(|other| other == *bond));
        let broken = label.bonds().filter(|bond| !is_whole(bond));
        let kept: Vec<usize> = broken.flat_map(|bond| about(bond).kept_by.iter().copied()).collect();
        if !kept.is_empty() {
            return Err(kept);
        }
        // Equal precursors are ordered by their labels, so that the same step is recognised again.
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|&at| (found.precursors[at].molecule.key(), labels[at].clone(), at));
        let found = if order.is_sorted() {
            Arc::clone(found)
        } else {
            let parts = order.iter().map(|&at| found.precursors[at].clone()).collect();
            Arc::new(found.like(parts))
        };
        let labels = order.into_iter().map(|at| labels[at].clone()).collect();
        Ok(NewStep { labels, ..NewStep::free(&found) })
    }

    /// Returns the step with what it provides, or the rule that refuses its class or its number of steps.
    fn pass(
        &self,
        graph: &Graph,
        applied: &TemplateApplication<'_>,
        step: NewStep,
    ) -> Result<NewStep, usize> {
        let constraints = self.constraints;
        if constraints.max_steps.is_some() && self.least_steps(graph, applied, &step) > self.max_steps() {
            return Err(self.first_of(ConstraintKind::MaxSteps));
        }
        let asks_for_class = !constraints.reaction_classes_only.is_empty()
            || !constraints.reaction_classes_never.is_empty()
            || !constraints.reaction_classes_required.is_empty()
            || constraints.protecting_groups == ProtectingGroups::Never;
        if !asks_for_class {
            return Ok(step);
        }
        let class = step.outcome.class(applied.expansion);
        match self.refuses_class(class) {
            Some(rule) => Err(rule),
            None => Ok(NewStep { met_requirements: self.class_given(class), ..step }),
        }
    }

    /// Returns the minimum number of steps of a route with this one: this step, the target's, and one for each
    /// precursor that cannot be bought.
    fn least_steps(&self, graph: &Graph, applied: &TemplateApplication<'_>, step: &NewStep) -> usize {
        let is_bought = |at: usize, part: &Precursor| {
            let is_withheld = step.labels.get(at).is_some_and(|label| self.withholds(label).is_some());
            !is_withheld && (applied.block_of)(&part.molecule).is_some()
        };
        let parts = step.outcome.precursors.iter().enumerate();
        let mut made: Vec<MoleculeKey> =
            parts.filter(|&(at, part)| !is_bought(at, part)).map(|(_, part)| part.molecule.key()).collect();
        made.sort_unstable();
        made.dedup();
        1 + usize::from(applied.product != graph.target()) + made.len()
    }

    fn refuses_class(&self, class: ReactionClass) -> Option<usize> {
        let constraints = self.constraints;
        let is = |name: &String| name == class.name;
        let only = &constraints.reaction_classes_only;
        if !only.is_empty() && !only.iter().any(is) {
            return Some(self.first_of(ConstraintKind::ReactionClassesOnly));
        }
        if let Some(at) = constraints.reaction_classes_never.iter().position(is) {
            return Some(self.first_of(ConstraintKind::ReactionClassesNever) + at);
        }
        let protects = matches!(class.category, Category::Protection | Category::Deprotection);
        (protects && constraints.protecting_groups == ProtectingGroups::Never)
            .then(|| self.first_of(ConstraintKind::ProtectingGroups))
    }

    /// Returns the requirements that a step of this class meets.
    fn class_given(&self, class: ReactionClass) -> Requirements {
        let required = self.constraints.reaction_classes_required.iter().enumerate();
        let given = required.filter(|(_, name)| *name == class.name);
        given.fold(0, |things, (at, _)| things | 1 << (self.forms_required.len() + at))
    }

    /// Registers a new molecule of the graph: its label and the requirements that it meets.
    fn introduce(
        &mut self,
        graph: &mut Graph,
        id: MoleculeId,
        labels: &FxHashMap<u128, BondLabel>,
        block_of: &dyn Fn(&Molecule) -> Option<Block>,
    ) {
        let node = graph.molecule(id);
        let label = labels.get(&node.graph_key).cloned().unwrap_or_default();
        if let Some(rule) = self.withholds(&label)
            && block_of(&node.molecule).is_some()
        {
            self.refused[rule] += 1;
        }
        if node.block.is_some() && !self.forms_required.is_empty() {
            let form = node.molecule.tautomer_key();
            let required = self.forms_required.iter().enumerate();
            let met_requirements =
                required.filter(|(_, other)| **other == form).fold(0, |things, (at, _)| things | 1 << at);
            graph.molecule_mut(id).met_requirements = met_requirements;
        }
        if !label.is_empty() {
            self.labels.insert(id, label);
        }
    }

    /// Returns the rule that requires a molecule with this label to be made, not bought.
    fn withholds(&self, label: &BondLabel) -> Option<usize> {
        label.bonds().find_map(|bond| self.followed[bond as usize].broken_by_all)
    }

    fn first_of(&self, kind: ConstraintKind) -> usize {
        self.rules.iter().position(|rule| rule.kind == kind).unwrap_or_default()
    }

    /// Counts a route, or a part of one, that misses requirements.
    pub fn refuse_unmet(&mut self, wanted: Requirements) {
        let blocks = self.forms_required.len();
        for at in (0..Requirements::BITS as usize).filter(|at| wanted >> at & 1 == 1) {
            let rule = match at.checked_sub(blocks) {
                Some(at) => self.first_of(ConstraintKind::ReactionClassesRequired) + at,
                None => self.first_of(ConstraintKind::BuildingBlocksRequired) + at,
            };
            self.refused[rule] += 1;
        }
    }

    /// Counts a route, or a part of one, that has too many steps.
    pub fn refuse_for_length(&mut self) {
        let rule = self.first_of(ConstraintKind::MaxSteps);
        self.refused[rule] += 1;
    }

    /// Returns the number of refusals by each rule, for [`Self::count_as`].
    pub fn counted(&self) -> Vec<u64> {
        self.refused.clone()
    }

    /// Restores the numbers of refusals.
    pub fn count_as(&mut self, counted: Vec<u64>) {
        self.refused = counted;
    }

    /// Returns the refusals of each rule.
    pub fn effects(&self) -> Vec<ConstraintEffect> {
        let effect =
            |(&rule, &refused): (&ConstraintRef, &u64)| ConstraintEffect { rule, refused, alone: None };
        self.rules.iter().zip(&self.refused).map(effect).collect()
    }
}

impl FollowedBond {
    fn rules(&self) -> impl Iterator<Item = usize> {
        self.kept_by.iter().copied().chain(self.broken_by_all)
    }
}

/// Returns the bonds that rules concern, each once, ascending.
fn followed(constraints: &Constraints, rules: &[ConstraintRef]) -> Vec<FollowedBond> {
    let mut bonds: Vec<FollowedBond> = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let item = rule.index.unwrap_or_default();
        let atoms = match rule.kind {
            ConstraintKind::BondsToBreak => &constraints.bonds_to_break[item..=item],
            ConstraintKind::BondsToKeep => &constraints.bonds_to_keep[item..=item],
            ConstraintKind::FragmentsToKeep => &constraints.fragments_to_keep[item],
            _ => continue,
        };
        for &atoms in atoms {
            let known = bonds.iter().position(|bond| bond.atoms == atoms);
            let place = known.unwrap_or_else(|| {
                bonds.push(FollowedBond { atoms, broken_by_all: None, kept_by: Vec::new() });
                bonds.len() - 1
            });
            match rule.kind {
                ConstraintKind::BondsToBreak => bonds[place].broken_by_all = Some(at),
                _ => bonds[place].kept_by.push(at),
            }
        }
    }
    bonds.sort_by_key(|bond| bond.atoms);
    bonds
}

/// Iterates over the labels of a step's precursors, by the graph key of molecule and label.
fn labelled(step: &NewStep) -> impl Iterator<Item = (u128, BondLabel)> {
    let parts = step.outcome.precursors.iter().zip(&step.labels);
    parts.map(|(part, label)| (part.molecule.key().number() ^ label.digest(), label.clone()))
}

fn distinct(mut rules: Vec<usize>) -> Vec<usize> {
    rules.sort_unstable();
    rules.dedup();
    rules
}
