//! What a frame is told.

use arrayvec::ArrayVec;

use crate::declared::body::BodyId;
use crate::declared::robots::RobotMoveError;
use crate::declared::spin::SpinError;
use crate::methods::CostOfEach;
use crate::pairs::meshes::{FacesMotion, PartsProof};
use crate::pairs::two_parts::PartsDepth;
use clearance_bodies::table::along::MeasuredRange;
use clearance_bodies::table::verdict::VerdictProof;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{DepthSide, Direction, Link, Outcome, Span, Surface, Verdict};
use clearance_geometry::contact_time;
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Cost, Stopped};
use clearance_geometry::meeting::Impact;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::pose::Pose;

/// The answer to one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The frame that this answers.
    pub frame: u64,
    /// The frame answered before; motion is from there to here. 0: none.
    pub previous: u64,
    /// The listed pairs, by id.
    pub pairs: Vec<PairReport>,
    /// Those of them that were asked for by their signed clearance, the deepest first.
    pub ranking: Vec<RankedPair>,
    /// Pairs that should have been listed but are beyond the limit of a report.
    pub pairs_omitted: u64,
    /// Contacts that began or ended, by time, then by pair.
    pub events: Vec<Event>,
    /// How the enabled pairs stand.
    pub tally: Tally,
    /// What it cost.
    pub counters: Counters,
    /// If asked: the parts that moved or are new since the last answered frame.
    pub moved: Vec<PlacedNumbers>,
    /// Frames since the last report whose poses were applied and whose answers were skipped.
    pub frames_skipped: u32,
    /// The bodies that turned so far that the way round is a guess.
    pub aliased: Aliased,
}

/// Bodies that turned by more than a quarter turn on a way that is asked about. Two poses do not
/// say which way round a body turned: the shorter one is assumed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aliased {
    /// How many bodies turned by so much.
    pub count: u64,
    /// The first ones, by id.
    pub first: Vec<BodyId>,
}

impl Aliased {
    /// So many are named.
    pub(crate) const NAMED_MAX: usize = 16;
}

impl Report {
    /// Memory that it takes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        self.pairs.iter().map(PairReport::bytes).sum::<usize>()
            + self.ranking.len() * size_of::<RankedPair>()
            + self.events.len() * size_of::<Event>()
            + self.moved.len() * size_of::<PlacedNumbers>()
    }
}

/// A pair in the order of signed clearances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedPair {
    /// P: the body with the lower id.
    pub p: BodyId,
    /// Q: the body with the higher id.
    pub q: BodyId,
    /// Around how far apart the bodies are, or minus how deep they overlap, metres; infinite where
    /// the search was stopped before it knew.
    pub clearance: [f64; 2],
    /// The bracket overlaps that of another pair, ranked or left out: which comes first is not
    /// known.
    pub unordered: bool,
}

/// Why a move was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The scene has no such body.
    #[error("no body has this id")]
    UnknownBody,
    /// An earlier move of the frame names the same body.
    #[error("the body is already moved by this frame")]
    Repeated,
    /// A part would lie beyond the largest coordinate.
    #[error("a part of the body would lie beyond 2^960")]
    TooFar,
    /// It turns the body or has a deviation, in a scene whose method of first contacts answers
    /// neither.
    #[error(
        "the session's method of first contacts answers no turning and no deviations; {} does",
        contact_time::names_of_those_that_answer_all()
    )]
    NotAnswered,
    /// The deviation is no length.
    #[error("deviation must be at least 0 and at most 2^960 metres")]
    Deviation,
    /// Its spin is none of that body.
    #[error(transparent)]
    Spin(#[from] SpinError),
    /// A robot moves it.
    #[error("a robot carries this body: move the robot, or detach the body")]
    Carried,
    /// It is no move: a body that is to go, by its index among those, is not there.
    #[error("no body has this id, so none goes")]
    NotThere,
    /// It is the move of a robot, by its index among these.
    #[error(transparent)]
    Robot(#[from] RobotMoveError),
}

/// How many enabled pairs stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Proven disjoint, the pairs skipped by the broad phase included.
    pub separated: u64,
    /// Proven to touch: boundaries meet, and interiors do not.
    pub touching: u64,
    /// Proven to overlap: interiors meet.
    pub overlapping: u64,
    /// Stopped by the budget or the deadline before the verdict was known.
    pub stopped: u64,
}

/// What a frame cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sums over all queries.
    pub cost: Cost,
    /// The cost question by question, where methods were asked for by name.
    pub cost_of_each: Option<CostOfEach>,
    /// Pairs that may be checked at all.
    pub pairs_enabled: u64,
    /// How many of the enabled pairs the boxes of the broad phase alone prove separated.
    pub pairs_skipped: u64,
    /// How many of the enabled pairs are answered from memory, since neither body has moved far
    /// enough to change how they stand.
    pub pairs_remembered: u64,
    /// How many pairs whose bodies are near each other sleep: nobody looked at them, since their
    /// verdicts have room.
    pub pairs_asleep: u64,
    /// How many pairs were looked at because their bodies have used up the room of their verdict.
    pub pairs_expired: u64,
    /// Bodies that moved since the last answered frame.
    pub bodies_moved: u64,
}

/// One part of each body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartPair {
    /// Index of P's part.
    pub p: u32,
    /// Index of Q's part.
    pub q: u32,
}

/// How one pair stands.
#[derive(Clone, Debug, PartialEq)]
pub struct PairReport {
    /// P: the body with the lower id.
    pub p: BodyId,
    /// Q: the body with the higher id.
    pub q: BodyId,
    /// None when stopped before it was known.
    pub verdict: Option<Verdict>,
    /// The parts that decide: the first ones that overlap, else touch, else the nearest if
    /// distances were asked. Where normals were asked, those that the normal is about.
    pub deciding: Option<PartPair>,
    /// Whether the distance is at most the pair's margin, exactly; none when stopped.
    pub within_margin: Option<bool>,
    /// The pair's margin, metres.
    pub margin: f64,
    /// If distances were asked: how far apart they are.
    pub distance: Option<PairDistance>,
    /// If depths were asked and they overlap: how deep.
    pub depth: Option<PairDepth>,
    /// If asked: the unit vector in the world, out of Q towards P, along which P gets away from Q
    /// soonest, rounded: of the nearest parts of separated bodies, the deepest of overlapping ones,
    /// the deciding ones of those that touch. None when stopped.
    pub normal: Option<Vec3>,
    /// If face normals were asked, of the normal of such a contact: around how far P has to go
    /// along it, as it is told, to be out of the face, metres.
    pub face_depth: Option<[f64; 2]>,
    /// If asked, of bodies that touch, or overlap by less than was asked: the corners of what the
    /// deciding parts have in common, in the world, rounded; see
    /// `geometry::meeting::contact_polygon_within`. Empty when stopped.
    pub polygon: Vec<Vec3>,
    /// If ranges were asked: where along the direction they are in contact.
    pub along: Option<PairRange>,
    /// If first contacts were asked and neither body teleported: when they first met.
    pub first_contact: Option<PairContact>,
    /// If certificates were asked: the proofs that together prove the verdict and, of separated
    /// bodies with a margin, what is said of that: within, one shows it; beyond, all do.
    pub proofs: Vec<PartProof>,
    /// Whether no certificates are made of it: one of its bodies has a polyhedron, and one several
    /// parts.
    pub is_beyond_proof: bool,
    /// Whether some parts are curved, of bodies of several: each pair with one of these is proven
    /// by itself.
    pub has_curved_parts: bool,
    /// Why less is known than was asked.
    pub stopped: Option<Stopped>,
}

/// The proof of how two parts stand.
#[derive(Clone, Debug, PartialEq)]
pub struct PartProof {
    /// The two parts that it is about; none if it is about every part of P and every part of Q at
    /// once.
    pub parts: Option<PartPair>,
    /// What proves how they stand.
    pub proof: PartsProof,
    /// What shows that separated parts are within the pair's margin, or beyond it; none where the
    /// direction does. See `geometry::judge::judge_margin`.
    pub margin_pairs: ArrayVec<VertexPair, 3>,
    /// What shows, of a margin below 0 and parts that overlap, on which side of it they are.
    pub margin_depth: Option<Box<DepthSide>>,
}

impl PartProof {
    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of_depth = |depth: &DepthSide| match depth {
            DepthSide::Less(_) => size_of_val(depth),
            DepthSide::AtLeast(Surface { corners, triangles }) => {
                size_of_val(depth) + size_of_val(&corners[..]) + size_of_val(&triangles[..])
            }
        };
        let depth = self.margin_depth.as_deref().map_or(0, of_depth);
        size_of::<Self>() + self.proof.bytes() + depth
    }

    /// Whether it has a proof, and not the verdict alone.
    pub fn is_proven(&self) -> bool {
        match &self.proof {
            PartsProof::Convex(_) => true,
            PartsProof::Faces(stand) => stand.proof.is_some(),
        }
    }

    /// Without a word about the margin.
    pub(crate) fn of(parts: Option<PartPair>, proof: PartsProof) -> Self {
        Self { parts, proof, margin_pairs: ArrayVec::new(), margin_depth: None }
    }
}

/// The distance of two bodies: the least over their parts.
#[derive(Clone, Debug, PartialEq)]
pub struct PairDistance {
    /// At most the exact distance, metres.
    pub lower: f64,
    /// At least the exact distance, metres.
    pub upper: f64,
    /// The nearest parts.
    pub parts: PartPair,
    /// See `geometry::distance::Distance`.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// If certificates were asked, of bodies of one part each, one of which at least is a
    /// polyhedron: how they stand and, if apart, that they are so by the lower bound.
    pub by_faces: Option<PartsProof>,
    /// Closest points in the world, rounded.
    pub closest_p: Vec3,
    /// See `closest_p`.
    pub closest_q: Vec3,
    /// If certificates were asked, of separated bodies of several parts: entries about every pair
    /// of parts none of which is curved. Comes first: the nearest, if it is one of these, whose
    /// pairs show `upper`, too.
    pub gaps: Vec<PartGap>,
    /// The same of pairs with a curved part: how far these are apart, by themselves.
    pub curved: Vec<PartProof>,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// Parts of two bodies: one of P, and one of Q or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRow {
    /// Index of P's part.
    pub p: u32,
    /// Index of Q's part; none: every one.
    pub q: Option<u32>,
}

impl From<PartPair> for PartRow {
    fn from(PartPair { p, q }: PartPair) -> Self {
        Self { p, q: Some(q) }
    }
}

/// What shows that some parts are at least as far apart as a lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct PartGap {
    /// The parts that it is about.
    pub parts: PartRow,
    /// Vertex pairs of one part of each body. With v the point nearest the origin in the hull of
    /// their differences, the least of `v·y / |v|` over M is at least the bound.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// If there are no pairs: s, with the least of `s·y / |s|` over M of these parts at least the
    /// bound.
    pub direction: Option<Direction>,
}

impl PairReport {
    /// Memory that it takes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.polygon.len() * size_of::<Vec3>()
            + self.proofs.iter().map(PartProof::bytes).sum::<usize>()
            + self.distance.as_ref().map_or(0, PairDistance::bytes_of_proofs)
            + self.depth.as_ref().map_or(0, PairDepth::bytes_of_proofs)
            + self.along.as_ref().map_or(0, PairRange::bytes_of_proofs)
            + self.first_contact.as_ref().map_or(0, PairContact::bytes_of_proofs)
    }
}

impl PairDepth {
    /// Memory of its proofs beyond itself, bytes.
    pub(crate) fn bytes_of_proofs(&self) -> usize {
        let surface =
            self.depth.surface.as_ref().map_or(0, |surface| {
                size_of_val(&*surface.corners) + size_of_val(&*surface.triangles)
            });
        let curved: usize = self.curved.iter().map(PartProof::bytes).sum();
        surface + size_of_val(&*self.others) + curved + self.depth.proof.bytes()
    }
}

impl PairRange {
    /// Memory of its proofs beyond itself, bytes.
    pub(crate) fn bytes_of_proofs(&self) -> usize {
        let curved = self.of_parts.iter().filter_map(|(_, range)| range.curved());
        size_of_val(&*self.of_parts) + curved.map(VerdictProof::heap_bytes).sum::<usize>()
    }
}

impl PairDistance {
    /// Memory of its proofs beyond itself, bytes.
    pub(crate) fn bytes_of_proofs(&self) -> usize {
        let curved: usize = self.curved.iter().map(PartProof::bytes).sum();
        size_of_val(&*self.gaps) + curved + self.by_faces.as_ref().map_or(0, PartsProof::bytes)
    }

    /// Whether the search ended early, at one of these stops.
    pub(crate) fn is_rough(&self, stops: Stops) -> bool {
        stops.above.is_some_and(|above| self.lower > above)
            || stops.below.is_some_and(|below| self.upper < below)
    }
}

/// How deep two bodies overlap: as deep as those parts that overlap deepest.
#[derive(Clone, Debug, PartialEq)]
pub struct PairDepth {
    /// The parts that overlap deepest.
    pub parts: PartPair,
    /// How deep these overlap.
    pub depth: PartsDepth,
    /// If certificates were asked, of bodies of several parts: entries about every other pair of
    /// parts none of which is curved.
    pub others: Vec<PartReach>,
    /// The same of other pairs with a curved part: how deep these overlap, by themselves.
    pub curved: Vec<PartProof>,
}

/// What shows that some parts overlap no deeper than an upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartReach {
    /// The parts that it is about.
    pub parts: PartRow,
    /// s, with the greatest of `s·y / |s|` over M of these parts at most the bound.
    pub direction: Direction,
}

/// For which `t >= 0` two bodies are in contact when P moves by `t d`: from the least such t of any
/// parts to the greatest. In between, bodies of several parts may be separated.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRange {
    /// d, in the world.
    pub direction: Vec3,
    /// A bracket for the least t and one for the greatest; none: never.
    pub span: Option<Span>,
    /// The first parts of those with the least t.
    pub parts: Option<PartPair>,
    /// If certificates were asked: of each pair of parts, in order.
    pub of_parts: Vec<(PartPair, MeasuredRange)>,
}

/// The first contact of two bodies between two frames: the first time at which their distance is at
/// most the pair's margin.
#[derive(Clone, Debug, PartialEq)]
pub struct PairContact {
    /// Whether they meet.
    pub outcome: Outcome,
    /// Proven free on the closed [0, t_free], as a fraction of the step.
    pub t_free: f64,
    /// Proven in contact by then; 1 when not in contact.
    pub t_contact: f64,
    /// The parts that meet first.
    pub parts: Option<PartPair>,
    /// Until when these are proven free: `t_free`, unless others may have met before.
    pub parts_free: f64,
    /// If certificates were asked: one for each pair of parts.
    pub chains: Vec<PartChain>,
    /// Why less is proven than could be.
    pub stopped: Option<Stopped>,
}

impl PairContact {
    /// Memory of its proofs beyond itself, bytes.
    pub(crate) fn bytes_of_proofs(&self) -> usize {
        let of_faces = |chain: &PartChain| {
            let initial = chain.initial.as_ref().map_or(0, PartsProof::bytes);
            initial + chain.faces.as_ref().map_or(0, |faces| faces.bytes())
        };
        let of_chain = |chain: &PartChain| size_of_val(&*chain.links) + of_faces(chain);
        size_of_val(&*self.chains) + self.chains.iter().map(of_chain).sum::<usize>()
    }

    /// Whether the bodies met on the way or at its end.
    pub fn has_met(&self) -> bool {
        self.outcome == Outcome::Contact
    }

    /// Whether that is not ruled out.
    pub fn may_have_met(&self) -> bool {
        self.outcome != Outcome::NoContact
    }
}

/// Where a part is: the numbers that all answers are about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedNumbers {
    /// The body that the part belongs to.
    pub body: BodyId,
    /// Index of the part.
    pub part: u32,
    /// From the part's frame to the world.
    pub pose: Pose,
}

/// What is proven about the motion of two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct PartChain {
    /// The two parts that it is about; none if it is about every part of P and every part of Q at
    /// once.
    pub parts: Option<PartPair>,
    /// See `geometry::contact_time::FirstContact`.
    pub links: Vec<Link>,
    /// Vertex pairs that prove the contact, if any.
    pub pairs: ArrayVec<VertexPair, 6>,
    /// The proof of the verdict at t = 0, unless boxes prove the whole motion free.
    pub initial: Option<PartsProof>,
    /// Of polyhedra that are apart at t = 0: what is proven of their faces.
    pub faces: Option<Box<FacesMotion>>,
    /// Of rounded parts that are apart then and within a margin of nothing: what shows it where no
    /// link does. See `geometry::rounded::RoundedFirstContact::start_pairs`.
    pub start: ArrayVec<VertexPair, 3>,
}

/// Whether a contact began or ended, or may have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// Not in contact before, in contact now or on the way here.
    Began,
    /// The distance exceeds the release margin.
    Ended,
    /// Separated before and now, and not decided whether they met in between: a graze closer than
    /// the clearance tolerance, a motion that a deviation may bring into contact, or a search that
    /// was stopped or gave up. No contact has begun.
    Undecided,
}

/// A contact that began, ended, or may have been.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// What happened to the contact.
    pub kind: EventKind,
    /// P: the body with the lower id.
    pub p: BodyId,
    /// Q: the body with the higher id.
    pub q: BodyId,
    /// The deciding parts, when known.
    pub parts: Option<PartPair>,
    /// When, as fractions of the way from the last answered frame: `[t_free, t_contact]` of a
    /// contact that began, `[t_free, 1]` of one that may have been; around the last moment within
    /// the release margin of one that ended; `[1, 1]` when no motion was asked or assumed; `[0, 0]`
    /// at opening.
    pub bracket: [f64; 2],
    /// If asked: where and how the bodies meet then, rounded. None when stopped, when the contact
    /// is not decided, or when a body is gone or the pair is not checked any more.
    pub impact: Option<Impact>,
    /// The bracket meets that of another event: which was first is not known.
    pub unordered: bool,
    /// How the bodies stand at the end; none when stopped, or when a body is gone.
    pub verdict: Option<Verdict>,
}
