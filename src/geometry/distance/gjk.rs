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
use super::method::{Ending, Found, Method};
use super::simplex::{Corner, Simplex};
use super::view::View;
use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::witness::Witness;

/// A step that promises less than this part of |v|² is not worth taking: the bracket is 1e-12 wide
/// at most, and the exact stage starts from here.
const PROGRESS_MIN: f64 = 1e-14;

/// A remembered simplex is a good start when its nearest point still lies in the remembered
/// direction, up to about 4 degrees (cos²); from a stale one the search takes longer than from cold.
const WARM_COS_SQUARED: f64 = 0.995;

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
    search(view, pair, witness, effort, |simplex, latest, effort| {
        !stops.are_none() && {
            let bracket = Bracket::of(view, simplex, latest, effort);
            stops.are_met(bracket.lower, bracket.upper)
        }
    })
}

/// Searches. `enough` may end the search early; it sees the simplex and the supporting pair along
/// its nearest point.
#[inline]
fn search<'e>(
    view: &View<'_>,
    pair: &Pair<'_>,
    witness: &Witness,
    effort: &mut Effort<'e>,
    mut enough: impl FnMut(&Simplex, VertexPair, &mut Effort<'e>) -> bool,
) -> Found {
    let (mut simplex, mut last) = start(view, pair, witness);
    let mut latest = last.map_or(VertexPair::default(), |(pair, _)| pair);
    let mut is_remembered = last.is_some();
    let mut is_first = last.is_none();
    let ending = loop {
        if let Err(why) = effort.spend_step() {
            break Ending::Stopped(why);
        }
        let direction = if is_first { view.centre_difference() } else { simplex.nearest };
        latest = view.likely_least_along(&direction, last, effort);
        last = Some((latest, direction));
        let new = Corner { pair: latest, point: view.difference(latest) };
        if is_first {
            simplex = Simplex::point(new);
            is_first = false;
            continue;
        }
        if enough(&simplex, latest, effort) {
            break Ending::Enough;
        }
        let progress = simplex.squared - simplex.nearest.dot(&new.point);
        // False for NaN too, which ends the search.
        let promises = progress > PROGRESS_MIN * simplex.squared && !simplex.has(latest);
        if !promises {
            // What was remembered is still the nearest: one look, no search.
            effort.cost.witness_hits += u64::from(is_remembered);
            break Ending::Nearest;
        }
        let Some(grown) = simplex.grown(new) else {
            break Ending::HoldsOrigin;
        };
        let is_nearer = grown.squared < simplex.squared;
        if !is_nearer {
            break Ending::Nearest;
        }
        simplex = grown;
        is_remembered = false;
    };
    Found { simplex, latest, ending }
}

/// The simplex of the remembered pairs, when it is likely to help.
#[inline]
fn start(
    view: &View<'_>,
    pair: &Pair<'_>,
    witness: &Witness,
) -> (Simplex, Option<(VertexPair, Vec3)>) {
    let cold = (Simplex::default(), None);
    let Some(remembered) = witness.direction else { return cold };
    let (p_count, q_count) = (pair.p.body.vertex_count(), pair.q.body.vertex_count());
    let corners: ArrayVec<Corner, 3> = witness
        .pairs
        .iter()
        .filter(|pair| pair.i < p_count && pair.j < q_count)
        .take(3)
        .map(|&pair| Corner { pair, point: view.difference(pair) })
        .collect();
    let Some(simplex) = Simplex::of(&corners) else { return cold };
    let v = simplex.nearest;
    let along = v.dot(&remembered);
    let helps = along > 0.0
        && along * along > WARM_COS_SQUARED * simplex.squared * remembered.norm_squared();
    if helps { (simplex, Some((simplex.corners()[0].pair, v))) } else { cold }
}
