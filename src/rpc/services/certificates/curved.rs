//! Claims about a curved body and another one, of which the polytopes around and in what is curved
//! are built.

use clearance_certificates::curved::{CurvedStatement, OfSides, SideBodies, SidePolytope, Sides};
use clearance_certificates::told::Told;
use clearance_geometry::effort::Effort;
use clearance_wire::convert::body::AskedBody;
use clearance_wire::status::Failure;

/// Reads what an answer about two bodies claims; `claim_of` reads what is claimed of each side.
pub(super) fn read<Q: OfSides, C>(
    told: &Told<'_, Q, Q::Told>,
    bodies: [&AskedBody; 2],
    claim_of: impl Fn(&Told<'_, Q, Q::Told>, [AskedBody; 2]) -> Result<C, Failure>,
) -> Result<CurvedStatement<AskedBody, C>, Failure> {
    let body = |k: usize, polytope: Option<SidePolytope<'_>>| match polytope {
        None => bodies[k].clone(),
        Some(SidePolytope { vertices, radius }) => {
            AskedBody::of_checked(vertices.to_vec(), radius, *bodies[k].pose())
        }
    };
    let sides = Sides { curved: bodies.map(AskedBody::curved), body };
    clearance_certificates::curved::read(told, &sides, |told, bodies| {
        claim_of(told, bodies.clone())
    })
}

/// Whether the polytopes of a side have the vertices that are listed, by which proofs name them.
pub(super) fn are_listed(
    bodies: SideBodies<'_, AskedBody>,
    effort: &mut Effort<'_>,
) -> Result<bool, Failure> {
    for (body, listed) in bodies {
        let Some(listed) = listed else { continue };
        let built = body.clone().prepare(effort)?;
        if built.body.vertices() != listed {
            return Ok(false);
        }
    }
    Ok(true)
}
