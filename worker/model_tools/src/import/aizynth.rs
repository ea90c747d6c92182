//! Import of an AiZynthFinder policy (Genheden et al., 2020): a network in ONNX and a table of templates.
//!
//! Row n of the table belongs to output n of the network. An unreadable template keeps its row, so that later rows
//! keep their outputs, and is never used.

mod graph;
pub(crate) mod network;
pub(crate) mod table;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::ModelImport;
use crate::{
    ModelsFolder,
    card::{self, Card},
    error::ModelToolError,
    folder::Draft,
    pack, read,
    weights::{self, Tensor},
};
use network::{DensePolicy, FINGERPRINT_BITS};
use table::TemplateTable;

/// Maximum size of a network file: ten times the usual size.
const MAX_NETWORK_BYTES: u64 = 1 << 30;
/// Number of unusable rows that are told one by one; the error file lists all of them.
const MAX_LISTED_ROWS: usize = 10;

/// Reads the network and the table into a draft.
pub fn import(
    models: &ModelsFolder,
    import: &ModelImport,
    tell: &dyn Fn(&str),
) -> Result<Draft, ModelToolError> {
    let Some(templates) = &import.templates else {
        return Err(ModelToolError::Usage(format!(
            "{} is a network that ranks templates; name their table with --templates FILE",
            import.source.display()
        )));
    };
    let draft = models.begin(super::id_or_stem(import)?)?;
    let bytes = read::bytes(&import.source, MAX_NETWORK_BYTES).map_err(anyhow::Error::from)?;
    let policy = DensePolicy::read(&bytes).with_context(|| import.source.display().to_string())?;
    drop(bytes);
    let table = TemplateTable::read(templates).with_context(|| templates.display().to_string())?;
    if table.rows.len() != policy.outputs {
        return Err(anyhow!(
            "{} has {} templates, but {} has {} outputs: they do not belong together",
            templates.display(),
            table.rows.len(),
            import.source.display(),
            policy.outputs
        )
        .into());
    }
    report(&table, templates, import.errors.as_deref(), tell)?;
    write(&policy, &table, [&import.source, templates], &draft)?;
    Ok(draft)
}

/// Reports the rows that cannot be used.
fn report(
    table: &TemplateTable,
    templates: &Path,
    errors: Option<&Path>,
    tell: &dyn Fn(&str),
) -> Result<(), ModelToolError> {
    let faults: Vec<(u64, &str)> =
        table.rows.iter().filter_map(|row| Some((row.line, row.fault.as_deref()?))).collect();
    for (line, fault) in faults.iter().take(if errors.is_some() { 0 } else { MAX_LISTED_ROWS }) {
        tell(&format!("{}, line {line}: {fault}", templates.display()));
    }
    if !faults.is_empty() {
        tell(&format!(
            "{} of {} templates cannot be read and are switched off{}",
            faults.len(),
            table.rows.len(),
            if errors.is_none() && faults.len() > MAX_LISTED_ROWS {
                "; --errors FILE lists them all"
            } else {
                ""
            }
        ));
    }
    let repeated = table.repeated();
    if repeated > 0 {
        tell(&format!("{repeated} rows have the template of an earlier row; the network ranks both"));
    }
    if let Some(file) = errors {
        let lines: String = faults.iter().map(|(line, fault)| format!("{line}\t{fault}\n")).collect();
        fs::write(file, format!("line\tfault\n{lines}"))
            .with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(())
}

fn write(
    policy: &DensePolicy,
    table: &TemplateTable,
    [network, templates]: [&PathBuf; 2],
    draft: &Draft,
) -> Result<(), ModelToolError> {
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let usable = table.rows.iter().filter(|row| row.fault.is_none()).count();
    let architecture = format!(
        "Morgan r2 {FINGERPRINT_BITS} -> {} {} -> {} templates",
        policy.hidden,
        policy.activation.to_uppercase(),
        policy.outputs
    );
    let metadata = card::metadata(
        draft.id(),
        &Card {
            description: &format!(
                "Templates and policy of AiZynthFinder's kind, imported from {}",
                name(network)
            ),
            architecture: &architecture,
            training_data: "not stated in its files",
        },
    );
    let history = [
        format!("network: {}", name(network)),
        format!("templates: {}, {usable} of {} can be used", name(templates), table.rows.len()),
    ];
    let config = json!({
        "model_type": pack::TEMPLATES,
        "fingerprint": format!("morgan_r2_{FINGERPRINT_BITS}"),
        "hidden_size": policy.hidden,
        "n_templates": policy.outputs,
    });
    let tensor = |name: &str, shape: &[usize], numbers: &[f32]| Tensor {
        name: name.to_owned(),
        shape: shape.to_vec(),
        numbers: numbers.to_vec(),
    };
    let tensors = [
        tensor("layer1.weight", &[policy.hidden, FINGERPRINT_BITS], &policy.weight1),
        tensor("layer1.bias", &[policy.hidden], &policy.bias1),
        tensor("layer2.weight", &[policy.outputs, policy.hidden], &policy.weight2),
        tensor("layer2.bias", &[policy.outputs], &policy.bias2),
    ];
    draft.write("policy.safetensors", &weights::file(&tensors, &[("activation", policy.activation)])?)?;
    draft.write("templates.csv.gz", &encode_table(table).context("writing templates.csv.gz")?)?;
    draft.write_json("config.json", &config)?;
    draft.write("README.md", card::readme(&metadata, &history).as_bytes())?;
    draft.write_json("metadata.json", &Value::Object(metadata))
}

/// Encodes the table as the search engine reads it.
fn encode_table(table: &TemplateTable) -> anyhow::Result<Vec<u8>> {
    let mut csv = csv::WriterBuilder::new().delimiter(b'\t').from_writer(Vec::new());
    csv.write_record(["", "retro_template", "template_hash", "library_occurrence", "library_index"])?;
    for (number, row) in table.rows.iter().enumerate() {
        let number = number.to_string();
        csv.write_record([&number, &row.template, &row.hash, &row.occurrence.to_string(), &number])?;
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&csv.into_inner()?)?;
    Ok(gzip.finish()?)
}
