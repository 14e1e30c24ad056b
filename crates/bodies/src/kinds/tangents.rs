//! Points of the unit ball, or of the unit circle in the plane z = 0, and the corners of what its
//! tangent planes near them bound.
//!
//! Each point u is in the ball, proven: it is shorter than 1 by four units of rounding, or it is an
//! end of an axis. So the hull of these points is in the ball, also after each coordinate was
//! multiplied by a number and rounded, and then in the image of the ball.
//!
//! A facet of that hull has corners u_i, and gets the point w near the solution of `u_i·w = 1`.
//! *The hull of all w holds the ball if `u_i·w >= 1` for all corners of all facets*: the cones over
//! the facets of a hull that holds the origin cover all directions s, so that `s = Σ k_i u_i` with
//! the corners of a facet and `k_i >= 0`; then `w·s = Σ k_i u_i·w >= Σ k_i >= Σ k_i |u_i| >= |s|`.
//! That is checked of each w with a bound of all rounding, that of a coordinate which is multiplied
//! by a number afterwards included, and w is blown up until it holds. The coordinate along an axis
//! whose end is a corner is exactly that of the end, so that there the image is not left by any
//! rounding.

use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::{HullError, convex_hull_with};
use clearance_geometry::number::rounding::UNIT;

/// What a point is drawn towards the origin by, and what its length then is below 1.
const DRAWN_IN: f64 = 16.0 * UNIT;
/// Points nearer than this to a known one are not taken: facets between them would be too thin.
const APART_MIN: f64 = 1.0 / 33_554_432.0;
/// The least and the largest part that corners are blown up by.
const BLOWN_UP: [f64; 2] = [8.0 * UNIT, 1.0 / 1024.0];
/// How often the faces of an octahedron are halved along all edges for the coarse points.
const HALVED: usize = 2;

/// Points of the unit ball.
#[derive(Clone, Debug)]
pub(crate) struct UnitPoints {
    is_flat: bool,
    points: Vec<Vec3>,
}

impl UnitPoints {
    /// Points all around: 16 of the circle, or 66 of the ball. Ends of the axes are among them.
    pub(crate) fn coarse(is_flat: bool) -> Self {
        let mut all = Self { is_flat, points: Vec::new() };
        let [x, y, z] = [Vec3::x(), Vec3::y(), Vec3::z()];
        let ring = [x, y, -x, -y];
        let sides = (0..4).map(|k| [ring[k], ring[(k + 1) % 4]]);
        if is_flat {
            sides.for_each(|side| all.add_between(&side, 2));
        } else {
            for [a, b] in sides {
                all.add_between(&[a, b, z], HALVED);
                all.add_between(&[a, b, -z], HALVED);
            }
        }
        all
    }

    /// The ends and the middles of all edges, and of their halves again.
    fn add_between(&mut self, corners: &[Vec3], times: usize) {
        corners.iter().for_each(|corner| _ = self.add(corner));
        if times == 0 {
            return;
        }
        let middle = |a: &Vec3, b: &Vec3| (a + b) / (a + b).norm();
        match corners {
            [a, b] => {
                let ab = middle(a, b);
                self.add_between(&[*a, ab], times - 1);
                self.add_between(&[ab, *b], times - 1);
            }
            [a, b, c] => {
                let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
                for corners in [[*a, ab, ca], [ab, *b, bc], [ca, bc, *c], [ab, bc, ca]] {
                    self.add_between(&corners, times - 1);
                }
            }
            _ => {}
        }
    }

    /// Whether they are of the circle.
    pub(crate) fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// All points.
    pub(crate) fn all(&self) -> &[Vec3] {
        &self.points
    }

    /// Memory that they take, bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(self.points.as_slice())
    }

    /// Adds the point along a direction, unless one is there already. Whether there is one now.
    pub(crate) fn add(&mut self, direction: &Vec3) -> bool {
        let Some(point) = inside(direction) else { return false };
        let is_near = |known: &Vec3| (known - point).norm_squared() < APART_MIN * APART_MIN;
        if !self.points.iter().any(is_near) {
            self.points.push(point);
        }
        true
    }

    /// Points whose hull holds the ball, or the disc.
    pub(crate) fn corners_around(&self, effort: &mut Effort<'_>) -> Result<Vec<Vec3>, Stopped> {
        let hull = convex_hull_with(&self.points, effort).map_err(|error| match error {
            HullError::Stopped(why) => why,
            HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. } => {
                Stopped::Unresolved
            }
        })?;
        let (hull, mut corners) = (hull.polytope, Vec::new());
        for facet in hull.facets().rows() {
            let around: Vec<Vec3> = facet.iter().map(|index| *hull.vertex(*index)).collect();
            effort.look_at_clock()?;
            if self.is_flat {
                let next = around.iter().cycle().skip(1);
                for (a, b) in around.iter().zip(next) {
                    corners.push(corner(&[*a, *b], &flat_solution(a, b))?);
                }
            } else {
                corners.push(corner(&around, &solution(&around))?);
            }
        }
        Ok(corners)
    }
}

/// A point of the ball along a direction that is not zero.
fn inside(direction: &Vec3) -> Option<Vec3> {
    let scaled = direction / direction.amax();
    let unit = scaled / scaled.norm();
    if unit.iter().filter(|x| **x != 0.0).count() == 1 {
        return Some(unit.map(|x| if x == 0.0 { 0.0 } else { x.signum() }));
    }
    let point = unit * (1.0 - DRAWN_IN);
    // The computed square errs by three units. NaN has no point.
    (point.norm_squared() <= 1.0 - DRAWN_IN).then_some(point)
}

/// About where `a·w = 1` and `b·w = 1` in the plane.
fn flat_solution(a: &Vec3, b: &Vec3) -> Vec3 {
    let edge = b - a;
    Vec3::new(edge.y, -edge.x, 0.0) / (a.x * edge.y - a.y * edge.x)
}

/// About where `u·w = 1` for all corners u of a facet: by the two edges from its first corner that
/// are farthest from one line.
fn solution(corners: &[Vec3]) -> Vec3 {
    let (mut normal, mut best) = (Vec3::zeros(), 0.0);
    let edges = corners[1..].iter().map(|corner| corner - corners[0]);
    for (k, e) in edges.clone().enumerate() {
        for f in edges.clone().skip(k + 1) {
            let cross = e.cross(&f);
            let share = cross.norm_squared() / (e.norm_squared() * f.norm_squared());
            if share > best {
                (normal, best) = (cross, share);
            }
        }
    }
    normal / normal.dot(&corners[0])
}

/// A point w near `near` with `u·w >= 1` for all of these u, proven.
fn corner(around: &[Vec3], near: &Vec3) -> Result<Vec3, Stopped> {
    let (mut pinned, mut is_pinned) = (*near, [false; 3]);
    for end in around.iter().filter(|u| is_end(u)) {
        let axis = end.iamax();
        (pinned[axis], is_pinned[axis]) = (end[axis], true);
    }
    let mut by = BLOWN_UP[0];
    while by <= BLOWN_UP[1] {
        let blown = Vec3::from_fn(|k, _| pinned[k] * if is_pinned[k] { 1.0 } else { 1.0 + by });
        if around.iter().all(|u| is_end(u) || is_beyond(u, &blown, is_pinned)) {
            return Ok(blown);
        }
        by *= 4.0;
    }
    Err(Stopped::Unresolved)
}

/// Whether it is an end of an axis, exactly.
fn is_end(point: &Vec3) -> bool {
    point.amax() >= 1.0
}

/// Whether `u·w >= 1`, also once the coordinates of w that are not pinned have been multiplied by
/// a number and rounded. What the pinned ones, which are 1 or -1, do not give the others have to:
/// each product and each of two sums errs by a unit, and so does the later product; the difference
/// from 1 errs by a unit of itself, or by two units of 1 where two are pinned.
fn is_beyond(u: &Vec3, w: &Vec3, is_pinned: [bool; 3]) -> bool {
    let (mut sum, mut sizes, mut needed, mut pinned) = (0.0, 0.0, 1.0, 0);
    for k in 0..3 {
        let product = u[k] * w[k];
        if is_pinned[k] {
            (needed, pinned) = (needed - product, pinned + 1);
        } else {
            (sum, sizes) = (sum + product, sizes + product.abs());
        }
    }
    let doubt: f64 = if pinned > 1 { 8.0 } else { 0.0 };
    let doubt = UNIT * (8.0 * sizes + 4.0 * f64::abs(needed) + doubt);
    // Written so that NaN is not beyond.
    sum - doubt - f64::MIN_POSITIVE >= needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::hull::samples::Random;

    fn fine(is_flat: bool, seed: u64) -> UnitPoints {
        let (mut points, mut random) = (UnitPoints::coarse(is_flat), Random::new(seed));
        let mut number = |size: f64| (random.below(2_001) as f64 - 1_000.0) / 1_000.0 * size;
        let z = if is_flat { 0.0 } else { 1.0 };
        let middle = Vec3::new(number(1.0), number(1.0), z * number(1.0));
        for size in [0.1, 1e-3, 1e-5, 1e-6] {
            for _ in 0..8 {
                let off = Vec3::new(number(size), number(size), z * number(size));
                points.add(&(middle + off));
            }
        }
        points
    }

    #[test]
    fn coarse_points_are_all_around_and_hold_the_ends_of_the_axes() {
        assert_eq!([true, false].map(|is_flat| UnitPoints::coarse(is_flat).all().len()), [16, 66]);
        for is_flat in [true, false] {
            let points = UnitPoints::coarse(is_flat);
            let ends = points.all().iter().filter(|point| is_end(point));
            assert_eq!(ends.count(), if is_flat { 4 } else { 6 });
        }
    }

    /// In rounded numbers: the proof is in the checks. Corners that were not blown up would be in
    /// the tangent planes up to rounding, too.
    #[test]
    fn the_ball_is_between_its_points_and_the_corners_around_it() {
        for seed in 0..60 {
            for is_flat in [true, false] {
                let points = fine(is_flat, seed);
                assert!(points.all().len() > 20, "points are taken");
                let inside = |point: &Vec3| is_end(point) || point.norm() <= 1.0 - 4.0 * UNIT;
                assert!(points.all().iter().all(inside));
                let corners = points.corners_around(&mut Effort::unlimited()).unwrap();
                let mut random = Random::new(seed);
                for _ in 0..200 {
                    let mut number = || random.below(2_001) as f64 - 1_000.0;
                    let z = if is_flat { 0.0 } else { number() };
                    let direction = Vec3::new(number(), number(), z);
                    let reach = corners.iter().map(|corner| corner.dot(&direction));
                    let reach = reach.fold(f64::NEG_INFINITY, f64::max);
                    let length = direction.norm();
                    assert!(reach >= length * (1.0 - 8.0 * UNIT) && reach <= 1.08 * length);
                }
                for axis in 0..if is_flat { 2 } else { 3 } {
                    let most = corners.iter().map(|corner| corner[axis]).fold(0.0, f64::max);
                    assert_eq!(most.to_bits(), 1.0_f64.to_bits(), "the axis is not left");
                }
            }
        }
    }

    /// The sign of `u·x - a`, with products and sums kept to twice the precision of a number: what
    /// is dropped is some 1e-31.
    fn is_beyond_twice_as_precisely(u: &Vec3, x: &Vec3, a: f64) -> bool {
        let (mut high, mut low) = (-a, 0.0);
        for k in 0..3 {
            let product = u[k] * x[k];
            let sum = high + product;
            let of_product = sum - high;
            low += (high - (sum - of_product)) + (product - of_product);
            // The rest of a product by halves of 26 bits.
            let halves = |number: f64| {
                let big = number * 134_217_729.0;
                let upper = big - (big - number);
                [upper, number - upper]
            };
            let ([a, b], [c, d]) = (halves(u[k]), halves(x[k]));
            low += ((a * c - product) + a * d + b * c) + b * d;
            high = sum;
        }
        high + low >= 0.0
    }

    /// Also where each coordinate is multiplied by a number and rounded, as it is for a body.
    #[test]
    fn every_corner_is_beyond_the_planes_of_its_facet_after_rounding() {
        for seed in 0..40 {
            let points = fine(false, seed);
            let corners = points.corners_around(&mut Effort::unlimited()).unwrap();
            let hull = convex_hull_with(points.all(), &mut Effort::unlimited()).unwrap().polytope;
            assert_eq!(hull.facets().len(), corners.len());
            for size in [1.0, 0.1, 1.0 / 3.0, 77.7] {
                for (facet, corner) in hull.facets().rows().zip(&corners) {
                    let placed = corner * size;
                    for index in facet {
                        let u = hull.vertex(*index);
                        assert!(
                            is_beyond_twice_as_precisely(u, &placed, size),
                            "{seed} {u} {corner}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_no_direction_gives_no_point() {
        let mut points = UnitPoints::coarse(false);
        let known = points.all().len();
        for bad in [Vec3::zeros(), Vec3::new(f64::NAN, 1.0, 0.0)] {
            assert!(!points.add(&bad));
        }
        assert!(points.add(&Vec3::new(1e300, 1e-300, 0.0)) && points.add(&Vec3::x()));
        assert_eq!(points.all().len(), known, "all of them are the end of an axis");
    }
}
