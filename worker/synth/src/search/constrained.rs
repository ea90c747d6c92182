//! A search under constraints. If it finds no route, it reports which constraint prevents one.
//!
//! To find out, it searches again without each constraint in turn, while there is time. The expansions of the first
//! search are cached, so a second one is quick. Part of the time is kept for this until there is a route.

use std::cmp::Reverse;

use crate::constraints::{ConstraintEffect, ResultWithout};
use crate::search_result::SearchResult;
use crate::task::{Budget, Stop, Task};

/// Fraction of the time after which a search with constraints and without a route ends, to find the one that prevents
/// routes.
const UNSOLVED_TIME_SHARE: f64 = 0.8;

/// Returns the result of a task with constraints. `search` runs one search; its first call finds the routes of the
/// answer.
pub fn plan(
    task: &Task,
    budget: &Budget,
    mut search: impl FnMut(&Task, &Budget) -> SearchResult,
) -> SearchResult {
    let time = budget.deadline.saturating_duration_since(budget.now());
    let unsolved_deadline = Some(budget.now() + time.mul_f64(UNSOLVED_TIME_SHARE));
    let mut plan = search(task, &Budget { unsolved_deadline, ..budget.clone() });
    if plan.solved() {
        return plan;
    }
    let mut suspects: Vec<&mut ConstraintEffect> = plan.constraints.iter_mut().collect();
    suspects.sort_by_key(|effect| (Reverse(effect.refused), effect.rule));
    let count = suspects.len();
    for (at, effect) in suspects.into_iter().enumerate() {
        if budget.spent() {
            break;
        }
        let left = budget.deadline.saturating_duration_since(budget.now());
        let budget = budget.within(left / u32::try_from(count - at).unwrap_or(u32::MAX));
        let constraints = task.constraints.without(effect.rule);
        let relaxed = search(&Task { constraints, stop: Stop::FirstRoute, ..task.clone() }, &budget);
        effect.alone = Some(if relaxed.solved() { ResultWithout::Forbids } else { ResultWithout::Innocent });
    }
    plan
}
