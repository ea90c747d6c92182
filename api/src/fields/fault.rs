//! What is wrong with a request, and where.

use contract::{ErrorItem, Location};

use edge::ApiError;

use crate::checks::Stop;

/// What is wrong with one value.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) kind: &'static str,
    msg: String,
    /// Where in the value, if it has parts.
    within: Vec<Location>,
}

impl Fault {
    pub fn new(kind: &'static str, msg: impl Into<String>) -> Self {
        Self { kind, msg: msg.into(), within: Vec::new() }
    }

    /// The fault as one of the value whose part `part` has it.
    pub fn within(mut self, part: impl Into<Location>) -> Self {
        self.within.insert(0, part.into());
        self
    }

    /// The fault with its place.
    pub fn at<const N: usize>(self, loc: [Location; N]) -> ErrorItem {
        self.inside(&[], loc)
    }

    /// The same inside of other places.
    pub(super) fn inside<const N: usize>(self, around: &[Location], loc: [Location; N]) -> ErrorItem {
        let loc = around.iter().cloned().chain(loc).chain(self.within).collect();
        ErrorItem { loc, msg: self.msg, kind: self.kind.to_owned() }
    }
}

/// The most faults that an answer tells of.
const MOST_FAULTS: usize = 100;

/// The faults of one request, in the order in which its parts are read.
#[derive(Debug, Default)]
pub struct Faults {
    pub(super) items: Vec<ErrorItem>,
    /// Reading stops at it.
    stop: Stop,
}

impl Faults {
    /// Notes a fault; beyond the first [`MOST_FAULTS`] nobody reads on.
    pub fn push(&mut self, item: ErrorItem) {
        if self.items.len() < MOST_FAULTS {
            self.items.push(item);
        }
    }

    /// Stops the reading at `stop`.
    pub fn stop_by(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// The sign at which reading stops: nobody waits for what is read.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The value, if nothing at all was wrong.
    pub fn settle<T>(self, value: Option<T>) -> Result<T, ApiError> {
        match value {
            _ if self.stop.is_set() => Err(ApiError::late()),
            Some(value) if self.items.is_empty() => Ok(value),
            _ => Err(ApiError::Invalid(self.items)),
        }
    }
}
