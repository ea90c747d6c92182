//! `retort model list` and `retort model show`.

use clap::Args;
use contract::PropertyDistribution;
use model_tools::{Kind, ModelsFolder, PackFolder};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::escape_control_characters;
use crate::{failure::Failure, terminal};

/// List the models.
#[derive(Debug, Args)]
pub struct ListModelsArgs {
    /// Print the list as JSON.
    #[arg(long)]
    json: bool,
}

/// Show one model: its card, settings and files.
#[derive(Debug, Args)]
pub struct ShowModelArgs {
    /// The model's id, or the name of its folder.
    #[arg(value_name = "MODEL")]
    id: String,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

impl ListModelsArgs {
    /// Runs the command.
    pub fn run(self, models: &ModelsFolder) -> Result<(), Failure> {
        let packs = models.packs()?;
        if self.json {
            return super::json(&packs.iter().map(summary).collect::<Vec<_>>());
        }
        let header = ["MODEL", "KIND", "SIZE", "CREATED", "ARCHITECTURE", "LICENCE"].map(str::to_owned);
        let rows: Vec<[String; 6]> = [header].into_iter().chain(packs.iter().map(row)).collect();
        terminal::data(&aligned(&rows))?;
        for fault in packs.iter().flat_map(|pack| &pack.faults) {
            terminal::note(&format!("FAULT  {}", escape_control_characters(fault)));
        }
        Ok(())
    }
}

impl ShowModelArgs {
    /// Runs the command.
    pub fn run(self, models: &ModelsFolder) -> Result<(), Failure> {
        let pack = models.find(&self.id)?;
        if self.json {
            let mut summary = summary(&pack);
            let files: Vec<Value> =
                pack.files().into_iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect();
            summary["files"] = files.into();
            summary["config"] = pack.config.clone().into();
            summary["metadata"] = pack.metadata.clone().into();
            return super::json(&summary);
        }
        let mut lines = vec![format!("{} ({})", pack.id(), pack.kind.map_or("?", Kind::name))];
        for part in [&pack.metadata, &pack.config].into_iter().flatten() {
            lines.push(String::new());
            flatten("", part, &mut lines);
        }
        lines.push(String::new());
        lines.extend(pack.files().iter().map(|(name, bytes)| format!("{name}: {}", size(*bytes))));
        lines.extend(pack.faults.iter().map(|fault| format!("FAULT  {fault}")));
        let lines: Vec<String> = lines.iter().map(|line| escape_control_characters(line)).collect();
        terminal::data(&lines.join("\n"))
    }
}

fn summary(pack: &PackFolder) -> Value {
    json!({
        "id": pack.id(),
        "kind": pack.kind,
        "folder": pack.folder.display().to_string(),
        "description": pack.text("description"),
        "architecture": model_tools::architecture(pack),
        "created": pack.text("created"),
        "licence": pack.text("licence"),
        "bytes": pack.size(),
        "faults": pack.faults,
    })
}

fn row(pack: &PackFolder) -> [String; 6] {
    let text = |field: &str| escape_control_characters(pack.text(field).unwrap_or("-"));
    [
        escape_control_characters(pack.id()),
        pack.kind.map_or("?", Kind::name).to_owned(),
        size(pack.size()),
        text("created"),
        escape_control_characters(&model_tools::architecture(pack)),
        text("licence"),
    ]
}

/// Pads every column to the width of its widest entry.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats a number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Flattens a JSON object into lines of `path: value`. Long lists are cut, and the distribution of a property takes
/// one line.
fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(_) if let Ok(of) = PropertyDistribution::deserialize(value) => {
            let PropertyDistribution { mean, standard_deviation, p05, p25, p50, p75, p95, .. } = of;
            let likeness = of.likeness.map(|likeness| format!(", likeness {likeness}")).unwrap_or_default();
            lines.push(format!(
                "{path}: {mean} ± {standard_deviation}, 5 to 95 %: {p05}, {p25}, {p50}, {p75}, {p95}{likeness}"
            ));
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, value, lines);
            }
        }
        Value::Array(items) if items.len() > 6 => lines.push(format!("{path}: a list of {}", items.len())),
        Value::String(text) => lines.push(format!("{path}: {text}")),
        other => lines.push(format!("{path}: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "bb", "c"], ["aaa", "b", ""]].map(|row| row.map(str::to_owned));

        assert_eq!(aligned(&rows), "a    bb  c\naaa  b");
    }

    #[test]
    fn a_card_is_flattened() {
        let mut lines = Vec::new();

        flatten("", &json!({"a": {"b": 1, "c": "x"}, "d": [1, 2], "e": [0, 0, 0, 0, 0, 0, 0]}), &mut lines);

        assert_eq!(lines, ["a.b: 1", "a.c: x", "d: [1,2]", "e: a list of 7"]);
    }

    #[test]
    fn the_distribution_of_a_property_is_one_line() {
        let mut lines = Vec::new();
        let logp = json!({
            "mean": 3.2, "standard_deviation": 1.7, "p05": 0.5, "p25": 2.1, "p50": 3.2, "p75": 4.3, "p95": 6.1, "likeness": 0.99
        });

        flatten("properties", &json!({ "crippen_logp": logp }), &mut lines);

        assert_eq!(
            lines,
            ["properties.crippen_logp: 3.2 ± 1.7, 5 to 95 %: 0.5, 2.1, 3.2, 4.3, 6.1, likeness 0.99"]
        );
    }

    #[test]
    fn sizes_are_rounded() {
        assert_eq!([999, 1_500, 2_034_320].map(size), ["999 B", "1.5 kB", "2.0 MB"]);
    }
}
