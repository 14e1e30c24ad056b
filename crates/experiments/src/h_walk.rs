//! H-Walk against walking on the surface alone (Guibas, Hsu, Zhang 1999, §4.2, Figs 5-7, 9, 10).
//!
//! The paper's V-Clip is `surface_walk` here, its "h-walk k" `h_walk_k`; `h_walk` itself adapts its
//! start to the coherence it sees, which the paper proposes (§4.3) and does not plot. The paper
//! does not say its A; its spheres are tessellations unknown to us, ours a spiral of points. It
//! does not say how long the flight of Figs 9 and 10 is, either.

use std::time::Instant;

use super::bench::{Gathered, curves};
use super::{Curve, Experiment, Panel, Rerun};
use clearance_geometry::Vec3;
use clearance_geometry::distance::h_walk::orbit;
use clearance_geometry::distance::{DistanceMethod, METHODS, Stops, measure_by};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, ellipsoid, polytope_of, sphere};
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;

/// One for each figure.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "h_walk_fig5",
        source: "H-Walk (Guibas, Hsu, Zhang 1999), Fig. 5",
        about: "warm: two spheres, one in orbit about the other at several angular steps",
        run: spheres,
    },
    Experiment {
        name: "h_walk_fig6",
        source: "H-Walk (Guibas, Hsu, Zhang 1999), Fig. 6",
        about: "warm: two ellipsoids in orbit, 1 : 0.1 : 0.1 and 1 : 0.04 : 0.04",
        run: |rerun| elongated(rerun, &[RADIUS], &orbit::DEGREES),
    },
    Experiment {
        name: "h_walk_fig7",
        source: "H-Walk (Guibas, Hsu, Zhang 1999), Fig. 7",
        about: "warm: two ellipsoids in close proximity, at angular steps that divide no turn",
        run: |rerun| elongated(rerun, &RADII_CLOSE, &uneven_degrees()),
    },
    Experiment {
        name: "h_walk_fig9",
        source: "H-Walk (Guibas, Hsu, Zhang 1999), Fig. 9",
        about: "warm: satellites among asteroids, every pair in every frame",
        run: |rerun| flight(rerun).0,
    },
    Experiment {
        name: "h_walk_fig10",
        source: "H-Walk (Guibas, Hsu, Zhang 1999), Fig. 10",
        about: "warm: mean and standard deviation over the frames of that flight",
        run: |rerun| flight(rerun).1,
    },
];

/// The procedure's A for bodies of radius 1.
const RADIUS: f64 = 2.5;
/// Those of Fig. 7. The fixed body lies along x and the orbit never does, so that it is only below
/// 1.2 that bodies come close, and below 1 that some meet; those poses are left out.
const RADII_CLOSE: [f64; 2] = [1.2, 0.4];

/// Angular steps up to 90 degrees of which none divides a turn: after one that does the same few
/// poses come again and again.
fn uneven_degrees() -> Vec<f64> {
    (1..=65).map(|k| 1.37 * f64::from(k)).collect()
}

/// Frames of the flight.
const FRAMES: u32 = 300;

/// Surface walking, every start, and the adaptive one; without the starts that are too deep.
fn methods(height: usize) -> Vec<&'static DistanceMethod> {
    let named = |name: &str| METHODS.iter().find(|row| row.name == name);
    let starts = METHODS.iter().filter(|row| {
        row.name.strip_prefix("h_walk_").is_some_and(|layer| {
            layer.parse::<usize>().map_or(layer == "innermost", |layer| layer < height)
        })
    });
    named("surface_walk").into_iter().chain(starts).chain(named("h_walk")).collect()
}

fn spheres(rerun: &mut Rerun) -> Vec<Panel> {
    const SIZES: [u32; 6] = [8, 400, 800, 1600, 3200, 8000];
    rerun.begin(SIZES.len() * orbit::DEGREES.len());
    let panel = |count| {
        let body = polytope_of(&sphere(count, 1.0));
        orbits(rerun, &body, RADIUS, &orbit::DEGREES, format!("{count} vertices"))
    };
    SIZES.into_iter().map(panel).collect()
}

fn elongated(rerun: &mut Rerun, radii: &[f64], degrees: &[f64]) -> Vec<Panel> {
    const SHAPES: [(f64, u32); 2] = [(0.1, 240), (0.04, 600)];
    rerun.begin(SHAPES.len() * radii.len() * degrees.len());
    let mut panels = Vec::new();
    for radius in radii {
        for (minor, count) in SHAPES {
            let body = polytope_of(&ellipsoid(count, Vec3::new(1.0, minor, minor), 1));
            let title = format!("1 : {minor} : {minor} of {count} vertices; A = {radius}");
            panels.push(orbits(rerun, &body, *radius, degrees, title));
        }
    }
    panels
}

/// Mean steps of a question over Procedure 1; poses in contact are not asked.
fn orbits(
    rerun: &mut Rerun,
    body: &Polytope,
    radius: f64,
    degrees: &[f64],
    title: String,
) -> Panel {
    let methods = methods(body.hierarchy().height());
    let names: Vec<&str> = methods.iter().map(|row| row.name).collect();
    let runs = rerun.share_of(orbit::RUNS);
    let mut gathered = Gathered::default();
    let (mut least, mut met, mut asked) = (f64::INFINITY, 0, 0);
    for &degrees in degrees {
        for run in orbit::poses(degrees, radius, runs, 1) {
            let mut pairs: Vec<Pair<'_>> = Vec::new();
            for pose in run {
                let pair = Pair::new(body, Pose::identity(), body, pose);
                let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
                // Without a budget nothing stops it.
                let Ok(found) = measure_by(&METHODS[0], &pair, Stops::default(), witness, effort)
                else {
                    continue;
                };
                asked += 1;
                if found.upper > 0.0 {
                    least = least.min(found.lower);
                    pairs.push(pair);
                } else {
                    met += 1;
                }
            }
            for (curve, method) in methods.iter().enumerate() {
                let mut witness = Witness::default();
                for pair in &pairs {
                    gathered.add(0, curve, degrees, steps(method, pair, &mut witness));
                }
            }
        }
        rerun.advance();
    }
    let contacts = 100.0 * f64::from(met) / f64::from(asked.max(1));
    rerun.note(format!("{title}: distances from {least:.2}, {contacts:.1} % in contact"));
    let panel = Panel {
        title,
        x_axis: "angular step, degrees",
        y_axis: "steps a query (mean)",
        curves: curves(&names),
        ..Panel::default()
    };
    gathered.into_panels(vec![panel]).remove(0)
}

/// The paper's steps of a question. Each checks whether a pair of features is the closest one of
/// its layers (§4.1; §2.2 for the surface), and leaves it for a neighbour or another layer if not:
/// they are our steps, which leave one, and the check of the last pair.
fn steps(method: &DistanceMethod, pair: &Pair<'_>, witness: &mut Witness) -> f64 {
    let mut effort = Effort::unlimited();
    // Without a budget nothing stops it.
    let _ = measure_by(method, pair, Stops::default(), witness, &mut effort);
    effort.cost.steps as f64 + 1.0
}

/// A body on its way through the box.
struct Flyer {
    body: usize,
    start: Vec3,
    velocity: Vec3,
    axis: Vec3,
    /// Radians a frame.
    spin: f64,
}

/// Half of the box's edge, and lengths per frame: everything moves at about the same speed.
const BOX: f64 = 10.0;
const SPEED: f64 = 0.4;
const SATELLITES: usize = 2;
const ASTEROIDS: usize = 6;
/// Passes over the flight; for each frame the fastest counts, so that interruptions do not.
const PASSES: u32 = 3;

impl Flyer {
    /// Flies straight and is reflected by the walls.
    fn pose(&self, frame: u32) -> Pose {
        let time = f64::from(frame);
        let at = (self.start + self.velocity * time).map(|x| {
            let phase = (x + BOX).rem_euclid(4.0 * BOX);
            if phase < 2.0 * BOX { phase - BOX } else { 3.0 * BOX - phase }
        });
        let (sin, cos) = (self.spin * time / 2.0).sin_cos();
        let v = self.axis * sin;
        Pose::from_quaternion(at, [cos, v.x, v.y, v.z]).unwrap_or_else(|_| Pose::identity())
    }
}

/// Asteroids are lumps of 400 to 1800 vertices, satellites long and thin ones of 300.
fn crowd() -> (Vec<Polytope>, Vec<Flyer>) {
    let mut random = Random::new(3);
    let mut bodies = Vec::new();
    let mut flyers = Vec::new();
    for number in 0..SATELLITES + ASTEROIDS {
        let (count, axes) = if number < SATELLITES {
            (300, Vec3::new(3.0, 0.3, 0.3))
        } else {
            let axes = Vec3::from_fn(|_, _| random.between(0.7, 1.6));
            (400 + 200 * (random.below(8) as u32), axes)
        };
        bodies.push(polytope_of(&ellipsoid(count, axes, number as u64)));
        flyers.push(Flyer {
            body: number,
            start: Vec3::from_fn(|_, _| random.between(-BOX, BOX)),
            velocity: random.direction() * (SPEED * random.between(0.8, 1.2)),
            axis: random.direction(),
            spin: random.between(0.1, 1.0),
        });
    }
    (bodies, flyers)
}

/// Figures 9 (frame by frame) and 10 (mean and deviation by start) of one flight.
fn flight(rerun: &mut Rerun) -> (Vec<Panel>, Vec<Panel>) {
    let (bodies, flyers) = crowd();
    let height = bodies.iter().map(|body| body.hierarchy().height()).max().unwrap_or(1);
    let methods = methods(height);
    let names: Vec<&str> = methods.iter().map(|row| row.name).collect();
    let panel = |title: &str, y_axis| Panel {
        title: title.to_owned(),
        x_axis: "frame",
        y_axis,
        curves: curves(&names),
        ..Panel::default()
    };
    let mut by_frame = vec![
        panel("Steps", "steps a query (mean of all pairs)"),
        panel("Time on this machine", "microseconds a query (mean of all pairs)"),
    ];
    rerun.begin(methods.len());
    for (curve, method) in methods.iter().enumerate() {
        let [counts, times] = fly(method, &bodies, &flyers, rerun.share_of(FRAMES));
        rerun.advance();
        by_frame[0].curves[curve].points = counts;
        by_frame[1].curves[curve].points = times;
    }
    let by_start = by_frame.iter().map(|panel| deviations(panel, height)).collect();
    (by_frame, by_start)
}

/// Steps and microseconds a query, frame by frame.
fn fly(
    method: &DistanceMethod,
    bodies: &[Polytope],
    flyers: &[Flyer],
    frames: u32,
) -> [Vec<(f64, f64)>; 2] {
    let mut best: Vec<[f64; 2]> = vec![[0.0, f64::INFINITY]; frames as usize];
    let pairs = flyers.len() * (flyers.len() - 1) / 2;
    for _ in 0..PASSES {
        let mut witnesses = vec![Witness::default(); pairs];
        for (frame, [counted, least]) in (0..frames).zip(&mut best) {
            let poses: Vec<Pose> = flyers.iter().map(|flyer| flyer.pose(frame)).collect();
            let (mut total, mut at) = (0.0, 0);
            let start = Instant::now();
            for q in 1..flyers.len() {
                for p in 0..q {
                    let [body_p, body_q] = [p, q].map(|k| &bodies[flyers[k].body]);
                    let pair = Pair::new(body_p, poses[p], body_q, poses[q]);
                    total += steps(method, &pair, &mut witnesses[at]);
                    at += 1;
                }
            }
            let microseconds = start.elapsed().as_secs_f64() * 1e6;
            *counted = total / pairs as f64;
            *least = least.min(microseconds / pairs as f64);
        }
    }
    let column = |k: usize| (0u32..).zip(&best).map(|(x, row)| (f64::from(x), row[k])).collect();
    [column(0), column(1)]
}

/// Mean and standard deviation of each curve but for the first frame, which is cold; those that
/// start from one layer at that layer, the others level across.
fn deviations(panel: &Panel, height: usize) -> Panel {
    let innermost = height as f64 - 1.0;
    let layer = |name: &str| -> Option<f64> {
        let layer = name.strip_prefix("h_walk_")?;
        Some(layer.parse().unwrap_or(innermost))
    };
    let mut mean_by_layer = Curve { name: "h_walk_k: mean".to_owned(), points: Vec::new() };
    let mut deviation_by_layer =
        Curve { name: "h_walk_k: deviation".to_owned(), points: Vec::new() };
    let mut level = Vec::new();
    for curve in &panel.curves {
        let values: Vec<f64> = curve.points.iter().skip(1).map(|point| point.1).collect();
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
        if let Some(layer) = layer(&curve.name) {
            mean_by_layer.points.push((layer, mean));
            deviation_by_layer.points.push((layer, variance.sqrt()));
        } else {
            let across = |y: f64| vec![(0.0, y), (innermost, y)];
            let name = |what: &str| format!("{}: {what}", curve.name);
            level.push(Curve { name: name("mean"), points: across(mean) });
            level.push(Curve { name: name("deviation"), points: across(variance.sqrt()) });
        }
    }
    let curves = [mean_by_layer, deviation_by_layer].into_iter().chain(level).collect();
    Panel { title: panel.title.clone(), x_axis: "start layer", curves, ..panel.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_too_simple_for_a_start_layer_has_no_curve_of_it() {
        let names = |height| methods(height).iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(3), ["surface_walk", "h_walk_0", "h_walk_innermost", "h_walk"]);
        assert_eq!(names(20).len(), 7);
    }

    #[test]
    fn every_angular_step_has_a_point_on_every_curve() {
        let body = polytope_of(&sphere(30, 1.0));
        let panel = orbits(&mut Rerun::quiet(1), &body, RADIUS, &orbit::DEGREES, String::new());
        for curve in &panel.curves {
            assert_eq!(curve.points.len(), orbit::DEGREES.len(), "{}", curve.name);
            assert!(curve.points.iter().all(|point| point.1 >= 1.0), "{}", curve.name);
        }
    }

    #[test]
    fn mean_and_deviation_stand_at_the_layer_of_the_start() {
        let curve = |name: &str, values: [f64; 4]| Curve {
            name: name.to_owned(),
            points: (0u32..).map(f64::from).zip(values).collect(),
        };
        let curves = vec![
            curve("surface_walk", [99.0, 1.0, 2.0, 3.0]),
            curve("h_walk_4", [99.0, 5.0, 5.0, 5.0]),
            curve("h_walk_innermost", [99.0, 6.0, 8.0, 10.0]),
        ];
        let panel = deviations(&Panel { curves, ..Panel::default() }, 10);
        assert_eq!(panel.curves[0].points, [(4.0, 5.0), (9.0, 8.0)]);
        assert_eq!(panel.curves[1].points[0], (4.0, 0.0));
        assert_eq!(panel.curves[2].points, [(0.0, 2.0), (9.0, 2.0)]);
    }
}
