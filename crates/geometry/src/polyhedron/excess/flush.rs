//! Where a hull is flush with a closed mesh: what of the hull is near a point lies in what the mesh
//! winds around, but for what is hardly farther from it than nothing.
//!
//! A hull often has facets in faces of the mesh. Pieces of the hull along them would have to be as
//! small as what is asked of the bracket. But if no triangle within a ball reaches more than ε into
//! the hull, the part of the hull in the ball that is deeper than ε is convex and meets no
//! triangle: the mesh winds around all of it or around none. Let the hull have a ball of radius ρ
//! around a point of that part. Every other point of the hull in the ball, moved towards that point
//! by ε/ρ of the way, is deeper than ε as well: so it is no farther from that part than this way.

use std::cell::RefCell;

use super::facets::{HullFacets, Inner};
use super::surface::MeshSurface;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::BOUND_SLACK;
use crate::number::tolerance::FLUSH_REACH;

/// See the module.
pub(super) struct Flush<'a> {
    facets: &'a HullFacets<'a>,
    surface: &'a MeshSurface,
    /// A ball in the hull.
    deep: Inner,
    /// Whether a triangle hardly reaches into the hull, once that was asked.
    known: RefCell<Vec<Option<bool>>>,
}

impl<'a> Flush<'a> {
    /// Of a hull beside a closed mesh; none if nothing is known of the inside of the hull.
    pub(super) fn new(
        facets: &'a HullFacets<'a>,
        surface: &'a MeshSurface,
        effort: &Effort<'_>,
    ) -> Result<Option<Self>, Stopped> {
        let deep = facets.deepest(effort)?;
        let known = RefCell::new(vec![None; surface.triangles().len()]);
        Ok((deep.radius > FLUSH_REACH).then_some(Self { facets, surface, deep, known }))
    }

    /// At least how far any point of the hull within a ball is from what the mesh winds around;
    /// none if that is not known to be little. The middle is of the hull.
    pub(super) fn at_most(
        &self,
        middle: &Vec3,
        radius: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<f64>, Stopped> {
        let away = (self.deep.middle - middle).norm();
        // The point moves inwards by no more than the radius.
        let share = (radius / away.max(f64::MIN_POSITIVE)).min(0.5);
        let inside = middle + (self.deep.middle - middle) * share;
        let clearance = share * self.deep.radius - 2.0 * BOUND_SLACK;
        let most = 2.0 * radius * (2.0 * FLUSH_REACH / clearance) + BOUND_SLACK;
        // Written so that a clearance that is nothing is in it.
        let is_little = clearance > 4.0 * FLUSH_REACH && most < 0.5 * radius;
        if !is_little || !self.are_flush(middle, radius, effort)? {
            return Ok(None);
        }
        Ok((self.surface.winding(&inside, effort)? != 0).then_some(most))
    }

    /// Whether along the normal of some facet all of a triangle is as far out as the hull, nearly.
    fn hardly_reaches(&self, triangle: &[Vec3; 3], effort: &mut Effort<'_>) -> bool {
        let is_beyond = |(normal, height): &(Vec3, f64)| {
            triangle.iter().all(|p| height - normal.dot(p) + BOUND_SLACK <= FLUSH_REACH)
        };
        self.facets.depth(triangle, effort) + BOUND_SLACK <= FLUSH_REACH
            || self.facets.planes.iter().any(is_beyond)
    }

    /// Whether all triangles in a ball hardly reach into the hull.
    fn are_flush(
        &self,
        middle: &Vec3,
        radius: f64,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let within = radius * (1.0 + BOUND_SLACK) + 2.0 * BOUND_SLACK;
        let mut known = self.known.borrow_mut();
        self.surface.all_within(middle, within, |at, triangle| {
            effort.look_at_clock()?;
            let is_flush = match known[at] {
                Some(is_flush) => is_flush,
                None => self.hardly_reaches(triangle, effort),
            };
            known[at] = Some(is_flush);
            Ok(is_flush)
        })
    }
}
