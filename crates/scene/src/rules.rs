//! Which pairs are checked, and with which margin.

use std::collections::{BTreeMap, BTreeSet};

use super::body::{Body, BodyId};
use super::declaration::{DeclarationError, Problem, is_length};
use super::pairs::PairKey;

/// The margin of one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMargin {
    /// The bodies.
    pub pair: [BodyId; 2],
    /// Metres.
    pub margin: f64,
}

/// All pairs of which not both are fixed, less what follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// If not empty: only pairs between the two groups of an entry.
    pub checked_groups: Vec<[String; 2]>,
    /// If not empty: only these.
    pub checked_pairs: Vec<[BodyId; 2]>,
    /// Never these.
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
    pub(super) fn check_groups(
        &self,
        bodies: &[&Body],
        path: &str,
    ) -> Result<(), DeclarationError> {
        let expected = self.groups_to_come.iter();
        let known: BTreeSet<&String> =
            bodies.iter().flat_map(|body| &body.groups).chain(expected).collect();
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
    pub(super) fn declared_with<'a>(&self, bodies: impl Iterator<Item = &'a Body>) -> Self {
        let mut known: BTreeSet<&String> = self.groups_to_come.iter().collect();
        known.extend(bodies.flat_map(|body| &body.groups));
        let gone: BTreeSet<&String> =
            self.checked_groups.iter().flatten().filter(|group| !known.contains(group)).collect();
        let mut declared = self.clone();
        declared.groups_to_come.extend(gone.into_iter().cloned());
        declared
    }

    /// Without the entries that name `gone` (sorted).
    #[must_use]
    pub(super) fn without(&self, gone: &[BodyId]) -> Self {
        let stays = |pair: &[BodyId; 2]| !pair.iter().any(|id| gone.binary_search(id).is_ok());
        let mut kept = self.clone();
        kept.checked_pairs.retain(stays);
        kept.ignored_pairs.retain(stays);
        kept.margins.retain(|entry| stays(&entry.pair));
        kept
    }
}

/// The rules, ready to be asked about bodies by index. Bodies that no rule about groups, and
/// no mask, tells apart form a class; what two classes may do is a table.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleBook {
    class_of: Vec<u32>,
    classes: usize,
    /// `classes x classes`, symmetric.
    may_meet: Vec<bool>,
    /// Partners by body, sorted; none: any.
    only: Option<Vec<Vec<u32>>>,
    /// Partners by body, sorted.
    ignored: Vec<Vec<u32>>,
    margins: BTreeMap<PairKey, f64>,
    body_margins: Vec<f64>,
    /// For each body so much that the boxes of any pair, both made larger by it, meet whenever the
    /// boxes themselves are within the pair's margin.
    pub(super) reaches: Vec<f64>,
    pub(super) pairs_enabled: u64,
}

impl RuleBook {
    /// `bodies` sorted by id, of at most `classes_max` classes; `allowed` are pairs that robots
    /// say need no check. `path` leads to the rules in the client's words.
    pub(super) fn compile(
        bodies: &[&Body],
        rules: &Rules,
        allowed: &[[BodyId; 2]],
        path: &str,
        classes_max: usize,
    ) -> Result<Self, DeclarationError> {
        let find = |id: BodyId| bodies.binary_search_by_key(&id, |body| body.id).ok();
        let key = |pair: &[BodyId; 2], list: &str, index: usize| {
            let fail = |problem| DeclarationError::new(format!("{path}.{list}[{index}]"), problem);
            let a = find(pair[0]).ok_or_else(|| fail(Problem::UnknownBody))?;
            let b = find(pair[1]).ok_or_else(|| fail(Problem::UnknownBody))?;
            if a == b {
                return Err(fail(Problem::SameBody));
            }
            Ok(PairKey::new(a as u32, b as u32))
        };

        let mut book = Self {
            ignored: vec![Vec::new(); bodies.len()],
            body_margins: bodies.iter().map(|body| body.margin).collect(),
            ..Self::default()
        };
        book.compile_classes(bodies, rules, path, classes_max)?;
        for (index, pair) in rules.ignored_pairs.iter().enumerate() {
            insert_both(&mut book.ignored, key(pair, "ignored_pairs", index)?);
        }
        for [a, b] in allowed {
            if let (Some(a), Some(b)) = (find(*a), find(*b)) {
                insert_both(&mut book.ignored, PairKey::new(a as u32, b as u32));
            }
        }
        if !rules.checked_pairs.is_empty() {
            let mut only = vec![Vec::new(); bodies.len()];
            for (index, pair) in rules.checked_pairs.iter().enumerate() {
                insert_both(&mut only, key(pair, "checked_pairs", index)?);
            }
            book.only = Some(only);
        }
        for (index, entry) in rules.margins.iter().enumerate() {
            let at = key(&entry.pair, "margins", index)?;
            if !is_length(entry.margin) {
                let field = format!("{path}.margins[{index}].margin");
                return Err(DeclarationError::new(field, Problem::NotALength));
            }
            book.margins.insert(at, entry.margin);
        }
        book.reaches = book.body_margins.clone();
        for (at, margin) in &book.margins {
            for body in [at.p, at.q] {
                let reach = &mut book.reaches[body as usize];
                *reach = reach.max(margin / 2.0);
            }
        }
        book.pairs_enabled = book.count_enabled();
        Ok(book)
    }

    fn compile_classes(
        &mut self,
        bodies: &[&Body],
        rules: &Rules,
        path: &str,
        classes_max: usize,
    ) -> Result<(), DeclarationError> {
        // Only groups that a rule names tell bodies apart.
        let named: BTreeSet<&str> =
            rules.checked_groups.iter().flatten().map(String::as_str).collect();
        let mut numbers: BTreeMap<BodyClass<'_>, u32> = BTreeMap::new();
        let mut members: Vec<BodyClass<'_>> = Vec::new();
        for body in bodies {
            let mut groups: Vec<&str> =
                body.groups.iter().map(String::as_str).filter(|g| named.contains(g)).collect();
            groups.sort_unstable();
            groups.dedup();
            let Body { fixed, category, mask, .. } = *body;
            let class = BodyClass { fixed: *fixed, category: *category, mask: *mask, groups };
            let next = numbers.len() as u32;
            let number = *numbers.entry(class.clone()).or_insert_with(|| {
                members.push(class);
                next
            });
            self.class_of.push(number);
        }
        if members.len() > classes_max {
            let field = format!("{path}.checked_groups");
            return Err(DeclarationError::new(field, Problem::TooManyClasses));
        }
        self.classes = members.len();
        let partners = GroupPartners::new(rules, &members);
        self.may_meet = vec![false; self.classes * self.classes];
        for (a, class) in members.iter().enumerate() {
            let row = &mut self.may_meet[a * self.classes..][..self.classes];
            if rules.checked_groups.is_empty() {
                row.fill(true);
            } else {
                partners.mark(&class.groups, row);
            }
            for (meets, other) in row.iter_mut().zip(&members) {
                *meets &= class.may_meet(other);
            }
        }
        Ok(())
    }

    /// Memory of the tables, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.may_meet.len() + self.class_of.len() * size_of::<u32>()
    }

    /// Whether the pair is checked.
    #[inline]
    pub(super) fn is_enabled(&self, key: PairKey) -> bool {
        let (p, q) = (key.p as usize, key.q as usize);
        let classes = self.class_of[p] as usize * self.classes + self.class_of[q] as usize;
        self.may_meet[classes]
            && self.ignored[p].binary_search(&key.q).is_err()
            && self.only.as_ref().is_none_or(|only| only[p].binary_search(&key.q).is_ok())
    }

    /// The pair's own margin if set, else the sum of its bodies', metres. The sum is rounded; that
    /// number is the margin.
    pub(super) fn margin(&self, key: PairKey) -> f64 {
        if let Some(own) = self.margins.get(&key) {
            return *own;
        }
        self.body_margins[key.p as usize] + self.body_margins[key.q as usize]
    }

    /// Every enabled pair, in order. Of all pairs, of which there may be hundreds of times as many,
    /// only those are looked at that the lists or the classes allow.
    pub(super) fn enabled_pairs(&self) -> Vec<PairKey> {
        let mut members = vec![Vec::new(); self.classes];
        for (body, class) in (0u32..).zip(&self.class_of) {
            members[*class as usize].push(body);
        }
        let mut pairs = Vec::new();
        for (p, class) in (0u32..).zip(&self.class_of) {
            let from = pairs.len();
            let mut add = |others: &[u32]| {
                let above = others.partition_point(|q| *q <= p);
                let keys = others[above..].iter().map(|&q| PairKey { p, q });
                pairs.extend(keys.filter(|key| self.is_enabled(*key)));
            };
            match &self.only {
                Some(only) => add(&only[p as usize]),
                None => {
                    let may_meet = &self.may_meet[*class as usize * self.classes..];
                    let met = members.iter().zip(may_meet).filter(|(_, may_meet)| **may_meet);
                    met.for_each(|(others, _)| add(others));
                }
            }
            pairs[from..].sort_unstable();
        }
        pairs
    }

    /// Counted by class, since there may be tens of millions of pairs.
    fn count_enabled(&self) -> u64 {
        if let Some(only) = &self.only {
            let listed = only.iter().enumerate().flat_map(|(p, partners)| {
                partners.iter().map(move |&q| PairKey { p: p as u32, q })
            });
            return listed.filter(|key| key.p < key.q && self.is_enabled(*key)).count() as u64;
        }
        let mut sizes = vec![0_u64; self.classes];
        for &class in &self.class_of {
            sizes[class as usize] += 1;
        }
        let mut count = 0;
        for a in 0..self.classes {
            for b in a..self.classes {
                if self.may_meet[a * self.classes + b] {
                    count +=
                        if a == b { sizes[a] * (sizes[a] - 1) / 2 } else { sizes[a] * sizes[b] };
                }
            }
        }
        let unlisted: u64 = self
            .ignored
            .iter()
            .enumerate()
            .flat_map(|(p, partners)| partners.iter().map(move |&q| (p, q as usize)))
            .filter(|&(p, q)| {
                let classes = self.class_of[p] as usize * self.classes + self.class_of[q] as usize;
                p < q && self.may_meet[classes]
            })
            .count() as u64;
        count - unlisted
    }
}

/// What rules about groups, masks and fixed bodies tell of a body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BodyClass<'a> {
    fixed: bool,
    category: u32,
    mask: u32,
    /// Those that a rule names, sorted.
    groups: Vec<&'a str>,
}

impl BodyClass<'_> {
    /// Whether two bodies may be checked, as far as groups are no matter.
    fn may_meet(&self, other: &Self) -> bool {
        let are_fixed = self.fixed && other.fixed;
        !are_fixed && self.category & other.mask != 0 && other.category & self.mask != 0
    }
}

/// Which groups are checked against which. There may be hundreds of thousands of entries, and as
/// many groups of a body: no entry may be looked at for each pair of classes, of which there are
/// millions.
struct GroupPartners<'a> {
    /// The groups that bodies belong to.
    numbers: BTreeMap<&'a str, usize>,
    /// For each group, the groups against which it is checked.
    partners: Vec<Vec<usize>>,
    /// For each group, the classes that belong to it.
    classes: Vec<Vec<usize>>,
}

impl<'a> GroupPartners<'a> {
    fn new(rules: &Rules, members: &[BodyClass<'a>]) -> Self {
        let (mut numbers, mut classes) = (BTreeMap::new(), Vec::new());
        for (class, BodyClass { groups, .. }) in members.iter().enumerate() {
            for group in groups {
                let number = *numbers.entry(*group).or_insert(classes.len());
                if number == classes.len() {
                    classes.push(Vec::new());
                }
                classes[number].push(class);
            }
        }
        let mut partners = vec![Vec::new(); classes.len()];
        for [x, y] in &rules.checked_groups {
            // A group that nobody belongs to checks nothing.
            if let (Some(&x), Some(&y)) = (numbers.get(x.as_str()), numbers.get(y.as_str())) {
                partners[x].push(y);
                partners[y].push(x);
            }
        }
        for partners in &mut partners {
            partners.sort_unstable();
            partners.dedup();
        }
        Self { numbers, partners, classes }
    }

    /// Marks the classes that one of these groups is checked against.
    fn mark(&self, groups: &[&str], row: &mut [bool]) {
        let mut is_against = vec![false; self.classes.len()];
        for partner in groups.iter().flat_map(|group| &self.partners[self.numbers[group]]) {
            is_against[*partner] = true;
        }
        let against = self.classes.iter().zip(is_against).filter(|(_, is_against)| *is_against);
        for class in against.flat_map(|(classes, _)| classes) {
            row[*class] = true;
        }
    }
}

/// Each as a partner of the other, keeping the lists sorted and without duplicates.
fn insert_both(lists: &mut [Vec<u32>], key: PairKey) {
    for (body, partner) in [(key.p, key.q), (key.q, key.p)] {
        let list = &mut lists[body as usize];
        if let Err(place) = list.binary_search(&partner) {
            list.insert(place, partner);
        }
    }
}
