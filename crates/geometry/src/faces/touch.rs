//! Why a surface and a region that touch do no more: one of them comes there from a place nearby in
//! a straight line, and meets the other only at the end. If the surface were inside the region
//! there, it would have been before.

use super::Surfaces;
use crate::Vec3;
use crate::claim::{Face, SolidProof};
use crate::contact_time::Travel;
use crate::contact_time::polyhedra::proof::cover::{Bounds, Room, cover};
use crate::contact_time::polyhedra::proof::touch::{NEARBY, first_then_along_axes, normal_of};
use crate::contact_time::polyhedra::proof::{Unproven, is_accepted_of};
use crate::effort::Effort;
use crate::pair::VertexPair;
use crate::polyhedron::Boundary;
use crate::pose::Pose;

/// Tries the ways out of the faces that meet, and those along and between the axes.
pub(super) fn prove(
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
