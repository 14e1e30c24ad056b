//! Scenes against brute force, and the laws they are held to.

mod changes;
mod chosen;
mod contacts;
mod curved;
mod departed;
mod fields;
mod half_turns;
mod history;
mod laws;
mod margins;
mod meet;
mod mesh_queries;
mod mesh_robots;
mod meshes;
mod motion;
mod planning;
mod proofs;
mod queries;
mod ranking;
mod robots;
mod rounded;
mod seams;
mod skewed;
mod sleep;
mod spins;
mod starts;
mod structure;
mod surfaces;
mod told;
mod verdicts;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Body, BodyId, Declaration, EventKind, Frame, Limits, Listed, Move, Part, PartsProof, Questions,
    Report, Scene, Serial,
};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{ConvexProof, StaticProof, Verdict};
use clearance_geometry::effort::Effort;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::until::Until;
use clearance_geometry::witness::Witness;
use clearance_samples::{self as samples, Random};

const LIMITS: Limits = Limits {
    bodies_max: 20_000,
    parts_max: 40_000,
    classes_max: 4_096,
    pairs_max: 200_000,
    listed_max: 100_000,
};

/// The box `[-h, h]^3`.
fn cube(h: f64) -> Arc<Polytope> {
    Arc::new(samples::cuboid(h, h, h))
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

fn open(bodies: Vec<Body>) -> Scene {
    declare(Declaration { bodies, ..Declaration::default() })
}

fn declare(declaration: Declaration) -> Scene {
    let mut scene = Scene::open(declaration, &METHODS[0], LIMITS).unwrap();
    // The opening report is part of opening.
    scene.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    scene
}

fn moved(body: u32, pose: Pose) -> Move {
    Move::new(BodyId(body), pose)
}

fn frame(id: u64, moves: Vec<Move>) -> Frame {
    Frame { id, moves, ..Frame::default() }
}

fn all() -> Questions {
    Questions { listed: Listed::All, ..Questions::default() }
}

/// Steps and expects every move to be accepted.
#[track_caller]
fn step(scene: &mut Scene, frame: &Frame, questions: &Questions) -> Arc<Report> {
    let stepped = scene.step(frame, questions, &Serial).unwrap();
    assert_eq!(stepped.refused, []);
    stepped.report
}

fn verdicts(report: &Report) -> BTreeMap<(u32, u32), Verdict> {
    report.pairs.iter().map(|pair| ((pair.p.0, pair.q.0), pair.verdict.unwrap())).collect()
}

fn events(report: &Report) -> Vec<(EventKind, u32, u32)> {
    report.events.iter().map(|event| (event.kind, event.p.0, event.q.0)).collect()
}

/// Every pair by brute force: cold, part by part, no boxes.
fn brute_force(scene: &Scene) -> BTreeMap<(u32, u32), Verdict> {
    let bodies: Vec<&Body> = scene.bodies().collect();
    let mut verdicts = BTreeMap::new();
    for (index, p) in bodies.iter().enumerate() {
        for q in &bodies[index + 1..] {
            verdicts.insert((p.id.0, q.id.0), stand(p, q));
        }
    }
    verdicts
}

/// A proof about convex parts.
fn of_convex(proof: &PartsProof) -> &ConvexProof {
    match proof {
        PartsProof::Convex(proof) => proof,
        PartsProof::Faces(_) => panic!("{proof:?}"),
    }
}

/// A proof about parts that are not rounded.
fn of_polytopes(proof: &PartsProof) -> &StaticProof {
    match of_convex(proof) {
        ConvexProof::Polytopes(proof) => proof,
        ConvexProof::Rounded(_) => panic!("{proof:?}"),
    }
}

/// Every part of P beside every part of Q.
fn parts<'a>(p: &'a Body, q: &'a Body) -> impl Iterator<Item = Pair<'a>> {
    p.parts.iter().flat_map(move |a| {
        q.parts.iter().map(move |b| {
            let [pose_p, pose_q] =
                [p.pose.compose(&a.body_from_part), q.pose.compose(&b.body_from_part)];
            Pair::new(&a.polytope, pose_p, &b.polytope, pose_q)
        })
    })
}

fn stand(p: &Body, q: &Body) -> Verdict {
    let verdict = |pair| {
        let mut effort = Effort::unlimited();
        let decision = decide(&pair, &METHODS[0], &mut Witness::default(), &mut effort);
        decision.unwrap().verdict()
    };
    parts(p, q).map(verdict).fold(Verdict::Separated, Verdict::max)
}

/// A scene of compounds that tumble through each other: bodies of one to three parts of any kind.
fn tumbling(count: u32, seed: u64) -> Vec<Body> {
    let mut random = Random(seed);
    let shapes: Vec<Arc<Polytope>> = (0..6)
        .map(|k| samples::ball(8 + 7 * k, seed + u64::from(k)))
        .chain([samples::cuboid(0.5, 0.8, 0.3), samples::polygon(5)])
        .map(Arc::new)
        .collect();
    (0..count)
        .map(|id| {
            let mut body = Body::solid(id * 3 + 1, shapes[0].clone());
            body.parts = (0..1 + random.below(3))
                .map(|_| {
                    let offset = random.vector();
                    Part {
                        polytope: shapes[random.below(8) as usize].clone(),
                        radius: 0.0,
                        mesh: None,
                        field: None,
                        curved: None,
                        body_from_part: random.pose(offset),
                    }
                })
                .collect();
            body.placed(drift(&mut random))
        })
        .collect()
}

fn drift(random: &mut Random) -> Pose {
    let place = random.vector() * 2.5;
    random.pose(place)
}

/// A small step from where a body is.
fn nudge(random: &mut Random, pose: &Pose) -> Pose {
    let turn = random.vector() * 0.05;
    let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
    let mut next = turn.compose(&Pose { translation: Vec3::zeros(), ..*pose });
    next.translation = pose.translation + random.vector() * 0.3;
    next
}

/// A frame that moves some of the bodies a little.
fn wander(scene: &Scene, id: u64, random: &mut Random) -> Frame {
    let mut moves = Vec::new();
    for body in scene.bodies() {
        if random.below(3) > 0 {
            moves.push(Move::new(body.id, nudge(random, &body.pose)));
        }
    }
    frame(id, moves)
}
