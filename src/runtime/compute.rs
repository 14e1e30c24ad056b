//! Where geometry runs: one bounded pool of threads, and the caller's own thread for small work.
//!
//! Handing a job to another thread and waking up again costs 25-60 µs, so work that is estimated to
//! take less than [`INLINE_MAX`] runs where it is; the rest waits for a worker, under a permit that
//! is taken before the job is built, so a refusal moves nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Work estimated to take at most this runs on the caller's thread. Beyond about 200 µs a handler
/// would keep other connections of its thread waiting; below, the hand-over costs more than the
/// work.
pub const INLINE_MAX: Duration = Duration::from_micros(150);

/// The least estimate for work whose cost nobody can bound beforehand, so that it never runs on the
/// caller's thread.
pub const NEVER_INLINE: Duration = Duration::from_millis(1);
const _: () = assert!(NEVER_INLINE.as_micros() > INLINE_MAX.as_micros());

/// Why a job was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Every place is taken.
    #[error("every place of the compute pool is taken")]
    Busy,
    /// The pool is going away.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The job panicked: a bug, of which only this job dies.
    #[error("the computation failed unexpectedly")]
    Panicked,
}

/// The pool.
#[derive(Clone, Debug)]
pub struct Compute {
    pool: Arc<rayon::ThreadPool>,
    places: Arc<Semaphore>,
    places_max: usize,
}

impl Compute {
    /// With so many threads (0: one less than there are processors, at least one) and places for
    /// running and waiting jobs.
    pub fn new(threads: usize, places_max: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { (processors - 1).max(1) } else { threads };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("compute-{index}"))
            .build()?;
        let places_max = places_max.clamp(1, Semaphore::MAX_PERMITS);
        Ok(Self { pool: Arc::new(pool), places: Arc::new(Semaphore::new(places_max)), places_max })
    }

    /// A place now, or a refusal: for calls that stand alone.
    pub fn admit(&self) -> Result<Place, Refused> {
        let permit = self.places.clone().try_acquire_owned().map_err(|_| Refused::Busy)?;
        Ok(Place { pool: self.pool.clone(), permit })
    }

    /// A place as soon as there is one: for streams, which hold back their own client meanwhile.
    pub async fn wait(&self) -> Result<Place, Refused> {
        let permit = self.places.clone().acquire_owned().await;
        Ok(Place { pool: self.pool.clone(), permit: permit.map_err(|_| Refused::ShuttingDown)? })
    }

    /// Does `job`: here when it is estimated to be small, else on a worker.
    pub async fn run<R, F>(&self, estimate: Duration, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Self::run_at(self.admit()?, estimate, job).await
    }

    /// Does `job` like [`Self::run`], but waits for a place: for streams.
    pub async fn run_when_free<R, F>(&self, estimate: Duration, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Self::run_at(self.wait().await?, estimate, job).await
    }

    async fn run_at<R, F>(place: Place, estimate: Duration, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        if estimate > INLINE_MAX {
            return place.run(job).await;
        }
        let result = catch_unwind(AssertUnwindSafe(job)).map_err(|_| Refused::Panicked);
        drop(place);
        // A client that sends small questions without end must not keep its thread to itself.
        tokio::task::consume_budget().await;
        result
    }

    /// Jobs running and waiting.
    pub fn jobs(&self) -> usize {
        self.places_max - self.places.available_permits()
    }

    /// Threads of the pool.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// The right to run one job.
#[derive(Debug)]
pub struct Place {
    pool: Arc<rayon::ThreadPool>,
    permit: OwnedSemaphorePermit,
}

impl Place {
    /// Runs `job` on the workers and awaits its result. Inside the job rayon's parallel iterators
    /// use the same workers.
    pub async fn run<R, F>(self, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let Self { pool, permit } = self;
        let (reply, answer) = oneshot::channel();
        pool.spawn(move || {
            // A caller that went away has dropped its end.
            if reply.is_closed() {
                return;
            }
            // Uncaught, a panic here would take the whole process with it.
            let result = catch_unwind(AssertUnwindSafe(job)).map_err(|_| Refused::Panicked);
            // Before the reply: whoever hears the answer must find the place free.
            drop(permit);
            // The caller may have gone away meanwhile.
            let _ = reply.send(result);
        });
        answer.await.unwrap_or(Err(Refused::ShuttingDown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panicking_job_is_refused_and_the_pool_goes_on() {
        let compute = Compute::new(1, 1).unwrap();
        for estimate in [Duration::ZERO, Duration::from_secs(1)] {
            let panicked: Result<(), Refused> =
                compute.run(estimate, || panic!("a bug, for the test")).await;
            assert_eq!(panicked, Err(Refused::Panicked));
            assert_eq!(compute.run(estimate, || 7).await, Ok(7));
        }
    }

    #[tokio::test]
    async fn a_full_pool_refuses_at_once_and_lets_streams_wait() {
        let compute = Compute::new(1, 1).unwrap();
        let place = compute.admit().unwrap();
        assert_eq!(compute.admit().unwrap_err(), Refused::Busy);
        assert_eq!(compute.jobs(), 1);
        let waiting = compute.clone();
        let waiter = tokio::spawn(async move { waiting.wait().await.unwrap().run(|| 2).await });
        assert_eq!(place.run(|| 1).await, Ok(1));
        assert_eq!(waiter.await.unwrap(), Ok(2));
    }

    #[tokio::test]
    async fn whoever_hears_an_answer_finds_the_place_free() {
        let compute = Compute::new(2, 1).unwrap();
        for round in 0..200 {
            assert_eq!(compute.admit().expect("free again").run(move || round).await, Ok(round));
        }
    }
}
