//! Floor 4: the `clearance` program. Wiring only.

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exact, certified answers about convex polytopes in motion.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answers a file of reference cases and compares.
    Conformance(clearance::conformance::Options),
    /// Streams a robot's motion through a cell to a server of its own, and reports.
    Demo(clearance::demo::Options),
}

fn main() -> ExitCode {
    let out = &mut std::io::stdout().lock();
    match Arguments::parse().command {
        Command::Conformance(options) => verdict(clearance::conformance::run(&options, out)),
        Command::Demo(options) => verdict(clearance::demo::run(&options, out)),
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
