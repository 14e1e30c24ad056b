//! What a frame says and asks.

use crate::declared::body::{Body, BodyId, Part};
use crate::declared::changes::{BodyChange, RuleChanges};
use crate::declared::robots::RobotChanges;
use crate::declared::rules::Rules;
use clearance_geometry::Vec3;
use clearance_geometry::claim::TIME_TOLERANCE;
use clearance_geometry::distance::Stops;
use clearance_geometry::pose::Pose;
use clearance_robot::body::PartBody;

/// A new pose for one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The body that moves.
    pub body: BodyId,
    /// From the body's frame to the world, at the end of the frame.
    pub pose: Pose,
    /// The body did not travel here: no motion is assumed.
    pub teleported: bool,
    /// Replaces the body's deviation, metres.
    pub deviation: Option<f64>,
    /// What the rotation of the pose was made of by [`Pose::from_quaternion`], if that is known: a
    /// history keeps it in less room.
    pub quaternion: Option<[f64; 4]>,
    /// How it turned on its way, a rotation vector in the world, radians; none: the shortest way.
    pub spin: Option<Vec3>,
}

impl Move {
    /// To a pose, on the way from where the body is.
    pub fn new(body: BodyId, pose: Pose) -> Self {
        Self { body, pose, teleported: false, deviation: None, quaternion: None, spin: None }
    }
}

/// One frame: what has changed since the last. Reading order: removals, additions, changes,
/// rules and their changes, moves.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Greater than every frame before, at least 1.
    pub id: u64,
    /// The frame that this one builds on; none for the one whose id is lower by one.
    pub base: Option<u64>,
    /// Moves every body, so it builds on nothing.
    pub keyframe: bool,
    /// Bodies that are gone. Contacts with them end.
    pub removed: Vec<BodyId>,
    /// Bodies that are new.
    pub added: Vec<Body>,
    /// What changes of bodies that stay, or that are new, one after the other.
    pub changed: Vec<BodyChange>,
    /// Replaces all rules.
    pub rules: Option<Rules>,
    /// What changes in the rules.
    pub rule_changes: Option<RuleChanges>,
    /// The bodies that moved, and where they are now.
    pub moves: Vec<Move>,
    /// What is said of robots: bodies come first, and rules are about theirs, too.
    pub robots: RobotChanges,
    /// No motion is assumed for any body.
    pub teleported: bool,
}

/// What is asked beside how many pairs stand how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Questions {
    /// Which pairs the report lists.
    pub listed: Listed,
    /// Also lists and ranks this many pairs, those of the least signed clearance: how far apart, or
    /// minus how deep.
    pub nearest: u32,
    /// Also lists and ranks the pairs whose signed clearance is at most this, metres.
    pub below: Option<f64>,
    /// The distances of listed pairs.
    pub distances: bool,
    /// When a distance search may stop early.
    pub stops: Stops,
    /// The depths of listed pairs that overlap.
    pub depths: bool,
    /// The normals of listed pairs.
    pub normals: bool,
    /// Of listed pairs in contact of which one has parts that are not convex: the normal of their
    /// deepest contact with a face, without seams; see `geometry::rays::resting`.
    pub face_normals: bool,
    /// What the deciding parts of listed pairs that touch have in common.
    pub polygons: bool,
    /// The same of those that overlap by less than this, metres; 0: of none.
    pub polygon_depth: f64,
    /// Of these so many coordinates that are not zero: whoever reads the report takes no more.
    /// Pairs after the first that have more are omitted.
    pub polygon_numbers_max: usize,
    /// Where and along which normal the contacts of events begin and end.
    pub impacts: bool,
    /// For which `t >= 0` the bodies of listed pairs are in contact when the one with the lower id
    /// moves by t times this, a direction of the world, not zero.
    pub along: Option<Vec3>,
    /// First contact between the last answered frame and this one, of every pair.
    pub between: Option<Between>,
    /// How finely to look at the pairs of which a body is [`Body::continuous`], where `between`
    /// asks for nothing.
    pub between_chosen: Between,
    /// The proofs of listed pairs.
    pub certificates: bool,
    /// Proofs of so many bytes, as a report takes them at least: whoever reads it takes no more.
    /// Pairs after the first that have more are omitted.
    pub proof_bytes_max: usize,
    /// Steps and links that a proof about the faces of two polyhedra may have.
    pub cover_steps_max: u64,
    /// The numbers of the parts that have moved.
    pub placed: bool,
    /// Answer as from cold, in a fixed order.
    pub canonical: bool,
    /// Steps that one search may take.
    pub steps_max: u64,
}

impl Frame {
    /// Whether it adds a mesh or what is curved, also as a link, or puts one in the place of other
    /// parts.
    pub fn has_meshes(&self) -> bool {
        let is_mesh = |body: &PartBody| body.mesh().is_some() || body.curved().is_some();
        self.parts().any(Part::is_mesh) || self.links().any(is_mesh)
    }

    /// Whether all is convex that it adds, or puts in the place of other parts.
    pub fn is_convex(&self) -> bool {
        self.parts().all(Part::is_convex) && self.links().all(|body| body.mesh().is_none())
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        let added = self.added.iter().flat_map(|body| &body.parts);
        added.chain(self.changed.iter().flat_map(|change| &change.parts))
    }

    fn links(&self) -> impl Iterator<Item = &PartBody> {
        let robots = self.robots.added.iter().flat_map(|one| &one.robot.parts);
        robots.map(|part| &part.body)
    }

    /// Whether it changes more than where bodies are.
    pub(crate) fn is_structural(&self) -> bool {
        !self.removed.is_empty()
            || !self.added.is_empty()
            || !self.changed.is_empty()
            || self.rules.is_some()
            || self.rule_changes.is_some()
            || self.robots.is_structural()
    }
}

/// Moves that are read one after the other, wherever they are.
pub trait Moves {
    /// Calls `take` with each of them and its place in the list.
    fn each(&self, take: &mut dyn FnMut(usize, &Move));
}

impl Moves for Vec<Move> {
    fn each(&self, take: &mut dyn FnMut(usize, &Move)) {
        self.iter().enumerate().for_each(|(index, one)| take(index, one));
    }
}

/// See [`Questions::cover_steps_max`]: what who says nothing else gets.
const COVER_STEPS_MAX: u64 = 1 << 14;

impl Default for Questions {
    fn default() -> Self {
        Self {
            listed: Listed::Changed,
            nearest: 0,
            below: None,
            distances: false,
            stops: Stops::default(),
            depths: false,
            normals: false,
            face_normals: false,
            polygons: false,
            polygon_depth: 0.0,
            polygon_numbers_max: usize::MAX,
            impacts: false,
            along: None,
            between: None,
            between_chosen: Between::default(),
            certificates: false,
            proof_bytes_max: usize::MAX,
            cover_steps_max: COVER_STEPS_MAX,
            placed: false,
            canonical: false,
            steps_max: u64::MAX,
        }
    }
}

impl Questions {
    /// Whether all pairs there are have to be looked at for it, as if nothing was known of them.
    pub(crate) fn is_about_all(&self) -> bool {
        self.canonical || self.below.is_some() || self.listed == Listed::All
    }

    /// Whether and how finely to look at the way of two bodies to this frame.
    #[inline]
    pub(crate) fn between_of(&self, p: &Body, q: &Body) -> Option<Between> {
        self.between.or((p.continuous || q.continuous).then_some(self.between_chosen))
    }

    /// Whether more is asked of listed pairs than how they stand.
    pub(crate) fn asks_details(&self) -> bool {
        let is_about_contact = self.normals || self.polygons;
        self.distances || self.depths || is_about_contact || self.certificates
    }
}

/// How finely to look between two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// Width of a contact's bracket as a fraction of the step, before the clearance tolerance's
    /// share.
    pub time_tolerance: f64,
    /// Closer than this, metres, a graze may stay undecided; none for the default.
    pub clearance_tolerance: Option<f64>,
}

impl Default for Between {
    fn default() -> Self {
        Self { time_tolerance: TIME_TOLERANCE, clearance_tolerance: None }
    }
}

/// Which pairs a report lists, beside those that `nearest` and `below` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// None: events and counts only.
    Nothing,
    /// Those whose verdict or `within_margin` differs from that of the last answered frame, and
    /// those that met on the way. Before the first frame every pair counts as separated.
    Changed,
    /// Those in contact or within their margin, and those that met on the way.
    Near,
    /// Every enabled pair.
    All,
}
