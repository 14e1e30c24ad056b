//! Edges: straight paths in the joint values, and what became of them, packed.

use prost::Message;

use super::answer::{INDEX_GROWTH, REFUSED_GROWTH, beyond_limit};
use super::check::scope_of;
use super::coverage::{coverage_bytes, coverage_to_wire};
use crate::convert::geometry::{signed_length, tolerance};
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_geometry::effort::Stopped;
use clearance_geometry::number::tolerance::EDGE_WIDTH;
use clearance_proto as api;
use clearance_robot::cell::{BodyPair, CLAIMED_POINTS_MAX, Cell};
use clearance_robot::edge::{BadEnd, EdgeAnswer, EdgeQuestion};
use clearance_runtime::settings::Limits;

/// A question about edges, but for the cell.
#[derive(Debug)]
pub struct AskedEdges {
    /// What is asked.
    pub question: EdgeQuestion,
    /// Steps for the certificate of one edge, at most.
    pub proof_steps_max: u64,
    /// Joint values at the starts and at the ends, one edge after the other.
    pub ends: [Vec<f64>; 2],
    /// The fields of the request that they are from.
    pub fields: [&'static str; 2],
    /// Whether certificates are wanted.
    pub certificate: bool,
    /// Whether violated limits are listed, and no reason to refuse.
    pub report_limits: bool,
}

/// What has no certificates.
pub const BESIDE_LARGE_CLOUDS: &str =
    "certificates of edges in a cell whose clouds have more than 65,536 points";
/// What else has none.
pub const OF_DEPTHS: &str = "certificates of edges on which a margin of a pair is below 0";
const _: () = assert!(CLAIMED_POINTS_MAX == 65_536, "the words say it");

/// How many times as many steps an edge may take where bodies are polyhedra or surfaces: a look at
/// two of these is some hundred looks at groups of their faces. With 1 in place of it 52 of 10,000
/// edges of a UR5 among a dozen meshes are not decided.
const STEPS_AMONG_MESHES: u64 = 64;

impl AskedEdges {
    /// Checks everything that can be wrong with it in this cell.
    pub fn convert(
        path: &Path<'_>,
        request: api::CheckEdgesRequest,
        cell: &Cell,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let width = cell.variable_count();
        if width == 0 {
            let place = if request.scene.is_some() { "scene" } else { "cell" };
            return Err(path.field(place).bad("its robots have no joint that moves").into());
        }
        let (starts, ends) = (path.field("starts"), path.field("ends"));
        if !request.starts.len().is_multiple_of(width) {
            return Err(starts.bad(format!("must have {width} numbers for each edge")).into());
        }
        if request.ends.len() != request.starts.len() {
            return Err(ends.bad("must have as many numbers as starts").into());
        }
        let count = request.starts.len() / width;
        starts.within(limits.edges_max(), count)?;
        if request.certificate {
            starts.within(limits.certified_edges_max(), count)?;
        }
        let scope = scope_of(&path.field("pair_scope"), request.pair_scope)?;
        if request.certificate && cell.points_of_clouds() > CLAIMED_POINTS_MAX {
            return Err(path.field("certificate").not_implemented(BESIDE_LARGE_CLOUDS).into());
        }
        let margin = signed_length(&path.field("margin"), request.margin)?;
        if request.certificate && cell.asks_depths(margin) {
            return Err(path.field("certificate").not_implemented(OF_DEPTHS).into());
        }
        let tolerance =
            tolerance(&path.field("tolerance"), request.tolerance.unwrap_or(EDGE_WIDTH))?;
        // Finer than this, halves of an interval are no f64 numbers any more.
        let tolerance = tolerance.max(EDGE_WIDTH * EDGE_WIDTH);
        let steps_max = |has_faces: bool| {
            let times = if has_faces { STEPS_AMONG_MESHES } else { 1 };
            let most = limits.edge_steps_max.saturating_mul(times);
            request.steps_per_edge.unwrap_or(u64::MAX).min(most)
        };
        let searched = steps_max(cell.has_meshes());
        let api::CheckEdgesRequest { any_contact, .. } = request;
        let question = EdgeQuestion { margin, tolerance, steps_max: searched, scope, any_contact };
        let proof_steps_max = steps_max(cell.has_meshes() || cell.has_clouds());
        let ends = [request.starts, request.ends];
        let api::CheckEdgesRequest { certificate, report_limits, .. } = request;
        let fields = ["starts", "ends"];
        Ok(Self { question, proof_steps_max, ends, fields, certificate, report_limits })
    }

    /// What saying which pairs certificates cover takes of a reply, bytes at most.
    pub fn coverage_bytes(&self, cell: &Cell) -> u64 {
        if self.certificate { coverage_bytes(cell, self.question.scope) } else { 0 }
    }

    /// Which pairs of the cell the certificates cover; none: there are none.
    pub fn coverage(&self, cell: &Cell) -> Option<api::PairCoverage> {
        self.certificate.then(|| coverage_to_wire(cell, self.question.scope))
    }
}

/// Adds what became of an edge: the one after all that are in the answer.
/// `fields` are those of its start and its end.
pub fn push_edge(
    packed: &mut api::CheckEdgesResponse,
    fields: [&'static str; 2],
    answer: &EdgeAnswer,
) {
    let index = packed.count;
    packed.count += 1;
    let mut near = |pair: &BodyPair, at: f64| {
        packed.near_indices.push(index);
        packed.near_firsts.push(pair[0]);
        packed.near_seconds.push(pair[1]);
        packed.contact_at.push(at);
    };
    let mut failure: Option<Failure> = None;
    let bad = |end: usize, problem: String| Path::ROOT.field(fields[end]).bad(problem).into();
    let (outcome, free_until) = match answer {
        EdgeAnswer::Free => (api::Outcome::NoContact, 1.0),
        EdgeAnswer::Contact { free_until, contact_at, pair } => {
            near(pair, *contact_at);
            (api::Outcome::Contact, *free_until)
        }
        EdgeAnswer::Undecided { free_until, pair } => {
            near(pair, f64::NAN);
            (api::Outcome::Undecided, *free_until)
        }
        EdgeAnswer::Bad(BadEnd { end, error }) => {
            failure = Some(bad(*end, error.to_string()));
            (api::Outcome::Unspecified, 0.0)
        }
        EdgeAnswer::Turns => {
            failure = Some(bad(1, "a quaternion changes: that is no straight path".to_owned()));
            (api::Outcome::Unspecified, 0.0)
        }
        EdgeAnswer::Stopped { free_until, why } => {
            if *why == Stopped::Deadline {
                failure = Some(Failure::Deadline);
            }
            (api::Outcome::Undecided, *free_until)
        }
    };
    packed.outcomes.push(outcome.into());
    packed.free_until.push(free_until);
    failure.into_iter().for_each(|failure| refuse(packed, index, &failure));
}

fn refuse(packed: &mut api::CheckEdgesResponse, index: u32, failure: &Failure) {
    let status = Some(failure.to_item());
    packed.refused.push(api::RefusedConfiguration { index, count: 1, status });
}

/// The ends of an edge that have a value beyond its limits (0 for the start, 1 for the end), and
/// which value. Between two ends that are within them every configuration is.
pub fn beyond_limits<'a>(
    cell: &'a Cell,
    ends: [&'a [f64]; 2],
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let variables = cell.kinematics().tree().variables.iter().enumerate();
    variables.filter_map(move |(k, variable)| {
        let is_beyond = |end: usize| ends[end][k].is_finite() && !variable.holds(ends[end][k]);
        [0, 1].into_iter().find(|end| is_beyond(*end)).map(|end| (end, k))
    })
}

/// Adds an edge that a limit of a joint refuses: a value in this field.
pub fn push_edge_beyond(
    packed: &mut api::CheckEdgesResponse,
    cell: &Cell,
    field: &'static str,
    variable: usize,
) {
    let index = packed.count;
    packed.count += 1;
    packed.outcomes.push(api::Outcome::Unspecified.into());
    packed.free_until.push(0.0);
    refuse(packed, index, &beyond_limit(field, cell, variable));
}

/// The first edge that is not proven free, if there is one.
pub fn first_not_free(answer: &api::CheckEdgesResponse) -> Option<usize> {
    answer.outcomes().position(|outcome| outcome != api::Outcome::NoContact)
}

/// What is said of the first edges alone.
pub fn cut_edges(answer: &mut api::CheckEdgesResponse, count: usize) {
    let is_kept = |index: u32| (index as usize) < count;
    answer.count = u32::try_from(count).unwrap_or(u32::MAX);
    answer.outcomes.truncate(count);
    answer.free_until.truncate(count);
    answer.certificates.truncate(count);
    // Indices are in order.
    let near = answer.near_indices.partition_point(|index| is_kept(*index));
    answer.near_indices.truncate(near);
    answer.near_firsts.truncate(near);
    answer.near_seconds.truncate(near);
    answer.contact_at.truncate(near);
    answer.refused.retain(|refused| is_kept(refused.index));
    let beyond = answer.limit_indices.partition_point(|index| is_kept(*index));
    answer.limit_indices.truncate(beyond);
    answer.limit_variables.truncate(beyond);
}

/// What some answers take of a reply at most, bytes, wherever they are in it.
pub fn edges_in_one_reply(packed: &api::CheckEdgesResponse) -> u64 {
    let api::CheckEdgesResponse { near_indices, limit_indices, refused, .. } = packed;
    let indices = (near_indices.len() + limit_indices.len()) as u64;
    let grown = INDEX_GROWTH * indices + REFUSED_GROWTH * refused.len() as u64;
    packed.encoded_len() as u64 + grown
}

/// One answer of those about some edges each, in order.
pub fn joined_edges(parts: Vec<api::CheckEdgesResponse>) -> api::CheckEdgesResponse {
    let mut all = api::CheckEdgesResponse::default();
    for part in parts {
        let before = all.count;
        all.count += part.count;
        all.outcomes.extend(part.outcomes);
        all.free_until.extend(part.free_until);
        all.near_indices.extend(part.near_indices.into_iter().map(|index| index + before));
        all.near_firsts.extend(part.near_firsts);
        all.near_seconds.extend(part.near_seconds);
        all.contact_at.extend(part.contact_at);
        all.certificates.extend(part.certificates);
        all.limit_indices.extend(part.limit_indices.into_iter().map(|index| index + before));
        all.limit_variables.extend(part.limit_variables);
        all.refused.extend(
            part.refused.into_iter().map(|refused| api::RefusedConfiguration {
                index: refused.index + before,
                ..refused
            }),
        );
    }
    all
}
