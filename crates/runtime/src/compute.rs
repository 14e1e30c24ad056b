//! Where geometry runs: one bounded pool of threads, and the caller's own thread for small work.
//!
//! Handing a job to another thread and waking up again costs 25-60 µs, so work that is known to be
//! small ([`mod@load`]) runs where it is; the rest waits in line for a worker. The line is fair
//! between clients ([`mod@queue`]). A job whose caller goes away while it waits leaves it at once.
//! When jobs of others take long, another may overtake them, as soon as they have run or it has
//! waited for [`PATIENCE`], on threads beside the pool, if nothing of its client is being worked on
//! and its principal leaves enough of them free; if it may not yet, it asks again later.
//! A job that has a session out, for which frames wait, may overtake its own client's, too, unless
//! one of these has a session out as well. Helpers ([`mod@share`]) take parts of large jobs while
//! there are processors that nobody else computes on.
//!
//! All of these threads together can be more than there are processors. They have a lower priority
//! ([`mod@priority`]), so that those that speak to clients do not wait for one of them to pause.

pub mod costs;
pub mod load;
mod priority;
mod queue;
mod share;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

pub use self::load::{Counted, JobSize, Small};
use self::queue::FairQueue;
use self::share::Helpers;
use super::behalf::Behalf;
use super::client::Client;
use super::metrics::Times;
use super::principal::Principal;
use super::quotas::{QuotaExceeded, QuotaKind, Quotas};

/// Work estimated to take at most this runs on the caller's thread. Beyond about 200 µs a handler
/// would keep other connections of its thread waiting; below, the hand-over costs more than the
/// work.
pub const INLINE_MAX: Duration = Duration::from_micros(150);

/// How long a job waits behind those of other clients before it may overtake them, and how long
/// these run before whoever comes may do so at once. Most jobs take less; on each thread beside the
/// pool the others are slowed down.
const PATIENCE: Duration = Duration::from_millis(5);

/// How long a job waits before it asks again whether it may overtake. Very many may wait.
const PATIENCE_AGAIN: Duration = Duration::from_millis(25);

/// Threads beside the pool, on which jobs overtake. A principal may begin on another one while it
/// has fewer than half of those that are free, so that three at most are of the first one with
/// many long jobs, two of the next and one of each after it. Each is a pool of its own: in one pool
/// for all, parts of the long jobs went before a job that had not begun.
const OVERTAKING_THREADS: usize = 8;

/// Why a job was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Every place is taken.
    #[error("every place of the compute pool is taken")]
    Busy,
    /// The tenant has as many jobs as it may.
    #[error(transparent)]
    Quota(Box<QuotaExceeded>),
    /// The pool is going away.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The job panicked: a bug, of which only this job dies.
    #[error("the computation failed unexpectedly")]
    Panicked,
}

/// The pool; cheap to clone.
#[derive(Clone, Debug)]
pub struct Compute(Arc<Scheduler>, Quotas);

#[derive(Debug)]
struct Scheduler {
    pool: rayon::ThreadPool,
    beside: [rayon::ThreadPool; OVERTAKING_THREADS],
    helpers: Helpers,
    places_max: usize,
    queues: Mutex<Queues>,
    /// How long jobs have waited before they were begun.
    waits: Times,
}

/// Who waits and who is being served.
#[derive(Default)]
struct Queues {
    line: FairQueue<WaitingJob>,
    /// When the jobs in the pool have begun.
    running: Vec<Instant>,
    /// Jobs on the threads beside it.
    overtaking: usize,
    /// Which of these threads are taken.
    taken: [bool; OVERTAKING_THREADS],
    /// How many of them are of each principal.
    overtaking_of: HashMap<Principal, usize>,
    /// Threads that help.
    helping: usize,
    /// Jobs of each client in either, those that have a session out apart from the others.
    served: HashMap<(Client, Holding), usize>,
    next_ticket: u64,
}

/// A job with the way back to its caller: does it, or says why not.
type Work = Box<dyn FnOnce(Result<RunningJob, Refused>) + Send>;

/// Whether others wait for what a job has while it waits and runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holding {
    Nothing,
    /// A session that is out.
    Session,
}

/// A job in line.
struct WaitingJob {
    work: Work,
    holding: Holding,
    /// Whether it may be refused for somebody else's sake.
    gives_way: bool,
}

/// Where a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// Since then.
    Pool(Instant),
    /// On this one of the threads beside it.
    Beside(usize),
}

/// A job that runs. Dropped, it leaves its thread to the next.
struct RunningJob {
    workshop: Arc<Scheduler>,
    client: Client,
    holding: Holding,
    lane: Lane,
}

/// The place of a job in line, for as long as its caller waits.
struct QueuedJob<'a> {
    workshop: &'a Arc<Scheduler>,
    client: Client,
    holding: Holding,
    number: u64,
}

impl std::fmt::Debug for Queues {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { overtaking, helping, .. } = self;
        let running = self.running.len();
        let waiting = self.line.count();
        write!(formatter, "{waiting} wait, {running} and {overtaking} run, {helping} help")
    }
}

impl Compute {
    /// With so many threads (0: one less than there are processors, at least one) and places for
    /// running and waiting jobs.
    pub fn new(threads: usize, places_max: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let computing_max = if threads == 0 { processors } else { threads };
        let threads = if threads == 0 { (processors - 1).max(1) } else { threads };
        let pool = |threads, name: &'static str| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(move |index| format!("{name}-{index}"))
                .start_handler(|_| priority::give_way())
                .build()
        };
        let beside = (0..OVERTAKING_THREADS).map(|_| pool(1, "beside"));
        let beside: Vec<_> = beside.collect::<Result<_, _>>()?;
        let beside = beside.try_into().expect("so many");
        Ok(Self(
            Arc::new(Scheduler {
                pool: pool(threads, "compute")?,
                beside,
                helpers: Helpers::new(computing_max)?,
                places_max: places_max.max(1),
                queues: Mutex::default(),
                waits: Times::default(),
            }),
            Quotas::default(),
        ))
    }

    /// The same pool, for tenants who may have so many jobs there.
    #[must_use]
    pub fn within(self, quotas: Quotas) -> Self {
        Self(self.0, quotas)
    }

    /// Does `job`: here when it is known to be small, else on a worker. Where every place is taken
    /// it is refused, or one of whoever waits with more.
    pub async fn run<R, F>(&self, load: JobSize, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        match load.small() {
            Some(small) => Self::here(small, job).await,
            None => self.wait(job, Holding::Nothing, true).await,
        }
    }

    /// Does `job` like [`Self::run`], but waits for a worker however many do: for streams, which
    /// hold back their own client meanwhile, and for the rest of what was begun.
    pub async fn run_when_free<R, F>(&self, load: JobSize, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        match load.small() {
            Some(small) => Self::here(small, job).await,
            None => self.wait(job, Holding::Nothing, false).await,
        }
    }

    /// Does `job` on a worker, while it has a session out. Of a `stream`, it is never refused.
    pub async fn run_with_session<R, F>(&self, stream: bool, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.wait(job, Holding::Session, !stream).await
    }

    /// Does `job` on this thread: for work that may borrow.
    pub async fn here<R>(_: Small, job: impl FnOnce() -> R) -> Result<R, Refused> {
        let result = catch_unwind(AssertUnwindSafe(job)).map_err(|_| Refused::Panicked);
        // A client that sends small questions without end must not keep its thread to itself.
        tokio::task::consume_budget().await;
        result
    }

    /// Waits in line for a worker, and for what it does. Inside the job rayon's parallel iterators
    /// use the same workers. Whoever stops waiting leaves the line.
    async fn wait<R, F>(&self, job: F, holding: Holding, gives_way: bool) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let (client, behalf) = (Client::current(), Behalf::current());
        // A stream holds back its own client.
        if gives_way {
            let (tenant, jobs) = (Client::current_tenant(), || 1 + self.jobs_of_caller() as u64);
            let held = self.1.hold_of(tenant, QuotaKind::Jobs, jobs);
            held.map_err(|exceeded| Refused::Quota(Box::new(exceeded)))?;
        }
        let (reply, mut answer) = oneshot::channel();
        let (scheduler, came) = (self.0.clone(), Instant::now());
        let work: Work = Box::new(move |leave| {
            let result = match leave {
                Err(refused) => Err(refused),
                // A caller that went away has dropped its end.
                Ok(_) if reply.is_closed() => return,
                Ok(leave) => {
                    scheduler.waits.add(came.elapsed());
                    // Uncaught, a panic here would take the whole process with it.
                    let job = AssertUnwindSafe(|| behalf.during(job));
                    let result = catch_unwind(job).map_err(|_| Refused::Panicked);
                    // Before the reply: whoever hears the answer must find the place free.
                    drop(leave);
                    result
                }
            };
            // The caller may have gone away meanwhile.
            let _ = reply.send(result);
        });
        let ticket = self.0.enqueue(client, WaitingJob { work, holding, gives_way })?;
        let mut patience = PATIENCE;
        let answer = loop {
            match tokio::time::timeout(patience, &mut answer).await {
                Ok(answer) => break answer,
                Err(_) => ticket.overtake(),
            }
            patience = PATIENCE_AGAIN;
        };
        answer.unwrap_or(Err(Refused::ShuttingDown))
    }

    /// How long jobs have waited before they were begun, those that were.
    pub fn waits(&self) -> &Times {
        &self.0.waits
    }

    /// Jobs running and waiting.
    pub fn jobs(&self) -> usize {
        self.0.queues().jobs()
    }

    /// Those of the caller's tenant; of everybody where nobody is asked for a key.
    pub fn jobs_of_caller(&self) -> usize {
        let (queues, principal) = (self.0.queues(), Client::current().principal());
        if principal.tenant_number().is_none() {
            return queues.jobs();
        }
        let own = queues.served.iter().filter(|((client, _), _)| client.principal() == principal);
        queues.line.count_of(principal) + own.map(|(_, count)| count).sum::<usize>()
    }

    /// Threads of the pool, which one job may have.
    pub fn threads(&self) -> usize {
        self.0.pool.current_num_threads()
    }
}

impl Queues {
    /// Jobs in the pool and beside it.
    fn computing(&self) -> usize {
        self.running.len() + self.overtaking
    }

    /// Whether all jobs in the pool have run for a while.
    fn all_take_long(&self) -> bool {
        self.running.iter().all(|began| began.elapsed() >= PATIENCE)
    }

    fn jobs(&self) -> usize {
        self.line.count() + self.computing()
    }
}

impl Scheduler {
    /// Puts work in line, and starts what can be started.
    fn enqueue(
        self: &Arc<Self>,
        client: Client,
        waiter: WaitingJob,
    ) -> Result<QueuedJob<'_>, Refused> {
        let (holding, gives_way) = (waiter.holding, waiter.gives_way);
        let mut queues = self.queues();
        let mut crowded_out = None;
        if gives_way && queues.jobs() >= self.places_max {
            crowded_out = Some(queues.line.evict_for(client).ok_or(Refused::Busy)?);
        }
        let number = queues.next_ticket;
        queues.next_ticket += 1;
        queues.line.push(client, number, waiter, gives_way);
        let ticket = QueuedJob { workshop: self, client, holding, number };
        if queues.running.len() < self.pool.current_num_threads() {
            self.start_next(&mut queues);
        } else if queues.all_take_long() {
            self.overtake(&mut queues, &ticket);
        }
        drop(queues);
        // Outside the lock: what it would have worked on goes back to its place.
        if let Some(WaitingJob { work, .. }) = crowded_out {
            work(Err(Refused::Busy));
        }
        Ok(ticket)
    }

    /// Starts whoever has the next turn, in the pool.
    fn start_next(self: &Arc<Self>, queues: &mut Queues) {
        if let Some((client, waiter)) = queues.line.pop() {
            self.start(queues, client, waiter, Lane::Pool(Instant::now()));
        }
    }

    fn start(
        self: &Arc<Self>,
        queues: &mut Queues,
        client: Client,
        waiter: WaitingJob,
        lane: Lane,
    ) {
        let WaitingJob { work, holding, .. } = waiter;
        *queues.served.entry((client, holding)).or_default() += 1;
        let threads = match lane {
            Lane::Pool(began) => {
                queues.running.push(began);
                &self.pool
            }
            Lane::Beside(thread) => {
                queues.overtaking += 1;
                queues.taken[thread] = true;
                *queues.overtaking_of.entry(client.principal()).or_default() += 1;
                &self.beside[thread]
            }
        };
        let leave = RunningJob { workshop: self.clone(), client, holding, lane };
        threads.spawn(move || work(Ok(leave)));
    }

    /// Starts a job beside the pool, if it still waits, nothing else of its client is being worked
    /// on that it may not overtake, and its principal leaves enough threads free.
    fn overtake(self: &Arc<Self>, queues: &mut Queues, ticket: &QueuedJob<'_>) {
        let QueuedJob { client, holding, number, .. } = *ticket;
        let free = OVERTAKING_THREADS - queues.overtaking;
        let own = queues.overtaking_of.get(&client.principal()).copied().unwrap_or(0);
        let is_served = |holding| queues.served.contains_key(&(client, holding));
        let waits_for_own =
            is_served(Holding::Session) || holding == Holding::Nothing && is_served(holding);
        if 2 * own >= free || waits_for_own {
            return;
        }
        let Some(thread) = queues.taken.iter().position(|taken| !taken) else { return };
        if let Some(waiter) = queues.line.remove(client, number) {
            self.start(queues, client, waiter, Lane::Beside(thread));
        }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().expect("nothing panics while holding it")
    }
}

impl QueuedJob<'_> {
    /// See [`Scheduler::overtake`].
    fn overtake(&self) {
        self.workshop.overtake(&mut self.workshop.queues(), self);
    }
}

impl Drop for QueuedJob<'_> {
    fn drop(&mut self) {
        // Outside the lock: what it would have worked on goes back to its place.
        let left = self.workshop.queues().line.remove(self.client, self.number);
        drop(left);
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        let mut queues = self.workshop.queues();
        one_less(&mut queues.served, (self.client, self.holding));
        match self.lane {
            Lane::Pool(began) => {
                let at = queues.running.iter().position(|other| *other == began);
                queues.running.swap_remove(at.expect("it was put there"));
                self.workshop.start_next(&mut queues);
            }
            Lane::Beside(thread) => {
                queues.overtaking -= 1;
                queues.taken[thread] = false;
                one_less(&mut queues.overtaking_of, self.client.principal());
            }
        }
    }
}

/// Counts one less of this.
fn one_less<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

#[cfg(test)]
mod tests;
