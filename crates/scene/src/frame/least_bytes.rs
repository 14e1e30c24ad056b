//! What the proofs of a pair take in a report at least, for it is cut before they are written.

use crate::pairs::meshes::{FacesMotion, PartsProof};
use crate::pairs::report::{PairReport, PartChain, PartGap, PartProof, PartReach, PartRow};
use clearance_bodies::table::verdict::VerdictProof;
use clearance_geometry::claim::{ConvexProof, Cover, CoverStep, Direction, StaticProof};

impl PairReport {
    /// How many bytes of a report its proofs take at least, of bodies with so many parts.
    pub fn proof_bytes_min(&self, part_counts: [usize; 2]) -> usize {
        LeastBytes(part_counts).of(self)
    }
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
            // It is in the proof of the distance, too, unless that has one of its own.
            let curved: usize = known.curved.iter().map(|one| self.proof(one)).sum();
            gaps + curved + known.by_faces.as_ref().map_or(verdict, parts_proof)
        });
        let depth = pair.depth.as_ref().map_or(0, |known| {
            let reaches: usize = known.others.iter().map(|reach| self.reach(reach)).sum();
            let surface = known.depth.surface.as_ref();
            let surface = surface.map_or(0, |surface| {
                Self::MESSAGE * surface.corners.len() + 3 * surface.triangles.len()
            });
            let curved = match &known.depth.proof {
                PartsProof::Faces(stand) => stand.proof.as_ref().map_or(0, faces_proof),
                PartsProof::Convex(_) => 0,
            };
            let others: usize = known.curved.iter().map(|one| self.proof(one)).sum();
            reaches + surface + curved + others
        });
        let along = pair.along.as_ref().map_or(0, |known| {
            let curved = known.of_parts.iter().filter_map(|(_, range)| range.curved());
            8 * known.of_parts.len() + curved.map(faces_proof).sum::<usize>()
        });
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
        let initial = chain.initial.as_ref().map_or(0, parts_proof);
        let names = self.parts([parts.map(|parts| parts.p), parts.map(|parts| parts.q)]);
        names + links.sum::<usize>() + faces + initial
    }
}

fn parts_proof(proof: &PartsProof) -> usize {
    match proof {
        PartsProof::Convex(proof) => convex_proof(proof),
        PartsProof::Faces(stand) => stand.proof.as_ref().map_or(0, faces_proof),
    }
}

fn faces_proof(proof: &VerdictProof) -> usize {
    let curved = proof
        .curved()
        .map_or(0, |curved| curved.message_bytes_min() + curved.covers().map(cover).sum::<usize>());
    curved + proof.cover().map_or(0, cover)
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
