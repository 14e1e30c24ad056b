//! How round the two bodies of a pair are, as the boxes around them tell: it decides where a search
//! for their nearest points begins.

use crate::pair::Placed;

/// Bodies whose shortest extents are in sum at least this part of their longest count as two balls.
const ROUND: f64 = 0.83;

/// How round the bodies of a pair are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roundness {
    /// The shortest extent over the longest of the less round body: 1 for balls.
    pub(crate) least: f64,
    /// Whether both together are as good as two balls. Beside a large ball a pebble is one too,
    /// whatever its shape: it moves the nearest points little.
    pub(crate) are_balls: bool,
}

impl Roundness {
    /// The roundness of a pair.
    #[inline(always)]
    pub(crate) fn of(p: &Placed<'_>, q: &Placed<'_>) -> Self {
        let extents = |placed: &Placed<'_>| {
            let [x, y, z] = (placed.body.bounds().high - placed.body.bounds().low).into();
            [f64::min(x, y).min(z), f64::max(x, y).max(z)]
        };
        let ([short_p, long_p], [short_q, long_q]) = (extents(p), extents(q));
        Self {
            least: (short_p / long_p).min(short_q / long_q),
            are_balls: short_p + short_q >= ROUND * (long_p + long_q),
        }
    }
}
