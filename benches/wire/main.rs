//! What a frame of a session costs over the wire: a real server, a client in Rust, and beside it in
//! turn an echo of the same bytes, and another library where its companion was built.
//!
//! ```text
//! (cd benches/peers/rapier && cargo build --release)
//! cargo bench --bench wire -- 10000:1 10000:0.01 10000:0 two fleet rays:10000 \
//!     peer=benches/peers/rapier/target/release/rapier-scenes
//! ```
//!
//! | word | what is measured |
//! |---|---|
//! | `N:SHARE[:first_contacts][:chosen=0.1][:pace=50]` | N bodies of which this share moves |
//! | `two` | two bodies: throughput with one frame in flight and with sixteen |
//! | `fleet` | 200 sessions of 50 bodies at 60 Hz: cost of a frame, how late reports are |
//! | `rays:N` | rays through a scene of N bodies, packed, 20,000 a call |
//! | `hulls:N` | hulls on a straight way through it, 1,000 a call |
//! | `server=PATH` | another build of the server |
//! | `peer=PATH` | the companion |
//! | `rounds=3` | how often |
//! | `pinned` | servers on the first processor, the client on the second |
//!
//! Processor time is what the kernel counts for all threads of the server while frames are
//! answered, divided by their number; the medians of the rounds are printed. As a test it takes a
//! few small scenes.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../asked/mod.rs"]
mod asked;
#[path = "../drift/mod.rs"]
mod drift;
mod echo;
#[path = "../field/mod.rs"]
mod field;
mod loads;
mod process;
mod queries;
mod scene;
mod talk;

use std::path::PathBuf;

use asked::Asked;
use process::Served;

/// What the command line asks for.
struct Options {
    words: Vec<String>,
    server: PathBuf,
    peer: Option<PathBuf>,
    rounds: usize,
    pinned: bool,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Self {
        let mut options = Self {
            words: Vec::new(),
            server: env!("CARGO_BIN_EXE_clearance").into(),
            peer: None,
            rounds: 3,
            pinned: false,
        };
        for word in arguments.filter(|word| !word.starts_with('-')) {
            match word.split_once('=') {
                Some(("server", path)) => options.server = path.into(),
                Some(("peer", path)) => options.peer = Some(path.into()),
                Some(("rounds", count)) => options.rounds = count.parse().expect("a number"),
                _ if word == "pinned" => options.pinned = true,
                _ => options.words.push(word),
            }
        }
        if options.words.is_empty() {
            options.words = ["100:1", "100:0", "rays:100", "hulls:100"].map(str::to_owned).to_vec();
            options.rounds = 1;
        }
        options
    }
}

/// The middle of some measurements.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What one word measures in one round: a line for each figure, the same in every round.
type Figures = Vec<(String, f64)>;

async fn measure(word: &str, options: &Options, served: &Served) -> Figures {
    let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
    match kind {
        "two" => loads::two(served).await,
        "fleet" => loads::fleet(served).await,
        "rays" | "hulls" => {
            let count = rest.parse().expect("a number of bodies");
            let mut figures = queries::measure(kind, count, served).await;
            figures.extend(peer(options, word));
            figures
        }
        _ => {
            let asked =
                Asked::parse(word).expect("N:SHARE[:first_contacts][:chosen=SHARE][:pace=FACTOR]");
            let mut figures = scene::measure(&asked, served).await;
            if !asked.first_contacts && asked.chosen <= 0.0 {
                figures.extend(peer(options, word));
            }
            figures
        }
    }
}

/// What the companion measures.
fn peer(options: &Options, word: &str) -> Figures {
    let Some(path) = &options.peer else { return Vec::new() };
    let output = std::process::Command::new(path).arg(word).output().expect("the companion runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let line = |line: &str| {
        let (name, value) = line.rsplit_once(' ')?;
        Some((format!("peer: {name}"), value.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("--echo") {
        return echo::serve();
    }
    let options = Options::parse(std::env::args().skip(1));
    let served = Served::start(&options.server, options.pinned);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut rounds: Vec<Vec<Figures>> = options.words.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.rounds {
        for (word, found) in options.words.iter().zip(&mut rounds) {
            found.push(runtime.block_on(measure(word, &options, &served)));
        }
    }
    for (word, found) in options.words.iter().zip(rounds) {
        println!("{word}");
        for (at, (name, _)) in found[0].iter().enumerate() {
            let value = median(found.iter().map(|figures| figures[at].1).collect());
            println!("    {name:58} {value:12.1}");
        }
    }
}
