//! State that the searches of a process share: the model, the cache of expansions, the cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cores::HelperPool;
use crate::graph::expander::Expander;
use crate::model::RetroModel;
use crate::priority::{SearchPriority, SearchUrgency};
use crate::search::algorithm::Algorithm;

/// Settings of a [`Planner`]: algorithm and resource limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannerSettings {
    /// Search algorithm, which chooses the molecule to expand next.
    pub algorithm: Algorithm,
    /// Size limit in bytes of the cache of expansions that all searches share; 0: no cache. `memory_bytes` counts
    /// what running searches hold. A process needs this cache, `memory_bytes` for each search, and the model and
    /// catalogue.
    pub cache_bytes: usize,
    /// Memory limit of one search in bytes. It covers the graph with the template outcomes that it holds, a quarter
    /// reserved for extracting routes, and then the answer. A search that reaches the limit answers with what it has.
    pub memory_bytes: usize,
    /// Number of cores that the searches share; one search alone uses all of them. With 1, a search that ends by its
    /// number of expansions is reproducible.
    pub cores: usize,
}

impl Default for PlannerSettings {
    /// Retro*, 256 MiB of cache, 512 MiB per search, one core.
    fn default() -> Self {
        Self { algorithm: Algorithm::default(), cache_bytes: 256 << 20, memory_bytes: 512 << 20, cores: 1 }
    }
}

/// Route planner. One per process, shared by all its searches.
pub struct Planner {
    pub(crate) expander: Arc<Expander>,
    pub(crate) cores: HelperPool,
    pub(crate) settings: PlannerSettings,
    searches: AtomicUsize,
}

impl Planner {
    /// Creates a planner with an empty cache.
    #[must_use]
    pub fn new(model: Arc<RetroModel>, settings: PlannerSettings) -> Self {
        let expander = Arc::new(Expander::new(model, settings.cache_bytes));
        Self { expander, cores: HelperPool::new(settings.cores), settings, searches: AtomicUsize::new(0) }
    }

    /// Model that the planner uses.
    #[must_use]
    pub fn model(&self) -> &RetroModel {
        self.expander.model()
    }

    /// Number of cores that the planner uses.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.settings.cores
    }

    /// Registers a search of this urgency with the process's priority scheduler, for its [`Budget`](crate::Budget).
    #[must_use]
    pub fn priority(&self, urgency: SearchUrgency) -> SearchPriority {
        self.cores.scheduler().register(urgency)
    }

    /// Counts a finished search. Every 32nd call tidies up the model, which takes a millisecond.
    pub(crate) fn searched(&self) {
        const CHECK_INTERVAL: usize = 32;
        if self.searches.fetch_add(1, Ordering::Relaxed) % CHECK_INTERVAL == CHECK_INTERVAL - 1 {
            self.model().tidy();
        }
    }

    /// Numbers of cache hits and misses of molecules' expansions since the start.
    #[must_use]
    pub fn cache_hits_and_misses(&self) -> (u64, u64) {
        self.expander.cache_hits_and_misses()
    }

    /// Current size of the cache of expansions in bytes.
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
