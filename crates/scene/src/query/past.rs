//! A scene as it was at a frame that is past, or on the way from there to the next one: what
//! shooters ask about, who saw the scene some frames ago.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::StillScene;
use crate::declared::body::{Body, BodyId};
use crate::declared::robots::RobotId;
use crate::declared::spin::turn_of;
use crate::frame::scene::Scene;
use crate::pairs::meshes::bytes_of_a_look;
use crate::placed::entry::Entry;
use crate::placed::history::{Departure, History, HistoryLimits, PastBody, PastFrame};
use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pose::Pose;

/// When a scene is asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// A frame that was applied.
    pub frame: u64,
    /// How much of the way to the next frame has gone by, in [0, 1).
    pub fraction: f64,
}

/// Why a scene cannot be told as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPast {
    /// The frame was never applied, or is kept no more.
    NotKept {
        /// The oldest frame that can be asked about.
        oldest: u64,
    },
    /// There is no frame after it yet, on the way to which a fraction could have gone by.
    NoNext,
    /// A robot moved this body in the next frame, on a way that is not known.
    OnChain(BodyId),
}

impl Scene {
    /// From now on so much of the past is kept.
    pub fn keep_history(&mut self, limits: HistoryLimits) {
        self.history = History::new(limits, self.entries.len());
    }

    /// Gives up all of the past that is kept.
    pub fn forget_history(&mut self) {
        self.keep_history(self.history.limits());
    }

    /// How much of the past is kept.
    pub fn history_limits(&self) -> HistoryLimits {
        self.history.limits()
    }

    /// Past frames that are kept.
    pub fn past_frames(&self) -> usize {
        self.history.frames()
    }

    /// The oldest frame that can be asked about.
    pub fn oldest_frame(&self) -> u64 {
        self.history.oldest(self.applied)
    }

    /// The memory that the past takes, bytes.
    pub fn bytes_of_history(&self) -> usize {
        self.history.bytes()
    }

    /// Memory of the scene at a past moment with its tree of boxes, bytes, estimated.
    pub fn bytes_of_past(&self) -> usize {
        self.bytes_of_copy() + self.history.bytes()
    }

    /// The bodies where they were then, with all their parts. Between two frames a body is on the
    /// way that first contacts are looked for on, at its pose of that time, rounded; one that was
    /// teleported, is new or gone changes with the next frame.
    pub fn past(&self, moment: &Moment) -> Result<StillScene, NoPast> {
        let bodies = self.past_bodies(moment)?;
        let entries: Vec<Entry> = bodies.iter().map(PastBody::standing).collect();
        let look_bytes = bytes_of_a_look(&entries);
        Ok(StillScene { entries, still: Arc::default(), frame: moment.frame, look_bytes })
    }

    /// What stood where then, and what every frame has changed since, up to now.
    pub fn since(&self, moment: &Moment) -> Result<Since, NoPast> {
        let mut since = Since::default();
        for body in self.past_bodies(moment)? {
            let is_link = body.entry.carrier.as_ref().is_some_and(|by| by.is_link());
            let list = if is_link { &mut since.links } else { &mut since.bodies };
            list.push(body.as_then());
        }
        let frames = self.history.since(moment.frame, &self.entries, self.applied);
        since.frames = frames.ok_or(NoPast::NotKept { oldest: self.oldest_frame() })?;
        let mut stances: BTreeMap<RobotId, (Pose, Vec<f64>)> = BTreeMap::new();
        for way in self.history.all_robot_ways(moment.frame) {
            stances.entry(way.id).or_insert_with(|| way.ends[0].clone());
        }
        since.robots = stances.into_iter().map(|(id, (base, values))| (id, base, values)).collect();
        Ok(since)
    }

    /// Memory of that, bytes, estimated.
    pub fn bytes_of_since(&self) -> usize {
        /// What is told of a body for each byte that a history keeps of it.
        const FACTOR: usize = 6;
        self.bytes_of_copy() + FACTOR * self.history.bytes()
    }

    /// The bodies where they were then.
    fn past_bodies(&self, moment: &Moment) -> Result<Vec<PastBody<'_>>, NoPast> {
        let bodies_at = |frame| {
            let bodies = self.history.bodies_at(frame, &self.entries, self.applied);
            bodies.ok_or(NoPast::NotKept { oldest: self.oldest_frame() })
        };
        let mut bodies = bodies_at(moment.frame)?;
        if moment.fraction > 0.0 {
            let next = self.history.next_after(moment.frame).ok_or(NoPast::NoNext)?;
            let ways = self.history.robot_ways(moment.frame);
            let ways: Vec<_> = ways.iter().map(|way| way.poses_at(moment.fraction)).collect();
            let carried = ways.into_iter().flatten().flatten().collect();
            go_on(&mut bodies, &bodies_at(next)?, &carried, moment.fraction)?;
        }
        Ok(bodies)
    }
}

/// A scene as it was at a past moment, and what has changed since.
#[derive(Debug, Default)]
pub struct Since {
    /// The bodies that are no links, where they were.
    pub bodies: Vec<Body>,
    /// The links of robots, where they were.
    pub links: Vec<Body>,
    /// Where robots stood at the frame that have moved since: their bases, and their joint values.
    pub robots: Vec<(RobotId, Pose, Vec<f64>)>,
    /// What every frame has changed, the oldest first.
    pub frames: Vec<PastFrame>,
}

/// Moves bodies as far as they have come of their ways to the next frame; those that robots move
/// are where these have `carried` them.
fn go_on(
    bodies: &mut [PastBody<'_>],
    next: &[PastBody<'_>],
    carried: &BTreeMap<BodyId, Pose>,
    fraction: f64,
) -> Result<(), NoPast> {
    for body in bodies {
        match body.departure {
            None | Some(Departure::Teleported) => continue,
            Some(Departure::Carried) => {
                body.pose = *carried.get(&body.id()).ok_or(NoPast::OnChain(body.id()))?;
                continue;
            }
            Some(Departure::Moved) => {}
        }
        let Ok(at) = next.binary_search_by_key(&body.id(), PastBody::id) else { continue };
        body.pose = on_the_way(body, &next[at].pose, fraction);
    }
    Ok(())
}

/// Where a body is on its way to that pose.
fn on_the_way(body: &PastBody<'_>, end: &Pose, fraction: f64) -> Pose {
    let start = &body.pose;
    let shortest = || Turn::between(&start.rotation, &end.rotation);
    let turn = body.spin.as_ref().map_or_else(shortest, turn_of);
    let pivot = start.apply_rounded(&body.entry.body.pivot);
    let motion = Motion::ToPose { end: *end, pivot: Some(pivot), turn: Some(turn) };
    motion.pose_rounded(start, fraction).straightened()
}

impl PastBody<'_> {
    /// It where it was.
    fn standing(&self) -> Entry {
        let mut entry = self.entry.standing(true);
        if entry.body.pose != self.pose {
            let placed = entry.put(self.pose);
            debug_assert!(placed.is_some(), "it was there, or between two places");
        }
        entry
    }
}
