//! A polyhedron, convex or not: the closed region that a mesh of triangles bounds.
//!
//! The mesh is closed and oriented (every directed edge has exactly one triangle, and its twin has
//! one), no two triangles share more than the vertex or edge that they have in common, and every
//! shell (a part of the mesh that is connected over edges) has its outside on the side that its
//! triangles are counter-clockwise from: an outermost shell bounds a volume, a shell inside it
//! bounds a hollow, a shell in a hollow a volume again. All of it is checked exactly.
//!
//! Vertices and triangles are in canonical order, whatever the order they were given in.

use dashu_int::{IBig, UBig};

use super::canonical;
use super::meeting::{Sight, segment_meets_triangle, triangles_meet};
use super::ray::{Start, around, crosses_odd};
use super::surface::TriangleSurface;
use super::tree::{BoxedTree, Tree, any_meeting_leaves};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::orientation::{Axis, Side, Turn, are_collinear, side_of_plane, turn};
use crate::number::scaled::{Integers, cross, dot};
use crate::number::{Sign, outward, scaled};
use crate::polytope::Polytope;
use crate::pose::scaled_points::{Exponents, ScaledPoints};
use crate::pose::{COORDINATE_MAX, Pose};

/// See the module.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    /// The triangles that bound it.
    surface: TriangleSurface,
    /// For each triangle, beyond the edge from each of its corners to the next: the third corner of
    /// the triangle there.
    across: Vec<[u32; 3]>,
    /// The lowest triangle of each shell, ascending.
    shells: Vec<u32>,
    owned: Vec<Owned>,
    /// Cubic metres, rounded.
    volume: f64,
}

/// What a triangle tests on behalf of its neighbours, so that no vertex or edge is tested twice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owned {
    /// Its vertices.
    pub(crate) vertices: [bool; 3],
    /// Its edges; edge k leads from vertex k to the next.
    pub(crate) edges: [bool; 3],
}

/// Why a mesh bounds no polyhedron. Triangles and vertices are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolyhedronError {
    /// Fewer than four triangles, or 2^31 or more.
    #[error("a polyhedron has at least four triangles and fewer than 2^31, not {found}")]
    Count {
        /// Triangles given.
        found: usize,
    },
    /// A coordinate is not finite, or beyond 2^960.
    #[error("vertex {vertex} has a coordinate that is not finite or beyond 2^960")]
    Coordinate {
        /// The vertex.
        vertex: u32,
    },
    /// A triangle names a vertex that is not given.
    #[error("triangle {triangle} names vertex {vertex}, which is not given")]
    NoVertex {
        /// The triangle.
        triangle: u32,
        /// What it names.
        vertex: u32,
    },
    /// The three corners are on a line.
    #[error("the corners of triangle {triangle} are on one line")]
    Degenerate {
        /// The triangle.
        triangle: u32,
    },
    /// Two triangles have one edge in the same direction.
    #[error("more than one triangle has the edge from {from} to {to}")]
    EdgeTwice {
        /// Its first vertex.
        from: u32,
        /// Its second.
        to: u32,
    },
    /// No triangle is on the other side of an edge.
    #[error("the mesh is open at the edge from {from} to {to}: no triangle has it backwards")]
    Open {
        /// Its first vertex.
        from: u32,
        /// Its second.
        to: u32,
    },
    /// Two triangles share more than the vertex or edge that they have in common.
    #[error("triangles {first} and {second} intersect")]
    Intersecting {
        /// The lower one.
        first: u32,
        /// The higher one.
        second: u32,
    },
    /// A shell has its outside inside.
    #[error("the shell of triangle {triangle} is inside out")]
    InsideOut {
        /// Its lowest triangle.
        triangle: u32,
    },
    /// The check was stopped.
    #[error(
        "the mesh could not be checked within the steps allowed: too many triangles are close \
         together"
    )]
    Unchecked(Stopped),
}

/// A directed edge and its triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MeshEdge {
    ends: [u32; 2],
    triangle: u32,
}

impl Polyhedron {
    /// Makes a polyhedron of triangles that are counter-clockwise seen from outside. Vertices that
    /// no triangle names are no part of it. A step is a pair of boxes that the check for
    /// intersections looks at, or a box that the check of shells does.
    ///
    /// Errors name vertices and triangles by their places in what is given.
    pub fn new(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        effort: &mut Effort<'_>,
    ) -> Result<Self, PolyhedronError> {
        check_numbers(vertices, triangles)?;
        let edges = closed_edges(triangles)?;
        let tree = Tree::build(vertices, triangles);
        let boxes = tree.boxes(vertices, triangles, 0.0);
        let boxed = BoxedTree { tree: &tree, boxes: &boxes };
        check_intersections(vertices, triangles, boxed, effort)?;
        let volume = check_shells(vertices, triangles, &edges, boxed, effort)?;
        let (vertices, triangles) = canonical::in_order(vertices, triangles);
        Ok(Self::assemble(vertices, triangles, volume))
    }

    /// A polytope as a polyhedron, and for each triangle the facet that it is a part of; none for a
    /// polytope without volume.
    pub fn of_polytope(polytope: &Polytope) -> Option<(Self, Vec<u32>)> {
        if polytope.dimension() < 3 {
            return None;
        }
        // Loops begin with their lowest vertex, and the vertices are in order.
        let mut parts: Vec<([u32; 3], u32)> = (0..)
            .zip(polytope.facets().rows())
            .flat_map(|(facet, row)| {
                row[1..].windows(2).map(move |pair| ([row[0], pair[0], pair[1]], facet))
            })
            .collect();
        parts.sort_unstable();
        let (triangles, facets) = parts.into_iter().unzip();
        let vertices = polytope.vertices().to_vec();
        Some((Self::assemble(vertices, triangles, polytope.volume()), facets))
    }

    /// Assembles a polyhedron from what bounds it, in canonical order.
    fn assemble(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>, volume: f64) -> Self {
        let edges = closed_edges(&triangles).expect("the mesh is closed");
        let (_, shells) = shells(&triangles, &edges);
        let across = across(&triangles, &edges);
        let owned = owned(vertices.len(), &triangles);
        let surface = TriangleSurface::assemble(vertices, triangles);
        Self { surface, across, shells, owned, volume }
    }

    /// The triangles that bound it.
    pub fn surface(&self) -> &TriangleSurface {
        &self.surface
    }

    /// See [`TriangleSurface::vertices`].
    pub fn vertices(&self) -> &[Vec3] {
        self.surface.vertices()
    }

    /// See [`TriangleSurface::triangles`].
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.surface.triangles()
    }

    /// Which vertex a point is.
    pub fn index_of(&self, point: &Vec3) -> Option<u32> {
        self.surface.index_of(point)
    }

    /// The lowest and the highest corner of the box around it.
    pub fn bounds(&self) -> [Vec3; 2] {
        self.surface.bounds()
    }

    /// Cubic metres, rounded.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.triangles().len() * 3 / 2
    }

    /// Memory that its lists take, and what may be kept of its groups, bytes.
    pub fn bytes(&self) -> usize {
        let for_triangle = size_of::<[u32; 3]>() + size_of::<Owned>();
        self.surface.bytes() + self.triangles().len() * for_triangle + size_of_val(&*self.shells)
    }

    /// How many parts of the surface are connected over edges.
    pub fn shell_count(&self) -> usize {
        self.shells.len()
    }

    /// The lowest triangle of each shell, ascending.
    pub(crate) fn shells(&self) -> &[u32] {
        &self.shells
    }

    pub(crate) fn triangle(&self, i: u32) -> [u32; 3] {
        self.surface.triangle(i)
    }

    /// Beyond the edge from each corner of a triangle to the next: the third corner of the triangle
    /// there.
    pub(crate) fn across(&self, triangle: u32) -> [u32; 3] {
        self.across[triangle as usize]
    }

    pub(crate) fn owned(&self, triangle: u32) -> &Owned {
        &self.owned[triangle as usize]
    }

    pub(crate) fn tree(&self) -> &Tree {
        self.surface.tree()
    }
}

/// A point of a shell is in an even number of other shells if and only if the shell encloses a
/// volume, and in an odd number if it encloses a hollow. The volume in all, rounded.
fn check_shells(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    edges: &[MeshEdge],
    boxed: BoxedTree<'_>,
    effort: &mut Effort<'_>,
) -> Result<f64, PolyhedronError> {
    let exponents = Exponents::of(vertices, &Pose::identity());
    let mut points = ScaledPoints::new(vertices, &Pose::identity(), exponents, exponents.placed);
    let mut corners = |triangle: u32| -> [Integers; 3] {
        triangles[triangle as usize].map(|i| points.point(i).clone())
    };
    let (shell_of, firsts) = shells(triangles, edges);
    let mut six_volumes = vec![IBig::ZERO; firsts.len()];
    for (triangle, &shell) in (0..).zip(&shell_of) {
        let [a, b, c] = corners(triangle);
        six_volumes[shell as usize] += dot(&a, &cross(&b, &c));
    }
    for ((shell, &triangle), volume) in (0..).zip(&firsts).zip(&six_volumes) {
        let is_inside = firsts.len() > 1 && {
            let first = &vertices[triangles[triangle as usize][0] as usize];
            let start = Start::beside(corners(triangle), around(first, 0.0));
            crosses_odd(&start, &boxed, effort, |other| {
                (shell_of[other as usize] != shell).then(|| corners(other))
            })
            .map_err(PolyhedronError::Unchecked)?
        };
        let wanted = if is_inside { Sign::Negative } else { Sign::Positive };
        if scaled::sign(volume) != wanted {
            return Err(PolyhedronError::InsideOut { triangle });
        }
    }
    let whole: IBig = six_volumes.into_iter().sum();
    Ok(outward::ratio(&whole, &UBig::from(6u8), 3 * exponents.placed))
}

fn check_numbers(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), PolyhedronError> {
    if triangles.len() < 4 || triangles.len() >= 1 << 31 {
        return Err(PolyhedronError::Count { found: triangles.len() });
    }
    for (vertex, v) in (0..).zip(vertices) {
        if !v.iter().all(|x| x.abs() <= COORDINATE_MAX) {
            return Err(PolyhedronError::Coordinate { vertex });
        }
    }
    for (triangle, corners) in (0..).zip(triangles) {
        if let Some(&vertex) = corners.iter().find(|&&i| i as usize >= vertices.len()) {
            return Err(PolyhedronError::NoVertex { triangle, vertex });
        }
        let [a, b, c] = corners.map(|i| &vertices[i as usize]);
        if are_collinear(a, b, c) {
            return Err(PolyhedronError::Degenerate { triangle });
        }
    }
    Ok(())
}

/// All directed edges, sorted; each occurs once and has its twin.
fn closed_edges(triangles: &[[u32; 3]]) -> Result<Vec<MeshEdge>, PolyhedronError> {
    let mut edges: Vec<MeshEdge> = (0..)
        .zip(triangles)
        .flat_map(|(triangle, &[a, b, c])| {
            [[a, b], [b, c], [c, a]].map(|ends| MeshEdge { ends, triangle })
        })
        .collect();
    edges.sort_unstable();
    if let Some(twice) = edges.windows(2).find(|pair| pair[0].ends == pair[1].ends) {
        let [from, to] = twice[0].ends;
        return Err(PolyhedronError::EdgeTwice { from, to });
    }
    match edges.iter().find(|edge| twin(&edges, edge).is_none()) {
        Some(&MeshEdge { ends: [from, to], .. }) => Err(PolyhedronError::Open { from, to }),
        None => Ok(edges),
    }
}

/// The triangle beyond an edge.
fn twin(edges: &[MeshEdge], edge: &MeshEdge) -> Option<u32> {
    let [from, to] = edge.ends;
    let found = edges.binary_search_by_key(&[to, from], |edge| edge.ends).ok()?;
    Some(edges[found].triangle)
}

/// For each triangle its shell, and for each shell its lowest triangle.
fn shells(triangles: &[[u32; 3]], edges: &[MeshEdge]) -> (Vec<u32>, Vec<u32>) {
    let mut shell_of = vec![u32::MAX; triangles.len()];
    let mut firsts: Vec<u32> = Vec::new();
    for first in (0..).take(triangles.len()) {
        if shell_of[first as usize] != u32::MAX {
            continue;
        }
        let shell = u32::try_from(firsts.len()).expect("no more than triangles");
        firsts.push(first);
        let mut open = vec![first];
        while let Some(triangle) = open.pop() {
            if shell_of[triangle as usize] != u32::MAX {
                continue;
            }
            shell_of[triangle as usize] = shell;
            let [a, b, c] = triangles[triangle as usize];
            let around = [[a, b], [b, c], [c, a]].map(|ends| MeshEdge { ends, triangle });
            open.extend(around.iter().filter_map(|edge| twin(edges, edge)));
        }
    }
    (shell_of, firsts)
}

fn across(triangles: &[[u32; 3]], edges: &[MeshEdge]) -> Vec<[u32; 3]> {
    let beyond = |edge: MeshEdge| {
        let other = twin(edges, &edge).expect("the mesh is closed");
        let corners = triangles[other as usize];
        corners.into_iter().find(|corner| !edge.ends.contains(corner)).expect("a third corner")
    };
    (0..)
        .zip(triangles)
        .map(|(triangle, &[a, b, c])| {
            [[a, b], [b, c], [c, a]].map(|ends| beyond(MeshEdge { ends, triangle }))
        })
        .collect()
}

/// The lowest triangle owns a vertex; the triangle that has an edge ascending owns it.
fn owned(vertex_count: usize, triangles: &[[u32; 3]]) -> Vec<Owned> {
    let mut taken = vec![false; vertex_count];
    let own = |corners: &[u32; 3]| {
        let mut owned = Owned::default();
        for k in 0..3 {
            owned.vertices[k] = !std::mem::replace(&mut taken[corners[k] as usize], true);
            owned.edges[k] = corners[k] < corners[(k + 1) % 3];
        }
        owned
    };
    triangles.iter().map(own).collect()
}

/// Predicates on the given vertices themselves.
struct Given<'a>(&'a [Vec3]);

impl Sight for Given<'_> {
    type Point = u32;

    fn side(&mut self, plane: [u32; 3], p: u32) -> Side {
        let [a, b, c] = plane.map(|i| &self.0[i as usize]);
        side_of_plane(a, b, c, &self.0[p as usize])
    }

    fn turn(&mut self, axis: Axis, path: [u32; 3]) -> Turn {
        let [a, b, c] = path.map(|i| &self.0[i as usize]);
        turn(axis, a, b, c)
    }
}

fn check_intersections(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    boxed: BoxedTree<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), PolyhedronError> {
    let mut sight = Given(vertices);
    let mut found = None;
    let walked = any_meeting_leaves([&boxed; 2], effort, |first, second| {
        if first < second
            && intersect(&mut sight, triangles[first as usize], triangles[second as usize])
        {
            found = Some((first, second));
        }
        found.is_some()
    });
    match (walked, found) {
        (Err(stopped), _) => Err(PolyhedronError::Unchecked(stopped)),
        (Ok(_), Some((first, second))) => Err(PolyhedronError::Intersecting { first, second }),
        (Ok(_), None) => Ok(()),
    }
}

/// Whether two triangles of a mesh share more than their common vertices and edges.
fn intersect(sight: &mut Given<'_>, a: [u32; 3], b: [u32; 3]) -> bool {
    let is_shared = a.map(|i| b.contains(&i));
    match is_shared.iter().filter(|shared| **shared).count() {
        0 => triangles_meet(sight, a, b),
        1 => {
            // A ray from the common vertex inside both leaves one of them first: through the side
            // opposite to the vertex.
            let opposite = |of: [u32; 3], other: [u32; 3]| {
                let at = of.iter().position(|i| other.contains(i)).unwrap_or(0);
                [of[(at + 1) % 3], of[(at + 2) % 3]]
            };
            segment_meets_triangle(sight, opposite(a, b), b)
                || segment_meets_triangle(sight, opposite(b, a), a)
        }
        2 => {
            let fold = is_shared.iter().position(|shared| !shared).unwrap_or(0);
            let apex = b.iter().find(|i| !a.contains(i)).copied().unwrap_or(b[0]);
            let [c, x, y] = [a[fold], a[(fold + 1) % 3], a[(fold + 2) % 3]];
            // In one plane, and both on one side of the common edge.
            sight.side(a, apex) == Side::On
                && Axis::ALL.into_iter().any(|axis| {
                    let turn = sight.turn(axis, [x, y, c]);
                    turn != Turn::Straight && turn == sight.turn(axis, [x, y, apex])
                })
        }
        _ => true,
    }
}
