//! Socket: plain HTTP or TLS, with limits on slow or greedy clients.
//!
//! A connection has a few seconds for the headers of each request, for the handshake, and for its first byte.
//! [`Bounds`] limits the number of connections; bodies have their own limit where they are read. TLS is rustls with
//! ring, HTTP/2 by ALPN.
//!
//! A renewed certificate is loaded without a restart, within a minute or immediately on SIGHUP. An unusable one (half
//! a renewal: the new chain, still the old key) changes nothing.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use axum::Router;
use axum_server::{Handle, Server, accept::DefaultAcceptor, tls_rustls::RustlsConfig};
use database::Background;
use hyper_util::rt::TokioTimer;
use tokio::signal::unix::{SignalKind, signal};

pub use crate::connection_limiter::{Bounds, room_for_connections};
use crate::connection_limiter::{ConnectionLimiter, LimitedAcceptor};

/// Maximum size of headers, in bytes.
const MAX_HEADERS: usize = 64 * 1024;

/// Maximum number of concurrent requests on one HTTP/2 connection.
const MAX_STREAMS: u32 = 128;

/// Polling interval of the certificate's files.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(60);

/// Certificate and key, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// Certificate chain, the server's own certificate first.
    pub certificate: PathBuf,
    /// Private key of the certificate.
    pub key: PathBuf,
}

/// Settings of connections.
#[derive(Debug, Clone)]
pub struct ConnectionSettings {
    /// TLS settings; `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// Timeout of a request's headers, of a handshake, and of the first byte.
    pub header_time: Duration,
    /// Limits of the number of connections.
    pub bounds: Bounds,
}

/// Serves `router` on `listener` until `handle` ends it.
///
/// # Errors
/// Fails when the certificate cannot be used or the socket fails.
pub async fn serve(
    listener: std::net::TcpListener,
    router: Router,
    terms: ConnectionSettings,
    handle: Handle<SocketAddr>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let (limiter, header_timeout) = (ConnectionLimiter::new(terms.bounds), terms.header_time);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    match terms.tls {
        None => {
            let mut server = axum_server::from_tcp(listener)?.acceptor(LimitedAcceptor {
                inner: DefaultAcceptor,
                limiter,
                header_timeout,
            });
            limit(&mut server, header_timeout);
            server.handle(handle).serve(service).await
        }
        Some(tls) => {
            // The process has one TLS library; a second installation could only come from here, so an error is
            // harmless.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let pair = tls.read().await?;
            let config = RustlsConfig::from_pem(pair.certificate.clone(), pair.key.clone()).await?;
            // From here on SIGHUP does not end the process, even if its listener fails.
            let _installed = signal(SignalKind::hangup())?;
            let taking = config.clone();
            let _renewal = Background::supervise("renewing the certificate", move || {
                renew(taking.clone(), tls.clone(), pair.clone())
            });
            let mut server = axum_server::from_tcp_rustls(listener, config)?.map(|tls| LimitedAcceptor {
                inner: tls.handshake_timeout(header_timeout),
                limiter,
                header_timeout,
            });
            limit(&mut server, header_timeout);
            server.handle(handle).serve(service).await
        }
    }
}

/// Contents of the two files.
#[derive(Clone, PartialEq, Eq)]
struct CertificateFiles {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Tls {
    async fn read(&self) -> io::Result<CertificateFiles> {
        let read = async |path: &PathBuf| {
            let found = tokio::fs::read(path).await;
            found
                .map_err(|error| io::Error::new(error.kind(), format!("reading {}: {error}", path.display())))
        };
        Ok(CertificateFiles { certificate: read(&self.certificate).await?, key: read(&self.key).await? })
    }
}

/// Loads the files into `config` whenever their contents change.
async fn renew(config: RustlsConfig, tls: Tls, mut seen: CertificateFiles) {
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    let mut clock = tokio::time::interval(RENEWAL_INTERVAL);
    loop {
        tokio::select! {
            _ = hangups.recv() => {}
            _ = clock.tick() => {}
        }
        let renewed = match tls.read().await {
            Ok(pair) if pair == seen => continue,
            Ok(pair) => {
                let renewed = config.reload_from_pem(pair.certificate.clone(), pair.key.clone()).await;
                seen = pair;
                renewed
            }
            Err(error) => Err(error),
        };
        match renewed {
            Ok(()) => tracing::info!("loaded a renewed certificate"),
            Err(error) => {
                tracing::warn!(%error, "the renewed certificate cannot be used; the previous one stays in use")
            }
        }
    }
}

fn limit<A>(server: &mut Server<SocketAddr, A>, header_time: Duration) {
    let builder = server.http_builder();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(header_time).max_buf_size(MAX_HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(header_time))
        .keep_alive_timeout(header_time)
        .max_header_list_size(u32::try_from(MAX_HEADERS).unwrap_or(u32::MAX))
        .max_concurrent_streams(MAX_STREAMS);
}
