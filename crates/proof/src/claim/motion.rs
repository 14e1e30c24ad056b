//! When two moving bodies meet first, and what proves it: a chain of separating directions until
//! then, and vertex pairs that meet.

use arrayvec::ArrayVec;

use super::direction::Direction;
use super::verdict::StaticProof;
use crate::effort::Stopped;
use crate::vertex_pair::VertexPair;

/// Whether the bodies meet during the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// First contact in `[t_free, t_contact]`.
    Contact,
    /// None in [0, 1].
    NoContact,
    /// The motion comes closer than the clearance tolerance and never gets deeper than it; or it
    /// makes no contact as stated, but not every motion within the deviations is free; or the
    /// search was stopped or gave up before it knew, and says so.
    Undecided,
}

/// First contact with everything proven on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstContact {
    /// Contact, no contact or undecided.
    pub outcome: Outcome,
    /// Proven free on the closed [0, t_free] (for contact at t = 0: 0, proven by `initial`).
    pub t_free: f64,
    /// Proven in contact at (rotation) or before (translation; flat bodies) this time; 1 when not
    /// in contact.
    pub t_contact: f64,
    /// Joined closed intervals that cover [0, t_free]; empty when in contact at t = 0, or when no
    /// more than the start as it is given is proven free, by `initial`.
    pub chain: Vec<Link>,
    /// At t_contact the moving differences of these hold the origin strictly inside (rotation); at
    /// some t in the bracket they hold it (translation; vertices that no rotation touches, and
    /// bodies that turn alike, translate to each other, too). Two exact forms settle what
    /// enclosures cannot: in a plane that no rotation leaves, across an axis, they hold it strictly
    /// inside within the plane; and at t_contact = 1 of motions that end at given poses they hold
    /// it there, boundary included. Of flat bodies the origin may pass through the triangle of
    /// three, or, of a point and a polygon or of two segments, through the polygon of four in order
    /// around, within the bracket. With a margin, the hull of their differences has a point within
    /// the margin of the origin: at t_contact (rotation) or at some t in the bracket (translation).
    pub pairs: ArrayVec<VertexPair, 6>,
    /// The verdict at t = 0 with its proof. If the chain is empty and contact comes later, the gap
    /// along its direction is wider than the margin.
    pub initial: StaticProof,
    /// Why less is proven than could be.
    pub stopped: Option<Stopped>,
}

/// The frame in which a direction of a motion chain is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Fixed in the world.
    World,
    /// Turns with P: the direction is the one at t = 0, turned by P's rotation since.
    P,
    /// Turns with Q.
    Q,
}

/// One link of a chain: the direction separates throughout the closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Start, as a fraction of the step.
    pub t0: f64,
    /// End, at least `t0`.
    pub t1: f64,
    /// Where the direction is fixed.
    pub frame: Frame,
    /// World direction at t = 0 (for pairs: differences of the poses at t = 0).
    pub direction: Direction,
}

/// What is claimed of a course; see [`FirstContact`].
#[derive(Clone, Copy, Debug)]
pub struct MotionClaim<'a> {
    /// Contact, no contact or undecided.
    pub outcome: Outcome,
    /// Free on the closed [0, t_free]; 1 when there is no contact.
    pub t_free: f64,
    /// In contact by then; does not matter when there is none.
    pub t_contact: f64,
    /// Covers [0, t_free]. Empty for contact at t = 0; else, with `t_free` 0, it leaves to
    /// `initial` that the bodies are free as they are given, which says nothing of any deviation.
    /// Undecided, it then says nothing of the margin either.
    pub chain: &'a [Link],
    /// Vertex pairs that prove contact by `t_contact`; empty when there is none.
    pub pairs: &'a [VertexPair],
    /// The verdict at t = 0, if it is claimed. Contact at t = 0 is proven by it or by `pairs`;
    /// freedom there, with an empty chain, by its direction, along which the gap is wider than the
    /// margin.
    pub initial: Option<&'a StaticProof>,
}

impl<'a> From<&'a FirstContact> for MotionClaim<'a> {
    fn from(answer: &'a FirstContact) -> Self {
        Self {
            outcome: answer.outcome,
            t_free: answer.t_free,
            t_contact: answer.t_contact,
            chain: &answer.chain,
            pairs: &answer.pairs,
            initial: Some(&answer.initial),
        }
    }
}
