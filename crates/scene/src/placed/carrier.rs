//! What moves a body: a link of a robot.

use crate::declared::robots::RobotId;
use clearance_geometry::pose::Pose;

/// What carries a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Carrier {
    pub(crate) robot: RobotId,
    /// Index of the link that the body is, or that carries it.
    pub(crate) link: usize,
    /// The frame that moves it; none: the base.
    pub(crate) frame: Option<usize>,
    /// Where the body is in that frame; none: its frame is that one.
    pub(crate) frame_from_body: Option<Pose>,
}

impl Carrier {
    /// Whether the body is a link of the robot, and not carried by one.
    pub(crate) fn is_link(&self) -> bool {
        self.frame_from_body.is_none()
    }

    /// Where the body is in the frame that moves it.
    pub(crate) fn pose(&self) -> Pose {
        self.frame_from_body.unwrap_or_else(Pose::identity)
    }
}
