//! Proofs of bodies of many parts: told as far as a report has room, and memory is taken before.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{Batch, Between, PairState, Runner, Unanswered};
use clearance_geometry::claim::Outcome;
use clearance_geometry::until::Until;

/// A comb of so many teeth, each beside the next.
fn comb(id: u32, teeth: u32, z: f64) -> Body {
    let tooth = cube(0.25);
    let parts = (0..teeth).map(|k| Part {
        polytope: tooth.clone(),
        radius: 0.0,
        mesh: None,
        field: None,
        curved: None,
        body_from_part: Pose::translation(f64::from(k), 0.0, 0.0),
    });
    Body { parts: parts.collect(), ..Body::solid(id, tooth.clone()) }.placed(at(0.125, 0.0, z))
}

/// So many combs, the first two of which overlap.
fn combs(count: u32, teeth: u32) -> Scene {
    let height = |id: u32| if id == 0 { 0.75 } else { f64::from(id) };
    open((0..count).map(|id| comb(id, teeth, height(id))).collect())
}

/// Everything that proofs are made of.
fn proven() -> Questions {
    Questions {
        distances: true,
        depths: true,
        certificates: true,
        along: Some(Vec3::z()),
        between: Some(Between::default()),
        ..all()
    }
}

/// Has so much memory, and knows how much was taken at most.
struct Bounded {
    room: usize,
    taken: AtomicUsize,
}

impl Runner for Bounded {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        Serial.run(items, work);
    }

    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        Serial.run_batches(batches, work);
    }

    fn has_room(&self, bytes: usize) -> bool {
        let fits = self.taken.load(Ordering::Relaxed) + bytes <= self.room;
        fits && {
            self.taken.fetch_add(bytes, Ordering::Relaxed);
            true
        }
    }

    fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn answered(scene: &mut Scene, questions: &Questions, room: usize) -> (Arc<Report>, usize) {
    let runner = Bounded { room, taken: AtomicUsize::new(0) };
    let report = scene.answer(questions, &runner, Until::never()).unwrap();
    (report, runner.taken.into_inner())
}

/// Of forty bodies of 256 parts close to each other the proofs took 7.8 GB, of which a report of
/// 4 MB was sent.
#[test]
fn proofs_of_compounds_are_told_until_they_are_more_than_a_report_has_room_for() {
    let told = |proof_bytes_max| {
        let mut scene = combs(5, 12);
        step(&mut scene, &frame(1, vec![]), &Questions { proof_bytes_max, ..proven() })
    };
    let whole = told(usize::MAX);
    assert_eq!((whole.pairs.len(), whole.pairs_omitted), (10, 0));
    for pair in &whole.pairs {
        let overlaps = pair.verdict == Some(Verdict::Overlapping);
        assert_eq!(pair.proofs.len(), if overlaps { 1 } else { pair.proofs.len().max(1) });
        assert_eq!(pair.depth.is_some(), overlaps);
        assert_eq!(pair.along.as_ref().unwrap().of_parts.len(), 144);
        let gaps = pair.distance.as_ref().unwrap().gaps.len();
        assert!(gaps > 0 || overlaps, "{pair:?}");
    }
    let few = told(6_000);
    assert!(!few.pairs.is_empty() && few.pairs.len() < 10, "{} pairs", few.pairs.len());
    assert_eq!(few.pairs.len() as u64 + few.pairs_omitted, 10);
    assert_eq!(few.pairs[..], whole.pairs[..few.pairs.len()]);
    assert_eq!(few.tally, whole.tally);
    assert!(few.bytes() < whole.bytes());
}

#[test]
fn memory_is_taken_before_proofs_are_made_and_pairs_without_it_are_omitted() {
    let fresh = || {
        let mut scene = combs(5, 12);
        scene.apply(&frame(1, vec![])).unwrap();
        scene
    };
    let (whole, enough) = answered(&mut fresh(), &proven(), usize::MAX);
    assert!(enough >= whole.pairs.iter().map(|pair| pair.bytes()).sum(), "{enough}");
    let mut cut = 0;
    for room in [enough / 8, enough / 2, enough] {
        let (report, taken) = answered(&mut fresh(), &proven(), room);
        assert!(taken <= room && report.pairs.len() as u64 + report.pairs_omitted == 10);
        assert_eq!((report.tally, &report.events), (whole.tally, &whole.events));
        assert_eq!(report.pairs[..], whole.pairs[..report.pairs.len()]);
        assert!(report.pairs.iter().map(|pair| pair.bytes()).sum::<usize>() <= room);
        cut += u32::from(report.pairs.len() < 10);
    }
    assert!(cut >= 2, "{cut} of them were cut");
    // The places of the pairs take memory, too, and nothing is answered without them.
    let none = Bounded { room: 0, taken: AtomicUsize::new(0) };
    let refused = fresh().answer(&proven(), &none, Until::never());
    assert_eq!(refused, Err(Unanswered::NoRoom));
}

/// What was proven is told and not kept, and what is asked next is proven again.
#[test]
fn a_frame_after_a_proven_one_says_the_same_with_proofs_and_without() {
    let mut scene = combs(4, 12);
    let up = |id, z| frame(id, vec![moved(3, at(0.125, 0.0, z))]);
    step(&mut scene, &up(1, 3.25), &proven());
    let plain = Questions { certificates: false, ..proven() };
    let mut cold = combs(4, 12);
    step(&mut cold, &up(1, 3.25), &plain);
    for (id, z) in [(2, 2.75), (3, 2.25), (4, 4.0)] {
        let (with, without) =
            (step(&mut scene, &up(id, z), &proven()), step(&mut cold, &up(id, z), &plain));
        assert_eq!((with.tally, &with.events), (without.tally, &without.events));
        for (with, without) in with.pairs.iter().zip(&without.pairs) {
            assert_eq!((with.verdict, with.deciding), (without.verdict, without.deciding));
            let outcome =
                |pair: &crate::PairReport| pair.first_contact.as_ref().map(|way| way.outcome);
            assert_eq!(outcome(with), outcome(without));
            let way = with.first_contact.as_ref().unwrap();
            assert!(way.outcome == Outcome::Contact || !way.chains.is_empty(), "{way:?}");
            assert!(without.proofs.is_empty() && !with.proofs.is_empty());
        }
    }
}
