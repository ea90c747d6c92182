//! `retort plan`.

mod wishes;

use std::{fs, path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::Args;
use contract::{Country, TreeSearchRequest, TreeSearchResult};

use crate::{Place, failure::Failure, route_tree, terminal};

use self::wishes::Wishes;

/// What queueing and annotating may add to the search's own seconds.
const MARGIN: Duration = Duration::from_secs(60);

/// Plan routes to a molecule.
#[derive(Debug, Args)]
pub struct Plan {
    /// SMILES of the target.
    smiles: String,
    /// Seconds to search at most.
    #[arg(long, default_value_t = 4.0, value_parser = parse_seconds)]
    max_seconds: f64,
    /// Reaction steps of the longest branch at most.
    #[arg(long, default_value_t = 5)]
    max_depth: u32,
    /// Search for the whole time and answer with every route, instead of stopping at the first.
    #[arg(long)]
    all_routes: bool,
    /// Let the answer be "buy it" where the target is itself a building block.
    #[arg(long)]
    allow_trivial: bool,
    /// Use building blocks lighter than this, daltons.
    #[arg(long, value_name = "MW")]
    mw_below: Option<f64>,
    /// Use building blocks cheaper than this.
    #[arg(long, value_name = "USD_PER_GRAM", default_value_t = 10_000.0, conflicts_with = "any_price")]
    usd_below: f64,
    /// Use building blocks at any price.
    #[arg(long)]
    any_price: bool,
    /// Country to ship to (US, CA, GB, FR, CH, DE, CN, AU), or `anywhere`.
    #[arg(long, value_name = "COUNTRY", default_value = "US", value_parser = parse_destination)]
    ships_to: Destination,
    /// Use building blocks that arrive in fewer days than this.
    #[arg(long, value_name = "DAYS")]
    lead_time_below: Option<f64>,
    /// Distinct backbones in the answer at most.
    #[arg(long, default_value_t = 5)]
    max_backbones: u32,
    /// Building-block variations of a backbone at most.
    #[arg(long, default_value_t = 10)]
    max_variations: u32,
    /// Keep the cheapest variations instead of the best ones.
    #[arg(long)]
    cheapest_variations: bool,
    /// Millimoles of the target that the shopping lists are for.
    #[arg(long, value_name = "MMOL", default_value_t = 1.0)]
    amount: f64,
    /// The part of each step's product that is expected to be had, over 0, at most 1.
    #[arg(long, value_name = "PART", default_value_t = 0.8)]
    step_yield: f64,
    /// Count offers of this vendor, and of others so named, alone.
    #[arg(long, value_name = "VENDOR")]
    only_vendor: Vec<String>,
    /// Do not count offers of this vendor.
    #[arg(long, value_name = "VENDOR")]
    never_vendor: Vec<String>,
    /// Order what this vendor has from it, whatever others ask.
    #[arg(long, value_name = "VENDOR")]
    first_vendor: Vec<String>,
    #[command(flatten)]
    wishes: Wishes,
    /// Write the whole answer to FILE instead of printing trees: JSON, or a page with structural formulas.
    #[arg(long, value_name = "FILE.json|.html")]
    out: Option<PathBuf>,
    /// Print the whole answer as JSON instead of trees.
    #[arg(long)]
    json: bool,
}

/// Where building blocks are to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    Anywhere,
    To(Country),
}

/// What `--out` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Page,
}

impl Plan {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        let endings = [("json", Format::Json), ("html", Format::Page)];
        // Before anything is searched.
        let out = match &self.out {
            Some(file) => Some((file, terminal::by_ending(file, &endings)?)),
            None => None,
        };
        let service = place.service()?;
        let request = self.request();
        let timeout = Duration::from_secs_f64(self.max_seconds) + MARGIN;
        let spinner = terminal::spinner(format!("searching for at most {} s", self.max_seconds));
        let answer = service.post::<_, TreeSearchResult>("/synth/v1/treesearch", &request, timeout).await;
        spinner.finish_and_clear();
        let result = answer?;

        let json = || serde_json::to_string_pretty(&result).context("writing the answer as JSON");
        if let Some((file, format)) = out {
            let text = match format {
                Format::Page => route_tree::page(&result, request.ships_to),
                Format::Json => json()? + "\n",
            };
            fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
            terminal::note(&format!("{}; written to {}", route_tree::found(&result), file.display()));
        }
        if self.json {
            terminal::data(&json()?)?;
        } else if out.is_none() {
            terminal::data(route_tree::render(&result, request.ships_to).trim_end())?;
        }
        route_tree::without_route(&result).map_or(Ok(()), |why| Err(Failure::NoRoute(why)))
    }

    fn request(&self) -> TreeSearchRequest {
        TreeSearchRequest {
            search_smiles: self.smiles.clone(),
            early_exit_first_solution: !self.all_routes,
            max_seconds: self.max_seconds,
            max_depth: self.max_depth,
            mask_trivial_solution: !self.allow_trivial,
            mask_bblocks_mw_gte: self.mw_below,
            mask_usd_pricing_gte: if self.any_price { None } else { Some(self.usd_below) },
            ships_to: match self.ships_to {
                Destination::Anywhere => None,
                Destination::To(country) => Some(country),
            },
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
    // The service has its own, configured, upper bound; this one keeps the duration representable.
    if seconds > 0.0 && seconds <= 86_400.0 {
        Ok(seconds)
    } else {
        Err("must be over 0 and at most a day".to_owned())
    }
}

fn parse_destination(text: &str) -> Result<Destination, String> {
    if text.eq_ignore_ascii_case("anywhere") {
        return Ok(Destination::Anywhere);
    }
    Country::ALL
        .into_iter()
        .find(|country| country.code().eq_ignore_ascii_case(text))
        .map(Destination::To)
        .ok_or_else(|| format!("one of {}, or anywhere", Country::ALL.map(Country::code).join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use contract::{AtomPair, OwnBlock, ProtectingGroups};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        plan: Plan,
    }

    #[test]
    fn a_target_alone_asks_for_what_the_contract_defaults_to() {
        let line = Line::parse_from(["plan", "CCO"]);

        assert_eq!(line.plan.request(), TreeSearchRequest::new("CCO"));
    }

    #[test]
    fn what_routes_must_and_may_not_do_is_asked_for_by_its_flags() {
        let line = Line::parse_from([
            "plan",
            "C[C:1](=O)[NH:2]C",
            "--break-bond",
            "1,2",
            "--keep",
            "c1ccccc1",
            "--own",
            "CN,2.5",
            "--own",
            "C#N",
            "--max-steps",
            "3",
            "--no-protecting-groups",
            "--only-class",
            "amide coupling",
        ]);

        let wanted = TreeSearchRequest {
            bonds_to_break: vec![AtomPair(1, 2)],
            fragments_to_keep: vec!["c1ccccc1".to_owned()],
            building_blocks_own: vec![
                OwnBlock { smiles: "CN".to_owned(), usd_per_gram: Some(2.5) },
                OwnBlock { smiles: "C#N".to_owned(), usd_per_gram: None },
            ],
            max_steps: Some(3),
            protecting_groups: ProtectingGroups::Never,
            reaction_classes_only: vec!["amide coupling".to_owned()],
            ..TreeSearchRequest::new("C[C:1](=O)[NH:2]C")
        };
        assert_eq!(line.plan.request(), wanted);
    }

    #[test]
    fn lifted_masks_are_null() {
        let line = Line::parse_from(["plan", "CCO", "--any-price", "--ships-to", "anywhere"]);

        let request = line.plan.request();

        assert_eq!((request.mask_usd_pricing_gte, request.ships_to), (None, None));
    }
}
