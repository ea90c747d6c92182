//! A proxy in front of PostgreSQL that can freeze or cut connections, like a stopped server or a network that drops
//! packets.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

/// Treatment of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyMode {
    /// Bytes are forwarded.
    Open,
    /// Bytes are accepted but not forwarded for the time being, on old connections and on new ones.
    Frozen,
}

/// A proxy in front of a database server.
#[derive(Debug)]
pub struct Proxy {
    /// Address of the database through the proxy.
    pub url: String,
    way: watch::Sender<ProxyMode>,
    /// Connections with a lower number are frozen for ever.
    lost: watch::Sender<u64>,
    accepted: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// Starts a proxy that forwards everything.
    ///
    /// # Panics
    /// Panics if `url` is not the address of a database, or if no port is free.
    pub async fn start(url: &str) -> Self {
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let server = format!("{}:{}", options.get_host(), options.get_port());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (way, lost) = (watch::Sender::new(ProxyMode::Open), watch::Sender::new(0));
        let (count, accepted) = watch::channel(0);
        let switches = Switches { way: way.subscribe(), lost: lost.subscribe() };
        let task = tokio::spawn(serve(listener, server, switches, count));
        Self { url: with_host_and_port(url, address), way, lost, accepted, task }
    }

    /// Changes the treatment of the bytes.
    pub fn set(&self, way: ProxyMode) {
        self.way.send_replace(way);
    }

    /// Leaves the existing connections half-open: nothing more arrives on them, while new ones work.
    pub fn lose_connections(&self) {
        self.lost.send_replace(*self.accepted.borrow());
    }
}

/// Returns `url` with the host and port of `address`.
fn with_host_and_port(url: &str, address: SocketAddr) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    let user = authority.rsplit_once('@').map_or(String::new(), |(user, _)| format!("{user}@"));
    format!("{scheme}://{user}{address}/{path}")
}

#[derive(Clone)]
struct Switches {
    way: watch::Receiver<ProxyMode>,
    lost: watch::Receiver<u64>,
}

impl Switches {
    /// Waits until bytes of connection `number` may be forwarded.
    async fn open(&mut self, number: u64) {
        if self.lost.borrow().gt(&number) {
            std::future::pending::<()>().await;
        }
        let _ = self.way.wait_for(|way| *way == ProxyMode::Open).await;
        // It may have been lost while it was frozen.
        if self.lost.borrow().gt(&number) {
            std::future::pending::<()>().await;
        }
    }
}

async fn serve(listener: TcpListener, server: String, switches: Switches, count: watch::Sender<u64>) {
    let mut connections = JoinSet::new();
    let server: Arc<str> = server.into();
    while let Ok((client, _)) = listener.accept().await {
        let number = *count.borrow();
        count.send_replace(number + 1);
        let (server, switches) = (server.clone(), switches.clone());
        connections.spawn(async move {
            switches.clone().open(number).await;
            let server = TcpStream::connect(&*server).await?;
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            tokio::try_join!(
                copy(from_client, to_server, number, switches.clone()),
                copy(from_server, to_client, number, switches),
            )
        });
    }
}

async fn copy(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    number: u64,
    mut switches: Switches,
) -> std::io::Result<()> {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut bytes).await?;
        switches.open(number).await;
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&bytes[..read]).await?;
    }
}
