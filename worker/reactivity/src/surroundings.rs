//! Atoms of a step by their kind and place, by which strict readers' verdicts on other steps are held against it.
//!
//! A chemist asks of a step that no rule refuses what changes, what stands beside it, and what else the molecules bear. The kinds
//! are the groups of `group.rs`; carbon without a heteroatom is told by its hydrogens and neighbours.

use std::collections::BTreeSet;

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::queries::*;

/// Returns the kinds of atoms of the precursors, each once, after the place where it stands: `changed`, `beside` an atom that
/// changes, or `apart`; such as `apart Ester` and `beside CH2 aryl`.
#[must_use]
pub fn surroundings(step: &Step<'_>) -> BTreeSet<String> {
    let it = &step.before;
    let untouched: Vec<bool> = step.atoms().map(|atom| step.is_untouched(atom)).collect();
    let is_untouched = |atom: u32| untouched[atom as usize];
    let place = |atom: u32| {
        if !is_untouched(atom) {
            "changed"
        } else if it.next_to(atom).all(is_untouched) {
            "apart"
        } else {
            "beside"
        }
    };
    step.atoms().map(|atom| format!("{} {}", place(atom), kind(it, atom))).collect()
}

fn kind(it: &Facts, atom: u32) -> String {
    let is_beside = |wanted: &dyn Fn(u32) -> bool| it.next_to(atom).any(wanted);
    let (name, details): (String, &[(&str, bool)]) = match it.group(atom) {
        Group::Alkyl => (
            hydrocarbon(it, atom),
            &[
                ("aryl", is_beside(&|next| it.is_aromatic(next))),
                ("alkenyl", is_beside(&|next| matches!(it.group(next), Group::Alkene | Group::Alkyne))),
                ("acyl", is_beside(&|next| it.is_carbonyl(next) || it.is_cyano(next))),
                ("nitrogen", is_beside(&|next| it.element(next) == N)),
                ("oxygen", is_beside(&|next| it.element(next) == O)),
                ("halogen", is_beside(&|next| is_halogen(it.element(next)))),
                ("other", is_beside(&|next| is_other(it.element(next)))),
                ("strained", matches!(it.ring(atom), 3 | 4)),
                ("centre", it.at(atom).centre.is_some()),
            ],
        ),
        Group::Aryl => (
            hydrocarbon(it, atom),
            &[
                ("five-ring", it.ring(atom) == 5),
                ("heteroatom", is_beside(&|next| it.is_aromatic(next) && it.element(next) != C)),
            ],
        ),
        Group::Halogen => (
            halogen(it.element(atom)).to_owned(),
            &[
                ("aryl", is_beside(&|next| it.is_aromatic(next))),
                ("alkyl", is_beside(&|next| it.is_sp3(next))),
            ],
        ),
        group => (format!("{group:?}"), &[]),
    };
    details.iter().filter(|(_, holds)| *holds).fold(name, |name, (detail, _)| name + " " + detail)
}

fn hydrocarbon(it: &Facts, carbon: u32) -> String {
    let kind = if it.is_aromatic(carbon) { "aromatic " } else { "" };
    match it.hydrogens(carbon) {
        0 => format!("{kind}C"),
        1 => format!("{kind}CH"),
        count => format!("{kind}CH{count}"),
    }
}

fn halogen(element: u8) -> &'static str {
    match element {
        F => "fluorine",
        CL => "chlorine",
        BR => "bromine",
        _ => "iodine",
    }
}

fn is_other(element: u8) -> bool {
    !matches!(element, C | N | O) && !is_halogen(element)
}
