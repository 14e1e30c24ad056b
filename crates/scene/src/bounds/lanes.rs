//! Boxes that are compared with several others side by side, where they are and on straight ways.

use std::ops::RangeInclusive;

use super::Box3;
use clearance_geometry::Vec3;
use clearance_geometry::number::binary::power_of_two;
use clearance_geometry::number::rounding::UNIT;

/// Boxes that are looked at side by side.
pub(crate) const BOX_LANES: usize = 4;

/// Some boxes by coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxBlock {
    /// For each axis the lower bounds of the boxes.
    pub low: [[f64; BOX_LANES]; 3],
    /// And the upper ones.
    pub high: [[f64; BOX_LANES]; 3],
}

impl BoxBlock {
    /// Boxes that hold nothing: no other box meets them, and nothing reaches them.
    pub(crate) const NOWHERE: Self =
        Self { low: [[f64::MAX; BOX_LANES]; 3], high: [[f64::MIN; BOX_LANES]; 3] };

    /// One of them.
    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> Box3 {
        Box3 { low: self.low.map(|low| low[lane]), high: self.high.map(|high| high[lane]) }
    }

    /// Which of them have a point in common with a box.
    #[inline(always)]
    pub(crate) fn meeting(&self, held: &Box3) -> [bool; BOX_LANES] {
        let mut meets = [true; BOX_LANES];
        for axis in 0..3 {
            let (low, high) = (&self.low[axis], &self.high[axis]);
            for lane in 0..BOX_LANES {
                meets[lane] &= (low[lane] <= held.high[axis]) & (held.low[axis] <= high[lane]);
            }
        }
        meets
    }

    /// Puts a box in the place of one of them.
    pub(crate) fn set(&mut self, lane: usize, held: &Box3) {
        for axis in 0..3 {
            (self.low[axis][lane], self.high[axis][lane]) = (held.low[axis], held.high[axis]);
        }
    }
}

/// A box on a straight way, made ready to be compared with many others.
///
/// Along an axis in which it moves it begins to meet another box at a quotient of a difference and
/// the velocity, which is worked out as a product with the rounded inverse; where that underflows,
/// it is off by less than the least normal number. Where the inverse is none, the box is taken to
/// be on all of its way along the axis at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxWay {
    /// Where it is; along an axis without an inverse, on all of its way.
    start: Box3,
    /// One over the velocity, or 0.
    inverse: [f64; 3],
}

/// Sizes of velocities whose inverse is a normal number.
const PLAIN_VELOCITIES: RangeInclusive<f64> = power_of_two(-1000)..=power_of_two(1000);

/// A few roundings, relative to a time at which boxes meet: more than the three of a difference, an
/// inverse and their product, and the three of adding them.
const TIME_ROUNDING: f64 = 8.0 * UNIT;

impl BoxWay {
    /// That of a box that moves by `velocity` within t from 0 to 1.
    pub(crate) fn new(start: &Box3, velocity: &Vec3) -> Self {
        let (mut start, along) = (*start, start.union(&start.moved(velocity)));
        let inverse = std::array::from_fn(|axis| {
            if PLAIN_VELOCITIES.contains(&velocity[axis].abs()) {
                return 1.0 / velocity[axis];
            }
            (start.low[axis], start.high[axis]) = (along.low[axis], along.high[axis]);
            0.0
        });
        Self { start, inverse }
    }

    /// At most the first t in [0, 1] at which it meets another box; none: it surely does not.
    #[inline(always)]
    pub(crate) fn reaches(&self, other: &Box3) -> Option<f64> {
        let block = BoxBlock {
            low: other.low.map(|low| [low; BOX_LANES]),
            high: other.high.map(|high| [high; BOX_LANES]),
        };
        let [time, ..] = self.reaches_each(&block);
        time.is_finite().then_some(time)
    }

    /// The same of each of some boxes; infinite: never.
    #[inline(always)]
    pub(crate) fn reaches_each(&self, others: &BoxBlock) -> [f64; BOX_LANES] {
        let (mut enter, mut leave) = ([0.0; BOX_LANES], [1.0; BOX_LANES]);
        for axis in 0..3 {
            let inverse = self.inverse[axis];
            let (low, high) = (&others.low[axis], &others.high[axis]);
            let (own_low, own_high) = (self.start.low[axis], self.start.high[axis]);
            if inverse == 0.0 {
                for lane in 0..BOX_LANES {
                    let meets = (low[lane] <= own_high) & (own_low <= high[lane]);
                    leave[lane] = if meets { leave[lane] } else { -1.0 };
                }
                continue;
            }
            // What this box has to move along the axis to begin to meet the other, and to end.
            let backwards = inverse < 0.0;
            let (near, far) = if backwards { (high, low) } else { (low, high) };
            let (front, rear) = if backwards { (own_low, own_high) } else { (own_high, own_low) };
            for lane in 0..BOX_LANES {
                let (first, last) = ((near[lane] - front) * inverse, (far[lane] - rear) * inverse);
                // NaN is neither greater nor less: it is no reason to leave a box out.
                let first = first - (first.abs() * TIME_ROUNDING + f64::MIN_POSITIVE);
                let last = last + (last.abs() * TIME_ROUNDING + f64::MIN_POSITIVE);
                enter[lane] = if first > enter[lane] { first } else { enter[lane] };
                leave[lane] = if last < leave[lane] { last } else { leave[lane] };
            }
        }
        std::array::from_fn(
            |lane| {
                if enter[lane] <= leave[lane] { enter[lane] } else { f64::INFINITY }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_samples::Random;

    /// The first t in [0, 1] at which boxes of integers meet, as a quotient.
    fn exactly(own: &Box3, velocity: [i64; 3], other: &Box3) -> Option<(i64, i64)> {
        let (mut enter, mut leave) = ((0, 1), (1, 1));
        let less = |a: (i64, i64), b: (i64, i64)| a.0 * b.1 < b.0 * a.1;
        for (k, v) in velocity.into_iter().enumerate() {
            let near = other.low[k] as i64 - own.high[k] as i64;
            let far = other.high[k] as i64 - own.low[k] as i64;
            if v == 0 && (near > 0 || far < 0) {
                return None;
            }
            let (first, last) =
                if v > 0 { ((near, v), (far, v)) } else { ((-far, -v), (-near, -v)) };
            if v != 0 {
                enter = if less(enter, first) { first } else { enter };
                leave = if less(last, leave) { last } else { leave };
            }
        }
        (!less(leave, enter)).then_some(enter)
    }

    /// Thirds and sevenths of ways, which no f64 number is, past faces, edges and corners that are
    /// just touched; velocities of every size that a displacement may have.
    #[test]
    fn a_box_on_its_way_is_never_said_to_be_late_or_to_miss() {
        let mut random = Random(77);
        let (mut met, mut missed, mut grazed) = (0, 0, 0);
        for round in 0..200_000 {
            let mut cell = |size: u32| {
                let low = [0; 3].map(|_: u32| f64::from(random.below(11)));
                Box3 { low, high: low.map(|c| c + f64::from(size)) }
            };
            let (own, other) = (cell(round % 2), cell(1 + round % 3));
            let velocity = [0; 3].map(|_: i64| i64::from(random.below(21)) - 10);
            // Powers of two change no quotient; the way is as long as it was.
            let scale = power_of_two([0, -600, 600, -40][round as usize % 4]);
            let scaled = |held: &Box3| Box3 {
                low: held.low.map(|c| c * scale),
                high: held.high.map(|c| c * scale),
            };
            let way = BoxWay::new(&scaled(&own), &Vec3::from(velocity.map(|v| v as f64 * scale)));
            let told = way.reaches(&scaled(&other));
            match exactly(&own, velocity, &other) {
                Some((n, d)) => {
                    let exact = n as f64 / d as f64;
                    let told = told.unwrap_or(f64::NAN);
                    assert!(told <= exact && exact - told < 1e-14, "{told} {exact}");
                    assert!(n == 0 || told < exact, "the quotient is rounded: {told} {n}/{d}");
                    met += 1;
                }
                None => {
                    missed += 1;
                    grazed += u32::from(told.is_some());
                }
            }
        }
        assert!(met > 2000 && missed > 2000 && grazed * 1000 < missed, "{met} {missed} {grazed}");
    }

    /// Where an inverse or a product overflows, a box counts as reached.
    #[test]
    fn ways_whose_numbers_give_out_reach_what_they_may() {
        let unit = |low: f64| Box3 { low: [low; 3], high: [low + 1.0; 3] };
        let tiny = f64::from_bits(1);
        let slow = BoxWay::new(&unit(0.0), &Vec3::new(tiny, 0.0, 0.0));
        let beside = Box3 { low: [1.0, 0.0, 0.0], high: [2.0, 1.0, 1.0] };
        assert_eq!(slow.reaches(&beside), Some(0.0));
        assert_eq!(slow.reaches(&unit(3.0)), None);
        let far = power_of_two(960);
        let fast = BoxWay::new(&unit(-far), &Vec3::new(power_of_two(-990), far, far));
        assert!(fast.reaches(&unit(far)).is_none_or(|time| time <= 1.0));
        let all = BoxWay::new(&unit(0.0), &Vec3::repeat(f64::MAX));
        assert!(all.reaches(&unit(far)).is_some());
        assert!(all.reaches_each(&BoxBlock::NOWHERE).iter().all(|time| time.is_infinite()));
    }
}
