//! The search for inputs that break a promise: no coverage, but behaviour.
//!
//! A target says in a number how an input behaved (verdicts, dimensions, which stages ran). An
//! input that behaves like none before joins the pool, and a shorter one takes the place of a
//! longer. New inputs are changed copies of pool members. Everything follows from one seed, and
//! nothing but the clock decides when it ends.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use clearance_geometry::hull::samples::Random;

/// Something that is promised of every input.
pub(crate) struct Target {
    /// Its folder in the corpus.
    pub(crate) name: &'static str,
    /// Inputs to begin with, beside the corpus.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// A change that knows the format; anything else is changed as bytes.
    pub(crate) reshape: Option<fn(&mut Vec<u8>, &mut Random)>,
    /// Checks the promise (or panics), and says how the input behaved.
    pub(crate) check: fn(&[u8]) -> Behaviour,
}

/// How an input behaved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Behaviour(u64);

impl Behaviour {
    /// Adds one of `choices` outcomes.
    pub(crate) fn note(&mut self, outcome: u64, choices: u64) {
        assert!(outcome < choices, "{outcome} of {choices}");
        self.0 = self.0.wrapping_mul(choices).wrapping_add(outcome);
    }

    /// Adds the size of a count: none, one, a few, many.
    pub(crate) fn amount(&mut self, count: u64) {
        self.note(u64::from(count.min(256).checked_ilog2().map_or(0, |size| 1 + size / 2)), 6);
    }
}

/// Longest input made.
const LENGTH_MAX: usize = 1 << 10;
/// An input that takes longer is a finding: something does not end.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Attempts at a shorter input that still breaks the promise.
const CUTS_MAX: u32 = 2_000;

/// Panics in any thread since the start.
static PANICS: AtomicU64 = AtomicU64::new(0);
static HOOK: Once = Once::new();

fn corpus(target: &Target) -> PathBuf {
    PathBuf::from("tests/fuzz/corpus").join(target.name)
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Replays the corpus, and searches for as long as asked.
#[track_caller]
pub(crate) fn fuzz(target: &Target) {
    HOOK.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // What is being cut down panics thousands of times.
            if PANICS.fetch_add(1, Ordering::Relaxed) < 8 {
                shown(info);
            }
        }));
    });
    let mut search = Search { target, pool: BTreeMap::new(), slowest: Duration::ZERO };
    search.replay();
    let Some(seconds) = setting("CLEARANCE_FUZZ_SECONDS") else { return };
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = setting("CLEARANCE_FUZZ_SEED")
        .unwrap_or_else(|| since_epoch.map_or(0, |time| time.as_secs()));
    let begin = Instant::now();
    let now = Arc::new(Mutex::new(None));
    watch(target, now.clone());
    let mut random = Random::new(seed);
    let mut tried = 0u64;
    while begin.elapsed() < Duration::from_secs(seconds) {
        let input = search.next(&mut random);
        *now.lock().expect("no panic while held") = Some((Instant::now(), input.clone()));
        search.look_at(&input);
        *now.lock().expect("no panic while held") = None;
        tried += 1;
    }
    eprintln!(
        "fuzz {}: {tried} inputs in {:.0} s from seed {seed}, {} behaviours, slowest {} ms, \
         no finding",
        target.name,
        begin.elapsed().as_secs_f64(),
        search.pool.len(),
        search.slowest.as_millis(),
    );
}

/// What is looked at, and since when.
type Now = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// Ends the process when one input takes too long, after it is written down.
fn watch(target: &Target, now: Now) {
    let folder = corpus(target);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(TIME_MAX / 10);
            if let Some((since, input)) = &*now.lock().expect("no panic while held")
                && since.elapsed() > TIME_MAX
            {
                let file = keep(&folder, "finding", input);
                eprintln!("{}: no end after {TIME_MAX:?}", file.display());
                std::process::exit(1);
            }
        }
    });
}

fn keep(folder: &Path, kind: &str, input: &[u8]) -> PathBuf {
    let digest = blake3::hash(input).to_hex();
    let file = folder.join(format!("{kind}-{}", &digest[..12]));
    fs::write(&file, input).expect("a folder to write to");
    file
}

struct Search<'a> {
    target: &'a Target,
    pool: BTreeMap<Behaviour, Vec<u8>>,
    slowest: Duration,
}

impl Search<'_> {
    fn replay(&mut self) {
        let folder = corpus(self.target);
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("a readable folder").path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "no corpus in {}", folder.display());
        for file in files {
            let input = fs::read(&file).expect("a readable file");
            match attempt(self.target, &input) {
                Ok(behaviour) => drop(self.pool.insert(behaviour, input)),
                Err(why) => panic!("{}: {why}", file.display()),
            }
        }
        for seed in (self.target.seeds)() {
            match attempt(self.target, &seed) {
                Ok(behaviour) => drop(self.pool.insert(behaviour, seed)),
                Err(why) => self.report(&seed, &why),
            }
        }
    }

    fn next(&self, random: &mut Random) -> Vec<u8> {
        let one = |random: &mut Random| {
            let place = random.below(self.pool.len() as u64) as usize;
            self.pool.values().nth(place).expect("a place in the pool").clone()
        };
        let mut input = if random.below(16) == 0 { Vec::new() } else { one(random) };
        if input.is_empty() {
            let length = 16 + random.below(200);
            input = (0..length).map(|_| random.bits() as u8).collect();
        }
        for _ in 0..=random.below(4) {
            match self.target.reshape {
                Some(reshape) if random.below(4) > 0 => reshape(&mut input, random),
                _ => change(&mut input, &one(random), random),
            }
        }
        input.truncate(LENGTH_MAX);
        input
    }

    fn look_at(&mut self, input: &[u8]) {
        let begin = Instant::now();
        let outcome = attempt(self.target, input);
        let took = begin.elapsed();
        if took > self.slowest {
            self.slowest = took;
            if took > Duration::from_secs(1) {
                self.keep("slow", input);
            }
        }
        match outcome {
            Err(why) => self.report(input, &why),
            Ok(behaviour) => {
                let known = self.pool.get(&behaviour);
                if known.is_none() && setting("CLEARANCE_FUZZ_KEEP").is_some() {
                    self.keep("kept", input);
                }
                if known.is_none_or(|known| input.len() < known.len()) {
                    self.pool.insert(behaviour, input.to_vec());
                }
            }
        }
    }

    /// Writes the finding, cut down, and fails.
    fn report(&self, input: &[u8], why: &str) -> ! {
        self.keep("finding", input);
        let input = cut_down(self.target, input);
        let file = self.keep("finding", &input);
        let last = attempt(self.target, &input).err();
        panic!("{}: {}", file.display(), last.as_deref().unwrap_or(why));
    }

    fn keep(&self, kind: &str, input: &[u8]) -> PathBuf {
        keep(&corpus(self.target), kind, input)
    }
}

/// The behaviour, or what went wrong, in whichever thread.
fn attempt(target: &Target, input: &[u8]) -> Result<Behaviour, String> {
    let before = PANICS.load(Ordering::Relaxed);
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    let panics = PANICS.load(Ordering::Relaxed) - before;
    match outcome {
        Err(panic) => Err(words(&*panic)),
        // Other targets may run beside this one, and only the server has threads of its own.
        Ok(_) if panics > 0 && target.name == "wire" => Err("a thread panicked".to_owned()),
        Ok(behaviour) => Ok(behaviour),
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref().cloned()).unwrap_or_else(|| "without words".to_owned())
}

/// Removes chunks and clears bytes for as long as that still breaks the promise.
fn cut_down(target: &Target, input: &[u8]) -> Vec<u8> {
    let mut best = input.to_vec();
    let (mut left, begin) = (CUTS_MAX, Instant::now());
    let mut chunk = best.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < best.len() && left > 0 && begin.elapsed() < TIME_MAX / 3 {
            let end = (at + chunk).min(best.len());
            let removed = [&best[..at], &best[end..]].concat();
            let mut cleared = best.clone();
            cleared[at..end].fill(0);
            left -= 1;
            if attempt(target, &removed).is_err() {
                best = removed;
            } else if cleared != best && attempt(target, &cleared).is_err() {
                best = cleared;
                at = end;
            } else {
                at = end;
            }
        }
        if chunk == 1 || left == 0 {
            return best;
        }
        chunk = chunk.div_ceil(2);
    }
}

/// Changes the bytes as if they meant nothing.
pub(crate) fn change(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let mut place = |length: usize| random.below(length.max(1) as u64) as usize;
    let (at, to) = (place(input.len()), place(input.len()));
    let (begin, end) = (at.min(to), at.max(to));
    let from = place(other.len());
    let count = 1 + place(16);
    let (kind, bits) = (place(8), random.bits());
    match kind {
        0 if !input.is_empty() => input[at] = bits as u8,
        1 if !input.is_empty() => input[at] ^= 1 << (bits % 8),
        2 if !input.is_empty() => {
            input[at] = input[at].wrapping_add((bits % 9) as u8).wrapping_sub(4)
        }
        3 => drop(input.splice(at..at, bits.to_le_bytes().into_iter().take(count))),
        4 => drop(input.drain(begin..end.min(begin + count))),
        5 => {
            let copy = input[begin..end].to_vec();
            input.splice(at..at, copy);
        }
        6 => {
            let piece = &other[from..(from + count).min(other.len())];
            let until = (at + piece.len()).min(input.len());
            input.splice(at..until, piece.iter().copied());
        }
        _ => {
            input.truncate(at);
            input.extend(&other[from..]);
        }
    }
}
