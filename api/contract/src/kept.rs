//! Bodies of the routes that somebody keeps.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{PricingAnnotation, RouteGraph, TreeSearchRequest};

/// The most molecules of a route that is kept.
pub const MAX_KEPT_NODES: usize = 1_000;

/// The most routes that an account keeps.
pub const MAX_KEPT: i64 = 10_000;

/// Body of `POST /synth/v1/routes`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptRouteRequest {
    /// What was searched for.
    pub parameters: TreeSearchRequest,
    /// The route, as a tree search answers it or as it was worked on since: a tree or graph of at most 1,000 molecules without a
    /// cycle, the target first, each molecule once.
    pub route: RouteGraph,
    /// Offers for what it buys, as the search answered them.
    #[schema(required = false, max_items = 10_000)]
    pub pricing_annotations: Vec<PricingAnnotation>,
    /// What it is called.
    #[schema(max_length = 255, pattern = r"^[^\x00]*$", nullable)]
    pub name: Option<String>,
    /// What there is to say of it.
    #[schema(max_length = 4000, pattern = r"^[^\x00]*$", nullable)]
    pub note: Option<String>,
    /// Whether it has a star.
    #[schema(required = false, default = false)]
    pub starred: bool,
}

/// Body of `PATCH /synth/v1/routes/{route_id}`: what is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptRouteChange {
    /// What it is called from now on; null for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 255, pattern = r"^[^\x00]*$")]
    pub name: Option<Option<String>>,
    /// What there is to say of it; null for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 4000, pattern = r"^[^\x00]*$")]
    pub note: Option<Option<String>>,
    /// Whether it has a star.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub starred: Option<bool>,
}

/// A route that somebody keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KeptRoute {
    /// Unique resource identifier.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Resource type: `route`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: KeptRouteObject,
    /// Since when it is kept.
    pub created_at: DateTime<Utc>,
    /// When its name, note or star last changed.
    pub updated_at: DateTime<Utc>,
    /// What it is called.
    pub name: Option<String>,
    /// What there is to say of it.
    pub note: Option<String>,
    /// Whether it has a star.
    pub starred: bool,
    /// Whether the caller keeps it, and so may change and delete it; else another member of the organisation does.
    pub is_own: bool,
    /// What was searched for.
    pub parameters: TreeSearchRequest,
    /// What it is like.
    pub figures: RouteFigures,
    /// The route; null in lists.
    pub route: Option<RouteGraph>,
    /// Offers for what it buys, of the time when it was kept; null in lists.
    pub pricing_annotations: Option<Vec<PricingAnnotation>>,
}

/// The word `route`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeptRouteObject {
    /// The only value.
    #[default]
    Route,
}

/// What a route is like, in figures; null where one is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RouteFigures {
    /// Its reactions.
    pub steps: u32,
    /// US dollars for what it orders.
    pub price_usd: Option<f64>,
    /// Days until all of its blocks are there.
    pub lead_time_days: Option<f64>,
    /// The product of its steps' plausibilities.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
}

impl RouteFigures {
    /// The figures of `route`.
    #[must_use]
    pub fn of(route: &RouteGraph) -> Self {
        // Every edge of a step says how plausible the step is.
        let steps = route.edges.iter().map(|edge| (edge.source.as_str(), edge.plausibility));
        let steps: BTreeMap<_, _> = steps.collect();
        let standing = route.graph.as_ref();
        Self {
            steps: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            price_usd: standing.and_then(|standing| standing.shopping_list.as_ref()?.total_usd),
            lead_time_days: standing.and_then(|standing| standing.lead_time_days),
            plausibility: steps.into_values().product(),
        }
    }

    /// The same without what rests on offers.
    #[must_use]
    pub const fn without_offers(self) -> Self {
        Self { price_usd: None, lead_time_days: None, ..self }
    }
}
