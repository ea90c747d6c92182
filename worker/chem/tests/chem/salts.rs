//! Salts where one molecule is meant.

use chem::{Limits, MappedMolecule, Molecule, SmilesError};

#[test]
fn a_salt_stands_for_its_parent() {
    for (salt, parent) in [
        ("NCCc1ccccc1.Cl", "NCCc1ccccc1"),
        ("[NH3+]CCc1ccccc1.[Cl-]", "NCCc1ccccc1"),
        ("NCCc1ccccc1.OC(=O)C(F)(F)F", "NCCc1ccccc1"),
        ("[Na+].[O-]C(=O)c1ccc(F)cc1", "O=C(O)c1ccc(F)cc1"),
        ("[K+].[K+].[O-]C(=O)CCC([O-])=O", "O=C(O)CCC(=O)O"),
        ("NC1CC1.NC1CC1.OS(=O)(=O)O", "NC1CC1"),
        ("C1CNC1.Cl.Cl.O", "C1CNC1"),
        ("CC(=O)[O-].[Na+]", "CC(=O)O"),
        ("C[C@H](N)c1ccccc1.OC(=O)[C@H](O)[C@@H](O)C(=O)O", "C[C@H](N)c1ccccc1"),
        // Hydrates and solvates, with and without a counter-ion.
        ("CC(=O)Nc1ccc(O)cc1.O", "CC(=O)Nc1ccc(O)cc1"),
        ("CC(=O)Nc1ccc(O)cc1.CC(=O)Nc1ccc(O)cc1.O", "CC(=O)Nc1ccc(O)cc1"),
        ("CC(=O)Nc1ccc(O)cc1.CCO", "CC(=O)Nc1ccc(O)cc1"),
        ("NCCc1ccccc1.Cl.O", "NCCc1ccccc1"),
        ("NCCc1ccccc1.Cl.O.O", "NCCc1ccccc1"),
        ("NCCc1ccccc1.Cl.CCO", "NCCc1ccccc1"),
        ("ClCCl.CC(=O)Nc1ccc(O)cc1", "CC(=O)Nc1ccc(O)cc1"),
        ("CS(C)=O.CC(=O)Nc1ccc(O)cc1.CN(C)C=O", "CC(=O)Nc1ccc(O)cc1"),
        ("CC(=O)[O-].[Na+].O.O.O", "CC(=O)O"),
        ("OO.CC(=O)Nc1ccc(O)cc1", "CC(=O)Nc1ccc(O)cc1"),
        // Salts with organic acids and bases.
        ("NCCc1ccccc1.Cc1ccc(cc1)S(=O)(=O)O", "NCCc1ccccc1"),
        ("[NH3+]CCc1ccccc1.Cc1ccc(cc1)S(=O)(=O)[O-].O", "NCCc1ccccc1"),
        ("NCCc1ccccc1.OC(=O)/C=C\\C(=O)O", "NCCc1ccccc1"),
        ("NCCc1ccccc1.NCCc1ccccc1.OC(=O)/C=C/C(=O)O", "NCCc1ccccc1"),
        ("NCCc1ccccc1.CS(=O)(=O)O.CC(C)O", "NCCc1ccccc1"),
        ("O=C(O)c1ccc(F)cc1Br.NC(CO)(CO)CO", "O=C(O)c1ccc(F)cc1Br"),
        ("O=C(O)c1ccc(F)cc1Br.C1CCC(NC2CCCCC2)CC1", "O=C(O)c1ccc(F)cc1Br"),
    ] {
        let parent = parent.parse::<Molecule>().unwrap();

        let molecule = Molecule::parse_one(salt, Limits::TARGET).unwrap();
        let mapped = MappedMolecule::of_one(salt, Limits::TARGET).unwrap();

        assert_eq!(molecule.as_canonical(), parent.as_canonical(), "{salt}");
        assert_eq!(mapped.molecule().as_canonical(), parent.as_canonical(), "{salt}");
    }
}

#[test]
fn a_mixture_is_refused_with_its_position() {
    for (mixture, at) in [
        ("CC.CC", 2),
        ("NC1CC1.OCC1CC1", 6),
        ("CCO.CC(C)=O", 3),
        ("CCCCCN.C=CC#N.Cl", 6),
        ("CCO.CC", 3),
        ("CCO.O=C(O)C", 3),
        ("CC(=O)O.CCO", 7),
        ("CCO.c1ccccc1", 3),
        ("CCO.CCN", 3),
        ("NCCc1ccccc1.O=C(O)c1ccc(F)cc1Br", 11),
        ("NCCc1ccccc1.O=C(O)c1ccc(F)cc1Br.O", 11),
        ("NCCc1ccccc1.O=C(O)c1ccc(F)cc1Br.Cl", 11),
        ("CC(=O)Nc1ccc(O)cc1.CN1C=NC2=C1C(=O)N(C(=O)N2C)C.CCO", 18),
    ] {
        let fault = SmilesError::SecondComponent { at };

        assert_eq!(Molecule::parse_one(mixture, Limits::TARGET).err(), Some(fault.clone()), "{mixture}");
        assert_eq!(MappedMolecule::of_one(mixture, Limits::TARGET).err(), Some(fault), "{mixture}");
    }
}

#[test]
fn map_numbers_of_a_salt_name_the_atoms_of_the_parent() {
    let mapped = MappedMolecule::of_one("[Na+].[CH3:1][CH2:2]C(=O)[O-:4]", Limits::TARGET).unwrap();

    assert_eq!(mapped.molecule().as_canonical(), "CCC(=O)O");
    assert_eq!([mapped.atom(1), mapped.atom(2), mapped.atom(4)], [Ok(0), Ok(1), Ok(4)]);
    assert!(mapped.are_bonded(0, 1));
}
