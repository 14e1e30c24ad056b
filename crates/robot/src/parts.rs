//! The parts of a robot: boxes, balls, capsules and cylinders, hulls of meshes, and meshes as they
//! are.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::body::{CurvedPart, HulledMesh, PartBody, RoundedPart};
use super::error::{BuildError, RobotError, shown};
use super::room::{BuildRoom, hull_bytes, polytope_bytes};
use super::round::{Around, cylinder};
use super::urdf::{CollisionElement, Description, Geometry};
use crate::mesh::MeshData;
use crate::mesh::convexity::{self, Convexity};
use clearance_bodies::Body;
use clearance_bodies::kinds::curved::{COARSE_POINTS, CurvedCore, CurvedForm, HALF_SIZES};
use clearance_bodies::table::place::Place;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::{Hull, HullError, convex_hull_with};
use clearance_geometry::polyhedron::pieces::{self, PiecesError, Wanted};
use clearance_geometry::polyhedron::{
    Polyhedron, PolyhedronError, SurfaceError, TriangleBody, TriangleSurface,
};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::{COORDINATE_MAX, Pose};

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
    /// They are what they are: their hull if it is no more than they bound, else the region that
    /// they bound, else their surface.
    #[default]
    AsTheFileSays,
    /// Their hull stands for them.
    Hull,
    /// They bound a polyhedron, or are refused.
    Polyhedron,
    /// Their union, and nothing beside it.
    Surface,
    /// Convex pieces that together hold them and what they bound: [`PIECES_MAX`] at most, and so
    /// many that none stands out by more than [`PIECE_GAP`] of the largest extent, if that many
    /// can.
    Pieces,
}

/// Pieces of a mesh at most, and how far they may stand out, as a part of its largest extent, if so
/// many pieces can be that near. Twice as near takes about twice as many, and each is a part that
/// is asked about; what CoACD makes of robots' meshes by default stands out by 0.02 to 0.07.
pub const PIECES_MAX: usize = 32;
const PIECE_GAP: f64 = 0.02;

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
    /// How far polytopes that stand for cylinders may stand out of them, metres; none: cylinders
    /// are what they are.
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
    /// A ball, a capsule or a cylinder, exactly, or a polytope around a cylinder.
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
    /// The triangles of a mesh, and nothing beside them.
    Surface {
        /// The name that the URDF uses.
        filename: String,
    },
    /// One of the convex pieces that hold a mesh.
    Piece {
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
    /// How many there may be.
    parts_max: usize,
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

/// A body, and what is told of it.
#[derive(Clone)]
struct Built {
    body: PartBody,
    /// What it was made of.
    source: PartSource,
    /// By how much it is larger.
    gap: Gap,
    /// Further pieces of the same mesh, with their gaps.
    beside: Vec<(PartBody, Gap)>,
    /// What became of a mesh that is not convex, in words.
    note: Option<String>,
}

impl Built {
    /// Without a note.
    fn new(body: PartBody, source: PartSource, gap: Gap) -> Self {
        Self { body, source, gap, beside: Vec::new(), note: None }
    }
}

/// Where a mesh is meant: the link and the name that the URDF uses.
#[derive(Clone, Copy)]
struct MeantMesh<'m> {
    link: &'m str,
    filename: &'m str,
    element: &'m CollisionElement,
}

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
        parts_max: usize,
    ) -> Self {
        let mut by_last_step = BTreeMap::new();
        for (name, content) in sources.meshes {
            let named = by_last_step.entry(last_step(name));
            named.and_modify(|found| *found = None).or_insert(Some(content));
        }
        let (built, missing, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { sources, effort, room, parts_max, bytes: 0, by_last_step, built, missing, notes }
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
                let Some(Built { body, source, gap, beside, note }) = built else { continue };
                self.note(&link.name, note);
                if self.built.len() + beside.len() >= self.parts_max {
                    let many =
                        format!("with its pieces there are more than {} parts", self.parts_max);
                    return Err(described(collision, many));
                }
                for (body, gap) in [(body, gap)].into_iter().chain(beside) {
                    self.built.push(RobotPart {
                        link: index,
                        name: collision.name.clone(),
                        body,
                        link_from_part: collision.link_from_shape,
                        frame_from_part: link.frame_from_link.compose(&collision.link_from_shape),
                        is_own: !self.is_registered(&source, &collision.geometry),
                        source: source.clone(),
                        gap,
                    });
                }
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

    /// Notes what became of a mesh of a link.
    fn note(&mut self, link: &str, note: Option<String>) {
        let Some(note) = note else { return };
        let note = format!("link {:?}: {note}", shown(link));
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
            Geometry::Sphere { radius } => {
                return self.rounded(element, &[Vec3::zeros()], *radius).map(Some);
            }
            Geometry::Capsule { radius, length } => {
                let half = Vec3::new(0.0, 0.0, 0.5 * length);
                return self.rounded(element, &[-half, half], *radius).map(Some);
            }
            Geometry::Box { size } => {
                let corner = |i: u32| {
                    Vec3::from_fn(
                        |k, _| if i >> k & 1 == 1 { 0.5 * size[k] } else { -0.5 * size[k] },
                    )
                };
                let points: Vec<Vec3> = (0..8).map(corner).collect();
                let hull = self.hull(element, &points)?;
                return Ok(Some(Built::new(hull.into(), PartSource::Box, Gap::NONE)));
            }
            Geometry::Cylinder { radius, length } => {
                let half = Vec3::new(*radius, *radius, 0.5 * length);
                let is_possible =
                    half.iter().all(|half| (HALF_SIZES[0]..=HALF_SIZES[1]).contains(half));
                if gap_max.is_none() && is_possible {
                    let core = CurvedCore { form: CurvedForm::Cylinder, half };
                    let body = self.curved(element, core, 0.0)?;
                    return Ok(Some(Built::new(body, PartSource::Round, Gap::NONE)));
                }
                cylinder(*radius, *length, gap_max)
            }
            Geometry::Mesh { filename, scale } => {
                return self.mesh(link, element, filename, scale);
            }
        };
        let hull = self.hull(element, &around.points)?;
        Ok(Some(Built::new(hull.into(), PartSource::Round, Gap::at_most(around.gap))))
    }

    /// Points with balls of this radius around all points of their hull: exactly what is meant.
    fn rounded(
        &mut self,
        element: &CollisionElement,
        points: &[Vec3],
        radius: f64,
    ) -> Result<Built, BuildError> {
        let core = self.hull(element, points)?;
        let body = PartBody::from(core).rounded(radius);
        Ok(Built::new(body, PartSource::Round, Gap::NONE))
    }

    /// A curved body with balls of this radius around all its points.
    fn curved(
        &mut self,
        element: &CollisionElement,
        core: CurvedCore,
        radius: f64,
    ) -> Result<PartBody, BuildError> {
        self.take(hull_bytes(COARSE_POINTS))?;
        let mut body = match Body::of_curved(core, radius, self.effort) {
            Ok(body) => body,
            Err(HullError::Stopped(why)) => return Err(why.into()),
            Err(error) => return Err(described(element, format!("it has no hull: {error}"))),
        };
        self.room.keeper().into_iter().for_each(|keeper| body.tell(keeper));
        let part = PartBody::in_place(&body, Place::RobotPart)
            .map_err(|refused| described(element, refused.to_string()))?;
        let beside = part.curved().map_or(0, CurvedPart::beside_hull_bytes);
        self.bytes += polytope_bytes(part.hull()) + beside;
        Ok(part)
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
        let meant = MeantMesh { link, filename, element };
        let registered = || PartSource::Registered { filename: filename.to_owned() };
        Ok(Some(match content {
            // No mesh is a cloud: it is as if there were none.
            MeshContent::Known(PartBody::Cloud(_)) => {
                self.missing.push(filename.to_owned());
                return Ok(None);
            }
            MeshContent::Known(body) if !is_scaled => {
                let is_itself = body.mesh().is_some() || body.curved().is_some();
                let gap = if is_itself { Gap::NONE } else { Gap::UNKNOWN };
                Built::new(body.clone(), registered(), gap)
            }
            MeshContent::Known(PartBody::Curved(part)) => {
                let body = self.scaled_curved(element, part, scale)?;
                Built::new(body, registered(), Gap::NONE)
            }
            MeshContent::Known(PartBody::Rounded(part)) => {
                let body = self.scaled_rounded(element, part, scale)?;
                Built::new(body, registered(), Gap::UNKNOWN)
            }
            MeshContent::Known(PartBody::Polytope(polytope)) => {
                let points: Vec<Vec3> =
                    polytope.vertices().iter().map(|p| p.component_mul(scale)).collect();
                let hull = self.hull(element, &points)?;
                Built::new(hull.into(), registered(), Gap::UNKNOWN)
            }
            MeshContent::Known(PartBody::Mesh(HulledMesh { mesh, .. })) => {
                let body = self.scaled_mesh(meant, mesh, scale)?;
                Built::new(body, registered(), Gap::NONE)
            }
            MeshContent::Mesh(mesh) => {
                let lists = size_of_val(&*mesh.vertices) + size_of_val(&*mesh.triangles);
                self.take(lists)?;
                self.note(link, mesh.note.map(|note| format!("{:?}: {note}", shown(filename))));
                self.treated(meant, &scaled(mesh.as_ref().clone(), scale))?
            }
        }))
    }

    /// A registered mesh that is larger or smaller, and still what it is.
    fn scaled_mesh(
        &mut self,
        meant: MeantMesh<'_>,
        mesh: &TriangleBody,
        scale: &Vec3,
    ) -> Result<PartBody, BuildError> {
        let surface = mesh.surface();
        self.take(size_of_val(surface.vertices()) + size_of_val(surface.triangles()))?;
        let (vertices, triangles) = (surface.vertices().to_vec(), surface.triangles().to_vec());
        let scaled = scaled(MeshData::new(vertices, triangles), scale);
        match mesh {
            TriangleBody::Region(_) => self.polyhedron(meant, &scaled),
            TriangleBody::Surface(_) => self.surface(meant.element, &scaled, None),
        }
    }

    /// A curved body that is larger or smaller, along each axis by itself if it has no balls around
    /// its points.
    fn scaled_curved(
        &mut self,
        element: &CollisionElement,
        part: &CurvedPart,
        scale: &Vec3,
    ) -> Result<PartBody, BuildError> {
        let CurvedCore { form, half } = part.core();
        let radius = scaled_radius(element, part.radius(), scale)?;
        let mut half = half.component_mul(scale);
        // Only of a cone a mirrored one is another.
        let is_cone = form == CurvedForm::Cone;
        half = Vec3::new(half.x.abs(), half.y.abs(), if is_cone { half.z } else { half.z.abs() });
        // Written so that NaN lands in the error.
        if !half.iter().all(|half| (HALF_SIZES[0]..=HALF_SIZES[1]).contains(&half.abs())) {
            let problem = "a curved body has half sizes of 2^-300 to 2^300".to_owned();
            return Err(described(element, problem));
        }
        self.curved(element, CurvedCore { form, half }, radius)
    }

    /// A rounded polytope that is larger or smaller; one that is so in one direction more than in
    /// another would not be rounded by balls.
    fn scaled_rounded(
        &mut self,
        element: &CollisionElement,
        part: &RoundedPart,
        scale: &Vec3,
    ) -> Result<PartBody, BuildError> {
        let radius = scaled_radius(element, part.radius(), scale)?;
        let core = part.core().vertices().iter();
        let points: Vec<Vec3> = core.map(|point| point.component_mul(scale)).collect();
        Ok(PartBody::from(self.hull(element, &points)?).rounded(radius))
    }

    /// A mesh of a file, as the sources say.
    fn treated(&mut self, meant: MeantMesh<'_>, mesh: &MeshData) -> Result<Built, BuildError> {
        let filename = meant.filename.to_owned();
        Ok(match self.sources.mesh_treatment {
            MeshTreatment::AsTheFileSays => self.as_the_file_says(meant, mesh)?,
            MeshTreatment::Hull => {
                let (hull, found) = self.measured_hull(meant.element, mesh)?;
                Built {
                    note: note_of_hull(meant.filename, &found),
                    ..hull_of(hull, filename, &found)
                }
            }
            MeshTreatment::Polyhedron => {
                let body = self.polyhedron(meant, mesh)?;
                Built::new(body, PartSource::AsItIs { filename }, Gap::NONE)
            }
            MeshTreatment::Surface => {
                let body = self.surface(meant.element, mesh, None)?;
                Built::new(body, PartSource::Surface { filename }, Gap::NONE)
            }
            MeshTreatment::Pieces => self.pieces(meant, mesh)?,
        })
    }

    /// Convex pieces that hold a mesh; one that is convex is its hull.
    fn pieces(&mut self, meant: MeantMesh<'_>, mesh: &MeshData) -> Result<Built, BuildError> {
        let filename = meant.filename.to_owned();
        let (hull, found) = self.measured_hull(meant.element, mesh)?;
        if found.convex {
            return Ok(hull_of(hull, filename, &found));
        }
        self.take(pieces::working_bytes(mesh.triangles.len()) + hull_bytes(mesh.vertices.len()))?;
        let extent = (hull.bounds().high - hull.bounds().low).max();
        let wanted =
            Wanted { gap_max: Some(PIECE_GAP * extent), count_max: PIECES_MAX, settles: true };
        let (vertices, triangles) = (&mesh.vertices, &mesh.triangles);
        let made = pieces::decompose(vertices, triangles, wanted, self.effort, &mut |_| {});
        let made = made.map_err(|why| match why {
            PiecesError::Stopped(why) => BuildError::Stopped(why),
            PiecesError::Unreached { .. } => described(meant.element, why.to_string()),
        })?;
        let upper = made.iter().map(|piece| piece.gap[1]).fold(0.0, f64::max);
        let lower = made.iter().map(|piece| piece.gap[0]).fold(0.0, f64::max);
        let (count, beyond) = (made.len(), convexity::in_words([lower, upper]));
        let mut parts = Vec::with_capacity(count);
        for piece in made {
            let [lower, upper] = piece.gap.map(Some);
            let body = self.hull(meant.element, piece.hull.vertices())?;
            parts.push((PartBody::from(body), Gap { lower, upper }));
        }
        let (body, gap) = parts.remove(0);
        let note = format!(
            "the mesh {:?} is not convex; {count} convex pieces that hold it stand for it, and \
             stand out by {beyond}",
            shown(meant.filename),
        );
        let source = PartSource::Piece { filename };
        Ok(Built { beside: parts, note: Some(note), ..Built::new(body, source, gap) })
    }

    /// A mesh as it is: its hull if that is no more, up to the rounding of single precision, than
    /// what the mesh bounds; else the region that it bounds; else its surface.
    fn as_the_file_says(
        &mut self,
        meant: MeantMesh<'_>,
        mesh: &MeshData,
    ) -> Result<Built, BuildError> {
        let filename = meant.filename.to_owned();
        let (hull, found) = self.measured_hull(meant.element, mesh)?;
        if found.convex {
            return Ok(hull_of(hull, filename, &found));
        }
        let beyond = convexity::in_words(found.gap);
        let name = shown(meant.filename);
        match self.region(meant.element, mesh, Some(&hull))? {
            Ok(body) => {
                let note = format!(
                    "the mesh {name:?} is not convex and is taken as it is, the region that it \
                     bounds; its hull would stand out by {beyond}"
                );
                let source = PartSource::AsItIs { filename };
                Ok(Built { note: Some(note), ..Built::new(body, source, Gap::NONE) })
            }
            Err(why) => {
                let body = self.surface(meant.element, mesh, Some(&hull))?;
                let note = format!(
                    "the mesh {name:?} is not convex and bounds no region ({why}); its surface is \
                     taken as it is, which has no inside; its hull would stand out by {beyond}"
                );
                let source = PartSource::Surface { filename };
                Ok(Built { note: Some(note), ..Built::new(body, source, Gap::NONE) })
            }
        }
    }

    /// The hull of a mesh, and how far it stands out of that.
    fn measured_hull(
        &mut self,
        element: &CollisionElement,
        mesh: &MeshData,
    ) -> Result<(Arc<Polytope>, Convexity), BuildError> {
        let lists = size_of_val(&*mesh.vertices)
            + size_of_val(&*mesh.triangles)
            + MEASURED_BYTES * mesh.triangles.len();
        self.take(lists.saturating_add(hull_bytes(mesh.vertices.len())))?;
        let hull = self.hull(element, &mesh.vertices)?;
        let found = convexity::measure(mesh, &hull, None, self.effort)?;
        Ok((hull, found))
    }

    /// What a mesh bounds; one that bounds nothing is refused.
    fn polyhedron(
        &mut self,
        meant: MeantMesh<'_>,
        mesh: &MeshData,
    ) -> Result<PartBody, BuildError> {
        let [link, name] = [shown(meant.link), meant.filename.to_owned()];
        let made = self.region(meant.element, mesh, None)?;
        made.map_err(|why| BuildError::NotAPolyhedron { link, mesh: name, why })
    }

    /// What a mesh bounds, or why it bounds nothing. `hull` is the hull of its vertices, if that is
    /// known.
    fn region(
        &mut self,
        element: &CollisionElement,
        mesh: &MeshData,
        hull: Option<&Arc<Polytope>>,
    ) -> Result<Result<PartBody, PolyhedronError>, BuildError> {
        self.take_kept(mesh)?;
        match Polyhedron::new(&mesh.vertices, &mesh.triangles, self.effort) {
            Ok(made) => {
                let made = TriangleBody::Region(Arc::new(made));
                self.kept(element, made, hull).map(Ok)
            }
            Err(PolyhedronError::Unchecked(why)) => Err(BuildError::Stopped(why)),
            Err(why) => Ok(Err(why)),
        }
    }

    /// The triangles of a mesh.
    fn surface(
        &mut self,
        element: &CollisionElement,
        mesh: &MeshData,
        hull: Option<&Arc<Polytope>>,
    ) -> Result<PartBody, BuildError> {
        self.take_kept(mesh)?;
        let made = TriangleSurface::new(&mesh.vertices, &mesh.triangles);
        let made = made.map_err(|why: SurfaceError| {
            described(element, format!("its mesh is no surface: {why}"))
        })?;
        self.kept(element, TriangleBody::Surface(Arc::new(made)), hull)
    }

    /// Says whether there is memory for triangles that are to be kept.
    fn take_kept(&self, mesh: &MeshData) -> Result<(), BuildError> {
        let lists = size_of_val(&*mesh.vertices)
            + size_of_val(&*mesh.triangles)
            + CHECKED_BYTES * mesh.triangles.len();
        self.take(lists.saturating_add(hull_bytes(mesh.vertices.len())))
    }

    /// Triangles that are kept, with their hull.
    fn kept(
        &mut self,
        element: &CollisionElement,
        mesh: TriangleBody,
        hull: Option<&Arc<Polytope>>,
    ) -> Result<PartBody, BuildError> {
        let bytes = mesh.bytes();
        self.take(bytes)?;
        self.bytes += bytes;
        let surface = mesh.surface();
        // Vertices that no triangle names are no part of it.
        let is_of_named = |hull: &&Arc<Polytope>| {
            hull.vertices().iter().all(|vertex| surface.index_of(vertex).is_some())
        };
        let hull = match hull.filter(is_of_named) {
            Some(hull) => hull.clone(),
            None => self.hull(element, surface.vertices())?,
        };
        Ok(PartBody::Mesh(HulledMesh::new(mesh, hull)))
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
            Err(error) => Err(described(element, format!("it has no hull: {error}"))),
        }
    }
}

/// The radius of balls that are larger or smaller; in one direction more than in another they would
/// be no balls.
fn scaled_radius(element: &CollisionElement, radius: f64, scale: &Vec3) -> Result<f64, BuildError> {
    let by = scale.x.abs();
    let scaled = radius * by;
    let is_even = scale.iter().all(|of_axis| (of_axis.abs() - by).abs() <= 0.0);
    if radius > 0.0 && !is_even || scaled > COORDINATE_MAX {
        let problem = "a rounded body has one scale along all axes, and a radius of at most 2^960";
        return Err(described(element, problem.to_owned()));
    }
    Ok(scaled)
}

/// A collision element that cannot be.
fn described(element: &CollisionElement, problem: String) -> BuildError {
    BuildError::Description(RobotError {
        file: "URDF",
        line: element.line,
        place: "collision: ".to_owned(),
        problem: problem.into(),
    })
}

/// The hull of a mesh as a part, with how far it stands out of that.
fn hull_of(hull: Arc<Polytope>, filename: String, found: &Convexity) -> Built {
    let [lower, upper] = found.gap.map(Some);
    let source = PartSource::Mesh { filename, closed: found.closed, convex: found.convex };
    Built::new(hull.into(), source, Gap { lower, upper })
}

/// That a mesh which is not convex became its hull.
fn note_of_hull(filename: &str, found: &Convexity) -> Option<String> {
    let note = || {
        format!(
            "the mesh {:?} is not convex{}; its hull, which stands for it, stands out by {}",
            shown(filename),
            if found.closed { "" } else { ", nor is it closed" },
            convexity::in_words(found.gap),
        )
    };
    (!found.convex).then(note)
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
