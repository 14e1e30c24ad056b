//! The judge of how two bodies stand, by pieces: triangles, or the whole of a polytope.

use super::cells::judge_no_inner_points;
use super::cover::{Payer, exact_points, judge_touching};
use super::exact::{Exact, exact_differences, exact_point, holds_origin, holds_origin_strictly};
use super::inside::is_inside;
use super::meeting::holds_origin_in_solid;
use super::named::{faces_of, is_face};
use super::refusal::Refusal;
use crate::claim::{Bodies, Cover, Face, Solid, SolidKind, Solids};
use crate::effort::Effort;
use crate::number::dyadic::Dyadic;
use crate::vertex_pair::VertexPair;

/// Whether a piece of each body share a point, and no two pieces more than points of their
/// boundaries; and beside a region, that nothing is inside both bodies.
pub(super) fn judge_touching_pieces(
    solids: &Solids<'_>,
    pairs: &[VertexPair],
    cover: &Cover,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    if solids.p.triangles().is_none() && solids.q.triangles().is_none() {
        return Err(Refusal::BoundFails("one body is made of triangles"));
    }
    let differences = differences_of_pieces(solids, pairs)?;
    if !(holds_origin(&differences) || holds_origin_in_solid(&differences)) {
        return Err(Refusal::FacesApart);
    }
    let payer = &mut Payer::new(effort);
    judge_no_inner_points(&judge_touching(solids, cover, payer)?, payer)
}

/// Whether two pieces overlap, of bodies of which one at least is a surface.
pub(super) fn judge_overlapping_pieces(
    solids: &Solids<'_>,
    pairs: &[VertexPair],
) -> Result<(), Refusal> {
    let is_surface = |solid: &Solid<'_>| matches!(solid.kind, SolidKind::Surface(_));
    if !is_surface(&solids.p) && !is_surface(&solids.q) {
        return Err(Refusal::BoundFails("one body is a surface"));
    }
    let differences = differences_of_pieces(solids, pairs)?;
    if holds_origin_strictly(&differences) { Ok(()) } else { Err(Refusal::FacesApart) }
}

/// The differences of pairs of vertices of a face of each body.
fn differences_of_pieces(solids: &Solids<'_>, pairs: &[VertexPair]) -> Result<Vec<Exact>, Refusal> {
    faces_of(solids, pairs, 6)?;
    exact_differences(&Bodies { p: solids.p.points, q: solids.q.points }, pairs)
}

/// Whether a point of a surface is inside the region that the other body is. With W the sum of the
/// weights, the point and the region are compared W times as large.
pub(super) fn judge_inner_piece(
    Solids { p, q }: &Solids<'_>,
    triangle: [u32; 3],
    weights: &[f64; 3],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let (surface, region, triangles, names) = match (p.kind, q.kind) {
        (SolidKind::Surface(_), SolidKind::Region(triangles)) => (p, q, triangles, ["P", "Q"]),
        (SolidKind::Region(triangles), SolidKind::Surface(_)) => (q, p, triangles, ["Q", "P"]),
        _ => return Err(Refusal::BoundFails("one is a surface, and the other bounds a region")),
    };
    is_face(surface, &Face::from(triangle), names[0])?;
    let is_weight = |weight: &f64| (0.0..f64::INFINITY).contains(weight);
    if !weights.iter().all(is_weight) || weights.iter().all(|weight| *weight <= 0.0) {
        return Err(Refusal::BoundFails("weights are lengths of which one is not 0"));
    }
    let weights = weights.map(Dyadic::from);
    let whole = &(&weights[0] + &weights[1]) + &weights[2];
    let corners = triangle.map(|v| exact_point(&surface.points, v));
    let point: Exact = std::array::from_fn(|k| {
        let [a, b, c] = [0, 1, 2].map(|at| &weights[at] * &corners[at][k]);
        &(&a + &b) + &c
    });
    let scaled = |corner: Exact| -> Exact { corner.map(|x| &x * &whole) };
    let around: Vec<Exact> = exact_points(region, effort)?.into_iter().map(scaled).collect();
    match is_inside(&point, &around, triangles, effort)? {
        Some(true) => Ok(()),
        Some(false) | None => Err(Refusal::NotInside(names[1])),
    }
}
