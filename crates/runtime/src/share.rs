//! How much one principal may have of what there is a limited number of.
//!
//! Three quarters of it are shared as memory is (see `memory.rs`): a principal may have [`SHARE`]
//! times what it leaves free of them. That alone gives five principals everything of a thousand
//! places (750, 187, 47, 12 and 3), for fractions of a place are no use to the sixth. So the last
//! quarter is kept for rations: a principal that holds less than a 256th of it, or nothing, gets so
//! much whatever the others hold. Of places a 128th more is kept, so that of a thousand there is
//! one for 256 principals: the first five have 558, 139, 35, 9 and 2 then, and 257 more one each.
//! Of 4 GiB for polytopes 256 principals have 4 MiB each.

/// A principal may hold so many times what is free.
pub const SHARE: u64 = 3;

/// The part that is kept for rations: one in so many.
const KEPT_PART: u64 = 4;

/// What is kept of places beside it: one in so many.
const MORE_PLACES: u64 = 128;

/// For so many principals there are rations at least, if there are as many places in the part.
const RATIONS: u64 = 256;

/// How many more places a principal may have that has `own` of those that are `taken`, of `limit`.
pub fn places(own: u64, taken: u64, limit: u64) -> u64 {
    // The last one may go beyond the share by a fraction: of one place all is beyond.
    let missing = missing(own, taken, limit, kept(limit) + limit / MORE_PLACES);
    missing.div_ceil(SHARE + 1).max(ration(own, taken, limit))
}

/// How many more bytes a principal may have that has `own` of those that are `taken`, of `limit`.
pub fn bytes(own: u64, taken: u64, limit: u64) -> u64 {
    // So many more make as many fewer that are free.
    let missing = missing(own, taken, limit, kept(limit));
    (missing / (SHARE + 1)).max(ration(own, taken, limit))
}

fn kept(limit: u64) -> u64 {
    limit.div_ceil(KEPT_PART)
}

/// By how much it holds less than its share of what is not kept.
fn missing(own: u64, taken: u64, limit: u64, kept: u64) -> u64 {
    let free = limit.saturating_sub(taken).saturating_sub(kept);
    free.saturating_mul(SHARE).saturating_sub(own)
}

fn ration(own: u64, taken: u64, limit: u64) -> u64 {
    let most = (kept(limit) / RATIONS).max(1);
    most.saturating_sub(own).min(limit.saturating_sub(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What principals get that come one after the other, each of which takes all that it may have.
    fn taken_by(principals: usize, limit: u64, most: fn(u64, u64, u64) -> u64) -> Vec<u64> {
        let mut taken = 0;
        let greedy = |_| {
            let mut own = 0;
            loop {
                let more = most(own, taken, limit).min(limit - taken);
                if more == 0 {
                    break own;
                }
                // Not one by one where there are thousands of millions.
                (own, taken) = (own + more, taken + more);
            }
        };
        (0..principals).map(greedy).collect()
    }

    #[test]
    fn of_a_thousand_places_two_hundred_and_fifty_six_addresses_get_some() {
        let got = taken_by(257, 1_000, places);
        assert_eq!(got[..6], [558, 139, 35, 9, 2, 1]);
        assert!(got[..256].iter().all(|got| *got > 0), "{got:?}");
    }

    #[test]
    fn there_is_a_place_for_a_quarter_of_as_many_addresses_as_there_are_places() {
        for limit in 1..200_u64 {
            let got = taken_by(usize::try_from(limit.div_ceil(4)).unwrap(), limit, places);
            assert!(got.iter().all(|got| *got > 0), "{limit}: {got:?}");
        }
    }

    #[test]
    fn two_hundred_and_fifty_six_addresses_get_a_ration_of_bytes() {
        for limit in [64 << 20, 256 << 20, 4 << 30_u64] {
            let got = taken_by(256, limit, bytes);
            let least = limit / 4 / 256;
            assert!(got.iter().all(|got| *got >= least), "{limit}: {got:?}");
            assert!(got[0] <= limit / 16 * 9 && got[0] > limit / 2, "{got:?}");
        }
    }

    #[test]
    fn nobody_gets_what_is_not_there() {
        for taken in [10, 11, u64::MAX] {
            assert_eq!((places(0, taken, 10), bytes(0, taken, 10)), (0, 0));
        }
        assert_eq!((places(0, 0, 0), bytes(0, 0, 0)), (0, 0));
        assert_eq!((places(0, 0, 1), places(1, 1, 1)), (1, 0));
        assert!(bytes(5, 5, u64::MAX) > 1 << 60);
    }
}
