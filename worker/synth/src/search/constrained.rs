//! A search under constraints. If it finds no route, it reports which constraint prevents one.
//!
//! To find out, it searches again without each constraint in turn, while there is time. The expansions of the first
//! search are cached, so a second one is quick. Part of the time is reserved for this.

use std::cmp::Reverse;

use crate::constraints::{ConstraintEffect, ResultWithout};
use crate::search_result::SearchResult;
use crate::task::{Budget, Stop, Task};

/// Fraction of the time that a search with constraints reserves for finding the one that prevents routes.
const DIAGNOSIS_TIME_SHARE: f64 = 0.2;

/// Returns the result of a task with constraints. `search` runs one search; its first call finds the routes of the
/// answer.
pub fn plan(
    task: &Task,
    budget: &Budget,
    mut search: impl FnMut(&Task, &Budget) -> SearchResult,
) -> SearchResult {
    let time = budget.deadline.saturating_duration_since(budget.now());
    let kept = Budget { deadline: budget.deadline - time.mul_f64(DIAGNOSIS_TIME_SHARE), ..budget.clone() };
    let mut plan = search(task, &kept);
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
