//! What the filter hands on of a pair that it has proven something of.

use std::hint::black_box;

use arrayvec::ArrayVec;

use super::{Decision, separated_by};
use crate::Vec3;
use crate::claim::{StaticProof, Verdict};
use crate::pair::{Pair, VertexPair};

/// A proof that this filter vouches for, nothing else can make one: what it shows, of one pair.
/// Whoever accepts it as of another pair gets nothing ([`super::accepted`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Where the pair is in memory. It stays there while the evidence is on its way: it is borrowed
    /// by whoever asks the method that hands the evidence over.
    pair: usize,
    shown: Shown,
}

/// What evidence shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shown {
    /// This direction separates.
    Separated(Vec3),
    /// The differences of these pairs hold the origin in their interior.
    Overlapping([VertexPair; 4]),
}

impl Evidence {
    #[inline(always)]
    pub(super) fn of(pair: &Pair<'_>, shown: Shown) -> Self {
        Self { pair: address(pair), shown }
    }

    /// Whether it is of this pair.
    #[inline(always)]
    pub(super) fn is_of(&self, pair: &Pair<'_>) -> bool {
        self.pair == address(pair)
    }

    /// What is proven.
    pub fn verdict(&self) -> Verdict {
        match self.shown {
            Shown::Separated(_) => Verdict::Separated,
            Shown::Overlapping(_) => Verdict::Overlapping,
        }
    }

    /// This evidence, moved number by number: for evidence that a function which is not inlined
    /// returns. Moved as a block, through pieces of memory that overlap, it would take 1.5 % of a
    /// question between ellipsoids.
    #[inline(always)]
    pub(in crate::separation) fn by_numbers(&self) -> Self {
        let shown = match &self.shown {
            Shown::Separated(s) => Shown::Separated(Vec3::new(s.x, s.y, s.z)),
            Shown::Overlapping([a, b, c, d]) => {
                Shown::Overlapping([by_numbers(a), by_numbers(b), by_numbers(c), by_numbers(d)])
            }
        };
        Self { pair: self.pair, shown }
    }

    /// The decision for which it vouches.
    #[inline(always)]
    pub(super) fn decision(&self) -> Decision {
        match &self.shown {
            Shown::Separated(s) => separated_by(*s),
            Shown::Overlapping([a, b, c, d]) => {
                // One by one, as in `separated_by`.
                let mut pairs = ArrayVec::new();
                pairs.push(by_numbers(a));
                pairs.push(by_numbers(b));
                pairs.push(by_numbers(c));
                pairs.push(by_numbers(d));
                Decision { proof: StaticProof::Overlapping { pairs } }
            }
        }
    }
}

/// This pair, read as the two numbers that it was written as. What is read in one piece but was
/// written in two waits until both have left the processor's store buffer; `black_box` keeps the
/// compiler from reading several numbers at once.
#[inline(always)]
fn by_numbers(pair: &VertexPair) -> VertexPair {
    VertexPair { i: black_box(pair.i), j: black_box(pair.j) }
}

/// Where a pair is in memory.
#[inline(always)]
fn address(pair: &Pair<'_>) -> usize {
    std::ptr::from_ref(pair).addr()
}
