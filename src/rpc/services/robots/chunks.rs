//! Many questions of one call, shared among threads, with answers in their order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::rpc::status::Failure;
use crate::runtime::compute::Compute;
use crate::runtime::memory::Reservation;
use clearance_geometry::effort::Cost;

/// How many questions there are, and how many of them a thread takes at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    pub(super) count: usize,
    pub(super) size: usize,
}

/// What `check` says of 0 to `count`, `size` of them at a time, in order; and what all of it cost.
///
/// `check` also tells what its answer takes, bytes: `memory` grows by so much, and where there is
/// no more of it, the chunks that are left are not begun, and nothing is answered.
pub(super) fn in_chunks<T: Send + Sync>(
    compute: &Compute,
    chunks: Chunks,
    memory: Reservation,
    check: impl Fn(Range<usize>) -> (T, u64, Cost) + Send + Sync,
) -> Result<(Vec<T>, Cost, Reservation), Failure> {
    let Chunks { count, size } = chunks;
    let (memory, is_full) = (Mutex::new(memory), AtomicBool::new(false));
    let kept = |range| {
        if is_full.load(Ordering::Relaxed) {
            return None;
        }
        let (answer, bytes, cost) = check(range);
        let mut memory = memory.lock().expect("nothing panics while holding it");
        let all = memory.bytes() + bytes;
        let grown = memory.grow_to(all);
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
