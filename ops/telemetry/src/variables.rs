//! The variables that say what is exported and where, as the OpenTelemetry specification names them ("Environment Variable
//! Specification", "OpenTelemetry Protocol Exporter").

use std::{
    env,
    net::{SocketAddr, ToSocketAddrs as _},
};

/// Where Prometheus is answered if no port is named (the specification's default).
const PROMETHEUS_PORT: u16 = 9464;

/// What can be exported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Metrics,
    Logs,
}

/// How OTLP is spoken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Grpc,
    Http,
}

impl Signal {
    /// As it stands in the variables' names.
    fn name(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
            Self::Logs => "LOGS",
        }
    }

    /// How the signal is exported over OTLP; `None` where no endpoint is named, or another exporter.
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

    /// `OTEL_…_EXPORTER`, a list.
    fn exporters(self) -> Option<Vec<String>> {
        let list = variable(&format!("OTEL_{}_EXPORTER", self.name()))?;
        Some(list.split(',').map(|exporter| exporter.trim().to_ascii_lowercase()).collect())
    }
}

/// Where Prometheus may ask for the metrics: `OTEL_EXPORTER_PROMETHEUS_HOST` and `…_PORT`, if one of them is set or
/// `OTEL_METRICS_EXPORTER` names `prometheus`.
///
/// # Errors
/// The value that is no address.
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

/// Whether the whole SDK is turned off.
pub(crate) fn is_disabled() -> bool {
    variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// A variable that is set to the empty string counts as unset, as the specification says.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
