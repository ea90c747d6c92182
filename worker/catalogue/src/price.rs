//! Conversion of a pack's price to USD per gram of the building block.

use std::str::FromStr;

/// Known units, for a message.
pub(crate) const UNITS: &str = "kg, g, mg, ug, mol, mmol, umol, L, mL, uL";

/// A unit of pack sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    /// Grams in one unit.
    Mass(f64),
    /// Moles in one unit.
    Amount(f64),
    /// Millilitres in one unit.
    Volume(f64),
}

/// The text names no known unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownUnit;

impl FromStr for Unit {
    type Err = UnknownUnit;

    /// Letter case does not matter: vendors write `G`, `KG` and `ML`, and nothing is sold by the megagram.
    fn from_str(text: &str) -> Result<Self, UnknownUnit> {
        Ok(match text.to_lowercase().as_str() {
            "kg" | "kilogram" | "kilograms" => Self::Mass(1e3),
            "g" | "gr" | "gram" | "grams" => Self::Mass(1.0),
            "mg" | "milligram" | "milligrams" => Self::Mass(1e-3),
            // Both code points that look like a micro sign, U+00B5 and U+03BC.
            "ug" | "mcg" | "µg" | "μg" => Self::Mass(1e-6),
            "mol" => Self::Amount(1.0),
            "mmol" => Self::Amount(1e-3),
            "umol" | "µmol" | "μmol" => Self::Amount(1e-6),
            "l" => Self::Volume(1e3),
            "ml" => Self::Volume(1.0),
            "ul" | "µl" | "μl" => Self::Volume(1e-3),
            _ => return Err(UnknownUnit),
        })
    }
}

/// Weights of an entry, daltons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntryWeights {
    /// Weight of the whole entry.
    pub full: f64,
    /// Weight of the building block in the entry, times its number of occurrences.
    pub major: f64,
}

/// A pack and its price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PricedPack {
    /// USD for the pack.
    pub price_usd: f64,
    /// Size, in `unit`.
    pub size: f64,
    /// Unit of the size.
    pub unit: Unit,
    /// Grams of the entry per millilitre, if the vendor states it.
    pub density_g_per_ml: Option<f64>,
}

/// USD per gram of the building block; `None` for a volume without a density.
///
/// An amount of substance refers to the whole entry. A salt costs more per gram than its label says, by the share of
/// its weight that is not the building block.
#[must_use]
pub fn usd_per_gram(pack: PricedPack, weights: EntryWeights) -> Option<f64> {
    let grams = grams_of_entry(pack.size, pack.unit, pack.density_g_per_ml, weights)?;
    let usd = pack.price_usd / grams * (weights.full / weights.major);
    usd.is_finite().then_some(usd)
}

/// Grams of the building block in `size` units of an entry; `None` for a volume without a density.
#[must_use]
pub fn grams_of_major(
    size: f64,
    unit: Unit,
    density_g_per_ml: Option<f64>,
    weights: EntryWeights,
) -> Option<f64> {
    let grams = grams_of_entry(size, unit, density_g_per_ml, weights)? * (weights.major / weights.full);
    grams.is_finite().then_some(grams)
}

fn grams_of_entry(
    size: f64,
    unit: Unit,
    density_g_per_ml: Option<f64>,
    weights: EntryWeights,
) -> Option<f64> {
    Some(match unit {
        Unit::Mass(grams) => size * grams,
        Unit::Amount(moles) => size * moles * weights.full,
        Unit::Volume(millilitres) => size * millilitres * density_g_per_ml?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: EntryWeights = EntryWeights { full: 200.0, major: 100.0 };

    #[test]
    fn every_unit_comes_down_to_grams_of_the_building_block() {
        let cases = [
            ("g", None, Some(4.0)),
            ("KG", None, Some(0.004)),
            ("mg", None, Some(4_000.0)),
            ("µg", None, Some(4_000_000.0)),
            ("mol", None, Some(0.02)),
            ("mmol", None, Some(20.0)),
            ("mL", None, None),
            ("mL", Some(0.5), Some(8.0)),
            ("L", Some(0.5), Some(0.008)),
        ];
        for (unit, density_g_per_ml, expected) in cases {
            let pack =
                PricedPack { price_usd: 20.0, size: 10.0, unit: unit.parse().unwrap(), density_g_per_ml };

            let usd = usd_per_gram(pack, WEIGHTS);

            match (usd, expected) {
                (Some(usd), Some(expected)) => {
                    assert!((usd / expected - 1.0f64).abs() < 1e-12, "{unit}: {usd}")
                }
                (usd, expected) => assert_eq!(usd, expected, "{unit}"),
            }
        }
    }

    #[test]
    fn what_is_in_stock_of_a_salt_is_its_share_of_the_building_block() {
        let grams = |unit: &str, density| grams_of_major(10.0, unit.parse().unwrap(), density, WEIGHTS);

        assert_eq!([grams("g", None), grams("mmol", None)], [Some(5.0), Some(1.0)]);
        assert_eq!([grams("mL", None), grams("mL", Some(0.8))], [None, Some(4.0)]);
    }

    #[test]
    fn a_bottle_is_no_unit() {
        assert_eq!("bottle".parse::<Unit>(), Err(UnknownUnit));
    }
}
