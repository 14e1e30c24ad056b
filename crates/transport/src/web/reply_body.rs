//! The bodies of what the side port answers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Frame, SizeHint};
use prost::bytes::Bytes;
use tokio::sync::mpsc;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// All of it; none: it was taken.
    Whole(Option<Bytes>),
    /// Pieces as they come.
    Pieces(mpsc::Receiver<Bytes>),
}

impl ReplyBody {
    /// One that is there.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// One that comes in pieces, of which one waits at most.
    pub(super) fn in_pieces() -> (mpsc::Sender<Bytes>, Self) {
        let (pieces, receiver) = mpsc::channel(1);
        (pieces, Self::Pieces(receiver))
    }
}

/// An answer of this type.
pub(crate) fn content(
    status: StatusCode,
    content_type: HeaderValue,
    body: ReplyBody,
) -> Response<ReplyBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Pieces(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}
