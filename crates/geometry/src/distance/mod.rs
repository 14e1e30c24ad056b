//! How far apart: a bracket that encloses the exact distance, with its certificate.
//!
//! A *method* in floating point ([`METHODS`]; by default [`gjk`]) finds the simplex of M nearest
//! the origin; error bounds turn it into a bracket ([`bracket`]), in f64 and, where that is too
//! wide (bodies closer than a hundredth of their size, parallel features), in twice the precision.
//! Where that fails too (gaps of a few ulp, coordinates near the ends of f64) the exact stage goes
//! on from the same simplex and finds the nearest point of M in integers ([`wolfe`] in the integers
//! of [`super::difference::exact`]), rounded outward once ([`super::number::outward`]).

mod beyond;
mod bracket;
mod common_point;
mod compare;
mod methods;
mod rise;
pub(crate) mod rough;
mod rounded;
pub(crate) mod segments;
mod simplex;
pub(crate) mod sweep;
#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod tests;
pub(crate) mod wolfe;

use arrayvec::ArrayVec;

pub(crate) use self::beyond::{direction_beyond, towards};
use self::bracket::Bracket;
pub(crate) use self::common_point::rounded_weights;
pub(crate) use self::compare::length_compared;
pub use self::compare::{Compared, DistanceSide, compare, compare_beyond, is_within};
pub use self::methods::{DistanceMethod, METHODS, h_walk};
use self::methods::{Ending, FoundSimplex, Proposer, gjk};
pub use self::rounded::{ComparedWithReach, compare_with_reach};
use super::difference::bounded::BoundedView;
use super::difference::exact::Difference;
use super::effort::{Effort, Stopped};
use super::pair::{Pair, VertexPair};
use super::separation::{self, Decision, decide};
use super::witness::Witness;
use super::{Vec3, processor};
use crate::claim::{Direction, StaticProof, Verdict};
use crate::number::tolerance::{DISTANCE_WIDTH, FAR_POINTS, POINT_ERROR};

/// Relative width of a bracket that needs no exact stage; the contract's.
pub const WIDTH_MAX: f64 = DISTANCE_WIDTH;

/// When a distance search may stop early; the verdict stays exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stops {
    /// Stop once `lower` exceeds this, in metres.
    pub above: Option<f64>,
    /// Stop once `upper` is below this, in metres.
    pub below: Option<f64>,
}

/// The distance of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// The verdict with its proof.
    pub decision: Decision,
    /// At most the exact distance, in metres; 0 unless separated.
    pub lower: f64,
    /// At least the exact distance, in metres; 0 unless separated.
    pub upper: f64,
    /// With v the point nearest the origin in the hull of their differences, |v| is at most `upper`
    /// and the least of `v·y / |v|` over M at least `lower`.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// Closest points in the world, rounded: for use, not for proof. When in contact, a common
    /// point up to rounding.
    pub closest_p: Vec3,
    /// See `closest_p`.
    pub closest_q: Vec3,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

impl Stops {
    /// Whether a bracket answers what was asked.
    fn are_met(&self, lower: f64, upper: f64) -> bool {
        self.above.is_some_and(|above| lower > above)
            || self.below.is_some_and(|below| upper < below)
    }

    fn are_none(&self) -> bool {
        self.above.is_none() && self.below.is_none()
    }
}

/// Measures the distance of the pair.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::distance::{Stops, measure};
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(4.0, 5.0, 0.0));
/// let distance = measure(&pair, Stops::default(), &mut witness, &mut effort).unwrap();
/// assert!(distance.lower <= 5.0 && 5.0 <= distance.upper);
/// ```
pub fn measure(
    pair: &Pair<'_>,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Distance, Stopped> {
    measure_by(&METHODS[0], pair, stops, witness, effort)
}

/// Measures the distance of the pair, searching with `method`.
pub fn measure_by(
    method: &DistanceMethod,
    pair: &Pair<'_>,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Distance, Stopped> {
    processor::dispatch(
        #[inline(always)]
        || measure_inlined(method, pair, stops, witness, effort),
    )
}

#[inline(always)]
fn measure_inlined(
    method: &DistanceMethod,
    pair: &Pair<'_>,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Distance, Stopped> {
    let view = BoundedView::new(pair);
    if view.is_safe() {
        let found = search(method, &view, stops, witness, effort);
        let proof = Proof::of(&view, &found, stops, Some(WIDTH_MAX), effort);
        remember(&found, &proof, witness);
        if proof.bracket.separates {
            effort.cost.queries += 1;
            // Where it is, the closest points are to be accurate as well, or not asked for.
            let Bracket { lower, upper, .. } = proof.bracket;
            let is_enough = proof.is_enough
                && (shows_points(&view, &proof.bracket) || stops.are_met(lower, upper));
            let proof = Proof { is_enough, ..proof };
            return measure_separated(&view, &found, &proof, witness, effort);
        }
        if let Some(why) = found.stopped() {
            return Err(why);
        }
    }
    // A search for the distance cannot prove that there is none.
    effort.cost.handed_over += 1;
    let (start, hits) = (witness.pairs.clone(), effort.cost.witness_hits);
    let decision = decide(pair, &separation::METHODS[0], witness, effort)?;
    if view.is_safe() {
        // What it was decided by is what the search has just found, not what was remembered.
        effort.cost.witness_hits = hits;
    }
    if decision.verdict() != Verdict::Separated {
        return Ok(contact(pair, &view, decision));
    }
    let known = Separated { decision, start, rough: None };
    exact_distance(pair, known, witness, effort)
}

/// What is certain of what a search found.
struct Proof {
    bracket: Bracket,
    /// Whether the bracket answers what was asked.
    is_enough: bool,
}

impl Proof {
    /// In f64, or in twice the precision where that does not meet the stops nor is at most this
    /// wide relative to the distance.
    #[inline(always)]
    fn of(
        view: &BoundedView<'_>,
        found: &FoundSimplex,
        stops: Stops,
        width: Option<f64>,
        effort: &mut Effort<'_>,
    ) -> Self {
        let is_enough = |bracket: &Bracket| {
            stops.are_met(bracket.lower, bracket.upper)
                || width.is_some_and(|width| bracket.is_narrow(width))
        };
        let bracket = Bracket::of(view, &found.simplex, found.latest, effort);
        if is_enough(&bracket) {
            return Self { bracket, is_enough: true };
        }
        // A sharp bracket has weights of its own, not those of the simplex.
        let sharp = (found.ending == Ending::Nearest)
            .then(|| Bracket::sharp(view, &found.simplex, found.latest, effort));
        let bracket = sharp.flatten().unwrap_or(bracket);
        Self { is_enough: is_enough(&bracket), bracket }
    }
}

/// Searches, until the stops are met or nothing nearer is in sight.
#[inline(always)]
fn search(
    method: &DistanceMethod,
    view: &BoundedView<'_>,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> FoundSimplex {
    if let Proposer::By(propose) = method.proposer {
        let found = propose(view, view.pair(), stops, witness, effort);
        if found.ending != Ending::HandsOver {
            return found;
        }
        effort.cost.handed_over += 1;
    }
    gjk::propose(view, stops, witness, effort)
}

/// Leaves in the witness what is known: the simplex's pairs, and where it seems to hold the origin
/// together with the latest one, that one too.
#[inline(always)]
fn remember(found: &FoundSimplex, proof: &Proof, witness: &mut Witness) {
    witness.direction = Some(proof.bracket.direction);
    witness.pairs.clear();
    for corner in found.simplex.corners() {
        witness.pairs.push(corner.pair);
    }
    if found.ending == Ending::HoldsOrigin {
        witness.pairs.push(found.latest);
    }
}

/// The search's direction is proven to separate.
#[inline(always)]
fn measure_separated(
    view: &BoundedView<'_>,
    found: &FoundSimplex,
    proof: &Proof,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Distance, Stopped> {
    let Bracket { direction, lower, upper, .. } = proof.bracket;
    let certificate = StaticProof::Separated { direction: Direction::Vector(direction) };
    let decision = Decision { proof: certificate };
    let simplex = &found.simplex;
    let names = simplex.corners().iter().map(|corner| corner.pair);
    let pairs: ArrayVec<VertexPair, 3> = names.clone().collect();
    let [closest_p, closest_q] = view.mean(names.zip(simplex.weights().iter().copied()));
    let stopped = found.stopped();
    if proof.is_enough || stopped.is_some() {
        return Ok(Distance { decision, lower, upper, pairs, closest_p, closest_q, stopped });
    }
    let rough =
        Distance { decision: decision.clone(), lower, upper, pairs, closest_p, closest_q, stopped };
    let known = Separated { decision, start: witness.pairs.clone(), rough: Some(rough) };
    exact_distance(view.pair(), known, witness, effort)
}

/// Whether the closest points are as accurate as bodies that far from each other need.
///
/// Nearer bodies have accurate ones whenever their search ends by itself. From far away all points
/// of a face are about as near: a bracket of the contract's width leaves open where on it the
/// closest is, by up to a millionth of the distance.
#[inline(always)]
fn shows_points(view: &BoundedView<'_>, bracket: &Bracket) -> bool {
    let [p, q] = view.bodies();
    let size = p.body.bounds().radius + q.body.bounds().radius;
    bracket.lower <= FAR_POINTS * size || bracket.off <= POINT_ERROR * size
}

/// A pair that is separated, before its exact distance is known.
struct Separated {
    decision: Decision,
    /// Vertex pairs near the closest points.
    start: ArrayVec<VertexPair, 6>,
    /// The distance as far as the error bounds show it.
    rough: Option<Distance>,
}

/// The distance to the last bit. When the budget runs out, it is the rough one, or what the
/// starting pairs alone show.
fn exact_distance(
    pair: &Pair<'_>,
    Separated { decision, start, rough }: Separated,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Distance, Stopped> {
    effort.cost.exact_stages += 1;
    let m = Difference::new(pair);
    let start = in_range(pair, &start);
    let (nearest, stopped) = match wolfe::nearest(&m, &start, effort) {
        Ok(nearest) => (nearest, None),
        Err(why) => match rough {
            Some(rough) => return Ok(Distance { stopped: Some(why), ..rough }),
            None => (wolfe::nearest_of_pairs(&m, &start), Some(why)),
        },
    };
    let nearest = nearest.expect("a separated pair's M does not hold the origin");
    let [lower, upper] = nearest.length(&m);
    let [closest_p, closest_q] = nearest.closest(&m);
    witness.direction = Some(nearest.unit_direction());
    witness.pairs = nearest.pairs.iter().copied().collect();
    let lower = if stopped.is_some() { 0.0 } else { lower };
    Ok(Distance { decision, lower, upper, pairs: nearest.pairs, closest_p, closest_q, stopped })
}

/// Those pairs that exist, at most three, or the first vertices.
fn in_range(pair: &Pair<'_>, pairs: &[VertexPair]) -> ArrayVec<VertexPair, 3> {
    let (p_count, q_count) = (pair.p.body.vertex_count(), pair.q.body.vertex_count());
    let exists = |pair: &&VertexPair| pair.i < p_count && pair.j < q_count;
    let mut found: ArrayVec<VertexPair, 3> = pairs.iter().filter(exists).take(3).copied().collect();
    if found.is_empty() {
        found.push(VertexPair::default());
    }
    found
}

/// A point that bodies share which overlap, as `pairs` prove
/// ([`StaticProof::Overlapping`]), rounded.
pub fn common_point(pair: &Pair<'_>, pairs: &[VertexPair]) -> Vec3 {
    let [_, of_q] = common_point::of(pair, &BoundedView::new(pair), pairs);
    of_q
}

/// The point at which bodies meet that have just come together along `way`, in the corners of a
/// facet of M that [`FirstContact`] names, rounded. None where rounding does not tell.
///
/// [`FirstContact`]: crate::claim::FirstContact
pub fn point_of_entry(pair: &Pair<'_>, way: &Vec3, corners: &[VertexPair; 3]) -> Option<Vec3> {
    let view = BoundedView::new(pair);
    let common = if view.is_safe() { common_point::of_entry(&view, way, corners) } else { None };
    common.map(|[_, of_q]| of_q)
}

/// Distance zero, with a common point.
fn contact(pair: &Pair<'_>, view: &BoundedView<'_>, decision: Decision) -> Distance {
    let pairs: &[VertexPair] = match &decision.proof {
        StaticProof::Touching { pairs, .. } => pairs,
        StaticProof::Overlapping { pairs } => pairs,
        StaticProof::Separated { .. } => &[],
    };
    let [closest_p, closest_q] = common_point::of(pair, view, pairs);
    Distance {
        decision,
        lower: 0.0,
        upper: 0.0,
        pairs: ArrayVec::new(),
        closest_p,
        closest_q,
        stopped: None,
    }
}
