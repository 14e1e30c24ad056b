//! The papers' experiments, in the form that other libraries' harnesses use, so that all can be
//! timed in one interleaved run.
//!
//! ```text
//! cargo bench --bench papers -- CASES.bin WORKLOAD ROUND OUT.tsv [MODE,MODE]
//! ```
//!
//! Case file, little-endian: magic `CQC1`; u32 polytopes, each u32 vertices, f64[3n], u32
//! triangles, u32[3m]; u32 sequences, each u32 P, u32 Q, u32 frames, per frame two poses of f64[7]
//! (tx ty tz qw qx qy qz). Lines written: workload, peer, mode, sequence, round, n, mean ns,
//! stamped mean, p50, p99, standard deviation, max, positive answers, NaN answers, sum.
//!
//! Every timed call converts its own two poses and returns the verdict *with its certificate*. In
//! round 0 every answer is given once more, untimed, and judged in exact arithmetic. `IN_TURN=64`
//! in the environment takes the sequences 64 at a time and puts the first question of each, then
//! the second, and so on: bodies in turn, and cold caches. A line is for 64 sequences then. Without
//! arguments (as in a test run) it measures nothing and only says how it is called.

mod case_file;
mod clock;

use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use case_file::{Cases, Frame, Sequence, load};
use clearance_geometry::claim::{FirstContact, Outcome, Verdict};
use clearance_geometry::distance::{self, Distance, Stops};
use clearance_geometry::effort::{Cost, Effort};
use clearance_geometry::judge::{judge_distance, judge_first_contact, judge_static};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{self, Decision, METHODS};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, contact_time, penetration};
use clock::thread_time;

/// Passes over a sequence; the first warms up.
const PASSES: usize = 3;

fn pose([x, y, z, qw, qx, qy, qz]: [f64; 7]) -> Pose {
    Pose::from_quaternion(Vec3::new(x, y, z), [qw, qx, qy, qz]).expect("a legal pose")
}

/// One timed question: whose, and about what.
struct Asked<'a> {
    /// Which of the sequences that are asked about in turn.
    sequence: usize,
    p: &'a Polytope,
    q: &'a Polytope,
    frames: &'a [Frame],
}

/// The questions of a few sequences, which have equally many: the first of each, the second of each
/// ...
fn questions<'a>(cases: &'a Cases, sequences: &'a [Sequence], stride: usize) -> Vec<Asked<'a>> {
    let count = sequences.first().map_or(0, |sequence| sequence.frames.len() / stride);
    let of_all = |number: usize| {
        sequences.iter().enumerate().map(move |(at, sequence)| Asked {
            sequence: at,
            p: &cases.polytopes[sequence.p],
            q: &cases.polytopes[sequence.q],
            frames: &sequence.frames[number * stride..][..stride],
        })
    };
    (0..count).flat_map(of_all).collect()
}

struct Driver {
    cases: std::rc::Rc<Cases>,
    workload: String,
    round: usize,
    out: std::fs::File,
    filter: Option<String>,
    /// Sequences that are asked about in turn.
    in_turn: usize,
}

impl Driver {
    fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|f| f.split(',').any(|wanted| wanted == name))
    }

    /// Times `query` over every sequence, `stride` frames at a time. The witness is dropped before
    /// each pass, or before each query unless the mode is warm.
    fn mode(
        &mut self,
        name: &str,
        stride: usize,
        is_warm: bool,
        query: impl Fn(&Polytope, &Polytope, &[Frame], &mut Witness) -> f64,
    ) {
        if !self.wants(name) {
            return;
        }
        let mut answers = Vec::new();
        let cases = std::rc::Rc::clone(&self.cases);
        for (number, sequences) in cases.sequences.chunks(self.in_turn).enumerate() {
            let questions = questions(&cases, sequences, stride);
            let n = questions.len();
            let mut values = vec![0.0; n];
            let mut means = Vec::new();
            for pass in 0..PASSES {
                let mut witnesses = vec![Witness::default(); sequences.len()];
                let start = thread_time();
                for (value, asked) in values.iter_mut().zip(&questions) {
                    let witness = &mut witnesses[asked.sequence];
                    if !is_warm {
                        *witness = Witness::default();
                    }
                    *value = black_box(query(asked.p, asked.q, black_box(asked.frames), witness));
                }
                if pass > 0 {
                    means.push((thread_time() - start).as_secs_f64() * 1e9 / n as f64);
                }
            }
            let mut stamped = vec![f64::INFINITY; n];
            for _ in 0..PASSES {
                let mut witnesses = vec![Witness::default(); sequences.len()];
                for (best, asked) in stamped.iter_mut().zip(&questions) {
                    let witness = &mut witnesses[asked.sequence];
                    if !is_warm {
                        *witness = Witness::default();
                    }
                    let start = Instant::now();
                    black_box(query(asked.p, asked.q, black_box(asked.frames), witness));
                    *best = best.min(start.elapsed().as_secs_f64() * 1e9);
                }
            }
            self.write(name, number, &mut means, &mut stamped, &values);
            answers.extend_from_slice(&values);
        }
        if self.round == 0 && std::fs::create_dir_all("results").is_ok() {
            let bytes: Vec<u8> = answers.iter().flat_map(|v| v.to_le_bytes()).collect();
            let file = format!("results/{}.clearance.{name}.f64", self.workload);
            std::fs::write(file, bytes).expect("results can be written");
        }
    }

    fn write(
        &mut self,
        mode: &str,
        sequence: usize,
        means: &mut [f64],
        stamped: &mut [f64],
        values: &[f64],
    ) {
        means.sort_by(f64::total_cmp);
        stamped.sort_by(f64::total_cmp);
        let n = stamped.len();
        let mean = stamped.iter().sum::<f64>() / n as f64;
        let deviation =
            (stamped.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64).sqrt();
        let finite = || values.iter().filter(|v| v.is_finite());
        writeln!(
            self.out,
            "{}\tclearance\t{mode}\t{sequence}\t{}\t{n}\t{:.1}\t{mean:.1}\t{:.1}\t{:.1}\t\
             {deviation:.1}\t{:.1}\t{}\t{}\t{:.12e}",
            self.workload,
            self.round,
            means[0],
            stamped[n / 2],
            stamped[(n * 99 / 100).min(n - 1)],
            stamped[n - 1],
            finite().filter(|v| **v > 0.0).count(),
            values.iter().filter(|v| v.is_nan()).count(),
            finite().sum::<f64>(),
        )
        .expect("the table can be written");
    }

    /// Times what `ask` answers, and in round 0 has every answer judged.
    fn ask<A>(
        &mut self,
        name: &str,
        stride: usize,
        is_warm: bool,
        ask: impl Fn(&Polytope, &Polytope, &[Frame], &mut Witness, &mut Effort<'_>) -> Option<A>,
        value: impl Fn(&A) -> f64,
        is_right: impl Fn(usize, &Polytope, &Polytope, &[Frame], &A) -> bool,
    ) {
        self.mode(name, stride, is_warm, |p, q, frames, witness| {
            let answer = ask(p, q, frames, witness, &mut Effort::unlimited());
            answer.map_or(f64::NAN, |answer| value(&answer))
        });
        if !self.wants(name) || self.round > 0 {
            return;
        }
        let mut cost = Cost::default();
        let mut wrong = 0;
        for sequence in &self.cases.sequences {
            let (p, q) = (&self.cases.polytopes[sequence.p], &self.cases.polytopes[sequence.q]);
            let mut witness = Witness::default();
            for (number, frames) in sequence.frames.chunks_exact(stride).enumerate() {
                if !is_warm {
                    witness = Witness::default();
                }
                let mut effort = Effort::unlimited();
                let answer = ask(p, q, frames, &mut witness, &mut effort);
                let right = answer.is_some_and(|answer| is_right(number, p, q, frames, &answer));
                wrong += u64::from(!right);
                cost += effort.cost;
            }
        }
        report(&self.workload, name, &cost, wrong);
    }
}

/// What the answers took.
fn report(workload: &str, name: &str, cost: &Cost, wrong: u64) {
    let each = |count: u64| count as f64 / cost.queries as f64;
    eprintln!(
        "{workload} {name}: {} answers, {wrong} wrong, {} by the exact stage; each {:.2} steps, \
         {:.2} supporting vertices, {:.1} vertices visited, {:.3} witness hits",
        cost.queries,
        cost.exact_stages,
        each(cost.steps),
        each(cost.supports),
        each(cost.visited),
        each(cost.witness_hits),
    );
}

/// The default is `auto`, the others have their own names.
fn mode_name(index: usize, name: &str) -> &str {
    if index == 0 { "auto" } else { name }
}

fn static_pair<'a>(p: &'a Polytope, q: &'a Polytope, frames: &[Frame]) -> Pair<'a> {
    Pair::new(p, pose(frames[0].p), q, pose(frames[0].q))
}

/// 1 in contact, 0 separated; not a number when a budget stopped it (it has none).
fn collides(decision: &Decision) -> f64 {
    f64::from(u8::from(decision.verdict() != Verdict::Separated))
}

fn booleans(driver: &mut Driver, warm_too: bool) {
    for (index, method) in METHODS.iter().enumerate() {
        if index > 0 && driver.filter.is_none() {
            continue; // Named methods are timed when asked for.
        }
        let name = mode_name(index, method.name);
        let modes = [("cold", false), ("warm", true)];
        for (temperature, is_warm) in modes.into_iter().filter(|(_, warm)| warm_too || !warm) {
            driver.ask(
                &format!("{name}_bool_{temperature}"),
                1,
                is_warm,
                |p, q, frames, witness, effort| {
                    separation::decide(&static_pair(p, q, frames), method, witness, effort).ok()
                },
                collides,
                |_, p, q, frames, decision| {
                    judge_static(&static_pair(p, q, frames), &decision.proof).is_ok()
                },
            );
        }
    }
}

/// What every other time includes: turning two stored poses into what a question takes.
fn poses(driver: &mut Driver) {
    driver.mode("pose_conversion", 1, false, |p, q, frames, _| {
        black_box(&static_pair(p, q, frames)).p.pose.translation.x
    });
}

/// The same question twice, when asked for: less the default's time, what it takes to prove an
/// answer that is known. With the conversion of the poses no search can do with less.
fn asked_twice(driver: &mut Driver) {
    if driver.filter.is_none() {
        return;
    }
    driver.mode("bool_asked_twice", 1, false, |p, q, frames, witness| {
        let pair = static_pair(p, q, frames);
        let mut decided = || {
            let mut effort = Effort::unlimited();
            separation::decide(black_box(&pair), &METHODS[0], witness, &mut effort).ok()
        };
        black_box(decided());
        decided().map_or(f64::NAN, |decision| collides(&decision))
    });
}

/// Judging a distance looks at every vertex in exact arithmetic: of so many answers, one bracket
/// is.
const JUDGED_DISTANCE: usize = 20;

fn distances(driver: &mut Driver) {
    for (index, method) in distance::METHODS.iter().enumerate() {
        if index > 0 && driver.filter.is_none() {
            continue; // Named methods are timed when asked for.
        }
        let name = mode_name(index, method.name);
        for (temperature, is_warm) in [("cold", false), ("warm", true)] {
            driver.ask(
                &format!("{name}_dist_{temperature}"),
                1,
                is_warm,
                |p, q, frames, witness, effort| {
                    let pair = static_pair(p, q, frames);
                    distance::measure_by(method, &pair, Stops::default(), witness, effort).ok()
                },
                |distance| distance.upper,
                |number, p, q, frames, Distance { decision, lower, upper, pairs, .. }| {
                    let pair = static_pair(p, q, frames);
                    judge_static(&pair, &decision.proof).is_ok()
                        && (number % JUDGED_DISTANCE > 0
                            || judge_distance(&pair, *lower, *upper, pairs).is_ok())
                },
            );
        }
    }
}

/// Time of contact, infinite for none.
fn time_of_contact(found: &FirstContact) -> f64 {
    match found.outcome {
        Outcome::Contact => found.t_contact,
        Outcome::NoContact => f64::INFINITY,
        Outcome::Undecided => f64::NAN,
    }
}

/// Translation: two frames a query, the start and the end.
fn casts(driver: &mut Driver) {
    fn question<'a>(p: &'a Polytope, q: &'a Polytope, frames: &[Frame]) -> Question<'a> {
        let (start, end) = (&frames[0], &frames[1]);
        let motion = |a: &[f64; 7], b: &[f64; 7]| Motion::Linear {
            velocity: Vec3::new(b[0] - a[0], b[1] - a[1], b[2] - a[2]),
        };
        let (motion_p, motion_q) = (motion(&start.p, &end.p), motion(&start.q, &end.q));
        Question::new(static_pair(p, q, frames), motion_p, motion_q)
    }
    for (index, method) in contact_time::METHODS.iter().enumerate() {
        if index > 0 && driver.filter.is_none() {
            continue; // Named methods are timed when asked for.
        }
        driver.ask(
            &format!("{}_cast", mode_name(index, method.name)),
            2,
            false,
            |p, q, frames, witness, effort| {
                contact_time::first_contact_by(method, &question(p, q, frames), witness, effort)
                    .ok()
            },
            time_of_contact,
            |_, p, q, frames, found| judge_first_contact(&question(p, q, frames), found).is_ok(),
        );
    }
}

/// The range of contact along the way that P moves relative to Q; two frames a query.
fn alongs(driver: &mut Driver) {
    for (index, method) in penetration::METHODS.iter().enumerate() {
        if index > 0 && driver.filter.is_none() {
            continue; // Named methods are timed when asked for.
        }
        driver.ask(
            &format!("{}_along", mode_name(index, method.name)),
            2,
            false,
            |p, q, frames, witness, effort| {
                let way = |k: usize| {
                    let (start, end) = (&frames[0], &frames[1]);
                    (end.p[k] - start.p[k]) - (end.q[k] - start.q[k])
                };
                let (pair, way) = (static_pair(p, q, frames), Vec3::new(way(0), way(1), way(2)));
                penetration::along_by(&pair, &way, method, witness, effort).ok()
            },
            |range| range.span.map_or(f64::INFINITY, |span| span.enter[1]),
            |_, p, q, frames, range| {
                judge_static(&static_pair(p, q, frames), &range.decision.proof).is_ok()
            },
        );
    }
}

/// Rotation: three frames a query, the third with velocities in the places of poses.
fn rotations(driver: &mut Driver) {
    fn question<'a>(
        p: &'a Polytope,
        q: &'a Polytope,
        frames: &[Frame],
        is_coarse: bool,
    ) -> Question<'a> {
        let screw = |[x, y, z, _, wx, wy, wz]: [f64; 7]| {
            let axis = Vec3::new(wx, wy, wz);
            let angle = axis.norm();
            Motion::Screw { pivot: None, velocity: Vec3::new(x, y, z), axis, angle }
        };
        let rates = &frames[2];
        let pair = static_pair(p, q, frames);
        let mut question = Question::new(pair, screw(rates.p), screw(rates.q));
        if is_coarse {
            question.reach = 1e-3.into(); // The distance at which a conservative advancement stops.
            question.clearance_tolerance = Some(1e-3);
        }
        question
    }
    for (name, is_coarse) in [("auto_rot", false), ("auto_rot_1e-3", true)] {
        driver.ask(
            name,
            3,
            false,
            |p, q, frames, witness, effort| {
                contact_time::first_contact(&question(p, q, frames, is_coarse), witness, effort)
                    .ok()
            },
            time_of_contact,
            |_, p, q, frames, found| {
                judge_first_contact(&question(p, q, frames, is_coarse), found).is_ok()
            },
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [cases, workload, round, out, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: papers CASES.bin w1|w3|w5|w6 ROUND OUT.tsv [MODE,MODE]");
        return;
    };
    let mut driver = Driver {
        cases: std::rc::Rc::new(load(cases)),
        workload: workload.clone(),
        round: round.parse().expect("a round number"),
        out: std::fs::File::options().append(true).create(true).open(out).expect("a table file"),
        filter: rest.first().cloned(),
        in_turn: std::env::var("IN_TURN").map_or(1, |count| count.parse().expect("a count")),
    };
    match workload.as_str() {
        "w1" => {
            poses(&mut driver);
            booleans(&mut driver, false);
            asked_twice(&mut driver);
        }
        "w3" => {
            poses(&mut driver);
            booleans(&mut driver, true);
            distances(&mut driver);
        }
        "w5" => {
            casts(&mut driver);
            alongs(&mut driver);
        }
        "w6" => rotations(&mut driver),
        other => eprintln!("unknown workload {other}"),
    }
}
