//! Importing: what somebody else made becomes a pack among the models, or a sentence that says why not.

pub(crate) mod aizynth;
pub(crate) mod layout;
pub(crate) mod reinvent;

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::{ModelId, ModelsFolder, Pack, Report, check, folder::Draft, read};
use crate::failure::Failure;

/// What to import, and as what.
#[derive(Debug)]
pub struct Import {
    /// A folder in our layout, a prior of REINVENT, or a policy of AiZynthFinder.
    pub source: PathBuf,
    /// The id it is to have; else its own.
    pub name: Option<ModelId>,
    /// The templates of a policy.
    pub templates: Option<PathBuf>,
    /// Where to list the templates that cannot be used.
    pub errors: Option<PathBuf>,
}

/// Imports a model; says what it was found to be.
///
/// # Errors
/// Fails, and leaves nothing behind, when the source cannot be read, the id is taken, or the pack would not be sound.
pub fn import(models: &ModelsFolder, import: &Import) -> Result<Report, Failure> {
    let source = &import.source;
    let format = Format::of(source)?;
    if import.templates.is_some() && format != Format::Onnx {
        return Err(Failure::Usage(format!(
            "--templates goes with a network in ONNX, which {} is not",
            source.display()
        )));
    }
    let draft = match format {
        Format::Folder => layout::import(models, import)?,
        Format::Zip => reinvent::import(models, import)?,
        Format::Onnx => aizynth::import(models, import)?,
        Format::OldTorch => {
            return Err(anyhow!(
                "{}: written by a torch before 1.6; if you trust it, rewrite it in Python with \
                 `torch.save(torch.load(\"OLD\", weights_only=False), \"NEW\")`",
                source.display()
            )
            .into());
        }
        Format::Unknown => {
            return Err(anyhow!(
                "{}: not a model that can be imported: neither a folder, nor a file that torch.save wrote, nor a network in ONNX",
                source.display()
            )
            .into());
        }
    };
    land(draft)
}

/// What a source is, by its first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Format {
    Folder,
    Zip,
    Onnx,
    OldTorch,
    Unknown,
}

impl Format {
    fn of(source: &Path) -> Result<Self, Failure> {
        if source.is_dir() {
            return Ok(Self::Folder);
        }
        let beginning = read::beginning::<16>(source).map_err(anyhow::Error::from)?;
        Ok(match &beginning[..] {
            [b'P', b'K', 3, 4, ..] => Self::Zip,
            // The pickled number that torch began its files with.
            [0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, ..] => Self::OldTorch,
            // Fields of a protobuf message: the version of ONNX, or the name of the producer. Keras' HDF5 is refused
            // there, by what to do with it.
            [0x08, 1..=0x7F, ..] | [0x12, ..] | [0x89, b'H', b'D', b'F', ..] => Self::Onnx,
            _ if source.extension().is_some_and(|ending| ending == "onnx") => Self::Onnx,
            _ => Self::Unknown,
        })
    }
}

/// The id asked for, else `own`.
fn id_or(import: &Import, own: &str) -> Result<ModelId, Failure> {
    if let Some(id) = &import.name {
        return Ok(id.clone());
    }
    own.parse()
        .map_err(|fault| Failure::Usage(format!("the model is called `{own}`: {fault}; give it a --name")))
}

/// The id asked for, else the source's name without its ending.
fn id_or_stem(import: &Import) -> Result<ModelId, Failure> {
    id_or(import, &import.source.file_stem().unwrap_or_default().to_string_lossy())
}

/// Checks a pack and moves it into place.
pub(super) fn land(draft: Draft) -> Result<Report, Failure> {
    let mut report = check(&Pack::open(draft.path()), &[]);
    if !report.is_sound() {
        // The temporary folder is gone when this is read.
        let folder = format!("{}/", draft.path().display());
        let faults = report.faults.iter().map(|fault| fault.replace(&folder, ""));
        let faults = faults.collect::<Vec<_>>().join("; ");
        return Err(anyhow!("not imported: {faults}").into());
    }
    let written = draft.path().display().to_string();
    let landed = draft.land()?.display().to_string();
    for warning in &mut report.warnings {
        *warning = warning.replace(&written, &landed);
    }
    report.folder = landed;
    Ok(report)
}
