//! What constraints let into a search's graph, and what they refuse.
//!
//! Expansions are shared by searches and know of no constraint, so every outcome passes here on its way from them into the graph.
//! What can be told of a step, or of a molecule and where the target's bonds lie in it, is settled here for good. Of what a whole
//! route must have, nodes are told what they give, and costs flow upwards with what can be had below (`graph/update.rs`).

use std::cell::OnceCell;
use std::sync::Arc;

use chem::{Key, Molecule, Outcome, Precursor, TautomerKey};
use rustc_hash::FxHashMap;

use crate::constraints::{Constraints, Kind, ProtectingGroups, Rule, TargetBond, Verdict};
use crate::graph::Graph;
use crate::graph::expander::{Expansion, Found, Places};
use crate::graph::label::Label;
use crate::graph::nodes::{MoleculeId, NewStep};
use crate::model::RetroModel;
use crate::model::policy::Ranked;
use catalogue::Block;
use reactivity::{Category, ReactionClass};

/// A set of things that a route must have: building blocks first, then classes.
pub type Things = u32;

/// The constraints of one search, ready to be asked.
pub struct Gate<'a> {
    constraints: &'a Constraints,
    model: &'a RetroModel,
    rules: Vec<Rule>,
    /// How often each of them refused something.
    refused: Vec<u64>,
    followed: Vec<FollowedBond>,
    labels: FxHashMap<MoleculeId, Label>,
    /// By row, the rule that a template breaks.
    templates: FxHashMap<u32, usize>,
    forms_never: Vec<(TautomerKey, usize)>,
    forms_required: Vec<TautomerKey>,
    /// The rule that a molecule breaks, of those that were looked at.
    molecules: FxHashMap<Key, Option<usize>>,
}

/// A bond of the target that some rule is about.
struct FollowedBond {
    atoms: TargetBond,
    broken_by_all: Option<usize>,
    kept_by: Vec<usize>,
}

/// An application of a template to a molecule of the graph.
pub struct Application<'a> {
    pub product: MoleculeId,
    pub expansion: &'a Expansion,
    pub ranked: Ranked,
    pub found: &'a [Arc<Found>],
    /// What can be bought.
    pub block_of: &'a dyn Fn(&Molecule) -> Option<Block>,
    /// Whether there is time to look at more; once there is none, what is left is not admitted.
    pub go_on: &'a dyn Fn() -> bool,
    /// What the template makes of each place of the product; looked for when it is first asked for, for all of `found`.
    pub apart: OnceCell<Vec<Outcome>>,
}

impl<'a> Gate<'a> {
    /// The gate to `graph`, which has its target alone; `None` where nothing is asked.
    pub fn new(constraints: &'a Constraints, model: &'a RetroModel, graph: &Graph) -> Option<Self> {
        let rules = constraints.rules();
        if rules.is_empty() {
            return None;
        }
        let at = |kind| rules.iter().position(|rule| rule.kind == kind).unwrap_or_default();
        let first_never = at(Kind::MoleculesNever);
        let forms = |molecules: &[Molecule]| molecules.iter().map(Molecule::tautomer_key).collect::<Vec<_>>();
        let followed = followed(constraints, &rules);
        let target = Label::of_target(followed.iter().map(|bond| bond.atoms));
        let first_template = at(Kind::TemplatesNever);
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

    /// What every route must have.
    pub fn required(&self) -> Things {
        let count = self.forms_required.len() + self.constraints.reaction_classes_required.len();
        (0..count).fold(0, |things, at| things | 1 << at)
    }

    /// Most steps of a route.
    pub fn max_steps(&self) -> usize {
        self.constraints.max_steps.map_or(usize::MAX, |most| most as usize)
    }

    /// Whether nodes are told apart by their labels too, so that two may be one molecule.
    pub fn follows_bonds(&self) -> bool {
        !self.followed.is_empty()
    }

    /// Links what may stand of the application to the graph.
    pub fn link(&mut self, graph: &mut Graph, applied: &Application<'_>) {
        let block_of = applied.block_of;
        let steps = self.admitted(graph, applied);
        let known = graph.molecules();
        let label_of: FxHashMap<u128, Label> = steps.iter().flat_map(labelled).collect();
        let sellable = |molecule: &Molecule, label: Option<&Label>| {
            let is_withheld = label.is_some_and(|label| self.withholds(label).is_some());
            block_of(molecule).filter(|_| !is_withheld)
        };
        graph.link_steps(applied.product, applied.ranked, steps, sellable);
        for id in graph.all_molecules().skip(known) {
            self.introduce(graph, id, &label_of, block_of);
        }
    }

    /// The steps of the application that no rule refuses.
    fn admitted(&mut self, graph: &Graph, applied: &Application<'_>) -> Vec<NewStep> {
        if let Some(&rule) = self.templates.get(&applied.ranked.template) {
            self.refused[rule] += applied.found.len() as u64;
            return Vec::new();
        }
        let label = self.labels.get(&applied.product).cloned().unwrap_or_default();
        let mut steps = Vec::new();
        for found in applied.found {
            if !(applied.go_on)() {
                break;
            }
            match self.admit(graph, applied, &label, found) {
                Ok(open) => steps.extend(open),
                Err(rules) => distinct(rules).into_iter().for_each(|rule| self.refused[rule] += 1),
            }
        }
        steps
    }

    /// The ways to do what `found` does that no rule refuses; the rules, if there are none.
    fn admit(
        &mut self,
        graph: &Graph,
        applied: &Application<'_>,
        label: &Label,
        found: &Arc<Found>,
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

    /// The rule that a molecule of an outcome breaks.
    fn forbidden(&mut self, found: &Found) -> Option<usize> {
        if self.forms_never.is_empty() && self.constraints.substructures_never.is_empty() {
            return None;
        }
        let first = self.first_of(Kind::SubstructuresNever);
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

    /// The ways to do what `found` does, by the atoms of the target that they take apart, each with the labels of its
    /// precursors; else the rules that forbid every one.
    fn ways(
        &self,
        label: &Label,
        applied: &Application<'_>,
        found: &Arc<Found>,
    ) -> Result<Vec<NewStep>, Vec<usize>> {
        if label.is_empty() {
            return Ok(vec![NewStep::free(found)]);
        }
        let mut ways = Vec::new();
        let mut refusals = Vec::new();
        for way in self.alike(applied, found) {
            match self.follow(label, &way) {
                Ok(step) if ways.iter().all(|known: &NewStep| known.labels != step.labels) => ways.push(step),
                Ok(_) => {}
                Err(rules) => refusals.extend(rules),
            }
        }
        if ways.is_empty() { Err(refusals) } else { Ok(ways) }
    }

    /// What the template makes of other places of the product with the same result.
    fn alike(&self, applied: &Application<'_>, found: &Arc<Found>) -> Vec<Arc<Found>> {
        let template = self.model.template(applied.ranked.template);
        let (Places::Several, Some(template)) = (found.places, template) else {
            return vec![Arc::clone(found)];
        };
        let keys = |parts: &[Precursor]| parts.iter().map(|part| part.molecule.key()).collect::<Vec<_>>();
        let wanted = keys(&found.precursors);
        let look = || template.apply_apart(applied.expansion.prepared(), &mut || (applied.go_on)());
        let outcomes = applied.apart.get_or_init(look).iter();
        let alike = outcomes.filter(|outcome| keys(&outcome.precursors) == wanted);
        let mut all: Vec<Arc<Found>> =
            alike.map(|outcome| Arc::new(found.like(outcome.precursors.clone()))).collect();
        if all.is_empty() {
            all.push(Arc::clone(found));
        }
        all
    }

    /// The step with the labels of its precursors, or the rules that keep what it breaks.
    fn follow(&self, label: &Label, found: &Arc<Found>) -> Result<NewStep, Vec<usize>> {
        let labels: Option<Vec<Label>> =
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
        // Of like precursors the order is that of their labels, so that a step is known again.
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

    /// The step with what it gives, unless its class or the steps that it needs are too much.
    fn pass(&self, graph: &Graph, applied: &Application<'_>, step: NewStep) -> Result<NewStep, usize> {
        let constraints = self.constraints;
        if constraints.max_steps.is_some() && self.least_steps(graph, applied, &step) > self.max_steps() {
            return Err(self.first_of(Kind::MaxSteps));
        }
        let asks_for_class = !constraints.reaction_classes_only.is_empty()
            || !constraints.reaction_classes_never.is_empty()
            || !constraints.reaction_classes_required.is_empty()
            || constraints.protecting_groups == ProtectingGroups::Never;
        if !asks_for_class {
            return Ok(step);
        }
        let class = step.found.class(applied.expansion);
        match self.refuses_class(class) {
            Some(rule) => Err(rule),
            None => Ok(NewStep { gives: self.class_given(class), ..step }),
        }
    }

    /// The fewest steps of a route with this one: its own, that of the target, and one for each molecule that nobody sells.
    fn least_steps(&self, graph: &Graph, applied: &Application<'_>, step: &NewStep) -> usize {
        let is_bought = |at: usize, part: &Precursor| {
            let is_withheld = step.labels.get(at).is_some_and(|label| self.withholds(label).is_some());
            !is_withheld && (applied.block_of)(&part.molecule).is_some()
        };
        let parts = step.found.precursors.iter().enumerate();
        let mut made: Vec<Key> =
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
            return Some(self.first_of(Kind::ReactionClassesOnly));
        }
        if let Some(at) = constraints.reaction_classes_never.iter().position(is) {
            return Some(self.first_of(Kind::ReactionClassesNever) + at);
        }
        let protects = matches!(class.category, Category::Protection | Category::Deprotection);
        (protects && constraints.protecting_groups == ProtectingGroups::Never)
            .then(|| self.first_of(Kind::ProtectingGroups))
    }

    /// What a step of this class gives of what routes must have.
    fn class_given(&self, class: ReactionClass) -> Things {
        let required = self.constraints.reaction_classes_required.iter().enumerate();
        let given = required.filter(|(_, name)| *name == class.name);
        given.fold(0, |things, (at, _)| things | 1 << (self.forms_required.len() + at))
    }

    /// Tells a new molecule of the graph what it is.
    fn introduce(
        &mut self,
        graph: &mut Graph,
        id: MoleculeId,
        labels: &FxHashMap<u128, Label>,
        block_of: &dyn Fn(&Molecule) -> Option<Block>,
    ) {
        let node = graph.molecule(id);
        let label = labels.get(&node.place).cloned().unwrap_or_default();
        if let Some(rule) = self.withholds(&label)
            && block_of(&node.molecule).is_some()
        {
            self.refused[rule] += 1;
        }
        if node.block.is_some() && !self.forms_required.is_empty() {
            let form = node.molecule.tautomer_key();
            let required = self.forms_required.iter().enumerate();
            let gives =
                required.filter(|(_, other)| **other == form).fold(0, |things, (at, _)| things | 1 << at);
            graph.molecule_mut(id).gives = gives;
        }
        if !label.is_empty() {
            self.labels.insert(id, label);
        }
    }

    /// The rule by which a molecule with this label must be made, not bought.
    fn withholds(&self, label: &Label) -> Option<usize> {
        label.bonds().find_map(|bond| self.followed[bond as usize].broken_by_all)
    }

    fn first_of(&self, kind: Kind) -> usize {
        self.rules.iter().position(|rule| rule.kind == kind).unwrap_or_default()
    }

    /// Counts a route, or a part of one, that does not have what it must.
    pub fn refuse_for_want_of(&mut self, wanted: Things) {
        let blocks = self.forms_required.len();
        for at in (0..Things::BITS as usize).filter(|at| wanted >> at & 1 == 1) {
            let rule = match at.checked_sub(blocks) {
                Some(at) => self.first_of(Kind::ReactionClassesRequired) + at,
                None => self.first_of(Kind::BuildingBlocksRequired) + at,
            };
            self.refused[rule] += 1;
        }
    }

    /// Counts a route, or a part of one, that has too many steps.
    pub fn refuse_for_length(&mut self) {
        let rule = self.first_of(Kind::MaxSteps);
        self.refused[rule] += 1;
    }

    /// How often each rule refused something, for [`Self::count_as`].
    pub fn counted(&self) -> Vec<u64> {
        self.refused.clone()
    }

    /// Has refused as often as that.
    pub fn count_as(&mut self, counted: Vec<u64>) {
        self.refused = counted;
    }

    /// What each rule refused.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |(&rule, &refused): (&Rule, &u64)| Verdict { rule, refused, alone: None };
        self.rules.iter().zip(&self.refused).map(verdict).collect()
    }
}

impl FollowedBond {
    fn rules(&self) -> impl Iterator<Item = usize> {
        self.kept_by.iter().copied().chain(self.broken_by_all)
    }
}

/// The bonds that rules are about, each once, ascending.
fn followed(constraints: &Constraints, rules: &[Rule]) -> Vec<FollowedBond> {
    let mut bonds: Vec<FollowedBond> = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let item = rule.index.unwrap_or_default();
        let atoms = match rule.kind {
            Kind::BondsToBreak => &constraints.bonds_to_break[item..=item],
            Kind::BondsToKeep => &constraints.bonds_to_keep[item..=item],
            Kind::FragmentsToKeep => &constraints.fragments_to_keep[item],
            _ => continue,
        };
        for &atoms in atoms {
            let known = bonds.iter().position(|bond| bond.atoms == atoms);
            let place = known.unwrap_or_else(|| {
                bonds.push(FollowedBond { atoms, broken_by_all: None, kept_by: Vec::new() });
                bonds.len() - 1
            });
            match rule.kind {
                Kind::BondsToBreak => bonds[place].broken_by_all = Some(at),
                _ => bonds[place].kept_by.push(at),
            }
        }
    }
    bonds.sort_by_key(|bond| bond.atoms);
    bonds
}

/// The labels of a step's precursors, by the place that molecule and label have in the graph.
fn labelled(step: &NewStep) -> impl Iterator<Item = (u128, Label)> {
    let parts = step.found.precursors.iter().zip(&step.labels);
    parts.map(|(part, label)| (part.molecule.key().number() ^ label.digest(), label.clone()))
}

fn distinct(mut rules: Vec<usize>) -> Vec<usize> {
    rules.sort_unstable();
    rules.dedup();
    rules
}
