//! What proves how two bodies stand, whatever they are.

use clearance_geometry::claim::{
    RoundedProof, RoundedSolidProof, SolidProof, StaticProof, Verdict,
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
}

impl VerdictProof {
    /// The verdict that it proves.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::OfHulls(proof) => proof.verdict(),
            Self::OfSolids(proof) => proof.verdict(),
            Self::OfRounded(proof) => proof.verdict,
            Self::OfRoundedSolids(proof) => proof.verdict(),
        }
    }
}
