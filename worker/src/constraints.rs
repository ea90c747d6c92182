//! Constraints of a request in the search's form, and reports on them in the answer's form.
//!
//! The API has parsed the same texts with the same functions of `chem`, so a fault here means that the job did not
//! come from the API.

use std::sync::Arc;

use chem::{Limits, MappedMolecule, Molecule, Pattern};
use contract::{AtomPair, ConstraintReport, ProtectingGroups, TreeSearchRequest};
use synth::{ConstraintEffect, Constraints, ResultWithout, TargetBond};

/// Constraint that does not apply to the target.
#[derive(Debug, thiserror::Error)]
pub enum ConstraintError {
    /// The constraint names an atom that the target does not have.
    #[error(transparent)]
    Atom(#[from] chem::UnknownAtom),
    /// The constraint names a bond that the target does not have.
    #[error("atoms {0} and {1} of the target are not bonded")]
    NotBonded(u32, u32),
    /// Invalid SMILES of a molecule.
    #[error(transparent)]
    Smiles(#[from] chem::SmilesError),
    /// Invalid SMARTS of a pattern.
    #[error(transparent)]
    Smarts(#[from] chem::TemplateError),
}

/// Builds the constraints that `request` sets on routes to `target`.
///
/// # Errors
/// Fails if a constraint does not apply to the target, or is not valid SMILES or SMARTS.
pub fn constraints(
    request: &TreeSearchRequest,
    target: &MappedMolecule,
) -> Result<Constraints, ConstraintError> {
    let pattern = |smarts: &String| Pattern::parse(smarts).map(Arc::new);
    let fragments = request.fragments_to_keep.iter().map(|fragment| bonds_within(fragment, target));
    Ok(Constraints {
        bonds_to_break: bonds(&request.bonds_to_break, target)?,
        bonds_to_keep: bonds(&request.bonds_to_keep, target)?,
        fragments_to_keep: fragments.collect::<Result<_, _>>()?,
        molecules_never: molecules(&request.molecules_never)?,
        substructures_never: request.substructures_never.iter().map(pattern).collect::<Result<_, _>>()?,
        building_blocks_required: molecules(&request.building_blocks_required)?,
        reaction_classes_only: request.reaction_classes_only.clone(),
        reaction_classes_never: request.reaction_classes_never.clone(),
        reaction_classes_required: request.reaction_classes_required.clone(),
        templates_never: request.templates_never.clone(),
        max_steps: request.max_steps,
        protecting_groups: match request.protecting_groups {
            ProtectingGroups::Allowed => synth::ProtectingGroups::Allowed,
            ProtectingGroups::Never => synth::ProtectingGroups::Never,
        },
    })
}

fn bonds(pairs: &[AtomPair], target: &MappedMolecule) -> Result<Vec<TargetBond>, ConstraintError> {
    let bond = |&AtomPair(first, second): &AtomPair| {
        let (a, b) = (target.atom(first)?, target.atom(second)?);
        if target.are_bonded(a, b) {
            Ok((a.min(b), a.max(b)))
        } else {
            Err(ConstraintError::NotBonded(first, second))
        }
    };
    pairs.iter().map(bond).collect()
}

fn molecules(smiles: &[String]) -> Result<Vec<Molecule>, ConstraintError> {
    Ok(smiles.iter().map(|smiles| Molecule::parse_one(smiles, Limits::TARGET)).collect::<Result<_, _>>()?)
}

/// Returns the bonds of the target between atoms of one match of the fragment.
fn bonds_within(fragment: &str, target: &MappedMolecule) -> Result<Vec<TargetBond>, ConstraintError> {
    let matches = Pattern::parse(&as_smarts(fragment))?.matched_atoms(target.molecule());
    let within = |&&(a, b): &&TargetBond| {
        let has = |atoms: &Vec<usize>, atom: u32| atoms.binary_search(&(atom as usize)).is_ok();
        matches.iter().any(|atoms| has(atoms, a) && has(atoms, b))
    };
    Ok(target.bonds().iter().filter(within).copied().collect())
}

/// Converts a fragment to SMARTS. One that is also a SMILES without brackets is canonicalised, so that a ring in
/// Kekulé form becomes the aromatic ring.
fn as_smarts(fragment: &str) -> String {
    let molecule =
        Some(fragment).filter(|text| !text.contains('[')).map(|text| Molecule::parse(text, Limits::TARGET));
    match molecule {
        Some(Ok(molecule)) if !molecule.as_canonical().contains('[') => molecule.canonical_smiles(),
        _ => fragment.to_owned(),
    }
}

/// Converts the outcome of a constraint to its report.
pub fn report_of(effect: &ConstraintEffect) -> ConstraintReport {
    let reason = effect.alone.map(|alone| match alone {
        ResultWithout::Forbids => "without this one there is a route",
        ResultWithout::Innocent => "no route was found without this one either",
    });
    ConstraintReport {
        constraint: effect.rule.kind.to_string(),
        index: effect.rule.index.and_then(|index| u32::try_from(index).ok()),
        refused: effect.refused,
        reason: reason.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(request: TreeSearchRequest) -> Result<Constraints, String> {
        let target = MappedMolecule::parse(&request.search_smiles, Limits::TARGET).unwrap();
        constraints(&request, &target).map_err(|error| error.to_string())
    }

    #[test]
    fn bonds_are_found_by_the_numbers_of_their_atoms() {
        let request = TreeSearchRequest {
            bonds_to_break: vec![AtomPair(7, 3)],
            ..TreeSearchRequest::new("C[C:3](=O)[NH:7]CC")
        };

        // CCNC(C)=O
        assert_eq!(asked(request).unwrap().bonds_to_break, [(2, 3)]);
    }

    #[test]
    fn a_fragment_keeps_the_bonds_between_the_atoms_of_each_match() {
        let keep = |fragment: &str, target: &str| {
            let fragments_to_keep = vec![fragment.to_owned()];
            asked(TreeSearchRequest { fragments_to_keep, ..TreeSearchRequest::new(target) })
                .map(|constraints| constraints.fragments_to_keep[0].len())
        };

        assert_eq!(keep("C(=O)N", "CC(=O)NCCNC(C)=O"), Ok(4));
        assert_eq!(keep("C1=CC=CC=C1", "Cc1ccccc1"), Ok(6));
        assert_eq!(keep("[#6]1~[#6]~[#6]~[#6]~[#6]~[#6]1", "Cc1ccccc1"), Ok(6));
        assert_eq!(keep("Cl", "CCO"), Ok(0));
        assert!(keep("C1CC", "CCO").is_err());
    }

    #[test]
    fn an_unknown_bond_is_reported() {
        let ask = |pair| {
            asked(TreeSearchRequest {
                bonds_to_keep: vec![pair],
                ..TreeSearchRequest::new("[CH3:1][CH2:2][OH:3]")
            })
            .map(|constraints| constraints.bonds_to_keep)
        };

        assert_eq!(ask(AtomPair(1, 3)), Err("atoms 1 and 3 of the target are not bonded".to_owned()));
        assert_eq!(ask(AtomPair(1, 4)), Err("no atom has the map number 4".to_owned()));
    }
}
