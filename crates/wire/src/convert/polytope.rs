//! Specifications of polytopes, and what becomes of them.

use std::collections::HashSet;

use super::body::hull_bytes;
use super::catalogue::{Catalogue, id};
use super::curved::{self, CurvedShape};
use super::height_field::{AskedField, AskedPatch, Counted, UnmadeField};
use super::robots::clouds::cloud_of;
use super::rounded::RoundedPoints;
use super::{geometry, keys};
use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::{Body, ContentId};
use clearance_certificates::shape::Scale;
use clearance_geometry::Vec3;
use clearance_geometry::cloud::CLOUD_REACH_MAX;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::{Hull, HullError, POINTS_MAX, convex_hull_with};
use clearance_geometry::polyhedron::{Polyhedron, PolyhedronError, SurfaceError, TriangleSurface};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::COORDINATE_MAX;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_robot::mesh::convexity::{self, Convexity};
use clearance_robot::mesh::{self, MeshData, MeshError};
use clearance_runtime::memory::Reservation;
use clearance_runtime::sessions::owner::KeyDigest;
use clearance_runtime::settings::{Limit, Limits};
use clearance_runtime::store::{NewPolytope, Stored};

const ALIAS_BYTES_MAX: usize = 200;

/// A specification, checked as far as that is quick.
#[derive(Clone, Debug)]
pub struct AskedPolytope {
    source: AskedSource,
    /// Of balls around all points, metres.
    radius: f64,
    /// Of all coordinates of the source.
    scale: Option<Scale>,
    field: String,
    treatment: api::MeshTreatment,
    tolerance: Option<f64>,
    alias: Option<String>,
    move_alias: bool,
    alias_key: Option<KeyDigest>,
    expected_id: Option<ContentId>,
}

/// Where the points come from.
#[derive(Clone, Debug)]
pub enum AskedSource {
    /// Points, whose hull is meant.
    Points(Vec<Vec3>),
    /// Points that are all there is.
    Cloud(Vec<Vec3>),
    /// A mesh of vertices and triangles.
    Mesh(MeshData),
    /// A cylinder, a cone or an ellipsoid.
    Curved(CurvedShape),
    /// Heights over a grid.
    HeightField(AskedField),
    /// Some of the heights of a registered field.
    HeightPatch(AskedPatch),
    /// The bytes of a file.
    File {
        /// The file.
        content: prost::bytes::Bytes,
        /// Its format, if given.
        format: Option<mesh::Format>,
        /// Metres per unit.
        scale: f64,
    },
}

/// Built, and not registered yet.
#[derive(Debug)]
pub struct BuiltPolytope {
    /// For the store.
    pub new: NewPolytope,
    /// Without what only the store knows.
    pub report: api::RegistrationReport,
    /// Where it was asked for.
    pub field: String,
}

impl AskedPolytope {
    /// A specification with its source.
    pub fn convert(
        path: &Path<'_>,
        wire: &api::PolytopeSpec,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        use api::polytope_spec::Source as Wire;
        let limits = catalogue.limits;
        let source = match &wire.source {
            None => return Err(path.bad("needs vertices, a file or a mesh").into()),
            Some(Wire::Rounded(shape)) => {
                let path_here = path.field("rounded");
                if wire.scale.is_some() {
                    return Err(path.field("scale").bad("is given in `rounded` itself").into());
                }
                if let Some(curved) = CurvedShape::convert(&path_here, shape)? {
                    return Self::with_source(path, wire, AskedSource::Curved(curved));
                }
                let given = RoundedPoints::convert(&path_here, shape, limits.points_max())?;
                let asked = Self::with_source(path, wire, AskedSource::Points(given.points))?;
                return Ok(asked.with_radius(given.radius));
            }
            Some(Wire::Cloud(wire_cloud)) => {
                let given = cloud_of(&path.field("cloud"), wire_cloud, &mut limits.points_max())?;
                let asked = Self::with_source(path, wire, AskedSource::Cloud(given.points))?;
                return Ok(asked.with_radius(given.radius));
            }
            Some(Wire::Vertices(points)) => {
                let path = path.field("vertices");
                path.within(limits.points_max(), points.xyz.len() / 3)?;
                AskedSource::Points(geometry::points(&path, points)?)
            }
            Some(Wire::HeightField(field)) => {
                let path = path.field("height_field");
                AskedSource::HeightField(AskedField::convert(&path, field, None, limits)?)
            }
            Some(Wire::HeightPatch(patch)) => {
                let path = path.field("height_patch");
                AskedSource::HeightPatch(AskedPatch::convert(&path, patch, catalogue)?)
            }
            Some(Wire::File(file)) => file_source(&path.field("file"), file)?,
            Some(Wire::Mesh(mesh)) => mesh_source(&path.field("mesh"), mesh, limits)?,
        };
        Self::with_source(path, wire, source)
    }

    /// A specification whose source came another way.
    pub fn with_source(
        path: &Path<'_>,
        wire: &api::PolytopeSpec,
        source: AskedSource,
    ) -> Result<Self, Failure> {
        let treatment_path = path.field("treatment");
        let treatment = treatment_path.known(wire.treatment)?;
        if source.is_field() && treatment != api::MeshTreatment::Unspecified {
            return Err(treatment_path.bad("a height field is kept as it is").into());
        }
        let scale_path = path.field("scale");
        let scale = Scale::convert(&scale_path, wire.scale.as_ref())?;
        if source.is_field() && scale.is_some() {
            return Err(scale_path.bad("a height field has spacings").into());
        }
        match treatment {
            api::MeshTreatment::Unspecified | api::MeshTreatment::Hull => {}
            api::MeshTreatment::Decompose => {
                let why = "a registration is one body; DecomposeMesh makes pieces of one";
                return Err(treatment_path.bad(why).into());
            }
            api::MeshTreatment::Polyhedron => {
                if !source.is_mesh() {
                    return Err(treatment_path.bad("only a mesh bounds a polyhedron").into());
                }
            }
            api::MeshTreatment::Surface => {
                if !source.is_mesh() {
                    return Err(treatment_path.bad("only a mesh is a surface").into());
                }
            }
        }
        let tolerance_path = path.field("convexity_tolerance");
        let tolerance = wire.convexity_tolerance;
        let tolerance = tolerance.map(|value| geometry::length(&tolerance_path, value));
        let expected_path = path.field("expected_id");
        let expected = Some(wire.expected_id.as_str()).filter(|id| !id.is_empty());
        let expected_id = expected.map(|text| id(&expected_path, text)).transpose()?;
        let key_path = path.field("alias_key");
        let alias_key = keys::digest(&key_path, &wire.alias_key)?;
        if alias_key.is_some() && wire.alias.is_empty() {
            return Err(key_path.bad("needs an alias").into());
        }
        Ok(Self {
            source,
            radius: 0.0,
            scale,
            field: path.to_string(),
            treatment,
            tolerance: tolerance.transpose()?,
            alias: alias(&path.field("alias"), &wire.alias)?,
            move_alias: wire.move_alias,
            alias_key,
            expected_id,
        })
    }

    /// With balls of this radius, metres, around all its points.
    #[must_use]
    pub fn with_radius(self, radius: f64) -> Self {
        Self { radius, ..self }
    }

    /// Number of points, about.
    pub fn size(&self) -> usize {
        match &self.source {
            AskedSource::Points(points) | AskedSource::Cloud(points) => points.len(),
            AskedSource::Mesh(mesh) => mesh.vertices.len() + 4 * mesh.triangles.len(),
            AskedSource::HeightField(field) => field.size(),
            AskedSource::HeightPatch(patch) => patch.size(),
            AskedSource::Curved(_) => curved::POINTS,
            AskedSource::File { content, .. } => content.len() / 20,
        }
    }

    /// What it takes to build it, bytes: a generous guess. Of a file only what reading it takes:
    /// how much it holds is known then.
    pub fn working_bytes(&self) -> u64 {
        match &self.source {
            AskedSource::Points(points) => hull_bytes(points.len()),
            AskedSource::Cloud(points) => cloud_bytes(points.len()),
            AskedSource::Mesh(mesh) => mesh_bytes(mesh),
            AskedSource::HeightField(field) => field.working_bytes(),
            AskedSource::HeightPatch(patch) => patch.working_bytes(),
            AskedSource::Curved(_) => hull_bytes(curved::POINTS),
            AskedSource::File { content, .. } => reading_bytes(content),
        }
    }

    /// What the report on it takes on the wire, bytes, about: mostly which vertex became of each
    /// point.
    pub fn reply_bytes(&self) -> usize {
        const PER_POINT: usize = 4;
        match &self.source {
            AskedSource::Points(points) | AskedSource::Cloud(points) => PER_POINT * points.len(),
            AskedSource::Mesh(mesh) => PER_POINT * mesh.vertices.len(),
            AskedSource::HeightField(_)
            | AskedSource::HeightPatch(_)
            | AskedSource::Curved(_)
            | AskedSource::File { .. } => 0,
        }
    }

    /// Reads the file if there is one, builds the hull, judges and reports; takes a while. When
    /// the time is over, the hull, the comparison of a mesh with it and the check of a polyhedron
    /// are given up. `room` is what [`Self::working_bytes`] said, with that of others: what a file
    /// holds beyond it is taken there as soon as it is read.
    pub fn build(
        self,
        limits: &Limits,
        until: &Until,
        room: &mut Reservation,
    ) -> Result<BuiltPolytope, Failure> {
        if !self.source.has_points() {
            return self.build_without_points(limits, until);
        }
        let estimated = self.working_bytes();
        let Self { source, radius, scale, field, treatment, tolerance, alias, expected_id, .. } =
            self;
        let effort = &mut Effort::until(u64::MAX, until);
        let given = source.read(&field, limits, effort)?.scaled(scale, &field)?;
        let more = given.mesh.as_ref().map_or(0, mesh_bytes).saturating_sub(estimated);
        room.grow_to(room.bytes().saturating_add(more))?;
        let failed = |error: HullError| hull_failure(&given.field, &error, limits);
        let hull = convex_hull_with(&given.points, effort).map_err(failed)?;
        let mut report = given.report(&hull);
        // Points come without a mesh: that they are anything else was refused by `with_source`.
        // What bounds no polyhedron, or takes too long to check, is refused before its gap is
        // measured.
        let kept = match (&given.mesh, treatment) {
            (None, _) if given.is_cloud => Some(KeptMesh::Cloud(cloud(&given, effort)?)),
            (Some(mesh), api::MeshTreatment::Polyhedron) => {
                Some(KeptMesh::Region(polyhedron(&field, mesh, limits, until)?))
            }
            (Some(mesh), api::MeshTreatment::Surface) => {
                Some(KeptMesh::Surface(surface(&given.field, mesh)?))
            }
            _ => None,
        };
        if let Some(mesh) = &given.mesh {
            let judged = judge(mesh, &hull.polytope, tolerance, effort);
            let (found, not_convex) = judged.map_err(|why| failed(why.into()))?;
            report.convexity_gap_lower = Some(found.gap[0]);
            report.convexity_gap = found.gap[1];
            report.mesh_volume = found.volume;
            report.input_was_convex = found.convex;
            if let (Some(why), api::MeshTreatment::Unspecified) = (not_convex, treatment) {
                return Err(Failure::NotConvex { field, why });
            }
        }
        let body = if let Some(kept) = kept {
            given.report_kept(kept.surface(), &mut report);
            let hull = hull_of_named(hull.polytope, kept.surface(), effort).map_err(failed)?;
            match kept {
                KeptMesh::Region(region) => Body::of_polyhedron(region, hull),
                KeptMesh::Surface(surface) => Body::of_surface(surface, hull),
                KeptMesh::Cloud(points) => Body::of_cloud(points, hull, radius),
            }
        } else {
            Body::from(hull.polytope).rounded(radius)
        };
        let stored = Stored::new(body, effort).map_err(|why| failed(why.into()))?;
        check_id(&field, expected_id, &stored)?;
        let Self { move_alias, alias_key, .. } = self;
        let new = NewPolytope { stored, alias, move_alias, alias_key, made_key: None };
        Ok(BuiltPolytope { new, report, field })
    }

    /// The same of a height field or of a curved body, of which no mesh is made.
    fn build_without_points(
        self,
        limits: &Limits,
        until: &Until,
    ) -> Result<BuiltPolytope, Failure> {
        let Self { source, field, alias, expected_id, move_alias, alias_key, .. } = self;
        let effort = &mut Effort::until(u64::MAX, until);
        let failed = |error: HullError| hull_failure(&field, &error, limits);
        let of_field = |why: UnmadeField| match why {
            UnmadeField::Hull(error) => failed(error),
            UnmadeField::Failed(failure) => failure,
        };
        let counted = |counted: Counted| api::RegistrationReport {
            points_given: counted.given,
            points_dropped: counted.dropped,
            ..Default::default()
        };
        let (body, report) = match source {
            AskedSource::HeightField(asked) => {
                let (body, found) = asked.build(effort).map_err(of_field)?;
                (body, counted(found))
            }
            AskedSource::HeightPatch(asked) => {
                let (body, found) = asked.build(effort).map_err(of_field)?;
                (body, counted(found))
            }
            AskedSource::Curved(curved) => {
                let report =
                    api::RegistrationReport { input_was_convex: true, ..Default::default() };
                (curved.build(effort).map_err(failed)?, report)
            }
            AskedSource::Points(_)
            | AskedSource::Cloud(_)
            | AskedSource::Mesh(_)
            | AskedSource::File { .. } => return Err(Path::ROOT.bad("has points").into()),
        };
        let stored = Stored::new(body, effort).map_err(|why| failed(why.into()))?;
        check_id(&field, expected_id, &stored)?;
        let new = NewPolytope { stored, alias, move_alias, alias_key, made_key: None };
        Ok(BuiltPolytope { new, report, field })
    }
}

/// Whether a body has the id that was expected.
fn check_id(field: &str, expected: Option<ContentId>, stored: &Stored) -> Result<(), Failure> {
    if expected.is_some_and(|expected| expected != stored.id) {
        let field = format!("{field}.expected_id");
        return Err(Failure::DigestMismatch { field, actual: stored.id.to_string() });
    }
    Ok(())
}

/// What it takes to make a polytope or a polyhedron of a mesh, bytes: a generous guess.
fn mesh_bytes(mesh: &MeshData) -> u64 {
    /// Looking a triangle up among others, checking it against those near it, and its boxes.
    const PER_TRIANGLE: u64 = 512;
    let triangles = PER_TRIANGLE.saturating_mul(mesh.triangles.len() as u64);
    hull_bytes(mesh.vertices.len()).saturating_add(triangles)
}

/// What it takes to make a cloud of so many points, bytes: a generous guess.
fn cloud_bytes(points: usize) -> u64 {
    /// Sorting a point, its tree and the box around it.
    const PER_POINT: u64 = 384;
    hull_bytes(points).saturating_add(PER_POINT.saturating_mul(points as u64))
}

/// What it takes to read a file, bytes. A vertex takes 120 with its place among those that are
/// known, and a file of millions of different ones has ten bytes for each; triangles take less.
fn reading_bytes(content: &[u8]) -> u64 {
    const EACH: u64 = 16;
    let of_text = mesh::document_bytes(content) as u64;
    EACH.saturating_mul(content.len() as u64).saturating_add(of_text)
}

/// What a source holds.
struct Given {
    points: Vec<Vec3>,
    /// With equal points as one.
    mesh: Option<MeshData>,
    is_file: bool,
    is_cloud: bool,
    /// What is to blame for a point that is wrong: of a file, its content.
    field: String,
}

impl AskedSource {
    /// Whether it is kept as heights, without triangles or points.
    fn is_field(&self) -> bool {
        matches!(self, Self::HeightField(_) | Self::HeightPatch(_))
    }

    /// Whether it is given by points, alone or as corners of triangles.
    fn has_points(&self) -> bool {
        !self.is_field() && !matches!(self, Self::Curved(_))
    }

    fn is_mesh(&self) -> bool {
        matches!(self, Self::Mesh(_) | Self::File { .. })
    }

    fn read(self, field: &str, limits: &Limits, effort: &mut Effort<'_>) -> Result<Given, Failure> {
        let field = field.to_owned();
        let is_cloud = matches!(self, Self::Cloud(_));
        Ok(match self {
            // Of these no points are listed; see `build_without_points`.
            Self::HeightField(_) | Self::HeightPatch(_) | Self::Curved(_) => {
                Given { points: Vec::new(), mesh: None, is_file: false, is_cloud, field }
            }
            Self::Points(points) | Self::Cloud(points) => {
                Given { points, mesh: None, is_file: false, is_cloud, field }
            }
            Self::Mesh(mesh) => {
                let points = mesh.vertices.clone();
                Given { points, mesh: Some(mesh.joined()), is_file: false, is_cloud, field }
            }
            Self::File { content, format, scale } => {
                let field = field + ".file.content";
                let mut mesh = read_file(&field, &content, format, limits, effort)?;
                // Exact in most files: metres.
                if scale.to_bits() != 1.0_f64.to_bits() {
                    mesh.scale(scale);
                }
                let points = mesh.vertices.clone();
                Given { points, mesh: Some(mesh), is_file: true, is_cloud, field }
            }
        })
    }
}

impl Given {
    /// With all coordinates scaled, and the triangles of what is mirrored turned round.
    fn scaled(mut self, scale: Option<Scale>, field: &str) -> Result<Self, BadField> {
        let Some(scale) = scale else { return Ok(self) };
        let field = format!("{field}.scale");
        let most = if self.is_cloud { CLOUD_REACH_MAX } else { COORDINATE_MAX };
        scale.apply(&field, &mut self.points, most)?;
        if let Some(mesh) = &mut self.mesh {
            mesh.vertices.clone_from(&self.points);
            if scale.is_mirroring() {
                mesh.triangles.iter_mut().for_each(|[_, b, c]| std::mem::swap(b, c));
            }
            // Points that were apart may have become equal.
            *mesh = mesh.joined();
        }
        Ok(self)
    }

    /// What becomes of the points in their hull.
    fn report(&self, hull: &Hull) -> api::RegistrationReport {
        let mut report = api::RegistrationReport {
            input_was_convex: hull.report().was_convex,
            ..Default::default()
        };
        self.report_points(&mut report, hull.vertex_of_given.iter().copied());
        report
    }

    /// What becomes of the points in triangles that are kept as they are.
    fn report_kept(&self, surface: &TriangleSurface, report: &mut api::RegistrationReport) {
        let vertices = self.points.iter().map(|point| surface.index_of(point));
        self.report_points(report, vertices);
    }

    /// Counts the points, and says which vertex each of them is.
    fn report_points(
        &self,
        report: &mut api::RegistrationReport,
        vertices: impl Iterator<Item = Option<u32>> + Clone,
    ) {
        let is_counted = self.counted();
        report.points_given = is_counted.iter().filter(|is_counted| **is_counted).count() as u64;
        let of_counted = vertices.clone().zip(&is_counted).filter(|(_, is_counted)| **is_counted);
        // A point that comes again is the same vertex, and no other one.
        let kept: HashSet<u32> = of_counted.filter_map(|(vertex, _)| vertex).collect();
        report.points_dropped = report.points_given - kept.len() as u64;
        report.vertex_of_given = self.indices(vertices);
    }

    /// Which points count as given: of a mesh those that a triangle names, each once; else all.
    fn counted(&self) -> Vec<bool> {
        let Some(mesh) = &self.mesh else { return vec![true; self.points.len()] };
        let mut counted = vec![false; self.points.len()];
        for corner in mesh.triangles.as_flattened() {
            counted[*corner as usize] = true;
        }
        counted
    }

    /// The vertex of each point, for the wire; empty for a file, whose points nobody has numbered.
    fn indices(&self, vertices: impl Iterator<Item = Option<u32>>) -> Vec<i32> {
        if self.is_file {
            return Vec::new();
        }
        let index = |vertex| i32::try_from(vertex).unwrap_or(i32::MAX);
        vertices.map(|vertex| vertex.map_or(-1, index)).collect()
    }
}

/// How far the hull stands out of a mesh, and in words why this is not convex, unless it is.
fn judge(
    mesh: &MeshData,
    hull: &Polytope,
    tolerance: Option<f64>,
    effort: &mut Effort<'_>,
) -> Result<(Convexity, Option<String>), Stopped> {
    let found = convexity::measure(mesh, hull, tolerance, effort)?;
    let beyond = convexity::in_words(found.gap);
    let why = match found {
        Convexity { convex: true, .. } => None,
        Convexity { closed: false, .. } => {
            Some(format!("its surface is not closed, and its hull stands out by {beyond}"))
        }
        Convexity { solid: false, .. } => Some(format!(
            "its triangles bound no volume, or one more than once; its hull stands out by {beyond}"
        )),
        Convexity { .. } => Some(format!("its hull stands out by {beyond}")),
    };
    Ok((found, why))
}

/// What is kept as it is.
enum KeptMesh {
    /// The region that it bounds.
    Region(Polyhedron),
    /// Its triangles.
    Surface(TriangleSurface),
    /// Points, which are no mesh.
    Cloud(TriangleSurface),
}

impl KeptMesh {
    fn surface(&self) -> &TriangleSurface {
        match self {
            Self::Region(region) => region.surface(),
            Self::Surface(surface) | Self::Cloud(surface) => surface,
        }
    }
}

/// Checks that a mesh, with equal points as one, bounds a polyhedron.
fn polyhedron(
    field: &str,
    mesh: &MeshData,
    limits: &Limits,
    until: &Until,
) -> Result<Polyhedron, Failure> {
    let for_triangles =
        limits.polyhedron_steps_per_triangle.saturating_mul(mesh.triangles.len() as u64);
    let steps = limits.polyhedron_steps_max.saturating_add(for_triangles);
    let mut effort = Effort::until(steps, until);
    Polyhedron::new(&mesh.vertices, &mesh.triangles, &mut effort).map_err(|error| match error {
        PolyhedronError::Unchecked(Stopped::Deadline) => Failure::Deadline,
        PolyhedronError::Unchecked(Stopped::Steps | Stopped::Unresolved) => {
            limits.polyhedron_steps_max().exceeded_at(field).into()
        }
        PolyhedronError::Count { .. }
        | PolyhedronError::Coordinate { .. }
        | PolyhedronError::NoVertex { .. }
        | PolyhedronError::Degenerate { .. }
        | PolyhedronError::EdgeTwice { .. }
        | PolyhedronError::Open { .. }
        | PolyhedronError::Intersecting { .. }
        | PolyhedronError::InsideOut { .. } => {
            Failure::NotAPolyhedron { field: field.to_owned(), why: error.to_string() }
        }
    })
}

/// Triangles of a mesh, with equal points as one.
fn surface(field: &str, mesh: &MeshData) -> Result<TriangleSurface, BadField> {
    let refused = |error: SurfaceError| BadField {
        field: field.to_owned(),
        problem: error.to_string().into(),
    };
    TriangleSurface::new(&mesh.vertices, &mesh.triangles).map_err(refused)
}

/// The points of a cloud, each once.
fn cloud(given: &Given, effort: &Effort<'_>) -> Result<TriangleSurface, Failure> {
    effort.look_at_clock().map_err(|_| Failure::Deadline)?;
    let refused = |error: SurfaceError| BadField {
        field: given.field.clone(),
        problem: error.to_string().into(),
    };
    Ok(TriangleSurface::of_points(&given.points).map_err(refused)?)
}

/// The hull of triangles that are kept. It is the hull of all points given, unless one of its
/// vertices is named by no triangle and so belongs to none.
fn hull_of_named(
    hull: Polytope,
    surface: &TriangleSurface,
    effort: &mut Effort<'_>,
) -> Result<Polytope, HullError> {
    if hull.vertices().iter().all(|vertex| surface.index_of(vertex).is_some()) {
        return Ok(hull);
    }
    convex_hull_with(surface.vertices(), effort).map(|hull| hull.polytope)
}

fn hull_failure(field: &str, error: &HullError, limits: &Limits) -> Failure {
    match error {
        HullError::TooMany { .. } => {
            let limit = Limit { value: POINTS_MAX as u64, ..limits.points_max() };
            limit.exceeded_at(field).into()
        }
        HullError::Stopped(_) => Failure::Deadline,
        HullError::Empty | HullError::BadPoint { .. } => {
            BadField { field: field.to_owned(), problem: error.to_string().into() }.into()
        }
    }
}

fn read_file(
    field: &str,
    content: &[u8],
    format: Option<mesh::Format>,
    limits: &Limits,
    effort: &mut Effort<'_>,
) -> Result<MeshData, Failure> {
    let triangles_max = usize::try_from(limits.triangles_max).unwrap_or(usize::MAX);
    let mesh = mesh::read(content, format, triangles_max, effort);
    let mesh = mesh.map_err(|error| -> Failure {
        match error {
            MeshError::Stopped(_) => Failure::Deadline,
            MeshError::TooManyTriangles { .. } => limits.triangles_max().exceeded_at(field).into(),
            MeshError::UnknownFormat
            | MeshError::Collada(_)
            | MeshError::StlLength { .. }
            | MeshError::Line { .. }
            | MeshError::Empty => {
                BadField { field: field.to_owned(), problem: error.to_string().into() }.into()
            }
        }
    })?;
    if mesh.vertices.len() as u64 > limits.points_max {
        return Err(limits.points_max().exceeded_at(field).into());
    }
    Ok(mesh)
}

/// The bytes of a file, with how to read them.
pub fn file_source(path: &Path<'_>, file: &api::MeshFile) -> Result<AskedSource, BadField> {
    let format = match path.field("format").known(file.format)? {
        api::MeshFormat::Unspecified => None,
        api::MeshFormat::Stl => Some(mesh::Format::Stl),
        api::MeshFormat::Obj => Some(mesh::Format::Obj),
        api::MeshFormat::Collada => Some(mesh::Format::Collada),
    };
    let scale = file.scale.unwrap_or(1.0);
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(path.field("scale").bad("must be positive and finite"));
    }
    Ok(AskedSource::File { content: file.content.clone(), format, scale })
}

fn mesh_source(path: &Path<'_>, mesh: &api::Mesh, limits: &Limits) -> Result<AskedSource, Failure> {
    let vertices_path = path.field("vertices");
    let wire = mesh.vertices.as_ref().ok_or_else(|| vertices_path.bad("is required"))?;
    vertices_path.within(limits.points_max(), wire.xyz.len() / 3)?;
    let vertices = geometry::points(&vertices_path, wire)?;
    let path = path.field("triangles");
    let (triangles, rest) = mesh.triangles.as_chunks::<3>();
    if !rest.is_empty() || triangles.is_empty() {
        return Err(path.bad("must have three indices for each triangle, and a triangle").into());
    }
    path.within(limits.triangles_max(), triangles.len())?;
    let is_bad = |index: &u32| *index as usize >= vertices.len();
    if let Some(at) = mesh.triangles.iter().position(is_bad) {
        return Err(path.index(at).bad("names a vertex that is not there").into());
    }
    Ok(AskedSource::Mesh(MeshData::new(vertices, triangles.to_vec())))
}

/// An alias; empty: none.
fn alias(path: &Path<'_>, text: &str) -> Result<Option<String>, BadField> {
    if text.is_empty() {
        return Ok(None);
    }
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    if text.len() <= ALIAS_BYTES_MAX && text.bytes().all(is_good) {
        Ok(Some(text.to_owned()))
    } else {
        Err(path.bad("must be 1 to 200 characters from [A-Za-z0-9._/-]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_runtime::memory::{MemoryBudget, MemoryKind, MemoryQuota};
    use clearance_runtime::robots::RobotStore;
    use clearance_runtime::store::PolytopeStore;

    /// Converted where nothing is registered.
    fn converted(spec: &api::PolytopeSpec, limits: &Limits) -> AskedPolytope {
        let (store, robots) = (&PolytopeStore::default(), &RobotStore::default());
        AskedPolytope::convert(&Path::ROOT, spec, &Catalogue { store, robots, limits }).unwrap()
    }

    #[test]
    fn the_check_of_a_polyhedron_is_given_up_when_the_caller_has_gone_or_waits_no_longer() {
        let mesh = api::Mesh {
            vertices: Some(api::Points {
                xyz: vec![0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.],
            }),
            triangles: vec![0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2],
        };
        let spec = api::PolytopeSpec {
            source: Some(api::polytope_spec::Source::Mesh(mesh)),
            treatment: api::MeshTreatment::Polyhedron.into(),
            ..Default::default()
        };
        let limits = Limits::default();
        let build = |until: &Until| {
            let asked = converted(&spec, &limits);
            let room = MemoryQuota::of_nobody().reserve(MemoryKind::Work, asked.working_bytes());
            asked.build(&limits, until, &mut room.unwrap())
        };
        assert!(build(Until::never()).is_ok());
        assert!(matches!(build(&Until::expired()), Err(Failure::Deadline)));
    }

    /// How much a file holds was guessed by its length, which refused large STL files and believed
    /// small OBJ files.
    #[test]
    fn what_a_file_holds_beyond_its_bytes_is_taken_when_it_is_read() {
        let limits = Limits { memory_bytes_max: 4 << 20, ..Limits::default() };
        // A strip of triangles by ten bytes a vertex and twelve a triangle.
        let vertices = (0..2_000).map(|k| format!("v {} {} 0\n", k / 2, k % 2));
        let triangles = (1..1_999).map(|k| format!("f {k} {} {}\n", k + 1, k + 2));
        let text: String = vertices.chain(triangles).collect();
        let file = api::MeshFile { content: text.into(), ..Default::default() };
        let source = Some(api::polytope_spec::Source::File(file));
        let treatment = api::MeshTreatment::Hull.into();
        let spec = api::PolytopeSpec { source, treatment, ..Default::default() };
        let asked = converted(&spec, &limits);
        let estimated = asked.working_bytes();
        let address = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
        let quota = MemoryBudget::new(limits.memory_bytes_max()).connection(address);
        let mut room = quota.reserve(MemoryKind::Work, estimated).unwrap();
        let built = asked.clone().build(&limits, Until::never(), &mut room);
        assert!(built.is_ok() && room.bytes() > 2 * estimated, "{}", room.bytes());
        let _others = quota.hold(MemoryKind::Sessions, 2 << 20);
        room.set(estimated);
        let refused = asked.build(&limits, Until::never(), &mut room);
        assert!(matches!(refused, Err(Failure::Limit(_))), "{refused:?}");
    }
}
