//! What proofs take: of memory beside what they are part of, and of a message at least.

use super::distance::MeasuredDistance;
use super::first_contact::MotionProof;
use super::proof::{CurvedHulls, CurvedProof, SideAnswer, VerdictProof};
use crate::body::Body;
use clearance_geometry::claim::{
    Cover, CoverStep, FirstContact, RoundedSolidProof, SolidProof, Surface,
};

/// What a number takes in a message: those of vertices are in packed arrays.
const NUMBER: usize = size_of::<f64>();

impl VerdictProof {
    /// The cover in it, if there is one; in what is proven of a curved body there may be two, which
    /// [`CurvedProof::covers`] has.
    pub fn cover(&self) -> Option<&Cover> {
        match self {
            Self::OfSolids(
                SolidProof::Separated(cover)
                | SolidProof::Touching { way: cover, .. }
                | SolidProof::TouchingPieces { cover, .. },
            )
            | Self::OfRoundedSolids(
                RoundedSolidProof::Apart(cover) | RoundedSolidProof::Touching { cover, .. },
            ) => Some(cover),
            Self::OfSolids(
                SolidProof::Crossing(_)
                | SolidProof::OverlappingPieces(_)
                | SolidProof::InnerPoint(_)
                | SolidProof::InnerPiece { .. },
            )
            | Self::OfRoundedSolids(RoundedSolidProof::Near(_) | RoundedSolidProof::Inside(_))
            | Self::OfHulls(_)
            | Self::OfRounded(_)
            | Self::OfCurved(_) => None,
        }
    }

    /// What is proven of a curved body.
    pub fn curved(&self) -> Option<&CurvedProof> {
        if let Self::OfCurved(proof) = self { Some(proof) } else { None }
    }

    /// Memory that it takes beyond itself, bytes.
    pub fn heap_bytes(&self) -> usize {
        let curved = self.curved().map_or(0, CurvedProof::bytes);
        curved + self.cover().map_or(0, bytes_of_cover)
    }
}

impl CurvedProof {
    /// Memory that it takes with the polytopes that it is about, bytes.
    pub fn bytes(&self) -> usize {
        let body = |body: &Body| usize::try_from(body.bytes()).unwrap_or(usize::MAX);
        let hulls = |hulls: &CurvedHulls| body(&hulls.outer).saturating_add(body(&hulls.inner));
        let of_hulls = self.hulls.iter().flatten().map(hulls).fold(0, usize::saturating_add);
        let of_sides: usize = self.sides().map(SideAnswer::heap_bytes).sum();
        size_of_val(self) + of_hulls + of_sides
    }

    /// What the polytopes that it is about take in a message, bytes, at least: a number of a vertex
    /// eight, an index one.
    pub fn message_bytes_min(&self) -> usize {
        let points = |body: &Body| 3 * NUMBER * body.vertices().len();
        let around = |body: &Body| points(body) + 3 * body.boundary().len();
        let hulls = |hulls: &CurvedHulls| {
            let outer = self.outer.as_ref().map_or(0, |_| around(&hulls.outer));
            outer + self.inner.as_ref().map_or(0, |_| points(&hulls.inner))
        };
        self.hulls.iter().flatten().map(hulls).sum()
    }

    /// The covers in what is proven of both sides.
    pub fn covers(&self) -> impl Iterator<Item = &Cover> {
        self.sides().filter_map(SideAnswer::cover)
    }

    fn sides(&self) -> impl Iterator<Item = &SideAnswer> {
        [&self.outer, &self.inner].into_iter().flatten()
    }
}

impl SideAnswer {
    fn verdict_proof(&self) -> Option<&VerdictProof> {
        match self {
            Self::Verdict(proof, _) => Some(proof),
            Self::Distance(MeasuredDistance::OfFaces(found), _) => found.proof.as_ref().ok(),
            Self::FirstContact(course) => match &course.proof {
                MotionProof::AtStart(proof) => Some(proof),
                MotionProof::OfSolids(_, start) => start.as_deref(),
                MotionProof::OfHulls(_) | MotionProof::OfRounded(_) => None,
            },
            Self::Distance(MeasuredDistance::OfHulls(_) | MeasuredDistance::OfRounded(_), _)
            | Self::Depth(_)
            | Self::RoundedDepth(_)
            | Self::Range(_) => None,
        }
    }

    fn cover(&self) -> Option<&Cover> {
        match self {
            Self::FirstContact(course) => match &course.proof {
                MotionProof::OfSolids(proof, _) => Some(&proof.free),
                MotionProof::AtStart(_) | MotionProof::OfHulls(_) | MotionProof::OfRounded(_) => {
                    self.verdict_proof()?.cover()
                }
            },
            Self::Verdict(..)
            | Self::Distance(..)
            | Self::Depth(_)
            | Self::RoundedDepth(_)
            | Self::Range(_) => self.verdict_proof()?.cover(),
        }
    }

    /// Memory that it takes beyond itself, bytes.
    fn heap_bytes(&self) -> usize {
        let links = |found: &FirstContact| size_of_val(found.chain.as_slice());
        let surface = |surface: &Option<Surface>| {
            surface.as_ref().map_or(0, |surface| {
                size_of_val(surface.corners.as_slice()) + size_of_val(surface.triangles.as_slice())
            })
        };
        let own = match self {
            Self::Depth(found) => surface(&found.surface),
            Self::RoundedDepth(found) => surface(&found.surface),
            Self::FirstContact(course) => match &course.proof {
                MotionProof::OfHulls(found) => links(found),
                MotionProof::OfRounded(found) => found.later.as_ref().map_or(0, links),
                MotionProof::AtStart(_) | MotionProof::OfSolids(..) => 0,
            },
            Self::Verdict(..) | Self::Distance(..) | Self::Range(_) => 0,
        };
        own + self.cover().map_or(0, bytes_of_cover)
    }
}

/// Memory that a cover takes beyond itself, bytes.
pub fn bytes_of_cover(cover: &Cover) -> usize {
    let links = |step: &CoverStep| match step {
        CoverStep::SplitP | CoverStep::SplitQ => 0,
        CoverStep::Apart(chain) => size_of_val(&**chain),
    };
    size_of_val(&*cover.order_p)
        + size_of_val(&*cover.order_q)
        + size_of_val(&*cover.steps)
        + cover.steps.iter().map(links).sum::<usize>()
}
