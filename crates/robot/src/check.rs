//! Configurations in bulk: whether a cell is free, what is in contact, and how near it is to it.
//!
//! Balls around links against boxes around what stands still leave few pairs (`candidates` of
//! [`super::stand`]); each of these is decided exactly. Every configuration is answered from cold,
//! so neither order nor threads change an answer.

use super::below::{BelowQuestion, PairsBelow, pairs_below};
use super::cell::{BodyPair, Cell};
use super::clearances::{
    Measured, clearance_of_cloud, contact_clearance, nearer, signed_clearance,
};
use super::gradient::contact_geometry;
use super::kinematics::ConfigurationError;
use super::pairing::PairScope;
use super::stand::{Block, LANES, Poses, Stand};
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::DistanceSide;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::processor;
use clearance_geometry::witness::Witness;

pub use super::clearances::SignedClearance;

/// What is asked of every configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CheckMode {
    /// Whether any pair is in contact; the first one that is found, in a fixed order.
    #[default]
    FirstPair,
    /// Every pair in contact.
    AllPairs,
    /// The least signed clearance, and whose it is.
    Clearance,
    /// That of every link that moves.
    LinkClearance,
    /// Every pair of which it is at most so much.
    PairsBelow(BelowQuestion),
}

/// A question about many configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckQuestion {
    /// What is asked.
    pub mode: CheckMode,
    /// Whether clearances come with points, a normal and a gradient.
    pub with_gradient: bool,
    /// Which of the pairs that are checked are asked.
    pub scope: PairScope,
}

/// What became of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Checked {
    /// No pair is in contact.
    Free,
    /// These pairs are; only the first one if that was asked.
    Contact(Vec<(BodyPair, Verdict)>),
    /// Of some pairs with a curved body it is open how they stand.
    Open {
        /// Pairs that are in contact; none if one was asked for.
        contacts: Vec<(BodyPair, Verdict)>,
        /// Those that are nearer to contact than is resolved, only the first one if one was asked.
        pairs: Vec<BodyPair>,
    },
    /// The least clearance; none: there is no pair. Or those of the links that move, by link.
    Clearance(Vec<Option<SignedClearance>>),
    /// Those that are listed.
    Below(PairsBelow),
    /// It places nothing.
    Bad(ConfigurationError),
    /// There was no time left.
    Stopped(Stopped),
}

impl CheckMode {
    /// Whether pairs are left out whose clearance no joint value changes.
    fn skips_constant(self) -> bool {
        match self {
            Self::FirstPair | Self::AllPairs => false,
            Self::Clearance | Self::LinkClearance | Self::PairsBelow(_) => true,
        }
    }
}

/// The memory of a pass over configurations.
#[derive(Clone, Debug, Default)]
struct CheckPass {
    block: Block,
    poses: Poses,
    candidates: Vec<(f64, BodyPair)>,
}

impl Cell {
    /// Answers for every configuration, each as many numbers as [`Cell::variable_count`] says.
    pub fn check(
        &self,
        question: CheckQuestion,
        values: &[f64],
        effort: &mut Effort<'_>,
    ) -> Vec<Checked> {
        let width = self.variable_count().max(1);
        debug_assert!(values.len().is_multiple_of(width));
        let configurations: Vec<&[f64]> = values.chunks_exact(width).collect();
        self.still.expect(configurations.len());
        let mut pass = CheckPass::default();
        let mut answers = Vec::with_capacity(configurations.len());
        for some in configurations.chunks(LANES) {
            let errors: Vec<_> = some.iter().map(|values| self.kinematics.check(values)).collect();
            let good = |lane: usize| errors.get(lane).is_some_and(Result::is_ok);
            // Lanes without a configuration of their own repeat one; without any there is nothing.
            if let Some(spare) = (0..some.len()).find(|lane| good(*lane)) {
                let lanes = std::array::from_fn(|lane| some[if good(lane) { lane } else { spare }]);
                pass.block.place(self, &lanes);
            }
            for (lane, error) in errors.iter().enumerate() {
                answers.push(match error {
                    Err(error) => Checked::Bad(*error),
                    Ok(()) => processor::dispatch(
                        #[inline(always)]
                        || pass.answer(self, lane, question, effort),
                    ),
                });
            }
        }
        answers
    }
}

impl CheckPass {
    #[inline(always)]
    fn answer(
        &mut self,
        cell: &Cell,
        lane: usize,
        question: CheckQuestion,
        effort: &mut Effort<'_>,
    ) -> Checked {
        let Self { block, poses, candidates } = self;
        let mut stand = block.stand(cell, lane, poses);
        stand.scope = question.scope;
        stand.skips_constant = question.mode.skips_constant();
        let answer = effort.look_at_clock().and_then(|()| match question.mode {
            CheckMode::FirstPair => first_pair(&mut stand, effort),
            CheckMode::AllPairs => all_pairs(&mut stand, effort),
            CheckMode::Clearance => {
                let least = least_clearance(&mut stand, question, None, candidates, effort)?;
                Ok(Checked::Clearance(vec![least]))
            }
            CheckMode::PairsBelow(below) => {
                let listed = pairs_below(&mut stand, below, effort)?;
                let told = listed.with_geometry(&mut stand, question.with_gradient, effort)?;
                Ok(Checked::Below(told))
            }
            CheckMode::LinkClearance => {
                let moving = (0..cell.links.len()).filter(|link| cell.links[*link].frame.is_some());
                let each = moving.map(|link| {
                    least_clearance(&mut stand, question, Some(link), candidates, effort)
                });
                Ok(Checked::Clearance(each.collect::<Result<_, _>>()?))
            }
        });
        match answer {
            Ok(checked) if cell.names_bodies() => checked.named(cell),
            Ok(checked) => checked,
            Err(why) => Checked::Stopped(why),
        }
    }
}

impl Checked {
    /// The same about bodies by their names, where whoever declared the cell has some: each pair of
    /// bodies once, by how the worst of its parts stand.
    fn named(self, cell: &Cell) -> Self {
        match self {
            Self::Contact(found) => Self::Contact(worst_by_name(cell, found)),
            Self::Open { contacts, pairs } => {
                let contacts = worst_by_name(cell, contacts);
                let overlaps = |pair: &BodyPair| {
                    contacts.binary_search(&(*pair, Verdict::Overlapping)).is_ok()
                };
                let named = pairs.into_iter().map(|pair| cell.named(pair));
                let mut pairs: Vec<BodyPair> = named.filter(|pair| !overlaps(pair)).collect();
                pairs.sort_unstable();
                pairs.dedup();
                if pairs.is_empty() {
                    return Self::Contact(contacts);
                }
                // Of what is open nothing less is told.
                let is_told = |pair: &BodyPair| pairs.binary_search(pair).is_err();
                let contacts = contacts.into_iter().filter(|(pair, _)| is_told(pair)).collect();
                Self::Open { contacts, pairs }
            }
            Self::Clearance(mut found) => {
                found.iter_mut().flatten().for_each(|one| one.pair = cell.named(one.pair));
                Self::Clearance(found)
            }
            Self::Below(mut found) => {
                found.pairs.iter_mut().for_each(|one| one.pair = cell.named(one.pair));
                Self::Below(found)
            }
            Self::Free | Self::Bad(_) | Self::Stopped(_) => self,
        }
    }
}

/// Each pair of bodies once, in order, with its worst verdict.
fn worst_by_name(cell: &Cell, found: Vec<(BodyPair, Verdict)>) -> Vec<(BodyPair, Verdict)> {
    let named = found.into_iter().map(|(pair, verdict)| (cell.named(pair), verdict));
    let mut named: Vec<(BodyPair, Verdict)> = named.collect();
    named.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    named.dedup_by_key(|(pair, _)| *pair);
    named
}

/// Pairs whose clearance is at least this are not in contact. More than zero, so that a bound of
/// exactly zero rules nothing out.
const CONTACT_WITHIN: f64 = f64::MIN_POSITIVE;

/// How far above the least bound of a clearance, metres, the bounds of pairs are that are measured
/// without looking again: bounds by balls and boxes are about so far below what they bound, around
/// a robot of a metre.
const BOUNDS_APART: f64 = 0.1;

/// What ends the walk over candidates.
enum Ends {
    Found(BodyPair, Verdict),
    Stopped(Stopped),
}

#[inline(always)]
fn first_pair(stand: &mut Stand<'_>, effort: &mut Effort<'_>) -> Result<Checked, Stopped> {
    let (mut open, mut near) = (None, None);
    let within = within_of(stand);
    let mut look = |stand: &mut Stand<'_>, pair, bound| match stand.verdict(pair, effort) {
        Ok(Verdict::Separated) => {
            let is_new = near.is_none();
            if is_new && is_within_margin(stand, pair, bound, effort).map_err(Ends::Stopped)? {
                near = Some(pair);
            }
            Ok(())
        }
        Ok(verdict @ (Verdict::Touching | Verdict::Overlapping)) => Err(Ends::Found(pair, verdict)),
        Err(why) => {
            is_left_open(stand, pair, why).map_err(Ends::Stopped)?;
            open.get_or_insert(pair);
            Ok(())
        }
    };
    let walked = stand.candidates(within, None, |stand, pair, bound| {
        look(stand, pair, bound)?;
        Ok(within)
    });
    let walked =
        walked.and_then(|()| stand.with_clouds(None, |stand, pair| look(stand, pair, NO_BOUND)));
    match walked {
        Ok(()) => {
            let contacts: Vec<_> = near.iter().map(|pair| (*pair, Verdict::Separated)).collect();
            Ok(match open {
                None if contacts.is_empty() => Checked::Free,
                None => Checked::Contact(contacts),
                Some(pair) => Checked::Open { contacts, pairs: vec![pair] },
            })
        }
        Err(Ends::Found(pair, verdict)) => {
            Ok(match verdict_of_bodies(stand, pair, verdict, effort)? {
                Some(verdict) => Checked::Contact(vec![(pair, verdict)]),
                None => Checked::Open { contacts: Vec::new(), pairs: vec![pair] },
            })
        }
        Err(Ends::Stopped(why)) => Err(why),
    }
}

#[inline(always)]
fn all_pairs(stand: &mut Stand<'_>, effort: &mut Effort<'_>) -> Result<Checked, Stopped> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let within = within_of(stand);
    let mut look = |stand: &mut Stand<'_>, pair, bound| {
        match stand.verdict(pair, effort) {
            Ok(Verdict::Separated) => {
                if is_within_margin(stand, pair, bound, effort)? {
                    found.push((pair, Verdict::Separated));
                }
            }
            Ok(verdict) => found.push((pair, verdict)),
            Err(why) => {
                is_left_open(stand, pair, why)?;
                open.push(pair);
            }
        }
        Ok::<(), Stopped>(())
    };
    stand.candidates(within, None, |stand, pair, bound| {
        look(stand, pair, bound)?;
        Ok(within)
    })?;
    stand.with_clouds(None, |stand, pair| look(stand, pair, NO_BOUND))?;
    found.sort_by_key(|(pair, _)| *pair);
    if !open.is_empty() {
        open.sort_unstable();
        return Ok(Checked::Open { contacts: found, pairs: open });
    }
    Ok(if found.is_empty() { Checked::Free } else { Checked::Contact(found) })
}

/// Nothing is known of a clearance.
pub(super) const NO_BOUND: f64 = f64::NEG_INFINITY;

/// Pairs whose clearance is at least this are neither in contact nor within their margin.
pub(super) fn within_of(stand: &Stand<'_>) -> f64 {
    CONTACT_WITHIN.max(stand.cell.most_margin().next_up())
}

/// Whether a pair that is apart is within its margin, or of what is curved nearer to it than is
/// resolved; its clearance is at least `bound`. Of margins below 0 see [`super::within`].
#[inline(always)]
pub(super) fn is_within_margin(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    bound: f64,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    if !stand.cell.has_margins() {
        return Ok(false);
    }
    let margin = stand.cell.margin_of(pair);
    if margin <= 0.0 || bound > margin {
        return Ok(false);
    }
    let side = stand.side(pair, [margin, margin], &mut Witness::default(), effort)?;
    Ok(side.is_none_or(|side| side == DistanceSide::Contact))
}

/// How the bodies of two parts stand that are in contact, where bodies have names: as their worst
/// parts do. None: of some of these it is open.
fn verdict_of_bodies(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    mut verdict: Verdict,
    effort: &mut Effort<'_>,
) -> Result<Option<Verdict>, Stopped> {
    let cell = stand.cell;
    if !cell.names_bodies() {
        return Ok(Some(verdict));
    }
    let mut is_open = false;
    let name = cell.named(pair);
    let [first, second] = pair.map(|body| cell.parts_of_body(body));
    for a in first {
        for b in second.clone() {
            let other = Stand::numbers(a, b);
            if verdict == Verdict::Overlapping {
                return Ok(Some(verdict));
            }
            if cell.named(other) != name || other == pair {
                continue;
            }
            match stand.verdict(other, effort) {
                Ok(found) => verdict = verdict.max(found),
                Err(why) => {
                    is_left_open(stand, other, why)?;
                    is_open = true;
                }
            }
        }
    }
    Ok((verdict == Verdict::Overlapping || !is_open).then_some(verdict))
}

/// Whether this ends the look at one pair alone: one of it is curved, and nearer to contact than is
/// resolved. Else why it ends all.
#[cold]
pub(super) fn is_left_open(stand: &Stand<'_>, pair: BodyPair, why: Stopped) -> Result<(), Stopped> {
    if why == Stopped::Unresolved && stand.is_curved(pair) { Ok(()) } else { Err(why) }
}

/// The least clearance of all pairs, or of those of one link.
///
/// One walk collects the pairs whose bounds are not far above the least one. Measured in the order
/// of their bounds until none is left that could be nearer, they nearly always hold the nearest; if
/// not, another walk collects all whose bound is below what is known then.
#[inline(always)]
fn least_clearance(
    stand: &mut Stand<'_>,
    question: CheckQuestion,
    only: Option<usize>,
    candidates: &mut Vec<(f64, BodyPair)>,
    effort: &mut Effort<'_>,
) -> Result<Option<SignedClearance>, Stopped> {
    candidates.clear();
    let mut within = f64::INFINITY;
    stand.candidates(within, only, |_, pair, clearance| {
        candidates.push((clearance, pair));
        within = within.min(clearance + BOUNDS_APART);
        Ok::<f64, Stopped>(within)
    })?;
    // Those that were found before something nearer was.
    candidates.retain(|(clearance, _)| *clearance < within);
    let mut least = nearest_of(stand, candidates, None, effort)?;
    let known = least.as_ref().map_or(f64::INFINITY, |least| least.upper);
    if known > within {
        candidates.clear();
        stand.candidates(known, only, |_, pair, clearance| {
            candidates.push((clearance, pair));
            Ok::<f64, Stopped>(known)
        })?;
        least = nearest_of(stand, candidates, least, effort)?;
    }
    least = nearest_of_clouds(stand, only, least, effort)?;
    if let Some(least) = least.as_mut().filter(|_| question.with_gradient) {
        least.geometry = contact_geometry(stand, least.pair, effort)?.map(Box::new);
    }
    Ok(least)
}

/// The nearest of all pairs with a cloud and the one that is known.
#[inline(always)]
fn nearest_of_clouds(
    stand: &mut Stand<'_>,
    only: Option<usize>,
    mut least: Option<SignedClearance>,
    effort: &mut Effort<'_>,
) -> Result<Option<SignedClearance>, Stopped> {
    stand.with_clouds(only, |stand, pair| {
        let known = least.as_ref().map_or(f64::INFINITY, |least| least.upper);
        if let Some(other) = clearance_of_cloud(stand, pair, known, effort)? {
            least = Some(nearer(least.take(), other));
        }
        Ok::<(), Stopped>(())
    })?;
    Ok(least)
}

/// The nearest of these pairs and the one that is known. Pairs whose depth takes long come last,
/// those that may be deepest first: most of them are less deep than another pair for certain.
fn nearest_of(
    stand: &mut Stand<'_>,
    candidates: &mut [(f64, BodyPair)],
    mut least: Option<SignedClearance>,
    effort: &mut Effort<'_>,
) -> Result<Option<SignedClearance>, Stopped> {
    candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut known = least.as_ref().map_or(f64::INFINITY, |least| least.upper);
    let mut deep = Vec::new();
    for (bound, pair) in candidates.iter() {
        if *bound >= known {
            break;
        }
        if stand.bound_of(*pair, known) >= known {
            continue;
        }
        match signed_clearance(stand, *pair, known, effort)? {
            Measured::Farther => {}
            Measured::Known(other) => {
                known = known.min(other.upper);
                least = Some(nearer(least, other));
            }
            Measured::Contact => {
                known = known.min(0.0);
                deep.push((f64::INFINITY, *pair));
            }
        }
    }
    if least.as_ref().is_some_and(|least| least.upper <= 0.0) || deep.len() > 1 {
        deep.iter_mut().for_each(|(most, pair)| *most = stand.depth_at_most(*pair));
    }
    deep.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (most, pair) in deep {
        if least.as_ref().is_some_and(|least| most <= -least.upper) {
            break;
        }
        let depth = stand.exact_depth(pair, effort)?;
        least = Some(nearer(least, contact_clearance(pair, depth)));
    }
    Ok(least)
}
