//! Layouts as people have them: line ends, headers or none, numbered columns, structures in space, times of tables.

use std::sync::Arc;

use catalogue::read::{ColumnProfile, FileFormat, Options};
use parquet::{
    data_type::{ByteArrayType, DataType, Int32Type, Int64Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

use crate::{all_shown, found, found_with, options};

#[test]
fn a_carriage_return_alone_ends_a_line() {
    let cases = [
        ("a.smi", "CCO Z1\rCCN Z2\r", ["CCO House Z1 - - -", "CCN House Z2 - - -"]),
        ("a.csv", "smiles,cs_id\rCCO,1\rCCN,2", ["CCO House 1 - - -", "CCN House 2 - - -"]),
        ("a.tsv", "smiles\tcs_id\rCCO\t1\r\rCCN\t2\r", ["CCO House 1 - - -", "CCN House 2 - - -"]),
        ("mixed.csv", "smiles,cs_id\nCCO,1\rCCN,2\r\n", ["CCO House 1 - - -", "CCN House 2 - - -"]),
        ("sep.csv", "sep=;\rsmiles;cs_id\rCCO;1\rCCN;2\r", ["CCO House 1 - - -", "CCN House 2 - - -"]),
        (
            "a.jsonl",
            "{\"smiles\": \"CCO\"}\r{\"smiles\": \"CCN\"}\r",
            ["CCO House - - - -", "CCN House - - - -"],
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(all_shown(&found(name, text.as_bytes())), expected, "{name}");
    }
    let lines = found("a.csv", b"smiles,cs_id\rCCO,1\rC1CC,2\r\rCCN\r");
    assert_eq!(lines.rejects.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 5]);
    let sdf = include_str!("../data/structures.sdf");
    assert_eq!(
        all_shown(&found("a.sdf", sdf.replace('\n', "\r").as_bytes())),
        all_shown(&found("a.sdf", sdf.as_bytes()))
    );
}

#[test]
fn the_structures_are_found_by_their_content() {
    let cases = [
        (
            "ids.csv",
            "A-1,CCO\nA-2,CCN\n",
            FileFormat::List(b','),
            ["CCO House A-1 - - -", "CCN House A-2 - - -"],
        ),
        (
            "ids.smi",
            "A-1 CCO\nA-2 CCN\n",
            FileFormat::List(b' '),
            ["CCO House A-1 - - -", "CCN House A-2 - - -"],
        ),
        (
            "three.tsv",
            "A-1\tethanol\tCCO\nA-2\tamine\tCCN\n",
            FileFormat::List(b'\t'),
            ["CCO House A-1 - - -", "CCN House A-2 - - -"],
        ),
        (
            "named.csv",
            "Nr,Struktur\n7,CCO\n8,CCN\n",
            FileFormat::Delimited(b','),
            ["CCO House - - - -", "CCN House - - - -"],
        ),
    ];
    for (name, text, format, expected) in cases {
        let found = found(name, text.as_bytes());

        assert_eq!(found.outline.format, format, "{name}");
        assert_eq!(all_shown(&found), expected, "{name}");
    }
}

#[test]
fn a_column_may_be_named_by_its_number() {
    let read = |text: &str, columns: &[(&str, &str)]| {
        let columns = columns.iter().map(|&(name, meaning)| (name.to_owned(), meaning.to_owned())).collect();
        let profile = ColumnProfile { columns, ..ColumnProfile::default() };
        all_shown(&found_with("a.csv", text.as_bytes(), &Options { profile, ..options() }).unwrap())
    };

    assert_eq!(
        read("CCC,CCO\nCCC,CCN\n", &[("2", "smiles")]),
        ["CCO House CCC - - -", "CCN House CCC - - -"]
    );
    assert_eq!(read("Nr,X\n1,CCO\n", &[("2", "smiles"), ("1", "id")]), ["CCO House 1 - - -"]);
    assert_eq!(read("smiles,smiles\nCCC,CCO\n", &[("2", "smiles")]), ["CCO House - - - -"]);
    assert_eq!(
        read("A,CCO,5,12.50\nB,CCN,1,7\n", &[("column 3", "pack:g"), ("4", "price")]),
        ["CCO House A 5g 12.50 2.50", "CCN House B 1g 7.00 7.00"]
    );
}

#[test]
fn each_number_of_a_family_is_an_offer() {
    let cases: [(&str, &[&str]); 6] = [
        (
            "smiles,Pack_1,Price_1,Pack_2,Price_2\nCCO,1 g,5,5 g,20\nCCN,100 mg,9,,\n",
            &["CCO House - 1g 5.00 5.00", "CCO House - 5g 20.00 4.00", "CCN House - 100mg 9.00 90.00"],
        ),
        (
            "smiles,Price 1 (USD),Amount 1 (mg),Price 2 (USD),Amount 2 (mg)\nCCO,10,250,25,1000\n",
            &["CCO House - 250mg 10.00 40.00", "CCO House - 1000mg 25.00 25.00"],
        ),
        (
            "smiles,Size1,Unit1,Cost1,Size2,Unit2,Cost2\nCCO,1,g,5,500,mg,4\n",
            &["CCO House - 1g 5.00 5.00", "CCO House - 500mg 4.00 8.00"],
        ),
        (
            "smiles,uom,Quantity 1,Price USD 1,Quantity 2,Price USD 2\nCCO,g,1,5,5,20\n",
            &["CCO House - 1g 5.00 5.00", "CCO House - 5g 20.00 4.00"],
        ),
        (
            "smiles,Pack,Price,Pack.1,Price.1\nCCO,1 g,5,5 g,20\n",
            &["CCO House - 1g 5.00 5.00", "CCO House - 5g 20.00 4.00"],
        ),
        ("smiles,Pack_1,Price_1,Pack_2,Price_2\nCCO,,,,\n", &["CCO House - - - -"]),
    ];
    for (text, expected) in cases {
        let found = found("family.csv", text.as_bytes());

        assert_eq!(
            (all_shown(&found), found.rejects),
            (expected.iter().map(|&line| line.to_owned()).collect(), vec![]),
            "{text}"
        );
    }
    let json = br#"{"smiles": "CCO", "pack_1": "1 g", "price_1": 5, "pack_2": "5 g", "price_2": 20}"#;
    assert_eq!(
        all_shown(&found("family.jsonl", json)),
        ["CCO House - 1g 5.00 5.00", "CCO House - 5g 20.00 4.00"]
    );
}

#[test]
fn structures_in_space_and_of_v3000_are_read_as_rdkit_reads_them() {
    // The data beside each structure come from RDKit (2026.09.1) for the same table.
    let files =
        [include_str!("../data/structures_in_space.sdf"), include_str!("../data/structures_v3000.sdf")];
    for text in files {
        let expected: Vec<&str> =
            text.split("<canonical>\n").skip(1).map(|rest| rest.lines().next().unwrap()).collect();

        let found = found("structures.sdf", text.as_bytes());

        let canonical: Vec<&str> =
            found.entries.iter().map(|entry| entry.structure.full_canonical.as_str()).collect();
        assert_eq!((canonical, found.rejects), (expected, vec![]));
    }
}

/// A table with a column of times, stored as integers of a schema's type.
fn times<T: DataType>(kind: &str, stored: &[T::T]) -> Vec<u8> {
    let schema = format!("message table {{ required binary smiles (UTF8); required {kind}; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&vec!["CCO".into(); stored.len()], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(stored, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

#[test]
fn times_of_a_table_are_read_whatever_their_unit() {
    let tables = [
        (
            times::<Int64Type>("int64 updated_at (TIMESTAMP(MILLIS,true))", &[1_706_700_645_000]),
            "2024-01-31T11:30:45+00:00",
        ),
        (
            times::<Int64Type>("int64 updated_at (TIMESTAMP(MILLIS,false))", &[1_706_700_645_250]),
            "2024-01-31T11:30:45.250+00:00",
        ),
        (
            times::<Int64Type>("int64 updated_at (TIMESTAMP(MICROS,false))", &[1_706_700_645_000_001]),
            "2024-01-31T11:30:45.000001+00:00",
        ),
        (
            times::<Int64Type>("int64 updated_at (TIMESTAMP(NANOS,true))", &[1_706_700_645_000_000_001]),
            "2024-01-31T11:30:45.000000001+00:00",
        ),
        (
            times::<Int64Type>("int64 updated_at (TIMESTAMP_MICROS)", &[1_706_700_645_000_001]),
            "2024-01-31T11:30:45.000001+00:00",
        ),
        // Seconds have no type of their own.
        (times::<Int64Type>("int64 updated_at", &[1_706_700_645]), "2024-01-31T11:30:45+00:00"),
        (times::<Int32Type>("int32 updated_at (DATE)", &[19_753]), "2024-01-31T00:00:00+00:00"),
    ];
    for (table, expected) in tables {
        let found = found("offers.parquet", &table);

        assert_eq!(found.rejects, [], "{expected}");
        assert_eq!(found.entries[0].api_timestamp.unwrap().to_rfc3339(), expected);
    }
}
