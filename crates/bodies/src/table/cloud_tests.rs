//! Clouds against the same points asked about one by one, each a rounded point: the cloud is
//! nearest where the nearest of them is, first meets where the first of them does, and stands as
//! the one that stands closest. The judges accept what is proven.

use super::distance::{DistanceAsked, DistanceQuestion, MeasuredDistance};
use super::first_contact::{FirstContactAnswer, FirstContactQuestion, MotionProof, Motions};
use super::tests::{at, cloud_of};
use super::verdict::{VerdictProof, VerdictQuestion};
use super::{Topic, Wanted, topics_of};
use crate::{Body, Kind, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    Outcome, Reach, RoundedSolidProof, RoundedSolids, SolidClaim, SolidCourse, SolidDistanceClaim,
    SolidProof, Solids, Verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{
    RoundedBodies, judge_convex, judge_rounded_solids, judge_solid_course, judge_solid_distance,
    judge_solids,
};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

const WANTED: Wanted = Wanted { certificate: true, cover_steps_max: 1 << 14 };

type Two = [PlacedBody; 2];

/// A cloud where it is, and a body of some kind.
fn draw(random: &mut Random, kind: Kind) -> Two {
    // On a grid points touch and coincide; anywhere else nothing is exact.
    let on_grid = random.below(4) != 0;
    let place = |random: &mut Random| {
        let on_grid_of = |random: &mut Random| f64::from(random.below(9)) / 4.0 - 0.5;
        Vec3::from_fn(|_, _| if on_grid { on_grid_of(random) } else { 1.5 * random.signed() })
    };
    let count = [1, 2, 7, 40][random.below(4) as usize];
    let points: Vec<Vec3> = (0..count).map(|_| place(random)).collect();
    let radius = [0.0, 0.25, 0.25, 1e-3][random.below(4) as usize];
    let shift = place(random) * f64::from(random.below(3));
    let pose = if on_grid {
        Pose { translation: shift, ..Pose::identity() }
    } else {
        random.any_pose(shift)
    };
    let cloud = PlacedBody { body: cloud_of(&points, radius), pose };
    if random.below(2) == 0 { [cloud, at(kind, 0.0)] } else { [at(kind, 0.0), cloud] }
}

/// The points of a cloud as bodies of their own; what else there is, as it is.
fn pieces(placed: &PlacedBody) -> Vec<PlacedBody> {
    let PlacedBody { body, pose } = placed;
    if body.kind() != Kind::Cloud {
        return vec![placed.clone()];
    }
    let of = |point: &Vec3| {
        let effort = &mut Effort::unlimited();
        let body = Body::of_rounded_points(&[*point], body.radius(), effort).unwrap();
        PlacedBody { body, pose: *pose }
    };
    body.vertices().iter().map(of).collect()
}

/// Every pair of pieces. Points without a radius are no solids: beside these the polyhedron, which
/// is convex, is the polytope that it is.
fn pairs_of_pieces([p, q]: &Two) -> Vec<Two> {
    let as_convex = |placed: &PlacedBody| {
        let is_region = placed.body.kind() == Kind::Polyhedron;
        let body = if is_region { at(Kind::Polytope, 0.0).body } else { placed.body.clone() };
        PlacedBody { body, ..placed.clone() }
    };
    let two = |p: PlacedBody, q: PlacedBody| [as_convex(&p), as_convex(&q)];
    let of_q = pieces(q);
    pieces(p)
        .iter()
        .flat_map(|p| of_q.iter().map(|q| two(p.clone(), q.clone())).collect::<Vec<_>>())
        .collect()
}

fn kinds(bodies: &Two) -> [Kind; 2] {
    bodies.each_ref().map(|placed| placed.body.kind())
}

fn solids(bodies: &Two) -> RoundedSolids<'_> {
    let [p, q] = bodies;
    let radii = bodies.each_ref().map(|placed| placed.body.radius());
    RoundedSolids { cores: Solids { p: p.solid(), q: q.solid() }, radii }
}

fn accept(bodies: &Two, proof: &VerdictProof) {
    let effort = &mut Effort::unlimited();
    let (solids, [p, q]) = (solids(bodies), bodies);
    let hulls = Pair { p: p.hull(), q: q.hull() };
    let hulls = RoundedBodies { cores: (&hulls).into(), radii: solids.radii };
    let judged = match proof.clone() {
        VerdictProof::OfSolids(proof) => judge_solids(&solids.cores, &proof, effort),
        VerdictProof::OfRoundedSolids(proof) => judge_rounded_solids(&solids, &proof, effort),
        VerdictProof::OfHulls(proof) => judge_convex(hulls, &proof.into(), effort),
        VerdictProof::OfRounded(proof) => judge_convex(hulls, &proof.into(), effort),
        VerdictProof::OfCurved(_) => panic!("none of these is curved"),
    };
    judged.unwrap_or_else(|why| panic!("{why}: {proof:?}"));
}

/// The kinds that what is found of a cloud beside them is proven of.
const PROVEN: [Kind; 6] = [
    Kind::Cloud,
    Kind::HeightField,
    Kind::Polyhedron,
    Kind::Polytope,
    Kind::Rounded,
    Kind::Surface,
];

fn verdict(bodies: &Two, margin: f64) -> (Verdict, bool, Option<VerdictProof>) {
    let question = VerdictQuestion::of(kinds(bodies), Some(margin)).unwrap();
    let ready = question.prepare(bodies.clone()).unwrap();
    let found = ready.answer(WANTED, &mut Effort::unlimited());
    let decided = found.decided.unwrap();
    (decided.verdict, found.compared.unwrap().unwrap().is_within, decided.proof.ok())
}

#[test]
fn a_cloud_stands_as_the_point_of_it_that_stands_closest() {
    let random = &mut Random(71);
    let mut seen = [0; 3];
    for round in 0..1_000 {
        let bodies = draw(random, PROVEN[round % PROVEN.len()]);
        let margin = [0.25, 0.5, 1.0, 3.0][random.below(4) as usize];
        let (found, is_within, proof) = verdict(&bodies, margin);
        let each: Vec<_> =
            pairs_of_pieces(&bodies).iter().map(|two| verdict(two, margin)).collect();
        let worst = each.iter().map(|(verdict, ..)| *verdict).max().unwrap();
        assert_eq!(found, worst, "{round}: {bodies:?}");
        assert_eq!(is_within, each.iter().any(|(_, is_within, _)| *is_within), "{round}");
        accept(&bodies, &proof.unwrap_or_else(|| panic!("{round}: not proven: {bodies:?}")));
        seen[worst as usize] += 1;
    }
    assert!(seen.iter().all(|count| *count > 30), "{seen:?}");
}

fn distance(bodies: &Two) -> MeasuredDistance {
    let question = DistanceQuestion::of(kinds(bodies)).unwrap();
    let ready = question.prepare(bodies.clone()).unwrap();
    let found = ready.answer(DistanceAsked::default(), WANTED, &mut Effort::unlimited());
    found.distance.unwrap()
}

#[test]
fn a_cloud_is_as_far_away_as_the_nearest_point_of_it() {
    let random = &mut Random(72);
    let mut apart = 0;
    for round in 0..300 {
        let bodies = draw(random, PROVEN[round % PROVEN.len()]);
        let found = distance(&bodies);
        let [lower, upper] = found.bounds();
        let each = pairs_of_pieces(&bodies);
        let bounds = each.iter().map(|two| distance(two).bounds());
        let least = bounds
            .fold([f64::INFINITY; 2], |least, [low, high]| [least[0].min(low), least[1].min(high)]);
        assert!(lower <= least[1] && least[0] <= upper, "{round}: {lower} {upper} {least:?}");
        assert!(upper - lower <= 1e-11 * (1.0 + upper), "{round}: {lower} {upper}");
        if found.verdict() != Some(Verdict::Separated) {
            continue;
        }
        apart += 1;
        let MeasuredDistance::OfFaces(measured) = &found else { panic!("{round}: by hulls") };
        let (VerdictProof::OfSolids(SolidProof::Separated(cover))
        | VerdictProof::OfRoundedSolids(RoundedSolidProof::Apart(cover))) =
            measured.proof.as_ref().unwrap()
        else {
            panic!("{round}: not by a cover")
        };
        let claim = SolidDistanceClaim { bounds: [lower, upper], cover, pairs: &measured.pairs };
        judge_solid_distance(&solids(&bodies), &claim, &mut Effort::unlimited()).unwrap();
        let higher = [upper.next_up() * 1.001, upper.next_up() * 1.001];
        let wrong = SolidDistanceClaim { bounds: higher, ..claim };
        let judged = judge_solid_distance(&solids(&bodies), &wrong, &mut Effort::unlimited());
        assert!(judged.is_err(), "{round}: {lower} {upper}");
    }
    assert!(apart > 100, "{apart}");
}

fn first_contact(bodies: &Two, motions: Motions) -> FirstContactAnswer {
    let [p, q] = bodies.each_ref().map(|placed| &placed.pose);
    let question = FirstContactQuestion::of(kinds(bodies), [p, q], motions).unwrap();
    let ready = question.prepare(bodies.clone()).unwrap();
    ready.answer(true, WANTED, &mut Effort::unlimited()).unwrap()
}

/// Straight and turning, exactly, within a margin and within deviations.
#[test]
fn a_cloud_meets_something_when_the_first_point_of_it_does() {
    let random = &mut Random(73);
    let mut seen = [0; 2];
    for round in 0..120 {
        let bodies = draw(random, PROVEN[round % PROVEN.len()]);
        let (way, axis) = (random.vector() * 3.0, random.unit_vector());
        let straight = Motion::Linear { velocity: way };
        let turning = Motion::Screw { pivot: None, velocity: way, axis, angle: 1.0 };
        let moving = if random.below(2) == 0 { straight } else { turning };
        let mut motions = Motions::new([moving, Motion::rest()]);
        if random.below(2) == 0 {
            motions.of_bodies.swap(0, 1);
        }
        motions.margin = [0.0, 0.0, 0.125][random.below(3) as usize];
        motions.deviations = [0.0, [0.0, 0.03125][random.below(2) as usize]];
        let found = first_contact(&bodies, motions);
        let each: Vec<_> =
            pairs_of_pieces(&bodies).iter().map(|two| first_contact(two, motions)).collect();
        let first = each.iter().filter(|one| one.outcome == Outcome::Contact);
        let t_contact = first.map(|one| one.t_contact).fold(f64::INFINITY, f64::min);
        let story = || format!("{round}: {found:?} {t_contact} {motions:?} {bodies:?}");
        let certain = each.iter().all(|one| one.outcome != Outcome::Undecided);
        if found.outcome == Outcome::Undecided || !certain {
            continue;
        }
        assert_eq!(found.outcome == Outcome::Contact, t_contact < f64::INFINITY, "{}", story());
        assert_eq!(found.initial, each.iter().map(|one| one.initial).max().unwrap());
        if found.outcome == Outcome::Contact {
            let free = each.iter().map(|one| one.t_free).fold(f64::INFINITY, f64::min);
            assert!(found.t_free <= t_contact && free <= found.t_contact, "{}", story());
        }
        accept_motion(&bodies, &motions, &found);
        seen[usize::from(found.outcome == Outcome::Contact)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 15), "{seen:?}");
}

fn accept_motion(bodies: &Two, motions: &Motions, found: &FirstContactAnswer) {
    match found.proof.as_ref().unwrap() {
        MotionProof::AtStart(proof) => accept(bodies, proof),
        MotionProof::OfSolids(proof, start) => {
            let RoundedSolids { cores, radii } = solids(bodies);
            let reach = Reach::of_rounded(radii, motions.margin);
            let (motions, deviations) = (motions.of_bodies, motions.deviations);
            let course = SolidCourse { solids: cores, motions, reach, deviations };
            let &FirstContactAnswer { outcome, t_free, t_contact, .. } = found;
            let claim = SolidClaim { outcome, t_free, t_contact, proof };
            judge_solid_course(&course, &claim, &mut Effort::unlimited()).unwrap();
            start.iter().for_each(|proof| accept(bodies, proof));
        }
        // Their hulls do not meet: other tests judge what is said of those.
        MotionProof::OfHulls(_) | MotionProof::OfRounded(_) => {
            assert_eq!(found.outcome, Outcome::NoContact);
        }
    }
}

/// Exactly touching by construction, and a last place nearer or farther.
#[test]
fn a_ball_of_a_cloud_touches_just_where_it_is_as_far_away_as_its_radius() {
    let corner = |x: f64| Vec3::new(x, 0.25, 0.25);
    for (radius, expected) in [
        (0.5, Verdict::Touching),
        (0.5_f64.next_up(), Verdict::Overlapping),
        (0.5_f64.next_down(), Verdict::Separated),
    ] {
        for kind in [Kind::Polytope, Kind::Polyhedron, Kind::Surface] {
            let points = [corner(-0.5), corner(-7.0), corner(-9.0)];
            let cloud = PlacedBody { body: cloud_of(&points, radius), pose: Pose::identity() };
            for two in [[cloud.clone(), at(kind, 0.0)], [at(kind, 0.0), cloud.clone()]] {
                let (found, _, proof) = verdict(&two, 0.0);
                assert_eq!(found, expected, "{kind:?} {radius}");
                accept(&two, &proof.unwrap());
            }
        }
    }
}

/// A cloud in a hollow of a region is free, and one of whose points is in the region overlaps it;
/// in what a surface bounds it is free anyway.
#[test]
fn a_point_inside_a_region_is_in_contact_and_inside_a_surface_free() {
    let middle = Vec3::repeat(0.2);
    for radius in [0.0, 1e-3] {
        for far in [Vec3::repeat(9.0), Vec3::repeat(-0.2)] {
            let points: Vec<Vec3> = (0..300)
                .map(|k| far + Vec3::new(f64::from(k) * 0.01, 0.0, 0.0))
                .chain([middle])
                .collect();
            let cloud = PlacedBody { body: cloud_of(&points, radius), pose: Pose::identity() };
            for (kind, expected) in [
                (Kind::Polyhedron, Verdict::Overlapping),
                (Kind::Polytope, Verdict::Overlapping),
                (Kind::Surface, Verdict::Separated),
            ] {
                let two = [cloud.clone(), at(kind, 0.0)];
                let (found, _, proof) = verdict(&two, 0.0);
                assert_eq!(found, expected, "{kind:?} {radius}");
                accept(&two, &proof.unwrap());
            }
        }
    }
}

#[test]
fn of_a_large_cloud_few_points_are_looked_at() {
    let random = &mut Random(74);
    let points: Vec<Vec3> =
        (0..100_000).map(|_| random.unit_vector() * 5.0 + Vec3::new(0.0, 0.0, 2.0)).collect();
    let cloud = PlacedBody { body: cloud_of(&points, 0.01), pose: Pose::identity() };
    let two = [cloud, at(Kind::Polyhedron, 0.0)];
    let question = VerdictQuestion::of(kinds(&two), Some(0.5)).unwrap();
    let effort = &mut Effort::unlimited();
    let unproven = Wanted { certificate: false, ..WANTED };
    let found = question.prepare(two.clone()).unwrap().answer(unproven, effort);
    assert_eq!(found.decided.unwrap().verdict, Verdict::Separated);
    assert!(effort.cost.steps < 20_000, "{:?}", effort.cost);
    let few = question.prepare(two).unwrap().answer(unproven, &mut Effort::with_steps(3));
    assert!(few.decided.is_err());
}

#[test]
fn what_is_not_answered_of_clouds_is_refused_in_words() {
    for other in Kind::ALL {
        let refused: Vec<Topic> = Topic::ALL
            .into_iter()
            .filter(|topic| topic.check([Kind::Cloud, other]).is_err())
            .collect();
        let expected = vec![Topic::DistanceAlong];
        assert_eq!(refused, expected, "{other:?}");
        let why = Topic::DistanceAlong.check([other, Kind::Cloud]).unwrap_err();
        let of = match other {
            Kind::HeightField => "height fields",
            Kind::Cloud
            | Kind::Curved
            | Kind::Polyhedron
            | Kind::Polytope
            | Kind::Rounded
            | Kind::Surface => "clouds",
        };
        assert_eq!(why.what, format!("this question about {of}"));
        assert_eq!(topics_of([Kind::Cloud, other]).count(), Topic::ALL.len() - expected.len());
    }
}
