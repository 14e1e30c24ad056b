//! When a cube that tumbles towards another one meets it: a certified bracket of the time.
//!
//! `cargo run --example first_contact`
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use clearance_geometry::Vec3;
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::{HullError, convex_hull};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;

fn main() -> Result<(), HullError> {
    let corners: Vec<Vec3> =
        (0..8).map(|i| Vec3::from([0, 1, 2].map(|axis| f64::from(i >> axis & 1)))).collect();
    let cube = convex_hull(&corners)?.polytope;
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));

    // Two metres towards the first in one step, and a quarter turn about the vertical.
    let tumbling = Motion::Screw {
        pivot: None,
        velocity: Vec3::new(-2.0, 0.0, 0.0),
        axis: Vec3::new(0.0, 0.0, 1.0),
        angle: std::f64::consts::FRAC_PI_2,
    };
    let question = Question::new(pair, Motion::rest(), tumbling);
    let answer = first_contact(&question, &mut Witness::default(), &mut Effort::unlimited());
    let answer = answer.expect("no limit was set");
    println!("{:?}, proven free until t = {:.6}", answer.outcome, answer.t_free);
    println!("in contact at t = {:.6}", answer.t_contact);
    println!("the bracket is narrower than 1e-9: {}", answer.t_contact - answer.t_free < 1e-9);
    println!("separating directions, one after the other: {}", answer.chain.len());

    // With a reach, contact means: no farther apart than that.
    let with_margin = Question { reach: 0.1.into(), ..question };
    let earlier = first_contact(&with_margin, &mut Witness::default(), &mut Effort::unlimited());
    let earlier = earlier.expect("no limit was set");
    println!("within 0.1 metres of each other at t = {:.6}", earlier.t_contact);
    Ok(())
}
