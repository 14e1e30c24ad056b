//! A scene: bodies in motion, and what is known about their pairs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::body::{Body, BodyId, Entry, Start};
use super::broken::{Rule, is_broken};
use super::declaration::{Contact, Declaration, DeclarationError, Problem, is_length};
use super::listing::Noted;
use super::methods::Methods;
use super::near::NearPairs;
use super::pairs::PairKey;
use super::query::still::WhileStill;
use super::question::Questions;
use super::report::Report;
use super::robots::{Mounted, RobotId, SceneRobot};
use super::rules::{RuleBook, Rules};
use super::structure::Restructuring;
use super::table::PairTable;

/// How large a scene may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bodies.
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
pub(super) enum SweptBodies {
    /// The way of none is known.
    None,
    /// Looked at are those that ask for first contacts of their own: of what has come far, bounds
    /// of the way are known. How far all others strayed at most is added to their travel.
    Chosen,
    /// All are looked at.
    All,
}

/// Bodies in motion, and what is known about their pairs.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(super) entries: Vec<Entry>,
    /// By id.
    pub(super) robots: Vec<Mounted>,
    pub(super) rules: Rules,
    pub(super) book: RuleBook,
    pub(super) release_margin: f64,
    /// Announced contacts, with the frame that announced them.
    pub(super) contacts: BTreeMap<PairKey, u64>,
    /// What the last report said of pairs that are not plainly separated.
    pub(super) noted: BTreeMap<PairKey, Noted>,
    /// Contacts that ended because a body left or the pair is no longer checked.
    pub(super) ended: Vec<(BodyId, BodyId)>,
    pub(super) applied: u64,
    pub(super) answered: u64,
    pub(super) skipped: u32,
    /// Answers given; 0 until the opening report.
    pub(super) answers: u64,
    pub(super) revision: u64,
    pub(super) table: PairTable,
    pub(super) near: NearPairs,
    /// What questions to the scene as it stands have built.
    pub(super) still: Arc<WhileStill>,
    /// How far each body has travelled, metres: see `travel`.
    pub(super) travel: Vec<f64>,
    /// The bodies that moved since the last answered frame, in no particular order; and which.
    pub(super) moved: Vec<u32>,
    pub(super) has_moved: Vec<bool>,
    /// Where they were then.
    pub(super) starts: Vec<Start>,
    /// Whether more has changed since than where some bodies are.
    pub(super) has_changed: bool,
    /// The bodies whose motions to where they are now are bounded.
    pub(super) swept: SweptBodies,
    /// Whether some bodies ask for first contacts of their own.
    pub(super) has_chosen: bool,
    /// The pairs of which the last answer left something open.
    pub(super) open: Vec<PairKey>,
    /// What the last answer was asked.
    pub(super) asked: Option<Questions>,
    /// Memory of the bodies as declared, bytes.
    pub(super) body_bytes: usize,
    /// Memory of the rules as declared, bytes: to look through all names with every frame would
    /// take longer than most frames.
    pub(super) rule_bytes: usize,
    pub(super) last_report: Option<Arc<Report>>,
    pub(super) methods: Methods,
    pub(super) limits: Limits,
}

impl Scene {
    /// Takes up a declared scene; or says what is wrong with it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use clearance_geometry::{Vec3, hull::convex_hull, pose::Pose, separation::METHODS};
    /// # use clearance_scene::{Body, BodyId, Declaration, Limits, Scene, Serial};
    /// # use clearance_scene::{Frame, Move, Questions};
    /// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
    /// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
    /// # let cube = Arc::new(cube);
    /// # let (bodies_max, parts_max, classes_max, pairs_max, listed_max) = (9, 9, 9, 9, 9);
    /// # let limits = Limits { bodies_max, parts_max, classes_max, pairs_max, listed_max };
    /// let far = Pose::translation(4.0, 0.0, 0.0);
    /// let bodies = vec![Body::solid(1, cube.clone()), Body::solid(2, cube).placed(far)];
    /// let declared = Declaration { bodies, ..Default::default() };
    /// let mut scene = Scene::open(declared, &METHODS[0], limits).unwrap();
    /// let report = scene.answer(&Questions::default(), &Serial, &false.into()).unwrap();
    /// assert_eq!(report.tally.separated, 1);
    /// ```
    pub fn open(
        declared: Declaration,
        methods: impl Into<Methods>,
        limits: Limits,
    ) -> Result<Self, DeclarationError> {
        if !is_length(declared.release_margin) {
            return Err(DeclarationError::new("release_margin".into(), Problem::NotALength));
        }
        let mut scene = Self {
            entries: Vec::new(),
            robots: Vec::new(),
            rules: Rules::default(),
            book: RuleBook::default(),
            release_margin: declared.release_margin,
            contacts: BTreeMap::new(),
            noted: BTreeMap::new(),
            ended: Vec::new(),
            applied: declared.frame,
            answered: 0,
            skipped: 0,
            answers: 0,
            revision: 0,
            table: PairTable::default(),
            near: NearPairs::default(),
            still: Arc::default(),
            travel: Vec::new(),
            moved: Vec::new(),
            has_moved: Vec::new(),
            starts: Vec::new(),
            has_changed: true,
            swept: SweptBodies::None,
            has_chosen: false,
            open: Vec::new(),
            asked: None,
            body_bytes: 0,
            rule_bytes: 0,
            last_report: None,
            methods: methods.into(),
            limits,
        };
        let Declaration { bodies, robots, rules, contacts, .. } = declared;
        scene.restructure(Restructuring::opening(bodies, robots, rules))?;
        for (index, contact) in contacts.iter().enumerate() {
            let fail = |problem| DeclarationError::new(format!("contacts[{index}].pair"), problem);
            let a = scene.index_of(contact.pair[0]).ok_or_else(|| fail(Problem::UnknownBody))?;
            let b = scene.index_of(contact.pair[1]).ok_or_else(|| fail(Problem::UnknownBody))?;
            if a == b {
                return Err(fail(Problem::SameBody));
            }
            let key = PairKey::new(a, b);
            if !scene.book.is_enabled(key) {
                return Err(fail(Problem::NotChecked));
            }
            if !is_broken(Rule::AnnouncedContacts) {
                scene.contacts.insert(key, contact.began_frame);
            }
        }
        Ok(scene)
    }

    /// The declared state, fit for opening it elsewhere.
    pub fn declaration(&self) -> Declaration {
        let contact = |(key, began_frame): (&PairKey, &u64)| Contact {
            pair: [self.id_of(key.p), self.id_of(key.q)],
            began_frame: *began_frame,
        };
        Declaration {
            bodies: self.declared_bodies().cloned().collect(),
            robots: self.robots().cloned().collect(),
            rules: self.rules.declared_with(self.bodies()),
            release_margin: self.release_margin,
            contacts: self.contacts.iter().map(contact).collect(),
            frame: self.applied,
        }
    }

    /// The bodies where they are now, by id.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = &Body> {
        self.entries.iter().map(|entry| &entry.body)
    }

    /// Those that are no links of robots.
    fn declared_bodies(&self) -> impl Iterator<Item = &Body> {
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

    pub(super) fn robot_index(&self, id: RobotId) -> Option<usize> {
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
            + self.rule_bytes
            + self.book.bytes()
            + self.last_report.as_ref().map_or(0, |report| report.bytes())
            + (self.contacts.len() + self.noted.len()) * 64
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

    /// Which bodies have one part and no margin with any other; none where methods were asked for
    /// by name, of which more is to be told than a verdict.
    pub(super) fn simple_bodies(&self) -> Vec<bool> {
        let is_any = !self.methods.are_named();
        let bodies = self.entries.iter().zip(&self.book.reaches);
        bodies.map(|(entry, reach)| is_any && entry.form.is_plain && *reach <= 0.0).collect()
    }

    /// The body's index, which is likely `next`.
    #[inline]
    pub(super) fn index_of_next(&self, id: BodyId, next: u32) -> Option<u32> {
        let is_next = self.entries.get(next as usize).is_some_and(|entry| entry.body.id == id);
        if is_next { Some(next) } else { self.index_of(id) }
    }

    pub(super) fn index_of(&self, id: BodyId) -> Option<u32> {
        let index = self.entries.binary_search_by_key(&id, |entry| entry.body.id).ok()?;
        Some(index as u32)
    }

    pub(super) fn id_of(&self, index: u32) -> BodyId {
        self.entries[index as usize].body.id
    }
}
