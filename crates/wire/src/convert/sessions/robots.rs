//! Robots in sessions, from the wire and to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::declare::said;
use super::known::Known;
use crate::convert::catalogue::Catalogue;
use crate::convert::geometry::{pose, pose_to_wire, signed_length};
use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_proto as api;
use clearance_runtime::robots::RegisteredRobot;
use clearance_scene::{Attached, RobotMoveError, rest_values};
use clearance_scene::{Body, BodyId, Frame, RobotChanges, RobotId, RobotMove, Scene, SceneRobot};

/// Robots as they are registered, by their ids in the session.
pub type KnownRobots = BTreeMap<u32, Arc<RegisteredRobot>>;

/// A robot of a session with what it is.
pub struct DeclaredRobot {
    /// As the scene takes it.
    pub robot: SceneRobot,
    /// As it is registered; the session keeps it.
    pub registered: Arc<RegisteredRobot>,
}

/// Robots, each checked as far as a robot alone can be.
pub fn declared(
    path: &Path<'_>,
    wire: &[api::SessionRobot],
    catalogue: &Catalogue<'_>,
) -> Result<Vec<DeclaredRobot>, Failure> {
    path.within(catalogue.limits.robots_per_session_max(), wire.len())?;
    let convert = |(index, one)| robot(&path.index(index), one, catalogue);
    wire.iter().enumerate().map(convert).collect()
}

fn robot(
    path: &Path<'_>,
    wire: &api::SessionRobot,
    catalogue: &Catalogue<'_>,
) -> Result<DeclaredRobot, Failure> {
    let limits = catalogue.limits;
    path.field("groups").within(limits.rules_per_session_max(), wire.groups.len())?;
    path.field("paddings").within(limits.robot_links_max(), wire.paddings.len())?;
    path.field("attached").within(limits.bodies_per_session_max(), wire.attached.len())?;
    let registered = catalogue.robot(&path.field("robot_id"), &wire.robot_id)?;
    let known = &registered.robot;
    let mut paddings = vec![0.0; known.links.len()];
    for (index, entry) in wire.paddings.iter().enumerate() {
        let list = path.field("paddings");
        let path = list.index(index);
        let link = known.link(&entry.link);
        let link = link.ok_or_else(|| path.field("link").bad(NO_LINK))?;
        paddings[link] = signed_length(&path.field("padding"), entry.padding)?;
    }
    let list = path.field("attached");
    let attached = wire.attached.iter().enumerate();
    let attached = attached.map(|(index, one)| carried(&list.index(index), one, catalogue));
    let values = if wire.values.is_empty() { rest_values(known) } else { wire.values.clone() };
    let robot = SceneRobot {
        id: RobotId(said(&path.field("id"), wire.id)?),
        name: wire.name.clone(),
        robot: known.clone(),
        base: pose(&path.field("base"), wire.base.as_ref())?,
        values,
        paddings,
        traits: Body {
            groups: wire.groups.clone().into(),
            category: wire.category.unwrap_or(Body::CATEGORY),
            mask: wire.mask.unwrap_or(Body::MASK),
            continuous: wire.continuous,
            fixed: wire.fixed_base,
            ..Body::without_parts()
        },
        attached: attached.collect::<Result<_, Failure>>()?,
    };
    Ok(DeclaredRobot { robot, registered })
}

const NO_LINK: &str = "the robot has no link of this name";

fn carried(
    path: &Path<'_>,
    wire: &api::AttachedBody,
    catalogue: &Catalogue<'_>,
) -> Result<Attached, Failure> {
    path.field("touch_links").within(catalogue.limits.robot_links_max(), wire.touch_links.len())?;
    let place = wire.pose.as_ref().map(|given| pose(&path.field("pose"), Some(given)));
    Ok(Attached {
        body: BodyId(said(&path.field("body_id"), wire.body_id)?),
        link: wire.link.clone(),
        link_from_body: place.transpose()?,
        touch_links: wire.touch_links.clone(),
    })
}

/// What a frame says of robots, with those that are new.
pub fn changes(
    path: &Path<'_>,
    wire: &api::Frame,
    catalogue: &Catalogue<'_>,
) -> Result<(RobotChanges, Vec<DeclaredRobot>), Failure> {
    let limits = catalogue.limits;
    let robots_max = || limits.robots_per_session_max();
    path.field("removed_robots").within(robots_max(), wire.removed_robots.len())?;
    path.field("robot_moves").within(robots_max(), wire.robot_moves.len())?;
    for (name, count) in
        [("attached", wire.attached.len()), ("detached_body_ids", wire.detached_body_ids.len())]
    {
        path.field(name).within(limits.bodies_per_session_max(), count)?;
    }
    let added = declared(&path.field("added_robots"), &wire.added_robots, catalogue)?;
    let list = path.field("attached");
    let attach = |(index, one): (usize, &api::RobotAttachment)| {
        let path = list.index(index);
        let robot = RobotId(said(&path.field("robot"), one.robot)?);
        let path = path.field("attached");
        let attached = one.attached.as_ref().ok_or_else(|| path.bad("is required"))?;
        Ok((robot, carried(&path, attached, catalogue)?))
    };
    let attached: Result<Vec<_>, Failure> = wire.attached.iter().enumerate().map(attach).collect();
    let list = path.field("robot_moves");
    let moved = |(index, one): (usize, &api::RobotMove)| {
        let Some(id) = one.id else { return Ok(None) };
        let path = list.index(index);
        path.field("joints").within(limits.robot_links_max(), one.joints.len())?;
        let base = one.base.as_ref().map(|given| pose(&path.field("base"), Some(given)));
        Ok(Some(RobotMove {
            robot: RobotId(id),
            values: (!one.values.is_empty()).then(|| one.values.clone()),
            joints: one.joints.iter().map(|joint| (joint.name.clone(), joint.value)).collect(),
            base: base.transpose()?,
            teleported: one.teleported,
        }))
    };
    let moves: Result<Vec<_>, Failure> =
        wire.robot_moves.iter().enumerate().filter_map(|one| moved(one).transpose()).collect();
    let changes = RobotChanges {
        removed: wire.removed_robots.iter().copied().map(RobotId).collect(),
        added: added.iter().map(|declared| declared.robot.clone()).collect(),
        detached: wire.detached_body_ids.iter().copied().map(BodyId).collect(),
        attached: attached?,
        moves: moves?,
    };
    Ok((changes, added))
}

/// Calls `take` for each move that names no robot, with what puts it into words: it is refused
/// alone.
pub fn each_unnamed(
    path: &Path<'_>,
    wire: &api::Frame,
    mut take: impl FnMut(&dyn Fn() -> BadField),
) {
    let list = path.field("robot_moves");
    let unnamed = wire.robot_moves.iter().enumerate().filter(|(_, one)| one.id.is_none());
    for (index, one) in unnamed {
        let path = list.index(index);
        let path = path.field("id");
        take(&|| said(&path, one.id).err().unwrap_or_else(|| path.bad("is refused")));
    }
}

/// The place in the frame of a move of those that name a robot.
pub fn place_of_move(wire: &api::Frame, move_index: usize) -> usize {
    let named = wire.robot_moves.iter().enumerate().filter(|(_, one)| one.id.is_some());
    named.map(|(place, _)| place).nth(move_index).unwrap_or(move_index)
}

/// The status of a move that the scene refused; the index is that in the frame.
pub fn refused(path: &Path<'_>, index: usize, error: RobotMoveError) -> api::ItemStatus {
    let list = path.field("robot_moves");
    let path = list.index(index);
    let field = match error {
        RobotMoveError::UnknownRobot | RobotMoveError::Repeated => path.field("id").to_string(),
        RobotMoveError::Length { .. }
        | RobotMoveError::Configuration(_)
        | RobotMoveError::Turns => path.field("values").to_string(),
        RobotMoveError::UnknownJoint { index } => {
            path.field("joints").index(index).field("name").to_string()
        }
        RobotMoveError::TooFar => path.field("base").to_string(),
    };
    Failure::from(BadField { field, problem: error.to_string().into() }).to_item()
}

/// A robot as it is and where it is, fit for declaring it elsewhere.
pub fn robot_to_wire(robot: &SceneRobot, registered: &KnownRobots) -> api::SessionRobot {
    let SceneRobot { id, name, base, values, paddings, traits, attached, .. } = robot;
    let links = robot.robot.links.iter().zip(paddings).filter(|(_, padding)| padding.abs() > 0.0);
    let body = |one: &Attached| api::AttachedBody {
        body_id: Some(one.body.0),
        link: one.link.clone(),
        pose: one.link_from_body.as_ref().map(pose_to_wire),
        touch_links: one.touch_links.clone(),
        body_name: String::new(),
    };
    api::SessionRobot {
        id: Some(id.0),
        name: name.clone(),
        robot_id: registered.get(&id.0).map_or_else(String::new, |known| known.id.clone()),
        base: Some(pose_to_wire(base)),
        values: values.clone(),
        paddings: links
            .map(|(link, padding)| api::LinkPadding { link: link.name.clone(), padding: *padding })
            .collect(),
        groups: traits.groups.to_vec(),
        category: (traits.category != Body::CATEGORY).then_some(traits.category),
        mask: (traits.mask != Body::MASK).then_some(traits.mask),
        continuous: traits.continuous,
        fixed_base: traits.fixed,
        attached: attached.iter().map(body).collect(),
    }
}

/// The name of the link that a body is; empty: it is none.
pub fn link_name(scene: &Scene, body: BodyId) -> String {
    let link = scene.link_of(body);
    let name = link
        .and_then(|(robot, link)| Some(scene.robot(robot)?.robot.links.get(link)?.name.clone()));
    name.unwrap_or_default()
}

/// What has changed of robots since it was told last, for those who watch.
#[derive(Debug, Default)]
pub struct RobotDraft {
    moved: BTreeSet<RobotId>,
    teleported: BTreeSet<RobotId>,
    removed: BTreeSet<RobotId>,
    added: BTreeSet<RobotId>,
    /// Something was attached or let go.
    has_new_loads: bool,
    /// Bodies that were attached, and so put elsewhere.
    attached: BTreeSet<BodyId>,
}

impl RobotDraft {
    /// Adds what a frame has changed of which the moves at these places were refused.
    pub fn note(&mut self, frame: &Frame, refused: &BTreeSet<usize>) {
        let RobotChanges { removed, added, detached, attached, moves } = &frame.robots;
        for id in removed {
            if !self.added.remove(id) {
                self.removed.insert(*id);
            }
            self.moved.remove(id);
            self.teleported.remove(id);
        }
        self.added.extend(added.iter().map(|robot| robot.id));
        self.has_new_loads |= !detached.is_empty() || !attached.is_empty();
        self.attached.extend(attached.iter().map(|(_, one)| one.body));
        self.attached.extend(added.iter().flat_map(|robot| &robot.attached).map(|one| one.body));
        for (index, one) in moves.iter().enumerate() {
            if !refused.contains(&index) {
                self.moved.insert(one.robot);
                if one.teleported || frame.teleported {
                    self.teleported.insert(one.robot);
                }
            }
        }
    }

    /// Adds the bodies that robots have moved, the links of robots that are new, and what robots
    /// have put elsewhere.
    pub fn bodies_into(
        &self,
        scene: &Scene,
        moved: &mut BTreeSet<u32>,
        teleported: &mut BTreeSet<u32>,
    ) {
        for id in self.moved.iter().chain(&self.added) {
            moved.extend(scene.moved_with(*id).map(|body| body.0));
        }
        // No motion leads to where a new robot is.
        for id in self.teleported.iter().chain(&self.added) {
            teleported.extend(scene.moved_with(*id).map(|body| body.0));
        }
        let here = self.attached.iter().filter(|id| scene.body(**id).is_some());
        for body in here {
            moved.insert(body.0);
            teleported.insert(body.0);
        }
    }

    /// Whether more has changed than where robots are.
    pub fn is_structural(&self) -> bool {
        self.has_new_loads || !self.added.is_empty() || !self.removed.is_empty()
    }

    /// Tells it as the scene stands now, where `before` is what watchers knew; none: robots carry
    /// what they did.
    pub fn tell(
        &self,
        scene: &Scene,
        registered: &KnownRobots,
        before: Option<&Known>,
        frame: &mut api::WatchedFrame,
    ) {
        let has_other_load = |id: &RobotId| {
            let robot = scene.robot(*id);
            before.zip(robot).is_some_and(|(before, robot)| before.has_other_load(robot))
        };
        let is_told = |id: &RobotId| self.added.contains(id) || has_other_load(id);
        let new = scene.robots().filter(|robot| is_told(&robot.id));
        frame.added_robots = new.map(|robot| robot_to_wire(robot, registered)).collect();
        frame.removed_robots = self.removed.iter().map(|id| id.0).collect();
        let moved = self.moved.iter().filter(|id| !is_told(id));
        let moved = moved.filter_map(|id| scene.robot(*id));
        let tell = |robot: &SceneRobot| api::RobotMove {
            id: Some(robot.id.0),
            values: robot.values.clone(),
            joints: Vec::new(),
            base: Some(pose_to_wire(&robot.base)),
            teleported: self.teleported.contains(&robot.id),
            name: String::new(),
        };
        frame.robot_moves = moved.map(tell).collect();
    }
}
