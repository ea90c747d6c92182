//! Isotopes of a product, kept apart while templates work on the molecule without them.
//!
//! Isotopes do not change what reacts, and templates, models and rules know hydrogens as counts: a `[2H]` that is an
//! atom would be a substituent to all of them. So a labelled product is taken apart without its isotopes, and each
//! label is put back on its atom in the precursors.
//!
//! Hydrogens on N, O, S, Se and halogens exchange with any protic solvent (Clayden, Organic Chemistry, 2nd ed., ch. 13),
//! so their labels are not kept. If an atom loses hydrogens on the way back to the precursor, a reagent brings them
//! (NaBD4, D2). If it gains some, they are isotopes if all its hydrogens are: an oxidation to a deuterated aldehyde
//! needs the alcohol with two of them.

mod double_bonds;
mod neighbour;

use std::collections::HashMap;
use std::sync::Arc;

use chematic::core::ez_markers::{self, EzFact, EzFactEnd};
use chematic::core::{
    Atom, AtomIdx, BondOrder, Chirality, Element, Molecule as Graph, MoleculeBuilder, STEREO_H_SENTINEL,
};
use parking_lot::Mutex;

use super::edit::parts::Precursor;
use crate::graph::correspondence;
use crate::graph::double_bonds::stated;
use crate::graph::index::index;
use crate::molecules::key::{self, MoleculeKey};
use crate::molecules::molecule::Molecule;
use double_bonds::{LabelledDoubleBond, LabelledGraph};
use neighbour::Neighbour;

/// A molecule without its isotopes, with the isotopes of each atom.
#[derive(Debug)]
pub struct IsotopeLabels {
    molecule: Molecule,
    /// Labels of the atoms of `molecule`.
    atoms: Vec<AtomLabel>,
    /// Configurations of double bonds that only the isotopes cause.
    double_bonds: Vec<LabelledDoubleBond>,
    /// Precursors that were labelled before, without and with their labels.
    known: Mutex<HashMap<PrecursorIdentity, Option<Precursor>>>,
}

/// A precursor without labels, and the hydrogens that it is to keep.
type PrecursorIdentity = (MoleculeKey, Arc<[Option<u32>]>, KeptHydrogens);

/// The isotopes of an atom.
#[derive(Debug)]
struct AtomLabel {
    /// Atom of the labelled molecule.
    labelled: u32,
    isotope: Option<u16>,
    /// Mass number of each hydrogen of another isotope, except for exchangeable ones.
    hydrogens: Vec<u16>,
    /// Number of all hydrogens.
    all_hydrogens: usize,
    /// Configuration that only the isotopes cause.
    centre: Option<LabelledCentre>,
}

/// A configuration that isotopes cause, with the neighbours in order.
#[derive(Debug)]
struct LabelledCentre {
    chirality: Chirality,
    order: Vec<Neighbour>,
}

/// Choice of the labelled hydrogens that an atom keeps if it has fewer in the precursor, and some of them are not
/// labelled: a reagent may bring either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum KeptHydrogens {
    FewestLabelled,
    MostLabelled,
}

impl Molecule {
    /// Returns a molecule with isotopes whose exchangeable hydrogens are deuterium too, as it is often sold; `None` if
    /// it has no isotopes or no such hydrogens.
    #[must_use]
    pub fn with_exchangeable_deuterium(&self) -> Option<Self> {
        if !self.has_isotopes() {
            return None;
        }
        let graph = self.graph();
        let mut builder = MoleculeBuilder::from_molecule(graph);
        for (at, _) in graph.atoms().filter(|(_, atom)| exchanges(atom)) {
            for _ in 0..graph.implicit_hydrogen_count(at) {
                builder.set_atom_hydrogen_count(at, Some(0));
                let mut deuterium = Atom::new(Element::H);
                (deuterium.isotope, deuterium.hydrogen_count) = (Some(2), Some(0));
                let deuterium = builder.add_atom(deuterium);
                builder.add_bond(at, deuterium, BondOrder::Single).ok()?;
            }
        }
        let graph = builder.build();
        let is_new = graph.atom_count() > self.atoms();
        is_new
            .then(|| Self::from_canonical(chematic::smiles::rdkit_canonical_smiles(&graph).ok()?).ok())
            .flatten()
    }
}

impl IsotopeLabels {
    /// Takes the isotopes of `molecule`; `None` if it has none, or has hydrogen atoms that are not simply bonded to
    /// another atom. If the molecule is canonical, atoms of precursors are traced to its atoms.
    #[must_use]
    pub fn of(molecule: &Molecule) -> Option<Self> {
        if !molecule.has_isotopes() {
            return None;
        }
        let labelled = molecule.graph();
        let heavy: Vec<AtomIdx> =
            labelled.atoms().filter(|(_, atom)| !is_hydrogen(atom)).map(|(at, _)| at).collect();
        let mut places = vec![None; labelled.atom_count()];
        (0_usize..).zip(&heavy).for_each(|(place, at)| places[at.0 as usize] = Some(place));
        let has_odd_hydrogen = labelled.atoms().any(|(at, atom)| {
            let is_bonded_to_heavy = || {
                let [(next, bond)] = labelled.neighbor_slice(at) else { return false };
                let order = labelled.bond(*bond).order;
                places[next.0 as usize].is_some()
                    && matches!(order, BondOrder::Single | BondOrder::Up | BondOrder::Down)
            };
            atom.wildcard || is_hydrogen(atom) && (atom.charge != 0 || !is_bonded_to_heavy())
        });
        if has_odd_hydrogen || heavy.is_empty() {
            return None;
        }
        let graph = without_isotopes(labelled, &heavy, &places)?;
        let canonical = chematic::smiles::rdkit_canonical_smiles(&graph).ok()?;
        let plain = Molecule::from_canonical(canonical).ok()?;
        let order = correspondence::find(&graph, plain.graph())?;
        let mut image = vec![0_u32; order.len()];
        (0_u32..).zip(&order).for_each(|(at, &place)| image[place] = at);
        let neighbour = |next: u32| match places.get(next as usize) {
            Some(&Some(place)) => Neighbour::Atom(image[place]),
            Some(None) => Neighbour::Hydrogen(labelled.atom(AtomIdx(next)).isotope.unwrap_or(0)),
            None => Neighbour::Hydrogen(0),
        };
        let atoms = order.iter().enumerate().map(|(at, &place)| {
            let is_flat = plain.graph().atom(index(at)).chirality == Chirality::None;
            let neighbour: Option<&dyn Fn(u32) -> Neighbour> = if is_flat { Some(&neighbour) } else { None };
            AtomLabel::of(labelled, heavy[place], neighbour)
        });
        let atoms = atoms.collect();
        let kept = stated(plain.graph())?;
        let is_kept = |double: &LabelledDoubleBond| {
            kept.iter().any(|fact| {
                fact.ends.iter().all(|end| double.ends.iter().any(|other| other.atom == end.atom.0))
            })
        };
        let double_bonds = stated(labelled)?;
        let double_bonds = double_bonds.iter().map(|fact| LabelledDoubleBond::of(labelled, fact, neighbour));
        let mut double_bonds: Vec<LabelledDoubleBond> = double_bonds.collect::<Option<_>>()?;
        double_bonds.retain(|double| !is_kept(double));
        Some(Self { molecule: plain, atoms, double_bonds, known: Mutex::default() })
    }

    /// Returns the molecule without isotopes, its atoms in the order of its canonical SMILES.
    #[must_use]
    pub fn molecule(&self) -> &Molecule {
        &self.molecule
    }

    /// Returns the labelled precursors of the labelled molecule, in the order of their keys, for `precursors` of the
    /// one without isotopes. There are two sets if a reagent may bring either isotope of a hydrogen, and none if a
    /// labelled atom or a configuration is lost.
    #[must_use]
    pub fn label(&self, precursors: &[Precursor]) -> Vec<Vec<Precursor>> {
        let is_lost = |at: u32| !precursors.iter().any(|part| part.sources.contains(&Some(at)));
        let mut ends = self.double_bonds.iter().flat_map(|double| &double.ends);
        if (0_u32..).zip(&self.atoms).any(|(at, label)| label.is_labelled() && is_lost(at))
            || ends.any(|end| is_lost(end.atom))
        {
            return Vec::new();
        }
        let mut sets: Vec<Vec<Precursor>> = Vec::new();
        for kept in [KeptHydrogens::FewestLabelled, KeptHydrogens::MostLabelled] {
            let parts = precursors.iter().map(|part| self.labelled(part, kept));
            let Some(mut set) = parts.collect::<Option<Vec<_>>>() else { continue };
            set.sort_by_key(|part| part.molecule.key());
            let keys = |set: &[Precursor]| set.iter().map(|part| part.molecule.key()).collect::<Vec<_>>();
            if sets.first().is_none_or(|first| keys(first) != keys(&set)) {
                sets.push(set);
            }
        }
        sets
    }

    fn labelled(&self, part: &Precursor, kept: KeptHydrogens) -> Option<Precursor> {
        let identity = (part.molecule.key(), Arc::clone(&part.sources), kept);
        if let Some(known) = self.known.lock().get(&identity) {
            return known.clone();
        }
        let labelled = self.with_labels(part, kept);
        self.known.lock().insert(identity, labelled.clone());
        labelled
    }

    fn with_labels(&self, part: &Precursor, kept: KeptHydrogens) -> Option<Precursor> {
        let label_of = |at: usize| Some(&self.atoms[part.sources.get(at).copied().flatten()? as usize]);
        let mut sources: Vec<Option<u32>> =
            (0..part.sources.len()).map(|at| label_of(at).map(|label| label.labelled)).collect();
        let labelled = (0..sources.len()).filter_map(|at| Some((at, label_of(at)?)));
        let labelled: Vec<(usize, &AtomLabel)> = labelled.filter(|(_, label)| label.is_labelled()).collect();
        let double_bonds = self.double_bonds.iter().map(|double| (double, double.places(&part.sources)));
        let double_bonds: Vec<_> = double_bonds.filter(|(_, places)| *places != [None, None]).collect();
        if labelled.is_empty() && double_bonds.is_empty() {
            return Some(Precursor { molecule: part.molecule.clone(), sources: sources.into() });
        }
        let plain = part.molecule.graph();
        let mut builder = MoleculeBuilder::from_molecule(plain);
        let mut hydrogens: Vec<(usize, Vec<(AtomIdx, u16)>)> = Vec::with_capacity(labelled.len());
        for &(at, label) in &labelled {
            let all = usize::from(plain.implicit_hydrogen_count(index(at)));
            let masses = label.hydrogens_among(all, kept)?;
            if let Some(stated) = plain.atom(index(at)).hydrogen_count {
                let rest = usize::from(stated).checked_sub(masses.len())?;
                builder.set_atom_hydrogen_count(index(at), Some(u8::try_from(rest).ok()?));
            }
            let mut added = Vec::with_capacity(masses.len());
            for mass in masses {
                let mut atom = Atom::new(Element::H);
                (atom.isotope, atom.hydrogen_count) = (Some(mass), Some(0));
                let hydrogen = builder.add_atom(atom);
                builder.add_bond(index(at), hydrogen, BondOrder::Single).ok()?;
                added.push((hydrogen, mass));
                sources.push(None);
            }
            hydrogens.push((at, added));
        }
        let mut graph = builder.build();
        let mut has_new_centre = false;
        for (&(at, label), (_, added)) in labelled.iter().zip(&hydrogens) {
            if label.isotope.is_some() {
                graph.set_isotope(index(at), label.isotope);
                let hydrogens = plain.implicit_hydrogen_count(index(at)) - u8::try_from(added.len()).ok()?;
                graph.set_hydrogen_count(index(at), Some(hydrogens));
            }
            if let (Some(order), Some(&(hydrogen, _))) =
                (plain.stereo_neighbor_order(index(at)), added.first())
            {
                let named = |&next: &u32| if next == STEREO_H_SENTINEL { hydrogen.0 } else { next };
                graph.set_stereo_neighbor_order(index(at), order.iter().map(named).collect());
            }
            if let Some(centre) = &label.centre {
                has_new_centre = true;
                let order = centre.order_in(&graph, at, added, &part.sources)?;
                graph.set_chirality(index(at), centre.chirality);
                let rest = graph.implicit_hydrogen_count(index(at));
                graph.set_hydrogen_count(index(at), Some(rest));
                graph.set_stereo_neighbor_order(index(at), order);
            }
        }
        if !double_bonds.is_empty() {
            let labelled = LabelledGraph { graph: &graph, sources: &part.sources, hydrogens: &hydrogens };
            let mut facts = stated(&graph)?;
            for (double, places) in double_bonds {
                let [Some(a), Some(b)] = places else { return None };
                facts.push(double.fact(&labelled, [a, b])?);
            }
            if !ez_markers::write_ez_facts(&mut graph, &facts) {
                return None;
            }
        }
        finished(&graph, sources, has_new_centre || !self.double_bonds.is_empty())
    }
}

/// Returns the precursor of this graph. A centre may be one by its isotopes only in the product.
fn finished(graph: &Graph, sources: Vec<Option<u32>>, may_lose_centre: bool) -> Option<Precursor> {
    if !may_lose_centre && let Some(key) = key::of_graph(graph) {
        return Some(Precursor { molecule: Molecule::from_perceived(graph, key), sources: sources.into() });
    }
    let canonical = chematic::smiles::rdkit_canonical_smiles(graph).ok()?;
    let molecule = Molecule::from_canonical(canonical).ok()?;
    let order = correspondence::find(graph, molecule.graph())?;
    Some(Precursor { molecule, sources: order.into_iter().map(|at| sources[at]).collect() })
}

/// Returns the graph of these atoms without isotopes: hydrogen atoms become hydrogen counts.
fn without_isotopes(labelled: &Graph, heavy: &[AtomIdx], places: &[Option<usize>]) -> Option<Graph> {
    let facts = stated(labelled)?;
    let place = |at: AtomIdx| places[at.0 as usize].map(index);
    let mut builder = MoleculeBuilder::with_capacity(heavy.len(), labelled.bond_count());
    for &at in heavy {
        let mut atom = labelled.atom(at).clone();
        let all = all_hydrogens(labelled, at);
        atom.isotope = None;
        if hydrogen_masses(labelled, at).next().is_some() {
            atom.hydrogen_count = Some(u8::try_from(all).ok()?);
        }
        if all > 1 {
            atom.chirality = Chirality::None;
        }
        builder.add_atom(atom);
    }
    for (_, bond) in labelled.bonds() {
        let (Some(from), Some(to)) = (place(bond.atom1), place(bond.atom2)) else { continue };
        let order = match bond.order {
            BondOrder::Up | BondOrder::Down => BondOrder::Single,
            order => order,
        };
        builder.add_bond(from, to, order).ok()?;
    }
    for (at, atom) in (0_usize..).zip(heavy) {
        if let Some(order) = labelled.stereo_neighbor_order(*atom) {
            let named = |&next: &u32| match places.get(next as usize) {
                Some(&Some(place)) => index(place).0,
                _ => STEREO_H_SENTINEL,
            };
            builder.set_stereo_neighbor_order(index(at), order.iter().map(named).collect());
        }
    }
    let mut graph = builder.build();
    for at in (0..heavy.len()).map(index) {
        if graph.atom(at).chirality == Chirality::None {
            graph.clear_stereo_neighbor_order(at);
        }
    }
    let kept: Vec<EzFact> =
        facts.iter().filter_map(|fact| heavy_fact(labelled, &graph, fact, place)).collect();
    ez_markers::write_ez_facts(&mut graph, &kept).then_some(graph)
}

/// Returns the configuration of a double bond by its heavy neighbours; `None` if an end has only hydrogens.
fn heavy_fact(
    labelled: &Graph,
    graph: &Graph,
    fact: &EzFact,
    place: impl Fn(AtomIdx) -> Option<AtomIdx>,
) -> Option<EzFact> {
    let heavy_end = |end: &EzFactEnd| {
        let atom = place(end.atom)?;
        let other = labelled.bond(end.reference).other(end.atom)?;
        if let Some(side) = place(other) {
            return Some(EzFactEnd { atom, reference: graph.bond_between(atom, side)?.0, up: end.up });
        }
        let neighbours = labelled.neighbor_slice(end.atom).iter();
        let mut sides =
            neighbours.filter(|&&(_, bond)| bond != fact.double).filter_map(|&(next, _)| place(next));
        Some(EzFactEnd { atom, reference: graph.bond_between(atom, sides.next()?)?.0, up: !end.up })
    };
    let (a, b) = (heavy_end(&fact.ends[0])?, heavy_end(&fact.ends[1])?);
    Some(EzFact { double: graph.bond_between(a.atom, b.atom)?.0, ends: [a, b] })
}

impl AtomLabel {
    /// Collects the labels of an atom. `neighbour` names the neighbours of a centre that may be one by isotopes only.
    fn of(graph: &Graph, at: AtomIdx, neighbour: Option<&dyn Fn(u32) -> Neighbour>) -> Self {
        let atom = graph.atom(at);
        let all_hydrogens = all_hydrogens(graph, at);
        let hydrogens = if exchanges(atom) { Vec::new() } else { hydrogen_masses(graph, at).collect() };
        let centre = neighbour.filter(|_| atom.chirality != Chirality::None).and_then(|neighbour| {
            let order = graph.stereo_neighbor_order(at)?.iter().map(|&next| neighbour(next)).collect();
            Some(LabelledCentre { chirality: atom.chirality, order })
        });
        Self { labelled: at.0, isotope: atom.isotope, hydrogens, all_hydrogens, centre }
    }

    fn is_labelled(&self) -> bool {
        self.isotope.is_some() || !self.hydrogens.is_empty() || self.centre.is_some()
    }

    /// Returns the mass numbers of the labelled hydrogens if the atom has `all` of them in a precursor; `None` if
    /// they are undefined: gained hydrogens beside different ones.
    fn hydrogens_among(&self, all: usize, kept: KeptHydrogens) -> Option<Vec<u16>> {
        let labelled = self.hydrogens.len();
        let mut hydrogens = self.hydrogens.clone();
        if all > self.all_hydrogens && labelled > 0 {
            let first = *self.hydrogens.first()?;
            let is_uniform =
                labelled == self.all_hydrogens && self.hydrogens.iter().all(|&mass| mass == first);
            return is_uniform.then(|| vec![first; all]);
        }
        let natural = self.all_hydrogens - labelled;
        hydrogens.truncate(match kept {
            KeptHydrogens::FewestLabelled => all.saturating_sub(natural),
            KeptHydrogens::MostLabelled => all,
        });
        Some(hydrogens)
    }
}

impl LabelledCentre {
    /// Returns the neighbours of atom `at` of a precursor in the order of the centre; `None` if one is replaced.
    /// `added` has the atom's hydrogens.
    fn order_in(
        &self,
        graph: &Graph,
        at: usize,
        added: &[(AtomIdx, u16)],
        sources: &[Option<u32>],
    ) -> Option<Vec<u32>> {
        let around = graph.neighbor_slice(index(at));
        let rest = usize::from(graph.implicit_hydrogen_count(index(at)));
        let mut free = added.to_vec();
        let order = self.order.iter().map(|neighbour| match *neighbour {
            Neighbour::Hydrogen(0) => (rest == 1).then_some(STEREO_H_SENTINEL),
            Neighbour::Hydrogen(mass) => {
                let place = free.iter().position(|&(_, other)| other == mass)?;
                Some(free.swap_remove(place).0.0)
            }
            Neighbour::Atom(source) => {
                let is_it = |next: &AtomIdx| sources.get(next.0 as usize) == Some(&Some(source));
                around.iter().map(|&(next, _)| next).find(is_it).map(|next| next.0)
            }
        });
        let order: Vec<u32> = order.collect::<Option<_>>()?;
        (order.len() == around.len() + rest).then_some(order)
    }
}

/// Returns true for atoms whose hydrogens exchange with those of a protic solvent.
fn exchanges(atom: &Atom) -> bool {
    !atom.wildcard && matches!(atom.element.atomic_number(), 7..=9 | 16 | 17 | 34 | 35 | 53)
}

fn is_hydrogen(atom: &Atom) -> bool {
    !atom.wildcard && atom.element == Element::H
}

/// Returns the number of hydrogens of an atom, of any isotope.
fn all_hydrogens(graph: &Graph, at: AtomIdx) -> usize {
    usize::from(graph.implicit_hydrogen_count(at)) + hydrogen_masses(graph, at).count()
}

/// Iterates over the mass numbers of the hydrogen atoms bonded to an atom; 1 if none is stated.
fn hydrogen_masses(graph: &Graph, at: AtomIdx) -> impl Iterator<Item = u16> {
    let neighbours = graph.neighbor_slice(at).iter().map(|&(next, _)| graph.atom(next));
    neighbours.filter(|atom| is_hydrogen(atom)).map(|atom| atom.isotope.unwrap_or(1))
}
