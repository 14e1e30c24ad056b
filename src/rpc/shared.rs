//! What every service shares.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::Semaphore;

use crate::rpc::convert::catalogue::Catalogue;
use crate::rpc::status::Failure;
use crate::rpc::transport::layer::Surround;
use crate::rpc::transport::unsent::Unsent;
use crate::runtime::cells::KeptCells;
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::compute::Compute;
use crate::runtime::descriptors;
use crate::runtime::latch::Latch;
use crate::runtime::memory::{self, MemoryBudget};
use crate::runtime::metrics::Metrics;
use crate::runtime::robots::RobotStore;
use crate::runtime::settings::{Limits, Settings};
use crate::runtime::store::PolytopeStore;

/// One server's state; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared {
    /// All settings and limits.
    pub settings: Arc<Settings>,
    /// Registered polytopes.
    pub store: Arc<PolytopeStore>,
    /// The registered robots.
    pub robots: Arc<RobotStore>,
    /// Cells of robots that stay built between calls.
    pub cells: Arc<KeptCells>,
    /// Where geometry runs.
    pub compute: Compute,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Room for uploads.
    pub uploads: Arc<Semaphore>,
    /// Who holds how much memory.
    pub memory_budget: MemoryBudget,
    /// Room for replies.
    pub unsent: Unsent,
    /// Set when the server starts to drain.
    pub draining: Latch,
    /// Whether a session or an alias that comes without a key is open to everybody; otherwise the
    /// server makes the key.
    pub leaves_open: bool,
    /// When the server started.
    pub start_time: SystemTime,
}

impl Shared {
    /// With the machine's clock and an empty store. `draining` is set when no new work is
    /// taken.
    pub fn new(
        mut settings: Settings,
        draining: Latch,
    ) -> Result<Self, rayon::ThreadPoolBuildError> {
        if settings.limits.memory_bytes_max == 0 {
            settings.limits.memory_bytes_max = memory::default_bytes_max();
        }
        memory::fit(&mut settings.limits);
        descriptors::fit(&mut settings.limits);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let room = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        let uploads = room(settings.limits.uploads_max).min(Semaphore::MAX_PERMITS);
        Ok(Self {
            compute: Compute::new(settings.compute_threads, room(settings.limits.jobs_max))?,
            start_time: clock.wall(),
            clock,
            store: Arc::default(),
            robots: Arc::default(),
            cells: Arc::default(),
            metrics: Arc::default(),
            uploads: Arc::new(Semaphore::new(uploads)),
            memory_budget: MemoryBudget::new(settings.limits.memory_bytes_max()),
            unsent: Unsent::new(settings.limits.unsent_bytes_max()),
            draining,
            leaves_open: settings.open_sessions,
            settings: Arc::new(settings),
        })
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// What requests are read against.
    pub fn catalogue(&self) -> Catalogue<'_> {
        Catalogue { store: &self.store, robots: &self.robots, limits: &self.settings.limits }
    }

    /// What surrounds every call.
    pub fn surround(&self) -> Surround {
        Surround {
            settings: self.settings.clone(),
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
            unsent: self.unsent.clone(),
        }
    }

    /// Whether the server is draining.
    pub fn is_draining(&self) -> bool {
        self.draining.is_set()
    }

    /// Refuses what would start something that outlives the call.
    pub fn refuse_while_draining(&self) -> Result<(), Failure> {
        if self.is_draining() { Err(Failure::Draining) } else { Ok(()) }
    }
}
