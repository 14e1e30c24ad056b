//! A cylinder, a cone or an ellipsoid beside a cloud: every ball that is near the polytope around
//! it is asked about, as any rounded point beside a curved body.

use std::sync::Arc;

use super::curved::{CurvedDeep, CurvedPair, HowFar};
use clearance_bodies::Body;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::{AroundHull, PlacedCloud};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pair::{Pair, Placed};
use clearance_geometry::rounded::RoundedPair;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct CurvedBesideCloud<'a> {
    pub(super) body: &'a Body,
    /// Around the body without its radius.
    pub(super) hull: Placed<'a>,
    /// Of the balls around all points of the body, metres.
    pub(super) radius: f64,
    /// At least the skew of the hull's pose.
    pub(super) skew: f64,
    pub(super) cloud: PlacedCloud<'a>,
}

/// The nearest ball of a cloud, or the deepest, as far as that is known.
#[derive(Clone, Debug)]
pub(super) struct NearestOfCurved {
    /// The ball is around the point of this number.
    pub(super) point: u32,
    /// How the body and the cloud stand; none: that is unresolved.
    pub(super) verdict: Option<Verdict>,
    /// At most the signed clearance of any ball, metres.
    pub(super) lower: f64,
    /// At least that of this ball.
    pub(super) upper: f64,
}

/// How the balls stand that are nearest contact.
#[derive(Clone, Copy, Debug, Default)]
struct Closest {
    /// The first that overlaps, or else the first that touches.
    contact: Option<(Verdict, u32)>,
    /// The first of which it is unresolved.
    open: Option<u32>,
}

impl CurvedBesideCloud<'_> {
    /// How they stand with another margin around the balls; with a margin whether they are within
    /// it, which is told as touching. [`Stopped::Unresolved`] where that is not told of a ball.
    pub(super) fn verdict(&self, margin: f64, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        let closest = self.closest(margin, effort)?;
        match (closest.contact, closest.open) {
            (Some((Verdict::Overlapping, _)), _) => Ok(Verdict::Overlapping),
            (_, Some(_)) => Err(Stopped::Unresolved),
            (Some((verdict, _)), None) => Ok(verdict),
            (None, None) => Ok(Verdict::Separated),
        }
    }

    fn closest(&self, margin: f64, effort: &mut Effort<'_>) -> Result<Closest, Stopped> {
        let mut closest = Closest::default();
        let around = self.cloud.verdict(&self.hull, self.skew, margin, effort)?;
        if around == Verdict::Separated {
            return Ok(closest);
        }
        self.each_near(margin, effort, |point, effort| {
            let verdict = match self.with_ball(point, |pair| pair.within(margin, effort)) {
                Err(Stopped::Unresolved) => {
                    closest.open = Some(closest.open.map_or(point, |known| known.min(point)));
                    return Ok(margin);
                }
                known => known?,
            };
            let is_worse = closest
                .contact
                .is_none_or(|(worst, first)| verdict > worst || verdict == worst && point < first);
            if verdict != Verdict::Separated && is_worse {
                closest.contact = Some((verdict, point));
            }
            // Nothing is nearer than what overlaps.
            let is_worst = verdict == Verdict::Overlapping;
            Ok(if is_worst { f64::NEG_INFINITY } else { margin })
        })?;
        Ok(closest)
    }

    /// The nearest ball, or the deepest; none: all are farther than `above`. How deep the cloud
    /// overlaps is known within the depth in the polytope around the body.
    pub(super) fn nearest(
        &self,
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<NearestOfCurved>, Stopped> {
        let closest = self.closest(0.0, effort)?;
        if closest.contact.is_none() && closest.open.is_none() {
            return if above < 0.0 { Ok(None) } else { self.nearest_apart(above, effort) };
        }
        let around = self.cloud.nearest(&self.hull, self.skew, 0.0, effort)?;
        let deepest = around.map_or(0.0, |nearest| nearest.clearance.lower.min(0.0));
        let overlaps = matches!(closest.contact, Some((Verdict::Overlapping, _)));
        let (point, verdict, upper) = match (closest.contact, closest.open) {
            (Some((Verdict::Overlapping, first)), _) => {
                let point = around.map_or(first, |nearest| nearest.point);
                let deep = |point, effort: &mut Effort<'_>| -> Result<f64, Stopped> {
                    let CurvedDeep { bounds, .. } =
                        self.with_ball(point, |pair| pair.depth(effort))?;
                    Ok(bounds[0])
                };
                // What is deepest in the polytope may not be in the body.
                let [of_deepest, of_first] = [deep(point, effort)?, deep(first, effort)?];
                let is_deepest = of_deepest > 0.0 && of_deepest >= of_first;
                let point = if is_deepest { point } else { first };
                (point, Some(Verdict::Overlapping), 0.0 - of_deepest.max(of_first))
            }
            (_, Some(point)) => {
                let far = self.with_ball(point, |pair| pair.distance(Stops::default(), effort))?;
                let upper = if let HowFar::Unresolved([_, upper]) = far { upper } else { 0.0 };
                (point, None, upper)
            }
            (Some((verdict, point)), None) => (point, Some(verdict), 0.0),
            (None, None) => return Ok(None),
        };
        let lower = if overlaps || verdict.is_none() { deepest } else { 0.0 };
        Ok((lower <= above).then_some(NearestOfCurved { point, verdict, lower, upper }))
    }

    /// The nearest ball of a cloud that is apart, unless it is farther than `above`.
    fn nearest_apart(
        &self,
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<NearestOfCurved>, Stopped> {
        let mut best: Option<NearestOfCurved> = None;
        let mut least = f64::INFINITY;
        self.each_near(above, effort, |point, effort| {
            let known = best.as_ref().map_or(above, |best| best.upper.min(above));
            let stops = Stops { above: known.is_finite().then_some(known), below: None };
            let far = self.with_ball(point, |pair| pair.distance(stops, effort))?;
            let HowFar::Apart(apart) = far else { return Ok(known) };
            least = least.min(apart.lower);
            let is_first = best.as_ref().is_none_or(|best| {
                apart.upper < best.upper || apart.upper <= best.upper && point < best.point
            });
            if is_first {
                let (verdict, lower, upper) = (Some(Verdict::Separated), apart.lower, apart.upper);
                best = Some(NearestOfCurved { point, verdict, lower, upper });
            }
            Ok(best.as_ref().map_or(known, |best| best.upper.min(known)))
        })?;
        Ok(best.map(|best| NearestOfCurved { lower: best.lower.min(least), ..best }))
    }

    /// Where the body and the nearest ball are so, on the body and on the ball, and the unit vector
    /// from the body towards the ball.
    pub(super) fn nearest_points(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(Vec3, Vec3, Vec3)>, Stopped> {
        let Some(nearest) = self.nearest(f64::INFINITY, effort)? else { return Ok(None) };
        self.with_ball(nearest.point, |pair| pair.nearest_points(effort))
    }

    fn each_near(
        &self,
        within: f64,
        effort: &mut Effort<'_>,
        visit: impl FnMut(u32, &mut Effort<'_>) -> Result<f64, Stopped>,
    ) -> Result<(), Stopped> {
        let around = AroundHull { hull: self.hull, skew: self.skew, within };
        self.cloud.each_near(&around, effort, visit)
    }

    /// The body and a ball.
    fn with_ball<T>(&self, point: u32, ask: impl FnOnce(&CurvedPair<'_>) -> T) -> T {
        let centre = convex_hull(&[self.cloud.point(point)]);
        let centre = Arc::new(centre.expect("a point of a cloud is finite").polytope);
        let ball = Body::from(centre.clone()).rounded(self.cloud.radius());
        let Placed { body, pose } = self.hull;
        let cores = Pair::new(body, pose, &centre, *self.cloud.pose());
        let hulls = RoundedPair { cores, radii: [self.radius, self.cloud.radius()] };
        ask(&CurvedPair { bodies: [self.body, &ball], hulls })
    }
}
