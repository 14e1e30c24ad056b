//! Which pieces: the one that stands out most is cut, again and again, more often than asked for;
//! then two that are nearly convex together become one, until there are few enough; and then the
//! worst is cut and two others are joined as long as that helps.
//!
//! The measure is how far a hull stands out of the mesh (the concavity of Wei, Liu, Ling, Su,
//! "Approximate convex decomposition for 3D meshes with collision-aware concavity and tree search",
//! 2022, §3, is of the same kind), and the cuts are across the axes as there; but instead of a tree
//! search over the next cuts, what a first cut gets wrong is mended by joining what it separated.

use std::collections::BTreeMap;

use super::field::Field;
use super::mesh::DecomposedMesh;
use super::piece::{DraftPiece, Slices, outlined};
use super::planes::{CutCandidate, candidates};
use super::{Listener, Phase, PiecesProgress};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::PIECE_CONVEX;

/// A cut is as bad as the worse of what it makes, and by this part of the other.
const OTHER_COUNTS: f64 = 0.25;

/// Pieces that there are before they are joined, for each that is asked for, and beside.
const CUT_TIMES: usize = 2;
const CUT_BESIDE: usize = 6;

/// Times that the worst piece is cut in the end, for each piece.
const MENDED_TIMES: usize = 2;

/// See the module.
pub(super) struct PieceSearch<'a> {
    pub(super) mesh: &'a DecomposedMesh<'a>,
    pub(super) field: &'a Field<'a>,
    pieces: Vec<(u64, DraftPiece)>,
    /// About how far the hulls of two stand out, or at least.
    pairs: BTreeMap<[u64; 2], Joined>,
    next: u64,
    listener: &'a mut Listener<'a>,
}

#[derive(Clone, Copy, Debug)]
struct Joined {
    excess: f64,
    is_measured: bool,
}

impl<'a> PieceSearch<'a> {
    /// With all of the mesh as one piece.
    pub(super) fn new(
        mesh: &'a DecomposedMesh<'a>,
        field: &'a Field<'a>,
        whole: DraftPiece,
        listener: &'a mut Listener<'a>,
    ) -> Self {
        Self { mesh, field, pieces: vec![(0, whole)], pairs: BTreeMap::new(), next: 1, listener }
    }

    /// Tells how far it has come.
    pub(super) fn tell(&mut self, phase: Phase) {
        let worst = self.mesh.frame.length_outward(self.worst_excess());
        (self.listener)(PiecesProgress { phase, count: self.pieces.len(), worst });
    }

    /// The pieces.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &DraftPiece> {
        self.pieces.iter().map(|(_, piece)| piece)
    }

    /// Pieces that stand out by about `goal` at most, as few as are found; but no more than
    /// `count_max` times what is cut before pieces are joined.
    pub(super) fn reach(
        &mut self,
        goal: f64,
        count_max: usize,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        self.cut_until(goal, CUT_TIMES * count_max + CUT_BESIDE, effort)?;
        self.join_while(goal, 1, effort)
    }

    /// So many pieces at most, which stand out by as little as is found.
    pub(super) fn count(&mut self, count: usize, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        self.cut_until(PIECE_CONVEX, CUT_TIMES * count + CUT_BESIDE, effort)?;
        self.settle(count, effort)
    }

    /// As [`Self::count`], of the pieces that there are.
    pub(super) fn settle(&mut self, count: usize, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        self.join_while(f64::INFINITY, count, effort)?;
        for _ in 0..MENDED_TIMES * count {
            self.tell(Phase::Mending);
            if !self.mend(effort)? {
                break;
            }
        }
        // What is no worse together is one.
        let worst = self.worst_excess();
        self.join_while(worst, 1, effort)
    }

    /// About how far the worst stands out.
    pub(super) fn worst_excess(&self) -> f64 {
        self.pieces().map(|piece| piece.excess).fold(0.0, f64::max)
    }

    fn cut_until(
        &mut self,
        goal: f64,
        count: usize,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        let mut whole = Vec::new();
        while self.pieces.len() < count {
            self.tell(Phase::Cutting);
            let open = self.pieces.iter().filter(|(name, _)| !whole.contains(name));
            let Some((name, worst)) = open.max_by(|a, b| a.1.excess.total_cmp(&b.1.excess)) else {
                break;
            };
            if worst.excess <= goal.max(PIECE_CONVEX) {
                break;
            }
            match self.halves(worst, effort)? {
                Some(halves) => {
                    let name = *name;
                    self.replace(&[name], halves);
                }
                None => whole.push(*name),
            }
        }
        Ok(())
    }

    fn replace(&mut self, old: &[u64], new: impl IntoIterator<Item = DraftPiece>) {
        self.pieces.retain(|(name, _)| !old.contains(name));
        self.pairs.retain(|pair, _| !pair.iter().any(|name| old.contains(name)));
        for piece in new {
            self.pieces.push((self.next, piece));
            self.next += 1;
        }
    }

    /// What the best cut makes of a piece; none: there is none.
    fn halves(
        &self,
        piece: &DraftPiece,
        effort: &mut Effort<'_>,
    ) -> Result<Option<[DraftPiece; 2]>, Stopped> {
        let mut found: Vec<(f64, CutCandidate)> = Vec::new();
        for axis in 0..3 {
            let candidates = candidates(piece, axis, self.mesh, effort)?;
            let planes: Vec<f64> = candidates.iter().map(|one| one.inward).collect();
            let slices = Slices::new(piece, axis, &planes, self.mesh, effort)?;
            let excesses = slices.excesses(self.field, effort)?;
            for (candidate, excesses) in candidates.into_iter().zip(excesses) {
                let Some([a, b]) = excesses else { continue };
                found.push((a.max(b) + OTHER_COUNTS * a.min(b), candidate));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, candidate) in found {
            let halves = piece.cut(candidate.cut, self.field, self.mesh, effort)?;
            if halves.is_some() {
                return Ok(halves);
            }
        }
        Ok(None)
    }

    /// Joins the pairs that stand out least while that is no more than `goal` and there are more
    /// pieces than `count`.
    fn join_while(
        &mut self,
        goal: f64,
        count: usize,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        while self.pieces.len() > count {
            self.tell(Phase::Joining);
            let Some((pair, excess)) = self.nearest_pair(goal, effort)? else { break };
            if excess > goal {
                break;
            }
            self.join(pair, effort)?;
        }
        Ok(())
    }

    fn join(&mut self, pair: [u64; 2], effort: &mut Effort<'_>) -> Result<(), Stopped> {
        let of_pair = self.pieces.iter().filter(|(name, _)| pair.contains(name));
        let cells = of_pair.flat_map(|(_, piece)| piece.cells.iter().cloned()).collect();
        let joined = DraftPiece::new(cells, self.field, self.mesh, effort)?;
        self.replace(&pair, [joined]);
        Ok(())
    }

    /// The pair whose hull stands out least, and by how much; none if all stand out by more than
    /// `most`.
    fn nearest_pair(
        &mut self,
        most: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<([u64; 2], f64)>, Stopped> {
        for (at, (a, first)) in self.pieces.iter().enumerate() {
            for (b, second) in &self.pieces[at + 1..] {
                if !self.pairs.contains_key(&[*a, *b]) {
                    let excess = self.at_least([first, second], effort)?;
                    self.pairs.insert([*a, *b], Joined { excess, is_measured: false });
                }
            }
        }
        loop {
            effort.spend_step()?;
            let least = self.pairs.iter().min_by(|a, b| a.1.excess.total_cmp(&b.1.excess));
            let Some((pair, joined)) = least.map(|(pair, joined)| (*pair, *joined)) else {
                return Ok(None);
            };
            if joined.is_measured || joined.excess > most {
                return Ok(joined.is_measured.then_some((pair, joined.excess)));
            }
            let of_pair = self.pieces.iter().filter(|(name, _)| pair.contains(name));
            let points: Vec<Vec3> =
                of_pair.flat_map(|(_, piece)| piece.outline.iter().copied()).collect();
            let (_, excess) = outlined(&points, self.field, effort)?;
            let excess = excess.max(joined.excess);
            self.pairs.insert(pair, Joined { excess, is_measured: true });
        }
    }

    /// At least how far the hull of two stands out: that of each, and points between them.
    fn at_least(&self, [a, b]: [&DraftPiece; 2], effort: &Effort<'_>) -> Result<f64, Stopped> {
        const BETWEEN: u32 = 4;
        let middle =
            |piece: &DraftPiece| piece.outline.iter().sum::<Vec3>() / piece.outline.len() as f64;
        let (from, to) = (middle(a), middle(b));
        let mut most = a.excess.max(b.excess);
        for k in 0..=BETWEEN {
            let p = from + (to - from) * (f64::from(k) / f64::from(BETWEEN));
            most = most.max(self.field.distance(&p, most, effort)?);
        }
        Ok(most)
    }

    /// Cuts the worst and joins the pair that stands out least, if less than the worst did; whether
    /// it did.
    fn mend(&mut self, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        let worst = self.pieces.iter().max_by(|a, b| a.1.excess.total_cmp(&b.1.excess));
        let Some((name, piece)) = worst else { return Ok(false) };
        let (name, excess, piece) = (*name, piece.excess, piece.clone());
        let Some(halves) = self.halves(&piece, effort)? else { return Ok(false) };
        if excess <= PIECE_CONVEX || halves.iter().any(|half| half.excess >= excess) {
            return Ok(false);
        }
        let new = [self.next, self.next + 1];
        self.replace(&[name], halves);
        match self.nearest_pair(excess, effort)? {
            Some((pair, joined)) if joined < excess => {
                self.join(pair, effort)?;
                Ok(true)
            }
            Some(_) | None => {
                self.replace(&new, [piece]);
                Ok(false)
            }
        }
    }
}
