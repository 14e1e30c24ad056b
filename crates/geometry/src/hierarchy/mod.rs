//! The Dobkin-Kirkpatrick hierarchy: a polytope inside a polytope, down to a simplex.
//!
//! Dobkin, Kirkpatrick, *A Linear Algorithm for Determining the Separation of Convex Polyhedra*,
//! 1985; Guibas, Hsu, Zhang 1999, §2.3. Layer 0 is the surface. Each next layer is the exact hull
//! of the vertices that are left when an independent set of vertices of low degree is removed; the
//! innermost is a simplex: the affine basis of the body (a tetrahedron, or for a flat body a
//! triangle). So there are O(log n) layers of O(n) features in all.
//!
//! The layers of a solid are triangulated: facets with more corners are fans, and triangles of one
//! plane may be neighbours. All vertices are extreme, all faces supporting, exactly.
//!
//! Features of a layer are numbered within it. *In* pointers lead to the next inner layer, *out*
//! pointers to the next outer one (see [`Hierarchy::inward`]).

mod build;
mod features;

use std::sync::OnceLock;

pub use features::{Feature, LayerFeatures};

use super::csr::Csr;
use super::effort::{Effort, Stopped};
use super::shape::Shape;

/// See the module.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    layers: Vec<Layer>,
    /// Only walks over features need them.
    features: OnceLock<Vec<LayerFeatures>>,
}

/// The figures of a hierarchy, which outlive it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HierarchyReport {
    /// Number of layers.
    pub height: usize,
    /// Vertices, edges and faces of all layers.
    pub size: usize,
    /// Memory that the layers take, and their features once a walk has built them: counted
    /// together, because any question may be the first.
    pub bytes: usize,
    /// What of these the features take.
    pub feature_bytes: usize,
}

/// One polytope of the hierarchy.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The body's numbers of the vertices, ascending.
    vertices: Vec<u32>,
    /// The graph of the triangulated surface, or the loop of a polygon; each row ascends.
    neighbours: Csr,
    /// Triangles counter-clockwise from outside; the polygon itself for a flat body.
    faces: Csr,
    /// For each vertex a vertex of the next inner layer: itself, or a neighbour of the removed one.
    /// Empty for the innermost.
    inward: Vec<u32>,
    /// For each vertex itself in the next outer layer. Empty for layer 0.
    outward: Vec<u32>,
}

impl Layer {
    /// The body's numbers of the vertices, ascending.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The vertices that share an edge with a vertex.
    #[inline]
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        self.neighbours.row(vertex)
    }

    /// The loops of the faces.
    pub fn faces(&self) -> &Csr {
        &self.faces
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.neighbours.item_count() / 2
    }

    /// The body's number of a vertex.
    #[inline]
    pub fn body_vertex(&self, vertex: u32) -> u32 {
        self.vertices[vertex as usize]
    }

    /// The vertex with this number in the body, if the layer has it.
    pub fn find(&self, body_vertex: u32) -> Option<u32> {
        let index = self.vertices.binary_search(&body_vertex).ok()?;
        Some(u32::try_from(index).expect("fewer than 2^32 vertices"))
    }

    /// The vertex to go on from in the next inner layer; none in the innermost.
    #[inline]
    pub fn vertex_inward(&self, vertex: u32) -> Option<u32> {
        self.inward.get(vertex as usize).copied()
    }

    /// The number that the vertex has in the next outer layer; none in layer 0.
    #[inline]
    pub fn vertex_outward(&self, vertex: u32) -> Option<u32> {
        self.outward.get(vertex as usize).copied()
    }

    fn bytes(&self) -> usize {
        let lists = [&self.vertices, &self.inward, &self.outward];
        let pointers: usize = lists.iter().map(|list| size_of_val(list.as_slice())).sum();
        size_of::<Self>() + self.neighbours.heap_bytes() + self.faces.heap_bytes() + pointers
    }

    /// Vertices, edges and faces.
    fn size(&self) -> usize {
        self.vertices.len() + self.edge_count() + self.faces.len()
    }
}

impl Hierarchy {
    /// Builds the hierarchy of a body; of a large one it takes seconds: not beyond the deadline.
    pub(super) fn build(body: &Shape, effort: &Effort<'_>) -> Result<Self, Stopped> {
        Ok(Self { layers: build::layers(body, effort)?, features: OnceLock::new() })
    }

    /// From the surface to the innermost.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Number of layers.
    pub fn height(&self) -> usize {
        self.layers.len()
    }

    /// Vertices, edges and faces of all layers.
    pub fn size(&self) -> usize {
        self.layers.iter().map(Layer::size).sum()
    }

    /// Its figures.
    pub fn report(&self) -> HierarchyReport {
        let feature_bytes = self.feature_bytes();
        let bytes = self.layer_bytes() + feature_bytes;
        HierarchyReport { height: self.height(), size: self.size(), bytes, feature_bytes }
    }

    /// Memory that the layers take.
    pub fn layer_bytes(&self) -> usize {
        self.layers.iter().map(Layer::bytes).sum()
    }

    /// Memory that the features take once they are built.
    pub fn feature_bytes(&self) -> usize {
        self.layers.iter().map(features::bytes).sum()
    }

    /// Edges, incidences and pointers of a layer; built for all layers on first use.
    pub fn features(&self, layer: usize) -> &LayerFeatures {
        let no_limit = || features::all(&self.layers, &Effort::unlimited());
        &self.features.get_or_init(|| no_limit().expect("without a deadline"))[layer]
    }

    /// Whether those are built.
    pub fn has_features(&self) -> bool {
        self.features.get().is_some()
    }

    /// Builds those, unless the deadline passes meanwhile: of large bodies it takes a while. Tells
    /// whether they are new.
    pub(super) fn prepare_features(&self, effort: &Effort<'_>) -> Result<bool, Stopped> {
        if self.has_features() {
            return Ok(false);
        }
        let built = features::all(&self.layers, effort)?;
        let mut is_new = false;
        self.features.get_or_init(|| {
            is_new = true;
            built
        });
        Ok(is_new)
    }

    /// The *in* pointer of a feature of `layer` (Guibas, Hsu, Zhang 1999, §2.3): its own copy in
    /// the next inner layer if it is there; for a removed vertex a vertex on the rim of its hole;
    /// for a removed edge its end on the rim; for a removed face its edge on the rim. None in the
    /// innermost layer.
    pub fn inward(&self, layer: usize, feature: Feature) -> Option<Feature> {
        let here = self.layers.get(layer)?;
        match feature {
            Feature::Vertex(vertex) => here.vertex_inward(vertex).map(Feature::Vertex),
            Feature::Edge(edge) => self.features(layer).edge_inward(edge),
            Feature::Face(face) => self.features(layer).face_inward(face),
        }
    }

    /// The *out* pointer: its own copy in the next outer layer if it is there; for an edge or face
    /// that fills a hole one of its edges or vertices that is. None in layer 0.
    pub fn outward(&self, layer: usize, feature: Feature) -> Option<Feature> {
        let here = self.layers.get(layer)?;
        match feature {
            Feature::Vertex(vertex) => here.vertex_outward(vertex).map(Feature::Vertex),
            Feature::Edge(edge) => self.features(layer).edge_outward(edge),
            Feature::Face(face) => self.features(layer).face_outward(face),
        }
    }
}

#[cfg(test)]
mod tests;
