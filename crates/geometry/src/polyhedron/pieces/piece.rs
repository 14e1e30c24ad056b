//! A piece in the making: cells whose points have one hull.

use super::cell::{MeshCell, PlaneCut, corners, faces_back, vertices_of};
use super::clip::{extent_of, holds};
use super::field::Field;
use super::mesh::DecomposedMesh;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::hull::{HullError, convex_hull_with};
use crate::number::tolerance::SLICED_IN_PLANE;
use crate::polytope::Polytope;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct DraftPiece {
    pub(super) cells: Vec<MeshCell>,
    /// Its vertices in the frame.
    pub(super) outline: Vec<Vec3>,
    /// About how far it stands out of the mesh, in the frame.
    pub(super) excess: f64,
}

impl DraftPiece {
    /// Of at least one cell that has points.
    pub(super) fn new(
        cells: Vec<MeshCell>,
        field: &Field<'_>,
        mesh: &DecomposedMesh<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        let points = cells.iter().flat_map(|cell| &cell.points);
        let inward: Vec<Vec3> = points.map(|p| mesh.frame.inward(p)).collect();
        let (outline, excess) = outlined(&inward, field, effort)?;
        Ok(Self { cells, outline, excess })
    }

    /// Its hull where the mesh is.
    pub(super) fn hull(&self, effort: &mut Effort<'_>) -> Result<Polytope, Stopped> {
        let points: Vec<Vec3> = self.cells.iter().flat_map(|cell| cell.points.clone()).collect();
        built(&points, effort)
    }

    /// The two pieces that a cut makes of it; none if one of them would be nothing.
    pub(super) fn cut(
        &self,
        cut: PlaneCut,
        field: &Field<'_>,
        mesh: &DecomposedMesh<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<[Self; 2]>, Stopped> {
        let (mut before, mut beyond) = (Vec::new(), Vec::new());
        for cell in self.cells.iter().cloned() {
            let [low, high] = cell.cut(mesh, cut, effort)?;
            before.extend(low);
            beyond.extend(high);
        }
        if before.is_empty() || beyond.is_empty() {
            return Ok(None);
        }
        let [before, beyond] = [before, beyond].map(|cells| Self::new(cells, field, mesh, effort));
        Ok(Some([before?, beyond?]))
    }

    /// The box around it in the frame.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        let first = (self.outline[0], self.outline[0]);
        let (low, high) = self.outline.iter().fold(first, |(l, h), p| (l.inf(p), h.sup(p)));
        [low, high]
    }
}

/// The vertices of the hull of points, and about how far it stands out.
pub(super) fn outlined(
    points: &[Vec3],
    field: &Field<'_>,
    effort: &mut Effort<'_>,
) -> Result<(Vec<Vec3>, f64), Stopped> {
    let hull = built(points, effort)?;
    let excess = field.excess(&hull, effort)?;
    Ok((hull.vertices().to_vec(), excess))
}

fn built(points: &[Vec3], effort: &mut Effort<'_>) -> Result<Polytope, Stopped> {
    match convex_hull_with(points, effort) {
        Ok(hull) => Ok(hull.polytope),
        Err(HullError::Stopped(why)) => Err(why),
        // A mesh has at most a few corners for each of its triangles in a box, all near it.
        Err(HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. }) => {
            Err(Stopped::Unresolved)
        }
    }
}

/// What a piece has between planes across an axis, in the frame: points of each slice.
pub(super) struct Slices {
    points: Vec<Vec<Vec3>>,
}

impl Slices {
    /// Between ascending planes.
    pub(super) fn new(
        piece: &DraftPiece,
        axis: usize,
        planes: &[f64],
        mesh: &DecomposedMesh<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        let mut slices = Self { points: vec![Vec::new(); planes.len() + 1] };
        for cell in &piece.cells {
            let mut room = cell.room;
            room.low = mesh.frame.inward(&room.low);
            room.high = mesh.frame.inward(&room.high);
            for at in &cell.triangles {
                effort.look_at_clock()?;
                let triangle = mesh.surface.triangles()[*at as usize];
                let extent = extent_of(&triangle);
                let mut polygon = triangle.to_vec();
                if !(holds(&room, &extent.low) && holds(&room, &extent.high)) {
                    for k in 0..3 {
                        polygon = clipped(&polygon, k, room.low[k], 1.0);
                        polygon = clipped(&polygon, k, room.high[k], -1.0);
                    }
                }
                slices.add(&polygon, faces_back(&triangle, axis), axis, planes);
            }
            let Some(surface) = mesh.wound() else { continue };
            for at in 0..=planes.len() {
                let mut slab = cell.room;
                let outward = |plane: f64| {
                    let mut p = Vec3::zeros();
                    p[axis] = plane;
                    mesh.frame.outward(&p)[axis]
                };
                if at > 0 {
                    slab.low[axis] = slab.low[axis].max(outward(planes[at - 1]));
                }
                if at < planes.len() {
                    slab.high[axis] = slab.high[axis].min(outward(planes[at]));
                }
                if slab.low[axis] >= slab.high[axis] {
                    continue;
                }
                for (corner, inwards) in corners(&slab) {
                    if surface.winding_beside(&corner, inwards, effort)? != 0 {
                        slices.points[at].push(mesh.frame.inward(&corner));
                    }
                }
            }
        }
        for points in &mut slices.points {
            *points = vertices_of(points, effort)?;
        }
        Ok(slices)
    }

    fn add(&mut self, polygon: &[Vec3], faces_back: bool, axis: usize, planes: &[f64]) {
        if polygon.is_empty() {
            return;
        }
        let along = |p: &Vec3| p[axis];
        let low = polygon.iter().map(along).fold(f64::INFINITY, f64::min);
        let high = polygon.iter().map(along).fold(f64::NEG_INFINITY, f64::max);
        let first = planes.partition_point(|plane| *plane <= low + SLICED_IN_PLANE);
        let last = planes.partition_point(|plane| *plane < high - SLICED_IN_PLANE);
        if first > last {
            // It lies in a plane: what it bounds is on one side.
            let side = if faces_back { first } else { last };
            self.points[side].extend(polygon);
            return;
        }
        let mut rest = polygon.to_vec();
        for (slice, plane) in planes.iter().enumerate().take(last).skip(first) {
            self.points[slice].extend(clipped(&rest, axis, *plane, -1.0));
            rest = clipped(&rest, axis, *plane, 1.0);
        }
        self.points[last].extend(rest);
    }

    /// About how far what is before each plane stands out, and what is beyond it; none where there
    /// is nothing.
    pub(super) fn excesses(
        &self,
        field: &Field<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<Option<[f64; 2]>>, Stopped> {
        let count = self.points.len();
        let mut along = |order: &mut dyn Iterator<Item = usize>| {
            let mut so_far: Vec<Vec3> = Vec::new();
            let mut found = Vec::new();
            for at in order {
                effort.spend_step()?;
                so_far.extend(&self.points[at]);
                let excess = if so_far.is_empty() {
                    None
                } else {
                    let (outline, excess) = outlined(&so_far, field, effort)?;
                    so_far = outline;
                    Some(excess)
                };
                found.push(excess);
            }
            Ok(found)
        };
        let before = along(&mut (0..count - 1))?;
        let mut beyond = along(&mut (1..count).rev())?;
        beyond.reverse();
        let both = before.into_iter().zip(beyond);
        Ok(both.map(|(before, beyond)| Some([before?, beyond?])).collect())
    }
}

/// What of a convex polygon is on one side of a plane across an axis: beyond it, or before it for a
/// negative sign. Rounded.
fn clipped(polygon: &[Vec3], axis: usize, at: f64, sign: f64) -> Vec<Vec3> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (index, p) in polygon.iter().enumerate() {
        let q = &polygon[(index + 1) % polygon.len()];
        let (of_p, of_q) = (sign * (p[axis] - at), sign * (q[axis] - at));
        if of_p >= 0.0 {
            kept.push(*p);
        }
        if (of_p > 0.0 && of_q < 0.0) || (of_p < 0.0 && of_q > 0.0) {
            let mut crossing = p + (q - p) * (of_p / (of_p - of_q));
            crossing[axis] = at;
            kept.push(crossing);
        }
    }
    kept
}
