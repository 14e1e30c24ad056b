//! The facets of the hull: planes that bound it, and whether a mesh lies in them.

use super::super::canonical;
use super::frame::UnitFrame;
use crate::Vec3;
use crate::csr::Csr;
use crate::effort::{Effort, Stopped};
use crate::number::orientation::{Plane, Side, Turn, projection_axis, side_of_plane, turn};
use crate::number::rounding::{BOUND_SLACK, OUTWARD, gamma, length, unit};
use crate::polytope::Polytope;
use crate::support::{likely_vertex, supporting_vertex};

/// Facets that are looked at for one triangle, at most: at a corner of more of them the triangle
/// counts as lying in none.
const FACETS_OF_ONE: usize = 64;

/// Steps from the middle of the corners to a large ball.
const STEPS_INWARD: u32 = 24;

/// See the module.
pub(in crate::polyhedron) struct HullFacets<'a> {
    hull: &'a Polytope,
    /// The vertices in the frame.
    pub(in crate::polyhedron) corners: &'a [Vec3],
    /// For each facet a unit vector that is about its normal, and at least how far the hull reaches
    /// along it, in the frame.
    pub(in crate::polyhedron) planes: Vec<(Vec3, f64)>,
    /// The facets of each vertex, ascending.
    of_vertex: Csr,
    walls: Vec<Wall>,
    frame: UnitFrame,
}

/// The plane of a facet in the world.
struct Wall {
    plane: Plane,
    /// At least the length of the plane's normal.
    normal_at_most: f64,
}

/// A ball in the hull, in the frame.
#[derive(Clone, Copy, Debug)]
pub(in crate::polyhedron) struct Inner {
    /// Its middle.
    pub(in crate::polyhedron) middle: Vec3,
    /// At most its radius; negative if the middle may be outside.
    pub(in crate::polyhedron) radius: f64,
}

impl<'a> HullFacets<'a> {
    /// Of a hull that is solid.
    pub(in crate::polyhedron) fn new(
        hull: &'a Polytope,
        corners: &'a [Vec3],
        frame: UnitFrame,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        let mut planes = Vec::with_capacity(hull.facets().len());
        let mut facets_of = vec![Vec::new(); corners.len()];
        for (facet, row) in (0..).zip(hull.facets().rows()) {
            effort.look_at_clock()?;
            let [a, b, c] = spread(row).map(|i| &corners[i as usize]);
            let normal = unit(&(b - a).cross(&(c - a))).unwrap_or(Vec3::x());
            let farthest = supporting_vertex(hull, &normal, Some(row[0]), effort);
            planes.push((normal, normal.dot(&corners[farthest as usize]) + BOUND_SLACK));
            row.iter().for_each(|corner| facets_of[*corner as usize].push(facet));
        }
        let rows = hull.facets().rows();
        let walls = rows.map(|row| Wall::through(spread(row).map(|i| hull.vertex(i)))).collect();
        Ok(Self { hull, corners, planes, of_vertex: Csr::from_rows(facets_of), walls, frame })
    }

    /// A facet as triangles, by their corners.
    fn fan(&self, facet: u32) -> impl Iterator<Item = [u32; 3]> + '_ {
        let row = self.hull.facets().row(facet);
        row[1..].windows(2).map(|pair| [row[0], pair[0], pair[1]])
    }

    /// All facets as triangles, by their corners.
    pub(in crate::polyhedron) fn triangles(&self) -> Vec<[u32; 3]> {
        (0..).take(self.planes.len()).flat_map(|facet| self.fan(facet)).collect()
    }

    fn placed(&self, fan: [u32; 3]) -> [Vec3; 3] {
        fan.map(|corner| self.corners[corner as usize])
    }

    /// Six times the volume of the hull in the frame, rounded.
    pub(in crate::polyhedron) fn six_volumes(&self) -> f64 {
        let triangles = self.triangles().into_iter().map(|fan| self.placed(fan));
        triangles.map(|[a, b, c]| a.dot(&b.cross(&c))).sum()
    }

    /// How wide the hull is at most across the facet with the largest area.
    pub(in crate::polyhedron) fn width(&self) -> f64 {
        let area = |facet: u32| -> f64 {
            let triangles = self.fan(facet).map(|fan| self.placed(fan));
            triangles.map(|[a, b, c]| (b - a).cross(&(c - a)).norm()).sum()
        };
        let facets = (0..).zip(&self.planes).map(|(facet, plane)| (area(facet), plane));
        let largest = facets.max_by(|a, b| a.0.total_cmp(&b.0));
        largest.map_or(f64::INFINITY, |(_, (normal, height))| {
            let lowest = self.corners.iter().map(|p| normal.dot(p)).fold(f64::INFINITY, f64::min);
            height - lowest + BOUND_SLACK
        })
    }

    /// Three corners of a facet in the world.
    fn world(&self, facet: u32) -> [&Vec3; 3] {
        spread(self.hull.facets().row(facet)).map(|i| self.hull.vertex(i))
    }

    /// The facets of a vertex.
    pub(in crate::polyhedron) fn of_vertex(&self, vertex: u32) -> &[u32] {
        self.of_vertex.row(vertex)
    }

    /// Whether all triangles lie in facets of the hull, wound the same way. A triangle without area
    /// has to lie in a facet, too. Exact; but now and then it says no of a triangle that does.
    pub(in crate::polyhedron) fn hold_all(
        &self,
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let known: Vec<Option<u32>> =
            vertices.iter().map(|v| canonical::index_of(self.hull.vertices(), v)).collect();
        let mut way = Turn::Straight;
        for triangle in triangles {
            effort.spend_step()?;
            let places = triangle.map(|i| known[i as usize]);
            let points = triangle.map(|i| &vertices[i as usize]);
            let candidates = self.candidates(places, points, effort);
            let found = candidates.iter().find_map(|facet| self.turned(*facet, places, points));
            match (found, way) {
                (None, _) => return Ok(false),
                (Some(Turn::Straight), _) => {}
                (Some(turned), Turn::Straight) => way = turned,
                (Some(turned), _) if turned == way => {}
                (Some(_), _) => return Ok(false),
            }
        }
        Ok(way != Turn::Straight)
    }

    /// Facets that a triangle may lie in: those of the corner that has the fewest.
    fn candidates(
        &self,
        places: [Option<u32>; 3],
        [a, b, c]: [&Vec3; 3],
        effort: &mut Effort<'_>,
    ) -> &[u32] {
        let rows = places.into_iter().flatten().map(|vertex| self.of_vertex.row(vertex));
        let row = rows.min_by_key(|row| row.len()).unwrap_or_else(|| {
            let normal = (b - a).cross(&(c - a));
            self.of_vertex.row(likely_vertex(self.hull, &normal, None, effort))
        });
        &row[..row.len().min(FACETS_OF_ONE)]
    }

    /// How a triangle that lies in a facet is wound: left as the facet is, right the other way,
    /// straight without area. None if it does not lie in the facet.
    fn turned(&self, facet: u32, places: [Option<u32>; 3], points: [&Vec3; 3]) -> Option<Turn> {
        let [a, b, c] = self.world(facet);
        let is_in_plane = |k: usize| {
            let is_corner = |vertex| self.of_vertex.row(vertex).binary_search(&facet).is_ok();
            places[k].is_some_and(is_corner) || side_of_plane(a, b, c, points[k]) == Side::On
        };
        if !(0..3).all(is_in_plane) {
            return None;
        }
        let axis = projection_axis(a, b, c)?;
        let [x, y, z] = points;
        Some(match (turn(axis, a, b, c), turn(axis, x, y, z)) {
            (_, Turn::Straight) => Turn::Straight,
            (of_facet, turned) if of_facet == turned => Turn::Left,
            (_, Turn::Left | Turn::Right) => Turn::Right,
        })
    }

    /// How near a triangle, in the frame, is to the plane of a facet: at most how far the hull
    /// stands out beyond the lowest of its corners.
    pub(in crate::polyhedron) fn depth(
        &self,
        triangle: &[Vec3; 3],
        effort: &mut Effort<'_>,
    ) -> f64 {
        let [a, b, c] = triangle;
        let below = |facet: u32| {
            let (normal, height) = self.planes[facet as usize];
            let lowest = triangle.iter().map(|p| normal.dot(p)).fold(f64::INFINITY, f64::min);
            height - lowest
        };
        let normal = (b - a).cross(&(c - a));
        let least = |normal: Vec3, effort: &mut Effort<'_>| {
            let row = self.of_vertex.row(likely_vertex(self.hull, &normal, None, effort));
            let row = &row[..row.len().min(FACETS_OF_ONE)];
            row.iter().map(|facet| below(*facet)).fold(f64::INFINITY, f64::min)
        };
        let outward = if normal.dot(&(a + b + c)) < 0.0 { -normal } else { normal };
        least(outward, effort).min(least(a + b + c, effort))
    }

    /// A large ball in the hull: from the mean of the corners, away from the nearest facet, in ever
    /// shorter steps.
    pub(in crate::polyhedron) fn deepest(&self, effort: &Effort<'_>) -> Result<Inner, Stopped> {
        let sum: Vec3 = self.corners.iter().sum();
        let mut at = sum / self.corners.len() as f64;
        let (mut best, mut nearest) = self.ball(&at);
        for step in 1..STEPS_INWARD {
            effort.look_at_clock()?;
            at -= self.planes[nearest].0 * (best.radius.max(0.0) / f64::from(step));
            let (ball, facet) = self.ball(&at);
            nearest = facet;
            if ball.radius > best.radius {
                best = ball;
            }
        }
        Ok(best)
    }

    /// The greatest ball in the hull around an f64 point of the world near a point of the frame,
    /// and the facet that is nearest to it.
    pub(in crate::polyhedron) fn ball(&self, near: &Vec3) -> (Inner, usize) {
        let world = self.frame.outward(near);
        let (mut radius, mut nearest) = (f64::INFINITY, 0);
        for (facet, wall) in self.walls.iter().enumerate() {
            let (value, error) = wall.plane.value(&world);
            let distance = (-value - error) / wall.normal_at_most;
            // Not a number where something overflows: nothing is known then.
            let distance = if distance.is_nan() { f64::NEG_INFINITY } else { distance };
            if distance < radius {
                (radius, nearest) = (distance, facet);
            }
        }
        let radius = self.frame.length_inward(radius / OUTWARD) - BOUND_SLACK;
        (Inner { middle: self.frame.inward(&world), radius }, nearest)
    }
}

impl Wall {
    fn through([a, b, c]: [&Vec3; 3]) -> Self {
        let (e, f) = (b - a, c - a);
        // Each component of the cross product errs by a few roundings of the product of lengths.
        let error = gamma(16) * length(&e) * length(&f);
        Self { plane: Plane::through(a, b, c), normal_at_most: length(&e.cross(&f)) + error }
    }
}

/// Three corners of a facet, as far from each other along its loop as they can be.
fn spread(row: &[u32]) -> [u32; 3] {
    [row[0], row[row.len() / 3], row[2 * row.len() / 3]]
}
