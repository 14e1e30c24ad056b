//! Parts of a large job, on the thread that does it and on helpers.
//!
//! Helpers are threads of their own, one fewer than may compute. One is only asked when fewer
//! threads compute than may, so it begins at once and nobody waits behind it; and it leaves as soon
//! as a part is done and jobs of others have taken its place. A job of the pool never waits for a
//! helper but its own, and for no more than one part.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::priority::give_way;
use super::{Compute, Scheduler};
use crate::behalf::Behalf;

/// The threads that help.
#[derive(Debug)]
pub(super) struct Helpers {
    /// None: only one thread may compute.
    threads: Option<rayon::ThreadPool>,
    /// Threads that compute, in the pool, beside it and here, for there to be one more helper.
    computing_max: usize,
}

impl Helpers {
    /// With one thread fewer than may compute.
    pub(super) fn new(computing_max: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let pool = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|index| format!("helper-{index}"))
                .start_handler(|_| give_way())
                .build()
        };
        let count = computing_max.saturating_sub(1);
        let threads = if count > 0 { Some(pool(count)?) } else { None };
        Ok(Self { threads, computing_max })
    }
}

/// The place of a helper that is at work.
struct Helping<'a>(&'a Arc<Scheduler>);

impl Drop for Helping<'_> {
    fn drop(&mut self) {
        self.0.queues().helping -= 1;
    }
}

impl Scheduler {
    /// A place for one more helper, if there is a processor for it.
    fn another_helper(self: &Arc<Self>) -> Option<Helping<'_>> {
        let mut queues = self.queues();
        let computing = queues.computing() + queues.helping;
        let most = self.helpers.computing_max;
        (computing < most && queues.helping + 1 < most).then(|| {
            queues.helping += 1;
            Helping(self)
        })
    }

    /// Whether no more threads compute than may.
    fn has_room(&self) -> bool {
        let queues = self.queues();
        queues.computing() + queues.helping <= self.helpers.computing_max
    }
}

impl Compute {
    /// Inside a job: calls `part` with every number below `count` once, on this thread and on
    /// helpers, and comes back when all have been. Which thread does what is up to chance.
    pub fn share(&self, count: usize, part: impl Fn(usize) + Sync) {
        let helpers = self.0.helpers.threads.as_ref().filter(|_| count > 1);
        let Some(helpers) = helpers else {
            (0..count).for_each(part);
            return;
        };
        let (next, workshop, behalf) = (AtomicUsize::new(0), &self.0, Behalf::current());
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < count);
        let is_left = || next.load(Ordering::Relaxed) < count;
        helpers.in_place_scope(|scope| {
            while let Some(number) = take() {
                // The thread that asks has a place of its own: one helper for each of the others.
                while is_left() {
                    let Some(place) = workshop.another_helper() else { break };
                    let (part, take, behalf) = (&part, &take, &behalf);
                    scope.spawn(move |_| {
                        behalf.during(|| {
                            while let Some(number) = take() {
                                part(number);
                                if !workshop.has_room() {
                                    break;
                                }
                            }
                        });
                        drop(place);
                    });
                }
                part(number);
            }
        });
    }
}
