//! Chemicals that every laboratory has in stock.
//!
//! These are bulk reagents and solvents that nobody orders for a single synthesis. They are in stock without price
//! and lead time, as offers of the vendor [`VENDOR_NAME`]. The list holds what process and teaching laboratories keep
//! by the bottle or the cylinder: common solvents, mineral acids and bases, and the small reagents that templates
//! assume. A salt is listed as the component that a building block is made of, which is what routes ask for.

/// Vendor number of the common chemicals.
pub const VENDOR: i32 = 0;

/// Vendor name of the common chemicals.
pub const VENDOR_NAME: &str = "Common Lab Chemicals";

/// Name and canonical SMILES of each chemical.
pub const CHEMICALS: &[(&str, &str)] = &[
    // Gases, water and aqueous solutions.
    ("water", "O"),
    ("hydrogen", "[H][H]"),
    ("oxygen", "O=O"),
    ("ozone", "O=[O+][O-]"),
    ("carbon monoxide", "[C-]#[O+]"),
    ("carbon dioxide", "O=C=O"),
    ("ammonia", "N"),
    ("hydrogen chloride", "Cl"),
    ("hydrogen bromide", "Br"),
    ("hydrogen iodide", "I"),
    ("hydrogen fluoride", "F"),
    ("hydrogen cyanide", "C#N"),
    ("hydrogen sulfide", "S"),
    ("hydrogen peroxide", "OO"),
    ("hydrazine", "NN"),
    ("hydroxylamine", "NO"),
    ("hydrazoic acid", "[N-]=[N+]=N"),
    ("sulfur dioxide", "O=S=O"),
    // Mineral acids, halogens and their carriers.
    ("sulfuric acid", "O=S(=O)(O)O"),
    ("nitric acid", "O=[N+]([O-])O"),
    ("nitrous acid", "O=NO"),
    ("phosphoric acid", "O=P(O)(O)O"),
    ("boric acid", "OB(O)O"),
    ("carbonic acid", "O=C(O)O"),
    ("chlorine", "ClCl"),
    ("bromine", "BrBr"),
    ("iodine", "II"),
    ("thionyl chloride", "O=S(Cl)Cl"),
    ("sulfuryl chloride", "O=S(=O)(Cl)Cl"),
    ("phosphorus trichloride", "ClP(Cl)Cl"),
    ("phosphorus oxychloride", "O=P(Cl)(Cl)Cl"),
    ("phosphorus tribromide", "BrP(Br)Br"),
    ("boron tribromide", "BrB(Br)Br"),
    ("oxalyl chloride", "O=C(Cl)C(=O)Cl"),
    ("N-chlorosuccinimide", "O=C1CCC(=O)N1Cl"),
    ("N-bromosuccinimide", "O=C1CCC(=O)N1Br"),
    ("N-iodosuccinimide", "O=C1CCC(=O)N1I"),
    ("chlorosulfonic acid", "O=S(=O)(O)Cl"),
    // Alcohols and thiols.
    ("methanol", "CO"),
    ("ethanol", "CCO"),
    ("1-propanol", "CCCO"),
    ("2-propanol", "CC(C)O"),
    ("1-butanol", "CCCCO"),
    ("tert-butanol", "CC(C)(C)O"),
    ("ethylene glycol", "OCCO"),
    ("benzyl alcohol", "OCc1ccccc1"),
    // Ethers, ketones, esters, amides, nitriles and hydrocarbons: solvents that also react.
    ("diethyl ether", "CCOCC"),
    ("tetrahydrofuran", "C1CCOC1"),
    ("1,4-dioxane", "C1COCCO1"),
    ("acetone", "CC(C)=O"),
    ("2-butanone", "CCC(C)=O"),
    ("ethyl acetate", "CCOC(C)=O"),
    ("N,N-dimethylformamide", "CN(C)C=O"),
    ("N,N-dimethylacetamide", "CC(=O)N(C)C"),
    ("N-methylpyrrolidone", "CN1CCCC1=O"),
    ("dimethyl sulfoxide", "CS(C)=O"),
    ("acetonitrile", "CC#N"),
    ("nitromethane", "C[N+](=O)[O-]"),
    ("dichloromethane", "ClCCl"),
    ("chloroform", "ClC(Cl)Cl"),
    ("carbon tetrachloride", "ClC(Cl)(Cl)Cl"),
    ("1,2-dichloroethane", "ClCCCl"),
    ("benzene", "c1ccccc1"),
    ("toluene", "Cc1ccccc1"),
    ("chlorobenzene", "Clc1ccccc1"),
    ("hexane", "CCCCCC"),
    // Acids, anhydrides and chlorides.
    ("formic acid", "O=CO"),
    ("acetic acid", "CC(=O)O"),
    ("trifluoroacetic acid", "O=C(O)C(F)(F)F"),
    ("acetic anhydride", "CC(=O)OC(C)=O"),
    ("trifluoroacetic anhydride", "O=C(OC(=O)C(F)(F)F)C(F)(F)F"),
    ("acetyl chloride", "CC(=O)Cl"),
    ("benzoyl chloride", "O=C(Cl)c1ccccc1"),
    ("methanesulfonic acid", "CS(=O)(=O)O"),
    ("methanesulfonyl chloride", "CS(=O)(=O)Cl"),
    ("p-toluenesulfonic acid", "Cc1ccc(S(=O)(=O)O)cc1"),
    ("p-toluenesulfonyl chloride", "Cc1ccc(S(=O)(=O)Cl)cc1"),
    ("di-tert-butyl dicarbonate", "CC(C)(C)OC(=O)OC(=O)OC(C)(C)C"),
    ("benzyl chloroformate", "O=C(Cl)OCc1ccccc1"),
    ("1,1'-carbonyldiimidazole", "O=C(n1ccnc1)n1ccnc1"),
    ("m-chloroperoxybenzoic acid", "O=C(OO)c1cccc(Cl)c1"),
    // Small electrophiles.
    ("formaldehyde", "C=O"),
    ("acetaldehyde", "CC=O"),
    ("iodomethane", "CI"),
    ("bromoethane", "CCBr"),
    ("dimethyl sulfate", "COS(=O)(=O)OC"),
    ("allyl bromide", "C=CCBr"),
    ("benzyl bromide", "BrCc1ccccc1"),
    ("chlorotrimethylsilane", "C[Si](C)(C)Cl"),
    ("tert-butyldimethylsilyl chloride", "CC(C)(C)[Si](C)(C)Cl"),
    // Amines.
    ("methylamine", "CN"),
    ("dimethylamine", "CNC"),
    ("ethylamine", "CCN"),
    ("diethylamine", "CCNCC"),
    ("triethylamine", "CCN(CC)CC"),
    ("N,N-diisopropylethylamine", "CCN(C(C)C)C(C)C"),
    ("pyridine", "c1ccncc1"),
    ("4-dimethylaminopyridine", "CN(C)c1ccncc1"),
    ("imidazole", "c1c[nH]cn1"),
    ("piperidine", "C1CCNCC1"),
    ("morpholine", "C1COCCN1"),
    // Carbon, sulfur and phosphorus nucleophiles.
    ("diethyl malonate", "CCOC(=O)CC(=O)OCC"),
    ("triphenylphosphine", "c1ccc(P(c2ccccc2)c2ccccc2)cc1"),
    ("urea", "NC(N)=O"),
    ("thiourea", "NC(N)=S"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use chem::{Limits, Molecule};

    use super::*;

    #[test]
    fn each_is_a_canonical_molecule_of_one_component_and_there_once() {
        let mut seen = HashSet::new();
        for &(name, smiles) in CHEMICALS {
            let molecule =
                Molecule::parse(smiles, Limits::DEFAULT).unwrap_or_else(|error| panic!("{name}: {error}"));

            assert_eq!(molecule.canonical_smiles(), smiles, "{name}");
            assert_eq!(molecule.parent().molecule.canonical_smiles(), smiles, "{name}");
            assert!(seen.insert(molecule.tautomer_key()), "{name} is there twice");
        }
    }
}
