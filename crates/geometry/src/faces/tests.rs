//! Against all pairs of triangles one by one, against convex methods where a body is convex, and
//! against the judges.

use super::contact::{FaceContact, FaceCourse};
use super::distance::FaceDistance;
use super::standing::Standing;
use super::*;
use crate::Vec3;
use crate::claim::{
    Outcome, Reach, RoundedSolids, SolidClaim, SolidCourse, SolidDistanceClaim, SolidMarginClaim,
    SolidMarginProof, SolidMotionProof, Solids, Verdict,
};
use crate::contact_time::polyhedra::{PosedPolyhedron, verdict};
use crate::distance::{Stops, WIDTH_MAX};
use crate::effort::Effort;
use crate::hull::convex_hull;
use crate::judge::{
    Refusal, judge_rounded_solids, judge_solid_course, judge_solid_distance, judge_solid_margin,
};
use crate::motion::Motion;
use crate::pair::Question;
use crate::polyhedron::{BoundaryKind, Polyhedron};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::rounded::{self, RoundedPair};
use crate::samples::{Random, ball, cuboid};
use crate::witness::Witness;

const STEPS_MAX: u64 = 1 << 16;

/// A body with its hull.
struct Made {
    body: Polyhedron,
    hull: Polytope,
    is_hull: bool,
}

impl Made {
    fn at(&self, pose: Pose) -> HulledBody<'_> {
        HulledBody { body: &self.body, pose, hull: &self.hull, is_hull: self.is_hull }
    }

    fn triangles(&self) -> Vec<Polytope> {
        if self.is_hull {
            return vec![self.hull.clone()];
        }
        let corner = |at: u32| self.body.vertices()[at as usize];
        let hull = |corners: &[u32; 3]| convex_hull(&corners.map(corner)).unwrap().polytope;
        self.body.triangles().iter().map(hull).collect()
    }
}

/// A ball whose vertices are moved in: seen from its middle, if that is inside, it still bounds a
/// solid.
fn bumpy(vertices: u32, depth: f64, random: &mut Random) -> Option<Made> {
    let round = ball(vertices, random.bits());
    mesh_of(&round, |v| v * (1.0 - depth * random.signed().abs()))
}

/// The surface of a polytope as a mesh, with its vertices moved.
fn mesh_of(polytope: &Polytope, moved: impl FnMut(&Vec3) -> Vec3) -> Option<Made> {
    let points: Vec<Vec3> = polytope.vertices().iter().map(moved).collect();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for row in polytope.facets().rows() {
        triangles.extend(row.windows(2).skip(1).map(|w| [row[0], w[0], w[1]]));
    }
    let body = Polyhedron::new(&points, &triangles, &mut Effort::unlimited()).ok()?;
    let hull = convex_hull(&points).unwrap().polytope;
    Some(Made { body, hull, is_hull: false })
}

fn of_hull(hull: Polytope) -> Made {
    let body = Polyhedron::of_polytope(&hull).unwrap().0;
    Made { body, hull, is_hull: true }
}

/// Two bodies whose surfaces share no point, near each other.
struct Scene {
    made: [Made; 2],
    poses: [Pose; 2],
}

impl Scene {
    fn draw(seed: u64, vertices: u32) -> Option<Self> {
        let mut random = Random(seed);
        let mut body = |k: u32| match (seed as u32 / 3 + k) % 4 {
            0 => Some(of_hull(ball(4 + vertices / 2, seed))),
            1 => bumpy(vertices, 0.0, &mut random),
            _ => bumpy(vertices, 0.7, &mut random),
        };
        let made = [body(0)?, body(1)?];
        let away = random.unit_vector() * (0.9 + 0.02 * f64::from(random.below(80)));
        let poses = [random.pose(Vec3::zeros()), random.pose(away)];
        let scene = Self { made, poses };
        let of = |k: usize| PosedPolyhedron { body: &scene.made[k].body, pose: scene.poses[k] };
        let (stands, _) = verdict(of(0), of(1), &mut Effort::unlimited()).unwrap();
        (stands == Verdict::Separated).then_some(scene)
    }

    fn shapes(&self) -> [HulledBody<'_>; 2] {
        [self.made[0].at(self.poses[0]), self.made[1].at(self.poses[1])]
    }

    /// Asks of all pairs of triangles.
    fn each_pair(&self, mut ask: impl FnMut(Pair<'_>)) {
        let triangles = [self.made[0].triangles(), self.made[1].triangles()];
        for p in &triangles[0] {
            for q in &triangles[1] {
                ask(Pair::new(p, self.poses[0], q, self.poses[1]));
            }
        }
    }

    fn by_pairs(&self) -> [f64; 2] {
        let mut nearest = [f64::INFINITY; 2];
        self.each_pair(|pair| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let found = crate::distance::measure(&pair, Stops::default(), witness, effort).unwrap();
            nearest = [nearest[0].min(found.lower), nearest[1].min(found.upper)];
        });
        nearest
    }
}

fn solids<'a>(surfaces: &Surfaces<'a>) -> Solids<'a> {
    let [p, q] = &surfaces.bodies;
    Solids { p: p.solid(), q: q.solid() }
}

fn measured(surfaces: &Surfaces<'_>) -> FaceDistance {
    distance::measure(surfaces, Stops::default(), &mut Effort::unlimited()).unwrap()
}

/// What the judge says of a distance with the cover that is found for it, and with other bounds.
fn judged(surfaces: &Surfaces<'_>, found: &FaceDistance, bounds: [f64; 2]) -> Result<(), Refusal> {
    let effort = &mut Effort::unlimited();
    let cover = prove_clear(surfaces, Clear::AtLeast(found.lower), STEPS_MAX, effort).unwrap();
    let cores = solids(surfaces);
    let claim = SolidDistanceClaim { bounds, cover: &cover, pairs: &found.pairs };
    judge_solid_distance(&RoundedSolids { cores, radii: surfaces.radii }, &claim, effort)
}

#[test]
fn a_distance_is_that_of_the_nearest_triangles_and_is_proven() {
    let (mut seen, mut seed) = (0, 0);
    while seen < if cfg!(debug_assertions) { 60 } else { 3_000 } {
        seed += 1;
        // Some with groups that are too large for a hull.
        let vertices = if seed % 16 == 0 { 150 } else { 8 + (seed % 30) as u32 };
        let Some(scene) = Scene::draw(seed, vertices) else { continue };
        seen += 1;
        let shapes = scene.shapes();
        let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
        let (found, nearest) = (measured(&surfaces), scene.by_pairs());
        assert!(found.lower <= nearest[1] && nearest[0] <= found.upper, "{seed}: {found:?}");
        assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "{seed}: {found:?}");
        let apart = (found.closest[0] - found.closest[1]).norm();
        assert!((apart - found.upper).abs() < 1e-12, "{seed}");
        assert_eq!(judged(&surfaces, &found, [found.lower, found.upper]), Ok(()), "{seed}");
        let wider = found.upper * (1.0 + 1e-9);
        assert!(judged(&surfaces, &found, [wider, wider]).is_err(), "{seed}");
        let nearer = found.lower * (1.0 - 1e-9);
        assert!(judged(&surfaces, &found, [nearer, nearer]).is_err(), "{seed}");
    }
}

/// Squares of lengths overflowed, and groups that were nowhere near were said to be infinitely far:
/// then nothing was left that is near.
#[test]
fn bodies_of_any_size_are_as_far_apart_as_they_are() {
    let (mut seen, mut seed) = (0, 0);
    while seen < 12 {
        seed += 1;
        let vertices = if seed % 2 == 0 { 100 } else { 30 };
        let Some(scene) = Scene::draw(seed, vertices) else { continue };
        seen += 1;
        let shapes = scene.shapes();
        let exact = measured(&Surfaces::new([&shapes[0], &shapes[1]]));
        for exponent in [-900, -540, 540, 940] {
            let scale = 2.0_f64.powi(exponent);
            let scaled = |made: &Made| {
                let points: Vec<Vec3> = made.body.vertices().iter().map(|v| v * scale).collect();
                let triangles = made.body.triangles();
                let body = Polyhedron::new(&points, triangles, &mut Effort::unlimited()).unwrap();
                let hull = convex_hull(&points).unwrap().polytope;
                Made { body, hull, is_hull: made.is_hull }
            };
            let made = scene.made.each_ref().map(scaled);
            let pose = |k: usize| {
                let translation = scene.poses[k].translation * scale;
                Pose { translation, ..scene.poses[k] }
            };
            let shapes = [made[0].at(pose(0)), made[1].at(pose(1))];
            let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
            let found = measured(&surfaces);
            let (lower, upper) = (found.lower / scale, found.upper / scale);
            assert!(lower <= exact.upper && exact.lower <= upper, "{seed} {exponent} {found:?}");
            assert!(upper - lower < 1e-9, "{seed} {exponent} {found:?}");
            assert_eq!(judged(&surfaces, &found, [found.lower, found.upper]), Ok(()), "{seed}");
        }
    }
}

/// Whatever effort is left: the bracket holds, and says that it is wider.
#[test]
fn a_search_that_is_stopped_leaves_brackets_that_hold() {
    let (mut seen, mut seed, mut widths) = (0, 0, 0);
    while seen < 20 {
        seed += 1;
        let Some(scene) = Scene::draw(seed, 20 + (seed % 30) as u32) else { continue };
        seen += 1;
        let shapes = scene.shapes();
        let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
        let exact = measured(&surfaces);
        let hulls =
            Pair::new(&scene.made[0].hull, scene.poses[0], &scene.made[1].hull, scene.poses[1]);
        let way = scene.poses[0].translation - scene.poses[1].translation;
        let turns = Motion::Screw { pivot: None, velocity: way, axis: Vec3::z(), angle: 1.0 };
        let question = Question::new(hulls, Motion::rest(), turns);
        let course = FaceCourse { question: &question, margin: 0.0 };
        let whole = contact::find(&surfaces, &course, &mut Effort::unlimited());
        for steps in (0..40).chain([100, 400]) {
            let effort = &mut Effort::with_steps(steps);
            let found = distance::measure(&surfaces, Stops::default(), effort).unwrap();
            assert!(found.lower <= exact.upper && exact.lower <= found.upper, "{seed} {steps}");
            let is_narrow = found.upper - found.lower <= WIDTH_MAX * found.lower;
            assert!(is_narrow || found.stopped.is_some(), "{seed} {steps}: {found:?}");
            widths += u32::from(!is_narrow);
            let effort = &mut Effort::with_steps(20 * steps);
            let found = contact::find(&surfaces, &course, effort);
            assert!(found.t_free <= whole.t_contact, "{seed} {steps}: {found:?} {whole:?}");
            let is_less = found.outcome != whole.outcome || found.t_free < whole.t_free;
            assert!(!is_less || found.stopped.is_some(), "{seed} {steps}: {found:?} {whole:?}");
        }
    }
    assert!(widths > 100, "{widths}");
}

/// Balls around all points of both: their surfaces come as much nearer.
#[test]
fn a_distance_of_rounded_bodies_is_less_by_the_radii() {
    let (mut seen, mut seed) = (0, 0);
    while seen < if cfg!(debug_assertions) { 40 } else { 1_000 } {
        seed += 1;
        let Some(scene) = Scene::draw(seed, 8 + (seed % 30) as u32) else { continue };
        let shapes = scene.shapes();
        let bare = measured(&Surfaces::new([&shapes[0], &shapes[1]]));
        let radii = [0.3, 0.6].map(|part| part * bare.lower);
        let surfaces = Surfaces { radii, ..Surfaces::new([&shapes[0], &shapes[1]]) };
        seen += 1;
        let found = measured(&surfaces);
        let mut nearest = [f64::INFINITY; 2];
        scene.each_pair(|cores| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let (pair, method) = (RoundedPair { cores, radii }, &crate::distance::METHODS[0]);
            let one = rounded::measure(&pair, method, Stops::default(), witness, effort).unwrap();
            nearest = [nearest[0].min(one.lower), nearest[1].min(one.upper)];
        });
        assert!(found.lower <= nearest[1] && nearest[0] <= found.upper, "{seed}: {found:?}");
        assert_eq!(judged(&surfaces, &found, [found.lower, found.upper]), Ok(()), "{seed}");
        let wider = found.upper * (1.0 + 1e-9);
        assert!(judged(&surfaces, &found, [wider, wider]).is_err(), "{seed}");
    }
}

/// A ball of a radius that is the distance, or a neighbour of it; and one inside the body.
#[test]
fn a_ball_touches_a_mesh_where_its_radius_is_the_distance() {
    let (mut seen, mut seed, mut counts) = (0, 0, [0; 4]);
    let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
    while seen < if cfg!(debug_assertions) { 200 } else { 3_000 } {
        seed += 1;
        let mut random = Random(seed);
        let made = match seed % 4 {
            0 => mesh_of(&cuboid(1.0, 0.5, 0.25), |v| *v),
            _ => bumpy(8 + (seed % 30) as u32, 0.6, &mut random),
        };
        let Some(made) = made else { continue };
        // On a grid, so that some distances are numbers.
        let at = random.vector().map(|x| (8.0 * x).round() / 4.0);
        let [p, q] =
            [made.at(Pose::identity()), made.at(Pose::identity())].map(|b| Boundary::from(&b));
        let ball = Boundary {
            kind: BoundaryKind::Hull,
            hull: &point,
            pose: Pose::translation(at.x, at.y, at.z),
        };
        let flips = seed % 2 == 0;
        let bodies = |mesh| if flips { [ball, mesh] } else { [mesh, ball] };
        let effort = &mut Effort::unlimited();
        let far = Surfaces { bodies: bodies(p), radii: [1e-9; 2] };
        if matches!(
            standing::stand(&far, effort).unwrap(),
            Standing::Near(_) | Standing::Touching(_)
        ) {
            continue;
        }
        seen += 1;
        let apart = measured(&Surfaces { bodies: bodies(q), radii: [0.0; 2] });
        // Beside a box on the grid the distance is mostly such a number.
        let even = (1024.0 * apart.upper).round() / 1024.0;
        for radius in [0.5 * apart.lower, apart.lower, even, apart.upper, 2.0 * apart.upper] {
            let radii = if flips { [radius, 0.0] } else { [0.0, radius] };
            let surfaces = Surfaces { bodies: bodies(q), radii };
            let found = standing::stand(&surfaces, effort).unwrap();
            let is_inside = matches!(found, Standing::Inside(_));
            counts[if is_inside { 3 } else { found.verdict() as usize }] += 1;
            let proof = found.clone().prove(&surfaces, STEPS_MAX, effort).unwrap();
            assert_eq!(proof.verdict(), found.verdict());
            let [p, q] = surfaces.bodies;
            let cores = Solids { p: p.solid(), q: q.solid() };
            let rounded = RoundedSolids { cores, radii };
            assert_eq!(judge_rounded_solids(&rounded, &proof, effort), Ok(()), "{seed} {found:?}");
            let other = if found.verdict() == Verdict::Overlapping { 1e-3 } else { 1e3 };
            let lie = RoundedSolids { cores, radii: radii.map(|r| r * other) };
            let refused = judge_rounded_solids(&lie, &proof, effort).is_err();
            assert!(refused || is_inside, "{seed} {found:?}");
            // Inside, no radius makes them part; outside, the distance and the radius tell.
            let expected = match (is_inside, radius < apart.lower, radius > apart.upper) {
                (false, true, _) => Some(Verdict::Separated),
                (false, _, true) | (true, ..) => Some(Verdict::Overlapping),
                (false, false, false) => None,
            };
            assert!(expected.is_none_or(|verdict| verdict == found.verdict()), "{seed} {found:?}");
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

/// At the ends of the bracket, where one of the two is beyond and the other within.
#[test]
fn margins_are_told_exactly_and_proven() {
    let (mut seen, mut seed, mut within) = (0, 0, 0);
    while seen < if cfg!(debug_assertions) { 60 } else { 2_000 } {
        seed += 1;
        let Some(scene) = Scene::draw(seed, 8 + (seed % 20) as u32) else { continue };
        let shapes = scene.shapes();
        let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
        let found = measured(&surfaces);
        seen += 1;
        let mut expected_within = false;
        let middle = 0.5 * (found.lower + found.upper);
        for (at, margin) in
            [found.lower, middle, found.upper, 2.0 * found.upper].into_iter().enumerate()
        {
            let effort = &mut Effort::unlimited();
            let compared = margin::compare(&surfaces, margin, effort).unwrap();
            scene.each_pair(|pair| {
                let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
                expected_within |=
                    crate::distance::is_within(&pair, margin, witness, effort).unwrap();
            });
            assert_eq!(compared.is_within, expected_within, "{seed}: {margin}");
            assert!(compared.is_within || at < 2, "{seed}");
            within += u32::from(compared.is_within);
            let cores = solids(&surfaces);
            let rounded = RoundedSolids { cores, radii: [0.0; 2] };
            let mut judge = |shown, margin| {
                judge_solid_margin(&rounded, &SolidMarginClaim { margin, shown }, effort)
            };
            if compared.is_within {
                let shown = SolidMarginProof::Within(&compared.pairs);
                assert_eq!(judge(shown, margin), Ok(()), "{seed}");
                assert!(judge(shown, 0.5 * found.lower).is_err(), "{seed}");
            } else {
                let clear = Clear::Beyond(margin);
                let cover =
                    prove_clear(&surfaces, clear, STEPS_MAX, &mut Effort::unlimited()).unwrap();
                assert_eq!(judge(SolidMarginProof::Beyond(&cover), margin), Ok(()), "{seed}");
                let farther = found.upper * (1.0 + 1e-9);
                assert!(judge(SolidMarginProof::Beyond(&cover), farther).is_err(), "{seed}");
            }
        }
    }
    assert!(within >= 2 * seen, "{within} of {seen}");
}

/// A motion of every kind.
fn motion(kind: u32, start: &Pose, random: &mut Random) -> Motion {
    let velocity = random.vector() * 0.7;
    match kind % 4 {
        0 => Motion::rest(),
        1 => Motion::Linear { velocity },
        2 => {
            let (axis, angle) = (random.unit_vector(), 3.0 * random.signed());
            Motion::Screw { pivot: Some(random.vector() * 0.5), velocity, axis, angle }
        }
        _ => {
            let end = random.pose(start.translation + velocity);
            Motion::ToPose { end, pivot: None, turn: None }
        }
    }
}

fn judged_course(
    surfaces: &Surfaces<'_>,
    course: &FaceCourse<'_>,
    found: &FaceContact,
    told: [f64; 2],
) -> Result<(), Refusal> {
    let Question { motion_p, motion_q, deviation_p, deviation_q, .. } = *course.question;
    let claimed = SolidCourse {
        solids: solids(surfaces),
        motions: [motion_p, motion_q],
        reach: Reach::of_rounded(surfaces.radii, course.margin),
        deviations: [deviation_p, deviation_q],
    };
    let effort = &mut Effort::unlimited();
    let clear = if found.t_free > 0.0 {
        Clear::Until(course, found.t_free)
    } else {
        Clear::Beyond(course.margin)
    };
    let free = prove_clear(surfaces, clear, STEPS_MAX, effort).unwrap();
    let proof = SolidMotionProof { free, faces: None, pairs: found.pairs.clone() };
    let [t_free, t_contact] = told;
    let claim = SolidClaim { outcome: found.outcome, t_free, t_contact, proof: &proof };
    judge_solid_course(&claimed, &claim, effort)
}

#[test]
fn bodies_that_turn_meet_when_the_first_of_their_triangles_do_and_it_is_proven() {
    let (mut seen, mut seed, mut counts) = (0, 0, [0; 3]);
    while seen < if cfg!(debug_assertions) { 40 } else { 1_000 } {
        seed += 1;
        let Some(scene) = Scene::draw(seed, 5 + (seed % 6) as u32) else { continue };
        let mut random = Random(seed + 77);
        let shapes = scene.shapes();
        let bare = measured(&Surfaces::new([&shapes[0], &shapes[1]]));
        let kinds = (seed as u32 % 4, seed as u32 / 4 % 3 + 1);
        let motion_p = motion(kinds.0, &scene.poses[0], &mut random);
        let motion_q = motion(kinds.1, &scene.poses[1], &mut random);
        let is_wide = seed % 3 == 0;
        let radii = if seed % 5 == 0 { [0.1, 0.3].map(|part| part * bare.lower) } else { [0.0; 2] };
        let margin = if is_wide { 0.4 * bare.lower } else { 0.0 };
        let deviation_p = if seed % 7 == 0 { 0.1 * bare.lower } else { 0.0 };
        let surfaces = Surfaces { radii, ..Surfaces::new([&shapes[0], &shapes[1]]) };
        let hulls =
            Pair::new(&scene.made[0].hull, scene.poses[0], &scene.made[1].hull, scene.poses[1]);
        let question = Question { deviation_p, ..Question::new(hulls, motion_p, motion_q) };
        let course = FaceCourse { question: &question, margin };
        let found = contact::find(&surfaces, &course, &mut Effort::unlimited());
        seen += 1;
        let (mut outcome, mut bracket) = (Outcome::NoContact, [1.0_f64; 2]);
        scene.each_pair(|pair| {
            let reach = Reach::of_rounded(radii, margin);
            let question = Question { pair, reach, ..question };
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let one = crate::contact_time::first_contact(&question, witness, effort).unwrap();
            match one.outcome {
                Outcome::NoContact => return,
                Outcome::Undecided if outcome == Outcome::NoContact => outcome = one.outcome,
                Outcome::Undecided => {}
                Outcome::Contact => {
                    outcome = Outcome::Contact;
                    bracket[1] = bracket[1].min(one.t_contact);
                }
            }
            bracket[0] = bracket[0].min(one.t_free);
        });
        let story = format!("{seed}: {found:?} and {outcome:?} {bracket:?}");
        assert_eq!(found.outcome, outcome, "{story}");
        counts[outcome as usize] += 1;
        if outcome == Outcome::Contact {
            assert_eq!(found.t_contact.to_bits(), bracket[1].to_bits(), "{story}");
            assert!(found.t_free <= found.t_contact, "{story}");
            assert!(deviation_p > 0.0 || found.t_contact - found.t_free < 1e-6, "{story}");
        }
        let told = [found.t_free, found.t_contact];
        assert_eq!(judged_course(&surfaces, &course, &found, told), Ok(()), "{story}");
        if outcome == Outcome::Contact && found.t_contact < 0.9 && deviation_p <= 0.0 {
            let later = [found.t_contact + 1e-3, found.t_contact + 2e-3];
            assert!(judged_course(&surfaces, &course, &found, later).is_err(), "{story}");
        }
    }
    assert!(counts[0] > 5 && counts[1] > 5, "{counts:?}");
}
