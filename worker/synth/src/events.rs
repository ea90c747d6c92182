//! Progress events of a running search, and the trait that receives them.

use std::time::Duration;

use crate::search_result::Route;

/// Receiver of search events. It is called on the search's own thread, which waits for it.
pub trait Listener {
    /// Returns true if events are wanted now. The search asks before it builds an event.
    fn is_wanted(&self) -> bool;

    /// Receives one event.
    fn on_event(&self, event: SearchEvent);

    /// Rate at which events are wanted.
    fn pace(&self) -> EventPacing {
        EventPacing::default()
    }
}

/// Limits on how often events are produced and how much time they may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventPacing {
    /// Largest share of the search's time that interim route extraction may take.
    pub share: f64,
    /// Minimum time available before an extraction pass starts.
    pub min_extraction_time: Duration,
    /// Pause between two extraction passes, and between two progress events.
    pub pause: Duration,
}

impl Default for EventPacing {
    /// A tenth of the search's time, and four events a second.
    fn default() -> Self {
        Self { share: 0.1, min_extraction_time: Duration::from_millis(20), pause: Duration::from_millis(250) }
    }
}

/// Event of a running search.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchEvent {
    /// Progress of the search, at most once per [pause](EventPacing::pause).
    Progress(Progress),
    /// New validated route that was not published before.
    Route(Box<PublishedRoute>),
}

/// Progress of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Time since the search began, by the search's own clock.
    pub elapsed: Duration,
    /// Number of template batches applied.
    pub expansions: u64,
    /// Number of molecules in the search graph.
    pub molecules: u64,
    /// Depth of the deepest molecule that templates were tried on, in steps from the target.
    pub depth: u32,
    /// Number of routes published.
    pub routes: u64,
    /// Lowest cost of the published routes; `None` before the first.
    pub best_cost: Option<f64>,
}

/// Validated route with its backbone.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRoute {
    /// The route in the form of the answer.
    pub route: Route,
    /// Number of reaction steps of the longest branch.
    pub steps: u32,
    /// Key of the backbone.
    pub key: String,
    /// Skeleton of the backbone, as in [`BackboneGroup`](crate::BackboneGroup).
    pub skeleton: String,
    /// Rank among the routes published so far, from 1.
    pub rank: u32,
}
