//! Decimal marks by column.

use std::collections::BTreeMap;

use crate::number_style::NumberStyle;

/// Decimal marks by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnStyles {
    by_name: BTreeMap<String, NumberStyle>,
    /// Mark of the columns that have none of their own.
    others: NumberStyle,
}

impl ColumnStyles {
    /// The mark that the user states for all columns, if any.
    pub(crate) fn stated(style: Option<NumberStyle>) -> Self {
        Self { by_name: BTreeMap::new(), others: style.unwrap_or_default() }
    }

    /// Marks by folded names, and the mark of the columns that have none of their own.
    pub(crate) fn new(by_name: BTreeMap<String, NumberStyle>, others: NumberStyle) -> Self {
        Self { by_name, others }
    }

    /// Mark of a column, by its folded name.
    pub(crate) fn of_column(&self, name: &str) -> NumberStyle {
        self.by_name.get(name).copied().unwrap_or(self.others)
    }
}
