//! The cheapest purchase of an amount: the packs, and the number of each.
//!
//! Solves the covering form of the unbounded knapsack problem (Martello and Toth, *Knapsack Problems*, 1990) by
//! branch and bound. Packs are tried in the order of their price per gram, with most of the cheapest first. A branch
//! ends when even the rest at the next pack's price would cost as much as the best known purchase. Laboratory amounts
//! take one pack or two; a branch limit bounds cases such as a kilogram in packs of a milligram.

/// Maximum number of branches; after that the best purchase so far is taken.
const MAX_BRANCHES: u32 = 20_000;

/// Relative shortfall of an amount that counts as rounding.
const ROUNDING: f64 = 1e-9;

/// A pack that can be bought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pack {
    /// Price of the pack, USD; over 0.
    pub usd: f64,
    /// Grams of the major component in it; over 0.
    pub grams: f64,
}

/// A purchase.
#[derive(Debug, Clone, PartialEq)]
pub struct Purchase {
    /// Indices of the packs in the input, ascending, each with its count.
    pub packs: Vec<(usize, u32)>,
    /// Cost, USD.
    pub usd: f64,
    /// Grams in total.
    pub grams: f64,
}

/// The cheapest packs that hold `grams`; on a tie, the fewest packs. `None` without any pack.
#[must_use]
pub fn cheapest(packs: &[Pack], grams: f64) -> Option<Purchase> {
    let mut order: Vec<usize> = (0..packs.len()).collect();
    order.sort_by(|&a, &b| {
        let by_gram = |at: usize| packs[at].usd / packs[at].grams;
        by_gram(a).total_cmp(&by_gram(b)).then(packs[b].grams.total_cmp(&packs[a].grams)).then(a.cmp(&b))
    });
    let packs_by_gram = order.iter().map(|&at| packs[at]).collect();
    let mut search =
        PackSearch { packs: packs_by_gram, counts: vec![0; order.len()], best: None, branches: MAX_BRANCHES };
    search.branch(0, grams * (1.0 - ROUNDING), 0.0);
    let best = search.best?;
    let mut bought: Vec<(usize, u32)> =
        order.into_iter().zip(best.counts).filter(|&(_, count)| count > 0).collect();
    bought.sort_unstable();
    let grams = bought.iter().map(|&(at, count)| packs[at].grams * f64::from(count)).sum();
    Some(Purchase { packs: bought, usd: best.usd, grams })
}

struct PackSearch {
    /// Ascending by price per gram.
    packs: Vec<Pack>,
    /// Number of each pack in this branch.
    counts: Vec<u32>,
    best: Option<Best>,
    branches: u32,
}

struct Best {
    counts: Vec<u32>,
    usd: f64,
    packs: u64,
}

impl PackSearch {
    /// Adds packs from index `next` on until `missing` grams are covered; `usd` has been spent so far.
    fn branch(&mut self, next: usize, missing: f64, usd: f64) {
        if missing <= 0.0 {
            self.keep(usd);
            return;
        }
        let Some(&pack) = self.packs.get(next) else { return };
        for count in (0..=count_for(missing, pack.grams)).rev() {
            let left = missing - f64::from(count) * pack.grams;
            let spent = usd + f64::from(count) * pack.usd;
            let at_best =
                spent + self.packs.get(next + 1).map_or(0.0, |other| left.max(0.0) * other.usd / other.grams);
            // Fewer of this pack would leave more to dearer ones.
            if self.best.as_ref().is_some_and(|best| at_best > best.usd * (1.0 + ROUNDING)) && left > 0.0 {
                break;
            }
            if self.branches == 0 && self.best.is_some() {
                break;
            }
            self.branches = self.branches.saturating_sub(1);
            self.counts[next] = count;
            self.branch(next + 1, left, spent);
        }
        self.counts[next] = 0;
    }

    fn keep(&mut self, usd: f64) {
        let packs = self.counts.iter().map(|&count| u64::from(count)).sum();
        let is_better = self.best.as_ref().is_none_or(|best| {
            let margin = best.usd * ROUNDING;
            usd < best.usd - margin || (usd <= best.usd + margin && packs < best.packs)
        });
        if is_better {
            self.best = Some(Best { counts: self.counts.clone(), usd, packs });
        }
    }
}

/// Number of packs of `grams` that cover the missing amount.
fn count_for(missing: f64, grams: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and saturating is what is wanted"
    )]
    let count = (missing / grams).ceil() as u32;
    count.max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pack(usd: f64, grams: f64) -> Pack {
        Pack { usd, grams }
    }

    #[test]
    fn one_large_pack_may_be_cheaper_than_what_is_needed_of_small_ones_and_the_other_way_round() {
        let packs = [pack(20.0, 1.0), pack(60.0, 5.0), pack(400.0, 100.0)];

        assert_eq!(cheapest(&packs, 0.2).unwrap().packs, [(0, 1)]);
        assert_eq!(cheapest(&packs, 3.5).unwrap().packs, [(1, 1)]);
        assert_eq!(
            cheapest(&packs, 6.0),
            Some(Purchase { packs: vec![(0, 1), (1, 1)], usd: 80.0, grams: 6.0 })
        );
        assert_eq!(cheapest(&packs, 40.0).unwrap().packs, [(2, 1)]);
        assert_eq!(
            cheapest(&packs, 300.0),
            Some(Purchase { packs: vec![(2, 3)], usd: 1200.0, grams: 300.0 })
        );
    }

    #[test]
    fn an_amount_that_rounding_keeps_from_being_there_is_there() {
        // 0.1 + 0.2 is more than 0.3.
        assert_eq!(cheapest(&[pack(1.0, 0.3)], 0.1 + 0.2).unwrap().packs, [(0, 1)]);
    }

    #[test]
    fn without_a_pack_nothing_is_bought_and_a_mountain_of_small_ones_ends() {
        assert_eq!(cheapest(&[], 1.0), None);
        let packs: Vec<Pack> = (1..40).map(|n| pack(f64::from(n).powf(0.97), f64::from(n) * 1e-3)).collect();

        let bought = cheapest(&packs, 1_234.567_8).unwrap();

        assert!(bought.grams >= 1_234.567_8 * (1.0 - ROUNDING));
    }

    proptest! {
        #[test]
        fn it_is_what_trying_all_finds(
            packs in prop::collection::vec((1_u32..40, 1_u32..12), 1..5),
            grams in 1_u32..30,
        ) {
            let offered: Vec<Pack> =
                packs.iter().map(|&(usd, grams)| pack(f64::from(usd), f64::from(grams))).collect();

            let bought = cheapest(&offered, f64::from(grams)).unwrap();

            // The optimum of each amount, built from the smaller ones.
            let mut least = vec![(0_u32, 0_u32)];
            for amount in 1..=grams {
                let ways = packs.iter().map(|&(usd, of)| {
                    let (rest, count) = least[amount.saturating_sub(of) as usize];
                    (rest + usd, count + 1)
                });
                least.push(ways.min().unwrap());
            }
            let (usd, count) = least[grams as usize];
            prop_assert_eq!(bought.usd, f64::from(usd));
            prop_assert_eq!(bought.packs.iter().map(|&(_, count)| count).sum::<u32>(), count);
            prop_assert!(bought.grams >= f64::from(grams));
        }
    }
}
