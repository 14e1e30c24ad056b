//! What an answer about two bodies claims one of which at least is rounded, read from its message,
//! and judged. Its certificate speaks about the polytopes that are rounded, and about the radii.

use crate::certificate::at_most;
use crate::geometry::{margin, pairs_to_wire, verdict, verdict_to_wire};
use crate::path::{BadField, Path};
use crate::told::Told;
use clearance_proof::claim::{Bodies, RoundedMargin, RoundedProof};
use clearance_proof::effort::Effort;
use clearance_proof::judge::{judge_rounded, judge_rounded_margin};
use clearance_proof::vertex_pair::VertexPair;
use clearance_proto as api;

/// A verdict on rounded bodies, its proof, and what is said of a margin.
#[derive(Clone, Debug)]
pub struct RoundedClaim {
    proof: RoundedProof,
    within: Option<RoundedMargin>,
}

/// The proof of a verdict on rounded bodies, and the pairs that show what is said of a margin.
pub fn rounded_to_wire(
    proof: &RoundedProof,
    margin_pairs: &[VertexPair],
) -> api::StaticCertificate {
    let rounded = api::RoundedProof {
        verdict: verdict_to_wire(proof.verdict).into(),
        pairs: pairs_to_wire(&proof.pairs),
        margin_pairs: pairs_to_wire(margin_pairs),
    };
    api::StaticCertificate { proof: Some(api::static_certificate::Proof::Rounded(rounded)) }
}

impl RoundedClaim {
    /// The claim of an answer about how two bodies stand.
    pub fn collision(
        told: &Told<'_, api::CheckCollisionRequest, api::CheckCollisionResponse>,
    ) -> Result<Self, BadField> {
        let Told { question, asked, answer, path } = told;
        let at = path.field("certificate");
        let proof = answer.certificate.as_ref().and_then(|wire| wire.proof.as_ref());
        let Some(api::static_certificate::Proof::Rounded(wire)) = proof else {
            return Err(at.field("rounded").bad("is required of rounded bodies"));
        };
        let at = at.field("rounded");
        let proven = verdict(&at.field("verdict"), wire.verdict())?;
        if proven != verdict(&path.field("verdict"), answer.verdict())? {
            return Err(at.field("verdict").bad("is not that of the answer"));
        }
        let proof =
            RoundedProof { verdict: proven, pairs: at_most(&at.field("pairs"), &wire.pairs)? };
        let asked = margin(asked, question.margin)?;
        let pairs = at_most(&at.field("margin_pairs"), &wire.margin_pairs)?;
        let within = match (answer.within_margin, asked) {
            (None, _) => None,
            (Some(is_within), Some(margin)) => Some(RoundedMargin { margin, is_within, pairs }),
            (Some(_), None) => {
                let path: Path<'_> = path.field("within_margin");
                return Err(path.bad("is said where no margin was given"));
            }
        };
        Ok(Self { proof, within })
    }

    /// Accepts it of polytopes that are rounded with these radii, metres, or says why not.
    pub fn judge(
        &self,
        bodies: Bodies<'_>,
        radii: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let Self { proof, within } = self;
        judge_rounded(bodies, radii, proof, effort).map_err(|why| why.to_string())?;
        let Some(within) = within else { return Ok(()) };
        judge_rounded_margin(bodies, radii, proof, within, effort)
            .map_err(|why| format!("within_margin: {why}"))
    }
}
