//! A box along the axes and what the mesh has in it.
//!
//! The boxes of all cells cover the box around the mesh, and two of them share points of their
//! sides alone. A triangle is listed by a cell if it has points strictly inside of the box, or, one
//! that lies in a side between two cells, by one of the two. So each triangle is covered: of what
//! it has in common with a box that is cut, one of the halves lists all, or each lists its own.
//!
//! The points of a cell are those around all triangles that it lists (`clip`), and the corners of
//! the box next to which the inside of the box is wound around. Their hull holds what the mesh
//! winds around in the cell: an extreme point of the closure of that is a corner of the box, or has
//! points next to it, inside of the box, that are not wound around; then a triangle between those
//! reaches it, which the cell lists.

use super::super::excess::surface::{MeshSurface, Toward};
use super::super::tree::Extent;
use super::clip::{Common, extent_of};
use super::mesh::DecomposedMesh;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::hull::{HullError, convex_hull_with};
use crate::number::orientation::{Axis, Turn, turn};

/// See the module. In the frame of the mesh as it was given.
#[derive(Clone, Debug)]
pub(super) struct MeshCell {
    /// The box.
    pub(super) room: Extent,
    /// Triangles that it lists.
    pub(super) triangles: Vec<u32>,
    /// Vertices of a polytope that holds what the mesh has in the box.
    pub(super) points: Vec<Vec3>,
}

/// A cut of a box: across an axis, at a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlaneCut {
    pub(super) axis: usize,
    pub(super) at: f64,
}

/// Corners that are rounded are drawn outwards by this part of how far they are from the middle of
/// the others on the same side. So the boxes around the exact corners, an ulp wide, are inside, and
/// their own corners are no vertices.
const DRAWN_OUTWARDS: f64 = 1.0 / (1_u64 << 40) as f64;

impl MeshCell {
    /// All of a mesh.
    pub(super) fn whole(
        mesh: &DecomposedMesh<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        let first = mesh.triangle(0)[0];
        let start = Extent { low: first, high: first };
        let all = (0..).take(mesh.count());
        let room = all.clone().fold(start, |e, at| e.joined(&extent_of(&mesh.triangle(at))));
        Self::new(mesh, room, all.collect(), effort)
    }

    fn new(
        mesh: &DecomposedMesh<'_>,
        room: Extent,
        triangles: Vec<u32>,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        let mut common = Common::default();
        for at in &triangles {
            effort.look_at_clock()?;
            common.add(&mesh.triangle(*at), &room);
        }
        if let Some(surface) = mesh.wound() {
            common.points.extend(wound_corners(surface, &room, effort)?);
        }
        let points = hull_points(common, effort)?;
        Ok(Self { room, triangles, points })
    }

    /// What is before the cut, and what is beyond it; none where there is nothing.
    pub(super) fn cut(
        self,
        mesh: &DecomposedMesh<'_>,
        cut: PlaneCut,
        effort: &mut Effort<'_>,
    ) -> Result<[Option<Self>; 2], Stopped> {
        let PlaneCut { axis, at } = cut;
        if self.room.high[axis] <= at {
            return Ok([Some(self), None]);
        }
        if at <= self.room.low[axis] {
            return Ok([None, Some(self)]);
        }
        let (mut before, mut beyond) = (Vec::new(), Vec::new());
        for index in self.triangles {
            effort.look_at_clock()?;
            let triangle = mesh.triangle(index);
            let extent = extent_of(&triangle);
            let (low, high) = (extent.low[axis], extent.high[axis]);
            if high <= at && (low < at || !faces_back(&triangle, axis)) {
                before.push(index);
            } else if low >= at {
                beyond.push(index);
            } else {
                before.push(index);
                beyond.push(index);
            }
        }
        let [mut low, mut high] = [self.room; 2];
        (low.high[axis], high.low[axis]) = (at, at);
        let of = |room, triangles, effort: &mut Effort<'_>| {
            let cell = Self::new(mesh, room, triangles, effort)?;
            Ok((!cell.points.is_empty()).then_some(cell))
        };
        Ok([of(low, before, effort)?, of(high, beyond, effort)?])
    }
}

/// Whether a triangle in a plane across an axis has its outside before it: what it bounds is
/// beyond.
pub(super) fn faces_back([a, b, c]: &[Vec3; 3], axis: usize) -> bool {
    turn(Axis::ALL[axis], a, b, c) == Turn::Right
}

/// The corners of a box.
pub(super) fn corners(room: &Extent) -> impl Iterator<Item = (Vec3, Toward)> + '_ {
    (0..8).map(move |corner: u32| {
        let is_high = [0, 1, 2].map(|k| corner >> k & 1 == 1);
        let at = |k: usize| if is_high[k] { room.high[k] } else { room.low[k] };
        (Vec3::new(at(0), at(1), at(2)), Toward(is_high.map(|is_high| !is_high)))
    })
}

/// Corners of a box next to which the mesh winds around the inside of it.
fn wound_corners(
    surface: &MeshSurface,
    room: &Extent,
    effort: &Effort<'_>,
) -> Result<Vec<Vec3>, Stopped> {
    let mut wound = Vec::new();
    for (corner, inwards) in corners(room) {
        if surface.winding_beside(&corner, inwards, effort)? != 0 {
            wound.push(corner);
        }
    }
    Ok(wound)
}

/// The vertices of a polytope that holds all of these; none if there is nothing.
fn hull_points(common: Common, effort: &mut Effort<'_>) -> Result<Vec<Vec3>, Stopped> {
    let Common { mut points, around } = common;
    for axis in 0..3 {
        let of_axis = around.iter().filter(|(known, _)| *known == axis);
        let mut sides: Vec<&Extent> = of_axis.map(|(_, extent)| extent).collect();
        sides.sort_unstable_by(|a, b| a.low[axis].total_cmp(&b.low[axis]));
        for side in sides.chunk_by(|a, b| a.low[axis].to_bits() == b.low[axis].to_bits()) {
            points.extend(drawn_outwards(side));
        }
    }
    for (_, extent) in &around {
        points.extend(corners(extent).map(|(corner, _)| corner));
    }
    vertices_of(&points, effort)
}

/// The middles of boxes in one plane across an axis, each a little farther from their middle along
/// the axes along which it is not exact.
fn drawn_outwards(side: &[&Extent]) -> Vec<Vec3> {
    let middle_of = |e: &Extent| e.low * 0.5 + e.high * 0.5;
    let first = middle_of(side[0]);
    let (low, high) = side.iter().fold((first, first), |(low, high), e| {
        let p = middle_of(e);
        (low.inf(&p), high.sup(&p))
    });
    let middle = low * 0.5 + high * 0.5;
    let drawn = |e: &&Extent| {
        let p = middle_of(e);
        Vec3::from_fn(|k, _| {
            let is_exact = e.low[k] >= e.high[k];
            if is_exact { e.low[k] } else { p[k] + (p[k] - middle[k]) * DRAWN_OUTWARDS }
        })
    };
    side.iter().map(drawn).collect()
}

/// The vertices of the hull of points; none of none. Points are far from the limits of hulls: a
/// mesh has at most a few corners for each of its triangles in a box.
pub(super) fn vertices_of(points: &[Vec3], effort: &mut Effort<'_>) -> Result<Vec<Vec3>, Stopped> {
    match convex_hull_with(points, effort) {
        Ok(hull) => Ok(hull.polytope.vertices().to_vec()),
        Err(HullError::Empty) => Ok(Vec::new()),
        Err(HullError::Stopped(why)) => Err(why),
        Err(HullError::BadPoint { .. } | HullError::TooMany { .. }) => Err(Stopped::Unresolved),
    }
}
