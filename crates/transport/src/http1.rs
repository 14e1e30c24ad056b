//! What is said to a client that does not speak HTTP/2.
//!
//! A browser, or a tool with another address in mind, had its connection reset and was told
//! nothing. The status is that of a version of HTTP that is not supported, with what is (RFC 9110,
//! section 15.6.6).

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::connection::Connection;

/// What a client may take to read the answer. What it still sends is thrown away meanwhile: bytes
/// that nobody reads would reset the connection before it has the answer.
const FAREWELL: Duration = Duration::from_millis(250);

/// More of a request than this is not thrown away.
const REQUEST_BYTES_MAX: usize = 1 << 20;

const PLAIN: &str = "\
This is a gRPC service: it speaks HTTP/2 without TLS, as `grpcurl -plaintext` does, not HTTP/1.1.
";

const WITHIN_TLS: &str = "\
This is a gRPC service: it speaks HTTP/2 within TLS, as `grpcurl` does without -plaintext.
";

/// Says what is spoken here, and where HTTP/1.1 is, and hangs up.
pub(super) async fn decline(
    mut connection: Connection,
    uses_tls: bool,
    side_port: Option<SocketAddr>,
) {
    let spoken = if uses_tls { WITHIN_TLS } else { PLAIN };
    let elsewhere = match side_port {
        Some(address) => format!("Browsers and curl are answered at {address}.\n"),
        None => "Browsers and curl are answered where the server is started with --http \
                 HOST:PORT.\n"
            .to_owned(),
    };
    let sentence = format!("{spoken}{elsewhere}");
    let answer = format!(
        "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{sentence}",
        sentence.len(),
    );
    let told = async {
        let stream = connection.bytes();
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        let (mut rest, mut thrown_away) = ([0; 4096], 0);
        while thrown_away < REQUEST_BYTES_MAX {
            match stream.read(&mut rest).await? {
                0 => break,
                count => thrown_away += count,
            }
        }
        Ok::<_, std::io::Error>(())
    };
    // Whoever does not take the answer goes without.
    let _ = tokio::time::timeout(FAREWELL, told).await;
}
