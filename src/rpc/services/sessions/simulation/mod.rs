//! The session code under schedules of everything that can go wrong, beside a model that works
//! every answer out anew.
//!
//! A seed gives a schedule: frames of all kinds, lost, repeated, late and cancelled ones, streams
//! and calls, take-overs, sessions that are opened again here or on another server. The code is
//! that of the service, called in this process through its messages. [`model`] keeps the declared
//! state by the words of the interface and asks [`cold`] questions; [`check`] holds every report
//! against it, [`asking`] what is said of the scene now and at past frames, and a [`follower`]
//! knows what it is told. What fails is made as short as it still fails, and told with its seed:
//! `SIMULATION_SEED=7 cargo test --lib simulation` runs that one, `SIMULATION_SEEDS=20000` more.

mod arms;
mod asking;
mod check;
mod cold;
mod follower;
mod frames;
mod model;
mod schedule;
mod spins;
mod world;

use std::sync::Mutex;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use self::check::Wrong;
use self::schedule::{Op, Totals};
use self::world::Ground;
use clearance_scene::broken::{self, Rule};

/// So many schedules are run when nothing else is asked for.
const SEEDS: u64 = 2_000;

/// What failed, in as few steps as were found.
#[derive(Debug)]
struct Failure {
    seed: u64,
    ops: Vec<Op>,
    wrong: Wrong,
}

/// Runs schedules until one fails; what they had in all, or one that failed.
fn run(seeds: std::ops::Range<u64>, rule: Option<Rule>) -> Result<Totals, Failure> {
    let grounds: Mutex<Vec<Ground>> = Mutex::default();
    let outcomes = seeds.into_par_iter().map(|seed| {
        let known = grounds.lock().unwrap().pop();
        let ground = known.unwrap_or_else(Ground::new);
        let _broken = broken::during(rule);
        let outcome = one(&ground, seed);
        grounds.lock().unwrap().push(ground);
        outcome
    });
    outcomes.try_reduce(Totals::default, |a, b| Ok(a.plus(b)))
}

fn one(ground: &Ground, seed: u64) -> Result<Totals, Failure> {
    let ops = schedule::of(seed);
    let wrong = match schedule::run(ground, seed, &ops) {
        Ok(totals) => return Ok(totals),
        Err(wrong) => wrong,
    };
    let (mut ops, mut wrong) = (ops, wrong);
    // Parts of the schedule are left out, smaller and smaller ones, as long as it fails.
    let mut size = ops.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < ops.len() {
            let rest: Vec<Op> = [&ops[..at], &ops[(at + size).min(ops.len())..]].concat();
            match schedule::run(ground, seed, &rest) {
                Err(still) => (ops, wrong) = (rest, still),
                Ok(_) => at += size,
            }
        }
        size /= 2;
    }
    Err(Failure { seed, ops, wrong })
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn sessions_say_what_a_model_says_that_works_everything_out_anew() {
    let seeds = match (number("SIMULATION_SEED"), number("SIMULATION_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, count) => 0..count.unwrap_or(SEEDS),
    };
    let is_whole = seeds.end - seeds.start >= SEEDS;
    match run(seeds, None) {
        Ok(totals) => {
            assert!(!is_whole || totals.is_plenty(), "hardly anything happened: {totals:?}")
        }
        Err(Failure { seed, ops, wrong }) => {
            panic!("SIMULATION_SEED={seed}: {wrong}\nafter {ops:#?}");
        }
    }
}

/// Every rule of a scene that is broken on purpose is noticed within so many schedules.
const BROKEN_SEEDS: u64 = 200;

#[track_caller]
fn is_caught(rule: Rule) {
    let failure = run(0..BROKEN_SEEDS, Some(rule)).expect_err("nothing was noticed");
    assert!(failure.ops.len() < 20, "not made short: {failure:#?}");
    // With the rule whole again the same schedule is right.
    schedule::run(&Ground::new(), failure.seed, &failure.ops).unwrap();
}

#[test]
fn a_travel_bound_that_is_too_small_is_caught() {
    is_caught(Rule::TravelBound);
}

#[test]
fn an_expiry_that_is_lost_is_caught() {
    is_caught(Rule::Expiry);
}

#[test]
fn a_pair_that_is_not_admitted_again_after_its_removal_is_caught() {
    is_caught(Rule::Readmission);
}

#[test]
fn an_event_that_is_repeated_after_a_take_over_is_caught() {
    is_caught(Rule::AnnouncedContacts);
}

#[test]
fn a_frame_on_a_stale_base_that_is_applied_is_caught() {
    is_caught(Rule::BaseFrame);
}

#[test]
fn a_past_frame_with_bodies_where_they_are_now_is_caught() {
    is_caught(Rule::PastPoses);
}

#[test]
fn a_past_frame_without_the_bodies_that_have_gone_is_caught() {
    is_caught(Rule::PastBodies);
}

#[test]
fn a_ray_that_meets_its_own_shooter_is_caught() {
    is_caught(Rule::OwnFilter);
}

#[test]
fn boxes_of_the_frame_before_that_rays_are_asked_in_are_caught() {
    is_caught(Rule::FreshBoxes);
}

#[test]
fn a_hit_that_is_not_the_first_is_caught() {
    is_caught(Rule::EarliestHit);
}

#[test]
fn a_load_that_stays_where_it_is_when_its_robot_moves_is_caught() {
    is_caught(Rule::Loads);
}

#[test]
fn a_load_that_is_checked_against_the_link_that_carries_it_is_caught() {
    is_caught(Rule::LoadPairs);
}

#[test]
fn a_way_of_a_robot_that_begins_before_the_last_answered_frame_is_caught() {
    is_caught(Rule::RobotWays);
}
