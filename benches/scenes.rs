//! What a frame of a scene costs: floor 1 alone, on one thread, without the wire.
//!
//! ```text
//! cargo bench --bench scenes -- 10000:1 10000:0.01 10000:0
//! ```
//!
//! Each argument is a number of bodies and the share of them that moves in a frame, with
//! `:first_contacts` if these are asked of all, `:chosen=0.1` if a tenth of the bodies asks for its
//! own, and `:pace=50` if bodies go half their size a frame in
//! place of a hundredth; `field` and `drift` say what they are. With `:balls` or `:capsules` at the
//! end the bodies are these, about as large as the hulls. Prints per scene the CPU
//! milliseconds of a frame (median), of opening, the pairs looked at, and memory in bytes a body;
//! at the end a hash of all events and counts, which is the same on every machine. As a test it
//! takes a few small scenes.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod asked;
mod clock;
mod drift;
mod field;

use std::sync::Arc;
use std::time::Duration;

use clearance_geometry::Vec3;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_scene::{
    Between, Body, BodyId, Declaration, Frame, Limits, Listed, Move, Part, Questions, Rules, Scene,
    Serial,
};

use asked::Asked;
use clock::thread_time;
use drift::{Drifter, movers};
use field::{hulls, side};

fn pose(drifter: &Drifter) -> Pose {
    Pose::from_quaternion(drifter.place, drifter.turn).expect("a legal pose")
}

/// What the bodies of a scene are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bodies {
    Hulls,
    Balls,
    Capsules,
}

impl Bodies {
    /// What the end of an argument says of them, and the rest of it.
    fn of(text: &str) -> (Self, &str) {
        let (balls, capsules) = (text.strip_suffix(":balls"), text.strip_suffix(":capsules"));
        match (balls, capsules) {
            (Some(rest), _) => (Self::Balls, rest),
            (_, Some(rest)) => (Self::Capsules, rest),
            (None, None) => (Self::Hulls, text),
        }
    }

    /// The parts that the bodies have in turn.
    fn parts(self, random: &mut Random) -> Vec<Part> {
        let rounded = |points: &[Vec3], radius| {
            let core = Arc::new(convex_hull(points).expect("a hull").polytope);
            vec![Part { radius, ..Part::of(core) }]
        };
        match self {
            Self::Hulls => hulls(random).into_iter().map(Part::of).collect(),
            Self::Balls => rounded(&[Vec3::zeros()], 0.8),
            Self::Capsules => rounded(&[Vec3::z() * -0.4, Vec3::z() * 0.4], 0.5),
        }
    }
}

fn measure(asked: &Asked, bodies: Bodies, hash: &mut u64) {
    let mut random = Random::new(7);
    let parts = bodies.parts(&mut random);
    let side = side(asked.bodies);
    let mut drifters: Vec<Drifter> =
        (0..asked.bodies).map(|_| Drifter::anywhere(&mut random, side, asked.pace)).collect();
    let body = |(index, drifter): (usize, &Drifter)| {
        let (id, parts) = (BodyId(index as u32 + 1), vec![parts[index % parts.len()].clone()]);
        let continuous = asked.is_chosen(index);
        Body { id, parts, continuous, ..Body::without_parts() }.placed(pose(drifter))
    };
    let declared = Declaration {
        robots: Vec::new(),
        bodies: drifters.iter().enumerate().map(body).collect(),
        rules: Rules::default(),
        release_margin: 0.0,
        begin_margin: 0.0,
        contacts: Vec::new(),
        frame: 0,
    };
    let questions = Questions {
        listed: Listed::Nothing,
        between: asked.first_contacts.then(Between::default),
        ..Questions::default()
    };
    let limits = Limits {
        bodies_max: 1 << 20,
        parts_max: 1 << 20,
        classes_max: 64,
        pairs_max: 1 << 24,
        listed_max: 1 << 20,
    };
    let opening = thread_time();
    let mut scene = Scene::open(declared, &METHODS[0], limits).expect("a legal scene");
    let first = scene.step(&Frame { id: 1, ..Frame::default() }, &questions, &Serial);
    note(hash, &first.expect("a legal frame").report);
    let opening = thread_time() - opening;

    let frames = (300_000 / asked.bodies as usize).clamp(10, 100);
    let mut times: Vec<Duration> = Vec::new();
    let mut looked_at = 0;
    for id in 0..frames as u64 {
        let mut moves = Vec::new();
        for index in movers(drifters.len(), asked.moving, id) {
            drifters[index].go_on();
            moves.push(Move::new(BodyId(index as u32 + 1), pose(&drifters[index])));
        }
        let frame = Frame { id: id + 2, moves, ..Frame::default() };
        let start = thread_time();
        let report = scene.step(&frame, &questions, &Serial).expect("a legal frame").report;
        times.push(thread_time() - start);
        let counters = &report.counters;
        looked_at += counters.pairs_enabled - counters.pairs_skipped - counters.pairs_remembered;
        note(hash, &report);
    }
    times.sort_unstable();
    println!(
        "{:>7} {bodies:?}, {:4} moving{}{}: {:9.4} ms a frame, {:8.0} pairs looked at; opened in \
         {:.0} ms; {} bytes a body",
        asked.bodies,
        asked.moving,
        if asked.first_contacts { ", first contacts" } else { "" },
        if asked.chosen > 0.0 { format!(" of {}", asked.chosen) } else { String::new() },
        times[times.len() / 2].as_secs_f64() * 1e3,
        looked_at as f64 / frames as f64,
        opening.as_secs_f64() * 1e3,
        scene.bytes() / asked.bodies as usize,
    );
}

/// FNV-1a over what the report says of events and counts.
fn note(hash: &mut u64, report: &clearance_scene::Report) {
    let text = format!("{:?}{:?}", report.events, report.tally);
    for byte in text.bytes() {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

fn main() {
    let given: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let small = ["200:1", "200:0.1", "200:0", "100:1:first_contacts", "200:1:balls"];
    let small = small.map(str::to_owned);
    let texts = if given.is_empty() { small.to_vec() } else { given };
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for text in &texts {
        let (bodies, rest) = Bodies::of(text);
        let asked = Asked::parse(rest).expect("N:MOVING[:first_contacts][:chosen=SHARE][:balls]");
        measure(&asked, bodies, &mut hash);
    }
    println!("hash {hash:016x}");
}
