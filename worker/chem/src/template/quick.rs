//! Disconnections made on the graph, for the templates and matches where that is plainly right.
//!
//! Most templates break bonds between ring systems and chains and put small groups on the ends. Then nothing has to
//! be perceived anew: rings, aromaticity and stereo of the parts are the product's. This module makes exactly
//! those disconnections, by RDKit's rules for reactions, and declines everything else (a ring opened or closed, a
//! π bond moved on a ring, a stereocentre touched, an atom that would be left with an odd valence), which then
//! goes the long way through chematic. What it makes it makes without a string: molecules that know their keys.

use chematic::core::{Atom, BondIdx, BondOrder, Element, Molecule as Graph, MoleculeBuilder};
use chematic::smarts::{AtomPrimitive, AtomQuery, BondPrimitive, BondQuery, QueryMolecule};

use super::{Outcome, Precursor, text};
use crate::index::index;
use crate::key::{self, Key};
use crate::molecule::Molecule;
use crate::prepared::{Ground, PreparedMolecule};
use crate::screen::Screen;
use crate::valence;

/// Matches looked at, as in the long way.
const MAX_MATCHES: usize = 1000;

/// A template whose edits are of the simple kind.
#[derive(Debug)]
pub(super) struct Quick {
    /// What is asked of each atom of the product side, by its place there.
    matched: Vec<Edit>,
    new: Vec<NewAtom>,
    broken: Vec<(usize, usize)>,
    changed: Vec<(usize, usize, BondOrder)>,
    added: Vec<(End, End, BondOrder)>,
}

/// What becomes of a matched atom.
#[derive(Debug, Clone, Copy, Default)]
struct Edit {
    charge: Option<i8>,
    hydrogens: Option<u8>,
}

/// An atom that the template adds.
#[derive(Debug, Clone, Copy)]
struct NewAtom {
    element: Element,
    charge: i8,
    /// `None`: as many as its valence takes.
    hydrogens: Option<u8>,
}

/// An end of a new bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Matched(usize),
    New(usize),
}

/// The match is not of the simple kind.
struct Declined;

impl Quick {
    /// `None` for a template that has to go the long way.
    pub fn new(product: &QueryMolecule, precursors: &[String], screen: &Screen) -> Option<Self> {
        let precursors = text::pattern(&precursors.join(".")).ok()?;
        if !screen.is_exact() {
            return None;
        }
        let place_of = |map: u16| product.atoms.iter().position(|atom| atom.atom_map == Some(map));
        let mut quick = Self {
            matched: vec![Edit::default(); product.atoms.len()],
            new: Vec::new(),
            broken: Vec::new(),
            changed: Vec::new(),
            added: Vec::new(),
        };
        let mut seen = vec![false; product.atoms.len()];
        let mut ends = Vec::with_capacity(precursors.atoms.len());
        for atom in &precursors.atoms {
            let wanted = Wanted::of(&atom.query)?;
            ends.push(match atom.atom_map.and_then(place_of) {
                Some(place) => {
                    let before = Wanted::of(&product.atoms[place].query)?;
                    if std::mem::replace(&mut seen[place], true) || !before.allows(&wanted) {
                        return None;
                    }
                    quick.matched[place] = Edit { charge: wanted.charge, hydrogens: wanted.hydrogens };
                    End::Matched(place)
                }
                None => {
                    let element = wanted.element.and_then(Element::from_atomic_number)?;
                    if wanted.aromatic == Some(true) {
                        return None;
                    }
                    let charge = wanted.charge.unwrap_or(0);
                    quick.new.push(NewAtom { element, charge, hydrogens: wanted.hydrogens });
                    End::New(quick.new.len() - 1)
                }
            });
        }
        // An atom of the product that is not in the precursors, or a map number that is there twice.
        if seen.contains(&false) {
            return None;
        }
        quick.bonds(product, &precursors, &ends)?;
        Some(quick)
    }

    fn bonds(&mut self, product: &QueryMolecule, precursors: &QueryMolecule, ends: &[End]) -> Option<()> {
        let mut kept = vec![false; product.bonds.len()];
        for bond in &precursors.bonds {
            let order = order_of(&bond.query)?;
            let (End::Matched(a), End::Matched(b)) = (ends[bond.atom1], ends[bond.atom2]) else {
                if order == BondOrder::Aromatic {
                    return None;
                }
                self.added.push((ends[bond.atom1], ends[bond.atom2], order));
                continue;
            };
            // A bond between two atoms of the product that had none closes a ring.
            let at = product
                .bonds
                .iter()
                .position(|bond| (bond.atom1, bond.atom2) == (a, b) || (bond.atom1, bond.atom2) == (b, a))?;
            kept[at] = true;
            let before = order_of(&product.bonds[at].query)?;
            match (before, order) {
                (before, order) if before == order => {}
                (BondOrder::Aromatic, _) | (_, BondOrder::Aromatic) => return None,
                _ => self.changed.push((a, b, order)),
            }
        }
        let lost = product.bonds.iter().zip(kept).filter(|(_, kept)| !kept);
        self.broken = lost.map(|(bond, _)| (bond.atom1, bond.atom2)).collect();
        Some(())
    }

    /// The outcomes on `product`, unique and in the order of their keys; `None` when one of the matches has to go
    /// the long way, or `go_on` says to stop.
    pub fn apply(
        &self,
        screen: &Screen,
        product: &PreparedMolecule,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<Outcome>> {
        let (target, ground) = (product.target()?, product.ground()?);
        let graph = product.molecule().graph();
        let mut sites: Vec<Vec<usize>> = Vec::new();
        let mut outcomes: Vec<(Vec<Key>, Outcome)> = Vec::new();
        let mut matches = 0;
        let mut declined = false;
        let searched = screen.matches(target, &mut |images| {
            matches += 1;
            // Many matches differ only in atoms that nothing happens to.
            let site = self.site(images);
            if sites.contains(&site) {
                return matches >= MAX_MATCHES;
            }
            sites.push(site);
            match self.disconnect(graph, ground, images) {
                _ if !go_on() => declined = true,
                Ok(precursors) => {
                    let keys: Vec<Key> = precursors.iter().map(|part| part.molecule.key()).collect();
                    if outcomes.iter().all(|(known, _)| *known != keys) {
                        outcomes.push((keys, Outcome { precursors }));
                    }
                }
                Err(Declined) => declined = true,
            }
            declined || matches >= MAX_MATCHES
        });
        if declined || searched.is_err() {
            return None;
        }
        outcomes.sort_by(|(a, _), (b, _)| a.cmp(b));
        Some(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    /// The atoms to which something happens.
    fn site(&self, images: &[usize]) -> Vec<usize> {
        let of_bonds = self.broken.iter().copied().chain(self.changed.iter().map(|&(a, b, _)| (a, b)));
        let of_new = self.added.iter().flat_map(|&(a, b, _)| [a, b]).filter_map(|end| match end {
            End::Matched(place) => Some(place),
            End::New(_) => None,
        });
        let mut site: Vec<usize> =
            of_bonds.flat_map(|(a, b)| [a, b]).chain(of_new).map(|place| images[place]).collect();
        let told = |edit: &Edit| edit.charge.is_some() || edit.hydrogens.is_some();
        site.extend(self.matched.iter().zip(images).filter(|(edit, _)| told(edit)).map(|(_, &image)| image));
        site
    }

    fn disconnect(
        &self,
        graph: &Graph,
        ground: &Ground,
        images: &[usize],
    ) -> Result<Vec<Precursor>, Declined> {
        let mut work = Work::new(graph, ground, &self.new);
        for &(a, b) in &self.broken {
            work.break_bond(images[a], images[b])?;
        }
        for &(a, b, order) in &self.changed {
            work.change_bond(images[a], images[b], order)?;
        }
        for &(a, b, order) in &self.added {
            work.add_bond([a, b].map(|end| work.place(end, images)), order)?;
        }
        for (edit, &image) in self.matched.iter().zip(images) {
            work.set(image, *edit)?;
        }
        for at in 0..self.new.len() {
            work.complete(graph.atom_count() + at, self.new[at])?;
        }
        work.finish()
    }
}

/// A disconnection being made. Atoms are the product's, and the template's after them.
struct Work<'a> {
    graph: &'a Graph,
    ground: &'a Ground,
    new: &'a [NewAtom],
    broken: Vec<BondIdx>,
    changed: Vec<(BondIdx, BondOrder)>,
    added: Vec<([usize; 2], BondOrder)>,
    /// Charge and hydrogens of the atoms that are not as they were.
    told: Vec<(usize, i8, u8)>,
}

impl<'a> Work<'a> {
    fn new(graph: &'a Graph, ground: &'a Ground, new: &'a [NewAtom]) -> Self {
        let (broken, changed, added, told) = Default::default();
        Self { graph, ground, new, broken, changed, added, told }
    }

    fn place(&self, end: End, images: &[usize]) -> usize {
        match end {
            End::Matched(place) => images[place],
            End::New(at) => self.graph.atom_count() + at,
        }
    }

    /// The bond between two atoms, if it is in no ring and no stereocentre feels it.
    fn free_bond(&self, a: usize, b: usize) -> Result<BondIdx, Declined> {
        let (bond, _) = self.graph.bond_between(index(a), index(b)).ok_or(Declined)?;
        let felt = self.ground.centres[a] || self.ground.centres[b];
        if self.ground.rings[bond.0 as usize] > 0 || felt { Err(Declined) } else { Ok(bond) }
    }

    fn break_bond(&mut self, a: usize, b: usize) -> Result<(), Declined> {
        let bond = self.free_bond(a, b)?;
        // A double bond that leaves a ring atom leaves it another atom.
        if self.graph.bond(bond).order != BondOrder::Single && (self.in_ring(a) || self.in_ring(b)) {
            return Err(Declined);
        }
        self.broken.push(bond);
        Ok(())
    }

    fn change_bond(&mut self, a: usize, b: usize, order: BondOrder) -> Result<(), Declined> {
        let bond = self.free_bond(a, b)?;
        if self.in_ring(a) || self.in_ring(b) {
            return Err(Declined);
        }
        self.changed.push((bond, order));
        Ok(())
    }

    fn add_bond(&mut self, ends: [usize; 2], order: BondOrder) -> Result<(), Declined> {
        for end in ends.into_iter().filter(|&end| end < self.graph.atom_count()) {
            let ring = self.in_ring(end) && order != BondOrder::Single;
            if ring || self.ground.centres[end] {
                return Err(Declined);
            }
        }
        self.added.push((ends, order));
        Ok(())
    }

    fn in_ring(&self, atom: usize) -> bool {
        self.ground.in_ring[atom]
    }

    /// Gives a matched atom the charge and hydrogens that the template states, or those it had.
    fn set(&mut self, at: usize, edit: Edit) -> Result<(), Declined> {
        let atom = self.graph.atom(index(at));
        let had = self.ground.hydrogens[at];
        let charge = edit.charge.unwrap_or(atom.charge);
        let before = self.bonds_before(at);
        let after = self.bonds_after(at);
        let hydrogens = match edit.hydrogens {
            Some(hydrogens) => hydrogens,
            None if before.orders == after.orders => had,
            None => return Err(Declined),
        };
        if (charge, hydrogens, after) == (atom.charge, had, before) {
            return Ok(());
        }
        let sound = if atom.aromatic {
            // What an aromatic atom gives to its ring stays the same if it trades a hydrogen for a substituent.
            charge == atom.charge
                && after.others == after.singles
                && before.others == before.singles
                && u32::from(hydrogens) + after.degree == u32::from(had) + before.degree
        } else {
            let ring_charge = charge != atom.charge && self.in_ring(at);
            // A marked centre that gains or loses a hydrogen is another centre.
            let centre = self.ground.centres[at];
            !ring_charge
                && !centre
                && atom.isotope.is_none()
                && valence::is_full(atom.element, charge, after.orders + u32::from(hydrogens))
        };
        if !sound {
            return Err(Declined);
        }
        self.told.push((at, charge, hydrogens));
        Ok(())
    }

    /// Gives a new atom its hydrogens.
    fn complete(&mut self, at: usize, atom: NewAtom) -> Result<(), Declined> {
        let orders = self.bonds_after(at).orders;
        let hydrogens = match atom.hydrogens {
            Some(hydrogens) => hydrogens,
            None => valence::hydrogens(atom.element, atom.charge, orders).ok_or(Declined)?,
        };
        if !valence::is_full(atom.element, atom.charge, orders + u32::from(hydrogens)) {
            return Err(Declined);
        }
        self.told.push((at, atom.charge, hydrogens));
        Ok(())
    }

    fn bonds_before(&self, at: usize) -> Bonds {
        let mut bonds = Bonds::default();
        for &(_, bond) in self.graph.neighbor_slice(index(at)) {
            bonds.add(self.graph.bond(bond).order);
        }
        bonds
    }

    fn bonds_after(&self, at: usize) -> Bonds {
        let mut bonds = Bonds::default();
        if at < self.graph.atom_count() {
            for &(_, bond) in self.graph.neighbor_slice(index(at)) {
                if self.broken.contains(&bond) {
                    continue;
                }
                bonds.add(self.order_of(bond));
            }
        }
        for &(_, order) in self.added.iter().filter(|(ends, _)| ends.contains(&at)) {
            bonds.add(order);
        }
        bonds
    }

    fn order_of(&self, bond: BondIdx) -> BondOrder {
        let changed = self.changed.iter().find(|(changed, _)| *changed == bond);
        changed.map_or(self.graph.bond(bond).order, |&(_, order)| order)
    }

    /// The parts, in the order of their keys.
    fn finish(self) -> Result<Vec<Precursor>, Declined> {
        let parts = self.parts()?;
        let mut builders: Vec<Part> = Vec::new();
        let mut place = vec![(0, 0); parts.len()];
        let mut of_root: Vec<Option<usize>> = vec![None; parts.len()];
        for (at, &root) in parts.iter().enumerate() {
            let part = *of_root[root].get_or_insert_with(|| {
                builders.push(Part::default());
                builders.len() - 1
            });
            let source = u32::try_from(at).ok().filter(|_| at < self.graph.atom_count());
            place[at] = (part, builders[part].add(self.atom(at), source));
        }
        let bonds = self.graph.bonds().filter(|(bond, _)| !self.broken.contains(bond));
        let bonds = bonds
            .map(|(bond, entry)| ([entry.atom1.0 as usize, entry.atom2.0 as usize], self.order_of(bond)));
        for ([a, b], order) in bonds.chain(self.added.iter().copied()) {
            let ((part, a), (_, b)) = (place[a], place[b]);
            // A bond that is there twice would be the template's fault.
            builders[part].graph.add_bond(index(a), index(b), order).map_err(|_| Declined)?;
        }
        for &(centre, ref around) in &self.ground.orders {
            let (part, at) = place[centre];
            let moved = |&atom: &u32| place.get(atom as usize).map_or(atom, |&(_, at)| index(at).0);
            let around = around.iter().map(moved).collect();
            builders[part].graph.set_stereo_neighbor_order(index(at), around);
        }
        let mut precursors: Vec<Precursor> =
            builders.into_iter().map(Part::finish).collect::<Result<_, Declined>>()?;
        precursors.sort_by_key(|part| part.molecule.key());
        Ok(precursors)
    }

    /// For each atom the first atom of its part.
    fn parts(&self) -> Result<Vec<usize>, Declined> {
        let count = self.graph.atom_count();
        let mut root: Vec<usize> = (0..count + self.new.len()).collect();
        fn find(root: &mut [usize], mut at: usize) -> usize {
            while root[at] != at {
                root[at] = root[root[at]];
                at = root[at];
            }
            at
        }
        for (bond, entry) in self.graph.bonds() {
            if !self.broken.contains(&bond) {
                let a = find(&mut root, entry.atom1.0 as usize);
                let b = find(&mut root, entry.atom2.0 as usize);
                root[a.max(b)] = a.min(b);
            }
        }
        for &([a, b], _) in &self.added {
            let (a, b) = (find(&mut root, a), find(&mut root, b));
            if a == b {
                // It closes a ring.
                return Err(Declined);
            }
            root[a.max(b)] = a.min(b);
        }
        Ok((0..root.len()).map(|at| find(&mut root, at)).collect())
    }

    fn atom(&self, at: usize) -> Atom {
        let mut atom = match at.checked_sub(self.graph.atom_count()) {
            None => self.graph.atom(index(at)).clone(),
            Some(new) => Atom::new(self.new[new].element),
        };
        if let Some(&(_, charge, hydrogens)) = self.told.iter().find(|(told, _, _)| *told == at) {
            (atom.charge, atom.hydrogen_count) = (charge, Some(hydrogens));
        }
        atom
    }
}

/// The bonds of an atom, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bonds {
    degree: u32,
    /// Sum of orders of the bonds that are not aromatic.
    orders: u32,
    /// How many are not aromatic, and how many are single.
    others: u32,
    singles: u32,
}

impl Bonds {
    fn add(&mut self, order: BondOrder) {
        self.degree += 1;
        if order != BondOrder::Aromatic {
            self.others += 1;
            self.orders += u32::from(order.order_int());
            self.singles += u32::from(order == BondOrder::Single);
        }
    }
}

/// A precursor being built.
#[derive(Default)]
struct Part {
    graph: MoleculeBuilder,
    sources: Vec<Option<u32>>,
}

impl Part {
    fn add(&mut self, atom: Atom, source: Option<u32>) -> usize {
        self.graph.add_atom(atom);
        self.sources.push(source);
        self.sources.len() - 1
    }

    fn finish(self) -> Result<Precursor, Declined> {
        let graph = self.graph.build();
        // A centre that the cut left between like neighbours is none any more.
        let key = key::of_graph(&graph).ok_or(Declined)?;
        Ok(Precursor { molecule: Molecule::from_perceived(graph, key), sources: self.sources })
    }
}

/// What a template says of an atom, if it is only this.
#[derive(Debug, Default)]
struct Wanted {
    element: Option<u8>,
    aromatic: Option<bool>,
    charge: Option<i8>,
    hydrogens: Option<u8>,
}

impl Wanted {
    fn of(query: &AtomQuery) -> Option<Self> {
        let mut wanted = Self::default();
        wanted.read(query)?;
        Some(wanted)
    }

    fn read(&mut self, query: &AtomQuery) -> Option<()> {
        match query {
            AtomQuery::And(a, b) => {
                self.read(a)?;
                self.read(b)
            }
            AtomQuery::Primitive(primitive) => match primitive {
                AtomPrimitive::AtomicNum(number) => set(&mut self.element, *number),
                AtomPrimitive::Symbol(symbol) => {
                    set(&mut self.element, Element::from_symbol(symbol)?.atomic_number())
                }
                AtomPrimitive::Aromatic(aromatic) => set(&mut self.aromatic, *aromatic),
                AtomPrimitive::Charge(charge) => set(&mut self.charge, *charge),
                AtomPrimitive::HCount(count) => set(&mut self.hydrogens, *count),
                AtomPrimitive::Degree(_) => Some(()),
                _ => None,
            },
            AtomQuery::Or(..) | AtomQuery::Not(_) => None,
        }
    }

    /// Whether an atom like this can become `wanted` with no more than charge and hydrogens changed.
    fn allows(&self, wanted: &Self) -> bool {
        self.element.is_some() && self.element == wanted.element && self.aromatic == wanted.aromatic
    }
}

/// Sets what is not set; `None` if it says something else already.
fn set<T: PartialEq + Copy>(field: &mut Option<T>, value: T) -> Option<()> {
    match *field {
        Some(known) if known != value => None,
        _ => {
            *field = Some(value);
            Some(())
        }
    }
}

fn order_of(query: &BondQuery) -> Option<BondOrder> {
    match query {
        BondQuery::Primitive(BondPrimitive::Single) => Some(BondOrder::Single),
        BondQuery::Primitive(BondPrimitive::Double) => Some(BondOrder::Double),
        BondQuery::Primitive(BondPrimitive::Triple) => Some(BondOrder::Triple),
        BondQuery::Primitive(BondPrimitive::Aromatic) => Some(BondOrder::Aromatic),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may stop and report")]

    use std::collections::BTreeSet;
    use std::io::Read;

    use super::super::{Template, apply};
    use super::*;

    /// The templates that ship.
    fn templates() -> Vec<Template> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/uspto_retro/templates.csv.gz");
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
        let smarts = text.lines().skip(1).filter_map(|line| line.split('\t').nth(1));
        smarts.filter_map(|smarts| Template::parse(smarts).ok()).collect()
    }

    fn molecules() -> Vec<Molecule> {
        let rows = include_str!("../../tests/data/molecules.tsv").lines().skip(1);
        rows.map(|row| Molecule::trusted(row.split('\t').nth(1).unwrap()).unwrap()).collect()
    }

    /// What an outcome is, and where its atoms are from: sources by the canonical order of each precursor.
    fn text(outcomes: &[Outcome]) -> BTreeSet<String> {
        outcomes
            .iter()
            .map(|outcome| {
                let mut parts: Vec<_> =
                    outcome.precursors.iter().map(|part| part.molecule.canonical_smiles()).collect();
                parts.sort_unstable();
                parts.join(".")
            })
            .collect()
    }

    #[test]
    fn what_is_made_on_the_graph_is_what_the_long_way_makes() {
        let (templates, molecules) = (templates(), molecules());
        let (mut pairs, mut quick, mut long) = (0, 0, 0);
        for (nth, molecule) in molecules.iter().enumerate() {
            let product = PreparedMolecule::new(molecule);
            let share = templates.iter().skip(nth % 7).step_by(7);
            for template in share.filter(|template| template.may_match(&product)) {
                pairs += 1;
                let (Some(simple), Some(screen)) = (&template.quick, &template.screen) else {
                    long += 1;
                    continue;
                };
                let Some(outcomes) = simple.apply(screen, &product, &mut || true) else {
                    long += 1;
                    continue;
                };
                quick += 1;
                let expected = apply::the_long_way(template, &product, &mut || true);
                assert_eq!(text(&outcomes), text(&expected), "{molecule:?} {:?}", template.text);
                for outcome in &outcomes {
                    for part in &outcome.precursors {
                        let again = Molecule::trusted(part.molecule.as_canonical()).unwrap();
                        assert_eq!(part.molecule.key(), again.key(), "{again:?}");
                        let taken = part.sources.iter().flatten();
                        let elements = taken.filter(|&&source| source as usize >= molecule.atoms());
                        assert_eq!(elements.count(), 0);
                    }
                }
            }
        }
        println!("{pairs} pairs that may match: {quick} on the graph, {long} the long way");
        assert!(quick > pairs / 3, "{quick} of {pairs}");
    }
}
