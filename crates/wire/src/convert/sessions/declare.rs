//! Bodies and rules from the wire: what opening and adding have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::convert::body::{Unready, body_of_checked, body_of_curved, hull_bytes};
use crate::convert::catalogue::Catalogue;
use crate::convert::curved::CurvedShape;
use crate::convert::geometry::{length, points, pose, signed_length, vector};
use crate::convert::rounded::{self, RoundedPoints};
use crate::path::{BadField, NotImplemented, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::table::place::Place;
use clearance_bodies::{Body, ContentId, Tables};
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_robot::body::PartBody;
use clearance_runtime::compute::costs::{
    DECLARED_BODY, DECLARED_ENTRY, HULL_POINT, PLACED_ROBOT, times,
};
use clearance_runtime::robots::RegisteredRobot;
use clearance_runtime::settings::Limits;
use clearance_runtime::store::{Lease, bytes_at_most};
use clearance_scene::{self as scene, BodyId, DeclarationError, PairMargin, Part, Rules};
use clearance_scene::{Contact, Problem};

/// Where the shape of a part comes from, so that it can be restated.
#[derive(Clone, Debug)]
pub enum PartSource {
    /// Registered; cannot be deleted meanwhile.
    Registered(Lease),
    /// Given by its points or as a rounded shape; and the memory that its hull takes, bytes,
    /// estimated.
    Given(Box<api::placed_body::Source>, u64),
}

impl PartSource {
    /// Memory that it takes for this session alone, bytes, estimated.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Registered(_) => 0,
            Self::Given(source, hull_bytes) => 24 * named_points(source) as u64 + hull_bytes,
        }
    }
}

/// A body with the shapes of its parts.
pub struct Declared {
    /// The body, as the scene takes it.
    pub body: scene::Body,
    /// Where the shape of each part comes from.
    pub shapes: Vec<PartSource>,
}

/// How long opening takes.
pub fn estimate(request: &api::OpenSessionRequest) -> Duration {
    request.state.as_ref().map_or(Duration::ZERO, |state| {
        bodies_estimate(&state.bodies)
            + rules_estimate(state.rules.as_ref())
            + times(DECLARED_ENTRY, state.contacts.len())
            + times(PLACED_ROBOT, state.robots.len())
    })
}

/// How long it takes to make tables of these rules.
pub fn rules_estimate(rules: Option<&api::PairRules>) -> Duration {
    rules.map_or(Duration::ZERO, |rules| {
        let pairs = rules.checked_pairs.len() + rules.ignored_pairs.len() + rules.margins.len();
        let groups = rules.checked_groups.len() + rules.groups_to_come.len();
        times(DECLARED_ENTRY, groups + pairs)
    })
}

/// What these bodies take while they are declared, and what the methods of the session may have
/// built of them, bytes: a guess at the lower end for bodies that are small, since what their pairs
/// remember is counted when it is there.
pub fn bytes(
    request: &api::OpenSessionRequest,
    tables: &[Tables],
    catalogue: &Catalogue<'_>,
) -> u64 {
    let bodies = request.state.as_ref().map_or(&[][..], |state| &state.bodies);
    let parts: usize = bodies.iter().map(|body| body.parts.len()).sum();
    let fixed = BODY_BYTES * bodies.len() as u64 + PART_BYTES * parts as u64;
    let robots = request.state.iter().flat_map(|state| &state.robots);
    let robots: u64 = robots.map(|robot| robot_bytes(robot, catalogue)).sum();
    fixed + robots + hull_bytes(given_points(bodies)) + table_bytes(bodies, tables, catalogue)
}

/// What the methods of a session may have built of the registered polytopes that it opens with,
/// bytes: each of them once. What is not registered is refused when the bodies are read.
fn table_bytes(bodies: &[api::Body], tables: &[Tables], catalogue: &Catalogue<'_>) -> u64 {
    if tables.iter().all(|tables| *tables == Tables::Nothing) {
        return 0;
    }
    let bytes = |id: &ContentId| {
        let stored = catalogue.store.get(id)?;
        Some(tables.iter().map(|tables| stored.bytes_to_build(*tables)).sum::<u64>())
    };
    registered(bodies, catalogue).iter().filter_map(bytes).sum()
}

/// The registered shapes that these bodies name.
fn registered(bodies: &[api::Body], catalogue: &Catalogue<'_>) -> BTreeSet<ContentId> {
    use api::placed_body::Source;
    let id = |part: &api::PlacedBody| match part.source.as_ref()? {
        Source::Id(text) => text.parse().ok(),
        Source::Alias(alias) => catalogue.store.resolve(alias),
        Source::Vertices(_) | Source::Compound(_) | Source::Rounded(_) => None,
    };
    bodies.iter().flat_map(|body| &body.parts).filter_map(id).collect()
}

/// Whether a session is opened with bodies of which nobody can say how long a look at them takes.
pub fn has_meshes(request: &api::OpenSessionRequest, catalogue: &Catalogue<'_>) -> bool {
    let Some(state) = &request.state else { return false };
    let is_mesh = |id: &ContentId| {
        catalogue.store.get(id).is_some_and(|stored| !stored.body.kind().is_convex())
    };
    let mut robots = state.robots.iter().filter_map(|one| catalogue.robots.get(&one.robot_id));
    let has_mesh = |known: Arc<RegisteredRobot>| {
        let is_mesh = |body: &PartBody| body.mesh().is_some() || body.curved().is_some();
        known.robot.parts.iter().any(|part| is_mesh(&part.body))
    };
    registered(&state.bodies, catalogue).iter().any(is_mesh) || robots.any(has_mesh)
}

/// What a robot takes as bodies and as a chain, bytes; one that is not registered is refused later.
fn robot_bytes(wire: &api::SessionRobot, catalogue: &Catalogue<'_>) -> u64 {
    let Some(known) = catalogue.robots.get(&wire.robot_id) else { return 0 };
    let robot = &known.robot;
    BODY_BYTES * robot.links.len() as u64
        + PART_BYTES * robot.parts.len() as u64
        + FRAME_BYTES * robot.kinematics.tree().frames.len() as u64
}

/// A frame of the chain of a robot, with what is made of it.
const FRAME_BYTES: u64 = 4 << 10;

/// A body, and a part of one, with their places in the broad phase.
const BODY_BYTES: u64 = 1_024;
const PART_BYTES: u64 = 512;

fn given_points(bodies: &[api::Body]) -> usize {
    bodies.iter().flat_map(|body| &body.parts).map(points_given).sum()
}

fn points_given(part: &api::PlacedBody) -> usize {
    part.source.as_ref().map_or(0, named_points)
}

/// How many points a shape is given by.
fn named_points(source: &api::placed_body::Source) -> usize {
    use api::placed_body::Source;
    match source {
        Source::Vertices(points) => points.xyz.len() / 3,
        Source::Rounded(shape) => rounded::point_count(shape),
        Source::Id(_) | Source::Alias(_) | Source::Compound(_) => 0,
    }
}

/// How long it takes to declare these bodies and to look at them for the first time.
pub fn bodies_estimate(bodies: &[api::Body]) -> Duration {
    let groups: usize = bodies.iter().map(|body| body.groups.len()).sum();
    times(DECLARED_BODY, bodies.len())
        + times(HULL_POINT, given_points(bodies))
        + times(DECLARED_ENTRY, groups)
}

/// How long it takes to declare what a frame adds and reshapes.
pub fn frame_estimate(frame: &api::Frame) -> Duration {
    let reshaped = frame.changed_bodies.iter().flat_map(|change| &change.parts);
    let points: usize = reshaped.map(points_given).sum();
    let changes = times(DECLARED_BODY, frame.changed_bodies.len()) + times(HULL_POINT, points);
    let robots = frame.added_robots.len() + frame.robot_moves.len();
    bodies_estimate(&frame.added_bodies) + changes + times(PLACED_ROBOT, robots)
}

/// Bodies, each checked; builds the hulls of given points, until `effort` is stopped.
pub fn bodies(
    path: &Path<'_>,
    wire: &[api::Body],
    catalogue: &Catalogue<'_>,
    effort: &mut Effort<'_>,
) -> Result<Vec<Declared>, Failure> {
    path.within(catalogue.limits.bodies_per_session_max(), wire.len())?;
    let convert = |(index, one)| body(&path.index(index), one, catalogue, effort);
    wire.iter().enumerate().map(convert).collect()
}

fn body(
    path: &Path<'_>,
    wire: &api::Body,
    catalogue: &Catalogue<'_>,
    effort: &mut Effort<'_>,
) -> Result<Declared, Failure> {
    let limits = catalogue.limits;
    path.field("groups").within(limits.rules_per_session_max(), wire.groups.len())?;
    let (parts, shapes) = parts(&path.field("parts"), &wire.parts, catalogue, effort)?;
    let body = scene::Body {
        id: BodyId(said(&path.field("id"), wire.id)?),
        name: wire.name.clone(),
        parts,
        pose: pose(&path.field("pose"), wire.pose.as_ref())?,
        groups: wire.groups.clone().into(),
        fixed: wire.fixed,
        margin: signed_length(&path.field("margin"), wire.margin)?,
        pivot: vector(&path.field("pivot"), wire.pivot.as_ref())?,
        deviation: length(&path.field("deviation"), wire.deviation)?,
        continuous: wire.continuous,
        category: wire.category.unwrap_or(scene::Body::CATEGORY),
        mask: wire.mask.unwrap_or(scene::Body::MASK),
    };
    Ok(Declared { body, shapes })
}

/// The parts of a body, and where their shapes come from.
pub(super) fn parts(
    path: &Path<'_>,
    wire: &[api::PlacedBody],
    catalogue: &Catalogue<'_>,
    effort: &mut Effort<'_>,
) -> Result<(Vec<Part>, Vec<PartSource>), Failure> {
    path.within(catalogue.limits.parts_per_body_max(), wire.len())?;
    let (mut parts, mut shapes) = (Vec::with_capacity(wire.len()), Vec::with_capacity(wire.len()));
    let mut leases: BTreeMap<ContentId, Lease> = BTreeMap::new();
    for (index, part) in wire.iter().enumerate() {
        let path = path.index(index);
        let (body, mut shape) = shape(&path, part, catalogue, effort)?;
        if let PartSource::Registered(lease) = &mut shape {
            // A body uses a polytope once, however many of its parts have that shape.
            *lease = leases.entry(lease.stored().id).or_insert_with(|| lease.clone()).clone();
        }
        let known = Place::Session.whole(&body);
        let known = known.map_err(|refused| path.not_implemented(refused.what))?;
        let (polytope, radius) = (known.hull.polytope.clone(), known.hull.radius);
        let (mesh, field, curved) = (known.mesh, known.field, known.curved);
        let body_from_part = pose(&path.field("pose"), part.pose.as_ref())?;
        parts.push(Part { polytope, radius, mesh, field, curved, body_from_part });
        shapes.push(shape);
    }
    Ok((parts, shapes))
}

fn shape(
    path: &Path<'_>,
    wire: &api::PlacedBody,
    catalogue: &Catalogue<'_>,
    effort: &mut Effort<'_>,
) -> Result<(Body, PartSource), Failure> {
    use api::placed_body::Source;
    let source = wire.source.as_ref().ok_or_else(|| path.bad("needs id, alias or vertices"))?;
    let points_max = catalogue.limits.inline_points_max();
    let kept = |body: Body, effort: &mut Effort<'_>| {
        let memory_bytes = bytes_at_most(&body, effort).map_err(Unready::Stopped)?;
        Ok((body, PartSource::Given(Box::new(source.clone()), memory_bytes)))
    };
    let given = |asked: RoundedPoints, effort: &mut Effort<'_>| {
        kept(body_of_checked(&asked.points, effort)?.rounded(asked.radius), effort)
    };
    let registered = |path: &Path<'_>, lease: Lease| {
        let body = lease.stored().body.clone();
        let taken = Place::Session.takes(body.kind());
        taken.map_err(|refused| path.not_implemented(refused.what))?;
        Ok((body, PartSource::Registered(lease)))
    };
    match source {
        Source::Id(text) => {
            let path = path.field("id");
            registered(&path, catalogue.lease_by_id(&path, text)?)
        }
        Source::Alias(alias) => {
            let path = path.field("alias");
            registered(&path, catalogue.lease_by_alias(&path, alias)?)
        }
        Source::Vertices(wire) => {
            let path = path.field("vertices");
            path.within(points_max, wire.xyz.len() / 3)?;
            given(points(&path, wire)?.into(), effort)
        }
        Source::Compound(_) => {
            Err(path.field("compound").not_implemented("compounds as parts").into())
        }
        Source::Rounded(shape) => {
            let path = path.field("rounded");
            match CurvedShape::convert(&path, shape)? {
                Some(curved) => kept(body_of_curved(&curved, effort)?, effort),
                None => given(RoundedPoints::convert(&path, shape, points_max)?, effort),
            }
        }
    }
}

/// Pair rules; missing: none.
pub fn rules(
    path: &Path<'_>,
    wire: Option<&api::PairRules>,
    catalogue: &Catalogue<'_>,
) -> Result<Rules, Failure> {
    let Some(wire) = wire else { return Ok(Rules::default()) };
    let limits = catalogue.limits;
    for (name, count) in [
        ("checked_groups", wire.checked_groups.len()),
        ("checked_pairs", wire.checked_pairs.len()),
        ("ignored_pairs", wire.ignored_pairs.len()),
        ("margins", wire.margins.len()),
        ("groups_to_come", wire.groups_to_come.len()),
    ] {
        path.field(name).within(limits.rules_per_session_max(), count)?;
    }
    Ok(Rules {
        checked_groups: wire.checked_groups.iter().map(group_names).collect(),
        checked_pairs: pairs(&path.field("checked_pairs"), &wire.checked_pairs)?,
        ignored_pairs: pairs(&path.field("ignored_pairs"), &wire.ignored_pairs)?,
        margins: margins(&path.field("margins"), &wire.margins)?,
        groups_to_come: wire.groups_to_come.clone(),
    })
}

/// Margins of pairs.
pub(super) fn margins(
    path: &Path<'_>,
    wire: &[api::PairMargin],
) -> Result<Vec<PairMargin>, BadField> {
    let margin = |(index, entry): (usize, &api::PairMargin)| {
        let path = path.index(index);
        let pair = pair_of(&path, entry.pair.as_ref())?;
        let margin = signed_length(&path.field("margin"), entry.margin)?;
        Ok(PairMargin { pair, margin })
    };
    wire.iter().enumerate().map(margin).collect()
}

pub(super) fn group_names(wire: &api::GroupPair) -> [String; 2] {
    [wire.a.clone(), wire.b.clone()]
}

/// An id that is said: what is left out is not the body, or the robot, with the id 0.
pub(super) fn said<T>(path: &Path<'_>, id: Option<T>) -> Result<T, BadField> {
    id.ok_or_else(|| path.bad("is required: an id has to be said, also if it is 0"))
}

/// Pairs of bodies.
pub(super) fn pairs(list: &Path<'_>, wire: &[api::BodyPair]) -> Result<Vec<[BodyId; 2]>, BadField> {
    wire.iter().enumerate().map(|(index, pair)| pair_ids(&list.index(index), pair)).collect()
}

/// The pair of an entry.
fn pair_of(entry: &Path<'_>, wire: Option<&api::BodyPair>) -> Result<[BodyId; 2], BadField> {
    let path = entry.field("pair");
    pair_ids(&path, wire.ok_or_else(|| path.bad("is required"))?)
}

fn pair_ids(path: &Path<'_>, wire: &api::BodyPair) -> Result<[BodyId; 2], BadField> {
    let body = |name, id| said(&path.field(name), id).map(BodyId);
    Ok([body("a", wire.a)?, body("b", wire.b)?])
}

/// Announced contacts.
pub fn contacts(
    path: &Path<'_>,
    wire: &[api::AnnouncedContact],
    catalogue: &Catalogue<'_>,
) -> Result<Vec<Contact>, Failure> {
    let limits = catalogue.limits;
    path.within(limits.rules_per_session_max(), wire.len())?;
    let convert = |(index, entry): (usize, &api::AnnouncedContact)| {
        let path = path.index(index);
        let pair = pair_of(&path, entry.pair.as_ref())?;
        Ok(Contact { pair, began_frame: entry.began_frame_id })
    };
    wire.iter().enumerate().map(convert).collect()
}

/// What is wrong with a declaration, in the words of the wire. `path` leads to the declaration.
pub fn failure(path: &Path<'_>, error: &DeclarationError, limits: &Limits) -> Failure {
    let prefix = path.to_string();
    let separator = if prefix.is_empty() { "" } else { "." };
    let field = format!("{prefix}{separator}{}", error.path);
    match error.problem {
        Problem::NotOfMeshes | Problem::FlatBesideMesh => {
            NotImplemented { field, what: error.problem.to_string().into() }.into()
        }
        Problem::TooManyBodies => limits.bodies_per_session_max().exceeded_at(&field).into(),
        Problem::TooManyParts => limits.parts_per_session_max().exceeded_at(&field).into(),
        Problem::TooManyClasses => limits.classes_per_session_max().exceeded_at(&field).into(),
        Problem::IdTaken
        | Problem::UnknownBody
        | Problem::SameBody
        | Problem::UnknownGroup
        | Problem::NotInGroup
        | Problem::NoSuchEntry
        | Problem::NoParts
        | Problem::TooFar
        | Problem::NotALength
        | Problem::NotAMargin
        | Problem::NotAnswered
        | Problem::NotRounded
        | Problem::NotAPoint
        | Problem::NotChecked
        | Problem::NoPairLeft
        | Problem::KeyframeIncomplete
        | Problem::KeyframeWithoutRobot
        | Problem::RobotIdTaken
        | Problem::UnknownRobot
        | Problem::UnknownLink
        | Problem::LinksBeyondIds
        | Problem::ValueCount { .. }
        | Problem::NoConfiguration(_)
        | Problem::IsLink
        | Problem::AlreadyCarried
        | Problem::NotCarried
        | Problem::NoPaths
        | Problem::BeyondRelease => {
            BadField { field, problem: error.problem.to_string().into() }.into()
        }
    }
}
