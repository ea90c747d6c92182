//! Event streams (server-sent events of the HTML standard): progress events, then the answer.
//!
//! A stream has no state but its connection: its events are read from rows. So a client resumes after its last event
//! (`Last-Event-ID`) at any process.
//!
//! A stream ends with its last event: `answer`, or `problem`, which gives the reason why there is no answer. A stream
//! without such an event has broken off, and can be resumed: its process stops, its client reads too slowly, or it has
//! reached its maximum duration and the client must authenticate again. If the account or the login ends meanwhile, the
//! stream ends with a `problem`.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{Stream, stream::unfold};
use http_errors::ApiError;
use tokio::{sync::watch, time::Instant};

use crate::{
    access::StreamAccess,
    fields::{Faults, InputValue, integer},
    gzip::weight,
};

mod open;
mod readers;

use open::OpenStream;
pub use open::Streams;
use readers::{EventBuffer, NextEvents, Reader, problem};
pub use readers::{Source, SourceRead};

/// Media type of event streams.
pub const EVENT_STREAM: &str = "text/event-stream";

/// Header that resumes a stream.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Header that keeps nginx, and proxies that honour it, from buffering events.
const UNBUFFERED: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

/// Interval of keep-alive comments.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Reconnection delay after a broken stream.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Maximum duration of a stream.
const MAX_DURATION: Duration = Duration::from_secs(900);

/// Interval of re-checking the reader's account. Most checks hit the identity cache, which is at most half a minute
/// old.
const ACCOUNT_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Largest event number: JavaScript's largest safe integer.
const MAX_EVENT_NUMBER: i64 = (1 << 53) - 1;

/// Shutdown signal of streams.
#[derive(Debug, Clone, Default)]
pub struct ShutdownSignal(Option<watch::Receiver<bool>>);

impl ShutdownSignal {
    /// Creates the signal that fires when `closing` is true.
    pub fn once(closing: watch::Receiver<bool>) -> Self {
        Self(Some(closing))
    }

    async fn closed(&mut self) {
        match &mut self.0 {
            // A dropped sender means that the process has ended.
            Some(closing) => drop(closing.wait_for(|closing| *closing).await),
            None => std::future::pending().await,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for ShutdownSignal {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// Returns true if `Accept` names an event stream, and gives JSON less weight (RFC 9110, section 12.5.1). Clients
/// that accept anything, or weigh both alike, get JSON.
pub fn asks_for_events(headers: &HeaderMap) -> bool {
    let named = |kind| weight(headers, header::ACCEPT, kind);
    let Some(stream) = named(EVENT_STREAM).filter(|&weight| weight > 0.0) else { return false };
    match named("application/json") {
        Some(json) => stream > json,
        None => stream >= named("application/*").or_else(|| named("*/*")).unwrap_or(0.0),
    }
}

/// Reads the number of the last event that the client received; 0 if there is none.
///
/// # Errors
/// Fails if the header is no event number.
pub fn last_event(headers: &HeaderMap) -> Result<i64, ApiError> {
    // An empty header means that there was no event (HTML standard, server-sent events).
    let Some(value) = headers.get(LAST_EVENT_ID).filter(|value| !value.is_empty()) else { return Ok(0) };
    let mut faults = Faults::default();
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let number = integer(0, Some(MAX_EVENT_NUMBER))(&InputValue::Query(text));
    let number =
        number.map_err(|fault| faults.push(fault.at(["header".into(), LAST_EVENT_ID.as_str().into()]))).ok();
    faults.settle(number)
}

/// Prerequisites of a stream: its reader is authorised, and its process is not stopping.
pub struct StreamContext {
    access: StreamAccess,
    closing: ShutdownSignal,
    streams: Streams,
}

impl<S> FromRequestParts<S> for StreamContext
where
    S: Send + Sync,
    Streams: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(closing) = ShutdownSignal::from_request_parts(parts, state).await;
        Ok(Self {
            access: StreamAccess::from_request_parts(parts, state).await?,
            closing,
            streams: Streams::from_ref(state),
        })
    }
}

impl StreamContext {
    /// Opens a stream.
    ///
    /// # Errors
    /// Fails if the account has its maximum of streams open, or on a database error.
    pub async fn open(self) -> Result<AdmittedStream, ApiError> {
        let open = self.streams.open(self.access.account_id()).await?;
        Ok(AdmittedStream { open, access: self.access, closing: self.closing })
    }
}

/// Admitted stream, ready to be sent.
pub struct AdmittedStream {
    open: OpenStream,
    access: StreamAccess,
    closing: ShutdownSignal,
}

impl AdmittedStream {
    /// Streams the events at `address` after number `after`; clients resume at the same address. The events come from
    /// the reader that the account's other streams share, or else from the source that `begin` makes.
    pub async fn respond<S: Source>(
        self,
        address: &str,
        after: i64,
        begin: impl Future<Output = Result<S, ApiError>>,
    ) -> Result<Response, ApiError> {
        let account_id = self.access.account_id();
        let reader = self.open.streams.readers.reader(account_id, address, after, begin).await?;
        let sending = StreamState {
            buffer: reader.buffer.clone(),
            _reader: reader,
            opened: self,
            after,
            recheck: Instant::now() + ACCOUNT_CHECK_INTERVAL,
            end: Instant::now() + MAX_DURATION,
            waiting: VecDeque::new(),
            is_over: false,
            has_begun: false,
        };
        let kept_alive = KeepAlive::new().interval(HEARTBEAT);
        let mut response = Sse::new(sending.events()).keep_alive(kept_alive).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(UNBUFFERED.0, HeaderValue::from_static(UNBUFFERED.1));
        let address = HeaderValue::try_from(address).expect("streams: addresses are plain ASCII");
        headers.insert(header::CONTENT_LOCATION, address);
        Ok(response)
    }
}

/// Stream in progress.
struct StreamState {
    buffer: watch::Receiver<EventBuffer>,
    _reader: Arc<Reader>,
    opened: AdmittedStream,
    /// Number of the last event taken from the reader.
    after: i64,
    /// Time of the next account check.
    recheck: Instant,
    /// Time when the stream breaks off if it has not ended.
    end: Instant,
    waiting: VecDeque<Event>,
    /// Set when nothing follows the waiting events.
    is_over: bool,
    has_begun: bool,
}

impl StreamState {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        unfold(self, async |mut sending| sending.next().await.map(|event| (Ok(event), sending)))
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(self.begin(event));
            }
            if self.is_over {
                return None;
            }
            let next = self.buffer.borrow_and_update().after(self.after)?;
            match self.recheck(&next).await {
                Ok(()) => self.take_in(next),
                // The check is repeated once the database answers again.
                Err(ApiError::Unavailable { .. }) => {}
                Err(error) => self.finish("problem", &problem(error)),
            }
            if !self.waiting.is_empty() {
                continue;
            }
            tokio::select! {
                // A reader that is gone without an end has failed.
                changed = self.buffer.changed() => changed.ok()?,
                () = self.opened.closing.closed() => return None,
                () = tokio::time::sleep_until(self.end) => return None,
                () = tokio::time::sleep_until(self.recheck) => {}
            }
        }
    }

    /// Re-checks the account periodically, and before the end: the streams of a disabled account end.
    async fn recheck(&mut self, next: &NextEvents) -> Result<(), ApiError> {
        if next.end.is_none() && Instant::now() < self.recheck {
            return Ok(());
        }
        self.recheck = Instant::now() + ACCOUNT_CHECK_INTERVAL;
        self.opened.access.check().await
    }

    /// Adds the reconnection delay to the first event.
    fn begin(&mut self, event: Event) -> Event {
        if std::mem::replace(&mut self.has_begun, true) { event } else { event.retry(RECONNECT_DELAY) }
    }

    fn take_in(&mut self, next: NextEvents) {
        for stored in next.events {
            self.after = stored.number;
            self.waiting.push_back(event(stored.number, &stored.event, &stored.data));
        }
        if let Some(end) = next.end {
            self.finish(end.event, &end.data);
        }
    }

    fn finish(&mut self, kind: &str, data: &str) {
        self.waiting.push_back(event(self.after + 1, kind, data));
        self.is_over = true;
    }
}

fn event(number: i64, kind: impl AsRef<str>, data: &str) -> Event {
    Event::default().id(number.to_string()).event(kind).data(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_that_prefers_event_streams_gets_one() {
        let cases = [
            ("text/event-stream", true),
            ("Text/Event-Stream", true),
            ("text/event-stream, */*", true),
            ("text/event-stream, application/json;q=0.9", true),
            ("text/event-stream;q=0.5, */*;q=0.1", true),
            ("*/*", false),
            ("text/*", false),
            ("application/json", false),
            ("application/json, text/event-stream", false),
            ("application/json, text/event-stream;q=0.9", false),
            ("text/event-stream;q=0.5, application/*", false),
            ("text/event-stream;q=0", false),
            ("text/event-stream;q=much", false),
            ("text/event-streams", false),
        ];
        for (value, asked) in cases {
            let headers = HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())]);

            assert_eq!(asks_for_events(&headers), asked, "{value}");
        }
        assert!(!asks_for_events(&HeaderMap::new()));
    }

    #[test]
    fn the_last_event_is_a_whole_number_or_a_fault_of_its_header() {
        let last = |text: &str| last_event(&HeaderMap::from_iter([(LAST_EVENT_ID, text.parse().unwrap())]));

        assert_eq!(last_event(&HeaderMap::new()).unwrap(), 0);
        assert_eq!(last("1764000000000").unwrap(), 1_764_000_000_000);
        assert_eq!(last("").unwrap(), 0);
        for text in ["-1", "1.5", "x", "9007199254740992"] {
            let Err(ApiError::Invalid(items)) = last(text) else { panic!("{text} is taken") };
            assert_eq!(
                items[0].loc,
                ["header".into(), "last-event-id".into()] as [contract::Location; 2],
                "{text}"
            );
        }
    }
}
