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
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of events in one write.
const AT_ONCE: usize = 16;

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
    wanted: PublishCondition,
    told: UnboundedSender<SearchEvent>,
}

/// Publisher of a search's events.
#[derive(Debug)]
pub(crate) struct Telling {
    wanted: PublishCondition,
    told: UnboundedSender<SearchEvent>,
    writing: JoinHandle<()>,
}

impl Telling {
    /// Starts the task that writes events with the permission of `teller`.
    pub(crate) fn begin(pool: PgPool, teller: EventPublisher, wanted: PublishCondition) -> Self {
        let (told, news) = unbounded_channel();
        Self { wanted, told, writing: tokio::spawn(write(pool, teller, news)) }
    }

    /// Returns a listener for the search.
    pub(crate) fn listener(&self) -> EventListener {
        EventListener { wanted: self.wanted.clone(), told: self.told.clone() }
    }

    /// Waits until all events are written, since none may follow the answer.
    pub(crate) async fn end(self) {
        drop(self.told);
        let stop = self.writing.abort_handle();
        if tokio::time::timeout(PATIENCE, self.writing).await.is_err() {
            stop.abort();
        }
    }
}

impl Listener for EventListener {
    fn is_there(&self) -> bool {
        match &self.wanted {
            PublishCondition::Always => true,
            PublishCondition::While(wanted) => wanted.load(Ordering::Relaxed),
        }
    }

    fn hear(&self, news: SearchEvent) {
        // Sending fails only after the writer has ended, when the job is being abandoned.
        let _ = self.told.send(news);
    }
}

async fn write(pool: PgPool, mut teller: EventPublisher, mut told: UnboundedReceiver<SearchEvent>) {
    let mut batch = Vec::with_capacity(AT_ONCE);
    let mut is_warned = false;
    while told.recv_many(&mut batch, AT_ONCE).await > 0 {
        let events: Vec<NewEvent> = batch.drain(..).map(event).collect();
        if let Err(error) = database::within(PATIENCE, teller.tell(&pool, &events)).await
            && !std::mem::replace(&mut is_warned, true)
        {
            warn!("the events of a search could not be written and are lost: {error}");
        }
    }
}

fn event(news: SearchEvent) -> NewEvent {
    let (event, data) = match news {
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
    fn progress_is_told_as_the_contract_writes_it() {
        let progress = Progress {
            elapsed: Duration::from_micros(1_234_567),
            expansions: 310,
            molecules: 2048,
            depth: 4,
            routes: 0,
            best_cost: None,
        };

        let told = event(SearchEvent::Progress(progress));

        let expected =
            r#"{"seconds":1.2346,"expansions":310,"molecules":2048,"depth":4,"routes":0,"best_cost":null}"#;
        assert_eq!((told.event, told.data.as_str()), ("progress", expected));
    }

    #[test]
    fn a_route_is_told_as_in_an_answer_but_for_what_hangs_on_the_rest_of_it() {
        let group = plan().groups.remove(0);
        let route = group.variations[0][0].clone();
        let (key, skeleton) = (group.key, group.skeleton);

        let told =
            event(SearchEvent::Route(Box::new(PublishedRoute { route, steps: 1, key, skeleton, rank: 3 })));

        let told: serde_json::Value = serde_json::from_str(&told.data).unwrap();
        assert_eq!((&told["backbone"], &told["steps"]), (&"b1".into(), &1.into()));
        let graph = &told["route"]["graph"];
        assert_eq!((&graph["rank"], &graph["backbone"]), (&3.into(), &"[CH3:1]".into()));
        assert!(graph.get("shopping_list").is_none() && told["route"]["nodes"][0].get("essential").is_none());
        assert_eq!(told["route"]["edges"].as_array().map(Vec::len), Some(1));
    }
}
