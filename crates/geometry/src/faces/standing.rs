//! How two bodies stand of which one is rounded, or a surface, exactly: by pieces, which are
//! triangles or the whole of a polytope. Two pieces stand as any convex bodies do, with their
//! radii; the nearest pieces tell it of the bodies, unless one is within the other.

use arrayvec::ArrayVec;

use super::bound::least_gap;
use super::cover::{Clear, prove_clear};
use super::{OuterPair, Surfaces, names, opened, touch};
use crate::claim::{RoundedSolidProof, SolidProof, StaticProof, Verdict};
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::contact_time::polyhedra::proof::{Unproven, is_accepted_of};
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::BOX_HAZE;
use crate::pair::{Pair, VertexPair};
use crate::polyhedron::Polyhedron;
use crate::polyhedron::entering::{Entering, SurfaceEntry};
use crate::polyhedron::groups::{Boundary, BoundaryKind, FaceGroups};
use crate::polyhedron::placed::{Stand, Whose, slack};
use crate::polyhedron::ray::{Start, around, crosses_odd};
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
    /// The polytope that is rounded is inside the mesh, as its first vertex is.
    Inside,
    /// A surface is inside a region there.
    Entered(SurfaceEntry),
}

impl Standing {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Apart => Verdict::Separated,
            Self::Touching(_) => Verdict::Touching,
            Self::Near(_) | Self::Inside | Self::Entered(_) => Verdict::Overlapping,
        }
    }

    /// Its proof of bodies that are not rounded; a cover has at most `steps_max` steps and links.
    pub fn prove_pieces(
        self,
        surfaces: &Surfaces<'_>,
        steps_max: u64,
        effort: &mut Effort<'_>,
    ) -> Result<SolidProof, Unproven> {
        let mut cover = |clear| prove_clear(surfaces, clear, steps_max, effort);
        Ok(match self {
            Self::Apart => SolidProof::Separated(cover(Clear::Beyond(0.0))?),
            Self::Touching(pairs) if is_beside_region(surfaces) => {
                return touch::prove(surfaces, &pairs, steps_max, effort);
            }
            Self::Touching(pairs) => {
                SolidProof::TouchingPieces { pairs, cover: cover(Clear::NoNearer)? }
            }
            Self::Near(pairs) => SolidProof::OverlappingPieces(pairs),
            Self::Entered(entry) => return prove_entry(surfaces, &entry, effort),
            Self::Inside => return Err(Unproven::TooThin),
        })
    }

    /// Its proof of bodies of which one is rounded; a cover has at most `steps_max` steps and
    /// links.
    pub fn prove(
        self,
        surfaces: &Surfaces<'_>,
        steps_max: u64,
        effort: &mut Effort<'_>,
    ) -> Result<RoundedSolidProof, Unproven> {
        let mut cover = |clear| prove_clear(surfaces, clear, steps_max, effort);
        Ok(match self {
            Self::Apart => RoundedSolidProof::Apart(cover(Clear::Beyond(0.0))?),
            Self::Touching(pairs) => {
                RoundedSolidProof::Touching { pairs, cover: cover(Clear::NoNearer)? }
            }
            Self::Near(pairs) => RoundedSolidProof::Near(pairs),
            Self::Inside => RoundedSolidProof::Inside(0),
            Self::Entered(_) => return Err(Unproven::TooThin),
        })
    }
}

/// How they stand: the nearest two triangles tell, and whether the polytope is inside where none
/// are that near. A step is a pair of groups, or a box that a ray looks at.
pub fn stand(surfaces: &Surfaces<'_>, effort: &mut Effort<'_>) -> Result<Standing, Stopped> {
    effort.one_question(|effort| {
        let mut entering = entering(surfaces);
        let mut meeting = Vec::new();
        let listed = entering.as_ref().map(|_| &mut meeting);
        let by_faces = nearest(surfaces, listed, effort)?;
        if matches!(by_faces, Standing::Near(_)) {
            return Ok(by_faces);
        }
        if let Some(entering) = &mut entering {
            let mut meeting = surface_first(surfaces, &meeting);
            let entry = entering.find(&mut meeting, effort)?;
            return Ok(entry.map_or(by_faces, Standing::Entered));
        }
        let [p, q] = &surfaces.bodies;
        let is_inside = match (p.kind, q.kind) {
            (BoundaryKind::Hull, BoundaryKind::Region(region)) => is_inside(p, region, q, effort)?,
            (BoundaryKind::Region(region), BoundaryKind::Hull) => is_inside(q, region, p, effort)?,
            _ => false,
        };
        Ok(if is_inside { Standing::Inside } else { by_faces })
    })
}

/// Whether one of the bodies is a region.
fn is_beside_region(surfaces: &Surfaces<'_>) -> bool {
    surfaces.bodies.iter().any(|body| matches!(body.kind, BoundaryKind::Region(_)))
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

/// Pairs of triangles of P and of Q as pairs of the surface and of the region.
fn surface_first(surfaces: &Surfaces<'_>, pairs: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let is_p = matches!(surfaces.bodies[0].kind, BoundaryKind::Surface(_));
    pairs.iter().map(|&[m, n]| if is_p { [m, n] } else { [n, m] }).collect()
}

/// The proof that a surface is inside a region at a place that was found.
fn prove_entry(
    surfaces: &Surfaces<'_>,
    entry: &SurfaceEntry,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let entering = entering(surfaces).ok_or(Unproven::TooThin)?;
    let triangle = entering.triangle(entry);
    let solids = surfaces.solids();
    for weights in entering.proposals(entry) {
        let proof = SolidProof::InnerPiece { triangle, weights };
        if is_accepted_of(&solids, &proof, effort)? {
            return Ok(proof);
        }
    }
    Err(Unproven::TooThin)
}

/// By the pieces alone. All pairs of triangles that touch are listed, if that is asked for.
fn nearest(
    surfaces: &Surfaces<'_>,
    mut listed: Option<&mut Vec<[u32; 2]>>,
    effort: &mut Effort<'_>,
) -> Result<Standing, Stopped> {
    let mut groups = surfaces.groups();
    // What rounding may take from the gap of two boxes, metres.
    let haze = BOX_HAZE * surfaces.magnitude();
    let mut found = Standing::Apart;
    let mut open = vec![groups.each_ref().map(FaceGroups::root)];
    while let Some(nodes) = open.pop() {
        effort.spend_step()?;
        if (0..2).any(|k| !groups[k].has_hull(nodes[k])) {
            let bound = least_gap(&groups, nodes, surfaces.radii, Some(haze), effort)?;
            if bound.gap <= haze {
                open.extend(opened(&groups, nodes).into_iter().rev());
            }
            continue;
        }
        OuterPair::prepare(&mut groups, nodes);
        let outer = OuterPair::of(&groups, nodes).ok_or(Stopped::Unresolved)?;
        let (verdict, pairs) = how_hulls_stand(&outer.pair, surfaces.radii, effort)?;
        if verdict == Verdict::Separated {
            continue;
        }
        if let Some((_, [first, second])) = halved(&groups, nodes) {
            open.extend([second, first]);
            continue;
        }
        let pairs = names(&groups, &outer.pair, &pairs);
        if verdict == Verdict::Overlapping {
            return Ok(Standing::Near(pairs));
        }
        if let Some(listed) = &mut listed {
            listed.push([0, 1].map(|k| groups[k].triangle(nodes[k])));
        }
        if found == Standing::Apart {
            found = Standing::Touching(pairs);
        }
    }
    Ok(found)
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
    let stand = Stand::new(solid, mesh.pose);
    let first = &polytope.vertices()[..1];
    let of_first = Exponents::of(first, &polytope.pose);
    let of_mesh = Exponents::of(solid.vertices(), &mesh.pose);
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
    crosses_odd(&start, stand.boxed(), effort, |triangle| {
        Some(solid.triangle(triangle).map(|i| corners.point(i).clone()))
    })
}
