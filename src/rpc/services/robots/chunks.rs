//! Many questions of one call, shared among the threads of the pool, with answers in their order.

use std::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::geometry::effort::Cost;

/// What `check` says of 0 to `count`, `size` of them at a time, in order; and what all of it cost.
/// A single chunk stays on the thread that asks.
pub(super) fn in_chunks<T: Send>(
    count: usize,
    size: usize,
    check: impl Fn(Range<usize>) -> (T, Cost) + Send + Sync,
) -> (Vec<T>, Cost) {
    let chunks = (0..count.div_ceil(size)).map(|k| k * size..count.min((k + 1) * size));
    let parts: Vec<(T, Cost)> = if count <= size {
        chunks.map(check).collect()
    } else {
        chunks.collect::<Vec<_>>().into_par_iter().map(check).collect()
    };
    let mut cost = Cost::default();
    let mut answers = Vec::with_capacity(parts.len());
    for (answer, spent) in parts {
        cost += spent;
        answers.push(answer);
    }
    cost.queries = count as u64;
    (answers, cost)
}
