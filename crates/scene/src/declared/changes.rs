//! Changes of a scene entry by entry: of its rules, and of bodies that stay.

use std::collections::{BTreeMap, BTreeSet};

use crate::declared::body::{Body, BodyId, Part};
use crate::declared::error::{DeclarationError, Problem, is_margin};
use crate::declared::groups::GroupsInChange;
use crate::declared::rules::{PairMargin, Rules};

/// What changes in the rules; what goes is taken away before what is new is added. An entry that is
/// there already may be added again, and one that is not there cannot be taken away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleChanges {
    /// Entries that [`Rules::checked_groups`] loses.
    pub removed_checked_groups: Vec<[String; 2]>,
    /// Entries that [`Rules::checked_groups`] gains.
    pub added_checked_groups: Vec<[String; 2]>,
    /// Pairs that [`Rules::checked_pairs`] loses.
    pub removed_checked_pairs: Vec<[BodyId; 2]>,
    /// Pairs that [`Rules::checked_pairs`] gains.
    pub added_checked_pairs: Vec<[BodyId; 2]>,
    /// Pairs that [`Rules::ignored_pairs`] loses.
    pub removed_ignored_pairs: Vec<[BodyId; 2]>,
    /// Pairs that [`Rules::ignored_pairs`] gains.
    pub added_ignored_pairs: Vec<[BodyId; 2]>,
    /// Pairs whose margin is the sum of their bodies' again.
    pub removed_margins: Vec<[BodyId; 2]>,
    /// Margins that pairs have from now on, in place of those before.
    pub set_margins: Vec<PairMargin>,
    /// More of [`Rules::groups_to_come`].
    pub groups_to_come: Vec<String>,
}

/// What changes of a body that stays; what is not said stays, too.
#[derive(Clone, Debug)]
pub struct BodyChange {
    /// The id of the body that changes.
    pub id: BodyId,
    /// In place of its parts, unless empty. Its contacts last if it is in contact with its new
    /// shape, and no motion is assumed between the two.
    pub parts: Vec<Part>,
    /// Groups that it leaves.
    pub left_groups: Vec<String>,
    /// Groups that it joins.
    pub joined_groups: Vec<String>,
    /// Whether the body is fixed from now on ([`Body::fixed`]).
    pub fixed: Option<bool>,
    /// The category from now on ([`Body::category`]).
    pub category: Option<u32>,
    /// The mask from now on ([`Body::mask`]).
    pub mask: Option<u32>,
    /// The margin from now on, metres ([`Body::margin`]).
    pub margin: Option<f64>,
    /// Whether it asks for first contacts from now on ([`Body::continuous`]).
    pub continuous: Option<bool>,
}

impl BodyChange {
    /// Memory that it takes in a scene beyond the shapes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        let groups = self.joined_groups.iter();
        let groups: usize = groups.map(|name| size_of::<String>() + name.len()).sum();
        Body::bytes_of_parts(self.parts.len()) + groups
    }
}

/// A body on its way through the changes of a frame, of which several may be of it.
pub(crate) struct BodyInChange {
    /// All of it but the groups.
    pub(crate) body: Body,
    /// Its groups, from the first change that names some.
    groups: Option<GroupsInChange>,
    /// Whether it has other parts.
    pub(crate) is_reshaped: bool,
}

impl BodyInChange {
    /// As it is before.
    pub(crate) fn new(body: &Body) -> Self {
        Self { body: body.clone(), groups: None, is_reshaped: false }
    }

    /// Takes one change; `path` leads to it.
    pub(crate) fn take(&mut self, change: &BodyChange, path: &str) -> Result<(), DeclarationError> {
        let body = &mut self.body;
        if !change.parts.is_empty() {
            body.parts.clone_from(&change.parts);
            self.is_reshaped = true;
        }
        if !change.left_groups.is_empty() || !change.joined_groups.is_empty() {
            let before = std::mem::take(&mut body.groups);
            let groups = self.groups.get_or_insert_with(|| GroupsInChange::new(&before));
            let is_in = |group: &String| groups.contains(group);
            if let Some(index) = change.left_groups.iter().position(|group| !is_in(group)) {
                let path = format!("{path}.left_groups[{index}]");
                return Err(DeclarationError::new(path, Problem::NotInGroup));
            }
            change.left_groups.iter().for_each(|group| groups.leave(group));
            change.joined_groups.iter().for_each(|group| groups.join(group));
        }
        body.fixed = change.fixed.unwrap_or(body.fixed);
        body.category = change.category.unwrap_or(body.category);
        body.mask = change.mask.unwrap_or(body.mask);
        body.margin = change.margin.unwrap_or(body.margin);
        body.continuous = change.continuous.unwrap_or(body.continuous);
        Ok(())
    }

    /// The body as all changes leave it.
    pub(crate) fn finish(self) -> Body {
        let Self { mut body, groups, .. } = self;
        body.groups = groups.map_or(body.groups, GroupsInChange::finish);
        body
    }
}

/// Two of a kind, whichever way they are given.
fn unordered<T: Ord + Clone>(pair: &[T; 2]) -> [T; 2] {
    let mut pair = pair.clone();
    pair.sort();
    pair
}

impl RuleChanges {
    /// Its lists of what is new, by their names, and how many entries they have.
    pub fn added(&self) -> [(&'static str, usize); 5] {
        [
            ("added_checked_groups", self.added_checked_groups.len()),
            ("added_checked_pairs", self.added_checked_pairs.len()),
            ("added_ignored_pairs", self.added_ignored_pairs.len()),
            ("set_margins", self.set_margins.len()),
            ("groups_to_come", self.groups_to_come.len()),
        ]
    }

    /// Memory that they take in the rules, with the lists made of them, bytes, estimated.
    pub fn bytes(&self) -> usize {
        let new = Rules {
            checked_groups: self.added_checked_groups.clone(),
            groups_to_come: self.groups_to_come.clone(),
            ..Rules::default()
        };
        let pairs = self.added_checked_pairs.len() + self.added_ignored_pairs.len();
        let margins = self.set_margins.len() * size_of::<PairMargin>();
        new.bytes() + 2 * (pairs * size_of::<[BodyId; 2]>() + margins)
    }

    /// That what it adds to the rules is about `bodies` (sorted by id), and about groups that there
    /// are or that are to come.
    pub(crate) fn check(&self, bodies: &[&Body], rules: &Rules) -> Result<(), DeclarationError> {
        let to_come = rules.groups_to_come.iter().chain(&self.groups_to_come);
        let new_groups = Rules {
            checked_groups: self.added_checked_groups.clone(),
            groups_to_come: to_come.cloned().collect(),
            ..Rules::default()
        };
        new_groups.check_groups(bodies, "rule_changes.added_checked_groups")?;
        let is_there = |id: BodyId| bodies.binary_search_by_key(&id, |body| body.id).is_ok();
        let margins: Vec<[BodyId; 2]> = self.set_margins.iter().map(|entry| entry.pair).collect();
        let lists = [
            ("added_checked_pairs", &self.added_checked_pairs),
            ("added_ignored_pairs", &self.added_ignored_pairs),
            ("set_margins", &margins),
        ];
        for (name, list) in lists {
            for (index, [a, b]) in list.iter().enumerate() {
                let fail = |problem| {
                    Err(DeclarationError::new(format!("rule_changes.{name}[{index}]"), problem))
                };
                if !is_there(*a) || !is_there(*b) {
                    return fail(Problem::UnknownBody);
                }
                if a == b {
                    return fail(Problem::SameBody);
                }
            }
        }
        for (index, entry) in self.set_margins.iter().enumerate() {
            if !is_margin(entry.margin) {
                let path = format!("rule_changes.set_margins[{index}].margin");
                return Err(DeclarationError::new(path, Problem::NotAMargin));
            }
        }
        Ok(())
    }

    /// The rules from now on.
    pub(crate) fn of(&self, rules: &Rules) -> Result<Rules, DeclarationError> {
        let mut rules = rules.clone();
        let groups = |entry: &[String; 2]| unordered(entry);
        let pair = |entry: &[BodyId; 2]| unordered(entry);
        let of_margin = |entry: &PairMargin| unordered(&entry.pair);

        let gone = &self.removed_checked_groups;
        take_away(&mut rules.checked_groups, gone, groups, "removed_checked_groups")?;
        let gone = &self.removed_checked_pairs;
        take_away(&mut rules.checked_pairs, gone, pair, "removed_checked_pairs")?;
        let gone = &self.removed_ignored_pairs;
        take_away(&mut rules.ignored_pairs, gone, pair, "removed_ignored_pairs")?;
        take_away(&mut rules.margins, &self.removed_margins, of_margin, "removed_margins")?;

        add(&mut rules.checked_groups, &self.added_checked_groups, groups);
        add(&mut rules.checked_pairs, &self.added_checked_pairs, pair);
        add(&mut rules.ignored_pairs, &self.added_ignored_pairs, pair);
        let set: BTreeSet<[BodyId; 2]> = self.set_margins.iter().map(of_margin).collect();
        rules.margins.retain(|entry| !set.contains(&of_margin(entry)));
        rules.margins.extend(&self.set_margins);
        add(&mut rules.groups_to_come, &self.groups_to_come, String::clone);
        Ok(rules)
    }
}

/// Takes entries away, all of which have to be there.
fn take_away<T, K: Ord + Clone>(
    list: &mut Vec<T>,
    gone: &[[K; 2]],
    key: impl Fn(&T) -> [K; 2],
    name: &str,
) -> Result<(), DeclarationError> {
    if gone.is_empty() {
        return Ok(());
    }
    let mut is_found: BTreeMap<[K; 2], bool> =
        gone.iter().map(|entry| (unordered(entry), false)).collect();
    list.retain(|entry| match is_found.get_mut(&key(entry)) {
        Some(is_found) => {
            *is_found = true;
            false
        }
        None => true,
    });
    match gone.iter().position(|entry| !is_found[&unordered(entry)]) {
        None => Ok(()),
        Some(index) => {
            let path = format!("rule_changes.{name}[{index}]");
            Err(DeclarationError::new(path, Problem::NoSuchEntry))
        }
    }
}

/// Adds what is not there.
fn add<T: Clone, K: Ord>(list: &mut Vec<T>, new: &[T], key: impl Fn(&T) -> K) {
    if new.is_empty() {
        return;
    }
    let mut known: BTreeSet<K> = list.iter().map(&key).collect();
    list.extend(new.iter().filter(|entry| known.insert(key(entry))).cloned());
}
