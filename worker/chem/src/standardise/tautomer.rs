//! Tautomer keys: recognise tautomers without enumerating them.
//!
//! Connected sp2 atoms form a system. Its sites are the nitrogens, oxygens and sulfurs that have a hydrogen or could
//! accept one. Every tautomer pairs the atoms of the system by double bonds and leaves out as many sites as there are
//! mobile hydrogens. So the system, its sites and that number are common to all tautomers. The [key](TautomerKey) is
//! a digest of the molecule with these in place of bond orders, aromaticity and single hydrogens. As in InChI's
//! mobile-hydrogen layer, a hydrogen moves between heteroatoms and not to carbon, with one exception: the carbon
//! between two carbonyl groups is a site, so that 1,3-dicarbonyl compounds equal their enols. Unlike in InChI,
//! hydrogens move as far as conjugation goes. Stereo that no shift affects counts.

mod pairing;
mod roles;

use chematic::core::ez_markers::EzFact;
use chematic::core::{Atom, BondOrder, Molecule as Graph};

use super::neutral;
use crate::graph::colours::ColouredGraph;
use crate::graph::double_bonds;
use crate::graph::index::index;
use crate::graph::refinement::mix;
use crate::molecules::key::{MoleculeKey, TautomerKey, TautomerSkeleton};
use crate::molecules::molecule::Molecule;
use pairing::Pairing;
use roles::{Role, Roles};

/// Mass offset of mobile sites in the text that identifies a molecule if colours cannot; no isotope is as heavy.
const MOBILE: u16 = 500;

/// Colour input for the bonds of a system; no bond order is as high.
const SHARED: u64 = 12;

impl Molecule {
    /// Returns a key that the molecule shares with its tautomers and with their charged forms. It is computed once,
    /// in some microseconds.
    ///
    /// Hydrogens move between nitrogen, oxygen and sulfur over conjugated bonds, and to the carbon between two
    /// carbonyl groups. A simple ketone does not equal its enol. Stereo that no such shift affects counts.
    #[must_use]
    pub fn tautomer_key(&self) -> TautomerKey {
        *self.numbers().tautomer_key.get_or_init(|| key(self))
    }

    /// Returns a number that molecules with one [tautomer key](Self::tautomer_key) share, and few others. It takes a
    /// tenth of the key's time and is computed once.
    #[must_use]
    pub fn skeleton(&self) -> TautomerSkeleton {
        *self.numbers().skeleton.get_or_init(|| skeleton(self))
    }
}

/// Computes the key of a molecule.
fn key(molecule: &Molecule) -> TautomerKey {
    let neutral = molecule.neutral();
    if neutral.is_perceived() {
        return of_neutral(&neutral);
    }
    // RDKit can write every molecule that it reads, so the canonical string is a molecule.
    Molecule::trusted(neutral.as_canonical())
        .map_or_else(|_| TautomerKey(neutral.key()), |read| of_neutral(&read))
}

/// Computes the key of a neutral molecule that is perceived as RDKit does.
fn of_neutral(molecule: &Molecule) -> TautomerKey {
    let graph = molecule.graph();
    let Some(roles) = Roles::new(graph).filter(Roles::has_mobile) else { return TautomerKey(molecule.key()) };
    TautomerKey(by_colours(graph, &roles).or_else(|| by_text(molecule)).unwrap_or_else(|| molecule.key()))
}

/// Computes the skeleton. Neutral forms have the bonds of the charged ones, but for chelates of boron.
fn skeleton(molecule: &Molecule) -> TautomerSkeleton {
    let is_borate = |(_, atom): (_, &Atom)| atom.element.atomic_number() == 5 && atom.charge < 0;
    if molecule.graph().atoms().any(is_borate) {
        return skeleton_of(molecule.neutral().graph());
    }
    skeleton_of(molecule.graph())
}

/// Hashes atoms, their neighbours, and the number of hydrogens less the charges.
fn skeleton_of(graph: &Graph) -> TautomerSkeleton {
    let atom = |at: usize| {
        let atom = graph.atom(index(at));
        u64::from(atom.element.atomic_number())
            | u64::from(atom.wildcard) << 8
            | (graph.degree(index(at)) as u64) << 16
            | u64::from(atom.isotope.unwrap_or(0)) << 32
    };
    let atoms: Vec<u64> = (0..graph.atom_count()).map(|at| mix(atom(at), 1)).collect();
    let (mut sum, mut protons) = (0_u64, 0_i64);
    for (at, &own) in atoms.iter().enumerate() {
        let around = graph.neighbor_slice(index(at)).iter();
        let around = around.fold(0_u64, |sum, &(next, _)| sum.wrapping_add(atoms[next.0 as usize]));
        sum = sum.wrapping_add(mix(own, around));
        protons +=
            i64::from(graph.implicit_hydrogen_count(index(at))) - i64::from(graph.atom(index(at)).charge);
    }
    TautomerSkeleton(mix(sum, protons.cast_unsigned()))
}

/// Computes the key by refined colours; `None` if the colours do not decide.
fn by_colours(graph: &Graph, roles: &Roles) -> Option<MoleculeKey> {
    let facts = lasting_double_bonds(graph, roles)?;
    let mut colours = ColouredGraph::with(
        graph,
        |at, word| {
            // The hydrogens and aromaticity of the word are replaced by what all tautomers share.
            let shared = word & !(0xffff << 16) | u64::from(roles.hydrogens(graph, at)) << 16;
            match roles.of[at] {
                Role::Fixed => shared,
                Role::Covered => shared | 1 << 24,
                Role::Site => mix(shared | 2 << 24, u64::from(roles.mobile_of(at))),
            }
        },
        |bond| match graph.bond(bond).order {
            _ if roles.is_shared(graph, bond) => Some(SHARED),
            // The ring may not be aromatic in another tautomer.
            BondOrder::Aromatic => Some(1),
            _ => None,
        },
    );
    if !colours.add_stereo(graph, &facts) {
        return None;
    }
    colours.digest().map(MoleculeKey::of_digest)
}

/// Returns the stated double bonds that are double in every tautomer, and those without a site at either end: a
/// coumaric acid keeps its configuration although a hydrogen could move through it. `None` if only the canonical form
/// shows the meaning of the marks.
fn lasting_double_bonds(graph: &Graph, roles: &Roles) -> Option<Vec<EzFact>> {
    let mut facts = double_bonds::stated(graph)?;
    let may_shift = |fact: &EzFact| fact.ends.iter().any(|end| roles.is_mobile(end.atom.0 as usize));
    if facts.iter().any(may_shift) {
        let pairing = Pairing::new(graph, roles)?;
        facts.retain(|fact| {
            let [a, b] = fact.ends.map(|end| end.atom.0 as usize);
            !roles.is_mobile(a) || !roles.has_site([a, b]) || !pairing.may_do_without(a, b)
        });
    }
    Some(facts)
}

/// Computes the key by the canonical SMILES of the molecule, in which the mobile systems have no double bonds except
/// permanent ones and their sites are marked.
fn by_text(molecule: &Molecule) -> Option<MoleculeKey> {
    let perceived = chematic::smiles::parse(molecule.as_canonical()).ok()?;
    let roles = Roles::new(&perceived)?;
    let pairing = Pairing::new(&perceived, &roles)?;
    let (mut graph, _) = neutral::kekule(molecule)?;
    for at in (0..graph.atom_count()).filter(|&at| roles.is_mobile(at)) {
        let own = graph.atom(index(at)).isotope.unwrap_or(0);
        graph.set_hydrogen_count(index(at), Some(roles.hydrogens(&perceived, at)));
        if roles.of[at] == Role::Site {
            graph.set_isotope(index(at), Some(own + MOBILE + roles.mobile_of(at)));
        }
    }
    let bonds: Vec<_> =
        graph.bonds().map(|(at, bond)| (at, bond.atom1.0 as usize, bond.atom2.0 as usize)).collect();
    let is_marked = |graph: &Graph, atom: usize| {
        let mut links = graph.neighbor_slice(index(atom)).iter();
        links.any(|&(_, bond)| matches!(graph.bond(bond).order, BondOrder::Up | BondOrder::Down))
    };
    for (bond, a, b) in bonds {
        let lasts = !roles.has_site([a, b]) && is_marked(&graph, a) && is_marked(&graph, b);
        if graph.bond(bond).order == BondOrder::Double
            && roles.is_shared(&perceived, bond)
            && roles.is_mobile(a)
            && !lasts
            && pairing.may_do_without(a, b)
        {
            graph.set_bond_order(bond, BondOrder::Single);
        }
    }
    chematic::smiles::rdkit_canonical_smiles(&graph).ok().map(|text| MoleculeKey::of_text(&text))
}
