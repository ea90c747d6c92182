//! Variables that configure the export, with the names of the OpenTelemetry specification ("Environment Variable
//! Specification", "OpenTelemetry Protocol Exporter").

use std::{
    env,
    net::{SocketAddr, ToSocketAddrs as _},
};

/// Default port of the Prometheus endpoint (the specification's default).
const PROMETHEUS_PORT: u16 = 9464;

/// Signal that can be exported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Metrics,
    Logs,
}

/// Transport protocol of OTLP.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Grpc,
    Http,
}

impl Signal {
    /// Returns the name in the variables' names.
    fn name(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
            Self::Logs => "LOGS",
        }
    }

    /// Returns the protocol for exporting the signal over OTLP; `None` if no endpoint is set, or another exporter is
    /// chosen.
    pub(crate) fn over_otlp(self) -> Option<Protocol> {
        let name = self.name();
        let of_signal = |rest: &str| variable(&format!("OTEL_EXPORTER_OTLP_{name}_{rest}"));
        of_signal("ENDPOINT").or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT"))?;
        if !self.exporters().is_none_or(|exporters| exporters.contains(&"otlp".to_owned())) || is_disabled() {
            return None;
        }
        let protocol = of_signal("PROTOCOL").or_else(|| variable("OTEL_EXPORTER_OTLP_PROTOCOL"));
        Some(match protocol.as_deref() {
            None | Some("grpc") => Protocol::Grpc,
            Some(_) => Protocol::Http,
        })
    }

    /// Returns the list in `OTEL_…_EXPORTER`.
    fn exporters(self) -> Option<Vec<String>> {
        let list = variable(&format!("OTEL_{}_EXPORTER", self.name()))?;
        Some(list.split(',').map(|exporter| exporter.trim().to_ascii_lowercase()).collect())
    }
}

/// Returns the address of the Prometheus endpoint: `OTEL_EXPORTER_PROMETHEUS_HOST` and `…_PORT`, if one of them is
/// set or `OTEL_METRICS_EXPORTER` names `prometheus`.
///
/// # Errors
/// Fails with the value that is not a valid address.
pub(crate) fn prometheus_address() -> Result<Option<SocketAddr>, String> {
    let [host, port] = ["HOST", "PORT"].map(|rest| variable(&format!("OTEL_EXPORTER_PROMETHEUS_{rest}")));
    let is_named = match Signal::Metrics.exporters() {
        Some(exporters) => exporters.contains(&"prometheus".to_owned()),
        None => host.is_some() || port.is_some(),
    };
    if !is_named || is_disabled() {
        return Ok(None);
    }
    let host = host.as_deref().unwrap_or("localhost");
    let port = match &port {
        Some(port) => port.parse().map_err(|_| port.clone())?,
        None => PROMETHEUS_PORT,
    };
    let mut addresses = (host, port).to_socket_addrs().map_err(|_| host.to_owned())?;
    addresses.next().map(Some).ok_or_else(|| host.to_owned())
}

/// Returns true if the whole SDK is turned off.
pub(crate) fn is_disabled() -> bool {
    variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Reads a variable; an empty value counts as unset, as the specification says.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
