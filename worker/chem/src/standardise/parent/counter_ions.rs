//! Counter-ions and solvates: components that are never the parent of an entry that has another one.
//!
//! `tables/counter_ions.tsv` lists them, written for Retort from the salts and solvates of vendors' and drug catalogues
//! (Stahl and Wermuth, *Handbook of Pharmaceutical Salts*, 2011, appendix; RDKit's `Data/Salts.txt`). An ion is listed
//! by its neutral form. Stereo is ignored, so that tartaric acid stands for all of its isomers.

use std::sync::LazyLock;

use crate::molecules::molecule::Molecule;
use crate::table::Table;

/// The class of a counter-ion. If an entry has only counter-ions, the first class is the parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterIonClass {
    /// Amines and quaternary ammonium ions.
    OrganicBase,
    OrganicAcid,
    Ammonia,
    MineralAcid,
    Solvate,
    /// A metal atom, listed by its element.
    Metal,
}

impl CounterIonClass {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "organic base" => Ok(Self::OrganicBase),
            "organic acid" => Ok(Self::OrganicAcid),
            "ammonia" => Ok(Self::Ammonia),
            "mineral acid" => Ok(Self::MineralAcid),
            "solvate" => Ok(Self::Solvate),
            name => Err(format!("`{name}` is no class")),
        }
    }
}

/// Name, canonical SMILES and class of a counter-ion or solvate.
type CounterIon = (&'static str, &'static str, CounterIonClass);

static COUNTER_IONS: LazyLock<Vec<CounterIon>> = LazyLock::new(|| {
    let table = Table {
        file: "counter_ions.tsv",
        text: include_str!("../../../tables/counter_ions.tsv"),
        columns: ["name", "smiles", "class", "source"],
        keys: 1,
    };
    let rows = table.read(|[name, smiles, class, _]| Ok((name, smiles, CounterIonClass::named(class)?)));
    rows.expect("counter_ions: a test reads the table")
});

/// Returns the class and name of a neutral component; `None` if it is not on the list.
pub(super) fn find(neutral: &Molecule) -> Option<(CounterIonClass, &'static str)> {
    if neutral.heavy_atoms() == 1 && is_metal(neutral) {
        return Some((CounterIonClass::Metal, "metal"));
    }
    let canonical = neutral.as_canonical();
    if !canonical.contains(['@', '/', '\\']) {
        return find_text(canonical);
    }
    let flat: Molecule = canonical.replace(['@', '/', '\\'], "").parse().ok()?;
    find_text(flat.as_canonical())
}

fn find_text(canonical: &str) -> Option<(CounterIonClass, &'static str)> {
    COUNTER_IONS.iter().find(|(_, smiles, _)| *smiles == canonical).map(|&(name, _, class)| (class, name))
}

/// Returns true if the single atom is of groups 1 to 13, except hydrogen and boron, or a heavy one of groups 14 and
/// 15.
fn is_metal(molecule: &Molecule) -> bool {
    let element = molecule.graph().atoms().map(|(_, atom)| atom.element.atomic_number()).max();
    matches!(element, Some(3 | 4 | 11..=13 | 19..=31 | 37..=50 | 55..=83 | 87..))
}

#[cfg(test)]
mod tests {
    use super::{COUNTER_IONS, CounterIonClass, find};
    use crate::Molecule;

    #[test]
    fn every_counter_ion_is_listed_once_by_its_neutral_canonical_form() {
        for (place, &(name, smiles, class)) in COUNTER_IONS.iter().enumerate() {
            let molecule: Molecule = smiles.parse().unwrap_or_else(|error| panic!("{name}: {error}"));

            assert_eq!(molecule.as_canonical(), smiles, "{name}");
            assert_eq!(molecule.neutral().as_canonical(), smiles, "{name}");
            assert_eq!(find(&molecule), Some((class, name)));
            assert!(COUNTER_IONS[..place].iter().all(|known| known.1 != smiles), "{name}");
        }
    }

    #[test]
    fn isomers_and_metals_are_on_the_list() {
        let part = |smiles: &str| find(&smiles.parse::<Molecule>().unwrap().neutral()).map(|found| found.0);

        assert_eq!(part("O=C([O-])[C@H](O)[C@@H](O)C(=O)O"), Some(CounterIonClass::OrganicAcid));
        assert_eq!(part("O=C(O)/C=C\\C(=O)[O-]"), Some(CounterIonClass::OrganicAcid));
        assert_eq!(part("CC1(C)[C@@H]2CC[C@@]1(CS(=O)(=O)O)C(=O)C2"), Some(CounterIonClass::OrganicAcid));
        for metal in ["[Na+]", "[Ca+2]", "[Zn+2]", "[Al+3]", "[Pd]", "[Cs+]"] {
            assert_eq!(part(metal), Some(CounterIonClass::Metal), "{metal}");
        }
        for other in ["C", "[BH4-]", "[H-]", "NCC(=O)O", "[SiH4]"] {
            assert_eq!(part(other), None, "{other}");
        }
    }
}
