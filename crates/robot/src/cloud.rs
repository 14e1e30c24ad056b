//! Clouds among what stands still: beside the parts of robots, and how they change.

use std::sync::Arc;

use super::cloud_curved::CurvedBesideCloud;
use super::cloud_mesh::MeshBesideCloud;
use clearance_bodies::Body;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::{CloudError, NearestBall, PlacedCloud, PointCloud};
use clearance_geometry::distance::DistanceSide;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::{HullError, convex_hull, convex_hull_with};
use clearance_geometry::pair::Placed;
use clearance_geometry::polyhedron::{BoundaryKind, TriangleBody, TriangleSurface};
use clearance_geometry::polytope::Polytope;

/// A cloud and a box that holds it; cheap to clone.
#[derive(Clone, Debug)]
pub struct BoxedCloud {
    cloud: Arc<PointCloud>,
    around: Arc<Polytope>,
}

/// Points that go, by their numbers, and those that take their place.
#[derive(Clone, Copy, Debug)]
pub struct CloudChange<'a> {
    /// The number of the first that goes, or before which others come.
    pub first: usize,
    /// So many points go.
    pub removed: usize,
    /// Those that come, metres, in the frame of the cloud.
    pub come: &'a [Vec3],
}

/// How much larger the box around balls is made than their radius: a pose may shrink what it
/// places by a little, and balls are as large in the world.
const RADIUS_ROOM: f64 = 1.0 + 1e-5;

impl BoxedCloud {
    /// Puts a box around a cloud.
    pub fn new(cloud: Arc<PointCloud>) -> Self {
        let around = box_around(&cloud);
        Self { cloud, around }
    }

    /// The cloud.
    pub fn cloud(&self) -> &PointCloud {
        &self.cloud
    }

    /// A box that holds all balls, wherever the cloud is placed.
    pub fn around(&self) -> &Arc<Polytope> {
        &self.around
    }

    /// The same as faces without extent, without the balls around them, and their hull.
    pub(super) fn faces(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<(TriangleBody, Arc<Polytope>), Stopped> {
        effort.look_at_clock()?;
        let surface = TriangleSurface::of_points(self.cloud.points());
        let surface = surface.map_err(|_| Stopped::Unresolved)?;
        let hull = convex_hull_with(surface.vertices(), effort).map_err(|error| match error {
            HullError::Stopped(why) => why,
            HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. } => {
                Stopped::Unresolved
            }
        })?;
        Ok((TriangleBody::Surface(Arc::new(surface)), Arc::new(hull.polytope)))
    }

    /// Memory that it takes beyond its own size and its box, bytes.
    pub fn heap_bytes(&self) -> usize {
        size_of::<PointCloud>() + self.cloud.heap_bytes()
    }

    /// Changes the cloud; on an error it is as it was.
    pub fn change(
        &mut self,
        change: &CloudChange<'_>,
        effort: &Effort<'_>,
    ) -> Result<(), CloudError> {
        let CloudChange { first, removed, come } = *change;
        Arc::make_mut(&mut self.cloud).splice(first, removed, come, effort)?;
        self.around = box_around(&self.cloud);
        Ok(())
    }
}

fn box_around(cloud: &PointCloud) -> Arc<Polytope> {
    let reach = Vec3::repeat((cloud.radius() * RADIUS_ROOM).next_up());
    let [low, high] = cloud.corners();
    // Each sum rounds once.
    let ends = [(low - reach).map(f64::next_down), (high + reach).map(f64::next_up)];
    let corner = |i: usize| Vec3::from_fn(|k, _| ends[i >> k & 1][k]);
    let corners: Vec<Vec3> = (0..8).map(corner).collect();
    Arc::new(convex_hull(&corners).expect("clouds keep below the largest coordinates").polytope)
}

/// A part beside a cloud, both placed.
#[derive(Clone, Debug)]
pub(super) struct PartBesideCloud<'a> {
    pub(super) hull: Placed<'a>,
    /// At least that of the hull's pose.
    pub(super) skew: f64,
    pub(super) cloud: PlacedCloud<'a>,
    /// What the part is, if it is made of triangles.
    pub(super) mesh: Option<BoundaryKind<'a>>,
    /// The part, if it is curved, with the radius of the balls around all its points.
    pub(super) curved: Option<(&'a Body, f64)>,
}

impl<'a> PartBesideCloud<'a> {
    /// How they stand, exactly.
    pub(super) fn verdict(&self, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        self.verdict_within(0.0, effort)
    }

    fn verdict_within(&self, margin: f64, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        if let Some(curved) = self.curved() {
            return curved.verdict(margin, effort);
        }
        match self.mesh() {
            Some(mesh) => mesh.verdict(margin, effort),
            None => self.cloud.verdict(&self.hull, self.skew, margin, effort),
        }
    }

    /// The same of a part that is curved.
    pub(super) fn curved(&self) -> Option<CurvedBesideCloud<'a>> {
        let (hull, skew) = (self.hull, self.skew);
        let beside = |(body, radius): (&'a Body, f64)| CurvedBesideCloud {
            body,
            hull,
            radius,
            skew,
            cloud: self.cloud.clone(),
        };
        self.curved.map(beside)
    }

    fn mesh(&self) -> Option<MeshBesideCloud<'a>> {
        let (hull, skew) = (self.hull, self.skew);
        self.mesh.map(|kind| MeshBesideCloud { kind, hull, skew, cloud: self.cloud.clone() })
    }

    /// The nearest ball, or the deepest; none: all are farther than `above`.
    pub(super) fn nearest(
        &self,
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<NearestBall>, Stopped> {
        match self.mesh() {
            Some(mesh) => mesh.nearest(above, effort),
            None => self.cloud.nearest(&self.hull, self.skew, above, effort),
        }
    }

    /// How they stand: in contact, which is to be no farther apart than `margin`, or how far apart
    /// beside `within`, which is no less. None: that of a curved part is unresolved.
    pub(super) fn side(
        &self,
        margin: f64,
        within: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<DistanceSide>, Stopped> {
        let mut is_within = |margin| -> Result<Option<bool>, Stopped> {
            match self.verdict_within(margin, effort) {
                Err(Stopped::Unresolved) if self.curved.is_some() => Ok(None),
                known => Ok(Some(known? != Verdict::Separated)),
            }
        };
        if is_within(within)? == Some(false) {
            return Ok(Some(DistanceSide::Beyond));
        }
        let is_contact = is_within(margin)?;
        let side =
            |is_contact| if is_contact { DistanceSide::Contact } else { DistanceSide::Within };
        Ok(is_contact.map(side))
    }

    /// Where the part and the ball are nearest that are so, on the part and on the ball, and the
    /// unit vector from the part towards the ball; none where rounding leaves no direction, and of
    /// a mesh in contact.
    pub(super) fn nearest_points(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(Vec3, Vec3, Vec3)>, Stopped> {
        if let Some(curved) = self.curved() {
            return curved.nearest_points(effort);
        }
        if let Some(mesh) = self.mesh() {
            return mesh.nearest_points(effort);
        }
        let Some(NearestBall { point, clearance }) = self.nearest(f64::INFINITY, effort)? else {
            return Ok(None);
        };
        let Some(towards_hull) = clearance.towards_hull else { return Ok(None) };
        let (centre, radius) = (self.cloud.place(point), self.cloud.radius());
        let on_ball = centre + towards_hull * radius;
        let on_hull = on_ball + towards_hull * (0.5 * (clearance.lower + clearance.upper));
        Ok(Some((on_hull, on_ball, -towards_hull)))
    }
}
