//! What a search must, may and may not do beside reaching building blocks.
//!
//! One struct of lists and bounds, empty where nothing is asked, so that a search without constraints takes one branch. What it
//! holds cannot be wrong: bonds are bonds of the target, patterns are patterns, names are those that steps have.
//!
//! Most constraints look at one step, or at one molecule, and those are refused before they enter the search graph
//! (`graph/gate.rs`). What a whole route must have (building blocks, classes, a number of steps) bounds the search from what is
//! known to lie below a molecule, and extraction does the rest.

use std::fmt;
use std::sync::Arc;

use chem::{Molecule, Pattern};

/// A bond of the target: its two atoms, by their places in the target's canonical SMILES, the lower one first.
pub type TargetBond = (u32, u32);

/// What routes must, may and may not do; none by default.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// Every route breaks each of these.
    pub bonds_to_break: Vec<TargetBond>,
    /// No step breaks one of these.
    pub bonds_to_keep: Vec<TargetBond>,
    /// No step breaks one of these; a list for each fragment that was asked for.
    pub fragments_to_keep: Vec<Vec<TargetBond>>,
    /// In no route, tautomers and charged forms included; the target may be one.
    pub molecules_never: Vec<Molecule>,
    /// In no molecule of a route but the target.
    pub substructures_never: Vec<Arc<Pattern>>,
    /// Bought by every route, at most [`Self::MOST_REQUIRED`].
    pub building_blocks_required: Vec<Molecule>,
    /// Names of classes. Unless there are none, every step has one of them.
    pub reaction_classes_only: Vec<String>,
    /// No step has one of them.
    pub reaction_classes_never: Vec<String>,
    /// Every route has a step of each of them, at most [`Self::MOST_REQUIRED`].
    pub reaction_classes_required: Vec<String>,
    /// Hashes of templates; no step rests on one of them.
    pub templates_never: Vec<String>,
    /// Most steps of a whole route, each molecule made once.
    pub max_steps: Option<u32>,
    /// Whether steps may put protecting groups on and take them off.
    pub protecting_groups: ProtectingGroups,
}

/// Whether steps may put protecting groups on and take them off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProtectingGroups {
    /// They may.
    #[default]
    Allowed,
    /// No step is a protection or a deprotection by its class.
    Never,
}

/// Which constraint, named as a request names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is the field of Constraints of its name")]
pub enum Kind {
    BondsToBreak,
    BondsToKeep,
    FragmentsToKeep,
    MoleculesNever,
    SubstructuresNever,
    BuildingBlocksRequired,
    ReactionClassesOnly,
    ReactionClassesNever,
    ReactionClassesRequired,
    TemplatesNever,
    MaxSteps,
    ProtectingGroups,
}

/// One constraint: an item of a list, or what is no list or counts as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    /// Which of them.
    pub kind: Kind,
    /// The item's place in its list.
    pub index: Option<usize>,
}

/// What a constraint came to in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Which constraint.
    pub rule: Rule,
    /// Steps, or ways to put them together, that it refused.
    pub refused: u64,
    /// Of a search that found no route: whether one was found without this constraint. `None` where that was not looked at.
    pub alone: Option<Alone>,
}

/// Whether one constraint alone stands between a target and its routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// Without it there is a route.
    Forbids,
    /// No route was found without it either.
    Innocent,
}

impl Constraints {
    /// Most building blocks, and most classes, that a route may be required to have.
    pub const MOST_REQUIRED: usize = 16;

    /// Whether nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules().is_empty()
    }

    /// Every constraint, kind by kind.
    #[must_use]
    pub fn rules(&self) -> Vec<Rule> {
        let lists = [
            (Kind::BondsToBreak, self.bonds_to_break.len()),
            (Kind::BondsToKeep, self.bonds_to_keep.len()),
            (Kind::FragmentsToKeep, self.fragments_to_keep.len()),
            (Kind::MoleculesNever, self.molecules_never.len()),
            (Kind::SubstructuresNever, self.substructures_never.len()),
            (Kind::BuildingBlocksRequired, self.building_blocks_required.len()),
            (Kind::ReactionClassesNever, self.reaction_classes_never.len()),
            (Kind::ReactionClassesRequired, self.reaction_classes_required.len()),
            (Kind::TemplatesNever, self.templates_never.len()),
        ];
        let wholes = [
            (Kind::ReactionClassesOnly, !self.reaction_classes_only.is_empty()),
            (Kind::MaxSteps, self.max_steps.is_some()),
            (Kind::ProtectingGroups, self.protecting_groups == ProtectingGroups::Never),
        ];
        let items =
            lists.into_iter().flat_map(|(kind, count)| (0..count).map(move |at| Rule::item(kind, at)));
        let wholes = wholes.into_iter().filter(|&(_, is_set)| is_set).map(|(kind, _)| Rule::whole(kind));
        let mut rules: Vec<Rule> = items.chain(wholes).collect();
        rules.sort_unstable();
        rules
    }

    /// The same constraints but for one.
    #[must_use]
    pub fn without(&self, rule: Rule) -> Self {
        fn drop_item<T>(list: &mut Vec<T>, at: usize) {
            if at < list.len() {
                list.remove(at);
            }
        }
        let (mut rest, at) = (self.clone(), rule.index.unwrap_or_default());
        match rule.kind {
            Kind::BondsToBreak => drop_item(&mut rest.bonds_to_break, at),
            Kind::BondsToKeep => drop_item(&mut rest.bonds_to_keep, at),
            Kind::FragmentsToKeep => drop_item(&mut rest.fragments_to_keep, at),
            Kind::MoleculesNever => drop_item(&mut rest.molecules_never, at),
            Kind::SubstructuresNever => drop_item(&mut rest.substructures_never, at),
            Kind::BuildingBlocksRequired => drop_item(&mut rest.building_blocks_required, at),
            Kind::ReactionClassesOnly => rest.reaction_classes_only.clear(),
            Kind::ReactionClassesNever => drop_item(&mut rest.reaction_classes_never, at),
            Kind::ReactionClassesRequired => drop_item(&mut rest.reaction_classes_required, at),
            Kind::TemplatesNever => drop_item(&mut rest.templates_never, at),
            Kind::MaxSteps => rest.max_steps = None,
            Kind::ProtectingGroups => rest.protecting_groups = ProtectingGroups::Allowed,
        }
        rest
    }

    /// Whether a route that buys the target is what is asked for, as far as constraints go.
    pub(crate) fn allow_buying(&self, target: &Molecule) -> bool {
        let is_target = |block: &Molecule| block.tautomer_key() == target.tautomer_key();
        self.bonds_to_break.is_empty()
            && self.reaction_classes_required.is_empty()
            && self.building_blocks_required.iter().all(is_target)
    }
}

impl Rule {
    /// Item number `at` of a list.
    #[must_use]
    pub fn item(kind: Kind, at: usize) -> Self {
        Self { kind, index: Some(at) }
    }

    /// What is no list, or counts as a whole.
    #[must_use]
    pub fn whole(kind: Kind) -> Self {
        Self { kind, index: None }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::BondsToBreak => "bonds_to_break",
            Self::BondsToKeep => "bonds_to_keep",
            Self::FragmentsToKeep => "fragments_to_keep",
            Self::MoleculesNever => "molecules_never",
            Self::SubstructuresNever => "substructures_never",
            Self::BuildingBlocksRequired => "building_blocks_required",
            Self::ReactionClassesOnly => "reaction_classes_only",
            Self::ReactionClassesNever => "reaction_classes_never",
            Self::ReactionClassesRequired => "reaction_classes_required",
            Self::TemplatesNever => "templates_never",
            Self::MaxSteps => "max_steps",
            Self::ProtectingGroups => "protecting_groups",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_each_of_its_rules_nothing_is_asked() {
        let mut constraints = Constraints {
            bonds_to_break: vec![(0, 1), (2, 3)],
            reaction_classes_only: vec!["amide coupling".to_owned(), "Suzuki coupling".to_owned()],
            templates_never: vec!["a".to_owned()],
            max_steps: Some(3),
            protecting_groups: ProtectingGroups::Never,
            ..Constraints::default()
        };

        let count = constraints.rules().len();
        while let Some(&rule) = constraints.rules().last() {
            constraints = constraints.without(rule);
        }

        assert_eq!(count, 6);
        assert!(constraints.is_empty());
    }
}
