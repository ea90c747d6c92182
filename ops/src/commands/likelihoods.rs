//! `retort likelihoods`: scores molecules under a model, with as many calls as there are thousands of them.

use std::{io, time::Duration};

use anyhow::Context as _;
use clap::Args;
use contract::{Likelihoods, LikelihoodsRequest, MAX_LIKELIHOODS, MoleculeLikelihood};

use super::sample::unknown_model;
use crate::{InstallationArgs, failure::Failure, retry::retry_while_unavailable, service::Service, terminal};

/// Timeout of a call, longer than any deadline that the API gives a job.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Print the negative log-likelihood of molecules under a model, in nats: SMILES and value, separated by a tab. In place
/// of a value, an invalid molecule has nothing, a further tab and the error.
#[derive(Debug, Args)]
pub struct LikelihoodsArgs {
    /// SMILES of the molecules [default: the first word of each line of standard input].
    #[arg(value_name = "SMILES")]
    smiles: Vec<String>,
    /// Model name as in `retort model list` or the service [default: the installation's].
    #[arg(long)]
    model: Option<String>,
}

impl LikelihoodsArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let smiles = match self.smiles.is_empty() {
            true => first_words(io::stdin().lock())?,
            false => self.smiles,
        };
        let service = installation.service()?;
        let mut without_value = 0;
        for chunk in smiles.chunks(MAX_LIKELIHOODS) {
            let request = LikelihoodsRequest { smiles: chunk.to_vec(), model_id: self.model.clone() };
            let answer = call(&service, &request, smiles.len() > MAX_LIKELIHOODS).await?;
            without_value +=
                answer.items.iter().filter(|item| item.negative_log_likelihood.is_none()).count();
            terminal::data(&answer.items.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        }
        match without_value {
            0 => Ok(()),
            count => {
                Err(Failure::Partly(format!("{count} of {} molecules have no likelihood", smiles.len())))
            }
        }
    }
}

/// Requests the likelihoods. A single call fails at once if the service is unavailable; one of many waits for it.
async fn call(
    service: &Service,
    request: &LikelihoodsRequest,
    is_one_of_many: bool,
) -> Result<Likelihoods, Failure> {
    let send = async || service.post("/generator/v1/likelihoods", request, TIMEOUT).await;
    let answer = if is_one_of_many { retry_while_unavailable(send).await } else { send().await };
    match answer {
        Err(Failure::NotThere) => Err(unknown_model(service, request.model_id.as_deref()).await),
        answer => answer,
    }
}

/// Returns the first word of each line that has one.
fn first_words(lines: impl io::BufRead) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    for line in lines.lines() {
        let line = line.context("reading standard input")?;
        words.extend(line.split_whitespace().next().map(str::to_owned));
    }
    Ok(words)
}

/// Formats a molecule with its value or its error.
fn line(molecule: &MoleculeLikelihood) -> String {
    let MoleculeLikelihood { smiles, error, negative_log_likelihood } = molecule;
    match (negative_log_likelihood, error) {
        (Some(value), _) => format!("{smiles}\t{value}"),
        (None, error) => format!("{smiles}\t\t{}", error.as_deref().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn molecules_are_the_first_words_of_lines() {
        let words = first_words(&b"CCO ethanol\n\n  c1ccccc1\tbenzene\r\nC\n"[..]).unwrap();

        assert_eq!(words, ["CCO", "c1ccccc1", "C"]);
    }

    #[test]
    fn a_molecule_without_a_value_has_its_error_in_a_third_column() {
        let item = |error: Option<&str>, negative_log_likelihood| MoleculeLikelihood {
            smiles: "CCO".to_owned(),
            error: error.map(str::to_owned),
            negative_log_likelihood,
        };

        assert_eq!(line(&item(None, Some(21.5))), "CCO\t21.5");
        assert_eq!(line(&item(Some("no such atom"), None)), "CCO\t\tno such atom");
    }
}
