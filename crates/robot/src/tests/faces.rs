//! What moves along a face of something: proven free in a few steps however near it is, and by
//! certificates that say so; what comes nearer is found.

use super::edge::{QUESTION, edges};
use super::samples::{robot_of, still_box};
use crate::cell::{Cell, Instance};
use crate::claim::{EdgeCertificate, EdgeClaim};
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::judge::{EdgeRefusal, judge_edge};
use crate::pairing::PairScope;
use crate::speed::{Carried, Heights, PathSpeeds, WorldBall};
use crate::stand::{Block, LANES, Poses};
use crate::still::StillBody;
use crate::tests::check::panda_cell;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

/// An arm of two links that turn about the same direction, and a tool that slides along a third.
const ARM: &str = r#"<robot name="arm"><link name="foot"/>
  <link name="upper"><collision><origin xyz="0.5 0 0"/><geometry><box size="1 0.1 0.1"/></geometry>
  </collision></link>
  <link name="fore"><collision><origin xyz="0.4 0 0"/><geometry><box size="0.8 0.1 0.1"/></geometry>
  </collision></link>
  <link name="tool"><collision><geometry><box size="0.2 0.06 0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="foot"/><child link="upper"/>
  <axis xyz="0 0 1"/><limit lower="-9" upper="9"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
  <origin xyz="1.1 0 0"/><axis xyz="0 0 1"/><limit lower="-9" upper="9"/></joint>
  <joint name="reach" type="prismatic"><parent link="fore"/><child link="tool"/>
  <origin xyz="0.95 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1"/></joint></robot>"#;

const CAPSULE: &str = r#"<robot name="rod"><link name="foot"/><link name="rod"><collision>
  <origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/><geometry>
  <capsule radius="0.05" length="0.8"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="foot"/>
  <child link="rod"/><axis xyz="0 0 1"/><limit lower="-9" upper="9"/></joint></robot>"#;

/// A robot whose parts reach down to -0.05, and a table so far below these, on a base and a table
/// that are turned alike.
fn above_a_table(urdf: &str, gap: f64, turn: [f64; 4]) -> Cell {
    let robot = robot_of(urdf).unwrap();
    let base = Pose::from_quaternion(Vec3::new(0.3, -0.2, 0.1), turn).unwrap();
    let instance = Instance { robot: &robot, world_from_base: base };
    let table = Pose::translation(0.0, 0.0, -0.05 - gap - 0.5);
    let table = StillBody { pose: base.compose(&table), ..still_box(Vec3::new(3.0, 3.0, 0.5)) };
    Cell::new(&[instance], vec![table])
}

const LEVEL: [f64; 4] = [1.0, 0.0, 0.0, 0.0];
const ASLANT: [f64; 4] = [0.8, 0.3, -0.4, 0.2];

struct Told {
    answer: EdgeAnswer,
    steps: u64,
    certificate: Option<EdgeCertificate>,
}

fn ask(cell: &Cell, question: EdgeQuestion, ends: [&[f64]; 2]) -> Told {
    let effort = &mut Effort::unlimited();
    let answer = cell.check_edges(question, ends, effort).pop().unwrap();
    let steps = effort.cost.steps;
    let certificate = cell.certify_edge(question, ends, &answer, effort).unwrap();
    Told { answer, steps, certificate }
}

fn judged(
    cell: &Cell,
    margin: f64,
    ends: [&[f64]; 2],
    certificate: &EdgeCertificate,
) -> Result<(), EdgeRefusal> {
    let claim = EdgeClaim { ends, margin, free_until: 1.0, contact: None };
    judge_edge(&cell.subject(PairScope::All), &claim, certificate, &mut Effort::unlimited())
}

/// It took 8,883 steps at 1e-4 m, and from 1e-6 m on all 100,000 without an answer.
#[test]
fn a_turn_above_a_table_does_not_cost_more_the_nearer_it_is() {
    for turn in [LEVEL, ASLANT] {
        for gap in [1e-2, 1e-4, 1e-6, 1e-8, 1e-10] {
            let cell = above_a_table(ARM, gap, turn);
            let ends: [&[f64]; 2] = [&[0.2, 0.3, 0.0], &[1.2, 0.3, 0.0]];
            let Told { answer, steps, certificate } = ask(&cell, QUESTION, ends);
            assert_eq!(answer, EdgeAnswer::Free, "{gap} {turn:?}");
            assert!(steps <= 20, "{steps} steps at {gap}, {turn:?}");
            let certificate = certificate.expect("a certificate");
            assert!(certificate.pieces.len() <= 4, "{gap}: {}", certificate.pieces.len());
            assert_eq!(judged(&cell, 0.0, ends, &certificate), Ok(()), "{gap} {turn:?}");
        }
    }
}

#[test]
fn all_joints_that_keep_a_height_may_move_at_once() {
    for turn in [LEVEL, ASLANT] {
        for gap in [1e-4, 1e-7] {
            let cell = above_a_table(ARM, gap, turn);
            let ends: [&[f64]; 2] = [&[0.2, -0.4, 0.0], &[1.0, 0.5, 0.3]];
            let Told { answer, steps, certificate } = ask(&cell, QUESTION, ends);
            assert_eq!(answer, EdgeAnswer::Free, "{gap} {turn:?}");
            assert!(steps <= 80, "{steps} steps at {gap}, {turn:?}");
            assert_eq!(judged(&cell, 0.0, ends, &certificate.unwrap()), Ok(()));
        }
    }
}

#[test]
fn a_margin_and_a_radius_are_kept_along_a_face() {
    for turn in [LEVEL, ASLANT] {
        for urdf in [ARM, CAPSULE] {
            let cell = above_a_table(urdf, 1e-3, turn);
            let (from, to) = ([0.2, 0.3, 0.0], [1.2, 0.3, 0.0]);
            let width = cell.variable_count();
            let ends: [&[f64]; 2] = [&from[..width], &to[..width]];
            let question = EdgeQuestion { margin: 0.999e-3, ..QUESTION };
            let told = ask(&cell, question, ends);
            assert_eq!(told.answer, EdgeAnswer::Free, "{turn:?}");
            assert!(told.steps <= 60, "{} steps", told.steps);
            let certificate = told.certificate.unwrap();
            assert_eq!(judged(&cell, question.margin, ends, &certificate), Ok(()));
            let wider = judged(&cell, 1.001e-3, ends, &certificate);
            assert!(matches!(wider, Err(EdgeRefusal::Gap(..))), "{wider:?}");
            let told = ask(&cell, EdgeQuestion { margin: 1.001e-3, ..QUESTION }, ends);
            let is_contact = matches!(told.answer, EdgeAnswer::Contact { contact_at, .. }
                if contact_at <= 0.0);
            assert!(is_contact, "{:?}", told.answer);
        }
    }
}

#[test]
fn an_arm_that_turns_about_a_tilted_axis_meets_the_table() {
    let tilted = ARM.replacen(r#"<axis xyz="0 0 1"/>"#, r#"<axis xyz="0 0.001 1"/>"#, 1);
    let cell = above_a_table(&tilted, 1e-4, LEVEL);
    let ends: [&[f64]; 2] = [&[0.0, 0.3, 0.0], &[3.0, 0.3, 0.0]];
    let Told { answer, .. } = ask(&cell, QUESTION, ends);
    let EdgeAnswer::Contact { free_until, contact_at, .. } = answer else { panic!("{answer:?}") };
    assert!(0.0 < free_until && contact_at - free_until <= 1e-6, "{answer:?}");
}

#[test]
fn a_closing_below_the_speed_along_the_direction_is_refused() {
    let tilted = ARM.replacen(r#"<axis xyz="0 0 1"/>"#, r#"<axis xyz="0 0.00001 1"/>"#, 1);
    let cell = above_a_table(&tilted, 1e-3, LEVEL);
    let ends: [&[f64]; 2] = [&[0.0, 0.3, 0.0], &[1.0, 0.3, 0.0]];
    let Told { answer, certificate, .. } = ask(&cell, QUESTION, ends);
    assert_eq!(answer, EdgeAnswer::Free);
    let whole = certificate.unwrap();
    assert_eq!(judged(&cell, 0.0, ends, &whole), Ok(()));
    let mut refused = 0;
    for piece in 0..whole.pieces.len() {
        for gap in 0..whole.pieces[piece].gaps.len() {
            let mut changed = whole.clone();
            let of = &mut changed.pieces[piece].gaps[gap];
            if of.closing > 1e-4 {
                continue;
            }
            of.closing *= 1.0 - 1e-6;
            let told = judged(&cell, 0.0, ends, &changed);
            assert!(matches!(told, Err(EdgeRefusal::Closing(..))), "{told:?}");
            // Of another direction, the speed is another one.
            let mut changed = whole.clone();
            let shown = &mut changed.pieces[piece].gaps[gap].shown;
            let crate::claim::GapProof::Along(direction) = shown else { panic!("{shown:?}") };
            *direction += Vec3::new(0.01, 0.01, 0.0);
            let told = judged(&cell, 0.0, ends, &changed);
            assert!(matches!(told, Err(EdgeRefusal::Closing(..))), "{told:?}");
            refused += 1;
        }
    }
    assert!(refused >= 2, "{refused}");
}

#[test]
fn no_height_of_a_link_changes_faster_than_its_bound() {
    let cell = panda_cell(1);
    let [from, to] = edges(40, 3.0, &mut Random(14));
    let (mut random, mut tilts) = (Random(15), Vec::new());
    let (mut block, mut poses) = (Block::default(), Poses::default());
    let mut tightest: f64 = 0.0;
    for at in 0..40 {
        let [a, b] = [&from, &to].map(|ends| &ends[8 * at..8 * at + 8]);
        let speeds = PathSpeeds::new(&cell, [a, b]).unwrap();
        let between =
            |t: f64| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + t * (b - a)).collect() };
        let place = |t: f64| cell.kinematics().place_one(&between(t));
        let half = [0.01, 0.1, 0.5][at % 3];
        let middle = between(0.5);
        block.place(&cell, &[&middle[..]; LANES]);
        let stand = block.stand(&cell, 0, &mut poses);
        for (index, link) in cell.links.iter().enumerate() {
            let Some(frame) = link.frame else { continue };
            let carriers: Vec<usize> = cell.kinematics().tree().chain(link.frame).skip(1).collect();
            let seen_from = carriers.get(random.below(9) as usize).copied();
            // Now and then along an axis of a joint.
            let along = match at % 4 {
                0 => stand.frame(carriers.last().copied().unwrap_or(frame)).rotation * Vec3::z(),
                _ => random.unit_vector(),
            };
            let (centre, radius) = stand.hulls_ball(index);
            let lever = link.ball.centre.norm() + link.ball.radius;
            let ball = WorldBall { centre, radius };
            let points = Carried { frame: link.frame, lever, ball };
            let heights = Heights { seen_from, along, half };
            let bound = speeds.speed_along(&stand, &points, &heights, &mut tilts);
            // Where a point is in the world if the frame it is seen from had not moved.
            let seen = |placed: &[Pose], point: &Vec3| {
                let there = placed[frame].apply_rounded(point);
                match seen_from {
                    None => there,
                    Some(other) => {
                        let own = placed[other];
                        let local = own.rotation.tr_mul(&(there - own.translation));
                        stand.frame(other).apply_rounded(&local)
                    }
                }
            };
            let now = place(0.5);
            for step in [-1.0, -0.3, 0.002, 0.5, 1.0] {
                let later = place(0.5 + step * half);
                for part in &cell.parts[link.parts.clone()] {
                    for vertex in part.body.hull().vertices() {
                        let point = part.frame_from_part.apply_rounded(vertex);
                        let rise = along.dot(&(seen(&later, &point) - seen(&now, &point))).abs();
                        let most = bound * (step * half).abs() + 1e-12;
                        assert!(rise <= most, "{rise} {most} {half} {step}");
                        tightest = tightest.max(rise / most);
                    }
                }
            }
        }
    }
    assert!(tightest > 0.5, "{tightest}");
}
