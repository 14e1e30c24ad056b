//! What is wrong with a declaration, and where.

use clearance_geometry::contact_time;
use clearance_geometry::pose::COORDINATE_MAX;
use clearance_robot::kinematics::ConfigurationError;

/// What is wrong with a declaration, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct DeclarationError {
    /// For example `bodies[3].margin`.
    pub path: String,
    /// What is wrong there.
    pub problem: Problem,
}

impl DeclarationError {
    pub(crate) fn new(path: String, problem: Problem) -> Self {
        Self { path, problem }
    }
}

/// What can be wrong with a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Two bodies have the same id.
    #[error("another body has this id")]
    IdTaken,
    /// A pair names a body that is not there.
    #[error("the scene has no body with this id")]
    UnknownBody,
    /// A rule names a group that no body belongs to.
    #[error("no body belongs to this group; groups of bodies to come are named in groups_to_come")]
    UnknownGroup,
    /// A change lets a body leave a group that it is not in.
    #[error("the body does not belong to this group")]
    NotInGroup,
    /// A change of rules takes away an entry that is not there.
    #[error("the rules have no such entry")]
    NoSuchEntry,
    /// A pair names one body twice.
    #[error("a pair needs two different bodies")]
    SameBody,
    /// A body without parts.
    #[error("a body needs at least one part")]
    NoParts,
    /// A part would lie beyond the largest coordinate.
    #[error("a part of the body would lie beyond 2^960")]
    TooFar,
    /// A release margin or deviation is negative, not a number, or too large.
    #[error("must be at least 0 and at most 2^960 metres")]
    NotALength,
    /// A margin is not a number, or too large.
    #[error("must be a number between -2^960 and 2^960 metres")]
    NotAMargin,
    /// A margin or deviation, in a scene whose method of first contacts answers none.
    #[error(
        "the session's method of first contacts answers no margins and deviations; {} does",
        contact_time::names_of_those_that_answer_all()
    )]
    NotAnswered,
    /// Contacts would end as soon as they begin.
    #[error("must be at most release_margin: a contact would begin and end in every frame")]
    BeyondRelease,
    /// A rounded part, in a scene of which a method was asked for by name that answers none.
    #[error(
        "rounded polytopes are answered by the default method of verdicts, and by {} of first \
         contacts",
        contact_time::names_of_those_that_answer_all()
    )]
    NotRounded,
    /// A mesh, in a scene of which a method was asked for by name.
    #[error("polyhedra and surfaces in sessions of which a method is asked for by name")]
    NotOfMeshes,
    /// A polyhedron beside a part without volume, or the other way round.
    #[error("polytopes without volume or radius in a session that has polyhedra")]
    FlatBesideMesh,
    /// A coordinate is not finite or too large.
    #[error("must be finite and at most 2^960 in every coordinate")]
    NotAPoint,
    /// More classes of bodies than allowed.
    #[error("groups and masks tell too many classes of bodies apart")]
    TooManyClasses,
    /// More bodies than allowed.
    #[error("too many bodies")]
    TooManyBodies,
    /// More parts of bodies than allowed.
    #[error("too many parts of bodies")]
    TooManyParts,
    /// A contact between bodies that are not checked would never end.
    #[error("this pair is never checked, so its contact would never end")]
    NotChecked,
    /// The rules check only pairs of which each has lost a body.
    #[error("no checked pair would be left, which would mean every pair: replace the rules too")]
    NoPairLeft,
    /// A keyframe must move every body.
    #[error("a keyframe has the pose of every body")]
    KeyframeIncomplete,
    /// A keyframe must move every robot.
    #[error("a keyframe has the base and all joint values of every robot")]
    KeyframeWithoutRobot,
    /// Two robots have the same id.
    #[error("another robot has this id")]
    RobotIdTaken,
    /// No robot has this id.
    #[error("the scene has no robot with this id")]
    UnknownRobot,
    /// The robot has no such link.
    #[error("the robot has no link of this name")]
    UnknownLink,
    /// The numbers of its links are beyond the largest id.
    #[error("the bodies of the links, this id plus their index, would have ids beyond 2^32 - 1")]
    LinksBeyondIds,
    /// Joint values of another robot.
    #[error("the robot has {expected} joint values")]
    ValueCount {
        /// How many joint values the robot has.
        expected: usize,
    },
    /// Joint values that place nothing.
    #[error(transparent)]
    NoConfiguration(ConfigurationError),
    /// A body that is a link goes and changes with its robot.
    #[error("the body is a link of a robot, and goes and changes with it")]
    IsLink,
    /// A body can hang on one link.
    #[error("a robot carries this body already")]
    AlreadyCarried,
    /// A body is let go that no robot carries.
    #[error("no robot carries this body")]
    NotCarried,
    /// A method of first contacts that was asked for by its name, with robots.
    #[error("robots go along the paths of their joints, which only the method AUTO looks along")]
    NoPaths,
}

/// Whether a margin is acceptable: a length, or below 0 a depth. The sum of two is still finite.
pub(crate) fn is_margin(metres: f64) -> bool {
    metres.abs() <= COORDINATE_MAX
}

/// Whether a release margin or a deviation is acceptable.
pub(crate) fn is_length(metres: f64) -> bool {
    (0.0..=COORDINATE_MAX).contains(&metres)
}
