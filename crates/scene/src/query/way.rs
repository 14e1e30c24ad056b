//! A polytope on its way through a scene that stands still, and what it meets there.

use super::Candidate;
use crate::declared::body::BodyId;
use crate::pairs::meshes::PartsProof;
use crate::pairs::two_parts::PartsContact;
use crate::placed::visitor::Visitor;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, TIME_TOLERANCE, Verdict};
use clearance_geometry::meeting::Impact;
use clearance_geometry::motion::Motion;
use clearance_geometry::rays::RayHit;
use clearance_robot::meeting::Met;

/// Which contacts at the start of a way are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartContacts {
    /// All of them.
    #[default]
    All,
    /// Those in which the shape overlaps the part, and those in which it touches it and gets
    /// deeper.
    Deepening,
    /// None.
    Skipped,
}

/// A polytope on its way.
#[derive(Clone, Copy, Debug)]
pub struct Cast<'a> {
    /// The polytope where it starts, which may be rounded. Of a ray: a point.
    pub start: Visitor<'a>,
    /// How it moves over t in [0, 1].
    pub motion: Motion,
    /// Contact means a distance of at most this, metres; below 0 that they are at least so deep.
    pub margin: f64,
    /// Width of brackets in t where something turns.
    pub time_tolerance: f64,
    /// Which contacts at the start are told; others than all only of straight ways without a
    /// margin.
    pub starts: StartContacts,
    /// Where contacts at the start are left out, later ones across seams of a surface are, too: see
    /// `geometry::rays::seam`.
    pub without_seams: bool,
}

impl<'a> Cast<'a> {
    /// Along a straight line, until it touches something.
    pub fn along(start: Visitor<'a>, velocity: Vec3) -> Self {
        let (motion, starts) = (Motion::Linear { velocity }, StartContacts::All);
        let (time_tolerance, without_seams) = (TIME_TOLERANCE, false);
        Self { start, motion, margin: 0.0, time_tolerance, starts, without_seams }
    }

    /// How far and where to the polytope goes, if it is on such a way.
    pub(super) fn straight_way(&self) -> Option<Vec3> {
        match self.motion {
            Motion::Linear { velocity } if self.margin.abs() <= 0.0 => Some(velocity),
            Motion::Linear { .. } | Motion::Screw { .. } | Motion::ToPose { .. } => None,
        }
    }

    /// Whether the polytope only translates, until it touches something.
    pub(super) fn is_straight(&self) -> bool {
        self.straight_way().is_some()
    }

    /// Whether contact is not meant before the two are in each other by some depth.
    pub(super) fn is_deep(&self) -> bool {
        self.margin < 0.0
    }
}

/// A body that is met, or may be.
#[derive(Clone, Debug)]
pub struct CastHit {
    /// The body that is met.
    pub body: BodyId,
    /// The part of it that is met first.
    pub part: u32,
    /// Contact, or undecided: the way comes closer to it than the clearance tolerance.
    pub outcome: Outcome,
    /// Around the time of the first contact with the body; when undecided, the time that is not
    /// proven free.
    pub time: [f64; 2],
    /// The answer about the polytope (P) and the part (Q), with its proof; where the cast asks for
    /// none, pairs may be missing in it that prove contact at the start.
    pub contact: PartsContact,
    /// Its bracket overlaps that of another hit, so which is first is not known.
    pub is_unordered: bool,
    /// Where the body is listed in the scene.
    pub(super) index: u32,
    /// The normal of the triangle that a ray meets, if it is known.
    pub(super) normal: Option<Vec3>,
    /// Where it meets a face that is not the first in contact.
    pub(super) impact: Option<Box<Impact>>,
}

impl CastHit {
    pub(super) fn new(
        Candidate { index, entry }: Candidate<'_>,
        part: u32,
        contact: PartsContact,
    ) -> Self {
        let (body, time) = (entry.body.id, [contact.met.t_free, contact.met.t_contact]);
        let (outcome, is_unordered, normal) = (contact.met.outcome, false, None);
        Self { body, part, outcome, time, contact, is_unordered, index, normal, impact: None }
    }

    /// The same part, of which a face is met later than at the start.
    pub(super) fn later(self, time: [f64; 2], impact: Impact) -> Self {
        let [t_free, t_contact] = time;
        let start = PartsContact::at_start(PartsProof::of_faces(self.initial(), None));
        let contact = PartsContact { met: Met { t_free, t_contact, ..start.met }, ..start };
        Self { time, contact, impact: Some(Box::new(impact)), ..self }
    }

    /// How the polytope and the part stand at the start.
    pub(super) fn initial(&self) -> Verdict {
        self.contact.initial.verdict()
    }

    /// What a ray meets of a part that is not convex.
    pub(super) fn of_ray(candidate: Candidate<'_>, part: u32, found: &RayHit) -> Self {
        let start = PartsContact::at_start(PartsProof::of_faces(found.initial, None));
        let [t_free, t_contact] = found.time;
        let contact = PartsContact { met: Met { t_free, t_contact, ..start.met }, ..start };
        Self { normal: found.normal, ..Self::new(candidate, part, contact) }
    }
}
