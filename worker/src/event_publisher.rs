//! Progress events of a search, published to the subscribers of its job as database rows.
//!
//! The search hands events over and goes on; a separate task writes them. Events that the database does not accept
//! are dropped: the answer contains all of them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use contract::SearchProgress;
use queue::{EventPublisher, NewEvent};
use sqlx::PgPool;
use synth::{Listener, Progress, SearchEvent};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};
use tracing::warn;

use crate::{answer::found, rounding::rounded};

/// Timeout of one write, and so the longest delay of the answer by the last write.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of events in one write.
const MAX_EVENTS_PER_WRITE: usize = 16;

/// Condition under which events are published.
#[derive(Debug, Clone)]
pub(crate) enum PublishCondition {
    /// Always: the job's request asked for events.
    Always,
    /// While this flag is set.
    While(Arc<AtomicBool>),
}

/// Listener of a search, called on the search's thread.
#[derive(Debug)]
pub(crate) struct EventListener {
    condition: PublishCondition,
    sender: UnboundedSender<SearchEvent>,
}

/// Publisher of a search's events.
#[derive(Debug)]
pub(crate) struct SearchEventWriter {
    condition: PublishCondition,
    sender: UnboundedSender<SearchEvent>,
    writing: JoinHandle<()>,
}

impl SearchEventWriter {
    /// Starts the task that writes events with the permission of `publisher`.
    pub(crate) fn begin(pool: PgPool, publisher: EventPublisher, condition: PublishCondition) -> Self {
        let (sender, receiver) = unbounded_channel();
        Self { condition, sender, writing: tokio::spawn(write(pool, publisher, receiver)) }
    }

    /// Returns a listener for the search.
    pub(crate) fn listener(&self) -> EventListener {
        EventListener { condition: self.condition.clone(), sender: self.sender.clone() }
    }

    /// Waits until all events are written, since none may follow the answer.
    pub(crate) async fn end(self) {
        drop(self.sender);
        let stop = self.writing.abort_handle();
        if tokio::time::timeout(WRITE_TIMEOUT, self.writing).await.is_err() {
            stop.abort();
        }
    }
}

impl Listener for EventListener {
    fn is_wanted(&self) -> bool {
        match &self.condition {
            PublishCondition::Always => true,
            PublishCondition::While(condition) => condition.load(Ordering::Relaxed),
        }
    }

    fn on_event(&self, search_event: SearchEvent) {
        // Sending fails only after the writer has ended, when the job is being abandoned.
        let _ = self.sender.send(search_event);
    }
}

async fn write(pool: PgPool, mut publisher: EventPublisher, mut received: UnboundedReceiver<SearchEvent>) {
    let mut batch = Vec::with_capacity(MAX_EVENTS_PER_WRITE);
    let mut is_warned = false;
    while received.recv_many(&mut batch, MAX_EVENTS_PER_WRITE).await > 0 {
        let events: Vec<NewEvent> = batch.drain(..).map(event).collect();
        if let Err(error) = database::within(WRITE_TIMEOUT, publisher.publish(&pool, &events)).await
            && !std::mem::replace(&mut is_warned, true)
        {
            warn!("the events of a search could not be written and are lost: {error}");
        }
    }
}

fn event(search_event: SearchEvent) -> NewEvent {
    let (event, data) = match search_event {
        SearchEvent::Progress(progress) => ("progress", serde_json::to_string(&far(progress))),
        SearchEvent::Route(route) => ("route", serde_json::to_string(&found(*route))),
    };
    NewEvent { event, data: data.expect("telling: numbers and texts can be written as JSON") }
}

fn far(progress: Progress) -> SearchProgress {
    SearchProgress {
        seconds: rounded(progress.elapsed.as_secs_f64()),
        expansions: progress.expansions,
        molecules: progress.molecules,
        depth: progress.depth,
        routes: progress.routes,
        best_cost: progress.best_cost.map(rounded),
    }
}

#[cfg(test)]
mod tests {
    use synth::PublishedRoute;

    use super::*;
    use crate::toy::plan;

    #[test]
    fn progress_is_published_as_the_contract_writes_it() {
        let progress = Progress {
            elapsed: Duration::from_micros(1_234_567),
            expansions: 310,
            molecules: 2048,
            depth: 4,
            routes: 0,
            best_cost: None,
        };

        let received = event(SearchEvent::Progress(progress));

        let expected =
            r#"{"seconds":1.2346,"expansions":310,"molecules":2048,"depth":4,"routes":0,"best_cost":null}"#;
        assert_eq!((received.event, received.data.as_str()), ("progress", expected));
    }

    #[test]
    fn a_published_route_equals_the_answers_but_for_what_depends_on_other_routes() {
        let group = plan().groups.remove(0);
        let route = group.variations[0][0].clone();
        let (key, skeleton) = (group.key, group.skeleton);

        let received =
            event(SearchEvent::Route(Box::new(PublishedRoute { route, steps: 1, key, skeleton, rank: 3 })));

        let received: serde_json::Value = serde_json::from_str(&received.data).unwrap();
        assert_eq!((&received["backbone"], &received["steps"]), (&"b1".into(), &1.into()));
        let graph = &received["route"]["graph"];
        assert_eq!((&graph["rank"], &graph["backbone"]), (&3.into(), &"[CH3:1]".into()));
        assert!(
            graph.get("shopping_list").is_none() && received["route"]["nodes"][0].get("essential").is_none()
        );
        assert_eq!(received["route"]["edges"].as_array().map(Vec::len), Some(1));
    }
}
