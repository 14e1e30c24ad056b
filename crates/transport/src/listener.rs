//! Where connections come from: an address of the network, or a file of this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::net::{TcpListener, UnixListener, UnixStream};

use super::socket::Socket;

/// What an address begins with that is a file.
pub const LOCAL_PREFIX: &str = "unix:";

/// Where connections come from.
#[derive(Debug)]
pub enum Listener {
    /// The network.
    Network(TcpListener),
    /// A Unix socket.
    Local(LocalListener),
}

/// A Unix socket, whose file goes when this is dropped.
#[derive(Debug)]
pub struct LocalListener {
    inner: UnixListener,
    path: PathBuf,
    /// Connections of a file have no addresses: each is told from the others by a number.
    next: AtomicU16,
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Network(listener)
    }
}

impl Listener {
    /// Listens on HOST:PORT or unix:PATH. A file that a server left when it died is taken over.
    pub async fn bind(address: &str) -> io::Result<Self> {
        match address.strip_prefix(LOCAL_PREFIX) {
            None => TcpListener::bind(address).await.map(Self::Network),
            Some(path) => LocalListener::bind(Path::new(path)).await.map(Self::Local),
        }
    }

    /// The address of the network; none: it is a file.
    pub fn address(&self) -> io::Result<Option<SocketAddr>> {
        match self {
            Self::Network(listener) => listener.local_addr().map(Some),
            Self::Local(_) => Ok(None),
        }
    }

    /// In words, as [`Self::bind`] takes it.
    pub fn name(&self) -> io::Result<String> {
        match self {
            Self::Network(listener) => Ok(listener.local_addr()?.to_string()),
            Self::Local(listener) => Ok(format!("{LOCAL_PREFIX}{}", listener.path.display())),
        }
    }

    /// The next connection, and who is at its other end: of a file, this machine.
    pub(super) async fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        match self {
            Self::Network(listener) => {
                let (stream, address) = listener.accept().await?;
                // A connection that refuses the option still works.
                let _ = stream.set_nodelay(true);
                Ok((Socket::Plain(stream), address))
            }
            Self::Local(listener) => {
                let (stream, _) = listener.inner.accept().await?;
                let number = listener.next.fetch_add(1, Ordering::Relaxed);
                let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), number);
                Ok((Socket::Local(stream), address))
            }
        }
    }
}

impl LocalListener {
    async fn bind(path: &Path) -> io::Result<Self> {
        let bound = UnixListener::bind(path);
        let inner = match bound {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left(path).await => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        Ok(Self { inner, path: path.to_owned(), next: AtomicU16::new(0) })
    }
}

/// Whether a file is a socket that nobody listens on any more.
async fn is_left(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|of| of.file_type().is_socket());
    let asked = UnixStream::connect(path).await;
    is_socket && asked.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        // Whoever has taken it away already has done no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_was_left_is_taken_over_and_no_other() {
        let name = format!("clearance-listener-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let address = format!("{LOCAL_PREFIX}{}", path.display());
        let first = Listener::bind(&address).await.unwrap();
        assert_eq!((first.name().unwrap(), first.address().unwrap()), (address.clone(), None));
        let second = Listener::bind(&address).await.unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse, "somebody listens");
        drop(first);
        assert!(!path.exists());
        // As a process leaves it that was killed.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Listener::bind(&address).await.unwrap());
        std::fs::write(&path, "a file of somebody").unwrap();
        assert!(Listener::bind(&address).await.is_err() && path.exists());
        std::fs::remove_file(&path).unwrap();
    }
}
