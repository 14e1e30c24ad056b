//! GJK in floating point: the simplex of M whose nearest point is, very likely, the nearest of M.
//!
//! Source: E. Gilbert, D. Johnson, S. Keerthi, "A fast procedure for computing the distance between
//!         complex objects in three-dimensional space", IEEE J. Robotics Automation 4(2), 1988;
//!         G. van den Bergen, "A fast and robust GJK implementation", J. Graphics Tools 4(2), 1999.
//! Proves: nothing. `bracket` and the exact stage do.
//! Cost:   two supports a step, five steps from cold.

use super::{DistanceMethod, Ending, FoundSimplex, Proposer};
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::difference::bounded::{BoundedView, turned_less};
use crate::difference::ellipsoids;
use crate::difference::roundness::Roundness;
use crate::distance::Stops;
use crate::distance::bracket::Bracket;
use crate::distance::simplex::{Growth, Simplex};
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::DISTANCE_PROGRESS;
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::witness::Witness;

/// The nearest points of round bodies lie in the direction from centre to centre, up to an angle
/// that is smaller the more vertices they have. A remembered direction is stale beyond the one with
/// this squared sine, over the vertices: two fifths of the distance of neighbours. From a stale
/// simplex the search takes longer than from cold.
const STALE_SPACING: f64 = 2.0;

/// A remembered simplex counts while its edges are orthogonal to the remembered direction up to an
/// angle whose squared sine is this, about 33 degrees, and its nearest point is inside and has
/// turned by no more than that.
const LEVEL_SINE_SQUARED: f64 = 0.3;
/// And not more than one and a half times the distance of neighbouring vertices: see
/// [`STALE_SPACING`].
const LEVEL_SPACING: f64 = 24.0;

/// The nearest point after the first support is a vertex of M, whose direction from the origin says
/// little when M is near: it may be nearly orthogonal to the line from centre to centre. M as a
/// ball of half the size would be supported at the opposite side of that line if the direction was
/// moved by this part of the size towards the line. With it bodies close together take a step and a
/// half less, others half a step; between 0.2 and 0.5 the count of steps hardly changes.
const DAMPING: f64 = 0.4;

/// Supports along other directions than the first start at the last one and move to a neighbour at
/// most. That is nearer and looks at less than from the start table to the top; and where the
/// bodies are close and the nearest point's direction is far off, it goes wrong less. After so many
/// in a row that did not see the top, the walk is too long, and the table is asked.
const LAG_MAX: u32 = 4;

/// From then on a walk goes on only while the direction hardly turns; and so many steps after the
/// last top was seen, not even then. Along the rim of a wide flat face the direction hardly turns
/// from one vertex to the next, and the walk would look at half of the rim.
const WALK_MAX: u32 = 16;
const _: () = assert!(LAG_MAX < WALK_MAX);

/// The row of the table.
pub(super) const METHOD: DistanceMethod = DistanceMethod {
    name: "gjk",
    source: "Gilbert, Johnson, Keerthi, A fast procedure for computing the distance between \
             complex objects in three-dimensional space, 1988",
    proves: "nothing; the simplex that it ends with is proven nearest, or gone on from",
    cost: "two supports a step, five steps from cold",
    tables: Tables::Nothing,
    proposer: Proposer::Default,
};

/// Searches until nothing is nearer, or the bracket meets the stops. In the instructions of the
/// caller.
#[inline(always)]
pub(in crate::distance) fn propose(
    view: &BoundedView<'_>,
    stops: Stops,
    witness: &Witness,
    effort: &mut Effort<'_>,
) -> FoundSimplex {
    search(view, witness, effort, |simplex, latest, effort| {
        !stops.are_none() && meets(stops, view, simplex, latest, effort)
    })
}

/// Whether what `simplex` shows meets the stops.
#[inline(never)]
fn meets(
    stops: Stops,
    view: &BoundedView<'_>,
    simplex: &Simplex,
    latest: VertexPair,
    effort: &mut Effort<'_>,
) -> bool {
    let bracket = Bracket::of(view, simplex, latest, effort);
    stops.are_met(bracket.lower, bracket.upper)
}

/// Searches. `enough` may end the search early; it sees the simplex and the supporting pair along
/// its nearest point.
#[inline(always)]
fn search<'e>(
    view: &BoundedView<'_>,
    witness: &Witness,
    effort: &mut Effort<'e>,
    mut enough: impl FnMut(&Simplex, VertexPair, &mut Effort<'e>) -> bool,
) -> FoundSimplex {
    let roundness = view.roundness();
    let begun = match begin(view, witness, roundness, effort) {
        Ok(begun) => begun,
        Err(why) => {
            return FoundSimplex { ending: Ending::Stopped(why), ..FoundSimplex::hands_over() };
        }
    };
    let Beginning { mut simplex, mut latest, mut seen, mut direction, mut is_remembered } = begun;
    // Looked at are: the first direction, one between it and the nearest point, and from then on,
    // or from a remembered simplex, the nearest point.
    let mut is_damped = !is_remembered;
    // Supports in a row that were not seen to be the top.
    let mut lag = 0;
    let ending = loop {
        if let Err(why) = effort.spend_step() {
            break Ending::Stopped(why);
        }
        let is_near = || turned_less(&direction, &seen, view.near_sine_squared(roundness));
        let walks = lag < LAG_MAX || (lag < WALK_MAX && is_near());
        let is_top;
        (latest, is_top) = view.farther_along(&direction, walks.then_some(latest), effort);
        lag = if is_top && lag < LAG_MAX { 0 } else { lag + 1 };
        if is_top && !is_damped && enough(&simplex, latest, effort) {
            break Ending::Enough;
        }
        let mut new = view.corner(latest);
        let mut promises = promises_progress(&simplex, &new);
        if !(promises || is_top || is_damped) {
            latest = view.likely_least_from(&direction, Some(latest), effort);
            new = view.corner(latest);
            promises = promises_progress(&simplex, &new);
        }
        if promises {
            match simplex.grow(new) {
                Growth::Nearer => is_remembered = false,
                Growth::Stuck => break Ending::Nearest,
                Growth::HoldsOrigin => break Ending::HoldsOrigin,
            }
        } else if !is_damped {
            // What was remembered is still the nearest: one look, no search.
            effort.cost.witness_hits += u64::from(is_remembered);
            break Ending::Nearest;
        }
        is_damped = false;
        (seen, direction) = (direction, simplex.direction);
    };
    FoundSimplex { simplex, latest, ending }
}

/// Where a search begins.
struct Beginning {
    simplex: Simplex,
    /// The pair found last.
    latest: VertexPair,
    /// The direction along which that pair is nearly least.
    seen: Vec3,
    /// Where to look next.
    direction: Vec3,
    is_remembered: bool,
}

/// Begins with the remembered simplex, or with a vertex of M in the direction in which the bodies'
/// ellipsoids are nearest.
#[inline(always)]
fn begin(
    view: &BoundedView<'_>,
    witness: &Witness,
    roundness: Roundness,
    effort: &mut Effort<'_>,
) -> Result<Beginning, Stopped> {
    let centre = view.centre_difference();
    if let Some(simplex) = start(view, view.pair(), witness, roundness, &centre) {
        let (latest, nearest) = (simplex.corners()[0].pair, simplex.nearest);
        let (seen, direction) = (nearest, nearest);
        return Ok(Beginning { simplex, latest, seen, direction, is_remembered: true });
    }
    effort.spend_step()?;
    let seen = ellipsoids::direction(view, roundness, &centre);
    // Any pair will do that is not far behind: the next direction is another.
    let latest = view.nearby(&seen, effort);
    let simplex = Simplex::point(view.corner(latest));
    let direction = simplex.nearest + seen * (DAMPING * view.size() / seen.norm());
    Ok(Beginning { simplex, latest, seen, direction, is_remembered: false })
}

/// Whether the new corner is worth a step: false for NaN, which ends the search.
#[inline(always)]
fn promises_progress(simplex: &Simplex, new: &RoundedCorner) -> bool {
    let progress = simplex.squared - simplex.nearest.dot(&new.point);
    progress > DISTANCE_PROGRESS * simplex.squared && !simplex.has(new.pair)
}

/// The simplex of the remembered pairs, when it is likely to be the nearest still.
#[inline(always)]
fn start(
    view: &BoundedView<'_>,
    pair: &Pair<'_>,
    witness: &Witness,
    roundness: Roundness,
    centre: &Vec3,
) -> Option<Simplex> {
    let remembered = witness.direction?;
    let [_, fewest] = view.vertex_counts();
    let is_stale = roundness.are_balls && !turned_less(centre, &remembered, STALE_SPACING / fewest);
    if is_stale { None } else { remembered_simplex(view, pair, &witness.pairs, &remembered) }
}

/// The simplex of those pairs, if its nearest point is inside and has turned little.
#[inline(always)]
fn remembered_simplex(
    view: &BoundedView<'_>,
    pair: &Pair<'_>,
    pairs: &[VertexPair],
    remembered: &Vec3,
) -> Option<Simplex> {
    let (p_count, q_count) = (pair.p.body.vertex_count(), pair.q.body.vertex_count());
    let exists = |pair: &VertexPair| pair.i < p_count && pair.j < q_count;
    let pairs = &pairs[..pairs.len().min(3)];
    if !pairs.iter().all(exists) {
        return None;
    }
    let (first, others) = pairs.split_first()?;
    let first = view.corner(*first);
    // The simplex turns with the bodies as a whole, however long they are.
    let [most, _] = view.vertex_counts();
    let near = LEVEL_SINE_SQUARED.min(LEVEL_SPACING / most);
    let squared = near * remembered.norm_squared();
    let mut rest = [first; 2];
    for (corner, pair) in rest.iter_mut().zip(others) {
        *corner = view.corner(*pair);
        let edge = corner.point - first.point;
        let rise = edge.dot(remembered);
        // The edges are still nearly orthogonal to the direction. False for NaN.
        let is_level = rise * rise < squared * edge.norm_squared();
        if !is_level {
            return None;
        }
    }
    let simplex = Simplex::around(&first, &rest[..others.len()]);
    let is_whole = simplex.corners().len() == pairs.len();
    (is_whole && turned_less(&simplex.nearest, remembered, near)).then_some(simplex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::measure;
    use crate::pose::Pose;
    use crate::samples::{Random, cone, ellipsoid};

    /// A remembered simplex was dropped beyond four degrees, whatever the bodies: at five a frame,
    /// always.
    #[test]
    fn bodies_of_few_vertices_that_turn_by_five_degrees_a_frame_are_found_from_what_is_remembered()
    {
        let body = |seed| ellipsoid(32, [1.0, 0.7, 0.5], seed);
        let (p, q) = (body(1), body(2));
        let (mut warm, mut cold) = (Effort::unlimited(), Effort::unlimited());
        let mut witness = Witness::default();
        for frame in 0..72 {
            let (sin, cos) = (f64::from(frame) * 5f64.to_radians()).sin_cos();
            let (half_sin, half_cos) = (f64::from(frame) * 2.5f64.to_radians()).sin_cos();
            let place = Vec3::new(2.0 * cos, 2.0 * sin, 0.5);
            let pose =
                Pose::from_quaternion(place, [half_cos, 0.6 * half_sin, 0.0, 0.8 * half_sin]);
            let pair = Pair::new(&p, Pose::identity(), &q, pose.unwrap());
            measure(&pair, Stops::default(), &mut witness, &mut warm).unwrap();
            measure(&pair, Stops::default(), &mut Witness::default(), &mut cold).unwrap();
        }
        assert!(4 * warm.cost.steps < 3 * cold.cost.steps, "{:?} {:?}", warm.cost, cold.cost);
    }

    /// The search walked along the rim from neighbour to neighbour: 140 steps, cold as well as
    /// warm.
    #[test]
    fn the_rim_of_a_wide_face_is_not_walked_along() {
        let mut random = Random(5);
        let body = cone(160);
        for round in 0..40 {
            let direction = random.unit_vector();
            let pair = Pair::new(
                &body,
                random.pose(Vec3::zeros()),
                &body,
                random.pose(direction * (1.0 + 0.05 * f64::from(round))),
            );
            let mut effort = Effort::unlimited();
            measure(&pair, Stops::default(), &mut Witness::default(), &mut effort).unwrap();
            assert!(effort.cost.steps < 40, "round {round}: {:?}", effort.cost);
        }
    }
}
