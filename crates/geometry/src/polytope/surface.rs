//! The surface of a solid for searches that walk over faces: unit normals, which edges bound a
//! face, which faces meet at an edge, and points that are certainly inside.
//!
//! Faces are the facets of the polytope, coplanar ones merged; so neighbours have different
//! normals. Normals and points are rounded: for searching, never for a proof.

use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::hierarchy::LayerFeatures;
use crate::number::scale::PowerOfTwo;
use crate::shape::Shape;

/// See the module.
#[derive(Clone, Debug)]
pub struct Surface {
    incidence: LayerFeatures,
    normals: Vec<Vec3>,
    inner: [Inner; 2],
}

/// A point inside a solid as a mean of four of its vertices.
#[derive(Clone, Copy, Debug)]
pub struct Inner {
    /// Where it is, in the body's frame.
    pub point: Vec3,
    /// The vertices and their weights, positive with sum one.
    pub weights: [(u32, f64); 4],
}

/// How far the inner points are from the mean of the vertices, as a part of the way to the surface:
/// near enough to be as good as that mean, far enough that the symmetries of a body do not lead
/// every ray from its middle through an edge or a vertex.
const ASIDE: f64 = 0.0617;
/// Where they lie in the tetrahedron around the mean: each with the sum one, without a pattern.
const MIXES: [[f64; 4]; 2] = [[0.5231, 0.2719, 0.1367, 0.0683], [0.0711, 0.1973, 0.3129, 0.4187]];

impl Surface {
    /// None for a body that is not solid, or whose inside gets lost in rounding. Of a large one it
    /// takes a while: not beyond the deadline.
    pub(super) fn build(body: &Shape, effort: &Effort<'_>) -> Result<Option<Self>, Stopped> {
        if body.dimension() < 3 {
            return Ok(None);
        }
        let scale = PowerOfTwo::that_tames(body.vertices());
        let scaled = |v: &Vec3| tamed(scale, v);
        let points: Vec<Vec3> = body.vertices().iter().map(scaled).collect();
        effort.look_at_clock()?;
        let normals: Vec<Vec3> =
            body.facets().rows().map(|corners| unit_normal(&points, corners)).collect();
        effort.look_at_clock()?;
        let centre = scaled(&body.bounds().centre);
        let Some(around) = tetrahedron_around(body, &points, &normals, &centre) else {
            return Ok(None);
        };
        let inner = MIXES.map(|mix| {
            let weights: [(u32, f64); 4] = std::array::from_fn(|k| {
                let (vertex, weight) = around[k];
                (vertex, (1.0 - ASIDE) * weight + ASIDE * mix[k])
            });
            Inner { point: weighted_mean(body, &weights), weights }
        });
        let incidence = LayerFeatures::of_body(body, effort)?;
        Ok(Some(Self { incidence, normals, inner }))
    }

    /// Edges and what they join; faces are numbered like the facets of the polytope.
    #[inline]
    pub fn incidence(&self) -> &LayerFeatures {
        &self.incidence
    }

    /// Unit outward normals of the faces.
    #[inline]
    pub fn normal(&self, face: u32) -> &Vec3 {
        &self.normals[face as usize]
    }

    /// Number of faces.
    pub fn face_count(&self) -> u32 {
        u32::try_from(self.normals.len()).expect("fewer than 2^32 faces")
    }

    /// Two distinct points well inside.
    pub fn inner(&self) -> &[Inner; 2] {
        &self.inner
    }

    /// The face on the other side of an edge.
    #[inline]
    pub fn across(&self, edge: u32, face: u32) -> Option<u32> {
        self.incidence.faces_at(edge).find(|&other| other != face)
    }

    /// Memory that it takes, bytes, estimated: of a body with so many edges and faces.
    pub fn memory_bytes(edges: usize, faces: usize) -> usize {
        // Ends and faces of an edge, its number at both ends and in both faces, and three row
        // starts.
        let incidence = 4 * (4 * edges + 4 * edges + 2 * faces + edges);
        incidence + size_of::<Vec3>() * faces + size_of::<Self>()
    }
}

fn tamed(scale: Option<PowerOfTwo>, v: &Vec3) -> Vec3 {
    scale.map_or(*v, |scale| v.map(|x| scale.times(x)))
}

/// The point that the weights name, in the body's own unit.
pub fn weighted_mean(body: &Shape, weights: &[(u32, f64)]) -> Vec3 {
    let base = *body.vertex(weights[0].0);
    weights.iter().fold(base, |sum, &(vertex, weight)| sum + (body.vertex(vertex) - base) * weight)
}

/// By the area of the whole loop, which a short side at one corner does not spoil.
fn unit_normal(points: &[Vec3], corners: &[u32]) -> Vec3 {
    let at = |corner: u32| points[corner as usize];
    let base = at(corners[0]);
    let to = |corner: u32| at(corner) - base;
    let area = corners[1..]
        .windows(2)
        .fold(Vec3::zeros(), |sum, side| sum + to(side[0]).cross(&to(side[1])));
    area / area.norm()
}

/// The centre as a mean of four vertices: on the segment from the farthest vertex to the face
/// opposite.
fn tetrahedron_around(
    body: &Shape,
    points: &[Vec3],
    normals: &[Vec3],
    centre: &Vec3,
) -> Option<[(u32, f64); 4]> {
    let far = |v: &Vec3| (v - centre).norm_squared();
    let (apex, _) = (0u32..).zip(points).max_by(|a, b| far(a.1).total_cmp(&far(b.1)))?;
    let away = centre - points[apex as usize];
    let mut nearest: Option<(f64, u32)> = None;
    for (face, normal) in (0u32..).zip(normals) {
        let corner = &points[body.facets().row(face)[0] as usize];
        let (rate, height) = (normal.dot(&away), normal.dot(&(corner - centre)));
        let distance = height / rate;
        if rate > 0.0 && height > 0.0 && nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, face));
        }
    }
    let (distance, face) = nearest?;
    let corners = body.facets().row(face).iter().map(|&v| (v, points[v as usize] - centre));
    let [a, b, c] = triangle_on_line(&away, &corners.collect::<Vec<_>>())?;
    // centre = (x + distance * apex) / (1 + distance), where x is on the face.
    let part = 1.0 / (1.0 + distance);
    let weights =
        [(apex, distance * part), (a.0, a.1 * part), (b.0, b.1 * part), (c.0, c.1 * part)];
    weights.iter().all(|(_, weight)| weight.is_finite()).then_some(weights)
}

/// By how much a barycentric coordinate may fall short of zero through rounding.
const SHORT: f64 = 1.0 / (1u64 << 40) as f64;

/// Through which triangle of a convex polygon, a fan from its first corner, the line through the
/// origin passes, with the barycentric coordinates of the place; none if it passes outside. The
/// corners go around in either sense.
///
/// Choi, Li, Wang, Cameron, *Collision Detection of Convex Polyhedra Based on Duality
/// Transformation*, §6.
pub fn triangle_on_line<K: Copy>(line: &Vec3, corners: &[(K, Vec3)]) -> Option<[(K, f64); 3]> {
    let (base, rest) = corners.split_first()?;
    let mut best: Option<(f64, [(K, f64); 3])> = None;
    for side in rest.windows(2) {
        let (b, c) = (&side[0], &side[1]);
        let parts = [
            line.dot(&b.1.cross(&c.1)),
            line.dot(&c.1.cross(&base.1)),
            line.dot(&base.1.cross(&b.1)),
        ];
        let sum = parts[0] + parts[1] + parts[2];
        let weights = parts.map(|part| part / sum);
        let least = weights[0].min(weights[1]).min(weights[2]);
        // A triangle that the line's direction lies in has no sum, and NaN is not larger.
        if weights.iter().all(|w| w.is_finite()) && best.is_none_or(|(known, _)| least > known) {
            best = Some((least, [(base.0, weights[0]), (b.0, weights[1]), (c.0, weights[2])]));
        }
    }
    let (least, triangle) = best?;
    (least >= -SHORT).then(|| triangle.map(|(key, weight)| (key, weight.max(0.0))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Random, zoo};

    #[test]
    fn normals_face_outwards_and_inner_points_are_strictly_inside() {
        let mut solids = 0;
        for (name, body) in zoo() {
            let Some(surface) = body.surface() else {
                assert!(body.dimension() < 3, "{name}");
                continue;
            };
            solids += 1;
            let size = body.bounds().radius;
            let [one, other] = surface.inner();
            if size > 1e-300 {
                assert_ne!(one.point, other.point, "{name}");
            }
            for (face, corners) in (0u32..).zip(body.facets().rows()) {
                let normal = surface.normal(face);
                assert!((normal.norm() - 1.0).abs() < 1e-12, "{name}");
                let base = body.vertex(corners[0]);
                let height = |x: &Vec3| normal.dot(&((x - base) / size));
                assert!(height(&one.point) < 0.0 && height(&other.point) < 0.0, "{name}");
                assert!(corners.iter().all(|&v| height(body.vertex(v)).abs() < 1e-9), "{name}");
                for &edge in surface.incidence().edges_of(face) {
                    let across = surface.across(edge, face).unwrap();
                    assert_eq!(surface.across(edge, across), Some(face), "{name}");
                    let left = surface.incidence().faces_at(edge).next().unwrap();
                    let [a, b] = surface.incidence().ends(edge);
                    let along = (body.vertex(b) - body.vertex(a)) / size;
                    let turned = surface
                        .normal(left)
                        .cross(surface.normal(surface.across(edge, left).unwrap()));
                    assert!(turned.dot(&along) > 0.0, "{name}: the left face comes first");
                }
            }
            for inner in [one, other] {
                let sum: f64 = inner.weights.iter().map(|(_, weight)| weight).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{name}");
                assert!(inner.weights.iter().all(|(_, weight)| *weight > 0.0), "{name}");
            }
        }
        assert!(solids > 10);
    }

    #[test]
    fn a_line_finds_the_triangle_that_it_passes_and_misses_a_polygon_beside_it() {
        let mut random = Random(5);
        let square = [(0, 1.0, 1.0), (1, -1.0, 1.0), (2, -1.0, -1.0), (3, 1.0, -1.0)];
        let mut counts = [0; 2];
        for round in 0..500 {
            let line = Vec3::new(random.signed() * 1.5, random.signed() * 1.5, 1.0);
            let mut corners = square.map(|(key, x, y)| (key, Vec3::new(x, y, 1.0)));
            if round % 2 == 0 {
                corners.reverse();
            }
            let found = triangle_on_line(&line, &corners);
            assert_eq!(found.is_some(), line.x.abs() < 1.0 && line.y.abs() < 1.0);
            counts[usize::from(found.is_some())] += 1;
            let Some(triangle) = found else { continue };
            let corner = |key: i32| corners.iter().find(|(k, _)| *k == key).unwrap().1;
            let place: Vec3 = triangle.iter().map(|&(key, weight)| corner(key) * weight).sum();
            assert!((place - line).norm() < 1e-12);
        }
        assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
    }
}
