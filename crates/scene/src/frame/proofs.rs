//! What a report says of the listed pairs, with their proofs, as far as it has room for them.
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
use crate::frame::step::Round;
use crate::memory::runner::PairWork;
use crate::pair_key::PairKey;
use crate::pairs::answer::PairAnswer;
use crate::pairs::meshes::{FacesMotion, PartsProof};
use crate::pairs::report::{
    PairReport, PartChain, PartGap, PartPair, PartProof, PartReach, PartRow,
};
use crate::pairs::state::Task;
use crate::pairs::work::{can_be_proven, part_pairs};
use crate::waiting::Unanswered;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{ConvexProof, Cover, CoverStep, Direction, StaticProof};
use clearance_geometry::pair::VertexPair;
use clearance_geometry::penetration::Range;

/// So many pairs of parts, or a pair of bodies, are proven before it is counted what that takes.
const PARTS_AT_ONCE: usize = 1 << 15;

/// So many pairs are told before that.
const PAIRS_AT_ONCE: usize = 1 << 12;

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
            + if_asked(answer.along.is_some(), size_of::<(PartPair, Range)>())
            + if_asked(answer.contact.is_some(), size_of::<PartChain>());
        let [p, q] = [key.p, key.q].map(|index| &self.entries[index as usize]);
        // They are in a list that grows, and in the report.
        own + 2 * each * part_pairs(p, q)
    }
}

impl Round<'_> {
    /// What the report says of the listed pairs, as far as it has room for them.
    pub(crate) fn pairs(&mut self, scene: &mut Scene) -> Result<Vec<PairReport>, Unanswered> {
        let PairWork { questions, runner, waiting } = self.work;
        // A pair without its polygon would look like one that has none.
        let with_polygons = if questions.polygons { self.polygons.len() } else { usize::MAX };
        let listed_max = scene.limits.listed_max.min(with_polygons);
        let all = self.listed.len();
        let listed: Vec<(PairKey, bool)> =
            self.listed.iter().take(listed_max).map(|(key, with)| (*key, *with)).collect();
        let mut polygons = std::mem::take(&mut self.polygons).into_iter();
        let (mut pairs, mut wire_bytes) = (Vec::new(), 0_usize);
        while pairs.len() < listed.len() && wire_bytes <= questions.proof_bytes_max {
            waiting.go_on()?;
            let left = &listed[pairs.len()..];
            let next = &left[..how_many_at_once(scene, left)];
            let bytes = waiting.each(next).map(|(key, _)| scene.bytes_to_tell(*key, questions));
            let bytes = bytes.fold(0, usize::saturating_add);
            if !runner.has_room(bytes) {
                break;
            }
            self.prove(scene, next)?;
            let mut taken = 0;
            for (key, with_distance) in waiting.each(next) {
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
        waiting.go_on()?;
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
        let pair = PairReport {
            p: scene.id_of(key.p),
            q: scene.id_of(key.q),
            verdict: answer.verdict,
            deciding: normal.map(|normal| normal.parts).or(answer.deciding),
            within_margin: answer.within_margin,
            margin: scene.book.margin(key),
            distance: distance.map(|(_, distance)| distance.clone()),
            depth: depth.cloned(),
            normal: normal.map(|normal| normal.normal),
            polygon,
            along: along.cloned(),
            first_contact: answer.contact.as_deref().cloned(),
            proofs: proofs.cloned().unwrap_or_default(),
            is_beyond_proof: !scene.can_be_proven(key),
            stopped,
        };
        let counts = [key.p, key.q].map(|at| scene.entries[at as usize].body.parts.len());
        let least = if questions.certificates { pair.proof_bytes_min(counts) } else { 0 };
        (pair, least)
    }
}

impl PairReport {
    /// How many bytes of a report its proofs take at least, of bodies with so many parts.
    pub fn proof_bytes_min(&self, part_counts: [usize; 2]) -> usize {
        LeastBytes(part_counts).of(self)
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

/// What proofs take in a report at least, bytes, of bodies with so many parts: a message has a tag
/// and a length, a number that is not zero a tag and a byte, one with a fraction a tag and eight.
struct LeastBytes([usize; 2]);

impl LeastBytes {
    const MESSAGE: usize = 2;

    /// Of all proofs of a pair.
    fn of(&self, pair: &PairReport) -> usize {
        let verdict: usize = pair.proofs.iter().map(|one| self.proof(one)).sum();
        let distance = pair.distance.as_ref().map_or(0, |known| {
            let gaps: usize = known.gaps.iter().map(|gap| self.gap(gap)).sum();
            // It is in the proof of the distance, too.
            verdict + gaps + known.by_faces.as_ref().map_or(0, parts_proof)
        });
        let depth = pair.depth.as_ref().map_or(0, |known| {
            let reaches: usize = known.others.iter().map(|reach| self.reach(reach)).sum();
            let surface = known.depth.surface.as_ref();
            let surface = surface.map_or(0, |surface| {
                Self::MESSAGE * surface.corners.len() + 3 * surface.triangles.len()
            });
            reaches + surface
        });
        let along = pair.along.as_ref().map_or(0, |known| 8 * known.of_parts.len());
        let way = pair.first_contact.as_ref();
        let way: usize = way.map_or(0, |way| way.chains.iter().map(|one| self.chain(one)).sum());
        verdict + distance + depth + along + way
    }

    /// The names of the parts that an entry is about: both, or one of P and all of Q, or all.
    fn parts(&self, [p, q]: [Option<u32>; 2]) -> usize {
        if self.0 == [1, 1] {
            return 0;
        }
        let names = |one: Option<u32>, all: usize| Self::MESSAGE + one.map_or(all, |_| 1);
        Self::MESSAGE + names(p, self.0[0]) + names(q, self.0[1])
    }

    fn proof(&self, one: &PartProof) -> usize {
        let parts = one.parts;
        self.parts([parts.map(|parts| parts.p), parts.map(|parts| parts.q)])
            + Self::MESSAGE
            + parts_proof(&one.proof)
    }

    fn gap(&self, gap: &PartGap) -> usize {
        let PartRow { p, q } = gap.parts;
        let pairs = Self::MESSAGE * gap.pairs.len();
        self.parts([Some(p), q]) + pairs + gap.direction.as_ref().map_or(0, direction)
    }

    fn reach(&self, reach: &PartReach) -> usize {
        let PartRow { p, q } = reach.parts;
        self.parts([Some(p), q]) + direction(&reach.direction)
    }

    fn chain(&self, chain: &PartChain) -> usize {
        let parts = chain.parts;
        let links = chain.links.iter().map(|link| Self::MESSAGE + direction(&link.direction) + 9);
        let faces = chain.faces.as_ref().map_or(0, |faces| faces_motion(faces));
        let names = self.parts([parts.map(|parts| parts.p), parts.map(|parts| parts.q)]);
        names + links.sum::<usize>() + faces
    }
}

fn parts_proof(proof: &PartsProof) -> usize {
    match proof {
        PartsProof::Convex(proof) => convex_proof(proof),
        PartsProof::Faces(stand) => stand.cover().map_or(0, cover),
    }
}

fn faces_motion(motion: &FacesMotion) -> usize {
    cover(&motion.proof.free)
}

fn cover(cover: &Cover) -> usize {
    let step = |step: &CoverStep| match step {
        CoverStep::SplitP | CoverStep::SplitQ => LeastBytes::MESSAGE,
        CoverStep::Apart(chain) => {
            let links = chain.iter().map(|link| LeastBytes::MESSAGE + direction(&link.direction));
            LeastBytes::MESSAGE + links.sum::<usize>()
        }
    };
    let orders = cover.order_p.len() + cover.order_q.len();
    orders + cover.steps.iter().map(step).sum::<usize>()
}

fn convex_proof(proof: &ConvexProof) -> usize {
    match proof {
        ConvexProof::Polytopes(proof) => static_proof(proof),
        ConvexProof::Rounded(proof) => LeastBytes::MESSAGE * (1 + proof.pairs.len()),
    }
}

fn static_proof(proof: &StaticProof) -> usize {
    match proof {
        StaticProof::Separated { direction: along } => LeastBytes::MESSAGE + direction(along),
        StaticProof::Touching { direction: along, pairs } => {
            LeastBytes::MESSAGE * (1 + pairs.len()) + direction(along)
        }
        StaticProof::Overlapping { pairs } => LeastBytes::MESSAGE * (1 + pairs.len()),
    }
}

fn direction(along: &Direction) -> usize {
    let numbers = match along {
        Direction::Vector(s) => 9 * s.iter().filter(|x| **x != 0.0).count(),
        Direction::Normal { .. }
        | Direction::EdgeNormal { .. }
        | Direction::Nearest { .. }
        | Direction::SweptNormal { .. }
        | Direction::SweptAxis { .. } => 0,
    };
    2 * LeastBytes::MESSAGE + numbers
}
