//! What proves how two bodies stand whose pieces told it; and how two stand of which neither is a
//! surface, where their faces alone show too little.

use super::Surfaces;
use super::cover::{Clear, prove_clear};
use super::standing::{Standing, entering, stand};
use super::touch::{self, prove_touching};
use crate::claim::{RoundedSolidProof, SolidProof, Verdict};
use crate::contact_time::polyhedra::Faces;
use crate::contact_time::polyhedra::proof::{Unproven, is_accepted_of, prove_verdict};
use crate::effort::Effort;
use crate::polyhedron::HulledBody;
use crate::polyhedron::entering::SurfaceEntry;
use crate::polyhedron::groups::BoundaryKind;

impl Standing {
    /// Its proof of bodies that are not rounded; a cover has at most `steps_max` steps and links.
    pub fn prove_pieces(
        self,
        surfaces: &Surfaces<'_>,
        steps_max: u64,
        effort: &mut Effort<'_>,
    ) -> Result<SolidProof, Unproven> {
        let mut cover = |clear| prove_clear(surfaces, clear, steps_max, effort);
        Ok(match self {
            Self::Apart => SolidProof::Separated(cover(Clear::Beyond(0.0))?),
            Self::Touching(pairs) if is_beside_region(surfaces) => {
                return touch::prove(surfaces, pairs, steps_max, effort);
            }
            Self::Touching(pairs) => {
                SolidProof::TouchingPieces { pairs, cover: cover(Clear::NoNearer)? }
            }
            Self::Near(pairs) => SolidProof::OverlappingPieces(pairs),
            Self::Entered(entry) => return prove_entry(surfaces, &entry, effort),
            Self::Inside(_) => return Err(Unproven::TooThin),
        })
    }

    /// Its proof of bodies of which one is rounded; a cover has at most `steps_max` steps and
    /// links.
    pub fn prove(
        self,
        surfaces: &Surfaces<'_>,
        steps_max: u64,
        effort: &mut Effort<'_>,
    ) -> Result<RoundedSolidProof, Unproven> {
        let mut cover = |clear| prove_clear(surfaces, clear, steps_max, effort);
        Ok(match self {
            Self::Apart => RoundedSolidProof::Apart(cover(Clear::Beyond(0.0))?),
            Self::Touching(pairs) => {
                RoundedSolidProof::Touching { pairs, cover: cover(Clear::NoNearer)? }
            }
            Self::Near(pairs) => RoundedSolidProof::Near(pairs),
            Self::Inside(vertex) => RoundedSolidProof::Inside(vertex),
            Self::Entered(_) => return Err(Unproven::TooThin),
        })
    }
}

/// The proof of a verdict about two bodies that are no surfaces, with the faces that show it; a
/// cover has at most `steps_max` steps and links.
pub fn prove_solids(
    shapes: [&HulledBody<'_>; 2],
    verdict: Verdict,
    faces: Option<&Faces>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    match prove_verdict(shapes, verdict, faces, steps_max, effort) {
        Err(Unproven::NoWay) => prove_touching(&Surfaces::new(shapes), steps_max, effort),
        Err(Unproven::TooThin) => prove_thin(&Surfaces::new(shapes), effort),
        found => found,
    }
}

/// The proof that two bodies overlap which are no surfaces and overlap too thinly for a point of
/// both to be named: two pieces that do, or a piece of the boundary of one inside the other.
fn prove_thin(surfaces: &Surfaces<'_>, effort: &mut Effort<'_>) -> Result<SolidProof, Unproven> {
    for k in [0, 1] {
        let mut bodies = surfaces.bodies;
        if let BoundaryKind::Region(region) = bodies[k].kind {
            bodies[k].kind = BoundaryKind::Surface(region.surface());
        }
        let as_surface = Surfaces { bodies, radii: surfaces.radii };
        let proof = match stand(&as_surface, effort)? {
            Standing::Near(pairs) => Ok(SolidProof::OverlappingPieces(pairs)),
            Standing::Entered(entry) => prove_entry(&as_surface, &entry, effort),
            Standing::Apart | Standing::Touching(_) | Standing::Inside(_) => Err(Unproven::TooThin),
        };
        if let Ok(proof) = proof
            && is_accepted_of(&surfaces.solids(), &proof, effort)?
        {
            return Ok(proof);
        }
    }
    Err(Unproven::TooThin)
}

/// The proof that a surface is inside a region at a place that was found.
fn prove_entry(
    surfaces: &Surfaces<'_>,
    entry: &SurfaceEntry,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let entering = entering(surfaces).ok_or(Unproven::TooThin)?;
    let triangle = entering.triangle(entry);
    let solids = surfaces.solids();
    for weights in entering.proposals(entry) {
        let proof = SolidProof::InnerPiece { triangle, weights };
        if is_accepted_of(&solids, &proof, effort)? {
            return Ok(proof);
        }
    }
    Err(Unproven::TooThin)
}

/// Whether one of the bodies is a region.
fn is_beside_region(surfaces: &Surfaces<'_>) -> bool {
    surfaces.bodies.iter().any(|body| matches!(body.kind, BoundaryKind::Region(_)))
}
