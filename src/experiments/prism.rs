//! Growth of the prisms' hierarchy and query with the size of the bodies (Joseph, Plantinga 1987,
//! §2).
//!
//! The text has no figures; it proves that building is linear in the vertices, and claims that a
//! query grows with the square of the logarithm. Two balls of equal size, one of them flying past
//! or into the other; the steps are those of `prism` and of the default.

use std::time::Instant;

use super::bench::{Gathered, attitude, counts_and_times, take};
use super::{Experiment, Panel};
use crate::geometry::claim::Question;
use crate::geometry::contact_time::{METHODS, first_contact_by};
use crate::geometry::motion::Motion;
use crate::geometry::pair::Pair;
use crate::geometry::polytope::Polytope;
use crate::geometry::polytope::samples::{Random, polytope_of, sphere};
use crate::geometry::pose::Pose;
use crate::geometry::witness::Witness;

/// One of building, one of asking.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "prism_build",
        source: "Space-time prisms (Joseph, Plantinga 1987), §2: building",
        about: "the levels of the hierarchy of a ball, from which the prisms are cut when asked",
        run: |samples| build(samples, &SIZES),
    },
    Experiment {
        name: "prism_query",
        source: "Space-time prisms (Joseph, Plantinga 1987), §2: a query",
        about: "cold: two balls of equal size, one flying past or into the other",
        run: |samples| query(samples, &SIZES),
    },
];

const SIZES: [u32; 9] = [32, 100, 320, 1000, 2000, 3200, 10_000, 20_000, 32_000];
const X_AXIS: &str = "vertices of each body";
/// Between the balls' centres at the start, how far one flies towards the other, and at most aside:
/// a flight of more than 3.5 aside passes. In radii.
const APART: f64 = 4.0;
const FLIGHT: f64 = 6.0;
const ASIDE_MAX: f64 = 7.0;
/// Building is timed so often, whatever the samples.
const BUILDS_MAX: u32 = 3;

fn build(samples: u32, sizes: &[u32]) -> Vec<Panel> {
    let mut gathered = Gathered::default();
    for &count in sizes {
        for _ in 0..samples.min(BUILDS_MAX) {
            let body = polytope_of(&sphere(count, 1.0));
            let start = Instant::now();
            let hierarchy = body.hierarchy();
            let seconds = start.elapsed().as_secs_f64();
            let vertices = f64::from(count);
            let on_levels: usize =
                hierarchy.layers().iter().map(|layer| layer.vertices().len()).sum();
            gathered.add(0, 0, vertices, on_levels as f64 / vertices);
            gathered.add(0, 1, vertices, hierarchy.height() as f64 / vertices.log2());
            gathered.add(1, 0, vertices, seconds * 1e6 / vertices);
        }
    }
    let mut panels = counts_and_times(
        X_AXIS,
        &["vertices of all levels a vertex", "levels a doubling of the vertices"],
        ("Size of the hierarchy", "ratio"),
        "microseconds a vertex (mean)",
    );
    panels[1].curves.truncate(1);
    panels[1].curves[0].name = "hierarchy".to_owned();
    finished(gathered, panels)
}

fn query(samples: u32, sizes: &[u32]) -> Vec<Panel> {
    let names: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
    let mut gathered = Gathered::default();
    for &count in sizes {
        let body = polytope_of(&sphere(count, 1.0));
        let mut random = Random::new(1);
        for _ in 0..samples {
            let question = flight(&body, &mut random);
            for (curve, method) in METHODS.iter().enumerate() {
                let taken = take(|effort| {
                    // Without a budget nothing stops it.
                    let _ = first_contact_by(method, &question, &mut Witness::default(), effort);
                });
                gathered.add(0, curve, f64::from(count), taken.cost.visited as f64);
                gathered.add(1, curve, f64::from(count), taken.microseconds);
            }
        }
    }
    let visited = ("Vertices visited", "vertices a query (mean)");
    finished(gathered, counts_and_times(X_AXIS, &names, visited, "microseconds a query (mean)"))
}

/// From a random side, to a point of the plane across the start that the ball may or may not hit.
fn flight<'a>(body: &'a Polytope, random: &mut Random) -> Question<'a> {
    let from = random.direction();
    let aside = random.direction() * random.between(0.0, ASIDE_MAX);
    let (pose_p, pose_q) = (attitude(random), attitude(random));
    let pose_q = Pose { translation: from * APART, ..pose_q };
    let velocity = aside - from * FLIGHT;
    let pair = Pair::new(body, pose_p, body, pose_q);
    Question::new(pair, Motion::rest(), Motion::Linear { velocity })
}

fn finished(gathered: Gathered, panels: Vec<Panel>) -> Vec<Panel> {
    let logarithmic = |panel| Panel { is_x_logarithmic: true, ..panel };
    gathered.into_panels(panels).into_iter().map(logarithmic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_linear_and_of_logarithmic_height() {
        let panels = build(1, &[100, 1000, 4000]);
        for curve in &panels[0].curves {
            assert_eq!(curve.points.len(), 3);
            assert!(curve.points.iter().all(|point| point.1 < 10.0), "{curve:?}");
        }
    }

    #[test]
    fn some_flights_hit_and_some_miss_and_every_size_has_its_points() {
        let body = polytope_of(&sphere(50, 1.0));
        let mut random = Random::new(1);
        let hits = (0..40).filter(|_| {
            let question = flight(&body, &mut random);
            let mut effort = crate::geometry::effort::Effort::unlimited();
            let method = &METHODS[0];
            first_contact_by(method, &question, &mut Witness::default(), &mut effort)
                .is_ok_and(|found| found.t_contact < 1.0)
        });
        let hits = hits.count();
        assert!((5..35).contains(&hits), "{hits} of 40 hit");
        let panels = query(2, &[50, 100]);
        assert!(panels.iter().flat_map(|panel| &panel.curves).all(|curve| curve.points.len() == 2));
    }
}
