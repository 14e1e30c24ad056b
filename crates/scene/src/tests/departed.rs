//! Callers who leave while their frame is answered.

use std::cell::Cell;

use super::*;
use crate::memory::runner::Runner;
use crate::{Batch, Between, PairState, TooManyPairs, Unanswered};
use clearance_geometry::until::Until;

/// Has the caller leave when so many pairs, or batches of them, have been worked on.
struct Impatient {
    work_left: Cell<u64>,
    until: Until,
}

impl Impatient {
    fn after(work: u64) -> Self {
        Self { work_left: Cell::new(work), until: Until::default() }
    }

    fn count(&self) {
        self.work_left.set(self.work_left.get().saturating_sub(1));
        if self.work_left.get() == 0 {
            self.until.cancel();
        }
    }

    /// Answers, and says whether the caller has waited for it.
    fn answer(&self, scene: &mut Scene, questions: &Questions) -> Option<Arc<Report>> {
        match scene.answer(questions, self, &self.until) {
            Ok(report) => Some(report),
            Err(unanswered) => {
                assert_eq!(unanswered, Unanswered::CallerLeft);
                None
            }
        }
    }
}

impl Runner for Impatient {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        for item in items {
            work(item);
            self.count();
        }
    }

    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        for batch in batches {
            work(batch);
            self.count();
        }
    }
}

/// What clients ask in turn.
fn asked() -> Vec<Questions> {
    let plain = Questions::default();
    let between = Some(Between::default());
    let near = Questions { listed: Listed::Near, distances: true, depths: true, ..plain };
    vec![
        plain,
        Questions { impacts: true, ..plain },
        Questions { between, impacts: true, ..plain },
        Questions { normals: true, polygons: true, ..near },
        Questions { listed: Listed::Nothing, nearest: 3, below: Some(0.1), ..plain },
        Questions { listed: Listed::All, between, ..near },
        Questions { nearest: 5, impacts: true, ..near },
    ]
}

/// What must be the same whether or not frames before were given up.
fn said(report: &Report) -> impl PartialEq + std::fmt::Debug + use<> {
    let of_pair = |pair: &super::super::PairReport| (pair.p, pair.q, pair.verdict);
    let pairs: Vec<_> = report.pairs.iter().map(of_pair).collect();
    let of_event =
        |event: &super::super::Event| (event.kind, event.p, event.q, event.verdict, event.bracket);
    let told: Vec<_> = report.events.iter().map(of_event).collect();
    let ranked: Vec<_> = report.ranking.iter().map(|pair| (pair.p, pair.q)).collect();
    let frames = (report.frame, report.previous, report.frames_skipped);
    (frames, report.tally, pairs, told, ranked)
}

/// Of each question some frames are given up at some stage, so that every stage is.
fn a_frame_that_is_given_up_counts_as_not_answered(bodies: Vec<Body>, release_margin: f64) {
    let declaration = Declaration { bodies, release_margin, ..Declaration::default() };
    let mut scene = declare(declaration);
    let mut random = Random(91);
    let (mut given_up, mut answered, mut told) = (0, 0, 0);
    let (questions, mut current) = (asked(), 0);
    let mut twin = scene.clone();
    for id in 1..400 {
        let next = wander(&scene, id, &mut random);
        scene.apply(&next).unwrap();
        twin.apply(&next).unwrap();
        if random.below(3) == 0 {
            current = random.below(questions.len() as u32) as usize;
        }
        let work = if random.below(2) == 0 { random.below(40) } else { random.below(300) };
        let Some(report) = Impatient::after(work.into()).answer(&mut scene, &questions[current])
        else {
            given_up += 1;
            assert_eq!(scene.remembered_report(id), None);
            assert_eq!(scene.contact_count(), twin.contact_count());
            continue;
        };
        let expected = twin.answer(&questions[current], &Serial, Until::never()).unwrap();
        assert_eq!(said(&report), said(&expected), "frame {id}, {:?}", questions[current]);
        answered += 1;
        told += report.events.len();
    }
    let counts = [given_up, answered, told];
    assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
}

#[test]
fn a_frame_of_compounds_that_is_given_up_counts_as_not_answered() {
    a_frame_that_is_given_up_counts_as_not_answered(tumbling(12, 92), 0.05);
}

#[test]
fn a_frame_of_simple_bodies_that_is_given_up_counts_as_not_answered() {
    let mut random = Random(93);
    let solid = |id| Body::solid(id, Arc::new(samples::ball(20, u64::from(id))));
    let bodies = (1..16).map(|id| solid(id).placed(drift(&mut random))).collect();
    a_frame_that_is_given_up_counts_as_not_answered(bodies, 0.0);
}

#[test]
fn a_frame_that_is_given_up_and_sent_again_is_answered() {
    let bodies =
        vec![Body::solid(1, cube(0.5)), Body::solid(2, cube(0.5)).placed(at(3.0, 0.0, 0.0))];
    let mut scene = open(bodies);
    let next = frame(1, vec![moved(2, at(0.5, 0.1, 0.2))]);
    scene.apply(&next).unwrap();
    assert_eq!(Impatient::after(1).answer(&mut scene, &Questions::default()), None);
    let report = step(&mut scene, &next, &Questions::default());
    assert_eq!(events(&report), [(EventKind::Began, 1, 2)]);
}

/// The pair was looked at before the ranking failed, and slept through the next frame: neither the
/// beginning of its contact nor the end was ever told.
#[test]
fn a_frame_that_ranks_too_many_pairs_loses_no_event() {
    let solid = |id| Body::solid(id, cube(0.5)).placed(at(f64::from(id) * 3.0, 0.0, 0.0));
    let declaration = Declaration { bodies: (1..6).map(solid).collect(), ..Declaration::default() };
    let limits = Limits { pairs_max: 4, ..LIMITS };
    let mut scene = Scene::open(declaration, &METHODS[0], limits).unwrap();
    let plain = Questions { listed: Listed::Nothing, ..Questions::default() };
    let ranked = Questions { nearest: 6, ..plain };
    scene.answer(&plain, &Serial, Until::never()).unwrap();
    for (id, x, kind) in [(1, 5.5, EventKind::Began), (3, 4.0, EventKind::Ended)] {
        scene.apply(&frame(id, vec![moved(1, at(x, 0.0, 0.0))])).unwrap();
        let too_many = scene.answer(&ranked, &Serial, Until::never());
        assert_eq!(too_many.err(), Some(TooManyPairs { pairs_max: 4 }.into()));
        let next = frame(id + 1, vec![moved(1, at(x + 1e-3, 0.0, 0.0))]);
        assert_eq!(events(&step(&mut scene, &next, &plain)), [(kind, 1, 2)]);
    }
}

/// A pair that is looked at for a caller who leaves has room in its verdict from then on; but what
/// is to be told of it was not.
#[test]
fn a_frame_that_is_given_up_loses_no_event_of_a_pair_that_sleeps_then() {
    let bodies =
        vec![Body::solid(1, cube(0.5)), Body::solid(2, cube(0.5)).placed(at(3.0, 0.0, 0.0))];
    let mut scene = open(bodies);
    let plain = Questions { listed: Listed::Nothing, ..Questions::default() };
    scene.answer(&plain, &Serial, Until::never()).unwrap();
    for (id, x, kind) in [(1, 0.5, EventKind::Began), (3, 1.2, EventKind::Ended)] {
        scene.apply(&frame(id, vec![moved(2, at(x, 0.0, 0.0))])).unwrap();
        assert_eq!(Impatient::after(1).answer(&mut scene, &plain), None);
        let next = frame(id + 1, vec![moved(2, at(x + 1e-3, 0.0, 0.0))]);
        assert_eq!(events(&step(&mut scene, &next, &plain)), [(kind, 1, 2)]);
    }
}
