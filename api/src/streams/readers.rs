//! Readers that streams share.
//!
//! An account's streams of one thing have one reader in each process, so that they cost the database what one of them costs. The reader keeps the
//! events that it has read, up to a limit. A stream that falls behind it ends without an answer, and goes on with another reader that
//! begins where the stream was.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use contract::StreamProblem;
use edge::ApiError;
use queue::JobEvent;
use tokio::{sync::watch, task::AbortHandle};

/// Bytes of events beyond which a reader keeps no more than [`KEPT`] events.
const MOST_BYTES: usize = 4 << 20;

/// Events that a stream takes at once.
const PAGE: usize = 64;

/// Events that are kept whatever their size, so that a stream that goes on gets further each time.
const KEPT: usize = 2 * PAGE;

/// Where a stream's events come from.
pub trait Source: Send + 'static {
    /// What there is after event number `after`; no end before all events were given.
    fn look(&mut self, after: i64) -> impl Future<Output = Result<Look, ApiError>> + Send;

    /// Waits until there may be more.
    fn heard(&mut self) -> impl Future<Output = ()> + Send;
}

/// What a source has.
#[derive(Debug)]
pub struct Look {
    /// In order.
    pub events: Vec<JobEvent>,
    /// How it ends, if it does: with the answer as JSON, or without.
    pub end: Option<Result<String, ApiError>>,
}

/// The readers of the process, by account and address. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Readers(Arc<Mutex<HashMap<(String, String), Weak<Reader>>>>);

impl Readers {
    /// The reader of what is at `address` from after event number `after` on. Where the account has none, `begin` makes its source.
    pub(super) async fn reader<S: Source>(
        &self,
        account_id: &str,
        address: &str,
        after: i64,
        begin: impl Future<Output = Result<S, ApiError>>,
    ) -> Result<Arc<Reader>, ApiError> {
        let key = (account_id.to_owned(), address.to_owned());
        let found = reader(&self.lock(), &key, after);
        if let Some(reader) = found {
            return Ok(reader);
        }
        let source = begin.await?;
        let mut readers = self.lock();
        // Another stream may have begun one meanwhile.
        if let Some(reader) = reader(&readers, &key, after) {
            return Ok(reader);
        }
        let reader = Arc::new(Reader::begin(source, after));
        readers.retain(|_, reader| reader.strong_count() > 0);
        readers.insert(key, Arc::downgrade(&reader));
        Ok(reader)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), Weak<Reader>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reader at `key` that has all events after number `after`.
fn reader(
    readers: &HashMap<(String, String), Weak<Reader>>,
    key: &(String, String),
    after: i64,
) -> Option<Arc<Reader>> {
    let reader = readers.get(key)?.upgrade()?;
    let has_all = reader.told.borrow().floor <= after;
    has_all.then_some(reader)
}

/// A task that reads a source for the streams that hold it.
pub(super) struct Reader {
    pub(super) told: watch::Receiver<Told>,
    task: AbortHandle,
}

impl Reader {
    fn begin(source: impl Source, after: i64) -> Self {
        let (teller, told) = watch::channel(Told { floor: after, ..Told::default() });
        Self { told, task: tokio::spawn(read(source, after, teller)).abort_handle() }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(mut source: impl Source, mut after: i64, teller: watch::Sender<Told>) {
    loop {
        match source.look(after).await {
            Ok(Look { events, end }) => {
                let (is_over, is_new) = (end.is_some(), !events.is_empty());
                after = events.last().map_or(after, |event| event.number);
                teller.send_if_modified(|told| {
                    told.add(events, end);
                    is_over || is_new
                });
                if is_over {
                    return;
                }
                if is_new {
                    continue;
                }
            }
            // It comes back, and the stream with it.
            Err(ApiError::Unavailable { .. }) => {}
            Err(error) => {
                teller.send_modify(|told| told.add(Vec::new(), Some(Err(error))));
                return;
            }
        }
        source.heard().await;
    }
}

/// What a reader has read and keeps.
#[derive(Default)]
pub(super) struct Told {
    /// The number after which all events are kept.
    floor: i64,
    events: VecDeque<Arc<JobEvent>>,
    bytes: usize,
    end: Option<Arc<End>>,
}

/// The last event of a stream.
#[derive(Debug)]
pub(super) struct End {
    pub(super) event: &'static str,
    pub(super) data: String,
}

/// The next events for a stream, and the end where none are left.
#[derive(Debug, Default)]
pub(super) struct Next {
    pub(super) events: Vec<Arc<JobEvent>>,
    pub(super) end: Option<Arc<End>>,
}

impl Told {
    fn add(&mut self, events: Vec<JobEvent>, end: Option<Result<String, ApiError>>) {
        for event in events {
            self.bytes += event.data.len();
            self.events.push_back(Arc::new(event));
        }
        while self.bytes > MOST_BYTES && self.events.len() > KEPT {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.data.len();
            self.floor = oldest.number;
        }
        self.end = end.map(|end| match end {
            Ok(data) => Arc::new(End { event: "answer", data }),
            Err(error) => Arc::new(End { event: "problem", data: problem(error) }),
        });
    }

    /// What there is after event number `after`; `None` where some of it is no longer kept.
    pub(super) fn after(&self, after: i64) -> Option<Next> {
        if after < self.floor {
            return None;
        }
        let first = self.events.partition_point(|event| event.number <= after);
        let events: Vec<_> = self.events.range(first..).take(PAGE).cloned().collect();
        let end = if events.is_empty() { self.end.clone() } else { None };
        Some(Next { events, end })
    }
}

/// Why a stream ends without an answer, as its last event has it.
pub(super) fn problem(error: ApiError) -> String {
    let status = error.status().as_u16();
    let detail = error.body().map(|body| body.detail);
    serde_json::to_string(&StreamProblem { status, detail })
        .expect("streams: numbers and texts can be written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: i64, bytes: usize) -> JobEvent {
        JobEvent { number, event: "route".to_owned(), data: "x".repeat(bytes) }
    }

    #[test]
    fn a_stream_that_falls_behind_is_told_so() {
        let mut told = Told { floor: 3, ..Told::default() };
        told.add(vec![event(4, MOST_BYTES)], None);
        assert_eq!(told.after(3).unwrap().events.len(), 1, "the newest are kept whatever their size");

        told.add((5..=132).map(|number| event(number, 1)).collect(), Some(Ok("{}".to_owned())));

        assert!(told.after(3).is_none());
        let next = told.after(4).unwrap();
        assert_eq!((next.events.len(), next.events[0].number), (PAGE, 5));
        assert!(next.end.is_none());
        assert_eq!(told.after(132).unwrap().end.unwrap().event, "answer");
    }
}
