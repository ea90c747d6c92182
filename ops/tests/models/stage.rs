//! Test setup: a folder of models, and runs of the program on it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

/// Models folder of a single test.
#[derive(Debug)]
pub struct TestModels {
    folder: TempDir,
}

/// Output of the program.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub data: String,
    pub notes: String,
}

impl TestModels {
    /// Creates a folder with copies of these shipped models.
    pub fn with(models: &[&str]) -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(stage.models()).unwrap();
        for model in models {
            copy(&shipped(model), &stage.models().join(model));
        }
        stage
    }

    pub fn models(&self) -> PathBuf {
        self.folder.path().join("models")
    }

    /// Returns a path outside the models folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Copies a shipped model to a path beside the models folder.
    pub fn copy_of(&self, model: &str, name: &str) -> PathBuf {
        let to = self.beside(name);
        copy(&shipped(model), &to);
        to
    }

    /// Runs `retort model` with these arguments.
    pub fn model(&self, arguments: &[&str]) -> CommandOutput {
        let output = Command::new(env!("CARGO_BIN_EXE_retort"))
            .arg("model")
            .args(arguments)
            .arg("--models")
            .arg(self.models())
            .env_remove("MODELS_DIR")
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        CommandOutput::from(&output)
    }

    /// Returns the names in the models folder.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.models()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl CommandOutput {
    fn from(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            code: output.status.code().expect("the program was not killed"),
            data: text(&output.stdout),
            notes: text(&output.stderr),
        }
    }

    /// Asserts that the program failed with `code` and these words.
    pub fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for words in words {
            assert!(self.notes.contains(words), "no `{words}` in {self:?}");
        }
        assert!(!self.notes.contains("panicked"), "{self:?}");
    }

    /// Returns the output of a successful run as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Changes a JSON file.
pub fn edit(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut value);
    fs::write(file, value.to_string()).unwrap();
}

/// Returns the path of a test file.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/data").join(name)
}

fn shipped(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../worker/models").join(model)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
