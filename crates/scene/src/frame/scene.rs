//! A scene: bodies in motion, and what is known about their pairs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::declared::body::{Body, BodyId, Part};
use crate::declared::question::Questions;
use crate::declared::robots::{RobotId, SceneRobot};
use crate::declared::rule_book::RuleBook;
use crate::declared::rules::Rules;
use crate::memory::kept::Noted;
use crate::memory::table::PairTable;
use crate::methods::Methods;
use crate::near::near_pairs::NearPairs;
use crate::near::still::WhileStill;
use crate::pair_key::PairKey;
use crate::pairs::report::Report;
use crate::placed::entry::{Entry, Start};
use crate::placed::history::History;
use crate::placed::mounted::Mounted;
use crate::placed::spin::Spin;
use clearance_geometry::Vec3;

/// How large a scene may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many bodies it may have.
    pub bodies_max: usize,
    /// Parts of all bodies together.
    pub parts_max: usize,
    /// Classes of bodies that rules about groups tell apart.
    pub classes_max: usize,
    /// Pairs of bodies that one frame may look at; those remembered are at most as many.
    pub pairs_max: usize,
    /// Pairs that one report may list.
    pub listed_max: usize,
}

/// The bodies that have moved and whose way to this frame is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SweptBodies {
    /// The way of none is known.
    None,
    /// Looked at are those that ask for first contacts of their own: of what has come far, bounds
    /// of the way are known. How far all others strayed at most is added to their travel.
    Chosen,
    /// All are looked at.
    All,
}

/// How often a scene has become another one, but for what robots do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChangeCounts {
    /// More than poses has changed.
    pub(crate) restructured: u64,
    /// A body that no robot carries went to another pose.
    pub(crate) placements: u64,
}

/// Bodies in motion, and what is known about their pairs.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(crate) entries: Vec<Entry>,
    /// The robots, ordered by id.
    pub(crate) robots: Vec<Mounted>,
    pub(crate) rules: Rules,
    /// Shared with whoever asks about a scene that has gone on.
    pub(crate) book: Arc<RuleBook>,
    /// How often it has become another one.
    pub(crate) changes: ChangeCounts,
    /// Contacts begin where the distance is at most this, metres.
    pub(crate) begin_margin: f64,
    /// And end where it is more than this.
    pub(crate) release_margin: f64,
    /// Announced contacts, with the frame that announced them.
    pub(crate) contacts: BTreeMap<PairKey, u64>,
    /// What the last report said of pairs that are not plainly separated.
    pub(crate) noted: BTreeMap<PairKey, Noted>,
    /// Contacts that ended because a body left or the pair is no longer checked.
    pub(crate) ended: Vec<(BodyId, BodyId)>,
    pub(crate) applied: u64,
    pub(crate) answered: u64,
    pub(crate) skipped: u32,
    /// Answers given; 0 until the opening report.
    pub(crate) answers: u64,
    pub(crate) revision: u64,
    pub(crate) table: PairTable,
    pub(crate) near: NearPairs,
    /// What questions to the scene as it stands have built.
    pub(crate) still: Arc<WhileStill>,
    /// What stood where at the last frames.
    pub(crate) history: History,
    /// How far each body has travelled, metres: see `travel`.
    pub(crate) travel: Vec<f64>,
    /// The bodies that moved since the last answered frame, in no particular order; and which.
    pub(crate) moved: Vec<u32>,
    pub(crate) has_moved: Vec<bool>,
    /// Where they were then.
    pub(crate) starts: Vec<Start>,
    /// Whether more has changed since than where some bodies are.
    pub(crate) has_changed: bool,
    /// The bodies whose motions to where they are now are bounded.
    pub(crate) swept: SweptBodies,
    /// Those of them that turned by more than a quarter turn, where `swept` is not none.
    pub(crate) turned_far: Vec<u32>,
    /// Whether some bodies ask for first contacts of their own.
    pub(crate) has_chosen: bool,
    /// What a look at the faces of two bodies takes while it lasts, bytes at most; 0 without
    /// polyhedra.
    pub(crate) look_bytes: usize,
    /// The pairs of which the last answer left something open.
    pub(crate) open: Vec<PairKey>,
    /// What the last answer was asked.
    pub(crate) asked: Option<Questions>,
    /// Memory of the bodies as declared, bytes.
    pub(crate) body_bytes: usize,
    /// Memory of the rules as declared, bytes: to look through all names with every frame would
    /// take longer than most frames.
    pub(crate) rule_bytes: usize,
    pub(crate) last_report: Option<Arc<Report>>,
    pub(crate) methods: Methods,
    pub(crate) limits: Limits,
}

impl Scene {
    /// The bodies where they are now, by id.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = &Body> {
        self.entries.iter().map(|entry| &entry.body)
    }

    /// Those that are no links of robots.
    pub(crate) fn declared_bodies(&self) -> impl Iterator<Item = &Body> {
        let is_link = |entry: &Entry| entry.carrier.as_ref().is_some_and(|by| by.is_link());
        self.entries.iter().filter(move |entry| !is_link(entry)).map(|entry| &entry.body)
    }

    /// The robots where they are now, by id, with what they carry.
    pub fn robots(&self) -> impl ExactSizeIterator<Item = &SceneRobot> {
        self.robots.iter().map(|robot| &robot.declared)
    }

    /// One of them.
    pub fn robot(&self, id: RobotId) -> Option<&SceneRobot> {
        self.robot_index(id).map(|index| &self.robots[index].declared)
    }

    pub(crate) fn robot_index(&self, id: RobotId) -> Option<usize> {
        self.robots.binary_search_by_key(&id, |robot| robot.declared.id).ok()
    }

    /// The bodies that a robot moves: its links, and what they carry.
    pub fn moved_with(&self, id: RobotId) -> impl Iterator<Item = BodyId> + '_ {
        let carried = self.robot_index(id).map(|index| &self.robots[index].carried);
        carried.into_iter().flatten().map(|index| self.id_of(*index))
    }

    /// The link of a robot that a body is: the robot's id and the index of the link.
    pub fn link_of(&self, id: BodyId) -> Option<(RobotId, usize)> {
        let entry = &self.entries[self.index_of(id)? as usize];
        let link = entry.carrier.as_ref().filter(|carrier| carrier.is_link());
        link.map(|carrier| (carrier.robot, carrier.link))
    }

    /// Which pairs are checked.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// One of them.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.index_of(id).map(|index| &self.entries[index as usize].body)
    }

    /// How a body has turned since the last answered frame, a rotation vector in the world, in
    /// radians; none: nobody said it, what was said is no one turn, or the body was put where it
    /// is.
    pub fn spin_so_far(&self, id: BodyId) -> Option<Vec3> {
        let entry = &self.entries[self.index_of(id)? as usize];
        match entry.start_in(&self.starts)?.spin {
            Spin::Said(spin) if !entry.teleported => Some(spin),
            Spin::Said(_) | Spin::Unsaid | Spin::Lost => None,
        }
    }

    /// Whether the last frame that was applied is answered.
    pub fn is_answered(&self) -> bool {
        self.answered == self.applied
    }

    /// The last frame applied; 0: none.
    pub fn frame(&self) -> u64 {
        self.applied
    }

    /// Whether it is as it was opened: no answer has been given yet.
    pub fn is_new(&self) -> bool {
        self.answers == 0
    }

    /// Number of pairs of bodies that are checked.
    pub fn pairs_enabled(&self) -> u64 {
        self.book.pairs_enabled
    }

    /// Whether some bodies ask for first contacts of their own ([`Body::continuous`]).
    pub fn has_continuous_bodies(&self) -> bool {
        self.has_chosen
    }

    /// Number of contacts announced and not ended.
    pub fn contact_count(&self) -> usize {
        self.contacts.len()
    }

    /// The last report, if it answers this frame.
    pub fn remembered_report(&self, frame: u64) -> Option<Arc<Report>> {
        self.last_report.clone().filter(|report| report.frame == frame)
    }

    /// Forgets every witness, which changes what the next frame costs and nothing else.
    pub fn forget_witnesses(&mut self) {
        self.table = PairTable::new(self.simple_bodies());
        self.near.invalidate();
        WhileStill::renew(&mut self.still);
        self.has_changed = true;
    }

    /// Memory that this scene takes beyond the shapes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.bytes_of_bodies()
            + self.bytes_of_pairs()
            + self.starts.capacity() * size_of::<Start>()
            + self.turned_far.capacity() * size_of::<u32>()
            + self.rule_bytes
            + self.book.bytes()
            + self.last_report.as_ref().map_or(0, |report| report.bytes())
            + (self.contacts.len() + self.noted.len()) * 64
            + self.history.bytes()
    }

    /// Of that: the bodies and rules as declared.
    pub fn bytes_of_declaration(&self) -> usize {
        self.body_bytes + self.rule_bytes
    }

    /// Of that: the bodies, with their places in the tree of boxes.
    pub fn bytes_of_bodies(&self) -> usize {
        let travelled = self.entries.len() * (size_of::<f64>() + size_of::<bool>());
        let robots: usize = self.robots.iter().map(Mounted::bytes).sum();
        self.body_bytes + self.near.bytes() + self.still.bytes() + travelled + robots
    }

    /// Of that: what is remembered of pairs.
    pub fn bytes_of_pairs(&self) -> usize {
        self.table.bytes()
    }

    /// Number of pairs of which something is remembered.
    pub fn pairs_known(&self) -> usize {
        self.table.len()
    }

    /// Whether a body has a polyhedron as a part.
    pub fn has_meshes(&self) -> bool {
        self.look_bytes > 0
    }

    /// Whether all parts of all bodies are convex.
    pub fn are_convex(&self) -> bool {
        !self.has_meshes()
            || self.entries.iter().all(|it| it.body.parts.iter().all(Part::is_convex))
    }

    /// Which bodies have one convex part and no margin with any other. None is, where a method was
    /// asked for by name: the report has its counters beside the verdicts.
    pub(crate) fn simple_bodies(&self) -> Vec<bool> {
        let is_any = !self.methods.are_named();
        let reaches = self.book.reaches.iter().zip(&self.book.are_deep);
        let bodies = self.entries.iter().zip(reaches);
        let is_simple = |entry: &Entry| is_any && entry.form.is_plain && !entry.form.has_mesh;
        let has_margin = |(reach, is_deep): (&f64, &bool)| *reach > 0.0 || *is_deep;
        bodies.map(|(entry, margins)| is_simple(entry) && !has_margin(margins)).collect()
    }

    /// The body's index, which is likely `next`.
    #[inline]
    pub(crate) fn index_of_next(&self, id: BodyId, next: u32) -> Option<u32> {
        let is_next = self.entries.get(next as usize).is_some_and(|entry| entry.body.id == id);
        if is_next { Some(next) } else { self.index_of(id) }
    }

    pub(crate) fn index_of(&self, id: BodyId) -> Option<u32> {
        let index = self.entries.binary_search_by_key(&id, |entry| entry.body.id).ok()?;
        Some(index as u32)
    }

    pub(crate) fn id_of(&self, index: u32) -> BodyId {
        self.entries[index as usize].body.id
    }
}
