//! What a session has declared, as the client knows it: followed frame by frame, so that the
//! session can be restated on a server that does not have it.

use std::collections::BTreeMap;

use clearance_proto as api;

/// Whether everything that a frame changed is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// It is.
    Wholly,
    /// The server refused single items of the frame, or it depends on what only the server knows:
    /// the order of joints, or where the link of a robot is. Then the server's state is to be asked
    /// for.
    InPart,
}

/// The declared state of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Mirror {
    bodies: BTreeMap<u32, api::Body>,
    robots: BTreeMap<u32, api::SessionRobot>,
    rules: api::PairRules,
    /// Announced contacts, with the frame whose report announced them.
    contacts: BTreeMap<(u32, u32), u64>,
    release_margin: f64,
    begin_margin: f64,
    /// The last frame that was applied.
    frame_id: u64,
}

impl Mirror {
    /// A state as it was declared, or as a server tells it.
    pub(super) fn of(state: api::SessionState) -> Self {
        let contact = |contact: &api::AnnouncedContact| {
            let pair = contact.pair?;
            Some(((pair.a?, pair.b?), contact.began_frame_id))
        };
        Self {
            contacts: state.contacts.iter().filter_map(contact).collect(),
            bodies: state.bodies.into_iter().map(|body| (body.id(), body)).collect(),
            robots: state.robots.into_iter().map(|robot| (robot.id(), robot)).collect(),
            rules: state.rules.unwrap_or_default(),
            release_margin: state.release_margin,
            begin_margin: state.begin_margin,
            frame_id: state.frame_id,
        }
    }

    /// What another server goes on with.
    pub(super) fn state(&self) -> api::SessionState {
        let contact = |(&(a, b), &began_frame_id): (&(u32, u32), &u64)| api::AnnouncedContact {
            pair: Some(api::BodyPair { a: Some(a), b: Some(b) }),
            began_frame_id,
        };
        api::SessionState {
            bodies: self.bodies.values().cloned().collect(),
            rules: Some(self.rules.clone()),
            frame_id: self.frame_id,
            contacts: self.contacts.iter().map(contact).collect(),
            release_margin: self.release_margin,
            begin_margin: self.begin_margin,
            robots: self.robots.values().cloned().collect(),
        }
    }

    /// The last frame that was applied.
    pub(super) fn frame_id(&self) -> u64 {
        self.frame_id
    }

    /// A body.
    pub(super) fn body(&self, id: u32) -> Option<&api::Body> {
        self.bodies.get(&id)
    }

    /// The margin of a pair of bodies: its own, or else the sum of theirs.
    pub(super) fn margin(&self, a: u32, b: u32) -> Option<f64> {
        let pair = api::BodyPair { a: Some(a), b: Some(b) };
        let is_it = |known: &&api::PairMargin| {
            known.pair.as_ref().is_some_and(|other| is_same_pair(other, &pair))
        };
        if let Some(own) = self.rules.margins.iter().find(is_it) {
            return Some(own.margin);
        }
        Some(self.bodies.get(&a)?.margin + self.bodies.get(&b)?.margin)
    }

    /// Takes in what reports say of contacts.
    pub(super) fn announce(&mut self, report: &api::FrameReport) {
        for event in &report.events {
            let pair = (event.a, event.b);
            match event.kind() {
                api::ContactEventKind::Began => {
                    self.contacts.insert(pair, report.frame_id);
                }
                api::ContactEventKind::Ended => {
                    self.contacts.remove(&pair);
                }
                api::ContactEventKind::Undecided | api::ContactEventKind::Unspecified => {}
            }
        }
    }

    /// Takes in a frame that was applied.
    pub(super) fn apply(&mut self, frame: &api::Frame) -> Followed {
        self.frame_id = self.frame_id.max(frame.frame_id);
        self.remove(frame);
        for body in &frame.added_bodies {
            self.bodies.insert(body.id(), body.clone());
        }
        for robot in &frame.added_robots {
            self.robots.insert(robot.id(), robot.clone());
        }
        for change in &frame.changed_bodies {
            self.change(change);
        }
        if let Some(rules) = &frame.rules {
            self.rules = (**rules).clone();
        }
        if let Some(changes) = &frame.rule_changes {
            change_rules(&mut self.rules, changes);
        }
        self.pose(frame);
        let mut followed = Followed::Wholly;
        for moved in &frame.robot_moves {
            if !moved.joints.is_empty() || !self.move_robot(moved) {
                followed = Followed::InPart;
            }
        }
        let carries = |robot: &api::SessionRobot| !robot.attached.is_empty();
        let is_carried = !frame.attached.is_empty()
            || !frame.detached_body_ids.is_empty()
            || !frame.detached_body_names.is_empty()
            || frame.added_robots.iter().any(carries);
        if is_carried { Followed::InPart } else { followed }
    }

    fn remove(&mut self, frame: &api::Frame) {
        let named = frame.removed_body_names.iter().filter_map(|name| self.body_named(name));
        let bodies: Vec<u32> = named.chain(frame.removed_body_ids.iter().copied()).collect();
        let named = frame.removed_robot_names.iter().filter_map(|name| self.robot_named(name));
        let robots: Vec<u32> = named.chain(frame.removed_robots.iter().copied()).collect();
        for id in robots {
            self.robots.remove(&id);
        }
        if bodies.is_empty() {
            return;
        }
        for id in &bodies {
            self.bodies.remove(id);
        }
        let is_gone = |id: &u32| bodies.contains(id);
        let stays = |pair: &api::BodyPair| !is_gone(&pair.a()) && !is_gone(&pair.b());
        self.contacts.retain(|(a, b), _| !is_gone(a) && !is_gone(b));
        self.rules.checked_pairs.retain(stays);
        self.rules.ignored_pairs.retain(stays);
        self.rules.margins.retain(|margin| margin.pair.as_ref().is_none_or(stays));
    }

    fn change(&mut self, change: &api::BodyChange) {
        let Some(id) = self.id_of(change.id, &change.name) else { return };
        let Some(body) = self.bodies.get_mut(&id) else { return };
        if !change.parts.is_empty() {
            body.parts.clone_from(&change.parts);
        }
        body.groups.retain(|group| !change.left_groups.contains(group));
        for group in &change.joined_groups {
            if !body.groups.contains(group) {
                body.groups.push(group.clone());
            }
        }
        body.fixed = change.fixed.unwrap_or(body.fixed);
        body.margin = change.margin.unwrap_or(body.margin);
        body.continuous = change.continuous.unwrap_or(body.continuous);
        body.category = change.category.or(body.category);
        body.mask = change.mask.or(body.mask);
    }

    fn pose(&mut self, frame: &api::Frame) {
        for moved in &frame.poses {
            let id = self.id_of(moved.id, &moved.name);
            if let Some(body) = id.and_then(|id| self.bodies.get_mut(&id)) {
                body.pose = Some(moved.pose.clone().unwrap_or_default());
            }
        }
        let Some(packed) = &frame.packed_poses else { return };
        let mut turns = packed.rotations.rows::<4>();
        let mut matrices = packed.rotation_matrices.rows::<9>();
        for (id, [x, y, z]) in packed.ids.iter().zip(packed.translations.rows::<3>()) {
            use api::pose::Orientation;
            let turn = turns
                .next()
                .map(|[w, x, y, z]| Orientation::Rotation(api::Quaternion { w, x, y, z }));
            let matrix = matrices.next().map(|rows| {
                Orientation::RotationMatrix(api::RotationMatrix { rows: rows.to_vec() })
            });
            if let Some(body) = self.bodies.get_mut(&id) {
                let translation = Some(api::Vector3 { x, y, z });
                body.pose = Some(api::Pose { translation, orientation: turn.or(matrix) });
            }
        }
    }

    /// Whether the robot is known.
    fn move_robot(&mut self, moved: &api::RobotMove) -> bool {
        let id = if moved.name.is_empty() { moved.id } else { self.robot_named(&moved.name) };
        let Some(robot) = id.and_then(|id| self.robots.get_mut(&id)) else { return false };
        if !moved.values.is_empty() {
            robot.values.clone_from(&moved.values);
        }
        if moved.base.is_some() {
            robot.base.clone_from(&moved.base);
        }
        true
    }

    /// A frame that says where everything is, and so builds on none. What robots carry goes with
    /// them.
    pub(super) fn keyframe(&self) -> api::Frame {
        let attached = self.robots.values().flat_map(|robot| &robot.attached);
        let carried: Vec<u32> = attached.map(api::AttachedBody::body_id).collect();
        let stands = self.bodies.values().filter(|body| !carried.contains(&body.id()));
        let pose = |body: &api::Body| api::BodyPose {
            id: body.id,
            pose: body.pose.clone(),
            ..api::BodyPose::default()
        };
        let robot = |robot: &api::SessionRobot| api::RobotMove {
            id: robot.id,
            values: robot.values.clone(),
            base: Some(robot.base.clone().unwrap_or_default()),
            ..api::RobotMove::default()
        };
        api::Frame {
            keyframe: true,
            poses: stands.map(pose).collect(),
            robot_moves: self.robots.values().map(robot).collect(),
            ..api::Frame::default()
        }
    }

    /// A frame with all that it changes, as a keyframe after what is known.
    pub(super) fn whole(&self, frame: api::Frame) -> api::Frame {
        let mut after = self.clone();
        after.apply(&frame);
        let mut whole = after.keyframe();
        let jumped = frame.packed_poses.as_ref();
        let jumped: Vec<u32> =
            jumped.iter().flat_map(|packed| packed.teleported_ids.iter()).collect();
        for pose in &mut whole.poses {
            let named = |own: &&api::BodyPose| after.id_of(own.id, &own.name) == pose.id;
            let own = frame.poses.iter().find(named);
            pose.deviation = own.and_then(|own| own.deviation);
            pose.teleported = own.is_some_and(|own| own.teleported) || jumped.contains(&pose.id());
        }
        for moved in &mut whole.robot_moves {
            let named = |own: &&api::RobotMove| {
                let id = if own.name.is_empty() { own.id } else { after.robot_named(&own.name) };
                id == moved.id
            };
            if let Some(own) = frame.robot_moves.iter().find(named) {
                moved.joints.clone_from(&own.joints);
                moved.teleported = own.teleported;
            }
        }
        let api::Frame { poses, robot_moves, .. } = whole;
        api::Frame {
            keyframe: true,
            base_frame_id: None,
            poses,
            packed_poses: None,
            robot_moves,
            ..frame
        }
    }

    fn id_of(&self, id: Option<u32>, name: &str) -> Option<u32> {
        if name.is_empty() { id } else { self.body_named(name) }
    }

    fn body_named(&self, name: &str) -> Option<u32> {
        self.bodies.values().find(|body| body.name == name).map(api::Body::id)
    }

    fn robot_named(&self, name: &str) -> Option<u32> {
        self.robots.values().find(|robot| robot.name == name).map(api::SessionRobot::id)
    }
}

/// Changes rules entry by entry: what goes is taken away before what is new is added. In no pair
/// does the order matter.
fn change_rules(rules: &mut api::PairRules, changes: &api::RuleChanges) {
    let is_same_groups = |x: &api::GroupPair, y: &api::GroupPair| {
        (&x.a, &x.b) == (&y.a, &y.b) || (&x.a, &x.b) == (&y.b, &y.a)
    };
    replace(
        &mut rules.checked_groups,
        &changes.removed_checked_groups,
        &changes.added_checked_groups,
        is_same_groups,
    );
    replace(
        &mut rules.checked_pairs,
        &changes.removed_checked_pairs,
        &changes.added_checked_pairs,
        is_same_pair,
    );
    replace(
        &mut rules.ignored_pairs,
        &changes.removed_ignored_pairs,
        &changes.added_ignored_pairs,
        is_same_pair,
    );
    let is_of = |margin: &api::PairMargin, pair: &api::BodyPair| {
        margin.pair.as_ref().is_some_and(|own| is_same_pair(own, pair))
    };
    let set = changes.set_margins.iter().filter_map(|margin| margin.pair.as_ref());
    let gone: Vec<&api::BodyPair> = changes.removed_margins.iter().chain(set).collect();
    rules.margins.retain(|margin| !gone.iter().any(|pair| is_of(margin, pair)));
    rules.margins.extend(changes.set_margins.iter().cloned());
    rules.groups_to_come.extend(changes.groups_to_come.iter().cloned());
}

fn is_same_pair(x: &api::BodyPair, y: &api::BodyPair) -> bool {
    (x.a, x.b) == (y.a, y.b) || (x.a, x.b) == (y.b, y.a)
}

fn replace<T: Clone>(list: &mut Vec<T>, gone: &[T], new: &[T], is_same: impl Fn(&T, &T) -> bool) {
    list.retain(|known| !gone.iter().any(|one| is_same(known, one)));
    for one in new {
        if !list.iter().any(|known| is_same(known, one)) {
            list.push(one.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(id: u32, name: &str) -> api::Body {
        api::Body { id: Some(id), name: name.to_owned(), ..Default::default() }
    }

    fn pair(a: u32, b: u32) -> api::BodyPair {
        api::BodyPair { a: Some(a), b: Some(b) }
    }

    fn three() -> Mirror {
        let bodies = vec![body(1, "wall"), body(2, "cart"), body(3, "ball")];
        let rules = api::PairRules { ignored_pairs: vec![pair(1, 3)], ..Default::default() };
        Mirror::of(api::SessionState { bodies, rules: Some(rules), ..Default::default() })
    }

    #[test]
    fn poses_by_number_by_name_and_packed_are_followed() {
        let mut mirror = three();
        let pose = Some(api::Pose {
            translation: Some(api::Vector3 { x: 1.0, y: 0.0, z: 0.0 }),
            orientation: None,
        });
        let by_name =
            api::BodyPose { name: "cart".into(), pose: pose.clone(), ..Default::default() };
        let packed = api::PackedPoses {
            ids: vec![1, 3].into(),
            translations: vec![1.0, 0.0, 0.0, 4.0, 5.0, 6.0].into(),
            rotations: vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0].into(),
            ..Default::default()
        };
        let frame = api::Frame {
            frame_id: 7,
            poses: vec![by_name],
            packed_poses: Some(packed),
            ..Default::default()
        };
        assert_eq!(mirror.apply(&frame), Followed::Wholly);
        assert_eq!(mirror.body(2).unwrap().pose, pose);
        let ball = mirror.body(3).unwrap().pose.clone().unwrap();
        assert_eq!(ball.translation, Some(api::Vector3 { x: 4.0, y: 5.0, z: 6.0 }));
        let turn = api::Quaternion { w: 0.0, x: 1.0, y: 0.0, z: 0.0 };
        assert_eq!(ball.orientation, Some(api::pose::Orientation::Rotation(turn)));
        assert_eq!(mirror.state().frame_id, 7);
        assert_eq!(mirror.keyframe().poses.len(), 3);
    }

    #[test]
    fn what_leaves_takes_its_rules_and_contacts_along() {
        let mut mirror = three();
        let event = api::ContactEvent {
            kind: api::ContactEventKind::Began.into(),
            a: 1,
            b: 2,
            ..Default::default()
        };
        mirror.announce(&api::FrameReport {
            frame_id: 4,
            events: vec![event],
            ..Default::default()
        });
        let contacts = mirror.state().contacts;
        assert_eq!((contacts.len(), contacts[0].began_frame_id), (1, 4));
        let frame = api::Frame {
            removed_body_names: vec!["wall".into()],
            added_bodies: vec![body(9, "door")],
            rule_changes: Some(Box::new(api::RuleChanges {
                added_checked_pairs: vec![pair(9, 2)],
                removed_ignored_pairs: vec![pair(3, 1)],
                ..Default::default()
            })),
            ..Default::default()
        };
        mirror.apply(&frame);
        // The same again changes nothing.
        mirror.apply(&frame);
        let state = mirror.state();
        let ids: Vec<u32> = state.bodies.iter().map(api::Body::id).collect();
        assert_eq!((ids, state.contacts.len()), (vec![2, 3, 9], 0));
        let rules = state.rules.unwrap();
        assert_eq!((rules.checked_pairs, rules.ignored_pairs), (vec![pair(9, 2)], Vec::new()));
    }

    #[test]
    fn what_only_the_server_knows_is_said_to_be_open() {
        let mut mirror = three();
        let joint = api::JointValue { name: "elbow".into(), value: 1.0 };
        let moved = api::RobotMove { id: Some(5), joints: vec![joint], ..Default::default() };
        let frame = api::Frame { robot_moves: vec![moved], ..Default::default() };
        assert_eq!(mirror.apply(&frame), Followed::InPart);
        let frame = api::Frame { detached_body_ids: vec![3], ..Default::default() };
        assert_eq!(mirror.apply(&frame), Followed::InPart);
    }
}
