//! Scenes and frames of a schedule, made from random numbers and from what a model holds.

use std::sync::Arc;

use super::model::{Asked, Model};
use crate::geometry::Vec3;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::Pose;
use crate::geometry::samples::{self, Random};
use crate::rpc::api;
use crate::rpc::convert::geometry::{matrix_rows, pose_to_wire, vector_to_wire};
use crate::rpc::convert::sessions::state::rules_to_wire;
use crate::scene::{Body, BodyId, Frame, Listed, Move, PairMargin, Part, Rules};

/// A frame, what it asks, and its message.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) frame: Frame,
    pub(super) asked: Asked,
    pub(super) wire: api::Frame,
}

/// The shapes of all bodies, and the ids that they are registered under.
#[derive(Clone, Debug)]
pub(super) struct Shapes(pub(super) Vec<(Arc<Polytope>, String)>);

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
fn place(random: &mut Random) -> Pose {
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
        let pick =
            |random: &mut Random| self.0[random.below(self.0.len() as u32) as usize].0.clone();
        let mut body = Body::solid(id, pick(random)).placed(place(random));
        if random.below(6) == 0 {
            let offset = random.vector() * 0.5;
            body.parts.push(Part { polytope: pick(random), body_from_part: random.pose(offset) });
        }
        if random.below(3) == 0 {
            body.groups.push(["arm", "cell"][random.below(2) as usize].to_owned());
        }
        body.fixed = random.below(8) == 0;
        body.margin = [0.0, 0.0, 0.0, 0.1][random.below(4) as usize];
        body.continuous = random.below(8) == 0;
        if random.below(6) == 0 {
            body.pivot = random.vector() * 0.5;
        }
        body
    }

    /// Its message.
    pub(super) fn wire(&self, body: &Body) -> api::Body {
        let part = |part: &Part| {
            let known = self.0.iter().find(|(shape, _)| Arc::ptr_eq(shape, &part.polytope));
            let id = known.expect("made of these").1.clone();
            api::PlacedBody {
                source: Some(api::placed_body::Source::Id(id)),
                pose: Some(pose_to_wire(&part.body_from_part)),
            }
        };
        api::Body {
            id: body.id.0,
            name: body.name.clone(),
            parts: body.parts.iter().map(part).collect(),
            pose: Some(pose_to_wire(&body.pose)),
            groups: body.groups.clone(),
            fixed: body.fixed,
            margin: body.margin,
            pivot: Some(vector_to_wire(&body.pivot)),
            deviation: body.deviation,
            continuous: body.continuous,
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
            rules: frame.rules.as_ref().map(rules_to_wire),
            report: Some(report(&asked)),
            budget: asked.steps.map(|steps| api::Budget { steps: Some(steps), time: None }),
            teleported: frame.teleported,
            ..Default::default()
        };
        if random.below(2) == 0 {
            wire.packed_poses = Some(packed(&frame.moves));
        } else {
            wire.poses = frame.moves.iter().map(nested).collect();
        }
        Sent { frame, asked, wire }
    }
}

fn nested(one: &Move) -> api::BodyPose {
    let (id, pose, teleported) = (one.body.0, Some(pose_to_wire(&one.pose)), one.teleported);
    api::BodyPose { id, pose, teleported, deviation: None }
}

fn packed(moves: &[Move]) -> api::PackedPoses {
    let numbers = |of: fn(&Move) -> Vec<f64>| -> Vec<f64> { moves.iter().flat_map(of).collect() };
    let ids: Vec<u32> = moves.iter().map(|one| one.body.0).collect();
    let put: Vec<u32> = moves.iter().filter(|one| one.teleported).map(|one| one.body.0).collect();
    api::PackedPoses {
        ids: ids.into(),
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
fn onwards(random: &mut Random, from: &Pose) -> Pose {
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
    for (id, placed) in &model.bodies {
        if is_of_all || random.below(3) > 0 {
            let pose = onwards(random, &placed.body.pose);
            let teleported = random.below(24) == 0;
            moves.push(Move { body: BodyId(*id), pose, teleported, deviation: None });
        }
    }
    // Now and then one that is refused.
    if random.below(16) == 0 {
        let body = BodyId(900);
        let pose = Pose::identity();
        moves.push(Move { body, pose, teleported: false, deviation: None });
    }
    moves
}

/// The next frame: moves alone.
pub(super) fn next(model: &Model, random: &mut Random) -> Frame {
    let id = model.applied + 1;
    let teleported = random.below(30) == 0;
    Frame { id, moves: moves(model, random, false), teleported, ..Frame::default() }
}

/// Lets bodies go and come, some of them under the id of one that goes.
pub(super) fn change_bodies(frame: &mut Frame, model: &Model, shapes: &Shapes, r: &mut Random) {
    let ids: Vec<u32> = model.bodies.keys().copied().collect();
    let picked = ids.get(r.below(ids.len().max(1) as u32) as usize).copied();
    match (r.below(4), picked) {
        (0, Some(id)) if ids.len() > 2 => frame.removed.push(BodyId(id)),
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

/// Rules about the bodies of a model.
pub(super) fn rules(model: &Model, random: &mut Random) -> Rules {
    let ids: Vec<u32> = model.bodies.keys().copied().collect();
    let pair = |random: &mut Random| {
        let count = ids.len() as u32;
        let a = random.below(count);
        let b = (a + 1 + random.below(count - 1)) % count;
        [a, b].map(|at| BodyId(ids[at as usize]))
    };
    let mut rules = Rules::default();
    if ids.len() < 2 {
        return rules;
    }
    for _ in 0..random.below(4) {
        rules.ignored_pairs.push(pair(random));
    }
    if random.below(6) == 0 {
        rules.checked_pairs = (0..1 + random.below(6)).map(|_| pair(random)).collect();
    }
    if random.below(4) == 0 {
        let margin = [0.0, 0.2][random.below(2) as usize];
        rules.margins.push(PairMargin { pair: pair(random), margin });
    }
    if random.below(5) == 0 {
        rules.checked_groups.push(["arm".to_owned(), "cell".to_owned()]);
        rules.groups_to_come = vec!["arm".to_owned(), "cell".to_owned()];
    }
    rules
}
