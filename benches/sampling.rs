//! How many contacts a game misses that looks at its bodies 60 times a second.
//!
//! ```text
//! cargo bench --bench sampling
//! ```
//!
//! 2,000 bodies fly through a cube of 120 m between 500 fixed ones, each a convex hull of 30 to 150
//! vertices that is one to four metres across: 400 at 200 m/s, 400 at 60 m/s and 1,200 at 6 m/s,
//! all turning. They bounce off the walls of the cube and pass through each other. Every frame is
//! answered with first contacts, so that a contact counts that began and ended between two frames;
//! it is missed if the two bodies are separated in both. As a test it takes a tenth of the bodies
//! for a twentieth of the time.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::hull::samples::{Random, ellipsoid, polytope_of};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_geometry::until::Until;
use clearance_scene::{
    Between, Body, BodyId, Declaration, EventKind, Frame, Limits, Listed, Move, Questions, Report,
    Scene, Serial,
};

/// Frames a second.
const RATE_HZ: f64 = 60.0;
/// Half the edge of the cube for all bodies, metres.
const HALF_EDGE_M: f64 = 60.0;
/// How many bodies move at which speed, metres a second.
const SPEEDS: [(u32, f64); 3] = [(400, 200.0), (400, 60.0), (1200, 6.0)];
/// How many bodies stand still.
const FIXED: u32 = 500;
/// Fastest turning, radians a second.
const SPIN_MAX: f64 = 3.0;
/// Ten seconds.
const FRAMES: u32 = 600;
/// Different hulls.
const SHAPES: u32 = 20;

const LIMITS: Limits = Limits {
    bodies_max: 10_000,
    parts_max: 10_000,
    classes_max: 16,
    pairs_max: 10_000_000,
    listed_max: 1,
};

/// A body that flies.
struct Mover {
    id: BodyId,
    place: Vec3,
    velocity: Vec3,
    axis: Vec3,
    /// Radians a second.
    spin: f64,
}

/// A cube around the origin.
#[derive(Clone, Copy)]
struct Arena {
    half_edge_m: f64,
}

impl Arena {
    fn place(self, random: &mut Random) -> Vec3 {
        let coordinate = |()| random.between(-self.half_edge_m, self.half_edge_m);
        Vec3::from([(); 3].map(coordinate))
    }
}

impl Mover {
    fn new(id: u32, speed: f64, arena: Arena, random: &mut Random) -> Self {
        let velocity = random.direction() * speed;
        let (place, axis) = (arena.place(random), random.direction());
        Self { id: BodyId(id), place, velocity, axis, spin: random.between(0.0, SPIN_MAX) }
    }

    /// Moves on to the next frame; what would leave the cube is reflected.
    fn fly(&mut self, arena: Arena) {
        self.place += self.velocity / RATE_HZ;
        for axis in 0..3 {
            let beyond = self.place[axis].abs() - arena.half_edge_m;
            if beyond > 0.0 {
                self.place[axis] -= 2.0 * beyond.copysign(self.place[axis]);
                self.velocity[axis] = -self.velocity[axis];
            }
        }
    }

    fn pose(&self, frame: u32) -> Pose {
        let half = 0.5 * self.spin * f64::from(frame) / RATE_HZ;
        let axis = self.axis * half.sin();
        let turn = [half.cos(), axis.x, axis.y, axis.z];
        Pose::from_quaternion(self.place, turn).expect("a unit quaternion near the origin")
    }

    fn moved(&self, frame: u32) -> Move {
        Move::new(self.id, self.pose(frame))
    }
}

/// Contacts that began, and those of them that no frame shows.
#[derive(Clone, Copy, Default)]
struct Tally {
    began: u64,
    missed: u64,
}

impl Tally {
    fn print(&self, name: &str) {
        let share = 100.0 * self.missed as f64 / self.began.max(1) as f64;
        println!("{name:40} {:9} {:9} {share:8.1} %", self.began, self.missed);
    }
}

/// The game: its scene, its movers, and what they met so far.
struct Game {
    arena: Arena,
    scene: Scene,
    movers: Vec<Mover>,
    /// By the speed of the faster body.
    tallies: [Tally; SPEEDS.len()],
    undecided: u64,
    hash: blake3::Hasher,
}

impl Game {
    /// With one body in so many, as densely as with all.
    fn new(one_in: u32) -> Self {
        let mut random = Random::new(1);
        let arena = Arena { half_edge_m: HALF_EDGE_M / f64::from(one_in).cbrt() };
        let shapes: Vec<Arc<Polytope>> = (0..SHAPES)
            .map(|k| {
                let half_axes = Vec3::from([(); 3].map(|()| random.between(0.5, 2.0)));
                let count = 30 + 120 * k / (SHAPES - 1);
                Arc::new(polytope_of(&ellipsoid(count, half_axes, u64::from(k))))
            })
            .collect();
        let speeds = SPEEDS.iter().flat_map(|(count, speed)| (0..count / one_in).map(|_| *speed));
        let mover = |(id, speed)| Mover::new(id, speed, arena, &mut random);
        let movers: Vec<Mover> = (0..).zip(speeds).map(mover).collect();
        let shape = |id: u32| shapes[(id % SHAPES) as usize].clone();
        let mut bodies: Vec<Body> = movers
            .iter()
            .map(|mover| Body::solid(mover.id.0, shape(mover.id.0)).placed(mover.pose(0)))
            .collect();
        let first = u32::try_from(bodies.len()).expect("thousands");
        bodies.extend((first..first + FIXED / one_in).map(|id| {
            let pose = Pose { translation: arena.place(&mut random), ..Pose::identity() };
            Body { fixed: true, ..Body::solid(id, shape(id)).placed(pose) }
        }));
        let declared = Declaration { bodies, ..Declaration::default() };
        let mut scene = Scene::open(declared, &METHODS[0], LIMITS).expect("a legal scene");
        scene.answer(&questions(), &Serial, Until::never()).expect("few enough pairs");
        let (tallies, hash) = (Default::default(), blake3::Hasher::new());
        Self { arena, scene, movers, tallies, undecided: 0, hash }
    }

    fn step(&mut self, frame: u32) {
        self.movers.iter_mut().for_each(|mover| mover.fly(self.arena));
        let moves = self.movers.iter().map(|mover| mover.moved(frame)).collect();
        let frame = Frame { id: u64::from(frame), moves, ..Frame::default() };
        let stepped = self.scene.step(&frame, &questions(), &Serial).expect("few enough pairs");
        assert!(stepped.refused.is_empty());
        self.count(&stepped.report);
    }

    fn count(&mut self, report: &Report) {
        for event in &report.events {
            self.hash.update(&event.p.0.to_le_bytes());
            self.hash.update(&event.q.0.to_le_bytes());
            self.hash.update(&[event.kind as u8]);
            self.undecided += u64::from(event.kind == EventKind::Undecided);
            if event.kind != EventKind::Began {
                continue;
            }
            // Ids are given from the fastest to the slowest.
            let tally = &mut self.tallies[class_of(&self.movers[event.p.0 as usize])];
            tally.began += 1;
            tally.missed += u64::from(event.verdict == Some(Verdict::Separated));
        }
    }

    fn print(&self) {
        println!("{:40} {:>9} {:>9} {:>10}", "contacts", "began", "missed", "share");
        for ((_, speed), tally) in SPEEDS.iter().zip(&self.tallies) {
            tally.print(&format!("the faster body at {speed} m/s"));
        }
        let sum = |of: fn(&Tally) -> u64| self.tallies.iter().map(of).sum();
        let all = Tally { began: sum(|tally| tally.began), missed: sum(|tally| tally.missed) };
        all.print("all");
        println!("undecided {}", self.undecided);
        println!("hash {}", self.hash.finalize());
    }
}

/// Which of [`SPEEDS`] a mover has.
fn class_of(mover: &Mover) -> usize {
    let speed = mover.velocity.norm();
    let differs = |index: &usize| (SPEEDS[*index].1 - speed).abs();
    (0..SPEEDS.len()).min_by(|a, b| differs(a).total_cmp(&differs(b))).expect("some speeds")
}

fn questions() -> Questions {
    Questions { listed: Listed::Nothing, between: Some(Between::default()), ..Questions::default() }
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (one_in, frames) = if is_bench { (1, FRAMES) } else { (10, FRAMES / 20) };
    let mut game = Game::new(one_in);
    for frame in 1..=frames {
        game.step(frame);
    }
    game.print();
}
