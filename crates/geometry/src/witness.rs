//! What a query leaves behind so that the next one on the same pair costs almost nothing.

use arrayvec::ArrayVec;

use super::Vec3;
use super::hierarchy::Feature;
use super::pair::VertexPair;

/// A hint from the last query on a pair.
///
/// **Law:** a witness changes what a query costs and which proof it finds, never which way the
/// verdict goes. Any value is legal: stale, from another pair, hostile, the default. Indices may be
/// out of range and directions not finite; every reader checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// World direction from P towards Q that separated them, or nearly did.
    pub direction: Option<Vec3>,
    /// Vertex pairs of the last supporting vertices, simplex or enclosing tetrahedron; the latest
    /// supporting pair first.
    pub pairs: ArrayVec<VertexPair, 6>,
    /// What methods with more to remember keep between frames (a face of P, features by layer).
    pub memory: Memory,
}

/// Per-method memory beyond a direction and a few vertex pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Memory {
    /// Nothing.
    #[default]
    None,
    /// CD-Dual (Choi, Li, Wang, Cameron, §4.4): the face of P nearest to the best face of M.
    FaceOfP(u32),
    /// CD-Dual along a direction (§6 there): those nearest to the faces of M where the line enters
    /// and leaves.
    FacesAlong([u32; 2]),
    /// HS-jump's candidates in a frame of collision, as the text has it (Li et al. 2001, §8.4).
    Candidates(Vec<Tried>),
    /// The linear program's vertices with their weights (Akgunduz et al. 2005, §4.1).
    WorkingSet(Box<WorkingSet>),
    /// H-Walk of polygons (Guibas, Hsu, Zhang 1999, §3): the features that were closest, numbered
    /// round each polygon.
    OfPolygons([Feature; 2]),
    /// The triangle of a height field that met the other body last; the pairs are of these two.
    OfTriangle(u32),
    /// H-Walk (Guibas, Hsu, Zhang 1999, §4.1): the closest features of every layer.
    Features(Box<FeatureMemory>),
}

impl Memory {
    /// What it holds beyond its own size.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::None
            | Self::FaceOfP(_)
            | Self::FacesAlong(_)
            | Self::OfPolygons(_)
            | Self::OfTriangle(_) => 0,
            Self::Candidates(tried) => tried.capacity() * size_of::<Tried>(),
            Self::WorkingSet(set) => size_of_val(set.as_ref()),
            Self::Features(memory) => {
                size_of_val(memory.as_ref()) + size_of_val(memory.closest.as_slice())
            }
        }
    }
}

/// What H-Walk keeps; any numbers are legal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureMemory {
    /// By depth, the features of P's and of Q's layer there (or innermost one) that were closest.
    pub closest: Vec<[Feature; 2]>,
    /// The depth that the coherence seen suggests to start from.
    pub start: u32,
}

/// Vertices of both bodies in a program (§4.2).
pub(crate) const SET_MAX: usize = 20;

/// Vertices with their weights.
pub(crate) type WeightedVertices = ArrayVec<(u32, f64), SET_MAX>;

/// The linear program's dual variables π: a plane for each body, both across one vector. Any
/// numbers are legal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DualVariables {
    /// π1 to π3.
    pub(crate) normal: Vec3,
    /// π4 for P, π5 for Q.
    pub(crate) offsets: [f64; 2],
}

/// What the linear program keeps: vertices of P and of Q with their weights, and the dual variables
/// if they separated the set. Any numbers are legal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkingSet {
    pub(crate) p: WeightedVertices,
    pub(crate) q: WeightedVertices,
    pub(crate) dual: Option<DualVariables>,
}

impl WorkingSet {
    /// The set of these names of P and of Q, with their weights one after the other.
    pub(crate) fn new(names: [&[u32]; 2], weights: &[f64], dual: Option<DualVariables>) -> Self {
        let (of_p, of_q) = weights.split_at(names[0].len());
        let named = |names: &[u32], weights: &[f64]| {
            names.iter().copied().zip(weights.iter().copied()).collect()
        };
        Self { p: named(names[0], of_p), q: named(names[1], of_q), dual }
    }
}

/// A candidate of HS-jump that did not separate, with its supporting pair. Any numbers are legal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    pub(crate) direction: Vec3,
    pub(crate) pair: VertexPair,
}
