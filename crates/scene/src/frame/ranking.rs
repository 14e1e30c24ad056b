//! Pairs by their signed clearance, the deepest overlap first: how far apart two bodies are, zero
//! if they touch, minus how deep they overlap (of bodies of several parts: the deepest of these).
//!
//! Which pairs are ranked is decided by brackets, and by exact comparison where a distance's
//! bracket leaves it open. Where the brackets of two pairs overlap, either may come first, and both
//! say so.

use crate::bounds::Box3;
use crate::brackets::unordered;
use crate::frame::scene::Scene;
use crate::frame::step::Round;
use crate::memory::runner::PairWork;
use crate::near::box_tree::BoxTree;
use crate::pair_key::PairKey;
use crate::pairs::notes::{Notes, Witnesses};
use crate::pairs::report::RankedPair;
use crate::pairs::stand::is_within;
use crate::pairs::state::Task;
use crate::placed::entry::Entry;
use crate::unanswered::{Unanswered, go_on, sort_by};
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Stops;

/// How many depths are measured at once, at least, before it is looked whether any pair left may be
/// deeper.
const DEPTHS_AT_ONCE: usize = 16;

/// Measures a distance, a depth, or both.
fn measuring(distance: Option<Stops>, depth: bool) -> Task {
    Task::Detail { distance, depth, normal: false, polygon: false }
}

impl Round<'_> {
    /// Chooses the pairs that are asked for by their signed clearance, and measures it.
    pub(crate) fn rank(&mut self, scene: &mut Scene) -> Result<(), Unanswered> {
        let PairWork { questions, until, .. } = self.work;
        if let Some(below) = questions.below {
            let found = self.pairs_below(scene, below)?;
            self.ranking.keys.extend(found);
        }
        if questions.nearest > 0 {
            let found = self.nearest_pairs(scene, questions.nearest as usize)?;
            self.ranking.keys.extend(found);
        }
        let keys: Vec<PairKey> = self.ranking.keys.iter().copied().collect();
        let is_rough = |key: &&PairKey| scene.has_rough_distance(**key);
        let rough: Vec<PairKey> = until.each(&keys).filter(is_rough).copied().collect();
        self.ask(scene, &rough, measuring(Some(Stops::default()), false))?;
        if questions.normals {
            let (distance, depth, normal, polygon) = (None, false, true, false);
            self.ask(scene, &keys, Task::Detail { distance, depth, normal, polygon })?;
        }
        self.listed.extend(until.each(keys).map(|key| (key, true)));
        self.ranking.pairs = self.ranked_pairs(scene)?;
        go_on(until)
    }

    /// The ranked pairs in order.
    fn ranked_pairs(&self, scene: &Scene) -> Result<Vec<RankedPair>, Unanswered> {
        let keys = self.ranking.keys.iter().copied();
        let found = self.in_order(keys.map(|key| (scene.clearance_of(key), key)))?;
        let brackets: Vec<[f64; 2]> = found.iter().map(|(bracket, _)| *bracket).collect();
        let ranked = found.iter().zip(unordered(&brackets)).map(|((clearance, key), overlaps)| {
            let (p, q) = (scene.id_of(key.p), scene.id_of(key.q));
            let unordered = overlaps || clearance[1] >= self.ranking.left_out;
            RankedPair { p, q, clearance: *clearance, unordered }
        });
        Ok(ranked.take(scene.limits.listed_max).collect())
    }

    /// By the upper ends of their clearances.
    fn in_order(
        &self,
        found: impl Iterator<Item = ([f64; 2], PairKey)>,
    ) -> Result<Vec<([f64; 2], PairKey)>, Unanswered> {
        let until = self.work.until;
        let mut found: Vec<_> = until.each(found).collect();
        sort_by(until, &mut found, |a, b| a.0[1].total_cmp(&b.0[1]).then(a.1.cmp(&b.1)))?;
        go_on(until)?;
        Ok(found)
    }

    /// The pairs whose signed clearance is at most `below`; when stopped, those for which it may
    /// be.
    fn pairs_below(&mut self, scene: &mut Scene, below: f64) -> Result<Vec<PairKey>, Unanswered> {
        let until = self.work.until;
        let may_be_near = |key: &PairKey| {
            let [p, q] = scene.boxes_of(*key);
            p.gap(&q).map_or_else(
                || below >= 0.0 || depth_at_most(&p, &q) >= -below,
                |gap| gap.lower <= below,
            )
        };
        let near = until.each(&self.keys).filter(|key| may_be_near(key));
        let keys: Vec<PairKey> = near.copied().collect();
        // What is listed with its distance keeps it: farther away, nothing narrow is found here.
        let is_measured = |key: &PairKey| self.listed.get(key).is_some_and(|measured| *measured);
        let (measured, others): (Vec<PairKey>, Vec<PairKey>) =
            until.each(keys.iter().copied()).partition(is_measured);
        let stops = Stops { above: Some(below.max(0.0)), below: None };
        self.ask(scene, &measured, measuring(None, true))?;
        self.ask(scene, &others, measuring(Some(stops), true))?;
        Ok(until.each(keys).filter(|key| self.is_below(scene, *key, below)).collect())
    }

    fn is_below(&mut self, scene: &Scene, key: PairKey, below: f64) -> bool {
        let [lower, upper] = scene.clearance_of(key);
        if lower > below || upper <= below {
            return upper <= below;
        }
        if below < 0.0 || scene.told(key).verdict != Some(Verdict::Separated) {
            return true;
        }
        // The bracket is rounded; what it leaves open is decided exactly.
        let asking = scene.asking(key, self.work.questions, self.work.until);
        let cost = &mut self.counters.cost;
        let witnesses = &mut Witnesses::default();
        let notes = &mut Notes { witnesses, cost, cost_of_each: None };
        is_within(&asking, below, notes, None).unwrap_or(true)
    }

    /// The nearest pairs: measures all that boxes do not prove to be farther than some radius, and
    /// tries a larger one until enough of them are within it.
    fn nearest_pairs(
        &mut self,
        scene: &mut Scene,
        wanted: usize,
    ) -> Result<Vec<PairKey>, Unanswered> {
        let until = self.work.until;
        let Some(all) = scene.entries.iter().map(Entry::bounds).reduce(|a, b| a.union(&b)) else {
            return Ok(Vec::new());
        };
        let span = (0..3).map(|i| all.high[i] - all.low[i]).fold(0.0, f64::max);
        // Coarse on purpose: a radius too large costs measurements, one too small another pass.
        let mut radius = span / 256.0;
        loop {
            let covers_all = radius >= 2.0 * span;
            let boxes: Vec<_> =
                scene.entries.iter().map(|e| e.bounds().inflated(radius / 2.0)).collect();
            let pairs_max = scene.limits.pairs_max;
            let is_enabled = |key| scene.book.is_enabled(key);
            let keys = BoxTree::build(&boxes).pairs(&boxes, pairs_max, until, is_enabled)?;
            self.ask(scene, &keys, measuring(Some(Stops::default()), false))?;
            let distance = |key: &PairKey| scene.distance_of(*key);
            let within =
                until.each(&keys).filter_map(distance).filter(|[_, upper]| *upper <= radius);
            if within.count() >= wanted || covers_all {
                return self.nearest_of(scene, &keys, wanted);
            }
            radius *= 4.0;
        }
    }

    /// The nearest of some pairs whose distances are known.
    fn nearest_of(
        &mut self,
        scene: &mut Scene,
        keys: &[PairKey],
        wanted: usize,
    ) -> Result<Vec<PairKey>, Unanswered> {
        let until = self.work.until;
        let overlaps = |key: &&PairKey| scene.told(**key).verdict == Some(Verdict::Overlapping);
        let overlapping: Vec<PairKey> = until.each(keys).filter(overlaps).copied().collect();
        self.measure_deepest(scene, &overlapping, wanted)?;
        let is_known = |key: &PairKey| scene.distance_of(*key).is_some();
        let known = keys.iter().copied().filter(is_known);
        let found = self.in_order(known.map(|key| (scene.clearance_of(key), key)))?;
        // Pairs that are ranked since they are below the distance asked for are not left out.
        let beyond = found.iter().skip(wanted).filter(|(_, key)| !self.ranking.keys.contains(key));
        let left_out = beyond.map(|(bracket, _)| bracket[0]);
        self.ranking.left_out = left_out.fold(f64::INFINITY, f64::min);
        Ok(found.into_iter().take(wanted).map(|(_, key)| key).collect())
    }

    /// Measures the depths of those of these pairs that may be among the `wanted` deepest: boxes
    /// tell how deep others are at most.
    fn measure_deepest(
        &mut self,
        scene: &mut Scene,
        overlapping: &[PairKey],
        wanted: usize,
    ) -> Result<(), Unanswered> {
        let until = self.work.until;
        let bound = |key: &PairKey| {
            let [p, q] = scene.boxes_of(*key);
            (depth_at_most(&p, &q), *key)
        };
        let mut bounded: Vec<(f64, PairKey)> = until.each(overlapping).map(bound).collect();
        sort_by(until, &mut bounded, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)))?;
        let mut depths: Vec<f64> = Vec::new();
        let mut rest = &bounded[..];
        while let Some((bound, _)) = rest.first() {
            if depths.get(wanted - 1).is_some_and(|least| bound < least) {
                return Ok(());
            }
            let (now, later) = rest.split_at(rest.len().min(wanted.max(DEPTHS_AT_ONCE)));
            let mut keys: Vec<PairKey> = now.iter().map(|(_, key)| *key).collect();
            keys.sort_unstable();
            self.ask(scene, &keys, measuring(None, true))?;
            depths.extend(keys.iter().map(|key| -scene.clearance_of(*key)[1]));
            depths.sort_by(|a, b| b.total_cmp(a));
            depths.truncate(wanted);
            rest = later;
        }
        go_on(until)
    }
}

/// At least how deep what is in two boxes can overlap: moved out along an axis, they are apart.
fn depth_at_most(p: &Box3, q: &Box3) -> f64 {
    let out = |k: usize| (p.high[k] - q.low[k]).min(q.high[k] - p.low[k]).next_up();
    (0..3).map(out).fold(f64::INFINITY, f64::min)
}

impl Scene {
    fn boxes_of(&self, key: PairKey) -> [Box3; 2] {
        [key.p, key.q].map(|body| self.entries[body as usize].bounds())
    }

    /// Around the signed clearance of a pair, as far as the last round measured it.
    fn clearance_of(&self, key: PairKey) -> [f64; 2] {
        let answer = self.told(key);
        match answer.verdict {
            None => [f64::NEG_INFINITY, f64::INFINITY],
            Some(Verdict::Separated) => self.distance_of(key).unwrap_or([0.0, f64::INFINITY]),
            Some(Verdict::Touching) => [0.0, 0.0],
            Some(Verdict::Overlapping) => answer.depth.as_ref().map_or_else(
                || {
                    let [p, q] = self.boxes_of(key);
                    [-depth_at_most(&p, &q), 0.0]
                },
                |deepest| [-deepest.depth.upper, -deepest.depth.lower],
            ),
        }
    }

    /// The distance bracket that the last round found.
    fn distance_of(&self, key: PairKey) -> Option<[f64; 2]> {
        let (_, distance) = self.table.details(key)?.answer.distance.as_deref()?;
        Some([distance.lower, distance.upper])
    }

    /// Whether the search for the distance ended early, since that was enough for somebody.
    fn has_rough_distance(&self, key: PairKey) -> bool {
        let known = self.table.details(key).and_then(|state| state.answer.distance.as_deref());
        known.is_some_and(|(stops, distance)| distance.is_rough(*stops))
    }
}
