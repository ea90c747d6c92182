//! Constraints of a search, beyond reaching building blocks.
//!
//! One struct of lists and bounds, empty if there are no constraints, so that a search without them takes one branch.
//! Its contents are valid by construction: bonds are bonds of the target, patterns are patterns, names are names of
//! step classes.
//!
//! Most constraints concern one step or one molecule; violations are refused before they enter the search graph
//! (`graph/constraint_filter.rs`). Requirements on a whole route (building blocks, classes, a number of steps) prune the search by
//! what is known to be available below a molecule; extraction checks the rest.

use std::fmt;
use std::sync::Arc;

use chem::{Molecule, Pattern};

/// A bond of the target: its two atoms, by their positions in the target's canonical SMILES, the lower one first.
pub type TargetBond = (u32, u32);

/// The constraints on routes; none by default.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// Bonds that every route breaks.
    pub bonds_to_break: Vec<TargetBond>,
    /// Bonds that no step breaks.
    pub bonds_to_keep: Vec<TargetBond>,
    /// Bonds that no step breaks; one list for each requested fragment.
    pub fragments_to_keep: Vec<Vec<TargetBond>>,
    /// Molecules excluded from all routes, including their tautomers and charged forms; the target may be one.
    pub molecules_never: Vec<Molecule>,
    /// Substructures excluded from all molecules of a route except the target.
    pub substructures_never: Vec<Arc<Pattern>>,
    /// Building blocks that every route buys, at most [`Self::MAX_REQUIRED`].
    pub building_blocks_required: Vec<Molecule>,
    /// Names of allowed classes. If the list is not empty, every step has one of them.
    pub reaction_classes_only: Vec<String>,
    /// Names of classes that no step has.
    pub reaction_classes_never: Vec<String>,
    /// Names of classes of which every route has a step, at most [`Self::MAX_REQUIRED`].
    pub reaction_classes_required: Vec<String>,
    /// Hashes of templates on which no step is based.
    pub templates_never: Vec<String>,
    /// Maximum number of steps of a whole route; each molecule counts once.
    pub max_steps: Option<u32>,
    /// Permission for protection and deprotection steps.
    pub protecting_groups: ProtectingGroups,
}

/// Permission for steps that add and remove protecting groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProtectingGroups {
    /// Such steps are allowed.
    #[default]
    Allowed,
    /// No step has a class of protection or deprotection.
    Never,
}

/// The kind of a constraint, named as in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is the field of Constraints of its name")]
pub enum ConstraintKind {
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

/// One constraint: an item of a list, or a constraint that is no list or counts as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintRef {
    /// Kind of the constraint.
    pub kind: ConstraintKind,
    /// Index of the item in its list.
    pub index: Option<usize>,
}

/// The effect of a constraint on a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstraintEffect {
    /// The constraint.
    pub rule: ConstraintRef,
    /// Number of refused steps, or of refused combinations of steps.
    pub refused: u64,
    /// Result without this constraint, for a search that found no route. `None` if that was not tested.
    pub alone: Option<ResultWithout>,
}

/// The result of a search without one constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultWithout {
    /// A route exists without it.
    Forbids,
    /// No route was found without it either.
    Innocent,
}

impl Constraints {
    /// Maximum number of required building blocks, and of required classes.
    pub const MAX_REQUIRED: usize = 16;

    /// Returns true if there are no constraints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules().is_empty()
    }

    /// Returns every constraint, kind by kind.
    #[must_use]
    pub fn rules(&self) -> Vec<ConstraintRef> {
        let lists = [
            (ConstraintKind::BondsToBreak, self.bonds_to_break.len()),
            (ConstraintKind::BondsToKeep, self.bonds_to_keep.len()),
            (ConstraintKind::FragmentsToKeep, self.fragments_to_keep.len()),
            (ConstraintKind::MoleculesNever, self.molecules_never.len()),
            (ConstraintKind::SubstructuresNever, self.substructures_never.len()),
            (ConstraintKind::BuildingBlocksRequired, self.building_blocks_required.len()),
            (ConstraintKind::ReactionClassesNever, self.reaction_classes_never.len()),
            (ConstraintKind::ReactionClassesRequired, self.reaction_classes_required.len()),
            (ConstraintKind::TemplatesNever, self.templates_never.len()),
        ];
        let wholes = [
            (ConstraintKind::ReactionClassesOnly, !self.reaction_classes_only.is_empty()),
            (ConstraintKind::MaxSteps, self.max_steps.is_some()),
            (ConstraintKind::ProtectingGroups, self.protecting_groups == ProtectingGroups::Never),
        ];
        let items = lists
            .into_iter()
            .flat_map(|(kind, count)| (0..count).map(move |at| ConstraintRef::item(kind, at)));
        let wholes =
            wholes.into_iter().filter(|&(_, is_set)| is_set).map(|(kind, _)| ConstraintRef::whole(kind));
        let mut rules: Vec<ConstraintRef> = items.chain(wholes).collect();
        rules.sort_unstable();
        rules
    }

    /// Returns the constraints without one of them.
    #[must_use]
    pub fn without(&self, rule: ConstraintRef) -> Self {
        fn drop_item<T>(list: &mut Vec<T>, at: usize) {
            if at < list.len() {
                list.remove(at);
            }
        }
        let (mut rest, at) = (self.clone(), rule.index.unwrap_or_default());
        match rule.kind {
            ConstraintKind::BondsToBreak => drop_item(&mut rest.bonds_to_break, at),
            ConstraintKind::BondsToKeep => drop_item(&mut rest.bonds_to_keep, at),
            ConstraintKind::FragmentsToKeep => drop_item(&mut rest.fragments_to_keep, at),
            ConstraintKind::MoleculesNever => drop_item(&mut rest.molecules_never, at),
            ConstraintKind::SubstructuresNever => drop_item(&mut rest.substructures_never, at),
            ConstraintKind::BuildingBlocksRequired => drop_item(&mut rest.building_blocks_required, at),
            ConstraintKind::ReactionClassesOnly => rest.reaction_classes_only.clear(),
            ConstraintKind::ReactionClassesNever => drop_item(&mut rest.reaction_classes_never, at),
            ConstraintKind::ReactionClassesRequired => drop_item(&mut rest.reaction_classes_required, at),
            ConstraintKind::TemplatesNever => drop_item(&mut rest.templates_never, at),
            ConstraintKind::MaxSteps => rest.max_steps = None,
            ConstraintKind::ProtectingGroups => rest.protecting_groups = ProtectingGroups::Allowed,
        }
        rest
    }

    /// Returns true if the constraints allow a route that buys the target.
    pub(crate) fn allow_buying(&self, target: &Molecule) -> bool {
        let is_target = |block: &Molecule| block.tautomer_key() == target.tautomer_key();
        self.bonds_to_break.is_empty()
            && self.reaction_classes_required.is_empty()
            && self.building_blocks_required.iter().all(is_target)
    }
}

impl ConstraintRef {
    /// Identifies item number `at` of a list.
    #[must_use]
    pub fn item(kind: ConstraintKind, at: usize) -> Self {
        Self { kind, index: Some(at) }
    }

    /// Identifies a constraint that is no list, or counts as a whole.
    #[must_use]
    pub fn whole(kind: ConstraintKind) -> Self {
        Self { kind, index: None }
    }
}

impl fmt::Display for ConstraintKind {
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
