//! The judge of statements about bodies of several convex parts: exactly, from what is proven of
//! some parts of the one and some of the other.
//!
//! Bodies are separated if every pair of parts is, touch if some pair does and no pair overlaps,
//! and overlap if some pair does. So a list of entries proves it: each names parts, of which it is
//! judged as if they were all there is.

use super::convex::{judge_convex, judge_convex_margin, judge_met_at_start, judge_start};
use super::direction::exact_direction;
use super::exact::{Exact, greatest_along};
use super::motion::{judge_freedom, judge_motion, judge_start_and_times, judge_times};
use super::refusal::Refusal;
use super::rounded::{RoundedBodies, signed_compared, sum};
use crate::claim::{
    Bodies, Compounds, ConvexProof, Course, Direction, KnownParts, MarginClaim, Measured,
    MotionClaim, MotionEntries, Outcome, PartMotion, PartStatement, Parts, Points, StaticProof,
    Verdict,
};
use crate::effort::Effort;
use crate::number::dyadic::Dyadic;
use std::cmp::Ordering;

impl Compounds<'_> {
    /// That an entry names parts of both bodies, each once: then there are no more than the bodies
    /// have, and as many pairs of them.
    pub(super) fn judge_parts(&self, parts: &Parts) -> Result<(), Refusal> {
        let judge = |named: &[u32], count: usize| {
            let mut is_named = vec![false; count];
            for &part in named {
                let is_named = is_named.get_mut(part as usize).ok_or(Refusal::NoSuchPart)?;
                if std::mem::replace(is_named, true) {
                    return Err(Refusal::PartTwice);
                }
            }
            if named.is_empty() { Err(Refusal::NoSuchPart) } else { Ok(()) }
        };
        judge(&parts.p, self.p.len())?;
        judge(&parts.q, self.q.len())
    }

    /// The two, if the entry names one of each.
    pub(super) fn only(&self, parts: &Parts) -> Option<RoundedBodies<'_>> {
        match (&parts.p[..], &parts.q[..]) {
            (&[p], &[q]) => Some(self.pair(p, q)),
            _ => None,
        }
    }

    /// Two parts, with their radii.
    fn pair(&self, p: u32, q: u32) -> RoundedBodies<'_> {
        let (p, q) = (p as usize, q as usize);
        let radii = [self.radii[0][p], self.radii[1][q]];
        RoundedBodies { cores: Bodies { p: self.p[p], q: self.q[q] }, radii }
    }

    /// Whether entries are about every pair of parts; if not, the first that none is about.
    pub(super) fn are_covered<'e>(
        &self,
        entries: impl Iterator<Item = &'e Parts>,
        effort: &mut Effort<'_>,
    ) -> Result<(), Refusal> {
        let count = self.q.len();
        let mut is_covered = vec![false; self.p.len() * count];
        for parts in entries {
            effort.spend_step()?;
            for &p in &parts.p {
                for &q in &parts.q {
                    is_covered[p as usize * count + q as usize] = true;
                }
            }
        }
        let number = |place: usize| u32::try_from(place).expect("limited at the door");
        match is_covered.iter().position(|covered| !covered) {
            None => Ok(()),
            Some(at) => Err(Refusal::PartsOpen(number(at / count), number(at % count))),
        }
    }

    /// Whether a vector separates all parts named of P from all named of Q.
    fn judge_separated(
        &self,
        parts: &Parts,
        direction: &Direction,
        effort: &mut Effort<'_>,
    ) -> Result<(), Refusal> {
        let s = self.exact_direction(parts, direction)?;
        let gaps = self.gaps_along(parts, &s, effort)?;
        let is_apart = |gap: &RoundedGap| signed_compared(&gap.of_cores, &s, &gap.radii);
        let are_apart = gaps.iter().all(|gap| is_apart(gap) == Ordering::Greater);
        if are_apart { Ok(()) } else { Err(Refusal::NotSeparating) }
    }

    /// A direction that an entry gives, exactly. Of several parts together it has to be a vector,
    /// which means the same whatever the parts.
    pub(super) fn exact_direction(
        &self,
        parts: &Parts,
        direction: &Direction,
    ) -> Result<Exact, Refusal> {
        match (self.only(parts), direction) {
            (Some(pair), _) => exact_direction(&pair.cores, direction),
            (None, Direction::Vector(_)) => {
                exact_direction(&Bodies { p: self.p[0], q: self.q[0] }, direction)
            }
            (None, _) => Err(Refusal::NoDirection),
        }
    }

    /// The least of `s·y` over parts named of Q less the greatest of `s·x` over parts named of P:
    /// one number for all those of the same radii.
    pub(super) fn gaps_along(
        &self,
        parts: &Parts,
        s: &Exact,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<RoundedGap>, Refusal> {
        let back = s.each_ref().map(|c| -c);
        let tops_of_p = tops(self.p, self.radii[0], &parts.p, s, effort)?;
        let tops_of_q = tops(self.q, self.radii[1], &parts.q, &back, effort)?;
        let mut gaps = Vec::with_capacity(tops_of_p.len() * tops_of_q.len());
        for (of_p, p) in &tops_of_p {
            for (of_q, q) in &tops_of_q {
                effort.spend_step()?;
                gaps.push(RoundedGap { of_cores: -&(p + q), radii: sum(&[*of_p, *of_q])? });
            }
        }
        if gaps.is_empty() { Err(Refusal::NoSuchPart) } else { Ok(gaps) }
    }

    fn judge_statement(
        &self,
        entry: &PartStatement,
        effort: &mut Effort<'_>,
    ) -> Result<(), Refusal> {
        match (self.only(&entry.parts), &entry.proof) {
            (Some(pair), proof) => judge_convex(pair, proof, effort),
            (None, ConvexProof::Polytopes(StaticProof::Separated { direction })) => {
                self.judge_separated(&entry.parts, direction, effort)
            }
            (None, ConvexProof::Polytopes(_) | ConvexProof::Rounded(_)) => {
                Err(Refusal::SeveralParts)
            }
        }
    }
}

/// How far parts of P and of Q are from each other along a direction.
pub(super) struct RoundedGap {
    /// Between the polytopes, times the direction's length.
    pub(super) of_cores: Dyadic,
    /// The sum of the radii, metres.
    pub(super) radii: Dyadic,
}

/// The greatest of `s·x` over the parts named, for each radius that some of them have.
fn tops(
    parts: &[Points<'_>],
    radii: &[f64],
    named: &[u32],
    s: &Exact,
    effort: &mut Effort<'_>,
) -> Result<Vec<(f64, Dyadic)>, Refusal> {
    let mut tops: Vec<(f64, Dyadic)> = Vec::new();
    for &part in named {
        effort.spend_step()?;
        let (top, radius) =
            (greatest_along(&parts[part as usize], s, effort)?, radii[part as usize]);
        match tops.iter_mut().find(|(known, _)| known.to_bits() == radius.to_bits()) {
            Some((_, known)) if *known < top => *known = top,
            Some(_) => {}
            None => tops.push((radius, top)),
        }
    }
    Ok(tops)
}

/// What is wrong with an entry is said with its place; that there was no effort left is no fault of
/// it.
pub(super) fn of_entry(at: usize, why: Refusal) -> Refusal {
    if matches!(why, Refusal::Stopped(_)) { why } else { Refusal::EntryFails(at, Box::new(why)) }
}

/// Proves the verdict from scratch: every entry holds, and together they say it.
///
/// ```
/// use clearance_geometry::claim::{
///     Compounds, Direction, PartStatement, Parts, Points, StaticProof, Verdict,
/// };
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_compounds;
/// use clearance_geometry::{Vec3, pose::Pose};
///
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let at = |z| Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) };
/// // P has two parts, Q one, which is above both.
/// let (p, q) = ([at(0.0), at(2.0)], [at(5.0)]);
/// let radii: [&[f64]; 2] = [&[0.0, 0.0], &[0.0]];
/// let bodies = Compounds { p: &p, q: &q, radii };
/// let parts = Parts { p: vec![0, 1], q: vec![0] };
/// let up = Direction::Vector(Vec3::new(0.0, 0.0, 1.0));
/// let proof = StaticProof::Separated { direction: up }.into();
/// let entry = PartStatement {
///     parts, proof, margin_pairs: Default::default(), margin_depth: None
/// };
/// let (entries, effort) = ([entry], &mut Effort::unlimited());
/// assert!(judge_compounds(&bodies, Verdict::Separated, &entries, effort).is_ok());
/// assert!(judge_compounds(&bodies, Verdict::Touching, &entries, effort).is_err());
/// ```
pub fn judge_compounds(
    bodies: &Compounds<'_>,
    verdict: Verdict,
    entries: &[PartStatement],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_compounds_beside(bodies, verdict, entries, &[], effort)
}

/// The same where it is known of some parts how they stand, which was proven apart from this.
pub fn judge_compounds_beside(
    bodies: &Compounds<'_>,
    verdict: Verdict,
    entries: &[PartStatement],
    known: &[KnownParts],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    for one in known {
        effort.spend_step()?;
        bodies.judge_parts(&one.parts)?;
    }
    for (at, entry) in entries.iter().enumerate() {
        effort.spend_step()?;
        let named = bodies.judge_parts(&entry.parts);
        let judged = named.and_then(|()| bodies.judge_statement(entry, effort));
        judged.map_err(|why| of_entry(at, why))?;
    }
    let stated = entries.iter().map(|entry| entry.proof.verdict());
    let worst = stated.chain(known.iter().map(|one| one.verdict)).max();
    if worst != Some(verdict) {
        return Err(Refusal::BoundFails("the entries are for another verdict"));
    }
    match verdict {
        Verdict::Overlapping => Ok(()),
        Verdict::Separated | Verdict::Touching => {
            let of_known = known.iter().map(|one| &one.parts);
            bodies.are_covered(entries.iter().map(|entry| &entry.parts).chain(of_known), effort)
        }
    }
}

/// Proves what is said of a margin of bodies that the entries prove separated: within it if one
/// entry shows that, beyond it if all do. Of a margin below 0 the bodies may stand in any way:
/// within it are those of which an entry shows parts that overlap so deep, and beyond it those of
/// which the entries show that no two parts do.
///
/// ```
/// use clearance_geometry::claim::{
///     Compounds, Direction, PartStatement, Parts, Points, StaticProof,
/// };
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_compounds_margin;
/// use clearance_geometry::{Vec3, pose::Pose};
///
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let at = |z| Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) };
/// // P has two parts, Q one, which is above both.
/// let (p, q) = ([at(0.0), at(2.0)], [at(5.0)]);
/// let radii: [&[f64]; 2] = [&[0.0, 0.0], &[0.0]];
/// let bodies = Compounds { p: &p, q: &q, radii };
/// let parts = Parts { p: vec![0, 1], q: vec![0] };
/// let up = Direction::Vector(Vec3::new(0.0, 0.0, 1.0));
/// let proof = StaticProof::Separated { direction: up }.into();
/// let entries = [PartStatement {
///     parts, proof, margin_pairs: Default::default(), margin_depth: None
/// }];
/// let effort = &mut Effort::unlimited();
/// assert!(judge_compounds_margin(&bodies, 1.5, false, &entries, effort).is_ok());
/// assert!(judge_compounds_margin(&bodies, 2.5, false, &entries, effort).is_err());
/// ```
pub fn judge_compounds_margin(
    bodies: &Compounds<'_>,
    margin: f64,
    is_within: bool,
    entries: &[PartStatement],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let mut last = Err(Refusal::BoundFails("no entry shows it"));
    let is_deep = margin < 0.0;
    if is_deep && !is_within {
        bodies.are_covered(entries.iter().map(|entry| &entry.parts), effort)?;
    }
    for (at, entry) in entries.iter().enumerate() {
        let is_asked = match entry.proof.verdict() {
            Verdict::Separated => !is_deep || !is_within,
            Verdict::Touching => is_deep && !is_within,
            Verdict::Overlapping => is_deep,
        };
        if !is_asked {
            continue;
        }
        let depth = entry.margin_depth.as_ref();
        let claim = MarginClaim { margin, is_within, pairs: &entry.margin_pairs, depth };
        for &p in &entry.parts.p {
            for &q in &entry.parts.q {
                effort.spend_step()?;
                last = judge_convex_margin(bodies.pair(p, q), &entry.proof, &claim, effort)
                    .map_err(|why| of_entry(at, why));
                match &last {
                    Ok(()) if is_within => return Ok(()),
                    Err(Refusal::Stopped(_)) => return last,
                    Err(_) if !is_within => return last,
                    _ => {}
                }
            }
        }
    }
    last
}

/// Proves a first contact of moving bodies from scratch, or that there is none: of every pair of
/// parts that it is free until then, and of one that it is in contact.
///
/// `course` is that of two parts, by their places.
pub fn judge_compounds_motion<'a>(
    bodies: &Compounds<'a>,
    course: impl Fn(u32, u32) -> Course<'a>,
    claimed: &MotionEntries<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &MotionEntries { outcome, t_free, t_contact, is_start_open, entries, known } = claimed;
    if entries.is_empty() {
        judge_times(outcome, t_free, t_contact)?;
    }
    let is_contact = outcome == Outcome::Contact;
    let is_at_start = is_contact && t_contact <= 0.0;
    // The last reason why an entry does not show the contact.
    let (mut is_met, mut unmet) = (false, Refusal::BoundFails("no entry shows the contact"));
    for one in known {
        effort.spend_step()?;
        bodies.judge_parts(&one.parts)?;
        is_met |= judge_known_way(one, claimed)?;
    }
    for (at, entry) in entries.iter().enumerate() {
        let PartMotion { parts, claim, .. } = entry;
        effort.spend_step()?;
        bodies.judge_parts(parts).map_err(|why| of_entry(at, why))?;
        let is_alone = parts.p.len() == 1 && parts.q.len() == 1;
        let shows_contact = is_alone && is_contact && has_proof_of_contact(entry);
        let is_start_alone = is_at_start || (is_start_open && claim.chain.is_empty());
        for &p in &parts.p {
            for &q in &parts.q {
                effort.spend_step()?;
                if !is_alone && !is_for_many(entry) {
                    return Err(of_entry(at, Refusal::SeveralParts));
                }
                let (course, pair) = (course(p, q), bodies.pair(p, q));
                if shows_contact {
                    match judge_entry(&course, pair, entry, effort) {
                        Ok(()) => {
                            is_met = true;
                            continue;
                        }
                        Err(why @ Refusal::Stopped(_)) => return Err(why),
                        Err(why) => unmet = of_entry(at, why),
                    }
                }
                judge_until_contact(&course, pair, entry, is_start_alone, effort)
                    .map_err(|why| of_entry(at, why))?;
            }
        }
    }
    if is_contact && !is_met {
        return Err(unmet);
    }
    if is_at_start || is_start_open {
        return Ok(());
    }
    let of_known = known.iter().map(|one| &one.parts);
    bodies.are_covered(entries.iter().map(|entry| entry.parts).chain(of_known), effort)
}

/// That two parts, of which it is known when they first meet, are free as long as is claimed;
/// whether they show the contact, too.
fn judge_known_way(known: &KnownParts, claimed: &MotionEntries<'_>) -> Result<bool, Refusal> {
    let Measured::Course { outcome, t_free, t_contact } = known.measured else {
        return Err(Refusal::BoundFails("an entry does not say when the parts first meet"));
    };
    let (is_contact, meets) = (claimed.outcome == Outcome::Contact, outcome == Outcome::Contact);
    let is_met = is_contact && meets && t_contact <= claimed.t_contact;
    if is_contact && claimed.t_contact <= 0.0 {
        return Ok(is_met);
    }
    if known.verdict != Verdict::Separated || meets && t_contact <= 0.0 {
        return Err(Refusal::BoundFails("the bodies are in contact at t = 0"));
    }
    let is_free = outcome == Outcome::NoContact;
    // Written so that NaN is refused.
    let is_kept = is_free || claimed.outcome != Outcome::NoContact && claimed.t_free <= t_free;
    if is_kept { Ok(is_met) } else { Err(Refusal::BoundFails("the parts are not free until then")) }
}

/// Proves all that an entry claims of two parts.
fn judge_entry(
    course: &Course<'_>,
    pair: RoundedBodies<'_>,
    entry: &PartMotion<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let PartMotion { initial, start, ref claim, .. } = *entry;
    let Some(initial) = initial else { return judge_motion(course, claim, effort) };
    match &judge_start(pair, initial, start, effort)? {
        Some(initial) => {
            judge_motion(course, &MotionClaim { initial: Some(initial), ..*claim }, effort)
        }
        None => judge_met_at_start(claim),
    }
}

/// Whether a claim of contact says how it is shown: by pairs, or at t = 0 by the verdict there.
fn has_proof_of_contact(PartMotion { initial, claim, .. }: &PartMotion<'_>) -> bool {
    let is_shown_by_verdict = claim.t_contact <= 0.0
        && initial.is_some_and(|proof| proof.verdict() != Verdict::Separated);
    !claim.pairs.is_empty() || is_shown_by_verdict
}

/// Proves all of a claim but contact. Free until a contact at the start is no time at all, but what
/// an entry says of the start it has to show. A start in contact is a contact at t = 0, and the
/// answer would be that.
fn judge_until_contact(
    course: &Course<'_>,
    pair: RoundedBodies<'_>,
    entry: &PartMotion<'_>,
    is_start_alone: bool,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let PartMotion { initial, start, ref claim, .. } = *entry;
    let judged = initial.map(|initial| judge_start(pair, initial, start, effort)).transpose()?;
    let met = Err(Refusal::BoundFails("the bodies are in contact at t = 0"));
    let initial = match &judged {
        // Rounded, and in contact.
        Some(None) => return met,
        Some(Some(proof)) => Some(proof),
        None => None,
    };
    let claim = MotionClaim { initial, ..*claim };
    if !is_start_alone {
        return judge_freedom(course, &claim, effort).map(drop);
    }
    judge_start_and_times(course, &claim, effort)?;
    let is_apart = initial.is_none_or(|proof| proof.verdict() == Verdict::Separated);
    if is_apart { Ok(()) } else { met }
}

/// Vertex pairs say nothing about parts of which several are named.
fn is_for_many(PartMotion { initial, claim, .. }: &PartMotion<'_>) -> bool {
    let is_vector = |direction: &Direction| matches!(direction, Direction::Vector(_));
    let is_start_for_many = match initial {
        None => true,
        Some(ConvexProof::Polytopes(StaticProof::Separated { direction })) => is_vector(direction),
        Some(ConvexProof::Polytopes(_) | ConvexProof::Rounded(_)) => false,
    };
    is_start_for_many && claim.chain.iter().all(|link| is_vector(&link.direction))
}
