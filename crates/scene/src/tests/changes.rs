//! Rules and bodies that change entry by entry while the scene goes on.

use super::*;
use crate::declared::error::Problem;
use crate::pairs::report::Event;
use crate::{Between, BodyChange, FrameError, PairMargin, RuleChanges, Rules};

/// Two cubes that overlap, and a third one beside them.
fn cubes() -> Vec<Body> {
    let body = |id, x| Body::solid(id, cube(0.5)).placed(at(x, 0.0, 0.0));
    vec![body(1, 0.0), body(2, 0.8), body(3, 2.0)]
}

fn pair(a: u32, b: u32) -> [BodyId; 2] {
    [BodyId(a), BodyId(b)]
}

fn ruled(id: u64, changes: RuleChanges) -> Frame {
    Frame { rule_changes: Some(changes), ..frame(id, vec![]) }
}

/// A change of nothing.
pub(super) fn same(id: u32) -> BodyChange {
    BodyChange {
        id: BodyId(id),
        parts: Vec::new(),
        left_groups: Vec::new(),
        joined_groups: Vec::new(),
        fixed: None,
        category: None,
        mask: None,
        margin: None,
        continuous: None,
    }
}

fn changed(id: u64, change: BodyChange) -> Frame {
    Frame { changed: vec![change], ..frame(id, vec![]) }
}

fn reshaped(body: u32, h: f64) -> BodyChange {
    BodyChange { parts: Body::solid(body, cube(h)).parts, ..same(body) }
}

#[test]
fn rules_change_entry_by_entry_with_the_contacts_that_they_are_about() {
    let mut scene = open(cubes());
    use EventKind::{Began, Ended};
    let ignored = vec![pair(2, 1)];
    let changes = RuleChanges { added_ignored_pairs: ignored.clone(), ..Default::default() };
    let report = step(&mut scene, &ruled(1, changes.clone()), &all());
    assert_eq!(events(&report), [(Ended, 1, 2)]);
    assert_eq!((scene.pairs_enabled(), scene.contact_count()), (2, 0));
    // What is there may be added again, and is there once.
    step(&mut scene, &ruled(2, changes), &all());
    assert_eq!(scene.rules().ignored_pairs.len(), 1);
    let changes = RuleChanges {
        removed_ignored_pairs: vec![pair(1, 2)],
        set_margins: vec![PairMargin { pair: pair(3, 2), margin: 0.3 }],
        ..Default::default()
    };
    let report = step(&mut scene, &ruled(3, changes), &all());
    assert_eq!(events(&report), [(Began, 1, 2)]);
    let within: Vec<Option<bool>> = report.pairs.iter().map(|pair| pair.within_margin).collect();
    assert_eq!(within, [Some(true), Some(false), Some(true)]);
    let margin = PairMargin { pair: pair(2, 3), margin: 0.1 };
    let changes = RuleChanges { set_margins: vec![margin], ..Default::default() };
    let report = step(&mut scene, &ruled(4, changes), &all());
    assert_eq!(report.pairs[2].within_margin, Some(false));
    assert_eq!(scene.rules().margins, [margin]);
}

#[track_caller]
fn refused(scene: &mut Scene, frame: &Frame, path: &str, problem: Problem) {
    let before = format!("{:?}", scene.declaration());
    let Err(FrameError::Declaration(error)) = scene.apply(frame) else { panic!("was applied") };
    assert_eq!((error.path.as_str(), error.problem), (path, problem));
    assert_eq!(format!("{:?}", scene.declaration()), before, "nothing has changed");
}

#[test]
fn a_change_that_cannot_be_made_is_refused_with_its_path() {
    let rules = Rules { checked_pairs: vec![pair(1, 2)], ..Rules::default() };
    let mut scene = declare(Declaration { bodies: cubes(), rules, ..Declaration::default() });
    let mut check = |changes, path, problem| refused(&mut scene, &ruled(1, changes), path, problem);
    let none = RuleChanges::default;
    let changes = RuleChanges { removed_ignored_pairs: vec![pair(1, 2)], ..none() };
    check(changes, "rule_changes.removed_ignored_pairs[0]", Problem::NoSuchEntry);
    let changes = RuleChanges { removed_margins: vec![pair(1, 2)], ..none() };
    check(changes, "rule_changes.removed_margins[0]", Problem::NoSuchEntry);
    let changes = RuleChanges { removed_checked_pairs: vec![pair(2, 1)], ..none() };
    check(changes, "rule_changes.removed_checked_pairs", Problem::NoPairLeft);
    let changes = RuleChanges { added_checked_pairs: vec![pair(1, 9)], ..none() };
    check(changes, "rule_changes.added_checked_pairs[0]", Problem::UnknownBody);
    let changes = RuleChanges { added_ignored_pairs: vec![pair(1, 1)], ..none() };
    check(changes, "rule_changes.added_ignored_pairs[0]", Problem::SameBody);
    let margin = PairMargin { pair: pair(1, 2), margin: f64::NAN };
    let changes = RuleChanges { set_margins: vec![margin], ..none() };
    check(changes, "rule_changes.set_margins[0].margin", Problem::NotAMargin);
    let groups = vec![["arm".to_owned(), "cell".to_owned()]];
    let changes = RuleChanges { added_checked_groups: groups, ..none() };
    check(changes, "rule_changes.added_checked_groups[0].a", Problem::UnknownGroup);

    let wrong = changed(1, same(9));
    refused(&mut scene, &wrong, "changed_bodies[0].id", Problem::UnknownBody);
    let gone = Frame { removed: vec![BodyId(3)], ..changed(1, same(3)) };
    refused(&mut scene, &gone, "changed_bodies[0].id", Problem::UnknownBody);
    let leaves = BodyChange { left_groups: vec!["arm".into()], ..same(1) };
    let path = "changed_bodies[0].left_groups[0]";
    refused(&mut scene, &changed(1, leaves), path, Problem::NotInGroup);
    let margin = BodyChange { margin: Some(-1e300), ..same(1) };
    refused(&mut scene, &changed(1, margin), "changed_bodies[0].margin", Problem::NotAMargin);
    // One that takes the last pair away and brings another is no such thing.
    let changes = RuleChanges {
        removed_checked_pairs: vec![pair(1, 2)],
        added_checked_pairs: vec![pair(1, 3)],
        ..none()
    };
    scene.apply(&ruled(1, changes)).unwrap();
    assert_eq!(scene.rules().checked_pairs, [pair(1, 3)]);
}

#[test]
fn a_reshaped_body_keeps_the_contacts_that_last() {
    let mut scene = open(cubes());
    let asking = Questions { between: Some(Between::default()), ..all() };
    let report = step(&mut scene, &changed(1, reshaped(2, 0.4)), &asking);
    assert_eq!(events(&report), []);
    assert_eq!(verdicts(&report), brute_force(&scene));
    let report = step(&mut scene, &changed(2, reshaped(2, 0.1)), &asking);
    assert_eq!(events(&report), [(EventKind::Ended, 1, 2)]);
    // It is large at once, and not on a way from where it was; also when it moves, too.
    let large = Frame { moves: vec![moved(2, at(1.0, 0.0, 0.0))], ..changed(3, reshaped(2, 0.9)) };
    let report = step(&mut scene, &large, &asking);
    let told: Vec<([f64; 2], u32)> =
        report.events.iter().map(|event: &Event| (event.bracket, event.q.0)).collect();
    assert_eq!(told, [([1.0, 1.0], 2), ([1.0, 1.0], 3)]);
    assert_eq!(verdicts(&report), brute_force(&scene));
    let parts = [Body::solid(2, cube(0.1)).parts, Body::solid(2, cube(0.2)).parts].concat();
    let several = BodyChange { parts, ..same(2) };
    let report = step(&mut scene, &changed(4, several), &asking);
    assert_eq!(verdicts(&report), brute_force(&scene));
}

#[test]
fn masks_say_which_bodies_are_checked() {
    let mut bodies = cubes();
    (bodies[0].category, bodies[0].mask) = (0b01, 0b10);
    (bodies[1].category, bodies[1].mask) = (0b10, 0b11);
    (bodies[2].category, bodies[2].mask) = (0b10, 0b10);
    let mut scene = open(bodies);
    // The first and the third do not both look for each other.
    let checked = |report: &Report| verdicts(report).into_keys().collect::<Vec<_>>();
    assert_eq!(checked(&step(&mut scene, &frame(1, vec![]), &all())), [(1, 2), (2, 3)]);
    let blind = BodyChange { mask: Some(0b10), ..same(2) };
    let report = step(&mut scene, &changed(2, blind), &all());
    assert_eq!(events(&report), [(EventKind::Ended, 1, 2)]);
    assert_eq!(checked(&report), [(2, 3)]);
    let seen = BodyChange { category: Some(0b11), mask: Some(0b11), ..same(3) };
    assert_eq!(checked(&step(&mut scene, &changed(3, seen), &all())), [(1, 3), (2, 3)]);
    let again = declare(scene.declaration());
    assert_eq!(again.pairs_enabled(), 2);
}

#[test]
fn a_body_begins_to_ask_for_first_contacts_in_a_frame() {
    let plate = Arc::new(samples::cuboid(0.001, 5.0, 5.0));
    let bodies = vec![Body::solid(1, plate), Body::solid(2, cube(0.25)).placed(at(-2.0, 0.0, 0.0))];
    let mut scene = open(bodies);
    let fast = BodyChange { continuous: Some(true), ..same(2) };
    let through = Frame { moves: vec![moved(2, at(2.0, 0.0, 0.0))], ..changed(1, fast) };
    let report = step(&mut scene, &through, &Questions::default());
    assert_eq!(events(&report), [(EventKind::Began, 1, 2), (EventKind::Ended, 1, 2)]);
    let slow = BodyChange { continuous: Some(false), ..same(2) };
    let back = Frame { moves: vec![moved(2, at(-2.0, 0.0, 0.0))], ..changed(2, slow) };
    assert_eq!(events(&step(&mut scene, &back, &Questions::default())), []);
}
