//! How wide brackets are: whatever the reference says, they have to be narrow.

use super::{Family, raise};
use crate::answer::CaseAnswer;
use clearance_geometry::number::binary::power_of_two;

/// Lengths whose brackets are to be narrow, in metres: 2^-1000 to 2^1000.
const LENGTHS: std::ops::RangeInclusive<f64> = power_of_two(-1000)..=power_of_two(1000);
/// The widest bracket that a distance may have, relative to the distance: the contract.
const DISTANCE_WIDTH_MAX: f64 = 1e-12;
/// The widest bracket that a depth may have, relative to the depth: the contract.
const DEPTH_WIDTH_MAX: f64 = 1e-9;

impl Family {
    /// Notes the widths: of lengths relative to themselves, where f64 has room for that; of times
    /// as they are. Whether a length's is too wide.
    pub(super) fn add_widths(&mut self, answer: &CaseAnswer, complaints: &mut Vec<String>) -> bool {
        let distance = (answer.distance_lower, answer.distance_upper);
        let depth = (answer.depth_lower, answer.depth_upper);
        let mut wide = false;
        for (what, worst, bracket, most) in [
            ("distance", &mut self.distance_width, distance, DISTANCE_WIDTH_MAX),
            ("depth", &mut self.depth_width, depth, DEPTH_WIDTH_MAX),
        ] {
            let (Some(lower), Some(upper)) = bracket else { continue };
            if !LENGTHS.contains(&upper) {
                continue;
            }
            let width = (upper - lower) / upper;
            raise(worst, width);
            let is_narrow = width <= most;
            if !is_narrow {
                wide = true;
                complaints.push(format!("{what} [{lower:e}, {upper:e}] is {width:e} wide"));
            }
        }
        if let (Some(free), Some(contact)) = (answer.t_free, answer.t_contact) {
            raise(&mut self.time_width, contact - free);
        }
        wide
    }
}
