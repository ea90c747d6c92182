//! Checking a pack: everything that a worker would meet, and whether the model is of any use.
//!
//! A *fault* is what keeps a worker from using the pack, or what makes it useless; a *warning* is what its owner
//! should know; a *note* is a figure.

mod generator;
mod templates;
mod weights;

use serde::Serialize;

use super::{Kind, Pack, read};

/// What a check found.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The model's id.
    pub id: String,
    /// The pack's folder.
    pub folder: String,
    /// What the model does, if that can be told.
    pub kind: Option<Kind>,
    /// What keeps the pack from being used; each names its file.
    pub faults: Vec<String>,
    /// What is odd.
    pub warnings: Vec<String>,
    /// What was measured.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether a worker can use the pack.
    pub const fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Checks `pack`, one of `all` packs of its folder.
pub fn check(pack: &Pack, all: &[Pack]) -> Report {
    let mut report = Report {
        id: pack.id().to_owned(),
        folder: pack.folder.display().to_string(),
        kind: pack.kind,
        faults: pack.faults.clone(),
        ..Report::default()
    };
    for other in all.iter().filter(|other| other.folder != pack.folder && other.id() == pack.id()) {
        report.faults.push(format!(
            "{}: the id `{}` is also that of {}",
            pack.folder.join("metadata.json").display(),
            pack.id(),
            other.folder.display()
        ));
    }
    let too_large = too_large(pack);
    if !too_large.is_empty() {
        report.faults.extend(too_large);
        return report;
    }
    match pack.kind {
        Some(Kind::Generator) => generator::check(pack, &mut report),
        Some(Kind::Templates) => templates::check(pack, &mut report),
        None => {}
    }
    report
}

/// Files that are larger than any of their kind, so that nothing is loaded that does not fit.
fn too_large(pack: &Pack) -> Vec<String> {
    let limit = |name: &str| if name.ends_with(".safetensors") { read::LARGE } else { read::SMALL };
    let files = pack.files();
    let large = files.iter().filter(|(name, bytes)| *bytes > limit(name));
    large
        .map(|(name, bytes)| {
            let (file, limit) = (pack.folder.join(name), limit(name));
            format!("{}: {bytes} bytes, of at most {limit} that it may have", file.display())
        })
        .collect()
}
