//! A search under constraints, and which of them stands between the target and its routes where it finds none.
//!
//! That is found out by searching again without each of them in turn, as long as there is time: what the first search expanded
//! lies in the cache, so that a second one is over soon. Part of the time is kept for it.

use std::cmp::Reverse;

use crate::constraints::{Alone, Verdict};
use crate::plan::Plan;
use crate::task::{Budget, Stop, Task};

/// Part of the time that a search with constraints keeps for finding out which of them is one too many.
const LOOKING_INTO: f64 = 0.2;

/// The plan of a task with constraints; `search` searches for once, for the routes of the answer the first time.
pub fn plan(task: &Task, budget: &Budget, mut search: impl FnMut(&Task, &Budget) -> Plan) -> Plan {
    let time = budget.deadline.saturating_duration_since(budget.now());
    let kept = Budget { deadline: budget.deadline - time.mul_f64(LOOKING_INTO), ..budget.clone() };
    let mut plan = search(task, &kept);
    if plan.solved() {
        return plan;
    }
    let mut suspects: Vec<&mut Verdict> = plan.constraints.iter_mut().collect();
    suspects.sort_by_key(|verdict| (Reverse(verdict.refused), verdict.rule));
    let count = suspects.len();
    for (at, verdict) in suspects.into_iter().enumerate() {
        if budget.spent() {
            break;
        }
        let left = budget.deadline.saturating_duration_since(budget.now());
        let budget = budget.within(left / u32::try_from(count - at).unwrap_or(u32::MAX));
        let constraints = task.constraints.without(verdict.rule);
        let relaxed = search(&Task { constraints, stop: Stop::FirstRoute, ..task.clone() }, &budget);
        verdict.alone = Some(if relaxed.solved() { Alone::Forbids } else { Alone::Innocent });
    }
    plan
}
