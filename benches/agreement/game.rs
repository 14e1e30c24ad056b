//! The game of `benches/game.py`: fast bodies, slow bodies and thin walls, by the same recipe from
//! other random numbers.

use std::f64::consts::PI;
use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::{Random, cuboid, polytope_of};
use clearance_geometry::polytope::Polytope;

use super::script::{Actor, Posed, Script, packed};

const HERTZ: f64 = 60.0;
/// Of the hall, metres.
const HALL: [f64; 3] = [240.0, 240.0, 24.0];
/// How many, the radius in metres, and the speed in metres a second.
const MOVERS: [(u32, f64, f64); 3] = [(400, 0.1, 200.0), (400, 0.2, 60.0), (1_200, 1.0, 6.0)];
/// How many kinds of them, from the first on, are fast.
const FAST_KINDS: usize = 2;
const FIXED: u32 = 500;
/// Hulls of each kind.
const HULLS: usize = 20;

/// Which first contacts are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    None,
    /// Those of the fast bodies.
    Chosen,
    All,
}

/// A body that flies.
struct Mover {
    place: Vec3,
    velocity: Vec3,
    turn: [f64; 4],
    spin: [f64; 4],
}

impl Mover {
    fn go_on(&mut self, hall: &Vec3) {
        self.place += self.velocity / HERTZ;
        for k in 0..3 {
            let back = (self.place[k] < 1.0 && self.velocity[k] < 0.0)
                || (self.place[k] > hall[k] - 1.0 && self.velocity[k] > 0.0);
            if back {
                self.velocity[k] = -self.velocity[k];
            }
        }
        let [w, x, y, z] = self.turn;
        let [a, b, c, d] = self.spin;
        self.turn = unit([
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]);
    }
}

fn unit(turn: [f64; 4]) -> [f64; 4] {
    let norm = turn.iter().map(|c| c * c).sum::<f64>().sqrt();
    turn.map(|c| c / norm)
}

/// The game with this share of its bodies, in a hall as much smaller.
pub(crate) fn game(name: &str, share: f64, asking: Asking, frames: u64) -> Script {
    let random = &mut Random::new(11);
    let hall = Vec3::from(HALL) * share.cbrt();
    let of = |count: u32| (f64::from(count) * share).ceil() as usize;
    let mut shapes: Vec<Arc<Polytope>> = Vec::new();
    for (_, radius, _) in MOVERS {
        shapes.extend((0..HULLS).map(|_| hull(radius, random)));
    }
    let walls = [cuboid(8.0, 0.1, 4.0), cuboid(3.0, 3.0, 4.0)];
    shapes.extend(walls.map(|corners| Arc::new(polytope_of(&corners))));

    let (mut actors, mut movers) = (Vec::new(), Vec::new());
    for (kind, (count, _, speed)) in MOVERS.into_iter().enumerate() {
        for index in 0..of(count) {
            let continuous = asking == Asking::Chosen && kind < FAST_KINDS;
            actors.push(Actor { shape: kind * HULLS + index % HULLS, fixed: false, continuous });
            let slower = if kind < FAST_KINDS { 1.0 } else { random.between(0.1, 1.0) };
            movers.push(mover(&hall, speed * slower, random));
        }
    }
    let walls: Vec<Posed> = (0..of(FIXED))
        .map(|index| {
            actors.push(Actor { shape: 3 * HULLS + index % 2, fixed: true, continuous: false });
            let inset = Vec3::new(4.0, 4.0, 2.0);
            let place = Vec3::from_fn(|k, _| random.between(inset[k], hall[k] - inset[k]));
            let half = random.between(0.0, PI) / 2.0;
            Posed::turned(place.into(), [half.cos(), 0.0, 0.0, half.sin()])
        })
        .collect();

    let posed = |movers: &[Mover]| -> Vec<Posed> {
        movers.iter().map(|mover| Posed::turned(mover.place.into(), mover.turn)).collect()
    };
    let mut all = vec![packed((1..).zip(posed(&movers).into_iter().chain(walls)))];
    for _ in 0..frames {
        movers.iter_mut().for_each(|mover| mover.go_on(&hall));
        all.push(packed((1..).zip(posed(&movers))));
    }
    let first_contacts = asking == Asking::All;
    Script { name: name.to_owned(), shapes, actors, frames: all, first_contacts }
}

fn hull(radius: f64, random: &mut Random) -> Arc<Polytope> {
    let count = 30 + random.below(121);
    let scale = Vec3::from_fn(|_, _| random.between(0.6, 1.0)) * radius;
    let points: Vec<Vec3> = (0..count).map(|_| random.direction().component_mul(&scale)).collect();
    Arc::new(polytope_of(&points))
}

/// Anywhere in the hall; it turns by half a turn a second.
fn mover(hall: &Vec3, speed: f64, random: &mut Random) -> Mover {
    let place = Vec3::from_fn(|k, _| random.between(1.0, hall[k] - 1.0));
    let velocity = random.direction() * speed;
    let turn = unit(std::array::from_fn(|_| random.between(-1.0, 1.0)));
    let (sin, cos) = (PI / 2.0 / HERTZ).sin_cos();
    let axis = random.direction() * sin;
    Mover { place, velocity, turn, spin: [cos, axis.x, axis.y, axis.z] }
}
