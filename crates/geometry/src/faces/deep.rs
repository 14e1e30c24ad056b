//! How deep two bodies overlap of which one at least is no hull: as deep as the deepest two of
//! their pieces, which are triangles, points with their balls, or the whole of a convex body.
//!
//! Whoever takes two bodies apart takes any two of their pieces apart, so that no shift shorter
//! than that does it. A longer one may be needed: pieces that are shifted out of each other run
//! into others.
//!
//! Groups overlap at least as deep as any of their pieces: the trees are walked down from the
//! deepest groups, and what is less deep than two pieces that are known is not looked into.

use super::bound::least_gap;
use super::frontier::Frontier;
use super::{OuterPair, Surfaces, opened};
use crate::Vec3;
use crate::claim::Verdict;
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::BOX_HAZE;
use crate::pair::Pair;
use crate::penetration;
use crate::polyhedron::groups::FaceGroups;
use crate::polyhedron::tree::Node;
use crate::rounded::{self, RoundedPair};
use crate::witness::Witness;

/// The deepest two pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieceDepth {
    /// Around the depth of the deepest two, metres.
    pub bounds: [f64; 2],
    /// The numbers of these triangles or points; 0 of a body in one piece.
    pub pieces: [u32; 2],
    /// Unit vector, rounded: moving P along it by their depth takes these two apart.
    pub direction: Vec3,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// Finds the deepest two pieces of two bodies; none: no two overlap. A step is a pair of groups.
pub fn deepest(
    surfaces: &Surfaces<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<PieceDepth>, Stopped> {
    effort.one_question(|effort| {
        let groups = surfaces.groups();
        let roots = groups.each_ref().map(FaceGroups::root);
        let mut open = Frontier::new(surfaces.triangle_count());
        open.push(f64::NEG_INFINITY, roots);
        let haze = BOX_HAZE * surfaces.magnitude();
        DeepestSearch { radii: surfaces.radii, haze, groups, open, best: None }.run(effort)
    })
}

struct DeepestSearch<'a> {
    radii: [f64; 2],
    /// What rounding may take from the gap of two boxes, metres.
    haze: f64,
    groups: [FaceGroups<'a>; 2],
    /// By minus how deep groups overlap at most.
    open: Frontier,
    best: Option<PieceDepth>,
}

impl DeepestSearch<'_> {
    fn run(mut self, effort: &mut Effort<'_>) -> Result<Option<PieceDepth>, Stopped> {
        let stopped = self.descend(effort).err();
        let left = self.open.least().map_or(0.0, |least| -least);
        match (&mut self.best, stopped) {
            (None, Some(stopped)) => return Err(stopped),
            (Some(best), Some(_)) => {
                best.bounds[1] = best.bounds[1].max(left);
                best.stopped = stopped;
            }
            (_, None) => {}
        }
        Ok(self.best)
    }

    fn descend(&mut self, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        while let Some(next) = self.open.pop_below(-self.known()) {
            let pairs = opened(&self.groups, next.nodes);
            for (at, nodes) in pairs.iter().enumerate() {
                if let Err(stopped) = self.look(*nodes, effort) {
                    // What was not looked at may be as deep as what it is a part of.
                    pairs[at..].iter().for_each(|left| self.open.push(next.bound, *left));
                    return Err(stopped);
                }
            }
        }
        Ok(())
    }

    /// What is less deep does not matter.
    fn known(&self) -> f64 {
        self.best.map_or(0.0, |best| best.bounds[0])
    }

    /// Finds out how deep two groups overlap at most; of two pieces, how deep they do.
    fn look(&mut self, nodes: [Node; 2], effort: &mut Effort<'_>) -> Result<(), Stopped> {
        effort.spend_step()?;
        if (0..2).any(|k| !self.groups[k].has_hull(nodes[k])) {
            let apart = least_gap(&self.groups, nodes, self.radii, Some(self.haze), effort)?;
            if apart.gap > self.haze {
                return Ok(());
            }
        }
        OuterPair::prepare(&mut self.groups, nodes);
        let outer = OuterPair::of(&self.groups, nodes).ok_or(Stopped::Unresolved)?;
        let found = depth_of(&outer.pair, self.radii, effort)?;
        if found.bounds[1] <= self.known() {
            return Ok(());
        }
        if halved(&self.groups, nodes).is_some() {
            self.open.push(-found.bounds[1], nodes);
            return Ok(());
        }
        let pieces = [0, 1].map(|k| self.groups[k].triangle(nodes[k]));
        let upper = self.best.map_or(0.0, |best| best.bounds[1]).max(found.bounds[1]);
        let is_deeper = self.best.is_none_or(|best| found.bounds[0] > best.bounds[0]);
        let best = if is_deeper { Some(PieceDepth { pieces, ..found }) } else { self.best };
        self.best = best.map(|best| PieceDepth { bounds: [best.bounds[0], upper], ..best });
        Ok(())
    }
}

/// How deep two convex bodies overlap; 0 if they do not.
pub fn depth_of(
    pair: &Pair<'_>,
    radii: [f64; 2],
    effort: &mut Effort<'_>,
) -> Result<PieceDepth, Stopped> {
    let (pieces, witness) = ([0; 2], &mut Witness::default());
    if radii.iter().any(|radius| *radius > 0.0) {
        let pair = RoundedPair { cores: *pair, radii };
        let found = rounded::measure_depth(&pair, false, witness, effort)?;
        let (bounds, direction, stopped) =
            ([found.lower, found.upper], found.direction, found.stopped);
        return Ok(PieceDepth { bounds, pieces, direction, stopped });
    }
    let found = penetration::measure(pair, false, witness, effort)?;
    let is_deep = found.decision.verdict() == Verdict::Overlapping;
    let bounds = if is_deep { [found.lower, found.upper] } else { [0.0; 2] };
    Ok(PieceDepth { bounds, pieces, direction: found.direction, stopped: found.stopped })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hull::convex_hull;
    use crate::polyhedron::{Boundary, BoundaryKind, Polyhedron, TriangleSurface};
    use crate::polytope::Polytope;
    use crate::pose::Pose;
    use crate::samples::{Random, ball, hull};

    fn triangles(of: &TriangleSurface) -> Vec<Polytope> {
        let corners = |triangle: &[u32; 3]| triangle.map(|v| of.vertices()[v as usize]);
        of.triangles().iter().map(|one| convex_hull(&corners(one)).unwrap().polytope).collect()
    }

    /// The greatest of the depths of all pairs of pieces, and those pairs that have it.
    fn over_all(
        [p, q]: [&[Polytope]; 2],
        poses: [Pose; 2],
        radii: [f64; 2],
    ) -> ([f64; 2], Vec<[u32; 2]>) {
        let (mut bounds, mut found) = ([0.0_f64; 2], Vec::new());
        for (i, of_p) in (0..).zip(p) {
            for (j, of_q) in (0..).zip(q) {
                let pair = Pair::new(of_p, poses[0], of_q, poses[1]);
                let depth = depth_of(&pair, radii, &mut Effort::unlimited()).unwrap();
                if depth.bounds[1] > 0.0 {
                    found.push(([i, j], depth.bounds));
                }
                bounds = [bounds[0].max(depth.bounds[0]), bounds[1].max(depth.bounds[1])];
            }
        }
        let deepest = found.into_iter().filter(|(_, depth)| depth[1] >= bounds[0]);
        (bounds, deepest.map(|(pair, _)| pair).collect())
    }

    /// Soups, regions and clouds beside convex bodies, rounded ones and each other.
    #[test]
    fn the_deepest_pieces_are_the_deepest_of_all_pairs() {
        let random = &mut Random(31);
        let (mut deep, mut none) = (0, 0);
        for round in 0..60 {
            let points: Vec<Vec3> = (0..20).map(|_| random.vector()).collect();
            let soup: Vec<[u32; 3]> =
                (0..25).map(|_| [0; 3].map(|_: u32| random.below(20))).collect();
            let surface = TriangleSurface::new(&points, &soup).unwrap();
            let of_surface = convex_hull(surface.vertices()).unwrap().polytope;
            let (region, _) = Polyhedron::of_polytope(&ball(40, round)).unwrap();
            let of_region = hull(region.vertices());
            let convex = hull(&(0..8).map(|_| random.vector() * 0.7).collect::<Vec<_>>());
            let cloud = TriangleSurface::of_points(&points).unwrap();
            let of_cloud = hull(&points);
            let kinds = [
                (BoundaryKind::Surface(&surface), &of_surface, triangles(&surface), 0.0),
                (BoundaryKind::Region(&region), &of_region, triangles(region.surface()), 0.0),
                (BoundaryKind::Hull, &convex, vec![convex.clone()], 0.0),
                (BoundaryKind::Hull, &convex, vec![convex.clone()], 0.2),
                (BoundaryKind::Surface(&cloud), &of_cloud, triangles(&cloud), 0.15),
            ];
            let (p, q) = (&kinds[round as usize % 2], &kinds[random.below(5) as usize]);
            let place = random.vector() * 1.5;
            let poses = [Pose::identity(), random.pose(place)];
            let bodies = [
                Boundary { kind: p.0, hull: p.1, pose: poses[0] },
                Boundary { kind: q.0, hull: q.1, pose: poses[1] },
            ];
            let radii = [p.3, q.3];
            let surfaces = Surfaces { bodies, radii };
            let found = deepest(&surfaces, &mut Effort::unlimited()).unwrap();
            let (bounds, pairs) = over_all([&p.2, &q.2], poses, radii);
            let Some(found) = found else {
                assert!(bounds[1] <= 0.0, "{bounds:?}");
                none += 1;
                continue;
            };
            deep += 1;
            assert!(found.bounds[0] <= bounds[1] && bounds[0] <= found.bounds[1]);
            assert!(pairs.contains(&found.pieces), "{found:?} {pairs:?}");
            assert!((found.direction.norm() - 1.0).abs() < 1e-9, "{found:?}");
            let stopped = deepest(&surfaces, &mut Effort::with_steps(40));
            if let Ok(Some(less)) = stopped {
                assert!(less.bounds[0] <= bounds[1] && bounds[0] <= less.bounds[1], "{less:?}");
            }
        }
        assert!(deep > 25 && none > 3, "{deep} {none}");
    }
}
