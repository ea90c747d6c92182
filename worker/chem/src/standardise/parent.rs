//! The parent of an entry with several components: the molecule for which the entry is bought.
//!
//! The parent is chosen by the kind of each component, never by size alone: counter-ions and solvates of a
//! [documented list](counter_ions) are excluded first, so azetidine trifluoroacetate is azetidine. The parent is
//! given without the charges of the salt.

mod counter_ions;

use std::cmp::Ordering;

use chem_fast::Limits;
use chematic::core::{AtomIdx, BondOrder, Molecule as Graph};

use super::neutral::{is_stabilised_carbanion, kekule};
use crate::error::SmilesError;
use crate::graph::index::index;
use crate::molecules::mapped::MappedMolecule;
use crate::molecules::molecule::Molecule;
use counter_ions::CounterIonClass;

/// The parent of an entry, and its other components.
#[derive(Debug, Clone)]
pub struct Parent {
    /// The parent, [neutral](Molecule::neutral).
    pub molecule: Molecule,
    /// Number of components that are the parent.
    pub copies: usize,
    /// Canonical SMILES of all components except one copy of the parent, as written in the entry. Sorted by most
    /// heavy atoms, then heaviest, then SMILES.
    pub others: Vec<String>,
    /// Name of the parent as a counter-ion or solvate, if the entry has several components and all of them are on the
    /// list.
    pub counter_ion: Option<&'static str>,
}

impl Molecule {
    /// Parses a text that means one molecule: its only component, or the [parent](Self::parent) of a salt or
    /// a solvate.
    ///
    /// # Errors
    /// Fails as [`Self::parse`] does, and with the position of the second component if it is a mixture.
    pub fn parse_one(smiles: &str, limits: Limits) -> Result<Self, SmilesError> {
        let molecule = Self::parse(smiles, limits)?;
        if !molecule.as_canonical().contains('.') {
            return Ok(molecule);
        }
        let parent = molecule.parent_of_salt();
        parent.ok_or_else(|| SmilesError::SecondComponent { at: smiles.find('.').unwrap_or_default() })
    }

    /// Returns the parent of a salt or a solvate: all other components are counter-ions, solvates, or copies of the
    /// parent. `None` for a mixture. A parent that is itself on the list has counter-ions of another class and water:
    /// sodium acetate, and no mixture of two acids. A solvate is smaller than what it solvates, so that two molecules of
    /// one size are a mixture.
    fn parent_of_salt(&self) -> Option<Self> {
        let parent = self.parent();
        let others: Vec<Self> = parent
            .others
            .iter()
            .map(|other| Some(Self::trusted(other).ok()?.neutral()))
            .collect::<Option<_>>()?;
        let own = counter_ions::find(&parent.molecule).map(|(class, _)| class);
        let belongs = |other: &Self| match counter_ions::find(other).map(|(class, _)| class) {
            None => false,
            Some(class) if Some(class) == own => false,
            Some(CounterIonClass::Solvate) => {
                (own.is_none() || other.as_canonical() == "O")
                    && other.heavy_atoms() < parent.molecule.heavy_atoms()
            }
            Some(_) => true,
        };
        let is_copy = |other: &Self| other.as_canonical() == parent.molecule.as_canonical();
        let is_salt = others.is_empty() || others.iter().any(belongs);
        (is_salt && others.iter().all(|other| belongs(other) || is_copy(other))).then_some(parent.molecule)
    }

    /// Returns the parent of a catalogue entry.
    ///
    /// Of several components it is one that is neither a counter-ion nor a solvate. Among several such, the order is:
    /// one with carbon before one without, then most heavy atoms, then heaviest, then first by SMILES. If all
    /// components are counter-ions or solvates, the order is: organic base, organic acid, ammonia, mineral acid,
    /// solvate, metal; ties are broken as before. A carbanion with its metal, and a halide with its Grignard, count
    /// as one component.
    #[must_use]
    pub fn parent(&self) -> Parent {
        let joined = joined(self);
        let whole = joined.as_ref().unwrap_or(self);
        if !whole.as_canonical().contains('.') {
            return Parent { molecule: whole.neutral(), copies: 1, others: Vec::new(), counter_ion: None };
        }
        let mut components: Vec<Component> = whole.components().into_iter().map(Component::new).collect();
        components.sort_by(Component::larger_first);
        // Components are sorted by size, so of several with the same rank the first is the largest.
        let chosen = (0..components.len()).min_by_key(|&at| components[at].rank());
        let parent = components.remove(chosen.expect("parent: a string with a dot has components"));
        let copies = 1 + components
            .iter()
            .filter(|other| other.neutral.as_canonical() == parent.neutral.as_canonical())
            .count();
        Parent {
            copies,
            others: components.iter().map(|other| other.written.canonical_smiles()).collect(),
            counter_ion: parent.listed.map(|(_, name)| name),
            molecule: parent.neutral,
        }
    }
}

impl MappedMolecule {
    /// Parses a molecule of one component, such as a target; of a salt or a solvate, its
    /// [parent](Molecule::parent).
    ///
    /// # Errors
    /// Fails as [`Molecule::parse_one`] does.
    pub fn of_one(smiles: &str, limits: Limits) -> Result<Self, SmilesError> {
        let mapped = Self::parse(smiles, limits)?;
        if !mapped.molecule().as_canonical().contains('.') {
            return Ok(mapped);
        }
        let at = smiles.find('.').unwrap_or_default();
        let parent = mapped.molecule().parent_of_salt().ok_or(SmilesError::SecondComponent { at })?;
        Ok(mapped.of_component(&parent, |component| component.neutral().key() == parent.key()))
    }
}

/// A component and its ranking criteria.
struct Component {
    written: Molecule,
    neutral: Molecule,
    mw: f64,
    listed: Option<(CounterIonClass, &'static str)>,
}

impl Component {
    fn new(written: Molecule) -> Self {
        let neutral = written.neutral();
        Self { mw: neutral.molecular_weight(), listed: counter_ions::find(&neutral), written, neutral }
    }

    /// Returns the rank; the lowest is the parent.
    fn rank(&self) -> u8 {
        match self.listed {
            None if has_carbon(self.neutral.graph()) => 0,
            None => 1,
            Some((part, _)) => 2 + part as u8,
        }
    }

    fn larger_first(&self, other: &Self) -> Ordering {
        (other.neutral.heavy_atoms().cmp(&self.neutral.heavy_atoms()))
            .then(other.mw.total_cmp(&self.mw))
            .then_with(|| self.neutral.as_canonical().cmp(other.neutral.as_canonical()))
    }
}

fn has_carbon(graph: &Graph) -> bool {
    graph.atoms().any(|(_, atom)| atom.element.atomic_number() == 6)
}

/// Joins organometallics that are written as ions: `[Li+].[CH2-]C`, `[Br-].[Mg+]C`; `None` if there are none.
fn joined(molecule: &Molecule) -> Option<Molecule> {
    if !molecule.as_canonical().contains('.') || !molecule.is_charged() {
        return None;
    }
    let (mut graph, aromatic) = kekule(molecule)?;
    let mut atoms: Vec<AtomIdx> = (0..graph.atom_count()).map(index).collect();
    let number = |graph: &Graph, at: AtomIdx| graph.atom(at).element.atomic_number();
    let is_metal = |graph: &Graph, at: AtomIdx| matches!(number(graph, at), 3 | 11 | 12 | 19 | 30);
    let metals: Vec<AtomIdx> = atoms.iter().copied().filter(|&at| is_metal(&graph, at)).collect();
    // A halide is joined to a metal that is bonded to carbon.
    atoms.sort_by_key(|&at| number(&graph, at) != 6);
    let mut changed = false;
    for metal in metals {
        for &anion in &atoms {
            let holds_carbon = graph.neighbor_slice(metal).iter().any(|&(next, _)| number(&graph, next) == 6);
            let belongs = match number(&graph, anion) {
                6 => !is_stabilised_carbanion(&graph, anion, aromatic[anion.0 as usize]),
                17 | 35 | 53 => holds_carbon && graph.degree(anion) == 0,
                _ => false,
            };
            let (metal_charge, anion_charge) = (graph.atom(metal).charge, graph.atom(anion).charge);
            if !belongs || metal_charge < 1 || anion_charge != -1 {
                continue;
            }
            let hydrogens = [metal, anion].map(|at| (at, graph.implicit_hydrogen_count(at)));
            if graph.add_bond(metal, anion, BondOrder::Single).is_ok() {
                graph.set_charge(metal, metal_charge - 1);
                graph.set_charge(anion, 0);
                for (at, count) in hydrogens {
                    graph.set_hydrogen_count(at, Some(count));
                }
                changed = true;
            }
        }
    }
    let smiles = chematic::smiles::rdkit_canonical_smiles(&graph).ok().filter(|_| changed)?;
    smiles.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Parent;
    use crate::Molecule;

    fn parent(smiles: &str) -> Parent {
        smiles.parse::<Molecule>().unwrap_or_else(|error| panic!("`{smiles}`: {error}")).parent()
    }

    #[test]
    fn the_parent_is_no_counter_ion_however_small_it_is() {
        for (entry, expected) in [
            ("C1CNC1.O=C(O)C(F)(F)F", "C1CNC1"),
            ("C1C[NH2+]C1.O=C([O-])C(F)(F)F", "C1CNC1"),
            ("NC1CC1.NC1CC1.O=S(=O)(O)O", "NC1CC1"),
            ("[NH3+]C1CC1.[NH3+]C1CC1.O=S(=O)([O-])[O-]", "NC1CC1"),
            ("CN.Cl", "CN"),
            ("C1CCNC1.Cc1ccc(S(=O)(=O)O)cc1", "C1CCNC1"),
            ("CCN.O=C(O)[C@H](O)[C@@H](O)C(=O)O", "CCN"),
            ("C=CC(=O)[O-].[Na+]", "C=CC(=O)O"),
            ("CC#CC(=O)[O-].CCCC[N+](CCCC)(CCCC)CCCC", "CC#CC(=O)O"),
            ("O=C(O)C1(F)CC1.C1CCC(NC2CCCCC2)CC1", "O=C(O)C1(F)CC1"),
            ("F[B-](F)(F)c1ccccc1.[K+]", "F[B-](F)(F)c1ccccc1"),
            ("C[P+](c1ccccc1)(c1ccccc1)c1ccccc1.[Br-]", "C[P+](c1ccccc1)(c1ccccc1)c1ccccc1"),
            ("N#[N+]c1ccccc1.F[B-](F)(F)F", "N#[N+]c1ccccc1"),
            ("B.C1CCOC1", "B"),
            ("NO.Cl", "NO"),
            ("[N-]=[N+]=[N-].[Na+]", "[N-]=[N+]=[N-]"),
            ("CCO.O.OB(O)C1CC1", "OB(O)C1CC1"),
            ("[BH4-].[Na+]", "[BH4-]"),
            ("CC[O-].[Na+].CCCCC#N", "CCCCC#N"),
        ] {
            let expected: Molecule = expected.parse().unwrap();

            let found = parent(entry);

            assert_eq!(found.molecule.canonical_smiles(), expected.canonical_smiles(), "{entry}");
            assert_eq!(found.counter_ion, None, "{entry}");
        }
    }

    #[test]
    fn of_nothing_but_counter_ions_the_most_organic_one_is_the_parent_and_is_named() {
        for (entry, expected, name) in [
            ("CCN(CC)CC.Cl", "CCN(CC)CC", "triethylamine"),
            ("CCN(CC)CC.O=C(O)C(F)(F)F", "CCN(CC)CC", "triethylamine"),
            ("CC(=O)[O-].[Na+]", "CC(=O)O", "acetic acid"),
            ("CC(=O)[O-].[NH4+]", "CC(=O)O", "acetic acid"),
            ("[NH4+].[Cl-]", "N", "ammonia"),
            ("Cl.C1COCCO1", "Cl", "hydrogen chloride"),
            ("[K+].[K+].O=C([O-])[O-]", "O=C(O)O", "carbonic acid"),
            ("[Na+].[OH-]", "O", "water"),
            ("[F-].CCCC[N+](CCCC)(CCCC)CCCC", "CCCC[N+](CCCC)(CCCC)CCCC", "tetrabutylammonium"),
        ] {
            let found = parent(entry);

            assert_eq!((found.molecule.as_canonical(), found.counter_ion), (expected, Some(name)), "{entry}");
        }
        assert_eq!(parent("CC(=O)O").counter_ion, None);
        assert_eq!(parent("CC(=O)[O-]").molecule.as_canonical(), "CC(=O)O");
    }

    #[test]
    fn of_two_that_are_no_counter_ions_the_organic_and_then_the_larger_wins() {
        for (entry, expected, copies) in [
            ("CCCCCN.C=CC#N", "CCCCCN", 1),
            ("C=CC#N.[O-][Mn](=O)(=O)=O", "C=CC#N", 1),
            ("NC1CC1.NC1CC1.O=S(=O)(O)O", "NC1CC1", 2),
            ("[NH3+]C1CC1.NC1CC1.Cl", "NC1CC1", 2),
        ] {
            let found = parent(entry);

            assert_eq!((found.molecule.as_canonical(), found.copies), (expected, copies), "{entry}");
        }
        assert_eq!(
            parent("[NH3+]C1CC1.[NH3+]C1CC1.O=S(=O)([O-])[O-]").others,
            ["O=S(=O)([O-])[O-]", "[NH3+]C1CC1"]
        );
    }

    #[test]
    fn an_organometallic_written_as_ions_is_whole() {
        for (entry, expected) in [
            ("[Br-].[Mg+]c1ccccc1", "Br[Mg]c1ccccc1"),
            ("[Mg+2].[Br-].[CH2-]C", "CC[Mg]Br"),
            ("[Li+].[CH2-]CCC", "[Li]CCCC"),
            ("[Li+].[c-]1ccccc1", "[Li]c1ccccc1"),
        ] {
            let expected: Molecule = expected.parse().unwrap();

            assert_eq!(parent(entry).molecule.canonical_smiles(), expected.canonical_smiles(), "{entry}");
        }
        assert_eq!(parent("[Na+].[C-]#N").molecule.as_canonical(), "C#N");
        assert_eq!(parent("[Na+].CC(=O)[CH-]C(C)=O").molecule.as_canonical(), "CC(=O)CC(C)=O");
    }
}
