//! Detection of a file's format from its first bytes.

use std::borrow::Cow;

use super::{
    boundary::Boundary,
    json, sdf,
    text::{decode, delimited, without_extension, words},
    window::{RawBatch, RecordCutter},
};

/// A file's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Fields between delimiters, with a header.
    Delimited(u8),
    /// Fields between delimiters, without a header: structures and possibly their ids.
    List(u8),
    /// JSON objects, one per line.
    JsonLines,
    /// JSON objects, in an array or concatenated.
    Json,
    /// Connection tables with data.
    Sdf,
    /// Apache Parquet.
    Parquet,
    /// A stock of InChIKeys in HDF5.
    Hdf5,
}

/// Delimiter that stands for any number of blanks.
pub(crate) const BLANKS: u8 = b' ';

/// Delimiters tried; on a tie the first wins.
const DELIMITERS: [u8; 5] = [b'\t', b',', b';', b'|', BLANKS];

/// Records sampled to detect the delimiter or the columns.
pub(crate) const SAMPLE: usize = 100;

impl FileFormat {
    /// Name for messages.
    #[must_use]
    pub fn name(self) -> String {
        let delimiter = |byte| match byte {
            b'\t' => "tabs".to_owned(),
            BLANKS => "blanks".to_owned(),
            byte => format!("`{}`", char::from(byte)),
        };
        match self {
            Self::Delimited(byte) => format!("fields between {}", delimiter(byte)),
            Self::List(byte) => format!("list without a header, fields between {}", delimiter(byte)),
            Self::JsonLines => "JSON lines".into(),
            Self::Json => "JSON".into(),
            Self::Sdf => "SDF".into(),
            Self::Parquet => "Parquet".into(),
            Self::Hdf5 => "HDF5 stock of InChIKeys".into(),
        }
    }

    /// Returns true if positions in this format are line numbers.
    #[must_use]
    pub const fn has_lines(self) -> bool {
        !matches!(self, Self::Parquet | Self::Hdf5)
    }

    /// Rule that ends a record.
    pub(crate) const fn boundary(self) -> Boundary {
        match self {
            Self::Delimited(BLANKS) | Self::List(BLANKS) | Self::JsonLines | Self::Parquet | Self::Hdf5 => {
                Boundary::Line
            }
            Self::Delimited(delimiter) | Self::List(delimiter) => Boundary::delimited(delimiter),
            Self::Json => Boundary::object(),
            Self::Sdf => Boundary::dollars(),
        }
    }

    /// Detects the format from the start of the file; the file's `name` decides ambiguous cases.
    pub(crate) fn of(start: &[u8], name: &str) -> Self {
        let name = name.to_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.contains(ending));
        if start.starts_with(b"PAR1") {
            return Self::Parquet;
        }
        if start.starts_with(b"\x89HDF\r\n\x1a\n") {
            return Self::Hdf5;
        }
        let has_line =
            |wanted: &[u8]| start.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_end() == wanted);
        if ends(&[".sdf", ".sd."]) || has_line(b"$$$$") || has_line(b"M  END") {
            return Self::Sdf;
        }
        match start.trim_ascii_start().first() {
            // A SMILES may begin with a bracket atom: `[Na+].[Cl-]`.
            Some(b'[') if start.trim_ascii_start()[1..].trim_ascii_start().starts_with(b"{") => Self::Json,
            Some(b'{') => {
                let line = start.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
                let whole = serde_json::from_slice::<serde_json::Value>(line).is_ok();
                if whole { Self::JsonLines } else { Self::Json }
            }
            _ => Self::Delimited(delimiter(start)),
        }
    }

    /// The fields of a record.
    pub(crate) fn fields(self, record: &[u8]) -> Vec<Cow<'_, [u8]>> {
        match self {
            Self::Delimited(BLANKS) | Self::List(BLANKS) => words(record),
            Self::Delimited(delimiter) | Self::List(delimiter) => delimited(record, delimiter),
            _ => vec![Cow::Borrowed(record)],
        }
    }
}

/// The first records of a text, `most` at most.
pub(crate) fn sample(start: &[u8], mut boundary: Boundary, most: usize) -> Vec<Vec<u8>> {
    let mut window = RecordCutter::new(Box::new(std::io::Cursor::new(start.to_vec())));
    let mut cut = RawBatch::default();
    for _ in 0..most {
        if !window.cut(&mut boundary, &mut cut).unwrap_or(false) {
            break;
        }
    }
    cut.records().filter_map(|(_, record)| record.ok().map(<[u8]>::to_vec)).collect()
}

/// The delimiter for which most of the first records have as many fields as the first one; a comma if none fits.
fn delimiter(start: &[u8]) -> u8 {
    let agreeing = |delimiter: u8| {
        let format = FileFormat::Delimited(delimiter);
        let records = sample(start, format.boundary(), SAMPLE);
        let counts: Vec<usize> =
            records.iter().map(|record| format.fields(&without_extension(record)).len()).collect();
        let first = counts.first().copied().unwrap_or(0);
        let same = counts.iter().filter(|&&count| count == first).count();
        if first > 1 { 1 + same * 1_000 / counts.len() } else { 0 }
    };
    let best = DELIMITERS.iter().rev().max_by_key(|&&delimiter| agreeing(delimiter));
    best.copied().filter(|&delimiter| agreeing(delimiter) > 0).unwrap_or(b',')
}

/// The delimiter named by Excel's first line `sep=;`.
pub(crate) fn said_delimiter(start: &[u8]) -> Option<u8> {
    let line = start.split(|&byte| byte == b'\n').next()?;
    match line.trim_ascii().strip_prefix(b"sep=") {
        Some([delimiter]) => Some(*delimiter),
        // Trimming has removed a tab.
        Some([]) => Some(b'\t'),
        _ => None,
    }
}

/// Column names of a text: those of its header, or the field names in its first records.
pub(crate) fn names(format: FileFormat, start: &[u8]) -> Vec<String> {
    let records = sample(start, format.boundary(), SAMPLE);
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    match format {
        FileFormat::JsonLines | FileFormat::Json => {
            let rows = records.iter().filter_map(|record| json::rows(record).ok()).flatten().take(SAMPLE);
            rows.flatten().for_each(|(name, _)| add(&name));
        }
        FileFormat::Sdf => {
            for record in &records {
                let record = decode(record.into());
                let fields = sdf::fields(&record);
                fields.iter().flatten().for_each(|(name, _)| add(name));
            }
        }
        _ => {
            let header = records.first().map(|record| format.fields(record)).unwrap_or_default();
            return header.into_iter().map(|name| decode(name).trim().to_owned()).collect();
        }
    }
    names
}

/// Fields of the first record of a text, by name.
pub(crate) fn first_fields(format: FileFormat, names: &[String], start: &[u8]) -> Vec<(String, String)> {
    match format {
        FileFormat::Sdf => {
            let first = sample(start, format.boundary(), 1);
            let Some(record) = first.first() else { return Vec::new() };
            let record = decode(record.into());
            let fields = sdf::fields(&record);
            fields.into_iter().flatten().map(|(name, text)| (name.to_owned(), text)).collect()
        }
        FileFormat::Delimited(_) => {
            let records = sample(start, format.boundary(), 2);
            let fields = records.get(1).map(|record| format.fields(record)).unwrap_or_default();
            names.iter().cloned().zip(fields.into_iter().map(|field| decode(field).into_owned())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognised_by_the_first_bytes() {
        let cases: [(&[u8], &str, FileFormat); 16] = [
            (b"CCO |&1:1,3| A\nCCN |o1:1,4| B\n", "a.smi", FileFormat::Delimited(BLANKS)),
            (b"CCO|1\nCCN|2\n", "a.txt", FileFormat::Delimited(b'|')),
            (b"smiles,pack\nCCO,1\n", "a.csv", FileFormat::Delimited(b',')),
            (b"smiles\tnote\nCCO\t1, 2\n", "a.csv", FileFormat::Delimited(b'\t')),
            (b"smiles;price\nCCO;1,5\nCCN;2,5\n", "a.csv", FileFormat::Delimited(b';')),
            (b"isosmiles version_id\nCCO 1\n", "version.smi", FileFormat::Delimited(BLANKS)),
            (b"smiles\nCCO\n", "a.csv", FileFormat::Delimited(b',')),
            (b"\"a,b\";smiles\n1;CCO\n", "a.csv", FileFormat::Delimited(b';')),
            (b"{\"smiles\": \"CCO\"}\n{}", "a.jsonl", FileFormat::JsonLines),
            (b"[\n{\"smiles\": \"CCO\"}]", "a.json", FileFormat::Json),
            (b"{\n\"smiles\": \"CCO\"}", "a.json", FileFormat::Json),
            (b"[Na+].[Cl-]\nCCO\n", "a.smi", FileFormat::Delimited(b',')),
            (b"\n\n\n  0  0  0\nM  END\n$$$$\n", "a", FileFormat::Sdf),
            (b"PAR1\x15", "a", FileFormat::Parquet),
            (b"\x89HDF\r\n\x1a\n\0", "a", FileFormat::Hdf5),
            (b"", "a", FileFormat::Delimited(b',')),
        ];
        for (start, name, expected) in cases {
            assert_eq!(FileFormat::of(start, name), expected, "{}", start.escape_ascii());
        }
        assert_eq!(said_delimiter(b"sep=;\r\nsmiles"), Some(b';'));
        assert_eq!(said_delimiter(b"sep=\t\nsmiles"), Some(b'\t'));
        assert_eq!(said_delimiter(b"separator"), None);
    }
}
