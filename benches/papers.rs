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
//! Every timed call converts its own two poses and returns the verdict *with its certificate*.
//! `IN_TURN=64` in the environment takes the sequences 64 at a time and puts the first question of
//! each, then the second, and so on: bodies in turn, and cold caches. A line is for 64 sequences then.
//! Without arguments (as in a test run) it measures nothing and only says how it is called.

use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use clearance::geometry::Vec3;
use clearance::geometry::certificate::Verdict;
use clearance::geometry::certificate::judge::judge_static;
use clearance::geometry::contact_time::{self, Outcome, Question};
use clearance::geometry::distance::{self, Stops};
use clearance::geometry::effort::{Cost, Effort};
use clearance::geometry::hull::convex_hull;
use clearance::geometry::motion::Motion;
use clearance::geometry::pair::Pair;
use clearance::geometry::polytope::Polytope;
use clearance::geometry::pose::Pose;
use clearance::geometry::separation::{self, METHODS, Method};
use clearance::geometry::witness::Witness;

/// Passes over a sequence; the first warms up.
const PASSES: usize = 3;

struct Frame {
    p: [f64; 7],
    q: [f64; 7],
}

struct Sequence {
    p: usize,
    q: usize,
    frames: Vec<Frame>,
}

struct Cases {
    polytopes: Vec<Polytope>,
    sequences: Vec<Sequence>,
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, tail) = self.bytes.split_first_chunk().expect("the case file is whole");
        self.bytes = tail;
        *head
    }

    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.take()) as usize
    }

    fn number(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }

    fn pose(&mut self) -> [f64; 7] {
        std::array::from_fn(|_| self.number())
    }
}

fn load(file: &str) -> Cases {
    let bytes = std::fs::read(file).expect("the case file can be read");
    let mut reader = Reader { bytes: &bytes };
    assert_eq!(&reader.take::<4>(), b"CQC1", "not a case file");
    let polytopes = (0..reader.count())
        .map(|_| {
            let points: Vec<Vec3> = (0..reader.count())
                .map(|_| Vec3::new(reader.number(), reader.number(), reader.number()))
                .collect();
            for _ in 0..3 * reader.count() {
                reader.count(); // Triangles: we build our own hull.
            }
            convex_hull(&points).expect("finite points").polytope
        })
        .collect();
    let sequences = (0..reader.count())
        .map(|_| {
            let (p, q) = (reader.count(), reader.count());
            let frames =
                (0..reader.count()).map(|_| Frame { p: reader.pose(), q: reader.pose() }).collect();
            Sequence { p, q, frames }
        })
        .collect();
    Cases { polytopes, sequences }
}

fn pose([x, y, z, qw, qx, qy, qz]: [f64; 7]) -> Pose {
    Pose::from_quaternion(Vec3::new(x, y, z), [qw, qx, qy, qz]).expect("a legal pose")
}

/// Processor time of this thread: other work on the machine does not count.
fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The questions of a few sequences, which have equally many: the first of each, the second of each ...
fn questions<'a>(
    cases: &'a Cases,
    sequences: &'a [Sequence],
    stride: usize,
) -> Vec<(&'a Polytope, &'a Polytope, &'a [Frame])> {
    let count = sequences.first().map_or(0, |sequence| sequence.frames.len() / stride);
    let of_all = |number: usize| {
        sequences.iter().map(move |sequence| {
            let frames = &sequence.frames[number * stride..][..stride];
            (&cases.polytopes[sequence.p], &cases.polytopes[sequence.q], frames)
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

    /// Times `query` over every sequence, `stride` frames at a time. `begin` is called before each
    /// pass and drops everything remembered.
    fn mode(
        &mut self,
        name: &str,
        stride: usize,
        mut begin: impl FnMut(),
        mut query: impl FnMut(&Polytope, &Polytope, &[Frame]) -> f64,
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
                begin();
                let start = thread_seconds();
                for (value, &(p, q, frames)) in values.iter_mut().zip(&questions) {
                    *value = black_box(query(p, q, black_box(frames)));
                }
                if pass > 0 {
                    means.push((thread_seconds() - start) * 1e9 / n as f64);
                }
            }
            let mut stamped = vec![f64::INFINITY; n];
            for _ in 0..PASSES {
                begin();
                for (best, &(p, q, frames)) in stamped.iter_mut().zip(&questions) {
                    let start = Instant::now();
                    black_box(query(p, q, black_box(frames)));
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
}

/// 1 in contact, 0 separated, NaN when a budget stopped it (it has none).
fn collide(pair: &Pair<'_>, method: &Method, witness: &mut Witness) -> f64 {
    match separation::decide(pair, method, witness, &mut Effort::unlimited()) {
        Ok(decision) => f64::from(u8::from(decision.verdict() != Verdict::Separated)),
        Err(_) => f64::NAN,
    }
}

fn booleans(driver: &mut Driver, warm_too: bool) {
    for (index, method) in METHODS.iter().enumerate() {
        let name = if index == 0 { "auto" } else { method.name };
        if index > 0 && driver.filter.is_none() {
            continue; // Named methods are timed when asked for.
        }
        driver.mode(
            &format!("{name}_bool_cold"),
            1,
            || {},
            |p, q, frames| {
                let pair = Pair::new(p, pose(frames[0].p), q, pose(frames[0].q));
                collide(&pair, method, &mut Witness::default())
            },
        );
        check_booleans(driver, &format!("{name}_bool_cold"), method, false);
        if warm_too {
            check_booleans(driver, &format!("{name}_bool_warm"), method, true);
            let witness = std::cell::RefCell::new(Witness::default());
            driver.mode(
                &format!("{name}_bool_warm"),
                1,
                || *witness.borrow_mut() = Witness::default(),
                |p, q, frames| {
                    let pair = Pair::new(p, pose(frames[0].p), q, pose(frames[0].q));
                    collide(&pair, method, &mut witness.borrow_mut())
                },
            );
        }
    }
}

/// Answers every question once more, untimed, has each proof judged in exact arithmetic by code that
/// shares nothing with the searches, and says what the answers took.
fn check_booleans(driver: &Driver, name: &str, method: &Method, warm: bool) {
    if !driver.wants(name) || driver.round > 0 {
        return;
    }
    let mut cost = Cost::default();
    let mut wrong = 0;
    for sequence in &driver.cases.sequences {
        let (p, q) = (&driver.cases.polytopes[sequence.p], &driver.cases.polytopes[sequence.q]);
        let mut witness = Witness::default();
        for frame in &sequence.frames {
            if !warm {
                witness = Witness::default();
            }
            let pair = Pair::new(p, pose(frame.p), q, pose(frame.q));
            let mut effort = Effort::unlimited();
            let decided = separation::decide(&pair, method, &mut witness, &mut effort);
            let judged = decided.is_ok_and(|found| judge_static(&pair, &found.proof).is_ok());
            wrong += u64::from(!judged);
            cost += effort.cost;
        }
    }
    let each = |count: u64| count as f64 / cost.queries as f64;
    eprintln!(
        "{} {name}: {} answers, {wrong} wrong, {} by the exact stage; each {:.2} candidates, \
         {:.2} supporting vertices, {:.1} vertices visited, {:.3} witness hits",
        driver.workload,
        cost.queries,
        cost.exact_stages,
        each(cost.steps),
        each(cost.supports),
        each(cost.visited),
        each(cost.witness_hits),
    );
}

/// The default without its error bounds, to tell what they cost.
#[cfg(feature = "unproven")]
fn unproven(driver: &mut Driver) {
    let witness = std::cell::RefCell::new(Witness::default());
    driver.mode(
        "noproof_bool_warm",
        1,
        || *witness.borrow_mut() = Witness::default(),
        |p, q, frames| {
            let pair = Pair::new(p, pose(frames[0].p), q, pose(frames[0].q));
            let mut effort = Effort::unlimited();
            match separation::decide_unproven(&pair, &mut witness.borrow_mut(), &mut effort) {
                Ok(decision) => f64::from(u8::from(decision.verdict() != Verdict::Separated)),
                Err(_) => f64::NAN,
            }
        },
    );
}

/// What every other time includes: turning two stored poses into what a question takes.
fn poses(driver: &mut Driver) {
    driver.mode(
        "pose_conversion",
        1,
        || {},
        |p, q, frames| {
            let pair = Pair::new(p, pose(frames[0].p), q, pose(frames[0].q));
            black_box(&pair).p.pose.translation.x
        },
    );
}

fn distances(driver: &mut Driver) {
    let fixed = distance::h_walk::FIXED_STARTS;
    for (index, method) in distance::METHODS.iter().chain(fixed).enumerate() {
        let name = if index == 0 { "auto" } else { method.name };
        if index > 0 && driver.filter.is_none() {
            continue; // Named methods are timed when asked for.
        }
        let measure = |p: &Polytope, q: &Polytope, frames: &[Frame], witness: &mut Witness| {
            let pair = Pair::new(p, pose(frames[0].p), q, pose(frames[0].q));
            let mut effort = Effort::unlimited();
            distance::measure_by(method, &pair, Stops::default(), witness, &mut effort)
                .map_or(f64::NAN, |distance| distance.upper)
        };
        driver.mode(
            &format!("{name}_dist_cold"),
            1,
            || {},
            |p, q, frames| measure(p, q, frames, &mut Witness::default()),
        );
        let witness = std::cell::RefCell::new(Witness::default());
        driver.mode(
            &format!("{name}_dist_warm"),
            1,
            || *witness.borrow_mut() = Witness::default(),
            |p, q, frames| measure(p, q, frames, &mut witness.borrow_mut()),
        );
    }
}

/// Time of contact, infinite for none.
fn first_contact(question: &Question<'_>) -> f64 {
    match contact_time::first_contact(question, &mut Witness::default(), &mut Effort::unlimited()) {
        Ok(found) if found.outcome == Outcome::Contact => found.t_contact,
        Ok(found) if found.outcome == Outcome::NoContact => f64::INFINITY,
        Ok(_) | Err(_) => f64::NAN,
    }
}

fn casts(driver: &mut Driver) {
    driver.mode(
        "auto_cast",
        2,
        || {},
        |p, q, frames| {
            let (start, end) = (&frames[0], &frames[1]);
            let velocity = |a: &[f64; 7], b: &[f64; 7]| Motion::Linear {
                velocity: Vec3::new(b[0] - a[0], b[1] - a[1], b[2] - a[2]),
            };
            let pair = Pair::new(p, pose(start.p), q, pose(start.q));
            let motion_p = velocity(&start.p, &end.p);
            first_contact(&Question::new(pair, motion_p, velocity(&start.q, &end.q)))
        },
    );
}

fn rotations(driver: &mut Driver) {
    let ask = |p: &Polytope, q: &Polytope, frames: &[Frame], coarse: bool| {
        let (start, rates) = (&frames[0], &frames[2]);
        let screw = |[x, y, z, _, wx, wy, wz]: [f64; 7]| {
            let axis = Vec3::new(wx, wy, wz);
            let angle = axis.norm();
            Motion::Screw { pivot: None, velocity: Vec3::new(x, y, z), axis, angle }
        };
        let pair = Pair::new(p, pose(start.p), q, pose(start.q));
        let mut question = Question::new(pair, screw(rates.p), screw(rates.q));
        if coarse {
            question.margin = 1e-3; // The distance at which a conservative advancement stops.
            question.clearance_tolerance = Some(1e-3);
        }
        first_contact(&question)
    };
    driver.mode("auto_rot", 3, || {}, |p, q, frames| ask(p, q, frames, false));
    driver.mode("auto_rot_1e-3", 3, || {}, |p, q, frames| ask(p, q, frames, true));
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
        }
        "w3" => {
            poses(&mut driver);
            booleans(&mut driver, true);
            #[cfg(feature = "unproven")]
            unproven(&mut driver);
            distances(&mut driver);
        }
        "w5" => casts(&mut driver),
        "w6" => rotations(&mut driver),
        other => eprintln!("unknown workload {other}"),
    }
}
