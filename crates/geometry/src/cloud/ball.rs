//! One ball of a cloud beside a hull, exactly: by the verdicts, distances and depths of rounded
//! bodies, or where the radius is zero those of polytopes.

use std::cmp::Ordering;

use crate::Vec3;
use crate::claim::{Reach, Verdict};
use crate::distance::{self, Stops, compare_with_reach};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::meeting::normal_of;
use crate::pair::{Pair, Placed};
use crate::penetration;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::rounded::{self, RoundedPair};
use crate::separation::{METHODS, decide};
use crate::witness::Witness;

/// The signed distance of a hull and a ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallClearance {
    /// Says how the hull and the ball stand.
    pub verdict: Verdict,
    /// At most the exact distance, or minus the exact depth, metres.
    pub lower: f64,
    /// At least that.
    pub upper: f64,
    /// The unit vector, rounded, from the ball towards the hull: moving the hull along it makes the
    /// signed distance grow by as much. None where rounding leaves no direction.
    pub towards_hull: Option<Vec3>,
}

/// A ball beside a hull: the hull, and the centre as a polytope of one vertex.
pub(super) struct BallBeside<'a> {
    hull: Placed<'a>,
    centre: Polytope,
    pose: Pose,
}

impl<'a> BallBeside<'a> {
    /// The ball around a point of a cloud with this pose.
    pub(super) fn new(hull: &Placed<'a>, point: Vec3, pose: &Pose) -> Self {
        let centre = convex_hull(&[point]).expect("a point of a cloud is finite").polytope;
        Self { hull: *hull, centre, pose: *pose }
    }

    fn cores(&self) -> Pair<'_> {
        Pair::new(self.hull.body, self.hull.pose, &self.centre, self.pose)
    }

    /// How the hull and the centre stand against a reach.
    pub(super) fn verdict(
        &self,
        reach: Reach,
        effort: &mut Effort<'_>,
    ) -> Result<Verdict, Stopped> {
        let (cores, witness) = (self.cores(), &mut Witness::default());
        if reach.is_zero() {
            return Ok(decide(&cores, &METHODS[0], witness, effort)?.verdict());
        }
        Ok(match compare_with_reach(&cores, reach, witness, effort)?.order {
            Ordering::Less => Verdict::Overlapping,
            Ordering::Equal => Verdict::Touching,
            Ordering::Greater => Verdict::Separated,
        })
    }

    /// How far the ball is from the hull, or how deep in it, with these radii of balls around the
    /// points of the hull and around the centre.
    pub(super) fn clearance(
        &self,
        radii: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<BallClearance, Stopped> {
        let is_rounded = radii.iter().any(|radius| *radius > 0.0);
        if is_rounded { self.of_ball(radii, effort) } else { self.of_point(effort) }
    }

    fn of_ball(&self, radii: [f64; 2], effort: &mut Effort<'_>) -> Result<BallClearance, Stopped> {
        let (pair, witness) = (RoundedPair { cores: self.cores(), radii }, &mut Witness::default());
        let method = &distance::METHODS[0];
        let apart = rounded::measure(&pair, method, Stops::default(), witness, effort)?;
        let verdict = apart.proof.verdict;
        if verdict != Verdict::Overlapping {
            let towards_hull = apart.normal;
            let (lower, upper) = (apart.lower, apart.upper);
            let known = BallClearance { verdict, lower, upper, towards_hull };
            return unless_stopped(known, apart.stopped);
        }
        let deep = rounded::measure_depth(&pair, false, witness, effort)?;
        unless_stopped(of_depth([deep.lower, deep.upper], deep.direction), deep.stopped)
    }

    fn of_point(&self, effort: &mut Effort<'_>) -> Result<BallClearance, Stopped> {
        let (pair, witness) = (self.cores(), &mut Witness::default());
        let apart = distance::measure(&pair, Stops::default(), witness, effort)?;
        let verdict = apart.decision.verdict();
        if verdict != Verdict::Overlapping {
            let towards_hull = normal_of(&pair, &apart, None);
            let (lower, upper) = (apart.lower, apart.upper);
            let known = BallClearance { verdict, lower, upper, towards_hull };
            return unless_stopped(known, apart.stopped);
        }
        let deep = penetration::measure(&pair, false, witness, effort)?;
        unless_stopped(of_depth([deep.lower, deep.upper], deep.direction), deep.stopped)
    }
}

/// Of bodies that overlap by a depth in this bracket; the direction may be zero.
fn of_depth([lower, upper]: [f64; 2], direction: Vec3) -> BallClearance {
    let towards_hull = (direction.norm_squared() > 0.0).then_some(direction);
    let (lower, upper) = (0.0 - upper, 0.0 - lower);
    BallClearance { verdict: Verdict::Overlapping, lower, upper, towards_hull }
}

fn unless_stopped(
    known: BallClearance,
    stopped: Option<Stopped>,
) -> Result<BallClearance, Stopped> {
    stopped.map_or(Ok(known), Err)
}
