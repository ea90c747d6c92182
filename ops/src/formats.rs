//! Output formats of `retort plan`: answers, routes for other programs, a table, the report, a picture.
//!
//! Formats with one line or object per target are written as targets finish, so a batch of a hundred thousand takes
//! no more memory than one target. Formats that are one whole (the report, AiZynthFinder's table) are written at the
//! end.

mod aizynth;
mod svg;
mod table;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use anyhow::Context as _;
use clap::ValueEnum;
use contract::{aizynth_tree, retrocast_candidates};
use serde_json::{Map, Value, json};

use crate::{failure::Failure, planned::PlannedTarget, report, route_tree, terminal};

/// Output format of targets and their routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RouteFormat {
    /// Route trees as readable text.
    Text,
    /// The whole answers as JSON.
    Json,
    /// Trees for AiZynthFinder.
    Aizynth,
    /// Routes for RetroCast.
    Retrocast,
    /// One line per target: solved or not, steps, price, lead time, plausibility, the best route's reactions.
    Csv,
    /// The report: a page to open, send and print.
    Html,
    /// A picture of the best route of one target.
    Svg,
}

impl RouteFormat {
    /// Returns the format for the extension of `path`.
    ///
    /// # Errors
    /// Fails if no format has that extension.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let endings = [
            ("json", Self::Json),
            ("html", Self::Html),
            ("csv", Self::Csv),
            ("svg", Self::Svg),
            ("txt", Self::Text),
        ];
        terminal::by_ending(path, &endings)
    }
}

/// Kind of request: a single target, or a list of targets, which may have one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetCount {
    One,
    Several,
}

/// Writer of planned targets, one after the other.
pub struct RouteOutput {
    format: RouteFormat,
    target_count: TargetCount,
    sink: Box<dyn Write>,
    /// Targets that are written at the end.
    kept: Vec<PlannedTarget>,
    written: usize,
}

impl RouteOutput {
    /// Opens an output to `path`, or to standard output.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub fn open(
        format: RouteFormat,
        target_count: TargetCount,
        path: Option<&Path>,
    ) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::new(format, target_count, Box::new(io::stdout()))) };
        let file = File::create(path).with_context(|| format!("writing {}", path.display()))?;
        Ok(Self::new(format, target_count, Box::new(BufWriter::new(file))))
    }

    /// Creates an output to `sink`.
    pub fn new(format: RouteFormat, target_count: TargetCount, sink: Box<dyn Write>) -> Self {
        Self { format, target_count, sink, kept: Vec::new(), written: 0 }
    }

    /// Adds the next target.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn add(&mut self, planned: PlannedTarget) -> Result<(), Failure> {
        let text = match self.format {
            RouteFormat::Text => self.text(&planned),
            RouteFormat::Json => self.json(&planned)?,
            RouteFormat::Csv => table::line(&planned, self.written == 0)?,
            RouteFormat::Svg => planned.route_trees().first().map(svg::picture).unwrap_or_default(),
            RouteFormat::Aizynth | RouteFormat::Retrocast | RouteFormat::Html => {
                self.kept.push(planned);
                String::new()
            }
        };
        self.written += 1;
        self.write(&text)
    }

    /// Writes the remaining output.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        let kept = std::mem::take(&mut self.kept);
        let text = match (self.format, self.target_count) {
            (RouteFormat::Text | RouteFormat::Svg, _) | (RouteFormat::Json, TargetCount::One) => {
                String::new()
            }
            (RouteFormat::Json, TargetCount::Several) if self.written == 0 => "[]\n".to_owned(),
            (RouteFormat::Json, TargetCount::Several) => "\n]\n".to_owned(),
            (RouteFormat::Csv, _) if self.written == 0 => table::header()?,
            (RouteFormat::Csv, _) => String::new(),
            (RouteFormat::Html, _) => report::page(&kept)?,
            (RouteFormat::Aizynth, TargetCount::One) => {
                let routes = kept.first().map(PlannedTarget::route_trees).unwrap_or_default();
                pretty(&routes.iter().map(aizynth_tree).collect::<Value>())?
            }
            (RouteFormat::Aizynth, TargetCount::Several) => pretty(&aizynth::table(&kept))?,
            (RouteFormat::Retrocast, _) => pretty(&predictions(&kept)?)?,
        };
        self.write(&text)?;
        self.sink.flush().context("writing the routes")?;
        Ok(())
    }

    /// Formats the routes as trees; an empty line separates targets.
    fn text(&self, planned: &PlannedTarget) -> String {
        let of_one = |answer| route_tree::render(answer, planned.asked.ships_to);
        let text = match (self.target_count, &planned.outcome) {
            (TargetCount::One, outcome) => return outcome.as_ref().map(of_one).unwrap_or_default(),
            (TargetCount::Several, Ok(answer)) => {
                of_one(answer)
                    + &route_tree::no_route_reason(answer).map(|reason| reason + "\n").unwrap_or_default()
            }
            (TargetCount::Several, Err(reason)) => format!("{}\n{reason}\n", planned.smiles()),
        };
        let before = if self.written == 0 { "" } else { "\n" };
        let name = planned.name.as_ref().map(|name| format!("{name}\n")).unwrap_or_default();
        format!("{before}{name}{text}")
    }

    fn json(&self, planned: &PlannedTarget) -> Result<String, Failure> {
        match (self.target_count, &planned.outcome) {
            (TargetCount::One, Ok(answer)) => pretty(answer),
            (TargetCount::One, Err(_)) => Ok(String::new()),
            (TargetCount::Several, _) => {
                let before = if self.written == 0 { "[\n" } else { ",\n" };
                let line = serde_json::to_string(planned).context("writing an answer as JSON")?;
                Ok(format!("{before}{line}"))
            }
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.sink.write_all(text.as_bytes()).context("writing the routes")?;
        Ok(())
    }
}

/// Returns RetroCast's predictions: ranked routes by target. The key is the target's name, or its SMILES if it has no
/// name or shares it.
fn predictions(planned: &[PlannedTarget]) -> Result<Value, Failure> {
    let mut by_target = Map::new();
    for one in planned {
        let name = one.name.clone().filter(|name| !by_target.contains_key(name));
        let candidates = one.answer().map(|answer| retrocast_candidates(answer, &::catalogue::inchi_key));
        let candidates = candidates.transpose().map_err(anyhow::Error::new)?.unwrap_or_else(|| json!([]));
        by_target.insert(name.unwrap_or_else(|| one.smiles().to_owned()), candidates);
    }
    Ok(Value::Object(by_target))
}

fn pretty(value: &impl serde::Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(value).context("writing the answer as JSON")? + "\n")
}

#[cfg(test)]
mod tests;
