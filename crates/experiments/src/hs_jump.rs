//! HS-jump against GJK on two equal ellipsoids (Li et al. 2001, §9, Figs 7-11), and its ways to
//! supporting vertices (§8.1, §8.4).
//!
//! As in the paper, signed distances go from -40 to 40 in steps of 0.2, one body is fixed and the
//! other takes 500 random attitudes. The paper's third curve, I-COLLIDE, is not drawn. It took the
//! mean of 500 runs of each pair; here a pair's time is that of the fastest of three.

use super::bench::{
    Approach, Gathered, attitude, counts_and_times, curves, search, separation_methods,
};
use super::{Experiment, Panel, Rerun};
use clearance_geometry::Vec3;
use clearance_geometry::distance::{self, Stops, measure_by};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, ellipsoid, polytope_of};
use clearance_geometry::separation::Proposal;
use clearance_geometry::support::{by_hierarchy, coherently, supporting_vertex};
use clearance_geometry::witness::Witness;

/// A figure with this number of vertices and minor axes, to a major axis of 200.
const fn figure<const COUNT: u32, const MINOR: u32>(
    name: &'static str,
    source: &'static str,
    about: &'static str,
) -> Experiment {
    Experiment { name, source, about, run: ellipsoids::<COUNT, MINOR> }
}

/// One for each figure, and one for the supporting vertices.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    figure::<200, 180>(
        "hs_jump_fig7",
        "HS-jump (Li et al. 2001), Fig. 7",
        "collision or not, cold: two ellipsoids 200 : 180 : 180 of 200 vertices",
    ),
    figure::<1000, 180>(
        "hs_jump_fig8",
        "HS-jump (Li et al. 2001), Fig. 8",
        "collision or not, cold: two ellipsoids 200 : 180 : 180 of 1000 vertices",
    ),
    figure::<2000, 180>(
        "hs_jump_fig9",
        "HS-jump (Li et al. 2001), Fig. 9",
        "collision or not, cold: two ellipsoids 200 : 180 : 180 of 2000 vertices",
    ),
    figure::<2000, 100>(
        "hs_jump_fig10",
        "HS-jump (Li et al. 2001), Fig. 10",
        "collision or not, cold: two ellipsoids 200 : 100 : 100 of 2000 vertices",
    ),
    figure::<2000, 20>(
        "hs_jump_fig11",
        "HS-jump (Li et al. 2001), Fig. 11",
        "collision or not, cold: two ellipsoids 200 : 20 : 20 of 2000 vertices",
    ),
    Experiment {
        name: "hs_jump_candidates",
        source: "HS-jump (Li et al. 2001), §6",
        about: "cold: how many candidates thin ellipsoids of 4000 and 10,000 vertices take, 0.02 \
                from contact",
        run: candidates,
    },
    Experiment {
        name: "hs_jump_features",
        source: "HS-jump (Li et al. 2001), §1 and §9: closest features",
        about: "the distance after a verdict, from its vector and pair, and from cold",
        run: features,
    },
    Experiment {
        name: "hs_jump_support",
        source: "HS-jump (Li et al. 2001), §8.1 and §8.4",
        about: "supporting vertices near a hint: by the layers of a hierarchy, and by the default",
        run: |rerun| {
            rerun.begin(3 * ANGLES.len());
            [200, 2000, 10_000].map(|count| supports(rerun, count)).into()
        },
    },
];

/// Signed distances are multiples of the step, this many either way: -40 to 40. At 0 the bodies
/// touch to a rounding error, which a search alone may see either way.
const DISTANCE_STEP: f64 = 0.2;
const DISTANCE_STEPS: i32 = 200;
/// Attitudes of the second body at each distance.
const ATTITUDES: u32 = 500;
const X_AXIS: &str = "signed distance along x (major half axis: 200)";

/// Between the direction asked for and that of the hint, in radians.
const ANGLES: [f64; 8] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];
const SUPPORTS: [&str; 3] =
    ["by layers from cold (8.1)", "by layers from the hint (8.4)", "by hint or table of starts"];

/// Hints at each angle. The paper tells how to search and measures nothing.
const HINTS: u32 = 500;

/// The vertices that each way looks at, by the angle between hint and question.
fn supports(rerun: &mut Rerun, count: u32) -> Panel {
    let body = polytope_of(&ellipsoid(count, Vec3::new(200.0, 180.0, 180.0), 1));
    let mut random = Random::new(3);
    let mut gathered = Gathered::default();
    for angle in ANGLES {
        let (sin, cos) = angle.sin_cos();
        for _ in 0..rerun.share_of(HINTS) {
            let hinted = random.direction();
            let aside = hinted.cross(&random.direction()).normalize();
            let hint = supporting_vertex(&body, &hinted, None, &mut Effort::unlimited());
            let g = hinted * cos + aside * sin;
            let searches: [&dyn Fn(&mut Effort<'_>) -> u32; 3] = [
                &|effort| by_hierarchy(&body, &g, effort),
                &|effort| coherently(&body, &g, hint, effort),
                &|effort| supporting_vertex(&body, &g, Some(hint), effort),
            ];
            for (curve, search) in searches.iter().enumerate() {
                let mut effort = Effort::unlimited();
                search(&mut effort);
                gathered.add(0, curve, angle, effort.cost.visited as f64);
            }
        }
        rerun.advance();
    }
    let panel = Panel {
        title: format!("{count} vertices"),
        x_axis: "angle from the hint, radians",
        y_axis: "vertices looked at (mean)",
        is_x_logarithmic: true,
        curves: curves(&SUPPORTS),
        ..Panel::default()
    };
    gathered.into_panels(vec![panel]).remove(0)
}

/// Questions of each set about §6, half of them apart and half overlapping; and how far.
const QUESTIONS: u32 = 10_000;
const GAP: f64 = 0.02;
/// Sets: vertices and minor axes.
const THIN: [(u32, f64); 4] = [(4000, 20.0), (4000, 8.0), (10_000, 20.0), (10_000, 8.0)];
/// Where the questions that take more candidates are counted.
const MORE_THAN: [u32; 12] = [5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200];

/// §6, on the paper's sizes and beyond, on bodies thinner than its own.
fn candidates(rerun: &mut Rerun) -> Vec<Panel> {
    let plain = separation_methods(&["hs_jump_plain"])[0];
    let questions = rerun.share_of(QUESTIONS);
    rerun.begin(THIN.len() * questions as usize);
    let names = THIN.map(|(count, minor)| format!("{count}, 200 : {minor} : {minor}"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut gathered = Gathered::default();
    let mut most: Vec<u64> = vec![0; THIN.len()];
    for (set, (count, minor)) in THIN.into_iter().enumerate() {
        let half_axes = Vec3::new(200.0, minor, minor);
        let body = polytope_of(&ellipsoid(count, half_axes, 1));
        let mut random = Random::new(3);
        for number in 0..questions {
            let attitudes = [attitude(&mut random), attitude(&mut random)];
            let approach = Approach::new([&body, &body], attitudes);
            let pair = approach.at(if number % 2 == 0 { GAP } else { -GAP });
            let mut effort = Effort::unlimited();
            let found = plain.propose(&pair, &mut Witness::default(), &mut effort);
            let is_handed_over = matches!(found, Ok(Proposal::HandOver) | Err(_));
            let taken = effort.cost.candidates;
            for more_than in MORE_THAN {
                let is_more = f64::from(u8::from(taken > u64::from(more_than)));
                gathered.add(0, set, f64::from(more_than), 1e4 * is_more);
            }
            gathered.add(1, 0, set as f64, taken as f64);
            gathered.add(1, 2, set as f64, f64::from(u8::from(is_handed_over)));
            most[set] = most[set].max(taken);
            rerun.advance();
        }
        gathered.add(1, 1, set as f64, most[set] as f64);
    }
    let panel = |title: &str, x_axis, y_axis, names: &[&str]| Panel {
        title: title.to_owned(),
        x_axis,
        y_axis,
        curves: curves(names),
        ..Panel::default()
    };
    gathered.into_panels(vec![
        panel("Long searches", "candidates", "of 10,000 questions take more", &names),
        panel(
            "By set: as named beside",
            "number of the set, in the order of the names beside",
            "candidates",
            &["candidates a question (mean)", "at most", "part handed over"],
        ),
    ])
}

/// Distances of the questions about closest features.
const APART: [f64; 9] = [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0];

/// §1 and §9: the text finds closest features "with little more work" from what the search leaves.
/// Here the vector and the pair that separate are where the distance begins.
fn features(rerun: &mut Rerun) -> Vec<Panel> {
    let shapes = [(200, 180.0), (2000, 180.0), (2000, 20.0)];
    let plain = separation_methods(&["hs_jump_plain"])[0];
    let names = ["verdict alone", "distance after it, besides", "distance from cold"];
    let attitudes = rerun.share_of(ATTITUDES);
    rerun.begin(shapes.len() * attitudes as usize);
    let mut panels = Vec::new();
    for (count, minor) in shapes {
        let body = polytope_of(&ellipsoid(count, Vec3::new(200.0, minor, minor), 1));
        let mut random = Random::new(2);
        let fixed = attitude(&mut random);
        let mut gathered = Gathered::default();
        for _ in 0..attitudes {
            let approach = Approach::new([&body, &body], [fixed, attitude(&mut random)]);
            for gap in APART {
                let pair = approach.at(gap);
                let mut witness = Witness::default();
                let mut effort = Effort::unlimited();
                // Without a budget nothing stops these.
                let _ = plain.propose(&pair, &mut witness, &mut effort);
                gathered.add(0, 0, gap, effort.cost.supports as f64);
                for (curve, from) in [(1, &mut witness), (2, &mut Witness::default())] {
                    let mut effort = Effort::unlimited();
                    let gjk = &distance::METHODS[0];
                    let _ = measure_by(gjk, &pair, Stops::default(), from, &mut effort);
                    gathered.add(0, curve, gap, effort.cost.supports as f64);
                }
            }
            rerun.advance();
        }
        let panel = Panel {
            title: format!("{count} vertices, 200 : {minor} : {minor}"),
            x_axis: X_AXIS,
            y_axis: "searches a query (mean)",
            curves: curves(&names),
            ..Panel::default()
        };
        panels.extend(gathered.into_panels(vec![panel]));
    }
    panels
}

fn ellipsoids<const COUNT: u32, const MINOR: u32>(rerun: &mut Rerun) -> Vec<Panel> {
    let half_axes = Vec3::new(200.0, f64::from(MINOR), f64::from(MINOR));
    let body = polytope_of(&ellipsoid(COUNT, half_axes, 1));
    let methods = separation_methods(&["hs_jump", "hs_jump_plain", "gjk"]);
    let names: Vec<&str> = methods.iter().map(|row| row.name).collect();
    let mut random = Random::new(2);
    let fixed = attitude(&mut random);
    let attitudes = rerun.share_of(ATTITUDES);
    rerun.begin(attitudes as usize);
    let mut gathered = Gathered::default();
    for _ in 0..attitudes {
        let approach = Approach::new([&body, &body], [fixed, attitude(&mut random)]);
        for step in -DISTANCE_STEPS..=DISTANCE_STEPS {
            let distance = f64::from(step) * DISTANCE_STEP;
            let pair = approach.at(distance);
            for (curve, method) in methods.iter().enumerate() {
                let taken = search(method, &pair);
                gathered.add(0, curve, distance, taken.cost.supports as f64);
                gathered.add(1, curve, distance, taken.microseconds);
            }
        }
        rerun.advance();
    }
    gathered.into_panels(counts_and_times(
        X_AXIS,
        &names,
        "Supporting-vertex searches",
        "searches a query (mean)",
        "microseconds (mean)",
    ))
}
