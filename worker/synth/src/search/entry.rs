//! Entry points of a search: through a planner, or once.

use std::sync::Arc;

use catalogue::Stock;

use crate::events::Listener;
use crate::model::RetroModel;
use crate::search::planner::{Planner, PlannerSettings};
use crate::search::{Search, constrained};
use crate::search_result::SearchResult;
use crate::task::{Budget, Task};

impl Planner {
    /// Searches for routes to the task's target until the budget is spent.
    ///
    /// # Panics
    /// Never. Broken templates and weights are refused when the model is loaded.
    #[must_use]
    pub fn plan(&self, stock: &dyn Stock, task: &Task, budget: &Budget) -> SearchResult {
        self.plan_with_events(stock, task, budget, None)
    }

    /// Searches as [`Self::plan`] does, and sends events to `listener` meanwhile.
    ///
    /// # Panics
    /// As [`Self::plan`].
    #[must_use]
    pub fn plan_with_events(
        &self,
        stock: &dyn Stock,
        task: &Task,
        budget: &Budget,
        mut listener: Option<&dyn Listener>,
    ) -> SearchResult {
        // Later searches relax a constraint, so their routes must not be published.
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
/// ```
/// use std::{path::Path, sync::Arc, time::{Duration, Instant}};
/// use catalogue::{BlockRow, Offer, StockView};
/// use synth::{Budget, Constraints, GroupOrder, RetroModel, Stop, Task, TargetPurchase};
///
/// let model = Arc::new(RetroModel::load(Path::new("../models/uspto_retro"))?);
/// let sold = ["CC(=O)Cl", "Nc1ccc(O)cc1"].iter().enumerate();
/// let stock = StockView::in_memory(sold.map(|(id, smiles)| {
///     (BlockRow::of(id as i32, &smiles.parse().unwrap()), vec![Offer::of(1).at(10.0).within(2.0)])
/// }));
/// let task = Task {
///     target: "CC(=O)Nc1ccc(O)cc1".parse()?,
///     max_depth: 3,
///     stop: Stop::FirstRoute,
///     target_purchase: TargetPurchase::Mask,
///     max_groups: 10,
///     max_group_size: 1,
///     group_order: GroupOrder::Total,
///     constraints: Constraints::default(),
/// };
///
/// let plan = synth::plan(&model, &stock, &task, &Budget::until(Instant::now() + Duration::from_secs(60), Arc::default()));
///
/// let route = plan.routes().next().expect("paracetamol can be made from building blocks");
/// assert_eq!(route.steps().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// As [`Planner::plan`].
#[must_use]
pub fn plan(model: &Arc<RetroModel>, stock: &dyn Stock, task: &Task, budget: &Budget) -> SearchResult {
    let settings = PlannerSettings { cache_bytes: 0, ..PlannerSettings::default() };
    Planner::new(Arc::clone(model), settings).plan(stock, task, budget)
}
