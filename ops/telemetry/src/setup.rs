//! Reads the environment and installs the subscriber.
//!
//! The filter is global, not one per layer: a per-layer `EnvFilter` on the OpenTelemetry layer loses the first span
//! after a query of sqlx. So `RUST_LOG=warn` silences spans as well as log lines.
//!
//! Spans get ids whether or not they are exported, so that the log lines of one request can be told apart in every
//! installation. Spans, metrics and log lines are exported only if the operator names an endpoint. The SDK itself
//! reads the rest (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`,
//! `OTEL_METRIC_EXPORT_INTERVAL`, headers, time-outs), as in the OpenTelemetry specification, "Environment Variable
//! Specification".

use std::{
    io::{self, IsTerminal as _},
    net::TcpListener,
    str::FromStr as _,
    sync::Mutex,
};

use opentelemetry::{KeyValue, global, metrics::MeterProvider as _, trace::TracerProvider as _};
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_otlp::{ExporterBuildError, LogExporter, MetricExporter, SpanExporter};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    logs::SdkLoggerProvider,
    metrics::SdkMeterProvider,
    propagation::TraceContextPropagator,
    trace::SdkTracerProvider,
};
use prometheus::Registry;
use tracing::Level;
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{ParseError, Targets},
    fmt,
    layer::SubscriberExt,
    registry::LookupSpan,
    util::{SubscriberInitExt, TryInitError},
};
use ulid::Ulid;

use crate::{
    endpoint,
    format::LineFormat,
    logs::LogExportLayer,
    meter::SCOPE,
    process,
    statements::{self, StatementLayer},
    variables::{Protocol, Signal, is_disabled, prometheus_address, variable},
};

/// Default of `RUST_LOG`. The exporter's own transport stays quiet at every general level, because its lines would be
/// about sending the last lines. PostgreSQL's notices stay quiet too: at every start they say that the objects of a
/// migration already exist.
const DEFAULT_FILTER: &str = "info,opentelemetry=warn,opentelemetry_sdk=warn,opentelemetry-otlp=warn,\
                              h2=warn,hyper=warn,hyper_util=warn,tonic=warn,tower=warn,reqwest=warn,\
                              sqlx::postgres::notice=warn";

/// Reason why logging and tracing could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// `RUST_LOG` is not a list of directives.
    #[error("RUST_LOG: {0}")]
    Filter(#[from] ParseError),
    /// `LOG_FORMAT` names no format.
    #[error("LOG_FORMAT is `{0}`, wanted `text` or `json`")]
    Format(String),
    /// An exporter could not be built from the `OTEL_EXPORTER_OTLP_*` variables.
    #[error("nothing can be exported: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// The Prometheus endpoint could not be opened at the address of the `OTEL_EXPORTER_PROMETHEUS_*` variables.
    #[error("OTEL_EXPORTER_PROMETHEUS_HOST, OTEL_EXPORTER_PROMETHEUS_PORT: `{0}`: {1}")]
    Prometheus(String, String),
    /// The metrics registry could not be created.
    #[error(transparent)]
    Metrics(#[from] OTelSdkError),
    /// Export was asked for outside a Tokio runtime.
    #[error("nothing can be exported outside a Tokio runtime")]
    NoRuntime,
    /// A subscriber is already installed.
    #[error(transparent)]
    Installed(#[from] TryInitError),
}

/// Keeps the export alive; dropping it sends the remaining data, for 5 s at most.
///
/// Drop it inside the Tokio runtime in which [`init`] was called, on a thread that may block, such as at the end of
/// an `async fn main`.
#[derive(Debug)]
#[must_use = "what is not yet sent is lost when the guard is dropped at once"]
pub struct Guard {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    logs: Option<SdkLoggerProvider>,
    /// Registry for the Prometheus endpoint, until the endpoint starts.
    registry: Mutex<Option<Registry>>,
}

impl Guard {
    /// Returns true if metrics are exported.
    #[must_use]
    pub fn has_metrics(&self) -> bool {
        self.metrics.is_some()
    }

    /// Serves metrics to Prometheus if the operator named an address. For long-running processes.
    ///
    /// # Errors
    /// Fails if the variables hold no valid address, or the process cannot listen there.
    pub fn serve_prometheus(&self) -> Result<(), InitError> {
        let at_fault = |address: &dyn ToString, error: &dyn ToString| {
            InitError::Prometheus(address.to_string(), error.to_string())
        };
        let address = prometheus_address().map_err(|value| at_fault(&value, &"no address"))?;
        let registry = self.registry.lock().ok().and_then(|mut registry| registry.take());
        let (Some(address), Some(registry)) = (address, registry) else { return Ok(()) };
        let listener = TcpListener::bind(address).map_err(|error| at_fault(&address, &error))?;
        endpoint::serve(registry, listener).map_err(|error| at_fault(&address, &error))?;
        tracing::info!("Prometheus is answered on http://{address}/metrics");
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let warn = |what: &str, ended: OTelSdkResult| {
            if let Err(error) = ended {
                tracing::warn!("the last {what} were not exported: {error}");
            }
        };
        if let Some(traces) = &self.traces {
            warn("spans", traces.shutdown());
        }
        if let Some(metrics) = &self.metrics {
            warn("metrics", metrics.shutdown());
        }
        if let Some(logs) = &self.logs {
            warn("log lines", logs.shutdown());
        }
    }
}

/// Installs logs, traces and metrics for this process, which is called `service_name` unless `OTEL_SERVICE_NAME` says
/// otherwise.
///
/// Reads `RUST_LOG` (default `info`), `LOG_FORMAT` (`text`, the default, or `json`; on standard error) and the
/// `OTEL_*` variables. Spans, metrics and log lines are exported over OTLP if `OTEL_EXPORTER_OTLP_ENDPOINT` or the
/// variable of the single signal (`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`) is set. The protocol is gRPC unless
/// `OTEL_EXPORTER_OTLP_PROTOCOL` is `http/protobuf`. `OTEL_SDK_DISABLED=true` turns off everything except the log on
/// standard error.
///
/// # Errors
/// Fails if a variable is invalid or a subscriber is already installed.
pub fn init(service_name: &'static str) -> Result<Guard, InitError> {
    let (directives, shows_statements) = directives();
    let lines = lines(shows_statements)?;
    global::set_text_map_propagator(TraceContextPropagator::new());
    let resource = resource(service_name);
    let traces = traces(&resource)?;
    let (metrics, registry) = metrics(&resource)?;
    let logs = logs(&resource)?;

    let tracer = traces.as_ref().map(|traces| traces.tracer(SCOPE));
    let spans = tracer.clone().map(|tracer| tracing_opentelemetry::layer().with_tracer(tracer));
    let meter = metrics.as_ref().map(|metrics| metrics.meter(SCOPE));
    // Spans that are not exported are not created.
    let exported = tracer.filter(|_| Signal::Traces.over_otlp().is_some());
    let statements = StatementLayer::new(exported, meter.as_ref());
    let filter = match statements {
        Some(_) => EnvFilter::try_new(format!("{},{directives}", statements::SQLX_DIRECTIVE))?,
        None => EnvFilter::try_new(directives)?,
    };
    let bridge = logs.as_ref().map(|logs| LogExportLayer(OpenTelemetryTracingBridge::new(logs)));

    tracing_subscriber::registry()
        .with(filter)
        .with(spans)
        .with(statements)
        .with(bridge)
        .with(lines)
        .try_init()?;
    if let (Some(metrics), Some(meter)) = (&metrics, &meter) {
        process::observe(meter);
        global::set_meter_provider(metrics.clone());
    }
    Ok(Guard { traces, metrics, logs, registry: Mutex::new(registry) })
}

/// Installs traces alone, for interactive commands, whose standard error is for the user. Spans are exported as by
/// [`init`].
///
/// # Errors
/// Fails if a variable is invalid or a subscriber is already installed.
pub fn init_command(service_name: &'static str) -> Result<Guard, InitError> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let traces = traces(&resource(service_name))?;
    let spans =
        traces.as_ref().map(|traces| tracing_opentelemetry::layer().with_tracer(traces.tracer(SCOPE)));
    tracing_subscriber::registry().with(EnvFilter::try_new(DEFAULT_FILTER)?).with(spans).try_init()?;
    Ok(Guard { traces, metrics: None, logs: None, registry: Mutex::new(None) })
}

/// Returns the filter directives and whether they enable log lines of SQL statements. The operator's directives
/// follow ours, and replace ours for the same target.
fn directives() -> (String, bool) {
    let directives = variable("RUST_LOG")
        .map_or_else(|| DEFAULT_FILTER.to_owned(), |of_operator| format!("{DEFAULT_FILTER},{of_operator}"));
    let targets = Targets::from_str(&directives);
    let shows_statements =
        targets.is_ok_and(|targets| targets.would_enable(statements::SQLX_TARGET, &Level::DEBUG));
    (directives, shows_statements)
}

fn lines<S>(shows_statements: bool) -> Result<Box<dyn Layer<S> + Send + Sync>, InitError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let colours = io::stderr().is_terminal() && variable("NO_COLOR").is_none();
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(colours);
    match variable("LOG_FORMAT").as_deref() {
        None | Some("text") => {
            Ok(lines.event_format(LineFormat { format: fmt::format(), shows_statements }).boxed())
        }
        Some("json") => {
            let format = fmt::format().json().flatten_event(true);
            Ok(lines.json().event_format(LineFormat { format, shows_statements }).boxed())
        }
        Some(other) => Err(InitError::Format(other.to_owned())),
    }
}

/// Returns the attributes of the process that all signals carry.
fn resource(service_name: &'static str) -> Resource {
    // The resource detectors read the operator's names, but names set in code would override them.
    let named = |name: &str| {
        variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|list| list.contains(&format!("{name}=")))
    };
    let mut resource = Resource::builder();
    if !named("service.name") && variable("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name(service_name);
    }
    let own = [
        ("service.namespace", SCOPE.to_owned()),
        ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("service.instance.id", Ulid::generate().to_string()),
        ("process.pid", std::process::id().to_string()),
    ];
    let own = own.into_iter().filter(|(name, _)| !named(name));
    resource.with_attributes(own.map(|(name, value)| KeyValue::new(name, value))).build()
}

fn traces(resource: &Resource) -> Result<Option<SdkTracerProvider>, InitError> {
    if is_disabled() {
        return Ok(None);
    }
    let provider = SdkTracerProvider::builder().with_resource(resource.clone());
    Ok(Some(match over_otlp(Signal::Traces)? {
        None => provider.build(),
        Some(Protocol::Grpc) => {
            provider.with_batch_exporter(SpanExporter::builder().with_tonic().build()?).build()
        }
        Some(Protocol::Http) => provider.with_batch_exporter(SpanExporter::builder().build()?).build(),
    }))
}

/// Creates the meter provider, and the registry for Prometheus if its endpoint is enabled.
fn metrics(resource: &Resource) -> Result<(Option<SdkMeterProvider>, Option<Registry>), InitError> {
    let otlp = over_otlp(Signal::Metrics)?;
    // An invalid address is reported when the endpoint starts.
    let is_asked = !matches!(prometheus_address(), Ok(None));
    if otlp.is_none() && !is_asked {
        return Ok((None, None));
    }
    let mut provider = SdkMeterProvider::builder().with_resource(resource.clone());
    provider = match otlp {
        None => provider,
        Some(Protocol::Grpc) => {
            provider.with_periodic_exporter(MetricExporter::builder().with_tonic().build()?)
        }
        Some(Protocol::Http) => provider.with_periodic_exporter(MetricExporter::builder().build()?),
    };
    let registry = is_asked.then(Registry::new);
    if let Some(registry) = registry.clone() {
        // All metrics have one scope.
        let reader = opentelemetry_prometheus::exporter().with_registry(registry).scope_info_enabled(false);
        provider = provider.with_reader(reader.build()?);
    }
    Ok((Some(provider.build()), registry))
}

fn logs(resource: &Resource) -> Result<Option<SdkLoggerProvider>, InitError> {
    let provider = SdkLoggerProvider::builder().with_resource(resource.clone());
    Ok(match over_otlp(Signal::Logs)? {
        None => None,
        Some(Protocol::Grpc) => {
            Some(provider.with_batch_exporter(LogExporter::builder().with_tonic().build()?).build())
        }
        Some(Protocol::Http) => Some(provider.with_batch_exporter(LogExporter::builder().build()?).build()),
    })
}

/// Returns the protocol that exports the signal, if it is exported and this process can do so.
fn over_otlp(signal: Signal) -> Result<Option<Protocol>, InitError> {
    let protocol = signal.over_otlp();
    match protocol {
        Some(Protocol::Grpc) if tokio::runtime::Handle::try_current().is_err() => {
            return Err(InitError::NoRuntime);
        }
        // In a build together with `retort`, the HTTP client has TLS and panics without a TLS provider. A second
        // installation is refused, which does no harm.
        Some(Protocol::Http) => drop(rustls::crypto::ring::default_provider().install_default()),
        _ => {}
    }
    Ok(protocol)
}
