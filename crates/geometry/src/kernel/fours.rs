//! The lanes of a ring four at a time, where the processor has registers for that (AVX2).
//!
//! A compiler turns loops over eight lanes that end in one number into instructions for two lanes
//! and shuffles between them: four hundred for the first challengers in two bodies. Where the
//! registers are named, as here, these take half as many, and two thirds of the time. Every
//! operation is that of the loops, in their order, so the outcome is the same to the last bit. It
//! pays only in a query that is compiled for AVX2 ([`crate::processor`]): elsewhere
//! every operation is a call.

use fearless_simd::{Avx2, Simd as _, f64x4, prelude::*, u32x8, u64x4};

use super::challenger::{LANE, LEAST_LEAD};
use super::{Challenger, Ring, along, largest_of_four};
use crate::Vec3;

/// What the neighbours of a vertex are compared with, in every lane.
struct LaneStart<'a> {
    avx2: Avx2,
    /// The direction, and how it turns.
    along: [&'a Vec3; 2],
    /// The vertex's own values along the two.
    here: [f64x4<Avx2>; 2],
    /// The neighbour that does not count.
    except: u64x4<Avx2>,
}

impl Ring {
    /// [`Ring::challenger`] to the last bit.
    #[inline(always)]
    pub(super) fn challenger_in_fours(
        &self,
        avx2: Avx2,
        [g, turn]: [&Vec3; 2],
        here: &Vec3,
        except: u32,
    ) -> Challenger {
        let here = [along(g, here), along(turn, here)].map(|value| f64x4::splat(avx2, value));
        let (low, high) = avx2.widen_u32x8(u32x8::from_slice(avx2, &self.names));
        let except = u64x4::splat(avx2, u64::from(except));
        let from = LaneStart { avx2, along: [g, turn], here, except };
        let low = self.four_inverse_times(&from, low, 0);
        let high = self.four_inverse_times(&from, high, 4);
        let most: [f64; 4] = low.simd_gt(high).select(low, high).into();
        self.challenger_of(largest_of_four(most))
    }

    /// The inverse times of four neighbours from this lane on; the last bits hold the number of the
    /// lane.
    #[inline(always)]
    fn four_inverse_times(
        &self,
        from: &LaneStart<'_>,
        names: u64x4<Avx2>,
        lane: usize,
    ) -> f64x4<Avx2> {
        let LaneStart { avx2, along: [g, turn], here: [value, gain], except } = *from;
        let least = f64x4::splat(avx2, LEAST_LEAD);
        let lead = value - self.four_values(avx2, g, lane);
        let lead = lead.simd_gt(least).select(lead, least);
        let inverse_time = (self.four_values(avx2, turn, lane) - gain) / lead;
        let inverse_time = names.simd_eq(except).select(f64x4::splat(avx2, -1.0), inverse_time);
        let bits: u64x4<Avx2> = inverse_time.bitcast();
        let first = lane as u64;
        let lanes = u64x4::simd_from(avx2, [first, first + 1, first + 2, first + 3]);
        ((bits & u64x4::splat(avx2, !LANE)) | lanes).bitcast()
    }

    /// Like [`Self::values`], of the lanes from this one on.
    #[inline(always)]
    fn four_values(&self, avx2: Avx2, g: &Vec3, lane: usize) -> f64x4<Avx2> {
        let x = f64x4::splat(avx2, g.x) * f64x4::from_slice(avx2, &self.x[lane..lane + 4]);
        let y = f64x4::splat(avx2, g.y) * f64x4::from_slice(avx2, &self.y[lane..lane + 4]);
        let z = f64x4::splat(avx2, g.z) * f64x4::from_slice(avx2, &self.z[lane..lane + 4]);
        (x + y) + z
    }
}
