//! Whether a point of a cloud is inside a region on whose boundary it is not. Exact.
//!
//! Groups of points are walked down. Where the box around a group meets the box of no triangle of
//! the region, all of the group is inside or all of it outside, and a ray from one point tells.

use std::collections::BTreeMap;

use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::polyhedron::groups::{Boundary, BoundaryKind, FaceGroups};
use crate::polyhedron::placed::{Exact, Stand, Whose};
use crate::polyhedron::ray::{Start, crosses_odd};
use crate::polyhedron::tree::{Extent, Node, NodeBoxes};
use crate::polyhedron::{Polyhedron, TriangleSurface};

/// A cloud beside a region, where they are.
pub(super) struct CloudInRegion<'a, 'b> {
    cloud: &'a TriangleSurface,
    groups: &'b FaceGroups<'a>,
    region: Stand<'a>,
    /// The cloud is P, whichever of the bodies it is.
    exact: Exact<'a>,
}

/// Boxes of a region that are looked at for one group: of a large group that is somewhere inside
/// many are near, and halving it costs less.
const BOXES_MAX: u32 = 64;

impl<'a, 'b> CloudInRegion<'a, 'b> {
    /// None: the bodies are not a cloud and a region in this order.
    pub(super) fn new(
        cloud: &Boundary<'a>,
        groups: &'b FaceGroups<'a>,
        region: &Boundary<'a>,
    ) -> Option<Self> {
        let points = cloud_of(cloud)?;
        let (BoundaryKind::Region(body), pose) = (region.kind, region.pose) else { return None };
        let exact = Exact::new([(points, &cloud.pose), (Polyhedron::surface(body), &pose)]);
        Some(Self { cloud: points, groups, region: Stand::on_demand(body, pose), exact })
    }

    /// A point that is strictly inside, if one is: its triangle, which is all of a cloud that names
    /// it. `on` are those that are on the boundary. A step is a group, or a box of the region.
    pub(super) fn first_inside(
        &mut self,
        on: &BTreeMap<u32, Node>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<u32>, Stopped> {
        let mut open = vec![self.groups.root()];
        while let Some(node) = open.pop() {
            effort.spend_step()?;
            let Some(around) = self.extent(node) else { continue };
            if !self.region.whole().meets(&around) {
                continue;
            }
            match node.children() {
                Some(halves) if self.may_be_cut(&around, effort)? => {
                    open.extend(halves.into_iter().rev());
                }
                _ => {
                    let triangle = self.cloud.tree().triangles(node)[0];
                    if !on.contains_key(&triangle) && self.is_inside(triangle, &around, effort)? {
                        return Ok(Some(triangle));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The box along the axes around a group.
    fn extent(&self, node: Node) -> Option<Extent> {
        let placed = self.groups.placed_box(node)?;
        let reach = Vec3::from_fn(|k, _| {
            let axis = Vec3::from_fn(|row, _| f64::from(u8::from(row == k)));
            placed.reach(&axis)
        });
        let low = (placed.centre - reach).map(f64::next_down);
        Some(Extent { low, high: (placed.centre + reach).map(f64::next_up) })
    }

    /// Whether the boundary may come into a box.
    fn may_be_cut(&self, around: &Extent, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        let mut open = vec![self.region.tree().root()];
        for _ in 0..BOXES_MAX {
            let Some(node) = open.pop() else { return Ok(false) };
            effort.spend_step()?;
            if !self.region.extent(node).meets(around) {
                continue;
            }
            match node.children() {
                None => return Ok(true),
                Some(halves) => open.extend(halves),
            }
        }
        Ok(true)
    }

    /// Of a point that is in the box and on no triangle of the region.
    fn is_inside(
        &mut self,
        triangle: u32,
        around: &Extent,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let [vertex, ..] = self.cloud.triangle(triangle);
        let start = Start::at(self.exact.point((Whose::P, vertex)).clone(), *around);
        let (region, exact) = (&self.region, &mut self.exact);
        crosses_odd(&start, region, effort, |face| {
            Some(region.body.triangle(face).map(|at| exact.point((Whose::Q, at)).clone()))
        })
    }
}

/// The points that a body is, if it is nothing else.
pub(super) fn cloud_of<'a>(body: &Boundary<'a>) -> Option<&'a TriangleSurface> {
    match body.kind {
        BoundaryKind::Surface(surface) => Some(surface).filter(|surface| surface.are_points()),
        BoundaryKind::Hull | BoundaryKind::Region(_) => None,
    }
}
