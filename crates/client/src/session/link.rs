//! The stream that a session is attached to.

use std::collections::VecDeque;

use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::connection::Client;
use crate::credentials::routed;
use clearance_proto as api;
use clearance_proto::stream_session_request::Start;

/// Messages that wait in the stream before the sender has to.
const WAITING_MAX: usize = 16;

/// Bodies of one message of an opening; what more there are comes in messages that follow.
const BODIES_PER_MESSAGE: usize = 10_000;

/// A stream in both directions.
#[derive(Debug)]
pub(super) struct Link {
    requests: mpsc::Sender<api::StreamSessionRequest>,
    replies: Streaming<api::StreamSessionResponse>,
}

impl Link {
    /// Begins a stream with these messages.
    pub(super) async fn begin(
        client: &Client,
        session_id: &str,
        first: Vec<api::StreamSessionRequest>,
    ) -> Result<Self, Status> {
        let (requests, receiver) = mpsc::channel(WAITING_MAX);
        let messages = tokio_stream::iter(first).chain(ReceiverStream::new(receiver));
        let request = routed(session_id, messages);
        let replies = client.sessions().stream_session(request).await?.into_inner();
        Ok(Self { requests, replies })
    }

    /// Sends a frame; nothing is sent on a stream that has ended.
    pub(super) async fn send(&self, frame: &api::Frame) {
        // Why the stream has ended is what `next` says.
        let _ = self.requests.send(frame_message(frame)).await;
    }

    /// The next message of the server; none once the stream has ended.
    pub(super) async fn next(&mut self) -> Result<Option<api::StreamSessionResponse>, Status> {
        self.replies.message().await
    }

    /// Ends the stream, and waits until the server has answered all that was sent.
    pub(super) async fn end(self) -> Result<(), Status> {
        let Self { requests, mut replies } = self;
        drop(requests);
        while replies.message().await?.is_some() {}
        Ok(())
    }
}

/// A frame as a message.
pub(super) fn frame_message(frame: &api::Frame) -> api::StreamSessionRequest {
    api::StreamSessionRequest { frame: Some(Box::new(frame.clone())), ..Default::default() }
}

/// The messages that open a session, the state in several if it has many bodies.
pub(super) fn opening(
    request: &api::OpenSessionRequest,
    mut state: api::SessionState,
    latest_wins: bool,
) -> Vec<api::StreamSessionRequest> {
    let mut pieces: VecDeque<Vec<api::Body>> = VecDeque::new();
    let mut bodies = std::mem::take(&mut state.bodies);
    while bodies.len() > BODIES_PER_MESSAGE {
        let rest = bodies.split_off(BODIES_PER_MESSAGE);
        pieces.push_back(std::mem::replace(&mut bodies, rest));
    }
    pieces.push_back(bodies);
    state.bodies = pieces.pop_front().unwrap_or_default();
    let open = api::OpenSessionRequest { state: Some(state), ..request.clone() };
    let first = api::StreamSessionRequest {
        start: Some(Start::Open(Box::new(open))),
        latest_wins,
        ..Default::default()
    };
    let more = pieces.into_iter().map(|bodies| api::StreamSessionRequest {
        more_state: Some(Box::new(api::SessionState { bodies, ..Default::default() })),
        ..Default::default()
    });
    let mut messages: Vec<_> = std::iter::once(first).chain(more).collect();
    let last = messages.len() - 1;
    messages[..last].iter_mut().for_each(|message| message.state_continues = true);
    messages
}

/// The message that attaches a stream to a session that is open.
pub(super) fn attaching(
    session_id: String,
    session_key: String,
    incarnation: u64,
    latest_wins: bool,
) -> api::StreamSessionRequest {
    api::StreamSessionRequest {
        start: Some(Start::SessionId(session_id)),
        session_key,
        incarnation,
        latest_wins,
        // The stream that is attached still may be one that was lost.
        take_over: true,
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_scene_is_opened_in_several_messages() {
        let body = |id| api::Body { id: Some(id), ..Default::default() };
        let state = |count| api::SessionState {
            bodies: (0..count).map(body).collect(),
            ..Default::default()
        };
        let request = api::OpenSessionRequest::default();
        assert_eq!(opening(&request, state(0), false).len(), 1);
        let messages = opening(&request, state(25_000), true);
        let continues: Vec<bool> = messages.iter().map(|message| message.state_continues).collect();
        assert_eq!(continues, [true, true, false]);
        let Some(Start::Open(open)) = &messages[0].start else { panic!("it opens") };
        assert_eq!(open.state.as_ref().unwrap().bodies.len(), 10_000);
        let last = messages[2].more_state.as_ref().unwrap();
        assert_eq!((last.bodies.len(), last.bodies[0].id()), (5_000, 20_000));
        assert!(messages[0].latest_wins);
    }
}
