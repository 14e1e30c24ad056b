//! Bodies that are asked for: registered by themselves, or as parts of a robot.

use std::sync::Arc;

use clearance_bodies::{Body, ContentId};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_proto::get_polytope_request::Key;
use clearance_runtime::store::{PolytopeStore, Stored};
use clearance_wire::convert::catalogue::{Catalogue, id, unknown};
use clearance_wire::convert::described::{describe, describe_part};
use clearance_wire::path::{BadField, Path};
use clearance_wire::status::Failure;

/// What is shown.
pub(super) enum SoughtBody {
    /// A registered body.
    Registered(Arc<Stored>),
    /// A part of a registered robot.
    Part(ContentId, Body),
}

impl SoughtBody {
    /// What a request names.
    pub(super) fn find(
        catalogue: &Catalogue<'_>,
        request: &api::GetPolytopeRequest,
    ) -> Result<Self, Failure> {
        let (path, of_robot) = (Path::ROOT.field("id"), Path::ROOT.field("robot_id"));
        match &request.key {
            Some(Key::Id(text)) if request.robot_id.is_empty() => {
                catalogue.by_id(&path, text).map(Self::Registered)
            }
            Some(Key::Id(text)) => {
                let id = id(&path, text)?;
                let robot = catalogue.robot(&of_robot, &request.robot_id)?;
                let body = robot.part(&id).ok_or_else(|| unknown(&path, text))?;
                Ok(Self::Part(id, body))
            }
            Some(Key::Alias(_)) if !request.robot_id.is_empty() => {
                Err(of_robot.bad("goes with an id: parts of robots have no alias").into())
            }
            Some(Key::Alias(alias)) => {
                catalogue.by_alias(&Path::ROOT.field("alias"), alias).map(Self::Registered)
            }
            None => Err(no_key()),
        }
    }

    /// The body itself.
    pub(super) fn body(&self) -> &Body {
        match self {
            Self::Registered(stored) => &stored.body,
            Self::Part(_, body) => body,
        }
    }

    /// Memory that it takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        match self {
            Self::Registered(stored) => stored.memory_bytes,
            Self::Part(_, body) => body.bytes(),
        }
    }

    /// Its description. Figures of a part are worked out for it, until the deadline.
    pub(super) fn describe(
        &self,
        store: &PolytopeStore,
        until: &Until,
    ) -> Result<api::Polytope, Failure> {
        match self {
            Self::Registered(stored) => Ok(describe(stored, store)),
            Self::Part(id, body) => {
                let figures = body.figures(&Effort::until(u64::MAX, until));
                let figures = figures.map_err(|_: Stopped| Failure::Deadline)?;
                Ok(describe_part(body, id, figures))
            }
        }
    }
}

/// Neither an id nor an alias was given.
pub(super) fn no_key() -> Failure {
    Failure::BadField(BadField { field: "id".to_owned(), problem: "needs id or alias".into() })
}
