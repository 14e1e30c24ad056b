//! When two moving bodies first overlap at least as deep as a margin below 0 says.
//!
//! The depth of convex bodies changes by no more than their points move, and so does the distance.
//! So from one time the bodies are free for as long as the points take to close what is left; that
//! is the first walk. Where it comes to an end, a second walk looks for a time at which they are as
//! deep as that. Of bodies that are not both convex the hulls, which are at least as deep, go the
//! first walk, and the deepest two pieces, which are at most as deep, the second; until the bodies
//! touch, their distance is enough. What is between the two walks is the bracket.

use super::cells::{answered, box_of, kinds};
use super::course::{FirstContactAnswer, Motions, at_start};
use super::depth::{DepthQuestion, MeasuredDepth};
use super::distance::{DistanceAsked, MeasuredDistance, ask_distance};
use super::row::{NotAnswered, Wanted};
use super::verdict::{VerdictQuestion, ask_verdict};
use crate::body::PlacedBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::meeting::Impact;
use clearance_geometry::motion::{METRES, Motion, Track};
use clearance_geometry::number::interval::{Interval, norm, sub};
use clearance_geometry::number::rounding::OUTWARD;
use clearance_geometry::pose::{Pose, STRETCH_MAX};

/// A step of the first walk that is shorter than this part of the tolerance ends it.
const FINEST: f64 = 0.25;
/// How much farther the second walk goes with each step that shows nothing, at least.
const GROWTH: f64 = 2.0;
/// The longest step of the second walk on which they might be so deep.
const LONGEST: f64 = 1.0 / 64.0;
/// So many looks each walk takes at most.
const LOOKS_MAX: u32 = 4_096;
/// So often a contact is looked for earlier.
const HALVINGS_MAX: u32 = 64;

/// Two bodies that are asked when they are so deep in each other, ready.
#[derive(Clone, Debug)]
pub(super) struct ReadyDeep {
    bodies: [PlacedBody; 2],
}

/// How deep two bodies are at a time, below 0 where they are apart: of every motion that is as far
/// from the stated one as rounding is.
#[derive(Clone, Copy, Debug)]
struct DepthThen {
    /// At most how deep they are.
    lower: f64,
    /// At least how deep; infinite where nothing is known for any time after.
    upper: f64,
}

impl ReadyDeep {
    /// Refuses bodies of which depths, distances and verdicts are not answered.
    pub(super) fn new(bodies: [PlacedBody; 2]) -> Result<Self, NotAnswered> {
        VerdictQuestion::of(kinds(&bodies), None)?.prepare(bodies.clone())?;
        DepthQuestion::of(kinds(&bodies))?.prepare(bodies.clone())?;
        Ok(Self { bodies })
    }

    /// When they first are so deep.
    pub(super) fn first_contact(
        &self,
        motions: &Motions,
        with_impact: bool,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        let none = wanted.proven(|| Err(Unproven::NoClaim));
        let margin = Some(motions.margin);
        let stands = answered(ask_verdict(self.bodies.clone(), margin, Wanted::NO_PROOF, effort))?;
        let initial = stands.decided?.verdict;
        let mut found = match stands.compared.map(|it| it.is_some_and(|found| found.is_within)) {
            Ok(true) => at_start(initial, none),
            Ok(false) => {
                let course = DeepCourse::new(&self.bodies, motions).walk(effort);
                FirstContactAnswer { initial, proof: none, ..course }
            }
            // It is open how deep they are where they start.
            Err(Stopped::Unresolved) => {
                let course = DeepCourse::new(&self.bodies, motions).walk(effort);
                let stopped = course.stopped.or(Some(Stopped::Unresolved));
                FirstContactAnswer { initial, stopped, proof: none, ..course }
            }
            Err(why) => return Err(why),
        };
        if with_impact && found.outcome == Outcome::Contact {
            found.impact = self.impact(motions, found.t_contact, effort)?;
        }
        Ok(found)
    }

    /// A common point where they are so deep, and along which P leaves Q soonest.
    fn impact(
        &self,
        motions: &Motions,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Impact>, Stopped> {
        let bodies = moved(&self.bodies, motions, t);
        let asked = DistanceAsked::default();
        let near = answered(ask_distance(bodies.clone(), asked, Wanted::NO_PROOF, effort))?;
        let closest = near.distance?.closest();
        let normal = depth_of(bodies, effort)?.direction();
        Ok(closest.map(|[_, point]| Impact { point, normal }))
    }
}

fn depth_of(bodies: [PlacedBody; 2], effort: &mut Effort<'_>) -> Result<MeasuredDepth, Stopped> {
    let question = answered(DepthQuestion::of(kinds(&bodies)))?;
    answered(question.prepare(bodies))?.answer(false, effort)
}

fn moved(bodies: &[PlacedBody; 2], motions: &Motions, t: f64) -> [PlacedBody; 2] {
    [0, 1].map(|k| {
        let PlacedBody { body, pose } = &bodies[k];
        PlacedBody { body: body.clone(), pose: motions.of_bodies[k].pose_rounded(pose, t) }
    })
}

/// Two bodies on their ways.
struct DeepCourse<'a> {
    bodies: &'a [PlacedBody; 2],
    motions: &'a Motions,
    ways: [PointsWay; 2],
    /// At least how fast points of both come closer, metres per step.
    speed: f64,
    /// How deep is contact, metres.
    depth: f64,
    are_convex: bool,
    /// Neither turns: then the depth of any bodies changes by no more than they move.
    is_straight: bool,
}

/// How the points of a body go.
struct PointsWay {
    track: Track,
    start: Pose,
    /// At least how far points are from the body's origin along each axis, metres.
    reach: Vec3,
    /// At least how fast any point is, metres per step.
    speed: f64,
}

impl PointsWay {
    fn new(placed: &PlacedBody, motion: &Motion) -> Self {
        let track = Track::new(&placed.pose, motion, METRES);
        let [low, high] = box_of(&placed.body);
        let reach = low.abs().sup(&high.abs()).add_scalar(placed.body.radius()) * OUTWARD;
        let size = reach.norm() * OUTWARD;
        let arm = size * STRETCH_MAX + norm(&track.lever).high();
        let residue = track
            .residue()
            .map_or(0.0, |rows| rows.iter().map(|row| norm(row).high()).sum::<f64>() * size);
        let speed = norm(&track.velocity).high() + track.angle.abs() * arm + residue;
        Self { track, start: placed.pose, reach, speed: speed * OUTWARD }
    }

    /// At most how far a point is from where the rounded pose has it.
    fn rounding_at(&self, t: f64, pose: &Pose) -> f64 {
        if t <= 0.0 {
            return 0.0;
        }
        let trig = self.track.trig(t);
        let place = |v: &Vec3| self.track.place_from_start(&trig, t, v);
        let origin = place(&Vec3::zeros());
        let shift: [Interval; 3] = std::array::from_fn(|i| {
            Interval::difference(pose.translation[i], self.start.translation[i])
        });
        let of_origin = norm(&sub(&origin, &shift)).high();
        let of_axes: f64 = (0..3)
            .map(|k| {
                let turned = sub(&place(&Vec3::ith(k, 1.0)), &origin);
                let column: [Interval; 3] =
                    std::array::from_fn(|i| Interval::point(pose.rotation[(i, k)]));
                norm(&sub(&turned, &column)).high() * self.reach[k]
            })
            .sum();
        (of_origin + of_axes) * OUTWARD
    }
}

impl<'a> DeepCourse<'a> {
    fn new(bodies: &'a [PlacedBody; 2], motions: &'a Motions) -> Self {
        let ways = [0, 1].map(|k| PointsWay::new(&bodies[k], &motions.of_bodies[k]));
        let speed = (ways[0].speed + ways[1].speed) * OUTWARD;
        let is_straight = motions.of_bodies.iter().all(|it| matches!(it, Motion::Linear { .. }));
        let are_convex = kinds(bodies).iter().all(|kind| kind.is_convex());
        Self { bodies, motions, ways, speed, depth: -motions.margin, are_convex, is_straight }
    }

    /// How deep they are at a time.
    fn look(&self, t: f64, effort: &mut Effort<'_>) -> Result<DepthThen, Stopped> {
        effort.spend_step()?;
        let bodies = moved(self.bodies, self.motions, t);
        let rounding: f64 =
            self.ways.iter().zip(&bodies).map(|(way, it)| way.rounding_at(t, &it.pose)).sum();
        let found = depth_of(bodies.clone(), effort)?;
        if let Some(why @ (Stopped::Deadline | Stopped::Steps)) = found.stopped() {
            return Err(why);
        }
        let [lower, upper] = match found.verdict() {
            Some(Verdict::Separated) => {
                let asked = DistanceAsked::default();
                let far = answered(ask_distance(bodies, asked, Wanted::NO_PROOF, effort))?;
                let far = far.distance.map_or([0.0; 2], |far| MeasuredDistance::bounds(&far));
                // What is not convex may be deep as soon as it touches what turns.
                let is_gradual = self.are_convex || self.is_straight;
                [-far[1], if is_gradual { -far[0] } else { self.depth - far[0] }]
            }
            // Of bodies in contact that are not convex the hulls tell how it goes on.
            Some(Verdict::Touching) if !self.are_convex && !self.is_straight => {
                let hulls = bodies.each_ref().map(PlacedBody::with_its_hull);
                [0.0, depth_of(hulls, effort)?.bounds()[1]]
            }
            Some(Verdict::Touching | Verdict::Overlapping) | None => found.bounds(),
        };
        Ok(DepthThen { lower: (lower - rounding).next_down(), upper: (upper + rounding).next_up() })
    }

    /// How long they stay free after a look, rounded down.
    fn room(&self, found: &DepthThen) -> f64 {
        let [of_p, of_q] = self.motions.deviations;
        let left = self.depth - (found.upper + of_p + of_q).next_up();
        if self.speed <= 0.0 && left > 0.0 {
            return 1.0;
        }
        // Written so that NaN is none.
        if left > 0.0 { left / self.speed / OUTWARD } else { 0.0 }
    }

    /// The times until which they are free, and by which they are so deep.
    fn walk(&self, effort: &mut Effort<'_>) -> FirstContactAnswer {
        let answer = |outcome, [t_free, t_contact]: [f64; 2], stopped| FirstContactAnswer {
            outcome,
            t_free,
            t_contact,
            stopped,
            ..at_start(Verdict::Separated, Err(None))
        };
        let tolerance = self.motions.time_tolerance;
        let (mut free, mut looks) = (0.0_f64, 0);
        while looks < LOOKS_MAX {
            looks += 1;
            let found = match self.look(free, effort) {
                Ok(found) => found,
                Err(why) => return answer(Outcome::Undecided, [free, 1.0], Some(why)),
            };
            let room = self.room(&found);
            let next = (free + room).next_down();
            if next >= 1.0 || free >= 1.0 && room > 0.0 {
                return answer(Outcome::NoContact, [1.0; 2], None);
            }
            if room < FINEST * tolerance || next <= free {
                break;
            }
            free = next;
        }
        match self.contact_after(free, effort) {
            Ok(Some(t)) => {
                let is_wide = t - free > tolerance;
                let stopped = is_wide.then_some(Stopped::Unresolved);
                answer(Outcome::Contact, [free, t], stopped)
            }
            Ok(None) => answer(Outcome::Undecided, [free, 1.0], Some(Stopped::Unresolved)),
            Err(why) => answer(Outcome::Undecided, [free, 1.0], Some(why)),
        }
    }

    /// A time after this one at which they are so deep, as early as it is found.
    fn contact_after(&self, free: f64, effort: &mut Effort<'_>) -> Result<Option<f64>, Stopped> {
        let tolerance = self.motions.time_tolerance;
        let (mut before, mut step) = (free, FINEST * tolerance);
        for _ in 0..LOOKS_MAX {
            if before >= 1.0 {
                return Ok(None);
            }
            let at = (before + step).min(1.0).max(before.next_up());
            let found = self.look(at, effort)?;
            if found.lower >= self.depth {
                return self.earliest(before, at, effort).map(Some);
            }
            // No earlier than this, but for rounding, they are as deep.
            let needed = (self.depth - found.lower) / self.speed;
            step = (step * GROWTH).min(LONGEST).max(needed);
            before = at;
        }
        Ok(None)
    }

    /// Between a time at which they are not shown to be so deep and one at which they are.
    fn earliest(
        &self,
        mut before: f64,
        mut contact: f64,
        effort: &mut Effort<'_>,
    ) -> Result<f64, Stopped> {
        for _ in 0..HALVINGS_MAX {
            let middle = before + 0.5 * (contact - before);
            let is_narrow = contact - before <= 2.0 * FINEST * self.motions.time_tolerance;
            if is_narrow || middle <= before || middle >= contact {
                break;
            }
            if self.look(middle, effort)?.lower >= self.depth {
                contact = middle;
            } else {
                before = middle;
            }
        }
        Ok(contact)
    }
}
