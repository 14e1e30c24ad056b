//! Contact at a time, proven: vertex pairs whose differences surely hold the origin strictly
//! inside, or whose hull surely comes within the margin. Where the search probes for it, a little
//! ahead of what is free, and how wide the bracket may be.

use arrayvec::ArrayVec;

use super::in_plane::prove_in_plane;
use super::widely::{enclosed, gather, holds_strictly, search_widely};
use crate::Vec3;
use crate::contact_time::rotating::advance::nearest::{
    NearestSearch, NearestStart, ROUGH, closing_speed, guess, nearest_point,
};
use crate::contact_time::rotating::advance::step::CertifiedStep;
use crate::contact_time::rotating::bounds::body::MovingBody;
use crate::contact_time::rotating::bounds::moving::Moving;
use crate::contact_time::rotating::bounds::pair::MovingPair;
use crate::contact_time::rotating::search::{ContactAt, ContactPairs, TurningSearch};
use crate::effort::Effort;
use crate::number::interval::{Interval, IntervalVec, add, norm, scaled};
use crate::number::rounding::{UNIT, length};
use crate::number::tolerance::{CONTACT_FAR, NEAREST_LOOSE, NEAREST_TIGHT};
use crate::pair::VertexPair;

/// What is asked about a time.
pub(in super::super) struct ContactProbe<'s> {
    pub(in super::super) t: f64,
    /// How close the bodies have to come.
    pub(in super::super) margin: f64,
    /// How well a distance has to be known, as a part of itself, if there is a margin.
    pub(in super::super) good_enough: f64,
    /// The direction along which the bodies were last separated.
    pub(in super::super) world: &'s Vec3,
    /// The corners nearest the origin then. If those at the time are sought, they take this place.
    pub(in super::super) seed: &'s mut ArrayVec<VertexPair, 4>,
}

/// Pairs that prove contact at a time, if they can be found. `in_plane` looks for them in a plane
/// that the bodies share, and says `None` if they share none.
pub(in super::super) fn prove(
    moving: &mut Moving<'_>,
    probe: ContactProbe<'_>,
    in_plane: impl FnOnce(&MovingPair<'_>) -> Option<Option<ContactPairs>>,
    effort: &mut Effort<'_>,
) -> Option<ContactPairs> {
    let ContactProbe { t, margin, good_enough, world, seed } = probe;
    let error = moving.pair.error;
    let start = NearestStart::new(world, seed);
    let near = NearestSearch::at(moving, t);
    let good_enough = if margin > 0.0 { good_enough } else { NEAREST_LOOSE };
    // Mostly the corners that were nearest have come within the margin, and no others are needed.
    if margin > 0.0 && !seed.is_empty() && near.posed.is_known() {
        let (_, corners) = near.seeded(&start, effort);
        let rounded: ArrayVec<Vec3, 4> = corners.iter().map(|c| c.at).collect();
        if comes_within_rounded(&rounded, error, &barycentric(&rounded), margin) {
            return Some(corners.iter().map(|c| c.pair).collect());
        }
    }
    let nearest = nearest_point(moving, t, &start, good_enough, effort);
    let near = NearestSearch::at(moving, t);
    *seed = nearest.corners.iter().map(|c| c.pair).collect();
    let simplex: ContactPairs = seed.iter().copied().collect();
    let rounded: ArrayVec<Vec3, 4> = nearest.corners.iter().map(|c| c.at).collect();
    let is_known = near.posed.is_known();
    if margin > 0.0 && !(is_known && nearest.at_least > margin + 4.0 * error) {
        let weights = barycentric(&rounded);
        if is_known && comes_within_rounded(&rounded, error, &weights, margin)
            || comes_within(&enclosed(near.pair, &simplex, t), &weights, margin)
        {
            return Some(simplex);
        }
    }
    let held = nearest.held
        && (is_known && holds_rounded(&rounded, error)
            || holds_strictly(&enclosed(near.pair, &simplex, t)));
    if held {
        return Some(simplex);
    }
    let far_from_contact = nearest.at_least > 4.0 * error
        || !nearest.held && nearest.point.norm() > CONTACT_FAR * near.pair.size();
    if far_from_contact {
        return None;
    }
    if let Some(found) = in_plane(near.pair) {
        return found;
    }
    let mut corners = nearest.corners.iter().copied().collect();
    gather(&near, world, &mut corners, effort);
    search_widely(near.pair, t, &corners)
}

/// Whether four vectors that are within `error` of these surely have the origin strictly inside
/// their hull: the four determinants of three have the signs of a tetrahedron around it.
///
/// A determinant of a, b, c is off by at most `error (|a||b| + |b||c| + |c||a|)` and terms of
/// second order for the vectors, and by less than `16u |a||b||c|` for its own rounding.
fn holds_rounded(d: &[Vec3], error: f64) -> bool {
    let [a, b, c, d] = d else { return false };
    let surely = |sign: f64, x: &Vec3, y: &Vec3, z: &Vec3| -> f64 {
        let value = sign * x.dot(&y.cross(z));
        let (l, m, n) = (x.norm() + error, y.norm() + error, z.norm() + error);
        let doubt = 2.0 * error * (l * m + m * n + n * l) + 16.0 * UNIT * l * m * n;
        if value > doubt {
            1.0
        } else if value < -doubt {
            -1.0
        } else {
            0.0
        }
    };
    let signs =
        surely(1.0, b, c, d) + surely(-1.0, a, c, d) + surely(1.0, a, b, d) + surely(-1.0, a, b, c);
    signs.abs() > 3.5
}

/// Whether the weighted mean of vectors that are within `error` of these is surely within `margin`
/// of the origin.
fn comes_within_rounded(d: &[Vec3], error: f64, weights: &[f64], margin: f64) -> bool {
    let total: f64 = weights.iter().sum();
    let mean = d.iter().zip(weights).map(|(d, w)| d * (w / total)).sum::<Vec3>();
    let largest = d.iter().map(length).fold(0.0, f64::max);
    length(&mean) + 2.0 * error + 32.0 * UNIT * largest < margin
}

/// Weights that make the corners' mean nearly the nearest point of their hull: rounded, not
/// negative, not all zero.
fn barycentric(at: &[Vec3]) -> ArrayVec<f64, 6> {
    let mut weights: ArrayVec<f64, 6> = match at {
        [a, b] => {
            let edge = b - a;
            let along = -a.dot(&edge) / edge.norm_squared();
            ArrayVec::from_iter([1.0 - along, along])
        }
        [a, b, c] => {
            let n = (b - a).cross(&(c - a));
            ArrayVec::from_iter([n.dot(&b.cross(c)), n.dot(&c.cross(a)), n.dot(&a.cross(b))])
        }
        [a, b, c, d] => {
            let orientation = (b - a).dot(&(c - a).cross(&(d - a))).signum();
            ArrayVec::from_iter([
                orientation * b.dot(&c.cross(d)),
                -orientation * a.dot(&c.cross(d)),
                orientation * a.dot(&b.cross(d)),
                -orientation * a.dot(&b.cross(c)),
            ])
        }
        _ => at.iter().map(|_| 1.0).collect(),
    };
    for w in &mut weights {
        // This makes NaN 0, too.
        *w = w.max(0.0);
    }
    // The weights are taken near 1, so that those of small bodies do not carry the mean towards
    // underflow.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    for w in &mut weights {
        *w = if largest > 0.0 && largest.is_finite() { *w / largest } else { 1.0 };
    }
    weights
}

/// Whether the weighted mean of the differences is surely within `margin` of the origin, and by
/// more than their enclosures are wide, so that a judge with looser enclosures still agrees.
fn comes_within(differences: &[IntervalVec], weights: &[f64], margin: f64) -> bool {
    let mut sum = [Interval::ZERO; 3];
    let mut total = Interval::ZERO;
    for (d, &w) in differences.iter().zip(weights) {
        let w = Interval::point(w);
        sum = add(&sum, &scaled(d, w));
        total = total + w;
    }
    let radius = norm(&sum.map(|c| Interval::point(c.radius()))).high();
    (norm(&sum) + Interval::point(2.0 * radius)).high() <= total.scale(margin).low()
}

/// The part of the default clearance tolerance's share that a bracket takes where a few steps more
/// spare the rest: reference times of turning bodies are known as well as that.
const SPARING: f64 = 0.1;
/// How often a bracket that is too wide is halved.
const HALVINGS_MAX: u32 = 8;

/// Where to probe for a proof of contact after a step that ends near it: as far beyond contact
/// along its heading as a part of what a bracket may be wide. `None` while contact is not near.
pub(in super::super) fn place_of_probe(
    search: &TurningSearch<'_>,
    step: &CertifiedStep,
) -> Option<f64> {
    let (closing, surplus) = (-step.gap.gap.rate, step.gap.surplus);
    let is_near = closing > 0.0 && surplus < search.told.probe_gap(closing);
    is_near.then(|| (search.at.t + search.told.probe_lead(surplus, closing)).min(1.0))
}

/// Pairs that prove contact at time t, if they can be found. If not, the seed becomes what is
/// nearest then, from where the search goes on.
pub(in super::super) fn contact_at(
    search: &mut TurningSearch<'_>,
    t: f64,
    effort: &mut Effort<'_>,
) -> Option<ContactPairs> {
    let world = &guess(search, search.at.heading.as_ref(), t);
    let resolution = ROUGH * search.resolution(None);
    let TurningSearch { told, moving, at, .. } = search;
    let in_plane =
        |pair: &MovingPair<'_>| Some(prove_in_plane(told.shared_plane()?, pair, t, world));
    let good_enough = resolution.max(NEAREST_TIGHT);
    let (margin, seed) = (told.margin, &mut at.seed);
    prove(moving, ContactProbe { t, margin, good_enough, world, seed }, in_plane, effort)
}

/// Contact proven earlier, if it can be, while the bracket from `free` is wider than what was asked
/// for: a heading may close more slowly than the bodies do, and then a probe as far ahead as it
/// suggests is too far.
pub(in super::super) fn bring_forward(
    search: &mut TurningSearch<'_>,
    free: f64,
    found: ContactAt,
    effort: &mut Effort<'_>,
) -> ContactAt {
    let mut contact = found;
    let width = width_asked_for(search, free, contact.t, effort);
    let mut not_before = free;
    for _ in 0..HALVINGS_MAX {
        if contact.t - free <= width {
            break;
        }
        let half = not_before + 0.5 * (contact.t - not_before);
        match contact_at(search, half, effort) {
            Some(pairs) => contact = ContactAt { t: half, pairs },
            None => not_before = half,
        }
    }
    contact
}

/// How wide a bracket from `free` to t is to be: the time tolerance and, where a clearance
/// tolerance was asked for, what that is worth. Rounded.
fn width_asked_for(
    search: &mut TurningSearch<'_>,
    free: f64,
    t: f64,
    effort: &mut Effort<'_>,
) -> f64 {
    if !search.told.asks_for_clearance() {
        return search.told.time_tolerance();
    }
    width_allowed(search, free, t, effort)
}

/// Whether a bracket from the end of what is free to t is as narrow as the tolerances say. It may
/// be wider although contact was near along a heading: the bodies are then farther from each other
/// than the heading tells. A search that has steps to spare uses a part only of the default
/// clearance tolerance.
pub(in super::super) fn is_narrow(
    search: &mut TurningSearch<'_>,
    t: f64,
    has_spare: bool,
    effort: &mut Effort<'_>,
) -> bool {
    let free = search.at.t;
    let part = if has_spare && !search.told.asks_for_clearance() { SPARING } else { 1.0 };
    let (width, least) = (t - free, search.told.time_tolerance());
    width <= least || width - least <= part * (width_allowed(search, free, t, effort) - least)
}

/// The time tolerance, and what the clearance tolerance is worth at the speed of the nearest points
/// at `free` or, with a margin, at t. Rounded.
pub(in super::super) fn width_allowed(
    search: &mut TurningSearch<'_>,
    free: f64,
    t: f64,
    effort: &mut Effort<'_>,
) -> f64 {
    let (time_tolerance, tolerance) = (search.told.time_tolerance(), search.told.tolerance);
    let width = |speed: f64| time_tolerance + tolerance / speed;
    let pair = &search.moving.pair;
    let turning = |body: &MovingBody<'_>| body.plain.angle.abs() * body.extent.radius;
    let fastest = pair.relative_velocity.norm() + turning(&pair.p) + turning(&pair.q);
    // Mostly the fastest speed is enough, and no nearest points have to be found.
    if t - free <= width(fastest) {
        return width(fastest);
    }
    // Without a margin there are no nearest points where the bracket ends.
    let at = if search.told.margin > 0.0 { t } else { free };
    let speed = closing_speed(search, at, effort);
    if speed > 0.0 { width(speed) } else { time_tolerance }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::interval::point;

    fn vectors(all: &[[f64; 3]]) -> Vec<IntervalVec> {
        all.iter().map(|v| point(&Vec3::from(*v))).collect()
    }

    #[test]
    fn a_margin_is_met_only_when_the_hull_surely_reaches_it() {
        let segment = [[1.0, 0.1, 0.0], [-1.0, 0.1, 0.0]];
        let at: Vec<Vec3> = segment.iter().map(|v| Vec3::from(*v)).collect();
        let weights = barycentric(&at);
        assert!(comes_within(&vectors(&segment), &weights, 0.1 + 1e-12));
        assert!(!comes_within(&vectors(&segment), &weights, 0.1 - 1e-12));
        let tiny = segment.map(|v| v.map(|x| x * 1e-50));
        let at: Vec<Vec3> = tiny.iter().map(|v| Vec3::from(*v)).collect();
        assert!(comes_within(&vectors(&tiny), &barycentric(&at), 0.1e-50 * (1.0 + 1e-12)));
        let triangle = [[1.0, -1.0, 0.5], [-1.0, -1.0, 0.5], [0.0, 2.0, 0.5]];
        let triangle = triangle.map(|v| v.map(|x| x * 1e-50));
        let at: Vec<Vec3> = triangle.iter().map(|v| Vec3::from(*v)).collect();
        assert!(comes_within(&vectors(&triangle), &barycentric(&at), 0.5e-50 * (1.0 + 1e-12)));
    }
}
