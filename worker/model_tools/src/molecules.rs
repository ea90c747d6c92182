//! Files of molecules: one per line, SMILES first.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use anyhow::Context as _;
use flate2::read::MultiGzDecoder;

use crate::error::ModelToolError;

/// Reads the first field of every line of a file, plain or gzipped, with the line number, from 1. Empty lines are
/// left out. Text that is not UTF-8 is kept as a value that is no molecule.
pub fn lines(file: &Path) -> Result<Vec<(usize, String)>, ModelToolError> {
    let doing = || format!("reading molecules from {}", file.display());
    let opened = File::open(file).with_context(doing)?;
    let is_gzipped = file.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> =
        if is_gzipped { Box::new(MultiGzDecoder::new(opened)) } else { Box::new(opened) };
    let mut molecules = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(reader).split(b'\n')) {
        let line = line.with_context(doing)?;
        if let Some(first) = String::from_utf8_lossy(&line).split_ascii_whitespace().next() {
            molecules.push((number, first.to_owned()));
        }
    }
    Ok(molecules)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use flate2::{Compression, write::GzEncoder};

    use super::lines;

    #[test]
    fn the_first_field_of_every_line_is_read_with_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"CCO ethanol\r\n\n  \nc1ccccc1\t2\n\xff\xfe\nlast";
        let (plain, gzipped) = (folder.path().join("a.smi"), folder.path().join("a.smi.gz"));
        fs::write(&plain, text).unwrap();
        let mut encoder = GzEncoder::new(fs::File::create(&gzipped).unwrap(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap();

        for file in [plain, gzipped] {
            let read = lines(&file).unwrap();

            let numbers: Vec<usize> = read.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers, [1, 4, 5, 6]);
            assert_eq!(
                (read[0].1.as_str(), read[1].1.as_str(), read[3].1.as_str()),
                ("CCO", "c1ccccc1", "last")
            );
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let fault = lines("no/such.smi".as_ref()).unwrap_err().to_string();

        assert!(fault.contains("no/such.smi"), "{fault}");
    }
}
