//! Surfaces against all pairs of their triangles one by one, and against the judges: soups on a
//! grid, where most pairs that meet do so at corners, along edges or in a plane, beside each other,
//! polytopes and rounded ones.

use super::contact::FaceCourse;
use super::standing::{Standing, stand};
use super::*;
use crate::Vec3;
use crate::claim::{
    RoundedSolids, SolidDistanceClaim, SolidMarginClaim, SolidMarginProof, SolidProof, Solids,
    Verdict,
};
use crate::contact_time::first_contact;
use crate::distance::{Stops, measure};
use crate::effort::Effort;
use crate::hull::convex_hull;
use crate::judge::{judge_rounded_solids, judge_solid_distance, judge_solid_margin, judge_solids};
use crate::motion::Motion;
use crate::pair::Question;
use crate::polyhedron::{BoundaryKind, TriangleSurface};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::rounded::{self, RoundedPair};
use crate::samples::Random;
use crate::separation::{METHODS, decide};
use crate::witness::Witness;

const STEPS_MAX: u64 = 1 << 16;

/// A surface or a polytope, and the convex bodies whose union it is.
struct Made {
    surface: Option<TriangleSurface>,
    hull: Polytope,
    pieces: Vec<Polytope>,
}

impl Made {
    fn surface(points: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let surface = TriangleSurface::new(points, triangles).unwrap();
        let corner = |at: u32| surface.vertices()[at as usize];
        let piece = |corners: &[u32; 3]| convex_hull(&corners.map(corner)).unwrap().polytope;
        let pieces = surface.triangles().iter().map(piece).collect();
        let hull = convex_hull(surface.vertices()).unwrap().polytope;
        Self { surface: Some(surface), hull, pieces }
    }

    fn polytope(points: &[Vec3]) -> Self {
        let hull = convex_hull(points).unwrap().polytope;
        Self { surface: None, pieces: vec![hull.clone()], hull }
    }

    /// Corners of a grid, of which triangles are drawn anyhow: many are drawn twice, cross each
    /// other or are degenerate.
    fn draw(random: &mut Random, count: u32) -> Self {
        let corner = |random: &mut Random| Vec3::from_fn(|_, _| f64::from(random.below(4))) / 2.0;
        if random.below(4) == 0 {
            let points: Vec<Vec3> = (0..1 + random.below(8)).map(|_| corner(random)).collect();
            return Self::polytope(&points);
        }
        let points: Vec<Vec3> = (0..4 + count / 2).map(|_| corner(random)).collect();
        let among = points.len() as u32;
        let triangle = |random: &mut Random| [0; 3].map(|_| random.below(among));
        let triangles: Vec<[u32; 3]> = (0..count).map(|_| triangle(random)).collect();
        Self::surface(&points, &triangles)
    }

    fn at(&self, pose: Pose) -> Boundary<'_> {
        let kind = self.surface.as_ref().map_or(BoundaryKind::Hull, BoundaryKind::Surface);
        Boundary { kind, hull: &self.hull, pose }
    }
}

struct Scene {
    made: [Made; 2],
    poses: [Pose; 2],
}

impl Scene {
    /// On the grid half of the time, or turned by a quarter, or anyhow.
    fn draw(seed: u64, count: u32) -> Self {
        let mut random = Random(seed);
        let made = [0; 2].map(|_| Made::draw(&mut random, count));
        let away = Vec3::from_fn(|_, _| f64::from(random.below(9)) / 2.0 - 2.0);
        let pose = match random.below(3) {
            0 => random.pose(1.7 * away),
            _ => Pose::translation(away.x, away.y, away.z),
        };
        Self { made, poses: [Pose::identity(), pose] }
    }

    fn surfaces(&self, radii: [f64; 2]) -> Surfaces<'_> {
        Surfaces { bodies: [0, 1].map(|k| self.made[k].at(self.poses[k])), radii }
    }

    fn pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        let [p, q] = &self.made;
        let all = p.pieces.iter().flat_map(|p| q.pieces.iter().map(move |q| (p, q)));
        all.map(|(p, q)| Pair::new(p, self.poses[0], q, self.poses[1]))
    }

    fn has_surface(&self) -> bool {
        self.made.iter().any(|made| made.surface.is_some())
    }

    /// The most that any two pieces do.
    fn verdict(&self) -> Verdict {
        let of = |pair| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            decide(&pair, &METHODS[0], witness, effort).unwrap().verdict()
        };
        self.pairs().map(of).max().unwrap()
    }

    fn rounded_verdict(&self, radii: [f64; 2]) -> Verdict {
        let of = |cores| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            rounded::verdict(&RoundedPair { cores, radii }, witness, effort).unwrap().verdict
        };
        self.pairs().map(of).max().unwrap()
    }

    fn distance(&self) -> [f64; 2] {
        let of = |pair| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let found = measure(&pair, Stops::default(), witness, effort).unwrap();
            [found.lower, found.upper]
        };
        let least = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].min(b[1])];
        self.pairs().map(of).fold([f64::INFINITY; 2], least)
    }
}

fn solids<'a>(surfaces: &Surfaces<'a>) -> Solids<'a> {
    let [p, q] = &surfaces.bodies;
    Solids { p: p.solid(), q: q.solid() }
}

fn scenes(count: u64) -> impl Iterator<Item = (u64, Scene)> {
    let count = if cfg!(debug_assertions) { count / 5 } else { count };
    let sizes = [1, 2, 5, 20, 90];
    (0..count)
        .map(move |seed| (seed, Scene::draw(seed, sizes[seed as usize % sizes.len()])))
        .filter(|(_, scene)| scene.has_surface())
}

#[test]
fn surfaces_stand_as_the_pair_of_pieces_that_does_most_and_that_is_proven() {
    let mut counts = [0; 3];
    for (seed, scene) in scenes(4_000) {
        let (surfaces, effort) = (scene.surfaces([0.0; 2]), &mut Effort::unlimited());
        let found = stand(&surfaces, effort).unwrap();
        assert_eq!(found.verdict(), scene.verdict(), "{seed}: {found:?}");
        counts[found.verdict() as usize] += 1;
        let proof = found.clone().prove_pieces(&surfaces, STEPS_MAX, effort).unwrap();
        assert_eq!(proof.verdict(), found.verdict(), "{seed}");
        let here = solids(&surfaces);
        assert_eq!(judge_solids(&here, &proof, effort), Ok(()), "{seed}: {proof:?}");
        // Of bodies that are elsewhere it proves nothing.
        let mut moved = scene.poses[1];
        moved.translation += Vec3::new(9.0, 0.0, 0.0);
        let mut there = here;
        there.q.points.pose = moved;
        if proof.verdict() == Verdict::Separated {
            continue;
        }
        assert!(judge_solids(&there, &proof, effort).is_err(), "{seed}: {proof:?}");
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

/// What shows that pieces touch does not show that they are apart or overlap, and the other way
/// round.
#[test]
fn a_proof_of_one_verdict_is_none_of_another() {
    let mut tried = 0;
    for (seed, scene) in scenes(800) {
        let (surfaces, effort) = (scene.surfaces([0.0; 2]), &mut Effort::unlimited());
        let found = stand(&surfaces, effort).unwrap();
        let here = solids(&surfaces);
        let proof = found.prove_pieces(&surfaces, STEPS_MAX, effort).unwrap();
        let lies = match proof {
            SolidProof::TouchingPieces { pairs, cover } => {
                vec![SolidProof::OverlappingPieces(pairs), SolidProof::Separated(cover)]
            }
            SolidProof::OverlappingPieces(pairs) => {
                let cover = crate::claim::Cover::default();
                vec![SolidProof::TouchingPieces { pairs, cover }]
            }
            SolidProof::Separated(cover) => {
                let pairs = [crate::pair::VertexPair { i: 0, j: 0 }].into_iter().collect();
                vec![SolidProof::TouchingPieces { pairs, cover }]
            }
            SolidProof::Touching { .. }
            | SolidProof::Crossing(_)
            | SolidProof::InnerPoint(_)
            | SolidProof::InnerPiece { .. } => {
                unreachable!("{seed}: of surfaces it is not told so")
            }
        };
        for lie in lies {
            tried += 1;
            assert!(judge_solids(&here, &lie, effort).is_err(), "{seed}: {lie:?}");
        }
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn distances_and_margins_of_surfaces_are_those_of_their_nearest_pieces() {
    let mut seen = 0;
    for (seed, scene) in scenes(4_000).filter(|(_, scene)| scene.verdict() == Verdict::Separated) {
        seen += 1;
        let (surfaces, effort) = (scene.surfaces([0.0; 2]), &mut Effort::unlimited());
        let found = distance::measure(&surfaces, Stops::default(), effort).unwrap();
        let nearest = scene.distance();
        assert!(found.lower <= nearest[1] && nearest[0] <= found.upper, "{seed}: {found:?}");
        assert!(found.upper - found.lower <= 1e-12 * found.lower, "{seed}: {found:?}");
        let judged = |bounds, effort: &mut Effort<'_>| {
            let clear = Clear::AtLeast(found.lower);
            let cover = prove_clear(&surfaces, clear, STEPS_MAX, effort).unwrap();
            let claim = SolidDistanceClaim { bounds, cover: &cover, pairs: &found.pairs };
            let cores = solids(&surfaces);
            judge_solid_distance(&RoundedSolids { cores, radii: [0.0; 2] }, &claim, effort)
        };
        assert_eq!(judged([found.lower, found.upper], effort), Ok(()), "{seed}");
        let wider = found.upper * (1.0 + 1e-9);
        assert!(judged([wider, wider], effort).is_err(), "{seed}");
        for (margin, is_within) in [(found.lower.next_down(), false), (found.upper, true)] {
            let compared = margin::compare(&surfaces, margin, effort).unwrap();
            assert_eq!(compared.is_within, is_within, "{seed} {margin} {found:?}");
            let beyond = || {
                prove_clear(&surfaces, Clear::Beyond(margin), STEPS_MAX, &mut Effort::unlimited())
            };
            let cover = (!is_within).then(|| beyond().unwrap());
            let shown = cover
                .as_ref()
                .map_or(SolidMarginProof::Within(&compared.pairs), SolidMarginProof::Beyond);
            let cores = solids(&surfaces);
            let (solids, claim) =
                (RoundedSolids { cores, radii: [0.0; 2] }, SolidMarginClaim { margin, shown });
            assert_eq!(judge_solid_margin(&solids, &claim, effort), Ok(()), "{seed}");
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Radii that are sums of grid lengths, so that many pairs touch.
#[test]
fn rounded_surfaces_stand_as_their_nearest_pieces_do() {
    let mut counts = [0; 3];
    for (seed, scene) in scenes(2_000) {
        let radii = match seed % 3 {
            0 => [0.5, 0.0],
            1 => [0.0, 1.0],
            _ => [0.25, 0.25],
        };
        let (surfaces, effort) = (scene.surfaces(radii), &mut Effort::unlimited());
        let found = stand(&surfaces, effort).unwrap();
        assert_eq!(found.verdict(), scene.rounded_verdict(radii), "{seed}: {found:?}");
        counts[found.verdict() as usize] += 1;
        let proof = found.prove(&surfaces, STEPS_MAX, effort).unwrap();
        let solids = RoundedSolids { cores: solids(&surfaces), radii };
        assert_eq!(judge_rounded_solids(&solids, &proof, effort), Ok(()), "{seed}: {proof:?}");
    }
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
}

#[test]
fn surfaces_first_meet_when_two_of_their_pieces_do() {
    let mut met = [0; 2];
    for (seed, scene) in scenes(1_500).filter(|(_, scene)| scene.verdict() == Verdict::Separated) {
        let (surfaces, effort) = (scene.surfaces([0.0; 2]), &mut Effort::unlimited());
        let velocity = -2.0 * scene.poses[1].translation;
        let motion = match seed % 2 {
            0 => Motion::Linear { velocity },
            _ => Motion::Screw { pivot: None, velocity, axis: Vec3::z(), angle: 1.0 },
        };
        let about = |pair| Question::new(pair, Motion::rest(), motion);
        let hulls =
            Pair::new(&scene.made[0].hull, scene.poses[0], &scene.made[1].hull, scene.poses[1]);
        let question = about(hulls);
        let course = FaceCourse { question: &question, margin: 0.0 };
        let found = contact::find(&surfaces, &course, effort);
        let times = scene.pairs().map(|pair| {
            let question = about(pair);
            let found = first_contact(&question, &mut Witness::default(), &mut Effort::unlimited())
                .unwrap();
            let is_met = found.outcome == crate::claim::Outcome::Contact;
            [found.t_free, if is_met { found.t_contact } else { f64::INFINITY }]
        });
        let [free, contact] =
            times.fold([1.0_f64, f64::INFINITY], |a, b| [a[0].min(b[0]), a[1].min(b[1])]);
        let is_met = found.outcome == crate::claim::Outcome::Contact;
        met[usize::from(is_met)] += 1;
        assert_eq!(is_met, contact.is_finite(), "{seed}: {found:?} {free} {contact}");
        if is_met {
            assert!(found.t_free <= contact && free <= found.t_contact, "{seed}: {found:?}");
        }
        let clear = Clear::Until(&course, found.t_free);
        assert!(prove_clear(&surfaces, clear, STEPS_MAX, effort).is_ok(), "{seed}: {found:?}");
    }
    assert!(met.iter().all(|count| *count > 3), "{met:?}");
}

/// A plane that is cut along an edge of its two triangles touches there, as each of the two does;
/// moved by an ulp along itself it is crossed by a triangle.
#[test]
fn surfaces_cross_by_a_triangle_that_crosses_another() {
    let corners = [[0., 0., 0.], [2., 0., 0.], [2., 2., 0.], [0., 2., 0.]].map(Vec3::from);
    let floor = Made::surface(&corners, &[[0, 1, 2], [0, 2, 3]]);
    let blade = [[0.5, 0.5, -1.], [0.5, 0.5, 1.], [1.5, 1.5, 0.]].map(Vec3::from);
    let blade = Made::surface(&blade, &[[0, 1, 2]]);
    let verdict = |x: f64| {
        let bodies = [floor.at(Pose::identity()), blade.at(Pose::translation(x, 0.0, 0.0))];
        stand(&Surfaces { bodies, radii: [0.0; 2] }, &mut Effort::unlimited()).unwrap().verdict()
    };
    assert_eq!(verdict(0.0), Verdict::Touching);
    assert_eq!(verdict(f64::EPSILON), Verdict::Overlapping);
    assert_eq!(verdict(-f64::EPSILON), Verdict::Overlapping);
    assert_eq!(verdict(3.0), Verdict::Separated);
}

/// A surface has no inside: what is within a closed one is apart from it.
#[test]
fn nothing_is_inside_a_surface() {
    let cube = crate::samples::cuboid(1.0, 1.0, 1.0);
    let mut triangles = Vec::new();
    for row in cube.facets().rows() {
        triangles.extend(row.windows(2).skip(1).map(|w| [row[0], w[0], w[1]]));
    }
    let shell = Made::surface(cube.vertices(), &triangles);
    let middle: Vec3 = cube.vertices().iter().sum::<Vec3>() / 8.0;
    let ball = Made::polytope(&[middle]);
    let size = (cube.vertices()[0] - middle).amax();
    for (radius, expected) in [
        (0.0, Verdict::Separated),
        (size.next_down(), Verdict::Separated),
        (size, Verdict::Touching),
        (size.next_up(), Verdict::Overlapping),
    ] {
        let bodies = [shell.at(Pose::identity()), ball.at(Pose::identity())];
        let surfaces = Surfaces { bodies, radii: [0.0, radius] };
        let effort = &mut Effort::unlimited();
        let found = stand(&surfaces, effort).unwrap();
        assert_eq!(found.verdict(), expected, "{radius}");
        assert!(!matches!(found, Standing::Inside(_)));
        let cores = solids(&surfaces);
        if radius > 0.0 {
            let proof = found.prove(&surfaces, STEPS_MAX, effort).unwrap();
            let rounded = RoundedSolids { cores, radii: surfaces.radii };
            assert_eq!(judge_rounded_solids(&rounded, &proof, effort), Ok(()), "{radius}");
        } else {
            let proof = found.prove_pieces(&surfaces, STEPS_MAX, effort).unwrap();
            assert_eq!(judge_solids(&cores, &proof, effort), Ok(()));
        }
    }
}
