//! Checks of a pack: everything that a worker would need, and whether the model is useful.
//!
//! A *fault* keeps a worker from using the pack, or makes the model useless. A *warning* is something that the owner
//! should know. A *note* is a figure.

mod generator;
mod templates;
mod weights;

use serde::Serialize;

use super::{Kind, PackFolder, read};

/// Result of a check.
#[derive(Debug, Default, Serialize)]
pub struct CheckReport {
    /// The model's id.
    pub id: String,
    /// The pack's folder.
    pub folder: String,
    /// Kind of model, if it can be recognised.
    pub kind: Option<Kind>,
    /// Faults that keep the pack from being used; each names its file.
    pub faults: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Measured figures.
    pub notes: Vec<String>,
}

impl CheckReport {
    /// Returns true if a worker can use the pack.
    pub const fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Checks `pack`, one of `all` packs of its folder.
pub fn check(pack: &PackFolder, all: &[PackFolder]) -> CheckReport {
    let mut report = CheckReport {
        id: pack.id().to_owned(),
        folder: pack.folder.display().to_string(),
        kind: pack.kind,
        faults: pack.faults.clone(),
        ..CheckReport::default()
    };
    for other in all.iter().filter(|other| other.folder != pack.folder && other.id() == pack.id()) {
        report.faults.push(format!(
            "{}: the id `{}` is also that of {}",
            pack.folder.join("metadata.json").display(),
            pack.id(),
            other.folder.display()
        ));
    }
    let oversized_files = oversized_files(pack);
    if !oversized_files.is_empty() {
        report.faults.extend(oversized_files);
        return report;
    }
    match pack.kind {
        Some(Kind::Generator) => generator::check(pack, &mut report),
        Some(Kind::Templates) => templates::check(pack, &mut report),
        None => {}
    }
    report
}

/// Returns the files that exceed the size limit of their kind, so that nothing too large is loaded.
fn oversized_files(pack: &PackFolder) -> Vec<String> {
    let limit = |name: &str| {
        if name.ends_with(".safetensors") { read::MAX_WEIGHTS_BYTES } else { read::MAX_JSON_BYTES }
    };
    let files = pack.files();
    let large = files.iter().filter(|(name, bytes)| *bytes > limit(name));
    large
        .map(|(name, bytes)| {
            let (file, limit) = (pack.folder.join(name), limit(name));
            format!("{}: {bytes} bytes, of at most {limit} that it may have", file.display())
        })
        .collect()
}
