//! The judge of what is measured of bodies that need not be convex, and of their first contact
//! where they turn or a margin or deviations are kept clear: from scratch, from vertices and
//! triangles alone. That a mesh bounds a solid is taken for granted, as in [`super::solids`].

use std::cmp::Ordering;

use super::cover::{CoverShows, Payer, exact_points, judge_cover};
use super::distance::judge_bounds;
use super::exact::{exact_differences, exact_point};
use super::inside::is_inside;
use super::motion::judge_contact_of_faces;
use super::named::{faces_of, is_face};
use super::nearest::nearest_point;
use super::refusal::Refusal;
use super::rounded::sum;
use crate::claim::{
    Bodies, Face, MotionClaim, Outcome, RoundedSolidProof, RoundedSolids, SolidClaim, SolidCourse,
    SolidDistanceClaim, SolidKind, SolidMarginClaim, SolidMarginProof, Solids,
};
use crate::effort::Effort;
use crate::number::dyadic::Dyadic;
use crate::vertex_pair::VertexPair;

/// Proves that bodies are separated, and the bracket of their distance. A step is a link of a
/// cover, or a look along a ray.
///
/// ```
/// use clearance_geometry::claim::{
///     Cover, CoverStep, Direction, Frame, Link, Points, RoundedSolids, Solid,
///     SolidDistanceClaim, SolidKind, Solids,
/// };
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_solid_distance;
/// use clearance_geometry::pair::VertexPair;
/// use clearance_geometry::{Vec3, pose::Pose};
///
/// # let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// # let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let solid = |z| Solid {
///     points: Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) },
///     kind: SolidKind::Region(&faces),
/// };
/// // Q is two metres above the top of P.
/// let cores = Solids { p: solid(0.0), q: solid(3.0) };
/// let up = Direction::Vector(Vec3::new(0.0, 0.0, 1.0));
/// let link = Link { t0: 0.0, t1: 0.0, frame: Frame::World, direction: up };
/// let cover = Cover { steps: vec![CoverStep::Apart(vec![link])], ..Cover::default() };
/// let judge = |radii, bounds| {
///     let pairs = &[VertexPair { i: 3, j: 0 }];
///     let claim = SolidDistanceClaim { bounds, cover: &cover, pairs };
///     let solids = RoundedSolids { cores, radii };
///     judge_solid_distance(&solids, &claim, &mut Effort::unlimited())
/// };
/// assert!(judge([0.0, 0.0], [2.0, 2.0]).is_ok());
/// assert!(judge([0.0, 0.0], [2.1, 2.1]).is_err());
/// assert!(judge([0.0, 0.0], [1.9, 1.9]).is_err());
/// assert!(judge([0.5, 1.0], [0.5, 0.5]).is_ok());
/// ```
pub fn judge_solid_distance(
    solids: &RoundedSolids<'_>,
    claim: &SolidDistanceClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &SolidDistanceClaim { bounds: [lower, upper], cover, pairs } = claim;
    judge_bounds([lower, upper])?;
    let [of_p, of_q] = solids.radii;
    if !are_within(&solids.cores, pairs, &sum(&[of_p, of_q, upper])?)? {
        return Err(Refusal::BoundFails("the pairs are farther away than the upper bound"));
    }
    let shows = CoverShows::AtRest {
        least: sum(&[of_p, of_q, lower])?,
        more_than: Some(sum(&[of_p, of_q])?),
    };
    judge_cover(&solids.cores, &shows, cover, &mut Payer::new(effort))
}

/// Proves how bodies compare with a margin. Beyond it they are separated, too; of those within it
/// the verdict is proven elsewhere.
pub fn judge_solid_margin(
    solids: &RoundedSolids<'_>,
    claim: &SolidMarginClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let [of_p, of_q] = solids.radii;
    let reach = sum(&[of_p, of_q, claim.margin])?;
    match claim.shown {
        SolidMarginProof::Within(pairs) => {
            if are_within(&solids.cores, pairs, &reach)? {
                Ok(())
            } else {
                Err(Refusal::BoundFails("the pairs are farther away than the margin"))
            }
        }
        SolidMarginProof::Beyond(cover) => {
            let shows = CoverShows::AtRest { least: reach.clone(), more_than: Some(reach) };
            judge_cover(&solids.cores, &shows, cover, &mut Payer::new(effort))
        }
    }
}

/// Proves that bodies which are separated at t = 0 are farther apart than the margin, as is every
/// motion within the deviations, on [0, t_free], and that they are in contact by t_contact if that
/// is claimed.
pub fn judge_solid_course(
    course: &SolidCourse<'_>,
    claim: &SolidClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &SolidClaim { outcome, t_free, t_contact, proof } = claim;
    let end = if outcome == Outcome::Contact { t_contact } else { 1.0 };
    if !(0.0..=1.0).contains(&t_free) || !(t_free..=1.0).contains(&end) {
        return Err(Refusal::BoundFails("0 <= t_free <= t_contact <= 1"));
    }
    if outcome == Outcome::NoContact && t_free < 1.0 {
        return Err(Refusal::BoundFails("no contact is free until the end"));
    }
    if !course.reach.is_valid()
        || !course.deviations.iter().all(|d| (0.0..f64::INFINITY).contains(d))
    {
        return Err(Refusal::BoundFails("radii, margins and deviations are finite lengths"));
    }
    if outcome == Outcome::Contact {
        let faces = faces_of(&course.solids, &proof.pairs, 6)?;
        let (pairs, chain, initial) = (&proof.pairs, &[], None);
        let of_pairs = MotionClaim { outcome, t_free, t_contact, chain, pairs, initial };
        judge_contact_of_faces(course, &faces, &of_pairs, effort)?;
        if t_contact <= 0.0 {
            return Ok(());
        }
    }
    if outcome == Outcome::Undecided && t_free <= 0.0 {
        // Nothing is said but how they stand.
        return Ok(());
    }
    let shows = if t_free > 0.0 {
        CoverShows::OnCourse(course, t_free)
    } else {
        // The start as it is given, without deviations.
        let reach = course.reach.exact();
        CoverShows::AtRest { least: reach.clone(), more_than: Some(reach) }
    };
    judge_cover(&course.solids, &shows, &proof.free, &mut Payer::new(effort))
}

/// Proves how a rounded polytope and what a mesh bounds stand.
pub fn judge_rounded_solids(
    solids: &RoundedSolids<'_>,
    proof: &RoundedSolidProof,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let reach = sum(&solids.radii)?;
    let cores = &solids.cores;
    match proof {
        RoundedSolidProof::Apart(cover) => {
            let shows = CoverShows::AtRest { least: reach.clone(), more_than: Some(reach) };
            judge_cover(cores, &shows, cover, &mut Payer::new(effort))
        }
        RoundedSolidProof::Touching { pairs, cover } => {
            if compared_with(cores, pairs, 3, &reach)?.is_ne() {
                return Err(Refusal::NotTouching);
            }
            let shows = CoverShows::AtRest { least: reach, more_than: None };
            judge_cover(cores, &shows, cover, &mut Payer::new(effort))
        }
        RoundedSolidProof::Near(pairs) => {
            if compared_with(cores, pairs, 6, &reach)?.is_lt() {
                Ok(())
            } else {
                Err(Refusal::BoundFails("the pairs are not nearer than the radii"))
            }
        }
        RoundedSolidProof::Inside(vertex) => judge_inside(solids, *vertex, effort),
    }
}

/// Whether a vertex of a rounded polytope, or of a face of a rounded surface, as those of a cloud
/// are, is inside the mesh that the other body is.
fn judge_inside(
    RoundedSolids { cores: Solids { p, q }, radii }: &RoundedSolids<'_>,
    vertex: u32,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let (rounded, radius, mesh, triangles, [own, name]) = match (p.kind, q.kind) {
        (SolidKind::Hull | SolidKind::Surface(_), SolidKind::Region(triangles)) => {
            (p, radii[0], q, triangles, ["P", "Q"])
        }
        (SolidKind::Region(triangles), SolidKind::Hull | SolidKind::Surface(_)) => {
            (q, radii[1], p, triangles, ["Q", "P"])
        }
        _ => return Err(Refusal::BoundFails("one is rounded, and the other bounds a region")),
    };
    if radius <= 0.0 {
        return Err(Refusal::BoundFails("one is rounded"));
    }
    if vertex as usize >= rounded.points.points.len() {
        return Err(Refusal::NoSuchVertex(0));
    }
    // A vertex that no triangle names is no part of a surface.
    is_face(rounded, &Face::from_iter([vertex]), own)?;
    let corners = exact_points(mesh, effort)?;
    let point = exact_point(&rounded.points, vertex);
    match is_inside(&point, &corners, triangles, effort)? {
        Some(true) => Ok(()),
        Some(false) | None => Err(Refusal::NotInside(name)),
    }
}

/// Whether the hull of one to three differences has a point within a length of the origin.
fn are_within(solids: &Solids<'_>, pairs: &[VertexPair], length: &Dyadic) -> Result<bool, Refusal> {
    Ok(compared_with(solids, pairs, 3, length)?.is_le())
}

/// How the length of the point nearest the origin in the hull of some differences, of a face of
/// each body, compares with another length.
fn compared_with(
    solids: &Solids<'_>,
    pairs: &[VertexPair],
    most: usize,
    length: &Dyadic,
) -> Result<Ordering, Refusal> {
    faces_of(solids, pairs, most)?;
    let bodies = Bodies { p: solids.p.points, q: solids.q.points };
    Ok(nearest_point(&exact_differences(&bodies, pairs)?).length_compared(length))
}
