//! `retort sample`: molecules by one call, or by as many as it takes.

use std::{
    collections::HashSet,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use contract::{MAX_SAMPLE_SIZE, ModelList, Sample as Made, SampleRequest};

use crate::{
    Place,
    failure::Failure,
    patience::patiently,
    sample_file::{Begun, Format, Output},
    service::Service,
    terminal,
};

/// Longer than any deadline the API gives a job.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The most molecules of one command.
const MOST: u32 = 10_000_000;

/// Calls one after the other that bring no molecule that is new, after which a model has no more.
const FRUITLESS: u32 = 3;

/// Generate molecules.
#[derive(Debug, Args)]
pub struct Sample {
    /// How many molecules, no two alike; more than 10,000 are several samples.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    size: u32,
    /// The model, as `retort model list` or the service name it [default: the installation's].
    #[arg(long)]
    model: Option<String>,
    /// Write to FILE instead of standard output, as its ending says.
    #[arg(long, value_name = "FILE.smi|.txt|.csv|.sdf|.parquet|.json")]
    out: Option<PathBuf>,
    /// Go on with a FILE that an interrupted command has begun, SMILES or CSV, up to the size.
    #[arg(long, requires = "out")]
    resume: bool,
    /// What is written [default: what the ending of FILE promises, else a SMILES a line].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write the whole answer as JSON instead of one SMILES a line, whatever the file is called.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Sample {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        // Before anything is generated.
        let format = match (self.format, &self.out) {
            _ if self.json => Format::Json,
            (Some(format), _) => format,
            (None, Some(file)) => Format::of(file)?,
            (None, None) => Format::Smi,
        };
        let service = place.service()?;
        let begun = if self.resume { Begun::GoOn } else { Begun::Anew };
        let (mut output, mut known) = Output::open(format, self.out.as_deref(), begun)?;
        let (size, resumed) = (self.size as usize, known.len());
        if resumed > 0 {
            terminal::note(&format!("{resumed} molecules are there already"));
        }

        let started = Instant::now();
        let bar = terminal::bar(size as u64, "sampling");
        bar.set_position(resumed as u64);
        let (mut fruitless, mut made) = (0, Vec::new());
        while known.len() < size {
            let sample = self.call(&service, size - known.len()).await?;
            made.push((sample.model_id.clone(), sample.id.to_string()));
            let new = unseen(sample, &mut known);
            fruitless = if new.smiles.is_empty() { fruitless + 1 } else { 0 };
            bar.set_position(known.len() as u64);
            bar.suspend(|| output.add(new))?;
            if fruitless == FRUITLESS {
                bar.finish_and_clear();
                output.finish()?;
                return Err(Failure::Partly(format!(
                    "the model has no more than these {} different molecules to give",
                    known.len()
                )));
            }
        }
        bar.finish_and_clear();
        output.finish()?;
        let (count, seconds) = (known.len() - resumed, started.elapsed().as_secs_f64());
        let file = self.out.map(|file| format!("; written to {}", file.display())).unwrap_or_default();
        let (by, kept) = match &made[..] {
            [] => (String::new(), String::new()),
            [(model, id)] => (format!(" by {model}"), format!(", kept as {id}")),
            [.., (model, _)] => (format!(" by {model}"), format!(", kept as {} samples", made.len())),
        };
        terminal::note(&format!("{count} molecules{by} in {seconds:.2} s{kept}{file}"));
        Ok(())
    }

    /// A sample of what is missing, as far as one may be so large.
    async fn call(&self, service: &Service, missing: usize) -> Result<Made, Failure> {
        let size = u32::try_from(missing).unwrap_or(u32::MAX).min(MAX_SAMPLE_SIZE);
        let request = SampleRequest { size, model_id: self.model.clone() };
        let ask = async || service.post("/generator/v1/samples", &request, TIMEOUT).await;
        // What takes one call says at once that the service is away; a long one waits for it.
        let answer = if self.size > MAX_SAMPLE_SIZE { patiently(ask).await } else { ask().await };
        match answer {
            Err(Failure::NotThere) => Err(unknown(service, self.model.as_deref()).await),
            answer => answer,
        }
    }
}

/// The sample with what no sample before it had.
fn unseen(mut sample: Made, known: &mut HashSet<String>) -> Made {
    sample.smiles.retain(|smiles| known.insert(smiles.clone()));
    sample
}

/// What to say of a model that the service does not know: those that it does.
async fn unknown(service: &Service, model: Option<&str>) -> Failure {
    let Some(model) = model else { return Failure::NotThere };
    let known = match service.get::<ModelList>("/generator/v1/models").await {
        Ok(list) => list.data.into_iter().map(|model| model.id).collect::<Vec<_>>().join(", "),
        Err(failure) => return failure,
    };
    Failure::Refused(format!("no running sampler has a model `{model}`; there are: {known}"))
}
