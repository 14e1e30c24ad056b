//! A robot from its files: what they describe, and what is seen of it once it stands.

use super::constant::constant_pairs;
use super::error::{BuildError, shown};
use super::model::{ConstantPair, Robot, Sources};
use super::room::{BuildRoom, Unbounded};
use super::urdf::DescriptionLimits;
use clearance_geometry::effort::Effort;

/// Notes about pairs that stay as far apart as they are, at most; one more counts the others.
const NOTES_MAX: usize = 20;

impl Robot {
    /// Builds a robot.
    pub fn build(
        sources: &Sources<'_>,
        limits: &DescriptionLimits,
        effort: &mut Effort<'_>,
    ) -> Result<Self, BuildError> {
        Self::build_within(sources, limits, effort, &Unbounded)
    }

    /// Builds a robot as far as there is memory for it.
    pub fn build_within(
        sources: &Sources<'_>,
        limits: &DescriptionLimits,
        effort: &mut Effort<'_>,
        room: &dyn BuildRoom,
    ) -> Result<Self, BuildError> {
        let (mut robot, bytes) = Self::read_within(sources, limits, effort, room)?;
        robot.constant = constant_pairs(&robot, bytes, room, effort)?;
        robot.note_constant_pairs();
        robot.note_doubts(sources);
        Ok(robot)
    }

    fn note_constant_pairs(&mut self) {
        let link = |part: u32| self.parts[part as usize].link;
        let told = self.constant.iter().filter(|one| self.is_checked(one.pair.map(link)));
        let note = |one: &ConstantPair| {
            let [a, b] = one.pair.map(|part| shown(&self.links[link(part)].name));
            let [first, second] = one.pair;
            format!(
                "parts {first} and {second} of links {a:?} and {b:?} stay {:.6} m apart: no joint \
                 value changes that by more than 1e-6 m, and lists of clearances are about others",
                0.5 * (one.lower + one.upper)
            )
        };
        let mut notes: Vec<String> = told.clone().take(NOTES_MAX).map(note).collect();
        let more = told.count().saturating_sub(NOTES_MAX);
        if more > 0 {
            notes.push(format!("{more} more pairs of parts stay as far apart as they are"));
        }
        self.notes.extend(notes);
    }
}
