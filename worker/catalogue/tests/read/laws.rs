//! Properties: a table gives the same result in every format, compression and number of threads, and reading can be
//! abandoned at any time.

use std::num::NonZeroUsize;

use catalogue::{
    Entry,
    read::{self, Options, ReadInput},
};
use proptest::prelude::*;

use crate::{
    Found, found_with, options,
    packed::{ALL, packed, parquet},
};

const NAMES: [&str; 6] = ["smiles", "cs_id", "pack", "uom", "price_usd", "lead_time"];

/// A typical vendor's row, sometimes an invalid one.
fn row() -> impl Strategy<Value = Vec<String>> {
    let smiles =
        prop::sample::select(vec!["CCO", "C1CNC1.OC(=O)C(F)(F)F", "C[C@H](N)C(=O)O", "C1CC", "*C", ""]);
    let id = "[A-Za-z0-9 ,;'\"µ-]{0,8}";
    let pack = prop::sample::select(vec!["1", "2.5", "0", "x", ""]);
    let uom = prop::sample::select(vec!["g", "mg", "mmol", "cup", ""]);
    let price = prop::sample::select(vec!["10", "1,250.50", "-1", "$5", ""]);
    let lead = prop::sample::select(vec!["in stock", "2-3 weeks", "7", "soon", ""]);
    (smiles, id, pack, uom, price, lead).prop_map(|(smiles, id, pack, uom, price, lead)| {
        [smiles, &id, pack, uom, price, lead].map(|text| text.trim().to_owned()).to_vec()
    })
}

fn delimited(rows: &[Vec<String>], delimiter: char) -> String {
    let field = |text: &String| format!("\"{}\"", text.replace('"', "\"\""));
    let line = |row: &Vec<String>| row.iter().map(field).collect::<Vec<_>>().join(&delimiter.to_string());
    let header = NAMES.map(ToOwned::to_owned).to_vec();
    std::iter::once(&header).chain(rows).map(|row| line(row) + "\n").collect()
}

/// The rows as JSON objects, without empty texts.
fn objects(rows: &[Vec<String>]) -> Vec<String> {
    let object = |row: &Vec<String>| {
        let given = NAMES.iter().zip(row).filter(|(_, text)| !text.is_empty());
        serde_json::Value::Object(
            given.map(|(name, text)| ((*name).to_owned(), text.clone().into())).collect(),
        )
        .to_string()
    };
    rows.iter().map(object).collect()
}

/// The rows as SDF, with the structures as data fields.
fn sdf(rows: &[Vec<String>]) -> String {
    let table = "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n";
    let record = |row: &Vec<String>| {
        let given = NAMES.iter().zip(row).filter(|(_, text)| !text.is_empty());
        let data: String = given.map(|(name, text)| format!("> <{name}>\n{text}\n\n")).collect();
        format!("{table}{data}$$$$\n")
    };
    rows.iter().map(record).collect()
}

/// Offers and faults by row number, whatever the positions of the format.
fn by_row(found: Found, row_of: impl Fn(u64) -> u64) -> (Vec<Entry>, Vec<(u64, String)>) {
    let entries = found.entries.into_iter().map(|mut entry| {
        entry.position.number = row_of(entry.position.number);
        entry.position.offset = 0;
        entry
    });
    let rejects = found.rejects.into_iter().map(|(position, fault)| (row_of(position), fault));
    (entries.collect(), rejects.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_table_is_the_same_in_every_format_and_packing(mut rows in prop::collection::vec(row(), 1..30)) {
        // A row that identifies each column, so that all formats see the same header.
        rows.insert(0, ["CCN", "0", "1", "g", "1", "1"].map(ToOwned::to_owned).to_vec());
        let read = |name: &str, bytes: &[u8]| found_with(name, bytes, &options()).unwrap();
        let expected = by_row(read("a.csv", delimited(&rows, ',').as_bytes()), |line| line - 1);
        prop_assert_eq!(expected.0.len() + expected.1.len(), rows.len());

        for delimiter in ['\t', ';'] {
            let found = by_row(read("a.txt", delimited(&rows, delimiter).as_bytes()), |line| line - 1);
            prop_assert_eq!(&found, &expected);
        }
        let objects = objects(&rows);
        let lines = by_row(read("a.jsonl", objects.join("\n").as_bytes()), |line| line);
        prop_assert_eq!(&lines, &expected);
        let array = format!("[\n{}\n]\n", objects.join(",\n"));
        let array = by_row(read("a.json", array.as_bytes()), |line| line - 1);
        prop_assert_eq!(&array, &expected);
        let table = by_row(read("a.parquet", &parquet(&NAMES, &rows)), |row| row);
        prop_assert_eq!(&table, &expected);
        let text = sdf(&rows);
        let starts: Vec<u64> = std::iter::once(1)
            .chain((2..).zip(text.lines()).filter(|(_, line)| *line == "$$$$").map(|(line, _)| line))
            .collect();
        let position = |line: u64| 1 + starts.iter().position(|start| *start == line).unwrap() as u64;
        let structures = by_row(read("a.sdf", text.as_bytes()), position);
        prop_assert_eq!(&structures.0, &expected.0);
        prop_assert_eq!(structures.1.len(), expected.1.len());
        for how in ALL {
            let found = by_row(read("a.csv", &packed(delimited(&rows, ',').as_bytes(), how)), |line| line - 1);
            prop_assert_eq!(&found, &expected);
        }
    }
}

/// Enough rows that several batches are in flight at once, some of them faults.
fn many() -> String {
    let row = |id: u32| match id % 5 {
        0 => format!("C1CC,{id}\n"),
        at => format!("{}O,{id}\n", "C".repeat(at as usize)),
    };
    format!("smiles,cs_id\n{}", (0..12_000).map(row).collect::<String>())
}

#[test]
fn any_number_of_threads_gives_the_same_in_the_same_order() {
    let text = many();
    let with = |threads| {
        let options = Options { threads: NonZeroUsize::new(threads).unwrap(), ..options() };
        found_with("many.csv", text.as_bytes(), &options).unwrap()
    };

    let one = with(1);

    assert_eq!((one.entries.len(), one.rejects.len()), (9_600, 2_400));
    assert!(one.entries.iter().map(|entry| entry.position).is_sorted());
    assert_eq!(with(3), one);
}

#[test]
fn reading_that_is_left_ends() {
    let text = many();
    let opened = read::open(&ReadInput::Bytes("many.csv".into(), text.into_bytes()), &options()).unwrap();
    let mut reading = opened.read();
    let first = reading.next().unwrap().unwrap();

    // Waits for all threads; a thread that waited for the reader would deadlock here.
    drop(reading);

    assert_eq!((first.records, first.entries[0].position.number), (2_048, 3));
}

#[test]
fn reading_tells_how_much_of_the_file_it_has_read() {
    let text = many();
    let opened =
        read::open(&ReadInput::Bytes("many.csv".into(), text.clone().into_bytes()), &options()).unwrap();
    assert_eq!(opened.outline.size, text.len() as u64);

    let read: Vec<u64> = opened.read().map(|batch| batch.unwrap().bytes_read).collect();

    assert!(read.is_sorted() && *read.last().unwrap() == text.len() as u64, "{read:?}");
}
