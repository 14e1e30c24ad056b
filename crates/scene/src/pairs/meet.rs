//! Where and along which normal two bodies meet, for use: the normals of pairs that are listed, and
//! the impacts of contacts that begin and end.
//!
//! Depths, touching pairs and impacts are looked at from cold here, so what is remembered of a pair
//! changes no more than the last bits of a normal, by those of a distance.

use crate::methods::AskedOf;
use crate::pairs::answer::{Asking, ContactEnd, PairAnswer, PairNormal};
use crate::pairs::measures;
use crate::pairs::notes::Notes;
use crate::pairs::report::{PairContact, PartPair};
use crate::pairs::two_parts::TwoParts;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Stopped;
use clearance_geometry::meeting::Impact;
use clearance_geometry::rays::resting::RestingContact;

/// Makes sure of the normal of a pair whose distance is known if it is separated, and whose depth
/// is if it overlaps.
pub(crate) fn look_for_normal(asking: &Asking<'_>, answer: &mut PairAnswer, notes: &mut Notes<'_>) {
    if let Some(known) = &mut answer.meeting {
        known.normal = None;
    }
    match normal(asking, answer, notes) {
        Ok(found) => answer.meeting.get_or_insert_default().normal = found,
        Err(stopped) => answer.stopped = Some(stopped),
    }
}

/// None while the verdict, the distance or the depth is not known.
fn normal(
    asking: &Asking<'_>,
    answer: &PairAnswer,
    notes: &mut Notes<'_>,
) -> Result<Option<PairNormal>, Stopped> {
    let is_apart = answer.verdict == Some(Verdict::Separated);
    if asking.questions.face_normals && asking.has_mesh() && !is_apart {
        return if answer.verdict.is_some() { face_normal(asking, notes) } else { Ok(None) };
    }
    let (parts, normal) = match answer.verdict {
        None => return Ok(None),
        Some(Verdict::Separated) => {
            let Some(known) = &answer.distance else { return Ok(None) };
            let distance = &known.1;
            let closest = [distance.closest_p, distance.closest_q];
            let normal = asking.ask(AskedOf::Other, distance.parts, notes, |two, _, effort| {
                two.normal_apart(&distance.pairs, closest, effort)
            });
            (distance.parts, normal?)
        }
        Some(Verdict::Touching) => {
            let Some(parts) = answer.deciding else { return Ok(None) };
            (parts, impact_now(asking, parts, notes)?.normal)
        }
        Some(Verdict::Overlapping) => {
            // Polyhedra that overlap have none, also where their depth is known.
            let known = answer.depth.as_ref().filter(|_| !asking.has_mesh());
            let Some(deepest) = known else { return Ok(None) };
            (deepest.parts, Some(deepest.depth.direction))
        }
    };
    Ok(normal.map(|normal| PairNormal { parts, normal, depth: None }))
}

/// The normal of the deepest contact of two parts, of bodies in contact of which one has a part
/// that is not convex, or is curved.
fn face_normal(asking: &Asking<'_>, notes: &mut Notes<'_>) -> Result<Option<PairNormal>, Stopped> {
    let mut deepest: Option<(PartPair, RestingContact)> = None;
    for parts in asking.part_pairs() {
        asking.look_at_clock()?;
        if asking.gap(parts).is_some() {
            continue;
        }
        let found =
            asking.ask(AskedOf::Other, parts, notes, |two, _, effort| two.face_contact(effort))?;
        let Some(found) = found else { continue };
        if deepest.is_none_or(|(_, known)| known.depth[0] < found.depth[0]) {
            deepest = Some((parts, found));
        }
    }
    let told = |(parts, RestingContact { normal, depth, .. })| PairNormal {
        parts,
        normal,
        depth: Some(depth),
    };
    Ok(deepest.map(told))
}

/// Makes sure of what the deciding parts of a pair that touches have in common, or the deepest of
/// one that overlaps.
pub(crate) fn look_for_polygon(
    asking: &Asking<'_>,
    answer: &mut PairAnswer,
    notes: &mut Notes<'_>,
) {
    let deepest = answer.depth.as_ref().map(|deepest| deepest.parts);
    let Some(parts) = deepest.or(answer.deciding) else { return };
    let depth = asking.questions.polygon_depth;
    let found = asking.look_at_clock().and_then(|()| {
        asking
            .ask(AskedOf::Other, parts, notes, |two, _, effort| two.contact_polygon(depth, effort))
    });
    let polygon = found.unwrap_or_else(|stopped| {
        answer.stopped = Some(stopped);
        Vec::new()
    });
    answer.meeting.get_or_insert_default().polygon = polygon;
}

/// Makes sure of where and how the contact of an event begins or ends.
pub(crate) fn look_for_impact(
    asking: &Asking<'_>,
    end: ContactEnd,
    answer: &mut PairAnswer,
    notes: &mut Notes<'_>,
) {
    if let Some(known) = &mut answer.meeting {
        known.impact = None;
    }
    match impact(asking, end, answer, notes) {
        Ok(found) => answer.meeting.get_or_insert_default().impact = found,
        Err(stopped) => answer.stopped = Some(stopped),
    }
}

fn impact(
    asking: &Asking<'_>,
    end: ContactEnd,
    answer: &PairAnswer,
    notes: &mut Notes<'_>,
) -> Result<Option<Impact>, Stopped> {
    let on_way = match end {
        ContactEnd::First => {
            let way = answer.way().filter(|way: &&PairContact| way.has_met());
            way.and_then(|way| Some((way.parts?, way.parts_free)))
        }
        ContactEnd::Last => {
            let parting = answer.meeting.as_ref().and_then(|known| known.parting);
            parting.and_then(|parting| Some((parting.parts?, parting.parts_free)))
        }
    };
    if let Some((parts, t)) = on_way {
        // Where they are free by a hair: nearest points are then those that meet.
        if asking.is_on_chain() {
            return asking.impact_on_chains(parts, t, notes);
        }
        return asking.impact_of(parts, &asking.at_time(parts, t), notes).map(Some);
    }
    let parts = match answer.verdict {
        None => return Ok(None),
        Some(Verdict::Separated) => {
            measures::distance(asking, asking.questions.stops, notes)?.parts
        }
        Some(Verdict::Touching | Verdict::Overlapping) => match answer.deciding {
            Some(parts) => parts,
            None => return Ok(None),
        },
    };
    impact_now(asking, parts, notes).map(Some)
}

fn impact_now(
    asking: &Asking<'_>,
    parts: PartPair,
    notes: &mut Notes<'_>,
) -> Result<Impact, Stopped> {
    asking.impact_of(parts, &asking.now(parts), notes)
}

impl Asking<'_> {
    fn impact_of(
        &self,
        parts: PartPair,
        two: &TwoParts<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<Impact, Stopped> {
        self.look_at_clock()?;
        self.spend(AskedOf::Other, parts, notes, |_, effort| two.impact(effort))
    }

    /// Two parts where they are at a time of the way to this frame, rounded.
    fn at_time(&self, parts: PartPair, t: f64) -> TwoParts<'_> {
        let (p, q) = (parts.p as usize, parts.q as usize);
        let pose_p = self.p.motion_of(p).pose_rounded(&self.p.at_start().parts[p].pose, t);
        let pose_q = self.q.motion_of(q).pose_rounded(&self.q.at_start().parts[q].pose, t);
        self.parts_at(parts, [pose_p, pose_q])
    }

    /// Whether a robot moves one of the two bodies.
    pub(crate) fn is_on_chain(&self) -> bool {
        self.p.is_on_chain() || self.q.is_on_chain()
    }

    /// Where and how two parts meet at a time, of which robots move one or both.
    fn impact_on_chains(
        &self,
        parts: PartPair,
        t: f64,
        notes: &mut Notes<'_>,
    ) -> Result<Option<Impact>, Stopped> {
        let p = self.p.course(parts.p as usize);
        let (Some(p), Some(q)) = (p, self.q.course(parts.q as usize)) else { return Ok(None) };
        let two = self.parts_at(parts, [p.pose_rounded(t), q.pose_rounded(t)]);
        self.impact_of(parts, &two, notes).map(Some)
    }
}
