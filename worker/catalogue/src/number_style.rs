//! Decimal mark of the numbers of a column: see [`number`](crate::number).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Decimal mark of the numbers of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberStyle {
    /// `1,234.50`.
    Point,
    /// `1.234,50`.
    Comma,
    /// Unknown, or both: only numbers with one possible value count.
    #[default]
    #[serde(skip)]
    Undecided,
}

impl fmt::Display for NumberStyle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Point => "decimal point",
            Self::Comma => "decimal comma",
            Self::Undecided => "decimal mark unknown",
        })
    }
}
