//! COLLADA 1.4 and 1.5: the polygons of a file's scene, where its nodes put them, in metres.
//!
//! Triangles, polygons, fans and strips are read, materials, normals, lights and cameras passed
//! over. What would change the shape if it were passed over is refused: skins, splines, polygons
//! with holes, nodes that look at something. A crate that reads the format keeps coordinates as f32
//! and leaves the nodes to its caller; here they are the numbers of the text, as f64, and where no
//! node turns, shifts or scales they stay that.

mod scene;
mod sources;

use std::collections::BTreeMap;

use self::scene::SceneReader;
use super::{MeshData, MeshError};
use crate::xml::{Element, XmlFile};
use clearance_geometry::effort::Effort;

/// Errors call the file by this name.
const FILE: &str = "COLLADA";

/// This is told of a file whose third axis does not point up: ROS does the same with it, and URDFs
/// are written for that.
const NOT_Z_UP: &str = "its up_axis is not Z_UP, and its coordinates are taken as they are";

/// Whether this is such a file: its root comes soon.
pub(super) fn is_collada(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1 << 10)];
    start.windows(8).any(|word| word == b"<COLLADA")
}

/// A file may show what it has in many places: so many triangles and points come of that at most,
/// beside as many as it has numbers, which is more than all that it spells out.
const SHOWN_MAX: usize = 1 << 16;

/// Triangles and points that a scene may show, by its text.
fn shown_max(text: &str) -> usize {
    SHOWN_MAX + text.bytes().filter(u8::is_ascii_whitespace).count()
}

/// What its numbers take while they are read and once they are triangles, bytes at most: of each
/// number of the text itself, an index, and a triangle of a geometry and one of the scene, in lists
/// that have room for twice as many; of each point its place among those that are known.
pub(super) fn numbers_bytes(text: &str) -> usize {
    const EACH: usize = 16 + 16 + 24 + 24 + 48 + 120;
    EACH * shown_max(text)
}

/// Elements of a file at most: those that are read have some hundreds, with all their numbers in a
/// few of them.
const NODES_MAX: u32 = 1 << 20;

/// Reads a file, as long as the effort lasts: a step is an element, an attribute, a number or a
/// corner.
pub fn read(
    bytes: &[u8],
    triangles_max: usize,
    effort: &mut Effort<'_>,
) -> Result<MeshData, MeshError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| MeshError::Line { line: 1, problem: "the file is no UTF-8 text" })?;
    let xml = XmlFile::parse(FILE, text, NODES_MAX, effort)?;
    let root = xml.root("COLLADA")?;
    let named = Named::new(&xml, effort)?;
    let scene = SceneReader::new(&named, triangles_max, shown_max(text));
    let mut mesh = scene.read(root, effort)?.welded(effort)?;
    let up = root.child("asset").and_then(|asset| asset.child("up_axis"));
    mesh.note = up.is_some_and(|up| up.content().trim() != "Z_UP").then_some(NOT_Z_UP);
    Ok(mesh)
}

/// The elements of a file by their ids.
struct Named<'a> {
    by_id: BTreeMap<&'a str, Element<'a>>,
}

impl<'a> Named<'a> {
    fn new(xml: &'a XmlFile<'a>, effort: &mut Effort<'_>) -> Result<Self, MeshError> {
        let mut by_id = BTreeMap::new();
        for element in xml.all() {
            effort.spend_step()?;
            if let Some(id) = element.text("id") {
                // The first counts, as with every lookup by id.
                by_id.entry(id).or_insert(element);
            }
        }
        Ok(Self { by_id })
    }

    /// The element that an attribute names, as `#id` in the same file, with the tag that it must
    /// have.
    fn linked(
        &self,
        from: &Element<'a>,
        attribute: &str,
        tag: &str,
    ) -> Result<Element<'a>, MeshError> {
        let link = from.required(attribute)?;
        let found = link.strip_prefix('#').and_then(|id| self.by_id.get(id));
        let found = found.filter(|found| found.tag() == tag);
        let missing = || from.bad(format!("{attribute} names no {tag} of this file"));
        Ok(*found.ok_or_else(missing)?)
    }
}

#[cfg(test)]
mod tests;
