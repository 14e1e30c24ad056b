//! Groups of neighbouring triangles of a body, and polytopes that hold them: what is asked of two
//! convex bodies is asked of these, from the largest groups down to single triangles.
//!
//! Of a small group the polytope is its hull, of which a mesh keeps some; of a large one it is the
//! box around it in the body's frame, which is made at once however large the group is. How
//! far apart two boxes are along one direction costs least. A body that is its own hull is one
//! piece.

use std::collections::BTreeMap;

use arrayvec::ArrayVec;

use super::keep::GROUP_MAX;
use super::mesh::Polyhedron;
use super::placed::slack;
use super::ray::around;
use super::surface::TriangleSurface;
use super::tree::{Extent, Node};
use crate::Vec3;
use crate::claim::{Direction, Points, Solid, SolidKind};
use crate::effort::Effort;
use crate::hull::convex_hull;
use crate::number::rounding::{UNDERFLOW, gamma};
use crate::number::tolerance;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::support::{likely_vertex, supporting_vertex};
use clearance_proof::vertex_pair::VertexPair;

/// A placed body with its hull.
#[derive(Clone, Copy, Debug)]
pub struct HulledBody<'a> {
    /// The body, in its own frame.
    pub body: &'a Polyhedron,
    /// From its frame to the world (at t = 0).
    pub pose: Pose,
    /// The hull of the body, in the frame of the body.
    pub hull: &'a Polytope,
    /// Whether it is its hull, with the same vertices.
    pub is_hull: bool,
}

impl<'a> HulledBody<'a> {
    /// As a judge sees it.
    pub fn solid(&self) -> Solid<'a> {
        let points = Points { points: self.body.vertices(), pose: self.pose };
        let region = || SolidKind::Region(self.body.triangles());
        let kind = if self.is_hull { SolidKind::Hull } else { region() };
        Solid { points, kind }
    }
}

/// What a body is beside its hull.
#[derive(Clone, Copy, Debug)]
pub enum BoundaryKind<'a> {
    /// Its hull, which may be flat.
    Hull,
    /// The region that triangles bound.
    Region(&'a Polyhedron),
    /// Triangles and nothing beside them.
    Surface(&'a TriangleSurface),
}

/// What bounds a placed body: triangles, or its hull in one piece.
#[derive(Clone, Copy, Debug)]
pub struct Boundary<'a> {
    /// What the body is.
    pub kind: BoundaryKind<'a>,
    /// The hull of the body, in the frame of the body.
    pub hull: &'a Polytope,
    /// From its frame to the world (at t = 0).
    pub pose: Pose,
}

impl<'a> From<&HulledBody<'a>> for Boundary<'a> {
    fn from(body: &HulledBody<'a>) -> Self {
        let &HulledBody { body, pose, hull, is_hull } = body;
        let kind = if is_hull { BoundaryKind::Hull } else { BoundaryKind::Region(body) };
        Self { kind, hull, pose }
    }
}

impl<'a> Boundary<'a> {
    /// Its triangles; none of one that is its hull.
    pub(crate) fn mesh(&self) -> Option<&'a TriangleSurface> {
        match self.kind {
            BoundaryKind::Hull => None,
            BoundaryKind::Region(region) => Some(region.surface()),
            BoundaryKind::Surface(surface) => Some(surface),
        }
    }

    /// The boxes of the nodes of its tree where it is, which hold the body exactly; of a body in
    /// one piece the box of all of it.
    pub(crate) fn placed_boxes(&self) -> Vec<Extent> {
        let points: Vec<Vec3> =
            self.vertices().iter().map(|v| self.pose.apply_rounded(v)).collect();
        let slack = slack(self.vertices(), &self.pose);
        match self.mesh() {
            Some(mesh) => mesh.tree().boxes(&points, mesh.triangles(), slack),
            None => vec![points.iter().skip(1).fold(around(&points[0], slack), |whole, point| {
                whole.joined(&around(point, slack))
            })],
        }
    }

    /// The largest coordinate of a point of it in its own frame, metres.
    pub(crate) fn reach(&self) -> f64 {
        let of_hull =
            || self.hull.vertices().iter().map(nalgebra::Vector3::amax).fold(0.0, f64::max);
        self.mesh().map_or_else(of_hull, |mesh| {
            let Extent { low, high } = mesh.boxes()[0];
            low.amax().max(high.amax())
        })
    }

    /// The vertices that certificates name.
    pub fn vertices(&self) -> &'a [Vec3] {
        self.mesh().map_or(self.hull.vertices(), TriangleSurface::vertices)
    }

    /// As a judge sees it.
    pub fn solid(&self) -> Solid<'a> {
        let points = Points { points: self.vertices(), pose: self.pose };
        let kind = match self.kind {
            BoundaryKind::Hull => SolidKind::Hull,
            BoundaryKind::Region(region) => SolidKind::Region(region.triangles()),
            BoundaryKind::Surface(surface) => SolidKind::Surface(surface.triangles()),
        };
        Solid { points, kind }
    }
}

/// So many polytopes around groups are made for one question at a time, and one for so many
/// triangles: what a question about a large mesh takes has a limit.
const MADE_LEAST: usize = 64;
/// See [`MADE_LEAST`].
const MADE_SHARE: usize = 16;
/// The same of a cloud, which may have millions of points, whose hulls are soon made.
const MADE_SHARE_OF_POINTS: usize = 256;

/// A body and what holds its groups, made when it is first asked for.
#[derive(Debug)]
pub(crate) struct FaceGroups<'a> {
    pub(crate) boundary: Boundary<'a>,
    /// What the mesh does not keep, by the places of the nodes.
    made: BTreeMap<u32, Polytope>,
    /// How far a rounded coordinate of a point of the body may be off, metres.
    blur: f64,
}

/// The box around a group in its body's frame, placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedBox {
    pub(crate) centre: Vec3,
    /// From its centre to the middle of a face, along each of its axes.
    halves: [Vec3; 3],
    /// How far a rounded coordinate of a point of it may be off, metres.
    blur: f64,
}

impl PlacedBox {
    /// The corner that is farthest along a direction, rounded, and which it is.
    #[inline(always)]
    pub(crate) fn farthest(&self, along: &Vec3) -> (Vec3, u32) {
        let (mut corner, mut name) = (self.centre, 0);
        for (axis, half) in self.halves.iter().enumerate() {
            let is_forward = half.dot(along) > 0.0;
            corner += if is_forward { *half } else { -*half };
            name |= u32::from(is_forward) << axis;
        }
        (corner, name)
    }

    /// At least how far it reaches from its centre along a unit vector.
    pub(crate) fn reach(&self, unit: &Vec3) -> f64 {
        let [x, y, z] = &self.halves;
        let sum = x.dot(unit).abs() + y.dot(unit).abs() + z.dot(unit).abs();
        sum * (1.0 + tolerance::BOX_ROUNDING) + 8.0 * self.blur
    }

    /// No point of it is farther from its centre, up to rounding.
    pub(crate) fn reach_at_most(&self) -> f64 {
        self.halves.iter().map(nalgebra::Vector3::norm).sum()
    }
}

/// What holds a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outer<'b> {
    pub(crate) polytope: &'b Polytope,
    /// Whether it is the group's hull, so that its vertices are vertices of the body.
    pub(crate) is_hull: bool,
}

impl<'a> FaceGroups<'a> {
    pub(crate) fn new(boundary: Boundary<'a>) -> Self {
        // The rounding of a pose, of the middle of a box, and of a product with a unit vector.
        let places = boundary.reach() + boundary.pose.translation.amax();
        let blur = gamma(32) * places + 4.0 * UNDERFLOW;
        Self { boundary, made: BTreeMap::new(), blur }
    }

    /// The box around a group of a mesh.
    #[inline]
    pub(crate) fn placed_box(&self, node: Node) -> Option<PlacedBox> {
        let Extent { low, high } = self.boundary.mesh()?.boxes()[node.at as usize];
        let (middle, half) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
        let Pose { rotation, .. } = &self.boundary.pose;
        let along = |axis: usize| Vec3::from(rotation.column(axis)) * half[axis];
        // Written out: a closure over an array would be called for each of its elements.
        let halves = [along(0), along(1), along(2)];
        let centre = self.boundary.pose.apply_rounded(&middle);
        Some(PlacedBox { centre, halves, blur: self.blur })
    }

    /// The corners of the triangle of a group of one, in the frame of its body.
    pub(crate) fn corners(&self, node: Node) -> Option<[Vec3; 3]> {
        let mesh = self.boundary.mesh().filter(|_| node.count == 1)?;
        let corners = mesh.triangle(mesh.tree().triangle(node));
        Some(corners.map(|v| mesh.vertices()[v as usize]))
    }

    /// Those of all triangles of a small group, each once; none of a group that has more than are
    /// asked for.
    pub(crate) fn few_corners<const N: usize>(&self, node: Node) -> Option<ArrayVec<Vec3, N>> {
        let mesh = self.boundary.mesh().filter(|_| 3 * node.count as usize <= N)?;
        let mut names: ArrayVec<u32, N> = ArrayVec::new();
        for &triangle in mesh.tree().triangles(node) {
            for vertex in mesh.triangle(triangle) {
                if !names.contains(&vertex) {
                    names.push(vertex);
                }
            }
        }
        Some(names.into_iter().map(|vertex| mesh.vertices()[vertex as usize]).collect())
    }

    /// At least how high points in the frame of the body reach along a unit vector in the world.
    pub(crate) fn height_of_points(&self, points: &[Vec3], unit: &Vec3) -> f64 {
        let Pose { rotation, translation } = &self.boundary.pose;
        let local = rotation.tr_mul(unit);
        let heights = points.iter().map(|point| local.dot(point));
        let height = heights.fold(f64::NEG_INFINITY, f64::max) + unit.dot(translation);
        height + 8.0 * self.blur
    }

    /// A vertex of a body in one piece that is very likely farthest along a direction, placed and
    /// rounded, and its number; `hint`: the number of one that was, along another.
    #[inline]
    pub(crate) fn likely_farthest(
        &self,
        along: &Vec3,
        hint: Option<u32>,
        effort: &mut Effort<'_>,
    ) -> (Vec3, u32) {
        let Boundary { hull, pose, .. } = &self.boundary;
        let vertex = likely_vertex(hull, &pose.rotation.tr_mul(along), hint, effort);
        (pose.apply_rounded(hull.vertex(vertex)), vertex)
    }

    /// How far a rounded coordinate of a placed point may be off, metres.
    pub(crate) fn blur(&self) -> f64 {
        self.blur
    }

    /// The middle of the box around a group, or of a body in one piece, in the world and rounded.
    pub(crate) fn middle(&self, node: Node) -> Vec3 {
        let of_box = self.placed_box(node).map(|placed| placed.centre);
        let Boundary { hull, pose, .. } = &self.boundary;
        of_box.unwrap_or_else(|| pose.apply_rounded(&hull.bounds().centre))
    }

    /// At least how high it reaches along a unit vector in the world, of a body in one piece.
    pub(crate) fn height(&self, unit: &Vec3, effort: &mut Effort<'_>) -> f64 {
        let Boundary { hull, pose, .. } = &self.boundary;
        let local = pose.rotation.tr_mul(unit);
        let top = supporting_vertex(hull, &local, None, effort);
        let height = local.dot(&hull.vertices()[top as usize]) + unit.dot(&pose.translation);
        height + 8.0 * self.blur
    }

    /// At least how high a group reaches along a unit vector whose hull was prepared; none of one
    /// that is held by its box.
    pub(crate) fn height_of_hull(&self, node: Node, unit: &Vec3) -> Option<f64> {
        let Outer { polytope, is_hull } = self.outer(node)?;
        is_hull.then(|| self.height_of_points(polytope.vertices(), unit))
    }

    pub(crate) fn root(&self) -> Node {
        self.boundary.mesh().map_or(Node::ONLY, |mesh| mesh.tree().root())
    }

    fn is_whole(&self, node: Node) -> bool {
        node.count == self.root().count
    }

    /// The triangle of a group of one; 0 of a body in one piece.
    pub(crate) fn triangle(&self, node: Node) -> u32 {
        self.boundary.mesh().map_or(0, |mesh| mesh.tree().triangle(node))
    }

    /// A hull is one piece.
    pub(crate) fn halves(&self, node: Node) -> Option<[Node; 2]> {
        self.boundary.mesh().and_then(|_| node.children())
    }

    pub(crate) fn vertex_count(&self, node: Node) -> u64 {
        let all = self.boundary.vertices().len() as u64;
        if self.boundary.mesh().is_some() { all.min(3 * u64::from(node.count)) } else { all }
    }

    pub(crate) fn order(&self) -> Vec<u32> {
        self.boundary.mesh().map_or(Vec::new(), |mesh| mesh.tree().order().to_vec())
    }

    /// Whether its hull is at hand, or is to be built.
    pub(crate) fn has_hull(&self, node: Node) -> bool {
        self.is_whole(node) || node.count <= GROUP_MAX
    }

    /// Makes what holds a group, if that has to be made.
    pub(crate) fn prepare(&mut self, node: Node) {
        let Some(mesh) = self.boundary.mesh() else { return };
        if self.is_whole(node) || self.made.contains_key(&node.at) {
            return;
        }
        let has_hull = self.has_hull(node);
        if has_hull && mesh.kept_hull(node).is_some() {
            return;
        }
        let share = if mesh.are_points() { MADE_SHARE_OF_POINTS } else { MADE_SHARE };
        if self.made.len() >= MADE_LEAST + mesh.triangles().len() / share {
            self.made.clear();
        }
        let points =
            if has_hull { mesh.corners_of(node) } else { box_corners(mesh, node).to_vec() };
        // The vertices of a body are points that a hull can be built of.
        if let Ok(hull) = convex_hull(&points) {
            hull.polytope.guess_by_bounds();
            self.made.insert(node.at, hull.polytope);
        }
    }

    /// What holds the group that was prepared last.
    pub(crate) fn outer(&self, node: Node) -> Option<Outer<'_>> {
        let is_hull = self.has_hull(node);
        let kept =
            || self.boundary.mesh().filter(|_| is_hull).and_then(|mesh| mesh.kept_hull(node));
        let polytope = if self.is_whole(node) {
            Some(self.boundary.hull)
        } else {
            self.made.get(&node.at).or_else(kept)
        };
        polytope.map(|polytope| Outer { polytope, is_hull })
    }

    /// The body's vertex that a vertex of a hull of its points is.
    pub(crate) fn vertex(&self, hull: &Polytope, vertex: u32) -> Option<u32> {
        let Some(mesh) = self.boundary.mesh() else { return Some(vertex) };
        mesh.index_of(&hull.vertices()[vertex as usize])
    }
}

/// The corners of the box around a group in the body's frame, which are exact.
fn box_corners(mesh: &TriangleSurface, node: Node) -> [Vec3; 8] {
    let Extent { low, high } = mesh.boxes()[node.at as usize];
    std::array::from_fn(|corner| {
        Vec3::from_fn(|axis, _| if corner >> axis & 1 == 1 { high[axis] } else { low[axis] })
    })
}

/// A pair of vertices of two hulls as the bodies name them.
pub(crate) fn named(
    [p, q]: &[FaceGroups<'_>; 2],
    [of_p, of_q]: [&Polytope; 2],
    pair: VertexPair,
) -> Option<VertexPair> {
    Some(VertexPair { i: p.vertex(of_p, pair.i)?, j: q.vertex(of_q, pair.j)? })
}

/// A direction that two hulls name, as the bodies name it.
pub(crate) fn named_direction(
    groups: &[FaceGroups<'_>; 2],
    hulls: [&Polytope; 2],
    direction: &Direction,
) -> Option<Direction> {
    direction.renamed(|pair| named(groups, hulls, pair))
}
