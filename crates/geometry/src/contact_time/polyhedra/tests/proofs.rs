//! Proofs: of what the searches find there is one, and a judge that shares nothing with them
//! accepts it; of what is not true there is none.

use arrayvec::ArrayVec;

use super::proof::{Unproven, prove_motion, prove_verdict};
use super::start::draw_cells;
use super::*;
use crate::claim::{
    Cover, CoverStep, Direction, Frame, InnerPoint, Link, SolidClaim, SolidMotionProof, SolidProof,
    Solids, Verdict,
};
use crate::judge::{self, Refusal, judge_solid_motion};
use crate::polyhedron::{HulledBody, Polyhedron};

const STEPS_MAX: u64 = 1 << 14;

pub(super) struct Made {
    body: Polyhedron,
    hull: Polytope,
    is_hull: bool,
}

pub(super) fn made(body: Polyhedron) -> Made {
    let hull = convex_hull(body.vertices()).unwrap().polytope;
    Made { body, hull, is_hull: false }
}

pub(super) fn made_of_hull(hull: Polytope) -> Made {
    let body = Polyhedron::of_polytope(&hull).unwrap().0;
    Made { body, hull, is_hull: true }
}

impl Made {
    pub(super) fn shape(&self, pose: Pose) -> HulledBody<'_> {
        HulledBody { body: &self.body, pose, hull: &self.hull, is_hull: self.is_hull }
    }
}

fn solids<'a>([p, q]: [&HulledBody<'a>; 2]) -> Solids<'a> {
    Solids { p: p.solid(), q: q.solid() }
}

fn judge_solids(solids: &Solids<'_>, proof: &SolidProof) -> Result<(), Refusal> {
    judge::judge_solids(solids, proof, &mut Effort::unlimited())
}

fn verdict_of([p, q]: [&HulledBody<'_>; 2]) -> (Verdict, Result<SolidProof, Unproven>) {
    let effort = &mut Effort::unlimited();
    let (found, faces) = verdict(
        PosedPolyhedron { body: p.body, pose: p.pose },
        PosedPolyhedron { body: q.body, pose: q.pose },
        effort,
    )
    .unwrap();
    let proof = prove_verdict([p, q], found, faces.as_ref(), STEPS_MAX, effort);
    if let Ok(proof) = &proof {
        assert_eq!(proof.verdict(), found);
        assert_eq!(judge_solids(&solids([p, q]), proof), Ok(()), "{proof:?}");
    }
    (found, proof)
}

struct Answer {
    found: FirstContact,
    proof: SolidMotionProof,
}

fn judged(
    [p, q]: [&HulledBody<'_>; 2],
    velocities: [Vec3; 2],
    answer: &Answer,
) -> Result<(), Refusal> {
    let contact = &answer.found.contact;
    let claim = SolidClaim {
        outcome: if contact.is_some() { Outcome::Contact } else { Outcome::NoContact },
        t_free: contact.as_ref().map_or(1.0, |contact| contact.t_free),
        t_contact: contact.as_ref().map_or(1.0, |contact| contact.t_contact),
        proof: &answer.proof,
    };
    let [of_p, of_q] = velocities.map(|velocity| Motion::Linear { velocity });
    let effort = &mut Effort::unlimited();
    judge_solid_motion(&solids([p, q]), [&of_p, &of_q], &claim, effort)
}

/// None for contact at t = 0.
fn motion_of([p, q]: [&HulledBody<'_>; 2], velocities: [Vec3; 2]) -> Option<Answer> {
    let effort = &mut Effort::unlimited();
    let travels = velocities.map(|velocity| Travel::by(&velocity));
    let [of_p, of_q] = [(p, travels[0]), (q, travels[1])].map(|(shape, travel)| Moving {
        body: shape.body,
        pose: shape.pose,
        travel,
    });
    let found = first_contact(&of_p, &of_q, effort).unwrap();
    if found.initial != Verdict::Separated {
        return None;
    }
    let proof = prove_motion([p, q], travels, found.contact.as_ref(), STEPS_MAX, effort).unwrap();
    let answer = Answer { found, proof };
    assert_eq!(judged([p, q], velocities, &answer), Ok(()));
    Some(answer)
}

pub(super) fn shift(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// Of large and of small bodies products of lengths left the range of numbers: then faces had no
/// normals, out of which a way might have led, and lines through both crossed nothing.
#[test]
fn bodies_of_any_size_are_proven_to_stand_as_they_do() {
    for (seed, expected) in [(18, Verdict::Touching), (33, Verdict::Overlapping)] {
        for exponent in [-700, 0, 700] {
            let mut random = Random(seed);
            let seed_step = |k: u64| i32::try_from(seed / k % 4).unwrap() - 1;
            let offset = [seed_step(1), seed_step(4), seed_step(16)];
            let [p, q] = [[0; 3], offset].map(|offset| {
                let body = draw_cells(offset, &mut random).unwrap().1;
                let points: Vec<Vec3> =
                    body.vertices().iter().map(|v| v * 2f64.powi(exponent)).collect();
                let effort = &mut Effort::unlimited();
                made(Polyhedron::new(&points, body.triangles(), effort).unwrap())
            });
            let stand = [&p.shape(Pose::identity()), &q.shape(Pose::identity())];
            let (found, proof) = verdict_of(stand);
            assert_eq!(found, expected, "seed {seed}");
            assert!(proof.is_ok(), "seed {seed}, 2^{exponent}: {proof:?}");
        }
    }
}

/// Everything lies on everything, and the grid is skewed: one in twenty of what touches had no
/// proof, as no way between the axes leads there. `GRID_CELLS` is how many get a proof.
#[test]
fn bodies_of_grid_cells_are_proven_to_stand_as_they_do() {
    let (mut proven, mut open, mut seed) = ([0; 3], [0; 3], 0);
    let count = std::env::var("GRID_CELLS").map_or(120, |count| count.parse().unwrap());
    while proven.iter().sum::<i32>() < count {
        seed += 1;
        let mut random = Random(seed);
        let Some((_, p)) = draw_cells([0; 3], &mut random) else { continue };
        let seed_step = |k: u64| i32::try_from(seed / k % 4).unwrap() - 1;
        let offset = [seed_step(1), seed_step(4), seed_step(16)];
        let Some((_, q)) = draw_cells(offset, &mut random) else { continue };
        let (p, q) = (made(p), made(q));
        let (found, proof) = verdict_of([&p.shape(Pose::identity()), &q.shape(Pose::identity())]);
        match proof {
            Ok(_) => proven[found as usize] += 1,
            Err(why) => {
                let reason =
                    if found == Verdict::Touching { Unproven::NoWay } else { Unproven::TooThin };
                assert_eq!(why, reason, "seed {seed}");
                open[found as usize] += 1;
            }
        }
    }
    eprintln!("separated, touching, overlapping: {proven:?} proven, {open:?} open");
    assert!(proven.iter().all(|n| *n > 10), "{proven:?} {open:?}");
    assert_eq!(open[Verdict::Separated as usize], 0);
    let touching = Verdict::Touching as usize;
    assert!(20 * open[touching] < proven[touching], "{proven:?} {open:?}");
    let overlapping = Verdict::Overlapping as usize;
    assert!(100 * open[overlapping] <= proven[overlapping], "{proven:?} {open:?}");
}

/// A dart and one half as large in one of its corners: the first triangles seen that show inner
/// points in common only touch, and of the lines tried none passed through both bodies, although
/// they are twelve across and share a ball of radius 0.18. Others of their triangles cross.
#[test]
fn bodies_are_proven_to_overlap_by_any_triangles_that_cross() {
    let large = [[3, -2, -3], [4, 0, -8], [0, 0, 0], [8, -8, -4]];
    let small = [[7, -2, -9], [8, 0, -14], [4, 0, -6], [12, -8, -10]];
    let triangles = [[0, 2, 1], [4, 5, 6], [0, 3, 2], [4, 6, 7], [0, 1, 5], [0, 5, 4]];
    let others = [[1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7]];
    let triangles = [triangles, others].concat();
    let dart = |outline: [[i32; 3]; 4], factors: [f64; 3]| {
        let above = outline.map(|[x, y, z]| [x, y, z + 2]);
        let points = [outline, above].concat();
        let place = |point: &[i32; 3]| Vec3::from(point.map(f64::from));
        let factors = Vec3::from(factors);
        let points: Vec<Vec3> =
            points.iter().map(|point| place(point).component_mul(&factors)).collect();
        made(Polyhedron::new(&points, &triangles, &mut Effort::unlimited()).unwrap())
    };
    let (p, q) = (dart(large, [1.0; 3]), dart(small, [-0.5, 0.5, -0.5]));
    let turned = [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0];
    let turned = Pose::from_matrix(Vec3::zeros(), turned).unwrap();
    let (found, proof) = verdict_of([&p.shape(Pose::identity()), &q.shape(turned)]);
    assert_eq!(found, Verdict::Overlapping);
    assert!(proof.is_ok(), "{proof:?}");
}

#[test]
fn motions_of_bodies_in_any_pose_are_proven_free_and_in_contact() {
    let small: Vec<Vec3> = ball(12, 7).vertices().iter().map(|v| v * 0.25).collect();
    let small = convex_hull(&small).unwrap().polytope;
    let solids: Vec<Made> = [l_shape().mesh, u_shape().mesh, ring().mesh]
        .into_iter()
        .map(made)
        .chain([made_of_hull(ball(20, 5)), made_of_hull(small)])
        .collect();
    let (mut met, mut free, mut cut) = (0, 0, 0);
    for seed in 0..if cfg!(debug_assertions) { 60 } else { 5_000 } {
        let mut random = Random(seed);
        let far = 10f64.powi(i32::try_from(random.below(6)).unwrap());
        let offset = random.vector() * far;
        // One after the other: in the slot of the second, or anywhere.
        let (pair, aside) = if seed % 2 == 0 {
            let inside =
                Vec3::new(1.5, 2.25, 0.5) + random.vector().component_div(&Vec3::new(4., 2., 2.));
            ([1, 4], inside)
        } else {
            ([0, 1].map(|_| random.below(4) as usize), random.vector() * 3.0)
        };
        let of_p = random.pose(offset);
        let of_q = random.pose(of_p.apply_rounded(&aside));
        let velocities = [0, 1].map(|_| random.vector() * 2.0);
        let (pair, poses) = (pair.map(|k| &solids[k]), [of_p, of_q]);
        let shapes = [0, 1].map(|k| pair[k].shape(poses[k]));
        verdict_of(shapes.each_ref()).1.unwrap();
        let Some(answer) = motion_of(shapes.each_ref(), velocities) else { continue };
        met += usize::from(answer.found.contact.is_some());
        free += usize::from(answer.found.contact.is_none());
        cut += usize::from(answer.proof.free.steps.len() > 1);
    }
    assert!(met > 10 && free > 10 && cut > 10, "{met} {free} {cut}");
}

/// Faces slide on faces, and the time of contact is that of many pairs of faces at once.
#[test]
fn motions_on_a_grid_are_proven_free_and_in_contact() {
    let solids: Vec<Made> =
        [l_shape().mesh, u_shape().mesh, ring().mesh].into_iter().map(made).collect();
    let (mut met, mut free) = (0, 0);
    for seed in 0..if cfg!(debug_assertions) { 80 } else { 5_000 } {
        let mut random = Random(seed);
        let pair = [0, 1].map(|_| &solids[random.below(3) as usize]);
        let grid = |random: &mut Random, unit: f64, size: u32| {
            Vec3::from_fn(|_, _| (f64::from(random.below(2 * size + 1)) - f64::from(size)) * unit)
        };
        let poses = [0, 1].map(|_| {
            let at = grid(&mut random, 0.5, 4);
            shift(at.x, at.y, at.z)
        });
        let velocities = [0, 1].map(|_| grid(&mut random, 1.0, 2));
        let shapes = [0, 1].map(|k| pair[k].shape(poses[k]));
        let Some(answer) = motion_of(shapes.each_ref(), velocities) else { continue };
        met += usize::from(answer.found.contact.is_some());
        free += usize::from(answer.found.contact.is_none());
    }
    assert!(met > 5 && free > 5, "{met} {free}");
}

/// The channel and the peg, which fits the slot with room to spare.
fn channel_and_peg() -> [Made; 2] {
    [made(u_shape().mesh), made_of_hull(block([0., 0.5], [0., 1.], [0., 1.]))]
}

#[test]
fn a_proof_that_is_tampered_with_is_refused() {
    let [channel, peg] = channel_and_peg();
    let [p, q] = [channel.shape(Pose::identity()), peg.shape(shift(1.25, 5.0, 0.0))];
    let down = [Vec3::zeros(), Vec3::new(0.0, -8.0, 0.0)];
    let refused = |tamper: &dyn Fn(&mut Answer)| {
        let mut answer = motion_of([&p, &q], down).unwrap();
        tamper(&mut answer);
        judged([&p, &q], down, &answer).unwrap_err()
    };
    let contact = |answer: &mut Answer, t_free: f64, t_contact: f64| {
        let contact = answer.found.contact.as_mut().unwrap();
        (contact.t_free, contact.t_contact) = (t_free, t_contact);
    };
    // Too early, and free for too long.
    assert_eq!(refused(&|a| contact(a, 0.25, 0.4375)), Refusal::FacesApart);
    assert!(matches!(refused(&|a| contact(a, 0.5, 0.5)), Refusal::CoverFails(_)));
    let bounds = Refusal::BoundFails("0 <= t_free <= t_contact <= 1");
    assert_eq!(refused(&|a| contact(a, 0.5, 0.25)), bounds);
    // Another face, no face, and none at all.
    let other = |a: &mut Answer| a.proof.faces = Some([[0, 1, 2], [0, 1, 2]].map(Into::into));
    assert!(matches!(refused(&other), Refusal::NotAFace("P") | Refusal::FacesApart));
    let absent = |a: &mut Answer| a.proof.faces.as_mut().unwrap()[1][0] = 99;
    assert_eq!(refused(&absent), Refusal::NotAFace("Q"));
    assert_eq!(refused(&|a| a.proof.faces.as_mut().unwrap()[0].clear()), Refusal::NotAFace("P"));
    assert_eq!(refused(&|a| a.proof.faces = None), Refusal::FacesApart);
    // Steps too few, too many, and of a body that is in one piece; an order that lists a triangle
    // twice.
    assert!(matches!(refused(&|a| drop(a.proof.free.steps.pop())), Refusal::CoverGap(_)));
    let more = |a: &mut Answer| a.proof.free.steps.push(CoverStep::SplitP);
    assert!(matches!(refused(&more), Refusal::CoverGap(_)));
    let piece = |a: &mut Answer| a.proof.free.steps.insert(0, CoverStep::SplitQ);
    assert_eq!(refused(&piece), Refusal::CoverGap(0));
    let twice = |a: &mut Answer| a.proof.free.order_p = vec![0; 28];
    assert_eq!(refused(&twice), Refusal::CoverGap(0));
    // A link that is shorter, turned round, or missing.
    let with_link = |a: &mut Answer, change: &dyn Fn(&mut Vec<Link>)| {
        let is_along_a_vector = |chain: &[Link]| matches!(chain[0].direction, Direction::Vector(_));
        let chain = a.proof.free.steps.iter_mut().find_map(|step| match step {
            CoverStep::Apart(chain) if is_along_a_vector(chain) => Some(chain),
            CoverStep::Apart(_) | CoverStep::SplitP | CoverStep::SplitQ => None,
        });
        change(chain.unwrap());
    };
    for change in [
        |chain: &mut Vec<Link>| chain[0].t1 = 0.25,
        |chain: &mut Vec<Link>| chain[0].t0 = 0.25,
        |chain: &mut Vec<Link>| chain.clear(),
        |chain: &mut Vec<Link>| {
            if let Direction::Vector(s) = &mut chain[0].direction {
                *s *= -1.0;
            }
        },
    ] {
        assert!(matches!(refused(&|a| with_link(a, &change)), Refusal::CoverFails(_)));
    }
    // What spans the mouth of the slot, which the peg passes at t = 0.25, is no face.
    let mouth = [[1., 3., 0.], [2., 3., 0.], [2., 3., 1.]];
    let mouth = mouth.map(|at| channel.body.index_of(&Vec3::from(at)).unwrap());
    let passes = |a: &mut Answer| {
        contact(a, 0.234375, 0.265625);
        a.proof.faces.as_mut().unwrap()[0] = mouth.into();
        a.proof.faces.as_mut().unwrap()[1] = [0, 1, 4].into();
    };
    assert_eq!(refused(&passes), Refusal::NotAFace("P"));
    // A direction that separates at the end alone, of a peg that comes out of the wall.
    let out = [Vec3::zeros(), Vec3::new(0.0, 8.0, 0.0)];
    let in_wall = peg.shape(shift(0.25, 0.5, 0.0));
    let direction = Direction::Vector(Vec3::y());
    let link = Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction };
    let free = Cover { steps: vec![CoverStep::Apart(vec![link])], ..Cover::default() };
    let found = FirstContact { initial: Verdict::Separated, contact: None };
    let lie = Answer { found, proof: SolidMotionProof { free, ..Default::default() } };
    assert_eq!(judged([&p, &in_wall], out, &lie), Err(Refusal::CoverFails(0)));
    let above = peg.shape(shift(0.25, 3.5, 0.0));
    assert_eq!(judged([&p, &above], out, &lie), Ok(()));
    // The bodies exchanged.
    let answer = motion_of([&p, &q], down).unwrap();
    assert!(judged([&q, &p], [down[1], down[0]], &answer).is_err());
}

/// Surfaces that do not meet do not say that one body is not within the other.
#[test]
fn a_cover_of_a_body_within_another_is_refused() {
    let shell = made(hollow());
    let cube = |x: f64| made(cuboid([-x, x], [-x, x], [-x, x]));
    let small = cube(0.25);
    let [p, q] = [shell.shape(Pose::identity()), small.shape(Pose::identity())];
    let (found, proof) = verdict_of([&p, &q]);
    assert_eq!(found, Verdict::Separated);
    let proof = proof.unwrap();
    // The same surfaces but for the hollow: the solid cube around.
    let solid = cube(2.0);
    let around = solid.shape(Pose::identity());
    let effort = &mut Effort::unlimited();
    for pair in [[&around, &q], [&q, &around]] {
        let cover = prove_verdict(pair, Verdict::Separated, None, STEPS_MAX, effort).unwrap();
        assert!(matches!(judge_solids(&solids(pair), &cover), Err(Refusal::Within(_))));
        let (found, proof) = verdict_of(pair);
        assert_eq!(found, Verdict::Overlapping);
        assert!(matches!(proof.unwrap(), SolidProof::InnerPoint(_)));
    }
    assert!(judge_solids(&solids([&around, &q]), &proof).is_err());
    // A hull within a mesh.
    let peg = made_of_hull(block([-0.25, 0.25], [-0.25, 0.25], [-0.25, 0.25]));
    let inside = peg.shape(Pose::identity());
    let cover = prove_verdict([&around, &inside], Verdict::Separated, None, STEPS_MAX, effort);
    let judged = judge_solids(&solids([&around, &inside]), &cover.unwrap());
    assert_eq!(judged, Err(Refusal::Within("Q")));
    let (found, proof) = verdict_of([&around, &inside]);
    assert_eq!((found, proof.is_ok()), (Verdict::Overlapping, true));
}

/// Judging took as long as the numbers in it made it, whatever the deadline.
#[test]
fn a_cover_is_judged_no_longer_than_the_effort_lasts() {
    let [channel, peg] = channel_and_peg();
    let (p, q) = (channel.shape(Pose::identity()), peg.shape(shift(1.25, 1.5, 0.0)));
    let (found, proof) = verdict_of([&p, &q]);
    assert_eq!(found, Verdict::Separated);
    let judged = |steps: u64| {
        let effort = &mut Effort::with_steps(steps);
        judge::judge_solids(&solids([&p, &q]), proof.as_ref().unwrap(), effort)
    };
    assert_eq!(judged(2), Err(Refusal::Stopped(Stopped::Steps)));
    assert_eq!(judged(1_000), Ok(()));
    // Along rays too.
    let inner = InnerPoint {
        terms: [Vec3::new(0.5, 0.9375, 0.5), Vec3::zeros()],
        vertices: std::array::from_fn(|_| ArrayVec::new()),
    };
    let proof = SolidProof::InnerPoint(inner);
    let judged = |steps: u64| {
        let effort = &mut Effort::with_steps(steps);
        judge::judge_solids(&solids([&p, &p]), &proof, effort)
    };
    assert_eq!(judged(1), Err(Refusal::Stopped(Stopped::Steps)));
    assert_eq!(judged(16), Ok(()));
}

#[test]
fn a_false_overlap_or_touch_is_refused() {
    let [channel, peg] = channel_and_peg();
    let p = channel.shape(Pose::identity());
    let at = |x: f64, y: f64| peg.shape(shift(x, y, 0.0));
    // In the slot, half in the wall, on the wall, on the floor.
    let (found, proof) = verdict_of([&p, &at(0.75, 1.5)]);
    assert_eq!(found, Verdict::Overlapping);
    let proof = proof.unwrap();
    assert!(judge_solids(&solids([&p, &at(1.25, 1.5)]), &proof).is_err());
    let least = verdict_of([&p, &at(1f64.next_down(), 1.5)]);
    assert_eq!((least.0, least.1.is_ok()), (Verdict::Overlapping, true));
    for (x, y) in [(1.0, 1.5), (1.25, 1.0), (1.0, 1.0), (1.5, 1.0), (3.0, 0.0), (-0.5, 3.0)] {
        let (found, proof) = verdict_of([&p, &at(x, y)]);
        assert_eq!(found, Verdict::Touching);
        let proof = proof.unwrap();
        // A bit off, they are apart or overlap.
        for (dx, dy) in [(0.125, 0.125), (-0.125, 0.125), (0.125, -0.125), (-0.125, -0.125)] {
            assert!(judge_solids(&solids([&p, &at(x + dx, y + dy)]), &proof).is_err());
        }
    }
    // Points on the surface, in the slot, and of vertices that are not around it.
    let q = at(0.25, 0.5);
    let inner = |x: f64, y: f64, vertices: &[u32]| {
        let vertices = [[].into_iter().collect(), vertices.iter().copied().collect()];
        let terms = [Vec3::new(x, y, 0.5), Vec3::zeros()];
        let proof = SolidProof::InnerPoint(InnerPoint { terms, vertices });
        judge_solids(&solids([&p, &q]), &proof)
    };
    let corners = [0, 3, 5, 6, 1, 7];
    assert_eq!(inner(0.5, 0.9375, &corners), Ok(()));
    assert_eq!(inner(0.5, 0.9375, &[0, 1, 2, 3]), Err(Refusal::NotInside("Q")));
    assert_eq!(inner(0.5, 1.75, &corners), Err(Refusal::NotInside("Q")));
    assert_eq!(inner(0.0, 0.9375, &corners), Err(Refusal::NotInside("P")));
    assert_eq!(inner(1.5, 1.25, &corners), Err(Refusal::NotInside("P")));
    assert_eq!(inner(0.5, 0.9375, &[0, 3, 5, 99]), Err(Refusal::NotAFace("Q")));
}

/// Two channels whose faces are all parallel: the normals of those found first run in planes of
/// others, and along them nothing was found inside both.
#[test]
fn an_overlap_on_a_grid_is_proven_though_normals_run_in_faces() {
    let channel = made(u_shape().mesh);
    let p = channel.shape(Pose::identity());
    for (x, y, z) in [(-1.0, -0.5, -0.75), (-1.0, -0.5, 0.0), (0.0, 0.0, 0.0), (0.5, 0.0, 0.0)] {
        let (found, proof) = verdict_of([&p, &channel.shape(shift(x, y, z))]);
        assert_eq!((found, proof.is_ok()), (Verdict::Overlapping, true), "{x} {y} {z}");
    }
}

#[test]
fn an_overlap_by_the_least_number_is_proven_where_no_triangles_cross() {
    let cube = made(cuboid([0., 1.], [0., 1.], [0., 1.]));
    let hull = made_of_hull(block([0., 1.], [0., 1.], [0., 1.]));
    let p = cube.shape(Pose::identity());
    for q in [&cube, &hull] {
        for x in [1f64.next_down(), 1.0 - 1e-12, -1f64.next_down()] {
            for place in [shift(x, 0., 0.), shift(0., x, 0.), shift(0., 0., x)] {
                let (found, proof) = verdict_of([&p, &q.shape(place)]);
                assert_eq!(found, Verdict::Overlapping);
                assert!(matches!(proof, Ok(SolidProof::InnerPoint(_))), "{x} {proof:?}");
            }
        }
    }
}

#[test]
fn a_cover_that_would_be_too_long_is_not_made() {
    let [channel, peg] = channel_and_peg();
    let [p, q] = [channel.shape(Pose::identity()), peg.shape(shift(1.25, 1.5, 0.0))];
    let effort = &mut Effort::unlimited();
    let long = prove_verdict([&p, &q], Verdict::Separated, None, STEPS_MAX, effort).unwrap();
    let SolidProof::Separated(cover) = &long else { panic!("{long:?}") };
    let length = 2 * cover.steps.len() as u64;
    assert!(length > 2);
    let short = prove_verdict([&p, &q], Verdict::Separated, None, 1, effort);
    assert_eq!(short, Err(Unproven::TooLong));
    let stopped =
        prove_verdict([&p, &q], Verdict::Separated, None, length, &mut Effort::with_steps(1));
    assert!(matches!(stopped, Err(Unproven::Stopped(_))));
}
