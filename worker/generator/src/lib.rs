//! Generation of molecules with SMILES language models.
//!
//! A [`ModelPack`] is a checked folder; a [`Sampler`] draws distinct valid molecules from one. The same seed gives
//! the same sample for any number of threads (see `sampler`). An [`Evaluation`] measures the quality of strings and
//! writes a report. A [`Trainer`] trains a model further on more molecules.

mod budget;
mod config;
mod decoration;
mod device;
mod distribution;
mod draw_options;
mod engine;
mod error;
mod evaluation;
mod fixed_parts;
mod fused;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod gates;
mod int8;
mod kekule;
mod likelihood;
mod linking;
mod lstm;
mod molecule_collector;
mod molecule_map;
mod pack;
mod partial_molecule;
mod partial_sample;
mod partial_smiles;
mod prompt;
mod reference;
mod report;
mod sample_run;
mod sampler;
mod slot;
mod string_batch;
mod symbol;
mod token_sampler;
mod training;
mod vocabulary;
mod weights;
mod worker_threads;

pub use budget::SampleBudget;
pub use candle_core::Device;
pub use config::GenerationConfig;
pub use device::{DeviceChoice, DeviceError};
pub use distribution::{OutOfRange, Temperature, TopP};
pub use draw_options::{DrawOptions, MoleculeFilter};
pub use engine::Precision;
pub use error::{PackError, SampleError};
pub use evaluation::{Distribution, Evaluation, Scaffolds};
pub use fixed_parts::{FixedParts, Fragments, FragmentsError};
pub use int8::ByteRates;
pub use molecule_collector::StringCounts;
pub use pack::ModelPack;
pub use partial_sample::PartialSample;
pub use sampler::Sampler;
pub use training::{NamedTensor, Trainer, TrainingError, TrainingSettings};

// Not called: the import enables AVX-512 in the `gemm` that candle calls.
use gemm as _;
