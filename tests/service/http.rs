//! A client of HTTP/1.1 that sends what it is told to, byte for byte.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::soon;

/// What a server has answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Of the bytes of a connection that is over.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head: {}", bytes.escape_ascii()));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_ascii_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let rest = &bytes[end + 4..];
        let is_chunked = head.contains("transfer-encoding: chunked");
        let body = if is_chunked { dechunked(rest) } else { rest.to_vec() };
        Self { status, head, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = || String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}: {}", self.head, text()))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The messages of a stream, each with its first byte.
    pub(crate) fn messages(&self) -> Vec<(u8, Vec<u8>)> {
        messages(&self.body)
    }
}

pub(crate) fn messages(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut found = Vec::new();
    while let Some((prefix, rest)) = bytes.split_first_chunk::<5>() {
        let [first, a, b, c, d] = *prefix;
        let (message, rest) = rest.split_at(u32::from_be_bytes([a, b, c, d]) as usize);
        found.push((first, message.to_vec()));
        bytes = rest;
    }
    assert!(bytes.is_empty(), "{}", bytes.escape_ascii());
    found
}

fn dechunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let start = end + 2;
        body.extend_from_slice(bytes.get(start..start + size).unwrap_or(&bytes[start..]));
        bytes = bytes.get(start + size + 2..).unwrap_or_default();
    }
    body
}

/// A request with these headers, whose connection ends with its answer.
pub(crate) fn request(method: &str, path: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n");
    for header in headers {
        head += header;
        head += "\r\n";
    }
    head += &format!("content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// What is answered to these bytes.
pub(crate) async fn ask(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Who answers early may have hung up before all is sent.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = soon(stream.read_to_end(&mut answer)).await;
    Answer::of(&answer)
}

/// A call with JSON, as `curl` makes it.
pub(crate) async fn call(address: SocketAddr, method: &str, body: &str) -> Answer {
    let path = format!("/clearance.v1.{method}");
    let json = ["content-type: application/json"];
    ask(address, &request("POST", &path, &json, body.as_bytes())).await
}

/// A message of a stream.
pub(crate) fn prefixed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0], &length[..], message].concat()
}
