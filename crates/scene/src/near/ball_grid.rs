//! All pairs of balls that may meet, found at once: for scenes of which much has moved, where a
//! tree would be built for a single use.
//!
//! Balls are sorted into cells by their centres, those of about one size into cells of that size:
//! a *level* holds the balls of which the largest of all is between 2^l and 2^(l+1) times as large,
//! and its cells have edges longer than the largest diameter in it. So two balls that meet have
//! centres in the same cell or in two that touch, in the cells of the larger one; a ball is
//! compared with what is in these cells of its own level and of those of larger balls. Cells are
//! found by a hash: what is compared is always of the very cell that was asked for.
//!
//! Cost: `O(n + k)` for n balls of one size with k pairs whose cells touch; each further level
//! costs 27 looks for every smaller ball. Where balls tell little, as those around long rods and
//! plates, cells get crowded: that is said soon, and a [`super::box_tree::BoxTree`] tells more.

use crate::bounds::Ball;
use crate::pair_key::PairKey;
use crate::unanswered::{TooManyPairs, Unanswered, go_on, sort_by};
use clearance_geometry::until::Until;

/// Levels at most; whatever is smaller still goes to the last one.
const LEVELS: usize = 32;

/// An edge is by so much longer than the largest diameter. A quotient of a coordinate and an edge
/// that is within [`CELLS_MAX`] is rounded by less than a fourth of this.
const EDGE_ROOM: f64 = 1.0 / (1_u64 << 20) as f64;

/// Cells on either side of the origin along an axis; what is farther out is in the last ones.
const CELLS_MAX: i32 = 1 << 28;

/// Comparisons for each ball, on average, from which on cells are crowded.
const CROWD: usize = 128;

/// A ball in its cell.
#[derive(Clone, Copy, Debug)]
struct SortedBall {
    ball: Ball,
    body: u32,
    cell: GridCell,
}

/// A cell of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GridCell {
    x: i32,
    /// Its other two coordinates and its level.
    row: u64,
}

impl GridCell {
    fn new(level: usize, [x, y, z]: [i32; 3]) -> Self {
        let from_zero = |c: i32| u64::from((c + 2 * CELLS_MAX).cast_unsigned());
        // The coordinates take thirty bits each.
        Self { x, row: from_zero(y) << 35 | from_zero(z) << 5 | level as u64 }
    }

    /// Neighbours in a row have buckets side by side.
    fn bucket(self, mask: usize) -> usize {
        let mixed = (self.row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        mixed.wrapping_add_signed(self.x as isize) & mask
    }
}

/// The balls by cell.
struct BallGrid {
    /// By level: one over the edge of its cells; 0: no ball is in it.
    cells_a_metre: [f64; LEVELS],
    /// By bucket, where its balls begin; and an end.
    starts: Vec<u32>,
    sorted: Vec<SortedBall>,
}

/// The cell of a level in which this point is.
fn coordinates(centre: &[f64; 3], cells_a_metre: f64) -> [i32; 3] {
    let most = f64::from(CELLS_MAX);
    centre.map(|c| (c * cells_a_metre).floor().clamp(-most, most) as i32)
}

/// How often the diameter has to be doubled to be more than half of the largest one.
fn level_of(ball: &Ball, largest: f64) -> usize {
    let ratio = largest / ball.radius;
    let doublings = (ratio.to_bits() >> 52).saturating_sub(1023);
    // What is no ratio counts as infinite.
    usize::try_from(doublings).unwrap_or(LEVELS).min(LEVELS - 1)
}

impl BallGrid {
    fn of(balls: &[Ball]) -> Self {
        let largest = balls.iter().fold(0.0, |most: f64, ball| most.max(ball.radius));
        let levels: Vec<u8> = balls.iter().map(|ball| level_of(ball, largest) as u8).collect();
        let mut radii = [0.0_f64; LEVELS];
        for (ball, level) in balls.iter().zip(&levels) {
            let radius = &mut radii[usize::from(*level)];
            *radius = radius.max(ball.radius).max(f64::MIN_POSITIVE);
        }
        let cells_a_metre =
            radii.map(
                |radius| {
                    if radius > 0.0 { (2.0 * radius * (1.0 + EDGE_ROOM)).recip() } else { 0.0 }
                },
            );
        let mask = balls.len().next_power_of_two() - 1;
        let placed: Vec<GridCell> = balls
            .iter()
            .zip(&levels)
            .map(|(ball, level)| {
                let level = usize::from(*level);
                GridCell::new(level, coordinates(&ball.centre, cells_a_metre[level]))
            })
            .collect();
        let mut starts = vec![0_u32; mask + 2];
        for cell in &placed {
            starts[cell.bucket(mask) + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        let nobody = SortedBall {
            ball: Ball { centre: [0.0; 3], radius: 0.0 },
            body: 0,
            cell: GridCell::default(),
        };
        let (mut next, mut sorted) = (starts.clone(), vec![nobody; balls.len()]);
        for ((body, ball), cell) in (0..).zip(balls).zip(placed) {
            let at = &mut next[cell.bucket(mask)];
            sorted[*at as usize] = SortedBall { ball: *ball, body, cell };
            *at += 1;
        }
        Self { cells_a_metre, starts, sorted }
    }

    fn mask(&self) -> usize {
        self.starts.len() - 2
    }

    /// The places of those in the bucket of the cell, some of which may be in others.
    #[inline]
    fn bucket(&self, cell: GridCell) -> std::ops::Range<usize> {
        let bucket = cell.bucket(self.mask());
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }

    /// The places at which there may be what meets the ball at this place: of each pair one finds
    /// the other.
    #[inline]
    fn beside(&self, at: usize, mut look: impl FnMut(&SortedBall)) {
        let SortedBall { ball, cell, .. } = &self.sorted[at];
        let own = (cell.row & 31) as usize;
        for level in 0..=own {
            let cells_a_metre = self.cells_a_metre[level];
            if cells_a_metre <= 0.0 {
                continue;
            }
            let [x, y, z] = coordinates(&ball.centre, cells_a_metre);
            // Of the cells of its own level those behind it find this one.
            let first = if level == own { 13 } else { 0 };
            for index in first..27 {
                let by = [index % 3 - 1, index / 3 % 3 - 1, index / 9 - 1];
                let asked = GridCell::new(level, [x + by[0], y + by[1], z + by[2]]);
                let mut places = self.bucket(asked);
                if level == own && index == 13 {
                    places.start = at + 1;
                }
                for other in &self.sorted[places] {
                    if other.cell == asked {
                        look(other);
                    }
                }
            }
        }
    }
}

/// The pairs of balls that may meet and that `is_near`, in order, at most `pairs_max`. None: cells
/// are crowded.
pub(crate) fn pairs_of(
    balls: &[Ball],
    pairs_max: usize,
    until: &Until,
    is_near: impl Fn(PairKey) -> bool,
) -> Result<Option<Vec<PairKey>>, Unanswered> {
    let grid = BallGrid::of(balls);
    let mut pairs = Vec::new();
    let mut left = CROWD.saturating_mul(balls.len());
    for (at, SortedBall { ball, body, .. }) in until.each(grid.sorted.iter().enumerate()) {
        let mut compared = 0;
        grid.beside(at, |other| {
            compared += 1;
            if ball.may_meet(&other.ball) && compared <= left && pairs.len() <= pairs_max {
                let key = PairKey::new(*body, other.body);
                if is_near(key) {
                    pairs.push(key);
                }
            }
        });
        if pairs.len() > pairs_max {
            return Err(TooManyPairs { pairs_max }.into());
        }
        let Some(rest) = left.checked_sub(compared) else { return Ok(None) };
        left = rest;
    }
    sort_by(until, &mut pairs, PairKey::cmp)?;
    go_on(until)?;
    Ok(Some(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_samples::Random;

    fn all_pairs(balls: &[Ball]) -> Vec<PairKey> {
        let count = balls.len() as u32;
        let all = (0..count).flat_map(|p| (p + 1..count).map(move |q| PairKey { p, q }));
        all.filter(|key| balls[key.p as usize].may_meet(&balls[key.q as usize])).collect()
    }

    /// Balls on both sides of the origin, of sizes up to 4^`spread` apart; some touch exactly.
    fn some_balls(random: &mut Random, count: usize, spread: f64) -> Vec<Ball> {
        let mut balls: Vec<Ball> = Vec::new();
        for index in 0..count {
            let radius = 4_f64.powf(spread * (random.signed() - 1.0) / 2.0);
            let (place, beside) = (random.vector() * 4.0, random.below(5) == 0);
            let centre = match balls.get(index / 2) {
                Some(other) if beside => {
                    let [x, y, z] = other.centre;
                    [x + other.radius + radius, y, z]
                }
                _ => place.into(),
            };
            balls.push(Ball { centre, radius });
        }
        balls
    }

    #[test]
    fn just_the_balls_that_may_meet_are_found() {
        let (mut random, mut met, mut crowded) = (Random(5), 0, 0);
        for seed in 0..200 {
            let spread = [0.0, 0.3, 1.0, 4.0, 40.0][seed % 5];
            let mut balls = some_balls(&mut random, 1 + seed, spread);
            if seed % 7 == 0 {
                balls.push(Ball { centre: [1e12, 0.0, -1e12], radius: 0.0 });
                balls.push(Ball { centre: [1e12, 0.0, -1e12], radius: 1e-9 });
            }
            let Some(found) = pairs_of(&balls, usize::MAX, Until::never(), |_| true).unwrap()
            else {
                crowded += 1;
                continue;
            };
            assert_eq!(found, all_pairs(&balls), "seed {seed}");
            met += found.len();
        }
        assert!(met > 10_000 && crowded < 20, "{met} met, {crowded} crowded");
    }

    #[test]
    fn a_crowd_is_said_to_be_one() {
        let ball = Ball { centre: [0.0; 3], radius: 1.0 };
        assert_eq!(pairs_of(&vec![ball; 1000], usize::MAX, Until::never(), |_| true), Ok(None));
    }

    #[test]
    fn one_pair_beyond_the_limit_is_refused() {
        let balls = [Ball { centre: [0.0; 3], radius: 1.0 }; 4];
        assert_eq!(
            pairs_of(&balls, 6, Until::never(), |_| true).unwrap().map(|found| found.len()),
            Some(6)
        );
        assert_eq!(
            pairs_of(&balls, 5, Until::never(), |_| true),
            Err(TooManyPairs { pairs_max: 5 }.into())
        );
        assert_eq!(pairs_of(&balls, 5, Until::never(), |key| key.p > 0).unwrap().unwrap().len(), 3);
        assert_eq!(pairs_of(&[], 5, Until::never(), |_| true), Ok(Some(Vec::new())));
    }
}
