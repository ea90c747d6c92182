//! Model packs on disk: listing, checking and removing them, and importing other people's models as packs.
//!
//! A pack is a folder among the models. It holds a generator, or reaction templates and the network that ranks them.
//! An import is written to a hidden folder beside the others, checked there as a worker would load it, and moved into
//! place whole, so a running worker never sees half a pack. No imported code is ever run, and every read has a size
//! limit.

mod card;
mod check;
mod error;
mod folder;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod id;
mod import;
mod molecules;
mod pack;
mod read;
mod tokenizer;
mod train;
mod weights;

pub use card::{architecture, distribution, figures};
pub use check::{CheckReport, check};
pub use error::ModelToolError;
pub use folder::ModelsFolder;
pub use id::ModelId;
pub use import::{ModelImport, import};
pub use molecules::lines;
pub use pack::{Kind, PackFolder};
pub use train::{LineError, Training, TrainingData, TrainingEvent, train};
