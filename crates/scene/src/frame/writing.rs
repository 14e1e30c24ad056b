//! The report of a frame: the listed pairs with their proofs, as far as it has room for them, and
//! what is to be said beside them. What it says is remembered.
//!
//! Two bodies of 256 parts have 65,536 pairs of parts, and a proof of each of them takes some
//! hundred bytes: of forty such bodies close to each other the proofs took 7.8 GB, of which the
//! report that was sent had 4 MB. So bodies with many pairs of parts are first answered without
//! proofs. Then the listed pairs are told in their order: what is not proven yet is found out again
//! with its proofs, a few pairs at a time, for which memory is taken before, until they are more
//! than whoever reads the report may take. Pairs beyond are omitted: a pair without its proofs
//! would look like one that has none.

use arrayvec::ArrayVec;

use crate::declared::question::Questions;
use crate::frame::scene::Scene;
use crate::frame::step::{PLAIN, Round};
use crate::memory::kept::{Noted, Said};
use crate::memory::runner::PairWork;
use crate::pair_key::PairKey;
use crate::pairs::answer::PairAnswer;
use crate::pairs::report::{
    Aliased, Event, PairReport, PartChain, PartGap, PartPair, PartProof, PartReach, PlacedNumbers,
    Report,
};
use crate::pairs::state::Task;
use crate::pairs::work::{bytes_of_curved_proofs, can_be_proven, has_curved_parts, part_pairs};
use crate::placed::entry::{Entry, PlacedPart};
use crate::unanswered::{Unanswered, go_on};
use clearance_bodies::table::along::MeasuredRange;
use clearance_geometry::Vec3;
use clearance_geometry::pair::VertexPair;

/// So many pairs of parts, or a pair of bodies, are proven before it is counted what that takes.
const PARTS_AT_ONCE: usize = 1 << 15;

/// The proof of the depth of two parts of which one is curved takes as much as so many others.
const DEPTH_PROOFS: usize = 4;

/// So many pairs are told before that.
const PAIRS_AT_ONCE: usize = 1 << 12;

/// What is to be remembered of a pair.
pub(crate) struct Remark {
    key: PairKey,
    /// What is noted of it from now on, where that changes.
    noted: Option<Option<Noted>>,
    /// The same for the table, and the pair's place there.
    said: Option<(u32, Said)>,
    is_open: bool,
}

impl Scene {
    fn can_be_proven(&self, key: PairKey) -> bool {
        let [p, q] = [key.p, key.q].map(|index| &self.entries[index as usize]);
        can_be_proven(p, q)
    }

    /// What telling a pair takes, bytes: with its proofs, at most where they are still to be made.
    fn bytes_to_tell(&self, key: PairKey, questions: &Questions) -> usize {
        let answer = self.told(key);
        let own = size_of::<PairReport>() + answer.bytes_of_lists();
        if !questions.certificates || answer.proofs.is_some() || !self.can_be_proven(key) {
            return own;
        }
        let if_asked = |is_asked: bool, bytes: usize| if is_asked { bytes } else { 0 };
        let measured = size_of::<(PartPair, ArrayVec<VertexPair, 3>)>();
        let each = size_of::<PartProof>()
            + if_asked(answer.distance.is_some(), size_of::<PartGap>() + measured)
            + if_asked(answer.depth.is_some(), 2 * size_of::<PartReach>())
            + if_asked(answer.along.is_some(), size_of::<(PartPair, MeasuredRange)>())
            + if_asked(answer.contact.is_some(), size_of::<PartChain>());
        let [p, q] = [key.p, key.q].map(|index| &self.entries[index as usize]);
        // They are in a list that grows, and in the report.
        let of_way = usize::from(answer.contact.is_some());
        // With the surfaces that show the lower end of a depth.
        let of_depth = if_asked(answer.depth.is_some(), DEPTH_PROOFS);
        let claims = 1 + usize::from(answer.distance.is_some()) + of_depth + of_way;
        own + 2 * each * part_pairs(p, q) + 2 * claims * bytes_of_curved_proofs(p, q)
    }

    /// Remembers what is said.
    fn take_note(&mut self, remarks: Vec<Remark>) {
        self.open.clear();
        for Remark { key, noted, said, is_open } in remarks {
            if is_open {
                self.open.push(key);
            }
            match noted {
                None => {}
                Some(None) => drop(self.noted.remove(&key)),
                Some(Some(noted)) => drop(self.noted.insert(key, noted)),
            }
            if let Some((place, said)) = said {
                self.table.set_said_at(place, said);
            }
        }
    }

    /// The bodies that turned by more than a quarter turn on a way that is asked about. Robots turn
    /// what they carry as their joints say.
    fn aliased(&self, questions: &Questions) -> Aliased {
        let mut aliased = Aliased::default();
        if questions.between.is_none() && !self.has_chosen {
            return aliased;
        }
        for &body in &self.turned_far {
            let entry = &self.entries[body as usize];
            let is_asked = questions.between.is_some() || entry.body.continuous;
            if !is_asked || entry.teleported || entry.carrier.is_some() {
                continue;
            }
            aliased.count += 1;
            if aliased.first.len() < Aliased::NAMED_MAX {
                aliased.first.push(entry.body.id);
            }
        }
        aliased
    }

    /// The twelve numbers of every part that has moved, or is new, since the last answer.
    fn moved_parts(&self) -> Vec<PlacedNumbers> {
        let is_new = |entry: &&Entry| entry.start.is_some() || entry.teleported;
        let entries: Vec<&Entry> = if self.has_changed {
            self.entries.iter().filter(is_new).collect()
        } else {
            self.moved.iter().map(|&body| &self.entries[body as usize]).collect()
        };
        entries
            .into_iter()
            .flat_map(|entry| {
                let numbers = |(part, placed): (usize, &PlacedPart)| PlacedNumbers {
                    body: entry.body.id,
                    part: part as u32,
                    pose: placed.pose,
                };
                entry.now().parts.iter().enumerate().map(numbers).collect::<Vec<_>>()
            })
            .collect()
    }
}

impl Round<'_> {
    /// The report of all that was found out; what it says is remembered.
    pub(crate) fn written(
        &mut self,
        scene: &mut Scene,
        events: Vec<Event>,
    ) -> Result<Report, Unanswered> {
        let questions = self.work.questions;
        let pairs = self.pairs(scene)?;
        let remarks = self.remarks(scene)?;
        scene.take_note(remarks);
        Ok(Report {
            frame: scene.applied,
            previous: scene.answered,
            pairs,
            ranking: std::mem::take(&mut self.ranking.pairs),
            pairs_omitted: self.omitted,
            events,
            tally: self.tally,
            counters: std::mem::take(&mut self.counters),
            moved: if questions.placed { scene.moved_parts() } else { Vec::new() },
            frames_skipped: scene.skipped.saturating_sub(1),
            aliased: scene.aliased(questions),
        })
    }

    /// What the report says of the listed pairs, as far as it has room for them.
    fn pairs(&mut self, scene: &mut Scene) -> Result<Vec<PairReport>, Unanswered> {
        let PairWork { questions, runner, until } = self.work;
        // A pair without its polygon would look like one that has none.
        let with_polygons = if questions.polygons { self.polygons.len() } else { usize::MAX };
        let listed_max = scene.limits.listed_max.min(with_polygons);
        let all = self.listed.len();
        let listed: Vec<(PairKey, bool)> =
            self.listed.iter().take(listed_max).map(|(key, with)| (*key, *with)).collect();
        let mut polygons = std::mem::take(&mut self.polygons).into_iter();
        let (mut pairs, mut wire_bytes) = (Vec::new(), 0_usize);
        while pairs.len() < listed.len() && wire_bytes <= questions.proof_bytes_max {
            go_on(until)?;
            let left = &listed[pairs.len()..];
            let next = &left[..how_many_at_once(scene, left)];
            let bytes = until.each(next).map(|(key, _)| scene.bytes_to_tell(*key, questions));
            let bytes = bytes.fold(0, usize::saturating_add);
            if !runner.has_room(bytes) {
                break;
            }
            self.prove(scene, next)?;
            let mut taken = 0;
            for (key, with_distance) in until.each(next) {
                if wire_bytes > questions.proof_bytes_max {
                    break;
                }
                let polygon = polygons.next().unwrap_or_default();
                let (pair, least) = self.told(scene, *key, *with_distance, polygon);
                taken += pair.bytes();
                wire_bytes = wire_bytes.saturating_add(least);
                pairs.push(pair);
            }
            next.iter().for_each(|(key, _)| drop(scene.table.take_proven(*key)));
            runner.give_back(bytes.saturating_sub(taken));
            if taken > bytes && !runner.has_room(taken - bytes) {
                break;
            }
        }
        go_on(until)?;
        self.omitted = (all - pairs.len()) as u64;
        Ok(pairs)
    }

    /// Makes the proofs of those of these pairs that have none.
    fn prove(&mut self, scene: &mut Scene, next: &[(PairKey, bool)]) -> Result<(), Unanswered> {
        if !self.work.questions.certificates {
            return Ok(());
        }
        let is_missing =
            |key: &PairKey| scene.can_be_proven(*key) && scene.told(*key).proofs.is_none();
        let keys: Vec<PairKey> = next.iter().map(|(key, _)| *key).filter(is_missing).collect();
        self.ask(scene, &keys, Task::Prove)
    }

    /// What is said of a pair, and how many bytes of a report its proofs take at least.
    fn told(
        &self,
        scene: &mut Scene,
        key: PairKey,
        with_distance: bool,
        polygon: Vec<Vec3>,
    ) -> (PairReport, usize) {
        let questions = self.work.questions;
        let proven = scene.table.take_proven(key);
        let known = scene.told(key);
        // Where the search for proofs was stopped, what is known is told without them.
        let has_ended = |proven: &PairAnswer| proven.verdict == known.verdict;
        let answer = proven.as_deref().filter(|proven| has_ended(proven)).unwrap_or(&known);
        let stopped = proven.as_ref().and_then(|proven| proven.stopped).or(answer.stopped);
        let with_depth = questions.depths || self.ranking.keys.contains(&key);
        let depth = answer.depth.as_deref().filter(|_| with_depth);
        let distance = answer.distance.as_deref().filter(|_| with_distance);
        let along = answer.along.as_deref().filter(|_| questions.along.is_some());
        let proofs = answer.proofs.as_ref().filter(|_| questions.certificates);
        let normal = known.meeting.as_ref().and_then(|known| known.normal);
        let normal = normal.filter(|_| questions.normals);
        let of_polygon = answer.depth.as_deref().filter(|_| questions.polygon_depth > 0.0);
        let of_polygon = of_polygon.map(|deepest| deepest.parts);
        let [p, q] = [key.p, key.q].map(|index| &scene.entries[index as usize]);
        let pair = PairReport {
            p: scene.id_of(key.p),
            q: scene.id_of(key.q),
            verdict: answer.verdict,
            deciding: normal.map(|normal| normal.parts).or(of_polygon).or(answer.deciding),
            within_margin: answer.within_margin,
            margin: scene.book.margin(key),
            distance: distance.map(|(_, distance)| distance.clone()),
            depth: depth.cloned(),
            normal: normal.map(|normal| normal.normal),
            face_depth: normal.and_then(|normal| normal.depth),
            polygon,
            along: along.cloned(),
            first_contact: answer.contact.as_deref().cloned(),
            proofs: proofs.cloned().unwrap_or_default(),
            is_beyond_proof: !scene.can_be_proven(key),
            has_curved_parts: has_curved_parts(p, q),
            stopped,
        };
        let counts = [key.p, key.q].map(|at| scene.entries[at as usize].body.parts.len());
        let least = if questions.certificates { pair.proof_bytes_min(counts) } else { 0 };
        (pair, least)
    }

    /// What is to be remembered of what is said.
    fn remarks(&self, scene: &Scene) -> Result<Vec<Remark>, Unanswered> {
        let until = self.work.until;
        let remark = |&key: &PairKey| {
            let answer = scene.told(key);
            let known = answer.verdict.zip(answer.within_margin);
            let known = known.map(|(verdict, within_margin)| Noted { verdict, within_margin });
            let before = scene.noted.get(&key).copied();
            let noted = known.map_or(before, |noted| Some(noted).filter(|noted| *noted != PLAIN));
            let said = Said {
                noted: noted.map(|noted| (noted.verdict, noted.within_margin)),
                is_announced: scene.contacts.contains_key(&key),
            };
            let place = scene.table.place_of(key);
            let is_other = |place: &u32| scene.table.at(*place).said != said;
            Remark {
                key,
                noted: (noted != before).then_some(noted),
                said: place.filter(is_other).map(|place| (place, said)),
                is_open: answer.is_open(),
            }
        };
        let says_something =
            |remark: &Remark| remark.is_open || remark.noted.is_some() || remark.said.is_some();
        let remarks = until.each(&self.notable).map(remark).filter(says_something).collect();
        go_on(until)?;
        Ok(remarks)
    }
}

/// How many of these pairs are told before it is counted what that takes: one at least.
fn how_many_at_once(scene: &Scene, left: &[(PairKey, bool)]) -> usize {
    let mut parts = 0_usize;
    let more = left.iter().take(PAIRS_AT_ONCE).take_while(|(key, _)| {
        let has_room = parts < PARTS_AT_ONCE;
        let [p, q] = [key.p, key.q].map(|index| &scene.entries[index as usize]);
        parts = parts.saturating_add(part_pairs(p, q));
        has_room
    });
    more.count()
}
