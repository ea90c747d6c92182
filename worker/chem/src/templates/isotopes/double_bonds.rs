//! Double bonds whose configuration only isotopes cause, such as that of `[2H]/C=C/C`.

use chematic::core::ez_markers::{EzFact, EzFactEnd};
use chematic::core::{AtomIdx, BondOrder, Molecule as Graph};

use super::neighbour::Neighbour;
use crate::graph::index::index;

/// A double bond whose configuration only isotopes cause.
#[derive(Debug)]
pub(super) struct LabelledDoubleBond {
    pub(super) ends: [LabelledEnd; 2],
}

/// An end of such a double bond.
#[derive(Debug)]
pub(super) struct LabelledEnd {
    /// Atom of the molecule without isotopes.
    pub(super) atom: u32,
    /// Its one or two other neighbours, with the side of each as in [`EzFactEnd`].
    sides: Vec<(Neighbour, bool)>,
}

/// A precursor's graph: isotopes and hydrogen atoms are set.
pub(super) struct LabelledGraph<'a> {
    pub(super) graph: &'a Graph,
    /// Atom of the molecule without isotopes for each of the precursor's first atoms.
    pub(super) sources: &'a [Option<u32>],
    /// Hydrogen atoms with their mass numbers, by the atom that holds them.
    pub(super) hydrogens: &'a [(usize, Vec<(AtomIdx, u16)>)],
}

impl LabelledDoubleBond {
    /// Creates it from the stated configuration of a labelled molecule. `neighbour` names its atoms.
    pub(super) fn of(graph: &Graph, fact: &EzFact, neighbour: impl Fn(u32) -> Neighbour) -> Option<Self> {
        let end = |end: &EzFactEnd| {
            let Neighbour::Atom(atom) = neighbour(end.atom.0) else { return None };
            let bonds = graph.neighbor_slice(end.atom).iter().filter(|(_, bond)| *bond != fact.double);
            let mut sides: Vec<(Neighbour, bool)> =
                bonds.map(|&(next, bond)| (neighbour(next.0), (bond == end.reference) == end.up)).collect();
            if graph.implicit_hydrogen_count(end.atom) == 1 {
                sides.push((Neighbour::Hydrogen(0), !end.up));
            }
            Some(LabelledEnd { atom, sides })
        };
        Some(Self { ends: [end(&fact.ends[0])?, end(&fact.ends[1])?] })
    }

    /// Returns the atoms of a precursor that are its ends.
    pub(super) fn places(&self, sources: &[Option<u32>]) -> [Option<usize>; 2] {
        [0, 1].map(|end| {
            let atom = self.ends[end].atom;
            sources.iter().position(|source| *source == Some(atom))
        })
    }

    /// Returns its configuration in a precursor in which its ends have these places; `None` if it is lost there.
    pub(super) fn fact(&self, part: &LabelledGraph<'_>, places: [usize; 2]) -> Option<EzFact> {
        let [a, b] = places;
        let (double, bond) = part.graph.bond_between(index(a), index(b))?;
        if bond.order != BondOrder::Double {
            return None;
        }
        let ends = [self.ends[0].fact_end(part, a, index(b))?, self.ends[1].fact_end(part, b, index(a))?];
        Some(EzFact { double, ends })
    }
}

impl LabelledEnd {
    /// Returns the side of a neighbour that is still there, at place `at` and beside the other end. If only the
    /// natural hydrogen is left, what took the other place is on the other side.
    fn fact_end(&self, part: &LabelledGraph<'_>, at: usize, other_end: AtomIdx) -> Option<EzFactEnd> {
        let atom = index(at);
        let hydrogens = part.hydrogens.iter().find(|(holder, _)| *holder == at);
        let hydrogens = hydrogens.map_or(&[][..], |(_, hydrogens)| hydrogens);
        let around = || part.graph.neighbor_slice(atom).iter().filter(|&&(next, _)| next != other_end);
        let natural = part.graph.implicit_hydrogen_count(atom);
        if around().count() + usize::from(natural) > 2 {
            return None;
        }
        self.sides.iter().find_map(|&(neighbour, up)| {
            let (reference, up) = match neighbour {
                Neighbour::Atom(source) => {
                    let is_it = |next: AtomIdx| part.sources.get(next.0 as usize) == Some(&Some(source));
                    (around().find(|&&(next, _)| is_it(next))?.1, up)
                }
                Neighbour::Hydrogen(0) if natural == 1 => (around().next()?.1, !up),
                Neighbour::Hydrogen(0) => return None,
                Neighbour::Hydrogen(mass) => {
                    let mut same = hydrogens.iter().filter(|&&(_, other)| other == mass);
                    let &(hydrogen, _) = same.next()?;
                    // Two of one isotope have no sides.
                    if same.next().is_some() {
                        return None;
                    }
                    (part.graph.bond_between(atom, hydrogen)?.0, up)
                }
            };
            Some(EzFactEnd { atom, reference, up })
        })
    }
}
