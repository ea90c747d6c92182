//! Rounding of the figures in answers.

/// Rounds to four decimal places; further digits are noise.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Rounds USD to the cent.
pub(crate) fn cents(usd: f64) -> f64 {
    (usd * 100.0).round() / 100.0
}
