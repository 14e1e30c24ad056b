//! A mesh beside a cloud: every ball that is near the hull of the mesh is asked about by its faces,
//! as any rounded point beside a mesh.

use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::{AroundHull, BallClearance, NearestBall, PlacedCloud};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::distance::FaceDistance;
use clearance_geometry::faces::{self, Surfaces, margin, standing};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pair::Placed;
use clearance_geometry::polyhedron::{Boundary, BoundaryKind};
use clearance_geometry::polytope::Polytope;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct MeshBesideCloud<'a> {
    pub(super) kind: BoundaryKind<'a>,
    pub(super) hull: Placed<'a>,
    /// At least that of the hull's pose.
    pub(super) skew: f64,
    pub(super) cloud: PlacedCloud<'a>,
}

impl MeshBesideCloud<'_> {
    /// How they stand with another margin around the balls, exactly; with a margin whether they
    /// are within it, which is told as touching.
    pub(super) fn verdict(&self, margin: f64, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        let mut worst = Verdict::Separated;
        self.each_near(margin, effort, |point, effort| {
            worst = worst.max(self.verdict_of(point, margin, effort)?);
            // Nothing is nearer than what overlaps.
            Ok(if worst == Verdict::Overlapping { f64::NEG_INFINITY } else { margin })
        })?;
        Ok(worst)
    }

    /// The nearest ball; none: all are farther than `above`. Where one is in contact, the first of
    /// those that are so most: how deep a mesh overlaps is not measured, and no deeper than its
    /// hull.
    pub(super) fn nearest(
        &self,
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<NearestBall>, Stopped> {
        if let Some((verdict, point)) = self.contact(effort)? {
            let of_hull = self.cloud.nearest(&self.hull, self.skew, 0.0, effort)?;
            let lower = of_hull.map_or(0.0, |nearest| nearest.clearance.lower.min(0.0));
            let clearance = BallClearance { verdict, lower, upper: 0.0, towards_hull: None };
            // It may be deeper than what is known, if its hull is.
            return Ok((lower <= above).then_some(NearestBall { point, clearance }));
        }
        if above < 0.0 {
            return Ok(None);
        }
        Ok(self.nearest_apart(above, effort)?.map(|(nearest, _)| nearest))
    }

    /// Where the mesh and the ball are nearest, on the mesh and on the ball, and the unit vector
    /// from the mesh towards the ball, of bodies that are apart.
    pub(super) fn nearest_points(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(Vec3, Vec3, Vec3)>, Stopped> {
        if self.contact(effort)?.is_some() {
            return Ok(None);
        }
        let found = self.nearest_apart(f64::INFINITY, effort)?;
        Ok(found.and_then(|(_, apart)| {
            let [on_mesh, on_ball] = apart.closest;
            apart.normal.map(|towards_mesh| (on_mesh, on_ball, -towards_mesh))
        }))
    }

    /// How the ball that is in contact most stands, and its point: of several the first.
    fn contact(&self, effort: &mut Effort<'_>) -> Result<Option<(Verdict, u32)>, Stopped> {
        let mut found: Option<(Verdict, u32)> = None;
        self.each_near(0.0, effort, |point, effort| {
            let verdict = self.verdict_of(point, 0.0, effort)?;
            let is_worse = found
                .is_none_or(|(worst, first)| verdict > worst || verdict == worst && point < first);
            if verdict != Verdict::Separated && is_worse {
                found = Some((verdict, point));
            }
            Ok(0.0)
        })?;
        Ok(found)
    }

    /// The nearest ball of a cloud that is apart, unless it is farther than `above`.
    fn nearest_apart(
        &self,
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(NearestBall, FaceDistance)>, Stopped> {
        let mut best: Option<(NearestBall, FaceDistance)> = None;
        let mut least = f64::INFINITY;
        self.each_near(above, effort, |point, effort| {
            let known = best.as_ref().map_or(above, |(best, _)| best.clearance.upper);
            let stops = Stops { above: Some(known), below: None };
            let apart = self
                .with_ball(point, |surfaces| faces::distance::measure(surfaces, stops, effort))?;
            if let Some(why) = apart.stopped {
                return Err(why);
            }
            least = least.min(apart.lower);
            let is_first = best.as_ref().is_none_or(|(best, _)| {
                let known = best.clearance.upper;
                apart.upper < known || apart.upper <= known && point < best.point
            });
            if apart.lower <= known && is_first {
                let (verdict, towards_hull) = (Verdict::Separated, apart.normal);
                let FaceDistance { lower, upper, .. } = apart;
                let clearance = BallClearance { verdict, lower, upper, towards_hull };
                best = Some((NearestBall { point, clearance }, apart));
            }
            Ok(best.as_ref().map_or(known, |(best, _)| best.clearance.upper.min(known)))
        })?;
        let best = best.map(|(mut nearest, apart)| {
            nearest.clearance.lower = nearest.clearance.lower.min(least);
            (nearest, apart)
        });
        Ok(best.filter(|(nearest, _)| nearest.clearance.lower <= above))
    }

    /// How one ball stands.
    fn verdict_of(
        &self,
        point: u32,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Verdict, Stopped> {
        self.with_ball(point, |surfaces| {
            let verdict = standing::stand(surfaces, effort)?.verdict();
            if verdict != Verdict::Separated || margin <= 0.0 {
                return Ok(verdict);
            }
            let is_within = margin::compare(surfaces, margin, effort)?.is_within;
            Ok(if is_within { Verdict::Touching } else { Verdict::Separated })
        })
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

    /// The mesh and a ball, as their boundaries.
    fn with_ball<T>(&self, point: u32, ask: impl FnOnce(&Surfaces<'_>) -> T) -> T {
        let centre: Polytope =
            convex_hull(&[self.cloud.point(point)]).expect("a point of a cloud is finite").polytope;
        let mesh = Boundary { kind: self.kind, hull: self.hull.body, pose: self.hull.pose };
        let ball = Boundary { kind: BoundaryKind::Hull, hull: &centre, pose: *self.cloud.pose() };
        let radii = [0.0, self.cloud.radius()];
        ask(&Surfaces { bodies: [mesh, ball], radii })
    }
}
