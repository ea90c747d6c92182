//! Letting go of the molecules of models that no sampler offers any more.
//!
//! A model is forgotten when samplers have run for a day without one that offers it. What is off ages nothing, and nothing is
//! forgotten before every sampler that starts with this one has had time to say what it offers.

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;
use tracing::{info, warn};

use crate::{Shelf, reservoir};

/// How often a sampler says what it offers, and the most by which a model ages between two samplers' words.
const OFFER: Duration = Duration::from_secs(60);

/// Says what this process offers, and forgets what nobody does; runs until dropped, and may begin again.
pub async fn forget_orphans(pool: PgPool, shelf: Arc<Shelf>) {
    loop {
        let offered: Vec<String> = shelf.models().iter().map(|model| model.id().to_owned()).collect();
        if let Err(fault) = reservoir::count_unoffered(&pool, &offered, OFFER).await {
            warn!("could not say which models are offered: {fault}");
        }
        tokio::time::sleep(OFFER).await;
        match reservoir::drop_orphans(&pool).await {
            Ok(0) => {}
            Ok(blocks) => info!(blocks, "dropped the molecules of models that nobody has offered for a day"),
            Err(fault) => warn!("could not drop the molecules of models that nobody offers: {fault}"),
        }
    }
}
