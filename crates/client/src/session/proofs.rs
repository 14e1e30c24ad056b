//! What reports say of pairs of bodies, judged by their certificates.

use std::sync::Arc;

use super::Session;
use crate::error::NotProven;
use crate::verify::judge;
use clearance_certificates::geometry::pose;
use clearance_certificates::hulls::HullClaim;
use clearance_certificates::path::{BadField, Path};
use clearance_certificates::told::Told;
use clearance_proof::Vec3;
use clearance_proof::claim::{Bodies, Points};
use clearance_proof::pose::Pose;
use clearance_proto as api;

/// What was found of the pairs of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proven {
    /// Pairs whose verdict, and distance or depth if it is told, are proven.
    pub pairs: usize,
    /// Pairs of which that is not known: without certificates, packed, or of bodies whose vertices
    /// are not known here, rounded, polyhedra, of several parts or carried by robots.
    pub open: usize,
}

/// The vertices of a body, and where it is.
type Declared = (Arc<[Vec3]>, Pose);

impl Session {
    /// Judges what the last report says of pairs (with `certificates` in the report's options): how
    /// they stand, how far from each other, how deep. First error, if a certificate does not prove
    /// what is claimed.
    pub fn verify(&self, report: &api::FrameReport) -> Result<Proven, NotProven> {
        let packed = report.packed_pairs.as_ref().map_or(0, |pairs| pairs.a.len());
        let mut found = Proven { pairs: 0, open: packed };
        let is_last = report.frame_id == self.mirror.frame_id() || report.frame_id == 0;
        for pair in &report.pairs {
            let proven = is_last
                && self.verify_pair(pair).map_err(|why| match why {
                    NotProven::Refused(why) => {
                        NotProven::Refused(format!("bodies {} and {}: {why}", pair.a, pair.b))
                    }
                    NotProven::Field(_) | NotProven::UnknownBody(_) => why,
                })?;
            *(if proven { &mut found.pairs } else { &mut found.open }) += 1;
        }
        Ok(found)
    }

    /// Whether it is proven; else nothing shows it.
    fn verify_pair(&self, pair: &api::PairReport) -> Result<bool, NotProven> {
        let (Some(a), Some(b)) = (self.declared(pair.a)?, self.declared(pair.b)?) else {
            return Ok(false);
        };
        let bodies =
            Bodies { p: Points { points: &a.0, pose: a.1 }, q: Points { points: &b.0, pose: b.1 } };
        let claims = claims(pair)?;
        for claim in &claims {
            judge(claim, bodies)?;
        }
        Ok(!claims.is_empty())
    }

    /// A body of one part, if its vertices are known.
    fn declared(&self, id: u32) -> Result<Option<Declared>, BadField> {
        let Some(body) = self.mirror.body(id) else { return Ok(None) };
        let [part] = &body.parts[..] else { return Ok(None) };
        let vertices = part.source.as_ref().and_then(|source| self.client.known().vertices(source));
        let Some(vertices) = vertices else { return Ok(None) };
        let root = Path::ROOT.field("bodies");
        let path = root.index(id as usize);
        let world_from_body = pose(&path.field("pose"), body.pose.as_ref())?;
        let body_from_part = pose(&path.field("parts"), part.pose.as_ref())?;
        Ok(Some((vertices, world_from_body.compose(&body_from_part))))
    }
}

/// What a report claims of a pair of bodies of one part, as far as it has certificates.
fn claims(pair: &api::PairReport) -> Result<Vec<HullClaim>, BadField> {
    let mut claims = Vec::new();
    if pair.certificate.is_some() {
        let answer = api::CheckCollisionResponse {
            verdict: pair.verdict,
            certificate: pair.certificate.clone(),
            ..Default::default()
        };
        claims.push(HullClaim::collision(&Told::here(&Default::default(), &answer))?);
    }
    if pair.distance_certificate.is_some() {
        let answer = api::MeasureDistanceResponse {
            verdict: pair.verdict,
            distance: pair.distance,
            certificate: pair.distance_certificate.clone(),
            ..Default::default()
        };
        claims.push(HullClaim::distance(&Told::here(&Default::default(), &answer))?);
    }
    if pair.depth_certificate.is_some() {
        let answer = api::MeasurePenetrationResponse {
            verdict: pair.verdict,
            depth: pair.depth,
            certificate: pair.depth_certificate.clone(),
            ..Default::default()
        };
        claims.push(HullClaim::penetration(&Told::here(&Default::default(), &answer))?);
    }
    Ok(claims)
}
