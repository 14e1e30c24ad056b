//! Bodies where they are: rounded points with the bound of their error, and exact ones behind.

use std::borrow::Cow;

use super::meeting::Sight;
use super::mesh::Polyhedron;
use super::surface::TriangleSurface;
use super::tree::{Extent, Node, NodeBoxes, Tree};
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
    /// Every coordinate of a [`point`](Self::point) is within this of the exact one.
    pub(crate) slack: f64,
    /// At least the largest absolute coordinate of a point.
    pub(crate) reach: f64,
    placed: HowPlaced<'a>,
}

/// When the points of a body and its boxes are put where it stands.
#[derive(Debug)]
enum HowPlaced<'a> {
    /// All have been.
    All(Cow<'a, PlacedPoints>),
    /// Each is when it is asked for: of a large body few are.
    OnDemand {
        /// The magnitudes of the rotation's entries.
        rotation: Mat3,
    },
}

impl<'a> Stand<'a> {
    /// For who looks at all of the body.
    pub(crate) fn new(body: &'a Polyhedron, pose: Pose) -> Self {
        Self::with(body, pose, Cow::Owned(PlacedPoints::new(body, &pose)))
    }

    /// The same of what was placed before, in the same pose.
    pub(crate) fn of(body: &'a Polyhedron, pose: Pose, placed: &'a PlacedPoints) -> Self {
        Self::with(body, pose, Cow::Borrowed(placed))
    }

    fn with(body: &'a Polyhedron, pose: Pose, placed: Cow<'a, PlacedPoints>) -> Self {
        let (slack, reach) = (placed.slack, placed.reach);
        Self { body, pose, slack, reach, placed: HowPlaced::All(placed) }
    }

    /// For who looks at a few places of the body.
    pub(crate) fn on_demand(body: &'a Polyhedron, pose: Pose) -> Self {
        let [low, high] = body.bounds();
        let magnitude = magnitude(&low.abs().sup(&high.abs()), &pose);
        let slack = slack_of(magnitude, &pose);
        let placed = HowPlaced::OnDemand { rotation: pose.rotation.abs() };
        Self { body, pose, slack, reach: magnitude + slack, placed }
    }

    /// A vertex, rounded.
    #[inline]
    pub(crate) fn point(&self, i: u32) -> Vec3 {
        match &self.placed {
            HowPlaced::All(placed) => placed.points[i as usize],
            HowPlaced::OnDemand { .. } => {
                self.pose.apply_rounded(&self.body.vertices()[i as usize])
            }
        }
    }

    /// The box of all of it.
    pub(crate) fn whole(&self) -> Extent {
        self.extent(self.body.tree().root())
    }
}

/// The exact body is inside the boxes.
impl NodeBoxes for Stand<'_> {
    fn tree(&self) -> &Tree {
        self.body.tree()
    }

    #[inline]
    fn extent(&self, node: Node) -> Extent {
        match &self.placed {
            HowPlaced::All(placed) => placed.boxes[node.at as usize],
            HowPlaced::OnDemand { rotation } => {
                let in_body = &self.body.surface().boxes()[node.at as usize];
                placed_box(in_body, &self.pose, rotation, self.slack)
            }
        }
    }
}

/// The box along the axes of the world around a box in a body; `rotation`: the magnitudes of the
/// pose's.
///
/// The middle of the box is a point of the body's box, so that it is placed within `slack`, and so
/// is what its half size becomes; two more cover the sums.
pub(crate) fn placed_box(in_body: &Extent, pose: &Pose, rotation: &Mat3, slack: f64) -> Extent {
    let Extent { low, high } = in_body;
    if slack <= 0.0 {
        return *in_body;
    }
    // Halves first: coordinates may be near the greatest that are accepted.
    let middle = low * 0.5 + high * 0.5;
    let half = (high - middle).sup(&(middle - low)).map(f64::next_up);
    let (at, reach) = (pose.apply_rounded(&middle), rotation * half);
    let margin = 4.0 * slack;
    Extent {
        low: Vec3::from_fn(|k, _| (at[k] - (reach[k] + margin)).next_down()),
        high: Vec3::from_fn(|k, _| (at[k] + (reach[k] + margin)).next_up()),
    }
}

/// How far a rounded coordinate of a placed vertex may be off.
///
/// Three products and three sums round each coordinate of `R v + t`: `γ₄` of the sum of magnitudes,
/// and half the smallest subnormal for each product. `γ₈` covers the rounding of the bound.
pub(crate) fn slack(vertices: &[Vec3], pose: &Pose) -> f64 {
    let reach = vertices.iter().fold(Vec3::zeros(), |reach, v| reach.sup(&v.abs()));
    slack_of(magnitude(&reach, pose), pose)
}

/// The same by the [`magnitude`] of the placed vertices.
pub(crate) fn slack_of(magnitude: f64, pose: &Pose) -> f64 {
    if pose.rotation == Mat3::identity() && pose.translation == Vec3::zeros() {
        return 0.0;
    }
    gamma(8) * magnitude + 4.0 * UNDERFLOW
}

/// A bound of the sums of magnitudes of which placed vertices consist; `reach`: the largest of each
/// coordinate's in the body.
pub(crate) fn magnitude(reach: &Vec3, pose: &Pose) -> f64 {
    (pose.rotation.abs() * reach + pose.translation.abs()).amax()
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
    pub(crate) fn new([p, q]: [(&'a TriangleSurface, &Pose); 2]) -> Self {
        let of = |(surface, pose): (&TriangleSurface, &Pose)| {
            Exponents::of_looked_at(surface.least_exponent(), pose)
        };
        let (of_p, of_q) = (of(p), of(q));
        let exponent = of_p.placed.min(of_q.placed);
        Self {
            p: ScaledPoints::new(p.0.vertices(), p.1, of_p, exponent),
            q: ScaledPoints::new(q.0.vertices(), q.1, of_q, exponent),
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
            Exact::new([p, q].map(|stand| (stand.body.surface(), &stand.pose)))
        })
    }

    pub(crate) fn rounded(&self, (body, i): Corner) -> Vec3 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::dyadic::Dyadic;
    use crate::samples::{Random, ball};

    /// A coordinate of a placed vertex, exactly.
    fn placed(v: &Vec3, pose: &Pose, k: usize) -> Dyadic {
        (0..3).fold(Dyadic::from(pose.translation[k]), |sum, l| {
            &sum + &(&Dyadic::from(pose.rotation[(k, l)]) * &Dyadic::from(v[l]))
        })
    }

    /// Of every node, far away and near, large and of the size of rounding.
    #[test]
    fn boxes_on_demand_hold_what_is_placed_exactly() {
        let random = &mut Random(7);
        let region = Polyhedron::of_polytope(&ball(40, 3)).unwrap().0;
        for far in [0.0, 1.0, 1e9, 1e-300, 1e200] {
            let way = Vec3::new(far, -0.3 * far, 0.7 * far);
            for pose in [random.pose(way), Pose { translation: way, ..Pose::identity() }] {
                let stand = Stand::on_demand(&region, pose);
                let all = Stand::new(&region, pose);
                assert!(stand.reach >= all.reach && stand.slack >= all.slack);
                let mut open = vec![region.tree().root()];
                while let Some(node) = open.pop() {
                    open.extend(node.children().into_iter().flatten());
                    let extent = stand.extent(node);
                    for v in region.surface().corners_of(node) {
                        for k in 0..3 {
                            let exact = placed(&v, &pose, k);
                            let (low, high) = (extent.low[k], extent.high[k]);
                            assert!(Dyadic::from(low) <= exact && exact <= Dyadic::from(high));
                        }
                    }
                }
            }
        }
    }
}
