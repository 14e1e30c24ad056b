//! Two bodies of a cell of which one at least is a cylinder, a cone or an ellipsoid.
//!
//! The hull of such a body is a polytope around it: what is apart from that is apart from the body.
//! All else is asked of the table of bodies, which asks polytopes inside and around both, refined
//! until both tell the same. What the finest do not tell is not told here either.

use std::sync::Arc;

use arrayvec::ArrayVec;
use clearance_bodies::table::depth::{DepthQuestion, MeasuredDepth};
use clearance_bodies::table::distance::{DistanceAnswer, DistanceAsked, DistanceQuestion};
use clearance_bodies::table::proof::CurvedHulls;
use clearance_bodies::table::verdict::{VerdictProof, VerdictQuestion};
use clearance_bodies::table::{Needs, NotAnswered, Wanted};
use clearance_bodies::{Body, Kind, PlacedBody, Unproven};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::{DistanceSide, Stops, compare_beyond};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::distance::FaceDistance;
use clearance_geometry::number::rounding::{BOUND_SLACK, UNIT};
use clearance_geometry::number::tolerance::DRAWN_APART;
use clearance_geometry::pair::Placed;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;

/// A proof in which a curved body is beside a mesh has at most so many steps and links.
pub(super) const COVER_STEPS_MAX: u64 = 1 << 14;

/// How long a question about a curved body may take, nanoseconds: a generous guess.
pub(super) const NANOSECONDS: u64 = 20_000_000;

/// More roundings than a gap along a direction is measured with.
const GAP_ROUNDING: f64 = 64.0;

/// What a question makes of both bodies, bytes at most.
pub(super) fn bytes_of_question() -> usize {
    let of_one = Needs::NOTHING.bytes_made(Kind::of_curved(), 0);
    usize::try_from(2 * of_one).unwrap_or(usize::MAX)
}

/// How far apart two bodies are, if that is less than is of interest.
#[derive(Clone, Debug)]
pub(super) enum HowFar {
    /// They are farther apart.
    Beyond,
    /// They are as far apart as this says.
    Apart(FaceDistance),
    /// They touch or overlap.
    Contact(Verdict),
    /// It is not known how they stand, of which one is curved; they are no farther apart than the
    /// second, metres.
    Unresolved([f64; 2]),
}

/// Two placed bodies of which one is curved. The hulls are those of the bodies, with the radii of
/// the balls around all their points.
#[derive(Clone, Debug)]
pub(super) struct CurvedPair<'a> {
    pub(super) bodies: [&'a Body; 2],
    pub(super) hulls: RoundedPair<'a>,
}

/// Polytopes around curved bodies or in them, without balls around their points; of a body that is
/// not curved none.
pub(super) type OfCurved = [Option<Arc<Polytope>>; 2];

/// Polytopes in the places of two bodies, without balls around their points; of one that is not
/// curved its hull.
pub(super) type InTheirPlaces = [Arc<Polytope>; 2];

/// How deep two bodies overlap, by what is between their inner and their outer polytopes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurvedDeep {
    /// How they stand; none: that is unresolved.
    pub(super) verdict: Option<Verdict>,
    /// Encloses the depth, metres.
    pub(super) bounds: [f64; 2],
    /// Along which the first leaves the second soonest.
    pub(super) direction: Option<Vec3>,
}

/// All kinds of bodies that cells and robots have are answered about beside curved ones.
fn known<T>(answer: Result<T, NotAnswered>) -> Result<T, Stopped> {
    answer.map_err(|_| Stopped::Unresolved)
}

impl CurvedPair<'_> {
    fn placed(&self) -> [PlacedBody; 2] {
        let poses = [self.hulls.cores.p.pose, self.hulls.cores.q.pose];
        [0, 1].map(|k| PlacedBody { body: self.bodies[k].clone(), pose: poses[k] })
    }

    fn kinds(&self) -> [Kind; 2] {
        self.bodies.map(Body::kind)
    }

    /// How they stand; [`Stopped::Unresolved`] where the finest polytopes do not tell.
    pub(super) fn verdict(&self, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        let of_hulls = rounded::verdict(&self.hulls, &mut Witness::default(), effort)?.verdict;
        if of_hulls == Verdict::Separated {
            return Ok(Verdict::Separated);
        }
        let question = known(VerdictQuestion::of(self.kinds(), None))?;
        let ready = known(question.prepare(self.placed()))?;
        Ok(ready.answer(Wanted::NO_PROOF, effort).decided?.verdict)
    }

    /// How they stand; where they are apart and within the margin, that is told as touching.
    pub(super) fn within(&self, margin: f64, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        let verdict = self.verdict(effort)?;
        if verdict != Verdict::Separated || margin <= 0.0 {
            return Ok(verdict);
        }
        let is_within = self.is_within(margin, effort)?;
        Ok(if is_within { Verdict::Touching } else { Verdict::Separated })
    }

    /// Whether they are within a margin.
    fn is_within(&self, margin: f64, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        let question = known(VerdictQuestion::of(self.kinds(), Some(margin)))?;
        let ready = known(question.prepare(self.placed()))?;
        let compared = ready.answer(Wanted::NO_PROOF, effort).compared?;
        compared.map(|compared| compared.is_within).ok_or(Stopped::Unresolved)
    }

    /// Polytopes around both, which without balls around their points are farther apart than that.
    /// None: the bodies are not farther apart than it takes, or it is not resolved.
    pub(super) fn around_beyond(
        &self,
        within: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<OfCurved>, Stopped> {
        let cores = &self.hulls.cores;
        let size = |placed: &Placed<'_>| {
            placed.pose.translation.abs().sum() + 2.0 * placed.body.bounds().span
        };
        let [p, q] = self.hulls.radii;
        // Whoever measures the gap along a direction rounds by a part of the coordinates.
        let rounding = GAP_ROUNDING * UNIT * (size(&cores.p) + size(&cores.q) + within);
        let margin = ((within - (p + q)).max(0.0) + rounding) * (1.0 + BOUND_SLACK);
        self.refined(margin, false, effort)
    }

    /// Polytopes in both that are in contact, with their balls, or within the margin. None: it is
    /// not resolved.
    pub(super) fn inside_within(
        &self,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<OfCurved>, Stopped> {
        self.refined(margin, true, effort)
    }

    /// Polytopes around both that show that they are not within a margin, or in both that show
    /// that they are.
    fn refined(
        &self,
        margin: f64,
        is_within: bool,
        effort: &mut Effort<'_>,
    ) -> Result<Option<OfCurved>, Stopped> {
        let question = known(VerdictQuestion::of(self.kinds(), Some(margin)))?;
        let ready = known(question.prepare(self.placed()))?;
        let wanted = Wanted { certificate: true, cover_steps_max: COVER_STEPS_MAX };
        let answer = ready.answer(wanted, effort);
        let (decided, compared) = match (answer.decided, answer.compared) {
            (Ok(decided), Ok(compared)) => (decided, compared),
            (Err(Stopped::Unresolved), _) | (_, Err(Stopped::Unresolved)) => return Ok(None),
            (Err(why), _) | (_, Err(why)) => return Err(why),
        };
        if compared.map(|compared| compared.is_within) != Some(is_within) {
            return Ok(None);
        }
        let proof = match decided.proof {
            Ok(VerdictProof::OfCurved(proof)) => proof,
            Err(Some(Unproven::Stopped(why @ (Stopped::Deadline | Stopped::Steps)))) => {
                return Err(why);
            }
            Ok(_) | Err(_) => return Ok(None),
        };
        let side = |hulls: &CurvedHulls| {
            if is_within { hulls.inside().clone() } else { hulls.around().clone() }
        };
        Ok(Some(proof.hulls.each_ref().map(|hulls| hulls.as_ref().map(side))))
    }

    fn measure(&self, stops: Stops, effort: &mut Effort<'_>) -> Result<DistanceAnswer, Stopped> {
        let question = known(DistanceQuestion::of(self.kinds()))?;
        let ready = known(question.prepare(self.placed()))?;
        let asked = DistanceAsked { stops, margin: None };
        Ok(ready.answer(asked, Wanted::NO_PROOF, effort))
    }

    /// How far apart they are, unless that is more than `stops` asks for.
    pub(super) fn distance(
        &self,
        stops: Stops,
        effort: &mut Effort<'_>,
    ) -> Result<HowFar, Stopped> {
        if let Some(above) = stops.above {
            let (method, witness) = (&clearance_geometry::distance::METHODS[0], Witness::default());
            let around = rounded::measure(&self.hulls, method, stops, &mut { witness }, effort)?;
            if around.proof.verdict == Verdict::Separated && around.lower > above {
                return Ok(HowFar::Beyond);
            }
        }
        let DistanceAnswer { distance, normal, .. } = self.measure(stops, effort)?;
        let found = distance?;
        let [lower, upper] = found.bounds();
        match (found.verdict(), found.stopped()) {
            (_, Some(why @ (Stopped::Deadline | Stopped::Steps))) => Err(why),
            (None, _) => Ok(HowFar::Unresolved([lower, upper])),
            (Some(verdict @ (Verdict::Touching | Verdict::Overlapping)), _) => {
                Ok(HowFar::Contact(verdict))
            }
            (Some(Verdict::Separated), _) if stops.above.is_some_and(|above| lower > above) => {
                Ok(HowFar::Beyond)
            }
            (Some(Verdict::Separated), _) => {
                let closest = found.closest().ok_or(Stopped::Unresolved)?;
                let (pairs, stopped) = (ArrayVec::new(), None);
                let apart = FaceDistance { lower, upper, pairs, closest, normal, stopped };
                Ok(HowFar::Apart(apart))
            }
        }
    }

    /// How deep they overlap.
    pub(super) fn depth(&self, effort: &mut Effort<'_>) -> Result<CurvedDeep, Stopped> {
        let question = known(DepthQuestion::of(self.kinds()))?;
        let found = known(question.prepare(self.placed()))?.answer(false, effort)?;
        if let Some(why @ (Stopped::Deadline | Stopped::Steps)) = found.stopped() {
            return Err(why);
        }
        let (verdict, bounds) = (found.verdict(), MeasuredDepth::bounds(&found));
        Ok(CurvedDeep { verdict, bounds, direction: found.direction() })
    }

    /// How they stand: in contact, which is to be no farther apart than `margin`, or how far apart
    /// beside `within`, which is no less, and beside `within_of_cores` without balls around their
    /// points. None: that is unresolved.
    pub(super) fn side(
        &self,
        margin: f64,
        [within, within_of_cores]: [f64; 2],
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<DistanceSide>, Stopped> {
        let around = compare_beyond(&self.hulls.cores, within_of_cores, witness, effort)?;
        if around == DistanceSide::Beyond {
            return Ok(Some(DistanceSide::Beyond));
        }
        // Between the two it is enough to know that.
        let stops = Stops { above: Some(within), below: Some(within) };
        let found = self.measure(stops, effort)?.distance?;
        if let Some(why @ (Stopped::Deadline | Stopped::Steps)) = found.stopped() {
            return Err(why);
        }
        let [lower, upper] = found.bounds();
        Ok(match found.verdict() {
            None => None,
            Some(Verdict::Touching | Verdict::Overlapping) => Some(DistanceSide::Contact),
            Some(Verdict::Separated) if lower > within => Some(DistanceSide::Beyond),
            Some(Verdict::Separated) if lower > margin => Some(DistanceSide::Within),
            Some(Verdict::Separated) if upper <= margin => Some(DistanceSide::Contact),
            Some(Verdict::Separated) if margin > 0.0 => match self.is_within(margin, effort) {
                Ok(true) => Some(DistanceSide::Contact),
                Ok(false) => Some(DistanceSide::Within),
                Err(Stopped::Unresolved) => None,
                Err(why) => return Err(why),
            },
            Some(Verdict::Separated) => Some(DistanceSide::Within),
        })
    }

    /// The nearest points of both and the unit vector from the first towards the second, as of
    /// polytopes: bodies that overlap are drawn apart along the shortest way. None where rounding
    /// leaves no direction, and where what overlaps is not convex.
    pub(super) fn nearest_points(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(Vec3, Vec3, Vec3)>, Stopped> {
        let DistanceAnswer { distance, normal, .. } = self.measure(Stops::default(), effort)?;
        let found = distance?;
        let (verdict, closest) = (found.verdict(), found.closest());
        if verdict == Some(Verdict::Separated) {
            let Some([first, second]) = closest else { return Ok(None) };
            return Ok(normal.map(|towards_first| (first, second, -towards_first)));
        }
        if !self.kinds().iter().all(|kind| kind.is_convex()) {
            return Ok(None);
        }
        let deep = self.depth(effort)?;
        let Some(direction) = deep.direction.or(normal) else { return Ok(None) };
        let sizes =
            [self.hulls.cores.p.body, self.hulls.cores.q.body].map(|body| body.bounds().radius);
        let away = direction * (deep.bounds[1] + DRAWN_APART * sizes[0].min(sizes[1]));
        let mut drawn = self.clone();
        drawn.hulls.cores.p.pose.translation += away;
        let clear = drawn.measure(Stops::default(), effort)?.distance?;
        let is_clear = clear.verdict() == Some(Verdict::Separated);
        let points = if is_clear {
            clear.closest().map(|[first, second]| [first - away, second])
        } else {
            closest
        };
        Ok(points.map(|[first, second]| (first, second, -direction)))
    }
}
