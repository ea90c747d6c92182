//! Effects of broken files: one lost record for a broken record, an error for a file without any valid content.

use catalogue::read::{Compression, MAX_RECORD_BYTES};

use crate::{
    Found, all_shown, found, found_with, options,
    packed::{ALL, packed, parquet},
};

/// Rejected lines, with the beginning of each reason.
fn left_out(found: &Found) -> Vec<(u64, &str)> {
    found.rejects.iter().map(|(line, reason)| (*line, reason.as_str())).collect()
}

#[test]
fn every_fault_names_what_is_wrong() {
    let header = "smiles,pack,uom,price_usd,lead_time,ships_to_US,timestamp_x";
    let cases = [
        ("CCO,1,g", "3 fields where the header has 7"),
        (",1,g,1,,,", "no SMILES"),
        ("*CCO,1,g,1,,,", "SMILES `*CCO`: wildcard atom"),
        ("CCO,1,g,-1,,,", "price_usd `-1` is negative"),
        ("CCO,1,g,0,,,", "price_usd `0` is zero (leave it empty where it is not known)"),
        ("CCO,1,g,1e300,,,", "price_usd `1e300` is beyond all reason"),
        ("CCO,1,g,cheap,,,", "price_usd `cheap` is not a number"),
        ("CCO,1,g,NaN,,,", "price_usd `NaN` is not a number"),
        ("CCO,0,g,1,,,", "pack `0` is zero (leave it empty where it is not known)"),
        ("CCO,-5,g,1,,,", "pack `-5` is negative"),
        ("CCO,1,cup,1,,,", "unknown unit `cup` (known: kg, g, mg, ug, mol, mmol, umol, L, mL, uL)"),
        ("CCO,1,g,1,soon,,", "lead_time `soon` is not a lead time"),
        ("CCO,1,g,1,-3,,", "lead_time `-3` is negative"),
        ("CCO,1,g,1,99999,,", "lead_time `99999` is beyond all reason"),
        ("CCO,1,g,1,,maybe,", "ships_to_US `maybe` does not say where it ships"),
        ("CCO,1,g,1 EUR,,,", "a price in EUR, and no rate for it (--rates)"),
        ("CC\0O,1,g,1,,,", "smiles is not text"),
    ];
    for (row, message) in cases {
        let found = found("rows.csv", format!("{header}\n{row}\nCCN,1,g,1,,,\n").as_bytes());

        assert_eq!(left_out(&found), [(2, message)], "{row}");
        assert_eq!(found.entries.len(), 1, "{row}");
    }
}

#[test]
fn what_is_not_for_sale_is_left_out_for_that() {
    let askcos = found("buyables.csv", b"smiles,ppg,source\nCCO,0,sigma\nCCN,0.0,sigma\nCCC,1,sigma\n");
    let synplanner = found("blocks.csv", b"smiles,a_ppg,b_ppg\nCCO,0,0\nCCN,0,2\n");

    assert_eq!(left_out(&askcos), [(2, "not for sale: ppg is 0"), (3, "not for sale: ppg is 0")]);
    assert_eq!(left_out(&synplanner), [(2, "not for sale: a_ppg is 0")]);
    assert_eq!((askcos.entries.len(), synplanner.entries.len()), (1, 1));
}

#[test]
fn quoted_line_feeds_belong_to_their_field() {
    let text = "smiles,note,cs_id\nCCO,\"two\nlines, \"\"quoted\"\"\",1\nCCN,,2\nC1CC,,3\n";

    let found = found("notes.csv", text.as_bytes());

    assert_eq!(all_shown(&found), ["CCO House 1 - - -", "CCN House 2 - - -"]);
    assert_eq!((found.entries[1].position.number, found.rejects[0].0), (4, 5));
}

#[test]
fn a_wrong_ending_or_delimiter_is_no_matter() {
    for (name, text) in [
        ("offers.csv", "smiles\tcs_id\nCCO\t1\n"),
        ("offers.tsv", "smiles,cs_id\nCCO,1\n"),
        ("offers.txt", "smiles;cs_id\nCCO;1\n"),
        ("offers", "smiles|cs_id\nCCO|1\n"),
        ("offers.json", "smiles,cs_id\nCCO,1\n"),
    ] {
        assert_eq!(all_shown(&found(name, text.as_bytes())), ["CCO House 1 - - -"], "{name}");
    }
    // With one delimiter in the header and another in the rows, every row is a fault.
    let found = found("mixed.csv", b"smiles,cs_id\nCCO;1\nCCN;2\n");
    assert_eq!(left_out(&found)[0], (2, "1 fields where the header has 2"));
}

#[test]
fn a_line_of_ten_megabytes_costs_itself_alone() {
    let long = "C".repeat(10 << 20);
    let text = format!("smiles,cs_id\nCCO,1\n{long},2\n\"{long}\n\",3\nCCN,4\n");

    let found = found("long.csv", text.as_bytes());

    assert_eq!(all_shown(&found), ["CCO House 1 - - -", "CCN House 4 - - -"]);
    let too_long = format!("longer than {MAX_RECORD_BYTES} bytes");
    assert_eq!(left_out(&found), [(3, too_long.as_str()), (4, too_long.as_str())]);
}

#[test]
fn the_last_of_two_offers_with_one_id_comes_last() {
    let found = found("twice.csv", b"smiles,cs_id,usd_per_g\nCCO,1,5\nCCN,1,7\n");

    assert_eq!(all_shown(&found), ["CCO House 1 - - 5.00", "CCN House 1 - - 7.00"]);
}

#[test]
fn latin1_is_understood() {
    let found = found("latin.csv", b"smiles,pack,uom,price_usd,vendor_name\nCCO,5,\xb5g,1,M\xfcller\n");

    assert_eq!(all_shown(&found), ["CCO Müller - 5µg 1.00 200000.00"]);
}

#[test]
fn a_packed_file_that_is_cut_off_says_so_after_what_was_whole() {
    // Long enough that the parts before the end can be decompressed.
    let text = format!(
        "smiles,cs_id\n{}",
        (0..40_000).map(|id| format!("CCO,{}\n", id * 7_919)).collect::<String>()
    );
    for how in ALL.into_iter().filter(|how| *how != Compression::None) {
        let whole = packed(text.as_bytes(), how);
        let opened = catalogue::read::open(
            &catalogue::read::ReadInput::Bytes("cut".into(), whole[..whole.len() - 20].to_vec()),
            &options(),
        );

        let outcomes: Vec<_> = opened.unwrap().read().collect();

        let (last, before) = outcomes.split_last().unwrap();
        let error = last.as_ref().unwrap_err().to_string();
        assert!(error.starts_with("reading cut at about line "), "{how:?}: {error}");
        assert!(before.iter().all(Result::is_ok), "{how:?}");
    }
}

#[test]
fn a_structure_that_is_cut_off_costs_itself_alone() {
    let text = include_str!("../data/structures.sdf");
    let whole: usize = text.match_indices("$$$$").nth(4).unwrap().0;

    let found = found("cut.sdf", &text.as_bytes()[..whole - 100]);

    assert_eq!((found.entries.len(), found.rejects.len()), (4, 1));
    assert_eq!(found.rejects[0].1, "the file ends within the record");
}

#[test]
fn a_broken_record_of_any_format_costs_itself_alone() {
    let lines = found("a.jsonl", b"{\"smiles\": \"CCO\"}\n{\"smiles\": \n{\"smiles\": \"CCN\"}\n[1]\n");
    let array = found("a.json", b"[{\"smiles\": \"CCO\"},\n 17,\n {\"smiles\": 1},\n {\"smiles\": \"CCN\"}]");
    let table = include_str!("../data/structures.sdf").split_once("$$$$\n").unwrap().0;
    let sdf = found("a.sdf", format!("{table}$$$$\nno\ntable\n$$$$\n{table}$$$$\n").as_bytes());

    for found in [&lines, &array, &sdf] {
        assert_eq!(found.entries.len(), 2, "{found:?}");
    }
    assert_eq!(lines.rejects.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(array.rejects.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(sdf.rejects[0].1, "structure: no `M  END`");
}

#[test]
fn what_cannot_be_read_at_all_is_refused_with_its_reason() {
    let table = parquet(&["smiles"], &[vec!["CCO".into()]]);
    let cases: [(&str, &[u8], &str); 9] = [
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"\xff\xfes\0m\0", "a.csv is UTF-16: save it as UTF-8"),
        ("a.csv", b"name,price\nethanol,1\n", "no column `smiles`"),
        ("a.csv", b"smiles,pack,pack\nCCO,1,2\n", "two columns `pack`"),
        ("a.hdf5", b"PK\x03\x04 no hdf5", "a.hdf5 is not a valid HDF5 file"),
        ("a.hdf5", b"\x89HDF\r\n\x1a\n and no key", "no InChIKey in a.hdf5"),
        ("a.parquet", b"smiles\nCCO\n", "a.parquet is not a valid Parquet file"),
        ("a.parquet", b"PAR1 and nothing else", "reading a.parquet: "),
        ("a.parquet", &table[..table.len() - 9], "reading a.parquet: "),
    ];
    for (name, bytes, message) in cases {
        let error = found_with(name, bytes, &options()).unwrap_err().to_string();

        assert!(error.contains(message), "{name}: {error}");
    }
}
