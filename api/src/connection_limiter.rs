//! Connection limiter: bounds on connections, and on their time without a request.
//!
//! A client that connects and sends nothing, or half a request, holds a descriptor; a thousand such clients would
//! hold all. So connections are limited in total and per address. A connection that has not shown its protocol within
//! the header timeout is closed, since hyper's own header timeout begins only after that.

use std::{
    collections::HashMap,
    future::Future,
    io,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum_server::accept::Accept;
use identity::IpNetwork;
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::Sleep,
};

/// Bytes by which a connection shows its protocol: HTTP/2's preface.
const PREFACE: usize = 24;

/// Descriptors that are not client connections: the database's, the listener, files.
const OWN_DESCRIPTORS: u64 = 128;

/// Shortest time between two log lines about refused connections.
const LOG_INTERVAL_OF_REFUSALS: Duration = Duration::from_secs(60);

/// Limits on connections.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Connections in total.
    pub all: usize,
    /// Connections from one address.
    pub by_address: usize,
    /// Addresses of proxies, which stand for many clients.
    pub proxies: Vec<IpNetwork>,
}

/// Raises the descriptor limit as far as possible, and returns the number of connections that it allows.
pub fn room_for_connections() -> usize {
    let limits = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, maximum: limits.maximum });
    let descriptors = if raised.is_ok() { limits.maximum } else { limits.current };
    let room = descriptors.map_or(u64::MAX, |most| most.saturating_sub(OWN_DESCRIPTORS)).max(16);
    usize::try_from(room).unwrap_or(usize::MAX)
}

/// Connection limiter.
#[derive(Debug)]
pub struct ConnectionLimiter {
    bounds: Bounds,
    inside: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Connections refused since the start; `said_at` is the time of the last log line.
    refused: u64,
    said_at: Option<Instant>,
}

/// Permit of a connection, released when dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    address: IpAddr,
}

impl ConnectionLimiter {
    pub fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { bounds, inside: Mutex::default() })
    }

    /// Acquires a permit for a connection from `address`; `None` if there is none.
    pub fn acquire(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        let address = address.to_canonical();
        let is_proxy = self.bounds.proxies.iter().any(|proxy| proxy.contains(address));
        let mut inside = self.inside.lock();
        let from_here = inside.by_address.get(&address).copied().unwrap_or_default();
        if inside.all >= self.bounds.all || (!is_proxy && from_here >= self.bounds.by_address) {
            inside.refuse(address);
            return None;
        }
        inside.all += 1;
        inside.by_address.insert(address, from_here + 1);
        Some(ConnectionPermit { limiter: self.clone(), address })
    }
}

impl OpenConnections {
    fn refuse(&mut self, address: IpAddr) {
        self.refused += 1;
        if self.said_at.is_none_or(|said_at| said_at.elapsed() >= LOG_INTERVAL_OF_REFUSALS) {
            self.said_at = Some(Instant::now());
            let count = self.refused;
            tracing::warn!(%address, count, "connections are refused: there are too many in total or from one address");
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut inside = self.limiter.inside.lock();
        inside.all -= 1;
        if let Some(left) = inside.by_address.get_mut(&self.address) {
            *left -= 1;
            if *left == 0 {
                inside.by_address.remove(&self.address);
            }
        }
    }
}

/// Acceptor that limits connections to `inner`, each of which must show its protocol within `header_timeout`.
#[derive(Clone)]
pub struct LimitedAcceptor<A> {
    pub inner: A,
    pub limiter: Arc<ConnectionLimiter>,
    pub header_timeout: Duration,
}

impl<A, S> Accept<TcpStream, S> for LimitedAcceptor<A>
where
    A: Accept<TcpStream, S> + Clone + Send + 'static,
    A::Future: Send,
    S: Send + 'static,
{
    type Stream = LimitedConnection<A::Stream>;
    type Service = A::Service;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Self::Stream, Self::Service)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Self { inner, limiter, header_timeout } = self.clone();
        Box::pin(async move {
            let permit = limiter.acquire(stream.peer_addr()?.ip());
            let permit = permit
                .ok_or_else(|| io::Error::new(io::ErrorKind::ConnectionRefused, "too many connections"))?;
            let (stream, service) = inner.accept(stream, service).await?;
            let until = Some(Box::pin(tokio::time::sleep(header_timeout)));
            Ok((LimitedConnection { stream, until, bytes_read: 0, _permit: permit }, service))
        })
    }
}

/// A connection with its permit, closed unless it shows its protocol in time.
#[derive(Debug)]
pub struct LimitedConnection<S> {
    stream: S,
    /// Timeout; `None` once enough bytes have arrived or a response was sent.
    until: Option<Pin<Box<Sleep>>>,
    bytes_read: usize,
    _permit: ConnectionPermit,
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedConnection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(until) = &mut self.until
            && until.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.bytes_read += buffer.filled().len() - before;
        if self.bytes_read >= PREFACE {
            self.until = None;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedConnection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.until = None;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.until = None;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(all: usize, by_address: usize) -> Arc<ConnectionLimiter> {
        ConnectionLimiter::new(Bounds { all, by_address, proxies: vec!["10.0.0.1".parse().unwrap()] })
    }

    #[test]
    fn places_are_bounded_in_all_and_by_address_and_free_again_after() {
        let limiter = limiter(5, 2);
        let acquire = |address: &str| limiter.acquire(address.parse().unwrap());

        let first = [acquire("192.0.2.1"), acquire("::ffff:192.0.2.1")];
        assert!(first.iter().all(Option::is_some) && acquire("192.0.2.1").is_none());
        let proxy = [acquire("10.0.0.1"), acquire("10.0.0.1"), acquire("10.0.0.1")];
        assert!(proxy.iter().all(Option::is_some) && acquire("192.0.2.2").is_none());

        drop(first);
        assert!(acquire("192.0.2.1").is_some());
    }
}
