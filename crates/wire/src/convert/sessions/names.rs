//! Bodies and robots that a frame calls by their names, as their numbers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use clearance_scene::Scene;

/// The frame with a number in place of every name: those that are removed by their names as the
/// scene stands before the frame, the others as it stands once bodies and robots have gone and
/// come.
pub fn resolved<'a>(
    path: &Path<'_>,
    wire: &'a api::Frame,
    scene: &Scene,
    limits: &Limits,
) -> Result<Cow<'a, api::Frame>, Failure> {
    if !has_names(wire) {
        return Ok(Cow::Borrowed(wire));
    }
    for (name, count) in [
        ("removed_body_names", wire.removed_body_names.len()),
        ("detached_body_names", wire.detached_body_names.len()),
    ] {
        path.field(name).within(limits.bodies_per_session_max(), count)?;
    }
    let removed = path.field("removed_robot_names");
    removed.within(limits.robots_per_session_max(), wire.removed_robot_names.len())?;
    let mut frame = wire.clone();
    name_bodies(path, wire, &mut frame, scene)?;
    name_robots(path, wire, &mut frame, scene)?;
    Ok(Cow::Owned(frame))
}

fn has_names(wire: &api::Frame) -> bool {
    let attached = |one: &api::RobotAttachment| {
        let body = one.attached.as_ref().is_some_and(|body| !body.body_name.is_empty());
        body || !one.robot_name.is_empty()
    };
    !wire.removed_body_names.is_empty()
        || !wire.detached_body_names.is_empty()
        || !wire.removed_robot_names.is_empty()
        || wire.poses.iter().any(|one| !one.name.is_empty())
        || wire.changed_bodies.iter().any(|one| !one.name.is_empty())
        || wire.robot_moves.iter().any(|one| !one.name.is_empty())
        || wire.attached.iter().any(attached)
        || wire
            .added_robots
            .iter()
            .flat_map(|one| &one.attached)
            .any(|one| !one.body_name.is_empty())
}

fn name_bodies(
    path: &Path<'_>,
    wire: &api::Frame,
    frame: &mut api::Frame,
    scene: &Scene,
) -> Result<(), BadField> {
    let standing = || scene.bodies().map(|body| (body.name.as_str(), body.id.0));
    let before = Names::of(standing());
    frame.removed_body_names.clear();
    let gone = before.all(&path.field("removed_body_names"), &wire.removed_body_names)?;
    frame.removed_body_ids.extend(gone);
    let gone: BTreeSet<u32> = frame.removed_body_ids.iter().copied().collect();
    let added = wire.added_bodies.iter().filter_map(|body| Some((body.name.as_str(), body.id?)));
    let names = Names::of(standing().filter(|(_, id)| !gone.contains(id)).chain(added));

    frame.detached_body_names.clear();
    let detached = names.all(&path.field("detached_body_names"), &wire.detached_body_names)?;
    frame.detached_body_ids.extend(detached);
    let list = path.field("poses");
    for (index, one) in frame.poses.iter_mut().enumerate() {
        names.put(&list.index(index).field("name"), &mut one.name, &mut one.id)?;
    }
    let list = path.field("changed_bodies");
    for (index, one) in frame.changed_bodies.iter_mut().enumerate() {
        names.put(&list.index(index).field("name"), &mut one.name, &mut one.id)?;
    }
    let list = path.field("attached");
    for (index, one) in frame.attached.iter_mut().enumerate() {
        let Some(body) = &mut one.attached else { continue };
        let path = list.index(index);
        let path = path.field("attached");
        names.put(&path.field("body_name"), &mut body.body_name, &mut body.body_id)?;
    }
    let list = path.field("added_robots");
    for (index, robot) in frame.added_robots.iter_mut().enumerate() {
        let path = list.index(index);
        let list = path.field("attached");
        for (index, body) in robot.attached.iter_mut().enumerate() {
            let path = list.index(index);
            names.put(&path.field("body_name"), &mut body.body_name, &mut body.body_id)?;
        }
    }
    Ok(())
}

fn name_robots(
    path: &Path<'_>,
    wire: &api::Frame,
    frame: &mut api::Frame,
    scene: &Scene,
) -> Result<(), BadField> {
    let standing = || scene.robots().map(|robot| (robot.name.as_str(), robot.id.0));
    let before = Names::of(standing());
    frame.removed_robot_names.clear();
    let gone = before.all(&path.field("removed_robot_names"), &wire.removed_robot_names)?;
    frame.removed_robots.extend(gone);
    let gone: BTreeSet<u32> = frame.removed_robots.iter().copied().collect();
    let added = wire.added_robots.iter().filter_map(|robot| Some((robot.name.as_str(), robot.id?)));
    let names = Names::of(standing().filter(|(_, id)| !gone.contains(id)).chain(added));

    let list = path.field("attached");
    for (index, one) in frame.attached.iter_mut().enumerate() {
        let path = list.index(index);
        names.put(&path.field("robot_name"), &mut one.robot_name, &mut one.robot)?;
    }
    let list = path.field("robot_moves");
    for (index, one) in frame.robot_moves.iter_mut().enumerate() {
        names.put(&list.index(index).field("name"), &mut one.name, &mut one.id)?;
    }
    Ok(())
}

/// Who has which name.
struct Names<'n>(BTreeMap<&'n str, Owner>);

#[derive(Clone, Copy)]
enum Owner {
    One(u32),
    Several,
}

impl<'n> Names<'n> {
    fn of(named: impl Iterator<Item = (&'n str, u32)>) -> Self {
        let mut owners = BTreeMap::new();
        for (name, id) in named.filter(|(name, _)| !name.is_empty()) {
            let owner = owners.entry(name);
            owner.and_modify(|owner| *owner = Owner::Several).or_insert(Owner::One(id));
        }
        Self(owners)
    }

    /// Whose the name is.
    fn id(&self, path: &Path<'_>, name: &str) -> Result<u32, BadField> {
        match self.0.get(name) {
            Some(Owner::One(id)) => Ok(*id),
            Some(Owner::Several) => Err(path.bad("several in the session have this name")),
            None => Err(path.bad("none in the session has this name")),
        }
    }

    fn all(&self, list: &Path<'_>, names: &[String]) -> Result<Vec<u32>, BadField> {
        names.iter().enumerate().map(|(index, name)| self.id(&list.index(index), name)).collect()
    }

    /// Puts the number in the place of a name, where there is one; `path` is that of the name.
    fn put(
        &self,
        path: &Path<'_>,
        name: &mut String,
        id: &mut Option<u32>,
    ) -> Result<(), BadField> {
        if name.is_empty() {
            return Ok(());
        }
        if id.is_some() {
            return Err(path.bad("give the name or the id, not both"));
        }
        *id = Some(self.id(path, &std::mem::take(name))?);
        Ok(())
    }
}
