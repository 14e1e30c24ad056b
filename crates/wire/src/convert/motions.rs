//! How the two bodies of a question about first contact move.

use super::geometry::tolerance;
use crate::path::{BadField, Path};
use clearance_bodies::table::first_contact::Motions;
use clearance_certificates::hulls::Moves;
use clearance_geometry::claim::TIME_TOLERANCE;
use clearance_proto as api;

/// Checks everything that can be wrong with the motions, whatever the bodies.
pub fn motions(path: &Path<'_>, wire: &api::FindFirstContactRequest) -> Result<Motions, BadField> {
    let finely = |name, value: Option<f64>| {
        value.map(|value| tolerance(&path.field(name), value)).transpose()
    };
    let moves = Moves::asked(path, wire)?;
    Ok(Motions {
        of_bodies: [moves.motion_p, moves.motion_q],
        deviations: [moves.deviation_p, moves.deviation_q],
        margin: moves.margin,
        time_tolerance: finely("time_tolerance", wire.time_tolerance)?.unwrap_or(TIME_TOLERANCE),
        clearance_tolerance: finely("clearance_tolerance", wire.clearance_tolerance)?,
    })
}
