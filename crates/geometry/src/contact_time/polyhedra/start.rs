//! How two bodies stand at t = 0. Exact.
//!
//! Triangles that cross show that the interiors meet. Otherwise, if the surfaces share a point,
//! they meet only if one of the ways shows it that `interiors` lists; and if they do not share a
//! point, and the bodies do, then the surface of what they share is whole shells of one inside the
//! other (§3.3).

use super::Faces;
use crate::claim::Verdict;
use crate::effort::{Effort, Stopped};
use crate::polyhedron::interiors::{Patch, is_laid_on, overlap_at};
use crate::polyhedron::meeting::{Facing, Meet};
use crate::polyhedron::placed::{Corner, Placed, Stand, Whose};
use crate::polyhedron::ray::{Start, around, crosses_odd};
use crate::polyhedron::tree::any_meeting_leaves;

/// The verdict, with the faces that show it where the bodies share a point.
pub(super) fn at_start(
    placed: &mut Placed<'_, '_>,
    effort: &mut Effort<'_>,
) -> Result<(Verdict, Option<Faces>), Stopped> {
    let (p, q) = (placed.p, placed.q);
    let mut touching: Option<Faces> = None;
    let mut overlapping: Option<Faces> = None;
    let mut covered = Covered::default();
    any_meeting_leaves([p, q], effort, |m, n| {
        let faces = Faces::Triangles { of_p: m, of_q: n };
        let (of_p, of_q) = (patch(p, Whose::P, m), patch(q, Whose::Q, n));
        let (a, b) = (of_p.corners, of_q.corners);
        let Some(facing) = Facing::of(placed, a, b) else { return false };
        match facing.meet(placed, a, b) {
            Meet::Apart => return false,
            Meet::Cross => overlapping = Some(faces),
            Meet::Touch => {
                touching = touching.or(Some(faces));
                if overlap_at(placed, &of_p, &of_q, &facing) {
                    overlapping = Some(faces);
                } else if facing.is_flat() && is_laid_on(placed, a, b) {
                    covered.note([p, q], [m, n]);
                }
            }
        }
        overlapping.is_some()
    })?;
    covered.sort();
    if overlapping.is_none() {
        overlapping = shell_inside(placed, Whose::P, &covered.of_p, effort)?
            .map(|triangle| Faces::PInQ { triangle });
    }
    if overlapping.is_none() {
        overlapping = shell_inside(placed, Whose::Q, &covered.of_q, effort)?
            .map(|triangle| Faces::QInP { triangle });
    }
    Ok(match (overlapping, touching) {
        (Some(faces), _) => (Verdict::Overlapping, Some(faces)),
        (None, Some(faces)) => (Verdict::Touching, Some(faces)),
        (None, None) => (Verdict::Separated, None),
    })
}

/// Those first triangles of shells that are laid on triangles of the other body.
#[derive(Debug, Default)]
struct Covered {
    of_p: Vec<u32>,
    of_q: Vec<u32>,
}

impl Covered {
    fn note(&mut self, [p, q]: [&Stand<'_>; 2], [m, n]: [u32; 2]) {
        for (stand, list, triangle) in [(p, &mut self.of_p, m), (q, &mut self.of_q, n)] {
            if stand.body.shells().binary_search(&triangle).is_ok() {
                list.push(triangle);
            }
        }
    }

    /// There may be as many as there are shells.
    fn sort(&mut self) {
        self.of_p.sort_unstable();
        self.of_q.sort_unstable();
    }
}

fn patch(stand: &Stand<'_>, body: Whose, triangle: u32) -> Patch<Corner> {
    Patch {
        corners: stand.body.triangle(triangle).map(|i| (body, i)),
        across: stand.body.across(triangle).map(|i| (body, i)),
        owned: stand.body.owned(triangle).edges,
    }
}

/// The first triangle of a shell of one body if it is inside the other, next to its first corner
/// and first edge. For bodies that none of the pairs of triangles has shown to share inner points:
/// then a shell with pieces inside is all inside but for single points, so none of its triangles is
/// laid on one of the other body.
fn shell_inside(
    placed: &mut Placed<'_, '_>,
    inner: Whose,
    covered: &[u32],
    effort: &mut Effort<'_>,
) -> Result<Option<u32>, Stopped> {
    let (of_inner, of_outer): (&Stand<'_>, &Stand<'_>) = match inner {
        Whose::P => (placed.p, placed.q),
        Whose::Q => (placed.q, placed.p),
    };
    let outer = if inner == Whose::P { Whose::Q } else { Whose::P };
    for &triangle in of_inner.body.shells() {
        effort.spend_step()?;
        let corners = of_inner.body.triangle(triangle);
        let within = around(&of_inner.point(corners[0]), of_inner.slack);
        if covered.binary_search(&triangle).is_ok() || !of_outer.whole().meets(&within) {
            continue;
        }
        let exact = placed.exact();
        let start = Start::beside(corners.map(|i| exact.point((inner, i)).clone()), within);
        let is_inside = crosses_odd(&start, of_outer, effort, |triangle| {
            Some(of_outer.body.triangle(triangle).map(|i| exact.point((outer, i)).clone()))
        })?;
        if is_inside {
            return Ok(Some(triangle));
        }
    }
    Ok(None)
}
