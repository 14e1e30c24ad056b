//! Which bodies a question to a scene is about.
//!
//! A body may be in hundreds of thousands of groups, and a filter may name as many. Each name of
//! the filter is put into a map once, each list of groups is looked through once, and between two
//! names it is asked whether anybody still waits.

use std::collections::{BTreeMap, BTreeSet};

use crate::declared::body::BodyId;
use crate::declared::groups::Groups;
use crate::placed::entry::Entry;
use clearance_geometry::effort::{Effort, Stopped};

/// Which bodies are looked at.
#[derive(Clone, Debug, Default)]
pub struct BodyFilter {
    /// If not empty: only bodies that belong to one of these groups.
    pub groups: Vec<String>,
    /// Bodies that belong to one of these groups are not looked at.
    pub ignored_groups: Vec<String>,
    /// These bodies are not looked at.
    pub ignored: BTreeSet<BodyId>,
}

/// A name in a filter that nobody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownName {
    /// By its place in `groups`.
    Group(usize),
    /// By its place in `ignored_groups`.
    IgnoredGroup(usize),
    /// In `ignored`.
    Body(BodyId),
}

/// Why a scene cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoView {
    /// Most likely a slip of the pen.
    Unknown(UnknownName),
    /// Nobody waits any more.
    Stopped(Stopped),
}

impl From<Stopped> for NoView {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// What a filter says of bodies, by their places in the scene.
#[derive(Clone, Debug)]
pub(super) struct Admitted(Option<Vec<bool>>);

impl Admitted {
    #[inline]
    pub(super) fn admits(&self, place: u32) -> bool {
        self.0.as_ref().is_none_or(|admitted| admitted[place as usize])
    }
}

impl BodyFilter {
    /// Whether it looks through the groups of bodies.
    pub fn names_groups(&self) -> bool {
        !self.groups.is_empty() || !self.ignored_groups.is_empty()
    }

    /// Which of these bodies, sorted by id, it admits; or the first of its names that nobody has.
    pub(super) fn admitted(
        &self,
        entries: &[Entry],
        effort: &Effort<'_>,
    ) -> Result<Admitted, NoView> {
        if !self.names_groups() && self.ignored.is_empty() {
            return Ok(Admitted(None));
        }
        let mut admitted = vec![self.groups.is_empty(); entries.len()];
        let mut ignored_places = Vec::with_capacity(self.ignored.len());
        for &id in &self.ignored {
            effort.look_at_clock()?;
            let place = entries.binary_search_by_key(&id, |entry| entry.body.id);
            ignored_places.push(place.map_err(|_| NoView::Unknown(UnknownName::Body(id)))?);
        }
        if self.names_groups() {
            let mut names = FilterNames::of(self, effort)?;
            let mut known: BTreeMap<usize, bool> = BTreeMap::new();
            for (entry, admits) in entries.iter().zip(&mut admitted) {
                let groups = &entry.body.groups;
                let is_admitted = match known.get(&groups.place()) {
                    Some(known) => *known,
                    None => {
                        let is_admitted = names.admit(groups, *admits, effort)?;
                        known.insert(groups.place(), is_admitted);
                        is_admitted
                    }
                };
                *admits = is_admitted;
            }
            if let Some(unknown) = names.unknown(self) {
                return Err(NoView::Unknown(unknown));
            }
        }
        ignored_places.into_iter().for_each(|place| admitted[place] = false);
        Ok(Admitted(Some(admitted)))
    }
}

/// What a filter says of a group.
#[derive(Clone, Copy, Debug, Default)]
struct NameUse {
    is_wanted: bool,
    is_ignored: bool,
    /// A body belongs to it.
    is_known: bool,
}

/// The groups that a filter names.
struct FilterNames<'f>(BTreeMap<&'f str, NameUse>);

impl<'f> FilterNames<'f> {
    fn of(filter: &'f BodyFilter, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let mut names: BTreeMap<&str, NameUse> = BTreeMap::new();
        for group in &filter.groups {
            effort.look_at_clock()?;
            names.entry(group).or_default().is_wanted = true;
        }
        for group in &filter.ignored_groups {
            effort.look_at_clock()?;
            names.entry(group).or_default().is_ignored = true;
        }
        Ok(Self(names))
    }

    /// Whether bodies of these groups are admitted; `is_any` that need not be wanted.
    fn admit(
        &mut self,
        groups: &Groups,
        is_any: bool,
        effort: &Effort<'_>,
    ) -> Result<bool, Stopped> {
        let (mut is_wanted, mut is_ignored) = (is_any, false);
        for group in groups.iter() {
            effort.look_at_clock()?;
            if let Some(name) = self.0.get_mut(group.as_str()) {
                name.is_known = true;
                is_wanted |= name.is_wanted;
                is_ignored |= name.is_ignored;
            }
        }
        Ok(is_wanted && !is_ignored)
    }

    /// The first name of the filter that no body's groups had.
    fn unknown(&self, filter: &BodyFilter) -> Option<UnknownName> {
        let is_unknown = |group: &String| !self.0[group.as_str()].is_known;
        let group = filter.groups.iter().position(is_unknown).map(UnknownName::Group);
        let ignored = || filter.ignored_groups.iter().position(is_unknown);
        group.or_else(|| ignored().map(UnknownName::IgnoredGroup))
    }
}
