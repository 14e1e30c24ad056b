//! How two bodies stand at t = 0.

use super::Faces;
use super::meeting::{Meet, triangles_meet};
use super::placed::{Body, Placed, Stand};
use super::ray::{Start as Ray, around, crosses_odd};
use super::tree::any_meeting_leaves;

/// How two bodies stand at t = 0; every value is exact, and says no more than it proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The closed regions share no point.
    Separated,
    /// The surfaces share a point, and no edge of one goes through the inside of a face of the other:
    /// touching, or overlapping in such a way that vertices and edges meet edges and faces exactly.
    /// Which of the two is not decided.
    InContact,
    /// The interiors meet.
    Overlapping,
}

/// With the faces that show it.
///
/// If the surfaces meet there are two triangles that do. Otherwise, if the bodies share a point at
/// all, then the surface of what they share is whole shells of one inside the other.
pub(super) fn at_start(placed: &mut Placed<'_, '_>) -> (Start, Option<Faces>) {
    let (p, q) = (placed.p, placed.q);
    let mut found: Option<(Meet, Faces)> = None;
    any_meeting_leaves(
        [(p.body.tree(), p.boxes.as_slice()), (q.body.tree(), q.boxes.as_slice())],
        |m, n| {
            let of_p = p.body.triangle(m).map(|i| (Body::P, i));
            let of_q = q.body.triangle(n).map(|i| (Body::Q, i));
            let meet = triangles_meet(placed, of_p, of_q);
            if meet > found.map_or(Meet::Apart, |(meet, _)| meet) {
                found = Some((meet, Faces::Triangles { of_p: m, of_q: n }));
            }
            meet == Meet::Cross
        },
    );
    match found {
        Some((Meet::Cross, faces)) => return (Start::Overlapping, Some(faces)),
        Some((_, faces)) => return (Start::InContact, Some(faces)),
        None => {}
    }
    if let Some(triangle) = shell_inside(placed, Body::P) {
        return (Start::Overlapping, Some(Faces::PInQ { triangle }));
    }
    match shell_inside(placed, Body::Q) {
        Some(triangle) => (Start::Overlapping, Some(Faces::QInP { triangle })),
        None => (Start::Separated, None),
    }
}

/// A triangle of a shell of one body that is inside the other, for surfaces that do not meet.
fn shell_inside(placed: &mut Placed<'_, '_>, inner: Body) -> Option<u32> {
    let (of_inner, of_outer): (&Stand<'_>, &Stand<'_>) = match inner {
        Body::P => (placed.p, placed.q),
        Body::Q => (placed.q, placed.p),
    };
    let outer = if inner == Body::P { Body::Q } else { Body::P };
    let tree = of_outer.body.tree();
    of_inner.body.shells().iter().copied().find(|&triangle| {
        let [vertex, ..] = of_inner.body.triangle(triangle);
        let within = around(of_inner.point(vertex), of_inner.slack);
        if !of_outer.whole().meets(&within) {
            return false;
        }
        let exact = placed.exact();
        let start = Ray { exact: exact.point((inner, vertex)).clone(), within };
        crosses_odd(&start, (tree, &of_outer.boxes), |triangle| {
            Some(of_outer.body.triangle(triangle).map(|i| exact.point((outer, i)).clone()))
        })
    })
}
