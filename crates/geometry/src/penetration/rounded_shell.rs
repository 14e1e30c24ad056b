//! The face of M nearest the origin as far as floating point tells: a shell that grows as the exact
//! one does ([`super::nearest_face`]), of rounded corners, in a few arrays without any bound.
//!
//! For use, not for proof. Whatever looks odd is given up, and left to those who prove what they
//! say: a face that is no proper triangle, a rim that is no loop, more corners than usual.
//!
//! Cost: a supporting pair and about six new faces for each corner; ten to twenty corners of hulls
//! of a hundred vertices.

use arrayvec::ArrayVec;

use crate::difference::RoundedCorner;
use crate::difference::bounded::BoundedView;
use crate::distance::rounded_weights;
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::SHARP_NORMAL;
use crate::pair::VertexPair;
use crate::{Vec3, processor};

/// Corners of a shell, at most.
const CORNERS_MAX: usize = 80;
/// Faces of that many corners that are in use or wait to be used again.
const FACES_MAX: usize = 2 * CORNERS_MAX;

/// Roundings of a corner's coordinate by which a corner has to lie beyond a face's plane, for each
/// of the two and the plane.
const NOISE: f64 = 4.0;

/// A triangle of the shell, with its plane rounded.
#[derive(Clone, Copy)]
struct RoundedFace {
    /// Counter-clockwise seen from outside.
    corners: [u16; 3],
    /// Across the edge from corner k to corner k + 1.
    neighbours: [u16; 3],
    /// Outward, of any length.
    normal: Vec3,
    /// What along the normal is beyond the plane by more than noise.
    limit: f64,
}

/// An edge between a visible and an invisible face, as the visible one runs through it.
#[derive(Clone, Copy)]
struct Rim {
    from: u16,
    to: u16,
    outside: u16,
}

/// See the module.
struct RoundedShell {
    corners: ArrayVec<RoundedCorner, CORNERS_MAX>,
    faces: ArrayVec<RoundedFace, FACES_MAX>,
    /// Of each face the square of its distance from the origin; infinite: it is no longer a face.
    heights: ArrayVec<f64, FACES_MAX>,
    /// For each corner the face that starts there at the rim, while a corner is added.
    rim_face: [u16; CORNERS_MAX],
    /// The faces that a corner takes away, whose places are free then.
    free: ArrayVec<u16, FACES_MAX>,
    rim: ArrayVec<Rim, FACES_MAX>,
    noise: f64,
}

/// Stands where no face is on the other side.
const NONE: u16 = u16::MAX;

/// The unit normal of the face that is nearest, if nothing was odd. `pairs` prove that the origin
/// is inside.
pub(super) fn nearest_normal(
    view: &BoundedView<'_>,
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<Option<Vec3>, Stopped> {
    processor::dispatch(
        #[inline(always)]
        || {
            // It is some kilobytes large, and never moved.
            let mut shell = RoundedShell {
                corners: ArrayVec::new(),
                faces: ArrayVec::new(),
                heights: ArrayVec::new(),
                rim_face: [NONE; CORNERS_MAX],
                free: ArrayVec::new(),
                rim: ArrayVec::new(),
                noise: NOISE * view.coordinate_error(),
            };
            if shell.begin(view, pairs).is_none() {
                return Ok(None);
            }
            shell.grow(view, effort)
        },
    )
}

impl RoundedShell {
    /// The tetrahedron of four of the pairs that holds the origin.
    #[inline(always)]
    fn begin(&mut self, view: &BoundedView<'_>, pairs: &[VertexPair]) -> Option<()> {
        for (pair, _) in rounded_weights(view, pairs)? {
            self.corners.push(view.corner(pair));
        }
        let [a, b, c, d] = [0, 1, 2, 3].map(|corner: usize| self.corners[corner].point);
        if (b - a).cross(&(c - a)).dot(&(d - a)) > 0.0 {
            self.corners.swap(1, 2);
        }
        // The last one is now below the face of the others.
        let loops = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
        let neighbours = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        for (corners, neighbours) in loops.into_iter().zip(neighbours) {
            let (face, height) = self.face(corners, neighbours)?;
            self.faces.push(face);
            self.heights.push(height);
        }
        Some(())
    }

    /// A face and the square of its distance. None of what is no triangle, or has the origin
    /// outside.
    #[inline(always)]
    fn face(&self, corners: [u16; 3], neighbours: [u16; 3]) -> Option<(RoundedFace, f64)> {
        let [a, b, c] = corners.map(|corner| self.corners[usize::from(corner)].point);
        let normal = (b - a).cross(&(c - a));
        let (offset, squared) = (normal.dot(&a), normal.norm_squared());
        let limit = offset + self.noise * (normal.x.abs() + normal.y.abs() + normal.z.abs());
        let is_proper = (offset >= 0.0) & (squared > 0.0);
        let height = offset * offset / squared;
        let face = RoundedFace { corners, neighbours, normal, limit };
        (is_proper && height.is_finite()).then_some((face, height))
    }

    #[inline(always)]
    fn grow(
        &mut self,
        view: &BoundedView<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec3>, Stopped> {
        loop {
            effort.spend_step()?;
            let nearest = self.nearest();
            let RoundedFace { corners, normal, limit, .. } = self.faces[usize::from(nearest)];
            let known = corners.map(|corner| self.corners[usize::from(corner)].pair);
            let likely = view.likely_least_from(&-normal, Some(known[0]), effort);
            let corner = view.corner(likely);
            let is_beyond = normal.dot(&corner.point) > limit;
            if known.contains(&likely) || !is_beyond {
                return Ok(self.sharp_unit(nearest));
            }
            if self.add(nearest, corner).is_none() {
                return Ok(None);
            }
        }
    }

    /// The face that is nearest; of several the first.
    #[inline(always)]
    fn nearest(&self) -> u16 {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (face, height) in (0..).zip(&self.heights) {
            if *height < least {
                (nearest, least) = (face, *height);
            }
        }
        nearest
    }

    /// The unit normal of a face, if rounding has left most of its digits.
    fn sharp_unit(&self, face: u16) -> Option<Vec3> {
        let RoundedFace { corners, normal, .. } = &self.faces[usize::from(face)];
        let [a, b, c] = corners.map(|corner| self.corners[usize::from(corner)].point);
        let edges = (b - a).amax().max((c - a).amax());
        let is_sharp = normal.amax() > SHARP_NORMAL * (self.noise / f64::EPSILON) * edges;
        let unit = normal / normal.norm();
        (is_sharp && unit.iter().all(|c| c.is_finite())).then_some(unit)
    }

    /// Makes a corner beyond `start` part of the shell. None: what it would take away has no rim
    /// that is a loop, or there is no room.
    #[inline(always)]
    fn add(&mut self, start: u16, corner: RoundedCorner) -> Option<()> {
        let new = self.corners.len() as u16;
        self.take_visible(start, &corner.point)?;
        self.corners.try_push(corner).ok()?;
        for edge in 0..self.rim.len() {
            let edge = self.rim[edge];
            let at = self.free.pop().unwrap_or(self.faces.len() as u16);
            let (face, height) =
                self.face([edge.from, edge.to, new], [edge.outside, NONE, NONE])?;
            if usize::from(at) < self.faces.len() {
                self.faces[usize::from(at)] = face;
                self.heights[usize::from(at)] = height;
            } else {
                self.faces.try_push(face).ok()?;
                self.heights.try_push(height).ok()?;
            }
            let starts_here = &mut self.rim_face[usize::from(edge.from)];
            if *starts_here != NONE {
                return None;
            }
            *starts_here = at;
            let outside = &mut self.faces[usize::from(edge.outside)];
            // The other side runs through the edge the other way.
            let slot = (0..3).find(|&k| outside.corners[k] == edge.to)?;
            outside.neighbours[slot] = at;
        }
        self.close()
    }

    /// Joins the new faces along the rim to each other, if it is one loop.
    #[inline(always)]
    fn close(&mut self) -> Option<()> {
        let first = self.rim.first()?.from;
        let (mut at, mut length) = (first, 0);
        loop {
            let face = self.rim_face[usize::from(at)];
            let to = self.faces.get(usize::from(face))?.corners[1];
            let next = self.rim_face[usize::from(to)];
            self.faces[usize::from(face)].neighbours[1] = next;
            self.faces.get_mut(usize::from(next))?.neighbours[2] = face;
            length += 1;
            if to == first {
                break;
            }
            if length == self.rim.len() {
                return None;
            }
            at = to;
        }
        for edge in &self.rim {
            self.rim_face[usize::from(edge.from)] = NONE;
        }
        (length == self.rim.len()).then_some(())
    }

    /// Takes away the faces that `point` lies beyond, and collects the rim around them.
    ///
    /// They are connected: seen from the point they are one patch of a convex surface.
    #[inline(always)]
    fn take_visible(&mut self, start: u16, point: &Vec3) -> Option<()> {
        self.rim.clear();
        self.free.clear();
        self.free.push(start);
        self.heights[usize::from(start)] = f64::INFINITY;
        let mut next = 0;
        while let Some(&face) = self.free.get(next) {
            next += 1;
            let RoundedFace { corners, neighbours, .. } = self.faces[usize::from(face)];
            for k in 0..3 {
                let (outside, at) = (neighbours[k], usize::from(neighbours[k]));
                let RoundedFace { normal, limit, .. } = self.faces.get(at)?;
                if self.heights[at] == f64::INFINITY {
                    continue;
                }
                if normal.dot(point) > *limit {
                    self.heights[at] = f64::INFINITY;
                    self.free.try_push(outside).ok()?;
                } else {
                    let edge = Rim { from: corners[k], to: corners[(k + 1) % 3], outside };
                    self.rim.try_push(edge).ok()?;
                }
            }
        }
        Some(())
    }
}
