//! Growth of the prisms' hierarchy and queries with the size of the bodies (Joseph, Plantinga 1987,
//! §2 and §3).
//!
//! The text has no experiments. It proves that the hierarchy of a prism has linear size, says that
//! it is built in linear time and that so is the whole question of two convex bodies (§2), and
//! proves that one of general polyhedra is quadratic (§3). For §2 two balls of equal size, one of
//! them flying past or into the other; for §3 two balls full of dents.

use std::time::Instant;

use super::bench::{Gathered, attitude, counts_and_times, curves, take};
use super::{Curve, Experiment, Panel, Rerun};
use clearance_geometry::Vec3;
use clearance_geometry::contact_time::polyhedra::Moving;
use clearance_geometry::contact_time::prism::work_by_layer;
use clearance_geometry::contact_time::{METHODS, Travel, first_contact_by, polyhedra};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, polytope_of, sphere};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::polyhedron::Polyhedron;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;

/// Building, asking, asking layer by layer, and asking polyhedra that are not convex.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "prism_build",
        source: "Space-time prisms (Joseph, Plantinga 1987), §2: building",
        about: "the layers of the hierarchy of a ball, over which the prisms stand",
        run: |rerun| build(rerun, &SIZES),
    },
    Experiment {
        name: "prism_query",
        source: "Space-time prisms (Joseph, Plantinga 1987), §2: a query",
        about: "cold: two balls of equal size, one flying past or into the other",
        run: |rerun| query(rerun, &SIZES),
    },
    Experiment {
        name: "prism_layers",
        source: "Space-time prisms (Joseph, Plantinga 1987), §2: Algorithm 1, layer by layer",
        about: "cold: two balls of equal size, one flying past or into the other",
        run: |rerun| by_layer(rerun, &LAYER_SIZES),
    },
    Experiment {
        name: "prism_faces",
        source: "Space-time prisms (Joseph, Plantinga 1987), §3: general polyhedra",
        about: "cold: two equal balls with dents, one flying past or into the other",
        run: |rerun| by_faces(rerun, &DENTED_SIZES),
    },
];

const SIZES: [u32; 9] = [32, 100, 320, 1000, 2000, 3200, 10_000, 20_000, 32_000];
const LAYER_SIZES: [u32; 8] = [50, 150, 500, 1500, 5000, 15_000, 50_000, 100_000];
/// Vertices of the polyhedra; their faces are twice as many, less four.
const DENTED_SIZES: [u32; 7] = [16, 50, 160, 500, 1600, 5000, 16_000];
const X_AXIS: &str = "vertices of each body";
/// Between the balls' centres at the start, how far one flies towards the other, and at most aside:
/// a flight of more than 3.5 aside passes. In radii.
const BETWEEN: f64 = 4.0;
const FLIGHT: f64 = 6.0;
const ASIDE_MAX: f64 = 7.0;
/// At most between the centres of balls that overlap at the start; those of fifty vertices are not
/// quite round.
const OVERLAPPING: f64 = 1.9;
/// Times that building is timed, and queries of each size: all of them for the layers, whose worst
/// case is wanted.
const BUILDS: u32 = 3;
const QUERIES: u32 = 1000;
const LAYER_QUERIES: u32 = 10_000;
const DENTED_QUERIES: u32 = 200;
/// Least radius of a dented ball's vertices, its largest being 1.
const DENT: f64 = 0.8;

fn build(rerun: &mut Rerun, sizes: &[u32]) -> Vec<Panel> {
    let mut gathered = Gathered::default();
    rerun.begin(sizes.len());
    for &count in sizes {
        for _ in 0..rerun.share_of(BUILDS) {
            let body = polytope_of(&sphere(count, 1.0));
            let start = Instant::now();
            let hierarchy = body.hierarchy();
            let seconds = start.elapsed().as_secs_f64();
            let vertices = f64::from(count);
            let on_layers: usize =
                hierarchy.layers().iter().map(|layer| layer.vertices().len()).sum();
            gathered.add(0, 0, vertices, on_layers as f64 / vertices);
            gathered.add(0, 1, vertices, hierarchy.height() as f64 / vertices.log2());
            gathered.add(1, 0, vertices, seconds * 1e6 / vertices);
        }
        rerun.advance();
    }
    let mut panels = counts_and_times(
        X_AXIS,
        &["vertices of all layers a vertex", "layers a doubling of the vertices"],
        "Size of the hierarchy",
        "ratio",
        "microseconds a vertex (mean)",
    );
    panels[1].curves.truncate(1);
    panels[1].curves[0].name = "hierarchy".to_owned();
    logarithmic(gathered.into_panels(panels), false)
}

fn query(rerun: &mut Rerun, sizes: &[u32]) -> Vec<Panel> {
    let methods: Vec<_> =
        METHODS.iter().filter(|row| ["facet_walk", "prism"].contains(&row.name)).collect();
    let names: Vec<&str> = methods.iter().map(|row| row.name).collect();
    let mut gathered = Gathered::default();
    rerun.begin(sizes.len());
    for &count in sizes {
        let body = polytope_of(&sphere(count, 1.0));
        let mut random = Random::new(1);
        for _ in 0..rerun.share_of(QUERIES) {
            let question = Flight::random(&mut random).question(&body);
            for (curve, method) in methods.iter().enumerate() {
                let taken = take(|effort| {
                    // Without a budget nothing stops it.
                    let _ = first_contact_by(method, &question, &mut Witness::default(), effort);
                });
                gathered.add(0, curve, f64::from(count), taken.cost.visited as f64);
                gathered.add(1, curve, f64::from(count), taken.microseconds);
            }
        }
        rerun.advance();
    }
    let panels = counts_and_times(
        X_AXIS,
        &names,
        "Vertices visited",
        "vertices a query (mean)",
        "microseconds a query (mean)",
    );
    logarithmic(gathered.into_panels(panels), false)
}

/// Work on each layer in the mean, for each size; and of all layers, in the mean and at worst.
fn by_layer(rerun: &mut Rerun, sizes: &[u32]) -> Vec<Panel> {
    let mut layers = Panel {
        title: "Vertices visited on each layer".to_owned(),
        x_axis: "layer (0 is the surface)",
        y_axis: "vertices a query (mean)",
        ..Panel::default()
    };
    let mut whole = Panel {
        title: "Vertices visited on all layers".to_owned(),
        x_axis: X_AXIS,
        y_axis: "vertices a query",
        curves: curves(&[
            "mean",
            "worst",
            "mean, overlapping at the start",
            "worst, overlapping at the start",
            "vertices of both bodies",
        ]),
        is_x_logarithmic: true,
        is_y_logarithmic: true,
        ..Panel::default()
    };
    rerun.begin(sizes.len());
    for &count in sizes {
        let body = polytope_of(&sphere(count, 1.0));
        let mut random = Random::new(1);
        let mut sums = vec![0; body.hierarchy().height()];
        let (queries, mut worst) = (rerun.share_of(LAYER_QUERIES), 0);
        for _ in 0..queries {
            let flight = Flight::random(&mut random);
            let work = work_by_layer(&flight.question(&body).pair, &flight.velocity);
            for (sum, visited) in sums.iter_mut().zip(&work) {
                *sum += visited;
            }
            worst = worst.max(work.iter().sum());
        }
        let mean = |sum: u64| sum as f64 / f64::from(queries);
        let [sum_inside, worst_inside] = work_inside(&body, queries, &mut random);
        let points = (0..).zip(&sums).map(|(layer, sum)| (f64::from(layer), mean(*sum))).collect();
        layers.curves.push(Curve { name: format!("{count} vertices"), points });
        let size = f64::from(count);
        let totals = [
            mean(sums.iter().sum()),
            worst as f64,
            mean(sum_inside),
            worst_inside as f64,
            2.0 * size,
        ];
        for (curve, total) in whole.curves.iter_mut().zip(totals) {
            curve.points.push((size, total));
        }
        rerun.advance();
    }
    vec![layers, whole]
}

/// The sum and the most of the work on all layers, of flights that start in an overlap.
fn work_inside(body: &Polytope, queries: u32, random: &mut Random) -> [u64; 2] {
    let (mut sum, mut most) = (0, 0);
    for _ in 0..queries {
        let flight = Flight::overlapping(random);
        let pair = flight.question(body).pair;
        let work: u64 = work_by_layer(&pair, &flight.velocity).iter().sum();
        sum += work;
        most = most.max(work);
    }
    [sum, most]
}

/// Pairs of faces, and of boxes around them, that a query of polyhedra looks at, beside all pairs.
fn by_faces(rerun: &mut Rerun, sizes: &[u32]) -> Vec<Panel> {
    let names = ["pairs of faces looked at", "pairs of boxes looked at", "all pairs (the text)"];
    let mut gathered = Gathered::default();
    rerun.begin(sizes.len());
    for &count in sizes {
        let Some(body) = dented_ball(count) else { continue };
        let faces = body.triangles().len() as f64;
        let mut random = Random::new(1);
        for _ in 0..rerun.share_of(DENTED_QUERIES) {
            let flight = Flight::random(&mut random);
            let moving =
                |pose, velocity: Vec3| Moving { body: &body, pose, travel: Travel::by(&velocity) };
            let p = moving(flight.pose_p, Vec3::zeros());
            let q = moving(flight.pose_q, flight.velocity);
            let taken = take(|effort| {
                // Without a budget nothing stops it.
                let _ = polyhedra::first_contact(&p, &q, effort);
            });
            let counts = [taken.cost.visited as f64, taken.cost.steps as f64, faces * faces];
            for (curve, count) in counts.into_iter().enumerate() {
                gathered.add(0, curve, faces, count);
            }
            gathered.add(1, 0, faces, taken.microseconds);
        }
        rerun.advance();
    }
    let mut panels = counts_and_times(
        "faces of each body",
        &names,
        "Pairs looked at",
        "pairs a query (mean)",
        "microseconds a query (mean)",
    );
    panels[1].curves.truncate(1);
    panels[1].curves[0].name = "first contact".to_owned();
    logarithmic(gathered.into_panels(panels), true)
}

/// A ball whose vertices are pushed in by random amounts: seen from its centre it hides no part of
/// itself, so it does not meet itself; it is not convex.
fn dented_ball(count: u32) -> Option<Polyhedron> {
    let ball = polytope_of(&sphere(count, 1.0));
    let (smooth, _) = Polyhedron::of_polytope(&ball)?;
    let mut random = Random::new(u64::from(count));
    let vertices: Vec<Vec3> =
        smooth.vertices().iter().map(|v| v * random.between(DENT, 1.0)).collect();
    Polyhedron::new(&vertices, smooth.triangles(), &mut Effort::unlimited()).ok()
}

/// A body at rest and one that flies.
struct Flight {
    pose_p: Pose,
    pose_q: Pose,
    velocity: Vec3,
}

impl Flight {
    /// From a random side, to a point of the plane across the start where the ball may or may not
    /// make contact on its way.
    fn random(random: &mut Random) -> Self {
        let from = random.direction();
        let aside = random.direction() * random.between(0.0, ASIDE_MAX);
        let (pose_p, pose_q) = (attitude(random), attitude(random));
        let pose_q = Pose { translation: from * BETWEEN, ..pose_q };
        Self { pose_p, pose_q, velocity: aside - from * FLIGHT }
    }

    /// The same from a place where the balls overlap, by up to nearly the whole of them.
    fn overlapping(random: &mut Random) -> Self {
        let flight = Self::random(random);
        let between = random.between(0.02, OVERLAPPING);
        let translation = flight.pose_q.translation * (between / BETWEEN);
        Self { pose_q: Pose { translation, ..flight.pose_q }, ..flight }
    }

    /// The flight of a ball past another one like it.
    fn question<'a>(&self, body: &'a Polytope) -> Question<'a> {
        let pair = Pair::new(body, self.pose_p, body, self.pose_q);
        Question::new(pair, Motion::rest(), Motion::Linear { velocity: self.velocity })
    }
}

fn logarithmic(panels: Vec<Panel>, is_y_logarithmic: bool) -> Vec<Panel> {
    let scaled = |panel| Panel { is_x_logarithmic: true, is_y_logarithmic, ..panel };
    panels.into_iter().map(scaled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_linear_and_of_logarithmic_height() {
        let panels = build(&mut Rerun::quiet(1), &[100, 1000, 4000]);
        for curve in &panels[0].curves {
            assert_eq!(curve.points.len(), 3);
            assert!(curve.points.iter().all(|point| point.1 < 10.0), "{curve:?}");
        }
    }

    #[test]
    fn some_flights_make_contact_and_some_miss_and_every_size_has_its_points() {
        let body = polytope_of(&sphere(50, 1.0));
        let mut random = Random::new(1);
        let contacts = (0..40).filter(|_| {
            let question = Flight::random(&mut random).question(&body);
            let mut effort = Effort::unlimited();
            let method = &METHODS[0];
            first_contact_by(method, &question, &mut Witness::default(), &mut effort)
                .is_ok_and(|found| found.t_contact < 1.0)
        });
        let contacts = contacts.count();
        assert!((5..35).contains(&contacts), "{contacts} of 40 make contact");
        let panels = query(&mut Rerun::quiet(1), &[50, 100]);
        assert!(panels.iter().flat_map(|panel| &panel.curves).all(|curve| curve.points.len() == 2));
    }

    /// §2: no more work than the bodies have vertices, and on every layer some of it.
    #[test]
    fn work_is_told_for_every_layer_and_grows_less_than_the_bodies() {
        let [layers, whole] =
            by_layer(&mut Rerun::quiet(2), &[100, 1600]).try_into().expect("two panels");
        let heights: Vec<usize> = layers.curves.iter().map(|curve| curve.points.len()).collect();
        assert!(heights[0] < heights[1], "{heights:?}");
        assert!(layers.curves[1].points.iter().all(|point| point.1 > 0.0), "{layers:?}");
        let mean = &whole.curves[0].points;
        assert!(mean[1].1 < 8.0 * mean[0].1, "{mean:?}");
    }

    /// §3: fewer pairs than all, and the more so the more faces there are.
    #[test]
    fn polyhedra_look_at_few_of_the_pairs_of_faces() {
        let panels = by_faces(&mut Rerun::quiet(5), &[16, 160, 500]);
        let [looked_at, _, all] = panels[0].curves.as_slice() else { panic!("three curves") };
        assert_eq!(all.points.len(), 3);
        let share: Vec<f64> =
            looked_at.points.iter().zip(&all.points).map(|(some, all)| some.1 / all.1).collect();
        assert!(share.windows(2).all(|pair| pair[1] < pair[0]) && share[2] < 0.05, "{share:?}");
    }
}
