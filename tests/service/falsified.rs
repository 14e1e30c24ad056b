//! Claims made false: each says of a true answer what cannot be true beside it, or takes away what
//! proves it.

use api::verify_certificate_request::Claim;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;

/// The claim with one thing changed so that it has to be refused; none where the answer leaves
/// nothing to change in the way that was drawn.
pub(crate) fn falsified(random: &mut Random, claim: &Claim) -> Option<Claim> {
    let way = random.below(3);
    Some(match claim.clone() {
        Claim::Collision(mut claim) => {
            let answer = claim.answer.as_mut()?;
            match (way, answer.within_margin) {
                (0, Some(within)) => answer.within_margin = Some(!within),
                (1, _) => answer.certificate = emptied(answer.certificate.take())?,
                _ => answer.verdict = another(answer.verdict),
            }
            Claim::Collision(claim)
        }
        Claim::Distance(mut claim) => {
            let answer = claim.answer.as_mut()?;
            let bracket = answer.distance.as_mut()?;
            match (way, answer.within_margin) {
                (0, Some(within)) => answer.within_margin = Some(!within),
                (1, _) => answer.verdict = another(answer.verdict),
                _ => beside(random, bracket)?,
            }
            Claim::Distance(claim)
        }
        Claim::DistanceAlong(mut claim) => {
            let answer = claim.answer.as_mut()?;
            match way {
                0 if answer.exit.is_some() => (answer.enter, answer.exit) = (None, None),
                1 => beside(random, answer.enter.as_mut()?)?,
                2 => beside(random, answer.exit.as_mut()?)?,
                _ => answer.verdict = another(answer.verdict),
            }
            Claim::DistanceAlong(claim)
        }
        Claim::Penetration(mut claim) => {
            let answer = claim.answer.as_mut()?;
            match way {
                0 => answer.verdict = another(answer.verdict),
                1 if answer.verdict() == api::Verdict::Overlapping => {
                    let certificate = answer.certificate.as_mut()?;
                    certificate.verdict = emptied(certificate.verdict.take())?;
                }
                _ => {
                    // Without a surface nothing is said from below but that they overlap.
                    let bracket = answer.depth.as_mut()?;
                    if bracket.upper <= 0.0 {
                        return None;
                    }
                    (bracket.upper, bracket.lower) = (bracket.lower * 0.999_999, 0.0);
                }
            }
            Claim::Penetration(claim)
        }
        Claim::FirstContact(mut claim) => {
            let answer = claim.answer.as_mut()?;
            let said = Said(answer.outcome, answer.t_free, answer.t_contact).changed(way);
            Said(answer.outcome, answer.t_free, answer.t_contact) = said;
            Claim::FirstContact(claim)
        }
        Claim::FirstCollision(mut claim) => {
            let answer = claim.answer.as_mut()?;
            let said = Said(answer.outcome, answer.t_free, answer.t_contact).changed(way);
            Said(answer.outcome, answer.t_free, answer.t_contact) = said;
            Claim::FirstCollision(claim)
        }
        Claim::Edges(mut claim) => {
            let certificates = &mut claim.answer.as_mut()?.certificates;
            certificates.iter_mut().find(|known| !known.pieces.is_empty())?.pieces.pop();
            Claim::Edges(claim)
        }
    })
}

/// One of the other two verdicts.
fn another(verdict: i32) -> i32 {
    1 + verdict % 3
}

/// A certificate with its own kind of proof, emptied of what it shows.
#[expect(clippy::option_option, reason = "none: nothing to take away")]
fn emptied(certificate: Option<api::StaticCertificate>) -> Option<Option<api::StaticCertificate>> {
    use api::static_certificate::Proof;
    let proof = match certificate?.proof? {
        Proof::Separated(_) => Proof::Separated(api::SeparatedProof::default()),
        Proof::Touching(_) => Proof::Touching(api::TouchingProof::default()),
        Proof::Overlapping(proof) => {
            let pairs = proof.pairs.into_iter().take(3).collect();
            Proof::Overlapping(api::OverlappingProof { pairs, margin_depth: None })
        }
        Proof::Compound(_) => Proof::Compound(api::CompoundProof::default()),
        Proof::Solid(_) => Proof::Solid(api::SolidProof::default()),
        Proof::Rounded(_) => Proof::Rounded(api::RoundedProof::default()),
        Proof::Curved(_) => Proof::Curved(api::CurvedProof::default()),
    };
    Some(Some(api::StaticCertificate { proof: Some(proof) }))
}

/// Puts a bracket beside the number that it has to enclose.
fn beside(random: &mut Random, bracket: &mut api::Bracket) -> Option<()> {
    let api::Bracket { lower, upper } = *bracket;
    let step = 10f64.powi(-i32::try_from(random.below(9)).ok()? - 1);
    if random.below(2) == 0 || lower <= 0.0 {
        (bracket.lower, bracket.upper) = (upper * (1.0 + step), upper * (1.0 + 2.0 * step));
    } else {
        (bracket.lower, bracket.upper) = (lower * (1.0 - 0.1 * step), lower * (1.0 - 0.01 * step));
    }
    (upper > 0.0).then_some(())
}

/// What an answer says of a first contact: the outcome, `t_free` and `t_contact`.
struct Said(i32, f64, Option<f64>);

impl Said {
    /// Another outcome, or another time.
    fn changed(self, way: u64) -> Self {
        let Self(outcome, t_free, t_contact) = self;
        let [contact, none] = [api::Outcome::Contact, api::Outcome::NoContact].map(i32::from);
        match (way, t_contact) {
            // Contact at a time that is proven free.
            (0, Some(_)) if t_free > 0.0 => Self(outcome, 0.25 * t_free, Some(0.5 * t_free)),
            // Free at a time of contact.
            (1, Some(t)) if t < 1.0 => Self(outcome, 0.5 * (t + 1.0), Some(1.0)),
            _ if outcome == none => Self(contact, t_free, Some(1.0)),
            _ => Self(none, 1.0, None),
        }
    }
}
