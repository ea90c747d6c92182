//! Validation of a draft, and what RDKit's sanitiser would make of its atoms.
//!
//! Aromaticity is not perceived here but inherited. That is right if no aromatic atom changes its ring bonds, charge
//! or share in the pi system, and if no ring appears or alters its pi system among atoms that could be aromatic
//! together. If the atoms that the match touches do not prove this, the result is [`Validity::Unsure`], and the match
//! is repeated on the general path, by chematic.

use chem_fast::{implicit_hydrogens, is_valence_allowed};

use super::draft::DraftGraph;
use super::script::{ProductAtom, Script};
use crate::templates::matching::masks::{AROMATIC_BOND, Atom, DOUBLE, SINGLE, TRIPLE};
use crate::templates::matching::target::MatchTarget;

/// The validation result of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validity {
    /// The draft is valid as it stands.
    Molecules,
    /// RDKit would refuse the draft.
    Nothing,
    /// Cannot be decided here.
    Unsure,
}

/// The bonds of an atom, counted by order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bonds {
    single: i16,
    double: i16,
    triple: i16,
    aromatic: i16,
}

impl Bonds {
    fn count(orders: impl Iterator<Item = u8>) -> Self {
        let mut bonds = Self::default();
        for order in orders {
            match order {
                SINGLE => bonds.single += 1,
                DOUBLE => bonds.double += 1,
                TRIPLE => bonds.triple += 1,
                _ => bonds.aromatic += 1,
            }
        }
        bonds
    }

    /// Sums the bond orders that are not aromatic.
    fn plain(self) -> i16 {
        self.single + 2 * self.double + 3 * self.triple
    }

    fn multiple(self) -> (i16, i16) {
        (self.double, self.triple)
    }
}

/// Sets the atoms of the draft to what the script states and validates the result.
pub(crate) fn validate(script: &Script, target: &MatchTarget, draft: &mut DraftGraph) -> Validity {
    if draft.has_torn_bonds {
        return Validity::Unsure;
    }
    for (at, written) in script.atoms.iter().enumerate() {
        let bonds = Bonds::count(draft.around(at).iter().map(|&(_, order)| order));
        let verdict = match draft.sources[at] {
            Some(source) if target.atoms[usize::from(source)].aromatic => {
                aromatic_atom(written, target, draft, at, source, bonds)
            }
            Some(source) => plain_atom(written, target, draft, at, source, bonds),
            None => added_atom(written, draft, at, bonds),
        };
        if verdict != Validity::Molecules {
            return verdict;
        }
    }
    if rings_may_change(script, target, draft) {
        return Validity::Unsure;
    }
    Validity::Molecules
}

/// Validates an aromatic atom that stays: its ring bonds and its share in the pi system must be unchanged.
fn aromatic_atom(
    written: &ProductAtom,
    target: &MatchTarget,
    draft: &mut DraftGraph,
    at: usize,
    source: u8,
    after: Bonds,
) -> Validity {
    let was = target.atoms[usize::from(source)];
    let now = restated(was, written);
    if now.element != was.element || now.charge != was.charge || written.aromatic == Some(false) {
        return Validity::Unsure;
    }
    let before = Bonds::count(target.around(source).iter().map(|&(_, order)| order));
    let same_ring = after.aromatic == before.aromatic
        && target.around(source).iter().all(|&(next, order)| {
            order != AROMATIC_BOND || bond_between(draft, at, next).is_some_and(|now| now == order)
        });
    let same_multiple = after.multiple() == before.multiple()
        && target.around(source).iter().all(|&(next, order)| {
            order & (DOUBLE | TRIPLE) == 0
                || draft.place(next).is_some_and(|place| {
                    bond_between(draft, at, next) == Some(order)
                        && same_atom(draft.atoms[place], target.atoms[usize::from(next)])
                })
        });
    if !same_ring || !same_multiple {
        return Validity::Unsure;
    }
    // A single bond and a hydrogen replace each other.
    let hydrogens = i16::from(was.hydrogens) + before.single - after.single;
    let unstated = if written.degree_kept || was.element == 6 {
        hydrogens
    } else {
        // RDKit adds no hydrogen to an aromatic heteroatom by itself.
        0
    };
    let stated = written.hydrogens.map_or(unstated, i16::from);
    if stated != hydrogens || hydrogens < 0 {
        return Validity::Unsure;
    }
    // A radical or another unusual atom keeps its hydrogens only if RDKit knows them from brackets.
    if was.element == 6
        && hydrogens + after.single + 2 * after.double + after.aromatic != 3
        && after.double == 0
    {
        return Validity::Unsure;
    }
    draft.atoms[at] = Atom { hydrogens: hydrogens as u8, ..now };
    Validity::Molecules
}

/// Validates an atom that is not aromatic and stays.
fn plain_atom(
    written: &ProductAtom,
    target: &MatchTarget,
    draft: &mut DraftGraph,
    at: usize,
    source: u8,
    after: Bonds,
) -> Validity {
    if written.aromatic == Some(true) || after.aromatic != 0 {
        return Validity::Unsure;
    }
    let was = target.atoms[usize::from(source)];
    let mut now = restated(was, written);
    let before = Bonds::count(target.around(source).iter().map(|&(_, order)| order));
    let usual = implicit_hydrogens(now.element, now.charge, after.plain());
    now.hydrogens = match written.hydrogens {
        Some(count) => count,
        None if now.element == was.element && now.charge == was.charge && before.plain() == after.plain() => {
            // With or without brackets, the hydrogen count is unchanged, unless RDKit drops the brackets.
            if !written.degree_kept && was.hydrogens != usual {
                return Validity::Unsure;
            }
            was.hydrogens
        }
        None => {
            let in_brackets = was.charge != 0
                || was.isotope != 0
                || now.element != was.element
                || was.hydrogens != implicit_hydrogens(was.element, was.charge, before.plain())
                || !matches!(was.element, 5..=9 | 15..=17 | 35 | 53);
            if written.degree_kept && in_brackets {
                return Validity::Unsure;
            }
            usual
        }
    };
    draft.atoms[at] = now;
    valence_verdict(draft, at, now, after, written.hydrogens)
}

/// Validates an atom that the template adds.
fn added_atom(written: &ProductAtom, draft: &mut DraftGraph, at: usize, bonds: Bonds) -> Validity {
    let (Some(element), Some(aromatic)) = (written.element, written.aromatic) else {
        return Validity::Unsure;
    };
    let mut atom = Atom {
        element,
        charge: written.charge.unwrap_or(0),
        hydrogens: 0,
        aromatic,
        isotope: written.isotope.unwrap_or(0),
    };
    // RDKit reads zero hydrogens on an added atom as "not stated".
    let stated = written.hydrogens.filter(|&count| count != 0);
    if aromatic {
        // Only rings that are aromatic as written reach this point.
        let room = match element {
            6 => 4 - 1 - bonds.aromatic - bonds.single,
            _ => i16::from(stated.unwrap_or(0)),
        };
        let Ok(hydrogens) = u8::try_from(room) else { return Validity::Unsure };
        if stated.is_some_and(|stated| stated != hydrogens) || bonds.double != 0 || bonds.triple != 0 {
            return Validity::Unsure;
        }
        atom.hydrogens = hydrogens;
        draft.atoms[at] = atom;
        return Validity::Molecules;
    }
    if bonds.aromatic != 0 {
        return Validity::Unsure;
    }
    atom.hydrogens = stated.unwrap_or_else(|| implicit_hydrogens(element, atom.charge, bonds.plain()));
    draft.atoms[at] = atom;
    valence_verdict(draft, at, atom, bonds, stated)
}

/// Returns the atom as the script states it, except for its hydrogens.
fn restated(was: Atom, written: &ProductAtom) -> Atom {
    let mut atom = was;
    if let Some(element) = written.element
        && element != was.element
    {
        atom.element = element;
        atom.isotope = 0;
        atom.charge = 0;
    }
    atom.charge = written.charge.unwrap_or(atom.charge);
    atom.isotope = written.isotope.unwrap_or(atom.isotope);
    atom
}

/// Checks that an atom may have its bonds, and that RDKit would not rewrite the group.
fn valence_verdict(draft: &DraftGraph, at: usize, atom: Atom, bonds: Bonds, stated: Option<u8>) -> Validity {
    let used = bonds.plain() + stated.map_or(0, i16::from);
    // RDKit's clean-up rewrites nitro groups, halogen oxides, phosphorus ylides and bonds to metals.
    let rewritten = match atom.element {
        7 => used >= 5,
        17 | 35 | 53 => used > 1,
        15 => used == 5 && bonds.double == 2,
        _ => false,
    };
    if rewritten {
        return Validity::Unsure;
    }
    if is_valence_allowed(atom.element, atom.charge, used) {
        return Validity::Molecules;
    }
    let beside_metal =
        draft.around(at).iter().any(|&(next, _)| is_metal(draft.atoms[usize::from(next)].element));
    if beside_metal { Validity::Unsure } else { Validity::Nothing }
}

fn is_metal(element: u8) -> bool {
    matches!(element, 3 | 4 | 11..=13 | 19..=32 | 37..=51 | 55..=84 | 87..)
}

fn same_atom(a: Atom, b: Atom) -> bool {
    (a.element, a.charge) == (b.element, b.charge)
}

fn bond_between(draft: &DraftGraph, at: usize, source: u8) -> Option<u8> {
    let place = draft.place(source)?;
    draft.around(at).iter().find(|&&(next, _)| usize::from(next) == place).map(|&(_, order)| order)
}

/// Returns true if a ring that could be aromatic may have appeared, changed or gone.
fn rings_may_change(script: &Script, target: &MatchTarget, draft: &DraftGraph) -> bool {
    let source_bond = |a: usize, b: usize| {
        let (a, b) = (draft.sources[a]?, draft.sources[b]?);
        target.around(a).iter().find(|&&(next, _)| next == b).map(|&(_, order)| order)
    };
    for &(a, b, order) in &script.bonds {
        let (a, b) = (usize::from(a), usize::from(b));
        if order == AROMATIC_BOND && draft.sources[a].is_none() {
            continue;
        }
        let was = source_bond(a, b);
        if was != Some(order) && in_possible_ring(draft, a, b)
            || was.is_none() && closes_unusual_ring(draft, a, b)
        {
            return true;
        }
    }
    for (at, written) in script.atoms.iter().enumerate() {
        let Some(source) = draft.sources[at] else { continue };
        let (was, now) = (target.atoms[usize::from(source)], draft.atoms[at]);
        if was.aromatic {
            continue;
        }
        let multiple = |orders: &mut dyn Iterator<Item = u8>| Bonds::count(orders).multiple();
        let before = multiple(&mut target.around(source).iter().map(|&(_, order)| order));
        let after = multiple(&mut draft.around(at).iter().map(|&(_, order)| order));
        let changed = before != after || !same_atom(was, now) || written.element.is_some();
        // An exocyclic double bond contributes according to the element at its other end.
        let partner_changed = after != (0, 0)
            && draft.around(at).iter().any(|&(next, order)| {
                order & (DOUBLE | TRIPLE) != 0 && source_bond(at, usize::from(next)) != Some(order)
            });
        if (changed || partner_changed)
            && draft.around(at).iter().any(|&(next, _)| in_possible_ring(draft, at, usize::from(next)))
        {
            return true;
        }
    }
    // A ring bond between aromatic rings may make them aromatic together (azulene).
    script.matched_bonds.iter().any(|&(a, b)| {
        let place = |atom: u8| script.becomes[usize::from(atom)].map(usize::from);
        match (place(a), place(b)) {
            (Some(a), Some(b)) => {
                !draft.around(a).iter().any(|&(next, _)| usize::from(next) == b)
                    && (draft.atoms[a].aromatic
                        && draft.atoms[b].aromatic
                        && draft.components[a] == draft.components[b]
                        || opens_ring(target, draft, a, b))
            }
            // Removing an aromatic atom removes its ring.
            _ => [a, b].iter().any(|&atom| place(atom).is_none() && script.query.may_be_aromatic(atom)),
        }
    })
}

/// Maximum size of a ring closed through aromatic atoms for which our perception certainly equals RDKit's.
const LARGE_RING: usize = 8;

/// Returns true if the bond closes a ring of more than [`LARGE_RING`] atoms, or one that bridges an aromatic ring.
fn closes_unusual_ring(draft: &DraftGraph, from: usize, to: usize) -> bool {
    let mut back = vec![usize::MAX; draft.atoms.len()];
    back[from] = from;
    let mut queue = vec![from];
    let mut at = 0;
    while let Some(&atom) = queue.get(at) {
        at += 1;
        for &(next, _) in draft.around(atom) {
            let next = usize::from(next);
            if back[next] == usize::MAX && (atom, next) != (from, to) {
                back[next] = atom;
                queue.push(next);
            }
        }
    }
    if back[to] == usize::MAX {
        return false;
    }
    let ring: Vec<usize> =
        std::iter::successors(Some(to), |&atom| (atom != from).then(|| back[atom])).collect();
    // Two adjacent aromatic atoms are the shared edge of a fused ring.
    ring.len() > LARGE_RING
        || ring.windows(3).any(|atoms| atoms.iter().all(|&atom| draft.atoms[atom].aromatic))
}

/// Returns true if a removed bond was in a ring and leaves a double bond attached to another ring that may be
/// aromatic now. RDKit counts such a double bond differently while it is in a ring itself.
fn opens_ring(target: &MatchTarget, draft: &DraftGraph, a: usize, b: usize) -> bool {
    let (Some(from), Some(to)) = (draft.sources[a], draft.sources[b]) else { return false };
    let mut seen = vec![false; target.atoms.len()];
    seen[usize::from(from)] = true;
    let mut stack = vec![from];
    while let Some(atom) = stack.pop() {
        for &(next, _) in target.around(atom) {
            if (atom, next) != (from, to) && !std::mem::replace(&mut seen[usize::from(next)], true) {
                stack.push(next);
            }
        }
    }
    let was_within = |at: usize| draft.sources[at].is_some_and(|source| target.around(source).len() > 1);
    seen[usize::from(to)]
        && (0..draft.atoms.len()).any(|at| {
            !draft.atoms[at].aromatic
                && draft.around(at).iter().any(|&(end, order)| {
                    let beside = |&(next, _): &(u16, u8)| {
                        next != end && in_possible_ring(draft, at, usize::from(next))
                    };
                    order == DOUBLE && was_within(usize::from(end)) && draft.around(at).iter().any(beside)
                })
        })
}

/// Returns true if a bond is in a ring without saturated carbon; no other ring can be aromatic.
fn in_possible_ring(draft: &DraftGraph, from: usize, to: usize) -> bool {
    if !may_be_aromatic(draft, from) || !may_be_aromatic(draft, to) {
        return false;
    }
    let mut seen = vec![false; draft.atoms.len()];
    seen[from] = true;
    let mut stack = vec![from];
    while let Some(atom) = stack.pop() {
        for &(next, _) in draft.around(atom) {
            let next = usize::from(next);
            if atom == from && next == to {
                continue;
            }
            if next == to {
                return true;
            }
            if !seen[next] && may_be_aromatic(draft, next) {
                seen[next] = true;
                stack.push(next);
            }
        }
    }
    false
}

/// Returns true if an atom could take part in an aromatic ring; saturated neutral carbon never does.
fn may_be_aromatic(draft: &DraftGraph, at: usize) -> bool {
    let atom = draft.atoms[at];
    let around = draft.around(at);
    around.len() > 1
        && (atom.element != 6 || atom.charge != 0 || around.iter().any(|&(_, order)| order != SINGLE))
}
