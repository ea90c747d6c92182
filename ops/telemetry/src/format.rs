//! Log lines that carry the trace they belong to.
//!
//! `tracing-subscriber`'s formatters cannot take a further field, so the line is formatted by them
//! and the ids are put in afterwards: in front of the other members of a JSON object, at the end of
//! a text line.

use std::fmt;

use opentelemetry::{Context, trace::TraceContextExt};
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{Format, Full, Json, Writer},
    },
    registry::LookupSpan,
};

/// One human-readable line an event.
pub(crate) struct Text(pub(crate) Format<Full>);

/// One JSON object an event.
pub(crate) struct JsonLines(pub(crate) Format<Json>);

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some((trace_id, _)) = ids() else { return self.0.format_event(context, writer, event) };

        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        writeln!(writer, "{} trace_id={trace_id}", line.trim_end())
    }
}

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some((trace_id, span_id)) = ids() else { return self.0.format_event(context, writer, event) };

        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        match line.strip_prefix('{') {
            Some(members) => {
                write!(writer, r#"{{"trace_id":"{trace_id}","span_id":"{span_id}",{members}"#)
            }
            None => writer.write_str(&line),
        }
    }
}

/// The trace and span that the event is in.
fn ids() -> Option<(String, String)> {
    let context = Context::current();
    let span = context.span();
    let span = span.span_context();
    span.is_valid().then(|| (span.trace_id().to_string(), span.span_id().to_string()))
}
