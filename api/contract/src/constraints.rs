//! Constraints that a caller sets on routes besides ending in building blocks, and the report of their effect.

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// The largest atom map number.
pub const MAX_ATOM_MAP: u32 = 99_999;

/// A bond of the target, by the atom map numbers that its atoms have in `search_smiles`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomPair(pub u32, pub u32);

impl PartialSchema for AtomPair {
    fn schema() -> RefOr<Schema> {
        let number =
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(MAX_ATOM_MAP));
        let pair = ArrayBuilder::new().items(number).min_items(Some(2)).max_items(Some(2)).description(Some(
            "A bond of the target, by the atom map numbers that its atoms have in `search_smiles`.",
        ));
        RefOr::T(pair.into())
    }
}

impl ToSchema for AtomPair {
    fn name() -> std::borrow::Cow<'static, str> {
        "AtomPair".into()
    }
}

/// A building block that the caller has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnBlock {
    /// SMILES of one component.
    #[schema(min_length = 1, max_length = 1000, example = "OC(=O)c1ccccc1")]
    pub smiles: String,
    /// Value in USD per gram; null: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0.0, maximum = 1_000_000_000.0)]
    pub usd_per_gram: Option<f64>,
}

/// Use of protecting groups in routes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtectingGroups {
    /// Routes may add and remove protecting groups.
    #[default]
    Allowed,
    /// No step belongs to a protection or deprotection class.
    Never,
}

impl ProtectingGroups {
    /// Both variants.
    pub const ALL: [Self; 2] = [Self::Allowed, Self::Never];

    /// Returns the name that requests use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Never => "never",
        }
    }

    /// Returns true if this is the default.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        matches!(self, Self::Allowed)
    }
}

/// Effect of one constraint of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConstraintReport {
    /// Name of the request field.
    #[schema(example = "bonds_to_break")]
    pub constraint: String,
    /// Index of the item in the field's list, from 0; null where the constraint is the whole field.
    pub index: Option<u32>,
    /// Number of proposed steps, and of combinations of steps, that the constraint rejected.
    pub refused: u64,
    /// Known contribution of this constraint to the failure, where there is no route.
    pub reason: Option<String>,
}
