//! Sine and versine of several angles at a time: no branch, so that the compiler makes vector
//! instructions of the loops.
//!
//! The recipe is that of [`super::trig`], each operation rounded to nearest:
//!
//! 1. `k` is the whole number nearest `x * 0.6366197723675814`, of two the even one (x plus
//!    1.5 · 2^52 keeps no bit behind the point).
//! 2. `r = ((x - k a) - k b) - k c` with π/2 = a + b + c in pieces of 33 bits.
//! 3. `z = r * r`, `s = r + r * z * P(z)` and `v = 0.5 * z + z * z * Q(z)` with the Taylor
//!    polynomials of eight coefficients, by Estrin's scheme.
//! 4. Of `(s, 1 - v)` come sine and cosine by the quarter `k mod 4`. The versine is v where the
//!    quarter is 0, else one minus the cosine.

use super::trig::{HALF_PI, Series, series};

/// Angles beyond this, radians, are refused by whoever asks: up to here every product `k a` is
/// exact, and the sine is right within [`ERROR`].
pub const ANGLE_MAX: f64 = 1e6;

/// Sine and versine are right within this, absolutely.
///
/// The products are exact for |k| < 2^20. The first difference is exact (Sterbenz) or, for k = 0,
/// the angle itself; the two others round by u each of numbers below 1, and the pieces of π/2 leave
/// k · 8.5e-32 < u. So r errs by 3u, the polynomials by 4u and the last differences by u.
pub const ERROR: f64 = 8.0 * super::rounding::UNIT;

/// Sines and versines (one minus the cosine) of these angles, radians, at most [`ANGLE_MAX`].
///
/// ```
/// use clearance_geometry::number::trig_lanes::sine_and_versine;
///
/// let [sine, versine] = sine_and_versine(&[0.0, std::f64::consts::PI]);
/// assert!(sine[0] == 0.0 && versine[0] == 0.0 && versine[1] == 2.0 && sine[1].abs() < 1e-15);
/// ```
#[inline(always)]
pub fn sine_and_versine<const N: usize>(angles: &[f64; N]) -> [[f64; N]; 2] {
    const NO_FRACTION: f64 = 1.5 * (1u64 << 52) as f64;
    let (mut sines, mut versines) = ([0.0; N], [0.0; N]);
    for lane in 0..N {
        let x = angles[lane];
        let shifted = x * std::f64::consts::FRAC_2_PI + NO_FRACTION;
        let whole = shifted - NO_FRACTION;
        let quarter = shifted.to_bits();
        let [a, b, c] = HALF_PI.map(|piece| whole * piece);
        let Series { z, sine, versine } = series(((x - a) - b) - c);
        let s = ((x - a) - b) - c + sine;
        let v = 0.5 * z + versine;
        let odd = 0u64.wrapping_sub(quarter & 1);
        let turned = 0u64.wrapping_sub(quarter >> 1 & 1) & (1 << 63);
        let pick = |even: f64, other: f64| (even.to_bits() & !odd) | (other.to_bits() & odd);
        let across = f64::from_bits(pick(s, 1.0 - v) ^ turned);
        let along = f64::from_bits(pick(1.0 - v, -s) ^ turned);
        let first = 0u64.wrapping_sub(u64::from(quarter & 3 == 0));
        let versine = (v.to_bits() & first) | ((1.0 - along).to_bits() & !first);
        sines[lane] = across;
        versines[lane] = f64::from_bits(versine);
    }
    [sines, versines]
}

#[cfg(test)]
mod tests {
    use super::super::trig::{RoundedTrig, Trig};
    use super::*;

    #[test]
    fn lanes_are_those_of_one_angle_nearby_and_within_the_error_of_the_enclosure_far_away() {
        let mut near = 0;
        for step in -40_000..=40_000 {
            for scale in [1e-4, 0.37e-3, 7.3, 24.9] {
                let x = f64::from(step) * scale;
                let [sine, versine] = sine_and_versine(&[x]).map(|lanes| lanes[0]);
                let rounded = RoundedTrig::of_product(x, 1.0).unwrap();
                if x.abs() <= 4.0 {
                    near += 1;
                    let same = [rounded.sine, rounded.versine].map(f64::to_bits);
                    assert_eq!([sine, versine].map(|value| (value + 0.0).to_bits()), same, "{x}");
                }
                let exact = Trig::of_product(x, 1.0);
                let off = |value: f64, within: super::super::interval::Interval| {
                    (value - within.low()).abs().max((value - within.high()).abs())
                };
                assert!(off(sine, exact.sine) <= ERROR + 4e-16, "{x}");
                assert!(off(versine, exact.versine) <= ERROR + 8e-16, "{x}");
            }
        }
        assert!(near > 80_000);
    }

    #[test]
    fn the_number_of_lanes_changes_no_bit() {
        let angles = [0.3, -2.0, 700.25, -9e5, 1.625, -0.0, 3.0, 1e-300];
        let all = sine_and_versine(&angles);
        for (lane, angle) in angles.iter().enumerate() {
            let one = sine_and_versine(&[*angle]);
            assert_eq!(
                [all[0][lane].to_bits(), all[1][lane].to_bits()],
                one.map(|l| l[0].to_bits())
            );
        }
    }
}
