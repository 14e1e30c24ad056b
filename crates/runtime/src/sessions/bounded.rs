//! The pairs of a scene, looked at within the memory there is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::Reservation;
use clearance_scene::{Batch, PairState, Runner};

/// Lets another runner look at the pairs, and takes the memory for what is remembered of them while
/// they are looked at: two bodies of 256 parts have 65,536 witnesses. Of the pairs for which there
/// is no memory left nothing is remembered, no proofs either; their answers are the same.
#[derive(Debug)]
pub struct Bounded<'a, R> {
    runner: R,
    memory: &'a Mutex<Reservation>,
    /// Bytes that the pairs have grown by, and what was reserved before.
    grown: AtomicU64,
    /// Bytes that they have grown by all the same where there was no memory.
    beyond: AtomicU64,
}

/// The memory is asked for in such steps.
const STEP_BYTES: u64 = 1 << 20;

/// So much may the pairs grow where there is no memory: what an answer cannot do without.
const BEYOND_MAX: u64 = 2 << 20;

impl<'a, R> Bounded<'a, R> {
    /// Takes memory by letting this reservation grow.
    pub fn new(runner: R, memory: &'a Mutex<Reservation>) -> Self {
        let before = memory.lock().expect("nothing panics while holding it").bytes();
        Self { runner, memory, grown: AtomicU64::new(before), beyond: AtomicU64::new(0) }
    }

    /// Whether there is memory for what a pair has grown by.
    fn admits(&self, growth: u64) -> bool {
        let grown = self.grown.fetch_add(growth, Ordering::Relaxed) + growth;
        let step = grown / STEP_BYTES;
        if growth == 0 || step == (grown - growth) / STEP_BYTES {
            return true;
        }
        let mut memory = self.memory.lock().expect("nothing panics while holding it");
        let is_there = memory.grow_to(step * STEP_BYTES).is_ok();
        if !is_there {
            self.grown.fetch_sub(growth, Ordering::Relaxed);
        }
        is_there
    }
}

impl<R: Runner + Sync> Runner for Bounded<'_, R> {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        self.runner.run(items, &|state| {
            work(state);
            if !self.admits(state.growth() as u64) {
                state.forget_witnesses();
                state.forget_proofs();
                let left = state.growth() as u64;
                if !self.admits(left) {
                    self.beyond.fetch_add(left, Ordering::Relaxed);
                }
            }
        });
    }

    fn at_once(&self, items: usize) -> usize {
        self.runner.at_once(items)
    }

    /// A batch looks at what is remembered and adds nothing to it.
    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        self.runner.run_batches(batches, work);
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.beyond.load(Ordering::Relaxed) <= BEYOND_MAX && self.admits(bytes as u64)
    }

    fn give_back(&self, bytes: usize) {
        self.grown.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}
