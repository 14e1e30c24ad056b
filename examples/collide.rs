//! Separated, touching or overlapping: exactly, with a proof that is judged here.
//!
//! `cargo run --example collide`
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use clearance_geometry::effort::Effort;
use clearance_geometry::hull::{HullError, convex_hull};
use clearance_geometry::judge::judge_static;
use clearance_geometry::pair::Pair;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, distance, penetration};

fn main() -> Result<(), HullError> {
    let corners: Vec<Vec3> =
        (0..8).map(|i| Vec3::from([0, 1, 2].map(|axis| f64::from(i >> axis & 1)))).collect();
    let cube = convex_hull(&corners)?.polytope;

    // The witness is what is remembered of a pair. It saves time and changes no verdict.
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    for x in [2.0, 1.0_f64.next_up(), 1.0, 1.0_f64.next_down(), 0.75] {
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(x, 0.0, 0.0));
        let decision = decide(&pair, &METHODS[0], &mut witness, &mut effort);
        let decision = decision.expect("no limit was set");
        let is_proven = judge_static(&pair, &decision.proof).is_ok();
        println!("x = {x}: {:?}, proven: {is_proven}", decision.verdict());

        let how_far =
            distance::measure(&pair, distance::Stops::default(), &mut witness, &mut effort);
        let how_far = how_far.expect("no limit was set");
        let how_deep = penetration::measure(&pair, false, &mut witness, &mut effort);
        let how_deep = how_deep.expect("no limit was set");
        println!("  distance in [{:e}, {:e}]", how_far.lower, how_far.upper);
        println!("  depth in [{:e}, {:e}]", how_deep.lower, how_deep.upper);
    }
    Ok(())
}
