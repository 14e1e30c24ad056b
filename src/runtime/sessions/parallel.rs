//! The pairs of a scene, looked at by all threads of a pool.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::scene::{PairState, Runner};

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
}
