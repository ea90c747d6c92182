//! Figures as answers have them.

/// To four places: what is beyond them is noise.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// USD to the cent.
pub(crate) fn cents(usd: f64) -> f64 {
    (usd * 100.0).round() / 100.0
}
