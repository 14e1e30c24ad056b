//! What is measured of bodies that need not be convex, from anybody: bodies are made of cells of a
//! grid, so how far apart they are and when they meet is known from the cells alone. A judge never
//! panics, ends within its steps, and what it accepts is true.

use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    Outcome, Reach, RoundedSolidProof, RoundedSolids, SolidClaim, SolidCourse, SolidDistanceClaim,
    SolidMarginClaim, SolidMarginProof, SolidMotionProof, Solids, Verdict,
};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::Effort;
use clearance_geometry::faces::contact::{self, FaceCourse};
use clearance_geometry::faces::{Clear, Surfaces, distance, margin, prove_clear, standing};
use clearance_geometry::judge::{
    judge_rounded_solids, judge_solid_course, judge_solid_distance, judge_solid_margin,
};
use clearance_geometry::pair::{Pair, Question, VertexPair};
use clearance_geometry::polyhedron::Boundary;

use crate::bytes::Bytes;
use crate::cells::{earliest, stand};
use crate::engine::{Behaviour, Target};
use crate::solids::{Body, STEPS_MAX, change_cover, index, note};

pub(crate) const TARGET: Target =
    Target { name: "surfaces", seeds: Vec::new, reshape: None, check };

fn check(input: &[u8]) -> Behaviour {
    let bytes = &mut Bytes::new(input);
    let mut behaviour = Behaviour::default();
    let kind = bytes.below(4);
    let (Some(p), Some(q)) = (Body::read(bytes), Body::read(bytes)) else { return behaviour };
    behaviour.note(kind as u64, 4);
    if kind == 3 {
        radii(bytes, &p, &q, &mut behaviour);
    } else if stand(&p.corners(), &q.corners()) == Verdict::Separated {
        match kind {
            0 => distances(bytes, &p, q, &mut behaviour),
            1 => margins(bytes, &p, q, &mut behaviour),
            _ => courses(bytes, &p, q, &mut behaviour),
        }
    }
    behaviour
}

/// The square of how far apart two bodies are: of unit cubes in steps of a quarter, which is exact.
fn apart_squared(p: &Body, q: &Body) -> f64 {
    let between = |a: &Vec3, b: &Vec3| (b - a).map(|d| (d.abs() - 1.0).max(0.0)).norm_squared();
    let (of_p, of_q) = (p.corners(), q.corners());
    let all = of_p.iter().flat_map(|a| of_q.iter().map(move |b| between(a, b)));
    all.fold(f64::INFINITY, f64::min)
}

fn solids<'a>(p: &'a Body, q: &'a Body) -> Solids<'a> {
    Solids { p: p.shape().solid(), q: q.shape().solid() }
}

fn change_pairs(bytes: &mut Bytes<'_>, pairs: &mut Vec<VertexPair>) {
    match bytes.below(4) {
        0 => drop(pairs.pop()),
        1 => pairs.push(VertexPair { i: index(bytes), j: index(bytes) }),
        _ => {
            let at = bytes.below(pairs.len().clamp(1, 256));
            if let Some(pair) = pairs.get_mut(at) {
                let end = if bytes.flag() { &mut pair.i } else { &mut pair.j };
                *end = index(bytes);
            }
        }
    }
}

/// Said of another place as well.
fn perhaps_moved(bytes: &mut Bytes<'_>, mut q: Body) -> Body {
    if bytes.below(4) == 0 {
        q.at[bytes.below(3)] += f64::from(bytes.byte() as i8 / 32) / 4.0;
    }
    q
}

fn distances(bytes: &mut Bytes<'_>, p: &Body, q: Body, behaviour: &mut Behaviour) {
    let effort = &mut Effort::unlimited();
    let shapes = [p.shape(), q.shape()];
    let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
    let found = distance::measure(&surfaces, Stops::default(), effort).expect("no limit");
    let truth = apart_squared(p, &q).sqrt();
    assert!(found.lower <= truth * (1.0 + 1e-15) && truth <= found.upper * (1.0 + 1e-15));
    let clear = Clear::AtLeast(found.lower);
    let Ok(mut cover) = prove_clear(&surfaces, clear, 1 << 12, effort) else { return };
    let mut bounds = [found.lower, found.upper];
    let mut pairs = found.pairs.to_vec();
    let changes = bytes.below(3);
    for _ in 0..changes {
        match bytes.below(6) {
            0 => bounds[bytes.below(2)] = bytes.number(),
            1 => bounds = bounds.map(|bound| bound * bytes.of(&[0.5, 1.0 + 1e-12, 1.5])),
            2 => change_pairs(bytes, &mut pairs),
            _ => change_cover(bytes, &mut cover),
        }
    }
    let q = perhaps_moved(bytes, q);
    let truth = apart_squared(p, &q).sqrt();
    let claim = SolidDistanceClaim { bounds, cover: &cover, pairs: &pairs };
    let both = RoundedSolids { cores: solids(p, &q), radii: [0.0; 2] };
    let judged = judge_solid_distance(&both, &claim, &mut Effort::with_steps(STEPS_MAX));
    if note(&judged, behaviour) {
        let [lower, upper] = bounds;
        assert!(truth > 0.0, "{cover:?}");
        assert!(
            lower <= truth * (1.0 + 1e-15) && truth <= upper * (1.0 + 1e-15),
            "{bounds:?} {truth}"
        );
    }
    behaviour.note(changes as u64, 3);
    behaviour.amount(cover.steps.len() as u64);
}

fn margins(bytes: &mut Bytes<'_>, p: &Body, q: Body, behaviour: &mut Behaviour) {
    let effort = &mut Effort::unlimited();
    let shapes = [p.shape(), q.shape()];
    let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
    let asked = f64::from(bytes.byte()) / 64.0;
    let found = margin::compare(&surfaces, asked, effort).expect("no limit");
    let squared = apart_squared(p, &q);
    assert_eq!(found.is_within, squared <= asked * asked, "{asked} {squared}");
    let cover = prove_clear(&surfaces, Clear::Beyond(asked), 1 << 12, effort);
    let (mut cover, mut pairs) = (cover.unwrap_or_default(), found.pairs.to_vec());
    let mut is_within = found.is_within;
    let mut said = asked;
    for _ in 0..bytes.below(3) {
        match bytes.below(6) {
            0 => said = bytes.of(&[asked.next_up(), asked.next_down(), 2.0 * asked, -1.0]),
            1 => is_within = !is_within,
            2 => change_pairs(bytes, &mut pairs),
            _ => change_cover(bytes, &mut cover),
        }
    }
    let q = perhaps_moved(bytes, q);
    let shown =
        if is_within { SolidMarginProof::Within(&pairs) } else { SolidMarginProof::Beyond(&cover) };
    let both = RoundedSolids { cores: solids(p, &q), radii: [0.0; 2] };
    let claim = SolidMarginClaim { margin: said, shown };
    let judged = judge_solid_margin(&both, &claim, &mut Effort::with_steps(STEPS_MAX));
    if note(&judged, behaviour) {
        // A neighbour of a number of 64ths, squared, is rounded.
        let is_near = (said - asked).abs() > 0.0 && (said - asked).abs() < 1e-9;
        let squared = apart_squared(p, &q);
        let is_so = is_within == (squared <= said * said);
        assert!(is_so || is_near && (squared - said * said).abs() < 1e-12, "{said} {squared}");
    }
    behaviour.note(u64::from(is_within), 2);
}

fn courses(bytes: &mut Bytes<'_>, p: &Body, mut q: Body, behaviour: &mut Behaviour) {
    let effort = &mut Effort::unlimited();
    let shapes = [p.shape(), q.shape()];
    let hulls = Pair::new(shapes[0].hull, shapes[0].pose, shapes[1].hull, shapes[1].pose);
    let question = Question::new(hulls, p.motion(), q.motion());
    let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
    let course = FaceCourse { question: &question, margin: 0.0 };
    let found = contact::find(&surfaces, &course, effort);
    let clear =
        if found.t_free > 0.0 { Clear::Until(&course, found.t_free) } else { Clear::Beyond(0.0) };
    let Ok(mut free) = prove_clear(&surfaces, clear, 1 << 12, effort) else { return };
    let (mut outcome, mut times) = (found.outcome, [found.t_free, found.t_contact]);
    let mut pairs = found.pairs.to_vec();
    for _ in 0..bytes.below(3) {
        match bytes.below(8) {
            0 => times[bytes.below(2)] = bytes.number(),
            1 => times = times.map(f64::next_up),
            2 => outcome = bytes.of(&[Outcome::Contact, Outcome::NoContact, Outcome::Undecided]),
            3 => q.velocity[bytes.below(3)] += f64::from(bytes.byte() as i8 / 32) / 2.0,
            4 => change_pairs(bytes, &mut pairs),
            _ => change_cover(bytes, &mut free),
        }
    }
    let pairs = pairs.into_iter().take(6).collect();
    let proof = SolidMotionProof { free, faces: None, pairs };
    let [t_free, t_contact] = times;
    let claim = SolidClaim { outcome, t_free, t_contact, proof: &proof };
    let said = SolidCourse {
        solids: solids(p, &q),
        motions: [p.motion(), q.motion()],
        reach: Reach::ZERO,
        deviations: [0.0; 2],
    };
    let judged = judge_solid_course(&said, &claim, &mut Effort::with_steps(STEPS_MAX));
    let first = earliest(&p.corners(), &q.corners(), &(q.velocity - p.velocity));
    if note(&judged, behaviour) {
        let is_true = match (outcome, first) {
            (Outcome::Contact, Some(first)) => {
                (t_contact <= 0.0 || first.is_after(t_free)) && !first.is_after(t_contact)
            }
            (Outcome::NoContact, None) => true,
            (Outcome::Undecided, first) => {
                t_free <= 0.0 || first.is_none_or(|first| first.is_after(t_free))
            }
            _ => false,
        };
        assert!(is_true, "{outcome:?} {times:?} and not {first:?}: {proof:?}");
    }
    behaviour.note(outcome as u64, 3);
    behaviour.note(u64::from(first.is_some()), 2);
}

/// A ball around each point of the second body, if that is a box, beside the first one as a mesh.
fn radii(bytes: &mut Bytes<'_>, p: &Body, q: &Body, behaviour: &mut Behaviour) {
    if p.is_hull || !q.is_hull {
        return;
    }
    let effort = &mut Effort::unlimited();
    let shapes = [p.shape(), q.shape()];
    let radius = f64::from(1 + bytes.byte() / 8) / 4.0;
    let radii = [0.0, radius];
    let surfaces = Surfaces { bodies: shapes.each_ref().map(Boundary::from), radii };
    let found = standing::stand(&surfaces, effort).expect("no limit");
    let truth = |p: &Body, q: &Body, radius: f64| {
        let squared = apart_squared(p, q);
        match squared.partial_cmp(&(radius * radius)).expect("numbers") {
            std::cmp::Ordering::Less => Verdict::Overlapping,
            std::cmp::Ordering::Equal => Verdict::Touching,
            std::cmp::Ordering::Greater => Verdict::Separated,
        }
    };
    assert_eq!(found.verdict(), truth(p, q, radius), "{radius}");
    let Ok(mut proof) = found.prove(&surfaces, 1 << 12, effort) else { return };
    for _ in 0..bytes.below(3) {
        match (&mut proof, bytes.below(4)) {
            (RoundedSolidProof::Apart(cover), 0 | 1) => change_cover(bytes, cover),
            (RoundedSolidProof::Touching { cover, .. }, 0) => change_cover(bytes, cover),
            (RoundedSolidProof::Touching { pairs, .. } | RoundedSolidProof::Near(pairs), 1) => {
                let mut changed = pairs.to_vec();
                change_pairs(bytes, &mut changed);
                *pairs = changed.into_iter().take(6).collect();
            }
            (RoundedSolidProof::Inside(vertex), 0) => *vertex = index(bytes),
            (RoundedSolidProof::Apart(cover), _) => {
                let (pairs, cover) =
                    ([VertexPair { i: 0, j: 0 }].into_iter().collect(), cover.clone());
                proof = RoundedSolidProof::Touching { pairs, cover };
            }
            (RoundedSolidProof::Touching { cover, .. }, _) => {
                proof = RoundedSolidProof::Apart(cover.clone());
            }
            (RoundedSolidProof::Near(_), _) => proof = RoundedSolidProof::Inside(index(bytes)),
            (RoundedSolidProof::Inside(_), _) => {
                proof = RoundedSolidProof::Near([VertexPair { i: 0, j: 0 }].into_iter().collect());
            }
        }
    }
    let said = if bytes.below(4) == 0 { 0.5 * radius } else { radius };
    let both = RoundedSolids { cores: solids(p, q), radii: [0.0, said] };
    let judged = judge_rounded_solids(&both, &proof, &mut Effort::with_steps(STEPS_MAX));
    if note(&judged, behaviour) {
        assert_eq!(proof.verdict(), truth(p, q, said), "{proof:?} {said}");
    }
    behaviour.note(proof.verdict() as u64, 3);
}
