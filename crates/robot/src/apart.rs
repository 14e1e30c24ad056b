//! Directions that show that two polytopes are apart, and by how much.

use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::{Stops, measure};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::double::{
    Double, Real, Triple, cross, dot, minus, plus_times, rounded,
};
use clearance_geometry::number::rounding::{BOUND_SLACK, UNIT};
use clearance_geometry::pair::{Pair, Placed, VertexPair};
use clearance_geometry::witness::Witness;

/// The direction along which a pair is as far apart as it is; none: it is in contact, or rounding
/// leaves none.
pub(super) fn nearest_direction(
    pair: &Pair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Option<Vec3>, Stopped> {
    let distance = measure(pair, Stops::default(), witness, effort)?;
    if distance.decision.verdict() != Verdict::Separated {
        return Ok(None);
    }
    Ok(direction_to_nearest(pair, &distance.pairs))
}

/// A direction along which a pair, or its hulls, are farther apart than `within`, and at most how
/// far.
pub(super) fn widest(
    pair: &Pair<'_>,
    within: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<(Vec3, f64)>, Stopped> {
    let stops = Stops { above: Some(within), below: None };
    let distance = measure(pair, stops, &mut Witness::default(), effort)?;
    let is_separated = distance.decision.verdict() == Verdict::Separated;
    if !is_separated || distance.lower <= within {
        return Ok(None);
    }
    Ok(direction_to_nearest(pair, &distance.pairs)
        .map(|direction| (direction, gap_along(pair, &direction)))
        .filter(|(_, gap)| *gap > within))
}

/// The vector from the origin to the hull of some differences, in twice the precision: nearby
/// bodies have differences that are small against their coordinates.
fn direction_to_nearest(pair: &Pair<'_>, pairs: &[VertexPair]) -> Option<Vec3> {
    let placed = |of: &Placed<'_>, index: u32| -> Triple<Double> {
        let v = of.body.vertex(index);
        std::array::from_fn(|i| {
            let row = [0, 1, 2].map(|k| Double::product(of.pose.rotation[(i, k)], v[k]));
            ((row[0] + row[1]) + row[2]) + Double::of(of.pose.translation[i])
        })
    };
    let difference = |of: &VertexPair| minus(&placed(&pair.q, of.j), &placed(&pair.p, of.i));
    let points: Vec<Triple<Double>> = pairs.iter().map(difference).collect();
    let direction = match points[..] {
        [d] => rounded(&d),
        [d, other] => {
            // d e² - e (d·e), which is across e.
            let e = minus(&other, &d);
            let (square, along) = (dot(&e, &e), dot(&d, &e));
            let zero = [Double::of(0.0); 3];
            rounded(&plus_times(&plus_times(&zero, &d, square), &e, -along))
        }
        [d, second, third] => {
            let normal = cross(&minus(&second, &d), &minus(&third, &d));
            let side = dot(&normal, &d).rounded();
            rounded(&normal) * if side < 0.0 { -1.0 } else { 1.0 }
        }
        _ => return None,
    };
    let length = direction.amax();
    (length > 0.0 && length.is_finite()).then(|| (direction / length).normalize())
}

/// At most the gap along a unit vector. Each term rounds by 16u of the coordinates at most.
pub(super) fn gap_along(pair: &Pair<'_>, direction: &Vec3) -> f64 {
    let reach = |of: &Placed<'_>, sign: f64| {
        let (mut least, mut size) = (f64::INFINITY, 0.0f64);
        for v in of.body.vertices() {
            let point = of.pose.apply_rounded(v);
            least = least.min(sign * direction.dot(&point));
            size = size.max(v.abs().sum() * 2.0);
        }
        (least, size + of.pose.translation.abs().sum())
    };
    let ((q, size_q), (p, size_p)) = (reach(&pair.q, 1.0), reach(&pair.p, -1.0));
    (q + p) * (1.0 - BOUND_SLACK) - 32.0 * UNIT * (size_p + size_q)
}
