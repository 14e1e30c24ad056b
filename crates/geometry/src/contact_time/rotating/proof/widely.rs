//! Contact at a time, sought among many corners of the difference body M: where those nearest the
//! origin do not hold it strictly inside, supports from all around may.

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::contact_time::rotating::advance::nearest::NearestSearch;
use crate::contact_time::rotating::bounds::pair::MovingPair;
use crate::contact_time::rotating::bounds::supports::MovingCorner;
use crate::contact_time::rotating::search::ContactPairs;
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::interval::{IntervalVec, cross, dot};
use crate::number::tolerance::{DETERMINANT_DOUBT, SLANT_ACROSS, SLANT_ALONG};
use crate::pair::VertexPair;

/// Corners that the search looks at: the simplex of the nearest point, and supports around the
/// heading.
const CORNERS_MAX: usize = 20;

/// The corners that the search looks at.
pub(super) type ManyCorners = ArrayVec<MovingCorner, CORNERS_MAX>;

/// The differences of the pairs at time t, as intervals.
pub(super) fn enclosed(
    pair: &MovingPair<'_>,
    pairs: &[VertexPair],
    t: f64,
) -> ArrayVec<IntervalVec, 6> {
    pairs.iter().map(|&of| pair.difference(of, t)).collect()
}

/// Adds supports along straight and slanted directions, on the side of the contact and on the far
/// side.
pub(super) fn gather(
    near: &NearestSearch<'_, '_>,
    world: &Vec3,
    corners: &mut ManyCorners,
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
    directions.extend(slants.iter().map(|w| n * SLANT_ALONG + w * SLANT_ACROSS));
    directions.extend(slants.iter().map(|w| w - n));
    directions.extend(slants.iter().map(|w| w + n));
    for direction in directions {
        let (corner, _) = near.support(&direction, &Vec3::zeros(), effort);
        if !corners.is_full() && corners.iter().all(|c| c.pair != corner.pair) {
            corners.push(corner);
        }
    }
}

/// Pairs that hold the origin strictly inside: the tetrahedron of corners that has it farthest from
/// its faces or, failing that, this with a fifth and a sixth corner.
pub(super) fn search_widely(
    pair: &MovingPair<'_>,
    t: f64,
    corners: &ManyCorners,
) -> Option<ContactPairs> {
    let four = best_tetrahedron(corners)?;
    let mut pairs: ContactPairs = four.iter().map(|&k| corners[k].pair).collect();
    let mut differences = enclosed(pair, &pairs, t);
    if holds_strictly(&differences) {
        return Some(pairs);
    }
    let others: Vec<usize> = (0..corners.len()).filter(|k| !four.contains(k)).collect();
    let all: Vec<IntervalVec> = corners.iter().map(|c| pair.difference(c.pair, t)).collect();
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

/// The four corners whose tetrahedron has the origin farthest inside or, failing that, least far
/// outside of its faces; `None` if every tetrahedron surely has it outside.
fn best_tetrahedron(corners: &[MovingCorner]) -> Option<[usize; 4]> {
    let mut best: Option<(f64, [usize; 4])> = None;
    let n = corners.len();
    let largest = corners.iter().map(|c| c.at.amax()).fold(0.0, f64::max);
    let doubt = DETERMINANT_DOUBT * largest.powi(3);
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
                    // Most tetrahedra have the origin outside, which the signs alone tell.
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
    best.map(|(_, four)| four)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::interval::point;

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
}
