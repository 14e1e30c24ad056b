//! Classes of bodies that rules about groups, masks and fixed bodies do not tell apart, and which
//! of them may meet.
//!
//! There may be hundreds of thousands of groups of a body, and as many entries that name them: no
//! list of groups is looked through twice, and no entry for each pair of classes.

use std::collections::{BTreeMap, BTreeSet};

use crate::declared::body::Body;
use crate::declared::rules::Rules;

/// The classes of some bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// The class of each body, by its index.
    pub(crate) class_of: Vec<u32>,
    pub(crate) count: usize,
    /// `count x count`, symmetric.
    may_meet: Vec<bool>,
}

/// What rules about groups, masks and fixed bodies tell of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BodyClass {
    fixed: bool,
    category: u32,
    mask: u32,
    /// Which of the sets of groups that a rule names it is in.
    set: u32,
}

impl BodyClass {
    /// Whether two bodies may be checked, as far as groups are no matter.
    fn may_meet(&self, other: &Self) -> bool {
        let are_fixed = self.fixed && other.fixed;
        !are_fixed && self.category & other.mask != 0 && other.category & self.mask != 0
    }
}

impl Classes {
    /// Those of these bodies; none: there are more than `classes_max`.
    pub(crate) fn of(bodies: &[&Body], rules: &Rules, classes_max: usize) -> Option<Self> {
        let mut sets = GroupSets::new(rules);
        let mut numbers: BTreeMap<BodyClass, u32> = BTreeMap::new();
        let mut members: Vec<BodyClass> = Vec::new();
        let mut class_of = Vec::with_capacity(bodies.len());
        for body in bodies {
            let set = sets.number_of(body);
            let Body { fixed, category, mask, .. } = **body;
            let class = BodyClass { fixed, category, mask, set };
            let next = numbers.len() as u32;
            class_of.push(*numbers.entry(class).or_insert_with(|| {
                members.push(class);
                next
            }));
        }
        let count = members.len();
        if count > classes_max {
            return None;
        }
        let mut may_meet = vec![false; count * count];
        let partners = (!rules.checked_groups.is_empty()).then(|| SetPartners::new(rules, &sets));
        let mut rows: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
        for (a, class) in members.iter().enumerate() {
            let is_against = partners
                .as_ref()
                .map(|partners| &*rows.entry(class.set).or_insert_with(|| partners.row(class.set)));
            let row = &mut may_meet[a * count..][..count];
            for (meets, other) in row.iter_mut().zip(&members) {
                let by_groups = is_against.is_none_or(|row| row[other.set as usize]);
                *meets = by_groups && class.may_meet(other);
            }
        }
        Some(Self { class_of, count, may_meet })
    }

    /// Whether bodies of two classes may meet.
    #[inline]
    pub(crate) fn meet(&self, a: u32, b: u32) -> bool {
        self.may_meet[a as usize * self.count + b as usize]
    }

    /// Whether two bodies may meet, as far as classes are concerned.
    #[inline]
    pub(crate) fn may_meet(&self, p: u32, q: u32) -> bool {
        self.meet(self.class_of[p as usize], self.class_of[q as usize])
    }

    /// Memory of the tables, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.may_meet.len() + self.class_of.len() * size_of::<u32>()
    }

    /// How many pairs of some bodies, of which there are so many in each class, may meet.
    pub(crate) fn pairs_among(&self, sizes: &BTreeMap<u32, u64>) -> u64 {
        let mut count = 0;
        for (a, members) in sizes {
            for (b, others) in sizes.range(a..).filter(|(b, _)| self.meet(*a, **b)) {
                count += if a == b { members * (members - 1) / 2 } else { members * others };
            }
        }
        count
    }

    /// How many of these bodies are in each class.
    pub(crate) fn sizes(&self, bodies: impl Iterator<Item = u32>) -> BTreeMap<u32, u64> {
        let mut sizes = BTreeMap::new();
        for body in bodies {
            *sizes.entry(self.class_of[body as usize]).or_default() += 1;
        }
        sizes
    }
}

/// The sets of groups that bodies are in, of those groups that a rule names: no others tell bodies
/// apart.
struct GroupSets<'a> {
    named: BTreeSet<&'a str>,
    /// Sorted names of each.
    numbers: BTreeMap<Vec<&'a str>, u32>,
    /// By the place of the list: bodies share theirs.
    known: BTreeMap<usize, u32>,
}

impl<'a> GroupSets<'a> {
    fn new(rules: &'a Rules) -> Self {
        let named = rules.checked_groups.iter().flatten().map(String::as_str).collect();
        Self { named, numbers: BTreeMap::new(), known: BTreeMap::new() }
    }

    fn number_of(&mut self, body: &Body) -> u32 {
        let Self { named, numbers, known } = self;
        *known.entry(body.groups.place()).or_insert_with(|| {
            let own = body.groups.iter().filter_map(|group| named.get(group.as_str()).copied());
            let mut own: Vec<&str> = own.collect();
            own.sort_unstable();
            own.dedup();
            let next = numbers.len() as u32;
            *numbers.entry(own).or_insert(next)
        })
    }
}

/// Which sets of groups are checked against which.
struct SetPartners {
    /// The groups of each set.
    groups: Vec<Vec<usize>>,
    /// For each group, the groups against which it is checked.
    partners: Vec<Vec<usize>>,
    /// For each group, the sets that it is in.
    sets: Vec<Vec<usize>>,
}

impl SetPartners {
    fn new(rules: &Rules, known: &GroupSets<'_>) -> Self {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut groups, mut sets) = (vec![Vec::new(); known.numbers.len()], Vec::new());
        for (names, set) in &known.numbers {
            for name in names {
                let place = *places.entry(*name).or_insert(sets.len());
                if place == sets.len() {
                    sets.push(Vec::new());
                }
                sets[place].push(*set as usize);
                groups[*set as usize].push(place);
            }
        }
        let mut partners = vec![Vec::new(); sets.len()];
        for [x, y] in &rules.checked_groups {
            // A group that nobody belongs to checks nothing.
            if let (Some(&x), Some(&y)) = (places.get(x.as_str()), places.get(y.as_str())) {
                partners[x].push(y);
                partners[y].push(x);
            }
        }
        for partners in &mut partners {
            partners.sort_unstable();
            partners.dedup();
        }
        Self { groups, partners, sets }
    }

    /// The sets that one is checked against.
    fn row(&self, set: u32) -> Vec<bool> {
        let mut row = vec![false; self.groups.len()];
        let (mut marked, mut seen) = (0, BTreeSet::new());
        let partners = self.groups[set as usize].iter().flat_map(|group| &self.partners[*group]);
        for partner in partners.filter(|partner| seen.insert(**partner)) {
            for other in &self.sets[*partner] {
                marked += usize::from(!std::mem::replace(&mut row[*other], true));
            }
            if marked == row.len() {
                break;
            }
        }
        row
    }
}
