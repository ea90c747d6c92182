//! `retort model import`.

use std::path::PathBuf;

use clap::Args;
use model_tools::{Kind, ModelId, ModelsFolder};

use super::escape_control_characters;
use crate::{failure::Failure, terminal};

/// Import a model; running samplers load it without a restart.
///
/// PATH is a folder in Retort's own layout; a REINVENT prior (.prior, .model), which is read without running any code
/// in it; or an AiZynthFinder policy (.onnx), with its table in --templates. The model is checked first, and is put
/// in place whole or not at all.
#[derive(Debug, Args)]
pub struct ImportModelArgs {
    /// The folder or file.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Id of the new model: letters, digits and underscores [default: its own, or the file's name].
    #[arg(long, value_name = "ID")]
    name: Option<ModelId>,
    /// Templates of a policy: a table with a column retro_template and one row per output.
    #[arg(long, value_name = "FILE.csv[.gz]")]
    templates: Option<PathBuf>,
    /// Write every unusable template to FILE, with its line and the reason.
    #[arg(long, value_name = "FILE", requires = "templates")]
    errors: Option<PathBuf>,
}

impl ImportModelArgs {
    /// Runs the command; prints the id.
    pub fn run(self, models: &ModelsFolder) -> Result<(), Failure> {
        let import = model_tools::ModelImport {
            source: self.path,
            name: self.name,
            templates: self.templates,
            errors: self.errors,
        };

        let report = model_tools::import(models, &import, &terminal::note)?;

        for warning in &report.warnings {
            terminal::note(&format!("warning: {}", escape_control_characters(warning)));
        }
        for note in &report.notes {
            terminal::note(&escape_control_characters(note));
        }
        terminal::note(&format!("imported to {}", report.folder));
        if report.kind == Some(Kind::Templates) {
            terminal::note(&format!("searchers use it when they start with RETRO_MODEL={}", report.folder));
        }
        terminal::data(&report.id)
    }
}
