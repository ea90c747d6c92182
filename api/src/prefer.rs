//! Header `Prefer` (RFC 7240): how a client wants a slow answer.
//!
//! A preference is a wish: an unknown or unreadable one is ignored, and the first of a repeated name counts.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};

/// Header with the client's preferences.
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// Header that names the preference which an answer follows.
pub const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Preference for an immediate answer, whether the work is done or not (section 4.1).
pub const RESPOND_ASYNC: &str = "respond-async";

/// Time that a client waits for the work to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitPreference {
    /// Wait until the work is done.
    UntilDone,
    /// Wait for this time at most (`wait`, section 4.3, in seconds; otherwise zero); the client fetches the result
    /// later.
    For(Duration),
}

/// Reads the waiting time from `headers`.
pub fn wait_preference(headers: &HeaderMap) -> WaitPreference {
    let values: Vec<&str> = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok()).collect();
    let named = |wanted: &str| {
        let mut all = values.iter().flat_map(|value| split(value, ',')).map(preference);
        all.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };
    if named(RESPOND_ASYNC).is_none() {
        return WaitPreference::UntilDone;
    }
    let wait = named("wait").and_then(|seconds| seconds.parse().ok());
    WaitPreference::For(Duration::from_secs(wait.unwrap_or(0)))
}

/// Splits a preference into name and value, without its parameters; the value is empty if there is none.
fn preference(text: &str) -> (&str, String) {
    let text = split(text, ';').next().unwrap_or_default();
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    (name.trim(), quoted.map_or_else(|| value.to_owned(), |quoted| quoted.replace('\\', "")))
}

/// Splits `text` at each `mark` outside quoted strings.
fn split(text: &str, mark: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |letter| {
        let is_end = letter == mark && !is_quoted;
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> WaitPreference {
        wait_preference(&values.iter().map(|value| (PREFER, value.parse().unwrap())).collect())
    }

    #[test]
    fn a_request_without_a_known_preference_waits() {
        let others = [
            "",
            "return=minimal",
            "wait=5",
            "respond-asynchronously",
            "x=\"respond-async\"",
            "x=\"a, respond-async\"",
            "x=\"\\\", respond-async\"",
            "return=minimal; respond-async",
            "= ,;,=\"",
        ];

        for value in others {
            assert_eq!(of(&[value]), WaitPreference::UntilDone, "{value}");
        }
        assert_eq!(of(&[]), WaitPreference::UntilDone);
    }

    #[test]
    fn a_preference_is_found_among_others_in_any_case_with_its_seconds() {
        let cases: [(&[&str], u64); 10] = [
            (&["respond-async"], 0),
            (&["Respond-Async"], 0),
            (&["respond-async; x=y"], 0),
            (&["return=minimal,  respond-async ,x"], 0),
            (&["x=\"a, b\"", "respond-async"], 0),
            (&["respond-async, wait=10"], 10),
            (&["WAIT = \"10\"", "respond-async"], 10),
            (&["respond-async, wait=10, wait=20"], 10),
            (&["respond-async, wait=soon"], 0),
            (&["respond-async, wait=-1"], 0),
        ];

        for (values, seconds) in cases {
            assert_eq!(of(values), WaitPreference::For(Duration::from_secs(seconds)), "{values:?}");
        }
    }
}
