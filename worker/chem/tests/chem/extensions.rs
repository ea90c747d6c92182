//! Molecules written with a ChemAxon extension (CXSMILES).

use chem::{Limits, MappedMolecule, Molecule, SmilesError};

fn parse(text: &str) -> Result<String, SmilesError> {
    Ok(text.parse::<Molecule>()?.canonical_smiles())
}

#[test]
fn configurations_that_are_not_known_are_left_out() {
    for (text, expected) in [
        ("C[C@H](F)Cl |&1:1|", "CC(F)Cl"),
        ("C[C@H](F)Cl |&1:1,r|", "CC(F)Cl"),
        ("C[C@@H](F)Cl\t|o1:1|", "CC(F)Cl"),
        ("C[C@H](F)Cl |a:1|", "C[C@H](F)Cl"),
        ("C[C@H](F)Cl |r|", "CC(F)Cl"),
        ("C[C@H](O)[C@@H](N)C |a:1,r|", "C[C@H](O)C(N)C"),
        ("C[C@H](O)[C@@H](N)C |o1:1,3|", "CC(O)C(N)C"),
        ("C[C@H](O)[C@@H](N)C |a:1,&1:3|", "C[C@H](O)C(N)C"),
        ("C[C@H](O)[C@@H](N)C |&1:1,o2:3|", "CC(O)C(N)C"),
        ("C[C@H](F)Cl |w:1.0|", "CC(F)Cl"),
        ("C[C@H](F)Cl |(0,0;1,0;2,0;1,1),wU:1.0|", "C[C@H](F)Cl"),
        ("C1CC%12CC%12C1[C@H](F)Cl |&1:6|", "C1CC%12CC%12C1C(F)Cl"),
        ("C/C=C/C |c:1,lp:0:1|", "C/C=C/C"),
        ("CCO |$a;;b$,f:0.1,SgD:0:name:value::::|", "CCO"),
        ("CCO |$_AV:1;2;3$,atomProp:0.p.v|", "CCO"),
        ("CCO ||", "CCO"),
    ] {
        let expected = expected.parse::<Molecule>().unwrap().canonical_smiles();

        assert_eq!(parse(text), Ok(expected.clone()), "{text}");
        let mapped = MappedMolecule::of_one(text, Limits::TARGET).unwrap();
        assert_eq!(mapped.molecule().as_canonical(), expected, "{text}");
    }
}

#[test]
fn map_numbers_and_an_extension_go_together() {
    let mapped = MappedMolecule::of_one("[CH3:3][C@H:4](F)Cl |&1:1|", Limits::TARGET).unwrap();

    assert_eq!((mapped.molecule().as_canonical(), mapped.atom(3), mapped.atom(4)), ("CC(F)Cl", Ok(0), Ok(1)));
}

#[test]
fn features_that_no_molecule_can_hold_are_refused_with_their_position() {
    for (text, feature, at) in [
        ("CC |^1:0|", "a radical", 4),
        ("CC |a:0,^1:0|", "a radical", 8),
        ("CC |^2:0,1|", "a radical", 4),
        ("*CCO* |Sg:n:1,2,3::ht:::|", "a polymer or mixture", 7),
        ("CCO |Sg:mix:0,1::|", "a polymer or mixture", 5),
        ("CC |$_AP1;$|", "an attachment point", 4),
        ("CC |$;_R2$|", "an R-group", 4),
        ("CC |$Q_e;$|", "a query atom", 4),
        ("*C.c1ccccc1 |m:0:2.3.4.5|", "a bond of variable place", 13),
        ("C1CC1 |LN:1:1.3|", "a link node", 7),
        ("CN.[Fe] |C:0.0|", "a coordinate bond", 9),
        ("CC |H:0.0|", "a hydrogen bond", 4),
        ("CC |foo|", "an unknown feature", 4),
        ("CC |&1:x|", "an invalid list of atoms", 4),
    ] {
        let fault = SmilesError::Extension { feature, at };

        assert_eq!(parse(text), Err(fault.clone()), "{text}");
        assert_eq!(MappedMolecule::of_one(text, Limits::TARGET).err(), Some(fault), "{text}");
    }
    assert_eq!(parse("CC |a:0"), Err(SmilesError::UnclosedExtension { opened: 3 }));
    assert_eq!(parse("CC |a:0| name"), Err(SmilesError::UnclosedExtension { opened: 3 }));
}

#[test]
fn a_fault_of_the_smiles_keeps_its_position() {
    assert_eq!(parse("C1CC |&1:1|"), Err(SmilesError::UnclosedRing { number: 1, opened: 1 }));
    assert!(matches!(parse("CCO name"), Err(SmilesError::Unexpected { found: ' ', at: 3 })));
}
