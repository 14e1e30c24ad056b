//! Floor 4: the `clearance` program. Wiring only.

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clearance::{allocator, serve};

mod health;
mod key;
mod store;

/// Exact, certified answers about convex polytopes in motion.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the server until SIGTERM or SIGINT, then drains.
    #[command(after_help = SERVE_HELP)]
    Serve(clearance_config::options::ServeOptions),
    /// Makes an API key: writes the key, and the line for the file that the server reads.
    #[command(after_help = KEY_HELP)]
    Key(key::KeyOptions),
    /// Exports, imports or lists what `clearance serve --store` keeps, while no server has it open.
    Store(store::StoreOptions),
    /// Asks a server whether it takes calls; the exit code says so.
    Health(health::HealthOptions),
    /// Answers a file of reference cases and compares.
    #[cfg(feature = "tools")]
    Conformance(clearance_conformance::Options),
    /// Rules on answers by their certificates alone: accepted, or refused with the reason.
    #[cfg(feature = "tools")]
    #[command(after_help = VERIFY_HELP)]
    Verify(clearance_conformance::verify::Options),
    /// Streams a robot's motion through a cell to a server of its own, and reports.
    #[cfg(feature = "tools")]
    Demo(clearance_demo::DemoOptions),
    /// Passes calls on to a server, and records the sessions that they open.
    #[cfg(feature = "tools")]
    #[command(after_help = RECORD_HELP)]
    Record(clearance_recording::RecordOptions),
    /// Sends the frames of recordings again and compares every answer; the exit code says so.
    #[cfg(feature = "tools")]
    Replay(clearance_recording::ReplayOptions),
    /// Reruns the papers' experiments; writes a table and a picture of each.
    #[cfg(feature = "tools")]
    Experiments(clearance_experiments::ExperimentsOptions),
}

const SERVE_HELP: &str = "\
Every setting can be given by flag (--jobs-max 64), by environment variable (CLEARANCE_JOBS_MAX=64)
or in the configuration file (jobs_max = 64 under [limits]); the flag is strongest, then the
environment. `clearance serve --help` lists every limit, deploy/clearance.toml has them all with
their defaults, and ServerService.GetServerInfo tells the values in force.

Try, with the server running:
  grpcurl -plaintext 127.0.0.1:50061 list
  grpcurl -plaintext 127.0.0.1:50061 describe clearance.v1.QueryService
  grpcurl -plaintext -d '{\"p\": {\"vertices\": {\"xyz\": [0,0,0, 1,0,0, 0,1,0, 0,0,1]}},
    \"q\": {\"vertices\": {\"xyz\": [2,0,0, 3,0,0]}}}' \\
    127.0.0.1:50061 clearance.v1.QueryService/MeasureDistance";

const KEY_HELP: &str = "\
The first line is the key, which is kept nowhere: give it to whoever calls. The second has its
digest alone: add it to the file that `clearance serve --api-keys FILE` reads. A running server
reads the file again within ten seconds, or at SIGHUP; a line that is taken out ends its streams.

Try:
  clearance key --name planner --tenant acme --role write | tee /dev/stderr | tail -n 1 >> keys
  clearance serve --api-keys keys
  grpcurl -plaintext -H 'authorization: Bearer ck-...' 127.0.0.1:50061 list";

#[cfg(feature = "tools")]
const VERIFY_HELP: &str = "\
Exact arithmetic on the points as given; no search, no hull, no reference value is looked at. The
exit code is 1 when an answer is refused. Claims that come without a certificate are counted as
such.

Try:
  clearance conformance cases.jsonl.gz --answers answers.jsonl
  clearance verify cases.jsonl.gz answers.jsonl";

#[cfg(feature = "tools")]
const RECORD_HELP: &str = "\
Clients call the recorder in place of the server. Each session is an MCAP file: what was asked and
answered, and where bodies are, for Foxglove and Rerun. Ctrl-C ends them.

Try, with a server running:
  clearance record --out recordings
  grpcurl -plaintext -d '{\"session_id\": \"it\"}' 127.0.0.1:50063 \\
    clearance.v1.SessionService/OpenSession
  clearance replay recordings/it.mcap";

fn main() -> ExitCode {
    let out = &mut std::io::stdout();
    match Arguments::parse().command {
        Command::Serve(options) => {
            allocator::give_memory_back();
            verdict(serve::run(&options).map(|()| true))
        }
        Command::Key(options) => verdict(key::run(&options, out)),
        Command::Store(options) => verdict(store::run(&options, out)),
        Command::Health(options) => verdict(health::run(&options, out)),
        #[cfg(feature = "tools")]
        Command::Conformance(options) => verdict(clearance_conformance::run(&options, out)),
        #[cfg(feature = "tools")]
        Command::Verify(options) => verdict(clearance_conformance::verify::run(&options, out)),
        #[cfg(feature = "tools")]
        Command::Demo(options) => verdict(clearance_demo::run(&options, serve::until_told, out)),
        #[cfg(feature = "tools")]
        Command::Record(options) => verdict(clearance_recording::record(&options, out)),
        #[cfg(feature = "tools")]
        Command::Replay(options) => {
            verdict(clearance_recording::replay(&options, serve::until_told, out))
        }
        #[cfg(feature = "tools")]
        Command::Experiments(options) => verdict(clearance_experiments::run(&options, out)),
    }
}

/// Success only when the run finished and found nothing wrong.
fn verdict<E: std::error::Error>(result: Result<bool, E>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nothing is left to do when even the complaint cannot be written.
            let _ = writeln!(std::io::stderr(), "clearance: {error}");
            ExitCode::FAILURE
        }
    }
}
