//! What reports say of pairs of bodies, judged by their certificates.

use super::Session;
use crate::body::ConvexBody;
use crate::error::NotProven;
use crate::verify::verify_bodies;
use clearance_certificates::geometry::{pose, pose_to_wire};
use clearance_certificates::path::{BadField, Path};
use clearance_proto as api;

/// What was found of the pairs of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proven {
    /// Pairs whose verdict, and margin, distance or depth if it is told, are proven.
    pub pairs: usize,
    /// Pairs of which that is not known: without certificates, packed, of bodies that are not known
    /// here, polyhedra, of several parts or carried by robots.
    pub open: usize,
}

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
        let (Some((p, of_p)), Some((q, of_q))) = (self.declared(pair.a)?, self.declared(pair.b)?)
        else {
            return Ok(false);
        };
        let margin = self.mirror.margin(pair.a, pair.b);
        let margin = margin.filter(|_| pair.within_margin.is_some());
        let (p, q, bodies) = (Some(p), Some(q), [of_p, of_q]);
        let mut is_shown = false;
        if pair.certificate.is_some() {
            let question = api::CheckCollisionRequest {
                p: p.clone(),
                q: q.clone(),
                margin,
                ..Default::default()
            };
            let answer = api::CheckCollisionResponse {
                verdict: pair.verdict,
                within_margin: pair.within_margin,
                certificate: pair.certificate.clone(),
                ..Default::default()
            };
            verify_bodies(&question, &answer, &bodies)?;
            is_shown = true;
        }
        if pair.distance_certificate.is_some() {
            let question = api::MeasureDistanceRequest {
                p: p.clone(),
                q: q.clone(),
                margin,
                ..Default::default()
            };
            let answer = api::MeasureDistanceResponse {
                verdict: pair.verdict,
                distance: pair.distance,
                certificate: pair.distance_certificate.clone(),
                ..Default::default()
            };
            verify_bodies(&question, &answer, &bodies)?;
            is_shown = true;
        }
        if pair.depth_certificate.is_some() {
            let question = api::MeasurePenetrationRequest { p, q, ..Default::default() };
            let answer = api::MeasurePenetrationResponse {
                verdict: pair.verdict,
                depth: pair.depth,
                certificate: pair.depth_certificate.clone(),
                ..Default::default()
            };
            verify_bodies(&question, &answer, &bodies)?;
            is_shown = true;
        }
        Ok(is_shown)
    }

    /// A convex body of one part where it is, if it is known here.
    fn declared(&self, id: u32) -> Result<Option<(api::PlacedBody, ConvexBody)>, BadField> {
        let Some(body) = self.mirror.body(id) else { return Ok(None) };
        let [part] = &body.parts[..] else { return Ok(None) };
        let known = part.source.as_ref().and_then(|source| self.client.known().body(source));
        let Some(known) = known else { return Ok(None) };
        let root = Path::ROOT.field("bodies");
        let path = root.index(id as usize);
        let world_from_body = pose(&path.field("pose"), body.pose.as_ref())?;
        let body_from_part = pose(&path.field("parts"), part.pose.as_ref())?;
        let placed = pose_to_wire(&world_from_body.compose(&body_from_part));
        Ok(Some((api::PlacedBody { source: part.source.clone(), pose: Some(placed) }, known)))
    }
}
