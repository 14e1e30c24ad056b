//! Whether bodies that are not both convex overlap at least as deep as a margin below 0 says: by
//! the bracket of their depth, which is between that of their deepest two pieces and that of their
//! hulls. Where it holds the depth that is asked about, that is unresolved.

use super::cells::{answered, kinds};
use super::depth::{DepthQuestion, MeasuredDepth};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Compared;
use clearance_geometry::effort::{Effort, Stopped};

/// Whether a margin is asked about in this way: a depth of bodies that are not both convex.
pub(super) fn is_by_bracket(kinds: [Kind; 2], margin: Option<f64>) -> bool {
    is_below_zero(margin) && !kinds.iter().all(|kind| kind.is_convex())
}

/// Whether a margin is a depth.
pub(super) fn is_below_zero(margin: Option<f64>) -> bool {
    margin.is_some_and(|margin| margin < 0.0)
}

/// How bodies compare with a margin below 0 that stand so; none: that is unresolved.
pub(super) fn compare_by_bracket(
    bodies: &[PlacedBody; 2],
    verdict: Option<Verdict>,
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    match verdict {
        None => return Err(Stopped::Unresolved),
        Some(Verdict::Separated | Verdict::Touching) => return Ok(Compared::bare(false)),
        Some(Verdict::Overlapping) => {}
    }
    let question = answered(DepthQuestion::of(kinds(bodies)))?;
    let depth = answered(question.prepare(bodies.clone()))?.answer(false, effort)?;
    within_bracket(&depth, margin)
}

/// What the bracket of a depth tells of a margin below 0.
fn within_bracket(depth: &MeasuredDepth, margin: f64) -> Result<Compared, Stopped> {
    let [lower, upper] = depth.bounds();
    if lower >= -margin {
        return Ok(Compared::bare(true));
    }
    if upper < -margin {
        return Ok(Compared::bare(false));
    }
    Err(depth.stopped().unwrap_or(Stopped::Unresolved))
}
