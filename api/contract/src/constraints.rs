//! What a caller may ask of routes beside reaching building blocks, and what came of it.

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
    /// What it is worth, USD per gram; null: nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0.0, maximum = 1_000_000_000.0)]
    pub usd_per_gram: Option<f64>,
}

/// Whether routes may put protecting groups on and take them off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtectingGroups {
    /// They may.
    #[default]
    Allowed,
    /// No step is a protection or a deprotection by its class.
    Never,
}

impl ProtectingGroups {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Allowed, Self::Never];

    /// As requests name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Never => "never",
        }
    }

    /// Whether it is what holds where nothing is asked.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        matches!(self, Self::Allowed)
    }
}

/// What one constraint of a request came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConstraintReport {
    /// The field of the request.
    #[schema(example = "bonds_to_break")]
    pub constraint: String,
    /// The item's place in the field's list, from 0; null where the field counts as a whole.
    pub index: Option<u32>,
    /// Proposed steps, and ways to put steps together, that it refused.
    pub refused: u64,
    /// Where there is no route: what is known of this constraint's part in that.
    pub reason: Option<String>,
}
