//! How two bodies stand of which one is rounded, or a surface, exactly: by pieces, which are
//! triangles or the whole of a polytope. Two pieces stand as any convex bodies do, with their
//! radii; the nearest pieces tell it of the bodies, unless one is within the other.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use arrayvec::ArrayVec;

use super::bound::{KnownDirection, LookAlong, gap_along, least_gap};
use super::points::CloudInRegion;
use super::{OuterPair, Surfaces, names, opened};
use crate::claim::{StaticProof, Verdict};
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::BOX_HAZE;
use crate::pair::{Pair, VertexPair};
use crate::polyhedron::Polyhedron;
use crate::polyhedron::entering::{Entering, SurfaceEntry};
use crate::polyhedron::groups::{Boundary, BoundaryKind, FaceGroups};
use crate::polyhedron::placed::{Stand, Whose, slack};
use crate::polyhedron::ray::{Start, around, crosses_odd};
use crate::polyhedron::tree::Node;
use crate::pose::scaled_points::{Exponents, ScaledPoints};
use crate::rounded::{self, RoundedPair};
use crate::separation::{METHODS, decide};
use crate::witness::Witness;

/// How they stand, and what shows that they meet.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Farther apart than the sum of the radii.
    Apart,
    /// Exactly as far: these pairs are, of a face of each body. Of bodies that are not rounded no
    /// two pieces have inner points in common.
    Touching(ArrayVec<VertexPair, 6>),
    /// These pairs are nearer than that; of bodies that are not rounded the hull of their
    /// differences has the origin strictly inside.
    Near(ArrayVec<VertexPair, 6>),
    /// This vertex of what is rounded is inside the region: then so is the whole polytope, or the
    /// point of the cloud.
    Inside(u32),
    /// A surface is inside a region there.
    Entered(SurfaceEntry),
}

impl Standing {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Apart => Verdict::Separated,
            Self::Touching(_) => Verdict::Touching,
            Self::Near(_) | Self::Inside(_) | Self::Entered(_) => Verdict::Overlapping,
        }
    }
}

/// How they stand: the nearest two triangles tell, and whether the polytope is inside where none
/// are that near. A step is a pair of groups, or a box that a ray looks at.
pub fn stand(surfaces: &Surfaces<'_>, effort: &mut Effort<'_>) -> Result<Standing, Stopped> {
    effort.one_question(|effort| {
        let mut contacts = Contacts::new(surfaces);
        let (by_faces, touching) = contacts.nearest(effort)?;
        if matches!(by_faces, Standing::Near(_)) {
            return Ok(by_faces);
        }
        let [p, q] = &surfaces.bodies;
        let is_inside = match (p.kind, q.kind) {
            (BoundaryKind::Hull, BoundaryKind::Region(region)) => is_inside(p, region, q, effort)?,
            (BoundaryKind::Region(region), BoundaryKind::Hull) => is_inside(q, region, p, effort)?,
            _ => return contacts.inside(by_faces, &touching, effort),
        };
        Ok(if is_inside { Standing::Inside(0) } else { by_faces })
    })
}

/// Pairs of a piece of each body that touch, of bodies of which no two pieces overlap.
pub(super) fn touching_pieces(
    surfaces: &Surfaces<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<ArrayVec<VertexPair, 6>>, Stopped> {
    let mut contacts = Contacts::new(surfaces);
    let roots = contacts.groups.each_ref().map(FaceGroups::root);
    let mut found = None;
    contacts.each(roots, effort, |_, contact| {
        found = (contact.verdict == Verdict::Touching).then_some(contact.pairs);
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// A surface and a region, if the bodies are these.
pub(super) fn entering<'a>(surfaces: &Surfaces<'a>) -> Option<Entering<'a>> {
    let [p, q] = &surfaces.bodies;
    match (p.kind, q.kind) {
        (BoundaryKind::Surface(surface), BoundaryKind::Region(region)) => {
            Some(Entering::new(surface, &p.pose, region, q.pose, Whose::P))
        }
        (BoundaryKind::Region(region), BoundaryKind::Surface(surface)) => {
            Some(Entering::new(surface, &q.pose, region, p.pose, Whose::Q))
        }
        _ => None,
    }
}

/// Pieces of two bodies that are in contact.
struct Contacts<'a, 'b> {
    surfaces: &'b Surfaces<'a>,
    groups: [FaceGroups<'a>; 2],
    /// What rounding may take from the gap of two boxes, metres.
    haze: f64,
}

/// Two pieces that are in contact.
struct PieceContact {
    nodes: [Node; 2],
    verdict: Verdict,
    /// Pairs of their vertices that show it.
    pairs: ArrayVec<VertexPair, 6>,
}

impl<'a, 'b> Contacts<'a, 'b> {
    fn new(surfaces: &'b Surfaces<'a>) -> Self {
        let haze = BOX_HAZE * surfaces.magnitude();
        Self { surfaces, groups: surfaces.groups(), haze }
    }

    /// How the bodies stand by the pieces alone; and of a surface beside a region all triangles
    /// that touch this, if none overlaps it.
    fn nearest(
        &mut self,
        effort: &mut Effort<'_>,
    ) -> Result<(Standing, BTreeMap<u32, Node>), Stopped> {
        let surface = self.surface_beside_region();
        let (mut found, mut touching) = (Standing::Apart, BTreeMap::new());
        let roots = self.groups.each_ref().map(FaceGroups::root);
        self.each(roots, effort, |groups, contact| {
            let PieceContact { nodes, verdict, pairs } = contact;
            if verdict == Verdict::Overlapping {
                found = Standing::Near(pairs);
                return ControlFlow::Break(());
            }
            if let Some(k) = surface {
                touching.insert(groups[k].triangle(nodes[k]), nodes[k]);
            }
            if found == Standing::Apart {
                found = Standing::Touching(pairs);
            }
            ControlFlow::Continue(())
        })?;
        Ok((found, touching))
    }

    /// How bodies of which no two pieces overlap stand, where a surface may be inside a region.
    fn inside(
        &mut self,
        by_faces: Standing,
        touching: &BTreeMap<u32, Node>,
        effort: &mut Effort<'_>,
    ) -> Result<Standing, Stopped> {
        let Some(surface) = self.surface_beside_region() else { return Ok(by_faces) };
        let bodies = &self.surfaces.bodies;
        let (of_surface, of_region) = (&bodies[surface], &bodies[1 - surface]);
        let cloud = CloudInRegion::new(of_surface, &self.groups[surface], of_region);
        let Some(mut cloud) = cloud else {
            let entry = self.entry(touching, effort)?;
            return Ok(entry.map_or(by_faces, Standing::Entered));
        };
        // A ball that touches the boundary has its centre off it.
        let (on_it, none) = (touching, BTreeMap::new());
        let is_rounded = self.surfaces.radii[surface] > 0.0;
        let found = cloud.first_inside(if is_rounded { &none } else { on_it }, effort)?;
        Ok(found.map_or(by_faces, |triangle| {
            if is_rounded {
                Standing::Inside(triangle)
            } else {
                Standing::Entered(SurfaceEntry::at_point(triangle))
            }
        }))
    }

    /// Where a surface that overlaps no piece of a region is inside it, if it is; `touching` are
    /// all of its triangles that touch the region's.
    fn entry(
        &mut self,
        touching: &BTreeMap<u32, Node>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<SurfaceEntry>, Stopped> {
        let Some(surface) = self.surface_beside_region() else { return Ok(None) };
        let Some(mut entering) = entering(self.surfaces) else { return Ok(None) };
        for (&triangle, &node) in touching {
            let mut nodes = self.groups.each_ref().map(FaceGroups::root);
            nodes[surface] = node;
            // One triangle at a time: all pairs may be as many as the square.
            let mut others = Vec::new();
            self.each(nodes, effort, |groups, contact| {
                let region = 1 - surface;
                others.push(groups[region].triangle(contact.nodes[region]));
                ControlFlow::Continue(())
            })?;
            let entry = entering.of_touching(triangle, &others, effort)?;
            if entry.is_some() {
                return Ok(entry);
            }
        }
        entering.of_parts(touching.keys().copied(), effort)
    }

    /// Which of the bodies is a surface beside a region.
    fn surface_beside_region(&self) -> Option<usize> {
        let [p, q] = &self.surfaces.bodies;
        match (p.kind, q.kind) {
            (BoundaryKind::Surface(_), BoundaryKind::Region(_)) => Some(0),
            (BoundaryKind::Region(_), BoundaryKind::Surface(_)) => Some(1),
            _ => None,
        }
    }

    /// Hands over all pieces of two groups that are in contact, until that is enough.
    fn each(
        &mut self,
        from: [Node; 2],
        effort: &mut Effort<'_>,
        mut take: impl FnMut(&[FaceGroups<'a>; 2], PieceContact) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let (haze, radii) = (self.haze, self.surfaces.radii);
        let groups = &mut self.groups;
        let (mut open, mut is_first) = (vec![from], true);
        let mut apart = ApartByBoxes { haze, radii, known: None };
        while let Some(nodes) = open.pop() {
            effort.spend_step()?;
            let has_halves = halved(groups, nodes).is_some();
            // The hulls of whole bodies are at hand; boxes cost less than those of groups.
            let by_boxes = !is_first || !(0..2).all(|k| groups[k].has_hull(nodes[k]));
            if by_boxes && apart.tells(groups, nodes, effort)? {
                continue;
            }
            if by_boxes && has_halves {
                open.extend(nearest_last(groups, nodes));
                continue;
            }
            is_first = false;
            OuterPair::prepare(groups, nodes);
            let outer = OuterPair::of(groups, nodes).ok_or(Stopped::Unresolved)?;
            let (verdict, pairs) = how_hulls_stand(&outer.pair, radii, effort)?;
            if verdict == Verdict::Separated {
                continue;
            }
            if has_halves {
                open.extend(nearest_last(groups, nodes));
                continue;
            }
            let pairs = names(groups, &outer.pair, &pairs);
            if take(groups, PieceContact { nodes, verdict, pairs }).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The pairs of groups that two groups fall into, the one of which the middles are nearer to each
/// other last: there a contact is likely found first.
fn nearest_last(groups: &[FaceGroups<'_>; 2], nodes: [Node; 2]) -> ArrayVec<[Node; 2], 2> {
    let between = |[m, n]: &[Node; 2]| (groups[1].middle(*n) - groups[0].middle(*m)).norm();
    let mut pairs = opened(groups, nodes);
    pairs.sort_by(|a, b| between(b).total_cmp(&between(a)));
    pairs
}

/// Tells of groups that they are apart, by the boxes around them or by their corners.
struct ApartByBoxes {
    /// What rounding may take from the gap of two boxes, metres.
    haze: f64,
    radii: [f64; 2],
    /// What told it last: of groups that are near each other the same direction often does.
    known: Option<KnownDirection>,
}

impl ApartByBoxes {
    fn tells(
        &mut self,
        groups: &[FaceGroups<'_>; 2],
        nodes: [Node; 2],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let Self { haze, radii, .. } = *self;
        let gap_of = |known: &KnownDirection| known.gap(groups, nodes, radii);
        if self.known.as_ref().map(gap_of).is_some_and(|gap| gap > haze) {
            return Ok(true);
        }
        let from = self.known.as_ref().map(|known| known.unit);
        let look = LookAlong { from, above: Some(haze), ..LookAlong::default() };
        let has_piece = groups.iter().any(|of| of.boundary.mesh().is_none());
        let bound = if has_piece && halved(groups, nodes).is_some() {
            least_gap(groups, nodes, radii, Some(haze), effort)?
        } else {
            gap_along(groups, nodes, radii, look, effort)?
        };
        if bound.gap > haze {
            self.known = bound.along.map(|unit| KnownDirection::new(groups, unit, effort));
            return Ok(true);
        }
        Ok(false)
    }
}

/// How two convex bodies stand, with what shows that they meet.
fn how_hulls_stand(
    pair: &Pair<'_>,
    radii: [f64; 2],
    effort: &mut Effort<'_>,
) -> Result<(Verdict, ArrayVec<VertexPair, 6>), Stopped> {
    let witness = &mut Witness::default();
    if radii.iter().any(|radius| *radius > 0.0) {
        let proof = rounded::verdict(&RoundedPair { cores: *pair, radii }, witness, effort)?;
        return Ok((proof.verdict, proof.pairs));
    }
    let proof = decide(pair, &METHODS[0], witness, effort)?.proof;
    let pairs = match &proof {
        StaticProof::Separated { .. } => ArrayVec::new(),
        StaticProof::Touching { pairs, .. } => pairs.iter().copied().collect(),
        StaticProof::Overlapping { pairs } => pairs.clone(),
    };
    Ok((proof.verdict(), pairs))
}

/// Whether a polytope is inside a region, of whose triangles none meets it: whether its first
/// vertex is.
fn is_inside(
    polytope: &Boundary<'_>,
    solid: &Polyhedron,
    mesh: &Boundary<'_>,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    let stand = Stand::on_demand(solid, mesh.pose);
    let first = &polytope.vertices()[..1];
    let of_first = Exponents::of(first, &polytope.pose);
    let of_mesh = Exponents::of_looked_at(solid.surface().least_exponent(), &mesh.pose);
    let exponent = of_first.placed.min(of_mesh.placed);
    let point = ScaledPoints::new(first, &polytope.pose, of_first, exponent).place(0);
    let rounded = polytope.pose.apply_rounded(&first[0]);
    let within = around(&rounded, slack(first, &polytope.pose));
    if !stand.whole().meets(&within) {
        return Ok(false);
    }
    let mut corners = ScaledPoints::new(solid.vertices(), &mesh.pose, of_mesh, exponent);
    // The point is on no triangle, so where next to it the ray starts does not matter.
    let start = Start::beside([point.clone(), point.clone(), point], within);
    crosses_odd(&start, &stand, effort, |triangle| {
        Some(solid.triangle(triangle).map(|i| corners.point(i).clone()))
    })
}
