//! Bodies where they are: rounded points with the bound of their error, and exact ones behind.

use std::borrow::Cow;

use super::meeting::Sight;
use super::mesh::Polyhedron;
use super::tree::{BoxedTree, Extent};
use crate::number::Sign;
use crate::number::orientation::{Axis, Side, Turn};
use crate::number::rounding::{UNDERFLOW, UNDERFLOW_FLOOR, gamma};
use crate::number::scaled::{Integers, cross, difference, dot, sign};
use crate::pose::Pose;
use crate::pose::scaled_points::{Exponents, ScaledPoints};
use crate::{Mat3, Vec3};

/// The points of a body in one pose, rounded, and the boxes of its tree there. Who asks about the
/// body in the same pose again need not make them again.
#[derive(Clone, Debug)]
pub struct PlacedPoints {
    points: Vec<Vec3>,
    slack: f64,
    reach: f64,
    boxes: Vec<Extent>,
}

impl PlacedPoints {
    /// Of a body in this pose.
    pub fn new(body: &Polyhedron, pose: &Pose) -> Self {
        let points: Vec<Vec3> = body.vertices().iter().map(|v| pose.apply_rounded(v)).collect();
        let slack = slack(body.vertices(), pose);
        let reach = points.iter().map(nalgebra::Vector3::amax).fold(0.0, f64::max);
        let boxes = body.tree().boxes(&points, body.triangles(), slack);
        Self { points, slack, reach, boxes }
    }

    /// Memory that those of a body take, bytes.
    pub fn bytes_of(body: &Polyhedron) -> usize {
        let boxes = 2 * body.triangles().len() * size_of::<Extent>();
        size_of::<Self>() + size_of_val(body.vertices()) + boxes
    }
}

/// A body where it stands at t = 0.
#[derive(Debug)]
pub(crate) struct Stand<'a> {
    pub(crate) body: &'a Polyhedron,
    pub(crate) pose: Pose,
    /// The vertices, rounded.
    pub(crate) points: Cow<'a, [Vec3]>,
    /// Every coordinate of `points` is within this of the exact one.
    pub(crate) slack: f64,
    /// The largest absolute coordinate of `points`.
    pub(crate) reach: f64,
    /// The boxes of the nodes of the body's tree; the exact body is inside.
    pub(crate) boxes: Cow<'a, [Extent]>,
}

impl<'a> Stand<'a> {
    pub(crate) fn new(body: &'a Polyhedron, pose: Pose) -> Self {
        let PlacedPoints { points, slack, reach, boxes } = PlacedPoints::new(body, &pose);
        Self { body, pose, points: points.into(), slack, reach, boxes: boxes.into() }
    }

    /// The same of what was placed before, in the same pose.
    pub(crate) fn of(body: &'a Polyhedron, pose: Pose, placed: &'a PlacedPoints) -> Self {
        let (slack, reach) = (placed.slack, placed.reach);
        let (points, boxes) = (Cow::Borrowed(&*placed.points), Cow::Borrowed(&*placed.boxes));
        Self { body, pose, points, slack, reach, boxes }
    }

    /// The body's tree with the boxes here.
    pub(crate) fn boxed(&self) -> BoxedTree<'_> {
        BoxedTree { tree: self.body.tree(), boxes: &self.boxes }
    }

    pub(crate) fn point(&self, i: u32) -> &Vec3 {
        &self.points[i as usize]
    }

    /// The box of all of it.
    pub(crate) fn whole(&self) -> &Extent {
        &self.boxes[self.body.tree().root().at as usize]
    }
}

/// How far a rounded coordinate of a placed vertex may be off.
///
/// Three products and three sums round each coordinate of `R v + t`: `γ₄` of the sum of magnitudes,
/// and half the smallest subnormal for each product. `γ₈` covers the rounding of the bound.
pub(crate) fn slack(vertices: &[Vec3], pose: &Pose) -> f64 {
    if pose.rotation == Mat3::identity() && pose.translation == Vec3::zeros() {
        return 0.0;
    }
    let reach = vertices.iter().fold(Vec3::zeros(), |reach, v| reach.sup(&v.abs()));
    let magnitude = pose.rotation.abs() * reach + pose.translation.abs();
    gamma(8) * magnitude.amax() + 4.0 * UNDERFLOW
}

/// Which of the two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    P,
    Q,
}

/// A vertex of one of the two.
pub(crate) type Corner = (Whose, u32);

/// Two bodies at t = 0: predicates that are filtered in f64 and exact behind.
#[derive(Debug)]
pub(crate) struct Placed<'a, 'b> {
    pub(crate) p: &'b Stand<'a>,
    pub(crate) q: &'b Stand<'a>,
    /// Bounds the error of a computed difference of two coordinates.
    blur: f64,
    exact: Option<Exact<'a>>,
}

/// The points as integers times a power of two.
#[derive(Debug)]
pub(crate) struct Exact<'a> {
    p: ScaledPoints<'a>,
    q: ScaledPoints<'a>,
    pub(crate) exponent: i64,
}

impl<'a> Exact<'a> {
    /// Those of P and of Q, where they are.
    pub(crate) fn new([p, q]: [(&'a [Vec3], &Pose); 2]) -> Self {
        let (of_p, of_q) = (Exponents::of(p.0, p.1), Exponents::of(q.0, q.1));
        let exponent = of_p.placed.min(of_q.placed);
        Self {
            p: ScaledPoints::new(p.0, p.1, of_p, exponent),
            q: ScaledPoints::new(q.0, q.1, of_q, exponent),
            exponent,
        }
    }

    pub(crate) fn point(&mut self, (body, i): Corner) -> &Integers {
        match body {
            Whose::P => self.p.point(i),
            Whose::Q => self.q.point(i),
        }
    }

    fn triple(&mut self, corners: [Corner; 3]) -> [Integers; 3] {
        corners.map(|corner| self.point(corner).clone())
    }
}

impl<'a, 'b> Placed<'a, 'b> {
    pub(crate) fn new(p: &'b Stand<'a>, q: &'b Stand<'a>) -> Self {
        // Both points err by `slack`, their difference, at most twice the reach, rounds once.
        let blur = 2.0 * p.slack.max(q.slack) + gamma(4) * p.reach.max(q.reach);
        Self { p, q, blur, exact: None }
    }

    /// The exact points, made when first asked for.
    pub(crate) fn exact(&mut self) -> &mut Exact<'a> {
        let (p, q) = (self.p, self.q);
        self.exact.get_or_insert_with(|| {
            Exact::new([p, q].map(|stand| (stand.body.vertices(), &stand.pose)))
        })
    }

    pub(crate) fn rounded(&self, (body, i): Corner) -> &'b Vec3 {
        match body {
            Whose::P => self.p.point(i),
            Whose::Q => self.q.point(i),
        }
    }

    /// The sign of the determinant of three differences, when f64 arithmetic can tell.
    ///
    /// Each of six terms is a product of an entry of each row. With `a`, `b`, `c` the largest of
    /// each row and every entry wrong by `blur`, a term errs by at most `blur (ab + bc + ca + blur
    /// (a + b + c + blur))`, and rounding by `γ₅ abc`; twice the first covers that the bound itself
    /// is rounded. Where a sum of terms overflows, so does `8 abc`.
    fn side_rounded(&self, plane: [Corner; 3], p: Corner) -> Option<Side> {
        let anchor = self.rounded(plane[0]);
        let e = self.rounded(plane[1]) - anchor;
        let f = self.rounded(plane[2]) - anchor;
        let d = self.rounded(p) - anchor;
        let value = e.cross(&f).dot(&d);
        let (a, b, c) = (e.amax(), f.amax(), d.amax());
        let blurred =
            self.blur * ((a * b + b * c) + (c * a + self.blur * ((a + b) + (c + self.blur))));
        let error = 12.0 * blurred
            + gamma(9) * (8.0 * (a * b * c))
            + UNDERFLOW_FLOOR * ((a + b) + (c + 2.0));
        if value > error {
            Some(Side::Above)
        } else if value < -error {
            Some(Side::Below)
        } else {
            None // too close to zero, or a NaN
        }
    }
}

impl Sight for Placed<'_, '_> {
    type Point = Corner;

    fn side(&mut self, plane: [Corner; 3], p: Corner) -> Side {
        self.side_rounded(plane, p).unwrap_or_else(|| self.exact().side(plane, p))
    }

    fn turn(&mut self, axis: Axis, path: [Corner; 3]) -> Turn {
        self.exact().turn(axis, path)
    }
}

impl Sight for Exact<'_> {
    type Point = Corner;

    fn side(&mut self, plane: [Corner; 3], p: Corner) -> Side {
        let [a, b, c] = self.triple(plane);
        let normal = cross(&difference(&b, &a), &difference(&c, &a));
        Side::from_sign(sign(&dot(&normal, &difference(self.point(p), &a))))
    }

    fn turn(&mut self, axis: Axis, path: [Corner; 3]) -> Turn {
        let [a, b, c] = self.triple(path);
        let (i, j) = axis.others();
        let minor = (&b[i] - &a[i]) * (&c[j] - &a[j]) - (&b[j] - &a[j]) * (&c[i] - &a[i]);
        match sign(&minor) {
            Sign::Negative => Turn::Right,
            Sign::Zero => Turn::Straight,
            Sign::Positive => Turn::Left,
        }
    }
}
