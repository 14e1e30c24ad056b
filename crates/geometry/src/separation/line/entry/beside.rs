//! Triangles beside a proposed one.
//!
//! Where facets of a body are in one plane but for rounding, the normals of all of them are next to
//! each other, and the three corners that a search proposes may be of two facets: a globe's
//! quadrangles between parallels and meridians, whose corners are rounded, are two triangles each,
//! and the search has the corners but takes the wrong diagonal. The line then enters through
//! another triangle at one of those corners, which is found by looking at all of them.

use crate::Vec3;
use crate::difference::probe::offset;
use crate::pair::{Pair, VertexPair};

/// Triangles, at the corners of one that is a body's, between neighbouring edges of that body, that
/// the line `{t u}` seems to pass through; each with about the parameter.
pub(super) fn triangles_beside<'a>(
    pair: &'a Pair<'_>,
    u: &'a Vec3,
    pairs: &'a [VertexPair; 3],
) -> impl Iterator<Item = ([VertexPair; 3], f64)> + 'a {
    let [a, b, c] = *pairs;
    let of_p = (a.j == b.j) & (a.j == c.j);
    let body = if of_p { pair.p.body } else { pair.q.body };
    let named = move |vertex: u32| {
        if of_p { VertexPair { i: vertex, ..a } } else { VertexPair { j: vertex, ..a } }
    };
    let is_of_one_body = of_p | ((a.i == b.i) & (a.i == c.i));
    let hubs = pairs.iter().filter(move |_| is_of_one_body);
    let triangles = hubs.flat_map(move |hub| {
        let ring = body.neighbours(if of_p { hub.i } else { hub.j });
        let sides = ring.iter().zip(ring.iter().cycle().skip(1));
        sides.map(move |(from, to)| [*hub, named(*from), named(*to)])
    });
    triangles.filter_map(|triangle| Some((triangle, passes(pair, u, &triangle)?)))
}

/// About the parameter at which the line passes through the triangle, if it does.
fn passes(pair: &Pair<'_>, u: &Vec3, triangle: &[VertexPair; 3]) -> Option<f64> {
    let [a, b, c] = triangle.map(|VertexPair { i, j }| {
        let of_p = pair.p.pose.rotation * pair.p.body.vertex(i);
        let of_q = pair.q.pose.rotation * pair.q.body.vertex(j);
        (of_q - of_p) + offset(pair)
    });
    let sides = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|side| u.dot(&side));
    let is_around = sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0);
    let normal = (b - a).cross(&(c - a));
    is_around.then(|| normal.dot(&a) / normal.dot(u))
}
