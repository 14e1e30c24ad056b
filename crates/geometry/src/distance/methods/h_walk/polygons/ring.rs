//! The corners of a polygon, or a point, in coordinates of the plane that it shares with another.

use super::super::nearest::{NearestPoints, nearest};
use crate::difference::bounded::BoundedView;
use crate::hierarchy::Feature;
use crate::number::rounding::gamma;
use crate::pair::Pair;
use crate::polytope::Polytope;
use crate::{Mat3, Vec3};
use arrayvec::ArrayVec;

/// Corners have places, counter-clockwise from 0; any number is one, modulo their count. The edge
/// from a place to the next has the same number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring<'a> {
    body: &'a Polytope,
    /// The body's numbers of the corners, one way round or the other.
    names: &'a [u32],
    is_clockwise: bool,
    /// The axes of the plane in the body's frame, over the size of what is asked about.
    axes: [Vec3; 2],
    /// The body's origin.
    at: [f64; 2],
}

/// The normals of the edges before and after a corner, as seen in a direction: see [`heading`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NormalCone {
    /// That of the edge before, clockwise.
    pub(super) before: f64,
    /// That of the edge after, counter-clockwise.
    pub(super) after: f64,
}

/// What stands for the angle of a vector counter-clockwise from a direction: it grows with it, from
/// -2 to 2, and is ±1 at a right angle.
pub(super) fn heading(of: &Vec3, from: &Vec3) -> f64 {
    let (along, across) = (from.dot(of), cross(from, of));
    let share = across / (along.abs() + across.abs());
    if along >= 0.0 {
        share
    } else if across >= 0.0 {
        2.0 - share
    } else {
        -2.0 - share
    }
}

/// Positive if the second is counter-clockwise of the first, by less than half a turn.
pub(super) fn cross(a: &Vec3, b: &Vec3) -> f64 {
    a.x * b.y - a.y * b.x
}

/// Two polygons, or a polygon and a point, in one plane up to rounding; none of other bodies.
pub(super) fn rings<'a>(view: &BoundedView<'_>, pair: &Pair<'a>) -> Option<[Ring<'a>; 2]> {
    let bodies = [pair.p.body, pair.q.body];
    let rotations = [&pair.p.pose.rotation, &pair.q.pose.rotation];
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    let flat = match bodies.map(|body| body.dimension()) {
        [2, 0 | 2] => 0,
        [0, 2] => 1,
        _ => return None,
    };
    let &[a, b, c] = bodies[flat].affine_basis() else { return None };
    let [a, b, c] = [a, b, c].map(|corner| rotations[flat] * bodies[flat].vertex(corner));
    let from_flat = if flat == 0 { offset } else { -offset };
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    let first = (b - a).try_normalize(0.0)?;
    let tolerance = gamma(64) * view.size();
    let other = 1 - flat;
    let is_in_plane = bodies[other].affine_basis().iter().all(|&corner| {
        let place = rotations[other] * bodies[other].vertex(corner) + from_flat;
        normal.dot(&(place - a)).abs() <= tolerance
    });
    let axes = [first, normal.cross(&first)].map(|axis| axis / view.size());
    let places = [Vec3::zeros(), offset];
    let ring = |k: usize| Ring::new(bodies[k], rotations[k], &places[k], &axes);
    is_in_plane.then(|| [ring(0), ring(1)])
}

impl<'a> Ring<'a> {
    fn new(body: &'a Polytope, rotation: &Mat3, offset: &Vec3, axes: &[Vec3; 2]) -> Self {
        let names = if body.dimension() == 2 { body.facets().row(0) } else { &[0] };
        let at = axes.map(|axis| axis.dot(offset));
        let axes = axes.map(|axis| rotation.tr_mul(&axis));
        let mut ring = Self { body, names, is_clockwise: false, axes, at };
        let third = ring.len() / 3;
        let [a, b, c] = [0, third, 2 * third].map(|place| ring.corner(place));
        ring.is_clockwise = cross(&(b - a), &(c - a)) < 0.0;
        ring
    }

    /// Number of corners, at least one.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The body's number of a corner.
    fn name(&self, place: usize) -> u32 {
        let place = place % self.len();
        self.names[if self.is_clockwise { self.len() - 1 - place } else { place }]
    }

    /// Where a corner is.
    pub(super) fn corner(&self, place: usize) -> Vec3 {
        let local = self.body.vertex(self.name(place));
        let along = |k: usize| self.axes[k].dot(local) + self.at[k];
        Vec3::new(along(0), along(1), 0.0)
    }

    /// The normal of an edge, outwards.
    pub(super) fn normal(&self, edge: usize) -> Vec3 {
        let way = self.corner(edge + 1) - self.corner(edge);
        Vec3::new(way.y, -way.x, 0.0)
    }

    /// The corner before.
    pub(super) fn before(&self, place: usize) -> usize {
        place + self.len() - 1
    }

    /// The normals at a corner, seen in a direction.
    pub(super) fn cone(&self, place: usize, towards: &Vec3) -> NormalCone {
        let seen = |edge: usize| heading(&self.normal(edge), towards);
        NormalCone { before: seen(self.before(place)), after: seen(place) }
    }

    /// The corner at a place.
    pub(super) fn vertex(&self, place: usize) -> Feature {
        Feature::Vertex(u32::try_from(place % self.len()).expect("limited at the door"))
    }

    /// The feature with its place in the ring, whatever number it had.
    pub(super) fn feature(&self, any: Feature) -> Feature {
        let count = u32::try_from(self.len()).expect("limited at the door");
        match any {
            Feature::Edge(place) if count > 1 => Feature::Edge(place % count),
            Feature::Vertex(place) | Feature::Edge(place) | Feature::Face(place) => {
                Feature::Vertex(place % count)
            }
        }
    }

    fn places(feature: Feature) -> ArrayVec<usize, 2> {
        match feature {
            Feature::Edge(place) => ArrayVec::from([place as usize, place as usize + 1]),
            Feature::Vertex(place) | Feature::Face(place) => ArrayVec::from_iter([place as usize]),
        }
    }

    /// Where the corners of a feature are.
    pub(super) fn points(&self, feature: Feature) -> ArrayVec<Vec3, 2> {
        Self::places(feature).into_iter().map(|place| self.corner(place)).collect()
    }

    /// The body's numbers of them.
    pub(super) fn names(&self, feature: Feature) -> ArrayVec<u32, 3> {
        Self::places(feature).into_iter().map(|place| self.name(place)).collect()
    }

    /// Whether no point of the polygon is further along a direction than this one of its feature,
    /// up to rounding: by convexity it is enough to look at what is next to it.
    fn supports(&self, feature: Feature, point: &Vec3, towards: &Vec3) -> bool {
        let tolerance = gamma(64) * towards.norm();
        let is_behind = |place| towards.dot(&(self.corner(place) - point)) <= tolerance;
        match feature {
            Feature::Edge(edge) => towards.dot(&self.normal(edge as usize)) > 0.0,
            Feature::Vertex(place) | Feature::Face(place) => {
                let place = place as usize;
                is_behind(self.before(place)) && is_behind(place + 1)
            }
        }
    }
}

/// The least features that hold the nearest points of two edges or corners, if these are the
/// nearest points of the whole polygons too.
pub(super) fn closest(rings: &[Ring<'_>; 2], features: [Feature; 2]) -> Option<[Feature; 2]> {
    let [p, q] = [0, 1].map(|k| rings[k].points(features[k]));
    let NearestPoints { x, y, of_x, of_y, squared } = nearest(&p, &q)?;
    let held = [(0, of_x), (1, of_y)].map(|(k, corners)| least(&rings[k], features[k], corners));
    let towards = y - x;
    // Edges that cross are nearest inside both; parallel ones at an end of one.
    let is_crossing = of_x == 0b11 && of_y == 0b11;
    let is_closest = squared > 0.0
        && !is_crossing
        && rings[0].supports(held[0], &x, &towards)
        && rings[1].supports(held[1], &y, &-towards);
    is_closest.then_some(held)
}

/// The feature of these corners of an edge.
pub(super) fn least(ring: &Ring<'_>, feature: Feature, corners: u8) -> Feature {
    match feature {
        Feature::Edge(edge) if corners == 0b01 => Feature::Vertex(edge),
        Feature::Edge(edge) if corners == 0b10 => ring.feature(Feature::Vertex(edge + 1)),
        Feature::Edge(_) | Feature::Vertex(_) | Feature::Face(_) => feature,
    }
}
