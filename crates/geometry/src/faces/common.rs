//! A point that two bodies have in common, or nearly, rounded: for use, not for proof.

use super::distance::Near;
use super::{Surfaces, standing};
use crate::Vec3;
use crate::distance::Stops;
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::pair::Pair;
use crate::polyhedron::SurfaceEntry;
use crate::polyhedron::groups::{Boundary, BoundaryKind};
use crate::polytope::Polytope;

/// The closest points of two faces, which are given by their vertices and said to meet.
pub fn points_of_faces(
    surfaces: &Surfaces<'_>,
    faces: [&[u32]; 2],
    effort: &mut Effort<'_>,
) -> Result<Option<[Vec3; 2]>, Stopped> {
    let [p, q] = &surfaces.bodies;
    let (Some(of_p), Some(of_q)) = (hull_of(p, faces[0]), hull_of(q, faces[1])) else {
        return Ok(None);
    };
    let pair = Pair::new(&of_p, p.pose, &of_q, q.pose);
    Near::of(&pair, surfaces.radii, Stops::default(), effort).map(|near| Some(near.closest))
}

/// A vertex where the body is, twice: of one that is inside the other body.
pub fn points_of_vertex(body: &Boundary<'_>, vertex: u32) -> Option<[Vec3; 2]> {
    let at = body.vertices().get(vertex as usize)?;
    Some([body.pose.apply_rounded(at); 2])
}

/// A point of a surface that is inside a region, twice.
pub fn points_of_entry(surfaces: &Surfaces<'_>, entry: &SurfaceEntry) -> Option<[Vec3; 2]> {
    let entering = standing::entering(surfaces)?;
    let weights = *entering.proposals(entry).first()?;
    let is_surface = |body: &&Boundary<'_>| matches!(body.kind, BoundaryKind::Surface(_));
    let surface = surfaces.bodies.iter().find(is_surface)?;
    let corners = entering.triangle(entry).map(|at| surface.vertices()[at as usize]);
    let whole: f64 = weights.iter().sum();
    let point: Vec3 = corners.iter().zip(weights).map(|(c, weight)| c * (weight / whole)).sum();
    Some([surface.pose.apply_rounded(&point); 2])
}

fn hull_of(body: &Boundary<'_>, face: &[u32]) -> Option<Polytope> {
    let at = |vertex: &u32| body.vertices().get(*vertex as usize).copied();
    let points: Vec<Vec3> = face.iter().map(at).collect::<Option<_>>()?;
    convex_hull(&points).ok().map(|hull| hull.polytope)
}
