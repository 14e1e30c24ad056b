//! No list of a frame or a filter takes more than its share: twice as long, it takes about twice as
//! long to be worked on, with all that it is compared with as long as it is.
//!
//! Names of a filter were compared with groups one by one, and so were those that a body leaves;
//! partners of a body were put in their places one by one; each change of a body copied all of its
//! groups; and what hangs on one link made a list of all its pairs.

use std::time::{Duration, Instant};

use super::changes::same;
use super::robots::placed;
use super::*;
use crate::query::{BodyFilter, SceneView};
use crate::robots::Attached;
use crate::{BodyChange, RobotChanges, RobotId, RuleChanges};
use clearance_samples::panda;

fn names(first: char, count: usize) -> Vec<String> {
    (0..count).map(|k| format!("{first}{k}")).collect()
}

/// Bodies far from each other, of which the first is in very many groups. None is checked against
/// another unless a list says so.
fn lonely(count: usize, groups: usize) -> Vec<Body> {
    let shape = cube(1.0);
    let body = |id: u32| Body {
        groups: if id == 0 { names('g', groups).into() } else { names('h', 1).into() },
        fixed: true,
        ..Body::solid(id, shape.clone()).placed(at(10.0 * f64::from(id), 0.0, 0.0))
    };
    (0..count as u32).map(body).collect()
}

fn lonely_scene(count: usize, groups: usize) -> Scene {
    declare(Declaration { bodies: lonely(count, groups), ..Declaration::default() })
}

/// The least of a few times: other things go on beside.
fn time(mut work: impl FnMut() -> Duration) -> Duration {
    (0..4).map(|_| work()).min().unwrap()
}

/// What `work` takes twice is less than three times what it takes once.
fn doubles(what: &str, size: usize, work: impl Fn(usize) -> Duration) {
    let [once, twice] = [size, 2 * size].map(|size| time(|| work(size)));
    // Times of a millisecond or two tell nothing.
    let most = 3 * once.max(Duration::from_millis(2));
    assert!(twice < most, "{what}: {once:?} for {size}, {twice:?} for twice as many");
}

fn applied(scene: &Scene, frame: &Frame) -> Duration {
    let mut scene = scene.clone();
    let begun = Instant::now();
    scene.apply(frame).unwrap();
    begun.elapsed()
}

const MANY: usize = 8_000;

#[test]
fn lists_of_names_take_twice_as_long_when_they_are_twice_as_long() {
    // Both lists grow: a body's groups, and those that are compared with them.
    let ask = |count: usize, filter: BodyFilter| {
        let scene = lonely_scene(4, count);
        let begun = Instant::now();
        let _ = SceneView::new(&scene, &filter, 1).unwrap();
        begun.elapsed()
    };
    doubles("groups of a filter", MANY, |count| {
        ask(count, BodyFilter { groups: names('g', count), ..BodyFilter::default() })
    });
    doubles("ignored groups of a filter", MANY, |count| {
        ask(count, BodyFilter { ignored_groups: names('g', count), ..BodyFilter::default() })
    });
    let with = |changed: Vec<BodyChange>| Frame { changed, ..frame(1, vec![]) };
    doubles("groups that a body leaves", MANY, |count| {
        let left_groups = names('g', count);
        applied(&lonely_scene(4, count), &with(vec![BodyChange { left_groups, ..same(0) }]))
    });
    doubles("groups that a body joins", MANY, |count| {
        let joined_groups = names('j', count);
        applied(&lonely_scene(4, count), &with(vec![BodyChange { joined_groups, ..same(0) }]))
    });
    doubles("changes of one body in many groups", MANY / 4, |count| {
        let join = |name: &String| BodyChange { joined_groups: vec![name.clone()], ..same(0) };
        applied(&lonely_scene(4, count), &with(names('j', count).iter().map(join).collect()))
    });
}

#[test]
fn lists_of_pairs_take_twice_as_long_when_they_are_twice_as_long() {
    // All are pairs of the last body, the others of which come from the last to the first.
    let pairs = |count: usize| -> Vec<[BodyId; 2]> {
        let last = BodyId(count as u32);
        (0..count as u32).rev().map(|id| [BodyId(id), last]).collect()
    };
    let ruled = |count: usize, changes: RuleChanges| {
        let frame = Frame { rule_changes: Some(changes), ..frame(1, vec![]) };
        applied(&lonely_scene(count + 1, 1), &frame)
    };
    let count = MANY;
    doubles("ignored pairs of one body", count, |count| {
        ruled(count, RuleChanges { added_ignored_pairs: pairs(count), ..RuleChanges::default() })
    });
    doubles("checked pairs of one body", count, |count| {
        ruled(count, RuleChanges { added_checked_pairs: pairs(count), ..RuleChanges::default() })
    });
}

/// A panda, at 20,000 and above, among bodies that its hand is to carry.
fn with_panda(bodies: usize) -> (Scene, Frame) {
    let robot = Arc::new(panda());
    let robots = vec![placed(50_000, &robot)];
    let scene =
        declare(Declaration { bodies: lonely(bodies, 1), robots, ..Declaration::default() });
    let on_hand = |id: u32| {
        let (body, link) = (BodyId(id), "panda_hand".to_owned());
        let touch_links = vec!["panda_leftfinger".to_owned()];
        (RobotId(50_000), Attached { body, link, link_from_body: None, touch_links })
    };
    let attached = (0..bodies as u32).map(on_hand).collect();
    let robots = RobotChanges { attached, ..Default::default() };
    (scene, Frame { robots, ..frame(1, vec![]) })
}

#[test]
fn what_hangs_on_one_link_takes_twice_as_long_when_it_is_twice_as_much() {
    doubles("attached bodies", MANY / 4, |count| {
        let (scene, attach) = with_panda(count);
        applied(&scene, &attach)
    });
    doubles("detached bodies", MANY / 4, |count| {
        let (mut scene, attach) = with_panda(count);
        scene.apply(&attach).unwrap();
        let detached = (0..count as u32).map(BodyId).collect();
        let robots = RobotChanges { detached, ..Default::default() };
        applied(&scene, &Frame { robots, ..frame(2, vec![]) })
    });
}

/// Pairs that move as one are not listed; they are left out of the pairs, and of their number.
#[test]
fn what_hangs_on_one_link_is_not_checked_against_itself_and_is_counted_so() {
    let (mut scene, attach) = with_panda(40);
    for id in [3, 5] {
        let change = BodyChange { fixed: Some(false), ..same(id) };
        let changed = Frame { changed: vec![change], ..frame(u64::from(id) - 2, vec![]) };
        scene.apply(&Frame { base: Some(scene.frame()), ..changed }).unwrap();
    }
    let before = scene.pairs_enabled();
    let ignored = vec![[BodyId(3), BodyId(5)], [BodyId(3), BodyId(7)]];
    let rule_changes = Some(RuleChanges { added_ignored_pairs: ignored, ..Default::default() });
    let base = Some(scene.frame());
    scene.apply(&Frame { id: 9, base, rule_changes, ..attach }).unwrap();
    let pairs = scene.book.enabled_pairs();
    assert_eq!(pairs.len() as u64, scene.pairs_enabled());
    let id = |index: u32| scene.id_of(index);
    let are_bodies = |pair: &&crate::PairKey| id(pair.q).0 < 50_000;
    assert_eq!(pairs.iter().filter(are_bodies).count(), 0, "all of them hang on the hand");
    // Two that were not fixed were checked against 38 others and each other.
    assert!(before >= 2 * 38 + 1 && scene.pairs_enabled() <= before - (2 * 38 + 1), "{before}");
    let names = |pair: &crate::PairKey| [pair.p, pair.q].map(id);
    let hand = scene.link_of(names(&pairs[0])[1]);
    assert!(hand.is_some(), "the links are checked still");
}
