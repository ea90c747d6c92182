//! Faults of a request, with their locations.

use contract::{ErrorItem, Location};

use http_errors::ApiError;

use crate::body_validation::CancelFlag;

/// Fault of one value.
#[derive(Debug, PartialEq, Eq)]
pub struct FieldFault {
    pub(super) kind: &'static str,
    msg: String,
    /// Location within the value, if it has parts.
    within: Vec<Location>,
}

impl FieldFault {
    pub fn new(kind: &'static str, msg: impl Into<String>) -> Self {
        Self { kind, msg: msg.into(), within: Vec::new() }
    }

    /// Moves the fault one level up: from `part` to the value that contains it.
    pub fn within(mut self, part: impl Into<Location>) -> Self {
        self.within.insert(0, part.into());
        self
    }

    /// Adds the location to the fault.
    pub fn at<const N: usize>(self, loc: [Location; N]) -> ErrorItem {
        self.inside(&[], loc)
    }

    /// Adds the location, prefixed with the enclosing one.
    pub(super) fn inside<const N: usize>(self, around: &[Location], loc: [Location; N]) -> ErrorItem {
        let loc = around.iter().cloned().chain(loc).chain(self.within).collect();
        ErrorItem { loc, msg: self.msg, kind: self.kind.to_owned() }
    }
}

/// Maximum number of faults in an answer.
const MAX_FAULTS: usize = 100;

/// Faults of one request, in the order in which its parts are parsed.
#[derive(Debug, Default)]
pub struct Faults {
    pub(super) items: Vec<ErrorItem>,
    /// Cancellation flag; parsing ends when it is set.
    stop: CancelFlag,
}

impl Faults {
    /// Records a fault; those beyond the first [`MAX_FAULTS`] are dropped.
    pub fn push(&mut self, item: ErrorItem) {
        if self.items.len() < MAX_FAULTS {
            self.items.push(item);
        }
    }

    /// Sets the cancellation flag of the parsing.
    pub fn stop_by(&mut self, stop: CancelFlag) {
        self.stop = stop;
    }

    /// Cancellation flag of the parsing, set when the client no longer waits.
    pub fn stop(&self) -> &CancelFlag {
        &self.stop
    }

    /// Returns the value if there was no fault at all.
    pub fn settle<T>(self, value: Option<T>) -> Result<T, ApiError> {
        match value {
            _ if self.stop.is_set() => Err(ApiError::late()),
            Some(value) if self.items.is_empty() => Ok(value),
            _ => Err(ApiError::Invalid(self.items)),
        }
    }
}
