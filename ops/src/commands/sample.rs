//! `retort sample`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use contract::{MAX_SAMPLE_SIZE, ModelList, SampleRequest};

use crate::{
    Place,
    failure::Failure,
    sample_file::{self, Format},
    service::Service,
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
    /// The model, as `retort model list` or the service name it [default: the installation's].
    #[arg(long)]
    model: Option<String>,
    /// Write to FILE instead of standard output, as its ending says.
    #[arg(long, value_name = "FILE.smi|.txt|.csv|.parquet|.json")]
    out: Option<PathBuf>,
    /// Write the whole answer as JSON instead of one SMILES a line, whatever the file is called.
    #[arg(long)]
    json: bool,
}

impl Sample {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        // Before anything is generated.
        let format = match &self.out {
            _ if self.json => Format::Json,
            Some(file) => Format::of(file)?,
            None => Format::Lines,
        };
        let service = place.service()?;
        let request = SampleRequest { size: self.size, model_id: self.model };
        let spinner = terminal::spinner(format!("sampling {} molecules", self.size));
        let answer = service.post::<_, contract::Sample>("/generator/v1/samples", &request, TIMEOUT).await;
        let elapsed = spinner.elapsed();
        spinner.finish_and_clear();
        let sample = match answer {
            Err(Failure::NotThere) => return Err(unknown(&service, request.model_id.as_deref()).await),
            answer => answer?,
        };

        let (count, seconds) = (sample.smiles.len(), elapsed.as_secs_f64());
        let made =
            format!("{count} molecules by {} in {seconds:.2} s, kept as {}", sample.model_id, sample.id);
        match self.out {
            Some(file) => {
                sample_file::write(&sample, &file, format)?;
                terminal::note(&format!("{made}; written to {}", file.display()));
            }
            None => {
                let text = if self.json { sample_file::json(&sample)? } else { sample_file::lines(&sample) };
                terminal::data(text.trim_end())?;
                terminal::note(&made);
            }
        }
        Ok(())
    }
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
