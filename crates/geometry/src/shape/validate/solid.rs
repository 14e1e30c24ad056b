//! The part of the judge that looks at solids.
//!
//! *Convex*, the plain way: no given point is above the plane of any facet, every facet is a plane
//! strictly convex loop, every edge has two facets that are not coplanar, and the surface is
//! connected. Then each facet lies in a face of the hull; it is all of that face, because beyond
//! each of its edges lies another plane; so the facets are all the faces, and strictly convex
//! corners of faces are extreme.
//!
//! That takes points times facets. For large solids: K. Mehlhorn, S. Näher, M. Seel, R. Seidel, T.
//! Schilz, S. Schirra, C. Uhrig, *Checking geometric programs or verification of geometric
//! structures*, Computational Geometry 12 (1999), 85-103, Theorem 3: a closed surface that is
//! convex at every edge, has a point `o` below all facets and is met just once by one ray from `o`
//! is the boundary of a convex polytope. Then a point `p` is inside if it is not above the facet
//! that the ray from `o` to `p` meets. That facet is found by walking over edges `ab` with `p`
//! beyond the plane `o a b`. With every facet written as `n·(x - o) = 1`, each step increases
//! `n·(p - o)`, because the difference of two facets' functions vanishes on the plane through `o`
//! and their edge; so no walk can cycle, and it ends at the maximum, which is the facet that is
//! met.

use super::polygon::convex_loop;
use super::{Defect, compare};
use crate::Vec3;
use crate::number::orientation::{Plane, Side, exact_side_of_plane, side_of_plane};
use crate::shape::Shape;

/// Products of points and facets up to this are checked the plain way.
const PLAIN_CHECKS_MAX: usize = 1 << 22;

/// A directed edge and the facet to its left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: u32,
    to: u32,
    facet: u32,
}

struct Solid<'a> {
    polytope: &'a Shape,
    planes: Vec<Plane>,
    /// Sorted.
    edges: Vec<Edge>,
}

pub(super) fn check(polytope: &Shape, given: &[Vec3], others: &[usize]) -> Result<(), Defect> {
    let solid = Solid::checked(polytope)?;
    solid.check_euler()?;
    solid.check_neighbours()?;
    solid.check_connected()?;
    solid.check_edges()?;
    let points = polytope.vertices().len() + others.len();
    let is_small = points.saturating_mul(polytope.facets().len()) <= PLAIN_CHECKS_MAX;
    match solid.interior_point().filter(|_| !is_small) {
        Some(origin) => solid.check_by_rays(&origin, given, others),
        None => solid.check_plainly(given, others),
    }
}

impl<'a> Solid<'a> {
    /// Each facet by itself, and that each edge has one facet on each side.
    fn checked(polytope: &'a Shape) -> Result<Self, Defect> {
        let facets = polytope.facets();
        let rows: Vec<&[u32]> = facets.rows().collect();
        if !rows.is_sorted() {
            return Err(Defect::FacetOrder);
        }
        let mut planes = Vec::with_capacity(rows.len());
        let mut edges = Vec::new();
        for (facet, row) in (0..).zip(rows) {
            let corners: Option<Vec<&Vec3>> =
                row.iter().map(|&i| polytope.vertices().get(i as usize)).collect();
            let corners = corners.ok_or(Defect::Loop { facet })?;
            if convex_loop(&corners).is_none() || row.iter().min() != row.first() {
                return Err(Defect::Loop { facet });
            }
            planes.push(Plane::through(corners[0], corners[1], corners[2]));
            for (k, &from) in row.iter().enumerate() {
                edges.push(Edge { from, to: row[(k + 1) % row.len()], facet });
            }
        }
        edges.sort_unstable();
        let solid = Self { polytope, planes, edges };
        for pair in solid.edges.windows(2) {
            if (pair[0].from, pair[0].to) == (pair[1].from, pair[1].to) {
                return Err(Defect::Open { from: pair[0].from, to: pair[0].to });
            }
        }
        for &Edge { from, to, .. } in &solid.edges {
            if solid.facet_left_of(to, from).is_none() {
                return Err(Defect::Open { from, to });
            }
        }
        Ok(solid)
    }

    fn facet_left_of(&self, from: u32, to: u32) -> Option<u32> {
        let found = self.edges.binary_search_by_key(&(from, to), |edge| (edge.from, edge.to));
        found.ok().map(|i| self.edges[i].facet)
    }

    fn side(&self, facet: u32, p: &Vec3) -> Side {
        self.planes[facet as usize].side(p).unwrap_or_else(|| {
            let row = self.polytope.facets().row(facet);
            let [a, b, c] = [row[0], row[1], row[2]].map(|i| self.polytope.vertex(i));
            exact_side_of_plane(a, b, c, p)
        })
    }

    fn check_euler(&self) -> Result<(), Defect> {
        let count = |n: usize| i64::try_from(n).expect("a length in memory");
        let vertices = count(self.polytope.vertices().len());
        let found = vertices - count(self.edges.len() / 2) + count(self.planes.len());
        if found == 2 { Ok(()) } else { Err(Defect::Euler { found }) }
    }

    /// The facets at a vertex, each leading from one neighbour to the next, are one cycle, and it
    /// is the row of neighbours.
    fn check_neighbours(&self) -> Result<(), Defect> {
        if self.polytope.neighbours.len() != self.polytope.vertices().len() {
            return Err(Defect::Neighbours { vertex: 0 });
        }
        for vertex in 0..self.polytope.vertex_count() {
            let row = self.polytope.neighbours(vertex);
            let start = self.edges.partition_point(|edge| edge.from < vertex);
            let end = self.edges.partition_point(|edge| edge.from <= vertex);
            // In the facet left of vertex -> w, the edge that enters the vertex comes from the next
            // neighbour counter-clockwise.
            let follows = |w: u32, next: u32| {
                self.facet_left_of(vertex, w)
                    .is_some_and(|facet| self.facet_left_of(next, vertex) == Some(facet))
            };
            let mut sorted = row.to_vec();
            sorted.sort_unstable();
            let leaving = self.edges[start..end].iter().map(|edge| edge.to);
            let is_cycle = (0..row.len()).all(|k| follows(row[k], row[(k + 1) % row.len()]));
            if !leaving.eq(sorted.iter().copied()) || !is_cycle || sorted.first() != row.first() {
                return Err(Defect::Neighbours { vertex });
            }
        }
        Ok(())
    }

    fn check_connected(&self) -> Result<(), Defect> {
        let mut reached = vec![false; self.polytope.vertices().len()];
        reached[0] = true;
        let mut stack = vec![0];
        while let Some(vertex) = stack.pop() {
            for &next in self.polytope.neighbours(vertex) {
                if !std::mem::replace(&mut reached[next as usize], true) {
                    stack.push(next);
                }
            }
        }
        if reached.into_iter().all(|reached| reached) { Ok(()) } else { Err(Defect::Surface) }
    }

    /// At every edge, the facet beyond falls away strictly.
    fn check_edges(&self) -> Result<(), Defect> {
        for &Edge { from, to, facet } in &self.edges {
            let beyond = self.facet_left_of(to, from).ok_or(Defect::Open { from, to })?;
            // The corner of the facet beyond that follows the shared edge is off the edge's line.
            let row = self.polytope.facets().row(beyond);
            let at = row.iter().position(|&corner| corner == from);
            let at = at.ok_or(Defect::Open { from, to })?;
            let corner = self.polytope.vertex(row[(at + 1) % row.len()]);
            if self.side(facet, corner) != Side::Below {
                return Err(Defect::Reflex { from, to });
            }
        }
        Ok(())
    }

    fn check_plainly(&self, given: &[Vec3], others: &[usize]) -> Result<(), Defect> {
        let facets = 0..u32::try_from(self.planes.len()).map_err(|_| Defect::FacetOrder)?;
        let is_inside = |p: &Vec3| facets.clone().all(|facet| self.side(facet, p) != Side::Above);
        if !self.polytope.vertices().iter().all(is_inside) {
            return Err(Defect::Surface);
        }
        match others.iter().find(|&&index| !is_inside(&given[index])) {
            Some(&index) => Err(Defect::Outside { index }),
            None => Ok(()),
        }
    }

    /// The centre, if it is strictly below every facet.
    fn interior_point(&self) -> Option<Vec3> {
        let centre = self.polytope.bounds().centre;
        let mut facets = (0..).zip(&self.planes);
        facets.all(|(facet, _)| self.side(facet, &centre) == Side::Below).then_some(centre)
    }

    fn check_by_rays(&self, origin: &Vec3, given: &[Vec3], others: &[usize]) -> Result<(), Defect> {
        if !self.is_met_once(origin) {
            return Err(Defect::Surface);
        }
        // Neighbours in space have neighbouring facets: walk on from the last one.
        let mut order = others.to_vec();
        order.sort_unstable_by(|&l, &r| compare(&given[l], &given[r]));
        let mut facet = 0;
        for index in order {
            let p = &given[index];
            facet = self.facet_towards(origin, p, facet);
            if self.side(facet, p) == Side::Above {
                return Err(Defect::Outside { index });
            }
        }
        Ok(())
    }

    /// Whether the ray from the origin through the middle of facet 0 meets that facet only.
    fn is_met_once(&self, origin: &Vec3) -> bool {
        let row = self.polytope.facets().row(0);
        let [a, b, c] = [row[0], row[1], row[2]].map(|i| self.polytope.vertex(i));
        let target = (a + b + c) / 3.0;
        // What is inside a facet's cone is above all the planes through the origin and its edges;
        // no other cone may be so much as grazed.
        let sides = |row: &[u32]| -> Vec<Side> {
            (0..row.len())
                .map(|k| [row[k], row[(k + 1) % row.len()]].map(|i| self.polytope.vertex(i)))
                .map(|[from, to]| side_of_plane(origin, from, to, &target))
                .collect()
        };
        let is_inside = |row: &[u32]| sides(row).iter().all(|&side| side == Side::Above);
        let may_be_met = |row: &[u32]| sides(row).iter().all(|&side| side != Side::Below);
        is_inside(row) && self.polytope.facets().rows().filter(|row| may_be_met(row)).count() == 1
    }

    /// The facet that the ray from the origin to `p` meets, from any facet to start with.
    fn facet_towards(&self, origin: &Vec3, p: &Vec3, start: u32) -> u32 {
        let mut facet = start;
        'walk: loop {
            let row = self.polytope.facets().row(facet);
            for (k, &from) in row.iter().enumerate() {
                let to = row[(k + 1) % row.len()];
                let [a, b] = [from, to].map(|i| self.polytope.vertex(i));
                if side_of_plane(origin, a, b, p) == Side::Below {
                    facet = self.facet_left_of(to, from).expect("the surface is closed");
                    continue 'walk;
                }
            }
            return facet;
        }
    }
}
