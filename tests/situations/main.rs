//! What happens to clients of this service sooner or later, and that every one of them gets over it
//! alike; see
//! `tests/situations/README.md`.

mod contents;
mod draining;
mod driver;
mod forgotten;
mod lost;
mod mistakes;
mod owners;
mod play;
mod proxy;
mod rust_driver;
mod script;
mod statuses;
mod table;
mod watching;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clearance_runtime::settings::Settings;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet, spawn_local};

use crate::driver::DriverKind;
use crate::mistakes::MISTAKES;
use crate::play::{Outcome, Play};
use crate::table::{SITUATIONS, Situation};

/// How long one situation may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Situations that are played at a time.
const AT_ONCE: usize = 4;

/// How long all of them may take for one client.
const ALL_SECONDS_MAX: u64 = 90;

/// Names a part of the names of those that are played.
const ONLY: &str = "CLEARANCE_SITUATIONS_ONLY";

/// What became of one situation.
async fn outcome(kind: DriverKind, situation: &'static Situation) -> Outcome {
    let playing = async move {
        let mut play = Play::new(&kind, Settings::default(), situation.servers).await?;
        (situation.play)(&mut play).await
    };
    // A panic of the client's is its failure, and no end of the suite.
    let joined = spawn_local(async move { tokio::time::timeout(PATIENCE, playing).await }).await;
    match joined {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(format!("it was not over after {PATIENCE:?}")),
        Err(error) => Err(format!("it panicked: {error}")),
    }
}

/// Those that fail, with what is wrong.
async fn failures(
    kind: DriverKind,
    situations: Vec<&'static Situation>,
) -> Vec<(&'static str, String)> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut playing = JoinSet::new();
    // What a client waits for need not go from thread to thread.
    let here = LocalSet::new();
    for situation in situations {
        let (kind, places) = (kind.clone(), places.clone());
        playing.spawn_local_on(
            async move {
                let _place = places.acquire().await;
                (situation.name, outcome(kind, situation).await)
            },
            &here,
        );
    }
    let mut failed = Vec::new();
    let played = here.run_until(playing.join_all()).await;
    for (name, outcome) in played {
        failed.extend(outcome.err().map(|why| (name, why)));
    }
    failed.sort();
    failed
}

/// Every situation that a client can come into passes.
async fn passes(kind: DriverKind, is_inside: bool) {
    let only = std::env::var(ONLY).unwrap_or_default();
    let is_asked = |one: &&Situation| one.name.contains(&only) && (!is_inside || one.is_inside);
    let situations: Vec<_> = SITUATIONS.iter().filter(is_asked).collect();
    let (count, start) = (situations.len(), Instant::now());
    let failed = failures(kind, situations).await;
    let words = failed.iter().map(|(name, why)| format!("{name}: {why}\n"));
    assert!(
        failed.is_empty(),
        "{} of {count} failed:\n{}",
        failed.len(),
        words.collect::<String>()
    );
    let taken = start.elapsed().as_secs();
    assert!(taken < ALL_SECONDS_MAX, "{count} situations took {taken} s");
}

/// The command that starts a driver, where one is named; else nothing is played.
async fn passes_if_named(variable: &str, more: &str) {
    if let Ok(command) = std::env::var(variable) {
        passes(DriverKind::Program(command + more), !more.is_empty()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_passes_every_situation() {
    passes(DriverKind::Rust, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn python_passes_every_situation() {
    passes_if_named("CLEARANCE_SITUATIONS_PYTHON", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn python_passes_with_the_engine_inside() {
    passes_if_named("CLEARANCE_SITUATIONS_PYTHON", " --inside").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn node_passes_every_situation() {
    passes_if_named("CLEARANCE_SITUATIONS_NODE", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_client_passes_every_situation() {
    passes_if_named("CLEARANCE_SITUATIONS_OTHER", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_deliberate_mistake_is_caught() {
    let mut missed = Vec::new();
    for mistake in &MISTAKES {
        let is_named = |one: &&Situation| mistake.caught_by.contains(&one.name);
        let named: Vec<_> = SITUATIONS.iter().filter(is_named).collect();
        assert_eq!(named.len(), mistake.caught_by.len(), "{}", mistake.name);
        let failed = failures(DriverKind::Wrong(mistake), named).await;
        let caught: BTreeSet<&str> = failed.iter().map(|(name, _)| *name).collect();
        let passed = mistake.caught_by.iter().filter(|name| !caught.contains(*name));
        missed.extend(passed.map(|name| format!("whoever {} passes {name}\n", mistake.name)));
    }
    assert!(missed.is_empty(), "{}", missed.concat());
}

/// By hand: every situation that each mistake fails, as a table for the README.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "by hand, for the table of the README"]
async fn which_situation_catches_which_mistake() {
    for mistake in &MISTAKES {
        let failed = failures(DriverKind::Wrong(mistake), SITUATIONS.iter().collect()).await;
        let names: Vec<String> = failed.iter().map(|(name, _)| format!("`{name}`")).collect();
        eprintln!("| {} | {} | {} |", mistake.name, names.len(), names.join(", "));
    }
}

#[test]
fn the_page_lists_every_situation_and_every_mistake() {
    let page = include_str!("README.md");
    let names: BTreeSet<&str> = SITUATIONS.iter().map(|situation| situation.name).collect();
    assert!(names.len() == SITUATIONS.len() && names.len() >= 60, "{} names", names.len());
    for Situation { name, prevents, .. } in SITUATIONS {
        assert!(page.contains(&format!("| `{name}` | {prevents} |")), "no row of {name}");
    }
    for mistake in &MISTAKES {
        assert!(page.contains(&format!("| {} |", mistake.name)), "no row of {:?}", mistake.name);
    }
}
