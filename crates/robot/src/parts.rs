//! The parts of a robot: boxes, polytopes around round shapes, hulls of meshes, and meshes as they
//! are.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::body::{HulledPolyhedron, PartBody};
use super::error::{BuildError, RobotError, shown};
use super::room::{BuildRoom, hull_bytes, polyhedron_bytes, polytope_bytes};
use super::round::{Around, capsule, cylinder, sphere};
use super::urdf::{CollisionElement, Description, Geometry};
use crate::mesh::MeshData;
use crate::mesh::convexity;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::{Hull, HullError, convex_hull_with};
use clearance_geometry::polyhedron::{Polyhedron, PolyhedronError};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// What a mesh file holds.
#[derive(Clone, Debug)]
pub enum MeshContent {
    /// Triangles, which are read as the sources say.
    Mesh(Arc<MeshData>),
    /// A body that is known already, and is what it is.
    Known(PartBody),
}

/// What becomes of the triangles of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeshTreatment {
    /// Their hull stands for them.
    #[default]
    Hull,
    /// They bound a polyhedron, or are refused.
    Polyhedron,
}

/// Meshes by the names that the URDF uses, or by the last step of these.
pub type MeshFiles = BTreeMap<String, MeshContent>;

/// What a robot is built from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The URDF.
    pub urdf: &'a str,
    /// The SRDF; none: only links that a joint joins may meet.
    pub srdf: Option<&'a str>,
    /// The mesh files.
    pub meshes: &'a MeshFiles,
    /// How far polytopes around balls, cylinders and capsules may stand out, metres; none: by 2 %
    /// and half a percent of the radius.
    pub gap_max: Option<f64>,
    /// Whether parts whose mesh is missing are left out.
    pub leave_out_missing: bool,
    /// What becomes of the triangles of mesh files.
    pub mesh_treatment: MeshTreatment,
}

/// What a part was in the URDF.
#[derive(Clone, Debug, PartialEq)]
pub enum PartSource {
    /// A box, exactly.
    Box,
    /// A polytope around a ball, a cylinder or a capsule.
    Round,
    /// The hull of a mesh.
    Mesh {
        /// The name that the URDF uses.
        filename: String,
        /// Every edge has its opposite.
        closed: bool,
        /// It is its own hull, up to the rounding of single precision.
        convex: bool,
    },
    /// What a mesh bounds, exactly.
    AsItIs {
        /// The name that the URDF uses.
        filename: String,
    },
    /// A body that was registered already.
    Registered {
        /// The name that the URDF uses.
        filename: String,
    },
}

/// How far a part stands out beyond what it was: the largest distance of a point of it from that,
/// metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// At most that; none: not known.
    pub lower: Option<f64>,
    /// At least that; none: not known.
    pub upper: Option<f64>,
}

impl Gap {
    /// Of what is exactly what it was.
    pub const NONE: Self = Self { lower: Some(0.0), upper: Some(0.0) };
    /// Of a polytope that was made of nobody knows what.
    pub const UNKNOWN: Self = Self { lower: None, upper: None };

    /// No more than this.
    fn at_most(upper: f64) -> Self {
        Self { lower: None, upper: Some(upper) }
    }
}

/// A part of a link.
#[derive(Clone, Debug)]
pub struct RobotPart {
    /// The link that it is of.
    pub link: usize,
    /// The name of the collision element, or nothing.
    pub name: String,
    /// What it is.
    pub body: PartBody,
    /// Where it is in its link.
    pub link_from_part: Pose,
    /// Where it is in the frame of its link.
    pub frame_from_part: Pose,
    /// What it was.
    pub source: PartSource,
    /// How far it stands out beyond what it was.
    pub gap: Gap,
    /// The body was built for the robot, and is none that was registered.
    pub is_own: bool,
}

/// A link and what carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotLink {
    /// As in the URDF.
    pub name: String,
    /// The frame that moves it; none: it stands on the base.
    pub frame: Option<usize>,
    /// Where it is in that frame.
    pub frame_from_link: Pose,
    /// Its parts.
    pub parts: Range<usize>,
}

/// Builds the parts of all links.
pub(super) struct PartBuilder<'a, 'e, 'f> {
    /// The meshes, and what is asked of them.
    pub(super) sources: &'a Sources<'a>,
    /// How long it may take.
    pub(super) effort: &'e mut Effort<'f>,
    /// Has memory for them.
    pub(super) room: &'a dyn BuildRoom,
    /// What is built so far takes so many bytes.
    pub(super) bytes: usize,
    /// What the meshes are called by the last steps of their names; none: several are.
    by_last_step: BTreeMap<&'a str, Option<&'a MeshContent>>,
    /// The parts so far.
    pub(super) built: Vec<RobotPart>,
    /// Meshes that were not given.
    pub(super) missing: Vec<String>,
    /// What became of meshes that are not convex, in words.
    pub(super) notes: Vec<String>,
}

/// A body, what it was made of, and by how much it is larger.
type Built = (PartBody, PartSource, Gap);

/// What measuring a mesh against its hull takes for each triangle, bytes: its corners and boxes,
/// and those of a facet of the hull.
const MEASURED_BYTES: usize = 512;

/// What checking that a mesh bounds a polyhedron takes for each triangle, bytes: its edges, and its
/// place and boxes in a tree.
const CHECKED_BYTES: usize = 512;

/// What a shape is made of: those that are equal in it are one body.
type ShapeKey = (String, [u64; 3]);

/// That of an element.
fn shape_key(geometry: &Geometry) -> ShapeKey {
    let key = |kind: &str, sizes: [f64; 3]| (kind.to_owned(), sizes.map(f64::to_bits));
    match geometry {
        Geometry::Box { size } => key("box", (*size).into()),
        Geometry::Sphere { radius } => key("sphere", [*radius, 0.0, 0.0]),
        Geometry::Cylinder { radius, length } => key("cylinder", [*radius, *length, 0.0]),
        Geometry::Capsule { radius, length } => key("capsule", [*radius, *length, 0.0]),
        Geometry::Mesh { filename, scale } => key(&format!("mesh {filename}"), (*scale).into()),
    }
}

impl<'a, 'e, 'f> PartBuilder<'a, 'e, 'f> {
    /// No part yet.
    pub(super) fn new(
        sources: &'a Sources<'a>,
        effort: &'e mut Effort<'f>,
        room: &'a dyn BuildRoom,
    ) -> Self {
        let mut by_last_step = BTreeMap::new();
        for (name, content) in sources.meshes {
            let named = by_last_step.entry(last_step(name));
            named.and_modify(|found| *found = None).or_insert(Some(content));
        }
        let (built, missing, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { sources, effort, room, bytes: 0, by_last_step, built, missing, notes }
    }

    /// The mesh that the URDF means: by the whole name, or by its last step if one file alone has
    /// it.
    fn mesh_named(&self, filename: &str) -> Option<&'a MeshContent> {
        let by_last_step = || self.by_last_step.get(last_step(filename)).copied().flatten();
        self.sources.meshes.get(filename).or_else(by_last_step)
    }

    /// The parts of every link, in order.
    pub(super) fn all(
        mut self,
        description: &Description,
        links: &mut [RobotLink],
    ) -> Result<Self, BuildError> {
        // A shape that comes again is one body.
        let mut known: BTreeMap<ShapeKey, Built> = BTreeMap::new();
        for (index, (element, link)) in description.links.iter().zip(links).enumerate() {
            let first = self.built.len();
            for collision in &element.collisions {
                self.effort.spend_step()?;
                let key = shape_key(&collision.geometry);
                let built = match known.get(&key) {
                    Some(built) => Some(built.clone()),
                    None => {
                        let built = self.shape(&link.name, collision)?;
                        known.extend(built.clone().map(|built| (key, built)));
                        built
                    }
                };
                let Some((body, source, gap)) = built else { continue };
                self.note_hull(&link.name, &source, gap);
                self.built.push(RobotPart {
                    link: index,
                    name: collision.name.clone(),
                    body,
                    link_from_part: collision.link_from_shape,
                    frame_from_part: link.frame_from_link.compose(&collision.link_from_shape),
                    is_own: !self.is_registered(&source, &collision.geometry),
                    source,
                    gap,
                });
            }
            link.parts = first..self.built.len();
        }
        self.missing.sort();
        self.missing.dedup();
        if self.missing.is_empty() || self.sources.leave_out_missing {
            Ok(self)
        } else {
            Err(BuildError::MissingMeshes(self.missing))
        }
    }

    /// Notes that a mesh which is not convex became its hull.
    fn note_hull(&mut self, link: &str, source: &PartSource, gap: Gap) {
        let PartSource::Mesh { filename, convex: false, closed } = source else { return };
        let (Some(lower), Some(upper)) = (gap.lower, gap.upper) else { return };
        let note = format!(
            "link {:?}: the mesh {:?} is not convex{}; its hull, which stands for it, \
             stands out by {}",
            shown(link),
            shown(filename),
            if *closed { "" } else { ", nor is it closed" },
            convexity::in_words([lower, upper]),
        );
        // A link may have the same file more than once.
        if self.notes.last() != Some(&note) {
            self.notes.push(note);
        }
    }

    /// None: it is a mesh whose file was not given.
    fn shape(
        &mut self,
        link: &str,
        element: &CollisionElement,
    ) -> Result<Option<Built>, BuildError> {
        let gap_max = self.sources.gap_max;
        let around: Around = match &element.geometry {
            Geometry::Box { size } => {
                let corner = |i: u32| {
                    Vec3::from_fn(
                        |k, _| if i >> k & 1 == 1 { 0.5 * size[k] } else { -0.5 * size[k] },
                    )
                };
                let points: Vec<Vec3> = (0..8).map(corner).collect();
                let hull = self.hull(element, &points)?;
                return Ok(Some((hull.into(), PartSource::Box, Gap::NONE)));
            }
            Geometry::Sphere { radius } => sphere(*radius, gap_max),
            Geometry::Cylinder { radius, length } => cylinder(*radius, *length, gap_max),
            Geometry::Capsule { radius, length } => capsule(*radius, *length, gap_max),
            Geometry::Mesh { filename, scale } => {
                return self.mesh(link, element, filename, scale);
            }
        };
        let hull = self.hull(element, &around.points)?;
        Ok(Some((hull.into(), PartSource::Round, Gap::at_most(around.gap))))
    }

    /// Whether a part is a body as it was registered.
    fn is_registered(&self, source: &PartSource, geometry: &Geometry) -> bool {
        matches!(source, PartSource::Registered { .. })
            && matches!(geometry, Geometry::Mesh { scale, .. } if *scale == Vec3::repeat(1.0))
    }

    /// Says whether there is memory for what the next step takes.
    fn take(&self, bytes: usize) -> Result<(), BuildError> {
        if self.room.holds(self.bytes.saturating_add(bytes)) {
            Ok(())
        } else {
            Err(BuildError::NoRoom)
        }
    }

    /// None: the file was not given.
    fn mesh(
        &mut self,
        link: &str,
        element: &CollisionElement,
        filename: &str,
        scale: &Vec3,
    ) -> Result<Option<Built>, BuildError> {
        let Some(content) = self.mesh_named(filename) else {
            self.missing.push(filename.to_owned());
            return Ok(None);
        };
        let is_scaled = *scale != Vec3::repeat(1.0);
        let of_file = || (shown(link), filename.to_owned());
        let filename = filename.to_owned();
        Ok(Some(match content {
            // No mesh is a cloud: it is as if there were none.
            MeshContent::Known(PartBody::Cloud(_)) => {
                self.missing.push(filename);
                return Ok(None);
            }
            MeshContent::Known(body) if !is_scaled => {
                let gap = if body.polytope().is_some() { Gap::UNKNOWN } else { Gap::NONE };
                (body.clone(), PartSource::Registered { filename }, gap)
            }
            MeshContent::Known(PartBody::Polytope(polytope)) => {
                let points: Vec<Vec3> =
                    polytope.vertices().iter().map(|p| p.component_mul(scale)).collect();
                let hull = self.hull(element, &points)?;
                (hull.into(), PartSource::Registered { filename }, Gap::UNKNOWN)
            }
            MeshContent::Known(PartBody::Polyhedron(HulledPolyhedron { polyhedron, .. })) => {
                let [vertices, triangles] =
                    [size_of_val(polyhedron.vertices()), size_of_val(polyhedron.triangles())];
                self.take(vertices + triangles)?;
                let (vertices, triangles) =
                    (polyhedron.vertices().to_vec(), polyhedron.triangles().to_vec());
                let mesh = scaled(MeshData { vertices, triangles }, scale);
                let body = self.polyhedron(of_file(), element, &mesh)?;
                (body, PartSource::Registered { filename }, Gap::NONE)
            }
            MeshContent::Mesh(mesh) => {
                let lists = size_of_val(&*mesh.vertices) + size_of_val(&*mesh.triangles);
                self.take(lists)?;
                let mesh = scaled(mesh.as_ref().clone(), scale);
                match self.sources.mesh_treatment {
                    MeshTreatment::Hull => self.hull_of_mesh(filename, element, &mesh)?,
                    MeshTreatment::Polyhedron => {
                        let body = self.polyhedron(of_file(), element, &mesh)?;
                        (body, PartSource::AsItIs { filename }, Gap::NONE)
                    }
                }
            }
        }))
    }

    /// The hull of a mesh, and how far it stands out of that.
    fn hull_of_mesh(
        &mut self,
        filename: String,
        element: &CollisionElement,
        mesh: &MeshData,
    ) -> Result<Built, BuildError> {
        let lists = size_of_val(&*mesh.vertices)
            + size_of_val(&*mesh.triangles)
            + MEASURED_BYTES * mesh.triangles.len();
        self.take(lists.saturating_add(hull_bytes(mesh.vertices.len())))?;
        let hull = self.hull(element, &mesh.vertices)?;
        let found = convexity::measure(mesh, &hull, None, self.effort)?;
        let [lower, upper] = found.gap.map(Some);
        let convexity::Convexity { closed, convex, .. } = found;
        let source = PartSource::Mesh { filename, closed, convex };
        Ok((hull.into(), source, Gap { lower, upper }))
    }

    /// What a mesh bounds. One that bounds nothing would be another kind of body; there is none
    /// yet, and it is refused.
    fn polyhedron(
        &mut self,
        (link, mesh_name): (String, String),
        element: &CollisionElement,
        mesh: &MeshData,
    ) -> Result<PartBody, BuildError> {
        let lists = size_of_val(&*mesh.vertices)
            + size_of_val(&*mesh.triangles)
            + CHECKED_BYTES * mesh.triangles.len();
        self.take(lists.saturating_add(hull_bytes(mesh.vertices.len())))?;
        let made = Polyhedron::new(&mesh.vertices, &mesh.triangles, self.effort);
        let polyhedron = made.map_err(|why| {
            if let PolyhedronError::Unchecked(why) = why {
                return BuildError::Stopped(why);
            }
            BuildError::NotAPolyhedron { link, mesh: mesh_name, why }
        })?;
        let bytes = polyhedron_bytes(&polyhedron);
        self.take(bytes)?;
        self.bytes += bytes;
        // Vertices that no triangle names are no part of it.
        let hull = self.hull(element, polyhedron.vertices())?;
        Ok(PartBody::Polyhedron(HulledPolyhedron { polyhedron: Arc::new(polyhedron), hull }))
    }

    fn hull(
        &mut self,
        element: &CollisionElement,
        points: &[Vec3],
    ) -> Result<Arc<Polytope>, BuildError> {
        self.take(hull_bytes(points.len()))?;
        match convex_hull_with(points, self.effort) {
            Ok(Hull { mut polytope, .. }) => {
                polytope.prepare_reach(self.effort)?;
                self.bytes += polytope_bytes(&polytope);
                self.room.keeper().into_iter().for_each(|keeper| polytope.tell(keeper));
                Ok(Arc::new(polytope))
            }
            Err(HullError::Stopped(why)) => Err(why.into()),
            Err(error) => Err(BuildError::Description(RobotError {
                file: "URDF",
                line: element.line,
                place: "collision: ".to_owned(),
                problem: format!("it has no hull: {error}").into(),
            })),
        }
    }
}

/// A mesh whose coordinates are multiplied.
fn scaled(mut mesh: MeshData, scale: &Vec3) -> MeshData {
    mesh.vertices.iter_mut().for_each(|vertex| vertex.component_mul_assign(scale));
    if scale.product() < 0.0 {
        // A mirror turns every triangle inside out.
        mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    mesh
}

/// What follows the last slash.
pub fn last_step(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}
