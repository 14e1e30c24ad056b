//! Triangles as they are: the union of them, whatever it bounds. They may leave holes, cross each
//! other, come twice, and be degenerate. Where every one is a single point, they are a cloud.
//!
//! Vertices and triangles are in canonical order, whatever the order they were given in.

use super::canonical;
use super::keep::KeptGroups;
use super::tree::{Extent, Node, Tree};
use super::wide::WideTree;
use crate::Vec3;
use crate::number::orientation::are_collinear;
use crate::polytope::Polytope;
use crate::pose::COORDINATE_MAX;
use crate::pose::scaled_points::Exponents;

/// See the module.
#[derive(Clone, Debug)]
pub struct TriangleSurface {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    tree: Tree,
    kept: KeptGroups,
    are_points: bool,
}

/// Why triangles are no surface. Triangles and vertices are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// No triangle, or 2^31 or more.
    #[error("a surface has at least one triangle and fewer than 2^31, not {found}")]
    Count {
        /// How many triangles were given.
        found: usize,
    },
    /// A coordinate is not finite, or beyond 2^960.
    #[error("vertex {vertex} has a coordinate that is not finite or beyond 2^960")]
    Coordinate {
        /// The index of the vertex in the given list.
        vertex: u32,
    },
    /// A triangle names a vertex that is not given.
    #[error("triangle {triangle} names vertex {vertex}, which is not given")]
    NoVertex {
        /// The index of the triangle in the given list.
        triangle: u32,
        /// The index that it names.
        vertex: u32,
    },
}

impl TriangleSurface {
    /// Makes a surface of triangles. Equal points are one vertex, the order of a triangle's corners
    /// does not matter, and of equal triangles there is one. Vertices that no triangle names are no
    /// part of it.
    pub fn new(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, SurfaceError> {
        if triangles.is_empty() || triangles.len() >= 1 << 31 {
            return Err(SurfaceError::Count { found: triangles.len() });
        }
        for (vertex, v) in (0..).zip(vertices) {
            if !v.iter().all(|x| x.abs() <= COORDINATE_MAX) {
                return Err(SurfaceError::Coordinate { vertex });
            }
        }
        for (triangle, corners) in (0..).zip(triangles) {
            if let Some(&vertex) = corners.iter().find(|&&i| i as usize >= vertices.len()) {
                return Err(SurfaceError::NoVertex { triangle, vertex });
            }
        }
        let (vertices, triangles) = canonical::in_order_as_sets(vertices, triangles);
        Ok(Self::assemble(vertices, triangles))
    }

    /// Makes a cloud of points: of equal ones there is one, and each is a triangle whose corners
    /// are all there. An error names a vertex by its place among the points.
    pub fn of_points(points: &[Vec3]) -> Result<Self, SurfaceError> {
        let count = u32::try_from(points.len()).ok().filter(|count| (1..1 << 31).contains(count));
        let count = count.ok_or(SurfaceError::Count { found: points.len() })?;
        let each: Vec<[u32; 3]> = (0..count).map(|at| [at; 3]).collect();
        Self::new(points, &each)
    }

    /// Of what is in canonical order.
    pub(super) fn assemble(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        let tree = Tree::build(&vertices, &triangles);
        let are_points = triangles.iter().all(|[first, _, last]| first == last);
        let kept = if are_points { KeptGroups::of_points() } else { KeptGroups::default() };
        Self { vertices, triangles, tree, kept, are_points }
    }

    /// Whether every triangle is a single point.
    pub fn are_points(&self) -> bool {
        self.are_points
    }

    /// The vertices, sorted. Indices everywhere refer to this list.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The triangles, sorted. Those that bound a polyhedron are counter-clockwise seen from outside
    /// and begin with their lowest vertex; others have their vertices ascending.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Which vertex a point is.
    pub fn index_of(&self, point: &Vec3) -> Option<u32> {
        canonical::index_of(&self.vertices, point)
    }

    /// The lowest and the highest corner of the box around it.
    pub fn bounds(&self) -> [Vec3; 2] {
        let Extent { low, high } = self.boxes()[0];
        [low, high]
    }

    /// 2, or where all triangles are degenerate that of the longest: 1, or 0 where all are points.
    pub fn dimension(&self) -> u8 {
        let of = |at: u32| match self.triangle(at) {
            _ if !self.is_degenerate(at) => 2,
            [first, _, last] => u8::from(first != last),
        };
        (0..).take(self.triangles.len()).map(of).max().unwrap_or(0)
    }

    /// Number of different edges; of a degenerate triangle those that have a length.
    pub fn edge_count(&self) -> usize {
        let of = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
        let named = self.triangles.iter().flat_map(of).filter(|[from, to]| from != to);
        let mut edges: Vec<[u32; 2]> = named.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        edges.len()
    }

    /// Memory that its lists take, and what may be kept of its groups, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.vertices())
            + self.triangles.len() * (size_of::<[u32; 3]>() + size_of::<u32>())
            + self.kept.bytes_max(self.triangles.len())
    }

    /// Whether a triangle is a segment or a point.
    pub(crate) fn is_degenerate(&self, triangle: u32) -> bool {
        let [a, b, c] = self.triangle(triangle).map(|at| &self.vertices[at as usize]);
        are_collinear(a, b, c)
    }

    /// The lowest vertex of each part that is connected over vertices, ascending.
    pub(crate) fn parts(&self) -> Vec<u32> {
        (0..)
            .zip(self.lowest_of_parts())
            .filter(|(v, lowest)| v == lowest)
            .map(|(v, _)| v)
            .collect()
    }

    /// For each vertex the lowest one of its part.
    pub(crate) fn lowest_of_parts(&self) -> Vec<u32> {
        let mut lower: Vec<u32> = (0..).take(self.vertices.len()).collect();
        // Paths are halved on the way (Tarjan, van Leeuwen 1984); each step leads to a lower one.
        let root = |lower: &mut Vec<u32>, mut v: u32| {
            while lower[v as usize] != v {
                lower[v as usize] = lower[lower[v as usize] as usize];
                v = lower[v as usize];
            }
            v
        };
        for corners in &self.triangles {
            let roots = corners.map(|v| root(&mut lower, v));
            let least = roots.into_iter().min().unwrap_or(0);
            for top in roots {
                lower[top as usize] = least;
            }
        }
        (0..).take(lower.len()).map(|v| root(&mut lower, v)).collect()
    }

    pub(crate) fn triangle(&self, i: u32) -> [u32; 3] {
        self.triangles[i as usize]
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The boxes of all nodes of its tree in its own frame, exactly.
    pub(crate) fn boxes(&self) -> &[Extent] {
        self.kept.boxes(|| self.tree.boxes(&self.vertices, &self.triangles, 0.0))
    }

    /// The boxes that rays walk down.
    pub(crate) fn wide(&self) -> &WideTree {
        self.kept.wide(|| {
            let corners = |at| self.triangle(at).map(|vertex| self.vertices[vertex as usize]);
            WideTree::new(&self.tree, self.boxes(), corners)
        })
    }

    /// The least exponent of its coordinates; see [`Exponents`].
    pub(crate) fn least_exponent(&self) -> i64 {
        self.kept.least_exponent(|| Exponents::least_of(&self.vertices))
    }

    /// The corners of the triangles of a group.
    pub(crate) fn corners_of(&self, node: Node) -> Vec<Vec3> {
        let corners = self.tree.triangles(node).iter().flat_map(|&at| self.triangle(at));
        corners.map(|vertex| self.vertices[vertex as usize]).collect()
    }

    /// The hull of a small group; none: there is no room to keep it.
    pub(crate) fn kept_hull(&self, node: Node) -> Option<&Polytope> {
        self.kept.hull(node, self.triangles.len(), || self.corners_of(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: &[[f64; 3]]) -> Vec<Vec3> {
        points.iter().map(|&p| Vec3::from(p)).collect()
    }

    #[test]
    fn a_surface_does_not_depend_on_how_it_is_listed() {
        let given = points(&[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [9., 9., 9.]]);
        let plain = TriangleSurface::new(&given, &[[0, 1, 2]]).unwrap();
        // Turned over, drawn twice, with points that come again, in another order.
        let again = points(&[[0., 1., -0.], [0., -0., 0.], [1., 0., 0.], [0., 1., 0.]]);
        let twice = TriangleSurface::new(&again, &[[3, 1, 2], [0, 2, 1], [2, 0, 1]]).unwrap();
        assert_eq!(plain.vertices(), twice.vertices());
        assert_eq!((plain.triangles(), twice.triangles()), (&[[0, 1, 2]][..], &[[0, 1, 2]][..]));
        assert_eq!((plain.vertices().len(), plain.edge_count(), plain.dimension()), (3, 3, 2));
    }

    #[test]
    fn degenerate_triangles_are_the_segments_and_points_that_they_are() {
        let given = points(&[[0., 0., 0.], [1., 0., 0.], [2., 0., 0.], [0., 0., 0.]]);
        let thin = TriangleSurface::new(&given, &[[0, 1, 2], [0, 3, 1], [3, 0, 0]]).unwrap();
        assert_eq!(thin.triangles(), [[0, 0, 0], [0, 0, 1], [0, 1, 2]]);
        assert_eq!((thin.edge_count(), thin.dimension()), (3, 1));
        assert_eq!(thin.bounds(), [Vec3::zeros(), Vec3::new(2., 0., 0.)]);
    }

    #[test]
    fn a_cloud_has_each_point_once_and_nothing_between_them() {
        let given = points(&[[1., 0., 0.], [0., 0., 0.], [1., -0., 0.], [0., 0., -0.]]);
        let cloud = TriangleSurface::of_points(&given).unwrap();
        assert_eq!(cloud.triangles(), [[0; 3], [1; 3]]);
        assert!(cloud.are_points() && cloud.dimension() == 0 && cloud.edge_count() == 0);
        let many = TriangleSurface::of_points(&vec![given[0]; 100_000]).unwrap();
        assert_eq!(many.vertices().len(), 1);
        assert!(!TriangleSurface::new(&given, &[[0, 0, 0], [0, 1, 1]]).unwrap().are_points());
        let wrong = TriangleSurface::of_points(&points(&[[0., 0., 0.], [0., f64::NAN, 0.]]));
        assert_eq!(wrong.unwrap_err(), SurfaceError::Coordinate { vertex: 1 });
        let none = TriangleSurface::of_points(&[]).unwrap_err();
        assert_eq!(none, SurfaceError::Count { found: 0 });
    }

    #[test]
    fn what_is_no_surface_is_refused_with_its_place() {
        let given = points(&[[0., 0., 0.], [1., 0., 0.], [2., 0., f64::NAN]]);
        let refused = |triangles: &[[u32; 3]]| TriangleSurface::new(&given, triangles).unwrap_err();
        assert_eq!(refused(&[]), SurfaceError::Count { found: 0 });
        assert_eq!(refused(&[[0, 1, 0]]), SurfaceError::Coordinate { vertex: 2 });
        let refused = TriangleSurface::new(&given[..2], &[[0, 1, 0], [0, 1, 2]]).unwrap_err();
        assert_eq!(refused, SurfaceError::NoVertex { triangle: 1, vertex: 2 });
    }
}
