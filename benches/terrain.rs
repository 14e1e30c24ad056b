//! What a frame costs of 2,000 bodies over a height field of 1024 x 1024: floor 1 alone, on one
//! thread, without the wire.
//!
//! ```text
//! cargo bench --bench terrain -- 1024 1024:first_contacts
//! ```
//!
//! Each argument is the side of the field in heights, 0.25 m apart, with `:first_contacts` if these
//! are asked of all pairs between frames. The bodies are those of a game (`game.py`): 400
//! projectiles of 10 cm at 200 m/s and 400 of 20 cm at 60 m/s that fly through a hall over the
//! ground and are turned back by its walls, and 1,200 hulls of 1 m that roll over hills at up to
//! 6 m/s, half a metre deep in the ground or above it; 60 frames a second. Prints the CPU
//! milliseconds of a frame (median and greatest) and of opening, and how many bodies are in contact
//! with the ground in a frame. Rapier on the same scene: `peers/rapier`, with the word
//! `terrain:1024`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use std::sync::Arc;
use std::time::Duration;

use clearance_bodies::kinds::height_field::BoxedField;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_geometry::terrain::{Diagonal, HeightField, Lattice};
use clearance_scene::{
    Between, Body, BodyId, Declaration, Frame, Limits, Listed, Move, Part, Questions, Rules, Scene,
    Serial,
};

use clock::thread_time;

const SPACING: f64 = 0.25;
const STEP: f64 = 1.0 / 60.0;
const CEILING: f64 = 24.0;

/// The same numbers as in `peers/rapier`, so that both see the same scene.
struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64) / ((1_u64 << 53) as f64)
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::from_fn(|_, _| 2.0 * self.unit() - 1.0);
            if (0.01..1.0).contains(&v.norm_squared()) {
                return v.normalize();
            }
        }
    }
}

/// Rolling hills with bumps, metres.
fn hill(x: f64, y: f64) -> f64 {
    1.5 * (x / 9.0).sin() * (y / 13.0).cos() + 0.4 * (x / 2.3 + y / 3.1).sin()
}

fn ground(side: u32) -> HeightField {
    let mut numbers = Numbers(5);
    let lattice =
        Lattice { rows: side, columns: side, spacing: [SPACING; 2], diagonal: Diagonal::Rising };
    let at = |i: u32| f64::from(i) * SPACING;
    let mut heights = Vec::new();
    for row in 0..side {
        for column in 0..side {
            heights.push((hill(at(column), at(row)) + 0.1 * numbers.unit()) as f32);
        }
    }
    HeightField::new(lattice, heights, &[]).expect("a field")
}

/// A body of the game.
struct Mover {
    shape: usize,
    place: Vec3,
    velocity: Vec3,
    /// Above the hill, of one that rolls.
    above: Option<f64>,
    axis: Vec3,
    angle: f64,
    spin: f64,
}

/// How many, their radius and their speed.
const CLASSES: [(usize, f64, f64); 3] = [(400, 0.1, 200.0), (400, 0.2, 60.0), (1200, 1.0, 6.0)];
const SHAPES: usize = 20;

fn shapes(numbers: &mut Numbers) -> Vec<Vec<Vec3>> {
    let mut shapes = Vec::new();
    for (_, radius, _) in CLASSES {
        for _ in 0..SHAPES {
            let count = 30 + (numbers.unit() * 121.0) as usize;
            let scale = Vec3::from_fn(|_, _| 0.6 + 0.4 * numbers.unit()) * radius;
            shapes.push((0..count).map(|_| numbers.direction().component_mul(&scale)).collect());
        }
    }
    shapes
}

fn movers(numbers: &mut Numbers, wide: f64) -> Vec<Mover> {
    let mut movers = Vec::new();
    for (class, (count, radius, speed)) in CLASSES.into_iter().enumerate() {
        for index in 0..count {
            let rolls = class == 2;
            let place = Vec3::new(
                1.0 + numbers.unit() * (wide - 2.0),
                1.0 + numbers.unit() * (wide - 2.0),
                numbers.unit() * CEILING,
            );
            let mut velocity = numbers.direction() * speed;
            let above = rolls.then(|| 0.5 + numbers.unit());
            if rolls {
                velocity.z = 0.0;
                velocity *= 0.1 + 0.9 * numbers.unit();
            }
            let axis = numbers.direction();
            let spin = if rolls { velocity.norm() / radius * STEP } else { 0.1 };
            let shape = class * SHAPES + index % SHAPES;
            movers.push(Mover { shape, place, velocity, above, axis, angle: 0.0, spin });
        }
    }
    movers
}

impl Mover {
    fn go_on(&mut self, wide: f64) {
        let ends = [(1.0, wide - 1.0), (1.0, wide - 1.0), (-1.0, CEILING)];
        self.place += self.velocity * STEP;
        for (axis, (low, high)) in ends.into_iter().enumerate() {
            if self.place[axis] < low && self.velocity[axis] < 0.0
                || self.place[axis] > high && self.velocity[axis] > 0.0
            {
                self.velocity[axis] = -self.velocity[axis];
            }
        }
        if let Some(above) = self.above {
            self.place.z = hill(self.place.x, self.place.y) + above;
        }
        self.angle += self.spin;
    }

    fn pose(&self) -> Pose {
        let (sine, cosine) = (self.angle / 2.0).sin_cos();
        let [x, y, z] = (self.axis * sine).into();
        Pose::from_quaternion(self.place, [cosine, x, y, z]).expect("a legal pose")
    }
}

fn opened(side: u32, shapes: &[Vec<Vec3>], movers: &[Mover]) -> Scene {
    let field = BoxedField::new(Arc::new(ground(side))).expect("a box");
    let parts: Vec<Part> = shapes
        .iter()
        .map(|points| Part::of(Arc::new(convex_hull(points).expect("a hull").polytope)))
        .collect();
    let ground = Body {
        id: BodyId(0),
        parts: vec![Part::of_field(field)],
        fixed: true,
        groups: ["ground".to_owned()].into_iter().collect(),
        ..Body::without_parts()
    };
    let body = |(index, mover): (usize, &Mover)| {
        let parts = vec![parts[mover.shape].clone()];
        let groups = ["movers".to_owned()].into_iter().collect();
        let id = BodyId(index as u32 + 1);
        Body { id, parts, groups, ..Body::without_parts() }.placed(mover.pose())
    };
    let mut rules = Rules::default();
    rules.checked_groups.push(["ground".to_owned(), "movers".to_owned()]);
    let declared = Declaration {
        robots: Vec::new(),
        bodies: [ground].into_iter().chain(movers.iter().enumerate().map(body)).collect(),
        rules,
        release_margin: 0.0,
        begin_margin: 0.0,
        contacts: Vec::new(),
        frame: 0,
    };
    let limits = Limits {
        bodies_max: 1 << 20,
        parts_max: 1 << 20,
        classes_max: 64,
        pairs_max: 1 << 24,
        listed_max: 1 << 20,
    };
    Scene::open(declared, &METHODS[0], limits).expect("a legal scene")
}

fn measure(side: u32, first_contacts: bool) {
    let mut numbers = Numbers(7);
    let wide = f64::from(side - 1) * SPACING;
    let shapes = shapes(&mut numbers);
    let mut movers = movers(&mut numbers, wide);
    let opening = thread_time();
    let mut scene = opened(side, &shapes, &movers);
    let questions = Questions {
        listed: Listed::Nothing,
        between: first_contacts.then(Between::default),
        ..Questions::default()
    };
    scene.step(&Frame { id: 1, ..Frame::default() }, &questions, &Serial).expect("a legal frame");
    let opening = thread_time() - opening;
    let mut times: Vec<Duration> = Vec::new();
    let mut events = 0;
    let frames = if cfg!(debug_assertions) { 3 } else { 120 };
    for id in 0..frames {
        movers.iter_mut().for_each(|mover| mover.go_on(wide));
        let moved =
            |(index, mover): (usize, &Mover)| Move::new(BodyId(index as u32 + 1), mover.pose());
        let moves = movers.iter().enumerate().map(moved).collect();
        let frame = Frame { id: id + 2, moves, ..Frame::default() };
        let start = thread_time();
        let stepped = scene.step(&frame, &questions, &Serial).expect("a legal frame");
        times.push(thread_time() - start);
        events += stepped.report.events.len();
    }
    let all = Questions { listed: Listed::All, ..Questions::default() };
    let still = Frame { id: frames + 2, ..Frame::default() };
    let report = scene.step(&still, &all, &Serial).expect("a legal frame").report;
    let met = report.pairs.iter().filter(|pair| pair.verdict > Some(Verdict::Separated)).count();
    times.sort();
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    println!(
        "{side} first contacts {first_contacts}: frame {:.3} ms, at most {:.3}, opening {:.1} ms, \
         {met} of {} in contact at the end, {events} events",
        ms(&times[times.len() / 2]),
        ms(&times[times.len() - 1]),
        ms(&opening),
        movers.len(),
    );
}

fn main() {
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if asked.is_empty() {
        measure(65, false);
        measure(65, true);
    }
    for word in asked {
        let (side, first_contacts) = match word.split_once(':') {
            None => (word.as_str(), false),
            Some((side, _)) => (side, true),
        };
        measure(side.parse().expect("the side of a field"), first_contacts);
    }
}
