//! Processor time of questions.

use std::time::Duration;

use crate::case::{Asked, Row};

/// As long as a row is asked again, seconds; but each place once, and of slow ones at least three.
const ENOUGH: f64 = 0.06;
const TOO_LONG: f64 = 0.4;
const PLACES_MIN: usize = 3;

/// What one round of a row takes, and how many of its answers are other ones.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    pub microseconds: f64,
    pub wrong: usize,
    /// So many more are not exact enough.
    pub off: usize,
    pub asked: usize,
}

/// Processor time of this thread: other work on the machine does not count.
pub fn thread_time() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).expect("below a second"))
        .as_secs_f64()
}

/// Whether an answer is another one than the right one, and whether it is the same but off by more
/// than a tenth of a millimetre or a thousandth of the motion.
pub fn judged(asked: Asked, right: f64, found: f64) -> [bool; 2] {
    let is_off = |slack| (right - found).abs() > slack;
    let is_other = match asked {
        Asked::Build => return [false; 2],
        Asked::Verdict => is_off(0.0),
        // Not whether it is 0, which rounding says of what touches.
        Asked::Distance => (found > 0.0) != (right > 0.0) && is_off(1e-4),
        Asked::Straight | Asked::Turning | Asked::Ray => right.is_finite() != found.is_finite(),
    };
    [is_other, !is_other && is_off(if asked == Asked::Distance { 1e-4 } else { 1e-3 })]
}

/// A round, where `ask` answers the place of that number: the answers once, then the time of all
/// places, again and again.
pub fn time(row: &Row, mut ask: impl FnMut(usize) -> f64) -> Timed {
    let (mut wrong, mut off, mut asked) = (0, 0, 0);
    let start = thread_time();
    for (at, place) in row.places.iter().enumerate() {
        let [is_other, is_off] = judged(row.asked, place.right, ask(at));
        wrong += usize::from(is_other);
        off += usize::from(is_off);
        asked += 1;
        if asked >= PLACES_MIN && thread_time() - start > TOO_LONG {
            break;
        }
    }
    let once = thread_time() - start;
    if once > TOO_LONG {
        return Timed { microseconds: once * 1e6 / asked as f64, wrong, off, asked };
    }
    let (mut passes, start) = (0, thread_time());
    loop {
        for at in 0..row.places.len() {
            std::hint::black_box(ask(std::hint::black_box(at)));
        }
        passes += 1;
        let spent = thread_time() - start;
        if spent > ENOUGH {
            let microseconds = spent * 1e6 / (passes * asked) as f64;
            return Timed { microseconds, wrong, off, asked };
        }
    }
}
