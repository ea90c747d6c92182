//! The neutral form of a molecule that can be written with and without charges.
//!
//! The parents of salts, zwitterions and dipolar spellings get one form each. There are two steps, on the Kekulé
//! form: charges that a shift of bonds cancels are [recombined](recombine), then protons are added and removed as
//! RDKit's `rdMolStandardize.Uncharger` does. Deliberate differences from RDKit:
//!
//! - `S+-O-`, `P+-C-` and similar groups become double bonds (RDKit's `Normalizer` writes sulfoxides the other way round):
//!   that is how reactions are recorded;
//! - the bond from an amine to boron that closes a ring (MIDA boronates) is opened;
//! - borates, aluminates and carbocations keep their charge (RDKit removes or adds hydride), and so do
//!   carbanions without stabilisation: they are organometallics, not acids.

mod recombine;

use chem_fast::{Limits, valences};
use chematic::core::{AtomIdx, BondOrder, Chirality, Molecule as Graph, kekulization};

use crate::graph::index::index;
use crate::molecules::molecule::Molecule;

/// Maximum number of passes that remove charges.
const MAX_REPETITIONS: usize = 8;

impl Molecule {
    /// Returns the molecule without the charges that protons or a shift of bonds can remove: one form for ions of
    /// salts, zwitterions and dipolar spellings. Quaternary ammonium, N-oxides, nitro groups and borates keep their
    /// charges.
    #[must_use]
    pub fn neutral(&self) -> Self {
        let mut neutral = self.clone();
        // Removing a proton may leave a charge that can be removed too. Usually one pass is enough.
        for _ in 0..MAX_REPETITIONS {
            let Some(next) = neutral.is_charged().then(|| discharged(&neutral)).flatten() else { break };
            neutral = next;
        }
        neutral
    }
}

fn discharged(molecule: &Molecule) -> Option<Molecule> {
    // The order of atoms decides which of several equivalent charges stays, so it must be the canonical order.
    let (mut graph, aromatic) = kekule(molecule)?;
    let charges = |graph: &Graph| -> Vec<i8> { graph.atoms().map(|(_, atom)| atom.charge).collect() };
    let before = charges(&graph);
    recombine::recombine(&mut graph, &aromatic);
    uncharge(&mut graph, &aromatic);
    // Each step removes or moves charges, or does nothing. Comparing the SMILES would not be enough, since RDKit
    // gives some molecules a different one each time.
    if charges(&graph) == before {
        return None;
    }
    let smiles = chematic::smiles::rdkit_canonical_smiles(&graph).ok()?;
    if smiles == molecule.as_canonical() {
        return None;
    }
    // Parsed and written once more: stereo marks that the shift made meaningless may change the canonical form.
    Molecule::parse(&smiles, Limits { max_bytes: usize::MAX, max_heavy_atoms: usize::MAX }).ok()
}

/// Returns the graph with alternating bonds, its atoms in canonical order, and which of them were aromatic.
pub(crate) fn kekule(molecule: &Molecule) -> Option<(Graph, Vec<bool>)> {
    let perceived = chematic::smiles::parse(molecule.as_canonical()).ok()?;
    let aromatic: Vec<bool> = perceived.atoms().map(|(_, atom)| atom.aromatic).collect();
    let bonds = kekulization::kekulize(&perceived).ok()?;
    let mut graph = kekulization::apply_kekule(&perceived, &bonds);
    for (at, _) in aromatic.iter().enumerate().filter(|(_, aromatic)| **aromatic) {
        graph.set_atom_aromatic(index(at), false);
    }
    Some((graph, aromatic))
}

/// Returns true if a double or triple bond of the atom leads to one of these elements.
fn is_multiply_bonded_to(graph: &Graph, atom: AtomIdx, elements: &[u8]) -> bool {
    graph.neighbor_slice(atom).iter().any(|&(next, bond)| {
        matches!(graph.bond(bond).order, BondOrder::Double | BondOrder::Triple)
            && elements.contains(&graph.atom(next).element.atomic_number())
    })
}

/// Returns true if a carbanion is that of an acid (cyanide, an enolate, cyclopentadienide) and not of an
/// organometallic.
pub(crate) fn is_stabilised_carbanion(graph: &Graph, atom: AtomIdx, aromatic: bool) -> bool {
    const ACCEPTING: &[u8] = &[7, 8, 16];
    is_multiply_bonded_to(graph, atom, ACCEPTING)
        || graph.neighbor_slice(atom).iter().any(|&(next, _)| is_multiply_bonded_to(graph, next, ACCEPTING))
        || aromatic && graph.implicit_hydrogen_count(atom) > 0
}

/// Adds and removes protons (RDKit's `Uncharger::unchargeInPlace`). One anion keeps its charge for each cation
/// without a removable proton; acids are the last to be protonated.
fn uncharge(graph: &mut Graph, aromatic: &[bool]) {
    let atoms: Vec<AtomIdx> = (0..graph.atom_count()).map(index).collect();
    let has_opposite = |at: AtomIdx, sign: i8| {
        graph.neighbor_slice(at).iter().any(|&(next, _)| graph.atom(next).charge.signum() == -sign)
    };
    let fixed: i32 = (atoms.iter().copied())
        .filter(|&at| graph.atom(at).charge > 0 && !has_opposite(at, 1) && !gives_proton(graph, at))
        .map(|at| i32::from(graph.atom(at).charge))
        .sum();
    let mut anions: Vec<AtomIdx> = (atoms.iter().copied())
        .filter(|&at| graph.atom(at).charge < 0 && takes_proton(graph, at, aromatic[at.0 as usize]))
        .filter(|&at| !has_opposite(at, -1) || is_surplus(graph, at))
        .collect();
    anions.sort_by_key(|&at| is_acid(graph, at));
    let donors: Vec<AtomIdx> = (atoms.iter().copied())
        .filter(|&at| graph.atom(at).charge > 0 && !has_opposite(at, 1) && gives_proton(graph, at))
        .collect();
    let surplus = usize::try_from(i32::try_from(anions.len()).unwrap_or(i32::MAX) - fixed).unwrap_or(0);
    for at in anions.into_iter().take(surplus) {
        while graph.atom(at).charge < 0 {
            add_protons(graph, at, 1);
        }
    }
    let mut net: i32 = graph.atoms().map(|(_, atom)| i32::from(atom.charge)).sum();
    for at in donors {
        while net > 0 && graph.atom(at).charge > 0 && gives_proton(graph, at) {
            add_protons(graph, at, -1);
            net -= 1;
        }
    }
}

fn gives_proton(graph: &Graph, at: AtomIdx) -> bool {
    // Carbon and lighter elements would lose hydride.
    graph.atom(at).element.atomic_number() > 6 && graph.implicit_hydrogen_count(at) > 0
}

fn takes_proton(graph: &Graph, at: AtomIdx, aromatic: bool) -> bool {
    let bonds: u8 =
        graph.neighbor_slice(at).iter().map(|&(_, bond)| graph.bond(bond).order.order_int()).sum();
    let valence = bonds + graph.implicit_hydrogen_count(at) + graph.atom(at).charge.unsigned_abs();
    match graph.atom(at).element.atomic_number() {
        6 => valence == 4 && is_stabilised_carbanion(graph, at, aromatic),
        // Iodide accepts a proton; iodine with more bonds does not.
        53 => valence == 1,
        element @ (7..=9 | 15..=17 | 33..=35 | 52) => {
            valences(element).is_some_and(|list| list.contains(&valence))
        }
        _ => false,
    }
}

/// Returns true if an anion next to a cation exceeds what balances it, and is not the first such anion (nitrate).
fn is_surplus(graph: &Graph, at: AtomIdx) -> bool {
    let is_chalcogen = matches!(graph.atom(at).element.atomic_number(), 8 | 16);
    is_chalcogen
        && graph.neighbor_slice(at).iter().any(|&(centre, _)| {
            let mut balanced = usize::try_from(graph.atom(centre).charge).unwrap_or(0);
            let around = graph.neighbor_slice(centre).iter().map(|&(next, _)| next);
            let mut anions: Vec<AtomIdx> = around.filter(|&next| graph.atom(next).charge < 0).collect();
            anions.sort_unstable();
            balanced = balanced.min(anions.len());
            balanced > 0 && anions[balanced..].contains(&at)
        })
}

/// Returns true if an anion is that of a carboxylic, sulfonic or similar acid.
fn is_acid(graph: &Graph, at: AtomIdx) -> bool {
    matches!(graph.atom(at).element.atomic_number(), 8 | 16)
        && graph.neighbor_slice(at).iter().any(|&(next, _)| {
            matches!(graph.atom(next).element.atomic_number(), 6 | 7 | 15 | 16)
                && is_multiply_bonded_to(graph, next, &[8, 16])
        })
}

fn add_protons(graph: &mut Graph, at: AtomIdx, protons: i8) {
    let hydrogens = graph.implicit_hydrogen_count(at).saturating_add_signed(protons);
    let charge = graph.atom(at).charge + protons;
    graph.set_charge(at, charge);
    graph.set_hydrogen_count(at, Some(hydrogens));
    // Nitrogen that gained or lost a proton has no configuration. No other such element could have stated one.
    if graph.atom(at).element.atomic_number() == 7 {
        graph.set_chirality(at, Chirality::None);
        graph.clear_stereo_neighbor_order(at);
    }
}

#[cfg(test)]
mod tests {
    use crate::Molecule;

    fn neutral(smiles: &str) -> String {
        smiles
            .parse::<Molecule>()
            .unwrap_or_else(|error| panic!("`{smiles}`: {error}"))
            .neutral()
            .canonical_smiles()
    }

    #[test]
    fn spellings_with_and_without_charges_are_one_molecule() {
        let spellings: &[&[&str]] = &[
            &["NCC(=O)O", "[NH3+]CC(=O)[O-]", "[NH3+]CC(=O)O", "NCC(=O)[O-]"],
            &["CS(C)=O", "C[S+](C)[O-]"],
            &["C[S@](=O)c1ccccc1", "C[S@+]([O-])c1ccccc1"],
            &["CS(C)(=O)=O", "C[S+2](C)([O-])[O-]"],
            &["CP(C)(C)=O", "C[P+](C)(C)[O-]"],
            &["C=P(c1ccccc1)(c1ccccc1)c1ccccc1", "[CH2-][P+](c1ccccc1)(c1ccccc1)c1ccccc1"],
            &["C=S(C)(C)=O", "[CH2-][S+](C)(C)=O"],
            &["CN=[N+]=[N-]", "C[N-][N+]#N", "CN=N#N"],
            &["[N-]=[N+]=CC(C)=O", "CC(=O)[CH-][N+]#N"],
            &["C[N+](=O)[O-]", "CN(=O)=O"],
            &["[O-][n+]1ccccc1", "O=n1ccccc1"],
            &["Cn1ccccc1=O", "C[n+]1ccccc1[O-]"],
            &["Cn1ccc(=O)cc1", "C[n+]1ccc([O-])cc1"],
            &["O=c1cccc[nH]1", "[O-]c1cccc[nH+]1"],
            &["CN(C)C=O", "C[N+](C)=C[O-]"],
            &["CN(C)C(C)=N", "C[N+](C)=C(C)N", "CC(=[NH2+])N(C)C"],
            &["N=C(N)N", "NC(N)=[NH2+]", "N[C+](N)N"],
            &["Oc1ccccc1", "[O-]c1ccccc1"],
            &["c1c[nH]cn1", "c1c[n-]cn1", "c1c[nH]c[nH+]1"],
            &["c1ccncc1", "c1cc[nH+]cc1"],
            &["CC(=O)CC(C)=O", "CC(=O)[CH-]C(C)=O"],
            &["C#N", "[C-]#N"],
            &["O=[N+]([O-])O", "O=[N+]([O-])[O-]"],
        ];
        for forms in spellings {
            for form in *forms {
                assert_eq!(neutral(form), neutral(forms[0]), "{form}");
            }
            assert_eq!(neutral(forms[0]), forms[0].parse::<Molecule>().unwrap().canonical_smiles());
        }
    }

    #[test]
    fn a_charge_that_no_proton_takes_away_stays() {
        for smiles in [
            "C[N+](C)(C)CC(=O)[O-]",
            "C[N+](C)(C)C",
            "C[n+]1ccccc1",
            "C[P+](c1ccccc1)(c1ccccc1)c1ccccc1",
            "F[B-](F)(F)c1ccccc1",
            "[BH4-]",
            "[NH3+]C[B-](F)(F)F",
            "[C-]#[N+]C1CCCCC1",
            "N#[N+]c1ccccc1",
            "[N-]=[N+]=[N-]",
            "[CH2-]CCC",
            "[c-]1ccccc1",
            "[Na+]",
            "[C-]#[O+]",
            "Cn1c[n+]([O-])cc1",
        ] {
            assert_eq!(neutral(smiles), smiles.parse::<Molecule>().unwrap().canonical_smiles(), "{smiles}");
        }
        assert_eq!(neutral("C[N+](C)(C)C(CC(=O)[O-])CC(=O)[O-]"), "C[N+](C)(C)C(CC(=O)[O-])CC(=O)O");
    }

    #[test]
    fn a_molecule_that_gets_another_name_each_time_is_neutral_and_has_one_key() {
        // An octahedron with two ligands, to which RDKit gives four numbers in turn.
        let molecule: Molecule = "C[C@OH3+2]N=C=O".parse().unwrap();
        let again: Molecule = molecule.as_canonical().parse().unwrap();
        assert_ne!(again.as_canonical(), molecule.as_canonical());

        assert_eq!(molecule.neutral().as_canonical(), molecule.as_canonical());
        assert_eq!(molecule.tautomer_key().0, molecule.key());
    }

    #[test]
    fn what_is_neutral_stays_as_it_is() {
        for smiles in ["NC(=[NH+])NC(=[NH+2])C1CBCCC1", "C[N+](C)(C)C(CC(=O)[O-])CC(=O)[O-]"] {
            let once = neutral(smiles);
            assert_eq!(neutral(&once), once, "{smiles}");
        }
    }
}
