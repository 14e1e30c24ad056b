//! The judge of how two bodies stand, by pieces: triangles, or the whole of a polytope.

use super::cells::judge_no_inner_points;
use super::cover::{Payer, exact_points, judge_touching};
use super::exact::{Exact, exact_differences, exact_point, holds_origin, holds_origin_strictly};
use super::inside::is_inside;
use super::meeting::holds_origin_in_solid;
use super::named::{faces_of, is_face};
use super::refusal::Refusal;
use crate::claim::{Bodies, Cover, Face, Solid, Solids};
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
    one_has_triangles(solids)?;
    let differences = differences_of_pieces(solids, pairs)?;
    if !(holds_origin(&differences) || holds_origin_in_solid(&differences)) {
        return Err(Refusal::FacesApart);
    }
    let payer = &mut Payer::new(effort);
    judge_no_inner_points(&judge_touching(solids, cover, payer)?, payer)
}

/// Whether two pieces overlap, of bodies of which one at least is made of triangles. Beside a
/// triangle of its boundary a region has inner points, too.
pub(super) fn judge_overlapping_pieces(
    solids: &Solids<'_>,
    pairs: &[VertexPair],
) -> Result<(), Refusal> {
    one_has_triangles(solids)?;
    let differences = differences_of_pieces(solids, pairs)?;
    if holds_origin_strictly(&differences) { Ok(()) } else { Err(Refusal::FacesApart) }
}

fn one_has_triangles(solids: &Solids<'_>) -> Result<(), Refusal> {
    let has = solids.p.triangles().is_some() || solids.q.triangles().is_some();
    if has { Ok(()) } else { Err(Refusal::BoundFails("one body is made of triangles")) }
}

/// The differences of pairs of vertices of a face of each body.
fn differences_of_pieces(solids: &Solids<'_>, pairs: &[VertexPair]) -> Result<Vec<Exact>, Refusal> {
    faces_of(solids, pairs, 6)?;
    exact_differences(&Bodies { p: solids.p.points, q: solids.q.points }, pairs)
}

/// Whether a point of a triangle of one body is inside the region that the other one is. Of two
/// regions it may be a triangle of either: next to it that one has inner points, too.
pub(super) fn judge_inner_piece(
    Solids { p, q }: &Solids<'_>,
    triangle: [u32; 3],
    weights: &[f64; 3],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let mut refused = Refusal::BoundFails("one has triangles, and the other bounds a region");
    for (own, other, names) in [(p, q, ["P", "Q"]), (q, p, ["Q", "P"])] {
        let Some(region) = other.region().filter(|_| own.triangles().is_some()) else { continue };
        let judged = is_face(own, &Face::from(triangle), names[0])
            .and_then(|()| point_of(own, triangle, weights))
            .and_then(|point| holds(other, region, &point, names[1], effort));
        match judged {
            Ok(()) => return Ok(()),
            Err(Refusal::Stopped(stopped)) => return Err(Refusal::Stopped(stopped)),
            Err(why) => refused = why,
        }
    }
    Err(refused)
}

/// A point of a triangle, times the sum of the weights.
struct Scaled {
    point: Exact,
    scale: Dyadic,
}

fn point_of(own: &Solid<'_>, triangle: [u32; 3], weights: &[f64; 3]) -> Result<Scaled, Refusal> {
    let is_weight = |weight: &f64| (0.0..f64::INFINITY).contains(weight);
    if !weights.iter().all(is_weight) || weights.iter().all(|weight| *weight <= 0.0) {
        return Err(Refusal::BoundFails("weights are lengths of which one is not 0"));
    }
    let weights = weights.map(Dyadic::from);
    let scale = &(&weights[0] + &weights[1]) + &weights[2];
    let corners = triangle.map(|v| exact_point(&own.points, v));
    let point = std::array::from_fn(|k| {
        let [a, b, c] = [0, 1, 2].map(|at| &weights[at] * &corners[at][k]);
        &(&a + &b) + &c
    });
    Ok(Scaled { point, scale })
}

/// Whether a region has a point inside. Both are compared as many times as large as the point is.
fn holds(
    solid: &Solid<'_>,
    region: &[[u32; 3]],
    Scaled { point, scale }: &Scaled,
    name: &'static str,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let scaled = |corner: Exact| -> Exact { corner.map(|x| &x * scale) };
    let around: Vec<Exact> = exact_points(solid, effort)?.into_iter().map(scaled).collect();
    match is_inside(point, &around, region, effort)? {
        Some(true) => Ok(()),
        Some(false) | None => Err(Refusal::NotInside(name)),
    }
}
