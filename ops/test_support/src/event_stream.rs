//! Test client for event streams.

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

/// Event: its number, its name and its data.
pub type ReceivedEvent = (i64, String, Value);

/// Open event stream.
#[derive(Debug)]
pub struct EventReader {
    response: Response,
    text: String,
}

impl EventReader {
    /// Opens the stream that `request` returns.
    ///
    /// # Panics
    /// Panics if the answer is no stream.
    pub async fn of(request: RequestBuilder) -> Self {
        let response = request.header("accept", "text/event-stream").send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// Returns a header of the answer; empty if absent.
    ///
    /// # Panics
    /// Panics if the header is no text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the address at which the stream is resumed.
    #[must_use]
    pub fn location(&self) -> String {
        self.header("content-location").to_owned()
    }

    /// Returns the next event; `None` at the end of the stream, however it ends.
    ///
    /// # Panics
    /// Panics if the event does not have the service's form.
    pub async fn next(&mut self) -> Option<ReceivedEvent> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let event = read(block);
                self.text = rest.to_owned();
                match event {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            self.text += std::str::from_utf8(&chunk).unwrap();
        }
    }

    /// Returns all remaining events.
    pub async fn rest(mut self) -> Vec<ReceivedEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Parses a block of lines; `None` for a keep-alive comment.
fn read(block: &str) -> Option<ReceivedEvent> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
    let data = field("data:")?;
    Some((field("id:")?.parse().unwrap(), field("event:")?.to_owned(), serde_json::from_str(data).unwrap()))
}
