//! The pairs of a scene, looked at by all threads of a pool.

use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};

use clearance_scene::{Batch, PairState, Runner};

/// Splits the pairs of a scene among the threads of the pool it runs in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parallel;

/// A thread is given at least so many pairs: a warm pair takes about a microsecond, waking a thread
/// some tens of them.
const PAIRS_PER_THREAD_MIN: usize = 64;

impl Runner for Parallel {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        if items.len() < 2 * PAIRS_PER_THREAD_MIN {
            items.iter_mut().for_each(|state| work(state));
        } else {
            let items = items.par_iter_mut().with_min_len(PAIRS_PER_THREAD_MIN);
            items.for_each(|state| work(state));
        }
    }

    fn at_once(&self, items: usize) -> usize {
        (items / PAIRS_PER_THREAD_MIN).clamp(1, rayon::current_num_threads()).min(items)
    }

    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        let pairs: usize = batches.iter().map(Batch::len).sum();
        if pairs < 2 * PAIRS_PER_THREAD_MIN {
            batches.iter_mut().for_each(work);
        } else {
            batches.par_iter_mut().for_each(work);
        }
    }
}

/// Questions that one thread is given at least.
const QUESTIONS_PER_THREAD_MIN: usize = 16;

/// How many of so many questions [`by_index`] works on at a time, at most.
pub fn at_once(count: usize) -> usize {
    let is_alone = rayon::current_thread_index().is_none();
    if is_alone || count < 2 * QUESTIONS_PER_THREAD_MIN {
        return count.min(1);
    }
    (count / QUESTIONS_PER_THREAD_MIN).clamp(1, rayon::current_num_threads())
}

/// What `work` says of 0 to `count`, in order. The threads of the pool that it runs in share the
/// work; outside of one, and for a few, the caller does it alone.
pub fn by_index<T: Send>(count: usize, work: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    let is_alone = rayon::current_thread_index().is_none();
    if is_alone || count < 2 * QUESTIONS_PER_THREAD_MIN {
        return (0..count).map(work).collect();
    }
    (0..count).into_par_iter().with_min_len(QUESTIONS_PER_THREAD_MIN).map(work).collect()
}
