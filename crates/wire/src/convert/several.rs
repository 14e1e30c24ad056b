//! Several moving bodies, among which the first collision is asked about.

use super::body::AskedBody;
use super::catalogue::Catalogue;
use super::geometry::motion;
use super::options::AnswerOptions;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::{Topic, first_collision};
use clearance_geometry::contact_time::{Travel, translation_of};
use clearance_geometry::effort::Effort;
use clearance_geometry::motion::Motion;
use clearance_proto as api;

/// A body and how far it comes.
#[derive(Clone, Debug)]
pub struct AskedMover {
    /// What it is, and where it is at first.
    pub body: AskedBody,
    /// How it moves.
    pub motion: Motion,
    /// How far that takes it.
    pub travel: Travel,
    /// Where the body was named.
    pub field: String,
}

/// The bodies, checked.
#[derive(Clone, Debug)]
pub struct AskedSeveral {
    /// Two at least.
    pub bodies: Vec<AskedMover>,
    /// How to answer.
    pub options: AnswerOptions,
}

impl AskedMover {
    fn convert(
        path: &Path<'_>,
        wire: &api::MovingBody,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let at = path.field("body");
        let body = AskedBody::convert(&at, wire.body.as_ref(), catalogue)?;
        Topic::FirstCollision
            .check([body.kind(); 2])
            .map_err(|refused| at.not_implemented(refused.what))?;
        let path = path.field("motion");
        let motion = motion(&path, wire.motion.as_ref())?;
        let turns = || path.not_implemented("several bodies that turn");
        let travel = translation_of(&motion, body.pose()).ok_or_else(turns)?;
        Ok(Self { body, motion, travel, field: at.to_string() })
    }
}

impl AskedSeveral {
    /// Checks everything that can be wrong with them.
    pub fn convert(
        path: &Path<'_>,
        wire: &api::FindFirstCollisionRequest,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let limits = catalogue.limits;
        let list = path.field("bodies");
        list.within(limits.collision_bodies_max(), wire.bodies.len())?;
        if wire.bodies.len() < 2 {
            return Err(list.bad("must be two at least").into());
        }
        let asking = |(place, body)| AskedMover::convert(&list.index(place), body, catalogue);
        let bodies: Vec<AskedMover> =
            wire.bodies.iter().enumerate().map(asking).collect::<Result<_, _>>()?;
        // Each is placed for itself, also if they are all of one kind.
        let vertices = bodies.iter().map(|asking| asking.body.size()).sum();
        list.within(limits.collision_vertices_max(), vertices)?;
        let (at, wire) = (path.field("options"), wire.options.as_ref());
        let (options, _) = AnswerOptions::convert(&at, wire, first_collision::method_name)?;
        Ok(Self { bodies, options })
    }

    /// Where the bodies are and how they move; builds the hulls of given points.
    pub fn prepare(self, effort: &mut Effort<'_>) -> Result<Vec<(PlacedBody, Motion)>, Failure> {
        let prepare = |asking: AskedMover| Ok((asking.body.prepare(effort)?, asking.motion));
        self.bodies.into_iter().map(prepare).collect()
    }
}
