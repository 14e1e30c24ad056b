//! The directions that may still separate: a convex polygon on the sphere.
//!
//! Every vector `w` of M excludes the directions with `s·w <= 0`; what all known vectors leave is
//! `{s : s·w_i > 0 for all i}` (Li et al. 2001, §5): everything, a hemisphere, a lune, then a
//! convex spherical polygon, kept by its corners as rays of any length. When nothing is left the
//! vectors hold the origin in their hull, and by Carathéodory four of them do.
//!
//! **Cost.** A cut looks at every corner. The text keeps the corners in a balanced tree, so that
//! the two edges which a great circle crosses are found in O(log k) (§8.3); but there is no long
//! polygon. A candidate that fails is cut off, and sooner or later the next one is in the middle of
//! what is left, so a cut takes about half of the corners away for the two that it brings. Seen: on
//! balls, ellipsoids 200 : 20 : 20, needles, discs, cones and 10,000 vertices, separated, deep and
//! within 1e-6 of contact, 1 to 3 corners a cut and at most 6; by any cuts through the middle 3.7,
//! and at most 6 (`cargo test --lib few_corners -- --nocapture`). Two
//! descents in a tree of that size take as many products as looking at all.
//!
//! In f64, without square roots. The default search keeps it in fixed buffers
//! ([`SphericalPolygon`]), the search of the text in lists without an end ([`EndlessPolygon`]): its
//! bound is that of §6 alone. Rounding can make the polygon wrong by a few ulps; it only ever
//! guides a search, and whoever uses it proves the outcome.

use std::ops::Deref;

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::number::rounding::gamma;

/// Vectors that one polygon in fixed buffers takes. The tests hold the default's searches to 40
/// candidates; one that needs more than this hands over.
pub(super) const VECTORS_MAX: usize = 64;

/// Each cut adds at most one corner to the four of a lune; most cut more away than they add.
const CORNERS_MAX: usize = 24;

/// Two vectors whose sines are below this are parallel: the corner of their lune would be noise.
const PARALLEL: f64 = gamma(64);

/// What a new vector did to the polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Directions are left.
    Left,
    /// None is left: the vectors with these numbers, and the new one, hold the origin.
    Empty([u32; 3]),
    /// Nothing is left, but by vectors in one line or plane with the origin, which hold it in no
    /// interior; or the second vector is parallel to the first. Up to rounding. It was not taken.
    Flat,
    /// Rounding or the buffers give out; the vector was not taken.
    Lost,
}

/// A list that the polygon is kept in.
pub(super) trait Buffer<T>: Default + Deref<Target = [T]> {
    /// Whether there was room for it.
    fn take(&mut self, one: T) -> bool;
    /// Forgets the last one.
    fn drop_last(&mut self);
    /// Forgets all that it holds.
    fn empty(&mut self);
}

impl<T, const MAX: usize> Buffer<T> for ArrayVec<T, MAX> {
    #[inline(always)]
    fn take(&mut self, one: T) -> bool {
        self.try_push(one).is_ok()
    }

    #[inline(always)]
    fn drop_last(&mut self) {
        self.pop();
    }

    #[inline(always)]
    fn empty(&mut self) {
        self.clear();
    }
}

impl<T> Buffer<T> for Vec<T> {
    fn take(&mut self, one: T) -> bool {
        self.push(one);
        true
    }

    fn drop_last(&mut self) {
        self.pop();
    }

    fn empty(&mut self) {
        self.clear();
    }
}

/// In fixed buffers.
pub(super) type SphericalPolygon =
    PolygonIn<ArrayVec<Vec3, VECTORS_MAX>, ArrayVec<SphericalCorner, CORNERS_MAX>>;

/// As long as it takes.
pub(super) type EndlessPolygon = PolygonIn<Vec<Vec3>, Vec<SphericalCorner>>;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct PolygonIn<V, C> {
    vectors: V,
    /// For two vectors: their cross product, a tip of the lune that they leave; the other is
    /// opposite.
    tip: Vec3,
    /// For three vectors or more: in order around the polygon.
    corners: [C; 2],
    /// Which of the two holds the polygon; the other is scratch.
    current: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SphericalCorner {
    ray: Vec3,
    /// The number of the vector on whose great circle the edge to the next corner lies.
    edge: u32,
}

impl<V: Buffer<Vec3>, C: Buffer<SphericalCorner>> PolygonIn<V, C> {
    /// A vector that was taken.
    #[inline(always)]
    pub(super) fn vector(&self, number: usize) -> &Vec3 {
        &self.vectors[number]
    }

    /// Whether `direction` is left. Strictly: a direction that is not a number never is.
    #[inline(always)]
    pub(super) fn contains(&self, direction: &Vec3) -> bool {
        self.vectors.iter().all(|w| direction.dot(w) > 0.0)
    }

    /// A direction in the middle, up to rounding; none while every direction is left.
    #[inline(always)]
    pub(super) fn middle(&self) -> Option<Vec3> {
        match self.vectors[..] {
            [] => None,
            [first] => Some(first),
            [first, second] => {
                let [a, b] = middles_of_edges(&first, &second);
                Some(a + b)
            }
            _ => Some(sum_of_rays(&self.corners[self.current])),
        }
    }

    /// How much of `inside`, which is left, has to be added to `direction` so that it is, too, but
    /// for rounding; 0 when it is. The last vector does not take it away: nobody has to look.
    #[inline(always)]
    pub(super) fn lack(&self, direction: &Vec3, inside: &Vec3) -> f64 {
        let Some((_, others)) = self.vectors.split_last() else { return 0.0 };
        others.iter().fold(0.0, |most, w| {
            let lack = -direction.dot(w) / inside.dot(w);
            if lack > most { lack } else { most }
        })
    }

    /// Another direction that is left, off the middle in the way that `number` says; none while
    /// half of all directions are left.
    pub(super) fn aside(&self, number: usize) -> Option<Vec3> {
        let lune;
        let corners = match self.vectors[..] {
            [] | [_] => return None,
            [first, second] => {
                lune = corners_of_lune(&self.tip, &first, &second);
                lune.as_slice()
            }
            _ => &self.corners[self.current][..],
        };
        let towards = corners[number % corners.len()].ray;
        Some(self.middle()? + towards * 4.0)
    }

    /// Forgets the last vector taken; once per vector.
    pub(super) fn undo(&mut self) {
        self.vectors.drop_last();
        self.current = 1 - self.current;
    }

    /// What a cut goes through: 2 for a lune, 0 for more than that.
    #[cfg(test)]
    pub(super) fn corner_count(&self) -> usize {
        match self.vectors.len() {
            0 | 1 => 0,
            2 => 2,
            _ => self.corners[self.current].len(),
        }
    }

    /// Takes the vector with the number `vectors taken so far`.
    #[inline(always)]
    pub(super) fn cut(&mut self, w: Vec3) -> Cut {
        match self.vectors[..] {
            [] => {}
            [first] => {
                let tip = first.cross(&w);
                // Written so that NaN is parallel.
                if !exceeds_parallel(tip.norm_squared(), first.norm_squared() * w.norm_squared()) {
                    return Cut::Flat;
                }
                self.tip = tip;
            }
            [first, second] => return self.cut_lune(&first, &second, w),
            _ => match self.clip(&w) {
                Cut::Left => {}
                other @ (Cut::Empty(_) | Cut::Flat | Cut::Lost) => return other,
            },
        }
        if self.vectors.take(w) { Cut::Left } else { Cut::Lost }
    }

    /// The third of three vectors in general position leaves a triangle, which needs no clipping:
    /// its corners are the products of two vectors each, on the side of the third.
    #[inline(always)]
    fn cut_lune(&mut self, first: &Vec3, second: &Vec3, w: Vec3) -> Cut {
        let tip = self.tip;
        let volume = tip.dot(&w);
        if !exceeds_parallel(volume * volume, tip.norm_squared() * w.norm_squared()) {
            return self.cut_lune_across(first, second, w);
        }
        let side = if volume > 0.0 { 1.0 } else { -1.0 };
        let corners = &mut self.corners[self.current];
        corners.empty();
        let has_room = corners.take(SphericalCorner { ray: tip * side, edge: 1 })
            && corners.take(SphericalCorner { ray: second.cross(&w) * side, edge: 2 })
            && corners.take(SphericalCorner { ray: w.cross(first) * side, edge: 0 });
        if has_room && self.vectors.take(w) { Cut::Left } else { Cut::Lost }
    }

    /// The third vector is in the plane of the first two, up to rounding.
    #[cold]
    fn cut_lune_across(&mut self, first: &Vec3, second: &Vec3, w: Vec3) -> Cut {
        let corners = &mut self.corners[self.current];
        corners.empty();
        let four = corners_of_lune(&self.tip, first, second);
        if !four.into_iter().all(|corner| corners.take(corner)) {
            return Cut::Lost;
        }
        match self.clip(&w) {
            Cut::Left if !self.vectors.take(w) => Cut::Lost,
            cut @ (Cut::Left | Cut::Empty(_) | Cut::Flat | Cut::Lost) => cut,
        }
    }

    #[inline(always)]
    fn clip(&mut self, w: &Vec3) -> Cut {
        let [a, b] = &mut self.corners;
        let (from, to) = if self.current == 0 { (&*a, b) } else { (&*b, a) };
        // Not whether some corner is left, corner by corner: which ones are is not predictable.
        if !from.iter().fold(false, |left, corner| left | (corner.ray.dot(w) > 0.0)) {
            return self.holding(w).map_or(Cut::Flat, Cut::Empty);
        }
        to.empty();
        // A search is not that long.
        let Ok(number) = u32::try_from(self.vectors.len()) else { return Cut::Lost };
        let mut last = from[from.len() - 1];
        let mut last_value = last.ray.dot(w);
        // Edges in order: from `last` to `corner`.
        for &corner in from.iter() {
            let value = corner.ray.dot(w);
            let (last_is_left, is_left) = (last_value > 0.0, value > 0.0);
            if last_is_left != is_left {
                // A convex combination of the two rays, on w's great circle.
                let factor = 1.0 / (last_value - value);
                let ray = corner.ray * (last_value * factor) - last.ray * (value * factor);
                let edge = if is_left { last.edge } else { number };
                if !to.take(SphericalCorner { ray, edge }) {
                    return Cut::Lost;
                }
            }
            if is_left && !to.take(corner) {
                return Cut::Lost;
            }
            (last, last_value) = (corner, value);
        }
        self.current = 1 - self.current;
        Cut::Left
    }

    /// The vectors of the edges span a cone that holds `-w`, and are in order around it. Of the fan
    /// of triangles from the first, one holds `-w`.
    fn holding(&self, w: &Vec3) -> Option<[u32; 3]> {
        if let [a, b, c] = &self.corners[self.current][..] {
            return Some([a.edge, b.edge, c.edge]);
        }
        self.holding_of_more(w)
    }

    fn holding_of_more(&self, w: &Vec3) -> Option<[u32; 3]> {
        // A corner of each edge, in a list that has room for all corners.
        let mut edges = C::default();
        for corner in self.corners[self.current].iter() {
            let is_known = |known: Option<&SphericalCorner>| {
                known.is_some_and(|known| known.edge == corner.edge)
            };
            if !is_known(edges.last()) && !is_known(edges.first()) && !edges.take(*corner) {
                return None;
            }
        }
        let (first, rest) = edges.split_first()?;
        let first = first.edge;
        if let [second, third] = rest {
            return Some([first, second.edge, third.edge]);
        }
        let at = |edge: u32| &self.vectors[edge as usize];
        let a = at(first);
        // `-w` is between the planes through a and each of two vectors just when w's values on the
        // two have different signs: which changes once on the way around.
        let value = |corner: &SphericalCorner| a.cross(at(corner.edge)).dot(w);
        let mut before = value(rest.first()?);
        for two in rest.windows(2) {
            let after = value(&two[1]);
            if (before > 0.0) != (after > 0.0) {
                return Some([first, two[0].edge, two[1].edge]);
            }
            before = after;
        }
        // Only rounding can tell otherwise, and whoever uses it proves the outcome.
        let [.., second, third] = rest else { return None };
        Some([first, second.edge, third.edge])
    }
}

/// Whether the square of a product's length shows that its two factors, of which the squares are
/// multiplied in `squares`, are not parallel. NaN shows nothing.
#[inline(always)]
fn exceeds_parallel(product_squared: f64, squares: f64) -> bool {
    product_squared > PARALLEL * PARALLEL * squares
}

/// In the middles of the two edges of a lune, half circles, of comparable lengths.
#[inline(always)]
fn middles_of_edges(first: &Vec3, second: &Vec3) -> [Vec3; 2] {
    let (aa, ab, bb) = (first.dot(first), first.dot(second), second.dot(second));
    [second * aa - first * ab, first * bb - second * ab]
}

/// What two hemispheres share: two tips, and a point on each edge so that no edge is a half circle.
fn corners_of_lune(tip: &Vec3, first: &Vec3, second: &Vec3) -> [SphericalCorner; 4] {
    let [on_first, on_second] = middles_of_edges(first, second);
    [
        SphericalCorner { ray: *tip, edge: 0 },
        SphericalCorner { ray: on_first, edge: 0 },
        SphericalCorner { ray: -*tip, edge: 1 },
        SphericalCorner { ray: on_second, edge: 1 },
    ]
}

#[inline(always)]
fn sum_of_rays(corners: &[SphericalCorner]) -> Vec3 {
    corners.iter().fold(Vec3::zeros(), |sum, corner| sum + corner.ray)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Random;

    fn v(x: f64, y: f64, z: f64) -> Vec3 {
        Vec3::new(x, y, z)
    }

    #[test]
    fn a_vector_that_is_undone_leaves_no_trace() {
        let mut polygon = SphericalPolygon::default();
        let vectors = [v(1.0, 0.2, 0.1), v(0.1, 1.0, -0.2), v(0.3, 0.1, 1.0)];
        for taken in 0..3 {
            let before = polygon.middle();
            polygon.cut(vectors[(taken + 1) % 3]);
            polygon.undo();
            assert_eq!(polygon.middle(), before);
            polygon.cut(vectors[taken]);
        }
        assert!(polygon.middle().is_some_and(|middle| polygon.contains(&middle)));
    }

    #[test]
    fn three_axes_leave_an_octant_and_their_opposite_leaves_nothing() {
        let mut polygon = SphericalPolygon::default();
        assert_eq!(polygon.middle(), None);
        for axis in [v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0), v(0.0, 0.0, 1.0)] {
            assert_eq!(polygon.cut(axis), Cut::Left);
            let middle = polygon.middle().unwrap();
            assert!(polygon.contains(&middle));
        }
        assert!(!polygon.contains(&v(1.0, 1.0, -0.1)));
        let Cut::Empty(mut three) = polygon.cut(v(-1.0, -2.0, -3.0)) else { panic!("empty") };
        three.sort_unstable();
        assert_eq!(three, [0, 1, 2]);
    }

    #[test]
    fn the_second_of_two_parallel_vectors_is_not_taken() {
        let mut polygon = SphericalPolygon::default();
        assert_eq!(polygon.cut(v(1.0, 2.0, 3.0)), Cut::Left);
        assert_eq!(polygon.cut(v(-2.0, -4.0, -6.0)), Cut::Flat);
        assert_eq!(polygon.cut(v(f64::NAN, 0.0, 0.0)), Cut::Flat);
        assert_eq!(polygon.vectors.len(), 1);
    }

    /// Random vectors: the polygon is empty exactly when some four of them hold the origin.
    #[test]
    fn the_polygon_is_empty_as_soon_as_four_vectors_hold_the_origin_and_names_them() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let (mut emptied, mut sizes) = (0, 0);
        for _ in 0..500 {
            let mut polygon = SphericalPolygon::default();
            let mut vectors: Vec<Vec3> = Vec::new();
            for _ in 0..20 {
                let w = v(random(), random(), random());
                let cut = polygon.cut(w);
                vectors.push(w);
                let n = vectors.len();
                let held =
                    (0..n).any(|a| (0..a).any(|b| (0..b).any(|c| holds(&vectors, [a, b, c]))));
                match cut {
                    Cut::Left => {
                        assert!(!held);
                        if let Some(middle) = polygon.middle() {
                            assert!(polygon.contains(&middle));
                        }
                    }
                    Cut::Empty(three) => {
                        assert!(held && holds(&vectors, three.map(|number| number as usize)));
                        emptied += 1;
                        sizes += n;
                        break;
                    }
                    Cut::Flat | Cut::Lost => panic!("random vectors are not degenerate"),
                }
            }
        }
        assert!(emptied > 400 && sizes > 4 * emptied, "{emptied} emptied, {sizes} vectors");
    }

    /// A candidate that does not separate is cut off, and the next one is in the middle of what is
    /// left at the latest: so a cut takes about half of the corners away for the two that it
    /// brings.
    #[test]
    fn cuts_that_take_the_middle_away_leave_few_corners() {
        let mut random = Random(41);
        let (mut cuts, mut corners, mut most) = (0, 0, 0);
        for _ in 0..2000 {
            let mut polygon = SphericalPolygon::default();
            for _ in 0..30 {
                let middle = polygon.middle().map_or_else(Vec3::x, |middle| middle.normalize());
                // The least that a vector can take: up to the middle, in any direction.
                let w = random.unit_vector().cross(&middle).normalize() - middle * 1e-9;
                if polygon.cut(w) != Cut::Left {
                    break;
                }
                cuts += 1;
                corners += polygon.corner_count();
                most = most.max(polygon.corner_count());
            }
        }
        let mean = corners as f64 / f64::from(cuts);
        eprintln!("{cuts} cuts, {mean:.2} corners in the mean, at most {most}");
        assert!(cuts > 20_000 && mean < 4.0 && most <= 6, "{cuts}: {mean}, {most}");
    }

    /// Whether the three and the last hold the origin strictly inside their hull.
    fn holds(vectors: &[Vec3], three: [usize; 3]) -> bool {
        let last = vectors[vectors.len() - 1];
        let [a, b, c] = three.map(|i| vectors[i]);
        if three.contains(&(vectors.len() - 1)) {
            return false;
        }
        let det = |x: &Vec3, y: &Vec3, z: &Vec3| x.cross(y).dot(z);
        let signs = [-det(&b, &c, &last), det(&a, &c, &last), -det(&a, &b, &last), det(&a, &b, &c)];
        signs.iter().all(|d| *d > 0.0) || signs.iter().all(|d| *d < 0.0)
    }
}
