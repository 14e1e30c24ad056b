//! The judge of polytopes: proves from scratch, in exact arithmetic, that a polytope is the hull of
//! the points it was made of, and that every invariant of [`super`] holds.
//!
//! It shares nothing with the builder but the orientation predicates. It is meant for tests and for
//! the doubtful; it costs more than building does.

mod polygon;
mod solid;

use std::cmp::Ordering;

use super::Bounds;
use crate::Vec3;
use crate::number::dyadic::Dyadic;
use crate::number::orientation::{Side, are_collinear, side_of_plane};
use crate::shape::Shape;

/// The first thing found wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Vertices must ascend strictly by x, y, z, without a negative zero.
    #[error("vertex {vertex} is out of order, repeated, not finite, or has a negative zero")]
    Order {
        /// The vertex.
        vertex: u32,
    },
    /// A vertex is none of the given points.
    #[error("vertex {vertex} was not given")]
    Foreign {
        /// The vertex.
        vertex: u32,
    },
    /// A given point is not in the polytope.
    #[error("given point {index} is outside")]
    Outside {
        /// Index among the given points.
        index: usize,
    },
    /// The affine basis names no `dimension + 1` independent vertices.
    #[error("the affine basis is not independent, or does not fit the dimension")]
    Basis,
    /// A vertex is off the line or plane of the basis.
    #[error("vertex {vertex} needs one more dimension")]
    Dimension {
        /// The vertex.
        vertex: u32,
    },
    /// A facet is no strictly convex plane loop, begins in the wrong place or turns the wrong way.
    #[error("facet {facet} is not a strictly convex plane loop in canonical form")]
    Loop {
        /// The facet.
        facet: u32,
    },
    /// Facets must ascend, and there must be as many as the dimension asks for.
    #[error("the facets are not in order, or too many or too few")]
    FacetOrder,
    /// An edge does not have exactly one facet on each side.
    #[error("the edge from {from} to {to} does not have one facet on each side")]
    Open {
        /// Start of the edge.
        from: u32,
        /// Its end.
        to: u32,
    },
    /// Two facets do not meet in a convex edge: coplanar, or reflex.
    #[error("the facets at the edge from {from} to {to} are coplanar or reflex")]
    Reflex {
        /// Start of the edge.
        from: u32,
        /// Its end.
        to: u32,
    },
    /// The surface is in several pieces, or covers some direction more than once.
    #[error("the surface is not one simple closed surface")]
    Surface,
    /// V - E + F is not 2.
    #[error("V - E + F is {found}")]
    Euler {
        /// What it is.
        found: i64,
    },
    /// The neighbours of a vertex are not those its facets say, in canonical order.
    #[error("the neighbours of vertex {vertex} are wrong")]
    Neighbours {
        /// The vertex.
        vertex: u32,
    },
    /// A bound is not tight or not outward.
    #[error("the bounds are wrong")]
    Bounds,
}

impl Shape {
    /// Proves that this is the hull of `given`, in canonical form: every vertex extreme and among
    /// the given points, every given point inside or on the hull, facets closed, convex and merged,
    /// Euler's formula, adjacency, order, bounds. What of it fails first is the error.
    ///
    /// ```
    /// # use clearance_geometry::{Vec3, hull::convex_hull};
    /// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
    /// let body = convex_hull(&corners).unwrap().polytope;
    /// assert_eq!(body.validate(&corners), Ok(()));
    /// assert!(body.validate(&corners[1..]).is_err());
    /// ```
    pub fn validate(&self, given: &[Vec3]) -> Result<(), Defect> {
        self.check_order()?;
        let others = self.check_given(given)?;
        self.check_basis()?;
        match self.dimension {
            0 => self.check_point(given, &others)?,
            1 => self.check_segment(given, &others)?,
            2 => polygon::check(self, given, &others)?,
            _ => solid::check(self, given, &others)?,
        }
        check_bounds(self.bounds(), self.vertices())
    }

    fn check_order(&self) -> Result<(), Defect> {
        for (i, vertex) in (0..).zip(&self.vertices) {
            let is_canonical = |x: f64| x.is_finite() && (x != 0.0 || x.is_sign_positive());
            let follows = i == 0 || compare(self.vertex(i - 1), vertex) == Ordering::Less;
            if !follows || !vertex.iter().all(|&x| is_canonical(x)) {
                return Err(Defect::Order { vertex: i });
            }
        }
        if self.vertices.is_empty() { Err(Defect::Basis) } else { Ok(()) }
    }

    /// Checks that every vertex was given; returns the given points that are no vertex.
    fn check_given(&self, given: &[Vec3]) -> Result<Vec<usize>, Defect> {
        if let Some(index) = given.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(Defect::Outside { index });
        }
        let mut found = vec![false; self.vertices.len()];
        let mut others = Vec::new();
        for (index, point) in given.iter().enumerate() {
            match self.vertices.binary_search_by(|vertex| compare(vertex, point)) {
                Ok(vertex) => found[vertex] = true,
                Err(_) => others.push(index),
            }
        }
        match (0..).zip(found).find(|(_, found)| !found) {
            Some((vertex, _)) => Err(Defect::Foreign { vertex }),
            None => Ok(others),
        }
    }

    fn check_basis(&self) -> Result<(), Defect> {
        let basis: Option<Vec<&Vec3>> =
            self.affine_basis.iter().map(|&i| self.vertices.get(i as usize)).collect();
        let basis = basis.ok_or(Defect::Basis)?;
        let independent = match *basis.as_slice() {
            [_] => true,
            [a, b] => a != b,
            [a, b, c] => !are_collinear(a, b, c),
            [a, b, c, d] => side_of_plane(a, b, c, d) != Side::On,
            _ => false,
        };
        if !independent || basis.len() != usize::from(self.dimension) + 1 {
            return Err(Defect::Basis);
        }
        let beyond = |p: &Vec3| match *basis.as_slice() {
            [a] => a != p,
            [a, b] => !are_collinear(a, b, p),
            [a, b, c] => side_of_plane(a, b, c, p) != Side::On,
            _ => false,
        };
        match (0..).zip(&self.vertices).find(|(_, vertex)| beyond(vertex)) {
            Some((vertex, _)) => Err(Defect::Dimension { vertex }),
            None => Ok(()),
        }
    }

    fn check_point(&self, _given: &[Vec3], others: &[usize]) -> Result<(), Defect> {
        // The basis has shown that there is one vertex.
        if let Some(&index) = others.first() {
            return Err(Defect::Outside { index });
        }
        self.check_flat_structure(&[&[]])
    }

    fn check_segment(&self, given: &[Vec3], others: &[usize]) -> Result<(), Defect> {
        let [a, b] = self.vertices.as_slice() else {
            return Err(Defect::Dimension { vertex: 1 }); // a middle one is not extreme
        };
        // Along a line, between means between in any strict order of its points.
        let is_inside = |p: &Vec3| {
            are_collinear(a, b, p)
                && compare(a, p) == Ordering::Less
                && compare(p, b) == Ordering::Less
        };
        match others.iter().find(|&&index| !is_inside(&given[index])) {
            Some(&index) => Err(Defect::Outside { index }),
            None => self.check_flat_structure(&[&[1], &[0]]),
        }
    }

    /// Checks the neighbours of a point or a segment, which has no facets.
    fn check_flat_structure(&self, neighbours: &[&[u32]]) -> Result<(), Defect> {
        if !self.facets.is_empty() {
            return Err(Defect::FacetOrder);
        }
        if self.neighbours.rows().eq(neighbours.iter().copied()) {
            Ok(())
        } else {
            Err(Defect::Neighbours { vertex: 0 })
        }
    }
}

/// By x, then y, then z; `-0` and `+0` are equal.
fn compare(a: &Vec3, b: &Vec3) -> Ordering {
    let axes = a.iter().zip(b.iter());
    axes.map(|(l, r)| (l + 0.0).total_cmp(&(r + 0.0)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Box and reach are exact, the span is their rounded sum, the radius is an upper bound, and not a
/// wildly large one.
fn check_bounds(bounds: &Bounds, vertices: &[Vec3]) -> Result<(), Defect> {
    let least = |k: usize| vertices.iter().map(|v| v[k]).fold(f64::INFINITY, f64::min);
    let greatest = |k: usize| vertices.iter().map(|v| v[k]).fold(f64::NEG_INFINITY, f64::max);
    let boxed = (0..3).all(|k| {
        let (low, high) = (least(k), greatest(k));
        let reach = low.abs().max(high.abs());
        [(bounds.low[k], low), (bounds.high[k], high), (bounds.reach[k], reach)]
            .iter()
            .all(|(claimed, true_value)| claimed.total_cmp(true_value).is_eq())
    });
    let summed = bounds.span.total_cmp(&bounds.reach.sum()).is_eq();
    let square = |x: f64| &Dyadic::from(x) * &Dyadic::from(x);
    let distance_squared = |v: &Vec3| {
        (0..3).fold(Dyadic::zero(), |sum, k| {
            let difference = &Dyadic::from(v[k]) - &Dyadic::from(bounds.centre[k]);
            &sum + &(&difference * &difference)
        })
    };
    let centred = bounds.radius.is_finite()
        && bounds.radius >= 0.0
        && bounds.centre.iter().all(|x| x.is_finite())
        && {
            let radius_squared = square(bounds.radius);
            vertices.iter().all(|v| distance_squared(v) <= radius_squared)
        };
    if boxed && summed && centred { Ok(()) } else { Err(Defect::Bounds) }
}

#[cfg(test)]
mod tests;
