//! The linear program in crowds of moving bodies (Akgunduz et al. 2005, §6, Figs 8-12).
//!
//! The paper compares with I-COLLIDE; here the other methods of the service take its place. Bodies
//! are hulls of random points of a sphere in place of the paper's library, 4 to 264 vertices, about
//! one unit across; boxes that do not meet are not asked about, as in the paper.

use super::bench::{Gathered, attitude, counts_and_times, take};
use super::{Experiment, Panel};
use crate::geometry::Vec3;
use crate::geometry::claim::Verdict;
use crate::geometry::pair::Pair;
use crate::geometry::polytope::Polytope;
use crate::geometry::polytope::samples::{Random, ellipsoid, polytope_of};
use crate::geometry::pose::Pose;
use crate::geometry::separation::{METHODS, Method};
use crate::geometry::witness::Witness;

/// One a figure.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "linear_program_fig8",
        source: "Linear program (Akgunduz et al. 2005), Fig. 8",
        about: "warm: two bodies of equal size approach by 0.02 and turn by up to 10 degrees a frame; the last five frames before contact",
        run: approach,
    },
    Experiment {
        name: "linear_program_fig9",
        source: "Linear program (Akgunduz et al. 2005), Fig. 9",
        about: "warm: equal bodies of 40 vertices in a cube of 6 units, free to penetrate",
        run: |samples| {
            crowds(samples, "bodies", &[10.0, 20.0, 30.0, 40.0, 50.0], |x| Crowd {
                count: x as usize,
                ..Crowd::default()
            })
        },
    },
    Experiment {
        name: "linear_program_fig10",
        source: "Linear program (Akgunduz et al. 2005), Fig. 10",
        about: "warm: ten different bodies in cubes of several sizes",
        run: |samples| {
            crowds(
                samples,
                "edge of the cube, units",
                &[4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
                |x| Crowd { cube: x, are_different: true, ..Crowd::default() },
            )
        },
    },
    Experiment {
        name: "linear_program_fig11",
        source: "Linear program (Akgunduz et al. 2005), Fig. 11",
        about: "warm: ten different bodies in a cube of 6 units at several speeds",
        run: |samples| {
            crowds(samples, "translation, units a frame", &[0.01, 0.02, 0.05, 0.1, 0.2, 0.4], |x| {
                Crowd { speed: x, are_different: true, ..Crowd::default() }
            })
        },
    },
    Experiment {
        name: "linear_program_fig12",
        source: "Linear program (Akgunduz et al. 2005), Fig. 12",
        about: "warm: ten different bodies in a cube of 6 units at several rates of turning",
        run: |samples| {
            crowds(
                samples,
                "largest turn, degrees a frame",
                &[1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 90.0],
                |x| Crowd { turn_degrees: x, are_different: true, ..Crowd::default() },
            )
        },
    },
];

/// Vertices of the bodies.
const SIZES: [u32; 8] = [4, 8, 12, 20, 40, 66, 120, 264];
const METHODS_SHOWN: [&str; 3] = ["linear_program", "hs_jump", "gjk"];

fn methods() -> Vec<&'static Method> {
    METHODS_SHOWN.iter().filter_map(|name| METHODS.iter().find(|row| row.name == *name)).collect()
}

fn body(vertices: u32) -> Polytope {
    polytope_of(&ellipsoid(vertices, Vec3::repeat(0.5), u64::from(vertices)))
}

/// A moving body.
struct Mover<'a> {
    body: &'a Polytope,
    pose: Pose,
    velocity: Vec3,
}

impl Mover<'_> {
    /// A random turn of at most so many degrees about a random axis.
    fn turn(&mut self, degrees: f64, random: &mut Random) {
        let half = 0.5 * random.between(0.0, degrees).to_radians();
        let axis = random.direction() * half.sin();
        let turn = Pose::from_quaternion(Vec3::zeros(), [half.cos(), axis.x, axis.y, axis.z]);
        let turned = turn.map_or(self.pose.rotation, |turn| turn.rotation * self.pose.rotation);
        // Orthogonal again, so that rounding does not grow over a thousand frames.
        let x: Vec3 = turned.column(0).normalize();
        let y: Vec3 = turned.column(1).into_owned();
        let y = (y - x * x.dot(&y)).normalize();
        self.pose.rotation.set_column(0, &x);
        self.pose.rotation.set_column(1, &y);
        self.pose.rotation.set_column(2, &x.cross(&y));
    }

    /// The axis-aligned box around the body, as centre and half edges.
    fn half_box(&self) -> (Vec3, Vec3) {
        let bounds = self.body.bounds();
        let centre = self.pose.apply_rounded(&((bounds.low + bounds.high) * 0.5));
        (centre, self.pose.rotation.abs() * ((bounds.high - bounds.low) * 0.5))
    }

    fn box_meets(&self, other: &Self) -> bool {
        let ((a, half_a), (b, half_b)) = (self.half_box(), other.half_box());
        ((a - b).abs() - half_a - half_b).max() <= 0.0
    }
}

fn panels(x_axis: &'static str, time: &'static str) -> Vec<Panel> {
    let steps = ("Steps of the search", "steps a query (mean)");
    counts_and_times(x_axis, &METHODS_SHOWN, steps, time)
}

/// Fig. 8.
fn approach(samples: u32) -> Vec<Panel> {
    const STEP: f64 = 0.02;
    const LAST_FRAMES: usize = 5;
    let mut gathered = Gathered::default();
    for vertices in SIZES {
        let (p, q) = (body(vertices), body(vertices));
        for seed in 0..samples.div_ceil(5) {
            for (curve, method) in methods().into_iter().enumerate() {
                let mut random = Random::new(u64::from(seed) + 1);
                let direction = random.direction();
                let mover = |body, offset: Vec3, random: &mut Random| {
                    let pose = Pose { translation: offset, ..attitude(random) };
                    Mover { body, pose, velocity: Vec3::zeros() }
                };
                let mut movers = [
                    mover(&p, Vec3::zeros(), &mut random),
                    mover(&q, direction * 1.2, &mut random),
                ];
                let (mut witness, mut taken) = (Witness::default(), Vec::new());
                loop {
                    let pair = Pair::new(&p, movers[0].pose, &q, movers[1].pose);
                    let before = witness.clone();
                    let mut is_apart = false;
                    taken.push(take(|effort| {
                        witness.clone_from(&before);
                        let proposal = method.propose(&pair, &mut witness, effort);
                        is_apart = proposal.is_ok_and(|p| p.claim() == Some(Verdict::Separated));
                    }));
                    if !is_apart {
                        break;
                    }
                    movers[1].pose.translation -= direction * STEP;
                    movers.iter_mut().for_each(|mover| mover.turn(10.0, &mut random));
                }
                for taken in taken.iter().rev().skip(1).take(LAST_FRAMES) {
                    gathered.add(0, curve, f64::from(vertices), taken.cost.steps as f64);
                    gathered.add(1, curve, f64::from(vertices), taken.microseconds);
                }
            }
        }
    }
    gathered.into_panels(panels("vertices of each body", "microseconds a query (mean)"))
}

/// Bodies that fly about in a cube.
struct Crowd {
    count: usize,
    are_different: bool,
    /// Edge of the cube.
    cube: f64,
    /// Units a frame.
    speed: f64,
    turn_degrees: f64,
}

impl Default for Crowd {
    fn default() -> Self {
        Self { count: 10, are_different: false, cube: 6.0, speed: 0.05, turn_degrees: 10.0 }
    }
}

/// Figs 9-12. The paper simulates 1500 frames; here they are fifteen times the samples.
fn crowds(samples: u32, x_axis: &'static str, at: &[f64], crowd: fn(f64) -> Crowd) -> Vec<Panel> {
    let library: Vec<Polytope> = SIZES.iter().map(|vertices| body(*vertices)).collect();
    let mut gathered = Gathered::default();
    for x in at {
        let crowd = crowd(*x);
        for (curve, method) in methods().into_iter().enumerate() {
            simulate(&crowd, &library, method, 15 * samples, |steps, microseconds| {
                gathered.add(0, curve, *x, steps);
                gathered.add(1, curve, *x, microseconds);
            });
        }
    }
    gathered.into_panels(panels(x_axis, "microseconds a frame (mean)"))
}

/// Runs the frames; tells the mean steps of a query and the time of each frame.
fn simulate(
    crowd: &Crowd,
    library: &[Polytope],
    method: &Method,
    frames: u32,
    mut tell: impl FnMut(f64, f64),
) {
    let mut random = Random::new(7);
    let half = 0.5 * crowd.cube;
    let mut movers: Vec<Mover<'_>> = (0..crowd.count)
        .map(|k| {
            let at = Vec3::from_fn(|_, _| random.between(-half, half));
            let body = if crowd.are_different { &library[k % library.len()] } else { &library[4] };
            let pose = Pose { translation: at, ..attitude(&mut random) };
            Mover { body, pose, velocity: random.direction() * crowd.speed }
        })
        .collect();
    let mut witnesses = vec![Witness::default(); crowd.count * crowd.count];
    for _ in 0..frames {
        let (mut queries, mut steps, mut microseconds) = (0u32, 0.0, 0.0);
        for j in 1..movers.len() {
            for i in (0..j).filter(|i| movers[*i].box_meets(&movers[j])) {
                let pair =
                    Pair::new(movers[i].body, movers[i].pose, movers[j].body, movers[j].pose);
                let witness = &mut witnesses[j * crowd.count + i];
                let before = witness.clone();
                let taken = take(|effort| {
                    witness.clone_from(&before);
                    // The search alone. Without a budget nothing stops it.
                    let _ = method.propose(&pair, witness, effort);
                });
                queries += 1;
                steps += taken.cost.steps as f64;
                microseconds += taken.microseconds;
            }
        }
        if queries > 0 {
            tell(steps / f64::from(queries), microseconds);
        }
        for mover in &mut movers {
            mover.pose.translation += mover.velocity;
            for axis in 0..3 {
                // Back from the walls.
                if mover.pose.translation[axis].abs() > half {
                    let inward = -mover.pose.translation[axis];
                    mover.velocity[axis] = mover.velocity[axis].copysign(inward);
                }
            }
            mover.turn(crowd.turn_degrees, &mut random);
        }
    }
}
