//! What a frame of a scene costs: floor 1 alone, on one thread, without the wire.
//!
//! ```text
//! cargo bench --no-default-features --bench scenes -- 10000:1 10000:0.01 10000:0
//! ```
//!
//! Each argument is a number of bodies and the share of them that moves in a frame, with
//! `:first_contacts` if these are asked. The bodies are 20 hulls of 30 to 150 vertices, as dense as
//! that each has about two close neighbours; a moving one goes 0.017 and turns 0.035 rad a frame,
//! about a hundredth of its size. Prints per scene the CPU milliseconds of a frame (median), of
//! opening, the pairs looked at, and memory in bytes a body; at the end a hash of all events and
//! counts, which is the same on every machine. As a test it takes a few small scenes.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use std::sync::Arc;
use std::time::Duration;

use clearance::geometry::Vec3;
use clearance::geometry::hull::samples::{Random, polytope_of};
use clearance::geometry::polytope::Polytope;
use clearance::geometry::pose::Pose;
use clearance::geometry::separation::METHODS;
use clearance::scene::{
    Between, Body, BodyId, Declaration, Frame, Limits, Listed, Move, Questions, Rules, Scene,
    Serial,
};

use clock::thread_time;

/// What is measured.
struct Asked {
    bodies: u32,
    moving: f64,
    first_contacts: bool,
}

impl Asked {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(':');
        let bodies = words.next()?.parse().ok()?;
        let moving = words.next()?.parse().ok()?;
        Some(Self { bodies, moving, first_contacts: words.next() == Some("first_contacts") })
    }
}

fn hulls(random: &mut Random) -> Vec<Arc<Polytope>> {
    let hull = |_| {
        let count = 30 + random.below(121);
        let scale = Vec3::from_fn(|_, _| random.between(0.6, 1.0));
        let points: Vec<Vec3> =
            (0..count).map(|_| random.direction().component_mul(&scale)).collect();
        Arc::new(polytope_of(&points))
    };
    (0..20).map(hull).collect()
}

/// A body that drifts and tumbles.
struct Drifter {
    place: Vec3,
    turn: [f64; 4],
    velocity: Vec3,
    spin: Vec3,
}

impl Drifter {
    fn pose(&self) -> Pose {
        Pose::from_quaternion(self.place, self.turn).expect("a legal pose")
    }

    fn go_on(&mut self) {
        self.place += self.velocity;
        let [w, x, y, z] = self.turn;
        let s = self.spin / 2.0;
        let turned = [
            w - s.x * x - s.y * y - s.z * z,
            x + s.x * w + s.y * z - s.z * y,
            y + s.y * w + s.z * x - s.x * z,
            z + s.z * w + s.x * y - s.y * x,
        ];
        let norm = turned.iter().map(|c| c * c).sum::<f64>().sqrt();
        self.turn = turned.map(|c| c / norm);
    }
}

fn measure(asked: &Asked, hash: &mut u64) {
    let mut random = Random::new(7);
    let hulls = hulls(&mut random);
    let volume = f64::from(asked.bodies) * (4.0 / 3.0 * std::f64::consts::PI * 1.7_f64.powi(3));
    let side = (volume / 2.0).cbrt();
    let mut drifters: Vec<Drifter> = (0..asked.bodies)
        .map(|_| Drifter {
            place: Vec3::from_fn(|_, _| random.between(0.0, side)),
            turn: [1.0, random.unit(), random.unit(), random.unit()],
            velocity: random.direction() * 0.017,
            spin: random.direction() * 0.035,
        })
        .collect();
    let body = |(index, drifter): (usize, &Drifter)| {
        Body::solid(index as u32 + 1, hulls[index % 20].clone()).placed(drifter.pose())
    };
    let declared = Declaration {
        bodies: drifters.iter().enumerate().map(body).collect(),
        rules: Rules::default(),
        release_margin: 0.0,
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

    let moving = (f64::from(asked.bodies) * asked.moving) as usize;
    let frames = (300_000 / asked.bodies as usize).clamp(10, 100);
    let mut times: Vec<Duration> = Vec::new();
    let mut looked_at = 0;
    for id in 0..frames as u64 {
        let mut moves = Vec::with_capacity(moving);
        for j in 0..moving {
            let index = if asked.moving < 1.0 {
                (j * drifters.len() / moving + id as usize) % drifters.len()
            } else {
                j
            };
            drifters[index].go_on();
            moves.push(Move {
                body: BodyId(index as u32 + 1),
                pose: drifters[index].pose(),
                teleported: false,
                deviation: None,
            });
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
        "{:>7} bodies, {:4} moving{}: {:9.4} ms a frame, {:8.0} pairs looked at; opened in \
         {:.0} ms; {} bytes a body",
        asked.bodies,
        asked.moving,
        if asked.first_contacts { ", first contacts" } else { "" },
        times[times.len() / 2].as_secs_f64() * 1e3,
        looked_at as f64 / frames as f64,
        opening.as_secs_f64() * 1e3,
        scene.bytes() / asked.bodies as usize,
    );
}

/// FNV-1a over what the report says of events and counts.
fn note(hash: &mut u64, report: &clearance::scene::Report) {
    let text = format!("{:?}{:?}", report.events, report.tally);
    for byte in text.bytes() {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

fn main() {
    let given: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let small = ["200:1", "200:0.1", "200:0", "100:1:first_contacts"].map(str::to_owned);
    let texts = if given.is_empty() { small.to_vec() } else { given };
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for text in &texts {
        let asked = Asked::parse(text).expect("N:MOVING[:first_contacts]");
        measure(&asked, &mut hash);
    }
    println!("hash {hash:016x}");
}
