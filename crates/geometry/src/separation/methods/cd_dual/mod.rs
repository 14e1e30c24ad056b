//! CD-Dual: a local search over the faces of M, guided by a distance in its dual.
//!
//! Source: Choi, Li, Wang, Cameron, *Collision Detection of Convex Polyhedra Based on Duality
//! Transformation*, §3-§4, §6 and appendix. (The paper's M is P - Q, here and below.)
//!
//! From a point c inside M a ray is sent to the origin. A face of M with outward normal N, whose
//! plane is `N·x = k`, becomes the vertex `N / (k - N·c)` of the polar body of M - c. Along the ray
//! `s = -c` that vertex has the height `(N·s) / (k - N·c)`, which is one over the part of the ray
//! before the plane; the paper's signed distance d(f) is this less one, divided by |c|. A linear
//! function on a convex body: who climbs from vertex to neighbouring vertex reaches its maximum,
//! which is the face where the ray leaves M. If any height exceeds one, the face's normal
//! separates.
//!
//! Three searches climb in turn, so that most of the O(mn) faces made of two edges are never seen:
//! over the faces of P, each with the supporting vertex of -Q (FV, from the face whose normal is
//! most along the ray, or from that of the last frame); over those of Q (VF, from one at that
//! vertex); over pairs of edges whose arcs on the Gaussian sphere cross (EE).
//!
//! Proves: nothing; it proposes the normal of a face that the origin is beyond, or four vertices of
//! M around the origin. It hands over bodies that are not solid, and when rounding gives out.
//! Cost: a supporting-vertex search for every face looked at in FV and VF, four products for every
//! pair of edges. On ellipsoids 2:1:1 of 100 and 1000 vertices 20 and 30 faces in the mean in
//! contact, at any depth, and 100 on 10:1:1; one when separated by more than their sizes.
//!
//! Differs from the text:
//! - §4.2: the first face is the one whose normal is most along the ray among all faces of P. Here
//!   a climb from face to neighbouring face, from the vertex farthest along the ray, ends at a face
//!   that no neighbour beats. On balls and ellipsoids 2:1:1 and 10:1:1 of 100 and 1000 vertices
//!   that is the best of all in 787 of 800 searches, which look at as many faces from it (25,328)
//!   as from the best of all (25,348), without a look at all 196 to 1996 faces before (`findings`).
//! - §3.3.1: supporting vertices come from the last one by climbing, or from a table of starts, not
//!   from the hierarchy of the text's reference 6. On these bodies a climb visits 11 to 12
//!   vertices, the layers 79 to 135, and from the last one through the layers 23 to 24
//!   (`findings`).
//! - §6: the ends of the silhouettes' edges, found by a look at all edges, are sorted for their
//!   hulls (`polygon`), where the text has `O(m + n)`: with k of them `O(m + n + k log k)`. On
//!   these bodies k is at most 28 to 86, of 294 to 2994 edges (`findings`).
//! - Theorems 1 and 2: that P's faces are adjacent does not make FV faces of M neighbours in their
//!   hull, so a stop of FV or VF need not be the maximum of its kind (`findings` has a hull of five
//!   points and a tetrahedron, at which either stops at 0.61 of the best), and SEARCH-EE, which
//!   looks at pairs of edges alone, could stop too early. Here a stop is final when the ray passes
//!   the face, which proves it to be the best. If not, a better neighbour among all of M's is gone
//!   to: pairs of edges, and the faces at the ends of their arcs. When FV ends at the face that the
//!   ray passes, VF and EE are not needed.
//! - §3.3.3: SEARCH-EE pushes the neighbours of a face only when it is better than all before (as
//!   in the proof of Theorem 6), and then forgets the others (Lemma 4). So no pair comes back, and
//!   there is no stack.
//! - §4.3: arcs that only touch count as crossing, within rounding; a face's whole supporting
//!   features are used, so that edges and faces parallel to it (cases 2 and 3 of the appendix) are
//!   one facet with it ([`facet`]). What such a pair is worth is measured by supporting vertices,
//!   not assumed.
//! - §4.1: points inside a body are means of four of its vertices (§4.1 only wants them stored), so
//!   that overlap can be shown by vertices of M ([`holding`]).
//! - Bodies without volume, whose M may have no inner point, are handed over.

mod bodies;
mod exits;
mod facet;
#[cfg(test)]
mod findings;
mod holding;
mod polygon;
mod search;
#[cfg(test)]
mod tests;

pub(crate) use exits::{Silhouette, exits};
pub use search::DualWork;

use self::bodies::{DualBodies, DualBody, DualFacet, FaceKind};
use self::search::{DualFound, DualSearch};
use super::{CollisionMethod, Proposal};
use crate::Vec3;
use crate::difference::layout::Layout;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::polytope::surface::Inner;
use crate::witness::{Memory, Witness};

/// The row of the table.
pub(super) const METHOD: CollisionMethod = CollisionMethod {
    name: "cd_dual",
    source: "Choi, Li, Wang, Cameron, CD-Dual, §3-§4",
    proves: "separation by the normal of a face, overlap by four pairs; hands over flat bodies",
    cost: "20 to 100 faces of the difference body in the mean in contact, at any depth; fewer \
           apart",
    tables: Tables::Surface,
    continues: false,
    propose,
};

fn propose(
    pair: &Pair<'_>,
    _layout: &Layout,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    Ok(propose_with_work(pair, witness, effort)?.0)
}

/// Proposes, and says how many faces of M each of the three searches looked at.
pub fn propose_with_work(
    pair: &Pair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<(Proposal, DualWork), Stopped> {
    prepare(pair, effort)?;
    let Some((bodies, inner)) = towards_origin(pair) else {
        return Ok((Proposal::HandOver, DualWork::default()));
    };
    let mut search = DualSearch::new(bodies, true);
    let faces = search.bodies.p.surface.face_count();
    let remembered = if let Memory::FaceOfP(face) = witness.memory { Some(face) } else { None };
    let remembered = remembered.filter(|face| *face < faces);
    let hint = remembered.and(witness.pairs.first().map(|pair| pair.j));
    let first = remembered.unwrap_or_else(|| search.first_face(effort));
    let found = search.run(first, hint, effort)?;
    let DualSearch { bodies, work, .. } = search;
    let proposal = match found {
        DualFound::Lost => return Ok((Proposal::HandOver, work)),
        DualFound::Beyond(facet) => {
            let direction = bodies.in_world(&facet.normal);
            remember(&bodies, &facet, direction, &[facet.pair], witness);
            Proposal::Separating(direction)
        }
        DualFound::Best(facet, triangle) => {
            let direction = bodies.in_world(&facet.normal);
            let held = holding::holding(&bodies, inner, &triangle, facet.value);
            let pairs = held.as_deref().unwrap_or(&[]);
            remember(&bodies, &facet, direction, pairs, witness);
            held.map_or(Proposal::HandOver, Proposal::Holding)
        }
    };
    Ok((proposal, work))
}

/// Which of the three searches looks at a face of M.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualPhase {
    /// SEARCH-FV
    Fv,
    /// SEARCH-VF
    Vf,
    /// SEARCH-EE
    Ee,
}

/// The way of a cold search: the faces that it moves to, by their normals in the world, and the
/// search that finds each. Empty for bodies that are not solid.
pub fn dual_way(pair: &Pair<'_>) -> Vec<(DualPhase, Vec3)> {
    let Some((bodies, _)) = towards_origin(pair) else { return Vec::new() };
    let mut search = DualSearch::new(bodies, true);
    search.way = Some(Vec::new());
    let mut effort = Effort::unlimited();
    let first = search.first_face(&mut effort);
    // Without a budget nothing stops it.
    let _ = search.run(first, None, &mut effort);
    let DualSearch { bodies, way, .. } = search;
    let phase = |facet: &DualFacet| match facet.kind {
        FaceKind::Face(DualBody::P, _) => DualPhase::Fv,
        FaceKind::Face(DualBody::Q, _) => DualPhase::Vf,
        FaceKind::Edges(..) => DualPhase::Ee,
    };
    let seen = |facet: &DualFacet| (phase(facet), bodies.in_world(&facet.normal));
    way.unwrap_or_default().iter().map(seen).collect()
}

/// Builds the bodies' surfaces, unless the deadline passes meanwhile.
fn prepare(pair: &Pair<'_>, effort: &Effort<'_>) -> Result<(), Stopped> {
    for body in [pair.p.body, pair.q.body] {
        body.surface_within(effort)?;
    }
    Ok(())
}

/// The bodies with c and the ray to the origin, and the points whose difference is c. Each body has
/// two points inside; if the first difference is the origin itself, the next is not (§4.1).
fn towards_origin<'a>(pair: &Pair<'a>) -> Option<(DualBodies<'a>, [&'a Inner; 2])> {
    let [first, second] = pair.p.body.surface()?.inner();
    let [_, of_q] = pair.q.body.surface()?.inner();
    let bodies = DualBodies::new(pair, first.point, of_q.point)?;
    if bodies.ray != Vec3::zeros() {
        return Some((bodies, [first, of_q]));
    }
    let bodies = DualBodies::new(pair, second.point, of_q.point)?;
    (bodies.ray != Vec3::zeros()).then_some((bodies, [second, of_q]))
}

/// Leaves the best face in the witness: as a direction, as vertices, and as the face of P nearest
/// to it (§4.4).
fn remember(
    bodies: &DualBodies<'_>,
    facet: &DualFacet,
    direction: Vec3,
    pairs: &[VertexPair],
    witness: &mut Witness,
) {
    witness.direction = Some(direction);
    witness.pairs.clear();
    if pairs.is_empty() {
        witness.pairs.push(facet.pair);
    }
    witness.pairs.extend(pairs.iter().copied());
    witness.memory = Memory::FaceOfP(nearest_face_of_p(bodies, facet));
}

/// The face of P from which the next frame begins (§4.4).
fn nearest_face_of_p(bodies: &DualBodies<'_>, facet: &DualFacet) -> u32 {
    let p = &bodies.p;
    match facet.kind {
        FaceKind::Face(DualBody::P, face) => face,
        FaceKind::Face(DualBody::Q, _) => p.face_at(facet.pair.i, &facet.normal),
        FaceKind::Edges(edge, _) => {
            p.nearest(p.incidence().faces_at(edge), &facet.normal).unwrap_or(0)
        }
    }
}
