//! Ranges along a direction of rounded and curved bodies, against closed forms and against exact
//! verdicts on the way.

use super::along::{AlongQuestion, MeasuredRange};
use super::row::Wanted;
use crate::kinds::curved::{CurvedCore, CurvedForm};
use crate::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{RangeClaim, Span, Verdict};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::{Random, cuboid};
use clearance_geometry::judge::{RoundedBodies, judge_rounded_range};
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{RoundedPair, RoundedRange, along, verdict};
use clearance_geometry::witness::Witness;

fn hull(points: &[[f64; 3]]) -> Polytope {
    let points: Vec<Vec3> = points.iter().map(|&point| point.into()).collect();
    convex_hull(&points).unwrap().polytope
}

fn range(pair: &RoundedPair<'_>, direction: [f64; 3]) -> RoundedRange {
    let (witness, effort) = (&mut Witness::default(), &mut Effort::with_steps(1_000));
    let found = along(pair, &direction.into(), witness, effort).unwrap();
    judge(pair, direction.into(), &found);
    found
}

/// What is told is proven, and with the same proof nothing else is. Along zero the verdict tells it
/// all, and of what is beyond all numbers there is no proof.
fn judge(pair: &RoundedPair<'_>, along: Vec3, found: &RoundedRange) {
    let RoundedRange { proof, span, ends } = found;
    let is_beyond = span.is_some_and(|it| it.exit[1].is_infinite() || it.enter[1].is_infinite());
    let is_told = along == Vec3::zeros() || is_beyond;
    assert_eq!(ends.is_none(), is_told, "{found:?}");
    let Some(ends) = ends else { return };
    let judged = |span: Option<Span>| {
        let claim = RangeClaim { along, verdict: proof.verdict, span, proof: Some(ends) };
        let bodies = RoundedBodies { cores: (&pair.cores).into(), radii: pair.radii };
        judge_rounded_range(bodies, &claim, &mut Effort::unlimited())
    };
    assert_eq!(judged(*span), Ok(()), "{found:?}");
    let Some(Span { enter, exit }) = *span else {
        assert!(judged(Some(Span { enter: [1.0; 2], exit: [1.0; 2] })).is_err());
        return;
    };
    assert!(judged(None).is_err());
    // A bracket of neighbours holds the exact end, so that neither is it but one of both at most.
    let later = [enter[1].next_up(); 2];
    let sooner = [exit[0].next_down().max(0.0); 2];
    assert!(judged(Some(Span { enter: later, exit })).is_err(), "{found:?}");
    assert!(exit[0] <= 0.0 || judged(Some(Span { enter, exit: sooner })).is_err(), "{found:?}");
    assert!(judged(Some(Span { enter, exit: [exit[1].next_up(), f64::NAN] })).is_err());
}

/// The range of two balls whose middles are so far from each other.
fn balls(to_q: [f64; 3], radii: [f64; 2], direction: [f64; 3]) -> Option<Span> {
    let point = hull(&[[0.0; 3]]);
    let [x, y, z] = to_q;
    let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(x, y, z));
    range(&RoundedPair { cores, radii }, direction).span
}

#[track_caller]
fn ends(span: Option<Span>, enter: f64, exit: f64) {
    let span = span.unwrap();
    let known = [(span.enter, enter), (span.exit, exit)];
    for ([low, high], exact) in known {
        assert!(low <= exact && exact <= high && high <= low.next_up(), "{low} {exact} {high}");
    }
}

#[test]
fn balls_meet_and_part_where_their_quadratic_says() {
    ends(balls([5.0, 3.0, 0.0], [2.0, 3.0], [1.0, 0.0, 0.0]), 1.0, 9.0);
    // Of a direction of twice the length half as much, and turned round never.
    ends(balls([5.0, 3.0, 0.0], [2.0, 3.0], [2.0, 0.0, 0.0]), 0.5, 4.5);
    assert_eq!(balls([5.0, 3.0, 0.0], [2.0, 3.0], [-1.0, 0.0, 0.0]), None);
    // In each other, touching ahead, behind and beside.
    ends(balls([1.0, 3.0, 0.0], [2.0, 3.0], [1.0, 0.0, 0.0]), 0.0, 5.0);
    ends(balls([4.0, 3.0, 0.0], [2.0, 3.0], [1.0, 0.0, 0.0]), 0.0, 8.0);
    ends(balls([-4.0, 3.0, 0.0], [2.0, 3.0], [1.0, 0.0, 0.0]), 0.0, 0.0);
    ends(balls([0.0, 5.0, 0.0], [2.0, 3.0], [1.0, 0.0, 0.0]), 0.0, 0.0);
    // One inside the other, in one place, and a radius a million times as large.
    ends(balls([0.5, 0.0, 0.0], [8.0, 0.25], [1.0, 0.0, 0.0]), 0.0, 8.75);
    ends(balls([0.0; 3], [1.0, 1.0], [0.0, 0.0, 4.0]), 0.0, 0.5);
    ends(balls([0.0, 0.0, 2e6], [1e6, 1.0], [0.0, 0.0, 1.0]), 999_999.0, 3_000_001.0);
}

#[test]
fn a_graze_is_one_moment_and_a_miss_by_the_least_is_none() {
    let graze = |y: f64, z: f64| balls([7.0, y, z], [2.0, 3.0], [1.0, 0.0, 0.0]);
    for (y, z) in [(5.0, 0.0), (3.0, 4.0), (-4.0, 3.0)] {
        ends(graze(y, z), 7.0, 7.0);
    }
    assert_eq!(graze(5f64.next_up(), 0.0), None);
    assert_eq!(graze(5.0, f64::from_bits(1)), None);
    let span = graze(5f64.next_down(), 0.0).unwrap();
    assert!(span.enter[1] < 7.0 && 7.0 < span.exit[0]);
    // A capsule that slides along a face, in contact over all of it.
    let corner = |i: u32| [0, 1, 2].map(|axis| f64::from((i >> axis) & 1));
    let cube = hull(&(0..8).map(corner).collect::<Vec<_>>());
    let stick = hull(&[[0.0; 3], [0.0, 0.0, 1.0]]);
    let slide = |height: f64| {
        let cores = Pair::new(&stick, Pose::identity(), &cube, Pose::translation(3.0, height, 0.0));
        range(&RoundedPair { cores, radii: [0.5, 0.0] }, [4.0, 0.0, 0.0]).span
    };
    ends(slide(0.5), 0.75, 1.0);
    assert_eq!(slide(0.5f64.next_up()), None);
}

#[test]
fn along_no_direction_bodies_meet_always_or_never() {
    let always = Some(Span { enter: [0.0; 2], exit: [f64::INFINITY; 2] });
    for none in [[0.0; 3], [-0.0, 0.0, -0.0]] {
        assert_eq!(balls([5.0, 0.0, 0.0], [2.0, 3.0], none), always);
        assert_eq!(balls([5f64.next_up(), 0.0, 0.0], [2.0, 3.0], none), None);
    }
}

#[test]
fn sizes_and_directions_of_any_magnitude_are_answered() {
    let (large, small) = (2f64.powi(960), f64::from_bits(1));
    ends(balls([large, 0.0, 0.0], [large / 4.0; 2], [large, 0.0, 0.0]), 0.5, 1.5);
    ends(balls([small * 4.0, 0.0, 0.0], [small; 2], [small, 0.0, 0.0]), 2.0, 6.0);
    ends(balls([4.0, 0.0, 0.0], [1.0; 2], [large, 0.0, 0.0]), 2.0 / large, 6.0 / large);
    ends(balls([4.0, 0.0, 0.0], [small; 2], [1.0, 0.0, 0.0]), 4.0, 4.0);
    // So far that no f64 number says it.
    let beyond = [f64::MAX, f64::INFINITY];
    let far = balls([large, 0.0, 0.0], [1.0; 2], [small, 0.0, 0.0]).unwrap();
    assert_eq!(Some([far.enter, far.exit]), Some([beyond; 2]));
    // So near that no f64 number but 0 does.
    let near = balls([1.0, 0.0, 0.0], [0.25; 2], [f64::MAX, 0.0, 0.0]).unwrap();
    assert!(near.enter[0] <= 0.5 / f64::MAX && 1.5 / f64::MAX <= near.exit[1]);
}

/// Integer bodies and directions, looked at every sixteenth: there the poses are exact, and the
/// verdict says whether the bodies are in contact.
#[test]
fn on_the_way_bodies_are_in_contact_exactly_in_the_range() {
    let mut counts = [0_u32; 4];
    for seed in 0..if cfg!(debug_assertions) { 150 } else { 2_000 } {
        let mut random = Random::new(seed);
        let mut whole = |size: u32| {
            let below = u32::try_from(random.below(u64::from(2 * size + 1))).unwrap();
            f64::from(below) - f64::from(size)
        };
        let [p, q] = [seed % 7, seed / 7 % 7].map(|more| {
            let points: Vec<[f64; 3]> = (0..=more).map(|_| [(); 3].map(|()| whole(3))).collect();
            hull(&points)
        });
        let [x, y, z] = [(); 3].map(|()| whole(8));
        let direction = [(); 3].map(|()| whole(3));
        if Vec3::from(direction) == Vec3::zeros() {
            continue;
        }
        let radii = [whole(4).abs() / 4.0, 0.25 + whole(4).abs() / 4.0];
        let at = Pose::translation(x, y, z);
        let cores = |t: f64| {
            let [x, y, z] = direction.map(|d| t * d);
            Pair::new(&p, Pose::translation(x, y, z), &q, at)
        };
        let found = range(&RoundedPair { cores: cores(0.0), radii }, direction).span;
        for sixteenths in 0..16 * 20 {
            let t = f64::from(sixteenths) / 16.0;
            let pair = RoundedPair { cores: cores(t), radii };
            let effort = &mut Effort::unlimited();
            let stands = verdict(&pair, &mut Witness::default(), effort).unwrap().verdict;
            let inside = found.is_some_and(|it| it.enter[1] <= t && t <= it.exit[0]);
            let outside = found.is_none_or(|it| t < it.enter[1] || it.exit[0] < t);
            assert!(inside != outside);
            let story = format!("seed {seed} {t} {found:?} {stands:?}");
            assert_eq!(stands != Verdict::Separated, inside, "{story}");
            counts[stands as usize] += 1;
        }
        counts[3] += u32::from(found.is_none());
    }
    assert!(counts.iter().all(|count| *count > 1), "{counts:?}");
}

/// A thousand corners: the looks are few, and their steps are counted.
#[test]
fn large_bodies_take_few_looks_and_a_budget_ends_them() {
    let mut random = Random::new(3);
    let round: Vec<[f64; 3]> = (0..1_000).map(|_| random.direction().into()).collect();
    let (p, q) = (hull(&round), convex_hull(&cuboid(1.0, 2.0, 3.0)).unwrap().polytope);
    let mut turn = || [(); 4].map(|()| random.between(-1.0, 1.0));
    let pose = Pose::from_quaternion(Vec3::new(9.0, 1.0, 0.5), turn()).unwrap();
    let cores = Pair::new(&p, Pose::from_quaternion(Vec3::zeros(), turn()).unwrap(), &q, pose);
    let pair = RoundedPair { cores, radii: [0.1, 0.2] };
    let effort = &mut Effort::unlimited();
    let direction = Vec3::new(1.0, 0.1, 0.05);
    let found = along(&pair, &direction, &mut Witness::default(), effort).unwrap();
    let span = found.span.unwrap();
    for [low, high] in [span.enter, span.exit] {
        assert!(low.next_up() >= high && low < high);
    }
    assert!(effort.cost.steps < 200, "{:?}", effort.cost);
    let few = &mut Effort::with_steps(effort.cost.steps / 2);
    let stopped = along(&pair, &direction, &mut Witness::default(), few);
    assert_eq!(stopped, Err(Stopped::Steps));
}

fn curved(form: CurvedForm, half: [f64; 3], radius: f64) -> Body {
    let core = CurvedCore { form, half: half.into() };
    Body::of_curved(core, radius, &mut Effort::unlimited()).unwrap()
}

fn placed(body: &Body, [x, y, z]: [f64; 3]) -> PlacedBody {
    PlacedBody { body: body.clone(), pose: Pose::translation(x, y, z) }
}

fn asked(bodies: [PlacedBody; 2], direction: [f64; 3]) -> MeasuredRange {
    let kinds = bodies.each_ref().map(|placed| placed.body.kind());
    let question = AlongQuestion::of(kinds).unwrap();
    question
        .prepare(bodies)
        .answer(&direction.into(), Wanted::NO_PROOF, &mut Effort::unlimited())
        .unwrap()
}

/// Whether each end holds what it should, within 1e-9 of itself.
#[track_caller]
fn near_ends(found: &MeasuredRange, enter: f64, exit: f64) {
    let span = found.span().unwrap_or_else(|| panic!("{found:?}"));
    for ([low, high], exact) in [(span.enter, enter), (span.exit, exit)] {
        // What is computed here is rounded, too.
        let slack = 4e-15 * exact;
        assert!(low <= exact + slack && exact - slack <= high, "{low} {exact} {high}");
        assert!(high - low <= 1e-9 * high, "{low} {exact} {high}");
    }
    assert_eq!(found.stopped(), None);
}

#[test]
fn curved_bodies_meet_and_part_where_their_formulas_say() {
    let ball = curved(CurvedForm::Ellipsoid, [2.0; 3], 0.0);
    let point = Body::of_points(&[Vec3::zeros()], &mut Effort::unlimited()).unwrap();
    let small = point.clone().rounded(3.0);
    let half = (25.0_f64 - 9.0).sqrt();
    for order in [false, true] {
        // The ball of two polytopes and the one that is exact, with their middles 3 apart sideways.
        let (p, q, way) = if order { (&ball, &small, 1.0) } else { (&small, &ball, 1.0) };
        let bodies = [placed(p, [0.0; 3]), placed(q, [9.0, 3.0, 0.0])];
        near_ends(&asked(bodies.clone(), [way, 0.0, 0.0]), 9.0 - half, 9.0 + half);
        assert_eq!(asked(bodies, [-way, 0.0, 0.0]).span(), None);
    }
    // A cylinder through a wall, a cone past a point, and an ellipsoid past one.
    let wall = Body::of_points(&cuboid(1.0, 9.0, 9.0), &mut Effort::unlimited()).unwrap();
    let cylinder = curved(CurvedForm::Cylinder, [0.5, 0.5, 2.0], 0.25);
    let found = asked([placed(&cylinder, [0.0; 3]), placed(&wall, [6.0, 0.0, 0.0])], [2.0, 0., 0.]);
    near_ends(&found, (5.5 - 0.75) / 2.0, (6.5 + 0.75) / 2.0);
    let ellipsoid = curved(CurvedForm::Ellipsoid, [3.0, 2.0, 1.0], 0.0);
    let found =
        asked([placed(&point, [0.0; 3]), placed(&ellipsoid, [8.0, 1.0, 0.5])], [1., 0., 0.]);
    let reach = 3.0 * (1.0 - 0.25 - 0.25_f64).sqrt();
    near_ends(&found, 8.0 - reach, 8.0 + reach);
}

#[test]
fn curved_bodies_in_contact_begin_at_zero_and_misses_are_told() {
    let ball = curved(CurvedForm::Ellipsoid, [1.0; 3], 0.0);
    let other = curved(CurvedForm::Ellipsoid, [2.0; 3], 0.0);
    let found = asked([placed(&ball, [0.0; 3]), placed(&other, [0.5, 0.0, 0.0])], [1.0, 0.0, 0.0]);
    assert_eq!(found.verdict(), Some(Verdict::Overlapping));
    assert_eq!(found.span().map(|span| span.enter), Some([0.0; 2]));
    let [low, high] = found.span().unwrap().exit;
    assert!(low <= 3.5 && 3.5 <= high && high - low <= 4e-9, "{low} {high}");
    // By a millionth beside it, and by a millionth in it.
    let pass =
        |y: f64| asked([placed(&ball, [0.0; 3]), placed(&other, [9.0, y, 0.0])], [1., 0., 0.]);
    assert_eq!(pass(3.0 + 1e-6).span(), None);
    let half = (9.0_f64 - (3.0 - 1e-6_f64).powi(2)).sqrt();
    let found = pass(3.0 - 1e-6);
    let span = found.span().unwrap();
    assert!(span.enter[0] <= 9.0 - half + 1e-9 && 9.0 - half - 1e-9 <= span.enter[1], "{span:?}");
    assert!(span.exit[0] <= 9.0 + half + 1e-9 && 9.0 + half - 1e-9 <= span.exit[1], "{span:?}");
    // A graze between polytopes and formulas is open, and says so; a budget ends it.
    let graze = pass(3.0);
    assert!(graze.stopped() == Some(Stopped::Unresolved) || graze.span().is_some(), "{graze:?}");
    let bodies = [placed(&ball, [0.0; 3]), placed(&other, [9.0, 1.0, 0.0])];
    let question = AlongQuestion::of([ball.kind(), other.kind()]).unwrap();
    let few = &mut Effort::with_steps(2);
    let stopped = question
        .prepare(bodies)
        .answer(&Vec3::x(), Wanted::NO_PROOF, few)
        .map(|found| found.stopped());
    assert_eq!(stopped, Err(Stopped::Steps));
}
