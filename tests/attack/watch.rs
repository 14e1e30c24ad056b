//! What others notice while a server is attacked: health, small questions and questions for the
//! pool, each on a connection of its own and from a thread of its own, and the memory of the
//! process.
//!
//! The watchers are a process of their own. With attackers in the same one they share the locks of
//! its allocator: one that was interrupted while it held one kept a watcher waiting for 4.4 s.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clearance_proto as api;
use tonic_health::pb::HealthCheckRequest;

use crate::questions::{about_a_hull, cubes_apart};
use crate::secured::{SECURED, secrets};
use crate::server::{Client, Server, resident, slowness};

/// Between two questions of a watcher.
const INTERVAL: Duration = Duration::from_millis(5);

/// Between two questions that wait for the pool: they are some milliseconds of work themselves.
const POOLED_INTERVAL: Duration = Duration::from_millis(20);

/// So many questions for the pool are asked before the attack, one after the other.
const ALONE: usize = 15;

/// What the middle question for the pool may wait for the machine.
const POOLED_SLACK: Duration = Duration::from_millis(20);

/// What every question for the pool takes at most.
const POOLED_LONGEST: Duration = Duration::from_secs(1);

/// Whoever asks the pool is another client by the address, too.
const OTHER_ADDRESS: [u8; 4] = [127, 0, 0, 99];

/// What a row may do to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// What 99 of 100 health checks take at most.
    pub(crate) health_p99: Duration,
    /// What every health check takes at most.
    pub(crate) health_worst: Duration,
    /// What 99 of 100 small questions of another client take at most.
    pub(crate) small_p99: Duration,
    /// How many small questions of another client, and for the pool, may be refused or fail.
    pub(crate) refused_max: usize,
    /// How often as long as alone a question for the pool takes at most, in the middle, and a
    /// little for what the machine is busy with: as often as there are clients that ask, and once
    /// for itself.
    pub(crate) pooled_waits: u32,
    /// How often as long as alone a question for the pool takes at most, 99 of 100; none: nobody
    /// looks at that.
    pub(crate) pooled_p99_times: Option<u32>,
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
            refused_max: 0,
            pooled_waits: 9,
            pooled_p99_times: None,
            resident_max: 1 << 30,
        }
    }
}

/// What was noticed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Noticed {
    health: Vec<Duration>,
    small: Vec<Duration>,
    small_refused: Vec<String>,
    alone: Vec<Duration>,
    pooled: Vec<Duration>,
    pooled_refused: Vec<String>,
    resident_max: u64,
    /// The longest that a thread which only sleeps was kept from going on: for so long nobody on
    /// this machine was served. Machines that check changes are shared, and stand still for most of
    /// a second now and then.
    stood_still: Duration,
}

/// Tells the process of the watchers the address and the process of the server.
const WATCHED: &str = "CLEARANCE_ATTACK_WATCHED";

/// What the watchers say when they have asked what they ask before the attack.
const READY: &str = "the watchers are ready";

/// Watchers at work.
pub(crate) struct Watch {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Watch {
    pub(crate) fn begin(server: &Server) -> Self {
        let (address, process, is_secured) = (server.address, server.id(), server.is_secured());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "watch::watchers_watch_until_they_are_told_to_stop"]);
        command.args(["--ignored", "--nocapture"]);
        command.env(WATCHED, format!("{address} {process}"));
        if is_secured {
            command.env(SECURED, secrets().folder());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the watchers start");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        while line.trim_end() != READY {
            line.clear();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the watchers are answered");
        }
        Self { child, output }
    }

    pub(crate) fn end(mut self) -> Noticed {
        // The end of their input tells them to stop, too, if this process dies.
        drop(self.child.stdin.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success(), "others are answered: {text}");
        Noticed::parse(&text)
    }
}

/// What a row starts beside its attackers.
#[test]
#[ignore = "each row starts it"]
fn watchers_watch_until_they_are_told_to_stop() {
    let Ok(watched) = std::env::var(WATCHED) else { return };
    let (address, process) = watched.split_once(' ').unwrap();
    let (address, process) = (address.parse().unwrap(), process.parse().unwrap());
    let (over, most) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let asked = alone(ask_pool(address));
    println!("\n{READY}");
    let [of_health, of_small, of_pool, of_memory] = std::array::from_fn(|_| over.clone());
    let health = std::thread::spawn(move || alone(watch_health(address, &of_health)));
    let small = std::thread::spawn(move || alone(watch_small(address, &of_small)));
    let pooled = std::thread::spawn(move || alone(watch_pool(address, &of_pool)));
    let in_thread = most.clone();
    let memory = std::thread::spawn(move || {
        let mut stood_still = Duration::ZERO;
        while !of_memory.load(Ordering::Relaxed) {
            in_thread.fetch_max(resident(process), Ordering::Relaxed);
            let begun = Instant::now();
            std::thread::sleep(INTERVAL);
            stood_still = stood_still.max(begun.elapsed() - INTERVAL);
        }
        stood_still
    });
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    over.store(true, Ordering::Relaxed);
    let stood_still = memory.join().unwrap();
    let (small, small_refused) = small.join().expect("another client is answered");
    let health = health.join().expect("health is answered");
    let (pooled, pooled_refused) = pooled.join().expect("the pool answers");
    let resident_max = most.load(Ordering::Relaxed);
    let noticed = Noticed {
        health,
        small,
        small_refused,
        alone: asked,
        pooled,
        pooled_refused,
        resident_max,
        stood_still,
    };
    std::io::stdout().write_all(noticed.to_text().as_bytes()).unwrap();
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

/// A question that waits for the pool.
async fn ask_pooled(client: &Client) -> Result<Duration, String> {
    let (start, question) = (Instant::now(), about_a_hull(1_000));
    let answer = client.queries().check_collision(question).await;
    let answer = answer.map_err(|status| format!("{:?} {}", status.code(), status.message()))?;
    assert_eq!(answer.into_inner().verdict(), api::Verdict::Separated);
    Ok(start.elapsed())
}

/// What it takes while nobody else asks anything.
async fn ask_pool(address: SocketAddr) -> Vec<Duration> {
    let client = Client::from_to(OTHER_ADDRESS, address).await;
    let mut times = Vec::new();
    for _ in 0..ALONE {
        times.push(ask_pooled(&client).await.expect("nobody else asks"));
    }
    times
}

async fn watch_pool(address: SocketAddr, over: &AtomicBool) -> (Vec<Duration>, Vec<String>) {
    let client = Client::from_to(OTHER_ADDRESS, address).await;
    let (mut times, mut refused) = (Vec::new(), Vec::new());
    while !over.load(Ordering::Relaxed) {
        match ask_pooled(&client).await {
            Ok(time) => times.push(time),
            Err(why) => refused.push(why),
        }
        tokio::time::sleep(POOLED_INTERVAL).await;
    }
    (times, refused)
}

/// The middle one.
fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The least time that 99 of 100 do not exceed.
fn p99(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get((sorted.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
}

impl Noticed {
    /// A line for each, for another process.
    fn to_text(&self) -> String {
        // What the tests' own frame has begun to print is not over.
        let mut text = format!("\nresident {}\n", self.resident_max);
        writeln!(text, "stood_still {}", self.stood_still.as_nanos()).unwrap();
        let asked = [&self.health, &self.small, &self.alone, &self.pooled];
        for (name, times) in ["health", "small", "alone", "pooled"].into_iter().zip(asked) {
            for time in times {
                writeln!(text, "{name} {}", time.as_nanos()).unwrap();
            }
        }
        let refused =
            [("small_refused", &self.small_refused), ("pooled_refused", &self.pooled_refused)];
        for (name, why) in
            refused.into_iter().flat_map(|(name, of)| of.iter().map(move |why| (name, why)))
        {
            writeln!(text, "{name} {}", why.replace('\n', " ")).unwrap();
        }
        text
    }

    /// What another process has noticed, and printed among other things.
    fn parse(text: &str) -> Self {
        let mut noticed = Self::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(' ')) {
            let time = || Duration::from_nanos(value.parse().unwrap());
            match name {
                "resident" => noticed.resident_max = value.parse().unwrap(),
                "stood_still" => noticed.stood_still = time(),
                "health" => noticed.health.push(time()),
                "small" => noticed.small.push(time()),
                "alone" => noticed.alone.push(time()),
                "pooled" => noticed.pooled.push(time()),
                "small_refused" => noticed.small_refused.push(value.to_owned()),
                "pooled_refused" => noticed.pooled_refused.push(value.to_owned()),
                _ => {}
            }
        }
        assert!(!noticed.health.is_empty() && !noticed.small.is_empty(), "nobody watched: {text}");
        noticed
    }

    /// Says what was noticed, and fails where it is beyond `bounds`.
    pub(crate) fn check(&self, name: &str, bounds: &Bounds) {
        let worst = self.health.iter().max().copied().unwrap_or_default();
        let [health, small] = [&self.health, &self.small].map(|times| p99(times));
        let (mib, refused) = (self.resident_max >> 20, self.small_refused.len());
        let longest = self.pooled.iter().max().copied().unwrap_or_default();
        let [alone, pooled] = [&self.alone, &self.pooled].map(|times| median(times));
        println!(
            "{name:44} {mib:5} MiB, health p99 {health:9.2?} worst {worst:9.2?} of {}, small p99 \
             {small:9.2?} of {}, refused {refused}, pooled {alone:.2?} to {pooled:.2?} of {}, \
             longest {longest:.2?}, refused {}, the machine stood still for {:.2?}",
            self.health.len(),
            self.small.len(),
            self.pooled.len(),
            self.pooled_refused.len(),
            self.stood_still,
        );
        let (slow, still) = (slowness(), self.stood_still);
        assert!(health <= bounds.health_p99 * slow, "health's p99 is {health:?}");
        assert!(worst <= bounds.health_worst * slow + still, "a health check took {worst:?}");
        assert!(small <= bounds.small_p99 * slow, "small questions' p99 is {small:?}");
        let most = alone * bounds.pooled_waits + POOLED_SLACK * slow;
        assert!(pooled <= most, "a question for the pool took {pooled:?} of {most:?}");
        if let Some(times) = bounds.pooled_p99_times {
            let [alone, pooled] = [&self.alone, &self.pooled].map(|times| p99(times));
            let most = alone * times + POOLED_SLACK * slow;
            println!(
                "  of 100, 99 questions for the pool took {alone:.2?} alone, then {pooled:.2?}"
            );
            assert!(pooled <= most, "99 of 100 questions for the pool took {pooled:?} of {most:?}");
        }
        assert!(
            longest <= POOLED_LONGEST * slow + still,
            "a question for the pool took {longest:?}"
        );
        for (what, why) in [("small", &self.small_refused), ("pooled", &self.pooled_refused)] {
            assert!(why.len() <= bounds.refused_max, "{} {what}: {:?}", why.len(), why.first());
        }
        let most = bounds.resident_max >> 20;
        assert!(self.resident_max <= bounds.resident_max, "{mib} MiB of at most {most}");
    }
}

#[test]
fn what_watchers_notice_is_the_same_in_the_other_process() {
    let noticed = Noticed {
        health: vec![Duration::from_nanos(1), Duration::from_secs(5)],
        small: vec![Duration::from_millis(2)],
        small_refused: vec!["Unavailable in two\nlines".to_owned()],
        alone: vec![Duration::from_millis(3)],
        pooled: vec![Duration::from_millis(4), Duration::from_millis(5)],
        pooled_refused: vec!["ResourceExhausted".to_owned()],
        resident_max: 1 << 30,
        stood_still: Duration::from_micros(7),
    };
    let text = format!("running 1 test\ntest watch ... {}ok\n", noticed.to_text());
    let small_refused = vec!["Unavailable in two lines".to_owned()];
    assert_eq!(Noticed::parse(&text), Noticed { small_refused, ..noticed });
}
