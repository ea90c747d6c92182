//! Settings of the distribution that tokens are drawn from, each within its range.

/// Divisor of the logits, 0.001 to 100: below 1 the probable becomes more probable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Temperature(f64);

/// Cumulative probability for nucleus sampling (Holtzman et al., ICLR 2020), over 0 and at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopP(f64);

/// A number that is outside the range of its setting.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{found} is out of range, wanted {wanted}")]
pub struct OutOfRange {
    /// The number given.
    pub found: f64,
    /// The range, for people.
    pub wanted: &'static str,
}

impl Temperature {
    /// The range, for people.
    pub(crate) const RANGE: &'static str = "0.001 to 100";

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TopP {
    /// The range, for people.
    pub(crate) const RANGE: &'static str = "over 0 and at most 1";

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Temperature {
    type Error = OutOfRange;

    fn try_from(found: f64) -> Result<Self, OutOfRange> {
        (1e-3..=100.0)
            .contains(&found)
            .then_some(Self(found))
            .ok_or(OutOfRange { found, wanted: Self::RANGE })
    }
}

impl TryFrom<f64> for TopP {
    type Error = OutOfRange;

    fn try_from(found: f64) -> Result<Self, OutOfRange> {
        (found > 0.0 && found <= 1.0).then_some(Self(found)).ok_or(OutOfRange { found, wanted: Self::RANGE })
    }
}
