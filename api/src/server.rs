//! The socket: plain HTTP or TLS, with limits on what a slow or a noisy client can hold.
//!
//! A connection has some seconds for the headers of each request, and some for the handshake; bodies have
//! their own limit where they are read. TLS is rustls with ring, HTTP/2 by ALPN.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use axum::Router;
use axum_server::{Handle, Server, tls_rustls::RustlsConfig};
use hyper_util::rt::TokioTimer;

/// The most bytes of headers.
const MAX_HEADERS: usize = 64 * 1024;

/// The most requests that one HTTP/2 connection may have open.
const MAX_STREAMS: u32 = 128;

/// Certificate and key, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The chain, the server's own certificate first.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What a connection gets.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Serves TLS with this, or plain HTTP.
    pub tls: Option<Tls>,
    /// For the headers of a request, and for a handshake.
    pub header_time: Duration,
}

/// Serves `router` on `listener` until `handle` ends it.
///
/// # Errors
/// Fails when the certificate cannot be used or the socket fails.
pub async fn serve(
    listener: std::net::TcpListener,
    router: Router,
    terms: Terms,
    handle: Handle<SocketAddr>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    match terms.tls {
        None => {
            let mut server = axum_server::from_tcp(listener)?;
            limit(&mut server, terms.header_time);
            server.handle(handle).serve(service).await
        }
        Some(Tls { certificate, key }) => {
            // The process has one TLS library; a second installation of it could only come from here.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let tls = RustlsConfig::from_pem_file(certificate, key).await?;
            let mut server = axum_server::from_tcp_rustls(listener, tls)?
                .map(|acceptor| acceptor.handshake_timeout(terms.header_time));
            limit(&mut server, terms.header_time);
            server.handle(handle).serve(service).await
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
