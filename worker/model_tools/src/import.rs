//! Import of other people's models as packs, or a refusal with its reason.

pub(crate) mod aizynth;
pub(crate) mod layout;
pub(crate) mod reinvent;

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::{CheckReport, ModelId, ModelsFolder, PackFolder, check, folder::Draft, read};
use crate::error::ModelToolError;

/// Source and options of an import.
#[derive(Debug)]
pub struct ModelImport {
    /// Folder in our layout, prior of REINVENT, or policy of AiZynthFinder.
    pub source: PathBuf,
    /// Id of the new model; by default its own.
    pub name: Option<ModelId>,
    /// Template table of a policy.
    pub templates: Option<PathBuf>,
    /// File for the list of unusable templates.
    pub errors: Option<PathBuf>,
}

/// Imports a model; returns the report of its check. `tell` gets what is left out or assumed.
///
/// # Errors
/// Fails, and leaves nothing behind, if the source cannot be read, the id is taken, or the pack is not sound.
pub fn import(
    models: &ModelsFolder,
    import: &ModelImport,
    tell: &dyn Fn(&str),
) -> Result<CheckReport, ModelToolError> {
    let source = &import.source;
    let format = Format::of(source)?;
    if import.templates.is_some() && format != Format::Onnx {
        return Err(ModelToolError::Usage(format!(
            "--templates goes with a network in ONNX, which {} is not",
            source.display()
        )));
    }
    let draft = match format {
        Format::Folder => layout::import(models, import, tell)?,
        Format::Zip => reinvent::import(models, import)?,
        Format::Onnx => aizynth::import(models, import, tell)?,
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
    finish(draft, "not imported")
}

/// Format of a source, recognised by its first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Format {
    Folder,
    Zip,
    Onnx,
    OldTorch,
    Unknown,
}

impl Format {
    fn of(source: &Path) -> Result<Self, ModelToolError> {
        if source.is_dir() {
            return Ok(Self::Folder);
        }
        let beginning = read::beginning::<16>(source).map_err(anyhow::Error::from)?;
        Ok(match &beginning[..] {
            [b'P', b'K', 3, 4, ..] => Self::Zip,
            // Pickled magic number of old torch files.
            [0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, ..] => Self::OldTorch,
            // Fields of a protobuf message: the version of ONNX, or the name of the producer. The ONNX reader refuses
            // Keras' HDF5 with advice on how to convert it.
            [0x08, 1..=0x7F, ..] | [0x12, ..] | [0x89, b'H', b'D', b'F', ..] => Self::Onnx,
            _ if source.extension().is_some_and(|ending| ending == "onnx") => Self::Onnx,
            _ => Self::Unknown,
        })
    }
}

/// Returns the requested id, else `own`.
fn id_or(import: &ModelImport, own: &str) -> Result<ModelId, ModelToolError> {
    if let Some(id) = &import.name {
        return Ok(id.clone());
    }
    own.parse().map_err(|fault| {
        ModelToolError::Usage(format!("the model is called `{own}`: {fault}; give it a --name"))
    })
}

/// Returns the requested id, else the source's name without its extension.
fn id_or_stem(import: &ModelImport) -> Result<ModelId, ModelToolError> {
    id_or(import, &import.source.file_stem().unwrap_or_default().to_string_lossy())
}

/// Checks a pack and moves it into place; `refusal` begins the message if it has faults.
pub(super) fn finish(draft: Draft, refusal: &str) -> Result<CheckReport, ModelToolError> {
    let mut report = check(&PackFolder::open(draft.path()), &[]);
    if !report.is_sound() {
        // The temporary folder no longer exists when the user reads the report.
        let folder = format!("{}/", draft.path().display());
        let faults = report.faults.iter().map(|fault| fault.replace(&folder, ""));
        let faults = faults.collect::<Vec<_>>().join("; ");
        return Err(anyhow!("{refusal}: {faults}").into());
    }
    let written = draft.path().display().to_string();
    let target_folder = draft.finish()?.display().to_string();
    for warning in &mut report.warnings {
        *warning = warning.replace(&written, &target_folder);
    }
    report.folder = target_folder;
    Ok(report)
}
