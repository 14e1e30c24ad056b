//! One file for each kind: what it is called, its identity, its bounds, the memory that it takes.

pub mod cloud;
pub mod curved;
pub mod height_field;
pub mod polyhedron;
pub mod polytope;
pub mod rounded;
pub mod surface;
pub(crate) mod tangents;

use clearance_geometry::Vec3;
use clearance_geometry::hierarchy::HierarchyReport;

/// What a kind is called.
#[derive(Debug)]
pub struct KindNames {
    /// How documents name the kind.
    pub name: &'static str,
    /// What its ids begin with on the wire: a letter and the version of the digest.
    pub prefix: &'static str,
    /// What its digests begin with. It tells them from those of any other kind of content, or of a
    /// later version.
    pub tag: &'static [u8],
}

/// What is told of a body, at hand whenever it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// Number of vertices.
    pub vertex_count: u32,
    /// Number of facets; of a mesh or a surface these are its triangles.
    pub face_count: u32,
    /// The dimension of its hull, from 0, a point, to 3.
    pub dimension: u8,
    /// The volume, in cubic metres.
    pub volume: f64,
    /// The corners of its box in its own frame.
    pub bounds: [Vec3; 2],
    /// Number of closed surfaces, for kinds that may have several; else 0.
    pub shell_count: u32,
}

/// What is found out about a body once, when it is registered: for large ones it takes seconds.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Number of edges.
    pub edge_count: u32,
    /// The figures of its hierarchy, which itself is only kept once a method has used it; all zero
    /// for kinds without one.
    pub hierarchy: HierarchyReport,
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
