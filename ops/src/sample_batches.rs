//! Sample batches at a service: creating them, and reading their chunks.
//!
//! Chunks are read in their order, each as soon as it has ended. So a batch with a seed is written alike every time.

use std::{collections::VecDeque, time::Duration};

use contract::{Listed, Sample, SampleBatch, SampleBatchRequest, SampleStatus};
use tokio::time::sleep;

use crate::{
    batches::{POLL_INTERVALS, SAMPLE_BATCHES, without_batch},
    failure::Failure,
    retry::retry_while_unavailable,
    service::Service,
};

const SAMPLES: &str = "/generator/v1/samples";

/// Number of chunks on a page, which has their molecules too.
const PAGE_SIZE: usize = 25;

/// Maximum number of batches that are listed.
const MAX_LISTED: usize = 100;

/// Timeout for storing a batch.
const CREATE_TIMEOUT: Duration = Duration::from_secs(60);

/// Stores a batch.
///
/// # Errors
/// Fails if the service rejects the batch or does not answer.
pub async fn create(service: &Service, request: &SampleBatchRequest) -> Result<SampleBatch, Failure> {
    service.create(SAMPLE_BATCHES, request, CREATE_TIMEOUT).await
}

/// Returns the batches, the newest first, up to one page.
///
/// # Errors
/// Fails if the call fails.
pub async fn list(service: &Service) -> Result<Vec<SampleBatch>, Failure> {
    let page: Listed<SampleBatch> = service.get(&format!("{SAMPLE_BATCHES}?limit={MAX_LISTED}")).await?;
    Ok(page.data)
}

/// Returns a batch with its progress.
///
/// # Errors
/// Fails if the call fails.
pub async fn retrieve(service: &Service, id: &str) -> Result<SampleBatch, Failure> {
    service.get(&format!("{SAMPLE_BATCHES}/{id}")).await.map_err(|failure| without_batch(failure, id))
}

/// Hands each chunk of a batch to `on_chunk` when it and those before it are completed or have failed.
///
/// # Errors
/// Fails if `on_chunk` fails, or a call after the retries of [`retry_while_unavailable`].
pub async fn follow(
    service: &Service,
    id: &str,
    mut on_chunk: impl FnMut(Sample) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for chunk in chunks(service, id).await? {
        on_chunk(ended(service, chunk).await?)?;
    }
    Ok(())
}

/// Returns the chunks of a batch as they stand.
async fn chunks(service: &Service, id: &str) -> Result<VecDeque<Sample>, Failure> {
    let mut chunks = VecDeque::new();
    loop {
        // The pages begin with the last chunks.
        let after =
            chunks.front().map(|chunk: &Sample| format!("&next-page={}", chunk.id)).unwrap_or_default();
        let path = format!("{SAMPLE_BATCHES}/{id}/samples?limit={PAGE_SIZE}{after}");
        let page: Listed<Sample> = retry_while_unavailable(async || service.get(&path).await).await?;
        page.data.into_iter().for_each(|chunk| chunks.push_front(chunk));
        if !page.has_more {
            return Ok(chunks);
        }
    }
}

/// Polls a chunk until it is completed or has failed.
async fn ended(service: &Service, mut chunk: Sample) -> Result<Sample, Failure> {
    let path = format!("{SAMPLES}/{}", chunk.id);
    let mut pause = POLL_INTERVALS[0];
    while matches!(chunk.status, SampleStatus::Pending | SampleStatus::Processing) {
        sleep(pause).await;
        pause = (pause * 2).min(POLL_INTERVALS[1]);
        chunk = retry_while_unavailable(async || service.get(&path).await).await?;
    }
    Ok(chunk)
}
