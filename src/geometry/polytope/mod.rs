//! A convex polytope: its extreme points in canonical order, its edges and its facets.
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
//! - so two polytopes with the same vertices are equal in everything else too.

mod box_groups;
mod likeness;
mod measure;
pub mod samples;
pub mod surface;
pub mod validate;

use std::sync::OnceLock;

pub(super) use self::box_groups::BOX_FACES;
use self::box_groups::BoxGroups;
pub use self::likeness::Likeness;
use surface::Surface;

use super::Vec3;
use super::csr::Csr;
use super::effort::{Effort, Stopped};
use super::hierarchy::{Hierarchy, HierarchyReport};
use super::support::Reach;

/// See the module.
#[derive(Clone, Debug)]
pub struct Polytope {
    pub(super) vertices: Vec<Vec3>,
    pub(super) dimension: u8,
    pub(super) neighbours: Csr,
    pub(super) facets: Csr,
    pub(super) affine_basis: arrayvec::ArrayVec<u32, 4>,
    pub(super) volume: f64,
    pub(super) bounds: Bounds,
    pub(super) on_demand: OnDemand,
}

/// What follows from the rest and is built on first use (the hierarchy, what the supporting-vertex
/// search needs, the surface for searches over faces); a new polytope starts with the default.
#[derive(Clone, Debug, Default)]
pub(super) struct OnDemand {
    hierarchy: OnceLock<Hierarchy>,
    reach: OnceLock<Reach>,
    box_groups: OnceLock<BoxGroups>,
    likeness: OnceLock<Likeness>,
    surface: OnceLock<Option<Box<Surface>>>,
}

/// Rounded measures of a polytope in its own frame; every bound is outward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Corner of the bounding box (exact: coordinates of vertices).
    pub low: Vec3,
    /// The opposite corner.
    pub high: Vec3,
    /// Largest absolute coordinate, per axis.
    pub reach: Vec3,
    /// The sum of that, rounded.
    pub span: f64,
    /// A point of the polytope up to rounding: the centre of mass of bodies like ellipsoids, the
    /// mean of the vertices of others.
    pub centre: Vec3,
    /// At least the distance from `centre` to every vertex.
    pub radius: f64,
    /// Of a ball around the body frame's origin that holds the body, rounded up.
    pub radius_at_origin: f64,
    /// Those of an ellipsoid around `centre`, with its axes along the frame's, that holds every
    /// vertex; infinite where f64 gives out.
    pub semi_axes: Vec3,
    /// About the radius of the largest ball around `centre` in the polytope: to search by, not to
    /// prove by.
    pub inner_radius: f64,
    /// Whether the box reaches less far than the ellipsoid in the mean of directions, roughly.
    pub is_boxy: bool,
    /// Whether it fills most of the ellipsoid.
    pub is_ellipsoidal: bool,
}

impl Bounds {
    /// How far the ellipsoid reaches along `g` from the centre, rounded; times the length of `g`.
    #[inline]
    pub fn ellipsoid_along(&self, g: &Vec3) -> f64 {
        g.component_mul(&self.semi_axes).norm()
    }

    /// How far the bounding box reaches along `g` from the centre, rounded; times the length of
    /// `g`.
    #[inline]
    pub fn box_along(&self, g: &Vec3) -> f64 {
        let (up, down) = (self.high - self.centre, self.low - self.centre);
        let farther = |k: usize| {
            let (a, b) = (g[k] * up[k], g[k] * down[k]);
            if a > b { a } else { b }
        };
        (farther(0) + farther(1)) + farther(2)
    }
}

/// How the vertices of a polytope hang together; see the module.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    /// The edge graph.
    pub(super) neighbours: Csr,
    /// The loops of the facets.
    pub(super) facets: Csr,
    /// `dimension + 1` affinely independent vertices.
    pub(super) affine_basis: arrayvec::ArrayVec<u32, 4>,
}

impl Polytope {
    /// The one place where a polytope is made. The caller vouches for the invariants.
    pub(super) fn assemble(vertices: Vec<Vec3>, structure: Structure) -> Self {
        let Structure { mut neighbours, mut facets, affine_basis } = structure;
        neighbours.shrink();
        facets.shrink();
        let dimension = u8::try_from(affine_basis.len()).expect("at most four") - 1;
        debug_assert_eq!(vertices.len(), neighbours.len());
        let volume = if dimension == 3 { measure::volume(&vertices, &facets) } else { 0.0 };
        let bounds = measure::bounds(&vertices, &facets);
        let on_demand = OnDemand::default();
        Self { vertices, dimension, neighbours, facets, affine_basis, volume, bounds, on_demand }
    }

    /// The extreme points, sorted. Indices everywhere refer to this list.
    #[inline]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Vertex `i`.
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

    /// The Dobkin-Kirkpatrick hierarchy; built on first use.
    pub fn hierarchy(&self) -> &Hierarchy {
        let no_limit = &Effort::unlimited();
        let build = || Hierarchy::build(self, no_limit).expect("without a deadline");
        self.on_demand.hierarchy.get_or_init(build)
    }

    /// The figures of the hierarchy. One that nothing has asked for yet is built and dropped again:
    /// a body that is only asked about by default methods never keeps one.
    pub fn hierarchy_report(&self, effort: &Effort<'_>) -> Result<HierarchyReport, Stopped> {
        Ok(match self.on_demand.hierarchy.get() {
            Some(kept) => kept.report(),
            None => Hierarchy::build(self, effort)?.report(),
        })
    }

    /// Memory that it takes beyond its own size when only default methods ask about it: vertices,
    /// both adjacency lists, and what the supporting-vertex search needs.
    pub fn heap_bytes(&self) -> usize {
        let lists = self.neighbours.heap_bytes() + self.facets.heap_bytes();
        size_of_val(self.vertices.as_slice()) + lists + self.reach().bytes()
    }

    /// What the search for supporting vertices needs; built on first use.
    #[inline]
    pub fn reach(&self) -> &Reach {
        let no_limit = || Reach::build(self, &Effort::unlimited()).expect("without a deadline");
        self.on_demand.reach.get_or_init(no_limit)
    }

    /// Builds that, unless the deadline passes meanwhile: of large bodies it takes a while.
    pub fn prepare_reach(&self, effort: &Effort<'_>) -> Result<(), Stopped> {
        if self.on_demand.reach.get().is_none() {
            let built = Reach::build(self, effort)?;
            self.on_demand.reach.get_or_init(|| built);
        }
        Ok(())
    }

    /// The ellipsoid that it is like; fitted on first use, unless the deadline passes meanwhile.
    #[inline]
    pub fn likeness(&self, effort: &Effort<'_>) -> Result<&Likeness, Stopped> {
        match self.on_demand.likeness.get() {
            Some(known) => Ok(known),
            None => self.fit_likeness(effort),
        }
    }

    #[cold]
    #[inline(never)]
    fn fit_likeness(&self, effort: &Effort<'_>) -> Result<&Likeness, Stopped> {
        let fitted = Likeness::of(self, effort)?;
        Ok(self.on_demand.likeness.get_or_init(|| fitted))
    }

    /// The vertices near a face of the bounding box; built on first use.
    pub(super) fn box_group(&self, face: usize) -> &[u32] {
        self.on_demand.box_groups.get_or_init(|| BoxGroups::build(&self.vertices)).group(face)
    }

    /// Its faces with normals and neighbours; built on first use. None for a body that is not
    /// solid.
    pub fn surface(&self) -> Option<&Surface> {
        let built = self.on_demand.surface.get_or_init(|| Surface::build(self).map(Box::new));
        built.as_deref()
    }

    /// Bounding box, reach, centre and radius.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::claim::Question;
    use crate::geometry::distance::{self, Stops};
    use crate::geometry::effort::Effort;
    use crate::geometry::motion::Motion;
    use crate::geometry::pair::Pair;
    use crate::geometry::pose::Pose;
    use crate::geometry::samples::{ball, ellipsoid, zoo};
    use crate::geometry::separation::{self, METHODS};
    use crate::geometry::witness::Witness;
    use crate::geometry::{contact_time, penetration};

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

    /// A body takes a third of what it could, as long as nobody asks for a method by name.
    /// Registering once built the hierarchy and kept it.
    #[test]
    fn default_methods_and_a_report_build_nothing_that_only_named_methods_need() {
        let (p, q) = (ball(300, 1), ball(200, 2));
        for x in [0.0, 1.0, 2.5] {
            let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(x, 0.1, 0.2));
            let (mut witness, effort) = (Witness::default(), &mut Effort::unlimited());
            separation::decide(&pair, &METHODS[0], &mut witness, effort).unwrap();
            distance::measure(&pair, Stops::default(), &mut witness, effort).unwrap();
            penetration::measure(&pair, true, &mut witness, effort).unwrap();
            penetration::along(&pair, &Vec3::x(), &mut witness, effort).unwrap();
            let linear = Motion::Linear { velocity: Vec3::new(-2.0, 0.0, 0.0) };
            let turning = Motion::Screw {
                pivot: None,
                velocity: Vec3::new(-2.0, 0.0, 0.0),
                axis: Vec3::z(),
                angle: 1.0,
            };
            for motion in [linear, turning] {
                let still = Motion::Linear { velocity: Vec3::zeros() };
                let question = Question::new(pair, still, motion);
                contact_time::first_contact(&question, &mut witness, effort).unwrap();
            }
        }
        for body in [&p, &q] {
            let report = body.hierarchy_report(&Effort::unlimited()).unwrap();
            assert!(body.on_demand.hierarchy.get().is_none());
            assert!(body.on_demand.surface.get().is_none());
            assert!(body.on_demand.box_groups.get().is_none());
            assert_eq!(report, body.hierarchy().report());
        }
    }
}
