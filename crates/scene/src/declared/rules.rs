//! Which pairs are checked, and with which margin.

use std::collections::BTreeSet;

use crate::declared::body::{Body, BodyId};
use crate::declared::error::{DeclarationError, Problem};
use crate::declared::groups::Groups;

/// The margin of one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMargin {
    /// The two bodies.
    pub pair: [BodyId; 2],
    /// Their margin, in metres.
    pub margin: f64,
}

/// All pairs of which not both are fixed, less what follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// If not empty: only pairs between the two groups of an entry.
    pub checked_groups: Vec<[String; 2]>,
    /// If not empty: only these pairs are checked.
    pub checked_pairs: Vec<[BodyId; 2]>,
    /// These pairs are never checked.
    pub ignored_pairs: Vec<[BodyId; 2]>,
    /// Margins of pairs, in place of the sum of their bodies'.
    pub margins: Vec<PairMargin>,
    /// Groups that `checked_groups` may name although no body belongs to them yet.
    pub groups_to_come: Vec<String>,
}

impl Rules {
    /// Memory that they take, with the lists made of them, bytes, estimated.
    pub fn bytes(&self) -> usize {
        // The least that is allocated for a name.
        const NAME: usize = 16;
        let name = |name: &String| size_of::<String>() + name.len().max(NAME);
        let names = self.checked_groups.iter().flatten().chain(&self.groups_to_come);
        let groups: usize = names.map(name).sum();
        let pairs = self.checked_pairs.len() + self.ignored_pairs.len();
        let margins = self.margins.len() * size_of::<PairMargin>();
        groups + 2 * (pairs * size_of::<[BodyId; 2]>() + margins)
    }

    /// That every group which is named has a body, or is said to come: a misspelt name would check
    /// nothing, and nobody would notice.
    pub(crate) fn check_groups(
        &self,
        bodies: &[&Body],
        path: &str,
    ) -> Result<(), DeclarationError> {
        let lists = Groups::each_once(bodies.iter().map(|body| &body.groups));
        let known: BTreeSet<&String> =
            lists.flat_map(|groups| groups.iter()).chain(&self.groups_to_come).collect();
        for (index, pair) in self.checked_groups.iter().enumerate() {
            for (group, side) in pair.iter().zip(["a", "b"]) {
                if !known.contains(group) {
                    let path = format!("{path}[{index}].{side}");
                    return Err(DeclarationError::new(path, Problem::UnknownGroup));
                }
            }
        }
        Ok(())
    }

    /// These rules as another server accepts them: groups whose last body has gone are to come.
    pub(crate) fn declared_with<'a>(&self, bodies: impl Iterator<Item = &'a Body>) -> Self {
        let mut known: BTreeSet<&String> = self.groups_to_come.iter().collect();
        known.extend(
            Groups::each_once(bodies.map(|body| &body.groups)).flat_map(|groups| groups.iter()),
        );
        let gone: BTreeSet<&String> =
            self.checked_groups.iter().flatten().filter(|group| !known.contains(group)).collect();
        let mut declared = self.clone();
        declared.groups_to_come.extend(gone.into_iter().cloned());
        declared
    }

    /// Without the entries that name `gone` (sorted).
    #[must_use]
    pub(crate) fn without(&self, gone: &[BodyId]) -> Self {
        let stays = |pair: &[BodyId; 2]| !pair.iter().any(|id| gone.binary_search(id).is_ok());
        let mut kept = self.clone();
        kept.checked_pairs.retain(stays);
        kept.ignored_pairs.retain(stays);
        kept.margins.retain(|entry| stays(&entry.pair));
        kept
    }
}
