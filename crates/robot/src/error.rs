//! What can be wrong with the description of a robot, and where.

use std::borrow::Cow;

/// Why a file describes no robot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file} line {line}: {place}{problem}")]
pub struct RobotError {
    /// `URDF` or `SRDF`.
    pub file: &'static str,
    /// Counted from one; 0: the file as a whole.
    pub line: u32,
    /// The path of the element, such as `robot/joint[arm_2]/axis`, with a colon; may be empty.
    pub place: String,
    /// In words.
    pub problem: Cow<'static, str>,
}
