//! Scenes and frames of a schedule, made from random numbers and from what a model holds.

use std::sync::Arc;

use super::arms;
use super::cold::Placed;
use super::model::{Asked, Model};
use super::spins;
use clearance_geometry::Vec3;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_runtime::robots::RegisteredRobot;
use clearance_samples::{self as samples, Random};
use clearance_scene::{
    Body, BodyChange, BodyId, Frame, Listed, Move, PairMargin, Part, RuleChanges, Rules,
};
use clearance_wire::convert::geometry::{matrix_rows, pose_to_wire, vector_to_wire};
use clearance_wire::convert::sessions::state::rules_to_wire;

/// A frame, what it asks, and its message.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) frame: Frame,
    pub(super) asked: Asked,
    pub(super) wire: api::Frame,
}

/// The shapes of all bodies, and the ids that they are registered under; and what all robots are.
#[derive(Clone, Debug)]
pub(super) struct Shapes {
    pub(super) polytopes: Vec<(Arc<Polytope>, String)>,
    pub(super) arm: Arc<RegisteredRobot>,
}

/// Small ones, so that many scenes are looked at in a short time.
pub(super) fn polytopes() -> Vec<Polytope> {
    vec![
        samples::cuboid(0.5, 0.5, 0.5),
        samples::cuboid(0.2, 0.6, 0.3),
        samples::cuboid(0.1, 0.1, 1.0),
        samples::ball(6, 1),
        samples::ball(9, 2),
        samples::polygon(4),
    ]
}

/// A pose at a multiple of a quarter that turns nothing, so that bodies touch; or any pose.
pub(super) fn place(random: &mut Random) -> Pose {
    let spot = random.vector() * 2.0;
    if random.below(2) == 0 {
        let spot = spot.map(|c| (c * 4.0).round() / 4.0);
        return Pose::translation(spot.x, spot.y, spot.z);
    }
    random.pose(spot)
}

impl Shapes {
    /// A body somewhere.
    pub(super) fn body(&self, id: u32, random: &mut Random) -> Body {
        let all = &self.polytopes;
        let pick = |random: &mut Random| all[random.below(all.len() as u32) as usize].0.clone();
        let mut body = Body::solid(id, pick(random)).placed(place(random));
        if random.below(6) == 0 {
            let offset = random.vector() * 0.5;
            body.parts.push(Part {
                polytope: pick(random),
                radius: 0.0,
                mesh: None,
                field: None,
                curved: None,
                body_from_part: random.pose(offset),
            });
        }
        if random.below(3) == 0 {
            body.groups = [["arm", "cell"][random.below(2) as usize]].into();
        }
        body.fixed = random.below(8) == 0;
        body.margin = [0.0, 0.0, 0.0, 0.1, -0.1, -0.3][random.below(6) as usize];
        body.continuous = random.below(8) == 0;
        if random.below(8) == 0 {
            (body.category, body.mask) = (1 + random.below(3), 1 + random.below(3));
        }
        if random.below(6) == 0 {
            body.pivot = random.vector() * 0.5;
        }
        body
    }

    fn parts(&self, parts: &[Part]) -> Vec<api::PlacedBody> {
        let part = |part: &Part| {
            let known = self.polytopes.iter().find(|(shape, _)| Arc::ptr_eq(shape, &part.polytope));
            let id = known.expect("made of these").1.clone();
            api::PlacedBody {
                source: Some(api::placed_body::Source::Id(id)),
                pose: Some(pose_to_wire(&part.body_from_part)),
            }
        };
        parts.iter().map(part).collect()
    }

    /// The message that declares a body.
    pub(super) fn wire(&self, body: &Body) -> api::Body {
        api::Body {
            id: Some(body.id.0),
            name: body.name.clone(),
            parts: self.parts(&body.parts),
            pose: Some(pose_to_wire(&body.pose)),
            groups: body.groups.to_vec(),
            fixed: body.fixed,
            margin: body.margin,
            pivot: Some(vector_to_wire(&body.pivot)),
            deviation: body.deviation,
            continuous: body.continuous,
            category: (body.category != Body::CATEGORY).then_some(body.category),
            mask: (body.mask != Body::MASK).then_some(body.mask),
        }
    }

    fn change(&self, change: &BodyChange) -> api::BodyChange {
        let &BodyChange { fixed, margin, continuous, category, mask, .. } = change;
        api::BodyChange {
            id: Some(change.id.0),
            parts: self.parts(&change.parts),
            left_groups: change.left_groups.clone(),
            joined_groups: change.joined_groups.clone(),
            fixed,
            margin,
            continuous,
            category,
            mask,
            name: String::new(),
        }
    }

    /// The message of a frame.
    pub(super) fn sent(&self, frame: Frame, asked: Asked, random: &mut Random) -> Sent {
        let mut wire = api::Frame {
            frame_id: frame.id,
            base_frame_id: frame.base,
            keyframe: frame.keyframe,
            added_bodies: frame.added.iter().map(|body| self.wire(body)).collect(),
            removed_body_ids: frame.removed.iter().map(|id| id.0).collect(),
            changed_bodies: frame.changed.iter().map(|one| self.change(one)).collect(),
            rules: frame.rules.as_ref().map(rules_to_wire).map(Box::new),
            rule_changes: frame.rule_changes.as_ref().map(rule_changes).map(Box::new),
            report: Some(Box::new(report(&asked))),
            budget: asked
                .steps
                .map(|steps| api::Budget { steps: Some(steps), time: None })
                .map(Box::new),
            teleported: frame.teleported,
            ..Default::default()
        };
        self.arms_into(&frame.robots, &mut wire);
        if random.below(2) == 0 {
            wire.packed_poses = Some(packed(&frame.moves));
        } else {
            wire.poses = frame.moves.iter().map(nested).collect();
        }
        Sent { frame, asked, wire }
    }
}

fn rule_changes(changes: &RuleChanges) -> api::RuleChanges {
    let pairs = |list: &[[BodyId; 2]]| -> Vec<api::BodyPair> {
        list.iter().map(|[a, b]| api::BodyPair { a: Some(a.0), b: Some(b.0) }).collect()
    };
    let groups = |list: &[[String; 2]]| -> Vec<api::GroupPair> {
        list.iter().map(|[a, b]| api::GroupPair { a: a.clone(), b: b.clone() }).collect()
    };
    let margin = |entry: &PairMargin| api::PairMargin {
        pair: pairs(&[entry.pair]).pop(),
        margin: entry.margin,
    };
    api::RuleChanges {
        removed_checked_groups: groups(&changes.removed_checked_groups),
        added_checked_groups: groups(&changes.added_checked_groups),
        removed_checked_pairs: pairs(&changes.removed_checked_pairs),
        added_checked_pairs: pairs(&changes.added_checked_pairs),
        removed_ignored_pairs: pairs(&changes.removed_ignored_pairs),
        added_ignored_pairs: pairs(&changes.added_ignored_pairs),
        removed_margins: pairs(&changes.removed_margins),
        set_margins: changes.set_margins.iter().map(margin).collect(),
        groups_to_come: changes.groups_to_come.clone(),
    }
}

fn nested(one: &Move) -> api::BodyPose {
    let (id, pose, teleported) = (one.body.0, Some(pose_to_wire(&one.pose)), one.teleported);
    let spin = one.spin.as_ref().map(vector_to_wire);
    api::BodyPose { id: Some(id), pose, teleported, spin, ..Default::default() }
}

fn packed(moves: &[Move]) -> api::PackedPoses {
    let numbers = |of: fn(&Move) -> Vec<f64>| -> Vec<f64> { moves.iter().flat_map(of).collect() };
    let ids: Vec<u32> = moves.iter().map(|one| one.body.0).collect();
    let put: Vec<u32> = moves.iter().filter(|one| one.teleported).map(|one| one.body.0).collect();
    let spins = if moves.iter().any(|one| one.spin.is_some()) {
        numbers(|one| one.spin.unwrap_or_default().iter().copied().collect())
    } else {
        Vec::new()
    };
    api::PackedPoses {
        ids: ids.into(),
        spins: spins.into(),
        translations: numbers(|one| one.pose.translation.iter().copied().collect()).into(),
        rotation_matrices: numbers(|one| matrix_rows(&one.pose.rotation).to_vec()).into(),
        teleported_ids: put.into(),
        ..Default::default()
    }
}

/// What a frame asks, in its message.
pub(super) fn report(asked: &Asked) -> api::ReportOptions {
    let pairs = match asked.listed {
        Listed::Nothing => api::PairSelection::None,
        Listed::Changed => api::PairSelection::Changed,
        Listed::Near => api::PairSelection::Near,
        Listed::All => api::PairSelection::All,
    };
    api::ReportOptions {
        pairs: pairs.into(),
        distances: asked.distances,
        first_contacts: asked.first_contacts,
        packed: asked.is_packed,
        pairs_below: asked.below,
        ..Default::default()
    }
}

/// What a frame might ask. Most ask the same as the one before, so that pairs sleep.
pub(super) fn asked(random: &mut Random, before: &Asked) -> Asked {
    if random.below(5) > 0 {
        return Asked { steps: None, ..*before };
    }
    use Listed::{All, Changed, Near, Nothing};
    Asked {
        listed: [Nothing, Changed, Changed, Near, All][random.below(5) as usize],
        first_contacts: random.below(4) == 0,
        distances: random.below(4) == 0,
        below: (random.below(8) == 0).then_some(0.3),
        is_packed: random.below(3) == 0,
        steps: None,
    }
}

/// A way from where a body is: mostly so little that what is known of its pairs lasts.
pub(super) fn onwards(random: &mut Random, from: &Pose) -> Pose {
    let reach = match random.below(12) {
        0 => return place(random),
        1..3 => 0.4,
        3..9 => 0.01,
        _ => 1e-6,
    };
    let translation = from.translation + random.vector() * reach;
    if random.below(3) > 0 {
        return Pose { translation, ..*from };
    }
    let turn = random.vector() * reach;
    let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]);
    let turn = turn.expect("hardly turned");
    Pose { translation, ..turn.compose(&Pose { translation: Vec3::zeros(), ..*from }) }
}

/// Moves of some of the bodies, or of all.
pub(super) fn moves(model: &Model, random: &mut Random, is_of_all: bool) -> Vec<Move> {
    let mut moves = Vec::new();
    // In some frames most bodies rest.
    let resting = if random.below(4) == 0 { 6 } else { 1 };
    for (id, placed) in &model.bodies {
        // What a robot moves is not moved by itself, and refused.
        if placed.carried.is_some() && random.below(40) > 0 {
            continue;
        }
        if is_of_all || random.below(3 + resting) >= resting {
            let pose = onwards(random, &placed.body.pose);
            let teleported = random.below(24) == 0;
            let one = Move { teleported, ..Move::new(BodyId(*id), pose) };
            let spins = !teleported && random.below(12) == 0;
            let from = &placed.body.pose;
            moves.push(if spins { spins::spun(random, from, one) } else { one });
        }
    }
    // Now and then one that is refused.
    if random.below(16) == 0 {
        let body = BodyId(900);
        let pose = Pose::identity();
        moves.push(Move::new(body, pose));
    }
    moves
}

/// The next frame: moves alone.
pub(super) fn next(model: &Model, random: &mut Random) -> Frame {
    let id = model.applied + 1;
    let teleported = random.below(30) == 0;
    let moves = moves(model, random, false);
    let robots = arms::moves(model, random, false);
    Frame { id, moves, robots, teleported, ..Frame::default() }
}

/// Lets bodies go and come, some of them under the id of one that goes.
pub(super) fn change_bodies(frame: &mut Frame, model: &Model, shapes: &Shapes, r: &mut Random) {
    let is_body = |(id, placed): (&u32, &Placed)| (!placed.is_link()).then_some(*id);
    let ids: Vec<u32> = model.bodies.iter().filter_map(is_body).collect();
    let picked = ids.get(r.below(ids.len().max(1) as u32) as usize).copied();
    match (r.below(4), picked) {
        (0, Some(id)) if ids.len() > 2 => {
            frame.removed.push(BodyId(id));
            // Now and then one that is not there, which is refused alone.
            if r.below(4) == 0 {
                frame.removed.insert(0, BodyId(901));
            }
        }
        (1 | 2, Some(id)) => {
            frame.removed.push(BodyId(id));
            let pose = model.bodies[&id].body.pose;
            let renewed = shapes.body(id, r);
            // It mostly stands where the one before stood, and may be in contact again.
            frame.added.push(if r.below(4) > 0 { renewed.placed(pose) } else { renewed });
        }
        _ if ids.len() < 9 => {
            let free = (0..).find(|id| !ids.contains(id)).expect("there is one");
            frame.added.push(shapes.body(free, r));
        }
        _ => {}
    }
}

/// Two bodies of a model that has some.
fn pair(model: &Model, random: &mut Random) -> [BodyId; 2] {
    let ids: Vec<u32> = model.bodies.keys().copied().collect();
    let count = ids.len() as u32;
    let a = random.below(count);
    let b = (a + 1 + random.below(count - 1)) % count;
    [a, b].map(|at| BodyId(ids[at as usize]))
}

fn arm_and_cell() -> [String; 2] {
    ["arm".to_owned(), "cell".to_owned()]
}

/// Rules about the bodies of a model.
pub(super) fn rules(model: &Model, random: &mut Random) -> Rules {
    let mut rules = Rules::default();
    if model.bodies.len() < 2 {
        return rules;
    }
    for _ in 0..random.below(4) {
        rules.ignored_pairs.push(pair(model, random));
    }
    if random.below(6) == 0 {
        rules.checked_pairs = (0..1 + random.below(6)).map(|_| pair(model, random)).collect();
    }
    if random.below(4) == 0 {
        let margin = [0.0, 0.2, -0.2][random.below(3) as usize];
        rules.margins.push(PairMargin { pair: pair(model, random), margin });
    }
    if random.below(5) == 0 {
        rules.checked_groups.push(arm_and_cell());
        rules.groups_to_come = arm_and_cell().to_vec();
    }
    rules
}

/// Changes bodies and rules entry by entry; now and then one that is not there.
pub(super) fn change(frame: &mut Frame, model: &Model, shapes: &Shapes, random: &mut Random) {
    if model.bodies.len() < 2 {
        return;
    }
    let mut changes = RuleChanges::default();
    let held = &model.rules;
    let some = |list: &[[BodyId; 2]], random: &mut Random| -> Vec<[BodyId; 2]> {
        let picked = list.iter().filter(|_| random.below(2) == 0);
        picked.map(|[a, b]| [*b, *a]).collect()
    };
    changes.removed_ignored_pairs = some(&held.ignored_pairs, random);
    if random.below(3) == 0 {
        changes.removed_checked_pairs = some(&held.checked_pairs, random);
        let margins: Vec<[BodyId; 2]> = held.margins.iter().map(|entry| entry.pair).collect();
        changes.removed_margins = some(&margins, random);
    }
    match random.below(6) {
        0 => changes.removed_ignored_pairs.push(pair(model, random)),
        1 if !held.checked_pairs.is_empty() => {
            changes.added_checked_pairs.push(pair(model, random));
        }
        2 => {
            let margin = [0.0, 0.3, -0.05][random.below(3) as usize];
            changes.set_margins.push(PairMargin { pair: pair(model, random), margin });
        }
        3 if random.below(2) == 0 => {
            changes.added_checked_groups.push(arm_and_cell());
            changes.groups_to_come = arm_and_cell().to_vec();
        }
        _ => changes.added_ignored_pairs.push(pair(model, random)),
    }
    frame.rule_changes = Some(changes).filter(|_| random.below(3) > 0);
    for _ in 0..random.below(3) {
        let [id, _] = pair(model, random);
        frame.changed.push(body_change(model, id, shapes.body(id.0, random), random));
    }
}

/// Lets a body become like another one in some respects.
fn body_change(model: &Model, id: BodyId, like: Body, random: &mut Random) -> BodyChange {
    let known = &model.bodies[&id.0].body;
    let mut one_of = |count| random.below(count) == 0;
    BodyChange {
        id,
        parts: if one_of(2) { like.parts } else { Vec::new() },
        left_groups: if one_of(4) { known.groups.to_vec() } else { Vec::new() },
        joined_groups: like.groups.to_vec(),
        fixed: one_of(4).then_some(like.fixed),
        category: one_of(4).then_some(like.category),
        mask: one_of(4).then_some(like.mask),
        margin: one_of(4).then_some(like.margin),
        continuous: one_of(3).then_some(like.continuous),
    }
}
