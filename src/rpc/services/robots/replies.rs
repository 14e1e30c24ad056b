//! The answers to one message in replies: in one, or in a stream in as many as they take where one
//! would be longer than the client takes.
//!
//! Where a stream cuts is decided by the answers alone, whichever threads found them.

use std::ops::Range;

use prost::Message;

use super::Caller;
use super::chunks::Chunks;
use clearance_proto as api;
use clearance_robot::cell::Cell;
use clearance_runtime::memory::Reservation;
use clearance_wire::convert::paging::reply_bytes;
use clearance_wire::convert::robots::answer::{in_one_reply, joined};
use clearance_wire::convert::robots::edges::{edges_in_one_reply, joined_edges};
use clearance_wire::status::{Failure, TooLong};

/// What a reply has beside the answers that are joined in it, bytes at most: the tags and lengths
/// of its lists, its cost, its frame, and the place in the stream.
const BESIDE: u64 = 512;

/// What a pair takes whose clearance no joint value changes, bytes at most: the numbers of two
/// bodies, and two bounds.
const CONSTANT_PAIR: u64 = 2 * 5 + 2 * 8;

/// Answers about some questions in a row.
pub(super) trait Answers: Message + Default {
    /// What they take of a reply at most, bytes, wherever they are in it.
    fn bytes_in_reply(&self) -> u64;

    /// One reply of those about some questions each, in order.
    fn joined(parts: Vec<Self>) -> Self;

    /// How many questions they are about.
    fn questions(&self) -> u32;

    /// Says which frame of a scene they are about, and whether the cell does not stay built.
    fn set_place(&mut self, frame_id: u64, cell_not_kept: bool);
}

impl Answers for api::CheckConfigurationsResponse {
    fn bytes_in_reply(&self) -> u64 {
        in_one_reply(self)
    }

    fn joined(parts: Vec<Self>) -> Self {
        joined(parts)
    }

    fn questions(&self) -> u32 {
        self.count
    }

    fn set_place(&mut self, frame_id: u64, cell_not_kept: bool) {
        (self.frame_id, self.cell_not_kept) = (frame_id, cell_not_kept);
    }
}

impl Answers for api::CheckEdgesResponse {
    fn bytes_in_reply(&self) -> u64 {
        edges_in_one_reply(self)
    }

    fn joined(parts: Vec<Self>) -> Self {
        joined_edges(parts)
    }

    fn questions(&self) -> u32 {
        self.count
    }

    fn set_place(&mut self, frame_id: u64, cell_not_kept: bool) {
        (self.frame_id, self.cell_not_kept) = (frame_id, cell_not_kept);
    }
}

/// The replies to one message, in order, with the memory that they take.
pub(super) struct ReplyList<T> {
    pub(super) replies: Vec<T>,
    pub(super) memory: Reservation,
}

impl<T: Default> ReplyList<T> {
    /// The reply to a call, which has one.
    pub(super) fn only(mut self) -> T {
        self.replies.pop().unwrap_or_default()
    }
}

/// How long replies may be, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplyRoom {
    /// What the client takes of one.
    bytes_max: u64,
    /// What all that answer one message may take together.
    all_max: u64,
    /// What each has beside its answers, at most.
    beside: u64,
    /// What each of them has of that which is counted nowhere else.
    coverage: u64,
}

impl ReplyRoom {
    /// For a client that says so, or 0.
    pub(super) fn new(caller: Caller<'_>, asked: u64, cell: &Cell) -> Self {
        let limits = caller.shared.limits();
        let bytes_max = reply_bytes(asked, limits);
        let all_max = if caller.is_stream { limits.reply_bytes_max } else { bytes_max };
        let of_constant = CONSTANT_PAIR.saturating_mul(cell.constant_pairs().len() as u64);
        Self { bytes_max, all_max, beside: BESIDE.saturating_add(of_constant), coverage: 0 }
    }

    /// The same for replies that say which pairs are covered, in so many bytes; refuses where they
    /// do not take these alone.
    pub(super) fn with_coverage(self, bytes: u64) -> Result<Self, Failure> {
        self.must_fit(1, bytes)?;
        let beside = self.beside.saturating_add(bytes);
        Ok(Self { beside, coverage: bytes, ..self })
    }

    /// What all replies to a message say of the pairs that are covered, bytes.
    pub(super) fn coverage_of(self, replies: usize) -> u64 {
        self.coverage.saturating_mul(replies as u64)
    }

    /// Refuses so many questions before any of them is looked at, if their answers, which take so
    /// many bytes each at least, cannot fit.
    pub(super) fn must_fit(self, count: usize, each: u64) -> Result<(), Failure> {
        let Self { bytes_max, all_max, .. } = self;
        if count > 0 && each > bytes_max {
            return Err(TooLong::Answers { bytes_max }.into());
        }
        if each.saturating_mul(count as u64) > all_max {
            return Err(TooLong::Answers { bytes_max: all_max }.into());
        }
        Ok(())
    }

    /// So many questions, `size` of them at a time; in a stream as many as may fit into a reply.
    pub(super) fn chunks(self, count: usize, size: usize, each: u64) -> Chunks {
        let fit = usize::try_from(self.of_answers() / each.max(1)).unwrap_or(usize::MAX);
        let size = if self.may_be_several() { size.min(fit) } else { size };
        let bytes_max = self.all_max.saturating_sub(self.coverage);
        Chunks { count, size: size.max(1), bytes_max }
    }

    fn may_be_several(self) -> bool {
        self.all_max > self.bytes_max
    }

    /// What the answers in one of several replies may take.
    fn of_answers(self) -> u64 {
        self.bytes_max.saturating_sub(self.beside)
    }

    /// The answers about the first `count` questions as `pack` makes them, in as few pieces as fit
    /// into a reply each.
    pub(super) fn pieces<T: Answers>(
        self,
        count: usize,
        pack: impl Fn(Range<usize>) -> T,
    ) -> Vec<T> {
        let whole = 0..count;
        let (mut pieces, mut waiting) = (Vec::new(), vec![whole]);
        while let Some(range) = waiting.pop() {
            let packed = pack(range.clone());
            let fits = !self.may_be_several() || packed.bytes_in_reply() <= self.of_answers();
            if fits || range.len() < 2 {
                pieces.push(packed);
            } else {
                let middle = range.start + range.len() / 2;
                waiting.extend([middle..range.end, range.start..middle]);
            }
        }
        pieces
    }

    /// These pieces in as few replies as take them, at least one.
    pub(super) fn replies<T: Answers>(self, pieces: Vec<T>) -> Result<Vec<T>, Failure> {
        let all: u64 = pieces.iter().map(|piece| piece.encoded_len() as u64).sum();
        if !self.may_be_several() || all.saturating_add(self.coverage) <= self.bytes_max {
            return Ok(vec![T::joined(pieces)]);
        }
        let (mut replies, mut group, mut taken) = (Vec::new(), Vec::new(), 0);
        for piece in pieces {
            let bytes = piece.bytes_in_reply();
            if bytes > self.of_answers() {
                return Err(TooLong::Answers { bytes_max: self.bytes_max }.into());
            }
            if taken + bytes > self.of_answers() {
                replies.push(T::joined(std::mem::take(&mut group)));
                taken = 0;
            }
            taken += bytes;
            group.push(piece);
        }
        replies.push(T::joined(group));
        Ok(replies)
    }
}
