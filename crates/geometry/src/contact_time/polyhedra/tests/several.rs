//! Proofs of which of several bodies meet first: of what is found there is one, and none of
//! anything else.

use super::proof::{Found, Several, Unproven, prove_collision};
use super::proofs::{Made, made, made_of_hull, shift};
use super::*;
use crate::claim::{CollisionClaim, CollisionProof, MovingSolid, PairCover, Verdict};
use crate::effort::Stopped;
use crate::judge::{Refusal, judge_collision};

const STEPS_MAX: u64 = 1 << 14;

struct Scene<'a> {
    bodies: Vec<(&'a Made, Pose, Vec3)>,
}

/// What is claimed, so that it can be changed.
#[derive(Clone)]
struct Claimed {
    outcome: Outcome,
    times: [f64; 2],
    pair: Option<([u32; 2], Verdict)>,
    proof: CollisionProof,
}

impl Scene<'_> {
    fn several(&self) -> Vec<Several<'_>> {
        self.bodies
            .iter()
            .map(|(made, pose, velocity)| Several {
                shape: made.shape(*pose),
                travel: Travel::by(velocity),
            })
            .collect()
    }

    fn find(&self) -> Option<Collision> {
        let moving: Vec<Moving<'_>> = self
            .several()
            .iter()
            .map(|Several { shape, travel }| Moving {
                body: shape.body,
                pose: shape.pose,
                travel: *travel,
            })
            .collect();
        first_collision(&moving, &mut Effort::unlimited()).unwrap()
    }

    fn prove(&self, steps_max: u64, effort: &mut Effort<'_>) -> Found {
        prove_collision(&self.several(), self.find().as_ref(), steps_max, effort)
    }

    fn claimed(&self) -> Claimed {
        let Found { proof, open, why } = self.prove(STEPS_MAX, &mut Effort::unlimited());
        assert_eq!((open, why), (vec![], None));
        let found = self.find();
        Claimed {
            outcome: if found.is_some() { Outcome::Contact } else { Outcome::NoContact },
            times: found
                .as_ref()
                .map_or([1.0, 1.0], |found| [found.contact.t_free, found.contact.t_contact]),
            pair: found.map(|found| (found.pair.map(|place| place as u32), found.initial)),
            proof: proof.unwrap(),
        }
    }

    fn judge(&self, claimed: &Claimed, effort: &mut Effort<'_>) -> Result<(), Refusal> {
        let moving: Vec<MovingSolid<'_>> = self
            .bodies
            .iter()
            .map(|(made, pose, velocity)| MovingSolid {
                solid: made.shape(*pose).solid(),
                motion: Motion::Linear { velocity: *velocity },
            })
            .collect();
        let Claimed { outcome, times: [t_free, t_contact], pair, ref proof } = *claimed;
        let claim = CollisionClaim { outcome, t_free, t_contact, pair, proof };
        judge_collision(&moving, &claim, effort)
    }

    fn judged(&self, claimed: &Claimed) -> Result<(), Refusal> {
        self.judge(claimed, &mut Effort::unlimited())
    }
}

#[test]
fn the_first_collision_of_bodies_of_both_kinds_is_proven_and_no_later_one() {
    let kinds = [made(l_shape().mesh), made(u_shape().mesh), made(ring().mesh)];
    let hulls = [made_of_hull(ball(20, 5)), made_of_hull(block([0., 0.5], [0., 1.], [0., 1.]))];
    let kinds: Vec<&Made> = kinds.iter().chain(&hulls).collect();
    let [mut at_start, mut later, mut never, mut listed] = [0; 4];
    for seed in 0..if cfg!(debug_assertions) { 60 } else { 2_000 } {
        let mut random = Random(seed);
        let bodies: Vec<(&Made, Pose, Vec3)> = (0..5)
            .map(|_| {
                let kind = kinds[random.below(5) as usize];
                let place = random.vector() * 7.0;
                (kind, random.pose(place), random.vector() * 6.0)
            })
            .collect();
        let scene = Scene { bodies };
        let claimed = scene.claimed();
        assert_eq!(scene.judged(&claimed), Ok(()), "seed {seed}");
        let CollisionProof::Later { contact, free } = &claimed.proof else {
            at_start += 1;
            continue;
        };
        listed += free.len();
        never += usize::from(contact.is_none());
        later += usize::from(contact.is_some());
        // That nothing happens is no proof that something does, and what happens is not later.
        let mut lie = claimed.clone();
        (lie.outcome, lie.times, lie.pair) = (Outcome::NoContact, [1.0; 2], None);
        assert_eq!(scene.judged(&lie).is_ok(), contact.is_none(), "seed {seed}");
        if contact.is_some() {
            lie.clone_from(&claimed);
            lie.times = [claimed.times[1], claimed.times[1].next_up()];
            assert!(scene.judged(&lie).is_err(), "seed {seed}");
        }
    }
    assert!(
        at_start > 5 && later > 5 && never > 5 && listed > 30,
        "{at_start} {later} {never} {listed}"
    );
}

/// A peg that falls into the slot of a channel, one that falls past it, and one beside that, which
/// rests there.
fn three_pegs_and_a_channel() -> [Made; 2] {
    [made(u_shape().mesh), made_of_hull(block([0., 0.5], [0., 1.], [0., 1.]))]
}

fn falling<'a>([channel, peg]: &'a [Made; 2]) -> Scene<'a> {
    let down = Vec3::new(0.0, -8.0, 0.0);
    Scene {
        bodies: vec![
            (peg, shift(1.25, 5.0, 0.0), down),
            (channel, Pose::identity(), Vec3::zeros()),
            (peg, shift(3.25, 1.0, 0.0), down),
            (peg, shift(1.25, 6.5, 0.0), down),
            (peg, shift(90.0, 0.0, 0.0), Vec3::zeros()),
        ],
    }
}

#[test]
fn a_proof_about_several_bodies_that_is_tampered_with_is_refused() {
    let made = three_pegs_and_a_channel();
    let scene = falling(&made);
    let claimed = scene.claimed();
    assert_eq!(claimed.pair, Some(([0, 1], Verdict::Separated)));
    assert_eq!(scene.judged(&claimed), Ok(()));
    let refused = |tamper: &dyn Fn(&mut Claimed)| {
        let mut lie = claimed.clone();
        tamper(&mut lie);
        scene.judged(&lie).unwrap_err()
    };
    let listed = |claimed: &mut Claimed, change: &dyn Fn(&mut Vec<PairCover>)| {
        let CollisionProof::Later { free, .. } = &mut claimed.proof else { panic!() };
        change(free);
    };
    // Only the pegs in the slot are not beside each other and what is there: one pair needs a
    // cover.
    let CollisionProof::Later { free, .. } = &claimed.proof else { panic!() };
    assert_eq!(free.iter().map(|free| free.pair).collect::<Vec<_>>(), [[1, 3]]);
    assert_eq!(refused(&|lie| listed(lie, &Vec::clear)), Refusal::PairOpen(1, 3));
    // Listed twice, out of order, of one body, of a body that is not there, of the two that meet.
    let twice = |free: &mut Vec<PairCover>| free.push(free[0].clone());
    assert_eq!(refused(&|lie| listed(lie, &twice)), Refusal::PairOrder(2));
    for pair in [[3, 1], [1, 1], [1, 5], [0, 1]] {
        let other = |free: &mut Vec<PairCover>| free[0].pair = pair;
        assert_eq!(refused(&|lie| listed(lie, &other)), Refusal::PairOrder(0), "{pair:?}");
    }
    // The proof of one pair is none of another, and none of contact is none.
    let other = |free: &mut Vec<PairCover>| free[0].pair = [0, 2];
    assert!(matches!(refused(&|lie| listed(lie, &other)), Refusal::PairFails(0, 2, _)));
    let absent = |lie: &mut Claimed| {
        let CollisionProof::Later { contact, .. } = &mut lie.proof else { panic!() };
        *contact = None;
    };
    assert_eq!(refused(&absent), Refusal::PairOpen(0, 1));
    // Another pair, no pair, one that overlaps, and times that are none.
    let others = |lie: &mut Claimed| lie.pair = Some(([1, 3], Verdict::Separated));
    assert!(matches!(refused(&others), Refusal::PairFails(1, 3, _)));
    for pair in [None, Some(([1, 0], Verdict::Separated)), Some(([0, 5], Verdict::Separated))] {
        assert!(matches!(refused(&|lie| lie.pair = pair), Refusal::BoundFails(_)));
    }
    let overlapping = |lie: &mut Claimed| lie.pair = Some(([0, 1], Verdict::Overlapping));
    assert_eq!(refused(&overlapping), Refusal::BoundFails("separated at t = 0"));
    for times in [[0.5, 0.25], [f64::NAN, 0.5], [0.25, 2.0], [-1.0, 0.5]] {
        assert!(matches!(refused(&|lie| lie.times = times), Refusal::BoundFails(_)), "{times:?}");
    }
    // A peg that comes in from the side meets the other one before.
    let mut sideways = falling(&made);
    sideways.bodies[2].2 = Vec3::new(-40.0, 0.0, 0.0);
    assert_eq!(sideways.judged(&claimed), Err(Refusal::PairOpen(0, 2)));
}

#[test]
fn bodies_in_contact_at_the_start_are_proven_to_be_so_and_nothing_else_is() {
    let made = three_pegs_and_a_channel();
    let mut scene = falling(&made);
    scene.bodies[2].1 = shift(2.5, 1.0, 0.0);
    let claimed = scene.claimed();
    assert_eq!(claimed.pair, Some(([1, 2], Verdict::Overlapping)));
    assert_eq!(scene.judged(&claimed), Ok(()));
    for (pair, times) in [
        (([0, 2], Verdict::Overlapping), [0.0; 2]),
        (([1, 2], Verdict::Touching), [0.0; 2]),
        (([1, 2], Verdict::Separated), [0.0; 2]),
        (([1, 2], Verdict::Overlapping), [0.0, 0.5]),
    ] {
        let lie = Claimed { pair: Some(pair), times, ..claimed.clone() };
        assert!(scene.judged(&lie).is_err(), "{pair:?} {times:?}");
    }
    let lie = Claimed { outcome: Outcome::NoContact, times: [1.0; 2], pair: None, ..claimed };
    assert!(scene.judged(&lie).is_err());
}

/// With room for a part of it, that part is proven, and the rest is named with the reason.
#[test]
fn what_is_not_proven_of_several_bodies_is_named() {
    let made = three_pegs_and_a_channel();
    let scene = falling(&made);
    let unlimited = &mut Effort::unlimited();
    let Found { proof, open, why } = scene.prove(1, unlimited);
    assert_eq!((&open[..], why), (&[[0, 1], [1, 3]][..], Some(Unproven::TooLong)));
    let nothing = CollisionProof::Later { contact: None, free: vec![] };
    assert_eq!(proof, Some(nothing));
    let all = (1..STEPS_MAX).find(|&room| scene.prove(room, unlimited).why.is_none()).unwrap();
    let Found { proof, open, why } = scene.prove(all - 1, unlimited);
    assert_eq!((&open[..], why), (&[[1, 3]][..], Some(Unproven::TooLong)));
    assert!(matches!(proof, Some(CollisionProof::Later { contact: Some(_), .. })));
    let Found { open, why, .. } = scene.prove(STEPS_MAX, &mut Effort::with_steps(0));
    assert_eq!((open.len(), why), (2, Some(Unproven::Stopped(Stopped::Steps))));
    // Nor is it judged longer than the effort lasts.
    let claimed = scene.claimed();
    let judged = scene.judge(&claimed, &mut Effort::with_steps(3));
    assert_eq!(judged, Err(Refusal::Stopped(Stopped::Steps)));
}
