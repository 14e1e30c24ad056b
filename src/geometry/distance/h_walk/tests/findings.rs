//! The paper's findings as counts of operations (Guibas, Hsu, Zhang 1999, Theorem 5 and §4.2).

use std::fmt::Write as _;

use super::*;
use crate::geometry::polytope::samples::{ellipsoid, flat_polygon, polytope_of, sphere};

/// Angular steps in degrees.
const STEPS_OF_MOTION: [f64; 5] = [1.0, 5.0, 15.0, 30.0, 90.0];

const SERIES: [(&str, Start); 7] = [
    ("surface walk", Start::Surface),
    ("h-walk 0", Start::Layer(0)),
    ("h-walk 4", Start::Layer(4)),
    ("h-walk 8", Start::Layer(8)),
    ("h-walk 16", Start::Layer(16)),
    ("h-walk innermost", Start::Layer(u32::MAX)),
    ("h-walk adaptive", Start::Adaptive),
];
const SURFACE: usize = 0;
const LAYER_0: usize = 1;
const INNERMOST: usize = 5;
const ADAPTIVE: usize = 6;

/// Mean steps a question over Procedure 1, by series and angular step.
struct Counts {
    title: String,
    means: [[f64; STEPS_OF_MOTION.len()]; SERIES.len()],
}

impl Counts {
    fn of(title: &str, body: &Polytope, radius: f64) -> Self {
        let mean = |start: Start, step: f64| {
            let (mut effort, mut asked) = (Effort::unlimited(), 0.0);
            for run in orbit::poses(step, radius, 1, 7) {
                let mut witness = Witness::default();
                for pose in run {
                    let found = walked(&beside(body, body, pose), start, &mut witness, &mut effort);
                    assert_eq!(found.ending, Ending::Nearest, "{title}, {step} degrees");
                    asked += 1.0;
                }
            }
            effort.cost.steps as f64 / asked
        };
        let means = SERIES.map(|(_, start)| STEPS_OF_MOTION.map(|step| mean(start, step)));
        let title = format!("{title} of {} vertices", body.vertex_count());
        Self { title, means }
    }

    fn table(&self) -> String {
        let mut text = format!("{}: mean steps at {STEPS_OF_MOTION:?} degrees\n", self.title);
        for ((name, _), means) in SERIES.iter().zip(&self.means) {
            writeln!(text, "{name:17} {means:6.1?}").unwrap();
        }
        text
    }

    /// Of the starts from one layer, the least for this angular step.
    fn best_fixed(&self, step: usize) -> f64 {
        self.means[LAYER_0..=INNERMOST].iter().map(|means| means[step]).fold(f64::MAX, f64::min)
    }
}

fn ball_of(count: u32) -> Polytope {
    polytope_of(&sphere(count, 1.0))
}

#[test]
fn on_spheres_coherence_size_and_start_count_as_the_paper_found() {
    let [small, large] = [400, 8000].map(|count| Counts::of("sphere", &ball_of(count), 2.5));
    let tables = format!("{}{}", small.table(), large.table());
    eprintln!("{tables}");
    let last = STEPS_OF_MOTION.len() - 1;
    for counts in [&small, &large] {
        let [surface, layer_0, innermost] =
            [SURFACE, LAYER_0, INNERMOST].map(|series| counts.means[series]);
        // High coherence: layer 0 is best, and the surface is as good.
        assert!(layer_0[0] <= counts.best_fixed(0), "{tables}");
        assert!(layer_0[0] <= 1.3 * surface[0] && innermost[0] > 5.0 * layer_0[0], "{tables}");
        // Low coherence: the innermost is best, and all beat the surface at 8,000 vertices.
        assert!(innermost[last] <= 1.05 * counts.best_fixed(last), "{tables}");
        // Surface walking grows about linearly; from the innermost layer the motion hardly counts.
        let growth = surface[last] / surface[1];
        assert!((7.0..=20.0).contains(&growth), "18 times the angle, {growth}: {tables}");
        assert!(innermost[last] <= 1.3 * innermost[0], "{tables}");
        for step in 0..STEPS_OF_MOTION.len() {
            let (adaptive, best) = (counts.means[ADAPTIVE][step], counts.best_fixed(step));
            assert!(adaptive <= 1.2 * best, "adaptive {adaptive}, best {best}: {tables}");
        }
    }
    assert!(large.means[LAYER_0..].iter().all(|m| m[last] < 0.6 * large.means[SURFACE][last]));
    // Twenty times the vertices: at most double, but for steps so small that the walk never leaves
    // the surface, where the features under an angle are 4.5 times as many.
    for series in [INNERMOST, ADAPTIVE] {
        for (step, degrees) in STEPS_OF_MOTION.into_iter().enumerate() {
            let ratio = large.means[series][step] / small.means[series][step];
            let is_on_surface = series == ADAPTIVE && degrees < 20.0;
            let most = if is_on_surface { 20f64.sqrt() * 1.2 } else { 2.0 };
            assert!(ratio <= most, "{ratio} at {degrees} degrees: {tables}");
        }
    }
}

#[test]
fn on_elongated_ellipsoids_the_hierarchy_keeps_the_walk_short() {
    let ellipsoid =
        |count, minor: f64| polytope_of(&ellipsoid(count, Vec3::new(1.0, minor, minor), 1));
    for (body, radius) in [(ellipsoid(240, 0.1), 2.5), (ellipsoid(600, 0.04), 2.5)] {
        let counts = Counts::of("ellipsoid", &body, radius);
        eprintln!("{}", counts.table());
        for step in 0..STEPS_OF_MOTION.len() {
            let (adaptive, best) = (counts.means[ADAPTIVE][step], counts.best_fixed(step));
            assert!(adaptive <= 1.2 * best, "{adaptive}, best {best}: {}", counts.table());
        }
    }
}

/// Theorem 5: O(log c) steps, whatever the size of the polygons. Seen: 30 for 16 features, 61 for 256,
/// 92 for 4096.
#[test]
fn polygons_in_one_plane_take_steps_logarithmic_in_the_way_walked() {
    let mut table = String::new();
    for sides in [1000, 16_000] {
        let body = polytope_of(&flat_polygon(sides, 1.0));
        let turned = |features: f64| {
            let (cos, sin) =
                crate::geometry::polytope::samples::on_circle(features / f64::from(sides) / 2.0);
            Pose::from_quaternion(Vec3::new(2.5, 0.1, 0.0), [cos, 0.0, 0.0, sin]).unwrap()
        };
        let mut way = 1.0;
        while way <= f64::from(sides) / 2.0 {
            let mut witness = Witness::default();
            walked(
                &beside(&body, &body, turned(0.2)),
                Start::Layer(0),
                &mut witness,
                &mut Effort::unlimited(),
            );
            let mut effort = Effort::unlimited();
            let pair = beside(&body, &body, turned(0.2 + way));
            let found = walked(&pair, Start::Layer(0), &mut witness, &mut effort);
            assert_eq!(found.ending, Ending::Nearest);
            let (steps, most) = (effort.cost.steps as f64, 10.0 + 12.0 * way.log2());
            writeln!(table, "{sides} sides, {way} features away: {steps} steps").unwrap();
            assert!(steps <= most, "more than {most:.0}:\n{table}");
            way *= 4.0;
        }
    }
    eprintln!("{table}");
}
