//! GJK in floating point: the simplex of M whose nearest point is, very likely, the nearest of M.
//!
//! Source: E. Gilbert, D. Johnson, S. Keerthi, "A fast procedure for computing the distance between
//!         complex objects in three-dimensional space", IEEE J. Robotics Automation 4(2), 1988;
//!         G. van den Bergen, "A fast and robust GJK implementation", J. Graphics Tools 4(2), 1999.
//! Proves: nothing. `bracket` and the exact stage do.
//! Cost:   two supports a step, five or six steps from cold.

use arrayvec::ArrayVec;

use super::Stops;
use super::bracket::Bracket;
use super::ellipsoids;
use super::method::{Ending, Found, Method};
use super::simplex::{Corner, Growth, Simplex};
use super::view::{View, turned_less};
use crate::geometry::effort::Effort;
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::processor;
use crate::geometry::witness::Witness;

/// A step that promises less than this part of |v|² is not worth taking: the bracket is 1e-12 wide
/// at most, and the exact stage starts from here.
const PROGRESS_MIN: f64 = 1e-14;

/// Of round bodies the nearest points lie in the direction from centre to centre, up to an angle that is
/// smaller the more vertices they have. A remembered direction is stale beyond the one with this squared
/// sine, over the vertices: four sevenths of the distance of neighbours. From a stale simplex the search
/// takes longer than from cold.
const STALE_SPACING: f64 = 4.0;

/// The nearest point after the first support is a vertex of M, whose direction from the origin says
/// little when M is near: it may be nearly orthogonal to the line from centre to centre. M as a ball
/// of half the size would be supported at the opposite side of that line if the direction was moved
/// by this part of the size towards the line. With it bodies close together take a step and a half
/// less, others half a step; between 0.1 and 0.5 the count of steps hardly changes.
const DAMPING: f64 = 0.2;

/// The row of the table.
pub(super) const METHOD: Method = Method {
    name: "gjk",
    source: "Gilbert, Johnson, Keerthi, A fast procedure for computing the distance between complex \
             objects in three-dimensional space, 1988",
    proves: "nothing; the simplex that it ends with is proven nearest, or gone on from",
    cost: "two supports a step, five or six steps from cold",
    propose,
};

/// Searches until nothing is nearer, or the bracket meets the stops.
fn propose(
    view: &View<'_>,
    pair: &Pair<'_>,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Found {
    processor::dispatch(
        #[inline(always)]
        || {
            search(view, pair, witness, effort, |simplex, latest, effort| {
                !stops.are_none() && meets(stops, view, simplex, latest, effort)
            })
        },
    )
}

/// Whether what `simplex` shows meets the stops.
#[inline(never)]
fn meets(
    stops: Stops,
    view: &View<'_>,
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
    view: &View<'_>,
    pair: &Pair<'_>,
    witness: &Witness,
    effort: &mut Effort<'e>,
    mut enough: impl FnMut(&Simplex, VertexPair, &mut Effort<'e>) -> bool,
) -> Found {
    // The pair found last, and the direction along which it is nearly least.
    let (mut simplex, mut latest, mut seen);
    let mut direction;
    // Looked at are: the first direction, one between it and the nearest point, and from then on, or
    // from a remembered simplex, the nearest point.
    let mut is_remembered = false;
    let mut is_damped = false;
    let roundness = view.roundness();
    let near = view.near_sine_squared(roundness);
    if let Some(remembered) = start(view, pair, witness, roundness) {
        simplex = remembered;
        (latest, seen, direction) = (simplex.corners()[0].pair, simplex.nearest, simplex.nearest);
        is_remembered = true;
    } else {
        if let Err(why) = effort.spend_step() {
            return Found { ending: Ending::Stopped(why), ..Found::hands_over() };
        }
        seen = ellipsoids::direction(view, roundness);
        // Any pair will do that is not far behind: the next direction is another.
        latest = view.nearby(&seen, effort);
        simplex = Simplex::point(view.corner(latest));
        direction = simplex.nearest + seen * (DAMPING * view.size() / seen.norm());
        is_damped = true;
    }
    let ending = loop {
        if let Err(why) = effort.spend_step() {
            break Ending::Stopped(why);
        }
        latest = view.likely_least_along(&direction, latest, &seen, near, effort);
        if !is_damped && enough(&simplex, latest, effort) {
            break Ending::Enough;
        }
        let new = view.corner(latest);
        let progress = simplex.squared - simplex.nearest.dot(&new.point);
        // False for NaN too, which ends the search.
        let promises = progress > PROGRESS_MIN * simplex.squared && !simplex.has(latest);
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
        (seen, direction) = (direction, simplex.nearest);
    };
    Found { simplex, latest, ending }
}

/// The simplex of the remembered pairs, when it is likely to help.
#[inline(always)]
fn start(view: &View<'_>, pair: &Pair<'_>, witness: &Witness, roundness: f64) -> Option<Simplex> {
    let remembered = witness.direction?;
    let [_, fewest] = view.vertex_counts();
    if ellipsoids::are_round(roundness)
        && !turned_less(&view.centre_difference(), &remembered, STALE_SPACING / fewest)
    {
        return None;
    }
    let (p_count, q_count) = (pair.p.body.vertex_count(), pair.q.body.vertex_count());
    let mut corners: ArrayVec<Corner, 3> = ArrayVec::new();
    let exist = witness.pairs.iter().filter(|pair| pair.i < p_count && pair.j < q_count);
    for &pair in exist.take(3) {
        corners.push(view.corner(pair));
    }
    let (first, others) = corners.split_first()?;
    // The simplex turns with the bodies as a whole, however long they are.
    let near = view.near_sine_squared(1.0);
    let squared = remembered.norm_squared();
    // The edges are still nearly orthogonal to the direction. False for NaN.
    let is_level = |corner: &Corner| {
        let edge = corner.point - first.point;
        let rise = edge.dot(&remembered);
        rise * rise < near * edge.norm_squared() * squared
    };
    if !others.iter().all(is_level) {
        return None;
    }
    Simplex::of(&corners).filter(|simplex| turned_less(&simplex.nearest, &remembered, near))
}
