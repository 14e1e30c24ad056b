//! Where a line through the origin meets M: the separating or penetration distance along a given
//! direction (§6).
//!
//! The bodies are projected along the line onto a plane. The silhouettes' hulls have a difference,
//! a polygon, which holds the origin just when the line meets M; if it does, a fan triangle around
//! the origin gives a point c of M on the line, and two searches from c, one each way along the
//! line, give the faces where the line enters and leaves M. If it does not, a side of the polygon
//! that the origin is beyond tells M from the line. All of it is rounded: the caller proves it.

use super::bodies::{DualBodies, DualBody};
use super::nearest_face_of_p;
use super::polygon::{PolygonCorner, hull, sum_loop, turn};
use super::search::{DualFound, DualSearch};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::surface::{triangle_on_line, weighted_mean};
use crate::witness::{Memory, Witness};

/// What the projection and the searches show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Silhouette {
    /// The line misses M beyond this edge of M's silhouette.
    Missed([VertexPair; 2]),
    /// With M = {q - p}: it passes triangles of M where t, in `t * direction`, is least and
    /// greatest.
    Passed([[VertexPair; 3]; 2]),
}

/// Searches along a direction of the world (finite, not zero); none when rounding gives out or a
/// body is not solid. Begins with the faces of the last question on this pair (§4.4), as the
/// witness has them.
pub(crate) fn exits(
    pair: &Pair<'_>,
    direction: &Vec3,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Option<Silhouette>, Stopped> {
    super::prepare(pair, effort)?;
    let Some(projected) = Projected::new(pair, direction) else { return Ok(None) };
    let Some(triangle) = projected.triangle() else {
        return Ok(projected.side_before_origin().map(Silhouette::Missed));
    };
    let on_p = triangle.map(|(pair, weight)| (pair.i, weight));
    let on_q = triangle.map(|(pair, weight)| (pair.j, weight));
    let inside_p = weighted_mean(pair.p.body, &on_p);
    let inside_q = weighted_mean(pair.q.body, &on_q);
    let remembered =
        if let Memory::FacesAlong(faces) = witness.memory { Some(faces) } else { None };
    let mut faces = remembered.unwrap_or_default();
    let mut ends = [None, None];
    // The ray of a search is in P - Q, the opposite of M.
    for ((end, face), towards) in ends.iter_mut().zip(&mut faces).zip([*direction, -direction]) {
        let bodies = DualBodies::new(pair, inside_p, inside_q);
        let Some(bodies) = bodies.and_then(|bodies| bodies.looking(pair, &towards)) else {
            return Ok(None);
        };
        let mut search = DualSearch::new(bodies, false);
        let is_there = remembered.is_some() && *face < search.bodies.p.surface.face_count();
        let first = if is_there { *face } else { search.first_face(effort) };
        if let DualFound::Best(facet, triangle) = search.run(first, None, effort)? {
            *face = nearest_face_of_p(&search.bodies, &facet);
            *end = Some(triangle.map(|(pair, _)| pair));
        }
    }
    let [Some(least), Some(greatest)] = ends else { return Ok(None) };
    witness.memory = Memory::FacesAlong(faces);
    Ok(Some(Silhouette::Passed([least, greatest])))
}

/// The difference of the silhouettes.
struct Projected<'a> {
    bodies: DualBodies<'a>,
    /// Along the direction, in P's frame.
    line: Vec3,
    /// Two vectors across it.
    across: [Vec3; 2],
    /// The corners of the polygon, counter-clockwise.
    corners: Vec<VertexPair>,
}

impl<'a> Projected<'a> {
    fn new(pair: &Pair<'a>, direction: &Vec3) -> Option<Self> {
        let [of_p, _] = pair.p.body.surface()?.inner();
        let [of_q, _] = pair.q.body.surface()?.inner();
        let bodies = DualBodies::new(pair, of_p.point, of_q.point)?;
        let line = bodies.looking(pair, direction)?.ray;
        let axis = line.abs().imin();
        let u = line.cross(&Vec3::ith(axis, 1.0));
        let mut projected = Self { across: [u, line.cross(&u)], bodies, line, corners: Vec::new() };
        let on_p = hull(projected.silhouette(DualBody::P));
        let on_q = hull(projected.silhouette(DualBody::Q));
        if on_p.len() < 3 || on_q.len() < 3 {
            return None;
        }
        projected.corners = sum_loop(&on_p, &on_q);
        Some(projected)
    }

    /// The ends of the edges between faces that look along the line and faces that do not,
    /// projected: of P as they are, of Q negated.
    fn silhouette(&self, body: DualBody) -> Vec<PolygonCorner> {
        let side = self.bodies.side(body);
        let line = match body {
            DualBody::P => self.line,
            DualBody::Q => self.bodies.vector_to_q(&self.line),
        };
        let surface = side.surface;
        let faces = 0..surface.face_count();
        let looks_along: Vec<bool> =
            faces.map(|face| surface.normal(face).dot(&line) > 0.0).collect();
        let mut vertices = Vec::new();
        for edge in 0..u32::try_from(surface.incidence().edge_count()).expect("fits") {
            let mut faces = surface.incidence().faces_at(edge);
            let mut next = || faces.next().map(|face| looks_along[face as usize]);
            if next() != next() {
                vertices.extend(surface.incidence().ends(edge));
            }
        }
        vertices.sort_unstable();
        vertices.dedup();
        // The offset of a pair is the sum of what its vertices contribute.
        let corner = |vertex: u32| {
            let pair = match body {
                DualBody::P => VertexPair { i: vertex, j: 0 },
                DualBody::Q => VertexPair { i: 0, j: vertex },
            };
            let offset = self.bodies.offset(pair);
            (vertex, self.across.map(|across| across.dot(&offset)))
        };
        vertices.into_iter().map(corner).collect()
    }

    /// Seen from the origin.
    fn point(&self, pair: VertexPair) -> Vec3 {
        self.bodies.offset(pair) - self.bodies.ray
    }

    /// The fan triangle that the line passes.
    fn triangle(&self) -> Option<[(VertexPair, f64); 3]> {
        let corners: Vec<_> = self.corners.iter().map(|&pair| (pair, self.point(pair))).collect();
        triangle_on_line(&self.line, &corners)
    }

    /// The side of the polygon that the origin is farthest beyond.
    fn side_before_origin(&self) -> Option<[VertexPair; 2]> {
        let flat = |pair: VertexPair| {
            let point = self.point(pair);
            self.across.map(|across| across.dot(&point))
        };
        let following = self.corners.iter().cycle().skip(1);
        let mut best: Option<(f64, [VertexPair; 2])> = None;
        for (&start, &end) in self.corners.iter().zip(following) {
            let (a, b) = (flat(start), flat(end));
            let side = [b[0] - a[0], b[1] - a[1]];
            let height = turn(side, a) / (side[0] * side[0] + side[1] * side[1]).sqrt();
            if best.is_none_or(|(highest, _)| height > highest) {
                best = Some((height, [start, end]));
            }
        }
        best.and_then(|(height, side)| (height > 0.0).then_some(side))
    }
}

/// Corners of the silhouettes, for the tests.
#[cfg(test)]
pub(super) fn silhouette_sizes(pair: &Pair<'_>, direction: &Vec3) -> Option<[usize; 2]> {
    let projected = Projected::new(pair, direction)?;
    Some([DualBody::P, DualBody::Q].map(|body| projected.silhouette(body).len()))
}
