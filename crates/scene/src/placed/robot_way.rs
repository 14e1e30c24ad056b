//! The ways that robots have gone to past frames, with all that they moved.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::declared::body::BodyId;
use crate::declared::robots::RobotId;
use crate::placed::carrier::Carrier;
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_robot::path::{BaseWay, ChainPath};

/// Where a robot stood: its base, and its joint values.
pub(crate) type Stance = (Pose, Vec<f64>);

/// A robot that a frame moved.
#[derive(Clone, Debug)]
pub(crate) struct RobotWay {
    /// Its number in the scene.
    pub(crate) id: RobotId,
    pub(crate) robot: Arc<Robot>,
    /// Before the frame, and at it.
    pub(crate) ends: [Stance; 2],
    /// What it moved. Frames between which nothing was hung on it share that.
    pub(crate) hung: Arc<Vec<HungBody>>,
}

/// A body that a robot moves.
#[derive(Clone, Debug)]
pub(crate) struct HungBody {
    body: BodyId,
    /// The frame of the chain; none: the base.
    frame: Option<usize>,
    /// Where it is in that frame; none: its frame is that one, as of links.
    pose: Option<Box<Pose>>,
}

impl HungBody {
    pub(crate) fn new(body: BodyId, by: &Carrier) -> Self {
        Self { body, frame: by.frame, pose: by.frame_from_body.map(Box::new) }
    }
}

impl RobotWay {
    /// Memory that it takes, bytes; what is shared is counted each time.
    pub(crate) fn bytes(&self) -> usize {
        let values: usize = self.ends.iter().map(|(_, values)| values.capacity()).sum();
        let boxed = self.hung.iter().filter(|one| one.pose.is_some()).count();
        size_of::<Self>()
            + values * size_of::<f64>()
            + self.hung.capacity() * size_of::<HungBody>()
            + boxed * size_of::<Pose>()
    }

    /// Where it went: its base, and its joint values.
    pub(crate) fn end(&self) -> (RobotId, Pose, Vec<f64>) {
        let [_, (base, values)] = &self.ends;
        (self.id, *base, values.clone())
    }

    /// Where everything was that it moved, when a fraction of the way had gone by, rounded. None:
    /// nobody knows the way of one of its joints.
    pub(crate) fn poses_at(&self, fraction: f64) -> Option<BTreeMap<BodyId, Pose>> {
        let [(base, from), (end, to)] = &self.ends;
        let tree = self.robot.kinematics.tree();
        let path = ChainPath::of_robot(tree, &BaseWay::between([*base, *end]), [from, to])?;
        let pose = |one: &HungBody| {
            let in_frame = one.pose.as_deref().copied().unwrap_or_else(Pose::identity);
            let pose = path.pose_rounded(&path.hanging(one.frame, &in_frame), fraction);
            (one.body, pose.straightened())
        };
        Some(self.hung.iter().map(pose).collect())
    }
}
