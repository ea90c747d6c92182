//! Constraints on routes in a tree search request, parsed once, here, into types that cannot be invalid.
//!
//! Bonds are bonds of the target, and every class name is one that a step can have. The worker parses the same texts
//! with the same functions of `chem`, so it has nothing to refuse.

use chem::{Limits, MappedMolecule, Molecule, Pattern, TemplateError};
use contract::{AtomPair, MAX_ATOM_MAP, OwnBlock, ProtectingGroups, TreeSearchRequest};
use reactivity::CLASS_NAMES;

use super::{MAX_TARGET, not_smiles};
use crate::endpoints::MAX_ID;
use crate::fields::{
    FieldFault, Fields, InputValue, choice, integer, nullable, object, pair, positive, text,
};

/// Maximum number of bonds or patterns of one kind.
const MAX_BONDS_OR_PATTERNS: usize = 100;
/// Maximum number of fragments. Each is matched against the target before the search begins.
const MAX_FRAGMENTS: usize = 20;
/// Maximum number of molecules, own building blocks or templates.
const MAX_LISTED_ITEMS: usize = 1000;
/// Maximum number of allowed or excluded reaction classes.
const MAX_CLASSES: usize = 300;
/// Maximum number of building blocks, or reaction classes, that every route must contain.
const MAX_REQUIRED: usize = 16;
/// Highest price of an own building block, USD per gram.
const MAX_USD_PER_GRAM: f64 = 1e9;

/// Parses these fields of `body` into a request with defaults everywhere else. Bonds are looked up in `target`, if it
/// could be parsed.
pub(super) fn read(body: &mut Fields<'_, '_>, target: Option<&MappedMolecule>) -> Option<TreeSearchRequest> {
    let map_number = integer(1, Some(MAX_ATOM_MAP.into()));
    let bonds_to_break = body.list("bonds_to_break", MAX_BONDS_OR_PATTERNS, pair(&map_number)).map(pairs);
    let bonds_to_keep = body.list("bonds_to_keep", MAX_BONDS_OR_PATTERNS, pair(&map_number)).map(pairs);
    let fragments_to_keep = body.list("fragments_to_keep", MAX_FRAGMENTS, pattern);
    let molecules_never = body.list("molecules_never", MAX_LISTED_ITEMS, molecule);
    let substructures_never = body.list("substructures_never", MAX_BONDS_OR_PATTERNS, pattern);
    let building_blocks_required = body.list("building_blocks_required", MAX_REQUIRED, molecule);
    let building_blocks_own = body.list("building_blocks_own", MAX_LISTED_ITEMS, own_block);
    let reaction_classes_only = body.list("reaction_classes_only", MAX_CLASSES, class);
    let reaction_classes_never = body.list("reaction_classes_never", MAX_CLASSES, class);
    let reaction_classes_required = body.list("reaction_classes_required", MAX_REQUIRED, class);
    let templates_never = body.list("templates_never", MAX_LISTED_ITEMS, text(0, Some(MAX_ID)));
    let max_steps = body.optional("max_steps", None, nullable(integer(1, None)));
    let protecting_groups = body.optional(
        "protecting_groups",
        ProtectingGroups::Allowed,
        choice(&ProtectingGroups::ALL, ProtectingGroups::name),
    );
    let nothing = Vec::new();
    let (to_break, to_keep) =
        (bonds_to_break.as_ref().unwrap_or(&nothing), bonds_to_keep.as_ref().unwrap_or(&nothing));
    if let Some(target) = target {
        let breaks = bonds_of(body, target, "bonds_to_break", to_break);
        let keeps = bonds_of(body, target, "bonds_to_keep", to_keep);
        for (at, bond) in keeps.iter().enumerate() {
            if bond.is_some() && breaks.contains(bond) {
                let fault = FieldFault::new("contradictory", "The bond is also among those to break");
                body.fault("bonds_to_keep", fault.within(at));
            }
        }
    }
    Some(TreeSearchRequest {
        bonds_to_break: bonds_to_break?,
        bonds_to_keep: bonds_to_keep?,
        fragments_to_keep: fragments_to_keep?.unwrap_or_default(),
        molecules_never: molecules_never?.unwrap_or_default(),
        substructures_never: substructures_never?.unwrap_or_default(),
        building_blocks_required: building_blocks_required?.unwrap_or_default(),
        building_blocks_own: building_blocks_own?.unwrap_or_default(),
        reaction_classes_only: reaction_classes_only?.unwrap_or_default(),
        reaction_classes_never: reaction_classes_never?.unwrap_or_default(),
        reaction_classes_required: reaction_classes_required?.unwrap_or_default(),
        templates_never: templates_never?.unwrap_or_default(),
        // A bound beyond 32 bits has the same effect as no bound.
        max_steps: max_steps?.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        protecting_groups: protecting_groups?,
        ..TreeSearchRequest::new("")
    })
}

fn pairs(pairs: Option<Vec<(i64, i64)>>) -> Vec<AtomPair> {
    let number = |number| u32::try_from(number).unwrap_or(MAX_ATOM_MAP);
    pairs.unwrap_or_default().into_iter().map(|(a, b)| AtomPair(number(a), number(b))).collect()
}

/// Returns the bonds of the target that pairs of map numbers name; `None`, with its fault, for a pair that is no
/// bond.
fn bonds_of(
    body: &mut Fields<'_, '_>,
    target: &MappedMolecule,
    name: &str,
    pairs: &[AtomPair],
) -> Vec<Option<(u32, u32)>> {
    let mut bonds = Vec::with_capacity(pairs.len());
    for (at, &AtomPair(a, b)) in pairs.iter().enumerate() {
        let mut atom = |position: usize, number: u32| {
            let unknown = |reason| {
                FieldFault::new("unknown_atom", format!("Input should name an atom of the target: {reason}"))
            };
            let fault = |reason| body.fault(name, unknown(reason).within(position).within(at));
            target.atom(number).map_err(fault).ok()
        };
        let atoms = (atom(0, a), atom(1, b));
        let (Some(first), Some(second)) = atoms else {
            bonds.push(None);
            continue;
        };
        let is_bond = target.are_bonded(first, second);
        if !is_bond {
            let fault =
                FieldFault::new("not_bonded", format!("Atoms {a} and {b} of the target are not bonded"));
            body.fault(name, fault.within(at));
        }
        bonds.push(is_bond.then(|| (first.min(second), first.max(second))));
    }
    bonds
}

/// Parses a SMILES of one molecule, or of its salt.
pub(crate) fn molecule(input: &InputValue<'_>) -> Result<String, FieldFault> {
    let smiles = text(1, Some(MAX_TARGET))(input)?;
    Molecule::parse_one(&smiles, Limits::TARGET).map_err(|error| not_smiles(&error))?;
    Ok(smiles)
}

/// Parses a SMARTS.
pub(crate) fn pattern(input: &InputValue<'_>) -> Result<String, FieldFault> {
    read_by(Pattern::parse, input)
}

/// Parses a SMARTS, or a SMILES of a part of a molecule.
pub(crate) fn part(input: &InputValue<'_>) -> Result<String, FieldFault> {
    read_by(Pattern::parse_substructure, input)
}

fn read_by(
    parse: fn(&str) -> Result<Pattern, TemplateError>,
    input: &InputValue<'_>,
) -> Result<String, FieldFault> {
    let smarts = text(1, Some(MAX_TARGET))(input)?;
    match parse(&smarts) {
        Ok(_) => Ok(smarts),
        Err(reason) => {
            Err(FieldFault::new("smarts_invalid", format!("Input should be a valid SMARTS: {reason}")))
        }
    }
}

fn own_block(input: &InputValue<'_>) -> Result<OwnBlock, FieldFault> {
    let (mut smiles, mut usd_per_gram) = (None, None);
    for (name, value) in object(input, &["smiles", "usd_per_gram"])? {
        if name == "smiles" {
            smiles = Some(molecule(&value).map_err(|fault| fault.within("smiles"))?);
        } else {
            let price = nullable(positive(MAX_USD_PER_GRAM))(&value);
            usd_per_gram = price.map_err(|fault| fault.within("usd_per_gram"))?;
        }
    }
    match smiles {
        Some(smiles) => Ok(OwnBlock { smiles, usd_per_gram }),
        None => Err(FieldFault::new("missing", "Field required").within("smiles")),
    }
}

/// Parses the name of a reaction class.
fn class(input: &InputValue<'_>) -> Result<String, FieldFault> {
    let name = text(0, Some(MAX_ID))(input)?;
    if CLASS_NAMES.binary_search(&name.as_str()).is_ok() {
        return Ok(name);
    }
    let names = CLASS_NAMES.join("', '");
    Err(FieldFault::new("enum", format!("Input should be the name of a class of reaction: '{names}'")))
}
