//! Streams of events (the HTML standard's server-sent events): what is told before an answer, and then the answer.
//!
//! A stream holds nothing but its connection: what it sends is read from rows, so that who loses it goes on from the last event that they
//! had (`Last-Event-ID`) at any process. One that ends without `answer` or `problem` is to be gone on with: its process stops, or it has
//! lasted so long that whoever reads it should show once more who they are. One whose account or login ends meanwhile ends with a `problem`.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use edge::ApiError;
use futures::{Stream, stream::unfold};
use tokio::{sync::watch, time::Instant};

use crate::{
    access::Access,
    fields::{Faults, Input, integer},
    gzip::weight,
};

mod open;
mod readers;

use open::OpenStream;
pub use open::Streams;
pub use readers::{Look, Source};
use readers::{Next, Reader, Told, problem};

/// What a stream is called where types of content are named.
pub const EVENT_STREAM: &str = "text/event-stream";

/// The header by which a stream is gone on with.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Keeps nginx, and those who heed its word, from holding events back.
const UNBUFFERED: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

/// From one sign of life to the next.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// When to come back to a stream that broke off.
const COME_BACK: Duration = Duration::from_secs(1);

/// How long a stream lasts at most.
const LONGEST: Duration = Duration::from_secs(900);

/// From one look at the reader's account to the next. Most find what identity remembers, which is half a minute old at most.
const RECHECK: Duration = Duration::from_secs(5);

/// The greatest number of an event: what JavaScript can count to.
const MOST: i64 = (1 << 53) - 1;

/// When streams end because their process does.
#[derive(Debug, Clone, Default)]
pub struct Closing(Option<watch::Receiver<bool>>);

impl Closing {
    /// Once `closing` says so.
    pub fn once(closing: watch::Receiver<bool>) -> Self {
        Self(Some(closing))
    }

    async fn closed(&mut self) {
        match &mut self.0 {
            // A process that can no longer say so has ended.
            Some(closing) => drop(closing.wait_for(|closing| *closing).await),
            None => std::future::pending().await,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Closing {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// Whether `Accept` names a stream, and JSON with no more weight (RFC 9110, section 12.5.1). Who accepts anything gets JSON, and so does who
/// names both alike.
pub fn asks_for_events(headers: &HeaderMap) -> bool {
    let named = |kind| weight(headers, header::ACCEPT, kind);
    let Some(stream) = named(EVENT_STREAM).filter(|&weight| weight > 0.0) else { return false };
    match named("application/json") {
        Some(json) => stream > json,
        None => stream >= named("application/*").or_else(|| named("*/*")).unwrap_or(0.0),
    }
}

/// The number of the last event that the caller had; 0 for who had none.
///
/// # Errors
/// Fails where it is no number of an event.
pub fn last_event(headers: &HeaderMap) -> Result<i64, ApiError> {
    // An empty one says that there was none (HTML standard, server-sent events).
    let Some(value) = headers.get(LAST_EVENT_ID).filter(|value| !value.is_empty()) else { return Ok(0) };
    let mut faults = Faults::default();
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let number = integer(0, Some(MOST))(&Input::Query(text));
    let number =
        number.map_err(|fault| faults.push(fault.at(["header".into(), LAST_EVENT_ID.as_str().into()]))).ok();
    faults.settle(number)
}

/// What a stream is sent under: its reader may read it, and its process goes on.
pub struct Terms {
    access: Access,
    closing: Closing,
    streams: Streams,
}

impl<S> FromRequestParts<S> for Terms
where
    S: Send + Sync,
    Streams: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(closing) = Closing::from_request_parts(parts, state).await;
        Ok(Self {
            access: Access::from_request_parts(parts, state).await?,
            closing,
            streams: Streams::from_ref(state),
        })
    }
}

impl Terms {
    /// Opens a stream.
    ///
    /// # Errors
    /// Fails where the account has as many as it may, and when the database does.
    pub async fn open(self) -> Result<Opened, ApiError> {
        let open = self.streams.open(self.access.account_id()).await?;
        Ok(Opened { _open: open, streams: self.streams, access: self.access, closing: self.closing })
    }
}

/// A stream that can be sent.
pub struct Opened {
    _open: OpenStream,
    streams: Streams,
    access: Access,
    closing: Closing,
}

impl Opened {
    /// The events at `address` after number `after`, where whoever loses the stream goes on. They come from the source that `begin` makes, if the
    /// account's other streams have none.
    pub async fn respond<S: Source>(
        self,
        address: &str,
        after: i64,
        begin: impl Future<Output = Result<S, ApiError>>,
    ) -> Result<Response, ApiError> {
        let account_id = self.access.account_id();
        let reader = self.streams.readers.reader(account_id, address, after, begin).await?;
        let sending = Sending {
            told: reader.told.clone(),
            _reader: reader,
            opened: self,
            after,
            recheck: Instant::now() + RECHECK,
            end: Instant::now() + LONGEST,
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

/// A stream under way.
struct Sending {
    told: watch::Receiver<Told>,
    _reader: Arc<Reader>,
    opened: Opened,
    /// The number of the last event that was taken.
    after: i64,
    /// When the account is looked at again.
    recheck: Instant,
    /// When it ends whether there is an answer or not.
    end: Instant,
    waiting: VecDeque<Event>,
    /// Whether nothing comes after what waits.
    is_over: bool,
    has_begun: bool,
}

impl Sending {
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
            let next = self.told.borrow_and_update().after(self.after)?;
            match self.recheck(&next).await {
                Ok(()) => self.take_in(next),
                // Whoever can tell comes back.
                Err(ApiError::Unavailable { .. }) => {}
                Err(error) => self.finish("problem", &problem(error)),
            }
            if !self.waiting.is_empty() {
                continue;
            }
            tokio::select! {
                // A reader that is gone and told no end has failed.
                changed = self.told.changed() => changed.ok()?,
                () = self.opened.closing.closed() => return None,
                () = tokio::time::sleep_until(self.end) => return None,
                () = tokio::time::sleep_until(self.recheck) => {}
            }
        }
    }

    /// Looks again at the account from time to time, and before the end: what an account has open ends when it is disabled.
    async fn recheck(&mut self, next: &Next) -> Result<(), ApiError> {
        if next.end.is_none() && Instant::now() < self.recheck {
            return Ok(());
        }
        self.recheck = Instant::now() + RECHECK;
        self.opened.access.check().await
    }

    /// The first event says when to come back.
    fn begin(&mut self, event: Event) -> Event {
        if std::mem::replace(&mut self.has_begun, true) { event } else { event.retry(COME_BACK) }
    }

    fn take_in(&mut self, next: Next) {
        for told in next.events {
            self.after = told.number;
            self.waiting.push_back(event(told.number, &told.event, &told.data));
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
    fn a_stream_is_for_who_names_it_and_prefers_nothing_else() {
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
