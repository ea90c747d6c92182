//! Lookup of a molecule's building block.

use catalogue::{BlockRow, BlockStructure, Masks, Offer, Stock, StockView};
use chem::Molecule;

use crate::{alkane, row, stock};

/// Id of the block found for a molecule.
fn found(stock: &StockView, smiles: &str) -> Option<i32> {
    stock.find(&smiles.parse().unwrap()).map(|block| stock.id(block))
}

#[test]
fn every_block_is_found_by_its_molecule_and_nothing_else_is() {
    let stock = stock((0..200).map(alkane), &[]);

    for id in 0..200 {
        let molecule: Molecule = alkane(id).smiles.parse().unwrap();
        let block = stock.find(&molecule).unwrap();
        assert_eq!((stock.id(block), stock.smiles(block)), (id, alkane(id).smiles));
        assert_eq!(stock.mw(block), 180.159);
    }
    assert_eq!(stock.find(&"CCO".parse().unwrap()), None);
}

#[test]
fn of_rows_for_one_molecule_the_lowest_id_stays_with_its_offers() {
    let offers = |usd| vec![Offer::of(1).at(usd)];
    let rows = [(row(9, "CO"), offers(1.0)), (row(4, "CO"), offers(2.0)), (row(7, "CN"), offers(3.0))];

    let stock = StockView::in_memory(rows);

    assert_eq!(stock.snapshot().len(), 2);
    let block = stock.find(&"CO".parse().unwrap()).unwrap();
    assert_eq!((stock.id(block), stock.usd_per_gram(block)), (4, Some(2.0)));
}

#[test]
fn a_row_that_is_no_molecule_is_left_out_and_counted() {
    let broken = BlockRow { smiles: "C1CC".to_owned(), ..row(3, "CC") };
    let foreign = BlockRow { smiles: "C\u{e9}".to_owned(), ..row(4, "CC") };

    let stock = stock([row(1, "CO"), broken, foreign], &[Offer::of(1)]);

    assert_eq!((stock.snapshot().len(), stock.snapshot().unreadable()), (1, 2));
}

#[test]
fn a_tautomer_or_charged_form_of_a_block_is_that_block() {
    let rows = [row(7, "O=c1cccc[nH]1"), row(2, "Cc1cc[nH]n1"), row(3, "NCC(=O)O"), row(4, "CC[NH3+]")];

    let stock = stock(rows, &[]);

    for (form, id) in [
        ("Oc1ccccn1", Some(7)),
        ("[O-]c1ccccn1", Some(7)),
        ("Cc1ccn[nH]1", Some(2)),
        ("[NH3+]CC(=O)[O-]", Some(3)),
        ("CCN", Some(4)),
        ("Oc1cccnc1", None),
        ("Cc1cnc[nH]1", None),
    ] {
        assert_eq!(found(&stock, form), id, "{form}");
    }
}

#[test]
fn of_forms_the_lowest_id_is_found() {
    let rows = [row(7, "[NH3+]CC(=O)O"), row(5, "NCC(=O)[O-]"), row(6, "[NH3+]CC(=O)[O-]")];

    assert_eq!(found(&stock(rows, &[]), "NCC(=O)O"), Some(5));
}

#[test]
fn a_molecules_own_block_goes_before_its_tautomers_unless_masks_exclude_it() {
    let dear = (row(8, "Oc1ccccn1"), vec![Offer::of(1).at(9.0)]);
    let cheap = (row(3, "O=c1cccc[nH]1"), vec![Offer::of(1).at(0.1)]);
    let stock = StockView::in_memory([dear, cheap]);
    let masks = Masks { usd_gte: Some(1.0), ..Masks::default() };

    assert_eq!(found(&stock, "Oc1ccccn1"), Some(8));
    assert_eq!(found(&stock.under(masks), "Oc1ccccn1"), Some(3));
}

#[test]
fn an_empty_catalogue_has_nothing() {
    let stock = stock([], &[]);

    assert!(stock.snapshot().is_empty());
    let molecule: Molecule = "CCO".parse().unwrap();
    assert_eq!(stock.find(&molecule), None);
    assert_eq!(stock.nearest(&[molecule.fingerprint()], 2), [None]);
}

#[test]
fn a_racemate_is_no_enantiomer() {
    let rows = [
        row(1, "C[C@H](N)c1ccccc1 |&1:1|"),
        row(2, "C[C@H](O)c1ccccc1 |o1:1,r|"),
        row(3, "C[C@H](F)CN |a:1|"),
    ];

    let stock = stock(rows, &[]);

    for (molecule, id) in [
        ("C[C@H](N)c1ccccc1", None),
        ("C[C@@H](N)c1ccccc1", None),
        ("CC(N)c1ccccc1", Some(1)),
        ("C[C@H](O)c1ccccc1", None),
        ("CC(O)c1ccccc1", Some(2)),
        ("C[C@H](F)CN", Some(3)),
    ] {
        assert_eq!(found(&stock, molecule), id, "{molecule}");
    }
}

#[test]
fn a_block_is_found_by_its_other_spellings() {
    let rows = [
        row(1, "CB1OC(=O)CN(C)CC(=O)O1"),
        row(2, "[2H]OC([2H])([2H])[2H]"),
        row(3, "[2H]N([2H])C([2H])([2H])[2H]"),
        row(4, "[2H]O[2H]"),
    ];

    let stock = stock(rows, &[]);

    for (molecule, id) in [
        ("C[B-]12OC(=O)C[N+]1(C)CC(=O)O2", Some(1)),
        ("[2H]C([2H])([2H])O", Some(2)),
        ("[2H]C([2H])([2H])N", Some(3)),
        ("CO", None),
        ("O", None),
        ("[2H]O[2H]", Some(4)),
    ] {
        assert_eq!(found(&stock, molecule), id, "{molecule}");
    }
}

#[test]
fn a_racemate_or_an_unknown_enantiomer_is_no_pure_enantiomer() {
    for (sold, needed) in [
        ("C[C@H](N)c1ccccc1 |&1:1|", ["C[C@H](N)c1ccccc1", "C[C@@H](N)c1ccccc1"]),
        ("C[C@H](N)c1ccccc1 |o1:1|", ["C[C@H](N)c1ccccc1", "C[C@@H](N)c1ccccc1"]),
        ("C[C@H](N)c1ccccc1 |r|", ["C[C@H](N)c1ccccc1", "C[C@@H](N)c1ccccc1"]),
        ("C[C@H](O)[C@@H](N)C |o1:1,3|", ["C[C@H](O)[C@@H](N)C", "C[C@@H](O)[C@H](N)C"]),
        ("C[C@H](O)[C@@H](N)C |a:1,&1:3|", ["C[C@H](O)[C@@H](N)C", "C[C@H](O)[C@H](N)C"]),
        // A salt, and a molecule with tautomers.
        ("C[C@H](N)c1ccccc1.Cl |&1:1|", ["C[C@H](N)c1ccccc1", "C[C@@H](N)c1ccccc1"]),
        ("C[C@H](F)c1cc[nH]n1 |&1:1|", ["C[C@H](F)c1cc[nH]n1", "C[C@@H](F)c1ccn[nH]1"]),
    ] {
        let block = BlockStructure::of_smiles(sold).unwrap();
        let stock = stock([row(1, &block.smiles)], &[]);

        assert!(block.has_unknown_configuration, "{sold}");
        assert_eq!(needed.map(|smiles| found(&stock, smiles)), [None, None], "{sold}");
        assert_eq!(found(&stock, &block.smiles), Some(1), "{sold}");
    }
}
