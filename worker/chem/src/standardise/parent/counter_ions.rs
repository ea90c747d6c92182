//! Counter-ions and solvates: components that are never the parent of an entry that has another one.
//!
//! Written for Retort from the salts and solvates of vendors' and drug catalogues (Stahl and Wermuth, *Handbook of
//! Pharmaceutical Salts*, 2011, appendix; RDKit's `Data/Salts.txt`). An ion is listed by its neutral form. Stereo is
//! ignored, so that tartaric acid stands for all of its isomers.

use crate::molecules::molecule::Molecule;

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

use CounterIonClass::{Ammonia, MineralAcid, OrganicAcid, OrganicBase, Solvate};

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
    COUNTER_IONS.iter().find(|(_, _, smiles)| *smiles == canonical).map(|&(part, name, _)| (part, name))
}

/// Returns true if the single atom is of groups 1 to 13, except hydrogen and boron, or a heavy one of groups 14 and
/// 15.
fn is_metal(molecule: &Molecule) -> bool {
    let element = molecule.graph().atoms().map(|(_, atom)| atom.element.atomic_number()).max();
    matches!(element, Some(3 | 4 | 11..=13 | 19..=31 | 37..=50 | 55..=83 | 87..))
}

/// Counter-ions and solvates by their canonical SMILES.
const COUNTER_IONS: &[(CounterIonClass, &str, &str)] = &[
    (OrganicBase, "triethylamine", "CCN(CC)CC"),
    (OrganicBase, "diisopropylethylamine", "CCN(C(C)C)C(C)C"),
    (OrganicBase, "diethylamine", "CCNCC"),
    (OrganicBase, "diisopropylamine", "CC(C)NC(C)C"),
    (OrganicBase, "tributylamine", "CCCCN(CCCC)CCCC"),
    (OrganicBase, "trimethylamine", "CN(C)C"),
    (OrganicBase, "tert-butylamine", "CC(C)(C)N"),
    (OrganicBase, "cyclohexylamine", "NC1CCCCC1"),
    (OrganicBase, "dicyclohexylamine", "C1CCC(NC2CCCCC2)CC1"),
    (OrganicBase, "1-phenylethylamine", "CC(N)c1ccccc1"),
    (OrganicBase, "tromethamine", "NC(CO)(CO)CO"),
    (OrganicBase, "meglumine", "CNCC(O)C(O)C(O)C(O)CO"),
    (OrganicBase, "ethanolamine", "NCCO"),
    (OrganicBase, "diethanolamine", "OCCNCCO"),
    (OrganicBase, "triethanolamine", "OCCN(CCO)CCO"),
    (OrganicBase, "deanol", "CN(C)CCO"),
    (OrganicBase, "ethylenediamine", "NCCN"),
    (OrganicBase, "benzathine", "c1ccc(CNCCNCc2ccccc2)cc1"),
    (OrganicBase, "N-methylmorpholine", "CN1CCOCC1"),
    (OrganicBase, "pyridine", "c1ccncc1"),
    (OrganicBase, "2,6-lutidine", "Cc1cccc(C)n1"),
    (OrganicBase, "imidazole", "c1c[nH]cn1"),
    (OrganicBase, "DBU", "C1CCC2=NCCCN2CC1"),
    (OrganicBase, "DABCO", "C1CN2CCN1CC2"),
    (OrganicBase, "lysine", "NCCCCC(N)C(=O)O"),
    (OrganicBase, "arginine", "N=C(N)NCCCC(N)C(=O)O"),
    (OrganicBase, "choline", "C[N+](C)(C)CCO"),
    (OrganicBase, "tetramethylammonium", "C[N+](C)(C)C"),
    (OrganicBase, "tetraethylammonium", "CC[N+](CC)(CC)CC"),
    (OrganicBase, "tetrapropylammonium", "CCC[N+](CCC)(CCC)CCC"),
    (OrganicBase, "tetrabutylammonium", "CCCC[N+](CCCC)(CCCC)CCCC"),
    (OrganicBase, "benzyltrimethylammonium", "C[N+](C)(C)Cc1ccccc1"),
    (OrganicBase, "benzyltriethylammonium", "CC[N+](CC)(CC)Cc1ccccc1"),
    (OrganicBase, "cetyltrimethylammonium", "CCCCCCCCCCCCCCCC[N+](C)(C)C"),
    (OrganicBase, "tetraphenylphosphonium", "c1ccc([P+](c2ccccc2)(c2ccccc2)c2ccccc2)cc1"),
    (OrganicAcid, "trifluoroacetic acid", "O=C(O)C(F)(F)F"),
    (OrganicAcid, "trichloroacetic acid", "O=C(O)C(Cl)(Cl)Cl"),
    (OrganicAcid, "dichloroacetic acid", "O=C(O)C(Cl)Cl"),
    (OrganicAcid, "acetic acid", "CC(=O)O"),
    (OrganicAcid, "formic acid", "O=CO"),
    (OrganicAcid, "propionic acid", "CCC(=O)O"),
    (OrganicAcid, "oxalic acid", "O=C(O)C(=O)O"),
    (OrganicAcid, "malonic acid", "O=C(O)CC(=O)O"),
    (OrganicAcid, "succinic acid", "O=C(O)CCC(=O)O"),
    (OrganicAcid, "glutaric acid", "O=C(O)CCCC(=O)O"),
    (OrganicAcid, "adipic acid", "O=C(O)CCCCC(=O)O"),
    (OrganicAcid, "fumaric or maleic acid", "O=C(O)C=CC(=O)O"),
    (OrganicAcid, "malic acid", "O=C(O)CC(O)C(=O)O"),
    (OrganicAcid, "tartaric acid", "O=C(O)C(O)C(O)C(=O)O"),
    (OrganicAcid, "dibenzoyltartaric acid", "O=C(OC(C(=O)O)C(OC(=O)c1ccccc1)C(=O)O)c1ccccc1"),
    (OrganicAcid, "ditoluoyltartaric acid", "Cc1ccc(C(=O)OC(C(=O)O)C(OC(=O)c2ccc(C)cc2)C(=O)O)cc1"),
    (OrganicAcid, "citric acid", "O=C(O)CC(O)(CC(=O)O)C(=O)O"),
    (OrganicAcid, "lactic acid", "CC(O)C(=O)O"),
    (OrganicAcid, "glycolic acid", "O=C(O)CO"),
    (OrganicAcid, "mandelic acid", "O=C(O)C(O)c1ccccc1"),
    (OrganicAcid, "ascorbic acid", "O=C1OC(C(O)CO)C(O)=C1O"),
    (OrganicAcid, "gluconic acid", "O=C(O)C(O)C(O)C(O)C(O)CO"),
    (OrganicAcid, "benzoic acid", "O=C(O)c1ccccc1"),
    (OrganicAcid, "salicylic acid", "O=C(O)c1ccccc1O"),
    (OrganicAcid, "gentisic acid", "O=C(O)c1cc(O)ccc1O"),
    (OrganicAcid, "hippuric acid", "O=C(O)CNC(=O)c1ccccc1"),
    (OrganicAcid, "stearic acid", "CCCCCCCCCCCCCCCCCC(=O)O"),
    (OrganicAcid, "palmitic acid", "CCCCCCCCCCCCCCCC(=O)O"),
    (OrganicAcid, "oleic acid", "CCCCCCCCC=CCCCCCCCC(=O)O"),
    (OrganicAcid, "pamoic acid", "O=C(O)c1cc2ccccc2c(Cc2c(O)c(C(=O)O)cc3ccccc23)c1O"),
    (OrganicAcid, "edetic acid", "O=C(O)CN(CCN(CC(=O)O)CC(=O)O)CC(=O)O"),
    (OrganicAcid, "methanesulfonic acid", "CS(=O)(=O)O"),
    (OrganicAcid, "ethanesulfonic acid", "CCS(=O)(=O)O"),
    (OrganicAcid, "ethanedisulfonic acid", "O=S(=O)(O)CCS(=O)(=O)O"),
    (OrganicAcid, "isethionic acid", "O=S(=O)(O)CCO"),
    (OrganicAcid, "benzenesulfonic acid", "O=S(=O)(O)c1ccccc1"),
    (OrganicAcid, "toluenesulfonic acid", "Cc1ccc(S(=O)(=O)O)cc1"),
    (OrganicAcid, "naphthalene-1-sulfonic acid", "O=S(=O)(O)c1cccc2ccccc12"),
    (OrganicAcid, "naphthalene-2-sulfonic acid", "O=S(=O)(O)c1ccc2ccccc2c1"),
    (OrganicAcid, "naphthalene-1,5-disulfonic acid", "O=S(=O)(O)c1cccc2c(S(=O)(=O)O)cccc12"),
    (OrganicAcid, "camphorsulfonic acid", "CC1(C)C2CCC1(CS(=O)(=O)O)C(=O)C2"),
    (OrganicAcid, "triflic acid", "O=S(=O)(O)C(F)(F)F"),
    (OrganicAcid, "triflimide", "O=S(=O)(NS(=O)(=O)C(F)(F)F)C(F)(F)F"),
    (OrganicAcid, "methyl hydrogen sulfate", "COS(=O)(=O)O"),
    (OrganicAcid, "dodecyl hydrogen sulfate", "CCCCCCCCCCCCOS(=O)(=O)O"),
    (OrganicAcid, "picric acid", "O=[N+]([O-])c1cc([N+](=O)[O-])c(O)c([N+](=O)[O-])c1"),
    (OrganicAcid, "saccharin", "O=C1NS(=O)(=O)c2ccccc21"),
    (OrganicAcid, "tetraphenylborate", "c1ccc([B-](c2ccccc2)(c2ccccc2)c2ccccc2)cc1"),
    (
        OrganicAcid,
        "tetrakis(3,5-bis(trifluoromethyl)phenyl)borate",
        "FC(F)(F)c1cc([B-](c2cc(C(F)(F)F)cc(C(F)(F)F)c2)(c2cc(C(F)(F)F)cc(C(F)(F)F)c2)c2cc(C(F)(F)F)cc(C(F)(F)F)c2)cc(C(F)(F)F)c1",
    ),
    (Ammonia, "ammonia", "N"),
    (MineralAcid, "hydrogen fluoride", "F"),
    (MineralAcid, "hydrogen chloride", "Cl"),
    (MineralAcid, "hydrogen bromide", "Br"),
    (MineralAcid, "hydrogen iodide", "I"),
    (MineralAcid, "triiodide", "I[I-]I"),
    (MineralAcid, "sulfuric acid", "O=S(=O)(O)O"),
    (MineralAcid, "sulfurous acid", "O=S(O)O"),
    (MineralAcid, "phosphoric acid", "O=P(O)(O)O"),
    (MineralAcid, "phosphorous acid", "O=[PH](O)O"),
    (MineralAcid, "nitric acid", "O=[N+]([O-])O"),
    (MineralAcid, "perchloric acid", "[O-][Cl+3]([O-])([O-])O"),
    (MineralAcid, "carbonic acid", "O=C(O)O"),
    (MineralAcid, "boric acid", "OB(O)O"),
    (MineralAcid, "thiocyanic acid", "N#CS"),
    (MineralAcid, "tetrafluoroborate", "F[B-](F)(F)F"),
    (MineralAcid, "hexafluorophosphate", "F[P-](F)(F)(F)(F)F"),
    (MineralAcid, "hexafluoroantimonate", "[F][Sb-]([F])([F])([F])([F])[F]"),
    (MineralAcid, "hexafluorosilicate", "F[Si-2](F)(F)(F)(F)F"),
    (Solvate, "water", "O"),
    (Solvate, "methanol", "CO"),
    (Solvate, "ethanol", "CCO"),
    (Solvate, "1-propanol", "CCCO"),
    (Solvate, "2-propanol", "CC(C)O"),
    (Solvate, "1-butanol", "CCCCO"),
    (Solvate, "tert-butanol", "CC(C)(C)O"),
    (Solvate, "ethylene glycol", "OCCO"),
    (Solvate, "propylene glycol", "CC(O)CO"),
    (Solvate, "acetone", "CC(C)=O"),
    (Solvate, "butanone", "CCC(C)=O"),
    (Solvate, "methyl acetate", "COC(C)=O"),
    (Solvate, "ethyl acetate", "CCOC(C)=O"),
    (Solvate, "isopropyl acetate", "CC(=O)OC(C)C"),
    (Solvate, "acetonitrile", "CC#N"),
    (Solvate, "dimethylformamide", "CN(C)C=O"),
    (Solvate, "dimethylacetamide", "CC(=O)N(C)C"),
    (Solvate, "N-methylpyrrolidone", "CN1CCCC1=O"),
    (Solvate, "dimethyl sulfoxide", "CS(C)=O"),
    (Solvate, "dimethyl sulfide", "CSC"),
    (Solvate, "tetrahydrofuran", "C1CCOC1"),
    (Solvate, "2-methyltetrahydrofuran", "CC1CCCO1"),
    (Solvate, "dioxane", "C1COCCO1"),
    (Solvate, "diethyl ether", "CCOCC"),
    (Solvate, "diisopropyl ether", "CC(C)OC(C)C"),
    (Solvate, "tert-butyl methyl ether", "COC(C)(C)C"),
    (Solvate, "dimethoxyethane", "COCCOC"),
    (Solvate, "benzene", "c1ccccc1"),
    (Solvate, "toluene", "Cc1ccccc1"),
    (Solvate, "o-xylene", "Cc1ccccc1C"),
    (Solvate, "m-xylene", "Cc1cccc(C)c1"),
    (Solvate, "p-xylene", "Cc1ccc(C)cc1"),
    (Solvate, "pentane", "CCCCC"),
    (Solvate, "hexane", "CCCCCC"),
    (Solvate, "heptane", "CCCCCCC"),
    (Solvate, "cyclohexane", "C1CCCCC1"),
    (Solvate, "dichloromethane", "ClCCl"),
    (Solvate, "chloroform", "ClC(Cl)Cl"),
    (Solvate, "tetrachloromethane", "ClC(Cl)(Cl)Cl"),
    (Solvate, "1,2-dichloroethane", "ClCCCl"),
    (Solvate, "nitromethane", "C[N+](=O)[O-]"),
    (Solvate, "hydrogen peroxide", "OO"),
    (Solvate, "carbon dioxide", "O=C=O"),
];

#[cfg(test)]
mod tests {
    use super::{COUNTER_IONS, CounterIonClass, find};
    use crate::Molecule;

    #[test]
    fn every_counter_ion_is_listed_once_by_its_neutral_canonical_form() {
        for (place, &(part, name, smiles)) in COUNTER_IONS.iter().enumerate() {
            let molecule: Molecule = smiles.parse().unwrap_or_else(|error| panic!("{name}: {error}"));

            assert_eq!(molecule.as_canonical(), smiles, "{name}");
            assert_eq!(molecule.neutral().as_canonical(), smiles, "{name}");
            assert_eq!(find(&molecule), Some((part, name)));
            assert!(COUNTER_IONS[..place].iter().all(|known| known.1 != name && known.2 != smiles), "{name}");
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
