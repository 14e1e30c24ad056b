//! Whether and when two bodies meet between the last answered frame and this one.

use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::bounds::Gap;
use crate::declared::question::Between;
use crate::methods::AskedOf;
use crate::pairs::answer::{Asking, PairAnswer, PairParting, boxes_prove};
use crate::pairs::notes::Notes;
use crate::pairs::report::{PairContact, PartChain, PartPair};
use crate::pairs::two_parts::PartsContact;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Frame, Link, Outcome, Verdict};
use clearance_geometry::contact_time::LastContact;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::contact::FaceCourse;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pair::Question;
use clearance_geometry::polyhedron::TriangleBody;
use clearance_geometry::pose::Pose;
use clearance_geometry::terrain::{CellRange, PlacedField, WorldBox};
use clearance_robot::body::PartBody;
use clearance_robot::meeting::{
    Met, Rendezvous, Traveller, first_meeting, first_meeting_backwards,
};

/// First contact, which is a distance of at most `margin`, or a depth of at least as much where
/// that is below 0, on the way to this frame; none when it was not asked, or when a body was put
/// where it is. `now` says how the pair stands at the end.
pub(crate) fn between(
    asking: &Asking<'_>,
    now: &PairAnswer,
    margin: f64,
    notes: &mut Notes<'_>,
) -> Option<PairContact> {
    let between = asking.between?;
    if asking.p.teleported || asking.q.teleported {
        return None;
    }
    // The question that decides events is not the one that is reported, when they differ.
    let is_on_chain = asking.is_on_chain();
    // A certificate names the motion of each body, and a chain's is none of the list.
    let is_reported = margin.to_bits() == asking.margin.to_bits();
    // No claim speaks of how deep bodies get on their way.
    let keeps_proofs = asking.proves && is_reported && !is_on_chain && margin >= 0.0;
    let has_moved = asking.p.has_moved() || asking.q.has_moved();
    // The proof of a verdict does not prove a margin, and one about faces no time but its own.
    let is_proof_enough = margin <= 0.0 && !asking.has_mesh();
    if !has_moved && (is_proof_enough || !keeps_proofs) {
        let is_within = if is_reported { now.within_margin } else { now.within_begin };
        return Some(at_rest(now, margin, is_within));
    }
    let is_beyond = |gap: &Gap| margin <= 0.0 || gap.lower > margin;
    let way = Way { asking, between, margin };
    let mut first = free();
    if let Some(gap) = asking.p.held().gap(asking.q.held()).filter(is_beyond) {
        if keeps_proofs {
            first.chains.extend(prove_all_free(&way, &gap, notes));
        }
        return Some(first);
    }
    for parts in asking.part_pairs() {
        if let Err(stopped) = asking.look_at_clock() {
            stop(&mut first, stopped);
            break;
        }
        let held = asking.p.held_part(parts.p as usize);
        if let Some(gap) = held.gap(asking.q.held_part(parts.q as usize)).filter(is_beyond) {
            if keeps_proofs {
                first.chains.extend(way.prove_free(Some(parts), &gap, notes));
            }
            continue;
        }
        if is_on_chain {
            merge(&mut first, parts, &way.ask_chains(parts, notes));
            continue;
        }
        match way.ask(parts, notes) {
            Ok(found) => merge_with_proof(&mut first, parts, found, keeps_proofs),
            Err(stopped) => stop(&mut first, stopped),
        }
    }
    if !has_moved && now.is_apart_and_beyond() && first.stopped.is_none() {
        // Known exactly. Within the clearance tolerance of the margin the chain may end early.
        first = PairContact { chains: first.chains, ..free() };
    }
    Some(first)
}

/// Proofs that no two parts meet, since the bodies are apart by a gap all the way.
fn prove_all_free(way: &Way<'_>, gap: &Gap, notes: &mut Notes<'_>) -> Vec<PartChain> {
    let asking = way.asking;
    if asking.is_proven_by_boxes() || !asking.are_convex() {
        return way.prove_free(None, gap, notes).into_iter().collect();
    }
    asking.part_pairs().flat_map(|parts| way.prove_free(Some(parts), gap, notes)).collect()
}

/// Nothing more will be known.
fn stop(first: &mut PairContact, why: Stopped) {
    first.t_free = 0.0;
    first.stopped = Some(why);
    if first.outcome == Outcome::NoContact {
        first.outcome = Outcome::Undecided;
    }
}

/// No contact, with nothing said about any part yet.
fn free() -> PairContact {
    PairContact {
        outcome: Outcome::NoContact,
        t_free: 1.0,
        t_contact: 1.0,
        parts: None,
        parts_free: 1.0,
        chains: Vec::new(),
        stopped: None,
    }
}

/// The pair did not move: it is throughout as it is now, within a margin or not.
fn at_rest(now: &PairAnswer, margin: f64, is_within: Option<bool>) -> PairContact {
    let mut contact = free();
    let in_contact = match now.verdict {
        None => None,
        Some(_) if margin < 0.0 => is_within,
        Some(Verdict::Touching | Verdict::Overlapping) => Some(true),
        Some(Verdict::Separated) if margin > 0.0 => is_within,
        Some(Verdict::Separated) => Some(false),
    };
    match in_contact {
        None => {
            contact.outcome = Outcome::Undecided;
            contact.t_free = 0.0;
            contact.stopped = now.stopped;
        }
        Some(true) => {
            contact.outcome = Outcome::Contact;
            (contact.t_free, contact.t_contact) = (0.0, 0.0);
            (contact.parts, contact.parts_free) = (now.deciding, 0.0);
        }
        Some(false) => {}
    }
    for entry in now.proofs.iter().flatten().filter(|_| margin >= 0.0) {
        let is_apart = entry.proof.verdict() == Verdict::Separated;
        let apart_along = entry.proof.direction().filter(|_| is_apart);
        contact.chains.push(PartChain {
            parts: entry.parts,
            links: apart_along.map(whole_step).into_iter().collect(),
            pairs: ArrayVec::new(),
            faces: None,
            initial: Some(entry.proof.clone()),
            start: ArrayVec::new(),
        });
    }
    contact
}

/// When two bodies, which are apart by more than the release margin now, were last within it on the
/// way to this frame; none when that was not asked, or when a body was put where it is. They are
/// free after the latest time of any parts, and in contact at or after any proven time of one.
pub(crate) fn parting(
    asking: &Asking<'_>,
    answer: &PairAnswer,
    notes: &mut Notes<'_>,
) -> Option<PairParting> {
    let between = asking.between?;
    let has_moved = asking.p.has_moved() || asking.q.has_moved();
    if asking.p.teleported || asking.q.teleported || !has_moved {
        return None;
    }
    let way = Way { asking, between, margin: asking.release_margin };
    let mut last = PairParting { bracket: [0.0, 0.0], parts: None, parts_free: 0.0 };
    for parts in asking.part_pairs() {
        let gap = asking.p.held_part(parts.p as usize).gap(asking.q.held_part(parts.q as usize));
        if gap.is_some_and(|gap| way.margin <= 0.0 || gap.lower > way.margin) {
            continue;
        }
        // What was stopped may be in contact until the end, where it is not.
        let open = LastContact {
            bracket: [0.0, 1.0],
            outcome: Outcome::Undecided,
            stopped: Some(Stopped::Unresolved),
        };
        let LastContact { bracket: [contact, free], outcome, .. } =
            way.ask_last(parts, notes).unwrap_or(open);
        let is_last = match outcome {
            Outcome::Contact => last.parts.is_none() || contact > last.bracket[0],
            // Nobody knows better of polyhedra that turn.
            Outcome::Undecided => asking.has_mesh() && free > last.bracket[1],
            Outcome::NoContact => false,
        };
        if is_last {
            (last.parts, last.parts_free) = (Some(parts), free);
        }
        last.bracket = [last.bracket[0].max(contact), last.bracket[1].max(free)];
    }
    // Whoever met on the way was in contact at some time from `t_free` to `t_contact`.
    if let Some(met) = answer.way().filter(|way| way.has_met()) {
        let [contact, free] = last.bracket;
        last.bracket = [contact.max(met.t_free), free.max(met.t_contact)];
    }
    Some(last)
}

/// What two bodies are asked about their way.
struct Way<'a> {
    asking: &'a Asking<'a>,
    between: Between,
    /// Contact means a distance of at most this, metres; below 0 that they are at least so deep.
    margin: f64,
}

impl Way<'_> {
    /// First contact of two parts.
    fn ask(&self, parts: PartPair, notes: &mut Notes<'_>) -> Result<PartsContact, Stopped> {
        if let Some(at_once) = self.met_at_start(parts, notes) {
            return Ok(at_once);
        }
        let (two, question) = (self.asking.at_start(parts), self.question(parts));
        let course = FaceCourse { question: &question, margin: self.margin };
        let method = self.asking.methods.first_contact.method;
        self.asking.spend(AskedOf::FirstContact, parts, notes, |witness, effort| {
            two.first_contact(method, &course, witness, effort)
        })
    }

    /// The proof that what boxes with a gap hold all the way does not meet; none where curved
    /// bodies, which are proven by themselves, have none.
    fn prove_free(
        &self,
        parts: Option<PartPair>,
        gap: &Gap,
        notes: &mut Notes<'_>,
    ) -> Option<PartChain> {
        let asking = self.asking;
        if asking.is_proven_by_boxes() {
            let mut chain = boxes_prove_all(parts, gap);
            // A proof about two parts names how they stand at the start; one about more need not.
            let alone = asking.p.now.parts.len() == 1 && asking.q.now.parts.len() == 1;
            chain.initial = (parts.is_none() && alone).then(|| boxes_prove(gap));
            return Some(chain);
        }
        let parts = parts.unwrap_or(PartPair { p: 0, q: 0 });
        let found = self.ask(parts, notes).ok()?;
        let is_free = found.met.outcome == Outcome::NoContact;
        is_free.then(|| found.into_chain(parts))
    }

    /// What is found of two parts that are in contact where their way begins, as those mostly are
    /// whose contact is announced: a verdict costs a tenth of a search that begins with the same.
    /// A method that is named shows its own work.
    fn met_at_start(&self, parts: PartPair, notes: &mut Notes<'_>) -> Option<PartsContact> {
        let &Asking { proves, methods, is_announced, .. } = self.asking;
        let asked = AskedOf::FirstContact;
        if !is_announced || proves || self.margin < 0.0 || methods.is_named(asked) {
            return None;
        }
        let two = self.asking.at_start(parts);
        let found =
            self.asking.spend(asked, parts, notes, |known, effort| two.contact(known, effort));
        Some(PartsContact::at_start(found.ok().flatten()?))
    }

    /// What is asked about two parts.
    fn question(&self, parts: PartPair) -> Question<'_> {
        let Self { asking, between, margin } = self;
        let two = asking.at_start(parts);
        let motion_p = asking.p.motion_of(parts.p as usize);
        let motion_q = asking.q.motion_of(parts.q as usize);
        Question {
            deviation_p: asking.p.deviation,
            deviation_q: asking.q.deviation,
            reach: two.reach(*margin),
            time_tolerance: between.time_tolerance,
            clearance_tolerance: between.clearance_tolerance,
            ..Question::new(two.cores, motion_p, motion_q)
        }
    }

    /// What is asked of two parts of which robots move one or both.
    fn rendezvous(&self) -> Rendezvous {
        let Self { asking, between, margin } = self;
        Rendezvous {
            margin: *margin,
            tolerance: between.time_tolerance,
            deviation: asking.p.deviation + asking.q.deviation,
        }
    }

    /// When two such parts meet on their chains: beside a height field the first of the rectangles
    /// of its cells that are near.
    fn meet_on_chains(
        &self,
        parts: PartPair,
        effort: &mut Effort<'_>,
        meet: fn([&Traveller; 2], Rendezvous, &mut Effort<'_>) -> Met,
    ) -> Met {
        let sides = [(&self.asking.p, parts.p as usize), (&self.asking.q, parts.q as usize)];
        let [Some(p), Some(q)] = sides.map(|(side, part)| side.course(part)) else {
            return Met::UNKNOWN;
        };
        let courses = [p, q];
        let asked = self.rendezvous();
        let ask = |bodies: [PartBody; 2], effort: &mut Effort<'_>| {
            let [p, q] = bodies;
            let [of_p, of_q] = courses.clone();
            let two = [Traveller { body: p, course: of_p }, Traveller { body: q, course: of_q }];
            meet([&two[0], &two[1]], asked, effort)
        };
        let own = sides.map(|(side, part)| side.body_on_the_way(part));
        let Some(ground) = self.ground_of(parts) else { return ask(own, effort) };
        let mut met = Met::FREE;
        let tiles = match ground.near_tiles(effort) {
            Ok(tiles) => tiles,
            Err(why) => return Met { stopped: Some(why), ..Met::UNKNOWN },
        };
        for cells in tiles {
            let body = effort.look_at_clock().and_then(|()| ground.body_of(&cells));
            match body {
                Ok(None) => {}
                Ok(Some(body)) => {
                    let mut bodies = own.clone();
                    bodies[ground.side] = body;
                    met = met.and(ask(bodies, effort));
                }
                Err(why) => return met.and(Met { stopped: Some(why), ..Met::UNKNOWN }),
            }
        }
        met
    }

    /// The height field of two parts, if one is one, and where it has to be looked at.
    fn ground_of(&self, parts: PartPair) -> Option<Ground<'_>> {
        let asking = self.asking;
        let sides = [(&asking.p, parts.p as usize), (&asking.q, parts.q as usize)];
        let side = sides.iter().position(|(one, part)| one.body.parts[*part].field.is_some())?;
        let ((own, part), (other, its)) = (sides[side], sides[1 - side]);
        let field = &own.body.parts[part].field.as_ref()?.field;
        let Rendezvous { margin, deviation, .. } = self.rendezvous();
        let held = other.held_part(its);
        let held = [Vec3::from(held.low), Vec3::from(held.high)];
        // What moves itself may come near with any of its cells.
        let near = if own.has_moved() {
            WorldBox::everything()
        } else {
            WorldBox::around(held, &Pose::identity()).widened(margin.max(0.0) + deviation)
        };
        let field = PlacedField::new(field, own.now.parts[part].pose);
        Some(Ground { side, field, near })
    }

    /// First contact of two such parts.
    fn ask_chains(&self, parts: PartPair, notes: &mut Notes<'_>) -> Met {
        self.asking.spend(AskedOf::FirstContact, parts, notes, |_, effort| {
            self.meet_on_chains(parts, effort, first_meeting)
        })
    }

    /// Last contact of two parts.
    fn ask_last(&self, parts: PartPair, notes: &mut Notes<'_>) -> Option<LastContact> {
        self.asking.look_at_clock().ok()?;
        if self.asking.is_on_chain() {
            let back = self.asking.spend(AskedOf::FirstContact, parts, notes, |_, effort| {
                self.meet_on_chains(parts, effort, first_meeting_backwards)
            });
            let Met { outcome, t_free, t_contact, stopped } = back;
            let contact = if outcome == Outcome::Contact { 1.0 - t_contact } else { 0.0 };
            let free = if outcome == Outcome::NoContact { 0.0 } else { 1.0 - t_free };
            return Some(LastContact { bracket: [contact, free], outcome, stopped });
        }
        let (two, question) = (self.asking.at_start(parts), self.question(parts));
        let course = FaceCourse { question: &question, margin: self.margin };
        let method = self.asking.methods.first_contact.method;
        let found = self.asking.spend(AskedOf::FirstContact, parts, notes, |_, effort| {
            two.last_contact(method, &course, effort)
        });
        found.ok().flatten()
    }
}

/// A height field beside what a robot moves.
struct Ground<'a> {
    /// 0 if it is the part of P, 1 if it is that of Q.
    side: usize,
    field: PlacedField<'a>,
    /// What of it may be met.
    near: WorldBox,
}

impl Ground<'_> {
    fn near_tiles(&self, effort: &mut Effort<'_>) -> Result<Vec<CellRange>, Stopped> {
        self.field.tiles_near(&self.near, effort)
    }

    /// Some cells as the surface of their triangles; none: all are holes.
    fn body_of(&self, cells: &CellRange) -> Result<Option<PartBody>, Stopped> {
        let Some(surface) = self.field.field.surface_of(cells) else { return Ok(None) };
        let hull = convex_hull(surface.vertices()).map_err(|_| Stopped::Unresolved)?.polytope;
        let mesh = TriangleBody::Surface(Arc::new(surface));
        Ok(Some(PartBody::new(Arc::new(hull), Some(mesh))))
    }
}

/// The bodies meet when the first of their parts do, and are free as long as all parts are.
fn merge(first: &mut PairContact, parts: PartPair, found: &Met) {
    first.t_free = first.t_free.min(found.t_free);
    match found.outcome {
        Outcome::NoContact => {}
        Outcome::Undecided => {
            if first.outcome == Outcome::NoContact {
                first.outcome = Outcome::Undecided;
            }
        }
        Outcome::Contact => {
            if first.outcome != Outcome::Contact || found.t_contact < first.t_contact {
                first.t_contact = found.t_contact;
                (first.parts, first.parts_free) = (Some(parts), found.t_free);
            }
            first.outcome = Outcome::Contact;
        }
    }
    if found.stopped.is_some() {
        first.stopped = found.stopped;
    }
}

/// The same, with the proof of the parts.
fn merge_with_proof(
    first: &mut PairContact,
    parts: PartPair,
    found: PartsContact,
    keeps_proofs: bool,
) {
    merge(first, parts, &found.met);
    if keeps_proofs {
        first.chains.push(found.into_chain(parts));
    }
}

impl PartsContact {
    /// What is proven of the motion of these parts.
    fn into_chain(self, parts: PartPair) -> PartChain {
        let Self { initial, faces, start, links, pairs, .. } = self;
        PartChain { parts: Some(parts), links, pairs, initial: Some(initial), faces, start }
    }
}

fn boxes_prove_all(parts: Option<PartPair>, gap: &Gap) -> PartChain {
    let links = vec![whole_step(gap.direction())];
    let (pairs, start) = (ArrayVec::new(), ArrayVec::new());
    PartChain { parts, links, pairs, initial: None, faces: None, start }
}

fn whole_step(direction: clearance_geometry::claim::Direction) -> Link {
    Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction }
}
