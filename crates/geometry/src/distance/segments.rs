//! How far points and segments are from each other, by formulas: the cores of balls and capsules.
//!
//! Source: D. Eberly, *Robust Computation of Distance Between Line Segments*, 2015; here the
//!         formulas only propose where the nearest points are. That these are no farther apart, and
//!         that along the line through them the segments are no nearer, is bounded on its own, and
//!         what is not certain is left to the general search.

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::number::rounding::{UNDERFLOW_FLOOR, gamma, length};
use crate::number::tolerance::{SEGMENT_CLEAR, SEGMENT_SQUARES, SEGMENTS_CROSS};
use crate::pair::{Pair, Placed, VertexPair};

/// Two points or segments where they are, rounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segments {
    /// The ends of each; of a point twice that.
    ends: [[Vec3; 2]; 2],
    are_points: [bool; 2],
    /// More than what a difference of two of them is off, metres.
    pub(crate) error: f64,
}

/// How far two points or segments are apart.
#[derive(Clone, Debug)]
pub(crate) struct SegmentsApart {
    /// The nearest points of the two.
    pub(crate) closest: [Vec3; 2],
    /// The nearest point of the hull of their differences is that of the whole difference.
    pub(crate) pairs: ArrayVec<VertexPair, 3>,
    /// Encloses the distance, metres; the lower end is positive, and along the line through the
    /// nearest points they are at least as far apart.
    pub(crate) bounds: [f64; 2],
}

/// A vertex where it is, rounded.
pub(crate) fn place(placed: &Placed<'_>, v: u32) -> Vec3 {
    placed.pose.apply_rounded(placed.body.vertex(v))
}

/// More than the rounding of the difference of two placed vertices: within γ₁₆ of the sizes that it
/// is summed from, but for what underflows.
pub(crate) fn error_of_differences(cores: &Pair<'_>) -> f64 {
    let size =
        |placed: &Placed<'_>| placed.pose.translation.abs().sum() + placed.body.bounds().span;
    gamma(16) * (size(&cores.p) + size(&cores.q)) + UNDERFLOW_FLOOR
}

/// Where on a segment the nearest point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NearestEnd {
    Start,
    End,
    /// Between them, or so near to one of them that it may be.
    Between,
}

impl NearestEnd {
    /// Of a place along the segment that may be beyond its ends, or is no number.
    fn of(along: f64) -> Self {
        if along < -SEGMENT_CLEAR {
            Self::Start
        } else if along > 1.0 + SEGMENT_CLEAR {
            Self::End
        } else {
            Self::Between
        }
    }

    fn vertices(self) -> &'static [u32] {
        match self {
            Self::Start => &[0],
            Self::End => &[1],
            Self::Between => &[0, 1],
        }
    }
}

impl Segments {
    /// Of polytopes that are points or segments; none of others.
    #[inline]
    pub(crate) fn of(cores: &Pair<'_>) -> Option<Self> {
        let counts = [&cores.p, &cores.q].map(|placed| placed.body.vertex_count());
        if counts.iter().any(|count| *count > 2) {
            return None;
        }
        let ends = |placed: &Placed<'_>, count: u32| [place(placed, 0), place(placed, count - 1)];
        let ends = [ends(&cores.p, counts[0]), ends(&cores.q, counts[1])];
        let are_points = counts.map(|count| count == 1);
        // Of segments squares are taken, and products of these.
        let is_square = |[start, end]: &[Vec3; 2]| {
            let square = (end - start).norm_squared();
            square > SEGMENT_SQUARES[0] && square < SEGMENT_SQUARES[1]
        };
        let are_square =
            ends.iter().zip(are_points).all(|(ends, is_point)| is_point || is_square(ends));
        are_square.then_some(Self { ends, are_points, error: error_of_differences(cores) })
    }

    /// The second one moved, which is known within `error`.
    pub(crate) fn moved(&self, by: &Vec3, error: f64) -> Self {
        let [p, q] = self.ends;
        Self { ends: [p, q.map(|end| end + by)], error: self.error + error, ..*self }
    }

    /// How far apart they are, if they certainly are. None, too, where rounding leaves open which
    /// of their points are the nearest.
    #[inline]
    pub(crate) fn apart(&self) -> Option<SegmentsApart> {
        let [p, q] = &self.ends;
        if self.are_points == [true, true] {
            return self.points_apart();
        }
        let (closest, pairs) = match self.are_points {
            [true, false] => {
                let (at, along) = nearest_to(q, &p[0]);
                let pair = |&j: &u32| VertexPair { i: 0, j };
                ([p[0], at], NearestEnd::of(along).vertices().iter().map(pair).collect())
            }
            [false, true] => {
                let (at, along) = nearest_to(p, &q[0]);
                let pair = |&i: &u32| VertexPair { i, j: 0 };
                ([at, q[0]], NearestEnd::of(along).vertices().iter().map(pair).collect())
            }
            [true, true] | [false, false] => of_segments(p, q)?,
        };
        let bounds = self.bounds_by(&closest);
        (bounds[0] > 0.0).then_some(SegmentsApart { closest, pairs, bounds })
    }

    /// Of points, whose distance is a length, known within γ₈ of what it is rounded from.
    #[inline]
    fn points_apart(&self) -> Option<SegmentsApart> {
        let closest = [self.ends[0][0], self.ends[1][0]];
        let apart = length(&(closest[1] - closest[0]));
        let lower = (apart * (1.0 - gamma(16)) - self.error).next_down();
        let upper = ((apart + self.error) * (1.0 + gamma(16))).next_up();
        let pairs = [VertexPair { i: 0, j: 0 }].into_iter().collect();
        (lower > 0.0).then_some(SegmentsApart { closest, pairs, bounds: [lower, upper] })
    }

    /// Around the distance of the two, of which these are points; the lower end is not positive
    /// where they show nothing.
    ///
    /// A point between two ends is rounded a few times more than they, and so is a length along the
    /// line through both: `γ₁₆` of what they are, which `error` has of all sizes, twice.
    fn bounds_by(&self, closest: &[Vec3; 2]) -> [f64; 2] {
        let ([p, q], error) = (&self.ends, self.error);
        let way = closest[1] - closest[0];
        let apart = length(&way);
        let unit = way / apart;
        // From the nearest point, so that what is summed is small.
        let height = |of: &Vec3, from: &Vec3| unit.dot(&(of - from));
        let over = height(&p[0], &closest[0]).max(height(&p[1], &closest[0]));
        let under = height(&q[0], &closest[1]).min(height(&q[1], &closest[1]));
        let lower = (apart + under.min(0.0) - over.max(0.0)) * (1.0 - gamma(16)) - 4.0 * error;
        let upper = (apart + 2.0 * error) * (1.0 + gamma(16));
        if lower.is_nan() { [0.0, f64::INFINITY] } else { [lower.next_down(), upper.next_up()] }
    }
}

/// The point of a segment nearest to `to`, and where along it, or beyond its ends, that is.
fn nearest_to([start, end]: &[Vec3; 2], to: &Vec3) -> (Vec3, f64) {
    let way = end - start;
    let along = way.dot(&(to - start)) / way.norm_squared();
    (start + way * clamped(along), along)
}

/// Within the segment; 0 for no number.
fn clamped(along: f64) -> f64 {
    if along > 0.0 { along.min(1.0) } else { 0.0 }
}

/// The nearest points of two segments, and the pairs of their ends between which these are. None of
/// nearly parallel ones that are nearest between their ends, and where these pairs are not clear.
fn of_segments(p: &[Vec3; 2], q: &[Vec3; 2]) -> Option<([Vec3; 2], ArrayVec<VertexPair, 3>)> {
    let (u, w, r) = (p[1] - p[0], q[1] - q[0], p[0] - q[0]);
    let (a, b, e) = (u.norm_squared(), u.dot(&w), w.norm_squared());
    let (c, f) = (u.dot(&r), w.dot(&r));
    let det = a * e - b * b;
    // On P, where the lines are nearest, and on Q the nearest to that; then on P again.
    let s = clamped((b * f - c * e) / det);
    let t = clamped((b * s + f) / e);
    let along_p = (b * t - c) / a;
    let s = clamped(along_p);
    let along_q = (b * s + f) / e;
    let t = clamped(along_q);
    let closest = [p[0] + u * s, q[0] + w * t];
    let (of_p, of_q) = (NearestEnd::of(along_p), NearestEnd::of(along_q));
    let mut pairs = ArrayVec::new();
    if of_p == NearestEnd::Between && of_q == NearestEnd::Between {
        // The differences are a parallelogram, of which three corners hold the nearest point.
        let is_clear = det > SEGMENTS_CROSS * (a * e) && (s + t - 1.0).abs() > SEGMENT_CLEAR;
        if !is_clear {
            return None;
        }
        let near = u32::from(s + t > 1.0);
        pairs.extend(
            [[near, near], [1 - near, near], [near, 1 - near]].map(|[i, j]| VertexPair { i, j }),
        );
        return Some((closest, pairs));
    }
    for &i in of_p.vertices() {
        pairs.extend(of_q.vertices().iter().map(|&j| VertexPair { i, j }));
    }
    Some((closest, pairs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::judge_distance;
    use crate::pose::Pose;
    use crate::samples::{Random, hull};

    /// Turned any way and on a grid, where segments are parallel, cross in their middles, lie in
    /// one line and end beside each other; of all sizes, near the origin and far from it.
    #[test]
    fn what_is_told_of_points_and_segments_passes_the_judge() {
        let random = &mut Random(51);
        let (mut told, mut open) = ([[0; 2]; 4], 0);
        for round in 0..6_000_usize {
            let size = [1.0, 1e-3, 1e6, 1e-70][round / 4 % 4];
            let away = [0.0, 30.0, 1e5][round / 16 % 3] * size;
            let is_grid = round % 5 < 2;
            let number = |random: &mut Random| {
                if is_grid { f64::from(random.below(5)) - 2.0 } else { 2.0 * random.signed() }
            };
            let vector = |random: &mut Random| Vec3::from_fn(|_, _| number(random)) * size;
            let core = |ends: usize, random: &mut Random| {
                let points: Vec<Vec3> = (0..ends).map(|_| vector(random)).collect();
                hull(&points)
            };
            let [of_p, of_q] = [1 + round % 2, 1 + round / 2 % 2];
            let (p, q) = (core(of_p, random), core(of_q, random));
            let place = random.unit_vector() * away;
            let pose = |random: &mut Random| {
                if is_grid {
                    Pose { translation: place, ..Pose::identity() }
                } else {
                    random.pose(place)
                }
            };
            let pair = Pair::new(&p, pose(random), &q, pose(random));
            let Some(apart) = Segments::of(&pair).and_then(|segments| segments.apart()) else {
                open += 1;
                continue;
            };
            let [lower, upper] = apart.bounds;
            let judged = judge_distance(&pair, lower, upper, &apart.pairs);
            assert_eq!(judged, Ok(()), "{pair:?} {apart:?}");
            told[round % 4][usize::from(is_grid)] += 1;
        }
        assert!(told.as_flattened().iter().all(|count| *count > 250), "{told:?} {open}");
    }
}
