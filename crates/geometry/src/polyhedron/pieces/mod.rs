//! Convex pieces that together hold a mesh, and how far they stand out of it.
//!
//! Any mesh will do: what it is is what [`super::excess`] says, its triangles and, where every edge
//! has its opposite, what they wind around. The pieces hold all of it, by construction: `cell` says
//! why. How far each stands out is measured as that of a hull is, in a bracket.
//!
//! Reading order: `mesh`, `clip` (what a triangle and a box have in common), `cell` (a box and what
//! the mesh has in it), `field` (about how far points are), `piece`, `planes` (where pieces may be
//! cut), `search` (which pieces).

mod cell;
mod clip;
mod field;
mod mesh;
mod piece;
mod planes;
mod search;

use super::excess;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::hull::{HullError, convex_hull_with};
use crate::polytope::Polytope;
use cell::MeshCell;
use field::Field;
use mesh::DecomposedMesh;
use piece::DraftPiece;
use search::PieceSearch;

/// What is asked of a decomposition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// How far pieces may stand out, metres; none: as little as that many pieces can.
    pub gap_max: Option<f64>,
    /// How many pieces there may be; at least one.
    pub count_max: usize,
    /// Whether pieces that stand out by more will do where so many cannot be that near.
    pub settles: bool,
}

/// A convex piece.
#[derive(Clone, Debug)]
pub struct ConvexPiece {
    /// The piece, which is its own hull.
    pub hull: Polytope,
    /// Around the largest distance of a point of it from the mesh, metres.
    pub gap: [f64; 2],
}

/// Why there are no such pieces.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PiecesError {
    /// There was no effort left.
    #[error("stopped before there were pieces")]
    Stopped(Stopped),
    /// More pieces are needed, or smaller ones than are tried.
    #[error("{count} pieces stand out by up to {gap:.4e} m")]
    Unreached {
        /// Pieces that there would be.
        count: usize,
        /// At least how far they stand out, metres.
        gap: f64,
    },
}

impl From<Stopped> for PiecesError {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

/// How far a decomposition has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiecesProgress {
    /// What is being done.
    pub phase: Phase,
    /// How many pieces there are by now.
    pub count: usize,
    /// About how far the worst of them stands out, metres; an estimate.
    pub worst: f64,
}

/// What is being done with pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The worst is cut, again and again.
    Cutting,
    /// Two that are nearly convex together become one.
    Joining,
    /// The worst is cut and two others are joined.
    Mending,
    /// How far they stand out is measured.
    Measuring,
}

/// Who is told how far a decomposition has come: seldom or often, as the work goes.
pub type Listener<'a> = dyn FnMut(PiecesProgress) + 'a;

/// Parts of the gap asked for that are tried to be reached: it is measured with an error of its
/// own, and where the bracket is too wide, pieces are made smaller.
const TRIED: [f64; 2] = [0.8, 0.4];

/// Bytes that it takes to decompose a mesh, at its peak, beside its hull; about.
///
/// For each triangle its places and boxes in two trees, what cells list, and its polygons while
/// they are cut; and the grid.
pub fn working_bytes(triangles: usize) -> usize {
    const EACH: usize = 1536;
    EACH.saturating_mul(triangles).saturating_add(Field::BYTES_MAX)
}

/// Convex pieces that hold a mesh: each triangle, and of a closed mesh each point that its
/// triangles wind around, is in the union of the pieces. `vertices` are finite and at most 2^960,
/// and there is at least one triangle.
///
/// ```
/// use clearance_geometry::{Vec3, effort::Effort, polyhedron::pieces};
///
/// // Two triangles that fold along an edge.
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let triangles = [[0, 1, 2], [0, 1, 3]];
/// let wanted = pieces::Wanted { gap_max: Some(0.1), count_max: 4, settles: true };
/// let effort = &mut Effort::unlimited();
/// let found = pieces::decompose(&corners, &triangles, wanted, effort, &mut |_| {}).unwrap();
/// assert!((2..=4).contains(&found.len()));
/// ```
pub fn decompose(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    wanted: Wanted,
    effort: &mut Effort<'_>,
    listener: &mut Listener<'_>,
) -> Result<Vec<ConvexPiece>, PiecesError> {
    // Adding zero makes -0 and +0 the same.
    let vertices: Vec<Vec3> = vertices.iter().map(|p| p.map(|x| x + 0.0)).collect();
    let whole = whole(&vertices, triangles, effort)?;
    let is_enough = wanted.gap_max.map_or(whole.gap[1] <= 0.0, |most| whole.gap[1] <= most);
    let mesh = DecomposedMesh::new(&vertices, triangles, effort)?;
    let Some(mesh) = mesh.filter(|_| !is_enough && wanted.count_max > 1) else {
        return reached(vec![whole], wanted);
    };
    let bounds = [whole.hull.bounds().low, whole.hull.bounds().high];
    let field = Field::new(&mesh, bounds.map(|p| mesh.frame.inward(&p)), effort)?;
    let cell = MeshCell::whole(&mesh, effort)?;
    let start = DraftPiece::new(vec![cell], &field, &mesh, effort)?;
    let Some(gap_max) = wanted.gap_max else {
        let mut search = PieceSearch::new(&mesh, &field, start, listener);
        search.count(wanted.count_max, effort)?;
        return Ok(measured(&mut search, effort)?);
    };
    let mut found = Vec::new();
    for part in TRIED {
        let mut search = PieceSearch::new(&mesh, &field, start.clone(), listener);
        search.reach(part * mesh.frame.length_inward(gap_max), wanted.count_max, effort)?;
        let is_many = search.pieces().count() > wanted.count_max;
        if is_many && wanted.settles {
            search.settle(wanted.count_max, effort)?;
        }
        found = measured(&mut search, effort)?;
        if is_many || worst(&found) <= gap_max {
            break;
        }
    }
    reached(found, wanted)
}

/// How far convex bodies stand out of a mesh: around the largest distance of a point of each from
/// it, metres. The bodies are about where the mesh is.
pub fn gaps(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    hulls: &[Polytope],
    effort: &mut Effort<'_>,
) -> Result<Vec<[f64; 2]>, Stopped> {
    let Some(mesh) = DecomposedMesh::new(vertices, triangles, effort)? else {
        return Ok(vec![[0.0; 2]; hulls.len()]);
    };
    hulls.iter().map(|hull| gap_of(&mesh, hull, effort)).collect()
}

/// At least how far any piece stands out, metres.
fn worst(pieces: &[ConvexPiece]) -> f64 {
    pieces.iter().map(|piece| piece.gap[1]).fold(0.0, f64::max)
}

fn reached(found: Vec<ConvexPiece>, wanted: Wanted) -> Result<Vec<ConvexPiece>, PiecesError> {
    let (gap, count) = (worst(&found), found.len());
    let is_far = !wanted.settles && wanted.gap_max.is_some_and(|most| gap > most);
    if is_far || count > wanted.count_max {
        return Err(PiecesError::Unreached { count, gap });
    }
    Ok(found)
}

/// The hull of all of a mesh.
fn whole(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<ConvexPiece, Stopped> {
    let named: Vec<Vec3> = triangles.as_flattened().iter().map(|&i| vertices[i as usize]).collect();
    let hull = match convex_hull_with(&named, effort) {
        Ok(hull) => hull.polytope,
        Err(HullError::Stopped(why)) => return Err(why),
        // The caller has looked at the points.
        Err(HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. }) => {
            return Err(Stopped::Unresolved);
        }
    };
    let found = excess::measure(vertices, triangles, &hull, effort)?;
    Ok(ConvexPiece { hull, gap: [found.lower, found.upper] })
}

fn measured(
    search: &mut PieceSearch<'_>,
    effort: &mut Effort<'_>,
) -> Result<Vec<ConvexPiece>, Stopped> {
    search.tell(Phase::Measuring);
    let mut found = Vec::new();
    for piece in search.pieces() {
        let hull = piece.hull(effort)?;
        let gap = gap_of(search.mesh, &hull, effort)?;
        found.push(ConvexPiece { hull, gap });
    }
    Ok(found)
}

fn gap_of(
    mesh: &DecomposedMesh<'_>,
    hull: &Polytope,
    effort: &mut Effort<'_>,
) -> Result<[f64; 2], Stopped> {
    excess::beyond(&mesh.surface, mesh.is_closed(), mesh.frame, hull, effort)
}

#[cfg(test)]
mod cover;
#[cfg(test)]
mod tests;
