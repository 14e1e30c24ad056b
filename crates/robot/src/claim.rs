//! What is asserted of an edge, and what shows it: values alone, which the search makes and the
//! judge reads.
//!
//! A certificate cuts the path into closed pieces that join. In the middle of each no two bodies
//! that need a check are nearer than they can get within half of the piece: for most of them balls
//! show it, which whoever reads the certificate finds again from the vertices, and the others are
//! listed, each with the gap and what shows it: a direction, or of a mesh a cover. What is curved
//! moves no faster than the box of its half sizes, and in a gap it is held by a polytope, with the
//! proof that it is.

use arrayvec::ArrayVec;

use super::tree::Tree;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    Cover, CurvedCore, RoundedSolidProof, Solid, SolidKind, SolidProof, StaticProof,
};
use clearance_geometry::pair::VertexPair;
use clearance_geometry::pose::Pose;

/// A part of a robot as a judge sees it.
#[derive(Clone, Copy, Debug)]
pub struct SubjectPart<'a> {
    /// The frame that carries it; none: it stands still.
    pub frame: Option<usize>,
    /// In that frame, or in the world.
    pub pose: Pose,
    /// Its vertices, without balls around them; of a curved body the corners of the box of its
    /// half sizes.
    pub points: &'a [Vec3],
    /// What it is: the hull of these, or triangles.
    pub kind: SolidKind<'a>,
    /// The radius of the balls around all its points, metres.
    pub radius: f64,
    /// What it is without its radius, if it is curved: what is free of its points is free of it,
    /// and what is in contact with them need not be so with it.
    pub curved: Option<CurvedCore>,
}

/// The numbers of a cell.
#[derive(Clone, Debug)]
pub struct EdgeSubject<'a> {
    /// The joints of all robots.
    pub tree: &'a Tree,
    /// Numbered from 0 on.
    pub parts: Vec<SubjectPart<'a>>,
    /// Pairs that need a check.
    pub pairs: Vec<SubjectPair>,
    /// Pairs that a joint may change and that need none, in order.
    pub left_out: Vec<LeftOutPair>,
    /// What stands still: numbered after the parts; without balls around its points.
    pub still: Vec<Solid<'a>>,
    /// The radii of the balls around all points of each of these, metres.
    pub still_radii: Vec<f64>,
    /// Of each of these: see [`SubjectPart::curved`].
    pub still_curved: Vec<Option<CurvedCore>>,
}

/// A pair that needs a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubjectPair {
    /// The lower number first.
    pub bodies: [u32; 2],
    /// The pair counts as in contact within this distance, if that is more than the margin of the
    /// question; metres.
    pub margin: f64,
}

/// Why a pair that a joint may change needs no check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutRule {
    /// A joint joins the two links.
    Joined,
    /// The SRDF of the robot says so.
    Semantics,
    /// The cell ignores the pair.
    Ignored,
    /// A link carries the body, or the body may touch it.
    Carried,
}

/// A pair that needs no check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOutPair {
    /// The lower number first.
    pub bodies: [u32; 2],
    /// The rule that leaves it out; of several the one that is listed first.
    pub rule: LeftOutRule,
}

/// Which pairs the certificates of some edges are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How many pairs each of them covers.
    pub covered: u64,
    /// The pairs that a joint may change and that they do not cover, in order.
    pub left_out: Vec<LeftOutPair>,
}

/// The margin of a pair that has `own`, metres, where a question asks within `asked`: the greater
/// of the two, of which 0 says nothing. So what is below 0 counts where the other one is 0.
///
/// ```
/// use clearance_robot::claim::asked_margin;
///
/// assert_eq!([asked_margin(0.0, 0.25), asked_margin(0.5, 0.25)], [0.25, 0.5]);
/// assert_eq!([asked_margin(0.0, -0.25), asked_margin(-0.5, 0.0)], [-0.25, -0.5]);
/// assert_eq!([asked_margin(0.5, -0.25), asked_margin(-0.5, -0.25)], [0.5, -0.25]);
/// ```
pub fn asked_margin(asked: f64, own: f64) -> f64 {
    let says_nothing = |margin: f64| margin.abs() <= 0.0;
    match (says_nothing(asked), says_nothing(own)) {
        (true, _) => own,
        (_, true) => asked,
        (false, false) => asked.max(own),
    }
}

/// What is said of an edge.
#[derive(Clone, Copy, Debug)]
pub struct EdgeClaim<'a> {
    /// Joint values at t = 0 and at t = 1.
    pub ends: [&'a [f64]; 2],
    /// No pair is within this distance, or its own margin, on [0, `free_until`], metres, as
    /// [`asked_margin`] says; none of them is below 0 ...
    pub margin: f64,
    /// ... along the true path.
    pub free_until: f64,
    /// A t and a pair that is within the margin in the configuration there, rounded to f64.
    pub contact: Option<(f64, [u32; 2])>,
}

/// The proof of what is said of an edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeCertificate {
    /// They join and lead from 0 to `free_until`; none: nothing is said to be free.
    pub pieces: Vec<EdgePiece>,
    /// The proof for the pair in contact.
    pub contact: Option<EdgeContactProof>,
    /// Of each body of that pair which is curved: points in it, without its radius, whose hull is
    /// in contact in its place. Of any other there are none.
    pub inside: [Vec<Vec3>; 2],
    /// Polytopes around curved bodies.
    pub hulls: Vec<HullAround>,
}

/// A polytope around a curved body, without the radius of that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HullAround {
    /// The number of the body.
    pub body: u32,
    /// Its vertices, in the frame of the body.
    pub points: Vec<Vec3>,
    /// A closed surface of them, beyond which the body is nowhere.
    pub triangles: Vec<[u32; 3]>,
}

/// A piece of an edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgePiece {
    /// Where it ends; it begins at 0 or where the one before ends.
    pub end: f64,
    /// By part: within half of the piece no point of it gets farther from where it is in the middle
    /// than this times half the length of the piece. Metres for each unit of t.
    pub speeds: Vec<f64>,
    /// Pairs that balls do not show to be free.
    pub gaps: Vec<PairGap>,
}

/// That two bodies are apart in the middle of a piece.
#[derive(Clone, Debug, PartialEq)]
pub struct PairGap {
    /// The lower number first.
    pub pair: [u32; 2],
    /// What stands in the places of both: one of the polytopes around it, by its index in
    /// [`EdgeCertificate::hulls`]; none: the body by its points.
    pub hulls: [Option<u32>; 2],
    /// What shows the gap.
    pub shown: GapProof,
    /// They are at least so far apart without the balls around their points, metres.
    pub gap: f64,
    /// The two together get no nearer within half of the piece than this times half its length.
    pub closing: f64,
}

/// That two bodies are so far apart.
#[derive(Clone, Debug, PartialEq)]
pub enum GapProof {
    /// Along this direction from the first to the second; of any length.
    Along(Vec3),
    /// Of two bodies one of which at least is a mesh: along each direction of the cover, at
    /// rest, they are farther apart than the gap.
    Cover(Cover),
}

/// That a pair is within the margin.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeContactProof {
    /// Two polytopes are in contact, as their vertices show; none has balls around its points.
    Polytopes {
        /// The proof of the verdict.
        verdict: StaticProof,
        /// What shows that the margin holds a separated pair.
        margin_pairs: ArrayVec<VertexPair, 3>,
    },
    /// The proof that they are in contact.
    Solids(SolidProof),
    /// Pairs that are within the radii and the margin: of one face of each body.
    Near(ArrayVec<VertexPair, 3>),
    /// The proof that two overlap of which one at least is rounded.
    Rounded(RoundedSolidProof),
}
