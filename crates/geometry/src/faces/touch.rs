//! Why bodies that touch do no more, of which one is a region. Either one of them comes there from
//! a place nearby in a straight line, and meets the other only at the end: if it were inside the
//! other one there, it would have been before. Or, where there is no such way, as for a peg that
//! fills its hole, no two pieces have inner points in common, and the judge finds the surface of
//! neither inside the other.

use arrayvec::ArrayVec;

use super::standing::touching_pieces;
use super::{Clear, Surfaces, prove_clear};
use crate::Vec3;
use crate::claim::{Face, SolidProof};
use crate::contact_time::Travel;
use crate::contact_time::polyhedra::proof::cover::{Bounds, Room, cover};
use crate::contact_time::polyhedra::proof::touch::{NEARBY, first_then_along_axes, normal_of};
use crate::contact_time::polyhedra::proof::{Unproven, is_accepted_of};
use crate::effort::Effort;
use crate::judge::{Refusal, judge_solids};
use crate::pair::VertexPair;
use crate::polyhedron::Boundary;
use crate::pose::Pose;

/// The proof that two bodies touch which pieces of them show that they meet; a cover has at most
/// `steps_max` steps and links.
pub(super) fn prove(
    surfaces: &Surfaces<'_>,
    pairs: ArrayVec<VertexPair, 6>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    match by_a_way(surfaces, &pairs, steps_max, effort) {
        Err(Unproven::NoWay) => by_pieces(surfaces, pairs, steps_max, effort),
        found => found,
    }
}

/// The proof that two bodies touch, by their pieces.
pub fn prove_touching(
    surfaces: &Surfaces<'_>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let pairs = touching_pieces(surfaces, effort)?.ok_or(Unproven::NoWay)?;
    by_pieces(surfaces, pairs, steps_max, effort)
}

fn by_pieces(
    surfaces: &Surfaces<'_>,
    pairs: ArrayVec<VertexPair, 6>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let cover = prove_clear(surfaces, Clear::NoNearer, steps_max, effort)?;
    let proof = SolidProof::TouchingPieces { pairs, cover };
    match judge_solids(&surfaces.solids(), &proof, effort) {
        Ok(()) => Ok(proof),
        Err(Refusal::Stopped(stopped)) => Err(stopped.into()),
        Err(Refusal::CoverTooLong) => Err(Unproven::TooLong),
        Err(_) => Err(Unproven::NoWay),
    }
}

/// Tries the ways out of the faces that meet, and those along and between the axes.
fn by_a_way(
    surfaces: &Surfaces<'_>,
    pairs: &[VertexPair],
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let [p, q] = surfaces.bodies;
    let faces = faces_of(pairs).ok_or(Unproven::NoWay)?;
    let to = q.pose.translation;
    let reach = NEARBY * to.amax().max(q.reach());
    for away in ways([&p, &q], &faces) {
        let from = to + away * (reach / away.amax());
        let at_start = Boundary { pose: Pose { translation: from, ..q.pose }, ..q };
        let travels = [Travel::by(&Vec3::zeros()), Travel { from, to }];
        let bounds = Bounds { until: 1.0, may_touch_at_end: true };
        let way = match cover([p, at_start], travels, &bounds, &mut Room::new(steps_max), effort) {
            Ok(way) => way,
            Err(Unproven::NoWay) => continue,
            Err(other) => return Err(other),
        };
        let proof = SolidProof::Touching { faces: faces.clone(), from, way };
        if is_accepted_of(&surfaces.solids(), &proof, effort)? {
            return Ok(proof);
        }
    }
    Err(Unproven::NoWay)
}

/// The vertices that pairs name of each body.
fn faces_of(pairs: &[VertexPair]) -> Option<[Face; 2]> {
    let of = |vertex: fn(&VertexPair) -> u32| {
        let mut named: Vec<u32> = pairs.iter().map(vertex).collect();
        named.sort_unstable();
        named.dedup();
        Face::try_from(&named[..]).ok()
    };
    Some([of(|pair| pair.i)?, of(|pair| pair.j)?])
}

/// Along the normals of the faces, both ways: a surface has no outside. Then along the axes.
fn ways(bodies: [&Boundary<'_>; 2], faces: &[Face; 2]) -> Vec<Vec3> {
    let normals = [0, 1].map(|k| normal_of(bodies[k].vertices(), &bodies[k].pose, &faces[k]));
    first_then_along_axes(normals.into_iter().flat_map(|normal| [normal, -normal]))
}
