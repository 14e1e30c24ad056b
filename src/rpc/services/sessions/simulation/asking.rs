//! Questions to the scene of a session: what is said of it as it stands is held against questions
//! about two bodies, asked from cold; what is said of a past frame, against what was said then.

use std::collections::BTreeMap;

use super::check::Wrong;
use super::cold;
use super::model::Model;
use clearance_geometry::Vec3;
use clearance_proto as api;
use clearance_samples::Random;
use clearance_scene::Body;

/// Past frames that sessions keep.
pub(super) const PAST_FRAMES: usize = 5;

/// Rays of a call: so many that boxes around the bodies pay.
const RAYS: usize = 12;

/// What was said of frames, and which of them are kept.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Frames that may be asked about, the one that is the last one among them.
    kept: Vec<u64>,
    told: BTreeMap<u64, (api::QuerySceneRequest, api::QuerySceneResponse)>,
}

impl Heard {
    /// Of a session that begins at this frame, or has given up its past.
    pub(super) fn from(frame: u64) -> Self {
        Self { kept: vec![frame], ..Self::default() }
    }

    /// A frame was applied.
    pub(super) fn applied(&mut self, frame: u64) {
        self.kept.push(frame);
        let over = self.kept.len().saturating_sub(PAST_FRAMES + 1);
        self.kept.drain(..over);
    }

    /// Keeps what was said of the frame that is the last one.
    pub(super) fn keep(&mut self, asked: api::QuerySceneRequest, told: api::QuerySceneResponse) {
        self.told.insert(told.frame_id, (asked, told));
    }

    /// A frame of which something was said, and whether it has to be kept.
    pub(super) fn any(&self, random: &mut Random) -> Option<(u64, bool)> {
        let count = u32::try_from(self.told.len()).ok().filter(|count| *count > 0)?;
        let (&frame, _) = self.told.iter().nth(random.below(count) as usize)?;
        Some((frame, self.kept.contains(&frame)))
    }

    /// The same questions again, about that frame.
    pub(super) fn again(&self, frame: u64) -> Option<api::QuerySceneRequest> {
        let (asked, _) = self.told.get(&frame)?;
        let moment = Some(api::SceneMoment { frame_id: Some(frame), fraction: 0.0 });
        Some(api::QuerySceneRequest { moment, ..asked.clone() })
    }

    /// That the same is said once more.
    pub(super) fn compare(&self, told: &api::QuerySceneResponse) -> Result<(), Wrong> {
        let known = self.told.get(&told.frame_id).ok_or("of another frame")?;
        let without_cost = |reply: &api::QuerySceneResponse| api::QuerySceneResponse {
            cost: None,
            ..reply.clone()
        };
        let (was, is) = (without_cost(&known.1), without_cost(told));
        if was == is { Ok(()) } else { Err(format!("of the past: told {is:?}, and then {was:?}")) }
    }
}

/// Rays through the middle of the scene, of which some leave out a body; and whether all hits are
/// wanted, or where the bodies are left.
pub(super) fn questions(
    session: &str,
    model: &Model,
    random: &mut Random,
) -> api::QuerySceneRequest {
    let ids: Vec<u32> = model.bodies.keys().copied().collect();
    let (mut origins, mut displacements, mut ignored) = (Vec::new(), Vec::new(), Vec::new());
    let count = u32::try_from(ids.len()).unwrap_or(u32::MAX).max(1);
    for _ in 0..RAYS {
        let target = match ids.get(random.below(count) as usize) {
            Some(id) => model.bodies[id].body.pose.translation,
            None => Vec3::zeros(),
        };
        let from = random.vector() * 4.0;
        origins.extend(from.iter().copied());
        displacements.extend(((target - from) * 2.0).iter().copied());
        ignored.push(ids.get(random.below(2 * count) as usize).copied().unwrap_or(u32::MAX));
    }
    let rays = api::PackedRays {
        origins: origins.into(),
        displacements: displacements.into(),
        ignored_bodies: ignored.into(),
        ..Default::default()
    };
    let exits = random.below(4) == 0;
    let hits = if exits || random.below(2) == 0 {
        api::HitSelection::All
    } else {
        api::HitSelection::First
    };
    api::QuerySceneRequest {
        session_id: session.to_owned(),
        packed_rays: Some(rays),
        hits: hits.into(),
        exits,
        ..Default::default()
    }
}

/// Holds what was told of the scene as it stands against questions about each body alone.
pub(super) fn check(
    model: &Model,
    asked: &api::QuerySceneRequest,
    told: &api::QuerySceneResponse,
) -> Result<(), Wrong> {
    let rays = asked.packed_rays.as_ref().ok_or("no rays were asked")?;
    let hits = told.packed_hits.as_ref().ok_or("no rays were answered")?;
    if told.frame_id != model.applied {
        return Err(format!("told of frame {}, not {}", told.frame_id, model.applied));
    }
    let ignored: Vec<u32> = rays.ignored_bodies.iter().collect();
    let ways = rays.origins.rows::<3>().zip(rays.displacements.rows::<3>());
    let mut told: Vec<Hit> = hits_of(hits, asked.exits);
    told.sort_by_key(|hit| (hit.ray, hit.body));
    for (at, (from, by)) in ways.enumerate() {
        let way = [Vec3::from(from), Vec3::from(by)];
        let mut expected: Vec<(u32, [f64; 2])> = Vec::new();
        for (id, placed) in model.bodies.iter().filter(|(id, _)| **id != ignored[at]) {
            expected.extend(cold::ray(&placed.body, way).map(|time| (*id, time)));
        }
        if asked.hits() == api::HitSelection::First {
            let first = expected.iter().map(|(_, time)| time[1]).fold(1.0, f64::min);
            expected.retain(|(_, time)| time[0] <= first);
        }
        let of_ray = || told.iter().filter(|hit| hit.ray as usize == at);
        let said: Vec<(u32, [f64; 2])> = of_ray().map(|hit| (hit.body, hit.time)).collect();
        if said != expected {
            return Err(format!("ray {at}: told {said:?}, expected {expected:?}"));
        }
        for hit in of_ray() {
            if let Some(leave) = hit.leave {
                leaves(&model.bodies[&hit.body].body, way, leave)?;
            }
        }
    }
    Ok(())
}

/// What is told of a ray.
#[derive(Clone, Copy, Debug)]
struct Hit {
    ray: u32,
    body: u32,
    time: [f64; 2],
    leave: Option<[f64; 2]>,
}

fn hits_of(packed: &api::PackedHits, has_exits: bool) -> Vec<Hit> {
    let hit = |at: usize| Hit {
        ray: packed.rays[at],
        body: packed.body_ids[at],
        time: [packed.time_lower[at], packed.time_upper[at]],
        leave: has_exits.then(|| [packed.leave_lower[at], packed.leave_upper[at]]),
    };
    (0..packed.rays.len()).map(hit).collect()
}

/// That a body is left when its only part is.
fn leaves(body: &Body, way: [Vec3; 2], told: [f64; 2]) -> Result<(), Wrong> {
    if body.parts.len() > 1 {
        return Ok(());
    }
    let exit = cold::ray_leaves(body, way);
    let expected = if exit[0] >= 1.0 { [1.0; 2] } else { exit.map(|t| t.min(1.0)) };
    if told.map(f64::to_bits) == expected.map(f64::to_bits) {
        return Ok(());
    }
    Err(format!("leaves {} at {told:?}, expected {expected:?}", body.id.0))
}
