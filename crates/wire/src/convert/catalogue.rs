//! What requests are read against: the registered bodies, and the limits in force.

use std::sync::Arc;

use crate::path::Path;
use crate::status::Failure;
use clearance_bodies::ContentId;
use clearance_runtime::robots::{RegisteredRobot, RobotStore};
use clearance_runtime::settings::Limits;
use clearance_runtime::store::{Lease, PolytopeStore, Stored};

/// Characters of an unknown id or alias that a status repeats, so that a hostile one cannot blow it
/// up.
const SHOWN_KEY_LENGTH_MAX: usize = 200;

/// What a conversion may look up.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue<'a> {
    /// The registered bodies.
    pub store: &'a PolytopeStore,
    /// The registered robots.
    pub robots: &'a RobotStore,
    /// The limits.
    pub limits: &'a Limits,
}

impl Catalogue<'_> {
    /// A registered body by id.
    pub fn by_id(&self, path: &Path<'_>, text: &str) -> Result<Arc<Stored>, Failure> {
        self.store.find(&id(path, text)?)?.ok_or_else(|| unknown(path, text))
    }

    /// A registered body by alias.
    pub fn by_alias(&self, path: &Path<'_>, alias: &str) -> Result<Arc<Stored>, Failure> {
        let Some(id) = self.store.resolve(alias) else { return Err(unknown(path, alias)) };
        self.store.find(&id)?.ok_or_else(|| unknown(path, alias))
    }

    /// A registered body by id, kept from deletion.
    pub fn lease_by_id(&self, path: &Path<'_>, text: &str) -> Result<Lease, Failure> {
        self.store.lease(&id(path, text)?)?.ok_or_else(|| unknown(path, text))
    }

    /// A registered robot; `path` leads to its id.
    pub fn robot(&self, path: &Path<'_>, id: &str) -> Result<Arc<RegisteredRobot>, Failure> {
        self.robots.find(id)?.ok_or_else(|| Failure::UnknownRobot {
            field: path.to_string(),
            id: id.chars().take(SHOWN_KEY_LENGTH_MAX).collect(),
        })
    }

    /// A registered body by alias, kept from deletion.
    pub fn lease_by_alias(&self, path: &Path<'_>, alias: &str) -> Result<Lease, Failure> {
        let Some(id) = self.store.resolve(alias) else { return Err(unknown(path, alias)) };
        self.store.lease(&id)?.ok_or_else(|| unknown(path, alias))
    }
}

/// An id, checked.
pub fn id(path: &Path<'_>, text: &str) -> Result<ContentId, Failure> {
    text.parse().map_err(|error| path.bad(format!("{error}")).into())
}

/// No registered body has this id or alias.
pub fn unknown(path: &Path<'_>, key: &str) -> Failure {
    let key = key.chars().take(SHOWN_KEY_LENGTH_MAX).collect();
    Failure::UnknownPolytope { field: path.to_string(), key }
}
