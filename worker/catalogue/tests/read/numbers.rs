//! Prices and amounts in every style of numbers: never a thousand times more or less in silence.

use catalogue::{NumberStyle, read::ColumnProfile};

use crate::{Found, found, found_with, options};

/// Price and pack of an offer.
type PricedPack = (f64, f64);

/// Rows as they are written, and the offers that they are.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a [PricedPack]);

/// The offers, and the rejected lines with their reasons.
fn offers(found: &Found) -> (Vec<PricedPack>, Vec<(u64, &str)>) {
    let offers = found.entries.iter().map(|entry| (entry.price_usd.unwrap(), entry.pack.unwrap())).collect();
    (offers, found.rejects.iter().map(|(line, reason)| (*line, reason.as_str())).collect())
}

/// Reads rows of a pack in grams and a price.
fn read(rows: &[(&str, &str)]) -> Found {
    let text: String = rows.iter().map(|(pack, price)| format!("CCO\t{pack}\tg\t{price}\n")).collect();
    found("prices.tsv", format!("smiles\tpack\tuom\tprice_usd\n{text}").as_bytes())
}

#[test]
fn a_price_counts_in_its_columns_style() {
    let cases: [Case<'_>; 14] = [
        (&[("5", "1.234,50"), ("1", "7,25")], &[(1234.5, 5.0), (7.25, 1.0)]),
        (&[("5", "12.345,00"), ("1", "1.234")], &[(12345.0, 5.0), (1234.0, 1.0)]),
        (&[("1.000,5", "10,5"), ("1.000", "9,5")], &[(10.5, 1000.5), (9.5, 1000.0)]),
        (&[("5", "1.234"), ("5", "12,50")], &[(1234.0, 5.0), (12.5, 5.0)]),
        (&[("5", "1,234"), ("5", "12.50")], &[(1234.0, 5.0), (12.5, 5.0)]),
        (&[("5", "1.234"), ("5", "12.50")], &[(1.234, 5.0), (12.5, 5.0)]),
        (&[("5", "1'234.50"), ("5", "1’234")], &[(1234.5, 5.0), (1234.0, 5.0)]),
        (&[("5", "1,23,456.00"), ("5", "12,34,567")], &[(123_456.0, 5.0), (1_234_567.0, 5.0)]),
        (&[("5", "1 234,50"), ("5", "12 345")], &[(1234.5, 5.0), (12345.0, 5.0)]),
        (&[("5", "1\u{a0}234,50"), ("5", "1\u{202f}234\u{202f}567")], &[(1234.5, 5.0), (1_234_567.0, 5.0)]),
        (&[("5", "1.234.567")], &[(1_234_567.0, 5.0)]),
        (&[("0,5", "1.250")], &[(1250.0, 0.5)]),
        (&[("5", "12,-"), ("5", "1.234,–")], &[(12.0, 5.0), (1234.0, 5.0)]),
        (&[("5", "$ 1,200"), ("5", "$95")], &[(1200.0, 5.0), (95.0, 5.0)]),
    ];
    for (rows, expected) in cases {
        assert_eq!(offers(&read(rows)), (expected.to_vec(), vec![]), "{rows:?}");
    }
}

#[test]
fn a_value_that_does_not_fit_is_left_out_with_its_line() {
    const UNKNOWN: &str = "has two possible values, since the column does not tell its decimal mark (--numbers point or --numbers comma says it)";
    let cases = [
        ([("5", "12.5,0"), ("1", "7.25")], "price_usd `12.5,0` is not a number".to_owned()),
        ([("12.5,0", "5"), ("1", "7.25")], "pack `12.5,0` is not a number".to_owned()),
        ([("5", "1.2345,6"), ("1", "7.25")], "price_usd `1.2345,6` is not a number".to_owned()),
        ([("5", "1.234"), ("1", "7")], format!("price_usd `1.234` {UNKNOWN}")),
        ([("1,500", "5"), ("1", "7")], format!("pack `1,500` {UNKNOWN}")),
        ([("5", "1.234 €"), ("1", "7")], format!("price_usd `1.234 €` {UNKNOWN}")),
    ];
    for (rows, reason) in cases {
        let found = read(&rows);

        assert_eq!(offers(&found).1, [(2, reason.as_str())], "{rows:?}");
        assert_eq!(found.entries.len(), 1, "{rows:?}");
    }
    let mixed = read(&[("1", "12.50"), ("1", "12,50"), ("1", "1.250")]);
    let expected = format!("price_usd `1.250` {UNKNOWN}");
    assert_eq!(offers(&mixed), (vec![(12.5, 1.0), (12.5, 1.0)], vec![(4, expected.as_str())]));
}

#[test]
fn a_later_value_that_contradicts_the_column_is_left_out() {
    let rows: String = (0..80_000).map(|id| format!("CCO,{id},1,g,12.50\n")).collect();
    let text = format!("smiles,cs_id,pack,uom,price_usd\n{rows}CCO,x,1,g,\"1.234,50\"\nCCO,y,1,g,1.250\n");

    let found = found("long.csv", text.as_bytes());

    assert_eq!(
        found.rejects,
        [(80_002, "price_usd `1.234,50` is not written as its column, which has a decimal point".to_owned())]
    );
    assert_eq!(found.entries.last().unwrap().price_usd, Some(1.25));
}

#[test]
fn the_user_may_state_the_style() {
    let text = b"smiles;pack;uom;price_usd\nCCO;1;g;1.250\nCCO;1;g;7\nCCO;1;g;7.5\n";
    let profile = ColumnProfile { numbers: Some(NumberStyle::Comma), ..ColumnProfile::default() };
    let options = catalogue::read::Options { profile, ..options() };

    let found = found_with("prices.csv", text, &options).unwrap();

    let reason = "price_usd `7.5` is not written as its column, which has a decimal comma";
    assert_eq!(offers(&found), (vec![(1250.0, 1.0), (7.0, 1.0)], vec![(4, reason)]));
}

#[test]
fn the_style_of_each_column_is_told() {
    let text = b"smiles\tpack\tuom\tprice_eur\tamount\nCCO\t0.5\tg\t1.234,50\t3 g\n";

    let found = found("mixed.tsv", text);

    let styles = found.outline.columns.iter().filter(|column| column.has_numbers());
    let styles: Vec<String> = styles.map(|column| format!("{}: {}", column.name, column.numbers)).collect();
    assert_eq!(styles, ["pack: decimal point", "price_eur: decimal comma", "amount: decimal mark unknown"]);
}

#[test]
fn numbers_of_json_and_files_of_ones_own_have_points() {
    let json = br#"[{"smiles": "CCO", "pack": 1, "uom": "g", "price_usd": 1.125}]"#;
    let own = b"full_canonical,pack,uom,price_usd\nCCO,1,g,1.125\n";

    for (name, text) in [("a.json", &json[..]), ("a.csv", &own[..])] {
        assert_eq!(offers(&found(name, text)), (vec![(1.125, 1.0)], vec![]), "{name}");
    }
    let text = br#"[{"smiles": "CCO", "pack": "1", "uom": "g", "price_usd": "1.234,50"}]"#;
    assert_eq!(offers(&found("a.json", text)), (vec![(1234.5, 1.0)], vec![]));
}

#[test]
fn a_density_is_the_one_that_a_liquid_can_have() {
    for density in ["0.789", "0,789", "1.049", "1,049"] {
        let text = format!("smiles\tpack\tuom\tprice_usd\tdensity\nCCO\t1\tmL\t1\t{density}\n");
        let found = found("liquid.tsv", text.as_bytes());

        let expected = 1.0 / density.replace(',', ".").parse::<f64>().unwrap();
        assert!((found.entries[0].normalised_usd.unwrap() - expected).abs() < 1e-9, "{density}");
    }
}
