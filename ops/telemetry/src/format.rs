//! Log lines that carry their trace id.
//!
//! `tracing-subscriber`'s formatters cannot take a further field. So they format the line, and the ids are inserted
//! afterwards: before the other members of a JSON object, at the end of a text line.

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

use crate::statements::is_fast_statement;

/// Format of an event's line: human-readable text ([`Full`]), or a JSON object ([`Json`]).
pub(crate) struct LineFormat<F> {
    pub(crate) format: Format<F>,
    /// True if SQL statements are logged too.
    pub(crate) shows_statements: bool,
}

impl<F> LineFormat<F> {
    fn passes_over(&self, event: &Event<'_>) -> bool {
        !self.shows_statements && is_fast_statement(event.metadata())
    }
}

impl<S, N> FormatEvent<S, N> for LineFormat<Full>
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
        if self.passes_over(event) {
            return Ok(());
        }
        let Some((trace_id, _)) = trace_and_span_ids() else {
            return self.format.format_event(context, writer, event);
        };

        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        writeln!(writer, "{} trace_id={trace_id}", line.trim_end())
    }
}

impl<S, N> FormatEvent<S, N> for LineFormat<Json>
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
        if self.passes_over(event) {
            return Ok(());
        }
        let Some((trace_id, span_id)) = trace_and_span_ids() else {
            return self.format.format_event(context, writer, event);
        };

        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        match line.strip_prefix('{') {
            Some(members) => {
                write!(writer, r#"{{"trace_id":"{trace_id}","span_id":"{span_id}",{members}"#)
            }
            None => writer.write_str(&line),
        }
    }
}

/// Returns the ids of the event's trace and span.
fn trace_and_span_ids() -> Option<(String, String)> {
    let context = Context::current();
    let span = context.span();
    let span = span.span_context();
    span.is_valid().then(|| (span.trace_id().to_string(), span.span_id().to_string()))
}
