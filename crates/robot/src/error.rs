//! What can be wrong with the description of a robot, and where.

use std::borrow::Cow;

use clearance_geometry::effort::Stopped;
use clearance_geometry::polyhedron::PolyhedronError;

/// Why a file describes no robot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file} line {line}: {place}{problem}")]
pub struct RobotError {
    /// `URDF`, `SRDF` or `COLLADA`.
    pub file: &'static str,
    /// Counted from one; 0: the file as a whole.
    pub line: u32,
    /// The path of the element, such as `robot/joint[arm_2]/axis`, with a colon; may be empty.
    pub place: String,
    /// In words.
    pub problem: Cow<'static, str>,
}

/// Why a text is no XML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum XmlError {
    /// The text breaks a rule of XML, or says what cannot be.
    Wrong(RobotError),
    /// The effort ended before it was read.
    Stopped(Stopped),
}

impl From<RobotError> for XmlError {
    fn from(wrong: RobotError) -> Self {
        Self::Wrong(wrong)
    }
}

impl From<Stopped> for XmlError {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

impl From<XmlError> for BuildError {
    fn from(error: XmlError) -> Self {
        match error {
            XmlError::Wrong(wrong) => wrong.into(),
            XmlError::Stopped(why) => why.into(),
        }
    }
}

/// Why there is no robot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A file is wrong.
    #[error(transparent)]
    Description(#[from] RobotError),
    /// These mesh files were not given.
    #[error("the URDF names meshes that were not given: {}", listed(.0))]
    MissingMeshes(Vec<String>),
    /// A mesh that is to be taken as it is bounds no polyhedron.
    #[error("link {link:?}: the mesh {:?} bounds no polyhedron: {why}", shown(.mesh))]
    NotAPolyhedron {
        /// The first link that has it.
        link: String,
        /// The name that the URDF uses.
        mesh: String,
        /// What is wrong with it, once equal points are one.
        why: PolyhedronError,
    },
    /// The deadline passed.
    #[error("stopped before the hulls were built")]
    Stopped(Stopped),
    /// There is no memory for it.
    #[error("there is no memory for all of its parts")]
    NoRoom,
}

/// Names in a message that is not too long to be sent.
fn listed(names: &[String]) -> String {
    const NAMES_MAX: usize = 10;
    let mut listed: Vec<String> = names.iter().take(NAMES_MAX).map(|name| shown(name)).collect();
    if names.len() > NAMES_MAX {
        listed.push(format!("and {} others", names.len() - NAMES_MAX));
    }
    listed.join(", ")
}

impl From<Stopped> for BuildError {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

/// A text of a stranger, short enough for a message.
pub fn shown(text: &str) -> String {
    const CHARACTERS_MAX: usize = 80;
    let mut short: String = text.chars().take(CHARACTERS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
