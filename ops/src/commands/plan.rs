//! `retort plan`: plans one target or several, either while the command waits or as a batch that continues after the
//! command ends.

mod asked;
mod batch;
mod wishes;

use std::{path::PathBuf, pin::pin, time::Duration};

use anyhow::Context as _;
use clap::Args;
use contract::{CompactResult, TreeSearchResult};
use futures::{StreamExt as _, stream};
use tokio::signal;

use self::asked::SearchOptions;
use crate::{
    InstallationArgs,
    failure::Failure,
    formats::{self, RouteFormat, RouteOutput},
    planned::PlannedTarget,
    retry::retry_while_unavailable,
    route_tree,
    service::Service,
    targets::{self, Files, Target},
    terminal,
};

/// Time that queueing and annotation may add to the search's own seconds.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(60);

/// Plan routes to one molecule or to many.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// SMILES of one target or of several.
    #[arg(required_unless_present_any = ["input", "resume"])]
    smiles: Vec<String>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    asked: SearchOptions,
    /// Have the service plan all targets as one batch, which continues even if this command ends.
    #[arg(long)]
    batch: bool,
    /// Name of the batch.
    #[arg(long, value_name = "NAME", requires = "batch")]
    batch_name: Option<String>,
    /// Return to a batch: wait until it is done, and write the results.
    #[arg(long, value_name = "BATCH", conflicts_with_all = ["batch", "smiles"])]
    resume: Option<String>,
    /// Number of concurrent searches, for several targets without --batch.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    parallel: u8,
    /// Output format [default: by the extension of FILE, else text].
    #[arg(long, value_enum)]
    format: Option<RouteFormat>,
    /// Write to FILE instead of standard output.
    #[arg(long, value_name = "FILE.json|.html|.csv|.svg")]
    out: Option<PathBuf>,
    /// Print the whole answer as JSON, even if another format is written to a file.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Outcomes of several targets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tally {
    solved: usize,
    no_route_reason: usize,
    failed: usize,
    left_out: usize,
}

impl PlanArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        // The format is checked before anything is searched.
        let format = match (self.format, &self.out) {
            (Some(format), _) => format,
            (None, Some(path)) => RouteFormat::of(path)?,
            (None, None) if self.json => RouteFormat::Json,
            (None, None) => RouteFormat::Text,
        };
        let service = installation.service()?;
        if let [smiles] = &self.smiles[..]
            && !self.files.are_given()
            && !self.batch
        {
            return self.plan_single(&service, smiles, format).await;
        }
        if format == RouteFormat::Svg {
            return Err(Failure::Usage(
                "a picture is of one target: write --format html for several".to_owned(),
            ));
        }
        let mut found = self.files.read()?;
        found
            .targets
            .splice(0..0, self.smiles.iter().map(|smiles| Target { smiles: smiles.clone(), name: None }));
        found.notes.splice(
            0..0,
            self.smiles.iter().filter_map(|smiles| Some(format!("{smiles}: {}", targets::note(smiles)?))),
        );
        found.print_notes();
        let left_out = found.faults.len();
        let mut tally = if self.batch || self.resume.is_some() {
            self.as_batch(&service, &found.targets, format).await?
        } else {
            self.plan_several(&service, found.targets, format).await?
        };
        tally.left_out = left_out;
        if let Some(path) = &self.out {
            terminal::note(&format!("{}; written to {}", tally.summary(), path.display()));
        } else {
            terminal::note(&tally.summary());
        }
        tally.failure().map_or(Ok(()), Err)
    }

    /// Plans a single target: writes its answer, and the reason if there is no route.
    async fn plan_single(&self, service: &Service, smiles: &str, format: RouteFormat) -> Result<(), Failure> {
        let spinner = terminal::spinner(format!("searching for at most {} s", self.asked.max_seconds()));
        let answer = self.search(service, smiles).await;
        spinner.finish_and_clear();
        let answer = answer?;
        if let Some(note) = targets::note(smiles) {
            terminal::note(&format!("note: {note}"));
        }

        if self.json && self.out.is_some() {
            terminal::data(&serde_json::to_string_pretty(&answer).context("writing the answer as JSON")?)?;
        }
        let mut output = RouteOutput::open(format, formats::TargetCount::One, self.out.as_deref())?;
        output.add(PlannedTarget {
            name: None,
            asked: self.asked.request(smiles),
            outcome: Ok(answer.clone()),
        })?;
        output.finish()?;
        if let Some(path) = &self.out {
            terminal::note(&format!("{}; written to {}", route_tree::found(&answer), path.display()));
        }
        route_tree::no_route_reason(&answer).map_or(Ok(()), |reason| Err(Failure::NoRoute(reason)))
    }

    async fn search(&self, service: &Service, smiles: &str) -> Result<TreeSearchResult, Failure> {
        let timeout = Duration::from_secs_f64(self.asked.max_seconds()) + TIMEOUT_MARGIN;
        let request = self.asked.request(smiles);
        let answer: CompactResult =
            service.post("/synth/v1/treesearch?view=compact", &request, timeout).await?;
        Ok(answer.expanded())
    }

    /// Plans several targets. Each is written once it and all targets before it are done, so that Ctrl-C keeps the
    /// results so far.
    async fn plan_several(
        &self,
        service: &Service,
        targets: Vec<Target>,
        format: RouteFormat,
    ) -> Result<Tally, Failure> {
        let bar = terminal::bar(targets.len() as u64, "planning");
        let mut output = RouteOutput::open(format, formats::TargetCount::Several, self.out.as_deref())?;
        let mut tally = Tally::default();
        let searches = stream::iter(targets).map(async |Target { smiles, name }| {
            let outcome = match retry_while_unavailable(async || self.search(service, &smiles).await).await {
                Ok(answer) => Ok(answer),
                // A failure of this target alone.
                Err(failure @ (Failure::Refused(_) | Failure::NotThere | Failure::Other(_))) => {
                    Err(failure.to_string())
                }
                Err(failure) => return Err(failure),
            };
            Ok(PlannedTarget { name, asked: self.asked.request(&smiles), outcome })
        });
        let mut searches = pin!(searches.buffered(self.parallel.into()));
        let mut interrupt = pin!(signal::ctrl_c());
        let stopped = loop {
            let planned = tokio::select! {
                planned = searches.next() => planned,
                _ = &mut interrupt => break Some(Failure::Interrupted("interrupted; what was found is kept".to_owned())),
            };
            match planned {
                None => break None,
                Some(Err(failure)) => break Some(failure),
                Some(Ok(planned)) => {
                    tally.count(&planned);
                    bar.suspend(|| output.add(planned))?;
                    bar.inc(1);
                }
            }
        };
        bar.finish_and_clear();
        output.finish()?;
        stopped.map_or(Ok(tally), Err)
    }
}

impl Tally {
    fn count(&mut self, planned: &PlannedTarget) {
        match &planned.outcome {
            Err(reason) => {
                self.failed += 1;
                terminal::note(&format!(
                    "{}: {reason}",
                    planned.name.as_deref().unwrap_or_else(|| planned.smiles())
                ));
            }
            Ok(answer) if answer.route_hierarchy.is_empty() => self.no_route_reason += 1,
            Ok(_) => self.solved += 1,
        }
    }

    fn summary(&self) -> String {
        let counts = [
            (self.solved, "with a route"),
            (self.no_route_reason, "without a route"),
            (self.failed, "not planned"),
            (self.left_out, "left out"),
        ];
        let summary =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
        let summary = summary.collect::<Vec<_>>().join(", ");
        if summary.is_empty() { "no targets".to_owned() } else { summary }
    }

    /// Returns the command's failure if not every target has a route.
    fn failure(&self) -> Option<Failure> {
        let planned = self.solved + self.no_route_reason;
        let failed = self.failed + self.left_out;
        if failed > 0 {
            let all = planned + failed;
            return Some(Failure::Partly(format!("{failed} of {all} targets could not be planned")));
        }
        (self.no_route_reason > 0)
            .then(|| Failure::NoRoute(format!("  for {} of {planned} targets", self.no_route_reason)))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        plan: PlanArgs,
    }

    #[test]
    fn targets_come_from_the_line_from_files_or_from_a_batch() {
        let takes = |line: &[&str]| Line::try_parse_from(line).is_ok();

        assert!(
            takes(&["plan", "CCO"]) && takes(&["plan", "CCO", "CCN", "-i", "a.csv", "-i", "-", "--batch"])
        );
        assert!(takes(&["plan", "--resume", "bat_1", "--format", "aizynth"]));
        assert!(!takes(&["plan"]) && !takes(&["plan", "CCO", "--resume", "bat_1"]));
        assert!(
            !takes(&["plan", "CCO", "--smiles-column", "x"])
                && !takes(&["plan", "CCO", "--json", "--format", "csv"])
        );
    }

    #[test]
    fn a_command_ends_as_the_worst_of_its_targets_did() {
        let status = |tally: Tally| tally.failure().map(|failure| format!("{:?}", failure.exit_code()));
        let code = |code: u8| Some(format!("{:?}", std::process::ExitCode::from(code)));
        let solved = Tally { solved: 2, ..Tally::default() };

        assert_eq!(status(solved), None);
        assert_eq!(status(Tally { no_route_reason: 1, ..solved }), code(6));
        assert_eq!(status(Tally { no_route_reason: 1, left_out: 1, ..solved }), code(7));
        assert_eq!(
            Tally { no_route_reason: 1, left_out: 3, ..solved }.summary(),
            "2 with a route, 1 without a route, 3 left out"
        );
    }
}
