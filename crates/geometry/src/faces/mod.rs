//! How far apart two bodies are, and when they meet, of which one at least is no hull: by groups of
//! the triangles that bound them.
//!
//! Everything but [`standing`] is asked of bodies whose surfaces share no point and of which
//! neither is within the other: then the distance of the bodies is that of their surfaces, and they
//! first meet when these do. How bodies stand of which none is rounded or a surface,
//! [`polyhedra::verdict`](crate::contact_time::polyhedra::verdict) tells.
//!
//! A surface is the union of its triangles, so a distance is the least of those of two triangles,
//! and the first contact the earliest. Both trees of triangles are walked down, the most promising
//! groups first (`frontier`). A group is held by its hull or by the box around it
//! (`polyhedron/groups.rs`), and how far two boxes are apart (`bound`), or what the methods for
//! convex bodies find out about two hulls, bounds what can be found in the groups. Two single
//! triangles are asked about exactly, by the same methods. Radii, margins, deviations and motions
//! of every kind are theirs.
//!
//! Reading order: [`distance`], [`margin`], [`standing`], [`contact`], [`deep`]; `cover` proves
//! what is free, by directions for all pairs of triangles. A cloud is triangles that are single
//! points, with a radius; `points` tells which of them are inside a region.

mod bound;
pub mod common;
pub mod contact;
mod cover;
pub mod deep;
pub mod distance;
mod frontier;
pub mod margin;
mod points;
mod prove;
#[cfg(test)]
mod region_tests;
pub mod standing;
#[cfg(test)]
mod surface_tests;
#[cfg(test)]
mod tests;
mod touch;

pub use self::cover::{Clear, prove_clear};
pub use self::prove::prove_solids;
pub use self::touch::prove_touching;

use arrayvec::ArrayVec;

use crate::claim::Solids;
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::pair::{Pair, Placed, VertexPair};
use crate::polyhedron::groups::{FaceGroups, Outer, named};
use crate::polyhedron::tree::Node;
use crate::polyhedron::{Boundary, HulledBody};

/// Two bodies, and the radii of the balls around all their points.
#[derive(Clone, Copy, Debug)]
pub struct Surfaces<'a> {
    /// The bodies.
    pub bodies: [Boundary<'a>; 2],
    /// Metres; of a body that is not rounded 0.
    pub radii: [f64; 2],
}

impl<'a> Surfaces<'a> {
    /// Two bodies that are not rounded.
    pub fn new(bodies: [&HulledBody<'a>; 2]) -> Self {
        Self { bodies: bodies.map(Boundary::from), radii: [0.0; 2] }
    }

    /// As a judge sees them.
    pub fn solids(&self) -> Solids<'a> {
        let [p, q] = &self.bodies;
        Solids { p: p.solid(), q: q.solid() }
    }

    fn groups(&self) -> [FaceGroups<'a>; 2] {
        self.bodies.map(FaceGroups::new)
    }

    /// Of both together; 0 of a body in one piece.
    fn triangle_count(&self) -> usize {
        let of = |body: Boundary<'_>| body.mesh().map_or(0, |mesh| mesh.triangles().len());
        self.bodies.map(of).iter().sum()
    }

    /// At least the largest coordinate of a point of either body, up to rounding, metres.
    fn magnitude(&self) -> f64 {
        let of = |body: Boundary<'_>| 2.0 * body.reach() + body.pose.translation.amax();
        self.bodies.map(of).into_iter().fold(0.0, f64::max)
    }
}

/// What holds two groups, placed.
#[derive(Clone, Copy, Debug)]
struct OuterPair<'b> {
    pair: Pair<'b>,
    /// Whether both are the hulls of their groups.
    are_hulls: bool,
}

impl<'b> OuterPair<'b> {
    /// Builds what holds two groups, if that has to be built.
    fn prepare(groups: &mut [FaceGroups<'_>; 2], nodes: [Node; 2]) {
        for (of_body, node) in groups.iter_mut().zip(nodes) {
            of_body.prepare(node);
        }
    }

    /// Of two groups that were prepared.
    fn of(groups: &'b [FaceGroups<'_>; 2], nodes: [Node; 2]) -> Option<Self> {
        let [p, q] = [0, 1].map(|k| {
            let outer = groups[k].outer(nodes[k]);
            outer.map(|Outer { polytope, is_hull }| {
                (Placed { body: polytope, pose: groups[k].boundary.pose }, is_hull)
            })
        });
        let ((p, p_is_hull), (q, q_is_hull)) = (p?, q?);
        Some(Self { pair: Pair { p, q }, are_hulls: p_is_hull && q_is_hull })
    }
}

/// The pairs of groups that two groups fall into; of two single faces these themselves.
fn opened(groups: &[FaceGroups<'_>; 2], nodes: [Node; 2]) -> ArrayVec<[Node; 2], 2> {
    match halved(groups, nodes) {
        Some((_, halves)) => halves.into(),
        None => [nodes].into_iter().collect(),
    }
}

/// The same, but that of a few triangles each is one at once: for who looks at their corners.
fn opened_wide(
    groups: &[FaceGroups<'_>; 2],
    nodes: [Node; 2],
) -> ArrayVec<[Node; 2], { bound::FEW }> {
    let Some((k, halves)) = halved(groups, nodes) else { return [nodes].into_iter().collect() };
    if nodes[k].count as usize > bound::FEW {
        return halves.into_iter().collect();
    }
    let mut open: ArrayVec<Node, { bound::FEW }> = [nodes[k]].into_iter().collect();
    let mut pairs = ArrayVec::new();
    while let Some(node) = open.pop() {
        match node.children() {
            Some([first, second]) => open.extend([second, first]),
            None => pairs.push(std::array::from_fn(|at| if at == k { node } else { nodes[at] })),
        }
    }
    pairs
}

/// Pairs of vertices of two hulls as the bodies name them.
fn names<const N: usize>(
    groups: &[FaceGroups<'_>; 2],
    pair: &Pair<'_>,
    pairs: &[VertexPair],
) -> ArrayVec<VertexPair, N> {
    let hulls = [pair.p.body, pair.q.body];
    pairs.iter().filter_map(|one| named(groups, hulls, *one)).collect()
}
