//! Where a piece may be cut: planes across the axes, evenly spaced, and those of its flat faces.
//!
//! A part that was made by a machine has most of its corners where a flat face ends, and a cut
//! through a face separates what is convex on both sides of it. Faces of files in single precision
//! are flat up to rounding; the cut is beyond all of a face that has its outside there, so that
//! nothing of the face is left to the other side.

use super::cell::{PlaneCut, faces_back};
use super::clip::extent_of;
use super::mesh::DecomposedMesh;
use super::piece::DraftPiece;
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::FACE_FLAT;

/// Evenly spaced planes across each axis; and those of the largest faces.
const EVEN: usize = 11;
const FACES: usize = 8;

/// A cut and where it is in the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutCandidate {
    pub(super) cut: PlaneCut,
    pub(super) inward: f64,
}

/// Faces in nearly one plane.
struct Face {
    inward: f64,
    at: f64,
    faces_back: bool,
    area: f64,
}

/// Ascending, all strictly inside of the piece.
pub(super) fn candidates(
    piece: &DraftPiece,
    axis: usize,
    mesh: &DecomposedMesh<'_>,
    effort: &Effort<'_>,
) -> Result<Vec<CutCandidate>, Stopped> {
    let [low, high] = piece.bounds().map(|p| p[axis]);
    let even = (1..=EVEN).map(|k| {
        let share = k as f64 / (EVEN + 1) as f64;
        low + (high - low) * share
    });
    let mut at: Vec<f64> = even.map(|inward| outward(inward, axis, mesh)).collect();
    let mut faces = faces(piece, axis, mesh, effort)?;
    faces.sort_by(|a, b| b.area.total_cmp(&a.area));
    at.extend(faces.iter().take(FACES).map(|face| face.at));
    at.sort_by(f64::total_cmp);
    at.dedup();
    let of = |at: f64| CutCandidate { cut: PlaneCut { axis, at }, inward: inward(at, axis, mesh) };
    let mut found: Vec<CutCandidate> = at.into_iter().map(of).collect();
    found.retain(|one| low + FACE_FLAT < one.inward && one.inward < high - FACE_FLAT);
    found.dedup_by(|b, a| b.inward - a.inward <= f64::EPSILON);
    Ok(found)
}

fn outward(inward: f64, axis: usize, mesh: &DecomposedMesh<'_>) -> f64 {
    let mut p = crate::Vec3::zeros();
    p[axis] = inward;
    mesh.frame.outward(&p)[axis]
}

fn inward(outward: f64, axis: usize, mesh: &DecomposedMesh<'_>) -> f64 {
    let mut p = crate::Vec3::zeros();
    p[axis] = outward;
    mesh.frame.inward(&p)[axis]
}

/// The flat faces of a piece across an axis.
fn faces(
    piece: &DraftPiece,
    axis: usize,
    mesh: &DecomposedMesh<'_>,
    effort: &Effort<'_>,
) -> Result<Vec<Face>, Stopped> {
    let mut found: Vec<Face> = Vec::new();
    for at in piece.cells.iter().flat_map(|cell| &cell.triangles) {
        effort.look_at_clock()?;
        let triangle = mesh.surface.triangles()[*at as usize];
        let extent = extent_of(&triangle);
        if extent.high[axis] - extent.low[axis] > FACE_FLAT {
            continue;
        }
        let [a, b, c] = &triangle;
        let outside = extent_of(&mesh.triangle(*at));
        let faces_back = faces_back(&triangle, axis);
        let end = |from: [crate::Vec3; 2]| from[usize::from(!faces_back)][axis];
        found.push(Face {
            inward: end([extent.low, extent.high]),
            at: end([outside.low, outside.high]),
            faces_back,
            area: (b - a).cross(&(c - a)).norm(),
        });
    }
    found.sort_by(|a, b| a.faces_back.cmp(&b.faces_back).then(a.inward.total_cmp(&b.inward)));
    found.dedup_by(|face, kept| {
        let is_one = face.faces_back == kept.faces_back && face.inward - kept.inward <= FACE_FLAT;
        if is_one {
            kept.area += face.area;
            kept.at = if kept.faces_back { kept.at.min(face.at) } else { kept.at.max(face.at) };
        }
        is_one
    });
    Ok(found)
}
