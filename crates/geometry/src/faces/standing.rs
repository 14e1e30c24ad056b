//! How a rounded polytope and what a mesh bounds stand, exactly.

use arrayvec::ArrayVec;

use super::cover::{Clear, prove_clear};
use super::{OuterPair, Surfaces, names};
use crate::claim::{RoundedSolidProof, Verdict};
use crate::contact_time::polyhedra::proof::Unproven;
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::effort::{Effort, Stopped};
use crate::pair::VertexPair;
use crate::polyhedron::groups::{Boundary, FaceGroups};
use crate::polyhedron::placed::{Stand, slack};
use crate::polyhedron::ray::{Start, around, crosses_odd};
use crate::pose::scaled_points::{Exponents, ScaledPoints};
use crate::rounded::{self, RoundedPair};
use crate::witness::Witness;

/// How they stand, and what shows that they meet.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Farther apart than the sum of the radii.
    Apart,
    /// Exactly as far: these pairs are, of a face of each body.
    Touching(ArrayVec<VertexPair, 6>),
    /// These pairs are nearer than that.
    Near(ArrayVec<VertexPair, 6>),
    /// The polytope that is rounded is inside the mesh, as its first vertex is.
    Inside,
}

impl Standing {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Apart => Verdict::Separated,
            Self::Touching(_) => Verdict::Touching,
            Self::Near(_) | Self::Inside => Verdict::Overlapping,
        }
    }

    /// Its proof; a cover has at most `steps_max` steps and links.
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
        })
    }
}

/// How they stand: the nearest two triangles tell, and whether the polytope is inside where none
/// are that near. A step is a pair of groups, or a box that a ray looks at.
pub fn stand(surfaces: &Surfaces<'_>, effort: &mut Effort<'_>) -> Result<Standing, Stopped> {
    effort.one_question(|effort| {
        let by_faces = nearest(surfaces, effort)?;
        if matches!(by_faces, Standing::Near(_)) {
            return Ok(by_faces);
        }
        let is_inside = match surfaces.bodies {
            [polytope, Boundary { mesh: Some(_), .. }] if polytope.mesh.is_none() => {
                is_inside(&surfaces.bodies[0], &surfaces.bodies[1], effort)?
            }
            [Boundary { mesh: Some(_), .. }, polytope] if polytope.mesh.is_none() => {
                is_inside(&surfaces.bodies[1], &surfaces.bodies[0], effort)?
            }
            _ => false,
        };
        Ok(if is_inside { Standing::Inside } else { by_faces })
    })
}

/// By the faces alone.
fn nearest(surfaces: &Surfaces<'_>, effort: &mut Effort<'_>) -> Result<Standing, Stopped> {
    let mut groups = surfaces.groups();
    let mut found = Standing::Apart;
    let mut open = vec![groups.each_ref().map(FaceGroups::root)];
    while let Some(nodes) = open.pop() {
        effort.spend_step()?;
        OuterPair::prepare(&mut groups, nodes);
        let outer = OuterPair::of(&groups, nodes).ok_or(Stopped::Unresolved)?;
        let pair = RoundedPair { cores: outer.pair, radii: surfaces.radii };
        let proof = rounded::verdict(&pair, &mut Witness::default(), effort)?;
        if proof.verdict == Verdict::Separated {
            continue;
        }
        if let Some((_, [first, second])) = halved(&groups, nodes) {
            open.extend([second, first]);
            continue;
        }
        let pairs = names(&groups, &outer.pair, &proof.pairs);
        if proof.verdict == Verdict::Overlapping {
            return Ok(Standing::Near(pairs));
        }
        if found == Standing::Apart {
            found = Standing::Touching(pairs);
        }
    }
    Ok(found)
}

/// Whether a polytope is inside a mesh, of whose triangles none meets it: whether its first vertex
/// is.
fn is_inside(
    polytope: &Boundary<'_>,
    mesh: &Boundary<'_>,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    let Some(solid) = mesh.mesh else { return Ok(false) };
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
