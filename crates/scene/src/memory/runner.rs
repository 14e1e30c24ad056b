//! Who does the work on pairs.

use crate::declared::question::Questions;
use crate::memory::kept::Batch;
use crate::pairs::state::PairState;
use crate::unanswered::Unanswered;
use clearance_geometry::until::Until;

/// Runs independent pieces of work, in any order, on any number of threads. The results are in the
/// items, so they cannot depend on the order.
pub trait Runner {
    /// Calls `work` once for every item.
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync));

    /// Calls `work` once for every batch.
    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync));

    /// How many of so many items are worked on at the same time, at most.
    fn at_once(&self, items: usize) -> usize {
        items.min(1)
    }

    /// Whether there is memory for so many bytes of what comes of the work.
    fn has_room(&self, _bytes: usize) -> bool {
        true
    }

    /// So many of these bytes are not needed after all.
    fn give_back(&self, _bytes: usize) {}
}

/// What a frame asks of its pairs, who does the work, and what ends it early.
#[derive(Clone, Copy)]
pub(crate) struct PairWork<'a> {
    pub(crate) questions: &'a Questions,
    pub(crate) runner: &'a dyn Runner,
    pub(crate) until: &'a Until,
}

/// One after the other, here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Runner for Serial {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        items.iter_mut().for_each(|state| work(state));
    }

    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        batches.iter_mut().for_each(work);
    }
}

impl PairWork<'_> {
    /// Says so where there is no memory for so many bytes more.
    pub(crate) fn take_room(&self, bytes: usize) -> Result<(), Unanswered> {
        if self.runner.has_room(bytes) { Ok(()) } else { Err(Unanswered::NoRoom) }
    }
}
