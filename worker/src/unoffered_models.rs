//! Deletion of the molecules of models that no sampler offers any more.
//!
//! A model is deleted when samplers have run for a day without one that offers it. Time with no sampler running does
//! not count. Every sampler that starts together with this one has time to report its models before anything is
//! deleted.

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;
use tracing::{info, warn};

use crate::{ModelRegistry, reservoir};

/// Interval at which a sampler reports its models, and the most by which a model ages between two reports.
const OFFER: Duration = Duration::from_secs(60);

/// Reports the models of this process, and deletes those that no sampler offers; runs until dropped, and may be
/// restarted.
pub async fn forget_orphans(pool: PgPool, registry: Arc<ModelRegistry>) {
    loop {
        let offered: Vec<String> = registry.models().iter().map(|model| model.id().to_owned()).collect();
        if let Err(fault) = reservoir::count_unoffered(&pool, &offered, OFFER).await {
            warn!("could not publish the offered models: {fault}");
        }
        tokio::time::sleep(OFFER).await;
        match reservoir::drop_unoffered(&pool).await {
            Ok(0) => {}
            Ok(blocks) => info!(blocks, "dropped the molecules of models that were not offered for a day"),
            Err(fault) => warn!("could not drop the molecules of models that are not offered: {fault}"),
        }
    }
}
