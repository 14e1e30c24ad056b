//! What a scene was asked and what it answered, for the wire.

use prost::Message;

use super::proofs::{contact_to_wire, distance_to_wire, proof_to_wire};
use crate::convert::geometry::{outcome_to_wire, stopped_to_wire, vector_to_wire, verdict_to_wire};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Stopped;
use clearance_geometry::meeting::Impact;
use clearance_proto as api;
use clearance_scene::BodyId;
use clearance_scene::query::cast::CastHit;
use clearance_scene::query::place::{NearHit, OverlapHit};

/// Where a ray or a shape meets a body, and if that is wanted until when.
#[derive(Clone, Copy, Debug)]
pub struct CastPlace {
    /// Where, and across what.
    pub impact: Impact,
    /// Around the time until which they are in contact.
    pub leave: Option<[f64; 2]>,
}

/// A body that a ray or a shape meets.
pub fn cast_to_wire(hit: &CastHit, place: &CastPlace, certificates: bool) -> api::SceneHit {
    use api::scene_hit::Proof;
    let CastPlace { impact, leave } = place;
    let [lower, upper] = hit.time;
    api::SceneHit {
        body_id: hit.body.0,
        part: hit.part,
        outcome: outcome_to_wire(hit.outcome).into(),
        time: Some(api::Bracket { lower, upper }),
        verdict: verdict_to_wire(hit.contact.initial.verdict()).into(),
        point: Some(vector_to_wire(&impact.point)),
        normal: impact.normal.map(|normal| vector_to_wire(&normal)),
        unordered: hit.is_unordered,
        proof: certificates.then(|| contact_to_wire(&hit.contact).map(Proof::Motion)).flatten(),
        leave: leave.map(|[lower, upper]| api::Bracket { lower, upper }),
        ..Default::default()
    }
}

/// A body in contact with a polytope.
pub fn overlap_to_wire(hit: &OverlapHit, certificates: bool) -> api::SceneHit {
    use api::scene_hit::Proof;
    api::SceneHit {
        body_id: hit.body.0,
        part: hit.part,
        verdict: verdict_to_wire(hit.proof.verdict()).into(),
        proof: certificates.then(|| proof_to_wire(&hit.proof, &[]).map(Proof::Standing)).flatten(),
        ..Default::default()
    }
}

/// A body near a polytope.
pub fn near_to_wire(hit: &NearHit, certificates: bool) -> api::SceneHit {
    use api::scene_hit::Proof;
    let [lower, upper] = hit.signed_distance();
    api::SceneHit {
        body_id: hit.body.0,
        part: hit.part,
        distance: Some(api::Bracket { lower, upper }),
        verdict: verdict_to_wire(hit.distance.proof.verdict()).into(),
        point: Some(vector_to_wire(&hit.distance.closest_q)),
        normal: hit.normal.map(|normal| vector_to_wire(&normal)),
        unordered: hit.is_unordered,
        proof: certificates
            .then(|| distance_to_wire(&hit.distance).map(Proof::Separation))
            .flatten(),
        ..Default::default()
    }
}

/// What a ray or a shape met.
#[derive(Debug)]
pub struct CastHits<T> {
    /// Those that are listed.
    pub hits: Vec<T>,
    /// How many more there are.
    pub omitted: u64,
}

/// What is told of a hit of a packed ray or cast.
#[derive(Clone, Copy, Debug)]
pub struct PackedHit {
    body: BodyId,
    part: u32,
    time: [f64; 2],
    point: Vec3,
    normal: Vec3,
    verdict: Verdict,
    is_unordered: bool,
    leave: Option<[f64; 2]>,
}

impl PackedHit {
    /// A hit with where and how.
    pub fn new(hit: &CastHit, place: &CastPlace) -> Self {
        let impact = &place.impact;
        Self {
            body: hit.body,
            part: hit.part,
            time: hit.time,
            point: impact.point,
            normal: impact.normal.unwrap_or_default(),
            verdict: hit.contact.initial.verdict(),
            is_unordered: hit.is_unordered,
            leave: place.leave,
        }
    }
}

/// What packed rays met, in order, as far as a reply has room.
#[derive(Debug, Default)]
pub struct HitsPacker {
    packed: api::PackedHits,
    verdicts: Vec<u8>,
    unordered: Vec<u8>,
}

/// Bytes of one packed hit: three numbers of four bytes, eight of eight and two of one.
const HIT_BYTES: u64 = 3 * 4 + 8 * 8 + 2;

/// Bytes of where it is left.
const LEAVE_BYTES: u64 = 2 * 8;

impl HitsPacker {
    /// Adds what a ray met; `room` is what the reply has left, bytes.
    pub fn add(&mut self, ray: u32, met: Result<CastHits<PackedHit>, Stopped>, room: &mut u64) {
        let CastHits { hits, omitted } = match met {
            Ok(met) => met,
            Err(stopped) => {
                self.packed.stopped_rays.push(ray);
                self.packed.set_stopped(stopped_to_wire(Some(stopped)));
                return;
            }
        };
        self.packed.omitted_hits += omitted;
        for hit in &hits {
            let bytes = HIT_BYTES + hit.leave.map_or(0, |_| LEAVE_BYTES);
            match room.checked_sub(bytes) {
                Some(left) => {
                    *room = left;
                    self.push(ray, hit);
                }
                None => self.packed.omitted_hits += 1,
            }
        }
    }

    fn push(&mut self, ray: u32, hit: &PackedHit) {
        let packed = &mut self.packed;
        packed.rays.push(ray);
        packed.body_ids.push(hit.body.0);
        packed.parts.push(hit.part);
        packed.time_lower.push(hit.time[0]);
        packed.time_upper.push(hit.time[1]);
        packed.points.extend(hit.point.iter());
        packed.normals.extend(hit.normal.iter());
        let verdict = i32::from(verdict_to_wire(hit.verdict));
        self.verdicts.push(u8::try_from(verdict).unwrap_or_default());
        self.unordered.push(u8::from(hit.is_unordered));
        if let Some([lower, upper]) = hit.leave {
            packed.leave_lower.push(lower);
            packed.leave_upper.push(upper);
        }
    }

    /// The arrays.
    pub fn finish(self) -> api::PackedHits {
        let (verdicts, unordered) = (self.verdicts.into(), self.unordered.into());
        api::PackedHits { verdicts, unordered, ..self.packed }
    }
}

/// Leaves out hits for which a reply has no `room`, bytes.
pub fn fit(answer: &mut api::SceneAnswer, room: &mut u64) {
    let fits = |hit: &api::SceneHit| {
        // A tag and a length of the hit itself come on top.
        let left = room.checked_sub(hit.encoded_len() as u64 + 4);
        *room = left.unwrap_or(*room);
        left.is_some()
    };
    let kept = answer.hits.iter().map(fits).take_while(|fits| *fits).count();
    answer.omitted_hits += (answer.hits.len() - kept) as u64;
    answer.hits.truncate(kept);
}
