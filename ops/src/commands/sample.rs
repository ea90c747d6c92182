//! `retort sample`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use contract::{MAX_SAMPLE_SIZE, SampleRequest};

use crate::{
    Place,
    failure::Failure,
    sample_file::{self, Format},
    terminal,
};

/// Longer than any deadline the API gives a job.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Generate molecules.
#[derive(Debug, Args)]
pub struct Sample {
    /// How many molecules, 1 to 10,000.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLE_SIZE)))]
    size: u32,
    /// The model [default: any that is readily available].
    #[arg(long)]
    model: Option<String>,
    /// Write to FILE instead of standard output, as its name says.
    #[arg(long, value_name = "FILE.smi|.csv|.parquet|.json")]
    out: Option<PathBuf>,
    /// Write the whole answer as JSON instead of one SMILES a line, whatever the file is called.
    #[arg(long)]
    json: bool,
}

impl Sample {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        let service = place.service()?;
        let request = SampleRequest { size: self.size, model_id: self.model };
        let spinner = terminal::spinner(format!("sampling {} molecules", self.size));
        let answer = service.post::<_, contract::Sample>("/generator/v1/samples", &request, TIMEOUT).await;
        let elapsed = spinner.elapsed();
        spinner.finish_and_clear();
        let sample = answer?;

        match self.out {
            Some(file) if self.json => sample_file::write(&sample, &file, Format::Json)?,
            Some(file) => sample_file::write(&sample, &file, Format::of(&file))?,
            None if self.json => terminal::data(sample_file::json(&sample)?.trim_end())?,
            None => terminal::data(sample_file::lines(&sample).trim_end())?,
        }
        let (count, seconds) = (sample.smiles.len(), elapsed.as_secs_f64());
        terminal::note(&format!(
            "{count} molecules by {} in {seconds:.2} s, kept as {}",
            sample.model_id, sample.id
        ));
        Ok(())
    }
}
