//! Changes of a scene's structure: bodies that come, go and change, and rules. All of a change is
//! done, or nothing.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::declared::body::{Body, BodyId, Part};
use crate::declared::changes::{BodyChange, BodyInChange, RuleChanges};
use crate::declared::declaration::check_body;
use crate::declared::error::{DeclarationError, Problem};
use crate::declared::question::Frame;
use crate::declared::robots::SceneRobot;
use crate::declared::rule_book::RuleBook;
use crate::declared::rules::Rules;
use crate::frame::mount::{Remounted, Remounting};
use crate::frame::scene::{Scene, SweptBodies};
use crate::memory::kept::Noted;
use crate::methods::Methods;
use crate::pair_key::PairKey;
use crate::pairs::meshes::bytes_of_a_look;
use crate::placed::entry::Entry;
use crate::placed::history::{Departure, Leaving, Replaced};
use clearance_geometry::separation::METHODS;

/// A change of the structure. Reading order: removals, additions, changes, rules and their changes.
pub(crate) struct Restructuring<'a> {
    /// Of them those that are not there change nothing.
    removed: &'a [BodyId],
    added: Vec<Body>,
    /// Leads to those.
    added_path: &'static str,
    changed: &'a [BodyChange],
    rules: Option<Rules>,
    rule_changes: Option<&'a RuleChanges>,
    robots: Remounting<'a>,
}

impl<'a> Restructuring<'a> {
    /// That of a frame.
    pub(crate) fn of(frame: &'a Frame) -> Self {
        Self {
            removed: &frame.removed,
            added: frame.added.clone(),
            added_path: "added_bodies",
            changed: &frame.changed,
            rules: frame.rules.clone(),
            rule_changes: frame.rule_changes.as_ref(),
            robots: Remounting::of(&frame.robots),
        }
    }

    /// A scene that is opened.
    pub(crate) fn opening(bodies: Vec<Body>, robots: Vec<SceneRobot>, rules: Rules) -> Self {
        Self {
            removed: &[],
            added: bodies,
            added_path: "bodies",
            changed: &[],
            rules: Some(rules),
            rule_changes: None,
            robots: Remounting::opening(robots),
        }
    }
}

/// A body that stays and is another one.
struct Altered {
    body: Body,
    /// With its new shape, if it has one.
    renewed: Option<Box<Entry>>,
}

impl Scene {
    /// Takes bodies away, adds and changes others, and the rules; all or nothing.
    pub(crate) fn restructure(&mut self, to: Restructuring<'_>) -> Result<(), DeclarationError> {
        let is_there = |id: &&BodyId| self.index_of(**id).is_some();
        let mut gone: Vec<BodyId> = to.removed.iter().filter(is_there).copied().collect();
        let mut robots = Remounted::of(self, &to.robots, &mut gone)?;
        gone.sort_unstable();
        let is_gone = |id: BodyId| gone.binary_search(&id).is_ok();

        let given = to.added.len();
        let path_of = |index: usize| match index.checked_sub(given) {
            None => format!("{}[{index}]", to.added_path),
            Some(link) => robots.links[link].0.clone(),
        };
        let links = robots.links.iter().map(|(_, body, _)| body.clone());
        let added = to.added.into_iter().chain(links);
        let newcomers = self.newcomers(added, to.added_path, &path_of, &is_gone)?;
        self.check_changed(&robots, to.changed)?;
        let (newcomers, altered) = self.altered(newcomers, to.changed, &is_gone)?;
        let staying = self.entries.iter().filter(|entry| !is_gone(entry.body.id));
        let staying = staying.map(|entry| match altered.get(&entry.body.id) {
            Some(altered) => &altered.body,
            None => &entry.body,
        });
        let mut bodies: Vec<&Body> = staying.chain(newcomers.iter().map(|e| &e.body)).collect();
        bodies.sort_unstable_by_key(|body| body.id);
        check_beside_meshes(&bodies, &newcomers, &path_of, to.changed)?;
        robots.attach(&to.robots, &bodies)?;
        let margins_change = to.rules.is_some() || to.rule_changes.is_some();
        let new_rules = self.rules_from_now_on(to.rules, to.rule_changes, &gone, &bodies)?;
        let (exempt, classes_max) = (robots.exempt(), self.limits.classes_max);
        let mut book = RuleBook::compile(&bodies, &new_rules, &exempt, "rules", classes_max)?;
        book.reach_at_least(self.begin_margin);

        // Nothing can fail from here on.
        self.rewind_travel();
        let replaced = self.history.is_on().then(|| self.replaced(&gone, &newcomers, &altered));
        let old_ids: Vec<BodyId> = self.bodies().map(|body| body.id).collect();
        self.entries.retain(|entry| !is_gone(entry.body.id));
        self.take_up(newcomers, altered, margins_change);
        let put = self.remount(robots);
        self.rule_bytes = new_rules.bytes();
        self.rules = new_rules;
        self.book = Arc::new(book);
        self.renumber(&old_ids, &gone);
        if let Some(replaced) = replaced {
            self.remember(replaced, &old_ids, &gone);
            for (body, from) in put {
                let Some(index) = self.index_of(body) else { continue };
                let (departure, quaternion, spin) = (Departure::Teleported, None, None);
                self.history.note(index, Leaving { body, from, departure, quaternion, spin });
            }
        }
        self.begin_anew();
        Ok(())
    }

    /// What is known of bodies by their places, after these have changed.
    fn begin_anew(&mut self) {
        self.body_bytes = self.bodies().map(Body::bytes).sum();
        self.near.invalidate();
        // Where bodies are listed they have other numbers now.
        self.has_moved = self.entries.iter().map(|entry| entry.start.is_some()).collect();
        self.moved =
            (0..self.entries.len() as u32).filter(|&body| self.has_moved[body as usize]).collect();
        self.travel = vec![0.0; self.entries.len()];
        self.has_chosen = self.entries.iter().any(|entry| entry.body.continuous);
        self.look_bytes = bytes_of_a_look(&self.entries);
        self.open.clear();
        self.has_changed = true;
        self.swept = SweptBodies::None;
    }

    /// What a history needs of the bodies that are gone or become others, as they are.
    fn replaced(
        &self,
        gone: &[BodyId],
        newcomers: &[Entry],
        altered: &BTreeMap<BodyId, Altered>,
    ) -> Replaced {
        let of = |is: &dyn Fn(BodyId) -> bool| {
            let entries = self.entries.iter().filter(|entry| is(entry.body.id));
            entries.map(|entry| entry.standing(true)).collect()
        };
        let mut added: Vec<BodyId> = newcomers.iter().map(|entry| entry.body.id).collect();
        added.sort_unstable();
        Replaced {
            removed: of(&|id| gone.binary_search(&id).is_ok()),
            altered: of(&|id| altered.contains_key(&id)),
            added,
        }
    }

    /// Leaves them to the history.
    fn remember(&mut self, replaced: Replaced, old_ids: &[BodyId], gone: &[BodyId]) {
        let mut history = std::mem::take(&mut self.history);
        let stays = |id: &BodyId| gone.binary_search(id).is_err();
        history.replace(replaced, self.entries.len(), |at| {
            old_ids.get(at).filter(|id| stays(id)).and_then(|id| self.index_of(*id))
        });
        self.history = history;
    }

    /// Takes up bodies that are new or others than they were.
    fn take_up(
        &mut self,
        newcomers: Vec<Entry>,
        mut altered: BTreeMap<BodyId, Altered>,
        margins_change: bool,
    ) {
        for entry in &mut self.entries {
            if let Some(Altered { body, renewed }) = altered.remove(&entry.body.id) {
                match renewed {
                    Some(renewed) => {
                        let carrier = entry.carrier.take();
                        *entry = *renewed;
                        entry.carrier = carrier;
                    }
                    // Where it is and was stays; what is remembered of it may be about a margin.
                    None => (entry.body, entry.revision) = (body, 0),
                }
            }
        }
        self.entries.extend(newcomers);
        self.entries.sort_by_key(|entry| entry.body.id);
        self.changes.restructured += 1;
        self.revision += 1;
        for entry in self.entries.iter_mut().filter(|e| margins_change || e.revision == 0) {
            // A new body, or perhaps a new margin: what is remembered is no longer to the point.
            entry.revision = self.revision;
        }
    }

    /// That no link of a robot is to be changed by itself.
    fn check_changed(
        &self,
        robots: &Remounted,
        changed: &[BodyChange],
    ) -> Result<(), DeclarationError> {
        for (index, change) in changed.iter().enumerate() {
            if self.link_of(change.id).is_some() || robots.has_new_link(change.id) {
                let path = format!("changed_bodies[{index}].id");
                return Err(DeclarationError::new(path, Problem::IsLink));
            }
        }
        Ok(())
    }

    /// The newcomers, and the bodies that stay, as these changes leave them.
    fn altered(
        &self,
        mut newcomers: Vec<Entry>,
        changed: &[BodyChange],
        is_gone: &dyn Fn(BodyId) -> bool,
    ) -> Result<(Vec<Entry>, BTreeMap<BodyId, Altered>), DeclarationError> {
        if changed.is_empty() {
            return Ok((newcomers, BTreeMap::new()));
        }
        let places = newcomers.iter().enumerate().map(|(place, entry)| (entry.body.id, place));
        let places: BTreeMap<BodyId, usize> = places.collect();
        let of_staying = self.entries.iter().filter(|entry| !is_gone(entry.body.id));
        let mut parts: usize =
            of_staying.chain(&newcomers).map(|entry| entry.body.parts.len()).sum();
        let known = |id: BodyId| match places.get(&id) {
            Some(&place) => Some(&newcomers[place].body),
            None => self.body(id).filter(|body| !is_gone(body.id)),
        };
        let mut changing: BTreeMap<BodyId, BodyInChange> = BTreeMap::new();
        for (index, change) in changed.iter().enumerate() {
            let path = format!("changed_bodies[{index}]");
            let fail =
                |field: &str, problem| DeclarationError::new(format!("{path}{field}"), problem);
            let one = match changing.entry(change.id) {
                Slot::Occupied(slot) => slot.into_mut(),
                Slot::Vacant(slot) => {
                    let body = known(change.id).ok_or_else(|| fail(".id", Problem::UnknownBody))?;
                    slot.insert(BodyInChange::new(body))
                }
            };
            parts -= one.body.parts.len();
            one.take(change, &path)?;
            check_body(&one.body, &path)?;
            self.check_parts(&one.body, &path)?;
            self.check_slack(one.body.margin, || format!("{path}.margin"))?;
            parts += one.body.parts.len();
            if parts > self.limits.parts_max {
                return Err(fail("", Problem::TooManyParts));
            }
            if !change.parts.is_empty() && one.body.place(one.body.pose).is_none() {
                return Err(fail(".parts", Problem::TooFar));
            }
        }
        let mut altered = BTreeMap::new();
        for (id, one) in changing {
            let is_reshaped = one.is_reshaped;
            let body = one.finish();
            let renewed = || Entry::new(body.clone()).expect("each of its changes was placed");
            match places.get(&id) {
                Some(&place) => newcomers[place] = renewed(),
                None => {
                    let renewed = is_reshaped.then(|| Box::new(renewed()));
                    altered.insert(id, Altered { body, renewed });
                }
            }
        }
        Ok((newcomers, altered))
    }

    /// The rules for `bodies` (sorted by id) without those that are `gone` (sorted).
    fn rules_from_now_on(
        &self,
        replaced: Option<Rules>,
        changes: Option<&RuleChanges>,
        gone: &[BodyId],
        bodies: &[&Body],
    ) -> Result<Rules, DeclarationError> {
        let margins = replaced.iter().flat_map(|rules| rules.margins.iter().enumerate());
        for (index, entry) in margins {
            self.check_slack(entry.margin, || format!("rules.margins[{index}].margin"))?;
        }
        if let Some(rules) = &replaced {
            rules.check_groups(bodies, "rules.checked_groups")?;
        }
        let is_replaced = replaced.is_some();
        let before = replaced.unwrap_or_else(|| self.rules.without(gone));
        let had = if is_replaced { before.clone() } else { self.rules.clone() };
        let has_lost_all = before.checked_pairs.is_empty();
        let rules = match changes {
            None => before,
            Some(changes) => {
                changes.check(bodies, &before)?;
                for (index, entry) in changes.set_margins.iter().enumerate() {
                    let path = || format!("rule_changes.set_margins[{index}].margin");
                    self.check_slack(entry.margin, path)?;
                }
                changes.of(&before)?
            }
        };
        // An empty list would mean that every pair is checked.
        let path = if rules.checked_pairs.is_empty() && !had.checked_pairs.is_empty() {
            if has_lost_all { "removed_body_ids" } else { "rule_changes.removed_checked_pairs" }
        } else if rules.checked_groups.is_empty() && !had.checked_groups.is_empty() {
            "rule_changes.removed_checked_groups"
        } else {
            return Ok(rules);
        };
        Err(DeclarationError::new(path.into(), Problem::NoPairLeft))
    }

    /// Nothing is known any more of when to look again, so travel counts from 0; but how far bodies
    /// have travelled since the last answered frame still does.
    fn rewind_travel(&mut self) {
        for (entry, travel) in self.entries.iter().zip(&self.travel) {
            if let Some(at) = entry.start {
                self.starts[at as usize].travel -= travel;
            }
        }
    }

    /// That the method of first contacts answers a margin or a deviation of this size; a margin may
    /// be below 0.
    pub(crate) fn check_slack(
        &self,
        metres: f64,
        path: impl FnOnce() -> String,
    ) -> Result<(), DeclarationError> {
        if metres != 0.0 && !self.methods.first_contact.method.answers_all() {
            return Err(DeclarationError::new(path(), Problem::NotAnswered));
        }
        Ok(())
    }

    /// That the methods of the scene answer about the parts of a body that are not polytopes.
    fn check_parts(&self, body: &Body, path: &str) -> Result<(), DeclarationError> {
        let Methods { verdict, first_contact, .. } = &self.methods;
        let mesh = body.parts.iter().position(Part::is_mesh);
        if let Some(at) = mesh.filter(|_| self.methods.are_named()) {
            let path = format!("{path}.parts[{at}]");
            return Err(DeclarationError::new(path, Problem::NotOfMeshes));
        }
        let answers = !verdict.is_named || verdict.method.name == METHODS[0].name;
        if answers && first_contact.method.answers_all() {
            return Ok(());
        }
        match body.parts.iter().position(Part::is_rounded) {
            None => Ok(()),
            Some(at) => {
                Err(DeclarationError::new(format!("{path}.parts[{at}]"), Problem::NotRounded))
            }
        }
    }

    /// The bodies to add, placed; or what is wrong with one.
    fn newcomers(
        &self,
        added: impl Iterator<Item = Body>,
        list: &str,
        path_of: &dyn Fn(usize) -> String,
        is_gone: &dyn Fn(BodyId) -> bool,
    ) -> Result<Vec<Entry>, DeclarationError> {
        let mut taken: BTreeSet<BodyId> =
            self.bodies().map(|body| body.id).filter(|id| !is_gone(*id)).collect();
        let mut parts: usize = self.entries.iter().map(|entry| entry.body.parts.len()).sum();
        let mut newcomers = Vec::with_capacity(added.size_hint().0);
        for (index, body) in added.enumerate() {
            let at = path_of(index);
            check_body(&body, &at)?;
            self.check_parts(&body, &at)?;
            self.check_slack(body.margin, || format!("{at}.margin"))?;
            self.check_slack(body.deviation, || format!("{at}.deviation"))?;
            if !taken.insert(body.id) {
                return Err(DeclarationError::new(format!("{at}.id"), Problem::IdTaken));
            }
            if taken.len() > self.limits.bodies_max {
                return Err(DeclarationError::new(list.into(), Problem::TooManyBodies));
            }
            parts += body.parts.len();
            if parts > self.limits.parts_max {
                return Err(DeclarationError::new(at, Problem::TooManyParts));
            }
            let Some(entry) = Entry::new(body) else {
                return Err(DeclarationError::new(format!("{at}.pose"), Problem::TooFar));
            };
            newcomers.push(entry);
        }
        Ok(newcomers)
    }

    /// After bodies came and went: what is known of pairs, under the new indices. `gone` is sorted;
    /// a body that is replaced by another one with its id is gone, too.
    fn renumber(&mut self, old_ids: &[BodyId], gone: &[BodyId]) {
        let stays = |id: &BodyId| gone.binary_search(id).is_err();
        let new_index: Vec<Option<u32>> =
            old_ids.iter().map(|id| self.index_of(*id).filter(|_| stays(id))).collect();
        let renumbered = |key: &PairKey| {
            let p = new_index[key.p as usize]?;
            let q = new_index[key.q as usize]?;
            Some(PairKey { p, q }).filter(|key| self.book.is_enabled(*key))
        };
        let mut contacts = BTreeMap::new();
        for (key, began) in &self.contacts {
            match renumbered(key) {
                Some(key) => {
                    contacts.insert(key, *began);
                }
                None => self.ended.push((old_ids[key.p as usize], old_ids[key.q as usize])),
            }
        }
        // Whoever was told of two ids is told again if another body bears one of them.
        let under_ids = |key: &PairKey| {
            let [p, q] = [key.p, key.q].map(|at| self.index_of(old_ids[at as usize]));
            Some(PairKey { p: p?, q: q? }).filter(|key| self.book.is_enabled(*key))
        };
        let noted = self.noted.iter().filter_map(|(key, noted)| match renumbered(key) {
            Some(key) => Some((key, *noted)),
            None => Some((under_ids(key)?, Noted::OF_ANOTHER)),
        });
        let noted: BTreeMap<PairKey, Noted> = noted.collect();
        self.contacts = contacts;
        self.noted = noted;
        let simple = self.simple_bodies();
        self.table.renumber(simple, |index| new_index[index as usize]);
    }
}

/// That there are no parts without volume beside polyhedra in a scene of these bodies, of which the
/// newcomers and those that change may be to blame.
fn check_beside_meshes(
    bodies: &[&Body],
    newcomers: &[Entry],
    path_of: &dyn Fn(usize) -> String,
    changed: &[BodyChange],
) -> Result<(), DeclarationError> {
    let has = |is: fn(&Part) -> bool| bodies.iter().any(|body| body.parts.iter().any(is));
    if !has(Part::is_region) || !has(Part::is_flat) {
        return Ok(());
    }
    let lists = newcomers.iter().map(|entry| &entry.body.parts[..]);
    let lists = lists.chain(changed.iter().map(|change| &change.parts[..]));
    let lists: Vec<&[Part]> = lists.collect();
    let first = |is: fn(&Part) -> bool| {
        let found = lists.iter().map(|parts| parts.iter().position(is));
        found.enumerate().find_map(|(list, part)| Some((list, part?)))
    };
    let (list, part) = first(Part::is_flat).or_else(|| first(Part::is_region)).unwrap_or((0, 0));
    let path = match list.checked_sub(newcomers.len()) {
        None => path_of(list),
        Some(change) => format!("changed_bodies[{change}]"),
    };
    let path = format!("{path}.parts[{part}]");
    Err(DeclarationError::new(path, Problem::FlatBesideMesh))
}
