//! Configurations in bulk: whether a cell is free, what is in contact, and how near it is to it.
//!
//! Balls around links against boxes around what stands still leave few pairs (`candidates` of
//! [`super::stand`]); each of these is decided exactly. Every configuration is answered from cold,
//! so neither order nor threads change an answer.

use super::cell::{BodyPair, Cell};
use super::cloud_curved::NearestOfCurved;
use super::curved::{CurvedPair, HowFar};
use super::gradient::{ContactGeometry, contact_geometry};
use super::kinematics::ConfigurationError;
use super::stand::{Block, Deep, LANES, Poses, Stand};
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::{BallClearance, NearestBall};
use clearance_geometry::distance::{self, Distance, DistanceSide, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::penetration::BoxDepth;
use clearance_geometry::processor;
use clearance_geometry::rounded::{self, RoundedDistance};
use clearance_geometry::witness::Witness;

/// What is asked of every configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMode {
    /// Whether any pair is in contact; the first one that is found, in a fixed order.
    FirstPair,
    /// Every pair in contact.
    AllPairs,
    /// The least signed clearance, and whose it is.
    Clearance,
    /// That of every link that moves.
    LinkClearance,
}

/// A question about many configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckQuestion {
    /// What is asked.
    pub mode: CheckMode,
    /// Whether clearances come with points, a normal and a gradient.
    pub with_gradient: bool,
}

/// The signed clearance of a pair: its distance, or minus its depth.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedClearance {
    /// The pair that it is of.
    pub pair: BodyPair,
    /// How they stand; none: a curved body is nearer to contact than the finest polytopes in and
    /// around it tell, or so may another pair be. The bracket holds 0 then.
    pub verdict: Option<Verdict>,
    /// At most the exact one, metres; of a pair that overlaps, of which one is a polyhedron, minus
    /// the depth of their hulls.
    pub lower: f64,
    /// At least the exact one, metres; of such a pair 0.
    pub upper: f64,
    /// Of a cloud: the number of the point whose ball is the nearest or the deepest.
    pub point: Option<u32>,
    /// Where they are nearest, on request.
    pub geometry: Option<Box<ContactGeometry>>,
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
    /// It places nothing.
    Bad(ConfigurationError),
    /// There was no time left.
    Stopped(Stopped),
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
        let answer = effort.look_at_clock().and_then(|()| match question.mode {
            CheckMode::FirstPair => first_pair(&mut stand, effort),
            CheckMode::AllPairs => all_pairs(&mut stand, effort),
            CheckMode::Clearance => {
                let least = least_clearance(&mut stand, question, None, candidates, effort)?;
                Ok(Checked::Clearance(vec![least]))
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
const NO_BOUND: f64 = f64::NEG_INFINITY;

/// Pairs whose clearance is at least this are neither in contact nor within their margin.
fn within_of(stand: &Stand<'_>) -> f64 {
    CONTACT_WITHIN.max(stand.cell.most_margin().next_up())
}

/// Whether a pair that is apart is within its margin, or of what is curved nearer to it than is
/// resolved; its clearance is at least `bound`.
#[inline(always)]
fn is_within_margin(
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
fn is_left_open(stand: &Stand<'_>, pair: BodyPair, why: Stopped) -> Result<(), Stopped> {
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
        let Some(beside) = stand.cloud(pair) else { return Ok(()) };
        if let Some(curved) = beside.curved() {
            if let Some(nearest) = curved.nearest(known, effort)? {
                let NearestOfCurved { point, verdict, lower, upper } = nearest;
                let (point, geometry) = (Some(point), None);
                let other = SignedClearance { pair, verdict, lower, upper, point, geometry };
                least = Some(nearer(least.take(), other));
            }
            return Ok(());
        }
        if let Some(NearestBall { point, clearance }) = beside.nearest(known, effort)? {
            let BallClearance { verdict, lower, upper, .. } = clearance;
            let (verdict, point) = (Some(verdict), Some(point));
            let other = SignedClearance { pair, verdict, lower, upper, point, geometry: None };
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

/// The same of a pair with a polyhedron; none: both are polytopes. How deep that is in another body
/// is known within the depth of the hulls: what draws these apart draws the bodies apart.
fn clearance_of_solids(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<Measured>, Stopped> {
    let Some(solids) = stand.solids(pair) else { return Ok(None) };
    if let Some(curved) = solids.curved() {
        return clearance_of_curved(curved, pair, above, effort).map(Some);
    }
    let known = |verdict, lower, upper| {
        Measured::Known(SignedClearance {
            pair,
            verdict: Some(verdict),
            lower,
            upper,
            point: None,
            geometry: None,
        })
    };
    let mut deepest = |effort: &mut Effort<'_>| -> Result<f64, Stopped> {
        Ok(0.0 - stand.hull_depth(pair, effort)?.map_or(0.0, |deep| deep.upper))
    };
    if above <= 0.0 {
        // Of interest only if it is deeper than what is known.
        let lower = deepest(effort)?;
        let is_deep = lower < above && solids.verdict(effort)? == Verdict::Overlapping;
        let deeper = || known(Verdict::Overlapping, lower, 0.0);
        return Ok(Some(if is_deep { deeper() } else { Measured::Farther }));
    }
    let stops = Stops { above: above.is_finite().then_some(above), below: None };
    Ok(Some(match solids.distance(stops, effort)? {
        HowFar::Beyond => Measured::Farther,
        HowFar::Apart(found) => known(Verdict::Separated, found.lower, found.upper),
        HowFar::Contact(Verdict::Overlapping) => known(Verdict::Overlapping, deepest(effort)?, 0.0),
        HowFar::Contact(verdict) => known(verdict, 0.0, 0.0),
        HowFar::Unresolved(_) => return Err(Stopped::Unresolved),
    }))
}

/// The same of a pair of which one is curved. How deep that is in a body that is not convex is
/// known between the depth of the deepest pieces and that of the hulls.
fn clearance_of_curved(
    curved: &CurvedPair<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Measured, Stopped> {
    let known = |verdict, lower, upper| {
        let (point, geometry) = (None, None);
        Measured::Known(SignedClearance { pair, verdict, lower, upper, point, geometry })
    };
    let reach = if above > 0.0 { above } else { 0.0 };
    let stops = Stops { above: reach.is_finite().then_some(reach), below: None };
    let (is_open, farthest) = match curved.distance(stops, effort)? {
        HowFar::Beyond => return Ok(Measured::Farther),
        HowFar::Apart(_) if above <= 0.0 => return Ok(Measured::Farther),
        HowFar::Apart(found) => {
            return Ok(known(Some(Verdict::Separated), found.lower, found.upper));
        }
        HowFar::Contact(Verdict::Touching | Verdict::Separated) => {
            return Ok(known(Some(Verdict::Touching), 0.0, 0.0));
        }
        HowFar::Contact(Verdict::Overlapping) => (false, 0.0),
        HowFar::Unresolved([_, upper]) => (true, upper),
    };
    let verdict = (!is_open).then_some(Verdict::Overlapping);
    let deep = curved.depth(effort)?;
    let [lower, upper] = deep.bounds;
    Ok(match (verdict, deep.verdict) {
        // The depth may tell what the distance left open.
        (Some(_), _) | (None, Some(Verdict::Overlapping)) => {
            known(Some(Verdict::Overlapping), 0.0 - upper, 0.0 - lower)
        }
        (None, _) => known(None, 0.0 - upper, farthest),
    })
}

/// The one with the lower upper end; of two whose brackets meet, the exact least is known to be
/// above the lower of the lower ends only.
fn nearer(known: Option<SignedClearance>, other: SignedClearance) -> SignedClearance {
    let Some(known) = known else { return other };
    let lower = known.lower.min(other.lower);
    // How deep a polyhedron is has 0 as its upper end: it is deeper than what touches.
    let rank =
        |one: &SignedClearance| (one.upper, one.verdict != Some(Verdict::Overlapping), one.pair);
    let is_nearer = rank(&other) < rank(&known);
    let is_open = known.verdict.is_none() || other.verdict.is_none();
    let nearest = if is_nearer { other } else { known };
    // Of what overlaps is known that it does, whatever is open beside it.
    let verdict = nearest.verdict.filter(|verdict| !is_open || *verdict == Verdict::Overlapping);
    SignedClearance { lower, verdict, ..nearest }
}

/// What is known of the signed clearance of a pair.
enum Measured {
    /// It is more than is of interest.
    Farther,
    /// All of it.
    Known(SignedClearance),
    /// It is at most zero; how deep takes longer to say.
    Contact,
}

/// The clearance of a pair in contact; it touches if there is no depth.
fn contact_clearance(pair: BodyPair, depth: Option<Deep>) -> SignedClearance {
    let (verdict, lower, upper) = match depth {
        Some(deep) => (Verdict::Overlapping, 0.0 - deep.upper, 0.0 - deep.lower),
        None => (Verdict::Touching, 0.0, 0.0),
    };
    let verdict = Some(verdict);
    SignedClearance { pair, verdict, lower, upper, point: None, geometry: None }
}

/// The same of a pair of which one has balls around all its points; none: neither has.
fn clearance_of_rounded(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<Measured>, Stopped> {
    let Some(rounded) = stand.rounded_hulls(pair) else { return Ok(None) };
    if above > 0.0 {
        let stops = Stops { above: above.is_finite().then_some(above), below: None };
        let (method, witness) = (&distance::METHODS[0], &mut Witness::default());
        let apart = rounded::measure(&rounded, method, stops, witness, effort)?;
        let RoundedDistance { proof, lower, upper, stopped, .. } = apart;
        if proof.verdict == Verdict::Separated {
            if let Some(why) = stopped {
                return Err(why);
            }
            let verdict = Some(Verdict::Separated);
            let apart =
                SignedClearance { pair, verdict, lower, upper, point: None, geometry: None };
            let is_nearer = lower <= above;
            return Ok(Some(if is_nearer { Measured::Known(apart) } else { Measured::Farther }));
        }
    } else if rounded::verdict(&rounded, &mut Witness::default(), effort)?.verdict
        == Verdict::Separated
    {
        return Ok(Some(Measured::Farther));
    }
    let depth = stand.hull_depth(pair, effort)?;
    Ok(Some(Measured::Known(contact_clearance(pair, depth))))
}

/// The signed clearance of a pair, unless it is more than `above`.
fn signed_clearance(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Measured, Stopped> {
    if let Some(of_solids) = clearance_of_solids(stand, pair, above, effort)? {
        return Ok(of_solids);
    }
    if let Some(of_rounded) = clearance_of_rounded(stand, pair, above, effort)? {
        return Ok(of_rounded);
    }
    if above > 0.0 {
        let stops = Stops { above: above.is_finite().then_some(above), below: None };
        let distance = stand.hull_distance(pair, stops, effort)?;
        if distance.decision.verdict() == Verdict::Separated {
            if let Some(why) = distance.stopped {
                return Err(why);
            }
            let Distance { lower, upper, .. } = distance;
            let verdict = Some(Verdict::Separated);
            let separated =
                SignedClearance { pair, verdict, lower, upper, point: None, geometry: None };
            let is_nearer = lower <= above;
            return Ok(if is_nearer { Measured::Known(separated) } else { Measured::Farther });
        }
    }
    // In contact, or of interest only if it is deeper than what is known.
    let is_contact = above > 0.0;
    Ok(match stand.box_depth(pair, (-above).max(0.0)) {
        BoxDepth::Deep { lower, upper, direction } => {
            let deep = Deep { lower, upper, direction };
            Measured::Known(contact_clearance(pair, Some(deep)))
        }
        BoxDepth::Shallow if !is_contact => Measured::Farther,
        BoxDepth::Shallow | BoxDepth::Unknown if is_contact => Measured::Contact,
        BoxDepth::Shallow | BoxDepth::Unknown => match stand.verdict(pair, effort)? {
            Verdict::Separated => Measured::Farther,
            Verdict::Touching | Verdict::Overlapping => Measured::Contact,
        },
    })
}
