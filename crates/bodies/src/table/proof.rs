//! What proves how two bodies stand, whatever they are, and what is measured of them. A proof about
//! curved bodies is made of proofs about others, which is why all of them are here.

use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::body::Body;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    self, Outcome, RoundedProof, RoundedSolidProof, SolidMotionProof, SolidProof, Span,
    StaticProof, Verdict,
};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::distance::{Compared, Distance};
use clearance_geometry::effort::Stopped;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::penetration::{Depth, Range};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::rounded::{
    RoundedDepth, RoundedDistance, RoundedFirstContact, RoundedRange,
};

/// The proof of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum VerdictProof {
    /// About the hulls of the bodies.
    OfHulls(StaticProof),
    /// About the bodies as they are.
    OfSolids(SolidProof),
    /// About polytopes that are rounded, or the hulls of bodies.
    OfRounded(RoundedProof),
    /// About a rounded polytope and a polyhedron.
    OfRoundedSolids(RoundedSolidProof),
    /// About polytopes in and around curved bodies; of all that is said of these.
    OfCurved(Arc<CurvedProof>),
}

/// What holds of polytopes around two bodies, and of polytopes in them; what is not curved is both
/// itself.
#[derive(Clone, Debug)]
pub struct CurvedProof {
    /// How the bodies stand, if that is said; of a motion at its start.
    pub verdict: Verdict,
    /// What stands in and around P and Q; of one that is not curved nothing.
    pub hulls: [Option<CurvedHulls>; 2],
    /// Of those around, where the answer rests on it.
    pub outer: Option<SideAnswer>,
    /// Of those inside, where the answer rests on it.
    pub inner: Option<SideAnswer>,
}

/// The polytopes that a curved body is between, with its radius.
#[derive(Clone, Debug)]
pub struct CurvedHulls {
    /// It holds the curved body.
    pub outer: Body,
    /// The curved body holds it.
    pub inner: Body,
}

impl CurvedHulls {
    /// The polytope around the body, without its radius.
    pub fn around(&self) -> &Arc<Polytope> {
        self.outer.hull()
    }

    /// The polytope in it, without its radius.
    pub fn inside(&self) -> &Arc<Polytope> {
        self.inner.hull()
    }
}

/// What is answered about the bodies of one side, proven.
#[derive(Clone, Debug)]
pub enum SideAnswer {
    /// How they stand, and how they compare with a margin, if one is given.
    Verdict(VerdictProof, Option<Compared>),
    /// How far they are from each other, and how that compares with a margin.
    Distance(MeasuredDistance, Option<Compared>),
    /// How deep polytopes overlap.
    Depth(Depth),
    /// How deep rounded polytopes overlap.
    RoundedDepth(RoundedDepth),
    /// For which t they are in contact along a direction.
    Range(MeasuredRange),
    /// When they first meet.
    FirstContact(SideCourse),
}

/// When the bodies of one side first meet.
#[derive(Clone, Debug)]
pub struct SideCourse {
    /// How they stand at t = 0.
    pub initial: Verdict,
    /// Says whether they meet.
    pub outcome: Outcome,
    /// They are free until then.
    pub t_free: f64,
    /// They are in contact by then, if they meet.
    pub t_contact: f64,
    /// Proves all that is said here.
    pub proof: MotionProof,
}

/// A proof is the same as itself alone: what it is made of is not compared.
impl PartialEq for CurvedProof {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl VerdictProof {
    /// The verdict that it proves.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::OfHulls(proof) => proof.verdict(),
            Self::OfSolids(proof) => proof.verdict(),
            Self::OfRounded(proof) => proof.verdict,
            Self::OfRoundedSolids(proof) => proof.verdict(),
            Self::OfCurved(proof) => proof.verdict,
        }
    }
}

/// The proof of a first contact, or of there being none.
#[derive(Clone, Debug)]
pub enum MotionProof {
    /// About the hulls of the bodies.
    OfHulls(claim::FirstContact),
    /// The bodies are in contact at t = 0.
    AtStart(VerdictProof),
    /// About the bodies as they are, which are separated at t = 0; and how they stand there, where
    /// what is proven of the motion does not say it.
    OfSolids(SolidMotionProof, Option<Box<VerdictProof>>),
    /// About polytopes that are rounded.
    OfRounded(RoundedFirstContact),
}

/// A distance with its proof.
#[derive(Clone, Debug)]
pub enum MeasuredDistance {
    /// It is that of the hulls of the bodies.
    OfHulls(Distance),
    /// It is that of bodies of which one at least is rounded.
    OfRounded(RoundedDistance),
    /// It is that of bodies of which one at least is a polyhedron or curved.
    OfFaces(Box<MeasuredFaces>),
}

/// The distance of bodies one of which at least is a polyhedron or curved.
#[derive(Clone, Debug)]
pub struct MeasuredFaces {
    /// How the bodies stand; none: that is unresolved.
    pub(super) verdict: Option<Verdict>,
    pub(super) bounds: [f64; 2],
    /// None: there was no effort left for a point that bodies in contact share.
    pub(super) closest: Option<[Vec3; 2]>,
    pub(super) stopped: Option<Stopped>,
    /// The proof of the verdict, which of bodies that are apart shows the lower bound; or why there
    /// is none, if one was wanted.
    pub proof: Result<VerdictProof, Option<Unproven>>,
    /// Show the upper bound.
    pub pairs: ArrayVec<VertexPair, 3>,
}

impl MeasuredDistance {
    /// How the bodies stand; none: that is unresolved.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::OfHulls(found) => Some(found.decision.verdict()),
            Self::OfRounded(found) => Some(found.proof.verdict),
            Self::OfFaces(found) => found.verdict,
        }
    }

    /// The same, where no claim speaks of what is said of a margin below 0: that of bodies which do
    /// not overlap follows from the verdict.
    pub(super) fn without_claim(self) -> Self {
        match self {
            Self::OfFaces(found) if found.verdict == Some(Verdict::Overlapping) => {
                Self::OfFaces(Box::new(MeasuredFaces {
                    proof: Err(Some(Unproven::NoClaim)),
                    ..*found
                }))
            }
            Self::OfHulls(_) | Self::OfRounded(_) | Self::OfFaces(_) => self,
        }
    }

    /// Encloses the exact distance, metres.
    pub fn bounds(&self) -> [f64; 2] {
        match self {
            Self::OfHulls(found) => [found.lower, found.upper],
            Self::OfRounded(found) => [found.lower, found.upper],
            Self::OfFaces(found) => found.bounds,
        }
    }

    /// The closest points of P and Q, rounded, if they are known.
    pub fn closest(&self) -> Option<[Vec3; 2]> {
        match self {
            Self::OfHulls(found) => Some([found.closest_p, found.closest_q]),
            Self::OfRounded(found) => Some([found.closest_p, found.closest_q]),
            Self::OfFaces(found) => found.closest,
        }
    }

    /// Why the bracket is wider than it could be.
    pub fn stopped(&self) -> Option<Stopped> {
        match self {
            Self::OfHulls(found) => found.stopped,
            Self::OfRounded(found) => found.stopped,
            Self::OfFaces(found) => found.stopped,
        }
    }
}

/// For which t one of them, moved by t times a direction, is in contact.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvedRange {
    /// How they stand; none: that is unresolved.
    pub(super) verdict: Option<Verdict>,
    /// Encloses where that begins and ends; none: never or, where it is stopped, that is open.
    pub(super) span: Option<Span>,
    /// Why a bracket is wider than it could be, or why there is none.
    pub(super) stopped: Option<Stopped>,
    /// What proves it; or why nothing does, if a proof was wanted.
    pub proof: Result<VerdictProof, Option<Unproven>>,
}

/// A range, with what proves it.
#[derive(Clone, Debug, PartialEq)]
pub enum MeasuredRange {
    /// Of convex bodies, each its own hull.
    OfHulls(Range),
    /// Of bodies of which one at least is rounded.
    OfRounded(RoundedRange),
    /// Of bodies one of which at least is curved.
    OfCurved(CurvedRange),
}

impl MeasuredRange {
    /// How the bodies stand; none: that is unresolved.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::OfHulls(found) => Some(found.decision.verdict()),
            Self::OfRounded(found) => Some(found.proof.verdict),
            Self::OfCurved(found) => found.verdict,
        }
    }

    /// Where the range begins and ends; none: it is empty or, where it is stopped, that is open.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::OfHulls(found) => found.span,
            Self::OfRounded(found) => found.span,
            Self::OfCurved(found) => found.span,
        }
    }

    /// What is proven of a curved body.
    pub fn curved(&self) -> Option<&VerdictProof> {
        if let Self::OfCurved(found) = self { found.proof.as_ref().ok() } else { None }
    }

    /// Whether what is said of it comes with its proof.
    pub(super) fn is_proven(&self) -> bool {
        match self {
            Self::OfHulls(found) => found.proof.is_some(),
            Self::OfRounded(found) => found.ends.is_some(),
            Self::OfCurved(found) => found.proof.is_ok(),
        }
    }

    /// Why a bracket is wider than it could be, or why there is none.
    pub fn stopped(&self) -> Option<Stopped> {
        match self {
            Self::OfHulls(_) | Self::OfRounded(_) => None,
            Self::OfCurved(found) => found.stopped,
        }
    }
}
