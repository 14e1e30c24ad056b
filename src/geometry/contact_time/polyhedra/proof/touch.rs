//! Why bodies that touch do no more: one of them comes there from a place nearby in a straight line, and
//! meets the other only at the end. If inner points were shared, some would have been before.

use super::cover::{Bounds, Room, cover};
use super::{PROPOSALS_MAX, Shape, Unproven, is_accepted, spans};
use crate::geometry::Vec3;
use crate::geometry::certificate::solids::{Face, SolidProof};
use crate::geometry::contact_time::Travel;
use crate::geometry::contact_time::polyhedra::{Faces, Moving, first_contact};
use crate::geometry::effort::Effort;

/// How far Q comes, as a part of its place and size: far enough for rounding not to bend the way, and not so
/// far that much else is in it.
const NEARBY: f64 = 1.0 / 1_048_576.0;

/// Tries the ways that the faces suggest, and those along and between the axes.
pub(super) fn prove(
    shapes: [&Shape<'_>; 2],
    faces: &Faces,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let [p, q] = shapes;
    let faces = spans(shapes, faces).ok_or(Unproven::NotFound)?;
    let to = q.pose.translation;
    let [low, high] = q.body.bounds();
    let reach = NEARBY * to.amax().max((high - low).amax());
    let mut proposals = 0;
    for away in ways(shapes, &faces) {
        let from = to + away * (reach / away.amax());
        let at_start =
            Shape { pose: crate::geometry::pose::Pose { translation: from, ..q.pose }, ..*q };
        let travels = [Travel::by(&Vec3::zeros()), Travel { from, to }];
        let [of_p, of_q] = [(p, travels[0]), (&at_start, travels[1])]
            .map(|(shape, travel)| Moving { body: shape.body, pose: shape.pose, travel });
        let is_free = first_contact(&of_p, &of_q, effort)?
            .contact
            .is_none_or(|contact| contact.t_free > 0.0 && contact.t_contact >= 1.0);
        if !is_free {
            continue;
        }
        let bounds = Bounds { until: 1.0, may_touch_at_end: true };
        let room = &mut Room::new(steps_max);
        let way = match cover([p, &at_start], travels, &bounds, room, effort) {
            Ok(way) => way,
            Err(Unproven::NotFound) => continue,
            Err(other) => return Err(other),
        };
        let proof = SolidProof::Touching { faces: faces.clone(), from, way };
        // Whether they meet at the end, or just before it by less than the numbers tell, is left to who
        // will be asked anyway.
        if is_accepted(shapes, &proof, effort)? {
            return Ok(proof);
        }
        proposals += 1;
        if proposals >= PROPOSALS_MAX {
            break;
        }
    }
    Err(Unproven::NotFound)
}

/// Out of P's face, against Q's, both at once; then along the axes, and between two or three of them, as out
/// of a corner.
fn ways([p, q]: [&Shape<'_>; 2], [of_p, of_q]: &[Face; 2]) -> Vec<Vec3> {
    let out = |shape: &Shape<'_>, face: &Face| {
        let [a, b, c] = face.as_slice() else { return Vec3::zeros() };
        let [a, b, c] =
            [a, b, c].map(|&i| shape.pose.apply_rounded(&shape.body.vertices()[i as usize]));
        let normal = (b - a).cross(&(c - a));
        let size = normal.amax();
        if size > 0.0 { normal / size } else { normal }
    };
    let (from_p, from_q) = (out(p, of_p), out(q, of_q));
    let grid =
        (0..27u8).map(|k| Vec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)));
    let mut around: Vec<Vec3> = grid.map(|at| at.add_scalar(-1.0)).collect();
    around.sort_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()));
    let of_faces = [from_p, -from_q, from_p - from_q];
    of_faces.into_iter().chain(around).filter(|way| way.amax() > 1e-6).collect()
}
