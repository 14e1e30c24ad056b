//! Many questions of one call, shared among the threads of the pool, with answers in their order.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::geometry::effort::Cost;
use crate::rpc::status::Failure;
use crate::runtime::memory::Reservation;

/// What `check` says of 0 to `count`, `size` of them at a time, in order; and what all of it cost.
/// A single chunk stays on the thread that asks.
///
/// `check` also tells what its answer takes, bytes: `memory` grows by so much, and where there is
/// no more of it, the chunks that are left are not begun, and nothing is answered.
pub(super) fn in_chunks<T: Send>(
    count: usize,
    size: usize,
    memory: Reservation,
    check: impl Fn(Range<usize>) -> (T, u64, Cost) + Send + Sync,
) -> Result<(Vec<T>, Cost, Reservation), Failure> {
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
    let chunks = (0..count.div_ceil(size)).map(|k| k * size..count.min((k + 1) * size));
    let parts: Vec<_> = if count <= size {
        chunks.map(kept).collect()
    } else {
        chunks.collect::<Vec<_>>().into_par_iter().map(kept).collect()
    };
    let mut cost = Cost::default();
    let mut answers = Vec::with_capacity(parts.len());
    for part in parts.into_iter().flatten() {
        let (answer, spent) = part?;
        cost += spent;
        answers.push(answer);
    }
    cost.queries = count as u64;
    Ok((answers, cost, memory.into_inner().expect("nothing panics while holding it")))
}
