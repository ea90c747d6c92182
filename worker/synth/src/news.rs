//! What a search tells while it runs, to whoever listens.

use std::time::Duration;

use crate::plan::Route;

/// Hears of a search while it runs. It is called on the search's own thread, which waits for it.
pub trait Listener {
    /// Whether somebody wants to hear now; asked before anything is put together for them.
    fn is_there(&self) -> bool;

    /// Takes what there is to tell.
    fn hear(&self, news: News);

    /// How soon they want to hear.
    fn pace(&self) -> Pace {
        Pace::default()
    }
}

/// How soon somebody wants to hear what a search finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// The most of the search's time that looking for routes meanwhile may take, as a part of it.
    pub share: f64,
    /// No look is begun before there is so much time for it.
    pub shortest_look: Duration,
    /// From one look, and from one word on how far the search is, to the next.
    pub pause: Duration,
}

impl Default for Pace {
    /// A tenth of the search's time, and four times a second.
    fn default() -> Self {
        Self { share: 0.1, shortest_look: Duration::from_millis(20), pause: Duration::from_millis(250) }
    }
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// How far the search is, at most once a [pause](Pace::pause).
    Progress(Progress),
    /// A validated route that was not told before.
    Route(Box<FoundRoute>),
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Since it began, by its own clock.
    pub elapsed: Duration,
    /// Batches of templates applied.
    pub expansions: u64,
    /// Molecules in the search graph.
    pub molecules: u64,
    /// Steps from the target of the deepest molecule that templates were tried on.
    pub depth: u32,
    /// Routes told.
    pub routes: u64,
    /// The least cost of those; `None` before the first.
    pub best_cost: Option<f64>,
}

/// A validated route, with what it does to the target.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRoute {
    /// The route as an answer has it.
    pub route: Route,
    /// Reaction steps of its longest branch.
    pub steps: u32,
    /// Its backbone's key.
    pub key: String,
    /// Its backbone's skeleton, as [`BackboneGroup`](crate::BackboneGroup) has it.
    pub skeleton: String,
    /// Its place among the routes told so far, from 1.
    pub rank: u32,
}
