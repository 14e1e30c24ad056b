//! When two parts first meet, of which a robot moves one or both: along the true path of its
//! joints.
//!
//! The search is that of edges ([`super::edge`]), in a cell of these two parts alone. Near a
//! contact it resolves no less than the rounding of the chains, whatever is asked: where two parts
//! approach so slowly that this takes longer than the tolerance, the bracket is as much wider.

use std::sync::Arc;

use super::ball::OuterBall;
use super::body::PartBody;
use super::cell::{Cell, CellLink, CellPart};
use super::edge::{EdgeAnswer, EdgeQuestion};
use super::kinematics::Kinematics;
use super::path::{ChainPath, Hanging};
use super::solids::Solids;
use super::still::{Still, StillBody};
use super::tree::Tree;
use clearance_geometry::claim::Outcome;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::pose::{Pose, STRETCH_MAX};

/// A part on its way.
#[derive(Clone, Debug)]
pub struct Traveller {
    /// The part, in its own frame.
    pub body: PartBody,
    /// The way that it goes.
    pub course: Course,
}

/// How a part goes.
#[derive(Clone, Debug)]
pub enum Course {
    /// It stands here.
    Still(Pose),
    /// It hangs on a chain.
    On(Arc<ChainPath>, Hanging),
}

impl Course {
    /// Where a part is at a time, rounded: for show, not for proof.
    pub fn pose_rounded(&self, t: f64) -> Pose {
        match self {
            Self::Still(pose) => *pose,
            Self::On(path, hanging) => path.pose_rounded(hanging, t),
        }
    }
}

/// What is asked of two parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rendezvous {
    /// A distance of at most this counts as contact, metres.
    pub margin: f64,
    /// Width of the bracket of a contact, in t.
    pub tolerance: f64,
    /// How far the two may stray from their paths in all, metres.
    pub deviation: f64,
}

/// What became of it; t from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    /// Whether they meet.
    pub outcome: Outcome,
    /// Proven apart up to here.
    pub t_free: f64,
    /// In contact here, where both are placed in f64; 1 if they are not.
    pub t_contact: f64,
    /// The search was stopped.
    pub stopped: Option<Stopped>,
}

impl Met {
    /// Nothing is known.
    pub const UNKNOWN: Self =
        Self { outcome: Outcome::Undecided, t_free: 0.0, t_contact: 1.0, stopped: None };

    /// They do not meet.
    pub const FREE: Self =
        Self { outcome: Outcome::NoContact, t_free: 1.0, t_contact: 1.0, stopped: None };

    /// Of what is made of two: it is met when the first of them is, and free as long as both are.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let t_contact = match (self.outcome, other.outcome) {
            (Outcome::Contact, Outcome::Contact) => self.t_contact.min(other.t_contact),
            (Outcome::Contact, _) => self.t_contact,
            (_, Outcome::Contact) => other.t_contact,
            (_, _) => 1.0,
        };
        let outcome = match (self.outcome, other.outcome) {
            (Outcome::Contact, _) | (_, Outcome::Contact) => Outcome::Contact,
            (Outcome::Undecided, _) | (_, Outcome::Undecided) => Outcome::Undecided,
            (Outcome::NoContact, Outcome::NoContact) => Outcome::NoContact,
        };
        let t_free = self.t_free.min(other.t_free);
        Self { outcome, t_free, t_contact, stopped: self.stopped.or(other.stopped) }
    }
}

/// By how much the tolerance grows where the rounding of the chains is too much for it.
const TOLERANCE_GROWTH: f64 = 100.0;
/// It grows to at most this.
const TOLERANCE_MAX: f64 = 1e-3;

/// When the two first meet.
pub fn first_meeting(
    travellers: [&Traveller; 2],
    asked: Rendezvous,
    effort: &mut Effort<'_>,
) -> Met {
    let (cell, [from, to]) = cell_of(travellers, asked.deviation);
    meeting(&cell, [&from, &to], asked, effort)
}

/// When the two part for good: as they meet when they go back, from the end to the start.
pub fn first_meeting_backwards(
    travellers: [&Traveller; 2],
    asked: Rendezvous,
    effort: &mut Effort<'_>,
) -> Met {
    let (cell, [from, to]) = cell_of(travellers, asked.deviation);
    meeting(&cell, [&to, &from], asked, effort)
}

fn meeting(
    cell: &Cell,
    ends: [&[f64]; 2],
    Rendezvous { margin, mut tolerance, .. }: Rendezvous,
    effort: &mut Effort<'_>,
) -> Met {
    loop {
        let question =
            EdgeQuestion { margin, tolerance, steps_max: u64::MAX, ..EdgeQuestion::default() };
        let answers = cell.check_edges(question, ends, effort);
        match answers.first() {
            Some(EdgeAnswer::Free) => {
                let outcome = Outcome::NoContact;
                return Met { outcome, t_free: 1.0, t_contact: 1.0, stopped: None };
            }
            Some(EdgeAnswer::Contact { free_until, contact_at, .. }) => {
                let (t_free, t_contact) = (*free_until, *contact_at);
                return Met { outcome: Outcome::Contact, t_free, t_contact, stopped: None };
            }
            Some(EdgeAnswer::Undecided { free_until, .. }) => {
                tolerance *= TOLERANCE_GROWTH;
                if tolerance > TOLERANCE_MAX {
                    return Met { t_free: *free_until, ..Met::UNKNOWN };
                }
            }
            Some(EdgeAnswer::Stopped { free_until, why }) => {
                let (t_free, stopped) = (*free_until, Some(*why));
                return Met { t_free, stopped, ..Met::UNKNOWN };
            }
            Some(EdgeAnswer::Bad(_) | EdgeAnswer::Turns) | None => return Met::UNKNOWN,
        }
    }
}

/// The two parts with their chains, and the values of these at both ends.
fn cell_of(travellers: [&Traveller; 2], deviation: f64) -> (Cell, [Vec<f64>; 2]) {
    let (mut tree, mut values) = (Tree::default(), [Vec::new(), Vec::new()]);
    let (mut hung, mut still) = (Vec::new(), Vec::new());
    let (mut slack, mut known): (f64, Option<(&Arc<ChainPath>, usize)>) = (deviation, None);
    for Traveller { body, course, .. } in travellers {
        let body = body.clone();
        let (path, hanging) = match course {
            Course::Still(pose) => {
                still.push(StillBody { body, pose: *pose });
                continue;
            }
            Course::On(path, hanging) => (path, hanging),
        };
        let first = match known {
            // Two parts of one robot are on one chain, which moves both at once.
            Some((other, first)) if Arc::ptr_eq(other, path) => first,
            _ => {
                let [first, _] = tree.append(path.tree(), &Pose::identity());
                for (values, end) in values.iter_mut().zip(path.ends()) {
                    values.extend_from_slice(end);
                }
                first
            }
        };
        known = Some((path, first));
        let ball = OuterBall::of(body.hull(), &hanging.pose);
        slack += path.slack(hanging, ball.centre.norm() + ball.radius * STRETCH_MAX);
        hung.push((body, hanging.frame.map(|frame| frame + first), hanging.pose));
    }
    let (kinematics, still) = (Kinematics::new(tree), Still::new(still));
    let (mut parts, mut links) = (Vec::new(), Vec::new());
    for (at, (body, frame, pose)) in hung.into_iter().enumerate() {
        let part = CellPart::new(body, pose, &kinematics, frame);
        parts.push(part);
        links.extend(CellLink::new(frame, at..at + 1, &parts));
    }
    let link_pairs = if links.len() == 2 { vec![[0, 1]] } else { Vec::new() };
    let of_still = still.bodies().iter().map(|one| &one.body);
    let solids = Solids::new(parts.iter().map(|one| &one.body).chain(of_still), parts.len());
    let (placed_links, constant, pairing) = (Vec::new(), Vec::new(), None);
    let cell = Cell {
        kinematics,
        parts,
        links,
        placed_links,
        constant,
        link_pairs,
        still,
        solids,
        slack,
        pairing,
        left_out: Vec::new(),
    };
    (cell, values)
}
