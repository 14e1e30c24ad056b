//! Certificates about solids that need not be convex, from anybody: bodies are made of cells of a
//! grid, so what is true of them is known from the cells alone. A judge never panics, ends within
//! its steps, and what it accepts is true.

use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    CollisionClaim, CollisionProof, Cover, CoverStep, Face, Frame, InnerPoint, Link, MovingSolid,
    Outcome, PairCover, SolidClaim, SolidMotionProof, SolidProof, Solids, Verdict,
};
use clearance_geometry::contact_time::Travel;
use clearance_geometry::contact_time::polyhedra::proof::{
    Several, prove_collision, prove_motion, prove_verdict,
};
use clearance_geometry::contact_time::polyhedra::{
    Faces, Moving, PosedPolyhedron, first_collision, first_contact, verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::judge::{
    Refusal, judge_collision, judge_faces, judge_solid_motion, judge_solids,
};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::polyhedron::{HulledBody, Polyhedron};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

use crate::bodies::vector;
use crate::bytes::Bytes;
use crate::cells::{Times, earliest, mesh, stand};
use crate::certificates::{change_direction, direction};
use crate::engine::{Behaviour, Target};

pub(crate) const TARGET: Target = Target { name: "solids", seeds: Vec::new, reshape: None, check };

/// Of a judge, who has to end there: some ten times what the longest honest proof takes.
pub(crate) const STEPS_MAX: u64 = 1 << 17;

/// A body of cells, moved in steps of a quarter.
pub(crate) struct Body {
    cells: Vec<[u8; 3]>,
    pub(crate) at: Vec3,
    pub(crate) velocity: Vec3,
    body: Polyhedron,
    hull: Polytope,
    pub(crate) is_hull: bool,
}

impl Body {
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let shape = [bytes.byte(), bytes.byte()];
        let is_in = |k: u8| shape[usize::from(k / 8)] >> (k % 8) & 1 == 1;
        let all = (0..12u8).filter(|k| is_in(*k)).map(|k| [k % 2, k / 2 % 2, k / 4]);
        let mut cells: Vec<[u8; 3]> = all.collect();
        if cells.is_empty() {
            cells.push([0; 3]);
        }
        let (points, triangles) = mesh(&cells);
        let body = Polyhedron::new(&points, &triangles, &mut Effort::unlimited()).ok()?;
        let hull = convex_hull(body.vertices()).ok()?.polytope;
        // Cells that fill a box may be a polytope as well.
        let is_hull = shape[1] & 128 > 0 && (hull.volume() - cells.len() as f64).abs() < 0.5;
        let body = if is_hull { Polyhedron::of_polytope(&hull)?.0 } else { body };
        let quarters = |bytes: &mut Bytes<'_>| f64::from(bytes.byte() as i8 / 8) / 4.0;
        let mut three = || Vec3::from_fn(|_, _| quarters(bytes));
        let (at, velocity) = (three(), three() * 2.0);
        Some(Self { cells, at, velocity, body, hull, is_hull })
    }

    pub(crate) fn shape(&self) -> HulledBody<'_> {
        let pose = Pose::translation(self.at.x, self.at.y, self.at.z);
        HulledBody { body: &self.body, pose, hull: &self.hull, is_hull: self.is_hull }
    }

    fn moving(&self) -> Moving<'_> {
        Moving { body: &self.body, pose: self.shape().pose, travel: Travel::by(&self.velocity) }
    }

    pub(crate) fn motion(&self) -> Motion {
        Motion::Linear { velocity: self.velocity }
    }

    pub(crate) fn corners(&self) -> Vec<Vec3> {
        self.cells.iter().map(|cell| Vec3::from(cell.map(f64::from)) + self.at).collect()
    }
}

fn check(input: &[u8]) -> Behaviour {
    let bytes = &mut Bytes::new(input);
    let mut behaviour = Behaviour::default();
    let kind = bytes.below(4);
    let (Some(p), Some(q)) = (Body::read(bytes), Body::read(bytes)) else { return behaviour };
    behaviour.note(kind as u64, 4);
    match kind {
        0 => verdicts(bytes, &p, q, &mut behaviour),
        1 => motions(bytes, &p, q, &mut behaviour),
        2 => faces(bytes, &p, &q, &mut behaviour),
        _ => {
            let Some(r) = Body::read(bytes) else { return behaviour };
            collisions(bytes, [p, q, r], &mut behaviour);
        }
    }
    behaviour
}

/// Whether a judge accepts; a refusal for want of steps is one.
pub(crate) fn note(judged: &Result<(), Refusal>, behaviour: &mut Behaviour) -> bool {
    behaviour.note(u64::from(judged.is_ok()), 2);
    behaviour.note(u64::from(matches!(judged, Err(Refusal::Stopped(_)))), 2);
    judged.is_ok()
}

fn verdicts(bytes: &mut Bytes<'_>, p: &Body, mut q: Body, behaviour: &mut Behaviour) {
    let effort = &mut Effort::unlimited();
    let (of_p, of_q) = (p.shape(), q.shape());
    let (found, met) = verdict(
        PosedPolyhedron { body: of_p.body, pose: of_p.pose },
        PosedPolyhedron { body: of_q.body, pose: of_q.pose },
        effort,
    )
    .expect("no limit");
    assert_eq!(found, stand(&p.corners(), &q.corners()), "{:?} {:?}", p.corners(), q.corners());
    let proven = prove_verdict([&of_p, &of_q], found, met.as_ref(), 1 << 12, effort);
    let mut proof = match proven {
        Ok(proof) if bytes.below(8) > 0 => proof,
        _ => invented(bytes),
    };
    let changes = bytes.below(3);
    for _ in 0..changes {
        change(bytes, &mut proof);
    }
    // Said of other places as well.
    if bytes.below(4) == 0 {
        q.at[bytes.below(3)] += f64::from(bytes.byte() as i8 / 32) / 4.0;
    }
    let truth = stand(&p.corners(), &q.corners());
    let solids = Solids { p: p.shape().solid(), q: q.shape().solid() };
    let judged = judge_solids(&solids, &proof, &mut Effort::with_steps(STEPS_MAX));
    if note(&judged, behaviour) {
        assert_eq!(proof.verdict(), truth, "{proof:?} of {:?} {:?}", p.corners(), q.corners());
    }
    behaviour.note(truth as u64, 3);
    behaviour.note(proof.verdict() as u64, 3);
    behaviour.note(changes as u64, 3);
}

fn motions(bytes: &mut Bytes<'_>, p: &Body, mut q: Body, behaviour: &mut Behaviour) {
    let effort = &mut Effort::unlimited();
    let found = first_contact(&p.moving(), &q.moving(), effort).expect("no limit");
    if found.initial != Verdict::Separated {
        return;
    }
    let contact = found.contact.as_ref();
    let travels = [p, &q].map(|body| Travel::by(&body.velocity));
    let shapes = [&p.shape(), &q.shape()];
    let Ok(mut proof) = prove_motion(shapes, travels, contact, 1 << 12, effort) else { return };
    let mut outcome = if contact.is_some() { Outcome::Contact } else { Outcome::NoContact };
    let mut times = contact.map_or([1.0, 1.0], |contact| [contact.t_free, contact.t_contact]);
    for _ in 0..bytes.below(3) {
        match bytes.below(8) {
            0 => times[0] = bytes.number(),
            1 => times[1] = bytes.number(),
            2 => times = times.map(f64::next_up),
            3 => outcome = bytes.of(&[Outcome::Contact, Outcome::NoContact, Outcome::Undecided]),
            4 => proof.faces = bytes.flag().then(|| [face(bytes), face(bytes)]),
            5 => q.velocity[bytes.below(3)] += f64::from(bytes.byte() as i8 / 32) / 2.0,
            _ => change_cover(bytes, &mut proof.free),
        }
    }
    let claim = SolidClaim { outcome, t_free: times[0], t_contact: times[1], proof: &proof };
    let solids = Solids { p: p.shape().solid(), q: q.shape().solid() };
    let motions = [&p.motion(), &q.motion()];
    let judged = judge_solid_motion(&solids, motions, &claim, &mut Effort::with_steps(STEPS_MAX));
    let first = earliest(&p.corners(), &q.corners(), &(q.velocity - p.velocity));
    if note(&judged, behaviour) {
        let is_true = match (outcome, first) {
            (Outcome::Contact, Some(first)) => {
                first.is_after(times[0]) && !first.is_after(times[1])
            }
            (Outcome::NoContact, None) => true,
            _ => false,
        };
        assert!(is_true, "{outcome:?} {times:?} and not {first:?}: {proof:?}");
    }
    behaviour.note(u64::from(first.is_some()), 2);
    behaviour.note(outcome as u64, 3);
    behaviour.amount(proof.free.steps.len() as u64);
}

fn corners(body: &Polyhedron, triangle: u32) -> Vec<u32> {
    body.triangles()[triangle as usize].to_vec()
}

fn faces(bytes: &mut Bytes<'_>, p: &Body, q: &Body, behaviour: &mut Behaviour) {
    let found =
        first_contact(&p.moving(), &q.moving(), &mut Effort::unlimited()).expect("no limit");
    let (mut named, mut times) = ([vec![0], vec![0]], [0.0, 1.0]);
    if let Some(contact) = &found.contact {
        times = [contact.t_free, contact.t_contact];
        named = match contact.faces {
            Faces::VertexAndTriangle { vertex, triangle } => {
                [vec![vertex], corners(&q.body, triangle)]
            }
            Faces::TriangleAndVertex { triangle, vertex } => {
                [corners(&p.body, triangle), vec![vertex]]
            }
            Faces::Edges { of_p, of_q } => [of_p.to_vec(), of_q.to_vec()],
            Faces::Triangles { of_p, of_q } => [corners(&p.body, of_p), corners(&q.body, of_q)],
            Faces::PInQ { .. } | Faces::QInP { .. } => named,
        };
    }
    for _ in 0..bytes.below(3) {
        let face = &mut named[bytes.below(2)];
        match bytes.below(4) {
            0 => face.push(index(bytes)),
            1 => drop(face.pop()),
            2 => face.iter_mut().for_each(|v| *v = index(bytes)),
            _ => times[bytes.below(2)] = bytes.number(),
        }
    }
    let solids = Solids { p: p.shape().solid(), q: q.shape().solid() };
    let (motions, effort) = ([&p.motion(), &q.motion()], &mut Effort::with_steps(STEPS_MAX));
    let judged = judge_faces(&solids, named.each_ref().map(|f| &f[..]), motions, times, effort);
    if note(&judged, behaviour) {
        let meet = Times::of_contact(&p.corners(), &q.corners(), &(q.velocity - p.velocity));
        // The order of the ends does not matter to what is shown.
        let [low, high] = [times[0].min(times[1]), times[0].max(times[1])];
        assert!(meet.iter().any(|when| when.meets([low, high])), "{named:?} at {times:?}");
    }
    behaviour.note(found.initial as u64, 3);
}

fn collisions(bytes: &mut Bytes<'_>, mut bodies: [Body; 3], behaviour: &mut Behaviour) {
    let effort = &mut Effort::unlimited();
    let moving = bodies.each_ref().map(Body::moving);
    let found = first_collision(&moving, effort).expect("no limit");
    let several = bodies
        .each_ref()
        .map(|body| Several { shape: body.shape(), travel: Travel::by(&body.velocity) });
    let proven = prove_collision(&several, found.as_ref(), 1 << 12, effort);
    let Some(mut proof) = proven.proof else { return };
    let mut outcome = if found.is_some() { Outcome::Contact } else { Outcome::NoContact };
    let mut times =
        found.as_ref().map_or([1.0, 1.0], |first| [first.contact.t_free, first.contact.t_contact]);
    let mut pair =
        found.as_ref().map(|found| (found.pair.map(|place| place as u32), found.initial));
    for _ in 0..bytes.below(3) {
        match bytes.below(8) {
            0 => times[bytes.below(2)] = bytes.number(),
            1 => times = times.map(f64::next_up),
            2 => outcome = bytes.of(&[Outcome::Contact, Outcome::NoContact, Outcome::Undecided]),
            3 => {
                let verdict =
                    bytes.of(&[Verdict::Separated, Verdict::Touching, Verdict::Overlapping]);
                pair = bytes.flag().then(|| ([0; 2].map(|_: u32| index(bytes) % 4), verdict));
            }
            4 => {
                let body = &mut bodies[bytes.below(3)];
                body.velocity[bytes.below(3)] += f64::from(bytes.byte() as i8 / 32) / 2.0;
            }
            _ => change_collision(bytes, &mut proof),
        }
    }
    let moving = bodies
        .each_ref()
        .map(|body| MovingSolid { solid: body.shape().solid(), motion: body.motion() });
    let [t_free, t_contact] = times;
    let claim = CollisionClaim { outcome, t_free, t_contact, pair, proof: &proof };
    let judged = judge_collision(&moving, &claim, &mut Effort::with_steps(STEPS_MAX));
    if note(&judged, behaviour) {
        let first = |[i, j]: [usize; 2]| {
            let w = bodies[j].velocity - bodies[i].velocity;
            earliest(&bodies[i].corners(), &bodies[j].corners(), &w)
        };
        let all = [[0, 1], [0, 2], [1, 2]];
        let is_at_start = matches!(proof, CollisionProof::AtStart(_));
        if !is_at_start {
            let is_free = |pair| first(pair).is_none_or(|first| first.is_after(t_free));
            assert!(all.into_iter().all(is_free), "not free until {t_free}: {proof:?}");
        }
        match (outcome, pair) {
            (Outcome::Contact, Some((pair, initial))) => {
                let pair = pair.map(|place| place as usize);
                let met = first(pair).expect("accepted, so they meet");
                assert!(!met.is_after(t_contact), "{pair:?} {met:?} {t_contact}: {proof:?}");
                let [p, q] = pair.map(|place| bodies[place].corners());
                assert_eq!(initial, stand(&p, &q), "{proof:?}");
            }
            (Outcome::NoContact, None) => {
                assert!(all.into_iter().all(|pair| first(pair).is_none()))
            }
            _ => panic!("accepted: {outcome:?} of {pair:?}"),
        }
    }
    behaviour.note(outcome as u64, 3);
    behaviour.note(u64::from(found.is_some()), 2);
}

pub(crate) fn index(bytes: &mut Bytes<'_>) -> u32 {
    match bytes.byte() {
        255 => u32::MAX,
        small => u32::from(small) % 40,
    }
}

fn face(bytes: &mut Bytes<'_>) -> Face {
    (0..bytes.below(4)).map(|_| index(bytes)).collect()
}

fn link(bytes: &mut Bytes<'_>) -> Link {
    let frame = bytes.of(&[Frame::World, Frame::World, Frame::P, Frame::Q]);
    let mut end = || bytes.of(&[0.0, 1.0, 0.5, f64::NAN]);
    Link { t0: end(), t1: end(), frame, direction: direction(bytes) }
}

fn step(bytes: &mut Bytes<'_>) -> CoverStep {
    match bytes.below(4) {
        0 => CoverStep::SplitP,
        1 => CoverStep::SplitQ,
        _ => CoverStep::Apart((0..bytes.below(3)).map(|_| link(bytes)).collect()),
    }
}

fn cover(bytes: &mut Bytes<'_>) -> Cover {
    let steps = (0..bytes.below(6)).map(|_| step(bytes)).collect();
    Cover { steps, ..Cover::default() }
}

fn inner(bytes: &mut Bytes<'_>) -> InnerPoint {
    let terms = [vector(bytes), vector(bytes)];
    let vertices = [0, 1].map(|_| (0..bytes.below(7)).map(|_| index(bytes)).collect());
    InnerPoint { terms, vertices }
}

fn invented(bytes: &mut Bytes<'_>) -> SolidProof {
    match bytes.below(4) {
        0 => SolidProof::Separated(cover(bytes)),
        1 => {
            let faces = [face(bytes), face(bytes)];
            SolidProof::Touching { faces, from: vector(bytes), way: cover(bytes) }
        }
        2 => SolidProof::Crossing([0; 2].map(|_: u32| [0; 3].map(|_: u32| index(bytes)))),
        _ => SolidProof::InnerPoint(inner(bytes)),
    }
}

pub(crate) fn change_cover(bytes: &mut Bytes<'_>, cover: &mut Cover) {
    let at = bytes.below(cover.steps.len().clamp(1, 256));
    match bytes.below(8) {
        0 => drop(cover.steps.pop()),
        1 => cover.steps.insert(at.min(cover.steps.len()), step(bytes)),
        2 if !cover.steps.is_empty() => cover.steps[at] = step(bytes),
        3 => {
            let order = if bytes.flag() { &mut cover.order_p } else { &mut cover.order_q };
            let count = order.len().clamp(1, 256);
            match (order.is_empty(), bytes.below(3)) {
                (true, _) => order.extend(0..u32::from(bytes.byte())),
                (_, 0) => order.swap(0, bytes.below(count)),
                (_, 1) => order[bytes.below(count)] = index(bytes),
                _ => order.clear(),
            }
        }
        4 if !cover.steps.is_empty() => drop(cover.steps.remove(at)),
        _ => {
            if let Some(CoverStep::Apart(chain)) = cover.steps.get_mut(at)
                && let Some(link) = chain.first_mut()
            {
                match bytes.below(4) {
                    0 => link.t0 = bytes.number(),
                    1 => link.t1 = bytes.of(&[link.t1.next_down(), link.t1.next_up(), 1.0, 0.0]),
                    2 => link.direction = direction(bytes),
                    _ => change_direction(bytes, &mut link.direction),
                }
            }
        }
    }
}

fn change_pair(bytes: &mut Bytes<'_>, pairs: &mut arrayvec::ArrayVec<VertexPair, 6>) {
    match bytes.below(3) {
        0 => drop(pairs.pop()),
        1 => {
            let pair = VertexPair { i: index(bytes), j: index(bytes) };
            // There is no room for a seventh.
            let _ = pairs.try_push(pair);
        }
        _ => {
            if let Some(pair) = pairs.first_mut() {
                pair.i = index(bytes);
            }
        }
    }
}

pub(crate) fn change(bytes: &mut Bytes<'_>, proof: &mut SolidProof) {
    match proof {
        SolidProof::Separated(cover) => change_cover(bytes, cover),
        SolidProof::Touching { faces, from, way } => match bytes.below(4) {
            0 => faces[bytes.below(2)] = face(bytes),
            1 => from[bytes.below(3)] = bytes.number(),
            2 => *from = -*from,
            _ => change_cover(bytes, way),
        },
        SolidProof::TouchingPieces { cover, .. } if bytes.flag() => change_cover(bytes, cover),
        SolidProof::TouchingPieces { pairs, .. } | SolidProof::OverlappingPieces(pairs) => {
            change_pair(bytes, pairs);
        }
        SolidProof::Crossing(triangles) => {
            triangles[bytes.below(2)][bytes.below(3)] = index(bytes);
        }
        SolidProof::InnerPiece { triangle, .. } if bytes.flag() => {
            triangle[bytes.below(3)] = index(bytes);
        }
        SolidProof::InnerPiece { weights, .. } => weights[bytes.below(3)] = bytes.number(),
        SolidProof::InnerPoint(point) => match bytes.below(3) {
            0 => *point = inner(bytes),
            1 => point.terms[bytes.below(2)][bytes.below(3)] = bytes.number(),
            _ => drop(point.vertices[bytes.below(2)].pop()),
        },
    }
}

fn change_motion(bytes: &mut Bytes<'_>, proof: &mut SolidMotionProof) {
    if bytes.flag() {
        proof.faces = bytes.flag().then(|| [face(bytes), face(bytes)]);
    } else {
        change_cover(bytes, &mut proof.free);
    }
}

fn change_collision(bytes: &mut Bytes<'_>, proof: &mut CollisionProof) {
    let (contact, free) = match proof {
        CollisionProof::AtStart(proof) => return change(bytes, proof),
        CollisionProof::Later { contact, free } => (contact, free),
    };
    let at = bytes.below(free.len().clamp(1, 256));
    match (bytes.below(6), free.get_mut(at)) {
        (0, _) => *contact = None,
        (1, Some(_)) => drop(free.remove(at)),
        (2, Some(listed)) => listed.pair = [0; 2].map(|_: u32| index(bytes) % 4),
        (3, Some(listed)) => change_cover(bytes, &mut listed.cover),
        (4, _) => {
            let pair = [0; 2].map(|_: u32| index(bytes) % 4);
            free.insert(at.min(free.len()), PairCover { pair, cover: cover(bytes) });
        }
        _ => {
            if let Some(contact) = contact {
                change_motion(bytes, contact);
            }
        }
    }
}
