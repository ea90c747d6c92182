//! Reads streams of events as a client does.

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

/// An event: its number, its name and what it says.
pub type Event = (i64, String, Value);

/// A stream that is being read.
pub struct Reader {
    response: Response,
    text: String,
}

impl Reader {
    /// Of what `request` answers, which has to be a stream.
    pub async fn of(request: RequestBuilder) -> Self {
        let response = request.header("accept", "text/event-stream").send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// A header of the answer, empty where it has none.
    pub fn header(&self, name: &str) -> &str {
        self.response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Where the stream is gone on with.
    pub fn location(&self) -> String {
        self.header("content-location").to_owned()
    }

    /// The next event; `None` at the stream's end, however it ends.
    pub async fn next(&mut self) -> Option<Event> {
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

    /// All that is left.
    pub async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// What a block of lines says; `None` for a sign of life.
fn read(block: &str) -> Option<Event> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
    let data = field("data:")?;
    Some((field("id:")?.parse().unwrap(), field("event:")?.to_owned(), serde_json::from_str(data).unwrap()))
}
