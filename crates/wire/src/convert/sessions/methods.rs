//! The methods that a session names.

use crate::convert::options::{AUTO, MethodRow, method};
use crate::path::{BadField, Path};
use clearance_geometry::{contact_time, distance, penetration, separation};
use clearance_proto as api;
use clearance_scene::{Chosen, Methods};

/// The methods of a session; `path` leads to the request.
pub fn methods(path: &Path<'_>, wire: &api::OpenSessionRequest) -> Result<Methods, BadField> {
    let default = api::SessionMethods::default();
    let named = wire.methods.as_ref().unwrap_or(&default);
    let at = path.field("methods");
    let verdict = match (wire.method.as_str(), named.verdict.as_str()) {
        (name, "") => chosen(&path.field("method"), name, separation::METHODS)?,
        ("", name) => chosen(&at.field("verdict"), name, separation::METHODS)?,
        _ => return Err(at.field("verdict").bad("`method` says it already")),
    };
    Ok(Methods {
        verdict,
        distance: chosen(&at.field("distance"), &named.distance, distance::METHODS)?,
        first_contact: chosen(
            &at.field("first_contact"),
            &named.first_contact,
            contact_time::METHODS,
        )?,
        along: chosen(&at.field("along"), &named.along, penetration::METHODS)?,
    })
}

fn chosen<M: MethodRow>(
    path: &Path<'_>,
    name: &str,
    table: &'static [M],
) -> Result<Chosen<M>, BadField> {
    let is_named = !(name.is_empty() || name == AUTO);
    Ok(Chosen { method: method(path, name, table)?, is_named })
}
