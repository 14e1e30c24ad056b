//! The body of a call on its way, whose messages somebody else sees, too.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use bytes::{Buf, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::log::{RelayedCall, Speaker};

/// A gRPC message has so many bytes before it: whether it is compressed, and its length.
const HEAD_BYTES: usize = 5;

/// Passes a body on, and shows its messages.
pub(crate) struct Tap<B> {
    body: B,
    cutter: Cutter,
    call: Arc<RelayedCall>,
    side: Speaker,
}

impl<B> Tap<B> {
    pub(crate) fn new(body: B, call: Arc<RelayedCall>, side: Speaker) -> Self {
        Self { body, cutter: Cutter::default(), call, side }
    }
}

impl<B> HttpBody for Tap<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let tap = &mut *self;
        let polled = Pin::new(&mut tap.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            let (call, side) = (&tap.call, tap.side);
            tap.cutter.push(data, &mut |message| call.said(side, message));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Cuts bytes as they come into messages.
#[derive(Default)]
struct Cutter {
    held: BytesMut,
    /// A message was compressed, so what comes after it is not looked at.
    is_blind: bool,
}

/// A message, or none where it is compressed.
pub(crate) type CutMessage<'a> = Option<&'a [u8]>;

impl Cutter {
    fn push(&mut self, data: &[u8], each: &mut dyn FnMut(CutMessage<'_>)) {
        if self.is_blind {
            return;
        }
        self.held.extend_from_slice(data);
        while let Some((head, rest)) = self.held.split_first_chunk::<HEAD_BYTES>() {
            let [compressed, length @ ..] = *head;
            let length = u32::from_be_bytes(length) as usize;
            if compressed != 0 {
                self.is_blind = true;
                self.held = BytesMut::new();
                each(None);
                return;
            }
            let Some(message) = rest.get(..length) else { return };
            each(Some(message));
            self.held.advance(HEAD_BYTES + length);
        }
    }
}

/// A body that is tapped.
pub(crate) fn tapped(body: Body, call: Arc<RelayedCall>, side: Speaker) -> tonic::body::Body {
    tonic::body::Body::new(Tap::new(body, call, side))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let (mut cutter, mut told) = (Cutter::default(), Vec::new());
        for piece in pieces {
            cutter.push(piece, &mut |one| told.push(one.map(<[u8]>::to_vec)));
        }
        told
    }

    #[test]
    fn messages_are_found_wherever_the_bytes_are_cut() {
        let bytes = [0, 0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9];
        let whole = vec![Some(vec![1, 2, 3]), Some(vec![]), Some(vec![9])];
        for cut_at in 0..=bytes.len() {
            assert_eq!(cut(&[&bytes[..cut_at], &bytes[cut_at..]]), whole, "{cut_at}");
        }
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(cut(&each), whole);
    }

    #[test]
    fn what_is_compressed_is_said_once_and_not_looked_into() {
        let bytes = [0, 0, 0, 0, 1, 5, 1, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0];
        assert_eq!(cut(&[&bytes, &bytes]), [Some(vec![5]), None]);
    }
}
