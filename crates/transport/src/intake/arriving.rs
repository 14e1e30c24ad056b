//! The messages of one call as their bytes arrive: counted before they are kept, and in time.
//!
//! Every message is five bytes, which tell its length, and then that many more. Time and memory are
//! counted from the first of them to the last.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::Frame;
use prost::bytes::Bytes;
use tokio::time::Sleep;
use tonic::Status;
use tonic::body::Body;

use super::Intake;
use clearance_runtime::memory::Arrival;
use clearance_wire::status::Failure;

/// What comes before each message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// Where in a message the bytes that have come so far end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    /// Bytes of the prefix.
    prefix: usize,
    /// As far as the prefix has told it.
    length: u32,
    /// Bytes of the message after it.
    came: u64,
}

impl Progress {
    /// Goes on by these bytes.
    fn advance(&mut self, mut bytes: &[u8]) {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.prefix < PREFIX_BYTES {
                if self.prefix > 0 {
                    self.length = self.length << 8 | u32::from(first);
                }
                self.prefix += 1;
                bytes = rest;
            } else {
                let left = u64::from(self.length) - self.came;
                let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                self.came += taken as u64;
                bytes = &bytes[taken..];
            }
            if self.prefix == PREFIX_BYTES && self.came == u64::from(self.length) {
                *self = Self::default();
            }
        }
    }

    /// Whether a message has begun and is not whole.
    fn is_within_a_message(self) -> bool {
        self.prefix > 0
    }
}

/// The body of a request.
pub(crate) struct Arriving {
    body: Body,
    intake: Intake,
    progress: Progress,
    memory: Option<Arrival>,
    /// Runs while a message is not whole.
    patience: Option<Pin<Box<Sleep>>>,
}

impl Arriving {
    /// That of a call.
    pub(crate) fn new(body: Body, intake: Intake) -> Self {
        Self { body, intake, progress: Progress::default(), memory: None, patience: None }
    }

    /// Counts what has come.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Status> {
        self.progress.advance(bytes);
        // What is whole is decoded now, and counted by the decoder.
        if !self.progress.is_within_a_message() {
            (self.memory, self.patience) = (None, None);
            return Ok(());
        }
        let came = self.progress.came;
        match &mut self.memory {
            Some(memory) if came >= memory.bytes() => {
                memory.grow_to(came).map_err(Failure::from)?;
            }
            memory => *memory = self.intake.arrival(came)?,
        }
        Ok(())
    }

    /// Ready when a message has to give way to others.
    fn poll_given_up(&self, context: &mut Context<'_>) -> Poll<Status> {
        let Some(memory) = &self.memory else { return Poll::Pending };
        memory.poll_given_up(context).map(|error| Failure::from(error).into())
    }

    /// Ready when a message takes too long.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        if !self.progress.is_within_a_message() {
            return Poll::Pending;
        }
        let limit = self.intake.limits().message_seconds_max();
        let patience = self
            .patience
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(Duration::from_secs(limit.value))));
        let late = || Failure::from(limit.exceeded_at("message")).into();
        patience.as_mut().poll(context).map(|()| late())
    }
}

impl http_body::Body for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if let Poll::Ready(status) = this.poll_given_up(context) {
            return Poll::Ready(Some(Err(status)));
        }
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let taken = frame.data_ref().map_or(Ok(()), |bytes| this.take(bytes));
                Poll::Ready(Some(taken.map(|()| frame)))
            }
            Poll::Pending => this.poll_late(context).map(|status| Some(Err(status))),
            other => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_with_its_last_byte_however_it_is_cut() {
        let message = |length: u32| {
            let mut bytes = vec![0];
            bytes.extend(length.to_be_bytes());
            bytes.resize(PREFIX_BYTES + length as usize, 7);
            bytes
        };
        let bytes = [message(0), message(300), message(1)].concat();
        let ends = [5, 310, 316];
        for step in [1, 2, 3, 7, 100, 316] {
            let mut progress = Progress::default();
            let mut at = 0;
            for piece in bytes.chunks(step) {
                progress.advance(piece);
                at += piece.len();
                assert_eq!(progress.is_within_a_message(), !ends.contains(&at), "{at} by {step}");
            }
        }
    }
}
