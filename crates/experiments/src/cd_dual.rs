//! CD-Dual against GJK on two equal ellipsoids (Choi, Li, Wang, Cameron, §5, Figs 8-10), and along
//! a direction (§6).
//!
//! As in the paper one body keeps its attitude and the other takes 500 at each distance. The text
//! tells neither the range of distances nor all numbers of vertices and shapes of the figures; the
//! curves here go half a major axis either way. The paper took the mean of 300 runs of each pair;
//! here a pair's time is that of the fastest of three. Asked is the search alone, cold, as it says
//! separated or overlapping: no test of bounding balls, no proof.
//!
//! Fig. 10 is the time that the searches take one after the other. A search's share is measured
//! from outside: the same question is asked again with a budget of as many faces as the searches
//! up to it look at.
//!
//! §6 has no experiment. Its distance along a direction is the distance on the figures' axis, so
//! the pairs of Fig. 8 are asked for it, with verdict and proof.

use super::bench::{
    Approach, Gathered, Taken, attitude, counts_and_times, search, separation_methods, take,
    take_within,
};
use super::{Experiment, Panel, Rerun};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, ellipsoid, polytope_of};
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::separation::propose_with_work;
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, penetration};

/// One for each figure, and one for §6.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "cd_dual_fig8",
        source: "CD-Dual (Choi, Li, Wang, Cameron), Fig. 8",
        about: "the search alone, cold: two ellipsoids 200 : 100 : 100 of 100 to 2000 vertices",
        run: |rerun| against_gjk(rerun, &by_size()),
    },
    Experiment {
        name: "cd_dual_fig9",
        source: "CD-Dual (Choi, Li, Wang, Cameron), Fig. 9",
        about: "the search alone, cold: two ellipsoids of 1000 vertices, from balls to needles",
        run: |rerun| {
            let shape = |[b, c]: [f64; 2]| (format!("200 : {b} : {c}"), body(1000, b, c));
            let axes = [[200.0, 200.0], [100.0, 100.0], [200.0, 50.0], [50.0, 50.0], [20.0, 20.0]];
            against_gjk(rerun, &axes.map(shape))
        },
    },
    Experiment {
        name: "cd_dual_fig10",
        source: "CD-Dual (Choi, Li, Wang, Cameron), Fig. 10",
        about: "each search's faces and time, accumulated: \
                two ellipsoids 200 : 100 : 100 of 1000 vertices",
        run: by_search,
    },
    Experiment {
        name: "cd_dual_along",
        source: "CD-Dual (Choi, Li, Wang, Cameron), §6",
        about: "distance along x, cold: two ellipsoids 200 : 100 : 100 of 100 to 2000 vertices",
        run: |rerun| along_a_direction(rerun, &by_size()),
    },
];

/// Half of the range of distances, and the spacing of the points.
const DISTANCE_MAX: i32 = 100;
const DISTANCE_STEP: usize = 5;
/// Attitudes of the second body at each distance.
const ATTITUDES: u32 = 500;
const X_AXIS: &str = "signed distance along x (major half axis: 200)";

/// An ellipsoid with a major half axis of 200.
fn body(count: u32, b: f64, c: f64) -> Polytope {
    polytope_of(&ellipsoid(count, Vec3::new(200.0, b, c), 1))
}

/// The shapes of Figure 8, named.
fn by_size() -> [(String, Polytope); 4] {
    [100, 500, 1000, 2000].map(|count| (format!("{count} vertices"), body(count, 100.0, 100.0)))
}

/// Calls back with every distance and, for each, a pair in every attitude.
fn at_distances(rerun: &mut Rerun, body: &Polytope, mut ask: impl FnMut(f64, &Pair<'_>)) {
    let mut random = Random::new(2);
    let fixed = attitude(&mut random);
    for _ in 0..rerun.share_of(ATTITUDES) {
        let approach = Approach::new([body, body], [fixed, attitude(&mut random)]);
        for distance in (-DISTANCE_MAX..=DISTANCE_MAX).step_by(DISTANCE_STEP) {
            let distance = f64::from(distance);
            ask(distance, &approach.at(distance));
        }
        rerun.advance();
    }
}

fn against_gjk(rerun: &mut Rerun, shapes: &[(String, Polytope)]) -> Vec<Panel> {
    let methods = separation_methods(&["cd_dual", "gjk"]);
    let names: Vec<&str> = methods.iter().map(|row| row.name).collect();
    compared(rerun, shapes, &names, |pair| {
        methods.iter().map(|method| search(method, pair)).collect()
    })
}

/// The methods that tell how far P can move until the pair meets, and until it is separated again.
fn along_a_direction(rerun: &mut Rerun, shapes: &[(String, Polytope)]) -> Vec<Panel> {
    let methods = penetration::METHODS;
    let names: Vec<&str> = methods.iter().map(|row| row.name).collect();
    compared(rerun, shapes, &names, |pair| {
        let mut spans = Vec::new();
        let mut measure = |method: &penetration::RangeMethod| {
            let (mut witness, mut span) = (Witness::default(), None);
            let taken = take(|effort| {
                witness = Witness::default();
                // Without a budget nothing stops it.
                let found = penetration::along_by(pair, &Vec3::x(), method, &mut witness, effort);
                span = found.ok().and_then(|range| range.span);
            });
            spans.push(span);
            taken
        };
        let taken = methods.iter().map(&mut measure).collect();
        assert!(spans.iter().all(|span| *span == spans[0]), "answers differ: {spans:?}");
        taken
    })
}

/// Operations and times of each method on each shape by distance; `ask` puts a pair to all methods.
fn compared(
    rerun: &mut Rerun,
    shapes: &[(String, Polytope)],
    methods: &[&str],
    ask: impl Fn(&Pair<'_>) -> Vec<Taken>,
) -> Vec<Panel> {
    let mut names = Vec::new();
    let mut gathered = Gathered::default();
    rerun.begin(shapes.len() * rerun.share_of(ATTITUDES) as usize);
    for (shape, body) in shapes {
        let first = names.len();
        names.extend(methods.iter().map(|name| format!("{name} {shape}")));
        at_distances(rerun, body, |distance, pair| {
            for (taken, curve) in ask(pair).iter().zip(first..) {
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
        "Operations",
        "candidates or faces, and vertices visited (mean)",
        "microseconds (mean)",
    ))
}

/// Fig. 10.
fn by_search(rerun: &mut Rerun) -> Vec<Panel> {
    let body = body(1000, 100.0, 100.0);
    let mut gathered = Gathered::default();
    rerun.begin(rerun.share_of(ATTITUDES) as usize);
    at_distances(rerun, &body, |distance, pair| {
        let mut effort = Effort::unlimited();
        let found = propose_with_work(pair, &mut Witness::default(), &mut effort);
        let Ok((_, work)) = found else { return };
        let accumulated = [work.fv, work.fv + work.vf, work.fv + work.vf + work.ee];
        for (curve, faces) in accumulated.into_iter().enumerate() {
            let taken = take_within(faces, |effort| {
                // Whether it ends by itself or by its budget, it has done this much.
                let _ = propose_with_work(pair, &mut Witness::default(), effort);
            });
            gathered.add(0, curve, distance, faces as f64);
            gathered.add(1, curve, distance, taken.microseconds);
        }
    });
    gathered.into_panels(counts_and_times(
        X_AXIS,
        &["FV", "FV and VF", "FV and VF and EE"],
        "Faces looked at by each search and those before",
        "faces of the difference (mean)",
        "microseconds (mean)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_searches_add_up_and_fall_once_separated() {
        let panels = by_search(&mut Rerun::quiet(1));
        let [fv, vf, ee] = panels[0].curves.as_slice() else { panic!("three curves") };
        assert_eq!(fv.points.len(), 41);
        for ((fv, vf), ee) in fv.points.iter().zip(&vf.points).zip(&ee.points) {
            assert!(1.0 <= fv.1 && fv.1 <= vf.1 && vf.1 <= ee.1, "{fv:?} {vf:?} {ee:?}");
        }
        let mean = |part: &[(f64, f64)]| part.iter().map(|p| p.1).sum::<f64>() / part.len() as f64;
        assert!(mean(&ee.points[36..]) < mean(&ee.points[..21]));
    }

    #[test]
    fn every_shape_has_a_curve_by_each_method_over_all_distances() {
        let shapes = [("small".to_owned(), body(20, 100.0, 50.0))];
        let of_searches =
            (against_gjk(&mut Rerun::quiet(1), &shapes), ["gjk small", "cd_dual small"]);
        let along =
            (along_a_direction(&mut Rerun::quiet(1), &shapes), ["line small", "cd_dual small"]);
        for (panels, expected) in [of_searches, along] {
            for panel in &panels {
                let names: Vec<&str> = panel.curves.iter().map(|c| c.name.as_str()).collect();
                assert_eq!(names, expected);
                assert!(panel.curves.iter().all(|curve| curve.points.len() == 41));
            }
        }
    }
}
