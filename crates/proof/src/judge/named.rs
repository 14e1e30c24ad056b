//! Vertices that a certificate names of a body: whether they are of one face of it.

use super::refusal::Refusal;
use crate::claim::{Face, Solid, Solids};
use crate::vertex_pair::VertexPair;

/// A vertex, an edge or a triangle: some corners of one triangle. What vertices of a hull span is
/// in it.
pub(super) fn is_face(solid: &Solid<'_>, face: &Face, name: &'static str) -> Result<(), Refusal> {
    let exists = |v: &u32| (*v as usize) < solid.points.points.len();
    let is_in = |corners: &[u32; 3]| face.iter().all(|v| corners.contains(v));
    let is_one = !face.is_empty()
        && face.iter().all(exists)
        && solid.triangles().is_none_or(|triangles| triangles.iter().any(is_in));
    if is_one { Ok(()) } else { Err(Refusal::NotAFace(name)) }
}

/// The vertices that pairs name of each body, ascending, each once: of one face of it.
pub(super) fn faces_of(
    solids: &Solids<'_>,
    pairs: &[VertexPair],
    most: usize,
) -> Result<[Vec<u32>; 2], Refusal> {
    if !(1..=most).contains(&pairs.len()) {
        return Err(Refusal::PairCount(if most == 3 { "one to three" } else { "one to six" }));
    }
    let of = |vertex: fn(&VertexPair) -> u32| {
        let mut named: Vec<u32> = pairs.iter().map(vertex).collect();
        named.sort_unstable();
        named.dedup();
        named
    };
    let named = [of(|pair| pair.i), of(|pair| pair.j)];
    for ((solid, vertices), name) in [&solids.p, &solids.q].into_iter().zip(&named).zip(["P", "Q"])
    {
        if solid.triangles().is_none() {
            let is_missing = |&at: &u32| at as usize >= solid.points.points.len();
            if vertices.iter().any(is_missing) {
                return Err(Refusal::NotAFace(name));
            }
            continue;
        }
        let face = Face::try_from(&vertices[..]).map_err(|_| Refusal::NotAFace(name))?;
        is_face(solid, &face, name)?;
    }
    Ok(named)
}
