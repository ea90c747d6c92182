//! Trace context as a plain map, with the names of W3C Trace Context (`traceparent`, `tracestate`).
//!
//! A map and not a type of OpenTelemetry, because it is stored in a job, where every later version must be able to
//! read it. A `BTreeMap` is always written in the same order.

use std::collections::BTreeMap;

use opentelemetry::{
    global,
    propagation::{Extractor, Injector},
};
use tracing::Span;
use tracing_opentelemetry::{OpenTelemetrySpanExt, SetParentError};

use crate::variables::variable;

/// Returns the context of the current span; empty if there is none or tracing is off.
#[must_use]
pub fn inject() -> BTreeMap<String, String> {
    inject_of(&Span::current())
}

/// Returns the context in which this process was started, from its environment (OpenTelemetry, "Environment Variables
/// as Context Propagation Carriers"): `TRACEPARENT` and `TRACESTATE`.
#[must_use]
pub fn surrounding() -> BTreeMap<String, String> {
    let named = ["traceparent", "tracestate"].into_iter();
    named.filter_map(|name| Some((name.to_owned(), variable(&name.to_ascii_uppercase())?))).collect()
}

/// Returns the context of `span`.
pub(crate) fn inject_of(span: &Span) -> BTreeMap<String, String> {
    let mut carrier = BTreeMap::new();
    let context = span.context();
    global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut Writer(&mut carrier));
    });
    carrier
}

/// Makes `span` a child of the span whose context [`inject`] wrote into `carrier`.
///
/// An empty or unreadable carrier leaves the span as it is. Call it before the span is first
/// entered, cloned into an `Instrumented` future or asked for its context: a started span keeps its
/// parent.
pub fn set_parent(span: &Span, carrier: &BTreeMap<String, String>) {
    if carrier.is_empty() {
        return;
    }
    let parent = global::get_text_map_propagator(|propagator| propagator.extract(&Reader(carrier)));
    if let Err(SetParentError::AlreadyStarted) = span.set_parent(parent) {
        tracing::warn!("a span was given its parent after it had started; its trace is cut there");
    }
}

struct Writer<'a>(&'a mut BTreeMap<String, String>);

impl Injector for Writer<'_> {
    fn set(&mut self, key: &str, value: String) {
        // An empty `tracestate` carries no information and would be stored with every job.
        if !value.is_empty() {
            self.0.insert(key.to_owned(), value);
        }
    }
}

struct Reader<'a>(&'a BTreeMap<String, String>);

impl Extractor for Reader<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
