//! Bulk query of synthesizability: a short search for a route to each molecule.

use std::time::Duration;

use catalogue::{Block, Stock, StockView};
use chem::{Fingerprint, Molecule};
use contract::Synthesizability;
use synth::{BatchLimits, Constraints, GroupOrder, Planner, SearchResult, Stop, TargetPurchase, Task};

use super::{BulkAnswer, BulkItem, answer_each, plausibility};
use crate::rounding::cents;

/// Most reaction steps on any branch, the default of a tree search.
const MAX_DEPTH: u32 = 5;

/// Searches for the first route to each of the molecules, for at most `time` each.
pub(crate) fn synthesizability(
    planner: &Planner,
    stock: &StockView,
    texts: &[String],
    time: Duration,
    allowance: &BatchLimits,
) -> BulkAnswer<Synthesizability> {
    answer_each(planner, texts, allowance, |molecule, call| {
        let plan = planner.plan(&WithoutSimilarity(stock), &task(molecule), &call.within(time));
        // A search that the end of the call cut short counts as not reached.
        (plan.solved() || !call.has_ended()).then(|| of(&plan))
    })
}

impl BulkItem for Synthesizability {
    fn nothing(smiles: String, error: String) -> Self {
        Self {
            smiles,
            error: Some(error),
            solved: false,
            steps: None,
            price: None,
            plausibility: None,
            seconds: 0.0,
        }
    }
}

/// Returns the task of a search for the first route to the molecule, which may be bought.
pub(super) fn task(molecule: &Molecule) -> Task {
    Task {
        target: molecule.clone(),
        max_depth: MAX_DEPTH,
        stop: Stop::FirstRoute,
        target_purchase: TargetPurchase::Allow,
        max_groups: 1,
        max_group_size: 1,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    }
}

fn of(plan: &SearchResult) -> Synthesizability {
    let route = plan.routes().next();
    let timings = plan.timings;
    Synthesizability {
        smiles: plan.target.clone(),
        error: None,
        solved: route.is_some(),
        steps: route.map(|route| route.graph.longest_branch()),
        price: route.and_then(|route| route.usd_per_mol).map(cents),
        plausibility: route.map(plausibility),
        seconds: (timings.search + timings.extraction + timings.validation).as_secs_f64(),
    }
}

/// Stock without a similarity search, which takes as long as a whole search here and whose result is not reported.
pub(super) struct WithoutSimilarity<'a>(pub(super) &'a StockView);

impl Stock for WithoutSimilarity<'_> {
    fn find(&self, molecule: &Molecule) -> Option<Block> {
        self.0.find(molecule)
    }

    fn id(&self, block: Block) -> i32 {
        self.0.id(block)
    }

    fn smiles(&self, block: Block) -> String {
        self.0.smiles(block)
    }

    fn mw(&self, block: Block) -> f32 {
        self.0.mw(block)
    }

    fn usd_per_gram(&self, block: Block) -> Option<f32> {
        self.0.usd_per_gram(block)
    }

    fn lead_time_days(&self, block: Block) -> Option<f32> {
        self.0.lead_time_days(block)
    }

    fn nearest(&self, fingerprints: &[Fingerprint], _cores: usize) -> Vec<Option<(Block, f32)>> {
        vec![None; fingerprints.len()]
    }
}
