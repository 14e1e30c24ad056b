//! What is known of a session's bodies, and what a message to a watcher changes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clearance_proto as api;
use clearance_proto::get_polytope_request::Key;
use clearance_proto::placed_body::Source;
use prost_types::Timestamp;

use super::drawn::{Drawn, Place};
use super::place::{at_place, pose, turn};
use crate::foxglove::packed_element_field::NumericType;
use crate::foxglove::scene_entity_deletion::Type;
use crate::foxglove::{
    FrameTransform, FrameTransforms, PackedElementField, PointCloud, SceneEntity,
    SceneEntityDeletion, SceneUpdate,
};

/// The frame of coordinates that all others are in.
const WORLD: &str = "world";

/// A shape that somebody has to be asked for.
#[derive(Clone, Debug)]
pub(super) struct UnknownShape {
    /// How it is called.
    pub(super) key: Key,
    /// The robot whose part it is, or empty.
    pub(super) robot_id: String,
}

/// Bodies by their ids.
#[derive(Debug, Default)]
pub(super) struct World {
    /// Frames of coordinates, by body.
    names: BTreeMap<u32, String>,
    shapes: HashMap<String, Drawn>,
    /// By their registered ids.
    pub(super) robots: HashMap<String, api::Robot>,
    /// The links of the session's robots, by the robot's id in it.
    links: BTreeMap<u32, Vec<u32>>,
}

/// What others are told.
#[derive(Debug, Default)]
pub(super) struct Views {
    pub(super) transforms: FrameTransforms,
    pub(super) update: SceneUpdate,
    pub(super) contacts: Option<PointCloud>,
}

/// Bodies and robots that a message brings.
fn brought(told: &api::WatchSessionResponse) -> (Vec<&api::Body>, Vec<&api::SessionRobot>) {
    let state = told.state.iter();
    let (mut bodies, mut robots) = (Vec::new(), Vec::new());
    for state in state {
        bodies.extend(&state.bodies);
        robots.extend(&state.robots);
    }
    for frame in told.frame.iter() {
        bodies.extend(frame.added_bodies.iter().chain(&frame.changed_bodies));
        robots.extend(&frame.added_robots);
    }
    (bodies, robots)
}

/// The name of a source in `shapes`; none: it is not asked for.
fn key_of(source: &Source) -> Option<(String, Key)> {
    match source {
        Source::Id(id) => Some((id.clone(), Key::Id(id.clone()))),
        Source::Alias(alias) => Some((format!("alias {alias}"), Key::Alias(alias.clone()))),
        Source::Vertices(_) | Source::Rounded(_) | Source::Compound(_) => None,
    }
}

impl World {
    /// Robots that a message names and nobody has described yet.
    pub(super) fn wanted_robots(&self, told: &api::WatchSessionResponse) -> BTreeSet<String> {
        let (_, robots) = brought(told);
        let ids = robots.into_iter().map(|robot| robot.robot_id.clone());
        ids.filter(|id| !self.robots.contains_key(id)).collect()
    }

    /// Shapes that a message names and nobody has described yet.
    pub(super) fn wanted_shapes(&self, told: &api::WatchSessionResponse) -> Vec<UnknownShape> {
        let (bodies, robots) = brought(told);
        let mut wanted = BTreeMap::new();
        let sources = bodies.iter().flat_map(|body| &body.parts).filter_map(|p| p.source.as_ref());
        for (name, key) in sources.filter_map(key_of) {
            wanted.insert(name, UnknownShape { key, robot_id: String::new() });
        }
        for robot in robots.iter().filter_map(|robot| self.robots.get(&robot.robot_id)) {
            for part in &robot.parts {
                let (id, robot_id) = (part.polytope_id.clone(), robot.id.clone());
                wanted.insert(id.clone(), UnknownShape { key: Key::Id(id), robot_id });
            }
        }
        wanted.retain(|name, _| !self.shapes.contains_key(name));
        wanted.into_values().collect()
    }

    /// Takes note of what a shape is.
    pub(super) fn learn(&mut self, wanted: UnknownShape, shape: &api::GetPolytopeResponse) {
        let name = match wanted.key {
            Key::Id(id) => id,
            Key::Alias(alias) => format!("alias {alias}"),
        };
        self.shapes.insert(name, Drawn::of(shape));
    }

    /// What a message changes; `at` in nanoseconds since 1970.
    pub(super) fn take(&mut self, told: &api::WatchSessionResponse, at: u64) -> Views {
        let mut seen = Views::default();
        let time = Timestamp {
            seconds: i64::try_from(at / 1_000_000_000).unwrap_or(i64::MAX),
            nanos: i32::try_from(at % 1_000_000_000).unwrap_or(0),
        };
        if told.state.is_some() {
            self.names.clear();
            self.links.clear();
            seen.update.deletions.push(deletion(Type::All, String::new(), time));
        }
        if let Some(frame) = &told.frame {
            let robots = frame.removed_robots.iter().filter_map(|id| self.links.remove(id));
            let links: Vec<u32> = robots.flatten().collect();
            for id in frame.removed_body_ids.iter().copied().chain(links) {
                self.names.remove(&id);
                seen.update.deletions.push(deletion(Type::MatchingId, id.to_string(), time));
            }
        }
        let (bodies, robots) = brought(told);
        for body in bodies {
            self.add_body(body, time, &mut seen);
        }
        for robot in robots {
            self.add_robot(robot, time, &mut seen);
        }
        let frame = told.frame.as_ref();
        let packed =
            [told.link_poses.as_ref(), frame.and_then(|frame| frame.packed_poses.as_ref())];
        for packed in packed.into_iter().flatten() {
            self.move_all(packed, time, &mut seen);
        }
        seen.contacts = frame.and_then(|frame| contacts(frame, time));
        seen
    }

    fn name(&mut self, id: u32, wanted: &str) -> String {
        let is_free = !wanted.is_empty()
            && wanted != WORLD
            && self.names.iter().all(|(other, name)| *other == id || name != wanted);
        let name = if is_free { wanted.to_owned() } else { format!("body {id}") };
        self.names.insert(id, name.clone());
        name
    }

    fn add_body(&mut self, body: &api::Body, time: Timestamp, seen: &mut Views) {
        let frame_id = self.name(body.id(), &body.name);
        let mut entity = entity(body.id(), &frame_id, time);
        for part in &body.parts {
            let place = Place::of(part.pose.as_ref());
            let drawn = match &part.source {
                Some(Source::Vertices(points)) => Some(Drawn::of_points(&points.xyz)),
                Some(Source::Rounded(shape)) => Some(Drawn::of_rounded(shape)),
                Some(source) => {
                    key_of(source).and_then(|(name, _)| self.shapes.get(&name).cloned())
                }
                None => None,
            };
            drawn
                .into_iter()
                .for_each(|one| one.add_to(&mut entity, &place, color(body.id(), body.fixed)));
        }
        seen.update.entities.push(entity);
        seen.transforms.transforms.push(transform(frame_id, pose(body.pose.as_ref()), time));
    }

    fn add_robot(&mut self, held: &api::SessionRobot, time: Timestamp, seen: &mut Views) {
        // One that carries something else is told again as it is.
        if self.links.contains_key(&held.id()) {
            return;
        }
        let Some(robot) = self.robots.get(&held.robot_id).cloned() else { return };
        let mut ids = Vec::new();
        for (id, link) in (held.id()..).zip(&robot.links) {
            if link.part_count == 0 {
                continue;
            }
            let wanted = if held.name.is_empty() {
                link.name.clone()
            } else {
                format!("{}/{}", held.name, link.name)
            };
            let frame_id = self.name(id, &wanted);
            let mut entity = entity(id, &frame_id, time);
            let parts = robot.parts.iter().skip(link.first_part as usize);
            for part in parts.take(link.part_count as usize) {
                if let Some(drawn) = self.shapes.get(&part.polytope_id) {
                    let place = Place::of(part.pose.as_ref());
                    drawn.add_to(&mut entity, &place, color(held.id(), false));
                }
            }
            seen.update.entities.push(entity);
            ids.push(id);
        }
        self.links.insert(held.id(), ids);
    }

    fn move_all(&self, packed: &api::PackedPoses, time: Timestamp, seen: &mut Views) {
        let ids = packed.ids.iter();
        let places = packed.translations.rows::<3>();
        let turns = packed.rotation_matrices.rows::<9>().map(turn);
        for ((id, at), turn) in ids.zip(places).zip(turns) {
            if let Some(name) = self.names.get(&id) {
                seen.transforms.transforms.push(transform(name.clone(), at_place(at, turn), time));
            }
        }
    }
}

fn entity(id: u32, frame_id: &str, time: Timestamp) -> SceneEntity {
    SceneEntity {
        timestamp: Some(time),
        frame_id: frame_id.to_owned(),
        id: id.to_string(),
        frame_locked: true,
        ..SceneEntity::default()
    }
}

fn deletion(kind: Type, id: String, time: Timestamp) -> SceneEntityDeletion {
    SceneEntityDeletion { timestamp: Some(time), r#type: kind.into(), id }
}

fn transform(child: String, pose: crate::foxglove::Pose, time: Timestamp) -> FrameTransform {
    FrameTransform {
        timestamp: Some(time),
        parent_frame_id: WORLD.to_owned(),
        child_frame_id: child,
        translation: pose.position,
        rotation: pose.orientation,
    }
}

/// Where contacts began or ended with a frame, as far as that was asked for.
fn contacts(frame: &api::WatchedFrame, time: Timestamp) -> Option<PointCloud> {
    const NUMBER_BYTES: u32 = 8;
    let points: Vec<api::Vector3> = frame.events.iter().filter_map(|event| event.point).collect();
    let field = |name: &str, k: u32| PackedElementField {
        name: name.to_owned(),
        offset: k * NUMBER_BYTES,
        r#type: NumericType::Float64.into(),
    };
    let numbers = points.iter().flat_map(|point| [point.x, point.y, point.z]);
    (!points.is_empty()).then(|| PointCloud {
        timestamp: Some(time),
        frame_id: WORLD.to_owned(),
        pose: Some(pose(None)),
        point_stride: 3 * NUMBER_BYTES,
        fields: vec![field("x", 0), field("y", 1), field("z", 2)],
        data: numbers.flat_map(f64::to_le_bytes).collect::<Vec<u8>>(),
    })
}

/// A colour for a body; what is fixed is grey.
fn color(id: u32, fixed: bool) -> [f64; 4] {
    const COLORS: [[f64; 3]; 6] = [
        [0.27, 0.47, 0.67],
        [0.93, 0.53, 0.40],
        [0.13, 0.53, 0.20],
        [0.80, 0.73, 0.27],
        [0.40, 0.80, 0.93],
        [0.67, 0.20, 0.47],
    ];
    let [r, g, b] = if fixed { [0.6; 3] } else { COLORS[id as usize % COLORS.len()] };
    [r, g, b, 1.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(id: u32, name: &str) -> api::Body {
        let xyz = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let part = api::PlacedBody {
            source: Some(Source::Vertices(api::Points { xyz })),
            ..api::PlacedBody::default()
        };
        api::Body { id: Some(id), name: name.to_owned(), parts: vec![part], ..api::Body::default() }
    }

    fn state(bodies: Vec<api::Body>) -> api::WatchSessionResponse {
        let state = api::SessionState { bodies, ..api::SessionState::default() };
        api::WatchSessionResponse { state: Some(state), ..api::WatchSessionResponse::default() }
    }

    fn frame(frame: api::WatchedFrame) -> api::WatchSessionResponse {
        api::WatchSessionResponse { frame: Some(frame), ..api::WatchSessionResponse::default() }
    }

    #[test]
    fn bodies_come_move_and_go_by_their_names() {
        let mut world = World::default();
        let seen = world.take(&state(vec![body(1, "arm"), body(2, "arm"), body(3, "world")]), 7);
        let names = |seen: &Views| -> Vec<String> {
            seen.transforms.transforms.iter().map(|one| one.child_frame_id.clone()).collect()
        };
        // A name that two have is told apart, and nobody is called as what all are in.
        assert_eq!(names(&seen), ["arm", "body 2", "body 3"]);
        assert_eq!(seen.update.deletions[0].r#type, i32::from(Type::All));
        assert!(seen.update.entities.iter().all(|one| one.triangles[0].indices.len() == 12));
        let packed = api::PackedPoses {
            ids: vec![2, 99].into(),
            translations: vec![1.0, 2.0, 3.0, 0.0, 0.0, 0.0].into(),
            rotation_matrices: [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]; 2].concat().into(),
            ..api::PackedPoses::default()
        };
        let moved = frame(api::WatchedFrame {
            packed_poses: Some(packed),
            removed_body_ids: vec![1],
            ..api::WatchedFrame::default()
        });
        let seen = world.take(&moved, 1_500_000_000);
        assert_eq!(names(&seen), ["body 2"]);
        let told = &seen.transforms.transforms[0];
        assert_eq!(told.timestamp, Some(Timestamp { seconds: 1, nanos: 500_000_000 }));
        assert_eq!(told.translation.map(|t| [t.x, t.y, t.z]), Some([1.0, 2.0, 3.0]));
        assert_eq!(seen.update.deletions[0].id, "1");
        assert!(seen.contacts.is_none());
    }

    #[test]
    fn contacts_are_points() {
        let at = |x: f64| api::ContactEvent {
            point: Some(api::Vector3 { x, y: 0.0, z: 0.0 }),
            ..api::ContactEvent::default()
        };
        let events = vec![at(1.0), api::ContactEvent::default(), at(2.0)];
        let told = frame(api::WatchedFrame { events, ..api::WatchedFrame::default() });
        let points = World::default().take(&told, 0).contacts.unwrap();
        assert_eq!((points.data.len(), points.point_stride), (48, 24));
        assert_eq!(points.data[24..32], 2.0_f64.to_le_bytes());
    }
}
