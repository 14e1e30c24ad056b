//! What others notice while a server is attacked: health and small questions, each on a connection
//! of its own and from a thread of its own, and the memory of the process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clearance::rpc::api;
use tonic_health::pb::HealthCheckRequest;

use crate::questions::cubes_apart;
use crate::server::{Client, resident, slowness};

/// Between two questions of a watcher.
const INTERVAL: Duration = Duration::from_millis(5);

/// What a row may do to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// What 99 of 100 health checks take at most.
    pub(crate) health_p99: Duration,
    /// What every health check takes at most.
    pub(crate) health_worst: Duration,
    /// What 99 of 100 small questions of another client take at most.
    pub(crate) small_p99: Duration,
    /// How many small questions of another client may be refused or fail.
    pub(crate) small_refused_max: usize,
    /// What the process may hold at most, bytes.
    pub(crate) resident_max: u64,
}

impl Default for Bounds {
    /// Generous: machines that run tests are busy with other things too.
    fn default() -> Self {
        Self {
            health_p99: Duration::from_millis(100),
            health_worst: Duration::from_millis(500),
            small_p99: Duration::from_millis(100),
            small_refused_max: 0,
            resident_max: 1 << 30,
        }
    }
}

/// What was noticed.
#[derive(Debug)]
pub(crate) struct Noticed {
    health: Vec<Duration>,
    small: Vec<Duration>,
    small_refused: Vec<String>,
    resident_max: u64,
}

/// Watchers at work.
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    resident_max: Arc<AtomicU64>,
    health: JoinHandle<Vec<Duration>>,
    small: JoinHandle<(Vec<Duration>, Vec<String>)>,
    memory: JoinHandle<()>,
}

impl Watch {
    pub(crate) fn begin(address: SocketAddr, process: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let resident_max = Arc::new(AtomicU64::new(0));
        let (of_health, of_small, of_memory) = (over.clone(), over.clone(), over.clone());
        let most = resident_max.clone();
        Self {
            over,
            resident_max,
            health: std::thread::spawn(move || alone(watch_health(address, &of_health))),
            small: std::thread::spawn(move || alone(watch_small(address, &of_small))),
            memory: std::thread::spawn(move || {
                while !of_memory.load(Ordering::Relaxed) {
                    most.fetch_max(resident(process), Ordering::Relaxed);
                    std::thread::sleep(INTERVAL);
                }
            }),
        }
    }

    pub(crate) fn end(self) -> Noticed {
        self.over.store(true, Ordering::Relaxed);
        self.memory.join().unwrap();
        let (small, small_refused) = self.small.join().expect("another client is answered");
        Noticed {
            health: self.health.join().expect("health is answered"),
            small,
            small_refused,
            resident_max: self.resident_max.load(Ordering::Relaxed),
        }
    }
}

/// A runtime on this thread alone.
fn alone<T>(what: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(what)
}

async fn watch_health(address: SocketAddr, over: &AtomicBool) -> Vec<Duration> {
    let mut health = Client::to(address).await.health();
    let mut times = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let start = Instant::now();
        let reply = health.check(HealthCheckRequest::default()).await.expect("health answers");
        times.push(start.elapsed());
        assert_eq!(reply.into_inner().status, 1, "serving");
        tokio::time::sleep(INTERVAL).await;
    }
    times
}

async fn watch_small(address: SocketAddr, over: &AtomicBool) -> (Vec<Duration>, Vec<String>) {
    let mut queries = Client::to(address).await.queries();
    let (mut times, mut refused) = (Vec::new(), Vec::new());
    while !over.load(Ordering::Relaxed) {
        let start = Instant::now();
        match queries.check_collision(cubes_apart()).await {
            Ok(reply) => {
                times.push(start.elapsed());
                assert_eq!(reply.into_inner().verdict(), api::Verdict::Separated);
            }
            Err(status) => refused.push(format!("{:?} {}", status.code(), status.message())),
        }
        tokio::time::sleep(INTERVAL).await;
    }
    (times, refused)
}

/// The least time that 99 of 100 do not exceed.
fn p99(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get((sorted.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
}

impl Noticed {
    /// Says what was noticed, and fails where it is beyond `bounds`.
    pub(crate) fn check(&self, name: &str, bounds: &Bounds) {
        let worst = self.health.iter().max().copied().unwrap_or_default();
        let [health, small] = [&self.health, &self.small].map(|times| p99(times));
        let (mib, refused) = (self.resident_max >> 20, self.small_refused.len());
        println!(
            "{name:44} {mib:5} MiB, health p99 {health:9.2?} worst {worst:9.2?} of {}, small p99 \
             {small:9.2?} of {}, refused {refused}",
            self.health.len(),
            self.small.len(),
        );
        let slow = slowness();
        assert!(health <= bounds.health_p99 * slow, "health's p99 is {health:?}");
        assert!(worst <= bounds.health_worst * slow, "a health check took {worst:?}");
        assert!(small <= bounds.small_p99 * slow, "small questions' p99 is {small:?}");
        let first = self.small_refused.first();
        assert!(refused <= bounds.small_refused_max, "{refused} small questions: {first:?}");
        let most = bounds.resident_max >> 20;
        assert!(self.resident_max <= bounds.resident_max, "{mib} MiB of at most {most}");
    }
}
