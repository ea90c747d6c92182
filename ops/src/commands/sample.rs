//! `retort sample`: draws molecules with as many calls as the size needs, or as a batch.

mod batch;
mod conditions;

use std::{
    collections::HashSet,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use contract::{MAX_SAMPLE_SIZE, ModelList, RouteDetails, Sample as Made, SampleRequest};

use crate::{
    InstallationArgs,
    failure::Failure,
    retry::retry_while_unavailable,
    sample_file::{ExistingFile, SampleFormat, SampleOutput},
    service::Service,
    terminal,
};
use conditions::ConditionArgs;

/// Timeout of a call, longer than any deadline that the API gives a job.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum number of molecules per command.
const MAX_SIZE: u32 = 10_000_000;

/// Number of consecutive calls without a new molecule after which the model counts as exhausted.
const MAX_CALLS_WITHOUT_NEW: u32 = 3;

/// Generate molecules.
#[derive(Debug, Args)]
pub struct SampleArgs {
    /// Number of distinct molecules; more than 10,000 are drawn as several samples.
    #[arg(
        long, required_unless_present = "from_batch",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SIZE))
    )]
    size: Option<u32>,
    /// Model name as in `retort model list` or the service [default: the installation's].
    #[arg(long)]
    model: Option<String>,
    /// Write to FILE instead of standard output, in the format of its extension.
    #[arg(long, value_name = "FILE.smi|.txt|.csv|.sdf|.parquet|.json")]
    out: Option<PathBuf>,
    /// Continue a FILE of an interrupted command, SMILES or CSV, up to the size.
    #[arg(long, requires = "out")]
    resume: bool,
    /// Output format [default: by the extension of FILE, else one SMILES per line].
    #[arg(long, value_enum)]
    format: Option<SampleFormat>,
    /// Write the whole answer as JSON instead of one SMILES per line, whatever the file's extension.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Add properties and likelihood of each molecule, as JSON or as columns of a CSV.
    #[arg(long, conflicts_with = "resume")]
    details: bool,
    /// Let the service draw up to 100,000 molecules in the background, even if this command ends.
    #[arg(long, conflicts_with = "resume")]
    batch: bool,
    /// Wait for a batch and write its molecules.
    #[arg(
        long, value_name = "BATCH",
        conflicts_with_all = ["size", "model", "resume", "details", "batch", "ConditionArgs"]
    )]
    from_batch: Option<String>,
    #[command(flatten)]
    conditions: ConditionArgs,
}

impl SampleArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        // The format is checked before anything is generated.
        let format = match (self.format, &self.out) {
            _ if self.json => SampleFormat::Json,
            (Some(format), _) => format,
            (None, Some(file)) => SampleFormat::of(file)?,
            (None, None) => SampleFormat::Smi,
        };
        if self.details && !matches!(format, SampleFormat::Json | SampleFormat::Csv) {
            return Err(Failure::Usage("--details needs JSON or CSV: add --json or --format csv".to_owned()));
        }
        let service = installation.service()?;
        let begun = if self.resume { ExistingFile::GoOn } else { ExistingFile::Anew };
        let (mut output, mut known) = SampleOutput::open(format, self.out.as_deref(), begun)?;
        if self.batch || self.from_batch.is_some() {
            return self.as_batch(&service, output).await;
        }
        let (size, resumed) = (self.size.unwrap_or_default() as usize, known.len());
        if resumed > 0 {
            terminal::note(&format!("{resumed} molecules are there already"));
        }

        let started = Instant::now();
        let bar = terminal::bar(size as u64, "sampling");
        bar.set_position(resumed as u64);
        let (mut fruitless, mut made) = (0, Vec::new());
        while known.len() < size {
            let sample = self.call(&service, made.len() as u64, size - known.len()).await?;
            made.push((sample.model_id.clone(), sample.id.to_string()));
            let new = without_known(sample, &mut known);
            fruitless = if new.smiles.is_empty() { fruitless + 1 } else { 0 };
            bar.set_position(known.len() as u64);
            bar.suspend(|| output.add(new))?;
            if fruitless == MAX_CALLS_WITHOUT_NEW {
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

    /// Requests a sample of the missing molecules, up to the largest size of one sample. `call` counts the calls.
    async fn call(&self, service: &Service, call: u64, missing: usize) -> Result<Made, Failure> {
        let size = u32::try_from(missing).unwrap_or(u32::MAX).min(MAX_SAMPLE_SIZE);
        let (conditions, details) = (self.conditions.of_call(call), self.details);
        let request = SampleRequest { size, model_id: self.model.clone(), conditions, details };
        let send = async || service.post("/generator/v1/samples", &request, TIMEOUT).await;
        // A single call fails at once if the service is unavailable; a long command waits for it.
        let answer = if self.size > Some(MAX_SAMPLE_SIZE) {
            retry_while_unavailable(send).await
        } else {
            send().await
        };
        match answer {
            Err(Failure::NotThere) => Err(unknown_model(service, self.model.as_deref()).await),
            answer => answer,
        }
    }
}

/// Returns the sample without the molecules of earlier samples.
fn without_known(mut sample: Made, known: &mut HashSet<String>) -> Made {
    let is_new: Vec<bool> = sample.smiles.iter().map(|smiles| known.insert(smiles.clone())).collect();
    keep_new(&mut sample.smiles, &is_new);
    if let Some(details) = &mut sample.details {
        details.properties.values_mut().for_each(|values| keep_new(values, &is_new));
        keep_new(&mut details.negative_log_likelihood, &is_new);
        if let Some(RouteDetails { steps, usd_per_mol, building_blocks, plausibility }) = &mut details.routes
        {
            keep_new(steps, &is_new);
            keep_new(usd_per_mol, &is_new);
            keep_new(building_blocks, &is_new);
            keep_new(plausibility, &is_new);
        }
    }
    sample
}

fn keep_new<T>(items: &mut Vec<T>, is_new: &[bool]) {
    let mut is_new = is_new.iter();
    items.retain(|_| is_new.next().is_some_and(|is_new| *is_new));
}

/// Returns the failure for an unknown model, which lists the models that the service has.
pub(super) async fn unknown_model(service: &Service, model: Option<&str>) -> Failure {
    let Some(model) = model else { return Failure::NotThere };
    let known = match service.get::<ModelList>("/generator/v1/models").await {
        Ok(list) => list.data.into_iter().map(|model| model.id).collect::<Vec<_>>(),
        Err(failure) => return failure,
    };
    // Then something else in the request is not there.
    if known.iter().any(|id| id == model) {
        return Failure::NotThere;
    }
    let known = known.join(", ");
    Failure::Refused(format!("no running sampler has a model `{model}`; there are: {known}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_known_molecule_goes_with_all_of_its_details() {
        let sample = json!({
            "id": "smp_01jd6xq1v3m4c5t6y7z8a9b0cd", "object": "sample", "model_id": "m", "created_at": "2026-01-01T00:00:00Z",
            "smiles": ["C", "CC", "CCC"],
            "details": {
                "properties": { "heavy_atoms": [1.0, 2.0, 3.0] }, "negative_log_likelihood": [1.5, null, 3.5],
                "routes": {
                    "steps": [1, 2, 3], "usd_per_mol": [10.0, null, 30.0], "building_blocks": [1, 2, 3],
                    "plausibility": [0.1, 0.2, 0.3],
                },
            },
        });
        let sample: Made = serde_json::from_value(sample).unwrap();

        let new = without_known(sample, &mut HashSet::from(["CC".to_owned()]));

        assert_eq!(new.smiles, ["C", "CCC"]);
        let details = json!({
            "properties": { "heavy_atoms": [1.0, 3.0] }, "negative_log_likelihood": [1.5, 3.5],
            "routes": {
                "steps": [1, 3], "usd_per_mol": [10.0, 30.0], "building_blocks": [1, 3], "plausibility": [0.1, 0.3],
            },
        });
        assert_eq!(serde_json::to_value(new.details).unwrap(), details);
    }
}
