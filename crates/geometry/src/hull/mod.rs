//! Convex hulls of finite point sets in every dimension 0 to 3, on exact predicates.
//!
//! [`convex_hull`] drops duplicates, finds the affine dimension, and builds a point, a segment, a
//! polygon (`flat`) or a solid (`quickhull`, then `merge`). What it returns depends on the set of
//! points only, not on their order.

mod basis;
mod flat;
mod merge;
mod quickhull;
pub mod samples;

use super::Vec3;
use super::csr::Csr;
use super::effort::{Effort, Stopped};
use super::number::orientation::{Axis, Turn, turn};
use super::number::scale::PowerOfTwo;
use super::polytope::Polytope;
use super::pose::COORDINATE_MAX;
use crate::shape::{Shape, Structure};

/// More points than this are refused: indices of edges must fit 32 bits.
pub const POINTS_MAX: usize = 1 << 29;

/// Bytes that it takes at its peak to build the hull of so many points, what the search for its
/// supporting vertices needs, and its hierarchy for the figures of that; at most.
///
/// Where every point is a vertex, the surface has two triangles for each, of a hundred bytes, in a
/// list that may have room for twice as many; then come the lists of the facets, and the layers of
/// the hierarchy. Measured are 620 bytes for each of 170,000 points of a ball and 770 of those of a
/// moment curve, where most remains (`tests/geometry/hull_memory.rs`); a sixth is for numbers
/// between the powers of two at which lists grow.
pub fn building_bytes_max(points: usize) -> u64 {
    const EACH: u64 = 896;
    EACH.saturating_mul(points as u64)
}

/// A hull and what became of each point that was given.
#[derive(Clone, Debug)]
pub struct Hull {
    /// The hull as a polytope.
    pub polytope: Polytope,
    /// For each given point, the vertex it is (a duplicate names the same vertex), or none when it
    /// is not extreme.
    pub vertex_of_given: Vec<Option<u32>>,
    distinct: usize,
}

/// A hull in figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullReport {
    /// How many points were given.
    pub given: usize,
    /// How many of the given points are equal to an earlier one.
    pub duplicates: usize,
    /// Extreme points: the vertices.
    pub extreme: usize,
    /// Given points that are no vertex.
    pub dropped: usize,
    /// Whether every given point is a vertex (duplicates allowed).
    pub was_convex: bool,
    /// Affine dimension, 0 to 3.
    pub dimension: u8,
    /// Facets of a solid, edges of a polygon, else 0.
    pub facets: usize,
    /// Volume in cubic metres, rounded.
    pub volume: f64,
}

/// Why a set of points has no hull here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HullError {
    /// There is no point.
    #[error("at least one point is needed")]
    Empty,
    /// A coordinate is NaN, infinite or beyond 2^960.
    #[error("point {index} must be finite and at most 2^960 in every coordinate")]
    BadPoint {
        /// Index of the first such point.
        index: usize,
    },
    /// There are more than [`POINTS_MAX`] points.
    #[error("{given} points are too many: at most {POINTS_MAX}")]
    TooMany {
        /// How many were given.
        given: usize,
    },
    /// There was no effort left to build it.
    #[error("stopped before the hull was complete")]
    Stopped(Stopped),
}

impl From<Stopped> for HullError {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

impl Hull {
    /// The figures that a client sees when it registers the points.
    pub fn report(&self) -> HullReport {
        let given = self.vertex_of_given.len();
        let kept = self.vertex_of_given.iter().flatten().count();
        let extreme = self.polytope.vertices().len();
        let dimension = self.polytope.dimension();
        HullReport {
            given,
            duplicates: given - self.distinct,
            extreme,
            dropped: given - kept,
            was_convex: extreme == self.distinct,
            dimension,
            facets: match dimension {
                3 => self.polytope.facets().len(),
                2 => extreme,
                _ => 0,
            },
            volume: self.polytope.volume(),
        }
    }
}

/// The convex hull of `points`: exact extreme points, exact merged facets.
///
/// ```
/// use clearance_geometry::{Vec3, hull::convex_hull};
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [0.25, 0.25, 0.25]];
/// let hull = convex_hull(&corners.map(Vec3::from)).expect("finite points");
/// assert_eq!(hull.polytope.vertices().len(), 4);
/// assert_eq!(hull.vertex_of_given[4], None);
/// ```
pub fn convex_hull(points: &[Vec3]) -> Result<Hull, HullError> {
    convex_hull_with(points, &mut Effort::unlimited())
}

/// [`convex_hull`] as long as the effort lasts: a step is some thousand looks at a point from a
/// facet.
pub fn convex_hull_with(points: &[Vec3], effort: &mut Effort<'_>) -> Result<Hull, HullError> {
    if points.is_empty() {
        return Err(HullError::Empty);
    }
    if points.len() > POINTS_MAX {
        return Err(HullError::TooMany { given: points.len() });
    }
    // Written so that NaN lands in the error.
    let is_good = |p: &Vec3| p.iter().all(|x| x.abs() <= COORDINATE_MAX);
    if let Some(index) = points.iter().position(|p| !is_good(p)) {
        return Err(HullError::BadPoint { index });
    }
    let (distinct, distinct_of_given) = distinct_points(points);
    effort.spend_step()?;
    let (extreme, structure) = structure_of(&distinct, effort)?;
    effort.spend_step()?;
    let mut vertex_of_distinct = vec![None; distinct.len()];
    for (vertex, &index) in extreme.iter().enumerate() {
        vertex_of_distinct[index as usize] = Some(index_of(vertex));
    }
    let vertices = extreme.iter().map(|&index| distinct[index as usize]).collect();
    let vertex_of_given =
        distinct_of_given.iter().map(|&index| vertex_of_distinct[index as usize]).collect();
    let polytope = Polytope::new(Shape::assemble(vertices, structure));
    Ok(Hull { polytope, vertex_of_given, distinct: distinct.len() })
}

/// The points without duplicates, `-0` as `+0`, sorted by x, y, z; and for each given point its
/// place among them.
fn distinct_points(points: &[Vec3]) -> (Vec<Vec3>, Vec<u32>) {
    let mut order: Vec<(Vec3, u32)> =
        (0..).zip(points).map(|(i, p)| (p.map(|x| x + 0.0), i)).collect();
    order.sort_unstable_by(|(l, _), (r, _)| {
        l.x.total_cmp(&r.x).then(l.y.total_cmp(&r.y)).then(l.z.total_cmp(&r.z))
    });
    let mut distinct: Vec<Vec3> = Vec::with_capacity(points.len());
    let mut distinct_of_given = vec![0; points.len()];
    for (point, given) in order {
        if distinct.last() != Some(&point) {
            distinct.push(point);
        }
        distinct_of_given[given as usize] = index_of(distinct.len() - 1);
    }
    (distinct, distinct_of_given)
}

/// The extreme points among distinct sorted points, ascending, and how they hang together.
fn structure_of(
    distinct: &[Vec3],
    effort: &mut Effort<'_>,
) -> Result<(Vec<u32>, Structure), Stopped> {
    // A power of two changes no incidence, and keeps the products of the predicates in range.
    let scaled = PowerOfTwo::that_tames(distinct).and_then(|scale| scale.times_all(distinct));
    let points = scaled.as_deref().unwrap_or(distinct);
    let basis = basis::affine_basis(points);
    let (extreme, neighbours, facets) = match *basis.as_slice() {
        [a, b, c, d] => {
            let surface = quickhull::surface(points, [a, b, c, d], effort)?;
            effort.spend_step()?;
            let merge::Faces { extreme, facets, neighbours } =
                merge::merge(points, &surface, effort)?;
            (extreme, neighbours, facets)
        }
        [a, b, c] => polygon(points, [a, b, c]),
        // Sorted points of a line: the ends are the first and the last.
        [_, _] => {
            let last = index_of(points.len() - 1);
            (vec![0, last], Csr::from_rows([[1], [0]]), Csr::default())
        }
        _ => (vec![0], Csr::from_rows([[]]), Csr::default()),
    };
    let extreme_points: Vec<Vec3> = extreme.iter().map(|&i| points[i as usize]).collect();
    let affine_basis = basis::affine_basis(&extreme_points);
    Ok((extreme, Structure { neighbours, facets, affine_basis }))
}

fn polygon(points: &[Vec3], basis: [u32; 3]) -> (Vec<u32>, Csr, Csr) {
    let [a, b, c] = basis.map(|i| &points[i as usize]);
    let mut axes = Axis::ALL.into_iter();
    let axis = axes.find(|&axis| turn(axis, a, b, c) != Turn::Straight);
    let mut ring = flat::polygon(points, axis.expect("three points that are not collinear"));
    let mut extreme = ring.clone();
    extreme.sort_unstable();
    for corner in &mut ring {
        *corner = index_of(extreme.partition_point(|index| index < corner));
    }
    merge::start_with_lowest(&mut ring);
    let count = ring.len();
    let mut neighbours = vec![[0; 2]; count];
    for (i, &corner) in ring.iter().enumerate() {
        let (before, after) = (ring[(i + count - 1) % count], ring[(i + 1) % count]);
        neighbours[corner as usize] = [before.min(after), before.max(after)];
    }
    (extreme, Csr::from_rows(neighbours), Csr::from_rows([ring]))
}

/// A place in a list of points, facets or corners, as these lists name each other's entries.
fn index_of(length: usize) -> u32 {
    u32::try_from(length).expect("limited at the door")
}
