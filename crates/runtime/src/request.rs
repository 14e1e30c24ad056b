//! The id of a request, by which clients and operators find it in the log.

use std::fmt;
use std::sync::Arc;

use super::unique::next_number;

/// The header that brings an id, and that tells it.
pub const REQUEST_ID: &str = "x-request-id";

/// Characters of an id that a client brings.
const CHARACTERS_MAX: usize = 64;

/// The id of one request; cheap to clone. It has printable ASCII alone, and no space, so that it
/// stands in headers and in lines of the log as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The one that a client brings, if it can be written anywhere; else one of this server's.
    pub fn brought_or_new(brought: Option<&[u8]>) -> Self {
        let plain = brought.filter(|id| (1..=CHARACTERS_MAX).contains(&id.len()));
        let plain = plain.filter(|id| id.iter().all(u8::is_ascii_graphic));
        match plain.and_then(|id| std::str::from_utf8(id).ok()) {
            Some(id) => Self(id.into()),
            None => Self(format!("{:016x}", next_number()).into()),
        }
    }

    /// Its characters, for whoever keeps them.
    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }

    /// Its characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_clients_where_it_can_be_written_anywhere() {
        for plain in ["a", "7f3c-\"x\"", &"z".repeat(CHARACTERS_MAX)] {
            assert_eq!(RequestId::brought_or_new(Some(plain.as_bytes())).as_str(), plain);
        }
        let long = "z".repeat(CHARACTERS_MAX + 1);
        let others = ["", "a b", "a\nb", "a\u{7f}", "\u{e9}", &long].map(str::as_bytes);
        for other in others.into_iter().chain([&b"\xff"[..]]).map(Some).chain([None]) {
            let made = RequestId::brought_or_new(other);
            assert_ne!(Some(made.as_str().as_bytes()), other);
            assert!(made.as_str().len() == 16, "{made}");
        }
    }
}
