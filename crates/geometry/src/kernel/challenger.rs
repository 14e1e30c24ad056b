//! The vertex that is first to overtake a supporting vertex when the direction turns.

use super::{LANES, Ring, along, larger, largest};
use crate::Vec3;
use crate::number::binary::power_of_two;
#[cfg(target_arch = "x86_64")]
use crate::processor;

/// The bits of a lane's number.
pub(super) const LANE: u64 = LANES as u64 - 1;

/// The vertex that is first to be as far as the current support when the direction turns from `g`
/// to `g + t turn`, with t growing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Challenger {
    /// Its number; of no meaning when no vertex overtakes the support.
    pub vertex: u32,
    /// One over the t at which the two are level, but for the last bits, which hold the number of a
    /// lane; see [`Challenger::exists`].
    pub inverse_time: f64,
}

impl Challenger {
    /// Whether any vertex overtakes the support. One that does has a positive, normal inverse time.
    /// The number of the lane in the last bits can make a subnormal number of a value that is zero,
    /// so anything up to the smallest normal number means: no challenger.
    #[inline(always)]
    pub fn exists(&self) -> bool {
        self.inverse_time > f64::MIN_POSITIVE
    }
}

/// A vertex that is level with the support or ahead of it counts as behind by this much: far less
/// than any real lead, and enough for an inverse time not to overflow.
pub(super) const LEAST_LEAD: f64 = power_of_two(-700);

impl Ring {
    /// The first challenger, other than `except`, of a vertex that is `here`, when the direction
    /// turns from `g` to `g + t turn`.
    ///
    /// The last bits of an inverse time are the number of its lane, so the largest one says where
    /// it was found.
    #[inline(always)]
    pub(super) fn challenger(&self, turning: [&Vec3; 2], here: &Vec3, except: u32) -> Challenger {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = processor::avx2() {
            return self.challenger_in_fours(avx2, turning, here, except);
        }
        self.challenger_lane_by_lane(turning, here, except)
    }

    /// The challenger of the lane that the last bits of the inverse time name.
    #[inline(always)]
    pub(super) fn challenger_of(&self, inverse_time: f64) -> Challenger {
        Challenger { vertex: self.names[(inverse_time.to_bits() & LANE) as usize], inverse_time }
    }

    #[inline(always)]
    pub(super) fn challenger_lane_by_lane(
        &self,
        [g, turn]: [&Vec3; 2],
        here: &Vec3,
        except: u32,
    ) -> Challenger {
        let (value, gain) = (along(g, here), along(turn, here));
        let (values, gains) = (self.values(g), self.values(turn));
        let mut inverse_times = [0.0; LANES];
        for (lane, inverse_time) in inverse_times.iter_mut().enumerate() {
            let lead = larger(value - values[lane], LEAST_LEAD);
            *inverse_time = (gains[lane] - gain) / lead;
        }
        for (inverse_time, name) in inverse_times.iter_mut().zip(&self.names) {
            *inverse_time = if *name == except { -1.0 } else { *inverse_time };
        }
        for (inverse_time, lane) in inverse_times.iter_mut().zip(0..) {
            *inverse_time = f64::from_bits((inverse_time.to_bits() & !LANE) | lane);
        }
        self.challenger_of(largest(&inverse_times))
    }
}

/// The first challenger, other than `except`, of `vertex`, which is in range, among its neighbours.
#[inline(always)]
pub fn first_challenger(
    turning: [&Vec3; 2],
    rings: &[Ring],
    vertex: u32,
    except: u32,
) -> Challenger {
    let ring = &rings[vertex as usize];
    let first = ring.challenger(turning, &ring.here, except);
    if ring.next == 0 {
        return first;
    }
    // By value, so that nothing has to be in memory where there are no more.
    first_of_more(turning.map(|direction| *direction), rings, ring.next, first, except)
}

/// The first challenger where the neighbours take more than one ring.
#[inline(never)]
fn first_of_more(
    turning: [Vec3; 2],
    rings: &[Ring],
    next: u32,
    first: Challenger,
    except: u32,
) -> Challenger {
    let mut best = first;
    let mut next = next;
    while next != 0 {
        let ring = &rings[next as usize];
        let challenger = ring.challenger_lane_by_lane(turning.each_ref(), &ring.here, except);
        best = if challenger.inverse_time > best.inverse_time { challenger } else { best };
        next = ring.next;
    }
    best
}

/// The first challenger, other than `except`, of a vertex that is `here` among all points of a body
/// of few vertices.
#[inline(always)]
pub fn first_challenger_of_few(
    turning: [&Vec3; 2],
    all: &Ring,
    here: &Vec3,
    except: u32,
) -> Challenger {
    all.challenger(turning, here, except)
}
