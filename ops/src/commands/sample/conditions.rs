//! Conditions of `retort sample` on molecules, and the way of drawing.

use clap::Args;
use contract::{DEFAULT_MAKEABLE_SECONDS, MAX_SEED, PropertyRange, RouteLimits, SampleConditions};

use crate::commands::destination::{Destination, parse_destination};

/// Conditions that every molecule satisfies.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conditions on every molecule")]
pub(super) struct ConditionArgs {
    /// Contain this scaffold and decorate its attachment points, as in `[*:1]c1ccc2[nH]ncc2c1`.
    #[arg(long, value_name = "SMILES")]
    scaffold: Option<String>,
    /// Contain and link this fragment with an attachment point; repeat the option for the others.
    #[arg(long, value_name = "SMILES")]
    fragment: Vec<String>,
    /// Contain this substructure.
    #[arg(long, value_name = "SMARTS")]
    required: Vec<String>,
    /// Do not contain this substructure.
    #[arg(long, value_name = "SMARTS")]
    never: Vec<String>,
    /// Molecule to which `--similarity` applies; of several, the nearest one counts.
    #[arg(long, value_name = "SMILES", requires = "similarity")]
    similar_to: Vec<String>,
    /// Tanimoto similarity from LOW to below HIGH; either may be missing.
    #[arg(long, value_name = "LOW:HIGH", requires = "similar_to", value_parser = parse_range)]
    similarity: Option<PropertyRange>,
    /// Range of a property, as in `mw=300:450` or `qed=0.7:`; repeat the option for others.
    #[arg(long, value_name = "NAME=LOW:HIGH", value_parser = parse_property)]
    property: Vec<(String, PropertyRange)>,
    /// Have no structural alert of these sets.
    #[arg(long, value_name = "SET,…", value_delimiter = ',')]
    alerts: Vec<String>,
    /// Have a validated route of at most this number of steps from building blocks that can be bought.
    #[arg(long, value_name = "STEPS")]
    makeable: Option<u32>,
    /// Maximum USD of a route's building blocks for a mole.
    #[arg(long, value_name = "USD", requires = "makeable")]
    makeable_usd: Option<f64>,
    /// Maximum days until a route's building blocks arrive.
    #[arg(long, value_name = "DAYS", requires = "makeable")]
    makeable_days: Option<f64>,
    /// Delivery region of the building blocks, such as US, or `anywhere`.
    #[arg(long, value_name = "COUNTRY", requires = "makeable", default_value = "US", value_parser = parse_destination)]
    makeable_ships_to: Destination,
    /// Seconds of the search for each molecule's route, 0.01 to 1.
    #[arg(long, value_name = "SECONDS", requires = "makeable", default_value_t = DEFAULT_MAKEABLE_SECONDS)]
    makeable_seconds: f64,
    /// Temperature of drawing, 0.1 to 2.
    #[arg(long)]
    temperature: Option<f64>,
    /// Draw from the most probable tokens with this total probability.
    #[arg(long)]
    top_p: Option<f64>,
    /// Seed: the same command draws the same molecules.
    #[arg(long, conflicts_with = "resume", value_parser = clap::value_parser!(u64).range(..=MAX_SEED))]
    seed: Option<u64>,
    /// Leave out the molecules of this sample or sample batch.
    #[arg(long, value_name = "ID")]
    exclude: Vec<String>,
}

impl ConditionArgs {
    /// Returns the conditions of call `call` of the command. Each call has a seed of its own.
    pub(super) fn of_call(&self, call: u64) -> SampleConditions {
        SampleConditions {
            scaffold: self.scaffold.clone(),
            fragments: self.fragment.clone(),
            substructures_required: self.required.clone(),
            substructures_never: self.never.clone(),
            similar_to: self.similar_to.clone(),
            similarity_gte: self.similarity.and_then(|range| range.gte),
            similarity_lt: self.similarity.and_then(|range| range.lte),
            properties: self.property.iter().cloned().collect(),
            alerts: self.alerts.clone(),
            temperature: self.temperature,
            top_p: self.top_p,
            seed: self.seed.map(|seed| seed.wrapping_add(call) & MAX_SEED),
            exclude: self.exclude.clone(),
            synthesizable: self.makeable.map(|steps| RouteLimits {
                max_steps: Some(steps),
                max_usd_per_mol: self.makeable_usd,
                ships_to: self.makeable_ships_to.country(),
                max_lead_time_days: self.makeable_days,
                max_seconds_each: self.makeable_seconds,
            }),
        }
    }
}

/// Parses the name and the range of a property.
fn parse_property(text: &str) -> Result<(String, PropertyRange), String> {
    let (name, range) = text.split_once('=').ok_or("a name and a range, as in mw=300:450")?;
    Ok((name.trim().to_owned(), parse_range(range)?))
}

/// Parses the ends of a range, one of which may be missing.
fn parse_range(text: &str) -> Result<PropertyRange, String> {
    let (low, high) = text.split_once(':').ok_or("two numbers, as in 300:450, 300: or :450")?;
    let end = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("`{text}` is not a number")),
    };
    match (end(low)?, end(high)?) {
        (None, None) => Err("one number at least, as in 300:".to_owned()),
        (gte, lte) => Ok(PropertyRange { gte, lte }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_ends_one_of_which_may_be_missing() {
        let range = |gte, lte| Ok(PropertyRange { gte, lte });

        assert_eq!(parse_range("300:450"), range(Some(300.0), Some(450.0)));
        assert_eq!(parse_range("0.7:"), range(Some(0.7), None));
        assert_eq!(parse_range(" : -1 "), range(None, Some(-1.0)));
        for text in [":", "300", "", "a:1", "1:2:3"] {
            assert!(parse_range(text).is_err(), "{text}");
        }
        assert_eq!(parse_property("mw=:450").map(|(name, _)| name), Ok("mw".to_owned()));
        assert!(parse_property("mw:450").is_err());
    }
}
