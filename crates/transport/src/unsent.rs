//! Replies that are not sent yet: the large ones of all calls together take no more memory than is
//! allowed.
//!
//! A client that answers pings and reads nothing keeps its replies here for as long as it likes,
//! hundreds of them on each connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Response;
use http_body::{Body as _, Frame};
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;
use tonic::body::Body;

use super::intake::Intake;
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::settings::Limit;
use clearance_wire::status::Failure;

/// Replies up to this are not counted: they are as large as what is kept of every open call anyway,
/// and ordinary questions are answered while others keep theirs unread. Larger ones are sent in
/// pieces of this size, so that what is not read waits here, where it is counted, and not in the
/// buffers of the transport.
pub const SMALL_REPLY: usize = 64 << 10;

/// What an answer takes in memory for each byte that it takes on the wire.
pub const ANSWER_FACTOR: u64 = 4;

/// What the memory is counted in.
const UNIT: usize = 1 << 10;

/// Room for replies.
#[derive(Clone, Debug)]
pub struct Unsent {
    room: Arc<Semaphore>,
    bytes_max: Limit,
}

/// Room for an answer as it is in memory, and for the reply that it will be.
pub type AnswerRoom = (Option<Reservation>, Option<Room>);

/// Room for one reply, which is given back when it is dropped.
#[derive(Debug)]
pub struct Room {
    _units: OwnedSemaphorePermit,
    _memory: Reservation,
}

type Part = Result<Frame<Bytes>, Status>;

/// A reply that has begun.
struct Begun {
    data: Bytes,
    /// What follows the data.
    next: Option<Part>,
    rest: Option<Body>,
    _room: Option<Room>,
    /// What the data take, if they are a large message of a stream.
    message: Option<Reservation>,
    intake: Intake,
}

impl Unsent {
    /// For so many bytes.
    pub fn new(bytes_max: Limit) -> Self {
        let units = usize::try_from(bytes_max.value).unwrap_or(usize::MAX) / UNIT;
        Self { room: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))), bytes_max }
    }

    /// Counts a reply that is whole until it is sent or given up, or refuses it. Of a stream each
    /// message is counted until it is sent: it is there already, so it is never refused here.
    pub async fn count(&self, response: Response<Body>, intake: Intake) -> Response<Body> {
        let (head, mut body) = response.into_parts();
        let (data, room, message) = (Bytes::new(), None, None);
        let mut begun = Begun { data, next: None, rest: None, _room: room, message, intake };
        let Poll::Ready(first) = now(&mut body).await else {
            begun.rest = Some(body);
            return Response::from_parts(head, Body::new(begun));
        };
        match first.map(|part| part.map(Frame::into_data)) {
            Some(Ok(Ok(data))) => begun.data = data,
            Some(Ok(Err(other))) => begun.next = Some(Ok(other)),
            Some(Err(status)) => begun.next = Some(Err(status)),
            None => return Response::from_parts(head, Body::empty()),
        }
        if begun.next.is_none()
            && let Poll::Ready(next) = now(&mut body).await
        {
            begun.next = next;
        }
        let is_whole =
            begun.next.as_ref().is_some_and(|part| matches!(part, Ok(part) if part.is_trailers()));
        if is_whole {
            match self.reserve(begun.data.len(), &begun.intake) {
                Ok(room) => begun._room = room,
                Err(failure) => return Status::from(failure).into_http(),
            }
        }
        begun.rest = Some(body);
        Response::from_parts(head, Body::new(begun))
    }

    /// Room for a reply of so many bytes, if that is much. A call that knows how large its reply
    /// will be asks before the work, and gives the room back with its reply.
    pub fn reserve(&self, bytes: usize, intake: &Intake) -> Result<Option<Room>, Failure> {
        if bytes <= SMALL_REPLY {
            return Ok(None);
        }
        let (quota, free) = (intake.quota(), (self.room.available_permits() * UNIT) as u64);
        let (kind, wanted, limit) = (MemoryKind::Replies, bytes as u64, self.bytes_max.value);
        // One address leaves room for the replies of others.
        if wanted > quota.room_for(kind, limit.saturating_sub(free), limit) {
            return Err(self.bytes_max.reached().into());
        }
        let units = u32::try_from(bytes.div_ceil(UNIT)).ok();
        let units = units.and_then(|units| self.room.clone().try_acquire_many_owned(units).ok());
        let units = units.ok_or_else(|| self.bytes_max.reached())?;
        let memory = quota.reserve(kind, wanted)?;
        Ok(Some(Room { _units: units, _memory: memory }))
    }

    /// Room for an answer that is there and takes so many bytes on the wire, until it is one of
    /// these replies.
    pub fn room_for_answer(&self, bytes: usize, intake: &Intake) -> Result<AnswerRoom, Failure> {
        let memory = intake.work(ANSWER_FACTOR.saturating_mul(bytes as u64))?;
        Ok((memory, self.reserve(bytes, intake)?))
    }
}

/// The next part, if it is there.
async fn now(body: &mut Body) -> Poll<Option<Part>> {
    std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *body).poll_frame(context))).await
}

impl http_body::Body for Begun {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Part>> {
        let this = &mut *self;
        if this.data.is_empty() {
            this.message = None;
            if let Some(next) = this.next.take() {
                return Poll::Ready(Some(next));
            }
            let Some(rest) = &mut this.rest else { return Poll::Ready(None) };
            let part = std::task::ready!(Pin::new(rest).poll_frame(context));
            match part.map(|part| part.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => this.data = data,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(status)) => return Poll::Ready(Some(Err(status))),
                None => return Poll::Ready(None),
            }
            if this.data.len() > SMALL_REPLY {
                let bytes = this.data.len() as u64;
                this.message = Some(this.intake.quota().hold(MemoryKind::Replies, bytes));
            }
        }
        let piece = this.data.len().min(SMALL_REPLY);
        Poll::Ready(Some(Ok(Frame::data(this.data.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        let has_rest = self.rest.as_ref().is_some_and(|rest| !rest.is_end_stream());
        self.data.is_empty() && self.next.is_none() && !has_rest
    }
}
