//! Whoever follows a session without taking part in it, and knows of it only what it is told.

use std::collections::BTreeMap;
use std::time::Duration;

use tonic::Streaming;

use super::arms;
use super::check::Wrong;
use clearance_proto as api;

/// A message that has not come by then does not come.
const SOON: Duration = Duration::from_secs(20);

/// A follower, and the bodies that it knows of.
#[derive(Debug)]
pub(super) struct Follower {
    news: Streaming<api::WatchSessionResponse>,
    pub(super) bodies: BTreeMap<u32, api::Body>,
    pub(super) arms: BTreeMap<u32, api::SessionRobot>,
    frame: u64,
}

impl Follower {
    /// One that has asked to be told, and has heard nothing yet.
    pub(super) fn new(news: Streaming<api::WatchSessionResponse>) -> Self {
        Self { news, bodies: BTreeMap::new(), arms: BTreeMap::new(), frame: u64::MAX }
    }

    /// Listens until it knows of this frame, and is then what it knows of bodies and robots.
    pub(super) async fn until(&mut self, frame: u64) -> Result<&Self, Wrong> {
        while self.frame != frame {
            let next = tokio::time::timeout(SOON, self.news.message()).await;
            let next = next.map_err(|_| format!("a follower hears nothing of frame {frame}"))?;
            let next = next.map_err(|status| format!("a follower: {status}"))?;
            self.hear(next.ok_or("there is no more to follow")?)?;
        }
        Ok(self)
    }

    fn hear(&mut self, told: api::WatchSessionResponse) -> Result<(), Wrong> {
        if let Some(state) = told.state {
            self.bodies = state.bodies.into_iter().map(|body| (body.id(), body)).collect();
            self.arms = state.robots.into_iter().map(|robot| (robot.id(), robot)).collect();
            self.frame = state.frame_id;
        }
        let Some(frame) = told.frame else { return Ok(()) };
        if frame.previous_frame_id != self.frame {
            return Err(format!("after frame {}: {}", self.frame, frame.previous_frame_id));
        }
        self.frame = frame.frame_id;
        for id in frame.removed_body_ids {
            self.bodies.remove(&id).ok_or("a body that is not there is gone")?;
        }
        let others = frame.added_bodies.into_iter().chain(frame.changed_bodies);
        self.bodies.extend(others.map(|body| (body.id(), body)));
        for id in frame.removed_robots {
            self.arms.remove(&id).ok_or("a robot that is not there is gone")?;
        }
        self.arms.extend(frame.added_robots.into_iter().map(|robot| (robot.id(), robot)));
        for moved in frame.robot_moves {
            let arm = self.arms.get_mut(&moved.id()).ok_or("a robot that is not there moves")?;
            (arm.base, arm.values) = (moved.base, moved.values);
        }
        let poses = frame.packed_poses.unwrap_or_default();
        let places = poses.translations.rows::<3>().zip(poses.rotation_matrices.rows::<9>());
        for (id, ([x, y, z], rows)) in poses.ids.iter().zip(places) {
            let matrix = api::RotationMatrix { rows: rows.to_vec() };
            if self.arms.keys().any(|arm| arms::is_link(*arm, id)) {
                continue;
            }
            let body = self.bodies.get_mut(&id).ok_or("a body that is not there has moved")?;
            body.pose = Some(api::Pose {
                translation: Some(api::Vector3 { x, y, z }),
                orientation: Some(api::pose::Orientation::RotationMatrix(matrix)),
            });
        }
        Ok(())
    }
}
