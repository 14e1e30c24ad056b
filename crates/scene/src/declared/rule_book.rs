//! The rules, ready to be asked about pairs of bodies.

use std::collections::BTreeMap;

use crate::declared::body::{Body, BodyId};
use crate::declared::classes::Classes;
use crate::declared::error::{DeclarationError, Problem, is_margin};
use crate::declared::rigid::{RigidFrame, RigidSets};
use crate::declared::rules::Rules;
use crate::pair_key::PairKey;

/// Pairs that robots say need no check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exempt {
    /// One by one, sorted by nothing; of bodies that there may be.
    pub(crate) pairs: Vec<[BodyId; 2]>,
    /// Those of which one is carried and that move as one: each body with the frame that moves it,
    /// and whether it is carried.
    pub(crate) rigid: Vec<(BodyId, RigidFrame, bool)>,
}

/// The rules, ready to be asked about bodies by index. Bodies that no rule about groups, and
/// no mask, tells apart form a class; what two classes may do is a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleBook {
    classes: Classes,
    rigid: RigidSets,
    /// Partners by body, sorted; none: any.
    only: Option<Vec<Vec<u32>>>,
    /// Partners by body, sorted.
    ignored: Vec<Vec<u32>>,
    /// Pairs that robots exempt and nobody else ignores, sorted.
    exempt_alone: Vec<PairKey>,
    margins: BTreeMap<PairKey, f64>,
    body_margins: Vec<f64>,
    /// For each body so much that the boxes of any pair, both made larger by it, meet whenever the
    /// boxes themselves are within the pair's margin. Not negative.
    pub(crate) reaches: Vec<f64>,
    /// By body: whether the margin of a pair with it may be below 0.
    pub(crate) are_deep: Vec<bool>,
    pub(crate) pairs_enabled: u64,
}

impl RuleBook {
    /// `bodies` sorted by id, of at most `classes_max` classes. `path` leads to the rules in the
    /// client's words.
    pub(crate) fn compile(
        bodies: &[&Body],
        rules: &Rules,
        exempt: &Exempt,
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
        book.classes = Classes::of(bodies, rules, classes_max).ok_or_else(|| {
            let field = format!("{path}.checked_groups");
            DeclarationError::new(field, Problem::TooManyClasses)
        })?;
        for (index, pair) in rules.ignored_pairs.iter().enumerate() {
            put_both(&mut book.ignored, key(pair, "ignored_pairs", index)?);
        }
        book.ignore_exempt(exempt.pairs.iter().map(|pair| pair.map(find)));
        let moved = exempt.rigid.iter();
        let moved = moved.filter_map(|&(id, frame, is)| Some((find(id)? as u32, frame, is)));
        book.rigid = RigidSets::of(bodies.len(), moved);
        if !rules.checked_pairs.is_empty() {
            let mut only = vec![Vec::new(); bodies.len()];
            for (index, pair) in rules.checked_pairs.iter().enumerate() {
                put_both(&mut only, key(pair, "checked_pairs", index)?);
            }
            in_order(&mut only);
            book.only = Some(only);
        }
        for (index, entry) in rules.margins.iter().enumerate() {
            let at = key(&entry.pair, "margins", index)?;
            if !is_margin(entry.margin) {
                let field = format!("{path}.margins[{index}].margin");
                return Err(DeclarationError::new(field, Problem::NotAMargin));
            }
            book.margins.insert(at, entry.margin);
        }
        book.reaches = book.reaches_of_bodies();
        book.are_deep = book.deep_bodies();
        book.pairs_enabled = book.count_enabled();
        Ok(book)
    }

    /// Leaves out what robots exempt, beside the pairs that are ignored already; of bodies that
    /// there may be.
    fn ignore_exempt(&mut self, pairs: impl Iterator<Item = [Option<usize>; 2]>) {
        in_order(&mut self.ignored);
        for pair in pairs {
            let [Some(a), Some(b)] = pair else { continue };
            if self.ignored[a].binary_search(&(b as u32)).is_err() {
                self.exempt_alone.push(PairKey::new(a as u32, b as u32));
            }
        }
        self.exempt_alone.sort_unstable();
        self.exempt_alone.dedup();
        for key in &self.exempt_alone {
            put_both(&mut self.ignored, *key);
        }
        in_order(&mut self.ignored);
    }

    /// See `are_deep`.
    fn deep_bodies(&self) -> Vec<bool> {
        let mut are_deep: Vec<bool> =
            self.body_margins.iter().map(|margin| *margin < 0.0).collect();
        for (at, _) in self.margins.iter().filter(|(_, margin)| **margin < 0.0) {
            for body in [at.p, at.q] {
                are_deep[body as usize] = true;
            }
        }
        are_deep
    }

    /// See `reaches`.
    fn reaches_of_bodies(&self) -> Vec<f64> {
        let mut reaches: Vec<f64> =
            self.body_margins.iter().map(|margin| margin.max(0.0)).collect();
        for (at, margin) in &self.margins {
            for body in [at.p, at.q] {
                let reach = &mut reaches[body as usize];
                *reach = reach.max(margin / 2.0);
            }
        }
        reaches
    }

    /// Whatever the margins are, the boxes of any pair meet whenever it is as near as this, metres.
    pub(crate) fn reach_at_least(&mut self, metres: f64) {
        self.reaches.iter_mut().for_each(|reach| *reach = reach.max(metres / 2.0));
    }

    /// Memory of the tables, bytes.
    pub(crate) fn bytes(&self) -> usize {
        let exempt = size_of_val(self.exempt_alone.as_slice());
        self.classes.bytes() + self.rigid.bytes() + exempt
    }

    /// Whether the pair is checked.
    #[inline]
    pub(crate) fn is_enabled(&self, key: PairKey) -> bool {
        let p = key.p as usize;
        self.classes.may_meet(key.p, key.q)
            && self.ignored[p].binary_search(&key.q).is_err()
            && self.only.as_ref().is_none_or(|only| only[p].binary_search(&key.q).is_ok())
            && !self.rigid.exempts(key)
    }

    /// Whether the pair would be checked if no robot exempted it.
    pub(crate) fn is_enabled_but_for_robots(&self, key: PairKey) -> bool {
        let p = key.p as usize;
        self.exempt_alone.binary_search(&key).is_ok()
            && self.classes.may_meet(key.p, key.q)
            && self.only.as_ref().is_none_or(|only| only[p].binary_search(&key.q).is_ok())
            && !self.rigid.exempts(key)
    }

    /// The pair's own margin if set, else the sum of its bodies', metres. The sum is rounded; that
    /// number is the margin.
    pub(crate) fn margin(&self, key: PairKey) -> f64 {
        if let Some(own) = self.margins.get(&key) {
            return *own;
        }
        self.body_margins[key.p as usize] + self.body_margins[key.q as usize]
    }

    /// The share of a body in the margins of its pairs, metres.
    pub(crate) fn own_margin(&self, body: u32) -> f64 {
        self.body_margins[body as usize]
    }

    /// The pairs that have margins of their own, metres, in order.
    pub(crate) fn set_margins(&self) -> impl ExactSizeIterator<Item = (PairKey, f64)> + '_ {
        self.margins.iter().map(|(key, margin)| (*key, *margin))
    }

    /// Every enabled pair, in order. Of all pairs, of which there may be hundreds of times as many,
    /// only those are looked at that the lists or the classes allow.
    pub(crate) fn enabled_pairs(&self) -> Vec<PairKey> {
        let classes = &self.classes;
        let mut members = vec![Vec::new(); classes.count];
        for (body, class) in (0u32..).zip(&classes.class_of) {
            members[*class as usize].push(body);
        }
        let count = classes.count as u32;
        let met = |class: u32| (0..count).filter(move |other| classes.meet(class, *other));
        let met: Vec<Vec<u32>> = (0..count).map(|class| met(class).collect()).collect();
        let mut pairs = Vec::new();
        for (p, class) in (0u32..).zip(&classes.class_of) {
            let from = pairs.len();
            let mut add = |others: &[u32]| {
                let above = others.partition_point(|q| *q <= p);
                let keys = others[above..].iter().map(|&q| PairKey { p, q });
                pairs.extend(keys.filter(|key| self.is_enabled(*key)));
            };
            match &self.only {
                Some(only) => add(&only[p as usize]),
                None => met[*class as usize].iter().for_each(|met| add(&members[*met as usize])),
            }
            pairs[from..].sort_unstable();
        }
        pairs
    }

    /// Counted by class, since there may be tens of millions of pairs.
    fn count_enabled(&self) -> u64 {
        let listed = |lists: &'_ [Vec<u32>]| -> Vec<PairKey> {
            let keys = (0..).zip(lists).flat_map(|(p, partners)| {
                partners.iter().map(move |&q| PairKey { p, q }).filter(|key| key.p < key.q)
            });
            keys.collect()
        };
        if let Some(only) = &self.only {
            return listed(only).into_iter().filter(|key| self.is_enabled(*key)).count() as u64;
        }
        let all = self.classes.sizes(0..self.classes.class_of.len() as u32);
        let unlisted = listed(&self.ignored)
            .into_iter()
            .filter(|key| self.classes.may_meet(key.p, key.q) && !self.rigid.exempts(*key));
        let unlisted = unlisted.count() as u64 + self.rigid.pairs(&self.classes);
        self.classes.pairs_among(&all) - unlisted
    }
}

/// Each as a partner of the other; see [`in_order`].
fn put_both(lists: &mut [Vec<u32>], key: PairKey) {
    lists[key.p as usize].push(key.q);
    lists[key.q as usize].push(key.p);
}

/// Sorts the partners of each body, of which one may have them all: put in their places one by one,
/// two hundred thousand took seconds.
fn in_order(lists: &mut [Vec<u32>]) {
    for list in lists {
        list.sort_unstable();
        list.dedup();
    }
}
