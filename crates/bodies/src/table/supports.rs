//! Two convex bodies of which one at least is curved, by supporting points alone: what most such
//! pairs are told by, in microseconds, before any polytope is refined.
//!
//! **Source.** Gilbert, Johnson & Keerthi, *A fast procedure for computing the distance between
//! complex objects in three-dimensional space*, 1988: a simplex of supporting points of the
//! difference Q - P goes towards its point nearest the origin.
//!
//! What is found is told with a bound of all rounding, however it was found. A direction shows that
//! the bodies are so far apart, since how far a curved body reaches along one has a closed form;
//! points of both show that they are no farther; four differences around the origin show that they
//! overlap. Of bodies that touch, or nearly do, nothing is told.

use arrayvec::ArrayVec;

use crate::body::{Body, PlacedBody};
use crate::kinds::curved::{CurvedCore, CurvedForm};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::rounding::UNIT;
use clearance_geometry::pose::Pose;

/// How much a supporting point, what it is beyond, or a sum of such with weights is rounded by, as
/// a part of the coordinates that it is made of: some sixteen units, and room.
const ROUNDED_BY: f64 = 64.0 * UNIT;
/// How far from the body a computed supporting point may be for its size, squared.
const BEYOND: f64 = 1.0 + 16.0 * UNIT;
/// Supporting points at most; usually it takes ten to twenty.
const POINTS_MAX: usize = 64;
/// Bodies of more vertices are left to others: all are looked at for each point.
const VERTICES_MAX: usize = 4096;

/// What is known of two bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenPair {
    /// Separated or overlapping; none: that is not known.
    pub(super) verdict: Option<Verdict>,
    /// Encloses the distance, metres; 0 of what overlaps.
    pub(super) bounds: [f64; 2],
    /// Where they are about that far apart, or have a point in common.
    pub(super) closest: [Vec3; 2],
    /// The unit vector from Q towards P, of what is apart.
    pub(super) normal: Option<Vec3>,
}

/// A body without its radius.
#[derive(Clone, Copy)]
enum Shape<'a> {
    Curved(&'a CurvedCore),
    Points(&'a [Vec3]),
}

/// A body without its radius, where it is placed.
#[derive(Clone, Copy)]
struct PlacedSide<'a> {
    shape: Shape<'a>,
    pose: &'a Pose,
    radius: f64,
    /// How much a point of it in the world, or its reach along a vector with coordinates of at most
    /// 1, is rounded by.
    doubt: f64,
}

impl<'a> PlacedSide<'a> {
    /// None: it is not convex, or has too many vertices.
    fn of(placed: &'a PlacedBody) -> Option<Self> {
        let PlacedBody { body, pose } = placed;
        let (shape, radius) = match body {
            Body::Curved(curved) => (Shape::Curved(&curved.core), curved.radius),
            Body::Polytope(polytope) => (Shape::Points(polytope.vertices()), 0.0),
            Body::Rounded(rounded) => (Shape::Points(rounded.core.vertices()), rounded.radius),
            Body::Polyhedron(_) | Body::Surface(_) | Body::Cloud(_) | Body::HeightField(_) => {
                return None;
            }
        };
        let sizes = match shape {
            Shape::Curved(core) => core.half.abs(),
            Shape::Points(points) if points.len() > VERTICES_MAX => return None,
            Shape::Points(points) => {
                points.iter().fold(Vec3::zeros(), |sizes, point| sizes.sup(&point.abs()))
            }
        };
        let reach = pose.translation.abs().sum() + (pose.rotation.abs() * sizes).sum();
        let doubt = ROUNDED_BY * reach + f64::MIN_POSITIVE;
        doubt.is_finite().then_some(Self { shape, pose, radius, doubt })
    }

    /// How far it reaches along a vector of the world, and a point that does so.
    fn supporting(&self, direction: &Vec3) -> (f64, Vec3) {
        let along = self.pose.rotation.tr_mul(direction);
        let (reach, point) = match self.shape {
            Shape::Curved(core) => core.supporting(&along),
            Shape::Points(points) => {
                let mut best = (f64::NEG_INFINITY, Vec3::zeros());
                for point in points {
                    let reach = along.dot(point);
                    if reach > best.0 {
                        best = (reach, *point);
                    }
                }
                best
            }
        };
        (reach + direction.dot(&self.pose.translation), self.pose.apply_rounded(&point))
    }
}

impl CurvedCore {
    /// How far it reaches along a vector, and a point that does so, in its own frame.
    fn supporting(&self, along: &Vec3) -> (f64, Vec3) {
        let half = self.half;
        let stretched = along.component_mul(&half.abs());
        match self.form {
            CurvedForm::Ellipsoid => {
                let (reach, unit) = on_ball(stretched);
                (reach, unit.component_mul(&half))
            }
            CurvedForm::Cylinder => {
                let (reach, unit) = on_ball(Vec3::new(stretched.x, stretched.y, 0.0));
                let z = half.z.copysign(along.z);
                (reach + stretched.z.abs(), Vec3::new(unit.x * half.x, unit.y * half.y, z))
            }
            CurvedForm::Cone => {
                let (reach, unit) = on_ball(Vec3::new(stretched.x, stretched.y, 0.0));
                let (base, apex) = (reach - along.z * half.z, along.z * half.z);
                if apex > base {
                    (apex, Vec3::new(0.0, 0.0, half.z))
                } else {
                    (base, Vec3::new(unit.x * half.x, unit.y * half.y, -half.z))
                }
            }
        }
    }
}

/// How far the unit ball reaches along a vector, and a point of it that does so.
fn on_ball(along: Vec3) -> (f64, Vec3) {
    let reach = along.norm();
    let unit = along / reach;
    // Written so that NaN, and what is too small to be divided well, is the middle.
    let is_on = unit.norm_squared() <= BEYOND;
    (reach, if is_on { unit } else { Vec3::zeros() })
}

/// A difference of two points.
#[derive(Clone, Copy)]
struct Corner {
    /// It is the point of Q less that of P.
    at: Vec3,
    points: [Vec3; 2],
}

/// Corners with weights, of which none is negative and whose sum is 1, about.
struct NearestCorners {
    corners: ArrayVec<(Corner, f64), 4>,
}

impl NearestCorners {
    /// The points that the weights mean.
    fn points(&self) -> [Vec3; 2] {
        let sum: f64 = self.corners.iter().map(|(_, weight)| weight).sum();
        let mut points = [Vec3::zeros(); 2];
        for (corner, weight) in &self.corners {
            for (point, of_corner) in points.iter_mut().zip(&corner.points) {
                *point += of_corner * (weight / sum);
            }
        }
        points
    }
}

/// What supporting points tell of two bodies, until they are shown to be farther apart or nearer
/// than `stops`, or as exactly as that gets; none where they are not both convex.
pub(super) fn look(
    bodies: &[PlacedBody; 2],
    stops: Stops,
    narrow: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<SeenPair>, Stopped> {
    let (Some(p), Some(q)) = (PlacedSide::of(&bodies[0]), PlacedSide::of(&bodies[1])) else {
        return Ok(None);
    };
    let doubt = p.doubt + q.doubt;
    let radii = [(p.radius + q.radius).next_down().max(0.0), (p.radius + q.radius).next_up()];
    let radii = if p.radius + q.radius > 0.0 { radii } else { [0.0; 2] };
    let mut lower = f64::NEG_INFINITY;
    let mut best = (f64::INFINITY, [Vec3::zeros(); 2]);
    let mut normal = None;
    let mut simplex = ArrayVec::<Corner, 4>::new();
    let mut towards = q.pose.translation - p.pose.translation;
    for _ in 0..POINTS_MAX {
        effort.spend_step()?;
        let size = towards.amax();
        // Written so that NaN ends it.
        let direction = if size > 0.0 { (towards / size).normalize() } else { Vec3::x() };
        let ((of_p, on_p), (of_q, on_q)) = (p.supporting(&direction), q.supporting(&-direction));
        // Q begins where P ends, and so much farther; the direction is longer than 1 by little.
        let gap = (0.0 - of_q - of_p - doubt) * (1.0 - ROUNDED_BY);
        if gap > lower {
            (lower, normal) = (gap, Some(-direction));
        }
        let corner = Corner { at: on_q - on_p, points: [on_p, on_q] };
        let is_known = simplex.iter().any(|known| known.at == corner.at);
        simplex.push(corner);
        let Some(nearest) = nearest_of(&simplex) else {
            let around: [Corner; 4] = std::array::from_fn(|k| simplex[k]);
            return Ok(overlapping(&around, doubt));
        };
        let points = nearest.points();
        let apart = points[1] - points[0];
        let upper = apart.norm() * (1.0 + ROUNDED_BY) + doubt;
        let is_nearer = upper < best.0;
        if is_nearer {
            best = (upper, points);
        }
        let bounds = with_radii([lower, best.0], radii);
        let is_beyond = stops.above.is_some_and(|above| bounds[0] > above)
            || stops.below.is_some_and(|below| bounds[1] < below);
        let is_done = bounds[0] > 0.0 && (is_beyond || bounds[1] - bounds[0] <= narrow * bounds[1]);
        // A point that is known, or none that is nearer: rounding tells no more.
        if is_done || bounds[1] < 0.0 || is_known || !is_nearer {
            break;
        }
        simplex = nearest.corners.iter().map(|(corner, _)| *corner).collect();
        towards = apart;
    }
    Ok(told([&p, &q], ([lower, best.0], radii), best.1, normal))
}

/// What a bracket of the distance of both without their radii tells, and points that show it.
fn told(
    [p, q]: [&PlacedSide<'_>; 2],
    (of_cores, radii): ([f64; 2], [f64; 2]),
    points: [Vec3; 2],
    normal: Option<Vec3>,
) -> Option<SeenPair> {
    if !of_cores[1].is_finite() {
        return None;
    }
    let bounds = with_radii(of_cores, radii);
    if bounds[0] > 0.0 {
        let away = normal.unwrap_or_else(Vec3::zeros);
        let closest = [points[0] - away * p.radius, points[1] + away * q.radius];
        return Some(SeenPair { verdict: Some(Verdict::Separated), bounds, closest, normal });
    }
    if bounds[1] < 0.0 && radii[0] > 0.0 {
        let common = points[0] + (points[1] - points[0]) * (p.radius / (p.radius + q.radius));
        let verdict = Some(Verdict::Overlapping);
        return Some(SeenPair { verdict, bounds: [0.0; 2], closest: [common; 2], normal: None });
    }
    None
}

/// How far bodies are apart whose cores are so far apart, with the sum of the radii.
fn with_radii([lower, upper]: [f64; 2], radii: [f64; 2]) -> [f64; 2] {
    [(lower - radii[1]).next_down(), (upper - radii[0]).next_up()]
}

/// The point nearest the origin in the hull of some corners, with those that it is between; none:
/// four are around the origin.
fn nearest_of(corners: &[Corner]) -> Option<NearestCorners> {
    let mut best: Option<(f64, NearestCorners)> = None;
    let mut offer = |of: &[usize], weights: &[f64]| {
        // Written so that NaN is none.
        if !weights.iter().all(|weight| *weight >= 0.0 && weight.is_finite()) {
            return;
        }
        let sum: f64 = weights.iter().sum();
        let at: Vec3 = of.iter().zip(weights).map(|(k, w)| corners[*k].at * (w / sum)).sum();
        let squared = at.norm_squared();
        if best.as_ref().is_none_or(|(least, _)| squared < *least) {
            let corners = of.iter().zip(weights).map(|(k, w)| (corners[*k], *w)).collect();
            best = Some((squared, NearestCorners { corners }));
        }
    };
    let count = corners.len();
    for i in 0..count {
        offer(&[i], &[1.0]);
        for k in i + 1..count {
            let (a, b) = (&corners[i].at, &corners[k].at);
            let edge = b - a;
            offer(&[i, k], &[b.dot(&edge), -a.dot(&edge)]);
            for (m, third) in corners.iter().enumerate().skip(k + 1) {
                let c = &third.at;
                let normal = edge.cross(&(c - a));
                let weights =
                    [normal.dot(&b.cross(c)), normal.dot(&c.cross(a)), normal.dot(&a.cross(b))];
                offer(&[i, k, m], &weights);
            }
        }
    }
    if count == 4 && faces_of(corners).iter().all(|face| face.is_origin_inside()) {
        return None;
    }
    best.map(|(_, nearest)| nearest)
}

/// A face of a tetrahedron, and on which sides of it the origin and the fourth corner are.
struct FaceOfFour {
    normal: Vec3,
    /// The products of the normal with the origin and with the fourth corner, less that of the
    /// face.
    heights: [f64; 2],
    /// What these are rounded by.
    doubt: f64,
}

impl FaceOfFour {
    fn is_origin_inside(&self) -> bool {
        let [origin, fourth] = self.heights;
        origin > 0.0 && fourth > 0.0 || origin < 0.0 && fourth < 0.0
    }

    /// The same, also if every corner were elsewhere by that much.
    fn is_surely_inside(&self, by: f64) -> bool {
        let [origin, fourth] = self.heights.map(f64::abs);
        let needed = 4.0 * by * self.normal.norm() + self.doubt;
        self.is_origin_inside() && origin > needed && fourth > self.doubt
    }
}

/// The four faces of a tetrahedron.
fn faces_of(corners: &[Corner]) -> [FaceOfFour; 4] {
    [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]].map(|[a, b, c, fourth]| {
        let [a, b, c, fourth] = [a, b, c, fourth].map(|k: usize| corners[k].at);
        let (e, f) = (b - a, c - a);
        let normal = e.cross(&f);
        let sizes = a.norm() + b.norm() + c.norm() + fourth.norm();
        let doubt = ROUNDED_BY * (e.norm() * f.norm() * sizes) + f64::MIN_POSITIVE;
        FaceOfFour { normal, heights: [-normal.dot(&a), normal.dot(&(fourth - a))], doubt }
    })
}

/// That bodies overlap, if four differences of their points are around the origin however they were
/// rounded. A ball around the origin that is in the tetrahedron is in that of the exact differences
/// but for as much as these are off.
fn overlapping(around: &[Corner; 4], doubt: f64) -> Option<SeenPair> {
    let faces = faces_of(around);
    if !faces.iter().all(|face| face.is_surely_inside(doubt)) {
        return None;
    }
    // Each corner weighs by what is left of the tetrahedron without it.
    let share = |face: &FaceOfFour| face.heights[0] / face.heights[1];
    let weights = [share(&faces[3]), share(&faces[2]), share(&faces[1]), share(&faces[0])];
    let corners = around.iter().zip(weights).map(|(corner, weight)| (*corner, weight)).collect();
    let closest = NearestCorners { corners }.points();
    let verdict = Some(Verdict::Overlapping);
    Some(SeenPair { verdict, bounds: [0.0; 2], closest, normal: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::cells::answered;
    use crate::table::distance::{DistanceAsked, ask_distance};
    use crate::table::refined::{Between, INNER, OUTER};
    use crate::table::row::Wanted;
    use clearance_geometry::Mat3;
    use clearance_geometry::hull::samples::{Random, cuboid};

    fn number(random: &mut Random, size: f64) -> f64 {
        (random.below(2_001) as f64 - 1_000.0) / 1_000.0 * size
    }

    fn vector(random: &mut Random, size: f64) -> Vec3 {
        Vec3::from_fn(|_, _| number(random, size))
    }

    fn curved(form: CurvedForm, half: Vec3, radius: f64) -> Body {
        let core = CurvedCore { form, half };
        Body::of_curved(core, radius, &mut Effort::unlimited()).unwrap()
    }

    fn body(random: &mut Random, size: f64) -> Body {
        let half = vector(random, size).abs().add_scalar(0.1 * size);
        let radius = if random.below(2) == 0 { 0.0 } else { number(random, size).abs() * 0.2 };
        match random.below(4) {
            0 => curved(CurvedForm::Cylinder, half, radius),
            1 => curved(CurvedForm::Cone, half, radius),
            2 => curved(CurvedForm::Ellipsoid, half, radius),
            _ => {
                let corners = cuboid(2.0 * half.x, 2.0 * half.y, 2.0 * half.z);
                Body::of_rounded_points(&corners, radius, &mut Effort::unlimited()).unwrap()
            }
        }
    }

    /// Turned, and stretched by as little as poses may be.
    fn pose(random: &mut Random, size: f64) -> Pose {
        let turn = Pose::from_quaternion(
            vector(random, size),
            [number(random, 1.0), number(random, 1.0), number(random, 1.0), 1.0],
        );
        let mut pose = turn.unwrap();
        pose.rotation += Mat3::from_fn(|_, _| number(random, 1e-8));
        pose
    }

    fn seen(bodies: &[PlacedBody; 2], narrow: f64) -> Option<SeenPair> {
        look(bodies, Stops::default(), narrow, &mut Effort::unlimited()).unwrap()
    }

    /// The polytopes in and around both.
    fn between(bodies: &[PlacedBody; 2], side: usize) -> (Verdict, [f64; 2]) {
        let asked = DistanceAsked::default();
        let bodies = Between::new(bodies).side(side);
        let found = ask_distance(bodies, asked, Wanted::NO_PROOF, &mut Effort::unlimited());
        let found = answered(found).unwrap().distance.unwrap();
        (found.verdict().unwrap(), found.bounds())
    }

    #[test]
    fn what_supporting_points_tell_is_between_what_polytopes_in_and_around_the_bodies_tell() {
        let random = &mut Random::new(5);
        let mut counts = [0; 3];
        for size in [1.0, 1e-30, 1e25] {
            for _ in 0..60 {
                let places = [0, 1].map(|_| (body(random, size), pose(random, size * 1.5)));
                let bodies = places.map(|(body, pose)| PlacedBody { body, pose });
                let (inner, of_inner) = between(&bodies, INNER);
                let (outer, of_outer) = between(&bodies, OUTER);
                let Some(found) = seen(&bodies, 1e-9) else {
                    counts[2] += 1;
                    continue;
                };
                match found.verdict.unwrap() {
                    Verdict::Separated => {
                        counts[0] += 1;
                        let [lower, upper] = found.bounds;
                        assert_ne!(inner, Verdict::Overlapping);
                        assert!(of_outer[0] <= upper && lower <= of_inner[1], "{found:?}");
                        assert!(upper - lower <= 1e-9 * upper, "{found:?}");
                        let [p, q] = found.closest;
                        let apart = (q - p).norm();
                        assert!((apart - upper).abs() <= 1e-6 * size, "{apart} {found:?}");
                        let normal = found.normal.unwrap();
                        assert!((normal * apart + (q - p)).norm() <= 1e-4 * size, "{found:?}");
                    }
                    Verdict::Overlapping => {
                        counts[1] += 1;
                        assert_ne!(outer, Verdict::Separated);
                        let [p, q] = found.closest;
                        assert!((p - q).norm() <= 1e-9 * size, "{found:?}");
                    }
                    Verdict::Touching => panic!("{found:?}"),
                }
            }
        }
        assert!(counts[0] > 50 && counts[1] > 15 && counts[2] < 9, "{counts:?}");
    }

    #[test]
    fn nothing_is_told_of_what_touches_and_what_is_just_apart_is_told() {
        let cube = Body::of_points(&cuboid(2.0, 2.0, 2.0), &mut Effort::unlimited()).unwrap();
        let (cosine, sine) = (0.8, 0.6);
        let rotation = Mat3::new(cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0);
        let beside = |gap: f64| {
            let tube = curved(CurvedForm::Cylinder, Vec3::new(0.5, 0.5, 1.0), 0.0);
            let translation = Vec3::new(1.5 + gap, 0.1, 0.2);
            let tube = PlacedBody { body: tube, pose: Pose { rotation, translation } };
            let cube = PlacedBody { body: cube.clone(), pose: Pose::identity() };
            seen(&[tube, cube], 1e-9)
        };
        assert!(beside(0.0).is_none(), "{:?}", beside(0.0));
        for gap in [1e-12, 1e-9, 1e-6, 1e-3] {
            let Some(found) = beside(gap) else {
                assert!(gap < 1e-6, "{gap}");
                continue;
            };
            assert_eq!(found.verdict, Some(Verdict::Separated));
            let [lower, upper] = found.bounds;
            assert!(lower <= gap * 1.001 && gap * 0.999 <= upper, "{gap} {found:?}");
        }
        assert_eq!(beside(-1e-3).unwrap().verdict, Some(Verdict::Overlapping));
        let deep = beside(-1e-13);
        assert!(deep.is_none_or(|deep| deep.verdict == Some(Verdict::Overlapping)), "{deep:?}");
    }
}
