//! Bodies of the sampling API.

use std::{fmt, str::FromStr, time::SystemTime};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use ulid::Ulid;
use utoipa::ToSchema;

use crate::{MoleculeDetails, SampleConditions};

/// The largest `size` of one sample.
pub const MAX_SAMPLE_SIZE: u32 = 10_000;

/// Body of `POST /generator/v1/samples`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SampleRequest {
    /// Number of molecules to generate.
    #[schema(minimum = 1, maximum = 10000, example = 10)]
    pub size: u32,
    /// Model to use. When omitted, the default model of the installation is used; while no sampler serves that one,
    /// another model that ships with the service.
    #[schema(pattern = r"^\w+$", nullable = true)]
    pub model_id: Option<String>,
    /// Conditions on the molecules.
    #[serde(flatten)]
    pub conditions: SampleConditions,
    /// An addition to the contract: true adds `details` of each molecule to the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(default = false)]
    pub details: bool,
}

impl SampleRequest {
    /// Returns a request without any condition.
    #[must_use]
    pub fn new(size: u32, model_id: Option<String>) -> Self {
        Self { size, model_id, conditions: SampleConditions::default(), details: false }
    }
}

/// A generated sample with all its structures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Sample {
    /// Unique resource identifier.
    #[schema(value_type = String, pattern = r"^\w+$", example = "smp_01jd6xq1v3m4c5t6y7z8a9b0cd")]
    pub id: SampleId,
    /// Resource type: `sample`.
    #[schema(value_type = String, pattern = r"^\w+$", example = "sample")]
    pub object: SampleObject,
    /// Identifier of the model used for generation.
    #[schema(pattern = r"^\w+$")]
    pub model_id: String,
    /// Generated SMILES structures, unique and canonical; as many as the `size` requested at creation. Empty until
    /// the sample is completed.
    pub smiles: Vec<String>,
    /// Creation timestamp.
    #[schema(required = false)]
    pub created_at: DateTime<Utc>,
    /// Status: always `completed`, except for asynchronous samples.
    #[serde(default)]
    pub status: SampleStatus,
    /// Sample batch that this sample is a chunk of, if any.
    #[serde(default)]
    #[schema(pattern = r"^\w+$")]
    pub batch_id: Option<String>,
    /// Reason of a failure.
    #[serde(default)]
    pub error: Option<String>,
    /// An addition to the contract: details of each molecule, if the request asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<MoleculeDetails>,
}

/// Status of a sample or a sample batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleStatus {
    /// The sample waits in the queue.
    Pending,
    /// A sampler is working on the sample.
    Processing,
    /// All structures are there.
    #[default]
    Completed,
    /// There are no structures and there will be none; for a batch, a chunk has failed.
    Failed,
}

/// A sample without its structures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SampleListItem {
    /// Unique resource identifier.
    #[schema(value_type = String, pattern = r"^\w+$", example = "smp_01jd6xq1v3m4c5t6y7z8a9b0cd")]
    pub id: SampleId,
    /// Resource type: `sample`.
    #[schema(value_type = String, pattern = r"^\w+$", example = "sample")]
    pub object: SampleObject,
    /// Model used to generate the sample.
    #[schema(pattern = r"^\w+$")]
    pub model_id: String,
    /// Number of molecules generated for the request.
    #[schema(minimum = 1, maximum = 10000)]
    pub num_smiles: u32,
    /// Creation timestamp.
    #[schema(required = false)]
    pub created_at: DateTime<Utc>,
}

/// One page of samples, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SampleList {
    /// The page; may hold fewer items than `limit` when fewer exist.
    pub data: Vec<SampleListItem>,
    /// True when further items can be fetched in the direction of travel.
    pub has_more: bool,
    /// Resource type.
    #[schema(value_type = String, pattern = r"^\w+$", default = "list", required = false)]
    pub object: ListObject,
}

/// Structures alone, the answer of the older short endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Generated {
    /// Generated SMILES structures, unique and canonical; as many as requested.
    pub smiles: Vec<String>,
}

/// The word `sample`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleObject {
    /// The only value.
    #[default]
    Sample,
}

/// The word `list`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListObject {
    /// The only value.
    #[default]
    List,
}

/// A sample's id: `smp_` and a ULID in lower case, so that ids match `^\w+$` and sort by creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleId(Ulid);

impl SampleId {
    const PREFIX: &str = "smp_";

    /// Generates an id that sorts after all that this process made in earlier milliseconds.
    #[must_use]
    pub fn generate() -> Self {
        Self(Ulid::generate())
    }

    /// Returns the creation time to the millisecond: when the sample was requested, before it was stored.
    #[must_use]
    pub fn made_at(self) -> SystemTime {
        self.0.datetime()
    }
}

impl fmt::Display for SampleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0.to_string().to_ascii_lowercase())
    }
}

/// Error for a text that is not a sample id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a sample id")]
pub struct NotASampleId;

impl FromStr for SampleId {
    type Err = NotASampleId;

    /// Accepts exactly what `Display` writes.
    fn from_str(text: &str) -> Result<Self, NotASampleId> {
        let ulid = text.strip_prefix(Self::PREFIX).ok_or(NotASampleId)?;
        let id = Self(Ulid::from_string(ulid).map_err(|_| NotASampleId)?);
        if id.to_string() == text { Ok(id) } else { Err(NotASampleId) }
    }
}

impl Serialize for SampleId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SampleId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_id_round_trips_and_is_made_of_word_characters() {
        let id = SampleId::generate();

        let text = id.to_string();

        assert_eq!(text.parse(), Ok(id));
        assert_eq!(text.len(), 30);
        assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
    }

    #[test]
    fn text_that_display_never_writes_is_no_sample_id() {
        for text in ["", "smp_", "smp_01", "SMP_01jd6xq1v3m4c5t6y7z8a9b0cd", "smp_01JD6XQ1V3M4C5T6Y7Z8A9B0CD"]
        {
            assert_eq!(text.parse::<SampleId>(), Err(NotASampleId), "{text}");
        }
    }
}
