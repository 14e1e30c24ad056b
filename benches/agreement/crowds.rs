//! The crowds of the linear program's experiments 2 to 4 as scenes of sessions.

use clearance_experiments::{Flight, flights};

use super::script::{Actor, Posed, Script, packed};

/// Crowds of fewer bodies than this fly as much longer, since little happens among ten.
const BODIES_FEW: u64 = 100;

/// The crowds of at most so many bodies; small ones fly longer.
pub(crate) fn crowds(
    bodies_max: usize,
    first_contacts: bool,
    frames: u64,
) -> impl Iterator<Item = Script> {
    let frames = move |bodies: usize| frames * (BODIES_FEW / bodies as u64).max(1);
    let small = flights(frames).filter(move |flight| flight.bodies.len() <= bodies_max);
    small.map(move |flight| script(&flight, first_contacts))
}

fn script(flight: &Flight, first_contacts: bool) -> Script {
    let actor = |shape| Actor { shape, fixed: false, continuous: false };
    // Bodies that are alike are registered once.
    let mut shapes = flight.bodies.clone();
    shapes.sort_by_key(std::sync::Arc::as_ptr);
    shapes.dedup_by_key(|shape| std::sync::Arc::as_ptr(shape));
    let shape_of = |body| shapes.iter().position(|shape| std::sync::Arc::ptr_eq(shape, body));
    let actors = flight.bodies.iter().filter_map(shape_of).map(actor).collect();
    let frame = |poses: &Vec<_>| packed((1..).zip(poses.iter().map(Posed::exactly)));
    let asked = if first_contacts { ", first contacts" } else { "" };
    Script {
        name: format!("{}{asked}", flight.name),
        actors,
        frames: flight.poses.iter().map(frame).collect(),
        shapes,
        first_contacts,
    }
}
