//! Rounded polytopes: a polytope with a ball around each of its points. Of a point that is a ball,
//! of a segment a capsule. Radii are exact, and so is what is said of them.

use std::f64::consts::PI;
use std::sync::{Arc, OnceLock};

use super::{Figures, KindNames, Outline, polytope};
use crate::digest::{DIGEST_BYTES, begun};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::polytope::Polytope;

/// What the kind is called.
pub(crate) const NAMES: KindNames =
    KindNames { name: "rounded", prefix: "r1-", tag: b"clearance rounded 1\n" };

/// A polytope and the radius of the balls around its points.
#[derive(Clone, Debug)]
pub struct RoundedHull {
    /// The polytope that is rounded.
    pub(crate) core: Arc<Polytope>,
    /// Metres, more than 0.
    pub(crate) radius: f64,
    /// Cubic metres, once it was asked for.
    volume: Arc<OnceLock<f64>>,
}

impl RoundedHull {
    pub(crate) fn new(core: Arc<Polytope>, radius: f64) -> Self {
        Self { core, radius, volume: Arc::default() }
    }
}

/// The digest of the polytope's vertices in their canonical order, then of the radius as a
/// little-endian f64.
pub(crate) fn digest(body: &RoundedHull) -> [u8; DIGEST_BYTES] {
    let mut hasher = begun(NAMES.tag, body.core.vertices());
    hasher.update(&body.radius.to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// Vertices and faces are the polytope's; dimension, volume and box those of the body.
pub(crate) fn outline(body: &RoundedHull) -> Outline {
    let of_core = polytope::outline(&body.core);
    let [low, high] = of_core.bounds;
    let radius = body.radius;
    let bounds = [low.map(|x| -sum_above(-x, radius)), high.map(|x| sum_above(x, radius))];
    let volume = *body.volume.get_or_init(|| volume(&body.core, radius));
    Outline { dimension: 3, volume, bounds, ..of_core }
}

pub(crate) fn figures(body: &RoundedHull, effort: &Effort<'_>) -> Result<Figures, Stopped> {
    polytope::figures(&body.core, effort)
}

/// The least f64 number that is not below the sum.
pub(super) fn sum_above(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let of_b = sum - a;
    // What rounding took away is an f64 number itself.
    let error = (a - (sum - of_b)) + (b - of_b);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// Cubic metres, rounded, by Steiner's formula: the polytope, a prism on each face, a wedge at each
/// edge, and the wedges of balls at all vertices together make one ball.
fn volume(core: &Polytope, radius: f64) -> f64 {
    let point = |vertex: u32| core.vertices()[vertex as usize];
    let (mut area, mut wedges) = (0.0, 0.0);
    match core.dimension() {
        0 => {}
        1 => wedges = (point(1) - point(0)).norm() * 2.0 * PI,
        _ => {
            let mut edges = Vec::new();
            let facets = core.facets();
            let normals: Vec<Vec3> = facets.rows().map(|corners| normal(corners, &point)).collect();
            for (facet, corners) in facets.rows().enumerate() {
                area += normals[facet].norm();
                let next = corners.iter().cycle().skip(1);
                edges.extend(corners.iter().zip(next).map(|(a, b)| (a.min(b), a.max(b), facet)));
            }
            edges.sort_unstable();
            for side in edges.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
                let angle = match *side {
                    [(_, _, one), (_, _, other)] => normals[one].angle(&normals[other]),
                    // The only facet of a flat polygon, which has two sides.
                    _ => PI,
                };
                wedges += (point(*side[0].0) - point(*side[0].1)).norm() * angle;
            }
            if core.dimension() == 2 {
                area *= 2.0;
            }
        }
    }
    let ball = 4.0 / 3.0 * PI * radius;
    let volume = core.volume() + radius * (area + radius * (wedges / 2.0 + ball));
    if volume.is_finite() { volume } else { f64::MAX }
}

/// Along the normal of a facet, as long as its area.
fn normal(corners: &[u32], point: &impl Fn(u32) -> Vec3) -> Vec3 {
    let [first, rest @ ..] = corners else { return Vec3::zeros() };
    let from_first = |vertex: u32| point(vertex) - point(*first);
    let triangles = rest.array_windows().map(|[b, c]| from_first(*b).cross(&from_first(*c)));
    triangles.sum::<Vec3>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Body;

    fn rounded(points: &[[f64; 3]], radius: f64) -> Body {
        let points: Vec<Vec3> = points.iter().map(|&point| Vec3::from(point)).collect();
        Body::of_rounded_points(&points, radius, &mut Effort::unlimited()).unwrap()
    }

    #[test]
    fn volumes_are_those_of_the_formulas_for_each_dimension() {
        let square = [[0., 0., 0.], [2., 0., 0.], [0., 3., 0.], [2., 3., 0.]];
        let cuboid = [0.0, 4.0].map(|z| square.map(|[x, y, _]| [x, y, z]));
        let ball = 4.0 / 3.0 * PI * 0.125;
        for (points, volume) in [
            (&square[..1], ball),
            (&square[..2], ball + PI * 0.25 * 2.0),
            (&square[..], ball + 6.0 + PI / 2.0 * 0.25 * 10.0),
            // Six faces, and a quarter of a cylinder at each of the twelve edges.
            (cuboid.as_flattened(), ball + 24.0 + 26.0 + PI * 0.25 * 9.0),
        ] {
            let found = rounded(points, 0.5).outline();
            assert!((found.volume - volume).abs() < 1e-12 * volume, "{} {volume}", found.volume);
            assert_eq!(found.dimension, 3);
        }
    }

    #[test]
    fn the_box_holds_the_body_and_is_not_widened_where_sums_are_exact() {
        let exact = rounded(&[[1., 2., 3.]], 0.5).outline().bounds;
        assert_eq!(exact, [Vec3::new(0.5, 1.5, 2.5), Vec3::new(1.5, 2.5, 3.5)]);
        let [low, high] = rounded(&[[1., -1., 0.]], 1e-20).outline().bounds;
        assert_eq!(low, Vec3::new(1f64.next_down(), (-1f64).next_down(), -1e-20));
        assert_eq!(high, Vec3::new(1f64.next_up(), (-1f64).next_up(), 1e-20));
        let largest = rounded(&[[2f64.powi(960); 3]], 2f64.powi(960)).outline();
        assert!(largest.volume.is_finite() && largest.bounds[1].x.is_finite());
    }

    #[test]
    fn the_id_depends_on_the_radius_and_without_one_is_the_polytopes() {
        let points = [[0., 0., 0.], [1., 0., 0.]];
        let [thin, thick] = [0.5, 0.5f64.next_up()].map(|radius| rounded(&points, radius).id());
        assert_ne!(thin, thick);
        let mut bytes = b"clearance rounded 1\n".to_vec();
        bytes.extend(2_u64.to_le_bytes());
        let coordinates = points.as_flattened().iter().chain(&[0.5]);
        bytes.extend(coordinates.flat_map(|number| number.to_le_bytes()));
        assert_eq!(thin.digest(), blake3::hash(&bytes).as_bytes());
        assert!(thin.to_string().starts_with("r1-"));
        assert_eq!(thin.to_string().parse(), Ok(thin));
        for none in [0.0, -0.0] {
            let points = points.map(Vec3::from);
            let polytope = Body::of_points(&points, &mut Effort::unlimited()).unwrap();
            assert_eq!(rounded(&points.map(Into::into), none).id(), polytope.id());
        }
    }
}
