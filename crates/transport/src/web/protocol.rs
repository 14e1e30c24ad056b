//! Which protocol a request speaks, by its content type.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// gRPC-Web: messages with a prefix, and the status as the last of them.
    GrpcWeb {
        /// All of it in base64, for browsers that cannot read bytes as they come.
        is_text: bool,
    },
    /// Connect, with one message in each direction: they are the bodies.
    ConnectUnary(Format),
    /// Connect, with a stream: messages with a prefix, and the status as the last of them.
    ConnectStream(Format),
}

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// As on the wire of Protobuf.
    Proto,
    /// As JSON.
    Json,
}

/// Content types and what they stand for; of several for one the first is that of replies.
const TYPES: &[(&str, Protocol)] = &[
    ("application/json", Protocol::ConnectUnary(Format::Json)),
    ("application/proto", Protocol::ConnectUnary(Format::Proto)),
    ("application/connect+json", Protocol::ConnectStream(Format::Json)),
    ("application/connect+proto", Protocol::ConnectStream(Format::Proto)),
    ("application/grpc-web+proto", Protocol::GrpcWeb { is_text: false }),
    ("application/grpc-web", Protocol::GrpcWeb { is_text: false }),
    ("application/grpc-web-text+proto", Protocol::GrpcWeb { is_text: true }),
    ("application/grpc-web-text", Protocol::GrpcWeb { is_text: true }),
];

/// What is spoken here, as `Accept-Post` says it.
pub(super) const SPOKEN: &str = "application/json, application/proto, application/connect+json, \
                                 application/connect+proto, application/grpc-web+proto, \
                                 application/grpc-web-text+proto";

impl Protocol {
    /// That of a request; none: another one, or none at all.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let (kind, parameters) = kind.split_once(';').unwrap_or((kind, ""));
        let charset = parameters.trim().to_ascii_lowercase();
        if !charset.is_empty() && charset.replace('"', "") != "charset=utf-8" {
            return None;
        }
        let is_it = |(name, _): &&(&str, Self)| name.eq_ignore_ascii_case(kind.trim());
        TYPES.iter().find(is_it).map(|(_, protocol)| *protocol)
    }

    /// The content type of its replies.
    pub(super) fn content_type(self) -> HeaderValue {
        let own = TYPES.iter().find(|(_, protocol)| *protocol == self);
        HeaderValue::from_static(own.map_or("", |(name, _)| *name))
    }

    /// Whether its replies may have many messages, or has to have one; as methods are.
    pub(super) fn fits(self, tells_many: bool) -> bool {
        match self {
            Self::GrpcWeb { .. } => true,
            Self::ConnectUnary(_) => !tells_many,
            Self::ConnectStream(_) => tells_many,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_told_by_content_types_and_nothing_else_is_one() {
        let of = |kind: &str| {
            let value = HeaderValue::from_str(kind).unwrap();
            Protocol::of(&HeaderMap::from_iter([(CONTENT_TYPE, value)]))
        };
        for (name, protocol) in TYPES {
            assert_eq!(of(name), Some(*protocol));
            assert_eq!(of(&name.to_uppercase()), Some(*protocol));
            assert_eq!(of(&format!("{name}; charset=utf-8")), Some(*protocol));
            assert_eq!(of(&format!("{name};charset=\"UTF-8\"")), Some(*protocol));
            assert_eq!(of(&format!("{name}; charset=latin-1")), None);
            assert!(TYPES.iter().any(|(own, _)| protocol.content_type() == *own));
        }
        // What a page of another origin may send without being asked is none.
        for other in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
        {
            assert_eq!(of(other), None, "{other}");
        }
        for other in ["application/grpc", "application/grpc+proto", "application/jsonx", "json"] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(Protocol::of(&HeaderMap::new()), None);
    }
}
