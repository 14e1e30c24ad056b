//! Meshes: from the bytes of a file to triangles, and how far a mesh is from convex.

pub mod collada;
pub mod convexity;
pub mod obj;
pub mod stl;

use std::collections::HashMap;

use crate::error::{RobotError, XmlError};
use crate::room::reading_bytes;
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};

/// A triangle mesh; every index is valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshData {
    /// The vertices, metres.
    pub vertices: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// What its file says and is not done, in words.
    pub note: Option<&'static str>,
}

/// Why a file is no mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshError {
    /// Neither format.
    #[error("neither STL nor OBJ nor COLLADA can be made out of the content")]
    UnknownFormat,
    /// A COLLADA file that is wrong, with its line.
    #[error(transparent)]
    Collada(#[from] Box<RobotError>),
    /// A binary STL whose length is not what its header says.
    #[error("the header announces {announced} triangles; the file has room for {room}")]
    StlLength {
        /// Triangles by the header.
        announced: u32,
        /// Triangles by the length of the file.
        room: usize,
    },
    /// Something that is not understood.
    #[error("line {line}: {problem}")]
    Line {
        /// Counted from one.
        line: usize,
        /// In words.
        problem: &'static str,
    },
    /// No triangle.
    #[error("there is no triangle")]
    Empty,
    /// There was no effort left to read it.
    #[error("stopped before the file was read")]
    Stopped(Stopped),
    /// More than allowed.
    #[error("more than {max} triangles")]
    TooManyTriangles {
        /// The limit.
        max: usize,
    },
}

impl From<RobotError> for MeshError {
    fn from(wrong: RobotError) -> Self {
        Self::Collada(Box::new(wrong))
    }
}

impl From<XmlError> for MeshError {
    fn from(wrong: XmlError) -> Self {
        match wrong {
            XmlError::Wrong(wrong) => wrong.into(),
            XmlError::Stopped(why) => why.into(),
        }
    }
}

impl From<Stopped> for MeshError {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// STL, binary or ASCII.
    Stl,
    /// Wavefront OBJ.
    Obj,
    /// COLLADA, all that its scene shows.
    Collada,
}

/// Reads a mesh file; without a format, by its content. It takes as long as the file is, and no
/// longer than the effort lasts: a step is a line, a triangle or a vertex.
///
/// ```
/// use clearance_geometry::effort::Effort;
/// use clearance_robot::mesh::read;
///
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
/// let mesh = read(obj, None, 100, &mut Effort::unlimited()).unwrap();
/// assert_eq!(mesh.triangles, [[0, 1, 2]]);
/// ```
pub fn read(
    bytes: &[u8],
    format: Option<Format>,
    triangles_max: usize,
    effort: &mut Effort<'_>,
) -> Result<MeshData, MeshError> {
    let format = match format {
        Some(format) => format,
        None => guess(bytes, effort)?.ok_or(MeshError::UnknownFormat)?,
    };
    let mesh = match format {
        Format::Stl => stl::read(bytes, triangles_max, effort)?,
        Format::Obj => obj::read(bytes, triangles_max, effort)?,
        Format::Collada => collada::read(bytes, triangles_max, effort)?,
    };
    if mesh.triangles.is_empty() { Err(MeshError::Empty) } else { Ok(mesh) }
}

/// What reading a mesh file takes beside what goes by its length, bytes at most: of COLLADA, its
/// elements and numbers.
pub fn document_bytes(bytes: &[u8]) -> usize {
    let text = collada::is_collada(bytes).then(|| std::str::from_utf8(bytes).ok()).flatten();
    text.map_or(0, |text| reading_bytes(text) + collada::numbers_bytes(text))
}

fn guess(bytes: &[u8], effort: &mut Effort<'_>) -> Result<Option<Format>, Stopped> {
    if stl::is_binary(bytes) || bytes.trim_ascii_start().starts_with(b"solid") {
        return Ok(Some(Format::Stl));
    }
    if collada::is_collada(bytes) {
        return Ok(Some(Format::Collada));
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        effort.spend_step()?;
        if line.trim_ascii().starts_with(b"v ") {
            return Ok(Some(Format::Obj));
        }
    }
    Ok(None)
}

/// Gives equal points one index, in order of first appearance.
#[derive(Debug, Default)]
struct Welder {
    vertices: Vec<Vec3>,
    index_of: HashMap<[u64; 3], u32>,
}

impl Welder {
    fn index(&mut self, point: Vec3) -> u32 {
        // Adding zero makes -0 and +0 the same.
        let key = [point.x, point.y, point.z].map(|c| (c + 0.0).to_bits());
        let next = u32::try_from(self.vertices.len()).expect("limited by the triangles");
        let index = *self.index_of.entry(key).or_insert(next);
        if index == next {
            self.vertices.push(point);
        }
        index
    }
}

impl MeshData {
    /// These triangles; every index must be valid.
    pub fn new(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self { vertices, triangles, note: None }
    }

    /// This mesh with equal points made one, as long as the effort lasts: a step is a point.
    pub fn welded(mut self, effort: &mut Effort<'_>) -> Result<Self, Stopped> {
        let mut welder = Welder::default();
        let mut index = Vec::with_capacity(self.vertices.len());
        for point in &self.vertices {
            effort.spend_step()?;
            index.push(welder.index(*point));
        }
        for triangle in &mut self.triangles {
            effort.look_at_clock()?;
            *triangle = triangle.map(|corner| index[corner as usize]);
        }
        Ok(Self { vertices: welder.vertices, ..self })
    }

    /// This mesh with all its points, in which each corner names the first of the points that are
    /// equal to it. So what is wrong with the mesh can be said with its own indices.
    pub fn joined(&self) -> Self {
        let mut welder = Welder::default();
        let mut firsts: Vec<u32> = Vec::new();
        let mut first_equal = Vec::with_capacity(self.vertices.len());
        for (place, point) in (0..).zip(&self.vertices) {
            let index = welder.index(*point) as usize;
            if index == firsts.len() {
                firsts.push(place);
            }
            first_equal.push(firsts[index]);
        }
        let name = |corner: u32| first_equal[corner as usize];
        let triangles = self.triangles.iter().map(|triangle| triangle.map(name)).collect();
        Self { vertices: self.vertices.clone(), triangles, note: self.note }
    }

    /// Every coordinate times `scale`.
    pub fn scale(&mut self, scale: f64) {
        for vertex in &mut self.vertices {
            *vertex *= scale;
        }
    }
}
