//! Bulk query of a sampler: a short search for a route to each molecule within limits.

use std::time::Duration;

use catalogue::StockView;
use contract::{Makeability, MakeableRoute, RouteLimits};
use synth::{BatchLimits, Constraints, Planner, Route, Task};

use super::{
    BulkAnswer, BulkItem, answer_each, plausibility,
    synthesizability::{WithoutSimilarity, task},
};
use crate::rounding::cents;

/// Searches for the first route to each of the molecules within `limits`. `stock` has the blocks that they allow.
pub(crate) fn makeability(
    planner: &Planner,
    stock: &StockView,
    texts: &[String],
    limits: &RouteLimits,
    allowance: &BatchLimits,
) -> BulkAnswer<Makeability> {
    let time = Duration::try_from_secs_f64(limits.max_seconds_each).unwrap_or_default();
    answer_each(planner, texts, allowance, |molecule, call| {
        let constraints = Constraints { max_steps: limits.max_steps, ..Constraints::default() };
        let task = Task { constraints, ..task(molecule) };
        let plan = planner.plan(&WithoutSimilarity(stock), &task, &call.within(time));
        let summary = plan.routes().next().map(summary).filter(|route| is_affordable(route, limits));
        match summary {
            Some(summary) => Some(Makeability::Makeable(summary)),
            // A search that the end of the call cut short counts as not reached.
            None if call.has_ended() && !plan.solved() => None,
            None => Some(Makeability::NoRoute),
        }
    })
}

impl BulkItem for Makeability {
    fn nothing(_smiles: String, error: String) -> Self {
        if error == contract::NOT_REACHED { Self::NotReached } else { Self::NoRoute }
    }
}

fn is_affordable(route: &MakeableRoute, limits: &RouteLimits) -> bool {
    limits.max_usd_per_mol.is_none_or(|most| route.usd_per_mol.is_some_and(|usd| usd <= most))
}

fn summary(route: &Route) -> MakeableRoute {
    let count = |items: usize| u32::try_from(items).unwrap_or(u32::MAX);
    MakeableRoute {
        steps: count(route.steps().count()),
        usd_per_mol: route.usd_per_mol.map(cents),
        building_blocks: count(route.molecules().filter(|node| node.building_block.is_some()).count()),
        plausibility: plausibility(route),
    }
}
