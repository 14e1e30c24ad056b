//! Case files of other bodies than the papers', for `benches/papers.rs` and the harnesses of other
//! libraries: unequal pairs, and sixty-four different bodies in turn.
//!
//! ```text
//! cargo bench --bench cases -- FOLDER
//! ```
//!
//! writes `FOLDER/unequal/cases/W.bin` and `FOLDER/turn/cases/W.bin` for the workloads w1, w3, w5
//! and w6, each with a `W.tsv` that labels its sequences: number, workload, shape, vertices, two
//! keys. In `turn` a label stands for [`IN_TURN`] sequences, whose questions are to be asked in
//! turn (set `IN_TURN=64`), so that each question finds the caches full of other bodies.
//!
//! As in the papers' experiments, the larger body of an unequal pair has the radius 1 in w3 and 200
//! elsewhere, and offsets, gaps, distances and spins are theirs. Without arguments it writes
//! nothing.

use std::io::Write as _;
use std::path::Path;

use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, penetration};

/// Different bodies, and pairs of them, that are asked about in turn.
const IN_TURN: usize = 64;
/// Radius of the larger body; w3 has 1.
const RADIUS: f64 = 200.0;
/// W1: how far Q stands from where it touches, along x.
const OFFSETS: [f64; 12] = [-40.0, -20.0, -10.0, -4.0, -1.0, -0.2, 0.2, 1.0, 4.0, 10.0, 20.0, 40.0];
/// W3: degrees a frame, and the least gap of an orbit.
const OMEGAS: [u32; 7] = [1, 5, 10, 20, 30, 60, 90];
const GAPS: [(&str, f64); 2] = [("far", 0.2), ("close", 0.02)];
/// W5 and W6: distance at the start along x; W6: radians over the step.
const CAST_DISTANCES: [f64; 4] = [20.0, 50.0, 100.0, 200.0];
const SPIN_DISTANCES: [f64; 2] = [20.0, 100.0];
const SPINS: [f64; 5] = [0.1, 0.5, 1.0, 3.0, 6.0];

type Quaternion = [f64; 4];
/// Position, then quaternion (w, x, y, z).
type Placement = [f64; 7];

/// A case file in the making.
#[derive(Default)]
struct Cases {
    bodies: Vec<Polytope>,
    sequences: Vec<(usize, usize, Vec<Placement>)>,
    labels: Vec<String>,
}

impl Cases {
    fn label(&mut self, workload: &str, shape: &str, vertices: u32, keys: [&str; 2]) {
        let number = self.labels.len();
        let [first, second] = keys;
        self.labels.push(format!("{number}\t{workload}\t{shape}\t{vertices}\t{first}\t{second}\n"));
    }

    /// Adds both, the larger scaled to this radius; each around its middle.
    fn add_pair(&mut self, [p, q]: &[Vec<Vec3>; 2], radius: f64) -> (usize, usize) {
        let of = |points: &[Vec3]| *samples::polytope_of(points).bounds();
        let scale = radius / of(p).radius.max(of(q).radius);
        for points in [p, q] {
            let middle = of(points).centre;
            let placed: Vec<Vec3> = points.iter().map(|v| (v - middle) * scale).collect();
            self.bodies.push(samples::polytope_of(&placed));
        }
        (self.bodies.len() - 2, self.bodies.len() - 1)
    }

    fn write(&self, folder: &Path, workload: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(folder.join("results"))?;
        std::fs::create_dir_all(folder.join("cases"))?;
        let count = |n: usize| u32::try_from(n).expect("few").to_le_bytes();
        let mut bytes = b"CQC1".to_vec();
        bytes.extend(count(self.bodies.len()));
        for body in &self.bodies {
            bytes.extend(count(body.vertices().len()));
            bytes.extend(
                body.vertices().iter().flat_map(|v| v.iter()).flat_map(|x| x.to_le_bytes()),
            );
            let triangles: Vec<[u32; 3]> = body
                .facets()
                .rows()
                .flat_map(|loop_| loop_[1..].windows(2).map(|side| [loop_[0], side[0], side[1]]))
                .collect();
            bytes.extend(count(triangles.len()));
            bytes.extend(triangles.iter().flatten().flat_map(|corner| corner.to_le_bytes()));
        }
        bytes.extend(count(self.sequences.len()));
        for (p, q, placements) in &self.sequences {
            bytes.extend([*p, *q, placements.len() / 2].into_iter().flat_map(count));
            bytes.extend(placements.iter().flatten().flat_map(|x| x.to_le_bytes()));
        }
        let cases = folder.join("cases");
        std::fs::write(cases.join(format!("{workload}.bin")), bytes)?;
        let mut labels = std::fs::File::create(cases.join(format!("{workload}.tsv")))?;
        self.labels.iter().try_for_each(|label| labels.write_all(label.as_bytes()))
    }
}

fn quaternion(random: &mut Random) -> Quaternion {
    loop {
        let q: Quaternion = std::array::from_fn(|_| random.between(-1.0, 1.0));
        let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (0.1..=1.0).contains(&norm) {
            return q.map(|x| x / norm);
        }
    }
}

/// By `angle` about a unit axis.
fn turn(axis: &Vec3, angle: f64) -> Quaternion {
    let (sine, cosine) = (angle / 2.0).sin_cos();
    [cosine, sine * axis.x, sine * axis.y, sine * axis.z]
}

/// First `q`, then `p`.
fn product(p: &Quaternion, q: &Quaternion) -> Quaternion {
    let [pv, qv] = [p, q].map(|x| Vec3::new(x[1], x[2], x[3]));
    let v = qv * p[0] + pv * q[0] + pv.cross(&qv);
    [p[0] * q[0] - pv.dot(&qv), v.x, v.y, v.z]
}

fn place(at: &Vec3, [w, x, y, z]: Quaternion) -> Placement {
    [at.x, at.y, at.z, w, x, y, z]
}

fn pose([x, y, z, qw, qx, qy, qz]: Placement) -> Pose {
    Pose::from_quaternion(Vec3::new(x, y, z), [qw, qx, qy, qz]).expect("a legal pose")
}

/// How far Q's middle is from P's along x where they touch.
fn touching(p: &Polytope, at_p: Quaternion, q: &Polytope, at_q: Quaternion) -> f64 {
    let apart = 3.0 * RADIUS;
    let place_q = pose(place(&(Vec3::x() * apart), at_q));
    let pair = Pair::new(p, pose(place(&Vec3::zeros(), at_p)), q, place_q);
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let range = penetration::along(&pair, &Vec3::x(), &mut witness, &mut effort);
    apart - range.expect("no budget").span.expect("the line joins their middles").enter[0]
}

/// W1: P upright, Q turned at random, at an offset along x from touching.
fn offset(p: &Polytope, q: &Polytope, offset: f64, random: &mut Random) -> [Placement; 2] {
    let (upright, turned) = ([1.0, 0.0, 0.0, 0.0], quaternion(random));
    let x = touching(p, upright, q, turned) + offset;
    [place(&Vec3::zeros(), upright), place(&(Vec3::x() * x), turned)]
}

/// W3: ten orbits of a hundred frames.
fn orbits(radius: f64, degrees: u32, seed: u64) -> Vec<Placement> {
    let mut random = Random::new(seed);
    let mut placements = Vec::new();
    for _ in 0..10 {
        let axis = random.direction();
        for frame in 1..=100 {
            let angle = f64::from(frame * degrees).to_radians();
            let (sine, cosine) = angle.sin_cos();
            placements.push(place(&Vec3::zeros(), [1.0, 0.0, 0.0, 0.0]));
            placements.push(place(&(Vec3::new(cosine, sine, cosine) * radius), turn(&axis, angle)));
        }
    }
    placements
}

/// The radius at which all orbits keep this gap.
fn orbit_radius(p: &Polytope, q: &Polytope, gap: f64) -> f64 {
    let keeps = |radius: f64| {
        OMEGAS.iter().all(|&degrees| {
            orbits(radius, degrees, u64::from(degrees)).chunks_exact(2).all(|placed| {
                let pair = Pair::new(p, pose(placed[0]), q, pose(placed[1]));
                let stops = Stops { above: Some(gap), ..Stops::default() };
                let mut witness = Witness::default();
                let measured =
                    distance::measure(&pair, stops, &mut witness, &mut Effort::unlimited());
                measured.expect("no budget").lower >= gap
            })
        })
    };
    let (mut low, mut high) = (0.0, 2.5);
    for _ in 0..12 {
        let middle = f64::midpoint(low, high);
        if keeps(middle) { high = middle } else { low = middle }
    }
    high
}

/// W5 and W6: both turned at random, so far apart along x, on a course that misses as often as not;
/// with a spin the placements after the step and the rates besides.
fn cast(
    p: &Polytope,
    q: &Polytope,
    distance: f64,
    spin: Option<f64>,
    random: &mut Random,
) -> Vec<Placement> {
    let turned = [quaternion(random), quaternion(random)];
    let touching = touching(p, turned[0], q, turned[1]);
    let apart = touching + distance;
    let mut vector = || Vec3::from_fn(|_, _| random.between(-100.0, 100.0));
    let (at_p, velocity_p) = (vector(), vector());
    let aside = random.between(0.0, 1.8) * (touching / apart).asin();
    let around = random.between(0.0, std::f64::consts::TAU);
    let course = Vec3::new(-aside.cos(), aside.sin() * around.cos(), aside.sin() * around.sin());
    let at = [at_p, at_p + Vec3::x() * apart];
    let velocity = [velocity_p, velocity_p + course * (1.3 * apart)];
    let axes = [random.direction(), random.direction()];
    let angle = spin.unwrap_or(0.0);
    let end = |k: usize| place(&(at[k] + velocity[k]), product(&turn(&axes[k], angle), &turned[k]));
    let rate = |k: usize| {
        let w = axes[k] * angle;
        place(&velocity[k], [0.0, w.x, w.y, w.z])
    };
    let mut placements = vec![place(&at[0], turned[0]), place(&at[1], turned[1]), end(0), end(1)];
    if spin.is_some() {
        placements.extend([rate(0), rate(1)]);
    }
    placements
}

/// A convex mesh of the Panda: the corners of a binary STL's triangles.
fn link(name: &str) -> Vec<Vec3> {
    let file = format!("{}/data/panda/collision/{name}.stl", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(file).expect("the project carries the robot");
    let number = |at: &[u8]| f64::from(f32::from_le_bytes(at.try_into().expect("four bytes")));
    let triangles = bytes[84..].chunks_exact(50);
    triangles
        .flat_map(|triangle| triangle[12..48].chunks_exact(12))
        .map(|v| Vec3::new(number(&v[0..4]), number(&v[4..8]), number(&v[8..12])))
        .collect()
}

fn unequal_pairs() -> Vec<(&'static str, [Vec<Vec3>; 2])> {
    let pebble = samples::ellipsoid(200, Vec3::new(0.1, 0.06, 0.05), 1);
    vec![
        ("needle-ball", [samples::needle(100, 2.0, 0.02), samples::sphere(400, 1.0)]),
        ("box-cone", [samples::cuboid(1.0, 0.6, 0.3), samples::cone(32, 0.5, 1.2)]),
        ("boulder-pebble", [samples::sphere(2000, 1.0), pebble]),
        ("panda-link1-link5", [link("link1"), link("link5")]),
        ("panda-link4-hand", [link("link4"), link("hand")]),
        ("panda-link0-finger", [link("link0"), link("finger")]),
    ]
}

fn write_unequal(folder: &Path) -> std::io::Result<()> {
    let [mut w1, mut w3, mut w5, mut w6] = std::array::from_fn(|_| Cases::default());
    for (seed, (name, points)) in (1..).zip(unequal_pairs()) {
        let mut random = Random::new(seed);
        let (p, q) = w1.add_pair(&points, RADIUS);
        let bodies = [w1.bodies[p].clone(), w1.bodies[q].clone()];
        let [body_p, body_q] = &bodies;
        let vertices = body_p.vertex_count().max(body_q.vertex_count());
        for away in OFFSETS {
            let frames = (0..500).flat_map(|_| offset(body_p, body_q, away, &mut random)).collect();
            w1.sequences.push((p, q, frames));
            w1.label("w1", name, vertices, [&away.to_string(), "-"]);
        }
        for other in [&mut w5, &mut w6] {
            other.bodies.extend(bodies.clone());
        }
        for far in CAST_DISTANCES {
            let ask = |_| cast(body_p, body_q, far, None, &mut random);
            let frames = (0..100).flat_map(ask).collect();
            w5.sequences.push((p, q, frames));
            w5.label("w5", name, vertices, [&far.to_string(), "-"]);
        }
        for far in SPIN_DISTANCES {
            for spin in SPINS {
                let ask = |_| cast(body_p, body_q, far, Some(spin), &mut random);
                let frames = (0..30).flat_map(ask).collect();
                w6.sequences.push((p, q, frames));
                w6.label("w6", name, vertices, [&far.to_string(), &spin.to_string()]);
            }
        }
        let (p, q) = w3.add_pair(&points, 1.0);
        for (variant, gap) in GAPS {
            let radius = orbit_radius(&w3.bodies[p], &w3.bodies[q], gap);
            for degrees in OMEGAS {
                w3.sequences.push((p, q, orbits(radius, degrees, u64::from(degrees))));
                w3.label("w3", name, vertices, [&degrees.to_string(), variant]);
            }
        }
    }
    w1.write(folder, "w1")?;
    w3.write(folder, "w3")?;
    w5.write(folder, "w5")?;
    w6.write(folder, "w6")
}

fn write_in_turn(folder: &Path) -> std::io::Result<()> {
    let [mut w1, mut w3, mut w5, mut w6] = std::array::from_fn(|_| Cases::default());
    for vertices in [100, 400, 2000] {
        let mut random = Random::new(u64::from(vertices));
        let first = w1.bodies.len();
        let bodies: Vec<Polytope> = (0..IN_TURN as u64)
            .map(|seed| {
                let axes = Vec3::new(1.0, random.between(0.1, 1.0), random.between(0.1, 1.0));
                samples::polytope_of(&samples::ellipsoid(vertices, axes * RADIUS, seed))
            })
            .collect();
        for cases in [&mut w1, &mut w3, &mut w5, &mut w6] {
            cases.bodies.extend(bodies.clone());
        }
        let shape = format!("{IN_TURN} of {vertices}");
        // Each body is P once and Q once.
        let add = |cases: &mut Cases,
                   asks: usize,
                   ask: &mut dyn FnMut(&Polytope, &Polytope) -> Vec<Placement>| {
            for i in 0..IN_TURN {
                let j = (29 * i + 7) % IN_TURN;
                let frames = (0..asks).flat_map(|_| ask(&bodies[i], &bodies[j])).collect();
                cases.sequences.push((first + i, first + j, frames));
            }
        };
        for away in OFFSETS {
            let mut ask = |p: &Polytope, q: &Polytope| offset(p, q, away, &mut random).to_vec();
            add(&mut w1, 10, &mut ask);
            w1.label("w1", &shape, vertices, [&away.to_string(), "-"]);
            if away > 0.0 {
                add(&mut w3, 10, &mut ask);
                w3.label("w3", &shape, vertices, [&away.to_string(), "-"]);
            }
        }
        for far in CAST_DISTANCES {
            add(&mut w5, 10, &mut |p, q| cast(p, q, far, None, &mut random));
            w5.label("w5", &shape, vertices, [&far.to_string(), "-"]);
        }
        for spin in SPINS {
            add(&mut w6, 5, &mut |p, q| cast(p, q, SPIN_DISTANCES[1], Some(spin), &mut random));
            w6.label("w6", &shape, vertices, [&SPIN_DISTANCES[1].to_string(), &spin.to_string()]);
        }
    }
    w1.write(folder, "w1")?;
    w3.write(folder, "w3")?;
    w5.write(folder, "w5")?;
    w6.write(folder, "w6")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("usage: cases FOLDER");
        return;
    };
    let folder = Path::new(folder);
    write_unequal(&folder.join("unequal")).expect("cases can be written");
    write_in_turn(&folder.join("turn")).expect("cases can be written");
}
