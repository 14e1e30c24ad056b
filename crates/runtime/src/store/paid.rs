//! What is paid for a registered polytope or robot, and who tells how much that is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::memory::Reservation;
use clearance_bodies::{Body, TableKeeper};

/// What is paid for a polytope, or for those of a robot. It grows with the tables that are built of
/// them, whoever asks for these, and is given back when nobody has any of them any more.
#[derive(Debug, Default)]
pub(crate) struct PaidMemory {
    tables: AtomicU64,
    memory: Mutex<Option<Reservation>>,
}

impl PaidMemory {
    /// Told of all that is built of this body.
    pub(crate) fn of(body: &mut Body) -> Arc<Self> {
        let new = Arc::<Self>::default();
        body.tell(new.clone());
        new
    }

    /// Counts it here from now on.
    pub(crate) fn begin(&self, mut memory: Reservation) {
        let mut place = self.lock();
        memory.set(memory.bytes() + self.tables.load(Ordering::Relaxed));
        *place = Some(memory);
    }

    /// Memory of the tables that are built so far.
    pub(crate) fn tables(&self) -> u64 {
        self.tables.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Reservation>> {
        self.memory.lock().expect("nothing panics while holding it")
    }
}

impl TableKeeper for PaidMemory {
    fn kept(&self, bytes: usize) {
        let mut memory = self.lock();
        self.tables.fetch_add(bytes as u64, Ordering::Relaxed);
        if let Some(memory) = memory.as_mut() {
            memory.set(memory.bytes() + bytes as u64);
        }
    }
}
