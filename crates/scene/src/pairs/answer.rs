//! What a pair of bodies is asked, and what is known of it.

use crate::bounds::Gap;
use crate::declared::body::Part;
use crate::declared::question::{Between, Questions};
use crate::methods::{AskedOf, Methods};
use crate::pairs::meshes::PartsProof;
use crate::pairs::notes::Notes;
use crate::pairs::report::{PairContact, PairDepth, PairDistance, PairRange, PartPair, PartProof};
use crate::pairs::two_parts::TwoParts;
use crate::placed::entry::{PairSide, Placement};
use clearance_bodies::table::Wanted;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{ConvexProof, StaticProof, Verdict};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::meeting::Impact;
use clearance_geometry::pose::Pose;
use clearance_geometry::until::Until;
use clearance_geometry::witness::Witness;

/// Everything a pair is asked about; shared by all threads, changed by none.
pub(crate) struct Asking<'a> {
    pub(crate) p: PairSide<'a>,
    pub(crate) q: PairSide<'a>,
    /// The pair's margin, metres.
    pub(crate) margin: f64,
    /// A contact begins where the distance is at most this, metres.
    pub(crate) begin_margin: f64,
    /// A contact ends where the distance exceeds this, metres.
    pub(crate) release_margin: f64,
    /// Whether and how finely to look at the way to this frame.
    pub(crate) between: Option<Between>,
    /// Whether a contact of this pair is announced.
    pub(crate) is_announced: bool,
    /// The number of this answer.
    pub(crate) answers: u64,
    /// Whether proofs are kept of what is found out. Of bodies with many pairs of parts they are
    /// made only where a report has room for them: see `proofs`.
    pub(crate) proves: bool,
    pub(crate) questions: &'a Questions,
    pub(crate) methods: &'a Methods,
    pub(crate) until: &'a Until,
}

/// What is known about a pair.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairAnswer {
    pub(crate) verdict: Option<Verdict>,
    /// The first parts that overlap, else touch.
    pub(crate) deciding: Option<PartPair>,
    /// Proven apart by the boxes of the two bodies alone.
    pub(crate) by_boxes: bool,
    pub(crate) within_margin: Option<bool>,
    /// While the supporting values of the bodies change by less than this, in all, the verdict and
    /// what is said of the margin stay the same, metres: see `geometry::separation::Roomy`.
    pub(crate) room: f64,
    /// Separated, and near enough for a contact to begin; asked only where that is not contact.
    pub(crate) within_begin: Option<bool>,
    /// Separated by more than the release margin; asked only of announced contacts.
    pub(crate) beyond_release: Option<bool>,
    /// Present when certificates were asked.
    pub(crate) proofs: Option<Vec<PartProof>>,
    /// First contact within the pair's margin: what is reported.
    pub(crate) contact: Option<Box<PairContact>>,
    /// First contact as events are about it, when the margin makes that another question.
    pub(crate) met: Option<Box<PairContact>>,
    /// With the stops that it was asked with.
    pub(crate) distance: Option<Box<(Stops, PairDistance)>>,
    pub(crate) depth: Option<Box<PairDepth>>,
    pub(crate) along: Option<Box<PairRange>>,
    /// In a box of their own, since few pairs have any.
    pub(crate) meeting: Option<Box<PairMeeting>>,
    pub(crate) stopped: Option<Stopped>,
}

impl PairAnswer {
    /// Whether something is not known that an answer about the same poses may yet tell.
    pub(crate) fn is_open(&self) -> bool {
        self.verdict.is_none() || self.within_margin.is_none() || self.stopped.is_some()
    }

    /// Whether the bodies are separated by more than their margin and surely did not meet on the
    /// way.
    pub(crate) fn is_plain(&self) -> bool {
        let met = |contact: &Option<Box<PairContact>>| {
            contact.as_ref().is_some_and(|contact| contact.may_have_met())
        };
        self.is_apart_and_beyond()
            && self.within_begin != Some(true)
            && self.stopped.is_none()
            && !met(&self.contact)
            && !met(&self.met)
    }

    /// Whether the bodies are separated and beyond their margin: beyond one that is below 0 are
    /// some that are in contact, too.
    pub(crate) fn is_apart_and_beyond(&self) -> bool {
        self.verdict == Some(Verdict::Separated) && self.within_margin == Some(false)
    }

    /// Whether the bodies met on the way to this frame, whatever the margin.
    pub(crate) fn way(&self) -> Option<&PairContact> {
        self.met.as_deref().or(self.contact.as_deref())
    }
}

/// What is known of where and when two bodies meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairMeeting {
    pub(crate) normal: Option<PairNormal>,
    /// Of parts that touch: the corners of what they have in common.
    pub(crate) polygon: Vec<Vec3>,
    /// Of a contact that has ended.
    pub(crate) parting: Option<PairParting>,
    /// Of the contact's end that was asked about last.
    pub(crate) impact: Option<Impact>,
    /// What is known of the pair with its proofs, until it is told: memory is taken for it apart.
    pub(crate) proven: Option<Box<PairAnswer>>,
}

impl PairMeeting {
    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.polygon.capacity() * size_of::<Vec3>()
    }
}

/// Along which direction one of two bodies gets away from the other soonest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairNormal {
    /// The parts that it is about.
    pub(crate) parts: PartPair,
    /// Unit vector out of Q towards P, rounded.
    pub(crate) normal: Vec3,
    /// If it is that of a face: around how far P has to go along it to be out of that, metres.
    pub(crate) depth: Option<[f64; 2]>,
}

/// The last moment of the way to this frame at which two bodies are within the release margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairParting {
    /// Encloses it: see `geometry::contact_time::LastContact`.
    pub(crate) bracket: [f64; 2],
    /// The parts that are last so near.
    pub(crate) parts: Option<PartPair>,
    /// From when on these are proven free.
    pub(crate) parts_free: f64,
}

/// Which end of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContactEnd {
    /// The beginning of the contact.
    First,
    /// The end of the contact.
    Last,
}

impl PairAnswer {
    /// Memory of what it holds beyond itself, bytes: two bodies of several parts have a proof, a
    /// gap or a reach for each two of these.
    pub(crate) fn bytes_of_lists(&self) -> usize {
        let proofs = self.proofs.as_ref();
        let proofs = proofs.map_or(0, |all| all.iter().map(PartProof::bytes).sum());
        let distance = self.distance.as_deref();
        let distance = distance.map_or(0, |known| size_of_val(known) + known.1.bytes_of_proofs());
        let depth = self.depth.as_deref();
        let depth = depth.map_or(0, |known| size_of_val(known) + known.bytes_of_proofs());
        let along = self.along.as_deref();
        let along = along.map_or(0, |known| size_of_val(known) + known.bytes_of_proofs());
        let meeting = self.meeting.as_ref().map_or(0, |known| known.bytes());
        let ways = [&self.contact, &self.met].into_iter().flatten();
        let ways = ways.map(|way| size_of_val(&**way) + way.bytes_of_proofs());
        proofs + distance + depth + along + meeting + ways.sum::<usize>()
    }

    /// Forgets the proofs: whoever asks for them is answered anew.
    pub(crate) fn forget_proofs(&mut self) {
        self.proofs = None;
        if let Some(known) = &mut self.distance {
            let found = &mut known.1;
            (found.gaps, found.curved, found.by_faces) = (Vec::new(), Vec::new(), None);
        }
        if let Some(known) = &mut self.depth {
            (known.others, known.curved) = (Vec::new(), Vec::new());
            known.depth.surface = None;
            known.depth.proof.forget();
        }
        if let Some(known) = &mut self.along {
            known.of_parts = Vec::new();
        }
        for way in [&mut self.contact, &mut self.met].into_iter().flatten() {
            way.chains = Vec::new();
        }
    }
}

/// The proof that two boxes are apart is one about what they hold.
pub(crate) fn boxes_prove(gap: &Gap) -> PartsProof {
    ConvexProof::from(StaticProof::Separated { direction: gap.direction() }).into()
}

impl Asking<'_> {
    /// Every part of P with every part of Q, in order.
    pub(crate) fn part_pairs(&self) -> impl Iterator<Item = PartPair> + use<> {
        let (count_p, count_q) = (self.p.now.parts.len() as u32, self.q.now.parts.len() as u32);
        (0..count_p).flat_map(move |p| (0..count_q).map(move |q| PartPair { p, q }))
    }

    /// Says whether the time for answers is over. Two bodies may have tens of thousands of pairs of
    /// parts, and a scene as many pairs of bodies.
    pub(crate) fn look_at_clock(&self) -> Result<(), Stopped> {
        Effort::until(u64::MAX, self.until).look_at_clock()
    }

    /// Between the boxes of two parts.
    pub(crate) fn gap(&self, parts: PartPair) -> Option<Gap> {
        let p = &self.p.now.parts[parts.p as usize];
        p.bounds.gap(&self.q.now.parts[parts.q as usize].bounds)
    }

    /// Asks about two parts where they are now, with their witness and a fresh budget.
    pub(crate) fn ask<A>(
        &self,
        asked: AskedOf,
        parts: PartPair,
        notes: &mut Notes<'_>,
        query: impl FnOnce(&TwoParts<'_>, &mut Witness, &mut Effort<'_>) -> A,
    ) -> A {
        let two = self.now(parts);
        self.spend(asked, parts, notes, |witness, effort| query(&two, witness, effort))
    }

    /// Two parts where they are now.
    pub(crate) fn now(&self, parts: PartPair) -> TwoParts<'_> {
        self.placed(parts, [&self.p.now, &self.q.now])
    }

    /// Two parts where they were at the last answered frame.
    pub(crate) fn at_start(&self, parts: PartPair) -> TwoParts<'_> {
        self.placed(parts, [self.p.at_start(), self.q.at_start()])
    }

    fn placed(&self, parts: PartPair, [at_p, at_q]: [&Placement; 2]) -> TwoParts<'_> {
        let (p, q) = (parts.p as usize, parts.q as usize);
        self.parts_at(parts, [at_p.parts[p].pose, at_q.parts[q].pose])
    }

    /// Two parts in these poses.
    pub(crate) fn parts_at(&self, parts: PartPair, poses: [Pose; 2]) -> TwoParts<'_> {
        let cover_steps_max = self.questions.cover_steps_max;
        let wanted = Wanted { certificate: self.proves, cover_steps_max };
        TwoParts::new(self.parts(parts), poses, wanted)
    }

    /// Whether one of the bodies has a polyhedron as a part.
    pub(crate) fn has_mesh(&self) -> bool {
        self.p.has_mesh() || self.q.has_mesh()
    }

    /// Whether a gap between boxes proves that what they hold is apart: of curved bodies that is
    /// proven of polytopes around them, and of no box of the world.
    pub(crate) fn is_proven_by_boxes(&self) -> bool {
        let is_curved = |side: &PairSide<'_>| {
            side.has_mesh() && side.body.parts.iter().any(|part| part.curved.is_some())
        };
        !(is_curved(&self.p) || is_curved(&self.q))
    }

    /// Whether one of two parts is curved, and all parts of both bodies are convex: then these two
    /// are proven by themselves.
    pub(crate) fn is_curved_pair(&self, parts: PartPair) -> bool {
        self.are_convex() && self.parts(parts).iter().any(|part| part.curved.is_some())
    }

    /// Whether all parts of both bodies are convex.
    pub(crate) fn are_convex(&self) -> bool {
        let is_convex =
            |side: &PairSide<'_>| !side.has_mesh() || side.body.parts.iter().all(Part::is_convex);
        is_convex(&self.p) && is_convex(&self.q)
    }

    /// Two parts, as they are declared.
    pub(crate) fn parts(&self, parts: PartPair) -> [&Part; 2] {
        [&self.p.body.parts[parts.p as usize], &self.q.body.parts[parts.q as usize]]
    }

    /// Runs a query with the parts' witness (that of the question's method alone, if that was asked
    /// for by name; a cold one for canonical answers) and a fresh budget.
    pub(crate) fn spend<A>(
        &self,
        asked: AskedOf,
        parts: PartPair,
        notes: &mut Notes<'_>,
        query: impl FnOnce(&mut Witness, &mut Effort<'_>) -> A,
    ) -> A {
        let mut effort = Effort::until(self.questions.steps_max, self.until);
        let mut cold = Witness::default();
        let alone = self.methods.is_named(asked).then_some(asked);
        let witness = if self.questions.canonical {
            &mut cold
        } else {
            notes.witnesses.of(parts.p, parts.q, alone)
        };
        let answer = query(witness, &mut effort);
        *notes.cost += effort.cost;
        if let Some(of_each) = &mut notes.cost_of_each {
            of_each[asked as usize] += effort.cost;
        }
        answer
    }
}
