//! Bodies with rounded parts: as from cold, with proofs, and as closed forms say.

use super::*;
use crate::pairs::report::{PairContact, PairReport, PartChain, PartPair, PartRow};
use crate::query::cast::Cast;
use crate::query::place::Nearness;
use crate::query::{BodyFilter, HitSelection, QueryShape, Visitor};
use crate::{Between, DeclarationError, Methods, Problem};
use clearance_geometry::claim::{
    Compounds, Course, DepthClaim, DepthEntries, MotionClaim, MotionEntries, Outcome, PartBound,
    PartMotion, PartStatement, Parts, Points, Reach,
};
use clearance_geometry::contact_time;
use clearance_geometry::distance::Stops;
use clearance_geometry::judge::{
    judge_compounds, judge_compounds_depth, judge_compounds_distance, judge_compounds_margin,
    judge_compounds_motion,
};
use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pair::{Placed, Question};
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::{distance, penetration};

/// A ball around the origin of its body.
fn ball(id: u32, radius: f64) -> Body {
    let point = Arc::new(samples::hull(&[Vec3::zeros()]));
    let mut body = Body::solid(id, point);
    body.parts[0].radius = radius;
    body
}

/// A box whose upper side is at z = 0.
fn floor(id: u32) -> Body {
    let slab = Arc::new(samples::cuboid(100.0, 100.0, 0.5));
    Body { fixed: true, ..Body::solid(id, slab) }.placed(at(0.0, 0.0, -0.5))
}

/// Two parts of two bodies where these are, with their radii.
fn two<'a>([p, q]: [&'a Body; 2], parts: (usize, usize)) -> RoundedPair<'a> {
    let (a, b) = (&p.parts[parts.0], &q.parts[parts.1]);
    let poses = [p.pose.compose(&a.body_from_part), q.pose.compose(&b.body_from_part)];
    let cores = Pair::new(&a.polytope, poses[0], &b.polytope, poses[1]);
    RoundedPair { cores, radii: [a.radius, b.radius] }
}

/// How two parts stand, how far apart and how deep they are, from cold.
fn cold(pair: &RoundedPair<'_>) -> (Verdict, [f64; 2], [f64; 2]) {
    let (effort, stops) = (&mut Effort::unlimited(), Stops::default());
    let witness = || Witness::default();
    if pair.radii.iter().all(|radius| *radius <= 0.0) {
        let apart = distance::measure(&pair.cores, stops, &mut witness(), effort).unwrap();
        let deep = penetration::measure(&pair.cores, false, &mut witness(), effort).unwrap();
        let verdict = apart.decision.verdict();
        return (verdict, [apart.lower, apart.upper], [deep.lower, deep.upper]);
    }
    let method = &distance::METHODS[0];
    let apart = rounded::measure(pair, method, stops, &mut witness(), effort).unwrap();
    let deep = rounded::measure_depth(pair, false, &mut witness(), effort).unwrap();
    (apart.proof.verdict, [apart.lower, apart.upper], [deep.lower, deep.upper])
}

/// Bodies of one to three parts of which most are rounded, near each other.
fn round_crowd(count: u32, seed: u64) -> Vec<Body> {
    let mut random = Random(seed);
    let mut bodies = tumbling(count, seed);
    let point = Arc::new(samples::hull(&[Vec3::zeros()]));
    let stick = Arc::new(samples::hull(&[Vec3::zeros(), Vec3::new(0.0, 0.3, 1.0)]));
    for body in &mut bodies {
        body.margin = [0.0, 0.3, -0.2, -0.05][random.below(4) as usize];
        for part in &mut body.parts {
            part.radius = [0.0, 0.1, 0.3, 0.6][random.below(4) as usize];
            match random.below(4) {
                0 => part.polytope = point.clone(),
                1 => part.polytope = stick.clone(),
                _ => {}
            }
        }
    }
    bodies
}

fn named(parts: Option<PartPair>, counts: [usize; 2]) -> Parts {
    let all = |count: usize| (0..count as u32).collect();
    match parts {
        Some(PartPair { p, q }) => Parts { p: vec![p], q: vec![q] },
        None => Parts { p: all(counts[0]), q: all(counts[1]) },
    }
}

fn row(parts: PartRow, counts: [usize; 2]) -> Parts {
    let all = || (0..counts[1] as u32).collect();
    Parts { p: vec![parts.p], q: parts.q.map_or_else(all, |q| vec![q]) }
}

/// What the judges take of two bodies.
struct Judged<'a> {
    points: [Vec<Points<'a>>; 2],
    radii: [Vec<f64>; 2],
    counts: [usize; 2],
}

impl<'a> Judged<'a> {
    fn new(bodies: [&'a Body; 2]) -> Self {
        let placed = |body: &'a Body| {
            let points = |part: &'a Part| Points {
                points: part.polytope.vertices(),
                pose: body.pose.compose(&part.body_from_part),
            };
            body.parts.iter().map(points).collect::<Vec<_>>()
        };
        let radii = bodies.map(|body| body.parts.iter().map(|part| part.radius).collect());
        Self { points: bodies.map(placed), radii, counts: bodies.map(|body| body.parts.len()) }
    }

    fn compounds(&self) -> Compounds<'_> {
        let radii = [&self.radii[0][..], &self.radii[1][..]];
        Compounds { p: &self.points[0], q: &self.points[1], radii }
    }

    /// How they stand, what is said of their margin, how far apart and how deep.
    fn judge(&self, pair: &PairReport) {
        let (bodies, effort) = (&self.compounds(), &mut Effort::unlimited());
        let statement = |one: &crate::PartProof| PartStatement {
            parts: named(one.parts, self.counts),
            proof: of_convex(&one.proof).clone(),
            margin_pairs: one.margin_pairs.clone(),
            margin_depth: one.margin_depth.as_deref().cloned(),
        };
        let entries: Vec<PartStatement> = pair.proofs.iter().map(statement).collect();
        let verdict = pair.verdict.unwrap();
        assert_eq!(judge_compounds(bodies, verdict, &entries, effort), Ok(()), "{pair:?}");
        if verdict == Verdict::Separated && pair.margin > 0.0 || pair.margin < 0.0 {
            let within = pair.within_margin.unwrap();
            let (margin, judge) = (pair.margin, judge_compounds_margin);
            assert_eq!(judge(bodies, margin, within, &entries, effort), Ok(()), "{pair:?}");
            assert!(judge(bodies, margin, !within, &entries, effort).is_err(), "{pair:?}");
        }
        if verdict == Verdict::Separated {
            let known = pair.distance.as_ref().unwrap();
            let gap = |one: &crate::PartGap| PartBound {
                parts: row(one.parts, self.counts),
                pairs: one.pairs.clone(),
                direction: one.direction,
            };
            let mut gaps: Vec<PartBound> = known.gaps.iter().map(gap).collect();
            if self.counts == [1, 1] {
                let parts = row(known.parts.into(), self.counts);
                gaps.push(PartBound { parts, pairs: known.pairs.clone(), direction: None });
            }
            let bounds = [known.lower, known.upper];
            let judged = judge_compounds_distance(bodies, bounds, &gaps, &[], effort);
            assert_eq!(judged, Ok(()), "{pair:?}");
            let too_far = [known.upper * 1.001, known.upper * 1.002];
            assert!(judge_compounds_distance(bodies, too_far, &gaps, &[], effort).is_err());
        }
        if let Some(known) = &pair.depth {
            let parts = &row(known.parts.into(), self.counts);
            let crate::PartsDepth { proof, face, surface, .. } = &known.depth;
            let crate::PartsProof::Convex(proof) = proof else { panic!("{pair:?}") };
            let (face, surface) = (face.as_ref().unwrap(), surface.as_ref());
            let deepest = DepthClaim { parts, proof, face, surface };
            let reach = |one: &crate::PartReach| PartBound {
                parts: row(one.parts, self.counts),
                pairs: Default::default(),
                direction: Some(one.direction),
            };
            let others: Vec<PartBound> = known.others.iter().map(reach).collect();
            let bounds = [known.depth.lower, known.depth.upper];
            let shown = DepthEntries { deepest: Some(deepest), others: &others, known: &[] };
            let judged = judge_compounds_depth(bodies, bounds, &shown, effort);
            assert_eq!(judged, Ok(()), "{pair:?}");
            let too_little = bounds.map(|bound| bound * 0.999);
            let judged = judge_compounds_depth(bodies, too_little, &shown, effort);
            assert!(judged.is_err(), "{pair:?}");
        }
    }

    /// What is said of their way, from here to `ends`.
    fn judge_way(&self, pair: &PairReport, bodies: [&Body; 2], ends: [&Body; 2]) {
        let Some(found) = &pair.first_contact else { return };
        if pair.margin < 0.0 {
            // No claim speaks of how deep bodies get on their way.
            assert!(found.chains.is_empty(), "{pair:?}");
            return;
        }
        let motion = |k: usize, part: u32| {
            let (from, to) = (bodies[k], ends[k]);
            if from.pose == to.pose {
                return Motion::rest();
            }
            let end = to.pose.compose(&to.parts[part as usize].body_from_part);
            let turn = Some(Turn::between(&from.pose.rotation, &to.pose.rotation));
            let pivot = Some(from.pose.apply_rounded(&from.pivot));
            Motion::ToPose { end, pivot, turn }
        };
        let course = |p: u32, q: u32| {
            let RoundedPair { cores, radii } = two(bodies, (p as usize, q as usize));
            let reach = Reach::of_rounded(radii, pair.margin);
            let question = Question { reach, ..Question::new(cores, motion(0, p), motion(1, q)) };
            Course::from(&question)
        };
        let parts: Vec<Parts> =
            found.chains.iter().map(|chain| named(chain.parts, self.counts)).collect();
        let entries: Vec<PartMotion<'_>> = found
            .chains
            .iter()
            .zip(&parts)
            .map(|(chain, parts)| claim(found, chain, parts))
            .collect();
        let effort = &mut Effort::unlimited();
        let &PairContact { outcome, t_free, t_contact, .. } = found;
        let (is_start_open, known) = (false, &[][..]);
        let entries = &entries[..];
        let claimed = MotionEntries { outcome, t_free, t_contact, is_start_open, entries, known };
        let judged = judge_compounds_motion(&self.compounds(), course, &claimed, effort);
        assert_eq!(judged, Ok(()), "{pair:?}");
    }
}

fn claim<'a>(found: &PairContact, chain: &'a PartChain, parts: &'a Parts) -> PartMotion<'a> {
    let &PairContact { outcome, t_free, t_contact, .. } = found;
    let (initial, start) = (chain.initial.as_ref().map(of_convex), &chain.start[..]);
    let (chain, pairs) = (&chain.links[..], &chain.pairs[..]);
    let claim = MotionClaim { outcome, t_free, t_contact, chain, pairs, initial: None };
    PartMotion { parts, initial, start, claim }
}

/// Over frames, with all that a report may tell: as from cold, and every proof is accepted.
#[test]
fn rounded_bodies_stand_as_from_cold_and_every_proof_is_accepted() {
    let mut verdicts = [0; 3];
    let mut outcomes = [0; 3];
    let mut deep = [0; 2];
    for seed in 0..8 {
        let mut random = Random(seed + 300);
        let mut scene = open(round_crowd(7, seed + 200));
        let between = Some(Between::default());
        let questions =
            Questions { distances: true, depths: true, certificates: true, between, ..all() };
        for id in 1..5 {
            let before: BTreeMap<BodyId, Body> =
                scene.bodies().map(|body| (body.id, body.clone())).collect();
            let next = wander(&scene, id, &mut random);
            let report = step(&mut scene, &next, &questions);
            let bodies: BTreeMap<BodyId, &Body> =
                scene.bodies().map(|body| (body.id, body)).collect();
            for pair in &report.pairs {
                let both = [pair.p, pair.q].map(|id| bodies[&id]);
                let counts = both.map(|body| body.parts.len());
                let places = (0..counts[0]).flat_map(|p| (0..counts[1]).map(move |q| (p, q)));
                let found: Vec<_> = places.map(|parts| cold(&two(both, parts))).collect();
                let verdict = found.iter().map(|one| one.0).max().unwrap();
                assert_eq!(pair.verdict, Some(verdict), "{pair:?}");
                verdicts[verdict as usize] += 1;
                let least = |k: usize| found.iter().map(|one| one.1[k]).fold(f64::MAX, f64::min);
                let told = pair.distance.as_ref().unwrap();
                assert!(told.lower <= least(1) && least(0) <= told.upper, "{pair:?} {found:?}");
                if let Some(deepest) = &pair.depth {
                    let most = |k: usize| found.iter().map(|one| one.2[k]).fold(0.0, f64::max);
                    let depth = &deepest.depth;
                    assert!(depth.lower <= most(1) && most(0) <= depth.upper, "{pair:?} {found:?}");
                }
                if pair.margin < 0.0 {
                    let most = |k: usize| found.iter().map(|one| one.2[k]).fold(0.0, f64::max);
                    let is_within = pair.within_margin.unwrap();
                    assert!(if is_within {
                        most(1) >= -pair.margin
                    } else {
                        most(0) < -pair.margin
                    });
                    deep[usize::from(is_within)] += 1;
                }
                let judged = Judged::new(both);
                judged.judge(pair);
                let starts = [pair.p, pair.q].map(|id| &before[&id]);
                if let Some(found) = &pair.first_contact {
                    outcomes[found.outcome as usize] += 1;
                }
                Judged::new(starts).judge_way(pair, starts, both);
            }
        }
    }
    assert!(verdicts[0] > 100 && verdicts[2] > 100, "{verdicts:?}");
    assert!(outcomes[..2].iter().all(|count| *count > 100), "{outcomes:?}");
    assert!(deep.iter().all(|count| *count > 10), "{deep:?}");
}

/// What was asked about before is a ball in free fall that is a point with a radius.
#[test]
fn a_falling_ball_meets_the_floor_when_its_closed_form_says() {
    for (radius, margin) in [(0.5, 0.0), (0.25, 0.125), (1.0, 0.0)] {
        let mut falling = ball(2, radius).placed(at(0.3, 0.2, 2.0));
        falling.margin = margin;
        let mut scene = open(vec![floor(1), falling]);
        let questions =
            Questions { between: Some(Between::default()), impacts: true, normals: true, ..all() };
        let report = step(&mut scene, &frame(1, vec![moved(2, at(0.3, 0.2, -1.0))]), &questions);
        let [event] = &report.events[..] else { panic!("{report:?}") };
        let (time, reached) = ((2.0 - radius) / 3.0, (2.0 - radius - margin) / 3.0);
        assert!(event.bracket[0] <= time && time <= event.bracket[1], "{event:?}");
        assert!(event.bracket[1] - event.bracket[0] < 1e-8, "{event:?}");
        let impact = event.impact.unwrap();
        let off = impact.point - Vec3::new(0.3, 0.2, 0.0);
        assert!(off.norm() < 1e-7, "{impact:?}");
        assert!((impact.normal.unwrap() + Vec3::z()).norm() < 1e-7, "{impact:?}");
        let told = report.pairs[0].first_contact.as_ref().unwrap();
        assert!(told.t_free <= reached && reached <= told.t_contact, "{told:?}");
    }
}

/// A ball of a radius that is a power of two rolls over a floor: it touches it exactly, in every
/// frame, and meets a wall when its middle is as far from it as its radius.
#[test]
fn a_ball_that_rolls_touches_the_floor_in_all_of_ten_thousand_frames() {
    let wall = Arc::new(samples::cuboid(0.5, 100.0, 10.0));
    let wall = Body { fixed: true, ..Body::solid(3, wall) }.placed(at(80.0, 0.0, 0.0));
    let step_by = 1.0 / 128.0;
    let mut scene = open(vec![floor(1), ball(2, 0.25).placed(at(0.0, 0.0, 0.25)), wall]);
    let questions = Questions { between: Some(Between::default()), ..Questions::default() };
    let (mut began, mut events_of_floor) = (None, 0);
    for id in 1..=10_200_u64 {
        let x = id as f64 * step_by;
        let turn =
            Pose::from_quaternion(Vec3::zeros(), [(2.0 * x).cos(), 0.0, (2.0 * x).sin(), 0.0]);
        let pose = Pose { translation: Vec3::new(x, 0.0, 0.25), ..turn.unwrap() };
        let report = step(&mut scene, &frame(id, vec![moved(2, pose)]), &questions);
        assert_eq!(report.tally.touching + report.tally.overlapping, 1 + u64::from(x >= 79.25));
        for event in &report.events {
            if event.p == BodyId(2) {
                assert_eq!(event.kind, EventKind::Began);
                began = Some((id, event.bracket));
            } else {
                events_of_floor += 1;
            }
        }
    }
    // The opening report has told of the floor, and nothing of it changes.
    assert_eq!(events_of_floor, 0);
    let (id, bracket) = began.expect("it meets the wall");
    let time = (79.25 - (id - 1) as f64 * step_by) / step_by;
    assert!(bracket[0] <= time && time <= bracket[1], "{id} {bracket:?}");
}

/// Rays, casts, overlaps and what is nearest, of balls whose closed forms are simple.
#[test]
fn questions_to_a_scene_of_balls_are_answered_as_their_closed_forms_say() {
    let mut scene = open(vec![
        ball(1, 1.0).placed(at(4.0, 0.0, 0.0)),
        ball(2, 0.5).placed(at(0.0, 6.0, 0.0)),
        ball(3, 2.0).placed(at(-5.0, 0.0, 0.0)),
    ]);
    step(&mut scene, &frame(1, vec![moved(1, at(4.0, 0.0, 0.0))]), &all());
    let filter = BodyFilter::default();
    let view = crate::query::SceneView::new(&scene, &filter, 100).unwrap();
    let effort = &mut Effort::unlimited();
    let point = super::queries::point();
    let start = point.at(Pose::identity());
    let cast = |velocity: [f64; 3], margin: f64| Cast {
        margin,
        time_tolerance: 1e-9,
        ..Cast::along(start, velocity.into())
    };
    for (velocity, margin, body, time) in [
        ([10.0, 0.0, 0.0], 0.0, 1, 0.3),
        ([0.0, 11.0, 0.0], 0.0, 2, 0.5),
        ([-6.0, 0.0, 0.0], 0.0, 3, 0.5),
        ([10.0, 0.0, 0.0], 0.5, 1, 0.25),
    ] {
        let cast = cast(velocity, margin);
        let hits = view.cast(&cast, HitSelection::First, effort).unwrap();
        let [hit] = &hits[..] else { panic!("{hits:?}") };
        assert_eq!(hit.body, BodyId(body));
        assert!(hit.time[0] <= time && time <= hit.time[1] && hit.time[1] - hit.time[0] < 1e-8);
        let impact = view.impact(&cast, hit, effort).unwrap();
        let back = -Vec3::from(velocity).normalize();
        assert!((impact.normal.unwrap() - back).norm() < 1e-7, "{impact:?}");
        let centre = scene.body(BodyId(body)).unwrap().pose.translation;
        let expected = centre + back * scene.body(BodyId(body)).unwrap().parts[0].radius;
        assert!((impact.point - expected).norm() < 1e-7, "{impact:?}");
    }
    // From within: at once, and the way out is the shortest.
    let inside = point.at(at(4.0, 0.5, 0.0));
    let cast = Cast { start: inside, ..cast([1.0, 0.0, 0.0], 0.0) };
    let hits = view.cast(&cast, HitSelection::All, effort).unwrap();
    assert_eq!((hits.len(), hits[0].time), (1, [0.0; 2]));
    let impact = view.impact(&cast, &hits[0], effort).unwrap();
    assert!((impact.normal.unwrap() - Vec3::y()).norm() < 1e-12, "{impact:?}");
    // What touches by an ulp or not.
    for (x, count) in [(5.0, 1), (5.0_f64.next_up(), 0), (5.0_f64.next_down(), 1)] {
        let beside = point.at(at(x, 0.0, 0.0));
        let found = view.overlaps(&beside, HitSelection::All, effort).unwrap();
        assert_eq!(found.len(), count, "{x}");
        let expected = if x < 5.0 { Verdict::Overlapping } else { Verdict::Touching };
        assert!(found.iter().all(|hit| hit.proof.verdict() == expected));
    }
    let wanted = Nearness { count: None, below: Some(10.0) };
    let found = view.nearest(&start, wanted, effort).unwrap();
    let order: Vec<(u32, f64)> =
        found.iter().map(|hit| (hit.body.0, hit.signed_distance()[1])).collect();
    assert_eq!(order.iter().map(|one| one.0).collect::<Vec<_>>(), [1, 3, 2]);
    for ((_, told), expected) in order.iter().zip([3.0, 3.0, 5.5]) {
        assert!((told - expected).abs() < 1e-12, "{order:?}");
    }
}

/// Rounded and plain visitors of rounded and plain bodies, beside asking each part from cold.
#[test]
fn what_a_rounded_visitor_meets_is_what_each_part_says_from_cold() {
    let (mut random, filter) = (Random(901), BodyFilter::default());
    let cores = [
        samples::hull(&[Vec3::zeros()]),
        samples::hull(&[Vec3::zeros(), Vec3::new(1.0, 0.2, 0.0)]),
        samples::cuboid(0.3, 0.2, 0.4),
    ];
    let effort = &mut Effort::unlimited();
    let (mut met, mut overlapping) = (0, 0);
    for seed in 0..30 {
        let scene = open(round_crowd(6, seed + 600));
        let view = crate::query::SceneView::new(&scene, &filter, 10).unwrap();
        for round in 0..12 {
            let place = random.vector() * 3.0;
            let core = Arc::new(cores[round % 3].clone());
            let shape = QueryShape::new(core, [0.0, 0.2, 0.5, 1.0][round % 4]);
            let visitor = shape.at(random.pose(place));
            let velocity = random.vector() * 5.0;
            let cast = Cast { time_tolerance: 1e-9, ..Cast::along(visitor, velocity) };
            let hits = view.cast(&cast, HitSelection::All, effort).unwrap();
            let overlaps = view.overlaps(&visitor, HitSelection::All, effort).unwrap();
            let nearest = view.nearest(&visitor, Nearness::default(), effort).unwrap();
            for body in scene.bodies() {
                let all: Vec<_> =
                    body.parts.iter().map(|part| beside(&visitor, body, part)).collect();
                let verdicts = all.iter().map(|pair| cold(pair).0);
                let verdict = verdicts.max().unwrap();
                let told = overlaps.iter().find(|hit| hit.body == body.id);
                let said = told.map_or(Verdict::Separated, |hit| hit.proof.verdict());
                assert_eq!(said, verdict, "{visitor:?} {body:?}");
                let hit = hits.iter().find(|hit| hit.body == body.id);
                let firsts = all.iter().filter_map(|pair| first(pair, velocity));
                let first =
                    firsts.fold([f64::INFINITY; 2], |a, b| [a[0].min(b[0]), a[1].min(b[1])]);
                assert_eq!(hit.is_some(), first[1].is_finite(), "{visitor:?} {body:?}");
                if let Some(hit) = hit {
                    assert!(
                        hit.time[0] <= first[1] && first[0] <= hit.time[1],
                        "{hit:?} {first:?}"
                    );
                    met += u32::from(hit.time[0] > 0.0);
                    let impact = view.impact(&cast, hit, effort).unwrap();
                    assert!((impact.normal.unwrap().norm() - 1.0).abs() < 1e-9, "{impact:?}");
                }
                let near = nearest.iter().find(|hit| hit.body == body.id).unwrap();
                let [least, most] = near.signed_distance();
                let signed = |pair: &RoundedPair<'_>| {
                    let (_, [lower, upper], [shallow, deep]) = cold(pair);
                    [lower - deep, upper - shallow]
                };
                let cold = all.iter().map(signed);
                let cold = cold.fold([f64::INFINITY; 2], |a, b| [a[0].min(b[0]), a[1].min(b[1])]);
                assert!(least <= cold[1] && cold[0] <= most, "{near:?} {cold:?}");
                overlapping += u32::from(verdict == Verdict::Overlapping);
            }
        }
    }
    assert!(met > 100 && overlapping > 100, "{met} {overlapping}");
}

fn beside<'a>(visitor: &Visitor<'a>, body: &'a Body, part: &'a Part) -> RoundedPair<'a> {
    let q = Placed { body: &part.polytope, pose: body.pose.compose(&part.body_from_part) };
    RoundedPair { cores: Pair { p: visitor.core, q }, radii: [visitor.radius, part.radius] }
}

/// The bracket of the first contact of P that moves so, from cold.
fn first(pair: &RoundedPair<'_>, velocity: Vec3) -> Option<[f64; 2]> {
    let reach = Reach::of_rounded(pair.radii, 0.0);
    let moving = Motion::Linear { velocity };
    let question = Question { reach, ..Question::new(pair.cores, moving, Motion::rest()) };
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    if pair.radii.iter().all(|radius| *radius <= 0.0) {
        let found = contact_time::first_contact(&question, witness, effort).unwrap();
        return (found.outcome != Outcome::NoContact).then_some([found.t_free, found.t_contact]);
    }
    let method = &contact_time::METHODS[0];
    let found = rounded::first_contact(method, &question, pair, witness, effort).unwrap();
    let later = found.later.as_ref();
    let bracket = later.map_or([0.0; 2], |later| [later.t_free, later.t_contact]);
    (found.outcome() != Outcome::NoContact).then_some(bracket)
}

/// A method that somebody asked for by its name answers no rounded parts, and says so.
#[test]
fn a_method_that_answers_no_rounded_parts_is_refused_with_the_part() {
    let refused = |methods: Methods| {
        let bodies = vec![floor(1), ball(2, 0.5)];
        let declaration = Declaration { bodies, ..Declaration::default() };
        Scene::open(declaration, methods, LIMITS).err()
    };
    let wrong = DeclarationError::new("bodies[1].parts[0]".to_owned(), Problem::NotRounded);
    for method in METHODS.iter().skip(1) {
        assert_eq!(refused(method.into()).as_ref(), Some(&wrong), "{}", method.name);
    }
    assert_eq!(refused((&METHODS[0]).into()), None);
}

/// Nothing but a radius changes between two scenes of which one has a body that is larger by it.
#[test]
fn a_polytope_that_touches_a_rounded_one_has_the_corners_they_share() {
    let mut lying = Body::solid(2, Arc::new(samples::hull(&[Vec3::zeros(), Vec3::x() * 3.0])));
    lying.parts[0].radius = 0.5;
    let scene_of = |z: f64| open(vec![floor(1), lying.clone().placed(at(0.0, 0.0, z))]);
    let questions = Questions { polygons: true, normals: true, ..all() };
    let report = step(&mut scene_of(0.5), &frame(1, vec![]), &questions);
    let pair = &report.pairs[0];
    assert_eq!(pair.verdict, Some(Verdict::Touching));
    let mut corners: Vec<f64> = pair.polygon.iter().map(|at| at.x).collect();
    corners.sort_by(f64::total_cmp);
    assert_eq!(corners, [0.0, 3.0]);
    assert!(pair.polygon.iter().all(|at| at.y.abs() < 1e-15 && at.z.abs() < 1e-15), "{pair:?}");
    assert!((pair.normal.unwrap() + Vec3::z()).norm() < 1e-12, "{pair:?}");
    let report = step(&mut scene_of(0.5_f64.next_up()), &frame(1, vec![]), &questions);
    assert_eq!(report.pairs[0].verdict, Some(Verdict::Separated));
}

/// Radii as small and as large as numbers are: nothing is lost, and nothing fails.
#[test]
fn radii_of_any_size_are_exact() {
    let largest = clearance_geometry::pose::COORDINATE_MAX;
    for radius in [5e-324, 1e-300, 1e-9, 1e6, 1e154, 1e200, 1e280, largest] {
        let apart = [radius.next_down(), radius, radius.next_up()];
        let verdicts = [Verdict::Overlapping, Verdict::Touching, Verdict::Separated];
        for (x, expected) in apart.into_iter().zip(verdicts) {
            // Two points at one place are in contact, and farther than that nothing may be.
            if x <= 0.0 || x > largest {
                continue;
            }
            let mut scene = open(vec![ball(1, radius), ball(2, 0.0).placed(at(x, 0.0, 0.0))]);
            for listed in [Listed::Nothing, Listed::All] {
                let between = Some(Between::default());
                let (distances, depths) = (true, true);
                let asked =
                    Questions { listed, between, distances, depths, ..Questions::default() };
                let id = scene.frame() + 1;
                let back = frame(id, vec![moved(2, at(x, 0.0, 0.0))]);
                let report = step(&mut scene, &back, &asked);
                let tally =
                    [report.tally.separated, report.tally.touching, report.tally.overlapping];
                assert_eq!(tally[expected as usize], 1, "{radius:e} {x:e} {listed:?}");
                for pair in &report.pairs {
                    assert_eq!(pair.verdict, Some(expected), "{radius:e} {x:e}");
                    let [lower, upper] = match (&pair.depth, &pair.distance) {
                        (Some(depth), _) => [depth.depth.lower, depth.depth.upper],
                        (None, Some(distance)) => [distance.lower, distance.upper],
                        (None, None) => panic!("{pair:?}"),
                    };
                    let exact = (radius - x).abs();
                    assert!(lower <= exact && exact <= upper, "{radius:e} {x:e} {pair:?}");
                    assert!(upper - lower <= 1e-9 * exact, "{radius:e} {x:e} {pair:?}");
                }
            }
        }
    }
}
