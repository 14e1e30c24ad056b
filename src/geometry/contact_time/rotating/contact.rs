//! Contact at a time, proven: vertex pairs whose differences surely hold the origin strictly
//! inside, or whose hull surely comes within the margin.

use arrayvec::ArrayVec;

use super::moving::Moving;
use super::nearest::{LOOSE, Near};
use super::posed::Corner;
use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::number::Sign;
use crate::geometry::number::interval::{Interval, IntervalVec, add, cross, dot, norm, scaled};
use crate::geometry::number::rounding::{UNIT, length};
use crate::geometry::pair::VertexPair;

/// Corners that the wide search looks at: the simplex, and supports around the heading.
const CORNERS_MAX: usize = 20;

/// Pairs that prove contact at time t, if they can be found. `world` is the direction along which
/// the bodies were last apart, `seed` the corners nearest the origin then, which become those at t
/// if they are sought, `flat` looks in a plane that the bodies share, if they do, `good_enough`
/// says how well a distance has to be known if there is a margin.
pub(super) fn prove(
    moving: &mut Moving<'_>,
    t: f64,
    (margin, good_enough): (f64, f64),
    (world, seed): (&Vec3, &mut ArrayVec<VertexPair, 4>),
    flat: impl FnOnce(&Moving<'_>) -> Option<Option<ArrayVec<VertexPair, 6>>>,
    effort: &mut Effort<'_>,
) -> Option<ArrayVec<VertexPair, 6>> {
    let error = moving.error;
    let mut near = Near::at(moving, t);
    let good_enough = if margin > 0.0 { good_enough } else { LOOSE };
    // Mostly the corners that were nearest have come within the margin, and no others are needed.
    if margin > 0.0 && !seed.is_empty() && near.posed.is_known() {
        let (_, corners) = near.seeded(world, seed, effort);
        let rounded: ArrayVec<Vec3, 4> = corners.iter().map(|c| c.at).collect();
        if comes_within_rounded(&rounded, error, &barycentric(&rounded), margin) {
            return Some(corners.iter().map(|c| c.pair).collect());
        }
    }
    let nearest = near.nearest((world, seed), good_enough, effort);
    *seed = nearest.corners.iter().map(|c| c.pair).collect();
    let simplex: ArrayVec<VertexPair, 6> = seed.iter().copied().collect();
    let rounded: ArrayVec<Vec3, 4> = nearest.corners.iter().map(|c| c.at).collect();
    let is_known = near.posed.is_known();
    if margin > 0.0 && !(is_known && nearest.at_least > margin + 4.0 * error) {
        let weights = barycentric(&rounded);
        if is_known && comes_within_rounded(&rounded, error, &weights, margin)
            || comes_within(&enclosed(near.moving, &simplex, t), &weights, margin)
        {
            return Some(simplex);
        }
    }
    let held = nearest.held
        && (is_known && holds_rounded(&rounded, error)
            || holds_strictly(&enclosed(near.moving, &simplex, t)));
    if held {
        return Some(simplex);
    }
    let far_from_contact = nearest.at_least > 4.0 * error
        || !nearest.held && nearest.point.norm() > 1e-9 * near.moving.size();
    if far_from_contact {
        return None;
    }
    if let Some(found) = flat(near.moving) {
        return found;
    }
    let mut corners: ArrayVec<Corner, CORNERS_MAX> = nearest.corners.iter().copied().collect();
    gather(&mut near, world, &mut corners, effort);
    search_widely(near.moving, t, &corners)
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

fn enclosed(moving: &Moving<'_>, pairs: &[VertexPair], t: f64) -> ArrayVec<IntervalVec, 6> {
    pairs.iter().map(|&pair| moving.difference(pair, t)).collect()
}

/// Supports straight and slanted, on the side of the contact and on the far side.
fn gather(
    near: &mut Near<'_, '_>,
    world: &Vec3,
    corners: &mut ArrayVec<Corner, CORNERS_MAX>,
    effort: &mut Effort<'_>,
) {
    let n = world.normalize();
    let least = if n.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() };
    let e = n.cross(&least).normalize();
    let f = n.cross(&e);
    // Directions a third of a turn apart and off the axes, so that symmetric bodies do not give
    // symmetric corners only.
    let around = [(0.92, 0.39), (-0.80, 0.60), (-0.12, -0.99), (0.21, 0.98), (-0.99, -0.1)];
    let slants = around.map(|(x, y)| e * x + f * y);
    let mut directions = vec![n, -n];
    directions.extend(slants.iter().map(|w| n * 1e-2 + w * 1e-3));
    directions.extend(slants.iter().map(|w| w - n));
    directions.extend(slants.iter().map(|w| w + n));
    for direction in directions {
        let (corner, _) = near.support(&direction, effort);
        if !corners.is_full() && corners.iter().all(|c| c.pair != corner.pair) {
            corners.push(corner);
        }
    }
}

/// The tetrahedron of corners that has the origin farthest from its faces; failing that, a fifth
/// and a sixth corner to help it.
fn search_widely(
    moving: &Moving<'_>,
    t: f64,
    corners: &[Corner],
) -> Option<ArrayVec<VertexPair, 6>> {
    let mut best: Option<(f64, [usize; 4])> = None;
    let n = corners.len();
    let largest = corners.iter().map(|c| c.at.amax()).fold(0.0, f64::max);
    let doubt = 1e-12 * largest.powi(3);
    let mut determinants = vec![0.0; n * n * n];
    for a in 0..n {
        for b in a + 1..n {
            let normal = corners[a].at.cross(&corners[b].at);
            for c in b + 1..n {
                determinants[(a * n + b) * n + c] = normal.dot(&corners[c].at);
            }
        }
    }
    let of = |a: usize, b: usize, c: usize| determinants[(a * n + b) * n + c];
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                for d in c + 1..n {
                    // The origin is outside of most: seen from the signs alone.
                    let faces = [of(b, c, d), -of(a, c, d), of(a, b, d), -of(a, b, c)];
                    let has = |sign: f64| faces.iter().any(|f| sign * f > doubt);
                    if has(1.0) && has(-1.0) {
                        continue;
                    }
                    let clearance = clearance([a, b, c, d].map(|k| corners[k].at));
                    if best.is_none_or(|(most, _)| clearance > most) {
                        best = Some((clearance, [a, b, c, d]));
                    }
                }
            }
        }
    }
    let (_, four) = best?;
    let mut pairs: ArrayVec<VertexPair, 6> = four.iter().map(|&k| corners[k].pair).collect();
    let mut differences = enclosed(moving, &pairs, t);
    if holds_strictly(&differences) {
        return Some(pairs);
    }
    let others: Vec<usize> = (0..n).filter(|k| !four.contains(k)).collect();
    let all: Vec<IntervalVec> = corners.iter().map(|c| moving.difference(c.pair, t)).collect();
    for (index, &k) in others.iter().enumerate() {
        pairs.push(corners[k].pair);
        differences.push(all[k]);
        if holds_strictly(&differences) {
            return Some(pairs);
        }
        for &l in &others[index + 1..] {
            pairs.push(corners[l].pair);
            differences.push(all[l]);
            if holds_strictly(&differences) {
                return Some(pairs);
            }
            pairs.pop();
            differences.pop();
        }
        pairs.pop();
        differences.pop();
    }
    None
}

/// The distance from the origin to the nearest face plane, positive inside the tetrahedron.
fn clearance(d: [Vec3; 4]) -> f64 {
    let volume = (d[1] - d[0]).dot(&(d[2] - d[0]).cross(&(d[3] - d[0])));
    let mut least = f64::INFINITY;
    for (a, b, c, sign) in [(1, 2, 3, 1.0), (0, 2, 3, -1.0), (0, 1, 3, 1.0), (0, 1, 2, -1.0)] {
        let normal = (d[b] - d[a]).cross(&(d[c] - d[a]));
        let height = sign * volume.signum() * normal.dot(&d[a]) / normal.norm();
        // A NaN (a degenerate face) counts as outside.
        least = if height < least {
            height
        } else if height >= least {
            least
        } else {
            -1.0
        };
    }
    least
}

/// Whether every choice of vectors from the enclosures has the origin strictly inside its hull.
///
/// The origin is strictly inside the hull of some vectors exactly if they lie in no closed half
/// space. Were they in one, it could be turned until two independent ones of them, a and b, lie on
/// its plane (they span space, or all determinants were zero); then `det(a, b, ·)` would not take
/// both signs on the others. So it is enough that for every two it surely does.
pub(super) fn holds_strictly(differences: &[IntervalVec]) -> bool {
    let n = differences.len();
    if n < 4 {
        return false;
    }
    (0..n).all(|a| {
        (a + 1..n).all(|b| {
            let normal = cross(&differences[a], &differences[b]);
            let (mut above, mut below) = (false, false);
            for (c, d) in differences.iter().enumerate() {
                if c != a && c != b {
                    match dot(&normal, d).sign() {
                        Some(Sign::Positive) => above = true,
                        Some(Sign::Negative) => below = true,
                        Some(Sign::Zero) | None => {}
                    }
                }
            }
            above && below
        })
    })
}

/// Weights that make the corners' mean nearly the nearest point of their hull: rounded, not
/// negative, not all zero.
pub(super) fn barycentric(at: &[Vec3]) -> ArrayVec<f64, 6> {
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
        // NaN too becomes 0.
        *w = w.max(0.0);
    }
    // Near 1, so that small bodies' weights do not carry the mean towards underflow.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    for w in &mut weights {
        *w = if largest > 0.0 && largest.is_finite() { *w / largest } else { 1.0 };
    }
    weights
}

/// Whether the weighted mean of the differences is surely within `margin` of the origin, and by
/// more than their enclosures are wide, so that a judge with looser enclosures still agrees.
pub(super) fn comes_within(differences: &[IntervalVec], weights: &[f64], margin: f64) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::number::interval::point;

    fn vectors(all: &[[f64; 3]]) -> Vec<IntervalVec> {
        all.iter().map(|v| point(&Vec3::from(*v))).collect()
    }

    #[test]
    fn only_a_hull_with_the_origin_strictly_inside_is_accepted() {
        let inside = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]];
        assert!(holds_strictly(&vectors(&inside)));
        let on_a_face = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, 0.0]];
        assert!(!holds_strictly(&vectors(&on_a_face)));
        let flat = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.3, 0.1, 0.0]];
        assert!(!holds_strictly(&vectors(&flat)));
        let outside = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [0.0, 0.0, 2.0]];
        assert!(!holds_strictly(&vectors(&outside)));
    }

    #[test]
    fn a_square_seen_through_its_diagonal_needs_five_corners() {
        // The origin is a hair above the middle of a square: with the apex straight above, every
        // tetrahedron has it on a face.
        let h = 1e-12;
        let five =
            [[1.0, 1.0, -h], [-1.0, 1.0, -h], [-1.0, -1.0, -h], [1.0, -1.0, -h], [0.0, 0.0, 1.0]];
        assert!(holds_strictly(&vectors(&five)));
        for skip in 0..5 {
            let mut four = five.to_vec();
            four.remove(skip);
            assert!(!holds_strictly(&vectors(&four)));
        }
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
