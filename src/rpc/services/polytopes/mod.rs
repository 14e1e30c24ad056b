//! `PolytopeService`, but for uploads.

pub(in crate::rpc::services) mod arrival;
mod decompose;
mod shown;
mod uploads;

use tonic::{Request, Response, Status, Streaming};

use self::shown::{SoughtBody, no_key};

use crate::rpc::shared::Shared;
use clearance_bodies::ContentId;
use clearance_proto as api;
use clearance_runtime::compute::costs::{COPIED_FACET, COPIED_VERTEX, HULL_POINT, times};
use clearance_runtime::compute::{Counted, JobSize};
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::quotas::QuotaKind;
use clearance_runtime::sessions::owner::{KeyDigest, new_key};
use clearance_runtime::store::{DeleteError, NewPolytope, RegisterError, StoredPage};
use clearance_transport::intake::Intake;
use clearance_transport::timing::deadline;
use clearance_wire::convert::catalogue::{id, unknown};
use clearance_wire::convert::described::{describe, describe_new};
use clearance_wire::convert::geometry::points_to_wire;
use clearance_wire::convert::keys::digests;
use clearance_wire::convert::paging::{page_size, reply_bytes};
use clearance_wire::convert::polytope::{AskedPolytope, BuiltPolytope};
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::{Failure, TooLong};

/// Serves `PolytopeService`: bodies by id and alias.
#[derive(Clone, Debug)]
pub struct Polytopes(pub Shared);

#[tonic::async_trait]
impl api::polytope_service_server::PolytopeService for Polytopes {
    async fn register_polytopes(
        &self,
        request: Request<api::RegisterPolytopesRequest>,
    ) -> Result<Response<api::RegisterPolytopesResponse>, Status> {
        let deadline = deadline(self.0.limits(), request.metadata(), None)?;
        let intake = Intake::of(&request);
        let api::RegisterPolytopesRequest { polytopes, validate_only } = request.into_inner();
        let limits = self.0.limits();
        let list = Path::ROOT.field("polytopes");
        list.within(limits.registration_items_max(), polytopes.len()).map_err(Failure::from)?;
        let catalogue = self.0.catalogue();
        let convert = |(index, spec)| AskedPolytope::convert(&list.index(index), spec, &catalogue);
        let asked: Result<Vec<_>, Failure> =
            intake.look_through(|| polytopes.iter().enumerate().map(convert).collect());
        let reports = register(&self.0, asked?, validate_only, &deadline, &intake).await?;
        Ok(Response::new(api::RegisterPolytopesResponse { reports }))
    }

    async fn upload_polytope(
        &self,
        request: Request<Streaming<api::UploadPolytopeRequest>>,
    ) -> Result<Response<api::UploadPolytopeResponse>, Status> {
        let deadline = deadline(self.0.limits(), request.metadata(), None)?;
        let intake = Intake::of(&request);
        let report = uploads::receive(&self.0, request.into_inner(), &deadline, &intake).await?;
        Ok(Response::new(api::UploadPolytopeResponse { report: Some(report) }))
    }

    type DecomposeMeshStream = decompose::Pieces;

    async fn decompose_mesh(
        &self,
        request: Request<api::DecomposeMeshRequest>,
    ) -> Result<Response<Self::DecomposeMeshStream>, Status> {
        let deadline = deadline(self.0.limits(), request.metadata(), None)?;
        let intake = Intake::of(&request);
        let asked = decompose::AskedPieces::convert(&self.0, &request.into_inner())?;
        Ok(Response::new(decompose::start(self.0.clone(), asked, deadline, &intake)?))
    }

    async fn get_polytope(
        &self,
        request: Request<api::GetPolytopeRequest>,
    ) -> Result<Response<api::GetPolytopeResponse>, Status> {
        let deadline = deadline(self.0.limits(), request.metadata(), None)?;
        let intake = Intake::of(&request);
        let request = request.into_inner();
        let shown = SoughtBody::find(&self.0.catalogue(), &request)?;
        let body = shown.body();
        let names =
            [("with_vertices", request.with_vertices), ("with_facets", request.with_facets)];
        if let Some((name, _)) = names.iter().find(|(_, is_asked)| *is_asked)
            && body.spelled().is_none()
        {
            let what = "lists of a body without vertices, curved or a large height field";
            return Err(Failure::from(Path::ROOT.field(name).not_implemented(what)).into());
        }
        let count = |length| u32::try_from(length).unwrap_or(u32::MAX);
        let vertices = if request.with_vertices { count(body.vertices().len()) } else { 0 };
        let facets = if request.with_facets { body.outline().face_count } else { 0 };
        let estimate = COPIED_VERTEX * vertices + COPIED_FACET * facets;
        let load = JobSize::of(Counted::all_of(shown.memory_bytes()), estimate);
        // Refused before the work, not after it.
        let bytes = VERTEX_BYTES * vertices as usize + FACET_BYTES * facets as usize;
        let bytes_max = reply_bytes(request.reply_bytes_max, self.0.limits());
        let length = length_at_most([vertices, facets], body.vertices().len());
        if length > bytes_max {
            return Err(Failure::from(TooLong::Body { bytes: length, bytes_max }).into());
        }
        let _room = self.0.unsent.reserve(bytes, &intake)?;
        let (in_job, until) = (self.0.clone(), deadline.until().clone());
        let copying = self.0.compute.run(load, move || {
            let described = shown.describe(in_job.store(), &until)?;
            let body = shown.body();
            Ok::<_, Failure>(api::GetPolytopeResponse {
                polytope: Some(described),
                vertices: request.with_vertices.then(|| points_to_wire(body.vertices())),
                facets: if request.with_facets {
                    body.facets().map(facet).collect()
                } else {
                    Vec::new()
                },
            })
        });
        Ok(Response::new(copying.await.map_err(Failure::from)??))
    }

    async fn list_polytopes(
        &self,
        request: Request<api::ListPolytopesRequest>,
    ) -> Result<Response<api::ListPolytopesResponse>, Status> {
        let intake = Intake::of(&request);
        let request = request.into_inner();
        let size = page_size(self.0.limits(), request.page_size)?;
        let token = request.page_token.as_str();
        let after: Option<ContentId> = if token.is_empty() {
            None
        } else {
            let bad = |_| Path::ROOT.field("page_token").bad("is not one that this server gave");
            Some(token.parse().map_err(bad).map_err(Failure::from)?)
        };
        let bytes_max = self.0.limits().reply_bytes_default;
        let read = self.0.store().page(after, size, bytes_max);
        let StoredPage { stored: page, bytes, last } = read.map_err(Failure::from)?;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let _room = self.0.unsent.room_for_answer(bytes, &intake)?;
        Ok(Response::new(api::ListPolytopesResponse {
            next_page_token: last.map_or_else(String::new, |last| last.to_string()),
            polytopes: page.iter().map(|stored| describe(stored, self.0.store())).collect(),
            total_size: self.0.store().count(),
        }))
    }

    async fn delete_polytope(
        &self,
        request: Request<api::DeletePolytopeRequest>,
    ) -> Result<Response<api::DeletePolytopeResponse>, Status> {
        use api::delete_polytope_request::Key;
        let request = request.into_inner();
        let store = self.0.store();
        let list = Path::ROOT.field("alias_keys");
        let most = self.0.limits().aliases_per_polytope_max();
        let keys = digests(&list, &request.alias_keys, most)?;
        let (path, key, found) = match &request.key {
            Some(Key::Id(text)) => {
                let path = Path::ROOT.field("id");
                (path, text, Some(id(&path, text)?))
            }
            Some(Key::Alias(alias)) => (Path::ROOT.field("alias"), alias, store.resolve(alias)),
            None => return Err(no_key().into()),
        };
        let deleting = self.0.changing(move |shared| {
            found.map_or(Err(DeleteError::Unknown), |id| shared.store().delete(&id, &keys))
        });
        match deleting.await? {
            Ok(()) => {}
            Err(DeleteError::Unknown) if request.allow_missing => {}
            Err(DeleteError::Unknown) => {
                return Err(unknown(&path, key).into());
            }
            Err(DeleteError::Claimed) => {
                return Err(Failure::AliasClaimed { field: "alias_keys".to_owned() }.into());
            }
            Err(DeleteError::Down) => return Err(Failure::StoreDown.into()),
            Err(DeleteError::InUse { uses }) => {
                let id = found.map_or_else(String::new, |id| id.to_string());
                return Err(Failure::PolytopeInUse { id, uses }.into());
            }
        }
        Ok(Response::new(api::DeletePolytopeResponse {}))
    }

    async fn find_missing_polytopes(
        &self,
        request: Request<api::FindMissingPolytopesRequest>,
    ) -> Result<Response<api::FindMissingPolytopesResponse>, Status> {
        let ids = request.into_inner().ids;
        let list = Path::ROOT.field("ids");
        list.within(self.0.limits().find_missing_ids_max(), ids.len()).map_err(Failure::from)?;
        self.0.store().follow();
        let mut missing_ids = Vec::new();
        for (index, text) in ids.into_iter().enumerate() {
            let id = id(&list.index(index), &text)?;
            if !self.0.store().knows(&id) {
                missing_ids.push(text);
            }
        }
        Ok(Response::new(api::FindMissingPolytopesResponse { missing_ids }))
    }
}

/// What so many vertices and facets that are asked for take on the wire at most, bytes, of a body
/// with so many vertices. The corners of all facets are two for each edge, of which a polytope has
/// fewer than vertices and facets; triangles have three.
fn length_at_most([vertices, facets]: [u32; 2], vertex_count: usize) -> u64 {
    const HEADS: u64 = 8;
    let index = u64::from(vertex_count.max(1).ilog2()) / 7 + 1;
    let corners = (2 * (vertex_count as u64 + u64::from(facets))).max(3 * u64::from(facets));
    let of_facets = if facets == 0 { 0 } else { HEADS * u64::from(facets) + index * corners };
    24 * u64::from(vertices) + of_facets
}

/// What one takes in it; of a triangle.
const VERTEX_BYTES: usize = 24;
const FACET_BYTES: usize = 13;

fn facet(corners: &[u32]) -> api::Facet {
    api::Facet { vertices: corners.to_vec() }
}

/// Builds and registers all of them, or none; also none once nobody waits for it, which is
/// looked at where it may take long: between two of them, and while a hull is built, a mesh
/// compared with it or a polyhedron checked.
pub(in crate::rpc) async fn register(
    shared: &Shared,
    asked: Vec<AskedPolytope>,
    validate_only: bool,
    deadline: &Deadline,
    intake: &Intake,
) -> Result<Vec<api::RegistrationReport>, Failure> {
    let quota = intake.quota().clone();
    let points: usize = asked.iter().map(AskedPolytope::size).sum();
    let estimate = times(HULL_POINT, points + asked.len());
    let bytes = asked.iter().map(AskedPolytope::working_bytes).fold(0, u64::saturating_add);
    let mut work = quota.reserve(MemoryKind::Work, bytes)?;
    let reply: usize = asked.iter().map(AskedPolytope::reply_bytes).sum();
    let _room = shared.unsent.reserve(reply, intake)?;
    let (in_job, until) = (shared.clone(), deadline.until().clone());
    let job = move || {
        let limits = in_job.limits();
        let mut build = |asked: AskedPolytope| {
            if until.is_over() {
                Err(Failure::Deadline)
            } else {
                asked.build(limits, &until, &mut work)
            }
        };
        let built: Result<Vec<_>, Failure> = asked.into_iter().map(&mut build).collect();
        let registering = Registering { built: built?, validate_only, quota, work };
        if in_job.keeper().is_some() {
            return Ok(Err(registering));
        }
        registering.commit(&in_job).map(Ok)
    };
    match shared.compute.run(JobSize::of(intake.extent(), estimate), job).await?? {
        Ok(reports) => Ok(reports),
        // Where it waits for the disk nobody computes meanwhile.
        Err(registering) => shared.changing(move |shared| registering.commit(shared)).await?,
    }
}

/// What is built and not registered yet.
struct Registering {
    built: Vec<BuiltPolytope>,
    validate_only: bool,
    quota: MemoryQuota,
    work: Reservation,
}

impl Registering {
    fn commit(self, shared: &Shared) -> Result<Vec<api::RegistrationReport>, Failure> {
        // What was built is counted as registered from here on.
        drop(self.work);
        commit(shared, self.built, self.validate_only, &self.quota)
    }
}

fn commit(
    shared: &Shared,
    built: Vec<BuiltPolytope>,
    validate_only: bool,
    quota: &MemoryQuota,
) -> Result<Vec<api::RegistrationReport>, Failure> {
    let (mut new, mut reports, mut fields) = (Vec::new(), Vec::new(), Vec::new());
    let mut made_keys = Vec::new();
    for mut built in built {
        let is_open = shared.leaves_open || built.new.alias.is_none();
        let made = if is_open { String::new() } else { new_key()? };
        built.new.made_key = (!made.is_empty()).then(|| KeyDigest::of(&made));
        made_keys.push(made);
        new.push(built.new);
        reports.push(built.report);
        fields.push(built.field);
    }
    let refused = |error: RegisterError| refused(&error, &fields);
    let (store, limits) = (shared.store(), shared.limits());
    if validate_only {
        store.validate(&new, quota, limits).map_err(refused)?;
        for (report, new) in reports.iter_mut().zip(&new) {
            let aliases = new.alias.clone().into_iter().collect();
            report.polytope = Some(describe_new(&new.stored, aliases));
            report.already_registered = store.knows(&new.stored.id);
        }
        return Ok(reports);
    }
    shared.refuse_while_draining()?;
    // What is there already takes no more.
    let is_new = |one: &&NewPolytope| !store.knows(&one.stored.id);
    let sizes = new.iter().filter(is_new).map(|one| one.stored.memory_bytes);
    let (count, wanted) = sizes.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
    hold(shared, count, wanted)?;
    let (kind, limit) = (MemoryKind::Polytopes, limits.polytope_bytes_max());
    if wanted > quota.room_for(kind, store.memory_bytes(), limit.value) {
        return Err(limit.reached().into());
    }
    let limit = limits.polytopes_max();
    if count > quota.places_for(kind, store.count(), limit.value) {
        return Err(limit.reached().into());
    }
    for one in &mut new {
        one.stored.pay(quota)?;
    }
    let registered = store.register(new, quota, limits).map_err(refused)?;
    for ((report, registered), made) in reports.iter_mut().zip(registered).zip(made_keys) {
        report.polytope = Some(describe(&registered.stored, store));
        report.already_registered = registered.already_registered;
        report.alias_key = if registered.took_made_key { made } else { String::new() };
    }
    Ok(reports)
}

/// Whether the caller's tenant may have so many bodies more, and so many bytes.
fn hold(shared: &Shared, count: u64, bytes: u64) -> Result<(), Failure> {
    if count > 0 {
        shared.quotas.hold(QuotaKind::Bodies, shared.store().count() + count)?;
        shared.quotas.hold(QuotaKind::Bytes, shared.registered_bytes() + bytes)?;
    }
    Ok(())
}

fn refused(error: &RegisterError, fields: &[String]) -> Failure {
    let alias = |index: usize| format!("{}.alias", fields[index]);
    match error {
        RegisterError::AliasTaken { index, owner, .. } => {
            Failure::AliasTaken { field: alias(*index), owner: owner.to_string() }
        }
        RegisterError::AliasClaimed { index, .. } => {
            Failure::AliasClaimed { field: format!("{}.alias_key", fields[*index]) }
        }
        RegisterError::TooManyAliases { index, limit } => limit.exceeded_at(&alias(*index)).into(),
        RegisterError::Full(limit) => limit.reached().into(),
        RegisterError::Down => Failure::StoreDown,
    }
}
