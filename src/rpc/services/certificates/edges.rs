//! What is claimed of edges of robots, judged.

use clearance_certificates::told::Told;
use clearance_geometry::effort::Effort;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_robot::cell::CLAIMED_POINTS_MAX;
use clearance_robot::claim::{Coverage, EdgeCertificate, EdgeClaim, EdgeSubject};
use clearance_robot::judge::{judge_coverage, judge_edge};
use clearance_robot::pairing::PairScope;
use clearance_runtime::robots::RobotStore;
use clearance_runtime::settings::Limits;
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::robots::cell::AskedCell;
use clearance_wire::convert::robots::certificates::edge_certificate;
use clearance_wire::convert::robots::check::scope_of;
use clearance_wire::convert::robots::coverage::coverage;
use clearance_wire::convert::robots::edges::{AskedEdges, BESIDE_LARGE_CLOUDS, OF_DEPTHS};
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// What became of edges.
#[derive(Debug)]
pub struct EdgesStatement {
    cell: AskedCell,
    question: api::CheckEdgesRequest,
    edges: Vec<ToldEdge>,
    /// Which pairs are said to be covered; none: nothing is said, of a cell without rules.
    coverage: Option<Coverage>,
    /// Edges in the answer, refused ones too.
    count: usize,
    /// How many bodies the cell is said to have of a scene.
    body_count: Option<usize>,
    limits: Limits,
}

/// What is told of an edge.
#[derive(Debug)]
struct ToldEdge {
    index: usize,
    free_until: f64,
    contact: Option<(f64, [u32; 2])>,
    certificate: EdgeCertificate,
}

impl EdgesStatement {
    /// Checks everything that is wrong whatever the geometry.
    pub(super) fn convert(
        told: &Told<'_, api::CheckEdgesRequest, api::CheckEdgesResponse>,
        catalogue: &Catalogue<'_>,
        robots: &RobotStore,
    ) -> Result<Self, Failure> {
        let Told { question, asked, answer, path } = told;
        let told_scene = path.field("scene_cell");
        let of_scene = scene_of(told, &told_scene)?;
        let (at, cell) = match of_scene {
            Some(scene) => (told_scene.field("cell"), scene.cell.as_ref()),
            None => (asked.field("cell"), question.cell.as_ref()),
        };
        let cell = cell.ok_or_else(|| at.bad("is required"))?;
        let cell = AskedCell::convert(&at, cell, robots, catalogue)?;
        if let Some(index) = cell.first_cloud()
            && cell.cloud_points() > CLAIMED_POINTS_MAX
        {
            let list = at.field("obstacles");
            let path = list.index(index);
            return Err(path.field("cloud").not_implemented(BESIDE_LARGE_CLOUDS).into());
        }
        let count = answer.outcomes.len();
        for (name, length) in [
            ("free_until", answer.free_until.len()),
            ("certificates", answer.certificates.len()),
            ("count", answer.count as usize),
        ] {
            if length != count {
                return Err(path.field(name).bad("must be as many as outcomes").into());
            }
        }
        let mut contacts = contacts(path, answer, of_scene)?;
        let edges = told_edges(path, answer, &mut contacts)?;
        let at = asked.field("pair_scope");
        let scope = scope_of(&at, question.pair_scope)?;
        let at = path.field("coverage");
        let coverage = answer.coverage.as_ref().map(|wire| coverage(&at, wire, scope));
        let coverage = coverage.transpose()?;
        // What has rules was never certified without saying what they leave out.
        let says_more = cell.has_rules() || scope != PairScope::All || of_scene.is_some();
        if coverage.is_none() && says_more {
            return Err(at.bad("is required where rules or the scope leave pairs out").into());
        }
        let (question, limits) = ((*question).clone(), catalogue.limits.clone());
        let body_count = of_scene.map(|scene| scene.body_ids.len());
        Ok(Self { cell, question, edges, coverage, count, body_count, limits })
    }

    /// What judging it takes beside the claim: the cell, which is built anew.
    pub(super) fn working_bytes(&self) -> u64 {
        /// What is made of a point as a face.
        const EACH: u64 = 1 << 10;
        self.cell.working_bytes() + EACH * self.cell.cloud_points() as u64
    }

    /// Judges the claim; the inner error says what does not hold.
    pub(super) fn judge(
        self,
        until: &Until,
        effort: &mut Effort<'_>,
    ) -> Result<Result<(), String>, Failure> {
        let Self { cell, question, edges, coverage, count, body_count, limits } = self;
        let cell = cell.build(until)?;
        let path = Path::ROOT.field("edges");
        let asked = AskedEdges::convert(&path.field("question"), question, &cell, &limits)?;
        if cell.asks_depths(asked.question.margin) {
            let question = path.field("question");
            return Err(question.field("margin").not_implemented(OF_DEPTHS).into());
        }
        let width = cell.variable_count();
        if count * width != asked.ends[0].len() {
            let answer = path.field("answer");
            return Err(answer.field("outcomes").bad("must be one for each edge asked").into());
        }
        if body_count.is_some_and(|told| told != cell.body_count()) {
            let scene = path.field("answer");
            let scene = scene.field("scene_cell");
            return Err(scene
                .field("body_ids")
                .bad("must be one for each body of the cell")
                .into());
        }
        let faced = cell.with_faced_clouds(&mut Effort::until(u64::MAX, until));
        let faced = faced.map_err(|_| Failure::Deadline)?;
        let cell = faced.as_ref().unwrap_or(&cell);
        let subject: EdgeSubject<'_> = cell.subject(asked.question.scope);
        if let Some(Err(refusal)) = coverage.map(|told| judge_coverage(&subject, &told)) {
            return Ok(Err(refusal.to_string()));
        }
        let mut uncertified = Vec::new();
        for told in edges {
            if told.certificate == EdgeCertificate::default() {
                if told.claims_anything() {
                    uncertified.push(told.index);
                }
                continue;
            }
            let place = told.index * width..(told.index + 1) * width;
            let [from, to] = asked.ends.each_ref().map(|ends| &ends[place.clone()]);
            let claim = EdgeClaim {
                ends: [from, to],
                margin: asked.question.margin,
                free_until: told.free_until,
                contact: told.contact,
            };
            let judged = judge_edge(&subject, &claim, &told.certificate, effort);
            if let Err(refusal) = judged {
                return Ok(Err(format!("edge {}: {refusal}", told.index)));
            }
        }
        Ok(uncertified.first().map_or(Ok(()), |first| Err(bare(*first, uncertified.len()))))
    }
}

impl ToldEdge {
    /// Whether there is anything to show: a stretch that is free, or a contact.
    fn claims_anything(&self) -> bool {
        self.free_until > 0.0 || self.contact.is_some()
    }
}

/// What is said of a claim some of whose edges come without a proof; all others are shown.
fn bare(first: usize, count: usize) -> String {
    let others = match count - 1 {
        0 => String::new(),
        others => format!(", and of {others} more"),
    };
    format!("edge {first}: it is uncertified: its certificate is empty{others}; the rest is shown")
}

/// What is told of every edge that was not refused.
fn told_edges(
    path: &Path<'_>,
    answer: &api::CheckEdgesResponse,
    contacts: &mut ToldContacts,
) -> Result<Vec<ToldEdge>, Failure> {
    let list = path.field("certificates");
    let mut edges = Vec::new();
    for (index, outcome) in answer.outcomes().enumerate() {
        let (free_until, contact) = (answer.free_until[index], contacts[index].take());
        let why = match outcome {
            api::Outcome::Unspecified => continue,
            api::Outcome::NoContact if free_until < 1.0 => "is less than 1 without contact",
            api::Outcome::Contact if contact.is_none() => "names no contact_at",
            api::Outcome::NoContact | api::Outcome::Undecided if contact.is_some() => {
                "is of a contact that is not said"
            }
            api::Outcome::NoContact | api::Outcome::Contact | api::Outcome::Undecided => "",
        };
        if !why.is_empty() {
            return Err(path.field("outcomes").index(index).bad(why).into());
        }
        let wire = &answer.certificates[index];
        let certificate = edge_certificate(&list.index(index), wire)?;
        edges.push(ToldEdge { index, free_until, contact, certificate });
    }
    Ok(edges)
}

/// By edge, the contact that is told of it.
type ToldContacts = Vec<Option<(f64, [u32; 2])>>;

/// The scene that the answer tells, if the question is about one.
fn scene_of<'a>(
    told: &Told<'a, api::CheckEdgesRequest, api::CheckEdgesResponse>,
    at: &Path<'_>,
) -> Result<Option<&'a api::SceneCell>, Failure> {
    let Told { question, asked, answer, path } = told;
    let Some(asked_scene) = &question.scene else { return Ok(None) };
    let place = asked.field("scene");
    if question.cell.is_some() {
        return Err(place.bad("must be left out where there is a cell").into());
    }
    if asked_scene.frame_id.is_some_and(|frame_id| frame_id != answer.frame_id) {
        return Err(path.field("frame_id").bad("is another one than was asked about").into());
    }
    let scene = answer.scene_cell.as_ref().ok_or_else(|| at.bad("is required of a scene"))?;
    let place = at.field("cell");
    let cell = scene.cell.as_ref().ok_or_else(|| place.bad("is required"))?;
    let robots = asked_scene.robots.len();
    if robots > 0 && robots != cell.robots.len() {
        return Err(place.field("robots").bad("are not as many as were asked about").into());
    }
    if cell.adjacent_links != asked_scene.adjacent_links {
        return Err(place.field("adjacent_links").bad("is not as it was asked").into());
    }
    Ok(Some(scene))
}

/// The numbers of the bodies of the contacts that are told, in the cell.
fn near_numbers<'a>(
    path: &Path<'_>,
    answer: &'a api::CheckEdgesResponse,
    scene: Option<&'a api::SceneCell>,
) -> Result<[&'a [u32]; 2], Failure> {
    let ids = [&answer.near_firsts[..], &answer.near_seconds];
    let Some(scene) = scene else { return Ok(ids) };
    let at = path.field("scene_cell");
    let numbers = [&scene.near_firsts[..], &scene.near_seconds];
    for (name, (numbers, ids)) in
        ["near_firsts", "near_seconds"].into_iter().zip(numbers.into_iter().zip(ids))
    {
        let list = at.field(name);
        if numbers.len() != ids.len() {
            return Err(list.bad("must be as many as near_indices").into());
        }
        let is_it = |k: &usize| scene.body_ids.get(numbers[*k] as usize) == Some(&ids[*k]);
        if let Some(k) = (0..ids.len()).find(|k| !is_it(k)) {
            return Err(list.index(k).bad("is another body than that of the contact").into());
        }
    }
    Ok(numbers)
}

fn contacts(
    path: &Path<'_>,
    answer: &api::CheckEdgesResponse,
    scene: Option<&api::SceneCell>,
) -> Result<ToldContacts, Failure> {
    let list = path.field("near_indices");
    let count = answer.near_indices.len();
    if [answer.near_firsts.len(), answer.near_seconds.len(), answer.contact_at.len()] != [count; 3]
    {
        return Err(list.bad("must be as many as near_firsts, near_seconds and contact_at").into());
    }
    let [firsts, seconds] = near_numbers(path, answer, scene)?;
    let mut contacts = vec![None; answer.outcomes.len()];
    for (k, index) in answer.near_indices.iter().enumerate() {
        let Some(contact) = contacts.get_mut(*index as usize) else {
            return Err(list.index(k).bad("is no edge of the answer").into());
        };
        let at = answer.contact_at[k];
        if !at.is_nan() {
            *contact = Some((at, [firsts[k], seconds[k]]));
        }
    }
    Ok(contacts)
}
