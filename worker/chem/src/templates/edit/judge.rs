//! Whether a draft is made of molecules, and what RDKit's sanitiser would make of its atoms.
//!
//! Aromaticity is not perceived here but inherited: that is right wherever no aromatic atom's ring bonds, charge
//! or share in the pi system change and no ring appears or alters its pi system among atoms that could be
//! aromatic together. Where that cannot be shown from what the match touches, the verdict is
//! [`Verdict::Unsure`], and the match is done again the long way, by chematic.

use super::draft::Draft;
use super::script::{Script, Written};
use crate::graph::valence;
use crate::templates::matching::masks::{AROMATIC_BOND, Atom, DOUBLE, SINGLE, TRIPLE};
use crate::templates::matching::target::Target;

/// What became of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The draft is right as it stands.
    Molecules,
    /// RDKit would refuse it.
    Nothing,
    /// It cannot be told here.
    Unsure,
}

/// The bonds of an atom, counted.
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

    /// The orders that are not aromatic, added up.
    fn plain(self) -> i16 {
        self.single + 2 * self.double + 3 * self.triple
    }

    fn multiple(self) -> (i16, i16) {
        (self.double, self.triple)
    }
}

/// Sets the atoms of the draft to what the script states and judges the result.
pub(crate) fn judge(script: &Script, target: &Target, draft: &mut Draft) -> Verdict {
    if draft.tears {
        return Verdict::Unsure;
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
        if verdict != Verdict::Molecules {
            return verdict;
        }
    }
    if rings_may_change(script, target, draft) {
        return Verdict::Unsure;
    }
    Verdict::Molecules
}

/// An aromatic atom that stays: the ring bonds and its share in the pi system must be what they were.
fn aromatic_atom(
    written: &Written,
    target: &Target,
    draft: &mut Draft,
    at: usize,
    source: u8,
    after: Bonds,
) -> Verdict {
    let was = target.atoms[usize::from(source)];
    let now = restated(was, written);
    if now.element != was.element || now.charge != was.charge || written.aromatic == Some(false) {
        return Verdict::Unsure;
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
        return Verdict::Unsure;
    }
    // Single bonds and hydrogens stand for each other.
    let hydrogens = i16::from(was.hydrogens) + before.single - after.single;
    let unstated = if written.degree_kept || was.element == 6 {
        hydrogens
    } else {
        // RDKit gives an aromatic heteroatom no hydrogen of its own accord.
        0
    };
    let stated = written.hydrogens.map_or(unstated, i16::from);
    if stated != hydrogens || hydrogens < 0 {
        return Verdict::Unsure;
    }
    // A radical or other oddity keeps its hydrogens only where RDKit knows them from brackets.
    if was.element == 6
        && hydrogens + after.single + 2 * after.double + after.aromatic != 3
        && after.double == 0
    {
        return Verdict::Unsure;
    }
    draft.atoms[at] = Atom { hydrogens: hydrogens as u8, ..now };
    Verdict::Molecules
}

/// An atom that is not aromatic and stays.
fn plain_atom(
    written: &Written,
    target: &Target,
    draft: &mut Draft,
    at: usize,
    source: u8,
    after: Bonds,
) -> Verdict {
    if written.aromatic == Some(true) || after.aromatic != 0 {
        return Verdict::Unsure;
    }
    let was = target.atoms[usize::from(source)];
    let mut now = restated(was, written);
    let before = Bonds::count(target.around(source).iter().map(|&(_, order)| order));
    let usual = valence::implicit_hydrogens(now.element, now.charge, after.plain());
    now.hydrogens = match written.hydrogens {
        Some(count) => count,
        None if now.element == was.element && now.charge == was.charge && before.plain() == after.plain() => {
            // In brackets or not, the count is what it was, unless RDKit forgets the brackets.
            if !written.degree_kept && was.hydrogens != usual {
                return Verdict::Unsure;
            }
            was.hydrogens
        }
        None => {
            let in_brackets = was.charge != 0
                || was.isotope != 0
                || now.element != was.element
                || was.hydrogens != valence::implicit_hydrogens(was.element, was.charge, before.plain())
                || !matches!(was.element, 5..=9 | 15..=17 | 35 | 53);
            if written.degree_kept && in_brackets {
                return Verdict::Unsure;
            }
            usual
        }
    };
    draft.atoms[at] = now;
    valence_verdict(draft, at, now, after, written.hydrogens)
}

/// An atom that the template adds.
fn added_atom(written: &Written, draft: &mut Draft, at: usize, bonds: Bonds) -> Verdict {
    let (Some(element), Some(aromatic)) = (written.element, written.aromatic) else { return Verdict::Unsure };
    let mut atom = Atom {
        element,
        charge: written.charge.unwrap_or(0),
        hydrogens: 0,
        aromatic,
        isotope: written.isotope.unwrap_or(0),
    };
    // RDKit takes no hydrogens to mean "not stated" on an atom that is added.
    let stated = written.hydrogens.filter(|&count| count != 0);
    if aromatic {
        // Only plain rings get here.
        let room = match element {
            6 => 4 - 1 - bonds.aromatic - bonds.single,
            _ => i16::from(stated.unwrap_or(0)),
        };
        let Ok(hydrogens) = u8::try_from(room) else { return Verdict::Unsure };
        if stated.is_some_and(|stated| stated != hydrogens) || bonds.double != 0 || bonds.triple != 0 {
            return Verdict::Unsure;
        }
        atom.hydrogens = hydrogens;
        draft.atoms[at] = atom;
        return Verdict::Molecules;
    }
    if bonds.aromatic != 0 {
        return Verdict::Unsure;
    }
    atom.hydrogens =
        stated.unwrap_or_else(|| valence::implicit_hydrogens(element, atom.charge, bonds.plain()));
    draft.atoms[at] = atom;
    valence_verdict(draft, at, atom, bonds, stated)
}

/// What the script makes of an atom, but for its hydrogens.
fn restated(was: Atom, written: &Written) -> Atom {
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

/// Whether an atom may have the bonds it has, and whether RDKit would write the group another way.
fn valence_verdict(draft: &Draft, at: usize, atom: Atom, bonds: Bonds, stated: Option<u8>) -> Verdict {
    let used = bonds.plain() + stated.map_or(0, i16::from);
    // Nitro groups, halogen oxides and phosphorus ylides are rewritten by RDKit's clean-up, as are bonds to metals.
    let rewritten = match atom.element {
        7 => used >= 5,
        17 | 35 | 53 => used > 1,
        15 => used == 5 && bonds.double == 2,
        _ => false,
    };
    if rewritten {
        return Verdict::Unsure;
    }
    if valence::may_have(atom.element, atom.charge, used) {
        return Verdict::Molecules;
    }
    let beside_metal =
        draft.around(at).iter().any(|&(next, _)| is_metal(draft.atoms[usize::from(next)].element));
    if beside_metal { Verdict::Unsure } else { Verdict::Nothing }
}

fn is_metal(element: u8) -> bool {
    matches!(element, 3 | 4 | 11..=13 | 19..=32 | 37..=51 | 55..=84 | 87..)
}

fn same_atom(a: Atom, b: Atom) -> bool {
    (a.element, a.charge) == (b.element, b.charge)
}

fn bond_between(draft: &Draft, at: usize, source: u8) -> Option<u8> {
    let place = draft.place(source)?;
    draft.around(at).iter().find(|&&(next, _)| usize::from(next) == place).map(|&(_, order)| order)
}

/// Whether a ring that could be aromatic may have appeared, changed or gone.
fn rings_may_change(script: &Script, target: &Target, draft: &Draft) -> bool {
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
        // An exocyclic double bond counts by the element at its other end.
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
    // A ring bond between aromatic rings may be what makes them aromatic together (azulene).
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
            // An aromatic atom that goes takes its ring with it.
            _ => [a, b].iter().any(|&atom| place(atom).is_none() && script.query.may_be_aromatic(atom)),
        }
    })
}

/// The largest ring that RDKit and we certainly perceive alike when one through aromatic atoms is closed.
const LARGE_RING: usize = 8;

/// Whether the bond closes a ring of more than [`LARGE_RING`] atoms, or one that bridges an aromatic ring.
fn closes_unusual_ring(draft: &Draft, from: usize, to: usize) -> bool {
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
    // Two aromatic atoms side by side are what a fused ring shares.
    ring.len() > LARGE_RING
        || ring.windows(3).any(|atoms| atoms.iter().all(|&atom| draft.atoms[atom].aromatic))
}

/// Whether a bond that goes was in a ring, and leaves a double bond hanging on another ring that may be aromatic now:
/// RDKit counts it differently while it is in a ring itself.
fn opens_ring(target: &Target, draft: &Draft, a: usize, b: usize) -> bool {
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

/// Whether a bond is in a ring of atoms of which none is a saturated carbon: no other ring can be aromatic.
fn in_possible_ring(draft: &Draft, from: usize, to: usize) -> bool {
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

/// Whether an atom could take part in an aromatic ring: saturated neutral carbon never does.
fn may_be_aromatic(draft: &Draft, at: usize) -> bool {
    let atom = draft.atoms[at];
    let around = draft.around(at);
    around.len() > 1
        && (atom.element != 6 || atom.charge != 0 || around.iter().any(|&(_, order)| order != SINGLE))
}
