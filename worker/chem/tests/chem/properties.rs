//! Properties and alerts beside RDKit's: see `data/SOURCES.md`.

use chem::{AlertSet, Molecule, Properties, Property};

#[test]
fn properties_and_alerts_are_rdkits() {
    let mut lines = include_str!("../data/properties.tsv").lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let names = Property::ALL.map(Property::name).into_iter().chain(AlertSet::ALL.map(AlertSet::name));
    assert!(header[1..].iter().copied().eq(names));
    let mut wrong = Vec::new();
    for line in lines {
        let row: Vec<&str> = line.split('\t').collect();
        let Ok(molecule) = row[0].parse::<Molecule>() else { panic!("{line}") };
        let properties = Properties::new(&molecule);
        for (property, expected) in Property::ALL.into_iter().zip(&row[1..]) {
            let (value, expected) = (properties.value(property), expected.parse::<f64>().unwrap());
            if (value - expected).abs() > 1e-9 * expected.abs().max(1.0) {
                wrong.push(format!("{} {property}: {value}, RDKit {expected}", row[0]));
            }
        }
        for (set, expected) in AlertSet::ALL.into_iter().zip(&row[1 + Property::ALL.len()..]) {
            let name = set.first_match(&molecule).unwrap_or_default();
            if name != *expected {
                wrong.push(format!("{} {set}: `{name}`, RDKit `{expected}`", row[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_property_does_not_depend_on_the_way_a_molecule_is_written() {
    for (one, other) in [
        ("Oc1ccccc1C(C)=O", "CC(=O)C1=CC=CC=C1O"),
        ("C1=CNC=C1", "c1cc[nH]c1"),
        ("CN(=O)=O", "C[N+](=O)[O-]"),
        ("[H]C([H])([H])O", "CO"),
    ] {
        let [one, other] = [one, other].map(|smiles| smiles.parse::<Molecule>().unwrap());
        for property in Property::ALL {
            assert!((property.of(&one) - property.of(&other)).abs() < 1e-12, "{property} of {one:?}");
        }
        for set in AlertSet::ALL {
            assert_eq!(set.first_match(&one), set.first_match(&other), "{set} of {one:?}");
        }
    }
}
