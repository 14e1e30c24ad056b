//! Witnesses, order and threads change no answer; any server can go on.

mod named;

use std::collections::VecDeque;

use super::*;
use crate::memory::runner::Runner;
use crate::methods::AskedOf;
use crate::pair_key::PairKey;
use crate::pairs::notes::Witnesses;
use crate::pairs::report::{Counters, PairReport};
use crate::pairs::state::PairState;
use crate::{Batch, Between, Methods, PairMargin, Rules};
use clearance_geometry::claim::Outcome;
use clearance_geometry::effort::Cost;
use clearance_geometry::hierarchy::Feature;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::until::Until;
use clearance_geometry::witness::{FeatureMemory, Memory};

/// What a scene remembers of its pairs before each frame.
#[derive(Clone, Copy, Debug, PartialEq)]
enum History {
    /// Nothing.
    Cold,
    /// What the last frame left.
    Warm,
    /// What a frame long ago left.
    Stale,
    /// What the last frame left of other pairs.
    Foreign,
    /// What nobody would leave.
    Hostile,
}

const HISTORIES: [History; 5] =
    [History::Cold, History::Warm, History::Stale, History::Foreign, History::Hostile];

/// So many frames ago is long.
const STALE_FRAMES: usize = 3;

fn hostile(random: &mut Random) -> Witness {
    let numbers = [f64::NAN, f64::INFINITY, -1e308, 5e-324, 0.0, -1.0, 1e200];
    let mut number = || numbers[random.below(7) as usize];
    let direction = Vec3::new(number(), number(), number());
    let mut index = || [0, 1, 3, 1000, u32::MAX][random.below(5) as usize];
    let pairs: Vec<VertexPair> = (0..6).map(|_| VertexPair { i: index(), j: index() }).collect();
    let features = [Feature::Face(index()), Feature::Edge(index()), Feature::Vertex(index())];
    let closest = vec![[features[0], features[1]], [features[2], features[0]]];
    let memory = match random.below(4) {
        0 => Memory::None,
        1 if pairs[0].i.is_multiple_of(2) => Memory::FacesAlong([pairs[1].i, pairs[1].j]),
        1 => Memory::FaceOfP(pairs[0].i),
        2 => Memory::WorkingSet(Box::default()),
        _ => Memory::Features(Box::new(FeatureMemory { closest, start: pairs[0].j })),
    };
    let count = random.below(7) as usize;
    let pairs = pairs.into_iter().take(count).collect();
    Witness { direction: Some(direction), pairs, memory }
}

impl History {
    /// Makes a scene remember this. `past` are the scenes after earlier frames, the oldest first.
    fn rewrite(self, scene: &mut Scene, past: &VecDeque<Scene>, random: &mut Random) {
        match self {
            Self::Cold => scene.forget_witnesses(),
            Self::Warm => {}
            Self::Stale => {
                let old: BTreeMap<PairKey, Witnesses> =
                    past.front().map_or_else(BTreeMap::new, |old| {
                        let mut old = old.clone();
                        let mut known = BTreeMap::new();
                        old.table.rewrite(|state| {
                            known.insert(state.key, state.witnesses.clone());
                        });
                        known
                    });
                scene.table.rewrite(|state| {
                    if let Some(old) = old.get(&state.key) {
                        state.witnesses = old.clone();
                    }
                });
            }
            Self::Foreign => {
                let mut all = Vec::new();
                every_witness(scene, |place| all.push(place.clone()));
                let middle = random.below(all.len() as u32) as usize;
                all.rotate_left(middle);
                let mut all = all.into_iter();
                every_witness(scene, |place| *place = all.next().unwrap());
            }
            Self::Hostile => every_witness(scene, |place| *place = hostile(random)),
        }
    }
}

/// The witness of every pair of parts of every pair remembered, made if there was none.
fn every_witness(scene: &mut Scene, mut change: impl FnMut(&mut Witness)) {
    let methods = scene.methods;
    let parts: Vec<u32> = scene.bodies().map(|body| body.parts.len() as u32).collect();
    scene.table.rewrite(|state| {
        for i in 0..parts[state.key.p as usize] {
            for j in 0..parts[state.key.q as usize] {
                let named = [AskedOf::Verdict, AskedOf::Distance, AskedOf::FirstContact];
                let alone = named.into_iter().filter(|asked| methods.is_named(*asked));
                for alone in [None].into_iter().chain(alone.map(Some)) {
                    state.witnesses.of(i, j, alone);
                }
            }
        }
        state.witnesses.all_mut().for_each(&mut change);
    });
}

/// Compounds of every kind in a crowd, some with margins, pivots and deviations; and far from them
/// a cube that turns as near a wall as rounding lets it.
fn crowd(count: u32, seed: u64) -> Declaration {
    let mut random = Random(seed);
    let mut bodies = tumbling(count, seed);
    for body in &mut bodies {
        body.margin = [0.0, 0.0, 0.05, 0.4, -0.1][random.below(5) as usize];
        body.pivot = if random.below(2) == 0 { Vec3::zeros() } else { random.vector() };
        body.deviation = if random.below(5) == 0 { 1e-3 } else { 0.0 };
    }
    let own = PairMargin { pair: [bodies[0].id, bodies[1].id], margin: 1.0 };
    let ignored = [bodies[2].id, bodies[0].id];
    let wall = Arc::new(samples::cuboid(1.0, 5.0, 5.0));
    bodies.push(Body::solid(500, cube(1.0)).placed(at(0.0, 64.0, 0.0)));
    bodies.push(Body::solid(501, wall).placed(at(1.0 + 2f64.sqrt(), 64.0, 0.0)));
    let rules = Rules { margins: vec![own], ignored_pairs: vec![ignored], ..Rules::default() };
    Declaration { bodies, rules, release_margin: 0.02, ..Declaration::default() }
}

/// A frame of the crowd: bodies rest, travel, turn about their pivots, or do both, now and then
/// far.
fn travel(scene: &Scene, id: u64, random: &mut Random) -> Frame {
    let mut moves = Vec::new();
    for body in scene.bodies() {
        let reach = [0.02, 0.2, 2.0][random.below(3) as usize];
        let turn = random.vector() * reach;
        let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
        let way = random.vector() * reach;
        let turned = turn.compose(&Pose { translation: Vec3::zeros(), ..body.pose });
        let pivot = body.pose.apply_rounded(&body.pivot);
        let about_pivot = pivot - turned.apply_rounded(&body.pivot);
        let pose = match (body.id.0, random.below(4)) {
            (500, _) => {
                let quarter = [1.0, 0.0, 0.0, 1.0];
                let quarter = Pose::from_quaternion(Vec3::zeros(), quarter).unwrap();
                let turned = quarter.compose(&Pose { translation: Vec3::zeros(), ..body.pose });
                Pose { translation: body.pose.translation, ..turned }
            }
            (501, _) | (_, 0) => continue,
            (_, 1) => Pose { translation: body.pose.translation + way, ..body.pose },
            (_, 2) => Pose { translation: about_pivot, ..turned },
            _ => Pose { translation: about_pivot + way, ..turned },
        };
        moves.push(moved(body.id.0, pose));
    }
    frame(id, moves)
}

/// How each pair stands, how far apart and how deep it is, for how long a way it is in contact, and
/// whether and when it meets.
fn everything() -> Questions {
    let (along, between) = (Some(Vec3::new(1.0, -2.0, 0.5)), Some(Between::default()));
    Questions { distances: true, depths: true, along, between, ..all() }
}

/// How often each outcome was seen, by `Outcome as usize`, and each verdict.
#[derive(Debug, Default)]
struct Seen {
    verdicts: [u32; 3],
    outcomes: [u32; 3],
    within: u32,
    /// Ranges that begin later, and none.
    ranges: [u32; 2],
}

impl Seen {
    fn count(&mut self, report: &Report) {
        for pair in &report.pairs {
            self.verdicts[pair.verdict.unwrap() as usize] += 1;
            self.outcomes[pair.first_contact.as_ref().map_or(0, |c| c.outcome as usize)] += 1;
            let is_near =
                pair.verdict == Some(Verdict::Separated) && pair.within_margin == Some(true);
            self.within += u32::from(is_near);
            let Some(along) = &pair.along else { continue };
            self.ranges[0] += u32::from(along.span.is_some_and(|span| span.enter[0] > 0.0));
            self.ranges[1] += u32::from(along.span.is_none());
        }
    }

    #[track_caller]
    fn is_everything(&self) {
        let others = self.ranges.iter().chain([&self.within]);
        let counts = self.verdicts.iter().skip(2).chain(&self.outcomes).chain(others);
        assert!(self.verdicts[0] > 0 && counts.into_iter().all(|count| *count > 0), "{self:?}");
    }
}

#[track_caller]
fn meet(a: [f64; 2], b: [f64; 2], what: &str) {
    assert!(a[0] <= b[1] && b[0] <= a[1], "{what}: {a:?} and {b:?}");
}

/// What must be the same whatever is remembered: all but proofs, last bits and cost.
#[track_caller]
fn agree(found: &PairReport, expected: &PairReport, what: &str) {
    let of = |pair: &PairReport| (pair.verdict, pair.within_margin, pair.stopped);
    let what = &format!("{what}, bodies {} and {}", expected.p.0, expected.q.0);
    assert_eq!(of(found), of(expected), "{what}");
    let distance = |pair: &PairReport| pair.distance.as_ref().map(|d| [d.lower, d.upper]);
    let depth = |pair: &PairReport| pair.depth.as_ref().map(|d| [d.depth.lower, d.depth.upper]);
    for bracket in [&distance as &dyn Fn(&PairReport) -> Option<[f64; 2]>, &depth] {
        assert_eq!(bracket(found).is_some(), bracket(expected).is_some(), "{what}");
        if let Some((a, b)) = bracket(found).zip(bracket(expected)) {
            meet(a, b, what);
        }
    }
    // Ranges are exact to the last bit.
    let range = |pair: &PairReport| pair.along.as_ref().map(|range| range.span);
    assert_eq!(range(found), range(expected), "{what}");
    let (a, b) = (found.first_contact.as_ref().unwrap(), expected.first_contact.as_ref().unwrap());
    assert_eq!(a.outcome, b.outcome, "{what}: {a:?} and {b:?}");
    meet([a.t_free, a.t_contact], [b.t_free, b.t_contact], what);
}

/// What of the events must be the same. Those of one time may change places.
fn told(report: &Report) -> Vec<(EventKind, BodyId, BodyId, Option<Verdict>)> {
    let of_event = |event: &super::super::Event| (event.kind, event.p, event.q, event.verdict);
    let mut told: Vec<_> = report.events.iter().map(of_event).collect();
    told.sort_by_key(|event| (event.0, event.1, event.2));
    told
}

/// Steps a crowd from every history; every report must agree with that from cold.
fn every_history_agrees(methods: Methods, start: &Declaration, frames: u64, seen: &mut Seen) {
    let mut cold = Scene::open(start.clone(), methods, LIMITS).unwrap();
    let asked = &everything();
    cold.answer(asked, &Serial, Until::never()).unwrap();
    let mut scenes = vec![cold; HISTORIES.len()];
    let (mut past, mut random) = (VecDeque::new(), Random(51));
    for id in 1..=frames {
        let next = travel(&scenes[0], id, &mut random);
        let mut expected: Option<Arc<Report>> = None;
        for (scene, history) in scenes.iter_mut().zip(HISTORIES) {
            history.rewrite(scene, &past, &mut random);
            let found = step(scene, &next, asked);
            let Some(expected) = &expected else {
                seen.count(&found);
                expected = Some(found);
                continue;
            };
            let what = format!("{methods:?}, frame {id}, {history:?}");
            assert_eq!((found.tally, found.pairs.len()), (expected.tally, expected.pairs.len()));
            for (a, b) in found.pairs.iter().zip(&expected.pairs) {
                assert_eq!((a.p, a.q, a.deciding), (b.p, b.q, b.deciding), "{what}");
                agree(a, b, &what);
                let times = |pair: &PairReport| {
                    let found = pair.first_contact.clone().unwrap();
                    (found.outcome == Outcome::Undecided).then_some([found.t_free, found.t_contact])
                };
                assert_eq!(times(a), times(b), "undecided is told as from cold: {what}");
            }
            assert_eq!(told(&found), told(expected), "{what}");
        }
        past.push_back(scenes[1].clone());
        if past.len() > STALE_FRAMES {
            past.pop_front();
        }
    }
}

#[test]
fn no_witness_changes_what_a_session_of_any_method_is_told() {
    let mut seen = Seen::default();
    for method in METHODS {
        let (seeds, frames) =
            if method.name == METHODS[0].name { (50..52, 6) } else { (52..53, 2) };
        seeds.for_each(|seed| {
            every_history_agrees(method.into(), &crowd(6, seed), frames, &mut seen);
        });
    }
    seen.is_everything();
}

/// Some parts of the crowd are rounded, by little or by much.
#[test]
fn no_witness_changes_what_a_session_with_rounded_bodies_is_told() {
    let mut seen = Seen::default();
    for seed in 57..61 {
        let (mut start, mut random) = (crowd(6, seed), Random(seed));
        for part in start.bodies.iter_mut().flat_map(|body| &mut body.parts) {
            part.radius = [0.0, 1e-3, 0.2, 0.7][random.below(4) as usize];
        }
        every_history_agrees((&METHODS[0]).into(), &start, 6, &mut seen);
    }
    let counts = seen.verdicts.iter().step_by(2).chain(&seen.outcomes).chain([&seen.within]);
    assert!(counts.into_iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn the_order_of_two_bodies_changes_no_answer() {
    let turn_around = |id: BodyId| BodyId(1000 - id.0);
    let (mut seen, mut random) = (Seen::default(), Random(56));
    let forth = crowd(7, 55);
    let mut back = forth.clone();
    back.bodies.iter_mut().for_each(|body| body.id = turn_around(body.id));
    let pairs = back.rules.ignored_pairs.iter_mut();
    pairs
        .chain(back.rules.margins.iter_mut().map(|entry| &mut entry.pair))
        .for_each(|pair| *pair = pair.map(turn_around));
    let [mut forth, mut back] = [declare(forth), declare(back)];
    for id in 1..=8 {
        let next = travel(&forth, id, &mut random);
        let mut next_back = next.clone();
        next_back.moves.iter_mut().for_each(|way| way.body = turn_around(way.body));
        let expected = step(&mut forth, &next, &everything());
        // P that moves along d comes upon Q as Q that moves along -d comes upon P.
        let from_other = Questions { along: everything().along.map(|d| -d), ..everything() };
        let found = step(&mut back, &next_back, &from_other);
        seen.count(&expected);
        assert_eq!(found.tally, expected.tally);
        let found: BTreeMap<(BodyId, BodyId), &PairReport> = found
            .pairs
            .iter()
            .map(|pair| ((turn_around(pair.q), turn_around(pair.p)), pair))
            .collect();
        for pair in &expected.pairs {
            agree(found[&(pair.p, pair.q)], pair, &format!("frame {id}"));
        }
    }
    seen.is_everything();
}

/// A report without what it cost.
fn without_cost(report: &Report) -> String {
    let cost = Counters { pairs_enabled: 0, bodies_moved: 0, ..report.counters };
    let counters = Counters { bodies_moved: report.counters.bodies_moved, ..Counters::default() };
    assert!(cost.cost.queries > 0, "something was asked");
    // Every digit of every number, and the sign of zero.
    format!("{:?}", Report { counters, ..report.clone() })
}

#[test]
fn bodies_may_be_declared_and_moved_in_any_order() {
    let sorted = crowd(7, 57);
    let mut shuffled = sorted.clone();
    shuffled.bodies.reverse();
    shuffled.bodies.swap(1, 4);
    shuffled.bodies.swap(0, 3);
    let [mut sorted, mut shuffled] = [declare(sorted), declare(shuffled)];
    let questions = Questions { certificates: true, ..everything() };
    let mut random = Random(58);
    for id in 1..6 {
        let next = travel(&sorted, id, &mut random);
        let mut reversed = next.clone();
        reversed.moves.reverse();
        let expected = step(&mut sorted, &next, &questions);
        let found = step(&mut shuffled, &reversed, &questions);
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "frame {id}");
    }
}

/// What a crowd in which bodies move by a hundredth of their size costs, warm and cold.
fn costs(questions: &Questions) -> [Cost; 2] {
    let mut warm = open(tumbling(12, 50));
    let mut cold = warm.clone();
    let mut random = Random(51);
    let mut costs = [Cost::default(); 2];
    for id in 1..12 {
        let mut moves = Vec::new();
        for body in warm.bodies() {
            let turn = random.vector() * 0.002;
            let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
            let turned = turn.compose(&Pose { translation: Vec3::zeros(), ..body.pose });
            let translation = body.pose.translation + random.vector() * 0.01;
            moves.push(moved(body.id.0, Pose { translation, ..turned }));
        }
        let next = frame(id, moves);
        cold.forget_witnesses();
        costs[0] += step(&mut warm, &next, questions).counters.cost;
        costs[1] += step(&mut cold, &next, questions).counters.cost;
    }
    costs
}

#[test]
fn a_witness_spares_most_of_the_work_on_verdicts() {
    let [warm, cold] = costs(&all());
    assert!(warm.steps * 10 <= cold.steps, "{warm:?} and {cold:?}");
    assert!(warm.supports * 3 <= cold.supports, "{warm:?} and {cold:?}");
    assert!(warm.witness_hits * 2 >= warm.queries && cold.witness_hits == 0, "{warm:?}");
}

#[test]
fn a_witness_spares_half_of_the_work_on_distances() {
    let [warm, cold] = costs(&Questions { distances: true, ..all() });
    assert!(warm.supports * 2 <= cold.supports, "{warm:?} and {cold:?}");
    assert!(warm.steps * 2 <= cold.steps, "{warm:?} and {cold:?}");
}

#[test]
fn a_witness_spares_half_of_the_steps_on_first_contacts() {
    // The verdicts at the start of the motion are part of the work; the proofs of freedom are too,
    // and cost the same supports wherever the search for them began.
    let [warm, cold] = costs(&Questions { between: Some(Between::default()), ..all() });
    assert!(warm.steps * 2 <= cold.steps, "{warm:?} and {cold:?}");
    assert!(warm.supports < cold.supports, "{warm:?} and {cold:?}");
}

/// Runs the items in some other order.
pub(super) struct Reversed;

impl Runner for Reversed {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        items.iter_mut().rev().for_each(|state| work(state));
    }

    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        batches.iter_mut().rev().for_each(work);
    }
}

#[test]
fn answers_are_bit_identical_in_any_order_of_the_pairs() {
    let start = open(tumbling(12, 60));
    let questions = Questions { distances: true, certificates: true, ..all() };
    let runners: [&dyn Runner; 2] = [&Serial, &Reversed];
    let mut reports: Vec<Vec<Arc<Report>>> = Vec::new();
    for runner in runners {
        let mut scene = start.clone();
        let mut random = Random(61);
        reports.push(
            (1..12)
                .map(|id| {
                    let next = wander(&scene, id, &mut random);
                    scene.step(&next, &questions, runner).unwrap().report
                })
                .collect(),
        );
    }
    for other in &reports[1..] {
        assert_eq!(&reports[0], other);
    }
}

#[test]
fn canonical_answers_are_bit_identical_after_any_history() {
    let questions = Questions {
        certificates: true,
        canonical: true,
        nearest: 4,
        below: Some(0.3),
        ..everything()
    };
    let mut histories = vec![declare(crowd(6, 70)); HISTORIES.len()];
    let (mut past, mut random) = (VecDeque::new(), Random(71));
    for id in 1..=6 {
        let next = travel(&histories[0], id, &mut random);
        // What nobody remembers: a server that has just been told the declared state.
        let mut fresh = Scene::open(histories[0].declaration(), &METHODS[0], LIMITS).unwrap();
        fresh.answer(&Questions::default(), &Serial, Until::never()).unwrap();
        let is_canonical = id % 2 == 0;
        let expected = step(&mut fresh, &next, &questions);
        for (scene, history) in histories.iter_mut().zip(HISTORIES) {
            history.rewrite(scene, &past, &mut random);
            if !is_canonical {
                step(scene, &next, &everything());
                continue;
            }
            let found = step(scene, &next, &questions);
            assert!(without_cost(&found) == without_cost(&expected), "frame {id}, {history:?}");
        }
        past.push_back(histories[1].clone());
    }
}

#[test]
fn another_scene_goes_on_and_no_event_is_lost_or_repeated() {
    let declaration =
        Declaration { bodies: tumbling(12, 80), release_margin: 0.05, ..Declaration::default() };
    let mut stays = declare(declaration);
    let mut moves_on = stays.clone();
    let mut random = Random(81);
    let mut told = 0;
    for id in 1..40 {
        let next = wander(&stays, id, &mut random);
        if random.below(4) == 0 {
            // Declared state only; the opening report must have nothing new to tell.
            let taken_over = moves_on.declaration();
            moves_on = Scene::open(taken_over, &METHODS[0], LIMITS).unwrap();
            let report = moves_on.answer(&Questions::default(), &Serial, Until::never()).unwrap();
            assert_eq!(events(&report), [], "before frame {id}");
        }
        let expected = step(&mut stays, &next, &Questions::default());
        let found = step(&mut moves_on, &next, &Questions::default());
        assert_eq!(found.events, expected.events, "frame {id}");
        assert_eq!(found.tally, expected.tally, "frame {id}");
        told += expected.events.len();
    }
    assert!(told > 20, "{told}");
}
