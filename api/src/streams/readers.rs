//! Readers that streams share.
//!
//! All streams of an account at one address share one reader in each process, so they cost the database as much as
//! one stream. The reader buffers its events up to a limit. A stream that falls behind the buffer breaks off. It
//! resumes with another reader that starts at the stream's position.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Weak},
};

use contract::StreamProblem;
use http_errors::ApiError;
use parking_lot::Mutex;
use queue::JobEvent;
use tokio::{sync::watch, task::AbortHandle};

/// Buffer size in bytes beyond which a reader keeps at most [`MIN_BUFFERED_EVENTS`] events.
const MAX_BUFFER_BYTES: usize = 4 << 20;

/// Most events that a stream takes at once.
const PAGE: usize = 64;

/// Events that are kept whatever their size, so that a resumed stream always makes progress.
const MIN_BUFFERED_EVENTS: usize = 2 * PAGE;

/// Source of a stream's events.
pub trait Source: Send + 'static {
    /// Reads the events after number `after`; the end comes only after all events.
    fn read_after(&mut self, after: i64) -> impl Future<Output = Result<SourceRead, ApiError>> + Send;

    /// Waits until there may be more events.
    fn wait_for_change(&mut self) -> impl Future<Output = ()> + Send;
}

/// Events and end that a source returned.
#[derive(Debug)]
pub struct SourceRead {
    /// Events in order.
    pub events: Vec<JobEvent>,
    /// End of the stream, if reached: the answer as JSON, or an error.
    pub end: Option<Result<String, ApiError>>,
}

/// The readers of a process, by account and address.
type ByAddress = HashMap<(String, String), Weak<Reader>>;

/// Readers of the process, by account and address. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Readers(Arc<Mutex<ByAddress>>);

impl Readers {
    /// Returns the reader of `address` that has all events after number `after`. If the account has none, `begin`
    /// makes its source.
    pub(super) async fn reader<S: Source>(
        &self,
        account_id: &str,
        address: &str,
        after: i64,
        begin: impl Future<Output = Result<S, ApiError>>,
    ) -> Result<Arc<Reader>, ApiError> {
        let key = (account_id.to_owned(), address.to_owned());
        let found = reader(&self.0.lock(), &key, after);
        if let Some(reader) = found {
            return Ok(reader);
        }
        let source = begin.await?;
        let mut readers = self.0.lock();
        // Another stream may have started one meanwhile.
        if let Some(reader) = reader(&readers, &key, after) {
            return Ok(reader);
        }
        let reader = Arc::new(Reader::begin(source, after));
        readers.retain(|_, reader| reader.strong_count() > 0);
        readers.insert(key, Arc::downgrade(&reader));
        Ok(reader)
    }
}

/// Returns the reader at `key` that has all events after number `after`.
fn reader(readers: &ByAddress, key: &(String, String), after: i64) -> Option<Arc<Reader>> {
    let reader = readers.get(key)?.upgrade()?;
    let has_all = reader.buffer.borrow().floor <= after;
    has_all.then_some(reader)
}

/// Task that reads a source while streams hold it.
pub(super) struct Reader {
    pub(super) buffer: watch::Receiver<EventBuffer>,
    task: AbortHandle,
}

impl Reader {
    fn begin(source: impl Source, after: i64) -> Self {
        let (sender, buffer) = watch::channel(EventBuffer { floor: after, ..EventBuffer::default() });
        Self { buffer, task: tokio::spawn(read(source, after, sender)).abort_handle() }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(mut source: impl Source, mut after: i64, sender: watch::Sender<EventBuffer>) {
    loop {
        match source.read_after(after).await {
            Ok(SourceRead { events, end }) => {
                let (is_over, is_new) = (end.is_some(), !events.is_empty());
                after = events.last().map_or(after, |event| event.number);
                sender.send_if_modified(|buffer| {
                    buffer.add(events, end);
                    is_over || is_new
                });
                if is_over {
                    return;
                }
                if is_new {
                    continue;
                }
            }
            // The database recovers, and so does the stream.
            Err(ApiError::Unavailable { .. }) => {}
            Err(error) => {
                sender.send_modify(|buffer| buffer.add(Vec::new(), Some(Err(error))));
                return;
            }
        }
        source.wait_for_change().await;
    }
}

/// Events that a reader has buffered.
#[derive(Default)]
pub(super) struct EventBuffer {
    /// Number after which all events are kept.
    floor: i64,
    events: VecDeque<Arc<JobEvent>>,
    bytes: usize,
    end: Option<Arc<End>>,
}

/// Last event of a stream.
#[derive(Debug)]
pub(super) struct End {
    pub(super) event: &'static str,
    pub(super) data: String,
}

/// Next events for a stream, and the end when none are left.
#[derive(Debug, Default)]
pub(super) struct NextEvents {
    pub(super) events: Vec<Arc<JobEvent>>,
    pub(super) end: Option<Arc<End>>,
}

impl EventBuffer {
    fn add(&mut self, events: Vec<JobEvent>, end: Option<Result<String, ApiError>>) {
        for event in events {
            self.bytes += event.data.len();
            self.events.push_back(Arc::new(event));
        }
        while self.bytes > MAX_BUFFER_BYTES && self.events.len() > MIN_BUFFERED_EVENTS {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.data.len();
            self.floor = oldest.number;
        }
        self.end = end.map(|end| match end {
            Ok(data) => Arc::new(End { event: "answer", data }),
            Err(error) => Arc::new(End { event: "problem", data: problem(error) }),
        });
    }

    /// Returns the buffered events after number `after`; `None` if some of them are no longer kept.
    pub(super) fn after(&self, after: i64) -> Option<NextEvents> {
        if after < self.floor {
            return None;
        }
        let first = self.events.partition_point(|event| event.number <= after);
        let events: Vec<_> = self.events.range(first..).take(PAGE).cloned().collect();
        let end = if events.is_empty() { self.end.clone() } else { None };
        Some(NextEvents { events, end })
    }
}

/// Serialises the `problem` that ends a stream.
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
    fn a_stream_that_falls_behind_breaks_off() {
        let mut buffer = EventBuffer { floor: 3, ..EventBuffer::default() };
        buffer.add(vec![event(4, MAX_BUFFER_BYTES)], None);
        assert_eq!(buffer.after(3).unwrap().events.len(), 1, "the newest are kept whatever their size");

        buffer.add((5..=132).map(|number| event(number, 1)).collect(), Some(Ok("{}".to_owned())));

        assert!(buffer.after(3).is_none());
        let next = buffer.after(4).unwrap();
        assert_eq!((next.events.len(), next.events[0].number), (PAGE, 5));
        assert!(next.end.is_none());
        assert_eq!(buffer.after(132).unwrap().end.unwrap().event, "answer");
    }
}
