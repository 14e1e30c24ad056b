//! The crowds of experiments 2 to 4 of the linear program (Akgunduz et al. 2005, §6) as they fly in
//! `linear_program_scenes`: for programs that ask other questions about the same scenes.

use std::sync::Arc;

use super::library::bodies;
use super::linear_program_scenes::crowds;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// A crowd and its way.
#[derive(Clone, Debug)]
pub struct Flight {
    /// Which crowd of which experiment.
    pub name: String,
    /// Its bodies.
    pub bodies: Vec<Arc<Polytope>>,
    /// Where they are: at first, and in each frame.
    pub poses: Vec<Vec<Pose>>,
}

/// The flights of all crowds; `frames` says how many frames a crowd of so many bodies flies.
pub fn flights(frames: impl Fn(usize) -> u64) -> impl Iterator<Item = Flight> {
    let library = bodies();
    crowds().into_iter().map(move |(spot, crowd)| {
        let mut random = Random::new(7);
        let mut members = crowd.members(&library, &mut random);
        let bodies = members.iter().map(|member| member.body.clone()).collect();
        let mut poses = vec![members.iter().map(|member| member.pose).collect::<Vec<_>>()];
        for _ in 0..frames(crowd.count) {
            crowd.go_on(&mut members, &mut random);
            poses.push(members.iter().map(|member| member.pose).collect());
        }
        let name = format!("{}, {} bodies", spot.name(), crowd.count);
        Flight { name, bodies, poses }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crowd_flies_under_a_name_of_its_own() {
        let flights: Vec<Flight> = flights(|_| 2).collect();
        let mut names: Vec<&str> = flights.iter().map(|flight| flight.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), flights.len()), (53, 53));
        for flight in &flights {
            assert_eq!(flight.poses.len(), 3);
            assert!(flight.poses.iter().all(|poses| poses.len() == flight.bodies.len()));
        }
    }
}
