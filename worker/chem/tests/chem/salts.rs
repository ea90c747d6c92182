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
        ("CC.O", 2),
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
