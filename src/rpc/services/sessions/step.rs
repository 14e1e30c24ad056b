//! `StepSession`: some frames, one after the other, within one deadline and one reply.
//!
//! What is applied is told: a reply that came too late, or was too large, would leave its client
//! with a session some frames further on and without their events. So what goes wrong before the
//! first frame is done fails the call; what goes wrong later is said in the place of that frame and
//! of all that follow, which are not applied.

use std::sync::Arc;
use std::time::{Duration, Instant};

use prost::Message;
use tonic::metadata::MetadataMap;

use super::host::{Allowance, SessionHost, credentials, failure, take_out};
use super::session::Session;
use super::work::Reports;
use crate::rpc::shared::Shared;
use clearance_proto as api;
use clearance_runtime::compute::Counted;
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::MemoryKind;
use clearance_runtime::quotas::QuotaKind;
use clearance_runtime::sessions::Slot;
use clearance_transport::intake::Intake;
use clearance_transport::timing::call_time;
use clearance_wire::convert::paging::reply_bytes;
use clearance_wire::convert::sessions::report::bytes_of_message;
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::{Failure, TooLong};

/// Answers some frames, or says in their place why not.
pub(super) async fn step(
    host: &SessionHost,
    metadata: &MetadataMap,
    request: api::StepSessionRequest,
    intake: &Intake,
) -> Result<Vec<api::FrameReport>, Failure> {
    let shared = &host.shared;
    let list = Path::ROOT.field("frames");
    list.within(shared.limits().frames_per_step_max(), request.frames.len())?;
    let brought = credentials(metadata, request.session_key, request.incarnation);
    let slot = host.find(&request.session_id, brought)?;
    shared.quotas.charge(QuotaKind::Frames, request.frames.len() as u64)?;
    // Whoever waits keeps its frames in memory.
    let _admitted = slot.admit().map_err(|error| failure(error, &slot.id))?;
    slot.evict(request.take_over).map_err(|error| failure(error, &slot.id))?;
    let turns = Turns::of_call(shared, metadata)?;
    let deadline = Deadline::after(turns.left(shared));
    let call = Call { host, slot: &slot, turns, deadline, extent: intake.extent() };
    let mut reports = Vec::with_capacity(request.frames.len());
    let mut room = ReplyRoom::of_call(shared, request.reply_bytes_max, request.frames.len());
    let mut memory = intake.quota().reserve(MemoryKind::Replies, 0)?;
    let mut frames = request.frames.into_iter().enumerate();
    while let Some((index, frame)) = frames.next() {
        let frame_id = frame.frame_id;
        let kept = memory.grow_to(room.held).map_err(Failure::from);
        let done = match kept.and_then(|()| call.turns.begin(shared, index, &room)) {
            Ok(()) => call.take_turn(frame, index, room).await,
            Err(failure) => Err(failure),
        };
        match done {
            Ok((answered, left)) => {
                room = left;
                reports.extend(answered.into_iter().map(|report| *report));
            }
            Err(failure) if index == 0 => return Err(failure),
            Err(failure) => {
                let rest = frames.by_ref().map(|(_, frame)| frame.frame_id);
                let ids = std::iter::once(frame_id).chain(rest);
                reports.extend(ids.map(|frame_id| left(frame_id, &failure)));
            }
        }
    }
    Ok(reports)
}

/// A call whose frames are answered one after the other.
struct Call<'a> {
    host: &'a SessionHost,
    slot: &'a Arc<Slot<Session>>,
    turns: Turns,
    /// Until when its caller waits for it.
    deadline: Deadline,
    /// All that the frames hold together.
    extent: Counted,
}

impl Call<'_> {
    async fn take_turn(
        &self,
        frame: api::Frame,
        index: usize,
        mut room: ReplyRoom,
    ) -> Result<(Reports, ReplyRoom), Failure> {
        let Self { host, slot, turns, deadline, extent } = self;
        let held = tokio::time::timeout(turns.left(&host.shared), take_out(slot)).await;
        let held = held.map_err(|_| Failure::Deadline)??;
        let budget = turns.left(&host.shared);
        let (reply_bytes, own) = (room.left(), held.reply_bytes(&frame, host.shared.limits()));
        let extent = Intake::extent_of(&frame).min(*extent);
        let allowed = Allowance { call: deadline, budget, reply_bytes, extent };
        let (answered, _) = host.answer(held, vec![Box::new(frame)], Some(index), allowed).await?;
        room.take(&answered, reply_bytes < own);
        Ok((answered, room))
    }
}

/// What the report of a frame that is left out takes, and the tag and the length of any report.
const LEFT_BYTES: u64 = 512;

/// What is left of a reply for reports.
#[derive(Clone, Copy, Debug)]
struct ReplyRoom {
    bytes_max: u64,
    /// By the reports so far.
    taken: u64,
    /// What these take in memory.
    held: u64,
    /// By the largest of them: the best guess for the next one.
    largest: u64,
    /// Frames without a report. There has to be room to refuse them.
    frames_left: u64,
    /// A report was cut to what was left. Its frame can be sent again as long as no other follows.
    is_full: bool,
}

impl ReplyRoom {
    /// All that the caller takes; 0: it does not say.
    fn of_call(shared: &Shared, asked: u64, frames: usize) -> Self {
        let limits = shared.limits();
        let bytes_max = reply_bytes(asked, limits).min(limits.step_reply_bytes_max);
        Self {
            bytes_max,
            taken: 0,
            held: 0,
            largest: 0,
            frames_left: frames as u64,
            is_full: false,
        }
    }

    /// For the next report.
    fn left(&self) -> u64 {
        self.bytes_max.saturating_sub(self.taken + LEFT_BYTES * self.frames_left)
    }

    /// Takes the room of what was answered to one frame; `is_less` than its client takes was left.
    fn take(&mut self, answered: &[Box<api::FrameReport>], is_less: bool) {
        let bytes = answered.iter().map(|report| report.encoded_len()).sum::<usize>() as u64;
        self.taken += bytes;
        self.held += answered.iter().map(|report| bytes_of_message(report)).sum::<u64>();
        self.largest = self.largest.max(bytes);
        self.frames_left = self.frames_left.saturating_sub(1);
        self.is_full |= is_less && answered.iter().any(|report| report.cut);
    }

    /// Whether the next report may be too large, as far as those so far tell.
    fn is_used_up(&self) -> bool {
        self.is_full || self.largest > self.left()
    }
}

/// The report of a frame that was left out.
pub(super) fn left(frame_id: u64, why: &Failure) -> api::FrameReport {
    api::FrameReport { frame_id, status: Some(why.to_item()), ..Default::default() }
}

/// Until when the frames of a call get their turns.
#[derive(Clone, Copy, Debug)]
struct Turns {
    start: Instant,
    /// No frame but the first is begun later than this.
    begun: Duration,
    /// What is begun is answered by then. The rest of the time is for the way back.
    answered: Duration,
}

impl Turns {
    /// Within the caller's deadline and the server's own.
    fn of_call(shared: &Shared, metadata: &MetadataMap) -> Result<Self, Failure> {
        Ok(Self::within(call_time(shared.limits(), metadata.as_ref())?, shared.clock.now()))
    }

    fn within(time: Duration, start: Instant) -> Self {
        // What is under way takes a moment to stop, and reports of many pairs take as long to be
        // sent as answers.
        let margin = (time / 10).clamp(Duration::from_millis(2), Duration::from_secs(1));
        let margin = margin.min(time / 2);
        Self { start, begun: time - margin, answered: time - margin / 2 }
    }

    /// What is left for answers.
    fn left(&self, shared: &Shared) -> Duration {
        self.answered.saturating_sub(shared.clock.now().duration_since(self.start))
    }

    /// Whether a frame may be begun.
    fn begin(&self, shared: &Shared, index: usize, room: &ReplyRoom) -> Result<(), Failure> {
        if index > 0 && room.is_used_up() {
            return Err(TooLong::Reports { bytes_max: room.bytes_max }.into());
        }
        let is_late = shared.clock.now().duration_since(self.start) > self.begun;
        if index > 0 && is_late { Err(Failure::Deadline) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_of_the_time_is_for_the_way_back() {
        let millis = Duration::from_millis;
        for (time, begun, answered) in
            [(0, 0, 0), (2, 1, 1), (8, 6, 7), (200, 180, 190), (300_000, 299_000, 299_500)]
        {
            let turns = Turns::within(millis(time), Instant::now());
            assert_eq!(turns.begun, millis(begun), "{time} ms");
            assert_eq!(turns.answered.as_millis(), millis(answered).as_millis(), "{time} ms");
        }
    }
}
