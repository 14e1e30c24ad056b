//! Points and segments against polytopes of dimension 1 to 4, convex or not: the point-polytope and
//! the segment-facet algorithm of Joseph and Plantinga 1987, §3.3 and §3.4, which call each other
//! with one dimension less. Exact.
//!
//! A polytope is given by its incidences, as in §3.1: a face of dimension k is a list of the faces
//! of dimension k - 1 that bound it, and an edge is two vertices. A face lies in its flat; seen
//! along axes that the flat is not parallel to, it is a polytope of full dimension again.
//!
//! Where a ray meets the boundary of a facet, or runs along one, another direction is picked: the
//! alternative that the text names to its special cases. The directions are random numbers of a
//! fixed seed.
//!
//! Cost: linear in the incidences for a fixed dimension (Lemma 7).

use dashu_int::{IBig, UBig};

use crate::hull::samples::split_mix;
use crate::number::Sign;
use crate::number::scaled::sign;

/// A polytope, or a face of one, by its incidences; see the module.
#[derive(Clone, Debug)]
pub(super) struct Face<'a> {
    /// Of all vertices, each as many coordinates as the space has.
    points: &'a [Vec<IBig>],
    /// `levels[k - 1][i]` are the faces of dimension k - 1 that bound face i of dimension k.
    levels: &'a [Vec<Vec<usize>>],
    /// Which dimension, and which face of it.
    dimension: usize,
    index: usize,
    /// The coordinates that are looked at: as many as the dimension.
    axes: Vec<usize>,
}

/// A point with rational coordinates, over a common denominator.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// All coordinates of the space.
    pub(super) numerators: Vec<IBig>,
    /// Positive.
    pub(super) denominator: UBig,
}

/// Where a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the interior.
    Inside,
    /// On the boundary.
    Boundary,
    /// Not in the closed polytope.
    Outside,
}

/// Directions tried before the search is given up: on any reasonable polytope the first few do.
const DIRECTIONS_MAX: usize = 1000;
/// Coordinates of directions are integers up to this: few enough bits to stay cheap, and enough
/// directions for none to be likely to meet a boundary.
const SLOPE_MAX: u64 = 1 << 15;

impl<'a> Face<'a> {
    /// The only face of the highest level: a polytope that has the dimension of its space.
    /// `levels[0]` are the edges as pairs of vertices, `levels[1]` the 2-faces as lists of edges,
    /// and so on.
    pub(super) fn whole(points: &'a [Vec<IBig>], levels: &'a [Vec<Vec<usize>>]) -> Self {
        let dimension = levels.len();
        debug_assert!((1..=4).contains(&dimension) && levels[dimension - 1].len() == 1);
        Self { points, levels, dimension, index: 0, axes: (0..dimension).collect() }
    }

    /// The faces that bound it, seen along the same axes; vertices bound an edge.
    fn bounding(&self) -> impl Iterator<Item = Self> + '_ {
        self.levels[self.dimension - 1][self.index].iter().map(|&index| Self {
            dimension: self.dimension - 1,
            index,
            axes: self.axes.clone(),
            ..self.clone()
        })
    }

    /// A vertex of it.
    fn first_vertex(&self) -> &'a [IBig] {
        let (mut dimension, mut index) = (self.dimension, self.index);
        while dimension > 0 {
            index = self.levels[dimension - 1][index][0];
            dimension -= 1;
        }
        &self.points[index]
    }

    fn vertices(&self) -> Vec<usize> {
        let mut faces = vec![self.index];
        for level in self.levels[..self.dimension].iter().rev() {
            let mut below: Vec<usize> = faces.iter().flat_map(|&i| level[i].clone()).collect();
            below.sort_unstable();
            below.dedup();
            faces = below;
        }
        faces
    }

    /// Of a facet, which has one dimension less than there are axes: the normal of its hyperplane.
    fn normal(&self) -> Vec<IBig> {
        let anchor = self.first_vertex();
        let mut rows: Vec<Vec<IBig>> = Vec::new();
        for i in self.vertices() {
            let row = self.axes.iter().map(|&k| &self.points[i][k] - &anchor[k]).collect();
            rows.push(row);
            if !has_full_rank(&rows) {
                rows.pop();
            }
            if rows.len() + 1 == self.axes.len() {
                break;
            }
        }
        let minor = |skipped: usize| {
            let without = |row: &Vec<IBig>| -> Vec<IBig> {
                (0..row.len()).filter(|&k| k != skipped).map(|k| row[k].clone()).collect()
            };
            let value = determinant(&rows.iter().map(without).collect::<Vec<_>>());
            if skipped.is_multiple_of(2) { value } else { -value }
        };
        (0..self.axes.len()).map(minor).collect()
    }

    /// Of a facet with this normal: the same facet seen along an axis that is not in its
    /// hyperplane.
    fn flattened(&self, normal: &[IBig]) -> Self {
        let dropped = normal.iter().position(|x| !x.is_zero()).expect("a facet has a normal");
        let mut axes = self.axes.clone();
        axes.remove(dropped);
        Self { axes, ..self.clone() }
    }

    /// `normal · (p - facet)` times p's denominator.
    fn height(&self, normal: &[IBig], p: &Point) -> IBig {
        let anchor = self.first_vertex();
        let denominator = IBig::from(p.denominator.clone());
        let term = |(n, &k): (&IBig, &usize)| n * (&p.numerators[k] - &anchor[k] * &denominator);
        normal.iter().zip(&self.axes).map(term).sum()
    }
}

/// Where `p`, in the flat of `polytope`, is: a ray from inside crosses an odd number of facets.
pub(super) fn point_in_polytope(p: &Point, polytope: &Face<'_>) -> Place {
    if polytope.dimension == 1 {
        return point_in_interval(p, polytope);
    }
    let facets: Vec<(Face<'_>, Vec<IBig>)> = polytope
        .bounding()
        .map(|facet| {
            let normal = facet.normal();
            (facet, normal)
        })
        .collect();
    let is_on = |(facet, normal): &(Face<'_>, Vec<IBig>)| {
        facet.height(normal, p).is_zero()
            && point_in_polytope(p, &facet.flattened(normal)) != Place::Outside
    };
    if facets.iter().any(is_on) {
        return Place::Boundary;
    }
    let mut state = 0;
    for _ in 0..DIRECTIONS_MAX {
        let ray: Vec<IBig> = (0..polytope.axes.len())
            .map(|_| {
                IBig::from(split_mix(&mut state) % (2 * SLOPE_MAX + 1)) - IBig::from(SLOPE_MAX)
            })
            .collect();
        if let Some(crossings) = count_crossings(p, &ray, &facets) {
            return if crossings % 2 == 1 { Place::Inside } else { Place::Outside };
        }
    }
    unreachable!("a random ray meets the boundary of a facet with probability near zero")
}

/// The case of one dimension: an interval between two vertices.
fn point_in_interval(p: &Point, interval: &Face<'_>) -> Place {
    let axis = interval.axes[0];
    let denominator = IBig::from(p.denominator.clone());
    let from =
        |end: Face<'_>| sign(&(&p.numerators[axis] - &end.first_vertex()[axis] * &denominator));
    let sides: Vec<Sign> = interval.bounding().map(from).collect();
    if sides.contains(&Sign::Zero) {
        Place::Boundary
    } else if sides[0] == sides[1] {
        Place::Outside
    } else {
        Place::Inside
    }
}

/// How many facets a ray from `p`, which is on none, goes through; none if it meets the boundary of
/// one, or runs in its hyperplane.
fn count_crossings(p: &Point, ray: &[IBig], facets: &[(Face<'_>, Vec<IBig>)]) -> Option<u32> {
    let mut count = 0;
    for (facet, normal) in facets {
        let speed: IBig = normal.iter().zip(ray).map(|(n, r)| n * r).sum();
        let height = facet.height(normal, p);
        if speed.is_zero() {
            if height.is_zero() {
                return None;
            }
            continue;
        }
        // The ray is at the hyperplane after `-height / (speed * denominator of p)`.
        if sign(&height) == sign(&speed) || height.is_zero() {
            continue;
        }
        let met = moved(p, &facet.axes, ray, &-height, &speed);
        match point_in_polytope(&met, &facet.flattened(normal)) {
            Place::Inside => count += 1,
            Place::Boundary => return None,
            Place::Outside => {}
        }
    }
    Some(count)
}

/// `p + way * step / (speed * denominator of p)`; coordinates that are not looked at are dropped to
/// 0.
fn moved(p: &Point, axes: &[usize], way: &[IBig], step: &IBig, speed: &IBig) -> Point {
    let (turned, magnitude) = speed.clone().into_parts();
    let mut numerators = vec![IBig::ZERO; p.numerators.len()];
    for (&k, along) in axes.iter().zip(way) {
        numerators[k] = (&p.numerators[k] * speed + along * step) * turned;
    }
    Point { numerators, denominator: &p.denominator * magnitude }
}

/// Whether the closed segment meets a closed facet: a face with one dimension less than the space
/// that both are seen in.
pub(super) fn segment_meets_facet([a, b]: [&Point; 2], facet: &Face<'_>) -> bool {
    debug_assert_eq!(facet.dimension + 1, facet.axes.len());
    let normal = facet.normal();
    let heights = [facet.height(&normal, a), facet.height(&normal, b)];
    match heights.each_ref().map(sign) {
        [Sign::Zero, Sign::Zero] => segment_in_flat([a, b], &facet.flattened(&normal)),
        [Sign::Positive, Sign::Positive] | [Sign::Negative, Sign::Negative] => false,
        [Sign::Zero | Sign::Positive | Sign::Negative, _] => {
            // In one dimension the facet is a point, and the heights say that it is between.
            facet.dimension == 0 || {
                let met = between(a, b, &facet.axes, &heights);
                point_in_polytope(&met, &facet.flattened(&normal)) != Place::Outside
            }
        }
    }
}

/// The segment lies in the hyperplane: it meets a face of the facet, or is all inside.
fn segment_in_flat([a, b]: [&Point; 2], facet: &Face<'_>) -> bool {
    facet.dimension == 0
        || facet.bounding().any(|face| segment_meets_facet([a, b], &face))
        || point_in_polytope(a, facet) != Place::Outside
}

/// The point of a segment whose height is zero, for heights of the ends that are not both zero and
/// are not on one side; each is given times the end's denominator. With a, b the ends and g, h
/// their heights it is `(b g - a h) / (g - h)`.
fn between(a: &Point, b: &Point, axes: &[usize], [of_a, of_b]: &[IBig; 2]) -> Point {
    let whole = of_a * IBig::from(b.denominator.clone()) - of_b * IBig::from(a.denominator.clone());
    let (turned, denominator) = whole.into_parts();
    let mut numerators = vec![IBig::ZERO; a.numerators.len()];
    for &k in axes {
        numerators[k] = (&b.numerators[k] * of_a - &a.numerators[k] * of_b) * turned;
    }
    Point { numerators, denominator }
}

/// Whether the rows are linearly independent: by elimination without fractions.
fn has_full_rank(rows: &[Vec<IBig>]) -> bool {
    let mut rest = rows.to_vec();
    let mut done = 0;
    for column in 0..rows[0].len() {
        let Some(found) = (done..rest.len()).find(|&i| !rest[i][column].is_zero()) else {
            continue;
        };
        rest.swap(done, found);
        let pivot = rest[done].clone();
        for row in &mut rest[done + 1..] {
            let factor = row[column].clone();
            for (x, p) in row.iter_mut().zip(&pivot) {
                *x = &*x * &pivot[column] - p * &factor;
            }
        }
        done += 1;
    }
    done == rows.len()
}

/// Of at most three rows; 1 of none.
fn determinant(rows: &[Vec<IBig>]) -> IBig {
    let Some((first, rest)) = rows.split_first() else { return IBig::ONE };
    let term = |k: usize| {
        let without = |row: &Vec<IBig>| -> Vec<IBig> {
            (0..row.len()).filter(|&l| l != k).map(|l| row[l].clone()).collect()
        };
        let minor = determinant(&rest.iter().map(without).collect::<Vec<_>>());
        let signed = if k.is_multiple_of(2) { minor } else { -minor };
        signed * &first[k]
    };
    (0..first.len()).map(term).sum()
}

mod tests;
