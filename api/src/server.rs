//! The socket: plain HTTP or TLS, with limits on what a slow or a noisy client can hold.
//!
//! A connection has some seconds for the headers of each request, some for the handshake, and some to say anything at all
//! ([`Bounds`] holds how many there may be); bodies have their own limit where they are read. TLS is rustls with ring, HTTP/2 by
//! ALPN.
//!
//! A renewed certificate is taken up without a restart, by itself within a minute and at SIGHUP at once. One that
//! cannot be used (half a renewal: the new chain, still the old key) changes nothing.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use axum::Router;
use axum_server::{Handle, Server, accept::DefaultAcceptor, tls_rustls::RustlsConfig};
use database::Background;
use hyper_util::rt::TokioTimer;
use tokio::signal::unix::{SignalKind, signal};

pub use crate::door::{Bounds, room_for_connections};
use crate::door::{Door, Doorkeeper};

/// The most bytes of headers.
const MAX_HEADERS: usize = 64 * 1024;

/// The most requests that one HTTP/2 connection may have open.
const MAX_STREAMS: u32 = 128;

/// The time between two looks at the certificate's files.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(60);

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
    /// For the headers of a request, for a handshake, and for saying anything at all.
    pub header_time: Duration,
    /// How many connections there may be.
    pub bounds: Bounds,
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
    let (door, patience) = (Door::new(terms.bounds), terms.header_time);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    match terms.tls {
        None => {
            let mut server = axum_server::from_tcp(listener)?.acceptor(Doorkeeper {
                inner: DefaultAcceptor,
                door,
                patience,
            });
            limit(&mut server, patience);
            server.handle(handle).serve(service).await
        }
        Some(tls) => {
            // The process has one TLS library; a second installation of it could only come from here.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let pair = tls.read().await?;
            let config = RustlsConfig::from_pem(pair.certificate.clone(), pair.key.clone()).await?;
            // From here on the signal ends no process, whatever becomes of who hears it.
            let _installed = signal(SignalKind::hangup())?;
            let taking = config.clone();
            let _renewal = Background::keep("renewing the certificate", move || {
                renew(taking.clone(), tls.clone(), pair.clone())
            });
            let mut server = axum_server::from_tcp_rustls(listener, config)?.map(|tls| Doorkeeper {
                inner: tls.handshake_timeout(patience),
                door,
                patience,
            });
            limit(&mut server, patience);
            server.handle(handle).serve(service).await
        }
    }
}

/// What the two files hold.
#[derive(Clone, PartialEq, Eq)]
struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Tls {
    async fn read(&self) -> io::Result<Pair> {
        let read = async |path: &PathBuf| {
            let found = tokio::fs::read(path).await;
            found
                .map_err(|error| io::Error::new(error.kind(), format!("reading {}: {error}", path.display())))
        };
        Ok(Pair { certificate: read(&self.certificate).await?, key: read(&self.key).await? })
    }
}

/// Gives `config` what the files hold, whenever that is something else than the last time.
async fn renew(config: RustlsConfig, tls: Tls, mut seen: Pair) {
    let Ok(mut asked) = signal(SignalKind::hangup()) else { return };
    let mut clock = tokio::time::interval(RENEWAL_INTERVAL);
    loop {
        tokio::select! {
            _ = asked.recv() => {}
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
            Ok(()) => tracing::info!("took up a renewed certificate"),
            Err(error) => {
                tracing::warn!(%error, "the certificate cannot be used; the one before goes on serving")
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
