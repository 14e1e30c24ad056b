//! Sine and cosine with proven enclosures, the same on every machine.
//!
//! The angle is a product `angle * t` of two f64 numbers, taken exactly: at a hundred turns the
//! rounding of that product alone would move a rod's tip by a thousand units in the last place.
//!
//! 1. The product as a sum of two f64 numbers (Dekker, "A floating-point technique for extending
//!    the available precision", 1971).
//! 2. Minus k times π/2, with π/2 in three pieces of 33 bits, so that each `k * piece` is exact for
//!    k < 2^20 (Cody and Waite, *Software Manual for the Elementary Functions*, 1980, §8).
//! 3. Taylor polynomials on |r| <= π/4 + 2^-20, whose remainders are below 2^-62 relative.

use super::double::{two_product, two_sum};
use super::interval::Interval;
use super::rounding::UNIT;

/// The leading 33 bits of π/2, the next 33, and the next 33.
pub(super) const HALF_PI: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5440_0000),
    f64::from_bits(0x3dd0_b461_1a60_0000),
    f64::from_bits(0x3ba3_198a_2e00_0000),
];
/// π/2 minus the three pieces is less than this (it is 8.48e-32).
const HALF_PI_REST: f64 = 8.5e-32;
/// Beyond this many quarter turns `k * piece` would not be exact; sines are then only in [-1, 1].
const QUARTERS_MAX: f64 = 1_048_575.0;
/// Up to this size the rounding of a product counts little: see [`RoundedTrig::of_product`].
const NEARBY: f64 = 4.0;
/// Below this size a product of two f64 numbers may lose bits to underflow.
const TINY: f64 = 1e-200;

/// What a rotation by an angle needs: enclosures of its sine, its cosine, and `1 - cosine`, which
/// is known to full relative precision also for small angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trig {
    /// sin
    pub sine: Interval,
    /// cos
    pub cosine: Interval,
    /// 1 - cos
    pub versine: Interval,
}

/// Sine and versine of an angle x as f64 numbers: the sine within `8u min(1, |x|)`, the versine
/// within `12u min(1, |x|)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundedTrig {
    /// sin
    pub sine: f64,
    /// 1 - cos
    pub versine: f64,
}

impl RoundedTrig {
    /// The functions of the angle 0, exactly.
    pub const ZERO: Self = Self { sine: 0.0, versine: 0.0 };

    /// The functions of the exact product `angle * t`; `None` where [`Trig::of_product`] has none
    /// either.
    ///
    /// The bounds: [`series`] errs by less than 4u relative. Without a quarter turn only the
    /// product adds to that, by u relative, and both functions are at most |x|. With one, x > 0.7,
    /// and the angle that is left errs by 3.5u: 2u of a product of at most 4, and three differences
    /// below 1, of products that are exact. A sine is then off by `0.71 * 4u + 3.5u`, a cosine by
    /// `0.3 * 4u + 0.71 * 3.5u` and its own rounding, and a versine by a rounding more. Farther
    /// angles are [`reduce`]d within u/100.
    #[inline(always)]
    pub fn of_product(angle: f64, t: f64) -> Option<Self> {
        if angle.abs() <= 0.0 || t.abs() <= 0.0 {
            return Some(Self::ZERO);
        }
        let x = angle * t;
        if x.abs() > NEARBY {
            return Self::of_distant(angle, t);
        }
        // A NaN has no nearest whole number.
        let quarters = nearest_whole(x * std::f64::consts::FRAC_2_PI)?;
        let [a, b, c] = HALF_PI.map(|piece| quarters * piece);
        let r = ((x - a) - b) - c;
        let Series { z, sine, versine } = series(r);
        Some(Self { sine: r + sine, versine: 0.5 * z + versine }.turned(quarters))
    }

    /// The functions of a product that is too large for the series above.
    #[inline(never)]
    fn of_distant(angle: f64, t: f64) -> Option<Self> {
        let (high, low) = two_product(angle, t);
        if !high.is_finite() || !low.is_finite() {
            return None;
        }
        let quarters = nearest_whole(high * std::f64::consts::FRAC_2_PI)?;
        let (r, rest, _) = reduce(high, low, quarters);
        let (sine, versine) = rounded_kernel(r, rest);
        Some(Self { sine, versine }.turned(quarters))
    }

    /// Adds `quarters` quarter turns: without a jump, since which quarter it is cannot be foretold.
    #[inline(always)]
    fn turned(self, quarters: f64) -> Self {
        let Self { sine, versine } = self;
        let cosine = 1.0 - versine;
        let turn = of_a_turn(quarters);
        let (across, along) = if turn & 1 == 1 { (cosine, -sine) } else { (sine, cosine) };
        let (across, along) = if turn & 2 == 2 { (-across, -along) } else { (across, along) };
        Self { sine: across, versine: if turn == 0 { versine } else { 1.0 - along } }
    }
}

impl Trig {
    /// The functions of the angle 0, exactly.
    pub const ZERO: Self =
        Self { sine: Interval::ZERO, cosine: Interval::ONE, versine: Interval::ZERO };

    /// Nothing but what holds for every angle.
    pub const ANY: Self =
        Self { sine: UNIT_BALL, cosine: UNIT_BALL, versine: Interval::ZERO_TO_TWO };

    /// The functions of the exact product `angle * t`, each a few units in the last place wide.
    pub fn of_product(angle: f64, t: f64) -> Self {
        if angle.abs() <= 0.0 || t.abs() <= 0.0 {
            return Self::ZERO;
        }
        let (high, low) = two_product(angle, t);
        if !high.is_finite() || !low.is_finite() {
            return Self::ANY;
        }
        if high.abs() < TINY {
            return Self::of_tiny(angle, t);
        }
        let Some(quarters) = nearest_whole(high * std::f64::consts::FRAC_2_PI) else {
            return Self::ANY;
        };
        let (r, rest, error) = reduce(high, low, quarters);
        Self::turned(quarters, &kernel(r, rest, error))
    }

    /// Enclosures of the functions over every angle in the interval.
    pub fn over(angles: Interval) -> Self {
        if angles.high() - angles.low() > 6.2 || angles.magnitude() > 1e6 {
            return Self::ANY;
        }
        let ends = (Self::of_product(angles.low(), 1.0), Self::of_product(angles.high(), 1.0));
        // Between the ends sine and cosine are monotonic but for the multiples of π/2 in between,
        // where one of them is 1 or -1. A multiple that rounding might have moved is counted in.
        let first = (angles.low() * std::f64::consts::FRAC_2_PI - 1e-6).ceil();
        let last = (angles.high() * std::f64::consts::FRAC_2_PI + 1e-6).floor();
        let mut sine = ends.0.sine.hull(ends.1.sine);
        let mut cosine = ends.0.cosine.hull(ends.1.cosine);
        let mut versine = ends.0.versine.hull(ends.1.versine);
        let mut quarter = first;
        while quarter <= last {
            let point = Interval::point;
            match quarter.rem_euclid(4.0) {
                q if q < 0.5 => {
                    cosine = cosine.hull(Interval::ONE);
                    versine = versine.hull(Interval::ZERO);
                }
                q if q < 1.5 => sine = sine.hull(Interval::ONE),
                q if q < 2.5 => {
                    cosine = cosine.hull(point(-1.0));
                    versine = versine.hull(point(2.0));
                }
                _ => sine = sine.hull(point(-1.0)),
            }
            quarter += 1.0;
        }
        Self { sine, cosine, versine }
    }

    /// For |angle t| < [`TINY`]: sin x is within x³ of x, and 1 - cos x within [0, x²].
    fn of_tiny(angle: f64, t: f64) -> Self {
        let x = Interval::point(angle) * Interval::point(t);
        let size = x.magnitude();
        let sine = x + Interval::around(0.0, size * 1e-300);
        let versine = Interval::new(0.0, (size * size).next_up());
        Self { sine, cosine: Interval::ONE - versine, versine }
    }

    /// Adds `quarters` quarter turns.
    fn turned(quarters: f64, r: &Self) -> Self {
        let (sine, cosine) = match of_a_turn(quarters) {
            0 => return *r,
            1 => (r.cosine, -r.sine),
            2 => (-r.sine, -r.cosine),
            _ => (-r.cosine, r.sine),
        };
        Self { sine, cosine, versine: Interval::ONE - cosine }
    }
}

/// The whole number nearest x, of two the even one; `None` beyond [`QUARTERS_MAX`]. Added to a
/// number of 53 bits, x keeps no bit behind the point: two instructions, where `round_ties_even` is
/// a call on processors without one for it.
#[inline(always)]
fn nearest_whole(x: f64) -> Option<f64> {
    const NO_FRACTION: f64 = 1.5 * (1u64 << 52) as f64;
    let whole = (x + NO_FRACTION) - NO_FRACTION;
    // A NaN is beyond.
    let is_within = x.abs() <= 2.0 * QUARTERS_MAX && whole.abs() <= QUARTERS_MAX;
    is_within.then_some(whole)
}

/// A whole number of quarter turns, modulo a full one.
#[inline(always)]
fn of_a_turn(quarters: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most 21 bits")]
    let quarters = quarters as i32;
    u8::try_from(quarters & 3).expect("two bits")
}

const UNIT_BALL: Interval = Interval::UNIT_BALL;

/// `high + low - quarters π/2` as `(r, rest, error)`: within `error` of `r + rest`, |rest| <= u
/// |r|.
///
/// Every `two_sum` is exact. The four small parts are each at most u times a partial sum of size
/// at most 2 in the last steps, so adding them up in f64 errs by less than 8u² < 2^-102; π/2's rest
/// adds `quarters * 8.5e-32`.
#[inline(always)]
fn reduce(high: f64, low: f64, quarters: f64) -> (f64, f64, f64) {
    if quarters.abs() < 0.5 {
        return (high, low, 0.0);
    }
    let (a, e0) = two_sum(high, -(quarters * HALF_PI[0]));
    let (b, e1) = two_sum(a, -(quarters * HALF_PI[1]));
    let (c, e2) = two_sum(b, -(quarters * HALF_PI[2]));
    let (d, e3) = two_sum(c, low);
    let (r, rest) = two_sum(d, (e0 + e1) + (e2 + e3));
    (r, rest, quarters.abs() * (2.0 * HALF_PI_REST) + 16.0 * UNIT * UNIT)
}

/// Sine, cosine and versine of `r + rest` with |r| <= π/4 + 2^-20, |rest| <= u |r|, widened by the
/// absolute error of the argument.
///
/// With z = r², sin r = r + r z P(z) and 1 - cos r = z/2 + z² Q(z). |z P| <= 0.11 and |z Q| <= 0.06
/// here, P and Q err by less than 5u relative (see [`polynomial`]), z by u; so the second terms err
/// by less than 0.11 * 8u and 0.06/0.5 * 9u relative to the whole, the linear correction for `rest`
/// by u² and its own rounding, the remainders by 2^-62, and the last sum by u: below 3u relative in
/// both. 4u is claimed.
fn kernel(r: f64, rest: f64, error: f64) -> Trig {
    let (sine, versine) = rounded_kernel(r, rest);
    let sine = widened(sine, error);
    let versine = widened(versine, error).intersect(Interval::ZERO_TO_TWO);
    Trig { sine, cosine: (Interval::ONE - versine).intersect(UNIT_BALL), versine }
}

/// Sine and versine of `r + rest`, without the error of the argument: see [`kernel`].
#[inline(always)]
fn rounded_kernel(r: f64, rest: f64) -> (f64, f64) {
    let Series { z, sine, versine } = series(r);
    // d sin = cos r rest ~ (1 - z/2) rest;  d(1 - cos) = sin r rest ~ r (1 - z/6) rest
    let sine = r + (sine + rest * (1.0 - 0.5 * z));
    let versine = 0.5 * z + (versine + r * (1.0 - z / 6.0) * rest);
    (sine, versine)
}

/// With z = r², what the sine is more than r and the versine more than z/2.
pub(super) struct Series {
    pub(super) z: f64,
    pub(super) sine: f64,
    pub(super) versine: f64,
}

/// See [`kernel`].
#[inline(always)]
pub(super) fn series(r: f64) -> Series {
    let z = r * r;
    Series { z, sine: r * z * polynomial(z, &SINE), versine: z * z * polynomial(z, &VERSINE) }
}

fn widened(value: f64, error: f64) -> Interval {
    Interval::around(value, value.abs() * (4.0 * UNIT) + error)
}

/// `c₀ + c₁ z + ... + c₇ z⁷`, in pairs, then pairs of pairs, so that no step waits for all before
/// it (Estrin, "Organization of computer systems: the fixed plus variable structure computer",
/// 1960).
///
/// The first coefficient rounds by u, and so do the three sums above it; the second term counts a
/// thirtieth of it, errs by u for its coefficient, z and the product each, and each further one
/// counts a fortieth of the one before: less than 5u in all, relative to the whole.
#[inline(always)]
fn polynomial(z: f64, c: &[f64; 8]) -> f64 {
    let square = z * z;
    let low = (c[0] + c[1] * z) + (c[2] + c[3] * z) * square;
    let high = (c[4] + c[5] * z) + (c[6] + c[7] * z) * square;
    low + high * (square * square)
}

/// (-1)^k / (2k + 1)!, k = 1..8: the remainder is below r^18 / 19! < 2^-62 relative.
const SINE: [f64; 8] = alternating_reciprocal_factorials::<8>(3, -1.0);
/// (-1)^k / (2k)!, k = 2..9: the remainder is below 2 r^18 / 20! < 2^-65 relative.
const VERSINE: [f64; 8] = alternating_reciprocal_factorials::<8>(4, -1.0);

/// sign / first!, -sign / (first + 2)!, ... Factorials up to 22! are products of small numbers and
/// exact in f64 (22! = 2^19 * odd, and the odd part has 51 bits).
const fn alternating_reciprocal_factorials<const N: usize>(first: u32, sign: f64) -> [f64; N] {
    let mut all = [0.0; N];
    let mut factorial = 1.0;
    let mut up_to = 1;
    let mut sign = sign;
    let mut i = 0;
    while i < N {
        while up_to < first + 2 * (i as u32) {
            up_to += 1;
            factorial *= up_to as f64;
        }
        all[i] = sign / factorial;
        sign = -sign;
        i += 1;
    }
    all
}

/// `atan2(y, x)` for y, x >= 0, not both zero: within a few units in the last place of the angle,
/// and the same on every machine. By this recipe, each operation rounded to nearest:
///
/// - if y <= x, `a = arc(y / x)`, else `a = 1.5707963267948966 - arc(x / y)`;
/// - `arc(s)`: three times `s = s / (1 + sqrt(1 + s * s))`, which halves the angle; then with
///   `z = s * s` the series `1 - z/3 + z²/5 - ... + z^8/17` by Horner from the last term, each
///   coefficient `±1/n` rounded; the result is `8 * (s * series)`.
pub fn quarter_angle(y: f64, x: f64) -> f64 {
    if y <= x { arc(y / x) } else { std::f64::consts::FRAC_PI_2 - arc(x / y) }
}

/// See [`quarter_angle`]: the arc tangent of a number in [0, 1].
fn arc(mut s: f64) -> f64 {
    for _ in 0..3 {
        s = s / (1.0 + (1.0 + s * s).sqrt());
    }
    let z = s * s;
    let mut series = 1.0 / 17.0;
    for n in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = 1.0 / n - z * series;
    }
    8.0 * (s * series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::dyadic::Dyadic;
    use dashu_int::IBig;

    /// sin and cos of an exact dyadic angle as multiples of 2^-BITS, by the Taylor series in
    /// integers, with the angle halved 40 times first and doubled back: an independent oracle.
    const BITS: i64 = 320;

    fn fixed(x: &Dyadic) -> IBig {
        let shift = x.exponent() + BITS;
        if shift >= 0 {
            x.mantissa() << usize::try_from(shift).expect("not negative")
        } else {
            x.mantissa() >> usize::try_from(-shift).expect("positive")
        }
    }

    fn oracle(angle: f64, t: f64) -> (IBig, IBig) {
        const HALVINGS: usize = 40;
        let one = IBig::from(1) << usize::try_from(BITS).expect("positive");
        let scale = usize::try_from(BITS).expect("positive");
        let x = fixed(&(&Dyadic::from(angle) * &Dyadic::from(t))) >> HALVINGS;
        let mut term = one.clone();
        let (mut sine, mut cosine) = (IBig::ZERO, IBig::ZERO);
        for n in 0..24 {
            let signed = if n % 4 < 2 { term.clone() } else { -term.clone() };
            if n % 2 == 0 {
                cosine += signed
            } else {
                sine += signed
            }
            term = ((&term * &x) >> scale) / IBig::from(n + 1);
        }
        for _ in 0..HALVINGS {
            let s = (&sine * &cosine) >> (scale - 1);
            let c = ((&cosine * &cosine) >> (scale - 1)) - &one;
            (sine, cosine) = (s, c);
        }
        (sine, cosine)
    }

    fn check(name: &str, got: Interval, exact: &IBig, ulps: f64) {
        // The oracle errs by less than 2^-200; the gap of any f64 to it is far larger unless equal.
        let slack = IBig::from(1) << 100;
        let (low, high) = (fixed(&Dyadic::from(got.low())), fixed(&Dyadic::from(got.high())));
        assert!(low <= exact + &slack && exact - &slack <= high, "{name}: {got:?} misses");
        let width = got.high() - got.low();
        let allowed = ulps * UNIT * got.magnitude() + 1e-22;
        assert!(width <= allowed, "{name}: {got:?} is {width} wide");
    }

    fn angles() -> Vec<(f64, f64)> {
        let mut all = vec![(1.0, 1.0), (std::f64::consts::PI, 1.0), (628.0, 0.7), (1e4, 0.999)];
        // Around where products begin to be taken exactly.
        all.extend([(NEARBY, 1.0), (-NEARBY, 1.0), (NEARBY.next_up(), 1.0), (NEARBY, 1.0 - UNIT)]);
        let mut x: u64 = 0x9e37_79b9_7f4a_7c15;
        for i in 0..2000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unit = (x >> 11) as f64 / (1u64 << 53) as f64;
            let size = [1e4, 700.0, 7.0, 1.0, 1e-3, 1e-9][i % 6];
            all.push(((unit - 0.5) * 2.0 * size, ((x >> 5) % 1009) as f64 / 1009.0));
            // Next to a multiple of π/2, where cancellation is worst.
            let k = (i * 3) as f64;
            all.push((k * std::f64::consts::FRAC_PI_2, 1.0));
            all.push(((k + 0.5) * std::f64::consts::FRAC_PI_2, 1.0));
        }
        all
    }

    #[test]
    fn sine_cosine_and_versine_are_enclosed_within_a_few_ulp_up_to_thousands_of_turns() {
        for (angle, t) in angles() {
            let (sine, cosine) = oracle(angle, t);
            let one = IBig::from(1) << usize::try_from(BITS).expect("positive");
            let got = Trig::of_product(angle, t);
            let name = format!("{angle} * {t}");
            check(&format!("sin {name}"), got.sine, &sine, 14.0);
            check(&format!("cos {name}"), got.cosine, &cosine, 14.0);
            check(&format!("vers {name}"), got.versine, &(one - cosine), 40.0);
        }
    }

    #[test]
    fn rounded_sine_and_versine_are_within_their_error_of_the_enclosures() {
        for (angle, t) in angles() {
            let (rounded, enclosed) =
                (RoundedTrig::of_product(angle, t).unwrap(), Trig::of_product(angle, t));
            let size = (angle * t).abs().min(1.0);
            let off = |x: f64, i: Interval| (x - i.high()).max(i.low() - x);
            assert!(off(rounded.sine, enclosed.sine) <= 8.0 * UNIT * size, "{angle} {t}");
            assert!(off(rounded.versine, enclosed.versine) <= 12.0 * UNIT * size, "{angle} {t}");
        }
        assert_eq!(RoundedTrig::of_product(f64::MAX, 1.0), None);
        assert_eq!(
            RoundedTrig::of_product(1e-250, 0.5).unwrap().sine.to_bits(),
            5e-251f64.to_bits()
        );
    }

    #[test]
    fn an_interval_of_angles_is_enclosed_with_its_turning_points() {
        let pi = std::f64::consts::PI;
        for (low, high, sine, cosine) in [
            (0.1, 0.2, (0.1f64.sin(), 0.2f64.sin()), (0.2f64.cos(), 0.1f64.cos())),
            (1.0, 2.0, (1f64.sin(), 1.0), (2f64.cos(), 1f64.cos())),
            (3.0, 3.3, (3.3f64.sin(), 3f64.sin()), (-1.0, 3.3f64.cos())),
            (-0.1, 0.2, ((-0.1f64).sin(), 0.2f64.sin()), (0.2f64.cos(), 1.0)),
            (
                4.0 * pi - 0.5,
                4.0 * pi + 0.25,
                ((-0.5f64).sin(), 0.25f64.sin()),
                (0.5f64.cos(), 1.0),
            ),
            (0.0, 6.1, (-1.0, 1.0), (-1.0, 1.0)),
        ] {
            let got = Trig::over(Interval::new(low, high));
            for (interval, (a, b)) in [(got.sine, sine), (got.cosine, cosine)] {
                assert!((interval.low() - a).abs() < 1e-14, "{interval:?} {a}");
                assert!((interval.high() - b).abs() < 1e-14, "{interval:?} {b}");
            }
            assert!(got.versine.low() >= 0.0 && got.versine.high() <= 2.0);
        }
    }

    #[test]
    fn tiny_and_enormous_angles_are_still_enclosed() {
        let tiny = Trig::of_product(1e-160, 1e-160);
        assert!(tiny.sine.high() > 0.0 && tiny.sine.magnitude() < 1e-319);
        assert!(tiny.cosine.holds(1.0) && tiny.versine.high() < 1e-300);
        let small = Trig::of_product(1e-250, 0.5);
        assert!(small.sine.holds(5e-251) && small.sine.radius() < 1e-265);
        assert_eq!(Trig::of_product(1e9, 1.0), Trig::ANY);
        assert_eq!(Trig::of_product(f64::MAX, 1.0), Trig::ANY);
        assert_eq!(Trig::of_product(0.0, 0.5), Trig::ZERO);
    }

    #[test]
    fn the_portable_arc_tangent_agrees_with_the_libraries() {
        for i in 0..=1000 {
            let (y, x) = (f64::from(i) / 1000.0, f64::from(1000 - i) / 1000.0);
            let difference = (quarter_angle(y, x) - y.atan2(x)).abs();
            assert!(difference <= 1e-15, "atan2({y}, {x}) is off by {difference}");
        }
        assert_eq!(quarter_angle(1.0, 0.0).to_bits(), std::f64::consts::FRAC_PI_2.to_bits());
        assert_eq!(quarter_angle(0.0, 1.0).to_bits(), 0.0f64.to_bits());
    }
}
