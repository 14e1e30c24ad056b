//! A channel that hands on no header which ends the program.
//!
//! The transport takes the details of a status for base 64 without looking, and panics where they
//! are none (`Status::from_header_map` of tonic 0.14). Whoever is between client and server can
//! send such a header, so details that cannot be read are taken away before: the status stays, with
//! its code and its words.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{Bytes, Service};
use tonic::transport::{Channel, Error};

/// The details of a status, in base 64.
const DETAILS: &str = "grpc-status-details-bin";

/// A channel whose statuses can be read.
#[derive(Clone, Debug)]
pub struct ReadableChannel(pub(crate) Channel);

impl Service<Request<Body>> for ReadableChannel {
    type Response = Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answering = self.0.call(request);
        Box::pin(async move {
            let mut response = answering.await?;
            take_unreadable(response.headers_mut());
            Ok(response.map(|body| Body::new(ReadableBody(body))))
        })
    }
}

/// A body whose trailers can be read.
struct ReadableBody(Body);

impl HttpBody for ReadableBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut polled = Pin::new(&mut self.0).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &mut polled
            && let Some(trailers) = frame.trailers_mut()
        {
            take_unreadable(trailers);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

fn take_unreadable(headers: &mut HeaderMap) {
    if headers.get(DETAILS).is_some_and(|details| !is_base64(details.as_bytes())) {
        headers.remove(DETAILS);
    }
}

/// Whether bytes are base 64 with its usual digits, with padding or without.
fn is_base64(text: &[u8]) -> bool {
    let digits = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let (digits, padding) = text.split_at(digits);
    let values: Option<Vec<u8>> = digits.iter().map(|digit| value(*digit)).collect();
    let Some(values) = values else { return false };
    let is_padded = padding.is_empty() || (digits.len() + padding.len()).is_multiple_of(4);
    // The last digit has bits that belong to no byte.
    let over = match digits.len() % 4 {
        0 => return padding.is_empty(),
        2 => 0b1111,
        3 => 0b11,
        _ => return false,
    };
    is_padded && values.last().is_some_and(|last| last & over == 0)
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    /// The transport's own reading is the judge: it panics where a text is none.
    fn is_read(text: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-status", "5".parse().unwrap());
        headers.insert(DETAILS, text.parse().unwrap());
        let read = std::panic::catch_unwind(|| Status::from_header_map(&headers));
        read.is_ok_and(|status| status.is_some_and(|status| status.code() == Code::NotFound))
    }

    #[test]
    fn what_is_handed_on_is_read_by_the_transport() {
        let digits =
            ["", "A", "AA", "AB", "AAA", "AAE", "AAD", "AAAA", "AAA!", "A-_A", "+/+/", "AA=A"];
        let mut counts = [0; 2];
        for text in digits {
            for padding in ["", "=", "==", "===", "===="] {
                let text = format!("{text}{padding}");
                let is_sound = is_base64(text.as_bytes());
                counts[usize::from(is_sound)] += 1;
                // Some that are padded in other ways would be read, too, and nobody writes these.
                assert!(!is_sound || is_read(&text), "{text:?}");
            }
        }
        assert!(counts.iter().all(|count| *count >= 8), "{counts:?}");
    }
}
