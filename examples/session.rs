//! A scene without a server: frames in, contacts out. Nothing tunnels between two frames.
//!
//! `cargo run --example session`
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;
use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_geometry::until::Until;
use clearance_scene::{
    Between, Body, BodyId, Declaration, Frame, Limits, Move, Questions, Scene, Serial,
};

const LIMITS: Limits =
    Limits { bodies_max: 100, parts_max: 100, classes_max: 10, pairs_max: 1000, listed_max: 1000 };

fn main() -> Result<(), Box<dyn Error>> {
    let corners: Vec<Vec3> =
        (0..8).map(|i| Vec3::from([0, 1, 2].map(|axis| f64::from(i >> axis & 1)))).collect();
    let cube = Arc::new(convex_hull(&corners)?.polytope);
    let (wall, cart) = (Body::solid(1, cube.clone()), Body::solid(2, cube));
    let wall = Body { fixed: true, ..wall };
    let cart = cart.placed(Pose::translation(4.0, 0.0, 0.0));
    let bodies = vec![wall, cart];
    let mut scene = Scene::open(Declaration { bodies, ..Default::default() }, &METHODS[0], LIMITS)?;

    let questions = Questions { between: Some(Between::default()), ..Default::default() };
    scene.answer(&questions, &Serial, Until::never())?;
    for (id, x) in (1..).zip([2.0, -2.0, -2.5]) {
        let pose = Pose::translation(x, 0.0, 0.0);
        let rolled = Move::new(BodyId(2), pose);
        let frame = Frame { id, moves: vec![rolled], ..Default::default() };
        let report = scene.step(&frame, &questions, &Serial)?.report;
        println!("frame {id}: the cart is at x = {x}, {} pair separated", report.tally.separated);
        for event in &report.events {
            let [from, to] = event.bracket;
            println!("  contact {:?} in [{from}, {to}]", event.kind);
        }
    }
    Ok(())
}
