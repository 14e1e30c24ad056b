//! The linear program's crowds: bodies that fly about in a cube and turn (Akgunduz et al. 2005, §6,
//! experiments 2 to 4).

use std::sync::Arc;

use super::bench::attitude;
use super::library::OrientedBox;
use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// The library's body that experiment 2 has many of.
const IDENTICAL: usize = 12;
/// How many bodies the other experiments draw from the library.
pub(super) const DIFFERENT: usize = 10;

/// Bodies that fly about in a cube.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    pub(super) count: usize,
    /// Of a crowd of more than ten bodies several are alike.
    pub(super) are_different: bool,
    /// Edge of the cube.
    pub(super) cube: f64,
    /// Units a frame.
    pub(super) speed: f64,
    /// Largest turn about each axis in a frame.
    pub(super) turn_degrees: f64,
}

impl Default for Crowd {
    fn default() -> Self {
        Self { count: DIFFERENT, are_different: false, cube: 6.0, speed: 0.05, turn_degrees: 10.0 }
    }
}

impl Crowd {
    /// Its bodies at random places, in random attitudes, on their ways in random directions.
    pub(super) fn members(
        &self,
        library: &[Arc<Polytope>],
        random: &mut Random,
    ) -> Vec<CrowdMember> {
        let half = 0.5 * self.cube;
        let bodies = self.drawn(library, random);
        let member = |body| {
            let at = Vec3::from_fn(|_, _| random.between(-half, half));
            let pose = Pose { translation: at, ..attitude(random) };
            CrowdMember { body, pose, velocity: random.direction() * self.speed }
        };
        bodies.into_iter().map(member).collect()
    }

    /// Ten different bodies of the library, drawn at random, in turn; or as many of one as are
    /// wanted.
    fn drawn(&self, library: &[Arc<Polytope>], random: &mut Random) -> Vec<Arc<Polytope>> {
        if !self.are_different {
            return vec![library[IDENTICAL].clone(); self.count];
        }
        let mut left: Vec<&Arc<Polytope>> = library.iter().collect();
        let mut draw = || left.swap_remove(random.below(left.len() as u64) as usize);
        let ten: Vec<&Arc<Polytope>> = (0..DIFFERENT).map(|_| draw()).collect();
        (0..self.count).map(|index| ten[index % DIFFERENT].clone()).collect()
    }

    /// One frame on: each body flies, comes back from the walls, and turns.
    pub(super) fn go_on(&self, members: &mut [CrowdMember], random: &mut Random) {
        for member in members {
            member.fly(0.5 * self.cube);
            member.turn(self.turn_degrees, random);
        }
    }
}

/// A moving body.
pub(super) struct CrowdMember {
    pub(super) body: Arc<Polytope>,
    pub(super) pose: Pose,
    pub(super) velocity: Vec3,
}

impl CrowdMember {
    /// Random turns of at most so many degrees about the three axes in turn.
    pub(super) fn turn(&mut self, degrees: f64, random: &mut Random) {
        for axis in 0..3 {
            let (sin, cos) = (0.5 * random.between(0.0, degrees).to_radians()).sin_cos();
            let mut quaternion = [cos, 0.0, 0.0, 0.0];
            quaternion[axis + 1] = sin;
            if let Ok(turn) = Pose::from_quaternion(Vec3::zeros(), quaternion) {
                self.pose.rotation = turn.rotation * self.pose.rotation;
            }
        }
        // Orthogonal again, so that rounding does not grow over a thousand frames.
        let x: Vec3 = self.pose.rotation.column(0).normalize();
        let y: Vec3 = self.pose.rotation.column(1).into_owned();
        let y = (y - x * x.dot(&y)).normalize();
        self.pose.rotation.set_column(0, &x);
        self.pose.rotation.set_column(1, &y);
        self.pose.rotation.set_column(2, &x.cross(&y));
    }

    /// One frame on, and back from the walls.
    fn fly(&mut self, half: f64) {
        self.pose.translation += self.velocity;
        for axis in 0..3 {
            if self.pose.translation[axis].abs() > half {
                let inward = -self.pose.translation[axis];
                self.velocity[axis] = self.velocity[axis].copysign(inward);
            }
        }
    }

    pub(super) fn oriented_box(&self) -> OrientedBox {
        OrientedBox::around(&self.body, self.pose)
    }

    pub(super) fn pair<'b>(&'b self, other: &'b Self) -> Pair<'b> {
        Pair::new(&self.body, self.pose, &other.body, other.pose)
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::bodies;
    use super::*;

    #[test]
    fn ten_bodies_are_drawn_and_no_two_are_the_same() {
        let crowd = Crowd { are_different: true, ..Crowd::default() };
        let drawn = crowd.drawn(&bodies(), &mut Random::new(7));
        let mut counts: Vec<u32> = drawn.iter().map(|body| body.vertex_count()).collect();
        counts.sort_unstable();
        counts.dedup();
        assert_eq!(counts.len(), DIFFERENT);
    }

    #[test]
    fn bodies_stay_in_their_cube() {
        let crowd = Crowd { cube: 2.0, speed: 0.4, ..Crowd::default() };
        let mut random = Random::new(7);
        let mut members = crowd.members(&bodies(), &mut random);
        for _ in 0..1000 {
            crowd.go_on(&mut members, &mut random);
            for member in &members {
                assert!(member.pose.translation.amax() <= 1.0 + crowd.speed);
            }
        }
    }
}
