//! Boxes that stand along the axes, and their M, which is one, too: in integers of a fixed width.
//!
//! A body is such a box if its vertices are all that have one of two coordinates on each axis of
//! its frame, and its rotation only exchanges axes and turns them round; a point is one whose two
//! coordinates are the same. Of two of them M is the box from `low_Q - high_P` to `high_Q - low_P`,
//! each a sum of four f64 numbers. Where these have few bits, or are of about one size, the sums
//! are integers of a hundred bits on one exponent, and how the origin stands to M, or the ray on
//! which it comes, is told by comparing them and products of two. All else is left to whoever asks.

mod wide;

pub(crate) use self::wide::Wide;

use crate::Vec3;
use crate::number::binary::split;
use crate::pair::{Pair, Placed, VertexPair};
use arrayvec::ArrayVec;

/// Bits that a number has at most once it is on the exponent of all: a sum of four of them is two
/// bits longer, and products of two such sums are in [`Wide`].
const BITS_MAX: i32 = 96;

/// Numbers on one exponent.
pub(crate) struct CommonUnit(i32);

impl CommonUnit {
    /// The least exponent of the numbers' odd mantissas.
    #[inline]
    pub(crate) fn of<'a>(numbers: impl Iterator<Item = &'a f64>) -> Self {
        let mut least = i32::MAX;
        for number in numbers {
            let (mantissa, exponent) = split(*number);
            if mantissa != 0 {
                least = least.min(exponent);
            }
        }
        Self(if least == i32::MAX { 0 } else { least })
    }

    /// The exponent.
    pub(crate) fn exponent(&self) -> i32 {
        self.0
    }

    /// A number of those by its unit; none: it is too long.
    #[inline]
    pub(crate) fn integer(&self, number: f64) -> Option<i128> {
        let (mantissa, exponent) = split(number);
        if mantissa == 0 {
            return Some(0);
        }
        let shift = exponent - self.0;
        let bits = u64::BITS - mantissa.unsigned_abs().leading_zeros();
        (bits.cast_signed() + shift <= BITS_MAX).then(|| i128::from(mantissa) << shift)
    }
}

/// Which axis of its frame a box has along an axis of the world.
#[derive(Clone, Copy, Debug, Default)]
struct BoxAxis {
    axis: usize,
    is_turned: bool,
}

/// A body that is a box along the axes.
#[derive(Clone, Copy, Debug)]
struct AlignedBox<'a> {
    placed: &'a Placed<'a>,
    low: Vec3,
    high: Vec3,
    /// By axis of the world.
    facing: [BoxAxis; 3],
}

impl<'a> AlignedBox<'a> {
    #[inline]
    fn of(placed: &'a Placed<'a>) -> Option<Self> {
        let vertices = placed.body.vertices();
        let (low, high) = match vertices {
            [only] => (*only, *only),
            [low, .., high] if matches!(vertices.len(), 2 | 4 | 8) => (*low, *high),
            _ => return None,
        };
        // They are in order of x, then y, then z.
        let sides = [0, 1, 2].map(|axis| if low[axis] < high[axis] { 2 } else { 1 });
        if sides.iter().product::<usize>() != vertices.len() {
            return None;
        }
        let mut at = 0;
        for x in 0..sides[0] {
            for y in 0..sides[1] {
                for z in 0..sides[2] {
                    let of = |axis: usize, far: usize| [low[axis], high[axis]][far];
                    if vertices[at] != Vec3::new(of(0, x), of(1, y), of(2, z)) {
                        return None;
                    }
                    at += 1;
                }
            }
        }
        let is_at_origin = vertices.len() == 1 && low == Vec3::zeros();
        let facing = if is_at_origin { AXES } else { facing(placed)? };
        Some(Self { placed, low, high, facing })
    }

    /// What its two ends on an axis of the world are apart from its translation.
    #[inline]
    fn ends(&self, axis: usize) -> [f64; 2] {
        let BoxAxis { axis, is_turned } = self.facing[axis];
        if is_turned {
            [-self.high[axis], -self.low[axis]]
        } else {
            [self.low[axis], self.high[axis]]
        }
    }

    /// The vertex that is at the far end of those axes of the world.
    #[inline]
    fn vertex(&self, far: [bool; 3]) -> u32 {
        let mut is_far = [false; 3];
        for (facing, far) in self.facing.iter().zip(far) {
            is_far[facing.axis] = far != facing.is_turned;
        }
        let mut vertex = 0;
        for (axis, is_far) in is_far.into_iter().enumerate() {
            if self.low[axis] < self.high[axis] {
                vertex = 2 * vertex + u32::from(is_far);
            }
        }
        vertex
    }
}

/// The bits of 1.
const ONE: u64 = 1.0_f64.to_bits();

const AXES: [BoxAxis; 3] = [
    BoxAxis { axis: 0, is_turned: false },
    BoxAxis { axis: 1, is_turned: false },
    BoxAxis { axis: 2, is_turned: false },
];

/// The axes along those of the world, if the rotation is exactly one of the 24 that leave a cube as
/// it is.
#[inline]
fn facing(placed: &Placed<'_>) -> Option<[BoxAxis; 3]> {
    let rotation = &placed.pose.rotation;
    let mut facing = [BoxAxis::default(); 3];
    for (row, facing) in facing.iter_mut().enumerate() {
        let mut found = None;
        for axis in 0..3 {
            let entry = rotation[(row, axis)];
            if entry.abs().to_bits() == ONE && found.is_none() {
                found = Some(BoxAxis { axis, is_turned: entry < 0.0 });
            } else if entry != 0.0 {
                return None;
            }
        }
        *facing = found?;
    }
    let [x, y, z] = facing.map(|facing| facing.axis);
    (x != y && y != z && z != x).then_some(facing)
}

/// The M of two boxes along the axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DifferenceBox<'a> {
    p: AlignedBox<'a>,
    q: AlignedBox<'a>,
    /// By axis, in the unit.
    pub(crate) low: [i128; 3],
    /// By axis, in the unit.
    pub(crate) high: [i128; 3],
    /// The unit is two to this.
    pub(crate) exponent: i32,
}

impl<'a> DifferenceBox<'a> {
    /// None: one of them is no such box, or their numbers are too long.
    #[inline]
    pub(crate) fn of(pair: &'a Pair<'a>) -> Option<Self> {
        let (p, q) = (AlignedBox::of(&pair.p)?, AlignedBox::of(&pair.q)?);
        let ends = [0, 1, 2].map(|axis| (p.ends(axis), q.ends(axis)));
        let places = [&p.placed.pose.translation, &q.placed.pose.translation];
        let of_bodies = ends.iter().flat_map(|(of_p, of_q)| of_p.iter().chain(of_q));
        let scale = CommonUnit::of(of_bodies.chain(places[0].iter()).chain(places[1].iter()));
        let (mut low, mut high) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let (of_p, of_q) = ends[axis];
            let between = scale.integer(places[1][axis])? - scale.integer(places[0][axis])?;
            low[axis] = between + scale.integer(of_q[0])? - scale.integer(of_p[1])?;
            high[axis] = between + scale.integer(of_q[1])? - scale.integer(of_p[0])?;
        }
        Some(Self { p, q, low, high, exponent: scale.exponent() })
    }

    /// The pair of vertices whose difference is at the far end of those axes.
    #[inline]
    pub(crate) fn corner(&self, far: [bool; 3]) -> VertexPair {
        VertexPair { i: self.p.vertex(far.map(|far| !far)), j: self.q.vertex(far) }
    }

    /// The different ones of the corners at those ends.
    pub(crate) fn corners<const N: usize>(&self, far: &[[bool; 3]]) -> ArrayVec<VertexPair, N> {
        let mut pairs: ArrayVec<VertexPair, N> = ArrayVec::new();
        for far in far {
            let pair = self.corner(*far);
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs
    }

    /// How long M is on an axis.
    #[inline]
    pub(crate) fn length(&self, axis: usize) -> i128 {
        self.high[axis] - self.low[axis]
    }
}

/// The two axes beside one.
#[inline]
pub(crate) fn others(axis: usize) -> [usize; 2] {
    [(axis + 1) % 3, (axis + 2) % 3]
}

/// The three corners of one half of a face across an axis: of the face's near or far end, and of
/// the half in which the one of the other axes is farther on its way than the other.
#[inline]
pub(crate) fn half_face(axis: usize, is_far: bool, is_first_farther: bool) -> [[bool; 3]; 3] {
    let [first, second] = others(axis);
    let corner = |of_first: bool, of_second: bool| {
        let mut far = [false; 3];
        (far[axis], far[first], far[second]) = (is_far, of_first, of_second);
        far
    };
    [corner(false, false), corner(is_first_farther, !is_first_farther), corner(true, true)]
}

/// The unit vector along an axis, or against it.
#[inline]
pub(crate) fn along(axis: usize, is_against: bool) -> Vec3 {
    Vec3::ith(axis, if is_against { -1.0 } else { 1.0 })
}
