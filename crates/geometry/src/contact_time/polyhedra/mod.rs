//! General polyhedra, convex or not, under translation: whether, when and where they first meet.
//!
//! Source: Joseph, Plantinga, *Efficient Algorithms for Polyhedron Collision Detection*, 1987, §3.
//! Proves: everything it says: contact from the exact time of two faces that meet, freedom before
//! it because no pair of faces meets earlier (see `sweep` for why some pairs suffice) and the
//! bodies are separated at t = 0. `proof` makes certificates of it.
//! Cost: each body is placed once, which is linear; then pairs of boxes that meet on the way, and
//! pairs of faces in them. `O(n²)` at worst, as in the paper.
//!
//! A body that translates over the step sweeps a prism of space-time. When two bodies first meet,
//! two of their faces meet in a single point (Lemma 2), and faces whose flats in space-time are
//! partly parallel need no look: a vertex and a triangle, or two edges. How they stand at t = 0 is
//! decided first: two triangles meet, or one body is inside the other (§3.3).
//!
//! Reading order: [`polyhedron`](crate::polyhedron) says what a body is and tells whether
//! two triangles meet; `start` looks at t = 0, `shear` and `sweep` at the rest; `proof` proves what
//! was found.
//!
//! Differs from the text:
//! - §3.2: Algorithm 2 tells the distance of polytopes by the feet of mutual normals of all pairs
//!   of faces (Lemmas 3 to 6), in any dimension. Here only the pairs that can share a point are
//!   looked at, in space and time. How far polyhedra are from each other, groups of faces tell
//!   ([`crate::faces`]); convex bodies have the method `mutual_normals`.
//! - §3.3, §3.4: point against polytope and segment against facet are mutually recursive in the
//!   dimension. Here one ray in three dimensions is followed through the triangles it meets.
//! - §4: polyhedra that turn are searched by groups of faces ([`crate::faces::contact`]); see
//!   `features` for convex bodies.
//! - §3.2: the step is one-sided: the prisms are never built; a pair of faces gives the time
//!   directly.
//! - §3.2: points of prisms that are vertices at t = 0 and t = 1 are not tried: at the start the
//!   bodies are separated, and after t = 1 nothing is asked.
//! - §3.5: pairs are found by a hierarchy of boxes; §5 proposes a hierarchy as an extension.

pub mod proof;
mod shear;
mod start;
mod sweep;

use std::cmp::Ordering;

use dashu_int::IBig;

pub(crate) use self::sweep::Pace;
use self::sweep::{Meeting, Sweep};
use super::linear::strictly_below;
use super::travel::Travel;
use crate::Vec3;
use crate::claim::Verdict;
use crate::effort::{Effort, Stopped};
use crate::number::ratio::Ratio;
use crate::polyhedron::placed::{Placed, Stand};
use crate::polyhedron::{PlacedPoints, Polyhedron};
use crate::pose::Pose;

/// A polyhedron, where it is at t = 0, and how it moves over t in [0, 1].
#[derive(Clone, Copy, Debug)]
pub struct Moving<'a> {
    /// The body, in its own frame.
    pub body: &'a Polyhedron,
    /// From its frame to the world at t = 0.
    pub pose: Pose,
    /// How far it comes in the step.
    pub travel: Travel,
}

/// Two faces that share a point. Vertices and triangles are those of the body, an edge is its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faces {
    /// A vertex of P and a triangle of Q.
    VertexAndTriangle {
        /// Index of P's vertex.
        vertex: u32,
        /// Index of Q's triangle.
        triangle: u32,
    },
    /// A triangle of P and a vertex of Q.
    TriangleAndVertex {
        /// Index of P's triangle.
        triangle: u32,
        /// Index of Q's vertex.
        vertex: u32,
    },
    /// An edge of each.
    Edges {
        /// Vertices of P.
        of_p: [u32; 2],
        /// Vertices of Q.
        of_q: [u32; 2],
    },
    /// Two triangles that meet at t = 0.
    Triangles {
        /// Index of P's edge.
        of_p: u32,
        /// Index of Q's edge.
        of_q: u32,
    },
    /// At t = 0 this triangle of P is inside Q, next to its first corner.
    PInQ {
        /// Index of P's triangle.
        triangle: u32,
    },
    /// At t = 0 this triangle of Q is inside P, next to its first corner.
    QInP {
        /// Index of Q's triangle.
        triangle: u32,
    },
}

/// When and where two bodies first meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The bodies share no point on the closed [0, t_free]; 0 for contact at t = 0.
    pub t_free: f64,
    /// They do at some time in (t_free, t_contact], two neighbouring f64 numbers; 0 at t = 0.
    pub t_contact: f64,
    /// Faces that meet then; there may be more.
    pub faces: Faces,
    /// A point of contact in the world, rounded; none at t = 0.
    pub point: Option<Vec3>,
}

/// How questions about polyhedra are answered: a row for the tables of methods.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name on the wire and in the tables.
    pub name: &'static str,
    /// Who described it, and where.
    pub source: &'static str,
    /// What its findings amount to.
    pub proves: &'static str,
    /// What a query costs.
    pub cost: &'static str,
}

/// Every way by name; there is one.
pub const METHODS: &[Method] = &[Method {
    name: "faces",
    source: "Joseph, Plantinga 1987, §3",
    proves: "verdicts, margins and times of translations, exactly; distances and times of bodies \
             that turn in brackets; mostly with a certificate",
    cost: "linear in the triangles, then pairs of boxes that meet and of triangles in them; of \
           distances and turning bodies, pairs of groups of triangles",
}];

/// The first contact of two bodies over the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstContact {
    /// How they stand at t = 0.
    pub initial: Verdict,
    /// None if they do not meet in [0, 1].
    pub contact: Option<Contact>,
}

/// The first contact among several bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Collision {
    /// Places in the list of the two bodies, ascending: P and Q of `first_contact`. Of pairs that
    /// meet at exactly the same time, the least.
    pub pair: [usize; 2],
    /// How they stand at t = 0.
    pub initial: Verdict,
    /// When and where.
    pub contact: Contact,
    /// Other pairs that meet in the same bracket, in order. None is looked for when it is at t = 0.
    pub tied: Vec<[usize; 2]>,
}

/// The first contact of P and Q over the step. Exact, whatever the bodies and velocities.
///
/// ```
/// use clearance_geometry::Vec3;
/// use clearance_geometry::contact_time::Travel;
/// use clearance_geometry::contact_time::polyhedra::{Moving, first_contact};
/// use clearance_geometry::polyhedron::Polyhedron;
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::pose::Pose;
///
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let effort = &mut Effort::unlimited();
/// let body = Polyhedron::new(&corners, &faces, effort).unwrap();
/// let still =
///     Moving { body: &body, pose: Pose::identity(), travel: Travel::by(&Vec3::zeros()) };
/// let falling = Moving {
///     body: &body,
///     pose: Pose::translation(0., 0., 3.),
///     travel: Travel::by(&Vec3::new(0., 0., -4.)),
/// };
/// let answer = first_contact(&still, &falling, effort).unwrap();
/// assert_eq!(answer.contact.unwrap().t_contact, 0.5);
/// ```
pub fn first_contact(
    p: &Moving<'_>,
    q: &Moving<'_>,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let stands = [p, q].map(|moving| Stand::new(moving.body, moving.pose));
    effort.one_question(|effort| {
        let answer = meet([p, q], [&stands[0], &stands[1]], 1.0, effort)?;
        Ok(FirstContact {
            initial: answer.initial,
            contact: answer.contact.map(|(_, contact)| contact),
        })
    })
}

/// A polyhedron in a pose, at rest.
#[derive(Clone, Copy, Debug)]
pub struct PosedPolyhedron<'a> {
    /// The body, in its own frame.
    pub body: &'a Polyhedron,
    /// Whose frame to world, metres.
    pub pose: Pose,
}

/// How two bodies stand in their poses, and faces that show it unless they are separated: touching
/// if they share points but no inner ones. Exact.
///
/// ```
/// use clearance_geometry::claim::Verdict;
/// use clearance_geometry::contact_time::polyhedra::{PosedPolyhedron, verdict};
/// use clearance_geometry::polyhedron::Polyhedron;
/// use clearance_geometry::Vec3;
/// # use clearance_geometry::effort::Effort;
/// use clearance_geometry::pose::Pose;
///
/// # let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// # let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// # let effort = &mut Effort::unlimited();
/// let body = Polyhedron::new(&corners, &faces, effort).unwrap();
/// let above = Pose::translation(0.0, 0.0, 1.0);
/// let at = |pose: Pose| PosedPolyhedron { body: &body, pose };
/// let (verdict, faces) = verdict(at(Pose::identity()), at(above), effort).unwrap();
/// assert_eq!(verdict, Verdict::Touching);
/// assert!(faces.is_some());
/// ```
pub fn verdict(
    p: PosedPolyhedron<'_>,
    q: PosedPolyhedron<'_>,
    effort: &mut Effort<'_>,
) -> Result<(Verdict, Option<Faces>), Stopped> {
    let stands = [p, q].map(|posed| Stand::on_demand(posed.body, posed.pose));
    effort.one_question(|effort| start::at_start(&mut Placed::new(&stands[0], &stands[1]), effort))
}

/// The same of bodies that were placed before, each in its pose.
pub fn verdict_of_placed(
    bodies: [(PosedPolyhedron<'_>, &PlacedPoints); 2],
    effort: &mut Effort<'_>,
) -> Result<(Verdict, Option<Faces>), Stopped> {
    let stands = bodies.map(|(posed, placed)| Stand::of(posed.body, posed.pose, placed));
    effort.one_question(|effort| start::at_start(&mut Placed::new(&stands[0], &stands[1]), effort))
}

/// The first contact among several bodies (§3.5): of the pair that meets first.
///
/// ```
/// use clearance_geometry::contact_time::Travel;
/// use clearance_geometry::contact_time::polyhedra::{Moving, first_collision};
/// use clearance_geometry::polyhedron::Polyhedron;
/// use clearance_geometry::Vec3;
/// # use clearance_geometry::effort::Effort;
/// use clearance_geometry::pose::Pose;
///
/// # let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// # let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// # let effort = &mut Effort::unlimited();
/// let body = Polyhedron::new(&corners, &faces, effort).unwrap();
/// let moving = |z: f64, speed: f64| Moving {
///     body: &body,
///     pose: Pose::translation(0.0, 0.0, z),
///     travel: Travel::by(&Vec3::new(0.0, 0.0, speed)),
/// };
/// let bodies = [moving(0.0, 0.0), moving(3.0, -4.0), moving(9.0, -9.0)];
/// let first = first_collision(&bodies, effort).unwrap().unwrap();
/// assert_eq!(first.pair, [0, 1]);
/// assert_eq!(first.contact.t_contact, 0.5);
/// ```
pub fn first_collision(
    bodies: &[Moving<'_>],
    effort: &mut Effort<'_>,
) -> Result<Option<Collision>, Stopped> {
    let mut stands: Vec<Stand<'_>> = Vec::with_capacity(bodies.len());
    for moving in bodies {
        effort.look_at_clock()?;
        stands.push(Stand::new(moving.body, moving.pose));
    }
    // Boxes that meet first are looked at first, to leave less of the step to the others.
    let mut pairs: Vec<(f64, [usize; 2])> = Vec::new();
    for second in 1..bodies.len() {
        for first in 0..second {
            effort.look_at_clock()?;
            let pace = Pace::new(&bodies[first].travel, &bodies[second].travel);
            if let Some(t) = pace.entry(&stands[first].whole(), &stands[second].whole(), 1.0) {
                pairs.push((t, [first, second]));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    effort.one_question(|effort| {
        let mut best: Option<(Ratio, Collision)> = None;
        // Pairs that meet, and a time just before.
        let mut met: Vec<([usize; 2], f64)> = Vec::new();
        for (from, pair) in pairs {
            let until = best.as_ref().map_or(1.0, |(_, best)| best.contact.t_contact);
            // Nothing is before t = 0, and of pairs whose boxes meet there the first came first.
            if from > until || until <= 0.0 {
                break;
            }
            let [first, second] = pair;
            let moving = [&bodies[first], &bodies[second]];
            let answer = meet(moving, [&stands[first], &stands[second]], until, effort)?;
            let Some((time, contact)) = answer.contact else { continue };
            met.push((pair, contact.t_free));
            let is_first =
                best.as_ref().is_none_or(|(earliest, best)| match time.compare_with(earliest) {
                    Ordering::Less => true,
                    Ordering::Equal => pair < best.pair,
                    Ordering::Greater => false,
                });
            if is_first {
                let (initial, tied) = (answer.initial, Vec::new());
                best = Some((time, Collision { pair, initial, contact, tied }));
            }
        }
        Ok(best.map(|(_, first)| {
            let is_tied = |&(pair, before): &([usize; 2], f64)| {
                pair != first.pair && before < first.contact.t_contact
            };
            let mut tied: Vec<_> = met.into_iter().filter(is_tied).map(|(pair, _)| pair).collect();
            tied.sort_unstable();
            Collision { tied, ..first }
        }))
    })
}

/// An answer with the exact time.
struct Met {
    initial: Verdict,
    contact: Option<(Ratio, Contact)>,
}

/// The first contact not after `until`.
fn meet<'a>(
    [p, q]: [&Moving<'_>; 2],
    stands: [&Stand<'a>; 2],
    until: f64,
    effort: &mut Effort<'_>,
) -> Result<Met, Stopped> {
    let mut placed = Placed::new(stands[0], stands[1]);
    let (initial, faces) = start::at_start(&mut placed, effort)?;
    if let Some(faces) = faces {
        let zero = Ratio::new(IBig::ZERO, IBig::ONE, 0);
        let contact = Contact { t_free: 0.0, t_contact: 0.0, faces, point: None };
        return Ok(Met { initial, contact: Some((zero, contact)) });
    }
    let meeting = match Sweep::new(&mut placed, Pace::new(&p.travel, &q.travel), until) {
        Some(sweep) => sweep.run(effort)?,
        None => None,
    };
    let contact = meeting.map(|meeting| {
        let [_, t_contact] = meeting.time.bracket();
        let contact = Contact {
            t_free: strictly_below(&meeting.time),
            t_contact,
            faces: meeting.faces,
            point: place_of(&meeting, [p, q], stands, t_contact),
        };
        (meeting.time, contact)
    });
    Ok(Met { initial, contact })
}

/// Where two faces meet, rounded.
fn place_of(
    meeting: &Meeting,
    [p, q]: [&Moving<'_>; 2],
    [of_p, of_q]: [&Stand<'_>; 2],
    t: f64,
) -> Option<Vec3> {
    match meeting.faces {
        Faces::VertexAndTriangle { vertex, .. } => {
            Some(of_p.point(vertex) + p.travel.rounded() * t)
        }
        Faces::TriangleAndVertex { vertex, .. } => {
            Some(of_q.point(vertex) + q.travel.rounded() * t)
        }
        Faces::Edges { of_p: [a, b], .. } => {
            let (a, b) = (of_p.point(a), of_p.point(b));
            Some(a + (b - a) * meeting.along_edge + p.travel.rounded() * t)
        }
        Faces::Triangles { .. } | Faces::PInQ { .. } | Faces::QInP { .. } => None,
    }
}

#[cfg(test)]
mod tests;
