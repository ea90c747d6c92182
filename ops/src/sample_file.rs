//! Samples as files: one SMILES per line, CSV, SDF, Parquet or JSON, by the file's extension or the user's choice.
//!
//! Formats with a line or record per molecule are written sample by sample, so the output of an interrupted command
//! is kept and another command can continue it. Parquet and JSON are written at the end.

mod parquet;

use std::{
    collections::HashSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use anyhow::{Context as _, anyhow};
use clap::ValueEnum;
use contract::Sample;

use crate::{failure::Failure, terminal};

/// Columns of a table: the structures and their origin.
const COLUMNS: [&str; 3] = ["smiles", "model_id", "sample_id"];

/// Output format of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SampleFormat {
    /// One SMILES per line.
    Smi,
    /// A table of the structures, their model and their sample.
    Csv,
    /// Connection tables with coordinates, and the same facts as data fields.
    Sdf,
    /// The table as Parquet.
    Parquet,
    /// The whole answer as JSON; a list for several samples.
    Json,
}

impl SampleFormat {
    /// Returns the format for the extension of `path`.
    ///
    /// # Errors
    /// Fails if no format has that extension.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        terminal::by_ending(
            path,
            &[
                ("smi", Self::Smi),
                ("txt", Self::Smi),
                ("csv", Self::Csv),
                ("sdf", Self::Sdf),
                ("parquet", Self::Parquet),
                ("json", Self::Json),
            ],
        )
    }
}

/// Treatment of an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingFile {
    /// Overwrites the file.
    Anew,
    /// Continues the file.
    GoOn,
}

/// Writer of samples, one after the other.
pub struct SampleOutput {
    format: SampleFormat,
    sink: Box<dyn Write>,
    /// Samples that are written at the end.
    kept: Vec<Sample>,
    has_header: bool,
}

impl SampleOutput {
    /// Opens an output to `path` or to standard output; returns it with the structures that the file already holds.
    ///
    /// # Errors
    /// Fails if the file cannot be created, or its format cannot be continued.
    pub fn open(
        format: SampleFormat,
        path: Option<&Path>,
        begun: ExistingFile,
    ) -> Result<(Self, HashSet<String>), Failure> {
        let (mut sink, mut there): (Box<dyn Write>, _) = (Box::new(io::stdout()), HashSet::new());
        let mut has_header = false;
        if let Some(path) = path {
            let writing = || format!("writing {}", path.display());
            let goes_on = begun == ExistingFile::GoOn && path.exists();
            if goes_on {
                let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
                // A partial last line of an interrupted command is discarded.
                let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
                there = read_structures(format, whole)?;
                has_header = !whole.is_empty();
                let file = OpenOptions::new().write(true).open(path).with_context(writing)?;
                file.set_len(whole.len() as u64).with_context(writing)?;
            }
            let mut options = OpenOptions::new();
            let file =
                if goes_on { options.append(true) } else { options.write(true).create(true).truncate(true) };
            sink = Box::new(file.open(path).with_context(writing)?);
        }
        Ok((Self { format, sink, kept: Vec::new(), has_header }, there))
    }

    /// Adds the next sample.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn add(&mut self, sample: Sample) -> Result<(), Failure> {
        let text = match self.format {
            SampleFormat::Smi => lines(&sample),
            SampleFormat::Csv => {
                let has_header = std::mem::replace(&mut self.has_header, true);
                csv(&sample, has_header)?
            }
            SampleFormat::Sdf => sdf(&sample)?,
            SampleFormat::Parquet | SampleFormat::Json => {
                self.kept.push(sample);
                return Ok(());
            }
        };
        self.write(text.as_bytes())
    }

    /// Writes the remaining output.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        let kept = std::mem::take(&mut self.kept);
        let bytes = match (self.format, &kept[..]) {
            (SampleFormat::Parquet, samples) => parquet(samples),
            (SampleFormat::Json, [one]) => json(one)?.into_bytes(),
            (SampleFormat::Json, several) => json(several)?.into_bytes(),
            _ => Vec::new(),
        };
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.sink.write_all(bytes).and_then(|()| self.sink.flush()).context("writing the sample")?;
        Ok(())
    }
}

/// Reads the structures of an existing file.
fn read_structures(format: SampleFormat, text: &str) -> Result<HashSet<String>, Failure> {
    let lines = text.lines().filter(|line| !line.is_empty());
    match format {
        SampleFormat::Smi => Ok(lines.map(ToOwned::to_owned).collect()),
        // SMILES contain no commas, and are the first column.
        SampleFormat::Csv => {
            Ok(lines.skip(1).filter_map(|line| line.split(',').next()).map(ToOwned::to_owned).collect())
        }
        _ => Err(Failure::Usage("only a file of SMILES or CSV can be continued".to_owned())),
    }
}

/// Formats a sample as one SMILES per line.
pub fn lines(sample: &Sample) -> String {
    sample.smiles.iter().map(|smiles| format!("{smiles}\n")).collect()
}

/// Formats the whole answer, or several answers, as JSON.
pub fn json<T: serde::Serialize + ?Sized>(sample: &T) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(sample).context("writing the sample as JSON")? + "\n")
}

/// Column of the likelihoods of a detailed sample.
const LIKELIHOOD: &str = "negative_log_likelihood";

/// Formats a sample as CSV, with a column for each of its details. The first sample has a header.
fn csv(sample: &Sample, has_header: bool) -> Result<String, Failure> {
    let id = sample.id.to_string();
    let properties = || sample.details.iter().flat_map(|details| &details.properties);
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut write = |row: Vec<String>| table.write_record(row).context("writing the sample as CSV");
    if !has_header {
        let likelihood = sample.details.iter().map(|_| LIKELIHOOD);
        let names = properties().map(|(name, _)| name.as_str()).chain(likelihood);
        write(COLUMNS.into_iter().chain(names).map(str::to_owned).collect())?;
    }
    for (at, smiles) in sample.smiles.iter().enumerate() {
        let value = |(_, values): (_, &Vec<f64>)| values.get(at).map(f64::to_string).unwrap_or_default();
        let facts = [smiles, &sample.model_id, &id].map(ToOwned::to_owned);
        let likelihood = sample.details.iter().map(|details| {
            let loss = details.negative_log_likelihood.get(at).copied().flatten();
            loss.map(|loss| loss.to_string()).unwrap_or_default()
        });
        write(facts.into_iter().chain(properties().map(value)).chain(likelihood).collect())?;
    }
    let bytes = table.into_inner().map_err(|error| anyhow!("writing the sample as CSV: {error}"))?;
    Ok(String::from_utf8(bytes).context("writing the sample as CSV")?)
}

fn sdf(sample: &Sample) -> Result<String, Failure> {
    let record = |smiles: &String| {
        let molecule: chem::Molecule = smiles.parse().with_context(|| format!("drawing {smiles}"))?;
        let data = [smiles, &sample.model_id, &sample.id.to_string()].map(ToOwned::to_owned);
        let data: String =
            COLUMNS.iter().zip(data).map(|(name, text)| format!("> <{name}>\n{text}\n\n")).collect();
        Ok(format!("{}{data}$$$$\n", chem::molfile(&molecule, "")))
    };
    sample.smiles.iter().map(record).collect()
}

fn parquet(samples: &[Sample]) -> Vec<u8> {
    let ids: Vec<String> = samples.iter().map(|sample| sample.id.to_string()).collect();
    let rows = || {
        samples
            .iter()
            .zip(&ids)
            .flat_map(|(sample, id)| sample.smiles.iter().map(move |smiles| (smiles, sample, id)))
    };
    let smiles: Vec<&str> = rows().map(|(smiles, ..)| smiles.as_str()).collect();
    let models: Vec<&str> = rows().map(|(_, sample, _)| sample.model_id.as_str()).collect();
    let values = [smiles, models, rows().map(|(.., id)| id.as_str()).collect()];
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

    fn saved(path: &Path, begun: ExistingFile, samples: &[Sample]) -> Vec<u8> {
        let (mut output, _) = SampleOutput::open(SampleFormat::of(path).unwrap(), Some(path), begun).unwrap();
        samples.iter().for_each(|sample| output.add(sample.clone()).unwrap());
        output.finish().unwrap();
        fs::read(path).unwrap()
    }

    #[test]
    fn the_name_of_the_file_says_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str| saved(&folder.path().join(name), ExistingFile::Anew, &[sample()]);

        assert_eq!(written("a.smi"), b"CCO\nc1ccccc1\n");
        assert_eq!(written("a.txt"), written("a.smi"));
        assert_eq!(
            written("a.CSV"),
            b"smiles,model_id,sample_id\nCCO,druglike_gru,smp_01jd6xq1v3m4c5t6y7z8a9b0cd\n\
              c1ccccc1,druglike_gru,smp_01jd6xq1v3m4c5t6y7z8a9b0cd\n"
        );
        assert_eq!(serde_json::from_slice::<Sample>(&written("a.json")).unwrap(), sample());
        assert_eq!(&written("a.parquet")[..4], b"PAR1");
        let sdf = String::from_utf8(written("a.sdf")).unwrap();
        let tables: Vec<String> = sdf
            .split("$$$$\n")
            .filter(|record| !record.is_empty())
            .map(|record| chem::smiles_of_molfile(record).unwrap())
            .collect();
        assert_eq!(tables.len(), 2);
        assert!(sdf.contains("> <model_id>\ndruglike_gru\n\n"), "{sdf}");
        assert!(
            SampleOutput::open(
                SampleFormat::Csv,
                Some(&folder.path().join("nowhere/a.csv")),
                ExistingFile::Anew
            )
            .is_err()
        );
        let mut detailed = sample();
        detailed.details = Some(serde_json::from_str(r#"{"properties": {"hbd": [1, 0], "mw": [46.069, 78.114]}, "negative_log_likelihood": [7.25, null]}"#).unwrap());
        let path = folder.path().join("b.csv");
        let csv = saved(&path, ExistingFile::Anew, &[detailed]);
        assert!(
            String::from_utf8(csv)
                .unwrap()
                .ends_with("c1ccccc1,druglike_gru,smp_01jd6xq1v3m4c5t6y7z8a9b0cd,0,78.114,\n")
        );
        for name in ["a.xlsx", "a", ".csv"] {
            let fault = SampleFormat::of(Path::new(name)).unwrap_err();
            assert!(
                matches!(&fault, Failure::Usage(reason) if reason.contains(".smi, .txt, .csv, .sdf, .parquet, .json")),
                "{fault}"
            );
        }
    }

    #[test]
    fn a_file_that_was_begun_is_gone_on_with_and_a_line_that_was_cut_off_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        for (name, begun, there) in [
            ("a.smi", "CC\nCN\nCC", "CC\nCN\nCCO\nc1ccccc1\n"),
            (
                "a.csv",
                "smiles,model_id,sample_id\nCC,m,s\nCN,m,s\nC",
                "smiles,model_id,sample_id\nCC,m,s\nCN,m,s\nCCO,druglike_gru,smp_01jd6xq1v3m4c5t6y7z8a9b0cd\n\
                 c1ccccc1,druglike_gru,smp_01jd6xq1v3m4c5t6y7z8a9b0cd\n",
            ),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, begun).unwrap();

            let (_, known) =
                SampleOutput::open(SampleFormat::of(&path).unwrap(), Some(&path), ExistingFile::GoOn)
                    .unwrap();
            let text = saved(&path, ExistingFile::GoOn, &[sample()]);

            assert_eq!(known, HashSet::from(["CC", "CN"].map(str::to_owned)), "{name}");
            assert_eq!(String::from_utf8(text).unwrap(), there);
        }
        let json = folder.path().join("a.json");
        fs::write(&json, "[]").unwrap();
        assert!(SampleOutput::open(SampleFormat::Json, Some(&json), ExistingFile::GoOn).is_err());
    }

    #[test]
    fn several_samples_are_one_table_or_a_list() {
        let folder = tempfile::tempdir().unwrap();
        let both = [sample(), sample()];

        let csv = saved(&folder.path().join("a.csv"), ExistingFile::Anew, &both);
        let json = saved(&folder.path().join("a.json"), ExistingFile::Anew, &both);

        assert_eq!(String::from_utf8(csv).unwrap().matches("smiles,model_id").count(), 1);
        assert_eq!(serde_json::from_slice::<Vec<Sample>>(&json).unwrap(), both);
    }
}
