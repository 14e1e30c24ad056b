//! Whether twice as much costs about twice as much, told beside whatever else a machine does.

use std::time::Duration;

/// Times are the least of so many: other things go on beside.
const ROUNDS: usize = 24;

/// Rounds that are looked at in any case.
const ROUNDS_MIN: usize = 3;

/// Shorter times tell nothing.
const TOLD_MIN: Duration = Duration::from_millis(2);

/// Asserts that what `work` takes for twice the size is less than three times what it takes for
/// `size`: a cost that grows with the square takes four times as much, however often one looks.
///
/// Both are looked at in turn, until the least times of each agree or the rounds are over.
///
/// # Panics
/// With `what` and both times, if twice as much takes three times as long in every round.
pub fn assert_doubles(what: &str, size: usize, work: impl Fn(usize) -> Duration) {
    let mut least = [Duration::MAX; 2];
    for round in 1..=ROUNDS {
        for (least, size) in least.iter_mut().zip([size, 2 * size]) {
            *least = (*least).min(work(size));
        }
        let [once, twice] = least;
        if round >= ROUNDS_MIN && twice < 3 * once.max(TOLD_MIN) {
            return;
        }
    }
    let [once, twice] = least;
    panic!("{what}: {once:?} for {size}, {twice:?} for twice as many");
}
