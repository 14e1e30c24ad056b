//! The judge of statements about solids: exactly, from scratch, from vertices and triangles alone.
//! That a mesh bounds a solid (closed, oriented, without self-intersection) is taken for granted:
//! it is checked where it is registered.

use super::cover::{CoverShows, Payer, Span, exact_points, judge_cover};
use super::exact::{
    Exact, exact_point, holds_origin, holds_origin_strictly, minus, scalar_product, vector_product,
};
use super::inside::is_inside;
use super::meeting::holds_origin_in_solid;
use super::named::is_face;
use super::pieces::{judge_inner_piece, judge_overlapping_pieces, judge_touching_pieces};
use super::refusal::Refusal;
use super::still::velocity_of;
use crate::claim::{Face, InnerPoint, Outcome, Solid, SolidClaim, SolidKind, SolidProof, Solids};
use crate::effort::Effort;
use crate::motion::Motion;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::pose::Pose;

/// Proves a verdict from scratch. A step is a link of a cover, or a look along a ray.
///
/// ```
/// use clearance_geometry::claim::{
///     Cover, CoverStep, Direction, Frame, Link, Points, Solid, SolidKind, SolidProof, Solids,
/// };
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_solids;
/// use clearance_geometry::{Vec3, pose::Pose};
///
/// # let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// # let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let solid = |z| Solid {
///     points: Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) },
///     kind: SolidKind::Region(&faces),
/// };
/// // One direction separates all faces at once.
/// let up = Direction::Vector(Vec3::new(0.0, 0.0, 1.0));
/// let link = Link { t0: 0.0, t1: 0.0, frame: Frame::World, direction: up };
/// let steps = vec![CoverStep::Apart(vec![link])];
/// let proof = SolidProof::Separated(Cover { steps, ..Cover::default() });
/// let effort = &mut Effort::unlimited();
/// assert!(judge_solids(&Solids { p: solid(0.0), q: solid(3.0) }, &proof, effort).is_ok());
/// assert!(judge_solids(&Solids { p: solid(0.0), q: solid(0.5) }, &proof, effort).is_err());
/// ```
pub fn judge_solids(
    solids: &Solids<'_>,
    proof: &SolidProof,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let zero = || std::array::from_fn(|_| Dyadic::zero());
    match proof {
        SolidProof::Separated(cover) => {
            let span = Span { travel: zero(), until: 0.0, may_touch_at_end: false };
            judge_cover(solids, &CoverShows::OnTheWay(span), cover, &mut Payer::new(effort))
        }
        SolidProof::Touching { faces, from, way } => {
            let differences = differences(solids, faces)?;
            if !(holds_origin(&differences) || holds_origin_in_solid(&differences)) {
                return Err(Refusal::FacesApart);
            }
            let Solid { points, kind } = solids.q;
            if !from.iter().all(|x| x.is_finite()) {
                return Err(Refusal::NoDirection);
            }
            let to = points.pose.translation;
            let travel = std::array::from_fn(|k| &Dyadic::from(to[k]) - &Dyadic::from(from[k]));
            let pose = Pose { translation: *from, ..points.pose };
            let points = crate::claim::Points { pose, ..points };
            let start = Solids { q: Solid { points, kind }, ..*solids };
            let span = Span { travel, until: 1.0, may_touch_at_end: true };
            judge_cover(&start, &CoverShows::OnTheWay(span), way, &mut Payer::new(effort))
        }
        SolidProof::Crossing(triangles) => {
            has_volume(&solids.p, "P", effort)?;
            has_volume(&solids.q, "Q", effort)?;
            let faces = triangles.map(Face::from);
            // Inner points of both triangles are one just if the origin is an inner point of their
            // difference, which is flat if their planes are parallel.
            let held = holds_origin_strictly(&differences(solids, &faces)?);
            if held { Ok(()) } else { Err(Refusal::FacesApart) }
        }
        SolidProof::TouchingPieces { pairs, cover } => {
            judge_touching_pieces(solids, pairs, cover, effort)
        }
        SolidProof::OverlappingPieces(pairs) => judge_overlapping_pieces(solids, pairs),
        SolidProof::InnerPiece { triangle, weights } => {
            judge_inner_piece(solids, *triangle, weights, effort)
        }
        SolidProof::InnerPoint(inner) => {
            is_inner(&solids.p, inner, 0, "P", effort)?;
            is_inner(&solids.q, inner, 1, "Q", effort)
        }
    }
}

/// Proves from scratch that bodies which turn nothing are free on [0, t_free], and in contact by
/// t_contact if that is claimed. At t = 0 they are separated.
///
/// ```
/// use clearance_geometry::claim::{
///     Cover, CoverStep, Direction, Frame, Link, Outcome, Points, Solid, SolidKind, SolidClaim,
///     SolidMotionProof, Solids,
/// };
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_solid_motion;
/// use clearance_geometry::{Vec3, motion::Motion, pose::Pose};
///
/// # let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// # let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let solid = |z| Solid {
///     points: Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) },
///     kind: SolidKind::Region(&faces),
/// };
/// // Q falls by one metre, from three metres above P: one direction separates all the time.
/// let up = Direction::Vector(Vec3::new(0.0, 0.0, 1.0));
/// let link = Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction: up };
/// let steps = vec![CoverStep::Apart(vec![link])];
/// let free = Cover { steps, ..Cover::default() };
/// let proof = SolidMotionProof { free, ..Default::default() };
/// let (outcome, t_free, t_contact) = (Outcome::NoContact, 1.0, 1.0);
/// let claim = SolidClaim { outcome, t_free, t_contact, proof: &proof };
/// let solids = Solids { p: solid(0.0), q: solid(3.0) };
/// let judge = |speed: f64| {
///     let falling = Motion::Linear { velocity: Vec3::new(0.0, 0.0, -speed) };
///     let motions = [&Motion::rest(), &falling];
///     judge_solid_motion(&solids, motions, &claim, &mut Effort::unlimited())
/// };
/// assert!(judge(1.0).is_ok());
/// assert!(judge(2.0).is_err());
/// ```
pub fn judge_solid_motion(
    solids: &Solids<'_>,
    motions: [&Motion; 2],
    claim: &SolidClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_solid_motion_for(solids, motions, claim, &mut Payer::new(effort))
}

/// Judges a motion of solids as a part of a longer proof.
pub(super) fn judge_solid_motion_for(
    solids: &Solids<'_>,
    motions: [&Motion; 2],
    claim: &SolidClaim<'_>,
    payer: &mut Payer<'_, '_>,
) -> Result<(), Refusal> {
    let &SolidClaim { outcome, t_free, t_contact, proof } = claim;
    let end = if outcome == Outcome::Contact { t_contact } else { 1.0 };
    if !(0.0..=1.0).contains(&t_free) || !(t_free..=1.0).contains(&end) {
        return Err(Refusal::BoundFails("0 <= t_free <= t_contact <= 1"));
    }
    if outcome == Outcome::Undecided {
        return Err(Refusal::BoundFails("translations are decided"));
    }
    if outcome == Outcome::NoContact && t_free < 1.0 {
        return Err(Refusal::BoundFails("no contact is free until the end"));
    }
    let travel = travel_of(solids, motions)?;
    if outcome == Outcome::Contact {
        let faces = proof.faces.as_ref().ok_or(Refusal::FacesApart)?;
        let at_start = differences(solids, faces)?;
        share_a_point(&at_start, &travel, [t_free, t_contact])?;
    }
    let span = Span { travel, until: t_free, may_touch_at_end: false };
    judge_cover(solids, &CoverShows::OnTheWay(span), &proof.free, payer)
}

/// Whether the differences of two faces hold the origin at some time of an interval.
///
/// For some t in it the hull of the d + w t holds the origin, exactly if the hull of those at both
/// ends does: weights of both ends mix the times.
pub(super) fn share_a_point(
    at_start: &[Exact],
    travel: &Exact,
    times: [f64; 2],
) -> Result<(), Refusal> {
    let moved =
        |d: &Exact, t: &Dyadic| -> Exact { std::array::from_fn(|k| &d[k] + &(&travel[k] * t)) };
    let points: Vec<Exact> = times
        .map(Dyadic::from)
        .iter()
        .flat_map(|t| at_start.iter().map(move |d| moved(d, t)))
        .collect();
    let is_held = holds_origin(&points) || holds_origin_in_solid(&points);
    if is_held { Ok(()) } else { Err(Refusal::FacesApart) }
}

/// How far Q comes relative to P, exactly.
pub(super) fn travel_of(solids: &Solids<'_>, [of_p, of_q]: [&Motion; 2]) -> Result<Exact, Refusal> {
    let of_p = velocity_of(of_p, &solids.p.points.pose);
    let of_q = velocity_of(of_q, &solids.q.points.pose);
    match (of_p, of_q) {
        (Some(of_p), Some(of_q)) => Ok(minus(&of_q, &of_p)),
        _ => Err(Refusal::BoundFails("nothing turns")),
    }
}

/// All differences of vertices of two faces, which are checked.
pub(super) fn differences(
    solids: &Solids<'_>,
    [of_p, of_q]: &[Face; 2],
) -> Result<Vec<Exact>, Refusal> {
    is_face(&solids.p, of_p, "P")?;
    is_face(&solids.q, of_q, "Q")?;
    let [p, q] = [(&solids.p, of_p), (&solids.q, of_q)].map(|(solid, face)| {
        face.iter().map(|&v| exact_point(&solid.points, v)).collect::<Vec<_>>()
    });
    Ok(p.iter().flat_map(|x| q.iter().map(|y| minus(y, x))).collect())
}

/// A hull may be flat, and then has no inner points. A region has a volume, and a triangle of a
/// surface that another one crosses overlaps it.
fn has_volume(
    solid: &Solid<'_>,
    name: &'static str,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    if solid.triangles().is_some() {
        return Ok(());
    }
    let points = exact_points(solid, effort)?;
    let is_zero = |v: &Exact| v.iter().all(|x| x.sign() == Sign::Zero);
    let from_first = || points.iter().skip(1).map(|x| minus(x, &points[0]));
    let normal = from_first().find(|e| !is_zero(e)).and_then(|edge| {
        from_first().map(|f| vector_product(&edge, &f)).find(|normal| !is_zero(normal))
    });
    let rises =
        |normal: Exact| from_first().any(|e| scalar_product(&normal, &e).sign() != Sign::Zero);
    if normal.is_some_and(rises) { Ok(()) } else { Err(Refusal::NotInside(name)) }
}

fn is_inner(
    solid: &Solid<'_>,
    inner: &InnerPoint,
    at: usize,
    name: &'static str,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    if !inner.terms.iter().flatten().all(|x| x.is_finite()) {
        return Err(Refusal::NotInside(name));
    }
    let [first, second] = &inner.terms;
    let point: Exact = std::array::from_fn(|k| &Dyadic::from(first[k]) + &Dyadic::from(second[k]));
    let vertices = &inner.vertices[at];
    let is_inner = match solid.kind {
        SolidKind::Surface(_) => false,
        SolidKind::Region(triangles) => {
            let corners = exact_points(solid, effort)?;
            is_inside(&point, &corners, triangles, effort)? == Some(true)
        }
        SolidKind::Hull => {
            if vertices.iter().any(|&v| v as usize >= solid.points.points.len()) {
                return Err(Refusal::NotAFace(name));
            }
            let around: Vec<Exact> =
                vertices.iter().map(|&v| minus(&exact_point(&solid.points, v), &point)).collect();
            holds_origin_strictly(&around)
        }
    };
    if is_inner { Ok(()) } else { Err(Refusal::NotInside(name)) }
}
