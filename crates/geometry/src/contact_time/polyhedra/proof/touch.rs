//! Why bodies that touch do no more: one of them comes there from a place nearby in a straight
//! line, and meets the other only at the end. If inner points were shared, some would have been
//! before.

use super::cover::{Bounds, Room, cover};
use super::{PROPOSALS_MAX, Unproven, is_accepted, spans};
use crate::Vec3;
use crate::claim::{Face, SolidProof};
use crate::contact_time::Travel;
use crate::contact_time::polyhedra::{Faces, Moving, first_contact};
use crate::effort::Effort;
use crate::number::tolerance;
use crate::polyhedron::HulledBody;
use crate::pose::Pose;

/// How far Q comes, as a part of its place and size: far enough for rounding not to bend the way,
/// and not so far that much else is in it.
pub(crate) const NEARBY: f64 = 1.0 / 1_048_576.0;

/// How often a way is turned out of faces that it runs into: a body has that many sides close to a
/// point, or the next way is tried.
const TURNS_MAX: usize = 8;

/// Tries the ways that the faces suggest, turned out of others that they run into, and those along
/// and between the axes.
pub(super) fn prove(
    shapes: [&HulledBody<'_>; 2],
    faces: &Faces,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let [p, q] = shapes;
    let faces = spans(shapes, faces).ok_or(Unproven::NoWay)?;
    let to = q.pose.translation;
    let [low, high] = q.body.bounds();
    let reach = NEARBY * to.amax().max((high - low).amax());
    let mut proposals = 0;
    let mut open: Vec<(Vec3, usize)> =
        ways(shapes, &faces).into_iter().map(|away| (away, TURNS_MAX)).collect();
    // Those of the faces come first.
    open.iter_mut().skip(3).for_each(|(_, turns)| *turns = 0);
    open.reverse();
    while let Some((away, turns)) = open.pop() {
        let from = to + away * (reach / away.amax());
        let at_start = HulledBody { pose: Pose { translation: from, ..q.pose }, ..*q };
        let travels = [Travel::by(&Vec3::zeros()), Travel { from, to }];
        let [of_p, of_q] = [(p, travels[0]), (&at_start, travels[1])]
            .map(|(shape, travel)| Moving { body: shape.body, pose: shape.pose, travel });
        let found = first_contact(&of_p, &of_q, effort)?.contact;
        let blocked = found.filter(|contact| contact.t_free <= 0.0 || contact.t_contact < 1.0);
        if let Some(contact) = blocked {
            let turned = (turns > 0).then(|| turned(shapes, away, &contact.faces)).flatten();
            open.extend(turned.map(|away| (away, turns - 1)));
            continue;
        }
        let bounds = Bounds { until: 1.0, may_touch_at_end: true };
        let room = &mut Room::new(steps_max);
        let way = match cover([p, &at_start], travels, &bounds, room, effort) {
            Ok(way) => way,
            Err(Unproven::NoWay) => continue,
            Err(other) => return Err(other),
        };
        let proof = SolidProof::Touching { faces: faces.clone(), from, way };
        // Whether they meet at the end, or just before it by less than the numbers tell, is left to
        // who will be asked anyway.
        if is_accepted(shapes, &proof, effort)? {
            return Ok(proof);
        }
        proposals += 1;
        if proposals >= PROPOSALS_MAX {
            break;
        }
    }
    Err(Unproven::NoWay)
}

/// Out of P's face, against Q's, both at once; then along the axes, and between two or three of
/// them, as out of a corner.
fn ways([p, q]: [&HulledBody<'_>; 2], [of_p, of_q]: &[Face; 2]) -> Vec<Vec3> {
    let (from_p, from_q) = (out(p, of_p), out(q, of_q));
    let of_faces = [from_p, -from_q, from_p - from_q];
    first_then_along_axes(of_faces)
}

/// These ways, then those along the axes and between two or three of them, as out of a corner;
/// without those that lead nowhere.
pub(crate) fn first_then_along_axes(ways: impl IntoIterator<Item = Vec3>) -> Vec<Vec3> {
    let grid =
        (0..27u8).map(|k| Vec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)));
    let mut around: Vec<Vec3> = grid.map(|at| at.add_scalar(-1.0)).collect();
    around.sort_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()));
    ways.into_iter().chain(around).filter(|way| way.amax() > tolerance::WAY_NONE).collect()
}

/// The normal of a face; see [`normal_of`].
fn out(shape: &HulledBody<'_>, face: &Face) -> Vec3 {
    normal_of(shape.body.vertices(), &shape.pose, face)
}

/// The normal of a triangle, rounded; zero of a vertex or an edge.
pub(crate) fn normal_of(vertices: &[Vec3], pose: &Pose, face: &Face) -> Vec3 {
    let [a, b, c] = face.as_slice() else { return Vec3::zeros() };
    let [a, b, c] = [a, b, c].map(|&i| pose.apply_rounded(&vertices[i as usize]));
    // To size first, so that products neither overflow nor underflow.
    let to_size = |v: Vec3| if v.amax() > 0.0 { v / v.amax() } else { v };
    to_size(to_size(b - a).cross(&to_size(c - a)))
}

/// A way that is blocked, turned out of the faces that block it, as a perceptron learns (Rosenblatt
/// 1958): of a direction out of all of them, if there is one, a few are enough.
fn turned(shapes: [&HulledBody<'_>; 2], away: Vec3, faces: &Faces) -> Option<Vec3> {
    let blocking = spans(shapes, faces)?;
    let normals = [out(shapes[0], &blocking[0]), -out(shapes[1], &blocking[1])];
    let away = away / away.norm();
    let units = normals.into_iter().filter(|n| n.amax() > 0.0).map(|n| n / n.norm());
    let least = units.min_by(|a, b| a.dot(&away).total_cmp(&b.dot(&away)))?;
    let turned = away + least;
    (turned.amax() > tolerance::WAY_NONE).then_some(turned)
}
