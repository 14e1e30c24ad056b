//! What every service shares.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::sync::Semaphore;

use clearance_runtime::access::Access;
use clearance_runtime::archive::keeper::{Keeper, KeeperParts, Shelf, ShelfIndex};
use clearance_runtime::archive::{Archive, ArchiveError};
use clearance_runtime::behalf::Behalf;
use clearance_runtime::cells::KeptCells;
use clearance_runtime::clock::{Clock, SystemClock};
use clearance_runtime::compute::Compute;
use clearance_runtime::descriptors;
use clearance_runtime::latch::Latch;
use clearance_runtime::memory::{self, MemoryBudget};
use clearance_runtime::metrics::Metrics;
use clearance_runtime::quotas::Quotas;
use clearance_runtime::robots::RobotStore;
use clearance_runtime::settings::{Limits, Settings};
use clearance_runtime::spans::Spans;
use clearance_runtime::store::PolytopeStore;
use clearance_runtime::tenants::OfTenants;
use clearance_transport::call_log::CallLog;
use clearance_transport::layer::Surround;
use clearance_transport::unsent::Unsent;
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::robots::source::RobotSources;
use clearance_wire::status::Failure;

/// One server's state; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared {
    /// All settings and limits.
    pub settings: Arc<Settings>,
    stores: Arc<OfTenants<Stores>>,
    kept: Option<Arc<KeptStores>>,
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
    /// Set when the server is about to drain: who can go elsewhere is told.
    pub leaving: Latch,
    /// Set when the server starts to drain, which is no sooner.
    pub draining: Latch,
    /// Whether a session or an alias that comes without a key is open to everybody; otherwise the
    /// server makes the key.
    pub leaves_open: bool,
    /// Who may call.
    pub access: Access,
    /// What each tenant may have.
    pub quotas: Quotas,
    /// Who collects spans, if somebody does.
    pub spans: Option<Spans>,
    /// When the server started.
    pub start_time: SystemTime,
}

/// What one tenant has registered.
#[derive(Debug, Default)]
struct Stores {
    bodies: PolytopeStore,
    robots: RobotStore,
}

/// What outlives the process.
#[derive(Debug)]
struct KeptStores {
    keeper: Arc<Keeper>,
    /// What was there at the beginning, of tenants who have not called yet.
    found: Mutex<BTreeMap<String, ShelfIndex>>,
}

impl KeptStores {
    fn stores(&self, tenant: &str) -> Stores {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = found.remove(tenant).unwrap_or_default();
        drop(found);
        let shelf = Arc::new(Shelf::new(self.keeper.clone(), tenant, &index));
        let (builder, found) = (Arc::new(RobotSources), std::mem::take(&mut index.robots));
        let robots = RobotStore::on(shelf.clone(), builder, found);
        Stores { bodies: PolytopeStore::on(shelf, index), robots }
    }
}

impl Shared {
    /// With the machine's clock and an empty store. `draining` is set when no new work is taken,
    /// and nobody is told any sooner.
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
            kept: None,
            cells: Arc::default(),
            metrics: Arc::default(),
            uploads: Arc::new(Semaphore::new(uploads)),
            memory_budget: MemoryBudget::new(settings.limits.memory_bytes_max()),
            unsent: Unsent::new(settings.limits.unsent_bytes_max()),
            leaving: draining.clone(),
            draining,
            leaves_open: settings.open_sessions,
            access: Access::open(),
            quotas: Quotas::default(),
            spans: None,
            settings: Arc::new(settings),
        })
    }

    /// Keeps what is registered in an archive, from the beginning on.
    pub fn keep_in(&mut self, archive: Arc<dyn Archive>) -> Result<(), ArchiveError> {
        let parts = KeeperParts {
            archive,
            memory_budget: self.memory_budget.clone(),
            limits: self.limits().clone(),
            clock: self.clock.clone(),
        };
        let (keeper, found) = Keeper::open(parts)?;
        self.kept = Some(Arc::new(KeptStores { keeper, found: Mutex::new(found) }));
        Ok(())
    }

    /// Holds tenants to these quotas, from the beginning on.
    pub fn hold_to(&mut self, quotas: Quotas) {
        self.compute = self.compute.clone().within(quotas.clone());
        self.quotas = quotas;
    }

    /// What keeps registrations, if something does.
    pub fn keeper(&self) -> Option<&Arc<Keeper>> {
        self.kept.as_ref().map(|kept| &kept.keeper)
    }

    /// Does what registers or deletes: here, or where it may wait for the disk if there is one.
    pub async fn changing<R, F>(&self, work: F) -> Result<R, Failure>
    where
        F: FnOnce(&Self) -> R + Send + 'static,
        R: Send + 'static,
    {
        let Some(keeper) = self.keeper() else { return Ok(work(self)) };
        let place = keeper.writers().acquire_owned().await.map_err(|_| Failure::Draining)?;
        let (shared, behalf) = (self.clone(), Behalf::current());
        let job = move || {
            let _place = place;
            behalf.during(|| work(&shared))
        };
        tokio::task::spawn_blocking(job).await.map_err(|error| Failure::Bug(error.to_string()))
    }

    fn stores(&self) -> &Stores {
        self.stores.of_caller(|number| {
            let Some(kept) = &self.kept else { return Stores::default() };
            let name = number.and_then(|number| self.access.tenant_name(number));
            kept.stores(name.as_deref().unwrap_or(""))
        })
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// The bodies that are registered by the caller's tenant, by id and alias.
    pub fn store(&self) -> &PolytopeStore {
        &self.stores().bodies
    }

    /// The robots that are registered by the caller's tenant.
    pub fn robots(&self) -> &RobotStore {
        &self.stores().robots
    }

    /// Memory of all that the caller's tenant has registered, estimated.
    pub fn registered_bytes(&self) -> u64 {
        self.store().memory_bytes().saturating_add(self.robots().bytes())
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
            log: Arc::new(CallLog::new(self.limits(), self.clock.now())),
            spans: self.spans.clone(),
        }
    }

    /// Whether the server is draining, or about to.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_set()
    }

    /// Refuses what would start something that outlives the call.
    pub fn refuse_while_draining(&self) -> Result<(), Failure> {
        if self.draining.is_set() { Err(Failure::Draining) } else { Ok(()) }
    }
}
