//! CD-Dual against GJK on two equal ellipsoids (Choi, Li, Wang, Cameron, §5, Figs 8-10).
//!
//! One body keeps its attitude, the other takes a new one for every sample. The text tells neither
//! the range of distances nor all numbers of vertices and shapes of the figures; the curves here go
//! half a major axis either way. Asked is the search alone, cold, as it says separated or
//! overlapping: no test of bounding balls, no proof.

use super::bench::{
    Gathered, at_signed_distance, attitude, counts_and_times, curves, search, separation_methods,
};
use super::{Experiment, Panel};
use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::pair::Pair;
use crate::geometry::polytope::Polytope;
use crate::geometry::polytope::samples::{Random, ellipsoid, polytope_of};
use crate::geometry::separation::cd_dual::propose_with_work;
use crate::geometry::witness::Witness;

/// One a figure.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "cd_dual_fig8",
        source: "CD-Dual (Choi, Li, Wang, Cameron), Fig. 8",
        about: "the search alone, cold: two ellipsoids 200 : 100 : 100 of 100 to 2000 vertices",
        run: |samples| {
            let shape = |count: u32| (format!("{count} vertices"), body(count, 100.0, 100.0));
            against_gjk(samples, &[100, 500, 1000, 2000].map(shape))
        },
    },
    Experiment {
        name: "cd_dual_fig9",
        source: "CD-Dual (Choi, Li, Wang, Cameron), Fig. 9",
        about: "the search alone, cold: two ellipsoids of 1000 vertices, from balls to needles",
        run: |samples| {
            let shape = |[b, c]: [f64; 2]| (format!("200 : {b} : {c}"), body(1000, b, c));
            let axes = [[200.0, 200.0], [100.0, 100.0], [200.0, 50.0], [50.0, 50.0], [20.0, 20.0]];
            against_gjk(samples, &axes.map(shape))
        },
    },
    Experiment {
        name: "cd_dual_fig10",
        source: "CD-Dual (Choi, Li, Wang, Cameron), Fig. 10",
        about: "faces that each search looks at, accumulated: two ellipsoids 200 : 100 : 100 of 1000 vertices",
        run: by_search,
    },
];

/// Half of the range of distances, and the spacing of the points.
const DISTANCE_MAX: i32 = 100;
const DISTANCE_STEP: usize = 10;
const X_AXIS: &str = "signed distance along x (major half axis: 200)";

/// An ellipsoid with a major half axis of 200.
fn body(count: u32, b: f64, c: f64) -> Polytope {
    polytope_of(&ellipsoid(count, Vec3::new(200.0, b, c), 1))
}

/// Calls back with every distance and, for each, as many pairs as there are samples.
fn at_distances(samples: u32, body: &Polytope, mut ask: impl FnMut(f64, &Pair<'_>)) {
    let mut random = Random::new(2);
    let fixed = attitude(&mut random);
    let attitudes: Vec<_> = (0..samples).map(|_| attitude(&mut random)).collect();
    for distance in (-DISTANCE_MAX..=DISTANCE_MAX).step_by(DISTANCE_STEP) {
        let distance = f64::from(distance);
        for other in &attitudes {
            let (pose_p, pose_q) = at_signed_distance(body, fixed, body, *other, distance);
            ask(distance, &Pair::new(body, pose_p, body, pose_q));
        }
    }
}

fn against_gjk(samples: u32, shapes: &[(String, Polytope)]) -> Vec<Panel> {
    let methods = separation_methods(&["cd_dual", "gjk"]);
    let mut names = Vec::new();
    let mut gathered = Gathered::default();
    for (shape, body) in shapes {
        let first = names.len();
        names.extend(methods.iter().map(|row| format!("{} {shape}", row.name)));
        at_distances(samples, body, |distance, pair| {
            for (method, curve) in methods.iter().zip(first..) {
                let taken = search(method, pair);
                let operations = taken.cost.steps + taken.cost.visited;
                gathered.add(0, curve, distance, operations as f64);
                gathered.add(1, curve, distance, taken.microseconds);
            }
        });
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    gathered.into_panels(counts_and_times(
        X_AXIS,
        &names,
        ("Operations", "candidates or faces, and vertices visited (mean)"),
        "microseconds (mean)",
    ))
}

fn by_search(samples: u32) -> Vec<Panel> {
    let body = body(1000, 100.0, 100.0);
    let mut gathered = Gathered::default();
    at_distances(samples, &body, |distance, pair| {
        let mut effort = Effort::unlimited();
        let found = propose_with_work(pair, &mut Witness::default(), &mut effort);
        let Ok((_, work)) = found else { return };
        let accumulated = [work.fv, work.fv + work.vf, work.fv + work.vf + work.ee];
        for (curve, faces) in accumulated.into_iter().enumerate() {
            gathered.add(0, curve, distance, faces as f64);
        }
    });
    gathered.into_panels(vec![Panel {
        title: "Faces looked at by each search accumulated".to_owned(),
        x_axis: X_AXIS,
        y_axis: "faces of the Minkowski difference (mean)",
        is_x_logarithmic: false,
        curves: curves(&["FV", "FV and VF", "FV and VF and EE"]),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_searches_add_up_and_fall_once_separated() {
        let panels = by_search(3);
        let [fv, vf, ee] = panels[0].curves.as_slice() else { panic!("three curves") };
        assert_eq!(fv.points.len(), 21);
        for ((fv, vf), ee) in fv.points.iter().zip(&vf.points).zip(&ee.points) {
            assert!(1.0 <= fv.1 && fv.1 <= vf.1 && vf.1 <= ee.1, "{fv:?} {vf:?} {ee:?}");
        }
        let mean = |part: &[(f64, f64)]| part.iter().map(|p| p.1).sum::<f64>() / part.len() as f64;
        assert!(mean(&ee.points[18..]) < mean(&ee.points[..11]));
    }

    #[test]
    fn every_shape_has_a_curve_by_each_method_over_all_distances() {
        let panels = against_gjk(1, &[("small".to_owned(), body(20, 100.0, 50.0))]);
        for panel in &panels {
            let names: Vec<&str> = panel.curves.iter().map(|curve| curve.name.as_str()).collect();
            assert_eq!(names, ["gjk small", "cd_dual small"]);
            assert!(panel.curves.iter().all(|curve| curve.points.len() == 21));
        }
    }
}
