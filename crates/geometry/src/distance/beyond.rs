//! A direction that shows a pair to be farther apart than a reach, in a form that certificates
//! have.

use super::compare::is_at_most;
use super::wolfe;
use crate::claim::{Direction, Reach};
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};

/// The direction along which the gap is the distance of a pair, exactly; `None` for one that is not
/// farther apart than the reach.
pub(crate) fn direction_beyond(
    pair: &Pair<'_>,
    reach: Reach,
    effort: &mut Effort<'_>,
) -> Result<Option<Direction>, Stopped> {
    effort.cost.exact_stages += 1;
    let m = Difference::new(pair);
    let nearest = wolfe::nearest(&m, &[], effort)?.filter(|nearest| !nearest.is_origin());
    Ok(nearest.and_then(|nearest| {
        let is_within = is_at_most(nearest.squared(), m.exponent(), &reach.exact());
        (!is_within).then(|| towards(&nearest.pairs))
    }))
}

/// The direction of the point nearest the origin in the hull of one to three pairs' differences.
pub(crate) fn towards(pairs: &[VertexPair]) -> Direction {
    Direction::nearest(pairs).expect("one to three pairs")
}
