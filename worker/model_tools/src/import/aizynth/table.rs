//! Template table: tab or comma separated with a header, gzipped or not, as pandas writes it.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use chem::Template;
use csv::{ByteRecord, ReaderBuilder};
use flate2::read::MultiGzDecoder;
use rayon::prelude::*;
use sha2::{Digest as _, Sha224};

use crate::read::{self, ReadError};

/// Maximum size of a decompressed table in bytes: forty times the usual size.
const LARGEST: u64 = 1 << 30;
/// Maximum number of templates of a table.
const MAX_ROWS: usize = 1 << 20;
/// Name of the required column.
const TEMPLATE_COLUMN: &str = "retro_template";

/// Rows of the table, in the order of the network's outputs.
#[derive(Debug)]
pub struct TemplateTable {
    /// All rows, usable or not.
    pub rows: Vec<Row>,
}

/// A template row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Line number in the file.
    pub line: u64,
    /// The template; empty if it cannot be written to the pack's own table.
    pub template: String,
    /// Hash that identifies the template.
    pub hash: String,
    /// Number of reactions in which the template was found.
    pub occurrence: u64,
    /// Reason why the template cannot be used, if any.
    pub fault: Option<String>,
}

/// Reason why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TemplateTableError {
    /// The file cannot be opened.
    #[error(transparent)]
    File(#[from] ReadError),
    /// The file is in pandas' other format (HDF5).
    #[error(
        "an HDF5 table; convert it in Python (with pandas and tables) with \
         `pandas.read_hdf(\"FILE\", \"table\").to_csv(\"templates.csv.gz\", sep=\"\\t\")`"
    )]
    Hdf5,
    /// The template column is missing.
    #[error("no column `{TEMPLATE_COLUMN}` among {0}")]
    NoColumn(String),
    /// The file is truncated, or is no text with columns.
    #[error("after line {line}: {cause}")]
    Broken {
        /// Last line that was read.
        line: u64,
        /// Cause.
        cause: String,
    },
    /// The table has more rows than any network has outputs.
    #[error("more than {MAX_ROWS} rows")]
    TooLong,
}

/// Positions of the columns.
struct Columns {
    template: usize,
    hash: Option<usize>,
    occurrence: Option<usize>,
}

impl TemplateTable {
    /// Reads the file and every template in it.
    pub fn read(file: &Path) -> Result<Self, TemplateTableError> {
        let beginning = read::beginning::<8>(file)?;
        if beginning.starts_with(b"\x89HDF") {
            return Err(TemplateTableError::Hdf5);
        }
        let opened = BufReader::new(read::open(file)?);
        if beginning.starts_with(&[0x1f, 0x8b]) {
            Self::of(MultiGzDecoder::new(opened))
        } else {
            Self::of(opened)
        }
    }

    /// Reads the text of a table.
    pub fn of(text: impl Read) -> Result<Self, TemplateTableError> {
        let mut text = BufReader::new(BoundedReader { text, left: LARGEST });
        let header = first_line(&mut text)?;
        let delimiter = if header.contains(&b'\t') { b'\t' } else { b',' };
        let mut csv = ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .from_reader(io::Cursor::new(header).chain(text));
        let broken =
            |line: u64, cause: csv::Error| TemplateTableError::Broken { line, cause: cause.to_string() };
        let columns = Columns::of(csv.byte_headers().map_err(|cause| broken(0, cause))?)?;
        let mut rows = Vec::new();
        let mut record = ByteRecord::new();
        loop {
            let line = csv.position().line();
            match csv.read_byte_record(&mut record) {
                Ok(false) => break,
                Ok(true) if rows.len() == MAX_ROWS => return Err(TemplateTableError::TooLong),
                Ok(true) => {
                    rows.push(columns.row(&record, record.position().map_or(line, csv::Position::line)))
                }
                Err(cause) => return Err(broken(line.saturating_sub(1), cause)),
            }
        }
        rows.par_iter_mut().for_each(|row| {
            if row.fault.is_none() {
                row.fault = Template::parse(&row.template).err().map(|fault| fault.to_string());
            }
        });
        Ok(Self { rows })
    }

    /// Returns the number of rows whose template occurs in an earlier row.
    pub fn repeated(&self) -> usize {
        let mut seen: HashMap<&str, ()> = HashMap::new();
        let usable = self.rows.iter().filter(|row| row.fault.is_none());
        usable.filter(|row| seen.insert(&row.template, ()).is_some()).count()
    }
}

impl Columns {
    fn of(header: &ByteRecord) -> Result<Self, TemplateTableError> {
        let names: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        let place = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
        let template = place(&[TEMPLATE_COLUMN]).ok_or_else(|| {
            let named: Vec<String> = names.iter().take(20).map(|name| format!("`{name:.40}`")).collect();
            TemplateTableError::NoColumn(named.join(", "))
        })?;
        Ok(Self {
            template,
            hash: place(&["template_hash"]),
            // AiZynthFinder's files misspell the name; the correct spelling is accepted too.
            occurrence: place(&["library_occurence", "library_occurrence"]),
        })
    }

    fn row(&self, record: &ByteRecord, line: u64) -> Row {
        let text = |column: Option<usize>| {
            let field = record.get(column?)?;
            std::str::from_utf8(field).ok().map(str::trim).filter(|text| !text.is_empty())
        };
        let written = record.get(self.template);
        let template = text(Some(self.template)).unwrap_or_default();
        // Text that would break the lines of the pack's own table is refused too.
        let broken = template.contains(|letter: char| letter.is_control() || letter == '"');
        let fault = match written {
            None => Some("the row has no template".to_owned()),
            Some(written) if template.is_empty() && written.trim_ascii().is_empty() => {
                Some("the template is empty".to_owned())
            }
            Some(_) if template.is_empty() => Some("the template is not text in UTF-8".to_owned()),
            Some(_) if broken => Some("the template has a quote or a control character".to_owned()),
            Some(_) => None,
        };
        let template = if fault.is_none() { template.to_owned() } else { String::new() };
        // AiZynthFinder's own hash, for tables without a hash column.
        let digest = || Sha224::digest(&template).iter().map(|byte| format!("{byte:02x}")).collect();
        let hash = text(self.hash)
            .filter(|hash| hash.len() <= 128 && hash.chars().all(|c| c.is_ascii_alphanumeric()));
        Row {
            line,
            hash: hash.map_or_else(digest, str::to_owned),
            occurrence: text(self.occurrence).and_then(|count| count.parse().ok()).unwrap_or(0),
            template,
            fault,
        }
    }
}

/// Text reader that fails at its limit, so that input cannot be endless.
struct BoundedReader<R> {
    text: R,
    left: u64,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(room)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(format!("unpacks to more than {LARGEST} bytes")))?;
        Ok(read)
    }
}

/// Reads the first line with its line break, up to the maximum length of a header.
fn first_line(text: &mut impl BufRead) -> Result<Vec<u8>, TemplateTableError> {
    const LONGEST: u64 = 64 << 10;
    let mut line = Vec::new();
    let broken = |cause: io::Error| TemplateTableError::Broken { line: 0, cause: cause.to_string() };
    text.take(LONGEST).read_until(b'\n', &mut line).map_err(broken)?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "([C:1]-[NH;D2;+0:2]-[C:3])>>(Br-[C:1]).([NH2;D1;+0:2]-[C:3])";

    fn table(text: &str) -> TemplateTable {
        TemplateTable::of(text.as_bytes()).unwrap()
    }

    #[test]
    fn rows_are_read_by_the_names_of_their_columns() {
        let text = format!(
            "\tindex\tclassification\ttemplate_hash\tretro_template\tlibrary_occurence\n7\tx\t0.0\tabc\t{GOOD}\t93\n"
        );

        let row =
            Row { line: 2, template: GOOD.to_owned(), hash: "abc".to_owned(), occurrence: 93, fault: None };
        assert_eq!(table(&text).rows, std::slice::from_ref(&row));

        let bare = table(&format!("retro_template\r\n{GOOD}\r\n"));
        assert_eq!((bare.rows[0].hash.len(), bare.rows[0].occurrence, &bare.rows[0].fault), (56, 0, &None));

        let comma = table(&format!("retro_template,template_hash\n\"{GOOD}\",h\n"));
        assert_eq!(comma.rows[0].template, GOOD);
    }

    #[test]
    fn a_row_that_cannot_be_used_keeps_its_place_and_its_line() {
        let text = format!(
            "retro_template\ttemplate_hash\nthis is none\ta\n{GOOD}\tb\n\t\nonly\n\"two\nlines\"\tc\n{GOOD}\td\n"
        );

        let table = table(&text);

        let found: Vec<(u64, bool)> = table.rows.iter().map(|row| (row.line, row.fault.is_some())).collect();
        assert_eq!(found, [(2, true), (3, false), (4, true), (5, true), (6, true), (8, false)]);
        assert_eq!(table.rows[2].fault.as_deref(), Some("the template is empty"));
        assert!(table.rows[4].fault.as_ref().unwrap().contains("control character"));
        assert_eq!(table.repeated(), 1);
    }

    #[test]
    fn a_table_that_is_none_is_refused() {
        for (text, words) in [
            (&b""[..], "no column `retro_template` among "),
            (b"smarts\thash\nx\ty\n", "no column `retro_template` among `smarts`, `hash`"),
            (b"\x00\x01\x02", "no column"),
        ] {
            let fault = TemplateTable::of(text).unwrap_err().to_string();
            assert!(fault.contains(words), "{fault}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = TemplateTable::of(&bytes[..]);
            let _ = TemplateTable::of(&[b"retro_template\thash\n".as_slice(), &bytes].concat()[..]);
        }

        #[test]
        fn every_line_is_a_row(texts in prop::collection::vec("[ -!#-~]{1,30}", 1..20)) {
            let rows = table(&format!("retro_template\n{}\n", texts.join("\n"))).rows;

            prop_assert_eq!(rows.len(), texts.len());
        }
    }
}
