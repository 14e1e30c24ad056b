//! The groups of a body: a list of names that bodies share.
//!
//! A robot may have a thousand links, and its groups may be a hundred thousand: each link is in all
//! of them. So a list is kept once, whoever has it, and whoever looks through the names of all
//! bodies looks through each list once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

/// Names of groups, in the order in which they were given; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Groups(Option<Arc<GroupList>>);

#[derive(Debug)]
struct GroupList {
    names: Vec<String>,
    /// What the names take.
    bytes: usize,
}

impl Groups {
    /// Memory that the names take, bytes, estimated.
    pub fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |list| list.bytes)
    }

    /// Where the list is: lists of the same place are the same.
    pub(crate) fn place(&self) -> usize {
        self.0.as_ref().map_or(0, |list| Arc::as_ptr(list) as usize)
    }

    /// These lists, which bodies may share, each once.
    pub(crate) fn each_once<'a>(
        lists: impl Iterator<Item = &'a Self>,
    ) -> impl Iterator<Item = &'a Self> {
        let mut seen = BTreeSet::from([Self::default().place()]);
        lists.filter(move |groups| seen.insert(groups.place()))
    }
}

impl From<Vec<String>> for Groups {
    fn from(names: Vec<String>) -> Self {
        let bytes = names.iter().map(|name| size_of::<String>() + name.len()).sum();
        Self((!names.is_empty()).then(|| Arc::new(GroupList { names, bytes })))
    }
}

impl<const N: usize> From<[&str; N]> for Groups {
    fn from(names: [&str; N]) -> Self {
        names.into_iter().map(str::to_owned).collect()
    }
}

impl FromIterator<String> for Groups {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        names.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Groups {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |list| &list.names)
    }
}

/// The groups of a body that leaves some and joins others, one change after the other. Each change
/// takes as long as it has names, however many groups the body is in.
#[derive(Clone, Debug)]
pub(crate) struct GroupsInChange {
    before: Groups,
    /// Those of `before` that it is still in.
    kept: BTreeSet<String>,
    /// Those that it has joined, in order; one that it left again since is none.
    joined: Vec<Option<String>>,
    /// Where in `joined` each of them is.
    places: BTreeMap<String, usize>,
}

impl GroupsInChange {
    pub(crate) fn new(before: &Groups) -> Self {
        Self {
            before: before.clone(),
            kept: before.iter().cloned().collect(),
            joined: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.kept.contains(name) || self.places.contains_key(name)
    }

    pub(crate) fn leave(&mut self, name: &str) {
        self.kept.remove(name);
        if let Some(place) = self.places.remove(name) {
            self.joined[place] = None;
        }
    }

    pub(crate) fn join(&mut self, name: &str) {
        if !self.contains(name) {
            self.places.insert(name.to_owned(), self.joined.len());
            self.joined.push(Some(name.to_owned()));
        }
    }

    /// The groups as the changes have left them.
    pub(crate) fn finish(self) -> Groups {
        let Self { before, kept, joined, .. } = self;
        let stays = before.iter().filter(|name| kept.contains(*name)).cloned();
        stays.chain(joined.into_iter().flatten()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_is_left_and_joined_again_comes_last() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Groups>();
        let mut groups = GroupsInChange::new(&names("a b c b"));
        groups.leave("a");
        assert!(!groups.contains("a") && groups.contains("b"));
        ["d", "a", "d", "c"].iter().for_each(|name| groups.join(name));
        groups.leave("d");
        groups.join("d");
        assert_eq!(groups.finish()[..], names("b c b a d")[..]);
    }

    #[test]
    fn a_list_that_bodies_share_is_looked_through_once() {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Groups>();
        let shared = own(&["x", "y"]);
        let lists = [shared.clone(), own(&[]), shared, own(&["x"])];
        let seen: Vec<usize> = Groups::each_once(lists.iter()).map(|groups| groups.len()).collect();
        assert_eq!(seen, [2, 1]);
    }
}
