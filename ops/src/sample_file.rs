//! Samples as files: a SMILES a line, CSV, Parquet or JSON, as the file's name says.

mod parquet;

use std::{fs, path::Path};

use anyhow::{Context as _, anyhow};
use contract::Sample;

use crate::{failure::Failure, terminal};

/// The columns of a table: the structures, and where they are from.
const COLUMNS: [&str; 3] = ["smiles", "model_id", "sample_id"];

/// How a sample is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A SMILES a line.
    Lines,
    Csv,
    Parquet,
    /// The whole answer.
    Json,
}

impl Format {
    /// The format that the name of `path` promises.
    ///
    /// # Errors
    /// Fails where it promises none that there is.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        terminal::by_ending(
            path,
            &[
                ("smi", Self::Lines),
                ("txt", Self::Lines),
                ("csv", Self::Csv),
                ("parquet", Self::Parquet),
                ("json", Self::Json),
            ],
        )
    }
}

/// Writes `sample` to `path`.
pub fn write(sample: &Sample, path: &Path, format: Format) -> Result<(), Failure> {
    let bytes = match format {
        Format::Lines => lines(sample).into_bytes(),
        Format::Csv => csv(sample)?,
        Format::Parquet => parquet(sample),
        Format::Json => json(sample)?.into_bytes(),
    };
    fs::write(path, bytes).with_context(|| format!("writing {}", path.display()))?;
    Ok(())
}

/// A SMILES a line.
pub fn lines(sample: &Sample) -> String {
    sample.smiles.join("\n") + "\n"
}

/// The whole answer.
pub fn json(sample: &Sample) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(sample).context("writing the sample as JSON")? + "\n")
}

fn csv(sample: &Sample) -> Result<Vec<u8>, Failure> {
    let id = sample.id.to_string();
    let rows = sample.smiles.iter().map(|smiles| [smiles.as_str(), &sample.model_id, &id]);
    let mut table = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(COLUMNS).chain(rows) {
        table.write_record(row).context("writing the sample as CSV")?;
    }
    Ok(table.into_inner().map_err(|error| anyhow!("writing the sample as CSV: {error}"))?)
}

fn parquet(sample: &Sample) -> Vec<u8> {
    let id = sample.id.to_string();
    let rows = sample.smiles.len();
    let smiles: Vec<&str> = sample.smiles.iter().map(String::as_str).collect();
    let values = [smiles, vec![sample.model_id.as_str(); rows], vec![id.as_str(); rows]];
    parquet::table(&COLUMNS.into_iter().zip(values).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Sample {
        serde_json::from_str(
            r#"{"id": "smp_01jd6xq1v3m4c5t6y7z8a9b0cd", "object": "sample", "model_id": "druglike_gru",
                "smiles": ["CCO", "c1ccccc1"], "created_at": "2026-01-02T03:04:05Z"}"#,
        )
        .unwrap()
    }

    #[test]
    fn the_name_of_the_file_says_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str| {
            let path = folder.path().join(name);
            write(&sample(), &path, Format::of(&path).unwrap()).unwrap();
            fs::read(path).unwrap()
        };

        assert_eq!(written("a.smi"), b"CCO\nc1ccccc1\n");
        assert_eq!(written("a.txt"), written("a.smi"));
        assert_eq!(
            written("a.CSV"),
            b"smiles,model_id,sample_id\nCCO,druglike_gru,smp_01jd6xq1v3m4c5t6y7z8a9b0cd\n\
              c1ccccc1,druglike_gru,smp_01jd6xq1v3m4c5t6y7z8a9b0cd\n"
        );
        assert_eq!(serde_json::from_slice::<Sample>(&written("a.json")).unwrap(), sample());
        assert_eq!(&written("a.parquet")[..4], b"PAR1");
        assert!(write(&sample(), &folder.path().join("nowhere/a.csv"), Format::Csv).is_err());
        for name in ["a.xlsx", "a", ".csv"] {
            let fault = Format::of(Path::new(name)).unwrap_err();
            assert!(
                matches!(&fault, Failure::Usage(why) if why.contains(".smi, .txt, .csv, .parquet, .json")),
                "{fault}"
            );
        }
    }
}
