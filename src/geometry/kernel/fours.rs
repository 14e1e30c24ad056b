//! The lanes of a ring four at a time, where the processor has registers for that (AVX2).
//!
//! Of loops over eight lanes that end in one number a compiler makes instructions for two lanes,
//! and shuffles between them: four hundred for the first rivals in two bodies, which take half as
//! many, and two thirds of the time, where the registers are named. Every operation is that of the
//! loops, in their order, so the outcome is the same to the last bit. Worth it in a query that is
//! compiled for AVX2 only ([`processor`](super::processor)): elsewhere every operation is a call.

use fearless_simd::{Avx2, Simd as _, f64x4, prelude::*, u32x8, u64x4};

use super::{LANE, LEAST_LEAD, Ring, Rival, along, largest_of_four};
use crate::geometry::Vec3;

impl Ring {
    /// [`Ring::rival`] to the last bit.
    #[inline(always)]
    pub(super) fn rival_in_fours(
        &self,
        avx2: Avx2,
        [g, turn]: [&Vec3; 2],
        here: &Vec3,
        except: u32,
    ) -> Rival {
        let here = [along(g, here), along(turn, here)].map(|value| f64x4::splat(avx2, value));
        let (low, high) = avx2.widen_u32x8(u32x8::from_slice(avx2, &self.names));
        let except = u64x4::splat(avx2, u64::from(except));
        let low = self.four_hastes(avx2, [g, turn], here, [low, except], 0);
        let high = self.four_hastes(avx2, [g, turn], here, [high, except], 4);
        let most: [f64; 4] = low.simd_gt(high).select(low, high).into();
        self.rival_of(largest_of_four(most))
    }

    /// Of the lanes from this one on, with their numbers in the last bits.
    #[inline(always)]
    fn four_hastes(
        &self,
        avx2: Avx2,
        [g, turn]: [&Vec3; 2],
        [value, gain]: [f64x4<Avx2>; 2],
        [names, except]: [u64x4<Avx2>; 2],
        lane: usize,
    ) -> f64x4<Avx2> {
        let least = f64x4::splat(avx2, LEAST_LEAD);
        let lead = value - self.four_values(avx2, g, lane);
        let lead = lead.simd_gt(least).select(lead, least);
        let haste = (self.four_values(avx2, turn, lane) - gain) / lead;
        let haste = names.simd_eq(except).select(f64x4::splat(avx2, -1.0), haste);
        let bits: u64x4<Avx2> = haste.bitcast();
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
