//! The registry under abandonment, and pairs on any number of threads.

use super::*;
use crate::clock::ManualClock;
use crate::settings;
use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::{Random, polytope_of, sphere};
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_scene::{Body, BodyId, Declaration, Frame, Limits, Listed, Move, Questions, Scene};

#[derive(Debug)]
struct Weight(u64);

impl Resident for Weight {
    fn bytes(&self) -> u64 {
        self.0
    }
    fn slim(&mut self) {
        self.0 = 1;
    }
    fn summary(&self) -> Summary {
        Summary { bodies: self.0, ..Summary::default() }
    }
}

const IDLE: Duration = Duration::from_secs(10);

fn new(id: &str, session: Weight, replace: bool) -> NewSession<'_, Weight> {
    let quota = MemoryQuota::of_nobody();
    NewSession { id, session, idle_timeout: IDLE, quota, owner: None, incarnation: 1, replace }
}

fn registry(sessions_max: u64, bytes_max: u64) -> (Arc<ManualClock>, Registry<Weight>) {
    let clock = Arc::new(ManualClock::new());
    let session_bytes_max = bytes_max;
    let limits = settings::Limits { sessions_max, session_bytes_max, ..Default::default() };
    (clock.clone(), Registry::new(clock, &limits))
}

/// Forty messages of 4 MiB for one busy session waited for their turns, decoded: 5 GB.
#[test]
fn no_more_calls_than_the_limit_wait_for_one_session_with_their_frames() {
    let (_, registry) = registry(2, 100);
    let [a, b] = ["a", "b"].map(|id| registry.insert(new(id, Weight(1), false)).unwrap());
    let max = settings::Limits::default().session_calls_max();
    let mut admitted: Vec<_> = (0..max.value).map(|_| a.admit().unwrap()).collect();
    assert_eq!(a.admit().unwrap_err(), SessionError::Full(max));
    assert!(b.admit().is_ok(), "another session has calls of its own");
    admitted.pop();
    assert!(a.admit().is_ok());
}

#[test]
fn ten_thousand_abandoned_sessions_stay_within_the_limits_and_make_room_when_idle() {
    let (clock, registry) = registry(100, 500);
    let mut refused = 0;
    for k in 0..10_000 {
        let opened = registry.insert(new(&format!("s{k}"), Weight(7), false));
        refused += u64::from(matches!(opened, Err(SessionError::Full(_))));
        assert!(registry.count() <= 100 && registry.bytes() <= 500);
    }
    assert_eq!((registry.count(), registry.bytes(), refused), (53, 371, 10_000 - 53));
    clock.advance(IDLE + Duration::from_millis(1));
    assert!(registry.insert(new("late", Weight(7), false)).is_ok());
    assert_eq!((registry.count(), registry.bytes()), (1, 7));
}

#[tokio::test]
async fn a_session_that_outgrows_the_limit_gives_up_its_witnesses() {
    let (_, registry) = registry(10, 100);
    registry.insert(new("other", Weight(50), false)).unwrap();
    let slot = registry.insert(new("grows", Weight(10), false)).unwrap();
    slot.take_out().await.unwrap().0 = 1_000;
    assert_eq!(registry.bytes(), 51);
}

#[tokio::test]
async fn a_session_is_idle_only_when_it_is_in_and_nobody_is_attached() {
    let (clock, registry) = registry(10, 100);
    let slot = registry.insert(new("a", Weight(1), false)).unwrap();
    let held = slot.take_out().await.unwrap();
    clock.advance(IDLE * 2);
    assert_eq!(registry.expire(), 0);
    drop(held);
    let attachment = registry.attach(&slot, false).unwrap();
    clock.advance(IDLE * 2);
    assert_eq!(registry.expire(), 0);
    drop(attachment);
    assert_eq!(registry.expire(), 0);
    clock.advance(IDLE * 2);
    assert_eq!(registry.get("a", Credentials::default()).unwrap_err(), SessionError::Unknown);
    assert_eq!((registry.count(), registry.bytes()), (0, 0));
}

#[test]
fn a_second_attachment_is_refused_unless_it_takes_over() {
    let (_, registry) = registry(10, 100);
    let slot = registry.insert(new("a", Weight(1), false)).unwrap();
    let first = registry.attach(&slot, false).unwrap();
    assert_eq!(registry.attach(&slot, false).unwrap_err(), SessionError::Attached);
    let second = registry.attach(&slot, true).unwrap();
    assert!(!first.is_valid() && second.is_valid());
    drop(first);
    assert!(second.is_valid() && slot.shown().is_attached);
    drop(second);
    assert!(!slot.shown().is_attached);
}

#[tokio::test]
async fn a_session_closed_while_it_is_out_is_forgotten_when_it_comes_back() {
    let (_, registry) = registry(10, 100);
    let slot = registry.insert(new("a", Weight(5), false)).unwrap();
    let held = slot.take_out().await.unwrap();
    registry.insert(new("a", Weight(8), true)).unwrap();
    assert_eq!(registry.insert(new("a", Weight(8), false)).unwrap_err(), SessionError::Exists);
    drop(held);
    assert_eq!(registry.bytes(), 8);
    assert!(slot.take_out().await.is_err());
}

#[tokio::test]
async fn a_job_that_panics_loses_its_session_and_no_other() {
    let (_, registry) = registry(10, 100);
    let slot = registry.insert(new("a", Weight(5), false)).unwrap();
    registry.insert(new("b", Weight(3), false)).unwrap();
    let held = slot.take_out().await.unwrap();
    let job = std::panic::AssertUnwindSafe(move || {
        let _held = held;
        panic!("a bug, for the test");
    });
    assert!(std::panic::catch_unwind(job).is_err());
    assert_eq!(registry.get("a", Credentials::default()).unwrap_err(), SessionError::Unknown);
    assert_eq!((registry.count(), registry.bytes()), (1, 3));
}

#[test]
fn answers_are_bit_identical_on_one_two_and_eight_threads() {
    let limits = Limits {
        bodies_max: 999,
        parts_max: 999,
        classes_max: 1,
        pairs_max: 99_999,
        listed_max: 99_999,
    };
    let shape = Arc::new(polytope_of(&sphere(60, 1.0)));
    let mut random = Random::new(7);
    let place = |random: &mut Random| {
        let p = random.in_ball() * 5.0;
        Pose::translation(p.x, p.y, p.z)
    };
    let bodies: Vec<Body> =
        (0..40).map(|id| Body::solid(id, shape.clone()).placed(place(&mut random))).collect();
    let declaration = Declaration { bodies, ..Declaration::default() };
    let start = Scene::open(declaration, &METHODS[0], limits).unwrap();
    let questions = Questions {
        listed: Listed::All,
        distances: true,
        certificates: true,
        ..Questions::default()
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (mut scene, mut random) = (start.clone(), Random::new(8));
        pool.install(|| {
            let mut reports = Vec::new();
            for id in 1..6 {
                let moves = (0..40).map(|body| {
                    let nudge = random.in_ball() * 0.2;
                    let from = scene.bodies().nth(body as usize).map(|it| it.pose.translation);
                    let to: Vec3 = from.unwrap() + nudge;
                    Move::new(BodyId(body), Pose::translation(to.x, to.y, to.z))
                });
                let frame = Frame { id, moves: moves.collect(), ..Frame::default() };
                reports.push(scene.step(&frame, &questions, &Parallel).unwrap().report);
            }
            reports
        })
    };
    let one = run(1);
    assert!(one.iter().all(|report| report.tally.overlapping > 10));
    assert_eq!(one, run(2));
    assert_eq!(one, run(8));
}
