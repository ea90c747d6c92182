//! `/metrics` for Prometheus on its own port: clients of the service need no access to its metrics.

use std::net::TcpListener;

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use prometheus::{Registry, TEXT_FORMAT, TextEncoder};
use tracing::error;

/// Serves metrics on `listener` for the life of the process. Must be called within a Tokio runtime.
pub(crate) fn serve(registry: Registry, listener: TcpListener) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let router = Router::new().route("/metrics", get(async move || text(&registry)));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            error!("Prometheus is no longer answered: {error}");
        }
    });
    Ok(())
}

/// Returns every metric in Prometheus' text format 0.0.4.
fn text(registry: &Registry) -> Response {
    match TextEncoder::new().encode_to_string(&registry.gather()) {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => {
            error!("the metrics cannot be written: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
