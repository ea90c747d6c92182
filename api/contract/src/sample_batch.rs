//! Bodies of sample batches: many molecules requested at once and generated asynchronously in chunks.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    SampleConditions,
    sample::{ListObject, SampleStatus},
};

/// Maximum number of molecules of one sample batch.
pub const MAX_SAMPLE_BATCH: u32 = 100_000;

/// Number of molecules of a chunk; the last one of a batch may have fewer.
pub const CHUNK_SIZE: u32 = 500;

/// Body of `POST /generator/v1/sample-batches`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SampleBatchRequest {
    /// Number of molecules to generate, all different.
    #[schema(minimum = 1, maximum = 100_000, example = 2_000)]
    pub size: u32,
    /// Model to use. When omitted, the same default as for a sample.
    #[schema(pattern = r"^\w+$", nullable)]
    pub model_id: Option<String>,
    /// Conditions on the molecules. With a seed, the chunks are made one after the other.
    #[serde(flatten)]
    pub conditions: SampleConditions,
    /// An addition to the contract: true adds `details` of each molecule to the chunks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(default = false)]
    pub details: bool,
}

/// Molecules that were requested together, in chunks that are samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SampleBatch {
    /// Unique resource identifier.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Resource type: `sample_batch`.
    #[schema(value_type = String, pattern = r"^\w+$", example = "sample_batch")]
    pub object: SampleBatchObject,
    /// Requested model, if any.
    #[schema(pattern = r"^\w+$")]
    pub model_id: Option<String>,
    /// Number of molecules requested.
    #[schema(minimum = 1, maximum = 100_000)]
    pub size: i32,
    /// Number of chunks, of 500 molecules at most.
    #[schema(minimum = 1, maximum = 200)]
    pub chunk_count: i32,
    /// True if all chunks are stored: always true.
    pub chunks_created: bool,
    /// Status: `failed` when all chunks have ended and some of them failed.
    pub status: SampleStatus,
    /// Chunks that are completed.
    #[schema(minimum = 0, maximum = 200)]
    pub completed_chunks: i64,
    /// Chunks that have failed.
    #[schema(minimum = 0, maximum = 200)]
    pub failed_chunks: i64,
    /// Time of the request.
    pub created_at: DateTime<Utc>,
}

/// One page of a list of the sampling API, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Listed<T> {
    /// The page; may hold fewer items than `limit` when fewer exist.
    pub data: Vec<T>,
    /// True when further items can be fetched in the direction of travel.
    pub has_more: bool,
    /// Resource type: `list`.
    #[schema(value_type = String, pattern = r"^\w+$", default = "list")]
    pub object: ListObject,
}

/// The word `sample_batch`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleBatchObject {
    /// The only value.
    #[default]
    SampleBatch,
}
