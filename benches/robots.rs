//! What questions about a robot's configurations cost: floor 1 alone, on one thread, no wire.
//!
//! ```text
//! cargo bench --bench robots
//! ```
//!
//! The Panda of `data/panda` among 50 random boxes, as in `benches/planner.py`, which puts the same
//! to the service and to other libraries. Prints nanoseconds of thread time for each question, and
//! a hash of the answers, which is the same on every machine. As a test it asks a few.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;
#[path = "robots/scene.rs"]
mod scene;

use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_robot::cell::{Cell, Instance};
use clearance_robot::check::{CheckMode, CheckQuestion, Checked};
use clearance_robot::edge::{EdgeAnswer, EdgeQuestion};

use clock::thread_time;
use scene::{boxes, panda};

/// Joint values within the limits, the fingers a little open.
fn configurations(robot: &Robot, count: usize, random: &mut Random) -> Vec<f64> {
    let variables = &robot.kinematics.tree().variables;
    let mut values = Vec::with_capacity(count * variables.len());
    for _ in 0..count {
        let arm = variables.iter().take(7).map(|v| random.between(v.lower, v.upper));
        values.extend(arm.chain([0.02]));
    }
    values
}

/// Where straight paths from these configurations end, whose joints turn by so much in sum.
fn ends(from: &[f64], [least, most]: [f64; 2], random: &mut Random) -> Vec<f64> {
    let mut to = from.to_vec();
    for values in to.chunks_exact_mut(8) {
        let way = [0; 7].map(|_| random.between(-1.0, 1.0));
        let sum: f64 = way.iter().map(|d| d.abs()).sum();
        let length = random.between(least, most);
        for (value, d) in values.iter_mut().zip(way) {
            *value += d * (length / sum);
        }
    }
    to
}

struct Hash(u64);

impl Hash {
    fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x100_0000_01b3).rotate_left(23);
    }
}

fn report(name: &str, count: usize, run: impl Fn(&mut Hash) -> usize) {
    let mut best = f64::INFINITY;
    let (mut hash, mut marked) = (Hash(0), 0);
    for _ in 0..5 {
        hash = Hash(0xcbf2_9ce4_8422_2325);
        let start = thread_time();
        marked = run(&mut hash);
        best = best.min((thread_time() - start).as_secs_f64());
    }
    let each = best / count as f64;
    println!(
        "{name}: {:.0} ns, {:.0} a second; {marked} of {count} in contact; hash {:016x}",
        each * 1e9,
        1.0 / each,
        hash.0
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_test = !arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let count = if is_test { 40 } else { 10_000 };
    let (robot, mut random) = (panda(), Random::new(1));
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let cell = Cell::new(&[instance], boxes(50, &mut random));
    let values = configurations(&robot, count, &mut random);
    println!("{count} configurations, {} pairs", cell.pair_count());
    let is_asked = |name: &str| wanted.is_none_or(|wanted| name.contains(wanted.as_str()));
    for (name, mode, with_gradient) in [
        ("first pair", CheckMode::FirstPair, false),
        ("all pairs", CheckMode::AllPairs, false),
        ("clearance", CheckMode::Clearance, false),
        ("gradient", CheckMode::Clearance, true),
    ] {
        let question = CheckQuestion { mode, with_gradient, ..CheckQuestion::default() };
        if is_asked(name) {
            report(name, count, |hash| check(&cell, question, &values, hash));
        }
    }
    for (name, lengths) in
        [("edges of 0.2 to 1 rad", [0.2, 1.0]), ("edges of 2 to 6 rad", [2.0, 6.0])]
    {
        let to = ends(&values, lengths, &mut random);
        for (name, any_contact) in
            [(name.to_owned(), false), (format!("{name}, any contact"), true)]
        {
            if is_asked(&name) {
                report(&name, count, |hash| edges(&cell, any_contact, [&values, &to], hash));
            }
        }
    }
}

fn check(cell: &Cell, question: CheckQuestion, values: &[f64], hash: &mut Hash) -> usize {
    let mut contacts = 0;
    for answer in cell.check(question, values, &mut Effort::unlimited()) {
        match answer {
            // Pairs below a distance are not asked for.
            Checked::Free
            | Checked::Open { .. }
            | Checked::Below(_)
            | Checked::Bad(_)
            | Checked::Stopped(_) => hash.add(0),
            Checked::Contact(pairs) => {
                contacts += 1;
                pairs.iter().for_each(|(pair, _)| hash.add(u64::from(pair[0] << 16 | pair[1])));
            }
            Checked::Clearance(found) => {
                for one in found.iter().flatten() {
                    contacts += usize::from(one.verdict != Some(Verdict::Separated));
                    hash.add(one.lower.to_bits());
                    hash.add(u64::from(one.pair[0] << 16 | one.pair[1]));
                }
            }
        }
    }
    contacts
}

fn edges(cell: &Cell, any_contact: bool, ends: [&[f64]; 2], hash: &mut Hash) -> usize {
    let question = EdgeQuestion {
        margin: 0.0,
        tolerance: 1e-6,
        steps_max: u64::MAX,
        any_contact,
        ..EdgeQuestion::default()
    };
    let mut contacts = 0;
    for answer in cell.check_edges(question, ends, &mut Effort::unlimited()) {
        match answer {
            EdgeAnswer::Contact { contact_at, .. } => {
                contacts += 1;
                hash.add(contact_at.to_bits());
            }
            EdgeAnswer::Free => hash.add(1),
            EdgeAnswer::Undecided { .. }
            | EdgeAnswer::Bad(_)
            | EdgeAnswer::Turns
            | EdgeAnswer::Stopped { .. } => hash.add(2),
        }
    }
    contacts
}
