//! Proofs for what is said of polyhedra: [`crate::claim`] has what they
//! state.
//!
//! What meets is shown at the faces found, what does not by a cover of all pairs of faces
//! (`cover`). That interiors meet is shown by two triangles that cross, or else by a point inside
//! both (`inner`); that they do not where the bodies touch, by a way on which one of them came
//! (`touch`). Of several bodies each two are looked at (`several`).
//!
//! Not everything that is known exactly gets a proof: see [`Unproven`].

pub(crate) mod cover;
mod inner;
mod several;
pub(crate) mod touch;

pub use self::several::{Found, Several, prove_collision};

use self::cover::{Bounds, Room, cover};
use super::{Contact, Faces};
use crate::claim::{Face, SolidMotionProof, SolidProof, Solids, Verdict};
use crate::contact_time::Travel;
use crate::effort::{Effort, Stopped};
use crate::judge::{Refusal, judge_solids};
use crate::polyhedron::HulledBody;
use crate::polyhedron::meeting::{Facing, Meet};
use crate::polyhedron::placed::{Placed, Stand, Whose};
use crate::polyhedron::tree::any_meeting_leaves;

/// Proposals that the judge is asked about before no more are made: each takes exact arithmetic on
/// all of both bodies, and of what has a proof of its kind nearly always the first is one.
const PROPOSALS_MAX: usize = 4;

/// Why something that is known exactly has no proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// A cover of all pairs of faces would be longer than allowed.
    TooLong,
    /// They touch, and no short straight way was found on which one of them came there.
    NoWay,
    /// They overlap, no two of their triangles cross, and no point was found inside both.
    TooThin,
    /// It is not resolved how they stand, so that there is nothing to prove.
    Unresolved,
    /// No claim speaks of such bodies.
    NoClaim,
    /// There was no effort left to look for one.
    Stopped(Stopped),
}

impl Unproven {
    /// What ended the search for a proof; none: there is no proof to be found.
    pub fn stopped(self) -> Option<Stopped> {
        match self {
            Self::Stopped(why) => Some(why),
            Self::TooLong | Self::NoWay | Self::TooThin | Self::Unresolved | Self::NoClaim => None,
        }
    }
}

impl From<Stopped> for Unproven {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// Whether the judge accepts a proposal.
fn is_accepted(
    [p, q]: [&HulledBody<'_>; 2],
    proof: &SolidProof,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    is_accepted_of(&Solids { p: p.solid(), q: q.solid() }, proof, effort)
}

/// The same of bodies of any kind.
pub(crate) fn is_accepted_of(
    solids: &Solids<'_>,
    proof: &SolidProof,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    match judge_solids(solids, proof, effort) {
        Ok(()) => Ok(true),
        Err(Refusal::Stopped(stopped)) => Err(stopped),
        Err(_) => Ok(false),
    }
}

/// The proof of a verdict with the faces that show it; a cover has at most `steps_max` steps and
/// links.
pub fn prove_verdict(
    shapes: [&HulledBody<'_>; 2],
    verdict: Verdict,
    faces: Option<&Faces>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    match (verdict, faces) {
        (Verdict::Separated, _) => {
            let bounds = Bounds { until: 0.0, may_touch_at_end: false };
            let rest = Travel::by(&crate::Vec3::zeros());
            let room = &mut Room::new(steps_max);
            cover(shapes, [rest, rest], &bounds, room, effort).map(SolidProof::Separated)
        }
        (Verdict::Touching, Some(faces)) => touch::prove(shapes, faces, steps_max, effort),
        (Verdict::Overlapping, Some(faces)) => match crossing(shapes, faces) {
            Some(crossing) => Ok(SolidProof::Crossing(crossing)),
            None => match inner::prove(shapes, faces, effort) {
                Err(Unproven::TooThin) => {
                    let found = crossing_anywhere(shapes, effort)?;
                    found.map(SolidProof::Crossing).ok_or(Unproven::TooThin)
                }
                found => found,
            },
        },
        (Verdict::Touching, None) => Err(Unproven::NoWay),
        (Verdict::Overlapping, None) => Err(Unproven::TooThin),
    }
}

/// The proof that bodies which are separated at t = 0 do not meet in the step, or not before they
/// do.
pub fn prove_motion(
    shapes: [&HulledBody<'_>; 2],
    travels: [Travel; 2],
    contact: Option<&Contact>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidMotionProof, Unproven> {
    prove_motion_in(shapes, travels, contact, &mut Room::new(steps_max), effort)
}

/// Proves a motion as a part of a longer proof, which shares one budget.
fn prove_motion_in(
    shapes: [&HulledBody<'_>; 2],
    travels: [Travel; 2],
    contact: Option<&Contact>,
    room: &mut Room,
    effort: &mut Effort<'_>,
) -> Result<SolidMotionProof, Unproven> {
    let until = contact.map_or(1.0, |contact| contact.t_free);
    let bounds = Bounds { until, may_touch_at_end: false };
    let free = cover(shapes, travels, &bounds, room, effort)?;
    let faces = contact.and_then(|contact| spans(shapes, &contact.faces));
    Ok(SolidMotionProof { free, faces, ..SolidMotionProof::default() })
}

/// The vertices of the faces, unless one body is inside the other.
fn spans([p, q]: [&HulledBody<'_>; 2], faces: &Faces) -> Option<[Face; 2]> {
    let one = |vertex: u32| [vertex].into_iter().collect();
    let of_p = |triangle: u32| Face::from(p.body.triangle(triangle));
    let of_q = |triangle: u32| Face::from(q.body.triangle(triangle));
    match *faces {
        Faces::VertexAndTriangle { vertex, triangle } => Some([one(vertex), of_q(triangle)]),
        Faces::TriangleAndVertex { triangle, vertex } => Some([of_p(triangle), one(vertex)]),
        Faces::Edges { of_p, of_q } => Some([of_p, of_q].map(|ends| ends.into_iter().collect())),
        Faces::Triangles { of_p: m, of_q: n } => Some([of_p(m), of_q(n)]),
        Faces::PInQ { .. } | Faces::QInP { .. } => None,
    }
}

/// Two triangles of which inner points are one.
fn crossing([p, q]: [&HulledBody<'_>; 2], faces: &Faces) -> Option<[[u32; 3]; 2]> {
    let Faces::Triangles { of_p, of_q } = *faces else { return None };
    let stands = [p, q].map(|shape| Stand::on_demand(shape.body, shape.pose));
    crossing_of(&mut Placed::new(&stands[0], &stands[1]), of_p, of_q)
}

/// Any two triangles that cross: those by which the verdict was found may be others.
fn crossing_anywhere(
    shapes: [&HulledBody<'_>; 2],
    effort: &mut Effort<'_>,
) -> Result<Option<[[u32; 3]; 2]>, Stopped> {
    let stands = shapes.map(|shape| Stand::on_demand(shape.body, shape.pose));
    let mut placed = Placed::new(&stands[0], &stands[1]);
    let mut found = None;
    any_meeting_leaves(stands.each_ref(), effort, |of_p, of_q| {
        found = crossing_of(&mut placed, of_p, of_q);
        found.is_some()
    })?;
    Ok(found)
}

/// The corners of two triangles, if these cross.
fn crossing_of(placed: &mut Placed<'_, '_>, of_p: u32, of_q: u32) -> Option<[[u32; 3]; 2]> {
    let corners = [placed.p.body.triangle(of_p), placed.q.body.triangle(of_q)];
    let [a, b] = [corners[0].map(|i| (Whose::P, i)), corners[1].map(|i| (Whose::Q, i))];
    let facing = Facing::of(placed, a, b)?;
    (facing.meet(placed, a, b) == Meet::Cross).then_some(corners)
}
