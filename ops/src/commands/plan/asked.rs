//! Search options of `retort plan`, the same for every target.

use clap::Args;
use contract::TreeSearchRequest;

use super::wishes::RouteConstraints;
use crate::commands::destination::{Destination, parse_destination};

/// Search options for every target.
#[derive(Debug, Args)]
pub(super) struct SearchOptions {
    /// Maximum search time in seconds.
    #[arg(long, default_value_t = 4.0, value_parser = parse_seconds)]
    max_seconds: f64,
    /// Maximum reaction steps of the longest branch.
    #[arg(long, default_value_t = 5)]
    max_depth: u32,
    /// Search for the whole time and return every route, instead of stopping at the first.
    #[arg(long)]
    all_routes: bool,
    /// Allow the answer "buy it" if the target is itself a building block.
    #[arg(long)]
    allow_trivial: bool,
    /// Use only building blocks lighter than this, in daltons.
    #[arg(long, value_name = "MW")]
    mw_below: Option<f64>,
    /// Use only building blocks cheaper than this.
    #[arg(long, value_name = "USD_PER_GRAM", default_value_t = 10_000.0, conflicts_with = "any_price")]
    usd_below: f64,
    /// Use building blocks at any price.
    #[arg(long)]
    any_price: bool,
    /// Country to ship to (US, CA, GB, FR, CH, DE, CN, AU), or `anywhere`.
    #[arg(long, value_name = "COUNTRY", default_value = "US", value_parser = parse_destination)]
    ships_to: Destination,
    /// Use only building blocks that arrive in fewer days than this.
    #[arg(long, value_name = "DAYS")]
    lead_time_below: Option<f64>,
    /// Maximum number of distinct backbones in the answer.
    #[arg(long, default_value_t = 5)]
    max_backbones: u32,
    /// Maximum number of building-block variations per backbone.
    #[arg(long, default_value_t = 10)]
    max_variations: u32,
    /// Keep the cheapest variations instead of the best ones.
    #[arg(long)]
    cheapest_variations: bool,
    /// Amount of the target for the shopping lists, in millimoles.
    #[arg(long, value_name = "MMOL", default_value_t = 1.0)]
    amount: f64,
    /// Expected yield of each step, over 0 and at most 1.
    #[arg(long, value_name = "PART", default_value_t = 0.8)]
    step_yield: f64,
    /// Count only offers of this vendor; repeat the option for several vendors.
    #[arg(long, value_name = "VENDOR")]
    only_vendor: Vec<String>,
    /// Do not count offers of this vendor.
    #[arg(long, value_name = "VENDOR")]
    never_vendor: Vec<String>,
    /// Buy from this vendor everything that it offers, even if others are cheaper.
    #[arg(long, value_name = "VENDOR")]
    first_vendor: Vec<String>,
    #[command(flatten)]
    wishes: RouteConstraints,
}

impl SearchOptions {
    /// Returns the maximum search time in seconds.
    pub(super) const fn max_seconds(&self) -> f64 {
        self.max_seconds
    }

    /// Builds a request for the routes to `smiles`.
    pub(super) fn request(&self, smiles: &str) -> TreeSearchRequest {
        TreeSearchRequest {
            search_smiles: smiles.to_owned(),
            early_exit_first_solution: !self.all_routes,
            max_seconds: self.max_seconds,
            max_depth: self.max_depth,
            mask_trivial_solution: !self.allow_trivial,
            mask_bblocks_mw_gte: self.mw_below,
            mask_usd_pricing_gte: if self.any_price { None } else { Some(self.usd_below) },
            ships_to: self.ships_to.country(),
            mask_lead_times_gte: self.lead_time_below,
            max_backbone_groups: self.max_backbones,
            max_backbone_group_size: self.max_variations,
            limit_backbone_group_size_by_cost: self.cheapest_variations,
            amount_mmol: self.amount,
            step_yield: self.step_yield,
            vendors_only: (!self.only_vendor.is_empty()).then(|| self.only_vendor.clone()),
            vendors_never: self.never_vendor.clone(),
            vendors_first: self.first_vendor.clone(),
            ..self.wishes.request()
        }
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    // The service has its own configured upper bound; this one keeps the duration representable.
    if seconds > 0.0 && seconds <= 86_400.0 {
        Ok(seconds)
    } else {
        Err("must be over 0 and at most a day".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use contract::{AtomPair, OwnBlock, ProtectingGroups};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        asked: SearchOptions,
    }

    #[test]
    fn a_target_alone_has_the_contracts_defaults() {
        let line = Line::parse_from(["plan"]);

        assert_eq!(line.asked.request("CCO"), TreeSearchRequest::new("CCO"));
    }

    #[test]
    fn constraints_are_given_by_their_flags() {
        let line = Line::parse_from([
            "plan",
            "--break-bond",
            "1,2",
            "--keep",
            "c1ccccc1",
            "--own",
            "CN,2.5",
            "--own",
            "C#N",
            "--own",
            "C[C@H](F)Cl |o1:1,r|",
            "--own",
            "C[C@H](F)Cl |&1:1,r|,7",
            "--max-steps",
            "3",
            "--no-protecting-groups",
            "--only-class",
            "amide coupling",
        ]);

        let request = TreeSearchRequest {
            bonds_to_break: vec![AtomPair(1, 2)],
            fragments_to_keep: vec!["c1ccccc1".to_owned()],
            building_blocks_own: vec![
                OwnBlock { smiles: "CN".to_owned(), usd_per_gram: Some(2.5) },
                OwnBlock { smiles: "C#N".to_owned(), usd_per_gram: None },
                OwnBlock { smiles: "C[C@H](F)Cl |o1:1,r|".to_owned(), usd_per_gram: None },
                OwnBlock { smiles: "C[C@H](F)Cl |&1:1,r|".to_owned(), usd_per_gram: Some(7.0) },
            ],
            max_steps: Some(3),
            protecting_groups: ProtectingGroups::Never,
            reaction_classes_only: vec!["amide coupling".to_owned()],
            ..TreeSearchRequest::new("C[C:1](=O)[NH:2]C")
        };
        assert_eq!(line.asked.request("C[C:1](=O)[NH:2]C"), request);
    }

    #[test]
    fn lifted_masks_are_null() {
        let line = Line::parse_from(["plan", "--any-price", "--ships-to", "anywhere"]);

        let request = line.asked.request("CCO");

        assert_eq!((request.mask_usd_pricing_gte, request.ships_to), (None, None));
    }
}
