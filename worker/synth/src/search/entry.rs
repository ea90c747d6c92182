//! The ways into a search: by a planner, or once.

use std::sync::Arc;

use catalogue::Stock;

use crate::model::RetroModel;
use crate::news::Listener;
use crate::plan::Plan;
use crate::search::planner::{Planner, Settings};
use crate::search::{Search, constrained};
use crate::task::{Budget, Task};

impl Planner {
    /// Searches for routes to the task's target until the budget is spent.
    ///
    /// # Panics
    /// Never; a broken template or weight has been refused when the model was loaded.
    #[must_use]
    pub fn plan(&self, stock: &dyn Stock, task: &Task, budget: &Budget) -> Plan {
        self.plan_telling(stock, task, budget, None)
    }

    /// The same, telling `listener` what is found meanwhile.
    ///
    /// # Panics
    /// As [`Self::plan`].
    #[must_use]
    pub fn plan_telling(
        &self,
        stock: &dyn Stock,
        task: &Task,
        budget: &Budget,
        mut listener: Option<&dyn Listener>,
    ) -> Plan {
        // Searches that only look into constraints find routes that nobody may have.
        let mut search =
            |task: &Task, budget: &Budget| Search::new(self, stock, task, budget, listener.take()).run();
        let plan = if task.constraints.is_empty() {
            search(task, budget)
        } else {
            constrained::plan(task, budget, search)
        };
        self.searched();
        plan
    }
}

/// Plans once, on one thread and without a cache.
///
/// # Panics
/// As [`Planner::plan`].
#[must_use]
pub fn plan(model: &Arc<RetroModel>, stock: &dyn Stock, task: &Task, budget: &Budget) -> Plan {
    let settings = Settings { cache_bytes: 0, ..Settings::default() };
    Planner::new(Arc::clone(model), settings).plan(stock, task, budget)
}
