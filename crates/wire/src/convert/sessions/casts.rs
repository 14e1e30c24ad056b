//! Casts in flat arrays, from the wire.

use crate::convert::body::{AskedBody, Unready, body_for};
use crate::convert::catalogue::Catalogue;
use crate::convert::geometry::coordinates;
use crate::convert::sessions::own_filters::{AskedOwnLists, WireLists};
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::Body;
use clearance_bodies::table::place::Place;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_proto as api;

/// Packed casts, checked.
#[derive(Debug)]
pub struct AskedCasts {
    /// The bodies that are moved.
    pub bodies: Vec<AskedBody>,
    /// In order.
    pub ways: Vec<AskedWay>,
    /// What each of them leaves out.
    pub own: AskedOwnLists,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct AskedWay {
    /// The body, by its place.
    pub body: u32,
    /// Where it starts.
    pub start: Pose,
    /// Where it goes within t from 0 to 1.
    pub velocity: Vec3,
}

impl AskedCasts {
    /// Those of a request, if it has any; `root` is its path.
    pub fn convert(
        root: &Path<'_>,
        wire: &api::QuerySceneRequest,
        catalogue: &Catalogue<'_>,
    ) -> Result<Option<Self>, Failure> {
        let bodies = root.field("cast_bodies");
        bodies.within(catalogue.limits.scene_queries_max(), wire.cast_bodies.len())?;
        let Some(packed) = &wire.packed_casts else { return Ok(None) };
        let path = root.field("packed_casts");
        let count = packed.translations.len() / 3;
        path.field("translations").within(catalogue.limits.packed_rays_max(), count)?;
        check_lengths(&path, packed, count)?;
        coordinates(&path.field("translations"), &packed.translations)?;
        coordinates(&path.field("displacements"), &packed.displacements)?;
        let given = wire.cast_bodies.len();
        let is_known = |body: u32| (body as usize) < given;
        if let Some(index) = packed.bodies.iter().position(|body| !is_known(body)) {
            let why = format!("must be the place of one of {given} `cast_bodies`");
            return Err(path.field("bodies").index(index).bad(why).into());
        }
        if packed.bodies.is_empty() && count > 0 && given != 1 {
            let why = format!("must say which of {given} `cast_bodies` each cast moves");
            return Err(path.field("bodies").bad(why).into());
        }
        let asked = |(index, body): (usize, &api::PlacedBody)| {
            let path = bodies.index(index);
            if body.pose.is_some() {
                return Err(path.field("pose").bad("is said by `packed_casts`").into());
            }
            body_for(Place::QueryShape, &path, Some(body), catalogue)
        };
        let asked: Result<Vec<AskedBody>, Failure> =
            wire.cast_bodies.iter().enumerate().map(asked).collect();
        let (ignored, categories) = (&packed.ignored_bodies, &packed.categories);
        let lists = WireLists { ignored, categories, masks: &packed.masks };
        let own = AskedOwnLists::convert(&path, &lists, count)?;
        Ok(Some(Self { bodies: asked?, ways: ways(&path, packed)?, own }))
    }

    /// The bodies, at the origin; may build hulls.
    pub fn prepare(&self, effort: &mut Effort<'_>) -> Result<Vec<Body>, Unready> {
        let ready = |asked: &AskedBody| Ok(asked.clone().prepare(effort)?.body);
        self.bodies.iter().map(ready).collect()
    }
}

/// The arrays are as long as the translations say, rotations or bodies may be missing.
fn check_lengths(path: &Path<'_>, wire: &api::PackedCasts, count: usize) -> Result<(), Failure> {
    for (name, length, each, is_optional) in [
        ("translations", wire.translations.len(), 3, false),
        ("displacements", wire.displacements.len(), 3, false),
        ("rotations", wire.rotations.len(), 4, true),
        ("bodies", wire.bodies.len(), 1, true),
    ] {
        if length != count * each && !(is_optional && length == 0) {
            let why = format!("must have {each} numbers for each of the {count} casts");
            return Err(path.field(name).bad(why).into());
        }
    }
    Ok(())
}

fn ways(path: &Path<'_>, wire: &api::PackedCasts) -> Result<Vec<AskedWay>, Failure> {
    let (mut bodies, mut rotations) = (wire.bodies.iter(), wire.rotations.rows::<4>());
    let places = wire.translations.rows::<3>().zip(wire.displacements.rows::<3>()).enumerate();
    let way = |(index, (from, by)): (usize, ([f64; 3], [f64; 3]))| {
        let start = match rotations.next() {
            None => Pose::translation(from[0], from[1], from[2]),
            Some(turn) => Pose::from_quaternion(Vec3::from(from), turn)
                .map_err(|error| path.field("rotations").index(index).bad(error.to_string()))?,
        };
        let body = bodies.next().unwrap_or_default();
        Ok(AskedWay { body, start, velocity: Vec3::from(by) })
    };
    places.map(way).collect()
}
