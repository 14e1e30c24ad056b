//! Which configurations have a pair within its margin, in cells some of whose pairs have margins
//! below 0: these are within theirs where they are deep enough, and not where they touch.

use super::cell::{BodyPair, Cell};
use super::check::{NO_BOUND, is_left_open, is_within_margin, within_of};
use super::pairing::PairScope;
use super::stand::{Block, LANES, Poses, Stand};
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::{Effort, Stopped};

/// What ends the walk over candidates.
enum WithinEnds {
    Found,
    Stopped(Stopped),
}

impl From<Stopped> for WithinEnds {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

impl Cell {
    /// Whether a pair of each configuration is within its margin, or nearer to that than is
    /// resolved; false of one that places nothing. Each is as many numbers as
    /// [`Cell::variable_count`] says.
    pub fn are_within_margins(
        &self,
        scope: PairScope,
        values: &[f64],
        effort: &mut Effort<'_>,
    ) -> Vec<Result<bool, Stopped>> {
        let width = self.variable_count().max(1);
        let (mut block, mut poses) = (Block::default(), Poses::default());
        let mut ask = |values: &[f64]| {
            effort.look_at_clock()?;
            if self.kinematics.check(values).is_err() {
                return Ok(false);
            }
            block.place(self, &[values; LANES]);
            let mut stand = block.stand(self, 0, &mut poses);
            stand.scope = scope;
            has_pair_within(&mut stand, effort)
        };
        values.chunks_exact(width).map(&mut ask).collect()
    }
}

fn has_pair_within(stand: &mut Stand<'_>, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
    let within = within_of(stand);
    let mut look = |stand: &mut Stand<'_>, pair, bound| {
        let is_within = is_within(stand, pair, bound, effort)?;
        if is_within { Err(WithinEnds::Found) } else { Ok(()) }
    };
    let walked = stand.candidates(within, None, |stand, pair, bound| {
        look(stand, pair, bound)?;
        Ok::<f64, WithinEnds>(within)
    });
    let walked =
        walked.and_then(|()| stand.with_clouds(None, |stand, pair| look(stand, pair, NO_BOUND)));
    match walked {
        Ok(()) => Ok(false),
        Err(WithinEnds::Found) => Ok(true),
        Err(WithinEnds::Stopped(why)) => Err(why),
    }
}

/// Whether a pair is within its margin, whose signed clearance is at least `bound`.
fn is_within(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    bound: f64,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    let margin = stand.cell.margin_of(pair);
    if margin < 0.0 {
        let is_far = bound > margin;
        let is_so_deep = !is_far && stand.is_so_deep(pair, 0.0 - margin, effort)? != Some(false);
        return Ok(is_so_deep);
    }
    match stand.verdict(pair, effort) {
        Ok(Verdict::Separated) => is_within_margin(stand, pair, bound, effort),
        Ok(Verdict::Touching | Verdict::Overlapping) => Ok(true),
        Err(why) => is_left_open(stand, pair, why).map(|()| true),
    }
}
