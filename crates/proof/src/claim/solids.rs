//! Statements about bodies that need not be convex: the hull of points, what a closed mesh bounds,
//! or a surface, which is triangles and nothing beside them.
//!
//! What meets is shown at faces and points. What does not is shown for all pairs of faces at once
//! by a *cover*: the faces of each body, in some order, are halved again and again, now those of
//! one body, now those of the other, until a direction separates all that is left of the one from
//! all that is left of the other. A hull is one piece, and never halved.

use arrayvec::ArrayVec;

use super::{Link, Points, Reach, Verdict};
use crate::Vec3;
use crate::claim::Outcome;
use crate::motion::Motion;
use crate::vertex_pair::VertexPair;

/// A body as its points and what is made of them.
#[derive(Clone, Copy, Debug)]
pub struct Solid<'a> {
    /// Its vertices. Certificates name them by their index.
    pub points: Points<'a>,
    /// What the body is.
    pub kind: SolidKind<'a>,
}

/// What is made of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolidKind<'a> {
    /// The body is the hull of the points.
    Hull,
    /// The region that these triangles bound, counter-clockwise seen from outside.
    Region(&'a [[u32; 3]]),
    /// These triangles, and nothing beside them.
    Surface(&'a [[u32; 3]]),
}

impl<'a> SolidKind<'a> {
    /// The region that triangles bound, or without triangles a hull.
    pub fn of_region(triangles: Option<&'a [[u32; 3]]>) -> Self {
        triangles.map_or(Self::Hull, Self::Region)
    }
}

impl<'a> Solid<'a> {
    /// Its triangles; a hull has none.
    pub fn triangles(&self) -> Option<&'a [[u32; 3]]> {
        match self.kind {
            SolidKind::Hull => None,
            SolidKind::Region(triangles) | SolidKind::Surface(triangles) => Some(triangles),
        }
    }

    /// The triangles that bound a region; none of a hull, and of triangles that bound nothing.
    pub fn region(&self) -> Option<&'a [[u32; 3]]> {
        match self.kind {
            SolidKind::Region(triangles) => Some(triangles),
            SolidKind::Hull | SolidKind::Surface(_) => None,
        }
    }
}

/// P and Q.
#[derive(Clone, Copy, Debug)]
pub struct Solids<'a> {
    /// The first body.
    pub p: Solid<'a>,
    /// The second body.
    pub q: Solid<'a>,
}

/// Vertices of a body that span a face of it: one to three corners of one triangle, or any of a
/// hull.
pub type Face = ArrayVec<u32, 3>;

/// The proof of a static verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum SolidProof {
    /// No faces meet, and neither body is within the other.
    Separated(Cover),
    /// The faces share a point, and Q comes there in a straight line without meeting P before,
    /// which it could not if the interiors met.
    Touching {
        /// The two faces: one of P, one of Q.
        faces: [Face; 2],
        /// Where Q comes from: its pose has this translation then.
        from: Vec3,
        /// The proof that the way there is free, but for its end.
        way: Cover,
    },
    /// Of bodies of which one at least is made of triangles: the differences of these pairs, of a
    /// face of each, have the origin in their hull; and along each direction of a cover, all at
    /// rest, what is left of one body is not beyond what is left of the other. Beside a region the
    /// judge finds nothing of either body inside the other.
    TouchingPieces {
        /// One to six. Those of P are of one face of it, and so are those of Q.
        pairs: ArrayVec<VertexPair, 6>,
        /// No two faces have more in common than points of their boundaries.
        cover: Cover,
    },
    /// A triangle of each: inner points of both are one, and their planes are not.
    Crossing([[u32; 3]; 2]),
    /// Of bodies of which one at least is made of triangles: the hull of the differences of these
    /// pairs, of a face of each, has the origin strictly inside.
    OverlappingPieces(ArrayVec<VertexPair, 6>),
    /// A point strictly inside both.
    InnerPoint(InnerPoint),
    /// A point of a triangle of one body that is strictly inside the region that the other one is.
    InnerPiece {
        /// A triangle of a surface, or of a region.
        triangle: [u32; 3],
        /// The point is the mean of its corners with these weights, of which none is negative.
        weights: [f64; 3],
    },
}

impl SolidProof {
    /// The verdict that this proves.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Separated(_) => Verdict::Separated,
            Self::Touching { .. } | Self::TouchingPieces { .. } => Verdict::Touching,
            Self::Crossing(_)
            | Self::OverlappingPieces(_)
            | Self::InnerPoint(_)
            | Self::InnerPiece { .. } => Verdict::Overlapping,
        }
    }
}

/// A point strictly inside both bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct InnerPoint {
    /// The point is the exact sum of both, in the world.
    pub terms: [Vec3; 2],
    /// For P and for Q: if it is a hull, vertices whose hull has the point strictly inside; if it
    /// is a mesh, none.
    pub vertices: [ArrayVec<u32, 6>; 2],
}

/// The proof about bodies that move, of which no faces meet at t = 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidMotionProof {
    /// The proof that the time before is free. If it has no length, that the bodies are farther
    /// apart than the margin at t = 0.
    pub free: Cover,
    /// Where nothing turns and contact is meant exactly: faces of P and of Q that share a point at
    /// some time in the bracket.
    pub faces: Option<[Face; 2]>,
    /// Else: what proves contact, as the pairs of a [`FirstContact`](super::FirstContact) do. Those
    /// of P are of one face of it, and so are those of Q.
    pub pairs: ArrayVec<VertexPair, 6>,
}

/// Two bodies with balls around all their points.
#[derive(Clone, Copy, Debug)]
pub struct RoundedSolids<'a> {
    /// The bodies that are rounded.
    pub cores: Solids<'a>,
    /// Metres; of a body that is not rounded 0.
    pub radii: [f64; 2],
}

/// The proof of how two bodies stand of which one is rounded, a polytope or a cloud, and one is no
/// polytope. R is the exact sum of the radii, and faces are those of the bodies that are rounded.
#[derive(Clone, Debug, PartialEq)]
pub enum RoundedSolidProof {
    /// Separated: along each direction of a cover, all at rest, the bodies that are rounded are
    /// farther apart than R.
    Apart(Cover),
    /// The bodies touch: they are exactly R apart.
    Touching {
        /// With v the point nearest the origin in the hull of their differences, |v| is R. Those of
        /// P are of one face of it, and so are those of Q.
        pairs: ArrayVec<VertexPair, 6>,
        /// Along each of its directions the bodies that are rounded are no nearer than R.
        cover: Cover,
    },
    /// Overlapping: |v| is less than R, for pairs as above.
    Near(ArrayVec<VertexPair, 6>),
    /// Overlapping: this vertex of what is rounded, a polytope or a surface, is inside the mesh.
    Inside(u32),
}

impl RoundedSolidProof {
    /// The verdict that this proves.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Apart(_) => Verdict::Separated,
            Self::Touching { .. } => Verdict::Touching,
            Self::Near(_) | Self::Inside(_) => Verdict::Overlapping,
        }
    }
}

/// How far apart two bodies are whose faces do not meet, and neither of which is within the other.
#[derive(Clone, Copy, Debug)]
pub struct SolidDistanceClaim<'a> {
    /// At least and at most so far, metres.
    pub bounds: [f64; 2],
    /// Along each of its directions, all at rest, the bodies are at least so far apart.
    pub cover: &'a Cover,
    /// One to three that are no farther apart than the upper bound. Those of P are of one face of
    /// it, and so are those of Q.
    pub pairs: &'a [VertexPair],
}

/// How such bodies compare with a margin.
#[derive(Clone, Copy, Debug)]
pub struct SolidMarginClaim<'a> {
    /// Finite and not negative.
    pub margin: f64,
    /// Holds the pairs that are near, or the cover that shows that none is.
    pub shown: SolidMarginProof<'a>,
}

/// What shows how bodies compare with a margin.
#[derive(Clone, Copy, Debug)]
pub enum SolidMarginProof<'a> {
    /// They are within it: one to three pairs are. Those of P are of one face of it, and so are
    /// those of Q.
    Within(&'a [VertexPair]),
    /// They are beyond it along each direction of a cover, all at rest.
    Beyond(&'a Cover),
}

/// Two bodies as they move, and what counts as contact.
#[derive(Clone, Copy, Debug)]
pub struct SolidCourse<'a> {
    /// The bodies at t = 0; where they are rounded, the radii are in `reach`.
    pub solids: Solids<'a>,
    /// How P and Q move.
    pub motions: [Motion; 2],
    /// Contact means distance at most this.
    pub reach: Reach,
    /// Freedom holds for every motion of P and of Q within this of the stated one, metres.
    pub deviations: [f64; 2],
}

/// The proof of which two of several bodies that turn nothing meet first, or that no two meet.
#[derive(Clone, Debug, PartialEq)]
pub enum CollisionProof {
    /// The proof of how two bodies stand that are in contact at t = 0, before which there is
    /// nothing.
    AtStart(SolidProof),
    /// The proof of a contact that comes later.
    Later {
        /// The proof about the two bodies that meet.
        contact: Option<SolidMotionProof>,
        /// The proofs about the other pairs, in order: those that no coordinate axis separates all
        /// the time that is free.
        free: Vec<PairCover>,
    },
}

/// Two of several bodies that do not meet in the time that is free.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCover {
    /// Their places, ascending: P and Q of the cover.
    pub pair: [u32; 2],
    /// Over that time.
    pub cover: Cover,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cover {
    /// P's triangles, each once, by their places in its list; empty: as they are listed.
    pub order_p: Vec<u32>,
    /// The triangles of Q in the same way.
    pub order_q: Vec<u32>,
    /// Begins with all of both. After a split come the steps for the first half, which is the
    /// smaller of two that are not equal, then those for the second.
    pub steps: Vec<CoverStep>,
}

/// What becomes of what is left of both bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum CoverStep {
    /// P's faces are halved.
    SplitP,
    /// Q's faces are halved.
    SplitQ,
    /// All are separated over the whole time, by joined links as in the chain of a motion; where
    /// nothing turns and contact is meant exactly, they are fixed in the world.
    Apart(Vec<Link>),
}

/// Vertices that one cover may have looked at, one for each vertex of either group and link. Two
/// million take about a second to judge.
pub const VISITS_MAX: u64 = 1 << 21;

/// What is claimed of two bodies that move.
#[derive(Clone, Copy, Debug)]
pub struct SolidClaim<'a> {
    /// Contact or no contact.
    pub outcome: Outcome,
    /// No points are shared on the closed [0, t_free].
    pub t_free: f64,
    /// In contact by then; does not matter when there is none.
    pub t_contact: f64,
    /// What proves the claim.
    pub proof: &'a SolidMotionProof,
}

/// A body at t = 0, and how it moves.
#[derive(Clone, Copy, Debug)]
pub struct MovingSolid<'a> {
    /// The body, placed at t = 0.
    pub solid: Solid<'a>,
    /// How it moves, without turning.
    pub motion: Motion,
}

/// What is claimed of several bodies.
#[derive(Clone, Copy, Debug)]
pub struct CollisionClaim<'a> {
    /// Contact or no contact.
    pub outcome: Outcome,
    /// No two bodies share a point on the closed [0, t_free], unless two do at t = 0.
    pub t_free: f64,
    /// P and Q are in contact by then; does not matter when there is no contact.
    pub t_contact: f64,
    /// Contact: the places of P and Q, ascending, and how they stand at t = 0.
    pub pair: Option<([u32; 2], Verdict)>,
    /// What proves the claim.
    pub proof: &'a CollisionProof,
}
