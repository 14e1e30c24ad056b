//! Every pair of a configuration whose signed clearance is at most so much.
//!
//! One walk over the candidates measures each as soon as it is seen. What is kept is bounded: once
//! there are more than are asked for, those that come last go, and only what may come before the
//! last one that stays is looked at. Where bodies have names, the nearest parts of two are known
//! only after all of them: then all are kept, for which there is room ([`Cell::bytes_of_below`]).

use std::collections::BTreeMap;

use super::cell::{BodyPair, Cell};
use super::clearances::{
    Measured, SignedClearance, clearance_of_cloud, contact_clearance, nearer, signed_clearance,
};
use super::gradient::contact_geometry;
use super::stand::Stand;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::{Effort, Stopped};

/// Which clearances are listed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BelowQuestion {
    /// Up to this one, metres, at least 0.
    pub below: f64,
    /// So many of one configuration at most: those that come first.
    pub count_max: usize,
}

/// The pairs of a configuration that are near.
#[derive(Clone, Debug, PartialEq)]
pub struct PairsBelow {
    /// By their upper ends, what overlaps before what does not, then by their numbers.
    pub pairs: Vec<SignedClearance>,
    /// There are more than these.
    pub is_cut: bool,
    /// The worst of all, also of those that are not here; none: that is open.
    pub worst: Option<Verdict>,
}

/// The worst of some verdicts of which some may be open: what is open may overlap.
pub fn worst_of(verdicts: impl Iterator<Item = Option<Verdict>>) -> Option<Verdict> {
    let rank = |verdict: &Option<Verdict>| match verdict {
        Some(Verdict::Separated) => 0,
        Some(Verdict::Touching) => 1,
        None => 2,
        Some(Verdict::Overlapping) => 3,
    };
    verdicts.max_by_key(rank).unwrap_or(Some(Verdict::Separated))
}

impl Cell {
    /// What a question about one configuration takes while its pairs are listed, bytes at most.
    pub fn bytes_of_below(&self, question: BelowQuestion) -> usize {
        /// What a pair takes in a map that has room for others.
        const EACH: usize = 2 * size_of::<(BodyPair, SignedClearance)>();
        let (pairs, most) = (self.pair_count(), question.count_max.saturating_mul(2) + 2);
        let held = if self.names_bodies() { pairs } else { pairs.min(most) };
        EACH.saturating_mul(held)
    }
}

/// What is found of a configuration.
struct ListedPairs {
    question: BelowQuestion,
    /// By body pair where bodies have names, else by pair of parts; pairs are of parts.
    known: BTreeMap<BodyPair, SignedClearance>,
    /// Pairs are of interest whose clearance is less.
    within: f64,
    is_cut: bool,
    worst: Option<Verdict>,
}

/// Where a pair stands in the list.
fn place(one: &SignedClearance) -> (f64, bool, BodyPair) {
    (one.upper, one.verdict != Some(Verdict::Overlapping), one.pair)
}

fn in_order(pairs: &mut [SignedClearance]) {
    let compare = |a: &SignedClearance, b: &SignedClearance| {
        let (a, b) = (place(a), place(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
    };
    pairs.sort_unstable_by(compare);
}

impl ListedPairs {
    fn add(&mut self, cell: &Cell, one: SignedClearance) {
        if one.lower > self.question.below {
            return;
        }
        self.worst = worst_of([self.worst, one.verdict].into_iter());
        let name = cell.named(one.pair);
        let merged = match self.known.remove(&name) {
            Some(known) => nearer(Some(known), one),
            None => one,
        };
        self.known.insert(name, merged);
        if !cell.names_bodies() && self.known.len() > 2 * self.question.count_max {
            self.cut();
        }
    }

    /// Drops what comes last, and all that would come after it.
    fn cut(&mut self) {
        let mut pairs: Vec<SignedClearance> =
            std::mem::take(&mut self.known).into_values().collect();
        in_order(&mut pairs);
        self.is_cut |= pairs.len() > self.question.count_max;
        pairs.truncate(self.question.count_max);
        if let Some(last) = pairs.last().filter(|_| self.is_cut) {
            self.within = self.within.min(last.upper.max(0.0).next_up());
        }
        self.known = pairs.into_iter().map(|one| (one.pair, one)).collect();
    }

    fn told(mut self) -> PairsBelow {
        let mut pairs: Vec<SignedClearance> =
            std::mem::take(&mut self.known).into_values().collect();
        in_order(&mut pairs);
        let is_cut = self.is_cut || pairs.len() > self.question.count_max;
        pairs.truncate(self.question.count_max);
        PairsBelow { pairs, is_cut, worst: self.worst }
    }
}

/// The pairs of the configuration at hand; their numbers are those of parts.
pub(super) fn pairs_below(
    stand: &mut Stand<'_>,
    question: BelowQuestion,
    effort: &mut Effort<'_>,
) -> Result<PairsBelow, Stopped> {
    // Pairs of exactly that clearance are listed, and contacts where it is 0.
    let above = question.below.max(f64::MIN_POSITIVE);
    let (known, worst) = (BTreeMap::new(), Some(Verdict::Separated));
    let mut found = ListedPairs { question, known, within: above.next_up(), is_cut: false, worst };
    let cell = stand.cell;
    stand.candidates(found.within, None, |stand, pair, _| {
        effort.look_at_clock()?;
        if stand.bound_of(pair, found.within) < found.within {
            match signed_clearance(stand, pair, above.min(found.within), effort)? {
                Measured::Farther => {}
                Measured::Known(one) => found.add(cell, one),
                Measured::Contact => {
                    let depth = stand.exact_depth(pair, effort)?;
                    found.add(cell, contact_clearance(pair, depth));
                }
            }
        }
        Ok::<f64, Stopped>(found.within)
    })?;
    stand.with_clouds(None, |stand, pair| {
        if let Some(one) = clearance_of_cloud(stand, pair, above.next_up(), effort)? {
            found.add(cell, one);
        }
        Ok::<(), Stopped>(())
    })?;
    Ok(found.told())
}

impl PairsBelow {
    /// The same with where each pair is nearest, if that is asked for.
    pub(super) fn with_geometry(
        mut self,
        stand: &mut Stand<'_>,
        is_asked: bool,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        for one in self.pairs.iter_mut().filter(|_| is_asked) {
            one.geometry = contact_geometry(stand, one.pair, effort)?.map(Box::new);
        }
        Ok(self)
    }
}
