//! What every service shares.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::Semaphore;

use clearance_runtime::access::Access;
use clearance_runtime::cells::KeptCells;
use clearance_runtime::clock::{Clock, SystemClock};
use clearance_runtime::compute::Compute;
use clearance_runtime::descriptors;
use clearance_runtime::latch::Latch;
use clearance_runtime::memory::{self, MemoryBudget};
use clearance_runtime::metrics::Metrics;
use clearance_runtime::robots::RobotStore;
use clearance_runtime::settings::{Limits, Settings};
use clearance_runtime::store::PolytopeStore;
use clearance_runtime::tenants::OfTenants;
use clearance_transport::layer::Surround;
use clearance_transport::unsent::Unsent;
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::status::Failure;

/// One server's state; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared {
    /// All settings and limits.
    pub settings: Arc<Settings>,
    stores: Arc<OfTenants<Stores>>,
    /// Cells of robots that stay built between calls.
    pub cells: Arc<KeptCells>,
    /// Where geometry runs.
    pub compute: Compute,
    /// The clock that times are read from; tests bring their own.
    pub clock: Arc<dyn Clock>,
    /// What is counted for the metrics page.
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
    /// Who may call.
    pub access: Access,
    /// When the server started.
    pub start_time: SystemTime,
}

/// What one tenant has registered.
#[derive(Debug, Default)]
struct Stores {
    bodies: PolytopeStore,
    robots: RobotStore,
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
            stores: Arc::default(),
            cells: Arc::default(),
            metrics: Arc::default(),
            uploads: Arc::new(Semaphore::new(uploads)),
            memory_budget: MemoryBudget::new(settings.limits.memory_bytes_max()),
            unsent: Unsent::new(settings.limits.unsent_bytes_max()),
            draining,
            leaves_open: settings.open_sessions,
            access: Access::open(),
            settings: Arc::new(settings),
        })
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// The bodies that are registered by the caller's tenant, by id and alias.
    pub fn store(&self) -> &PolytopeStore {
        &self.stores.of_caller().bodies
    }

    /// The robots that are registered by the caller's tenant.
    pub fn robots(&self) -> &RobotStore {
        &self.stores.of_caller().robots
    }

    /// What requests are read against.
    pub fn catalogue(&self) -> Catalogue<'_> {
        Catalogue { store: self.store(), robots: self.robots(), limits: &self.settings.limits }
    }

    /// What surrounds every call.
    pub fn surround(&self) -> Surround {
        Surround {
            settings: self.settings.clone(),
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
            unsent: self.unsent.clone(),
            access: self.access.clone(),
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
