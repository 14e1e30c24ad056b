//! What a session must say: declared state, kept by the words of the interface alone, and every
//! answer worked out anew from it.

use std::collections::{BTreeMap, BTreeSet};

use super::arms::Arm;
use super::cold::{self, Placed, Way};
use super::spins;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_scene::{Body, BodyChange, BodyId, EventKind, Frame, Listed, PairMargin, Rules};

/// Two bodies, the lower id first.
pub(super) type Pair = [u32; 2];

/// What a frame asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) listed: Listed,
    pub(super) first_contacts: bool,
    pub(super) distances: bool,
    pub(super) below: Option<f64>,
    pub(super) is_packed: bool,
    /// Steps that a search may take.
    pub(super) steps: Option<u64>,
}

/// The state of one session.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// Links of robots among them.
    pub(super) bodies: BTreeMap<u32, Placed>,
    pub(super) arms: BTreeMap<u32, Arm>,
    pub(super) rules: Rules,
    pub(super) begin_margin: f64,
    pub(super) release_margin: f64,
    pub(super) applied: u64,
    pub(super) answered: u64,
    /// Frames applied since the last answer.
    pub(super) skipped: u32,
    /// Announced contacts, and since when.
    pub(super) contacts: BTreeMap<Pair, u64>,
    /// Contacts that ended since the last answer, because the pair is no longer checked.
    ended: Vec<Pair>,
    /// What the last answers said of pairs that are not plainly separated.
    noted: BTreeMap<Pair, (Verdict, bool)>,
    /// Whether some of that is not known, since an answer was stopped.
    is_blurred: bool,
    /// Whether nothing was answered yet.
    pub(super) is_new: bool,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is applied; so many of its poses are refused.
    Applied(usize),
    Repeated,
    Stale,
    KeyframeNeeded,
    /// Something in it is wrong.
    Invalid,
}

/// An event, as far as it can be foretold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) pair: Pair,
    pub(super) kind: EventKind,
    pub(super) verdict: Option<Verdict>,
    pub(super) bracket: [f64; 2],
}

/// What an answer says of one pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stands {
    pub(super) verdict: Verdict,
    /// Whether the distance, or minus the depth, is at most the margin; none: the pair has none.
    pub(super) is_within: Option<bool>,
    pub(super) is_listed: bool,
    way: Option<Way>,
    /// When it came within its margin, too.
    way_within: Option<Way>,
}

impl Stands {
    /// When it came within its margin, or into contact if it has none.
    pub(super) fn first_contact(&self) -> Option<Way> {
        self.way_within.or(self.way)
    }
}

/// A whole answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) pairs: BTreeMap<Pair, Stands>,
    pub(super) events: Vec<Told>,
    /// Whether the list of pairs is known, too.
    pub(super) is_list_known: bool,
}

impl Model {
    /// As opened with this.
    pub(super) fn open(bodies: &[Body], rules: Rules, release_margin: f64) -> Self {
        let bodies = bodies.iter().map(|body| (body.id.0, Placed::new(body.clone()))).collect();
        Self { bodies, rules, release_margin, is_new: true, ..Self::default() }
    }

    /// The same, opened elsewhere from its declared state.
    pub(super) fn reopened(&self) -> Self {
        let mut bodies = self.bodies.clone();
        for placed in bodies.values_mut() {
            placed.settle(true);
        }
        let mut arms = self.arms.clone();
        arms.values_mut().for_each(|arm| arm.start = None);
        Self {
            bodies,
            arms,
            rules: self.rules.clone(),
            begin_margin: self.begin_margin,
            release_margin: self.release_margin,
            applied: self.applied,
            contacts: self.contacts.clone(),
            is_new: true,
            ..Self::default()
        }
    }

    /// Takes a frame in.
    pub(super) fn apply(&mut self, frame: &Frame) -> Fate {
        if frame.id == self.applied {
            return Fate::Repeated;
        }
        if frame.id < self.applied {
            return Fate::Stale;
        }
        if !frame.keyframe && frame.base.unwrap_or(frame.id - 1) != self.applied {
            return Fate::KeyframeNeeded;
        }
        let is_told = |id: &u32| {
            frame.moves.iter().any(|one| one.body.0 == *id)
                || frame.added.iter().any(|body| body.id.0 == *id)
                || frame.removed.iter().any(|gone| gone.0 == *id)
        };
        let mut by_themselves = self.bodies.iter().filter(|(_, one)| one.carried.is_none());
        let is_whole = by_themselves.all(|(id, _)| is_told(id)) && self.are_all_arms_told(frame);
        if frame.keyframe && !is_whole {
            return Fate::Invalid;
        }
        let mut refused =
            frame.removed.iter().filter(|gone| !self.bodies.contains_key(&gone.0)).count();
        if !self.restructure(frame) {
            return Fate::Invalid;
        }
        let mut moved = Vec::new();
        for one in &frame.moves {
            let Some(placed) = self.bodies.get_mut(&one.body.0) else {
                refused += 1;
                continue;
            };
            let ends = [&placed.body.pose.rotation, &one.pose.rotation];
            let is_wrong = |spin: Vec3| one.teleported || !spins::leads(ends, &spin);
            let is_carried = placed.carried.is_some();
            if moved.contains(&one.body) || is_carried || one.spin.is_some_and(is_wrong) {
                refused += 1;
                continue;
            }
            moved.push(one.body);
            placed.is_put |= one.teleported;
            let moves = one.pose != placed.body.pose || one.teleported || one.spin.is_some();
            if placed.start.is_none() && moves {
                (placed.start, placed.spin) = (Some(placed.body.pose), spins::said(one));
            } else if placed.start.is_some() {
                placed.spin = spins::joined(placed, one);
            }
            placed.body.pose = one.pose;
        }
        refused += self.move_arms(frame);
        if frame.teleported {
            self.bodies.values_mut().for_each(|placed| placed.is_put = true);
        }
        self.applied = frame.id;
        self.skipped += 1;
        Fate::Applied(refused)
    }

    /// Bodies go and come, rules change; false: something is wrong, and nothing is done.
    fn restructure(&mut self, frame: &Frame) -> bool {
        let before = self.clone();
        let Some(gone) = self.remove(frame) else {
            *self = before;
            return false;
        };
        let is_gone = |id: u32| gone.contains(&id);
        let had = frame.rules.as_ref().unwrap_or(&before.rules);
        let is_right = frame.added.iter().all(|body| self.add(Placed::new(body.clone())))
            && self.add_arms(frame)
            && frame.changed.iter().all(|change| self.change(change))
            && self.attach(frame)
            && self.set_rules(frame, &is_gone)
            && (had.checked_pairs.is_empty() || !self.rules.checked_pairs.is_empty())
            && (had.checked_groups.is_empty() || !self.rules.checked_groups.is_empty());
        if !is_right {
            *self = before;
            return false;
        }
        let known: Vec<Pair> = self.contacts.keys().chain(self.noted.keys()).copied().collect();
        for pair in known {
            if pair.iter().any(|id| is_gone(*id)) || !self.is_checked(pair) {
                if self.contacts.remove(&pair).is_some() {
                    self.ended.push(pair);
                }
                let was_noted = self.noted.remove(&pair).is_some();
                let is_there = pair.iter().all(|id| self.bodies.contains_key(id));
                if was_noted && is_there && self.is_checked(pair) {
                    // It was said of bodies that were there before: no pair stands so.
                    self.noted.insert(pair, (Verdict::Touching, false));
                }
            }
        }
        true
    }

    /// The bodies that are gone, links among them; none: that is not possible.
    fn remove(&mut self, frame: &Frame) -> Option<BTreeSet<u32>> {
        let mut gone: BTreeSet<u32> = frame.removed.iter().map(|id| id.0).collect();
        if gone.iter().any(|id| self.bodies.get(id).is_some_and(Placed::is_link)) {
            return None;
        }
        self.arms.values_mut().for_each(|arm| arm.forget(&gone));
        gone.extend(self.remove_arms(frame)?);
        self.bodies.retain(|id, _| !gone.contains(id));
        Some(gone)
    }

    /// A body is there from now on; false: its id is taken.
    pub(super) fn add(&mut self, placed: Placed) -> bool {
        self.bodies.insert(placed.body.id.0, placed).is_none()
    }

    /// A body is another one from now on; false: that is not possible.
    fn change(&mut self, change: &BodyChange) -> bool {
        let known = self.bodies.get_mut(&change.id.0).filter(|placed| !placed.is_link());
        let Some(placed) = known else { return false };
        let body = &mut placed.body;
        if !change.left_groups.iter().all(|group| body.groups.contains(group)) {
            return false;
        }
        let mut groups = body.groups.to_vec();
        groups.retain(|group| !change.left_groups.contains(group));
        for group in &change.joined_groups {
            if !groups.contains(group) {
                groups.push(group.clone());
            }
        }
        body.groups = groups.into();
        body.fixed = change.fixed.unwrap_or(body.fixed);
        body.category = change.category.unwrap_or(body.category);
        body.mask = change.mask.unwrap_or(body.mask);
        body.margin = change.margin.unwrap_or(body.margin);
        body.continuous = change.continuous.unwrap_or(body.continuous);
        if !change.parts.is_empty() {
            body.parts.clone_from(&change.parts);
            placed.settle(true);
        }
        true
    }

    /// The rules of a frame from now on; false: something is taken away that is not there.
    fn set_rules(&mut self, frame: &Frame, is_gone: &dyn Fn(u32) -> bool) -> bool {
        let rules = &mut self.rules;
        match &frame.rules {
            Some(replaced) => *rules = replaced.clone(),
            None => {
                let stays = |pair: &[BodyId; 2]| !pair.iter().any(|id| is_gone(id.0));
                rules.checked_pairs.retain(stays);
                rules.ignored_pairs.retain(stays);
                rules.margins.retain(|entry| stays(&entry.pair));
            }
        }
        let Some(changes) = &frame.rule_changes else { return true };
        let same = |x: &[BodyId; 2], y: &[BodyId; 2]| x == y || [x[1], x[0]] == *y;
        let take = |list: &mut Vec<[BodyId; 2]>, gone: &[[BodyId; 2]]| {
            let are_there = gone.iter().all(|one| list.iter().any(|entry| same(entry, one)));
            list.retain(|entry| !gone.iter().any(|one| same(entry, one)));
            are_there
        };
        let add = |list: &mut Vec<[BodyId; 2]>, new: &[[BodyId; 2]]| {
            for one in new {
                if !list.iter().any(|entry| same(entry, one)) {
                    list.push(*one);
                }
            }
        };
        let mut margins: Vec<[BodyId; 2]> = rules.margins.iter().map(|entry| entry.pair).collect();
        let are_there = take(&mut rules.checked_pairs, &changes.removed_checked_pairs)
            && take(&mut rules.ignored_pairs, &changes.removed_ignored_pairs)
            && take(&mut margins, &changes.removed_margins);
        rules.margins.retain(|entry| margins.contains(&entry.pair));
        add(&mut rules.checked_pairs, &changes.added_checked_pairs);
        add(&mut rules.ignored_pairs, &changes.added_ignored_pairs);
        for set in &changes.set_margins {
            rules.margins.retain(|entry| !same(&entry.pair, &set.pair));
            rules.margins.push(*set);
        }
        for groups in &changes.added_checked_groups {
            if !rules.checked_groups.contains(groups) {
                rules.checked_groups.push(groups.clone());
            }
        }
        rules.groups_to_come.extend(changes.groups_to_come.iter().cloned());
        are_there
    }

    /// Whether the rules check this pair.
    fn is_checked(&self, [a, b]: Pair) -> bool {
        let (Some(p), Some(q)) = (self.bodies.get(&a), self.bodies.get(&b)) else { return false };
        let (p, q) = (&p.body, &q.body);
        let is_named = |list: &[[BodyId; 2]]| {
            list.iter().any(|[x, y]| [x.0, y.0] == [a, b] || [x.0, y.0] == [b, a])
        };
        let meets = |[x, y]: &[String; 2]| {
            let both = |p: &Body, q: &Body| p.groups.contains(x) && q.groups.contains(y);
            both(p, q) || both(q, p)
        };
        let rules = &self.rules;
        let is_masked = p.category & q.mask == 0 || q.category & p.mask == 0;
        let is_out = p.fixed && q.fixed
            || is_masked
            || is_named(&rules.ignored_pairs)
            || self.is_exempt([a, b]);
        !is_out
            && (rules.checked_pairs.is_empty() || is_named(&rules.checked_pairs))
            && (rules.checked_groups.is_empty() || rules.checked_groups.iter().any(meets))
    }

    fn margin(&self, [a, b]: Pair) -> f64 {
        let of_pair = |entry: &&PairMargin| {
            let [x, y] = entry.pair;
            [x.0, y.0] == [a, b] || [x.0, y.0] == [b, a]
        };
        // The last entry counts.
        match self.rules.margins.iter().rev().find(of_pair) {
            Some(entry) => entry.margin,
            None => self.bodies[&a].body.margin + self.bodies[&b].body.margin,
        }
    }

    /// Every pair that is checked.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let ids: Vec<u32> = self.bodies.keys().copied().collect();
        let both = |(at, a): (usize, &u32)| {
            let a = *a;
            ids[at + 1..].iter().map(move |b| [a, *b]).collect::<Vec<Pair>>()
        };
        let all = ids.iter().enumerate().flat_map(both);
        all.filter(|pair| self.is_checked(*pair)).collect()
    }

    /// What the session has to answer now.
    pub(super) fn answer(&self, asked: &Asked) -> Answer {
        let mut answer = Answer { is_list_known: !self.is_blurred, ..Answer::default() };
        let end = if self.is_new { [0.0; 2] } else { [1.0; 2] };
        for pair in &self.ended {
            let bracket = if self.skipped > 1 { [0.0, 1.0] } else { end };
            let told = Told { pair: *pair, kind: EventKind::Ended, verdict: None, bracket };
            answer.events.push(told);
        }
        for pair in self.pairs() {
            let (stands, has_ended) = self.stands(pair, asked, end, &mut answer.events);
            let is_listed = self.is_listed(pair, asked, &stands, has_ended);
            answer.pairs.insert(pair, Stands { is_listed, ..stands });
        }
        answer
    }

    /// How a pair stands, with its events, and whether its contact, announced before, ends.
    fn stands(
        &self,
        pair: Pair,
        asked: &Asked,
        end: [f64; 2],
        events: &mut Vec<Told>,
    ) -> (Stands, bool) {
        let [p, q] = pair.map(|id| &self.bodies[&id]);
        let margin = self.margin(pair);
        let verdict = cold::stand(&p.body, &q.body);
        let is_separated = verdict == Verdict::Separated;
        let is_within = match margin {
            0.0 => None,
            0.0.. => Some(!is_separated || cold::is_within(&p.body, &q.body, margin)),
            _ => Some(cold::is_deep(&p.body, &q.body, margin)),
        };
        let is_asked = asked.first_contacts || p.body.continuous || q.body.continuous;
        let has_way = is_asked && !p.is_put && !q.is_put;
        let way = has_way.then(|| cold::way(p, q, self.begin_margin));
        let way_within = (has_way && margin.to_bits() != self.begin_margin.to_bits())
            .then(|| cold::way(p, q, margin));
        let begins = !is_separated || cold::is_within(&p.body, &q.body, self.begin_margin);
        let was_announced = self.contacts.contains_key(&pair);
        let mut is_announced = was_announced;
        let mut tell = |kind, bracket| {
            events.push(Told { pair, kind, verdict: Some(verdict), bracket });
        };
        let has_met = way.is_some_and(|way| way.outcome == Outcome::Contact);
        if !is_announced && (begins || has_met) {
            tell(EventKind::Began, way.filter(|_| has_met).map_or(end, |way| way.bracket));
            is_announced = true;
        }
        if let Some(way) = way.filter(|way| way.outcome == Outcome::Undecided)
            && !is_announced
        {
            tell(EventKind::Undecided, [way.bracket[0], 1.0]);
        }
        let is_beyond = is_separated && !cold::is_within(&p.body, &q.body, self.release_margin);
        if is_announced && is_beyond {
            let parting = has_way.then(|| cold::parting(p, q, self.release_margin)).flatten();
            let met = way.filter(|_| has_met).map_or(0.0, |way| way.bracket[1]);
            let at = parting.map_or(end, |bracket| bracket.map(|time| time.max(met)));
            tell(EventKind::Ended, at);
        }
        let stands = Stands { verdict, is_within, is_listed: false, way, way_within };
        (stands, was_announced && is_beyond)
    }

    fn is_listed(&self, pair: Pair, asked: &Asked, stands: &Stands, has_ended: bool) -> bool {
        let in_contact = stands.verdict != Verdict::Separated;
        let now = (stands.verdict, stands.is_within.unwrap_or(in_contact));
        let plain = (Verdict::Separated, false);
        let may_have_met =
            stands.first_contact().is_some_and(|way| way.outcome != Outcome::NoContact);
        let is_below = asked.below.is_some_and(|below| {
            let [p, q] = pair.map(|id| &self.bodies[&id].body);
            in_contact || cold::is_within(p, q, below)
        });
        is_below
            || match asked.listed {
                Listed::Nothing => false,
                Listed::All => true,
                Listed::Near => may_have_met || now != plain,
                Listed::Changed => {
                    let before = self.noted.get(&pair).copied().unwrap_or(plain);
                    may_have_met || has_ended || now != before
                }
            }
    }

    /// Takes note of an answer that was given, with these events; a partial one may lack some.
    pub(super) fn note(&mut self, answer: &Answer, told: &[Told], is_partial: bool) {
        for event in told {
            match event.kind {
                EventKind::Began => {
                    self.contacts.insert(event.pair, self.applied);
                }
                // What is no longer checked has ended before.
                EventKind::Ended if event.verdict.is_none() => {}
                EventKind::Ended => {
                    self.contacts.remove(&event.pair);
                }
                EventKind::Undecided => {}
            }
        }
        self.is_blurred = is_partial;
        for (pair, stands) in &answer.pairs {
            let in_contact = stands.verdict != Verdict::Separated;
            let now = (stands.verdict, stands.is_within.unwrap_or(in_contact));
            if now == (Verdict::Separated, false) {
                self.noted.remove(pair);
            } else {
                self.noted.insert(*pair, now);
            }
        }
        for placed in self.bodies.values_mut() {
            placed.settle(false);
        }
        self.arms.values_mut().for_each(|arm| arm.start = None);
        self.ended.clear();
        (self.answered, self.skipped, self.is_new) = (self.applied, 0, false);
    }
}
