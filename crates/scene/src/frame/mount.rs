//! Robots that come and go, and what is attached to their links: a part of a change of structure.

use std::collections::{BTreeMap, BTreeSet};

use crate::declared::body::{Body, BodyId};
use crate::declared::error::{DeclarationError, Problem};
use crate::declared::robots::{Attached, RobotChanges, RobotId, SceneRobot};
use crate::declared::rule_book::Exempt;
use crate::frame::scene::Scene;
use crate::placed::carrier::Carrier;
use crate::placed::entry::Entry;
use crate::placed::mounted::Mounted;
use clearance_geometry::pose::Pose;

/// What a change of structure says of robots, and where they are listed.
pub(crate) struct Remounting<'a> {
    pub(crate) removed: &'a [RobotId],
    pub(crate) added: Vec<SceneRobot>,
    /// Leads to those.
    pub(crate) added_path: &'static str,
    pub(crate) detached: &'a [BodyId],
    pub(crate) attached: &'a [(RobotId, Attached)],
}

impl<'a> Remounting<'a> {
    /// That of a frame.
    pub(crate) fn of(changes: &'a RobotChanges) -> Self {
        Self {
            removed: &changes.removed,
            added: changes.added.clone(),
            added_path: "added_robots",
            detached: &changes.detached,
            attached: &changes.attached,
        }
    }

    /// A scene that is opened.
    pub(crate) fn opening(added: Vec<SceneRobot>) -> Self {
        Self { removed: &[], added, added_path: "robots", detached: &[], attached: &[] }
    }
}

/// The robots from now on.
#[derive(Default)]
pub(crate) struct Remounted {
    /// The robots, ordered by id.
    robots: Vec<Mounted>,
    /// Links of those that are new, each with the path of its robot.
    pub(crate) links: Vec<(String, Body, Carrier)>,
    /// What is carried anew, with where it is then.
    hung: BTreeMap<BodyId, (Carrier, Pose)>,
    /// What is carried no more.
    released: BTreeSet<BodyId>,
    /// Who carries what, by the place of the robot.
    holders: BTreeMap<BodyId, usize>,
    /// The bodies of `links`.
    new_links: BTreeSet<BodyId>,
    /// Where the frames of the chains are of robots that something is hung on, by their place.
    frames: BTreeMap<usize, Vec<Pose>>,
}

fn fail<T>(path: String, problem: Problem) -> Result<T, DeclarationError> {
    Err(DeclarationError::new(path, problem))
}

impl Remounted {
    /// The robots that stay and those that come; adds the links of those that go to `gone`, which
    /// are the bodies that go, in no particular order.
    pub(crate) fn of(
        scene: &Scene,
        to: &Remounting<'_>,
        gone: &mut Vec<BodyId>,
    ) -> Result<Self, DeclarationError> {
        let mut after = Self::default();
        let mut leaving: BTreeSet<RobotId> = BTreeSet::new();
        for (index, id) in to.removed.iter().enumerate() {
            if scene.robot_index(*id).is_none() || !leaving.insert(*id) {
                return fail(format!("removed_robots[{index}]"), Problem::UnknownRobot);
            }
        }
        for id in gone.iter() {
            if scene.link_of(*id).is_some() {
                return fail("removed_body_ids".into(), Problem::IsLink);
            }
        }
        let went: BTreeSet<BodyId> = gone.iter().copied().collect();
        for mounted in &scene.robots {
            if !leaving.contains(&mounted.declared.id) {
                let mut stays = mounted.clone();
                stays.declared.attached.retain(|one| !went.contains(&one.body));
                after.robots.push(stays);
                continue;
            }
            for &index in &mounted.carried {
                let id = scene.id_of(index);
                if scene.link_of(id).is_some() {
                    gone.push(id);
                } else {
                    after.released.insert(id);
                }
            }
        }
        for (index, robot) in to.added.iter().enumerate() {
            let path = format!("{}[{index}]", to.added_path);
            if scene.methods.first_contact.is_named {
                return fail(path, Problem::NoPaths);
            }
            let mounted = Mounted::new(robot.clone(), &path)?;
            let place = after.robots.binary_search_by_key(&robot.id, |one| one.declared.id);
            let Err(place) = place else {
                return fail(format!("{path}.id"), Problem::RobotIdTaken);
            };
            let links = mounted.bodies().into_iter();
            after.links.extend(links.map(|(body, carrier)| (path.clone(), body, carrier)));
            after.robots.insert(place, mounted);
        }
        after.new_links = after.links.iter().map(|(_, body, _)| body.id).collect();
        Ok(after)
    }

    /// Lets go and attaches, of `bodies` (sorted by id).
    pub(crate) fn attach(
        &mut self,
        to: &Remounting<'_>,
        bodies: &[&Body],
    ) -> Result<(), DeclarationError> {
        // Those that come with their robots are on no other yet.
        let new: BTreeSet<RobotId> = to.added.iter().map(|robot| robot.id).collect();
        let mut brought: BTreeMap<RobotId, Vec<Attached>> = BTreeMap::new();
        for (at, robot) in self.robots.iter_mut().enumerate() {
            let SceneRobot { id, attached, .. } = &mut robot.declared;
            if new.contains(id) {
                brought.insert(*id, std::mem::take(attached));
            } else {
                self.holders.extend(attached.iter().map(|one| (one.body, at)));
            }
        }
        self.let_go(to.detached)?;
        for (index, robot) in to.added.iter().enumerate() {
            let Some(at) = self.place_of(robot.id) else { continue };
            for (k, one) in brought.remove(&robot.id).unwrap_or_default().into_iter().enumerate() {
                let path = format!("{}[{index}].attached[{k}]", to.added_path);
                self.hang(at, one, bodies, &path)?;
            }
        }
        for (index, (robot, one)) in to.attached.iter().enumerate() {
            let path = format!("attached[{index}]");
            let Some(at) = self.place_of(*robot) else {
                return fail(format!("{path}.robot"), Problem::UnknownRobot);
            };
            self.hang(at, one.clone(), bodies, &format!("{path}.attached"))?;
        }
        Ok(())
    }

    /// Lets these bodies go, which are all carried.
    fn let_go(&mut self, detached: &[BodyId]) -> Result<(), DeclarationError> {
        let mut held_by = BTreeSet::new();
        for (index, id) in detached.iter().enumerate() {
            let Some(holder) = self.holders.remove(id) else {
                return fail(format!("detached_body_ids[{index}]"), Problem::NotCarried);
            };
            held_by.insert(holder);
            self.released.insert(*id);
        }
        let gone: BTreeSet<&BodyId> = detached.iter().collect();
        for holder in held_by {
            self.robots[holder].declared.attached.retain(|one| !gone.contains(&one.body));
        }
        Ok(())
    }

    /// Whether a body is a link of a robot that is new.
    pub(crate) fn has_new_link(&self, body: BodyId) -> bool {
        self.new_links.contains(&body)
    }

    fn place_of(&self, id: RobotId) -> Option<usize> {
        self.robots.binary_search_by_key(&id, |robot| robot.declared.id).ok()
    }

    /// Hangs a body on a link of the robot at this place.
    fn hang(
        &mut self,
        at: usize,
        mut one: Attached,
        bodies: &[&Body],
        path: &str,
    ) -> Result<(), DeclarationError> {
        let field = || format!("{path}.body_id");
        let Ok(place) = bodies.binary_search_by_key(&one.body, |body| body.id) else {
            return fail(field(), Problem::UnknownBody);
        };
        let is_link = self.robots.iter().any(|robot| robot.has_link(one.body));
        if is_link || self.has_new_link(one.body) {
            return fail(field(), Problem::IsLink);
        }
        if self.holders.insert(one.body, at).is_some() {
            return fail(field(), Problem::AlreadyCarried);
        }
        let body = bodies[place];
        let mounted = &mut self.robots[at];
        let frames = &*self.frames.entry(at).or_insert_with(|| mounted.frames());
        let robot = &mounted.declared.robot;
        if let Some(k) = one.touch_links.iter().position(|name| robot.link(name).is_none()) {
            return fail(format!("{path}.touch_links[{k}]"), Problem::UnknownLink);
        }
        let Some(carrier) = mounted.carrier_of(&mut one, &body.pose, frames) else {
            return fail(format!("{path}.link"), Problem::UnknownLink);
        };
        let pose = mounted.pose_of(&carrier, frames);
        if body.place(pose).is_none() {
            return fail(format!("{path}.pose"), Problem::TooFar);
        }
        self.hung.insert(one.body, (carrier, pose));
        mounted.declared.attached.push(one);
        Ok(())
    }

    /// Pairs that need no check, as the robots say.
    pub(crate) fn exempt(&self) -> Exempt {
        let mut exempt = Exempt::default();
        self.robots.iter().for_each(|robot| robot.exempt_into(&mut exempt));
        exempt
    }
}

impl Scene {
    /// Takes the robots up; the bodies are taken up already. Says which were put on links, and
    /// where they were.
    pub(crate) fn remount(&mut self, after: Remounted) -> Vec<(BodyId, Pose)> {
        let Remounted { robots, links, hung, released, .. } = after;
        self.robots = robots;
        for id in released {
            let Some(index) = self.index_of(id) else { continue };
            let entry = &mut self.entries[index as usize];
            entry.carrier = None;
            // The way so far was that of the robot.
            entry.teleported |= entry.start.is_some();
        }
        for (_, body, carrier) in links {
            let Some(index) = self.index_of(body.id) else { continue };
            self.entries[index as usize].carrier = Some(Box::new(carrier));
        }
        let mut put = Vec::new();
        for (id, (carrier, pose)) in hung {
            let Some(index) = self.index_of(id) else { continue };
            let entry = &mut self.entries[index as usize];
            put.push((id, entry.body.pose));
            entry.hang(carrier, pose, self.revision);
        }
        for robot in &mut self.robots {
            robot.carried.clear();
            robot.hung = None;
        }
        for (index, entry) in (0..).zip(&self.entries) {
            let Some(by) = &entry.carrier else { continue };
            if let Some(at) = self.robot_index(by.robot) {
                self.robots[at].carried.push(index);
            }
        }
        put
    }
}

impl Entry {
    /// Is moved by a robot from now on, and put where that says: no motion is assumed to there.
    fn hang(&mut self, carrier: Carrier, pose: Pose, revision: u64) {
        let put = self.put(pose);
        debug_assert!(put.is_some(), "looked at before");
        self.carrier = Some(Box::new(carrier));
        self.teleported = true;
        self.revision = revision;
    }
}
