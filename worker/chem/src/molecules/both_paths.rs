//! Tests of the fast path (`chem_fast`) against the general path.

use std::io::Read;

use chem_fast::canonicalise;
use chematic::smiles::{RdkitSmilesParams, rdkit_random_smiles};
use proptest::prelude::*;

use crate::{Limits, Molecule};

/// Describes the difference between both paths for a string, if there is one.
fn difference(string: &str) -> Option<String> {
    let found = canonicalise(string, Limits::TARGET)?;
    match Molecule::parse_general(string, Limits::TARGET) {
        Ok(long) if long.has_radicals() != found.has_radicals => {
            Some(format!("{string}: the ways see other radicals"))
        }
        Ok(long) if long.as_canonical() == found.canonical && long.heavy_atoms() == found.heavy_atoms => None,
        Ok(long) => Some(format!("{string}: {} by the long way {}", found.canonical, long.as_canonical())),
        Err(error) => Some(format!("{string}: {}, by the long way {error}", found.canonical)),
    }
}

/// Writes the molecule of a string in other atom orders, and with alternating bonds.
fn rewritten(string: &str, times: usize, seed: u32) -> Vec<String> {
    let Ok(graph) = chematic::smiles::parse(string) else { return Vec::new() };
    [false, true]
        .into_iter()
        .flat_map(|kekule| {
            let way = RdkitSmilesParams { kekule, canonical: false, ..RdkitSmilesParams::default() };
            rdkit_random_smiles(&graph, times, seed, &way).unwrap_or_default()
        })
        .collect()
}

/// Damages a string: a byte is left out, doubled, or taken from elsewhere. The fast path must not accept invalid
/// input.
fn damaged(string: &str, seed: usize) -> String {
    let mut bytes = string.as_bytes().to_vec();
    let at = seed % bytes.len();
    match seed % 3 {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, bytes[at]),
        _ => bytes[at] = bytes[seed / 7 % bytes.len()],
    }
    String::from_utf8(bytes).unwrap()
}

const GENERATED: &str = include_str!("../../tests/data/generated.smi");

#[test]
fn generated_strings_go_the_short_way_and_come_out_as_by_the_long_way() {
    let short = GENERATED.lines().filter(|string| canonicalise(string, Limits::TARGET).is_some()).count();
    let wrong: Vec<String> = GENERATED.lines().filter_map(difference).collect();

    assert!(100 * short >= 99 * GENERATED.lines().count(), "{short} went the short way");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn both_ways_agree_however_a_molecule_is_written() {
    let wrong: Vec<String> = GENERATED
        .lines()
        .zip(1..)
        .flat_map(|(string, seed)| rewritten(string, 2, seed))
        .filter_map(|string| difference(&string))
        .collect();

    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_short_way_reads_no_damaged_string_that_the_long_way_refuses() {
    let wrong: Vec<String> = GENERATED
        .lines()
        .zip(0..)
        .flat_map(|(string, number)| {
            [number * 31, number * 17 + 1, number * 13 + 2].map(|seed| damaged(string, seed))
        })
        .filter_map(|string| difference(&string))
        .collect();

    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Pieces that give unusual rings, marks, charges and bonds when combined.
const PIECES: &[&str] = &[
    "C",
    "C",
    "c",
    "N",
    "n",
    "O",
    "o",
    "S",
    "s",
    "F",
    "P",
    "p",
    "B",
    "(",
    ")",
    "(",
    ")",
    "=",
    "=",
    "#",
    "/",
    "\\",
    "-",
    "1",
    "1",
    "2",
    "2",
    "3",
    "%12",
    "[nH]",
    "[N+]",
    "[n+]",
    "[O-]",
    "[C@H]",
    "[C@@H]",
    "[C@]",
    "[C@@]",
    "[S@]",
    "[S@@]",
    "[N@+]",
    "[P@]",
    "[P@@H]",
    "[c-]",
    "[CH-]",
    "[C+]",
    "[NH2+]",
    "[SH]",
    "[se]",
    "[Se]",
    "[Si]",
    "[B-]",
    "[PH]",
    "[I+]",
    "c1ccccc1",
    "c1cc[nH]c1",
    "C1CC1",
    "C1CCCCC1",
    "C1CC2CCC1C2",
    "(=O)",
    "(C)",
    "(F)",
    "/C=C/",
    "/C=C\\",
    "C(=C/C)/C",
    "[C@H](F)",
    "[C@@](C)(F)",
    "C(=O)N",
    "[N+](=O)[O-]",
];

/// Atoms, rings and groups that give unusual but valid molecules when concatenated.
const PARTS: &[&str] = &[
    "C",
    "C",
    "N",
    "O",
    "S",
    "C(C)",
    "C(=O)",
    "N(C)",
    "S(=O)(=O)",
    "P(=O)(O)",
    "[C@H](F)",
    "[C@@H](C)",
    "[C@](C)(F)",
    "[C@@](O)(C)",
    "[S@](=O)",
    "[S@@](=O)",
    "[N+](C)(C)",
    "[P@](=O)(C)",
    "[Si](C)(C)",
    "C=C",
    "C#C",
    "/C=C/",
    "/C=C\\",
    "/C(C)=C/",
    "/C(F)=C(\\C)",
    "/C=C/C=C/",
    "C1CC1",
    "C1CCC1",
    "C1CCCCC1",
    "C1CCOCC1",
    "C1CC(C)CC1",
    "[C@@H]1CC[C@H](C)CC1",
    "[C@H]1C[C@@H](F)C1",
    "C1CC2CCC1C2",
    "C1C2CC3CC1CC(C2)C3",
    "C12CCC(CC1)CC2",
    "c1ccccc1",
    "c1ccc(C)cc1",
    "c1cccnc1",
    "c1cc[nH]c1",
    "c1ccc2[nH]ccc2c1",
    "c1nc2ccccc2n1C",
    "C1=CC=CC=C1",
    "c1ccc2ccccc2c1",
    "c1ccsc1",
    "C1=CC(=O)C=CC1=O",
    "C(=C1/CCCCC1)",
    "C1CCC2(CC1)CCCC2",
    "n1cccc1",
    "c1c[n+](C)ccc1",
    "[nH]1cccc1",
    "C1(C)CC1",
    "[C@]12CCCC[C@@H]1CCCC2",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strange_strings_come_out_as_by_the_long_way(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 1..16),
        seed in 1_u32..1000,
    ) {
        let string = pieces.concat();
        prop_assert_eq!(difference(&string), None);
        for other in rewritten(&string, 1, seed) {
            prop_assert_eq!(difference(&other), None);
        }
    }

    #[test]
    fn strange_molecules_come_out_as_by_the_long_way(
        parts in prop::collection::vec(prop::sample::select(PARTS), 1..9),
        ring in any::<bool>(),
        seed in 1_u32..1000,
    ) {
        let chain = parts.concat();
        let string = if ring { format!("C%10{chain}C%10") } else { chain };
        prop_assert_eq!(difference(&string), None);
        for other in rewritten(&string, 1, seed) {
            prop_assert_eq!(difference(&other), None);
        }
    }

    #[test]
    fn any_bytes_are_answered(text in "[ -~]{0,60}") {
        prop_assert_eq!(difference(&text), None);
    }
}

/// Compares both paths over any number of molecules; run by hand.
#[test]
#[ignore = "needs RETORT_MOLECULES, a (gzipped) file with a SMILES at the start of every line"]
fn both_ways_agree_on_the_molecules_of_a_file() {
    let path = std::env::var("RETORT_MOLECULES").expect("RETORT_MOLECULES names the file");
    let rewrites = std::env::var("RETORT_REWRITES").map_or(0, |times| times.parse().unwrap());
    let bytes = std::fs::read(&path).unwrap();
    let mut text = String::new();
    if path.ends_with(".gz") {
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    let (mut all, mut short) = (0_u32, 0_u32);

    let mut wrong = Vec::new();
    for string in text.lines().filter_map(|line| line.split(['\t', ' ']).next()) {
        all += 1;
        short += u32::from(canonicalise(string, Limits::TARGET).is_some());
        let others = if rewrites > 0 { rewritten(string, rewrites, all) } else { Vec::new() };
        wrong.extend(difference(string));
        wrong.extend(others.iter().filter_map(|other| difference(other)));
    }

    println!("{short} of {all} went the short way, {} differ", wrong.len());
    wrong.iter().take(40).for_each(|case| println!("{case}"));
    assert!(wrong.is_empty());
}
