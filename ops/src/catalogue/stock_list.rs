//! The catalogue's building blocks as a stock of other planners.

use std::io::{self, Write};

use ::catalogue::inchi_key;
use clap::ValueEnum;

/// A format that other planners read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StockFormat {
    /// SMILES, one a line: syntheseus, SynPlanner.
    Smiles,
    /// CSV with a column `inchi_key`: AiZynthFinder.
    Aizynth,
    /// CSV with the columns `SMILES` and `InChIKey`: RetroCast.
    Retrocast,
}

/// Numbers of a written stock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenStock {
    /// Building blocks that were written.
    pub written: u64,
    /// Building blocks without an InChIKey, which a format of keys leaves out.
    pub left_out: u64,
}

/// Writes building blocks by their canonical SMILES.
///
/// # Errors
/// Fails if `file` does.
pub fn write(
    format: StockFormat,
    blocks: impl IntoIterator<Item = String>,
    mut file: impl Write,
) -> io::Result<WrittenStock> {
    match format {
        StockFormat::Smiles => {}
        StockFormat::Aizynth => writeln!(file, "inchi_key")?,
        StockFormat::Retrocast => writeln!(file, "SMILES,InChIKey")?,
    }
    let mut counts = WrittenStock::default();
    for smiles in blocks {
        // SMILES and keys have neither commas nor quotes.
        let line = match format {
            StockFormat::Smiles => Some(smiles),
            StockFormat::Aizynth => inchi_key(&smiles),
            StockFormat::Retrocast => inchi_key(&smiles).map(|key| format!("{smiles},{key}")),
        };
        match line {
            Some(line) => {
                writeln!(file, "{line}")?;
                counts.written += 1;
            }
            None => counts.left_out += 1,
        }
    }
    file.flush()?;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stock_is_written_as_each_planner_reads_it() {
        let blocks = ["CCO", "[2H][C@@H](C)O", "C->[Fe]"];
        for (format, expected, left_out) in [
            (StockFormat::Smiles, "CCO\n[2H][C@@H](C)O\nC->[Fe]\n", 0),
            (
                StockFormat::Aizynth,
                "inchi_key\nLFQSCWFLJHTTHZ-UHFFFAOYSA-N\nLFQSCWFLJHTTHZ-SKEHDUAGSA-N\n",
                1,
            ),
            (
                StockFormat::Retrocast,
                "SMILES,InChIKey\nCCO,LFQSCWFLJHTTHZ-UHFFFAOYSA-N\n[2H][C@@H](C)O,LFQSCWFLJHTTHZ-SKEHDUAGSA-N\n",
                1,
            ),
        ] {
            let mut file = Vec::new();

            let counts = write(format, blocks.map(str::to_owned), &mut file).unwrap();

            assert_eq!(String::from_utf8(file).unwrap(), expected);
            assert_eq!(counts, WrittenStock { written: 3 - left_out, left_out });
        }
    }
}
