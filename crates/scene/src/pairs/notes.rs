//! What is remembered of a pair of bodies, and what its answers cost, while they are worked on.

use crate::methods::{AskedOf, CostOfEach};
use clearance_geometry::effort::Cost;
use clearance_geometry::witness::Witness;

/// The witnesses of a pair of bodies: one for each pair of parts that was ever looked at closely,
/// in the order of the parts; then those of methods that were asked for by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Witnesses {
    /// That of the first parts, which are all that most bodies have. The table keeps it.
    pub(crate) first: Witness,
    pub(crate) by_parts: Vec<(u64, Witness)>,
}

impl Witnesses {
    /// The witness of P's part `i` and Q's part `j` that all methods share, or that of the method
    /// of this question alone; a new one when there is none yet.
    pub(crate) fn of(&mut self, i: u32, j: u32, alone: Option<AskedOf>) -> &mut Witness {
        // A body of so many parts that their number needs the highest bits fits no memory.
        let whose = alone.map_or(0, |asked| 1 + asked as u64);
        let key = whose << 61 | u64::from(i) << 32 | u64::from(j);
        if key == 0 {
            return &mut self.first;
        }
        let place = match self.by_parts.binary_search_by_key(&key, |(parts, _)| *parts) {
            Ok(place) => place,
            Err(place) => {
                self.by_parts.insert(place, (key, Witness::default()));
                place
            }
        };
        &mut self.by_parts[place].1
    }

    /// Every one there is.
    #[cfg(test)]
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Witness> {
        std::iter::once(&mut self.first).chain(self.by_parts.iter_mut().map(|(_, witness)| witness))
    }

    pub(crate) fn bytes(&self) -> usize {
        let beyond: usize =
            self.by_parts.iter().map(|(_, witness)| witness.memory.heap_bytes()).sum();
        beyond + self.by_parts.capacity() * size_of::<(u64, Witness)>()
    }
}

/// What is remembered of a pair and what its answers have cost, while they are worked on.
pub(crate) struct Notes<'a> {
    pub(crate) witnesses: &'a mut Witnesses,
    pub(crate) cost: &'a mut Cost,
    pub(crate) cost_of_each: Option<&'a mut CostOfEach>,
}
