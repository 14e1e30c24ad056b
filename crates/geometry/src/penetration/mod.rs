//! How deep: the shortest translation that separates, as a bracket; and the range of contact along
//! a direction.
//!
//! The depth is the distance from the origin to the nearest face of M. A polytope inside M grows
//! from the certificate's pairs ([`shell`]) at its face nearest the origin, until that face is a
//! face of M ([`nearest_face`]).

mod at_least;
mod cd_dual;
mod deepening;
mod depth_bound;
mod in_box;
mod method;
mod nearest_face;
mod rounded_shell;
mod shell;
#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod tests;

mod directional;

use crate::claim::{Span, Surface};
pub use at_least::{ComparedDepth, compare, compare_decided};
pub use deepening::overlaps_along;
pub use depth_bound::DepthBound;
pub use in_box::{BoxDepth, BoxDepthMemory, depth_at_most, depth_in_box};
pub use method::RangeMethod;

use super::Vec3;
use super::effort::{Effort, Stopped};
use super::pair::{Pair, VertexPair};
use super::separation::{self, Decision, decide};
use super::witness::Witness;
use crate::claim::{Direction, RangeProof, StaticProof};

/// The penetration depth of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Depth {
    /// The verdict with its proof.
    pub decision: Decision,
    /// At most the exact depth, in metres; 0 unless overlapping.
    pub lower: f64,
    /// At least the exact depth, in metres; 0 unless overlapping.
    pub upper: f64,
    /// Unit normal u of the nearest face of M, rounded: moving P by (depth+)·u separates.
    pub direction: Vec3,
    /// The face plane of M whose distance is at most `upper`; none unless overlapping.
    pub face: Option<Direction>,
    /// On request: a closed oriented surface in M around the origin, at least `lower` from it.
    pub surface: Option<Surface>,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// Measures how deep the pair overlaps. `with_surface` asks for the lower bound's certificate.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::penetration::measure;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.75, 0.5, 0.5));
/// let depth = measure(&pair, true, &mut witness, &mut effort).unwrap();
/// assert_eq!([depth.lower, depth.upper], [0.25, 0.25]);
/// assert_eq!(depth.direction, Vec3::new(-1.0, 0.0, 0.0));
/// assert!(depth.face.is_some() && depth.surface.is_some());
/// ```
pub fn measure(
    pair: &Pair<'_>,
    with_surface: bool,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Depth, Stopped> {
    let decision = decide(pair, &separation::METHODS[0], witness, effort)?;
    match &decision.proof {
        StaticProof::Overlapping { pairs } => {
            let pairs = pairs.clone();
            Ok(nearest_face::measure(pair, decision, &pairs, with_surface, effort))
        }
        StaticProof::Separated { .. } | StaticProof::Touching { .. } => Ok(Depth {
            decision,
            lower: 0.0,
            upper: 0.0,
            direction: Vec3::zeros(),
            face: None,
            surface: None,
            stopped: None,
        }),
    }
}

/// The unit vector along which P leaves Q soonest, rounded: for use, not for proof, and several
/// times as fast as [`measure`]. Of directions whose ways differ by some roundings it may be any.
/// `pairs` prove that the two overlap ([`StaticProof::Overlapping`]).
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::claim::StaticProof;
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::penetration::{measure, way_out};
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.75, 0.5, 0.5));
/// let depth = measure(&pair, false, &mut witness, &mut effort).unwrap();
/// let StaticProof::Overlapping { pairs } = &depth.decision.proof else { unreachable!() };
/// assert_eq!(way_out(&pair, pairs, &mut effort), Ok(Vec3::new(-1.0, 0.0, 0.0)));
/// ```
pub fn way_out(
    pair: &Pair<'_>,
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<Vec3, Stopped> {
    match nearest_face::rounded_normal(pair, pairs, effort)? {
        Some(normal) => Ok(normal),
        None => Ok(measure(pair, false, &mut Witness::default(), effort)?.direction),
    }
}

/// The closed set of `t >= 0` for which P moved by `t d` meets Q, each end as a bracket of adjacent
/// f64 numbers (or one, when exact), in units of |d|.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The verdict with its proof.
    pub decision: Decision,
    /// `[lower, upper]` around the least such t and around the greatest; none: never.
    pub span: Option<Span>,
    /// What proves that; none along zero.
    pub proof: Option<RangeProof>,
}

/// The ways to meet M with a line, by name; the first is the default.
pub const METHODS: &[RangeMethod] = &[directional::METHOD, cd_dual::METHOD];

/// The range of contact along `direction`, which is finite. Computed, not iterated. Along zero P
/// stays: the range is everything or nothing.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::penetration::along;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let range = along(&pair, &Vec3::new(2.0, 0.5, 0.0), &mut witness, &mut effort).unwrap();
/// let span = range.span.unwrap();
/// assert_eq!((span.enter, span.exit), ([1.0, 1.0], [2.0, 2.0]));
/// ```
pub fn along(
    pair: &Pair<'_>,
    direction: &Vec3,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Range, Stopped> {
    along_by(pair, direction, &METHODS[0], witness, effort)
}

/// Computes the range by a method of [`METHODS`]: every method gives the same answer.
pub fn along_by(
    pair: &Pair<'_>,
    direction: &Vec3,
    method: &RangeMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Range, Stopped> {
    effort.one_question(|effort| directional::along(pair, direction, method, witness, effort))
}
