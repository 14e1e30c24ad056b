//! Edges, incidences and the pointers of edges and faces between neighbouring layers.

use super::Layer;
use crate::csr::Csr;
use crate::effort::{Effort, Stopped};
use crate::shape::Shape;

/// A feature of a layer, by its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// A vertex by its index.
    Vertex(u32),
    /// An edge by its index.
    Edge(u32),
    /// A face by its index.
    Face(u32),
}

/// Stands for "none" in an edge's faces; a segment's edge has none.
const NO_FACE: u32 = u32::MAX;

/// What a walk over the features of one layer needs.
#[derive(Clone, Debug)]
pub struct LayerFeatures {
    edges: Vec<Edge>,
    /// The edges at each vertex, in the order of its neighbours.
    vertex_edges: Csr,
    /// The edges of each face, in the order of its loop: the first joins its first two vertices.
    face_edges: Csr,
    edge_inward: Vec<Feature>,
    edge_outward: Vec<Feature>,
    face_inward: Vec<Feature>,
    face_outward: Vec<Feature>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    ends: [u32; 2],
    faces: [u32; 2],
}

impl LayerFeatures {
    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The two vertices of an edge, the lower number first.
    #[inline]
    pub fn ends(&self, edge: u32) -> [u32; 2] {
        self.edges[edge as usize].ends
    }

    /// The faces at an edge: first the one that runs from its first end to its second. Two for a
    /// solid, one for a polygon, none for a segment.
    pub fn faces_at(&self, edge: u32) -> impl Iterator<Item = u32> + use<> {
        self.edges[edge as usize].faces.into_iter().filter(|&face| face != NO_FACE)
    }

    /// The edges at a vertex, in the order of its neighbours.
    #[inline]
    pub fn edges_at(&self, vertex: u32) -> &[u32] {
        self.vertex_edges.row(vertex)
    }

    /// The edges of a face, in the order of its loop: the first joins its first two vertices.
    #[inline]
    pub fn edges_of(&self, face: u32) -> &[u32] {
        self.face_edges.row(face)
    }

    pub(super) fn edge_inward(&self, edge: u32) -> Option<Feature> {
        self.edge_inward.get(edge as usize).copied()
    }

    pub(super) fn edge_outward(&self, edge: u32) -> Option<Feature> {
        self.edge_outward.get(edge as usize).copied()
    }

    pub(super) fn face_inward(&self, face: u32) -> Option<Feature> {
        self.face_inward.get(face as usize).copied()
    }

    pub(super) fn face_outward(&self, face: u32) -> Option<Feature> {
        self.face_outward.get(face as usize).copied()
    }

    /// Edges and incidences of a body's own surface, where coplanar triangles are one face; there
    /// are no pointers.
    pub(crate) fn of_body(body: &Shape, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let mut neighbours = Csr::default();
        for vertex in 0..body.vertex_count() {
            effort.look_at_clock()?;
            let mut row = body.neighbours(vertex).to_vec();
            row.sort_unstable();
            neighbours.push(&row);
        }
        let layer = Layer {
            vertices: (0..body.vertex_count()).collect(),
            neighbours,
            faces: body.facets().clone(),
            inward: Vec::new(),
            outward: Vec::new(),
        };
        Self::of(&layer, effort)
    }

    /// Memory that it takes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let pointers =
            [&self.edge_inward, &self.edge_outward, &self.face_inward, &self.face_outward];
        size_of::<Self>()
            + size_of_val(self.edges.as_slice())
            + self.vertex_edges.heap_bytes()
            + self.face_edges.heap_bytes()
            + pointers.iter().map(|list| size_of_val(list.as_slice())).sum::<usize>()
    }

    /// Edges and incidences of a layer, without pointers.
    fn of(layer: &Layer, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let mut edges = Vec::with_capacity(layer.edge_count());
        // Rows ascend, and so the edges to lower neighbours come first, in the order in which the
        // lower neighbours are visited.
        let mut at: Vec<Vec<u32>> =
            layer.neighbours.rows().map(|row| Vec::with_capacity(row.len())).collect();
        for (vertex, row) in (0u32..).zip(layer.neighbours.rows()) {
            effort.look_at_clock()?;
            for &other in row.iter().filter(|&&other| other > vertex) {
                let number = u32::try_from(edges.len()).expect("fewer than 2^32 edges");
                edges.push(Edge { ends: [vertex, other], faces: [NO_FACE; 2] });
                at[vertex as usize].push(number);
                at[other as usize].push(number);
            }
        }
        let mut features = Self {
            edges,
            vertex_edges: Csr::from_rows(at),
            face_edges: Csr::default(),
            edge_inward: Vec::new(),
            edge_outward: Vec::new(),
            face_inward: Vec::new(),
            face_outward: Vec::new(),
        };
        for (number, face) in (0u32..).zip(layer.faces.rows()) {
            let following = face.iter().cycle().skip(1);
            let side = |(&a, &b)| features.find(layer, [a, b]).expect("every side is an edge");
            let sides = in_time(face.iter().zip(following).map(side), effort)?;
            for (&start, &side) in face.iter().zip(&sides) {
                let edge = &mut features.edges[side as usize];
                edge.faces[usize::from(edge.ends[0] != start)] = number;
            }
            features.face_edges.push(&sides);
        }
        Ok(features)
    }

    fn find(&self, layer: &Layer, ends: [u32; 2]) -> Option<u32> {
        let index = layer.neighbours(ends[0]).binary_search(&ends[1]).ok()?;
        Some(self.vertex_edges.row(ends[0])[index])
    }

    /// The face that is this loop of three, if there is one.
    fn find_face(&self, layer: &Layer, corners: [u32; 3]) -> Option<u32> {
        let side = self.find(layer, [corners[0], corners[1]])?;
        self.faces_at(side).find(|&face| {
            let row = layer.faces.row(face);
            row.len() == 3 && corners.iter().all(|corner| row.contains(corner))
        })
    }
}

/// Memory that the features of a layer take: an edge's own, its places in the lists of its vertices
/// and of its faces, the rows of these, and two pointers for each edge and face.
pub(super) fn bytes(layer: &Layer) -> usize {
    let (edges, faces) = (layer.edge_count(), layer.faces.len());
    let at_vertices = layer.neighbours.heap_bytes();
    let at_faces = layer.faces.heap_bytes();
    let pointers = 2 * size_of::<Feature>() * (edges + faces);
    size_of::<LayerFeatures>() + edges * size_of::<Edge>() + at_vertices + at_faces + pointers
}

/// All of the items, unless the deadline passes meanwhile.
fn in_time<T>(items: impl Iterator<Item = T>, effort: &Effort<'_>) -> Result<Vec<T>, Stopped> {
    let look = |item| effort.look_at_clock().map(|()| item);
    items.map(look).collect()
}

/// The features of all layers.
pub(super) fn all(layers: &[Layer], effort: &Effort<'_>) -> Result<Vec<LayerFeatures>, Stopped> {
    let of = |layer| LayerFeatures::of(layer, effort);
    let mut all = layers.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    for inner in 1..layers.len() {
        let (outer_layer, inner_layer) = (&layers[inner - 1], &layers[inner]);
        let (before, after) = all.split_at_mut(inner);
        let (outer_features, inner_features) = (&mut before[inner - 1], &mut after[0]);
        // A vertex's copy, or none when it was removed.
        let copy = |vertex: u32| {
            let inner = outer_layer.inward[vertex as usize];
            (inner_layer.outward[inner as usize] == vertex).then_some(inner)
        };
        let rim = |vertex: u32| Feature::Vertex(outer_layer.inward[vertex as usize]);
        let out = |vertex: u32| inner_layer.outward[vertex as usize];
        let edge_in = |ends: [u32; 2]| match ends.map(copy) {
            [Some(a), Some(b)] => {
                inner_features.find(inner_layer, [a, b]).map_or(Feature::Vertex(a), Feature::Edge)
            }
            [Some(a), None] | [None, Some(a)] => Feature::Vertex(a),
            [None, None] => rim(ends[0]),
        };
        let edge_out = |ends: [u32; 2]| {
            let ends = ends.map(out);
            outer_features.find(outer_layer, ends).map_or(Feature::Vertex(ends[0]), Feature::Edge)
        };
        let edges_in = in_time(outer_features.edges.iter().map(|e| edge_in(e.ends)), effort)?;
        let edges_out = in_time(inner_features.edges.iter().map(|e| edge_out(e.ends)), effort)?;
        let faces_in = outer_layer.faces.rows().map(|face| face_in(face, &copy, &edge_in));
        let faces_in = upgrade(in_time(faces_in, effort)?, outer_layer, |corners| {
            let [Some(a), Some(b), Some(c)] = corners.map(copy) else { return None };
            inner_features.find_face(inner_layer, [a, b, c])
        });
        effort.look_at_clock()?;
        let faces_out = inner_layer.faces.rows().map(|face| face_out(face, &edge_out));
        let faces_out = upgrade(in_time(faces_out, effort)?, inner_layer, |corners| {
            outer_features.find_face(outer_layer, corners.map(out))
        });
        outer_features.edge_inward = edges_in;
        outer_features.face_inward = faces_in;
        inner_features.edge_outward = edges_out;
        inner_features.face_outward = faces_out;
    }
    Ok(all)
}

/// A removed face keeps the edge opposite the removed vertex, which is on the rim.
fn face_in(
    face: &[u32],
    copy: &impl Fn(u32) -> Option<u32>,
    edge_in: &impl Fn([u32; 2]) -> Feature,
) -> Feature {
    let following = face.iter().cycle().skip(1);
    let mut sides = face.iter().zip(following).map(|(&a, &b)| [a, b]);
    let kept = sides.find(|side| side.iter().all(|&vertex| copy(vertex).is_some()));
    edge_in(kept.unwrap_or([face[0], face[1]]))
}

/// A face that fills a hole has an edge on the rim, or at least a vertex.
fn face_out(face: &[u32], edge_out: &impl Fn([u32; 2]) -> Feature) -> Feature {
    let following = face.iter().cycle().skip(1);
    let mut sides = face.iter().zip(following).map(|(&a, &b)| edge_out([a, b]));
    let first = sides.next().expect("a face has sides");
    std::iter::once(first)
        .chain(sides)
        .find(|feature| matches!(feature, Feature::Edge(_)))
        .unwrap_or(first)
}

/// Faces that are in both layers point to their own copies. A polygon's only face does always.
fn upgrade(
    mut pointers: Vec<Feature>,
    layer: &Layer,
    copy: impl Fn([u32; 3]) -> Option<u32>,
) -> Vec<Feature> {
    let flat = layer.faces.len() == 1;
    for (pointer, face) in pointers.iter_mut().zip(layer.faces.rows()) {
        let twin = if flat { Some(0) } else { copy([face[0], face[1], face[2]]) };
        if let Some(twin) = twin {
            *pointer = Feature::Face(twin);
        }
    }
    pointers
}
