//! Bodies of kept routes, which an account has saved.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{PricingAnnotation, RouteGraph, TreeSearchRequest};

/// Maximum number of molecules of a kept route.
pub const MAX_KEPT_NODES: usize = 1_000;

/// Maximum number of kept routes of an account.
pub const MAX_KEPT: i64 = 10_000;

/// Body of `POST /synth/v1/routes`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptRouteRequest {
    /// Request of the search.
    pub parameters: TreeSearchRequest,
    /// The route, as returned by a tree search or edited since. It is a tree or an acyclic graph of at most 1,000
    /// molecules, the target first, each molecule once.
    pub route: RouteGraph,
    /// Offers for the route's building blocks, as the search returned them.
    #[schema(required = false, max_items = 10_000)]
    pub pricing_annotations: Vec<PricingAnnotation>,
    /// Name of the route.
    #[schema(max_length = 255, pattern = r"^[^\x00]*$", nullable)]
    pub name: Option<String>,
    /// Note on the route.
    #[schema(max_length = 4000, pattern = r"^[^\x00]*$", nullable)]
    pub note: Option<String>,
    /// True if the route is starred.
    #[schema(required = false, default = false)]
    pub starred: bool,
}

/// Body of `PATCH /synth/v1/routes/{route_id}`; absent fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptRouteChange {
    /// New name; null removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 255, pattern = r"^[^\x00]*$")]
    pub name: Option<Option<String>>,
    /// New note; null removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 4000, pattern = r"^[^\x00]*$")]
    pub note: Option<Option<String>>,
    /// True to star the route, false to remove the star.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub starred: Option<bool>,
}

/// A kept route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KeptRoute {
    /// Unique resource identifier.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Resource type: `route`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: KeptRouteObject,
    /// Time at which the route was saved.
    pub created_at: DateTime<Utc>,
    /// Time of the last change of name, note or star.
    pub updated_at: DateTime<Utc>,
    /// Name of the route.
    pub name: Option<String>,
    /// Note on the route.
    pub note: Option<String>,
    /// True if the route is starred.
    pub starred: bool,
    /// True if the caller keeps the route and may change and delete it; false if another member of the organisation
    /// does.
    pub is_own: bool,
    /// Request of the search.
    pub parameters: TreeSearchRequest,
    /// Key figures of the route.
    pub figures: RouteFigures,
    /// The route; null in lists.
    pub route: Option<RouteGraph>,
    /// Offers for the route's building blocks at the time when it was saved; null in lists.
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

/// Key figures of a route; null where one is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RouteFigures {
    /// Number of reactions.
    pub steps: u32,
    /// Price of the orders in USD.
    pub price_usd: Option<f64>,
    /// Days until all building blocks have arrived.
    pub lead_time_days: Option<f64>,
    /// Product of the plausibilities of its steps.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
}

impl RouteFigures {
    /// Computes the figures of `route`.
    #[must_use]
    pub fn of(route: &RouteGraph) -> Self {
        // Every edge of a step carries the plausibility of the step.
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

    /// Returns the figures without those that depend on offers.
    #[must_use]
    pub const fn without_offers(self) -> Self {
        Self { price_usd: None, lead_time_days: None, ..self }
    }
}
