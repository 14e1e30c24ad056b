//! The faces and edges of a solid in arrays, with how well each normal is known: for passes over
//! all of them.

use crate::Vec3;
use crate::effort::Effort;
use crate::hierarchy::LayerFeatures;
use crate::number::rounding::{PLAIN_SIZES, UNIT};
use crate::shape::Shape;

/// Edges of a body for which there is a table, at most: passes over more take longer than a search.
const EDGES_MAX: usize = 2048;

/// Vectors that are worked on side by side.
pub(crate) const WIDE: usize = 4;

/// Some vectors by coordinates.
pub(crate) type VectorBlock = [[f64; WIDE]; 3];

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct FaceTable {
    /// What the points are relative to.
    pub(crate) centre: Vec3,
    /// At least the distance of every vertex from that.
    pub(crate) radius: f64,
    /// Vertices relative to the centre, each coordinate rounded once; the last block is filled up
    /// with the last of them.
    pub(crate) points: Vec<VectorBlock>,
    /// The facets, filled up likewise.
    pub(crate) faces: Vec<FaceBlock>,
    /// The greatest error of a facet's normal.
    pub(crate) worst_error: f64,
    /// Each once.
    pub(crate) edges: Vec<EdgeRow>,
    /// Whether it is a box along the axes of its frame.
    pub(crate) is_box: bool,
}

/// Some facets; see [`FaceRow`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceBlock {
    pub(crate) normals: VectorBlock,
    pub(crate) offsets: [f64; WIDE],
    pub(crate) errors: [f64; WIDE],
}

impl FaceBlock {
    fn of(rows: &[FaceRow]) -> Self {
        let row = |lane: usize| &rows[lane.min(rows.len() - 1)];
        Self {
            normals: std::array::from_fn(|k| std::array::from_fn(|lane| row(lane).normal[k])),
            offsets: std::array::from_fn(|lane| row(lane).offset),
            errors: std::array::from_fn(|lane| row(lane).error),
        }
    }
}

fn vector_block(vectors: &[Vec3]) -> VectorBlock {
    let at = |lane: usize, k: usize| vectors[lane.min(vectors.len() - 1)][k];
    std::array::from_fn(|k| std::array::from_fn(|lane| at(lane, k)))
}

/// A facet.
#[derive(Clone, Copy, Debug)]
struct FaceRow {
    /// The unit outward normal.
    normal: [f64; 3],
    /// How far the facet is from the centre along the normal, rounded.
    offset: f64,
    /// At least the length of the difference to the exact unit normal.
    error: f64,
}

/// An edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeRow {
    /// One of its ends.
    pub(crate) end: u32,
    /// The facets on both sides.
    pub(crate) faces: [u32; 2],
    /// A unit vector along it, within 8u.
    pub(crate) along: [f64; 3],
}

impl FaceTable {
    /// Memory that it takes, bytes.
    pub(super) fn bytes(&self) -> usize {
        let blocks = size_of_val(self.points.as_slice()) + size_of_val(self.faces.as_slice());
        size_of::<Self>() + blocks + size_of_val(self.edges.as_slice())
    }

    /// Memory that the table of a body takes at most, before it is built.
    pub(super) fn bytes_at_most(body: &Shape) -> usize {
        let (vertices, faces) = (body.vertices().len(), body.facets().len());
        if body.dimension() < 3 || vertices + faces > EDGES_MAX {
            return 0;
        }
        let points = size_of::<VectorBlock>() * vertices.div_ceil(WIDE);
        let faces_of_all = size_of::<FaceBlock>() * faces.div_ceil(WIDE);
        size_of::<Self>() + points + faces_of_all + size_of::<EdgeRow>() * (vertices + faces)
    }

    /// None for a body that is not solid, has many edges, or sizes whose products give out.
    pub(super) fn build(body: &Shape) -> Option<Self> {
        let bounds = body.bounds();
        // By Euler's formula; no lists are made of bodies that are too large.
        let edges = body.vertex_count() as usize + body.facets().len();
        if body.dimension() < 3 || edges > EDGES_MAX || !PLAIN_SIZES.contains(&bounds.radius) {
            return None;
        }
        let points: Vec<Vec3> = body.vertices().iter().map(|v| v - bounds.centre).collect();
        let faces: Option<Vec<FaceRow>> =
            body.facets().rows().map(|corners| face_row(body, &points, corners)).collect();
        let faces = faces?;
        let features = LayerFeatures::of_body(body, &Effort::unlimited()).ok()?;
        let count = u32::try_from(features.edge_count()).ok()?;
        let edge = |index: u32| {
            let [end, other] = features.ends(index);
            let mut faces = features.faces_at(index);
            let along = (body.vertex(other) - body.vertex(end)).normalize();
            Some(EdgeRow { end, faces: [faces.next()?, faces.next()?], along: along.into() })
        };
        let edges: Option<Vec<EdgeRow>> = (0..count).map(edge).collect();
        Some(Self {
            centre: bounds.centre,
            radius: bounds.radius,
            points: points.chunks(WIDE).map(vector_block).collect(),
            worst_error: faces.iter().map(|face| face.error).fold(0.0, f64::max),
            faces: faces.chunks(WIDE).map(FaceBlock::of).collect(),
            edges: edges?,
            is_box: is_box(body),
        })
    }
}

/// All corners of a facet are in one plane exactly, so any three of them say its normal: taken are
/// three that are far from one line.
///
/// Each difference of vertices rounds its coordinates by u, each component of the product rounds by
/// 2u more of terms whose sum is at most the product of the lengths; so the normal is off by less
/// than `6u |a| |b| / |a x b|`, and by 3u where it is made a unit vector.
fn face_row(body: &Shape, points: &[Vec3], corners: &[u32]) -> Option<FaceRow> {
    let base = body.vertex(corners[0]);
    let to = |corner: &u32| body.vertex(*corner) - base;
    let far = |a: &Vec3, b: &Vec3| a.norm_squared().total_cmp(&b.norm_squared());
    let a = corners[1..].iter().map(to).max_by(far)?;
    let all = corners[1..].iter().map(|corner| (a.cross(&to(corner)), to(corner)));
    let (normal, b) = all.max_by(|x, y| far(&x.0, &y.0))?;
    let (length, product) = (normal.norm(), a.norm() * b.norm());
    // The square of what is shorter is lost in underflow.
    if length.is_nan() || length <= *PLAIN_SIZES.start() * *PLAIN_SIZES.start() {
        return None;
    }
    // The facet runs around its outward normal: its area says which way.
    let area = corners[1..]
        .windows(2)
        .fold(Vec3::zeros(), |sum, side| sum + to(&side[0]).cross(&to(&side[1])));
    let normal = if normal.dot(&area) > 0.0 { normal } else { -normal } / length;
    let offset = normal.dot(&points[corners[0] as usize]);
    let error = UNIT * (8.0 * product / length + 8.0);
    Some(FaceRow { normal: normal.into(), offset, error })
}

/// Eight vertices with no other coordinates than those of the corners of their bounds.
fn is_box(body: &Shape) -> bool {
    let bounds = body.bounds();
    let is_corner = |v: &Vec3| {
        (0..3).all(|k| [bounds.low[k], bounds.high[k]].map(f64::to_bits).contains(&v[k].to_bits()))
    };
    body.vertex_count() == 8 && body.vertices().iter().all(is_corner)
}
