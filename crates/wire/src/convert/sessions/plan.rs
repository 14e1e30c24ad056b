//! What a report contains.

use crate::convert::geometry::{direction_vector, length, signed_length, tolerance};
use crate::convert::paging::reply_bytes;
use crate::path::{BadField, NotImplemented, Path};
use clearance_geometry::claim::TIME_TOLERANCE;
use clearance_geometry::distance::Stops;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use clearance_scene::{Between, Listed, Questions};

/// What a coordinate of a contact polygon takes at least, unless it is zero.
const NUMBER_BYTES: u64 = 8;

/// Report options, checked.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What the scene is asked.
    pub questions: Questions,
    /// Contact events are told.
    pub events: bool,
    /// Closest points are told with distances.
    pub closest_points: bool,
    /// Pairs are told in packed arrays.
    pub packed: bool,
    /// So many bytes the client takes for a report; 0: the default.
    pub reply_bytes: u64,
}

impl Plan {
    /// From the wire; missing: the defaults.
    pub fn convert(
        path: &Path<'_>,
        wire: Option<&api::ReportOptions>,
        canonical: bool,
        steps_max: u64,
        limits: &Limits,
    ) -> Result<Self, BadField> {
        let default = api::ReportOptions::default();
        let wire = wire.unwrap_or(&default);
        let checked = |name: &'static str, value: Option<f64>| {
            value.map(|value| length(&path.field(name), value)).transpose()
        };
        let listed = match path.field("pairs").known(wire.pairs)? {
            api::PairSelection::Unspecified | api::PairSelection::Changed => Listed::Changed,
            api::PairSelection::None => Listed::Nothing,
            api::PairSelection::Near => Listed::Near,
            api::PairSelection::All => Listed::All,
        };
        let time_tolerance =
            wire.time_tolerance.map(|value| tolerance(&path.field("time_tolerance"), value));
        let between = Between {
            time_tolerance: time_tolerance.transpose()?.unwrap_or(TIME_TOLERANCE),
            clearance_tolerance: None,
        };
        let above = checked("distance_stop_above", wire.distance_stop_above)?;
        let below = wire.pairs_below.map(|value| signed_length(&path.field("pairs_below"), value));
        let direction = wire.along.as_ref();
        let along = direction.map(|d| direction_vector(&path.field("along"), Some(d)));
        let polygon_depth = wire.contact_polygon_depth;
        let questions = Questions {
            listed,
            nearest: wire.nearest_pairs,
            below: below.transpose()?,
            distances: wire.distances,
            stops: Stops { above, below: None },
            depths: wire.depths,
            normals: wire.normals || wire.face_normals,
            face_normals: wire.face_normals,
            polygons: wire.contact_polygons,
            polygon_depth: length(&path.field("contact_polygon_depth"), polygon_depth)?,
            polygon_numbers_max: polygon_numbers_max(wire, limits),
            impacts: wire.impacts,
            along: along.transpose()?,
            between: wire.first_contacts.then_some(between),
            between_chosen: between,
            certificates: wire.certificates,
            proof_bytes_max: proof_bytes_max(wire, limits),
            cover_steps_max: limits.cover_steps_max,
            placed: wire.placed_parts,
            canonical,
            steps_max,
        };
        Ok(Self {
            questions,
            events: wire.events.unwrap_or(true),
            closest_points: wire.closest_points,
            packed: wire.packed,
            reply_bytes: wire.reply_bytes_max,
        })
    }

    /// That it asks nothing that is not answered about bodies with meshes, if there are any, or
    /// about such that are not convex.
    pub fn check_meshes(
        &self,
        path: &Path<'_>,
        are_there: bool,
        are_convex: impl FnOnce() -> bool,
    ) -> Result<(), NotImplemented> {
        let asked = &self.questions;
        let refuse =
            |field, why: &'static str| Err(path.field("report").field(field).not_implemented(why));
        if are_there && asked.polygons {
            let why = "contact polygons of polyhedra, surfaces and curved bodies";
            return refuse("contact_polygons", why);
        }
        if are_there && asked.along.is_some() && !are_convex() {
            return refuse("along", "ranges along a direction of polyhedra and surfaces");
        }
        Ok(())
    }

    /// Whether what is asked of a pair takes as long as many verdicts.
    pub fn is_dear(&self) -> bool {
        let questions = &self.questions;
        let is_dear = questions.depths || questions.polygons || questions.face_normals;
        is_dear || questions.between.is_some() || questions.along.is_some()
    }
}

/// Likewise, as it is asked on the wire.
pub fn is_dear(wire: &api::ReportOptions) -> bool {
    let of_contact = wire.depths || wire.contact_polygons || wire.face_normals;
    of_contact || wire.first_contacts || wire.along.is_some()
}

/// How many coordinates of contact polygons, other than zeros, fit into the report at most.
fn polygon_numbers_max(wire: &api::ReportOptions, limits: &Limits) -> usize {
    if !wire.contact_polygons {
        return usize::MAX;
    }
    let bytes = reply_bytes(wire.reply_bytes_max, limits);
    usize::try_from(bytes / NUMBER_BYTES).unwrap_or(usize::MAX)
}

/// How many bytes of proofs fit into the report at most, or into one of StepSession: whoever takes
/// less may ask for the rest there.
fn proof_bytes_max(wire: &api::ReportOptions, limits: &Limits) -> usize {
    if !wire.certificates {
        return usize::MAX;
    }
    let again = limits.step_reply_bytes_max.min(limits.reply_bytes_max);
    let bytes = reply_bytes(wire.reply_bytes_max, limits).max(again);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
