//! Configurations in bulk: whether a cell is free, what is in contact, and how near it is to it.
//!
//! Balls around links against boxes around what stands still leave few pairs (`candidates` of
//! [`super::stand`]); each of these is decided exactly. Every configuration is answered from cold,
//! so neither order nor threads change an answer.

use super::cell::{BodyPair, Cell};
use super::gradient::{ContactGeometry, contact_geometry};
use super::kinematics::ConfigurationError;
use super::solids::HowFar;
use super::stand::{Block, Deep, LANES, Poses, Stand};
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::{BallClearance, NearestBall};
use clearance_geometry::distance::{self, Distance, Stops};
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
    /// How they stand.
    pub verdict: Verdict,
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
        answer.unwrap_or_else(Checked::Stopped)
    }
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
    let walked = stand.candidates(CONTACT_WITHIN, None, |stand, pair, _| {
        match stand.verdict(pair, effort).map_err(Ends::Stopped)? {
            Verdict::Separated => Ok(CONTACT_WITHIN),
            verdict @ (Verdict::Touching | Verdict::Overlapping) => Err(Ends::Found(pair, verdict)),
        }
    });
    let walked = walked.and_then(|()| {
        stand.with_clouds(None, |stand, pair| match stand.verdict(pair, effort) {
            Ok(Verdict::Separated) => Ok(()),
            Ok(verdict) => Err(Ends::Found(pair, verdict)),
            Err(why) => Err(Ends::Stopped(why)),
        })
    });
    match walked {
        Ok(()) => Ok(Checked::Free),
        Err(Ends::Found(pair, verdict)) => Ok(Checked::Contact(vec![(pair, verdict)])),
        Err(Ends::Stopped(why)) => Err(why),
    }
}

#[inline(always)]
fn all_pairs(stand: &mut Stand<'_>, effort: &mut Effort<'_>) -> Result<Checked, Stopped> {
    let mut found = Vec::new();
    stand.candidates(CONTACT_WITHIN, None, |stand, pair, _| {
        let verdict = stand.verdict(pair, effort)?;
        if verdict != Verdict::Separated {
            found.push((pair, verdict));
        }
        Ok(CONTACT_WITHIN)
    })?;
    stand.with_clouds(None, |stand, pair| {
        let verdict = stand.verdict(pair, effort)?;
        if verdict != Verdict::Separated {
            found.push((pair, verdict));
        }
        Ok::<(), Stopped>(())
    })?;
    found.sort_by_key(|(pair, _)| *pair);
    Ok(if found.is_empty() { Checked::Free } else { Checked::Contact(found) })
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
        if let Some(NearestBall { point, clearance }) = beside.nearest(known, effort)? {
            let BallClearance { verdict, lower, upper, .. } = clearance;
            let point = Some(point);
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
    let known = |verdict, lower, upper| {
        Measured::Known(SignedClearance {
            pair,
            verdict,
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
    }))
}

/// The one with the lower upper end; of two whose brackets meet, the exact least is known to be
/// above the lower of the lower ends only.
fn nearer(known: Option<SignedClearance>, other: SignedClearance) -> SignedClearance {
    let Some(known) = known else { return other };
    let lower = known.lower.min(other.lower);
    // How deep a polyhedron is has 0 as its upper end: it is deeper than what touches.
    let rank = |one: &SignedClearance| (one.upper, one.verdict != Verdict::Overlapping, one.pair);
    let is_nearer = rank(&other) < rank(&known);
    let nearest = if is_nearer { other } else { known };
    SignedClearance { lower, ..nearest }
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
            let verdict = Verdict::Separated;
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
            let verdict = Verdict::Separated;
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
