//! The end of a stream: its status gets the id of the request, and the log is told.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use http::HeaderMap;
use http_body::Frame;
use prost::bytes::Bytes;
use tonic::body::Body;
use tonic::{Code, Status};

use super::call_log::{CallLine, CallLog, Called, micros};
use clearance_runtime::clock::Clock;
use clearance_wire::status::with_request_id;

/// The body of a stream of replies. What it runs, it runs as the request that it answers.
pub(super) struct Tail {
    pub(super) body: Body,
    pub(super) call: Called,
    pub(super) log: Arc<CallLog>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) start: Instant,
    /// How it has ended; at first, as if its client had gone.
    pub(super) code: Code,
}

impl Tail {
    fn ended(&mut self, mut trailers: HeaderMap) -> Frame<Bytes> {
        if let Some(status) = Status::from_header_map(&trailers) {
            self.code = status.code();
            if self.code != Code::Ok {
                let named = with_request_id(&status, self.call.known.id.as_str());
                let mut headers = HeaderMap::new();
                // One that cannot be written stays as it was.
                if named.add_header(&mut headers).is_ok() {
                    trailers = headers;
                }
            }
        }
        Frame::trailers(trailers)
    }
}

impl http_body::Body for Tail {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let polled = this.call.known.during(|| Pin::new(&mut this.body).poll_frame(context));
        match std::task::ready!(polled) {
            Some(Ok(frame)) => Poll::Ready(Some(Ok(match frame.into_trailers() {
                Ok(trailers) => this.ended(trailers),
                Err(data) => data,
            }))),
            Some(Err(status)) => {
                this.code = status.code();
                Poll::Ready(Some(Err(status)))
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let now = self.clock.now();
        let elapsed = now.saturating_duration_since(self.start);
        self.call.end_span(self.code, elapsed);
        let micros = micros(elapsed);
        let said = CallLine { event: "stream ended", call: &self.call, code: self.code, micros };
        self.log.say(said, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_runtime::behalf::KnownCall;
    use clearance_runtime::clock::SystemClock;
    use clearance_runtime::request::RequestId;
    use clearance_runtime::settings::Limits;
    use clearance_wire::status::Failure;
    use http_body_util::{BodyExt, StreamBody};
    use tonic_types::StatusExt;

    #[tokio::test]
    async fn a_stream_that_fails_later_says_which_request_it_was() {
        let mut trailers = HeaderMap::new();
        Status::from(Failure::Draining).add_header(&mut trailers).unwrap();
        let parts = [Frame::data(Bytes::from_static(b"x")), Frame::trailers(trailers)];
        let parts = tokio_stream::iter(parts.map(Ok::<_, Status>));
        let id = RequestId::brought_or_new(Some(b"seven"));
        let mut tail = Tail {
            body: Body::new(StreamBody::new(parts)),
            call: Called::new(KnownCall { id, span: None }, "/no.such/Method", None),
            log: Arc::new(CallLog::new(&Limits::default(), Instant::now())),
            clock: Arc::new(SystemClock),
            start: Instant::now(),
            code: Code::Cancelled,
        };
        assert!(tail.frame().await.unwrap().unwrap().is_data());
        let trailers = tail.frame().await.unwrap().unwrap().into_trailers().unwrap();
        let details = Status::from_header_map(&trailers).unwrap().get_error_details();
        assert_eq!(details.request_info().unwrap().request_id, "seven");
        assert_eq!(details.error_info().unwrap().reason, "DRAINING");
        assert_eq!(tail.code, Code::Unavailable);
    }
}
