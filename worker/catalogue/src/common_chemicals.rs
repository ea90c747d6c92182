//! Chemicals that every laboratory has in stock.
//!
//! These are bulk reagents and solvents that nobody orders for a single synthesis. They are in stock without price
//! and lead time, as offers of the vendor [`VENDOR_NAME`]. `tables/common_chemicals.tsv` lists what process and teaching
//! laboratories keep by the bottle or the cylinder: common solvents, mineral acids and bases, and the small reagents
//! that templates assume. A salt is listed as the component that a building block is made of, which is what routes ask
//! for.

use std::sync::LazyLock;

use chem::Table;

/// Vendor number of the common chemicals.
pub const VENDOR: i32 = 0;

/// Vendor name of the common chemicals.
pub const VENDOR_NAME: &str = "Common Lab Chemicals";

/// Name and canonical SMILES of each chemical.
pub static CHEMICALS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let table = Table {
        file: "common_chemicals.tsv",
        text: include_str!("../tables/common_chemicals.tsv"),
        columns: ["name", "smiles", "kind", "source"],
        keys: 1,
    };
    let rows = table.read(|[name, smiles, _, _]| Ok((name, smiles)));
    rows.expect("common_chemicals: a test reads the table")
});

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use chem::{Limits, Molecule};

    use super::*;

    #[test]
    fn each_is_a_canonical_molecule_of_one_component_and_there_once() {
        let mut seen = HashSet::new();
        for &(name, smiles) in CHEMICALS.iter() {
            let molecule =
                Molecule::parse(smiles, Limits::DEFAULT).unwrap_or_else(|error| panic!("{name}: {error}"));

            assert_eq!(molecule.canonical_smiles(), smiles, "{name}");
            assert_eq!(molecule.parent().molecule.canonical_smiles(), smiles, "{name}");
            assert!(seen.insert(molecule.tautomer_key()), "{name} is there twice");
        }
    }
}
