//! A verifier: the judges alone decide whether a proof holds. They share no code with the searches,
//! so the answers may come from anywhere.
//!
//! `cargo run --example verify`
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use clearance_geometry::Vec3;
use clearance_geometry::claim::{Direction, StaticProof};
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::{HullError, convex_hull};
use clearance_geometry::judge::{judge_first_contact, judge_static};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;

fn main() -> Result<(), HullError> {
    let corners: Vec<Vec3> =
        (0..8).map(|i| Vec3::from([0, 1, 2].map(|axis| f64::from(i >> axis & 1)))).collect();
    let cube = convex_hull(&corners)?.polytope;
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.5, 0.0));

    // Somebody says that these directions separate the two.
    for claimed in [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)] {
        let proof = StaticProof::Separated { direction: Direction::Vector(claimed) };
        match judge_static(&pair, &proof) {
            Ok(()) => println!("{claimed:?} separates"),
            Err(refusal) => println!("{claimed:?}: {refusal}"),
        }
    }

    // A motion's answer, as it is and with a bracket that promises too much.
    let falling = Motion::Linear { velocity: Vec3::new(-4.0, 0.0, 0.0) };
    let question = Question::new(pair, Motion::rest(), falling);
    let answer = first_contact(&question, &mut Witness::default(), &mut Effort::unlimited());
    let mut answer = answer.expect("no limit was set");
    println!("contact at t = {}: {:?}", answer.t_contact, judge_first_contact(&question, &answer));
    (answer.t_free, answer.t_contact) = (0.6, 0.7);
    match judge_first_contact(&question, &answer) {
        Ok(()) => println!("free until 0.6"),
        Err(refusal) => println!("free until 0.6: {refusal}"),
    }
    Ok(())
}
