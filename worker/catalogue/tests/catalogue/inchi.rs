//! InChIKeys of isotopic molecules and organometallics.

use catalogue::inchi_key;

/// RDKit's keys of molecules made for this test; `-` where RDKit gives none.
#[test]
fn isotopes_metals_and_lone_pairs_have_the_keys_that_rdkit_gives() {
    for line in include_str!("../data/inchi_keys.tsv").lines().skip(1) {
        let (smiles, expected) = line.split_once('\t').unwrap();

        let key = inchi_key(smiles);

        let expected = Some(expected).filter(|key| *key != "-");
        assert_eq!(key.as_deref(), expected, "{smiles}");
    }
}

#[test]
#[ignore = "needs RETORT_KEYS, a file of canonical SMILES and RDKit's keys between tabs, `-` for none"]
fn keys_of_a_file_are_those_that_rdkit_gives() {
    let path = std::env::var("RETORT_KEYS").expect("RETORT_KEYS names the file");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut same, mut missing, mut wrong) = (0, Vec::new(), Vec::new());
    for (smiles, expected) in text.lines().filter_map(|line| line.split_once('\t')) {
        match inchi_key(smiles) {
            Some(key) if key == expected => same += 1,
            None if expected == "-" => same += 1,
            None => missing.push(smiles),
            Some(key) => wrong.push(format!("{smiles} {key} {expected}")),
        }
    }
    println!("{same} agree, {} have no key here: {missing:#?}", missing.len());
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
}
