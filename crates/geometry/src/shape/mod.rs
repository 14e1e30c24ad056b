//! The shape of a convex polytope: its extreme points in canonical order, its edges, its facets and
//! its bounds.
//!
//! Immutable once built. Only [`super::hull`] builds one, so the invariants below hold for every
//! value of the type; `validate` proves them from scratch for the tests.
//!
//! - the vertices are exactly the extreme points, without duplicates, `-0` stored as `+0`, sorted
//!   by x, then y, then z;
//! - `neighbours` is the edge graph of the polytope (coplanar facets merged), so a vertex that no
//!   neighbour beats along a direction is a supporting vertex. The neighbours of a solid's vertex
//!   stand counter-clockwise seen from outside, the lowest index first; the two of a polygon's
//!   vertex ascending; the ends of a segment have each other; a point has none;
//! - facets of a solid are convex vertex loops, counter-clockwise seen from outside, each with its
//!   lowest index first, and sorted. A polygon has one loop, counter-clockwise about the normal
//!   whose first non-zero component is positive, lowest index first;
//! - so two shapes with the same vertices are equal in everything else too.

mod bounds;
pub mod extent;
mod measure;
pub mod validate;

pub use bounds::Bounds;

use super::Vec3;
use super::csr::Csr;

/// See the module.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(super) vertices: Vec<Vec3>,
    pub(super) dimension: u8,
    pub(super) neighbours: Csr,
    pub(super) facets: Csr,
    pub(super) affine_basis: arrayvec::ArrayVec<u32, 4>,
    pub(super) volume: f64,
    pub(super) bounds: Bounds,
}

/// How the vertices of a shape hang together; see the module.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    /// The edge graph.
    pub(super) neighbours: Csr,
    /// The loops of the facets.
    pub(super) facets: Csr,
    /// `dimension + 1` affinely independent vertices.
    pub(super) affine_basis: arrayvec::ArrayVec<u32, 4>,
}

impl Shape {
    /// The one place where a shape is made. The caller vouches for the invariants.
    pub(crate) fn assemble(vertices: Vec<Vec3>, structure: Structure) -> Self {
        let Structure { mut neighbours, mut facets, affine_basis } = structure;
        neighbours.shrink();
        facets.shrink();
        let dimension = u8::try_from(affine_basis.len()).expect("at most four") - 1;
        debug_assert_eq!(vertices.len(), neighbours.len());
        let volume = if dimension == 3 { measure::volume(&vertices, &facets) } else { 0.0 };
        let bounds = measure::bounds(&vertices, &facets);
        Self { vertices, dimension, neighbours, facets, affine_basis, volume, bounds }
    }

    /// The extreme points, sorted. Indices everywhere refer to this list.
    #[inline]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Where vertex `i` is, in the frame of the body.
    #[inline]
    pub fn vertex(&self, i: u32) -> &Vec3 {
        &self.vertices[i as usize]
    }

    /// Number of vertices, at least one.
    #[inline]
    pub fn vertex_count(&self) -> u32 {
        u32::try_from(self.vertices.len()).expect("limited at the door")
    }

    /// Affine dimension: 0 a point, 1 a segment, 2 a flat polygon, 3 a solid.
    pub fn dimension(&self) -> u8 {
        self.dimension
    }

    /// The vertices that share an edge with vertex `i`.
    #[inline]
    pub fn neighbours(&self, i: u32) -> &[u32] {
        self.neighbours.row(i)
    }

    /// Seen from outside, the vertices of the facet on the left of the edge `from`–`to`, from `to`
    /// on up to the one before `from`. A polygon is on the left of its edges either way.
    pub fn along_facet(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let (mut last, mut next) = (from, to);
        // No facet has a vertex twice, so it comes back to where it started.
        std::iter::from_fn(move || {
            let here = next;
            let ring = self.neighbours(here);
            let back = ring.iter().position(|vertex| *vertex == last)?;
            // Counter-clockwise around a vertex is clockwise along the facet.
            next = ring[(back + ring.len() - 1) % ring.len()];
            last = here;
            (here != from).then_some(here)
        })
    }

    /// Vertex loops of the facets (dimension 3), the polygon itself (2), else none.
    pub fn facets(&self) -> &Csr {
        &self.facets
    }

    /// `dimension + 1` affinely independent vertices.
    pub fn affine_basis(&self) -> &[u32] {
        &self.affine_basis
    }

    /// Volume in cubic metres, rounded; 0 below dimension 3.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Bounding box, reach, centre and radius.
    #[inline]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polytope::Polytope;
    use crate::samples::{ellipsoid, zoo};

    #[test]
    fn from_any_edge_the_facet_on_its_left_is_walked_to_its_end() {
        for (name, body) in zoo() {
            for facet in body.facets().rows() {
                for start in 0..facet.len() {
                    let mut turned = facet.to_vec();
                    turned.rotate_left(start);
                    let walked: Vec<u32> = body.along_facet(turned[0], turned[1]).collect();
                    assert_eq!(walked, turned[1..], "{name}");
                }
            }
        }
    }

    /// The mean of an ellipsoid's vertices is off its middle by some hundredths, as chance has it.
    #[test]
    fn the_centre_is_that_of_mass_of_ellipsoids_and_of_others_the_mean_of_the_vertices() {
        let mean =
            |body: &Polytope| body.vertices().iter().sum::<Vec3>() / f64::from(body.vertex_count());
        for seed in 1..6 {
            let body = ellipsoid(200, [1.0, 0.5, 0.2], seed);
            let off = |point: Vec3| point.component_div(&Vec3::new(1.0, 0.5, 0.2)).norm();
            let (centre, mean) = (off(body.bounds().centre), off(mean(&body)));
            assert!(
                body.bounds().is_ellipsoidal && centre < 0.03 && mean > centre,
                "{seed}: {centre} {mean}"
            );
        }
        for (name, body) in zoo() {
            let bounds = body.bounds();
            let is_inside = (0..3).all(|k| bounds.low[k] <= bounds.centre[k])
                && (0..3).all(|k| bounds.centre[k] <= bounds.high[k]);
            assert!(is_inside, "{name}");
            let is_mean = (bounds.centre - mean(&body)).amax() <= 1e-12 * bounds.span;
            assert!(is_mean || bounds.is_ellipsoidal, "{name}");
        }
    }
}
