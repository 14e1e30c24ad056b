//! The judge of where two bodies are said to meet: faces that share a point, or a face of one that
//! is inside the other. Exactly, from scratch.

use super::cover::exact_points;
use super::exact::exact_point;
use super::inside::is_inside_beside;
use super::refusal::Refusal;
use super::solids::{differences, share_a_point, travel_of};
use crate::claim::{Face, Solid, SolidKind, Solids};
use crate::effort::Effort;
use crate::motion::Motion;

/// Proves that two faces share a point at some time of an interval (of a hull any convex polygons
/// in it, their vertices in order around them). A step is a look at two triangles.
///
/// ```
/// use clearance_geometry::claim::{Points, Solid, SolidKind, Solids};
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_faces;
/// use clearance_geometry::{Vec3, motion::Motion, pose::Pose};
///
/// # let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// # let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let solid = |z| Solid {
///     points: Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) },
///     kind: SolidKind::Region(&faces),
/// };
/// // The tip of the lower one touches a corner of the upper one at the start.
/// let (solids, effort) = (Solids { p: solid(0.0), q: solid(1.0) }, &mut Effort::unlimited());
/// let rest = [&Motion::rest(), &Motion::rest()];
/// assert!(judge_faces(&solids, [&[3], &[0]], rest, [0.0, 0.0], effort).is_ok());
/// assert!(judge_faces(&solids, [&[1], &[0]], rest, [0.0, 0.0], effort).is_err());
/// ```
pub fn judge_faces(
    solids: &Solids<'_>,
    faces: [&[u32]; 2],
    motions: [&Motion; 2],
    times: [f64; 2],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    if !times.iter().all(|t| (0.0..=1.0).contains(t)) {
        return Err(Refusal::BoundFails("times are from 0 to 1"));
    }
    let travel = travel_of(solids, motions)?;
    let [of_p, of_q] = faces.map(fan);
    for p in &of_p {
        for q in &of_q {
            effort.spend_step()?;
            let at_start = differences(solids, &[p.clone(), q.clone()])?;
            if share_a_point(&at_start, &travel, times).is_ok() {
                return Ok(());
            }
        }
    }
    Err(Refusal::FacesApart)
}

/// A facet of one body that is said to be inside another one.
#[derive(Clone, Copy, Debug)]
pub struct InnerFacet<'a> {
    /// The body that has the facet.
    pub body: &'a Solid<'a>,
    /// The facet's corners by index, in order around it.
    pub corners: &'a [u32],
    /// What a refusal calls the body.
    pub name: &'static str,
}

/// Proves that a facet of one body is inside another one next to its first corner and its first
/// edge. `boundary` are the triangles that bound the other body.
pub fn judge_inner_facet(
    facet: InnerFacet<'_>,
    outer: &Solid<'_>,
    boundary: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let InnerFacet { body: inner, corners, name } = facet;
    let exists = |v: &u32| (*v as usize) < inner.points.points.len();
    let [first, second, third, ..] = corners else { return Err(Refusal::NotAFace(name)) };
    let corners = [first, second, third];
    if !corners.iter().all(|v| exists(v)) {
        return Err(Refusal::NotAFace(name));
    }
    if matches!(outer.kind, SolidKind::Surface(_)) {
        return Err(Refusal::NotInside(name));
    }
    let corners = corners.map(|v| exact_point(&inner.points, *v));
    let around = exact_points(outer, effort)?;
    match is_inside_beside(&corners, &around, boundary, effort)? {
        Some(true) => Ok(()),
        Some(false) | None => Err(Refusal::FacesApart),
    }
}

/// The triangles from the first corner of a polygon, or the one face that it is.
fn fan(corners: &[u32]) -> Vec<Face> {
    match corners {
        [first, rest @ ..] if rest.len() > 2 => {
            rest.array_windows().map(|[b, c]| Face::from([*first, *b, *c])).collect()
        }
        few => vec![few.iter().copied().collect()],
    }
}
