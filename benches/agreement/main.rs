//! Whether the scenes of the benches are answered alike however they are asked: one hash of
//! verdicts, events and times over compute threads, over sessions that remember and sessions that
//! do not, and over a hand-over to another server.
//!
//! ```text
//! cargo bench --bench agreement -- 10000:1 10000:1:first_contacts game:1:chosen crowds:800
//! ```
//!
//! | word | what is played |
//! |---|---|
//! | `N:SHARE[:first_contacts][:pace=50]` | as in the benches `scenes` and `wire` |
//! | `game:SHARE[:chosen][:first_contacts]` | the game of `game.py`, or this share of its bodies |
//! | `crowds:N[:first_contacts]` | the linear program's crowds of at most N bodies |
//! | `frames=30` | so many frames of each scene; the largest have fewer, small crowds more |
//! | `sample=FILE` | some pairs of each scene for the exact oracle: see `agreement.py` |
//! | `pairs=40` | how many of each scene |
//!
//! Servers with 1, 2 and 8 compute threads, behind sockets. Each is asked with `canonical` and
//! without, in each of four ways: cold, a session for every frame; on one stream; eight frames a
//! call, events alone; on a stream whose second half is another server's, the one with the next
//! number of threads. That is 24 runs of each scene. The verdicts and events of all of them are the
//! same. With `canonical`, so are times and the order of events, to the last bit; without it, the
//! brackets of times have to meet those of a cold run, and they are the same to the last bit
//! whatever the number of threads. Ends with an error at the first difference, and says which. As a
//! test it plays a few small scenes.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../asked/mod.rs"]
mod asked;
mod crowds;
#[path = "../drift/mod.rs"]
mod drift;
#[path = "../field/mod.rs"]
mod field;
mod game;
mod play;
mod sample;
mod script;
mod server;
mod told;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use asked::Asked;
use game::Asking;
use play::{Way, play};
use script::Script;
use server::Server;
use told::{Hashes, Sameness, Told};

const THREADS: [usize; 3] = [1, 2, 8];
/// Frames times bodies of one scene, at most.
const BODY_FRAMES: u64 = 1_000_000;
/// Frames of the largest scenes: some calls of eight, and both halves of a hand-over.
const FRAMES_MIN: u64 = 10;

/// What the command line asks for.
struct Options {
    words: Vec<String>,
    frames: u64,
    sample: Option<PathBuf>,
    pairs: usize,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Self {
        let mut options = Self { words: Vec::new(), frames: 30, sample: None, pairs: 40 };
        for word in arguments.filter(|word| !word.starts_with('-')) {
            match word.split_once('=') {
                Some(("frames", count)) => options.frames = count.parse().expect("a number"),
                Some(("sample", path)) => options.sample = Some(path.into()),
                Some(("pairs", count)) => options.pairs = count.parse().expect("a number"),
                _ => options.words.push(word),
            }
        }
        if options.words.is_empty() {
            let small =
                ["60:1", "60:1:first_contacts:pace=50", "60:0.1", "game:0.02:chosen", "crowds:10"];
            options.words = small.map(str::to_owned).to_vec();
            options.frames = 9;
        }
        options
    }

    /// The scenes of a word.
    fn scenes(&self, word: &str) -> Box<dyn Iterator<Item = Script>> {
        let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
        let size = rest.split(':').next().unwrap_or("");
        let has = |option: &str| rest.split(':').any(|word| word == option);
        match kind {
            "game" => {
                let share: f64 = size.parse().expect("a share of the game");
                let frames = self.frames_of((2_500.0 * share) as u64);
                let asking = match (has("first_contacts"), has("chosen")) {
                    (true, _) => Asking::All,
                    (false, true) => Asking::Chosen,
                    (false, false) => Asking::None,
                };
                Box::new(std::iter::once(game::game(word, share, asking, frames)))
            }
            "crowds" => {
                let bodies_max = size.parse().expect("a number of bodies");
                Box::new(crowds::crowds(bodies_max, has("first_contacts"), self.frames))
            }
            _ => {
                let asked = Asked::parse(word)
                    .expect("N:SHARE[:first_contacts][:chosen=SHARE][:pace=FACTOR]");
                let frames = self.frames_of(asked.bodies.into());
                Box::new(std::iter::once(Script::drifting(word, &asked, frames)))
            }
        }
    }

    fn frames_of(&self, bodies: u64) -> u64 {
        self.frames.min((BODY_FRAMES / bodies.max(1)).max(FRAMES_MIN))
    }
}

/// What all runs of a scene told.
struct Agreed {
    /// Of the first run: cold, canonical, on one thread. Those of the others are the same, but for
    /// times without `canonical`.
    hashes: Hashes,
    runs: usize,
    /// Runs whose times are those of the first to the last bit: all with `canonical`.
    same_times: usize,
    /// The last run: without `canonical`, handed over.
    last: Vec<Told>,
}

/// Plays the scene in every way; where two runs differ, if any do.
async fn agree(script: &Script, servers: &[Server]) -> Result<Agreed, String> {
    let mut first: Option<Vec<Told>> = None;
    let mut agreed = Agreed { hashes: Hashes::of(&[]), runs: 0, same_times: 0, last: Vec::new() };
    let mut ids = Vec::new();
    for server in servers {
        // Named by what they are, so the same on every server.
        ids = server.register(script).await;
    }
    for canonical in [true, false] {
        for way in Way::ALL {
            let mut one_thread: Option<Vec<Told>> = None;
            for (at, server) in servers.iter().enumerate() {
                let next = &servers[(at + 1) % servers.len()];
                let mode = if canonical { ", canonical" } else { "" };
                let what = format!("compute threads {}, {}{mode}", server.threads, way.name());
                let run = play(script, &ids, way, [server, next], canonical).await;
                let run = run.map_err(|problem| format!("{what}: {problem}"))?;
                if first.is_none() {
                    agreed.hashes = Hashes::of(&run);
                }
                let first = first.get_or_insert_with(|| run.clone());
                let wanted = if canonical { Sameness::Bits } else { Sameness::Meaning };
                compare(&run, first, wanted).map_err(|found| format!("{what}: {found}"))?;
                let one_thread = one_thread.get_or_insert_with(|| run.clone());
                compare(&run, one_thread, Sameness::Bits)
                    .map_err(|found| format!("{what}, beside one thread: {found}"))?;
                let hashes = Hashes::of(&run);
                let has_same_times = hashes.times == agreed.hashes.times;
                assert!(hashes.events == agreed.hashes.events && (has_same_times || !canonical));
                assert!(way == Way::Steps || hashes.verdicts == agreed.hashes.verdicts);
                agreed.same_times += usize::from(has_same_times);
                agreed.runs += 1;
                agreed.last = run;
            }
        }
    }
    Ok(agreed)
}

/// The first difference of two runs, if there is one.
fn compare(run: &[Told], wanted: &[Told], sameness: Sameness) -> Result<(), String> {
    let mut both = run.iter().zip(wanted);
    match both.find_map(|(told, wanted)| told.difference(wanted, sameness)) {
        Some(difference) => Err(difference),
        None if run.len() != wanted.len() => Err(format!("{} reports", run.len())),
        None => Ok(()),
    }
}

/// A line about a scene.
fn show(script: &Script, agreed: &Agreed) {
    let events: usize = agreed.last.iter().map(|told| told.events.len()).sum();
    let contacts = agreed.last.last().map_or(0, |told| told.counts[1] + told.counts[2]);
    let Hashes { events: hash, verdicts, times } = agreed.hashes;
    println!(
        "{}: {} frames, {events} events, {contacts} in contact at the end; events {hash:016x}, \
         verdicts {verdicts:016x}, times {times:016x} in {} of {} runs",
        script.name,
        script.last(),
        agreed.same_times,
        agreed.runs,
    );
}

async fn run(options: &Options) -> Result<(), String> {
    let mut servers = Vec::new();
    for threads in THREADS {
        servers.push(Server::start(threads).await);
    }
    let mut sample = options.sample.as_ref().map(|path| {
        BufWriter::new(File::create(path).unwrap_or_else(|error| panic!("{path:?}: {error}")))
    });
    let (mut scenes, mut runs, mut sampled) = (0, 0, 0);
    let mut all = Hashes::of(&[]);
    for script in options.words.iter().flat_map(|word| options.scenes(word)) {
        let agreed = agree(&script, &servers).await;
        let agreed = agreed.map_err(|difference| format!("{}: {difference}", script.name))?;
        show(&script, &agreed);
        all.join(agreed.hashes);
        (scenes, runs) = (scenes + 1, agreed.runs);
        if let Some(out) = &mut sample {
            let written = sample::write(&script, &agreed.last, options.pairs, out);
            sampled += written.expect("the sample can be written");
        }
    }
    if let Some(mut out) = sample {
        out.flush().expect("the sample can be written");
        println!("{sampled} pairs for the oracle");
    }
    for server in servers {
        server.stop().await;
    }
    println!("one hash over {runs} runs of each of {scenes} scenes: {:016x}", all.one());
    Ok(())
}

fn main() -> ExitCode {
    let options = Options::parse(std::env::args().skip(1));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.expect("a runtime").block_on(run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(difference) => {
            println!("DIFFERENT: {difference}");
            ExitCode::FAILURE
        }
    }
}
