//! Reads the environment and installs the subscriber.
//!
//! The filter is global, not one per layer: a per-layer `EnvFilter` on the OpenTelemetry layer loses
//! the first span after a query of sqlx. So `RUST_LOG=warn` silences spans as well as log lines.
//!
//! Spans get their ids whether or not they are exported, so that log lines of one request can be
//! told from the others' in every installation. They are exported only where the operator names an
//! endpoint; the rest (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`,
//! `OTEL_BSP_*`, headers, time-outs) the SDK reads for itself as the OpenTelemetry specification,
//! "Environment Variable Specification", says.

use std::{
    env,
    io::{self, IsTerminal as _},
};

use opentelemetry::{global, trace::TracerProvider};
use opentelemetry_otlp::{
    ExporterBuildError, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, SpanExporter,
};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::ParseError,
    fmt,
    layer::SubscriberExt,
    registry::LookupSpan,
    util::{SubscriberInitExt, TryInitError},
};

use crate::format::{JsonLines, Text};

/// What is logged when `RUST_LOG` does not say otherwise. The exporter's own transport is kept quiet
/// under every general level: its lines would be about sending the last lines. So are notices of PostgreSQL,
/// which say at every start that what a migration would make is there.
const DEFAULT_FILTER: &str = "info,opentelemetry=warn,opentelemetry_sdk=warn,opentelemetry-otlp=warn,\
                              h2=warn,hyper=warn,hyper_util=warn,tonic=warn,tower=warn,reqwest=warn,\
                              sqlx::postgres::notice=warn";

/// Why logging and tracing could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// `RUST_LOG` is not a list of directives.
    #[error("RUST_LOG: {0}")]
    Filter(#[from] ParseError),
    /// `LOG_FORMAT` names no format.
    #[error("LOG_FORMAT is `{0}`, wanted `text` or `json`")]
    Format(String),
    /// The exporter could not be built from the `OTEL_EXPORTER_OTLP_*` variables.
    #[error("traces cannot be exported: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// Export over gRPC was asked for outside a Tokio runtime.
    #[error("traces cannot be exported over gRPC outside a Tokio runtime")]
    NoRuntime,
    /// A subscriber is installed already.
    #[error(transparent)]
    Installed(#[from] TryInitError),
}

/// Keeps the export of traces alive; dropping it sends what is still held, for 5 s at most.
///
/// Drop it inside the Tokio runtime that [`init`] was called in, on a thread that may block: the end
/// of an `async fn main` is such a place.
#[derive(Debug)]
#[must_use = "spans that are not yet sent are lost when the guard is dropped at once"]
pub struct Guard {
    provider: Option<SdkTracerProvider>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(provider) = &self.provider
            && let Err(error) = provider.shutdown()
        {
            tracing::warn!("the last spans were not exported: {error}");
        }
    }
}

/// Installs logging and tracing for this process, which is called `service_name` in traces unless
/// `OTEL_SERVICE_NAME` says otherwise.
///
/// Reads `RUST_LOG` (default `info`), `LOG_FORMAT` (`text`, the default, or `json`; on standard
/// error) and the `OTEL_*` variables. Traces are exported over OTLP when `OTEL_EXPORTER_OTLP_ENDPOINT`
/// or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set, over gRPC unless `OTEL_EXPORTER_OTLP_PROTOCOL` says
/// `http/protobuf`. `OTEL_SDK_DISABLED=true` turns traces and their ids off.
///
/// # Errors
/// Fails when a variable cannot be understood or a subscriber is installed already.
pub fn init(service_name: &'static str) -> Result<Guard, InitError> {
    let filter = filter()?;
    let lines = lines()?;
    global::set_text_map_propagator(TraceContextPropagator::new());
    let provider = provider(service_name)?;
    let spans = provider
        .as_ref()
        .map(|provider| tracing_opentelemetry::layer().with_tracer(provider.tracer(service_name)));

    tracing_subscriber::registry().with(filter).with(spans).with(lines).try_init()?;
    Ok(Guard { provider })
}

fn filter() -> Result<EnvFilter, ParseError> {
    // A later directive replaces an earlier one for the same target.
    match variable("RUST_LOG") {
        Some(directives) => EnvFilter::try_new(format!("{DEFAULT_FILTER},{directives}")),
        None => EnvFilter::try_new(DEFAULT_FILTER),
    }
}

fn lines<S>() -> Result<Box<dyn Layer<S> + Send + Sync>, InitError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let colours = io::stderr().is_terminal() && variable("NO_COLOR").is_none();
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(colours);
    match variable("LOG_FORMAT").as_deref() {
        None | Some("text") => Ok(lines.event_format(Text(fmt::format())).boxed()),
        Some("json") => {
            Ok(lines.json().event_format(JsonLines(fmt::format().json().flatten_event(true))).boxed())
        }
        Some(other) => Err(InitError::Format(other.to_owned())),
    }
}

fn provider(service_name: &'static str) -> Result<Option<SdkTracerProvider>, InitError> {
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    // The resource detectors read the operator's name, but a name set in code would win over it.
    let named = variable("OTEL_SERVICE_NAME").is_some()
        || variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|list| list.contains("service.name="));
    let mut resource = Resource::builder();
    if !named {
        resource = resource.with_service_name(service_name);
    }

    let mut provider = SdkTracerProvider::builder().with_resource(resource.build());
    if let Some(exporter) = exporter()? {
        provider = provider.with_batch_exporter(exporter);
    }
    Ok(Some(provider.build()))
}

fn exporter() -> Result<Option<SpanExporter>, InitError> {
    let wanted = [OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT]
        .into_iter()
        .any(|name| variable(name).is_some())
        && variable("OTEL_TRACES_EXPORTER").is_none_or(|exporters| exporters != "none");
    if !wanted {
        return Ok(None);
    }
    let protocol =
        variable(OTEL_EXPORTER_OTLP_TRACES_PROTOCOL).or_else(|| variable(OTEL_EXPORTER_OTLP_PROTOCOL));
    let exporter = match protocol.as_deref() {
        None | Some("grpc") if tokio::runtime::Handle::try_current().is_err() => {
            return Err(InitError::NoRuntime);
        }
        None => SpanExporter::builder().with_tonic().build()?,
        Some(_) => {
            // Built together with `retort`, the HTTP client has TLS and panics when no provider of it is
            // there. A second installation is refused, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            SpanExporter::builder().build()?
        }
    };
    Ok(Some(exporter))
}

/// A variable that is set to the empty string counts as unset, as the specification says.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
