//! What the searches of a process share: the model, the cache of expansions, the cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cores::Cores;
use crate::graph::expander::Expander;
use crate::model::RetroModel;
use crate::search::algorithm::Algorithm;
use crate::turns::{Turn, Urgency};

/// How a [`Planner`] searches and what it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Which molecules are expanded first.
    pub algorithm: Algorithm,
    /// Most bytes of the cache of expansions that all searches share; 0: no cache. What running searches hold
    /// is counted by `memory_bytes`, so in all a process needs this and that for each search, beside model and catalogue.
    pub cache_bytes: usize,
    /// Most bytes of one search: its graph, with the outcomes that hang on it and a quarter kept back for reading routes
    /// out of it, and then its answer. A search that gets there answers with what it has.
    pub memory_bytes: usize,
    /// Cores that the searches share; one search alone uses all of them. With 1, a search that ends by its number
    /// of expansions is reproducible.
    pub cores: usize,
}

impl Default for Settings {
    /// Retro*, 256 MiB of cache, 512 MiB a search, one core.
    fn default() -> Self {
        Self { algorithm: Algorithm::default(), cache_bytes: 256 << 20, memory_bytes: 512 << 20, cores: 1 }
    }
}

/// Plans routes; one per process, shared by all its searches.
pub struct Planner {
    pub(crate) expander: Arc<Expander>,
    pub(crate) cores: Cores,
    pub(crate) settings: Settings,
    searches: AtomicUsize,
}

impl Planner {
    /// A planner with an empty cache.
    #[must_use]
    pub fn new(model: Arc<RetroModel>, settings: Settings) -> Self {
        let expander = Arc::new(Expander::new(model, settings.cache_bytes));
        Self { expander, cores: Cores::new(settings.cores), settings, searches: AtomicUsize::new(0) }
    }

    /// The model it plans with.
    #[must_use]
    pub fn model(&self) -> &RetroModel {
        self.expander.model()
    }

    /// How many cores it computes on.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.settings.cores
    }

    /// The turn of a search of this urgency among those of the process, for its [`Budget`](crate::Budget).
    #[must_use]
    pub fn turn(&self, urgency: Urgency) -> Turn {
        self.cores.turns().turn(urgency)
    }

    /// Counts a search that is over; now and then the model is tidied up, which takes a millisecond.
    pub(crate) fn searched(&self) {
        const NOW_AND_THEN: usize = 32;
        if self.searches.fetch_add(1, Ordering::Relaxed) % NOW_AND_THEN == NOW_AND_THEN - 1 {
            self.model().tidy();
        }
    }

    /// How often a molecule's expansion was in the cache, and how often not, since the start.
    #[must_use]
    pub fn cache_hits_and_misses(&self) -> (u64, u64) {
        self.expander.cache_hits_and_misses()
    }

    /// Bytes that the cache of expansions holds now.
    #[must_use]
    pub fn cached_bytes(&self) -> u64 {
        self.expander.cached_bytes()
    }
}

impl std::fmt::Debug for Planner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Planner")
            .field("model", self.model())
            .field("settings", &self.settings)
            .finish()
    }
}
