//! The bytes of a connection, as the network has them or out of TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::server::TlsStream;

/// What is read and written.
#[derive(Debug)]
pub(super) enum Socket {
    /// As they come.
    Plain(TcpStream),
    /// From a Unix socket, as they come.
    Local(UnixStream),
    /// Out of TLS.
    Secured(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// The certificates that the client has shown.
    pub(super) fn shown(&self) -> Vec<CertificateDer<'static>> {
        let Self::Secured(stream) = self else { return Vec::new() };
        let (_, session) = stream.get_ref();
        let shown = session.peer_certificates().unwrap_or_default();
        shown.iter().cloned().map(CertificateDer::into_owned).collect()
    }

    fn reader(&mut self) -> Pin<&mut (dyn AsyncRead + Send + Unpin)> {
        match self {
            Self::Plain(stream) => Pin::new(stream),
            Self::Local(stream) => Pin::new(stream),
            Self::Secured(stream) => Pin::new(&mut **stream),
        }
    }

    fn writer(&mut self) -> Pin<&mut (dyn AsyncWrite + Send + Unpin)> {
        match self {
            Self::Plain(stream) => Pin::new(stream),
            Self::Local(stream) => Pin::new(stream),
            Self::Secured(stream) => Pin::new(&mut **stream),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.reader().poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Local(stream) => stream.is_write_vectored(),
            Self::Secured(stream) => stream.is_write_vectored(),
        }
    }
}
