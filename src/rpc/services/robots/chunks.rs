//! Many questions of one call, shared among threads, with answers in their order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use clearance_geometry::effort::Cost;
use clearance_runtime::compute::Compute;
use clearance_runtime::memory::Reservation;
use clearance_wire::status::{Failure, TooLong};

/// What an answer takes in memory for each byte that it takes on the wire, where verdicts and
/// indices are shorter; it is there twice while its chunks are joined.
const ANSWER_FACTOR: u64 = 4;

/// How many questions there are, and how many of them a thread takes at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    pub(super) count: usize,
    pub(super) size: usize,
    /// How long the answers may be together, bytes of a message.
    pub(super) bytes_max: u64,
}

/// What `check` says of 0 to `count`, `size` of them at a time, in order; and what all of it cost.
///
/// `check` also tells how long its answer is, bytes: `memory` grows by what that takes, and where
/// there is no more of it, or the answers become too long, the chunks that are left are not begun,
/// and nothing is answered.
pub(super) fn in_chunks<T: Send + Sync>(
    compute: &Compute,
    chunks: Chunks,
    memory: Reservation,
    check: impl Fn(Range<usize>) -> (T, u64, Cost) + Send + Sync,
) -> Result<(Vec<T>, Cost, Reservation), Failure> {
    let Chunks { count, size, bytes_max } = chunks;
    let (memory, is_full) = (Mutex::new(memory), AtomicBool::new(false));
    let kept = |range| {
        if is_full.load(Ordering::Relaxed) {
            return None;
        }
        let (answer, bytes, cost) = check(range);
        let mut memory = memory.lock().expect("nothing panics while holding it");
        let all = memory.bytes() + ANSWER_FACTOR * bytes;
        let grown = if all > bytes_max.saturating_mul(ANSWER_FACTOR) {
            Err(TooLong::Answers { bytes_max }.into())
        } else {
            memory.grow_to(all).map_err(Failure::from)
        };
        is_full.fetch_or(grown.is_err(), Ordering::Relaxed);
        Some(grown.map(|()| (answer, cost)))
    };
    let parts: Vec<OnceLock<_>> = (0..count.div_ceil(size)).map(|_| OnceLock::new()).collect();
    compute.share(parts.len(), |k| {
        if let Some(part) = kept(k * size..count.min((k + 1) * size)) {
            let _ = parts[k].set(part);
        }
    });
    let mut cost = Cost::default();
    let mut answers = Vec::with_capacity(parts.len());
    for part in parts.into_iter().filter_map(OnceLock::into_inner) {
        let (answer, spent) = part?;
        cost += spent;
        answers.push(answer);
    }
    cost.queries = count as u64;
    Ok((answers, cost, memory.into_inner().expect("nothing panics while holding it")))
}
