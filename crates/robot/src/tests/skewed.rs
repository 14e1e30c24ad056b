//! Bases and places of obstacles that are given as matrices, as far from rotations as is let in:
//! what hangs on them is longer than its numbers, and so is its way.
//!
//! `SKEWED_EDGES=20000 cargo test --release -p clearance-robot tests::skewed` looks at so many.

use super::samples::robot_of;
use super::samples::still_box;
use crate::ball::PlacedBox;
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked};
use crate::claim::EdgeClaim;
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::judge::judge_edge;
use crate::pairing::PairScope;
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::distance::{Stops, measure};
use clearance_geometry::effort::Effort;
use clearance_geometry::pair::Pair;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;
use clearance_samples::{Random, hull};

/// A joint of a robot that is made up, with a box on its child.
struct Joint {
    kind: &'static str,
    parent: usize,
    at: Vec3,
    turn: Vec3,
    axis: Vec3,
    half: Vec3,
    centre: Vec3,
}

impl Joint {
    fn drawn(random: &mut Random, parent: usize) -> Self {
        let kind = if random.below(3) == 0 { "continuous" } else { "prismatic" };
        Self {
            kind,
            parent,
            at: random.vector(),
            turn: random.vector() * 3.0,
            axis: random.unit_vector(),
            half: random.vector().abs() * 0.3 + Vec3::repeat(0.02),
            centre: random.vector() * 0.3,
        }
    }
}

fn urdf(joints: &[Joint]) -> String {
    let words = |v: &Vec3| format!("{:?} {:?} {:?}", v.x, v.y, v.z);
    let mut text = String::from(r#"<robot name="made-up"><link name="l0"/>"#);
    for (index, joint) in joints.iter().enumerate() {
        let (child, kind, parent) = (index + 1, joint.kind, joint.parent);
        let [size, centre] = [joint.half * 2.0, joint.centre].map(|v| words(&v));
        let [at, turn, axis] = [joint.at, joint.turn, joint.axis].map(|v| words(&v));
        text += &format!(
            r#"<link name="l{child}"><collision><origin xyz="{centre}"/><geometry>
            <box size="{size}"/></geometry></collision></link>
            <joint name="j{child}" type="{kind}"><origin xyz="{at}" rpy="{turn}"/>
            <parent link="l{parent}"/><child link="l{child}"/><axis xyz="{axis}"/>
            <limit lower="-9" upper="9"/></joint>"#
        );
    }
    text + "</robot>"
}

/// A question about an edge whose end is so near to contact that a millionth of the way decides.
struct Close {
    cell: Cell,
    ends: [Vec<f64>; 2],
    margin: f64,
}

/// Less than what a base may make of a way of a metre, to either side, and nothing at all.
fn sliver(random: &mut Random) -> f64 {
    random.signed() * 10f64.powf(-9.0 + 3.5 * (0.5 + 0.5 * random.signed()))
}

fn margin_of(random: &mut Random) -> f64 {
    [0.0, 0.0, 0.1, 1.0][random.below(4) as usize]
}

fn bodies_at(cell: &Cell, values: &[f64]) -> Vec<Vec<Vec3>> {
    let placed = cell.placed_hulls(values);
    let points = |(body, pose): &(&clearance_geometry::polytope::Polytope, Pose)| {
        body.vertices().iter().map(|v| pose.apply_rounded(v)).collect()
    };
    placed.iter().map(points).collect()
}

fn farthest(points: &[Vec3], along: &Vec3) -> Vec3 {
    *points.iter().max_by(|a, b| a.dot(along).total_cmp(&b.dot(along))).unwrap()
}

/// A chain of joints towards an obstacle that stands where the way of its last link ends.
fn towards_an_obstacle(random: &mut Random) -> Close {
    let joints: Vec<Joint> =
        (0..1 + random.below(3) as usize).map(|k| Joint::drawn(random, k)).collect();
    let robot = robot_of(&urdf(&joints)).unwrap();
    let place = random.vector();
    let instance = Instance { robot: &robot, world_from_base: random.skewed_pose(place) };
    let width = joints.len();
    let from: Vec<f64> = (0..width).map(|_| random.signed()).collect();
    let size = [0.01, 0.2, 1.0][random.below(3) as usize];
    let moved = |q: &f64| if random.below(4) == 0 { *q } else { q + size * random.signed() };
    let to: Vec<f64> = from.iter().map(moved).collect();
    let bare = Cell::new(&[instance], Vec::new());
    let nearly: Vec<f64> = to.iter().zip(&from).map(|(b, a)| b + 1e-4 * (a - b)).collect();
    let [end, before] = [&to, &nearly].map(|q| bodies_at(&bare, q).pop().unwrap());
    let way = (end[0] - before[0]).try_normalize(1e-9).unwrap_or_else(|| random.unit_vector());
    let margin = margin_of(random);
    let half = random.vector().abs() * 0.5 + Vec3::repeat(0.01);
    let mut obstacle = StillBody { pose: random.skewed_pose(Vec3::zeros()), ..still_box(half) };
    let own: Vec<Vec3> =
        obstacle.body.vertices().iter().map(|v| obstacle.pose.apply_rounded(v)).collect();
    let meets = farthest(&end, &way) + way * (margin + sliver(random));
    obstacle.pose.translation = meets - farthest(&own, &-way);
    Close { cell: Cell::new(&[instance], vec![obstacle]), ends: [from, to], margin }
}

/// Two links that slide towards each other on a third, which turns or slides itself.
fn on_one_carrier(random: &mut Random) -> Close {
    let carrier = Joint::drawn(random, 0);
    let axis = random.unit_vector();
    let (length, from, to) = (random.signed().abs() + 0.1, random.signed(), random.signed());
    let margin = margin_of(random);
    let arm = |parent: usize, side: f64, gap: f64| Joint {
        kind: "prismatic",
        parent,
        // Their boxes meet where both values are the ends of the edge.
        at: axis * (side * (0.5 * length + to.abs() + gap)),
        turn: Vec3::zeros(),
        axis: -axis * side,
        half: Vec3::repeat(0.05),
        centre: Vec3::zeros(),
    };
    // Along the axis the box reaches as far as its half size along that.
    let reach = 0.05 * axis.abs().sum();
    let gap = reach + 0.5 * margin + 0.5 * sliver(random);
    let joints = [carrier, arm(1, -1.0, gap), arm(1, 1.0, gap)];
    let robot = robot_of(&urdf(&joints)).unwrap();
    let place = random.vector();
    let instance = Instance { robot: &robot, world_from_base: random.skewed_pose(place) };
    let ends = [vec![from, -to.abs(), -to.abs()], vec![from * random.signed(), 0.0, 0.0]];
    let shift = 0.5 * length + to.abs();
    let [mut start, mut end] = ends;
    for values in [&mut start, &mut end] {
        values[1] += shift;
        values[2] += shift;
    }
    Close { cell: Cell::new(&[instance], Vec::new()), ends: [start, end], margin }
}

/// Whether the configuration keeps the margin: exactly, or as far as a clearance is known.
fn keeps(cell: &Cell, values: &[f64], margin: f64) -> bool {
    let mode = if margin > 0.0 { CheckMode::Clearance } else { CheckMode::FirstPair };
    let question = CheckQuestion { mode, with_gradient: false, ..CheckQuestion::default() };
    match &cell.check(question, values, &mut Effort::unlimited())[..] {
        [Checked::Free] => true,
        [Checked::Contact(_)] => false,
        [Checked::Clearance(least)] => {
            least.iter().flatten().all(|least| least.upper > margin * (1.0 - 1e-11))
        }
        other => panic!("{other:?}"),
    }
}

fn between([from, to]: &[Vec<f64>; 2], t: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(a, b)| if t >= 1.0 { *b } else { a + t * (b - a) }).collect()
}

/// Counts what became of edges.
#[derive(Debug, Default)]
struct Seen {
    free: usize,
    contacts: usize,
    undecided: usize,
    in_contact_at_the_end: usize,
    judged: usize,
}

impl Seen {
    fn look(&mut self, close: &Close, story: &str) {
        let Close { cell, ends, margin } = close;
        let question = EdgeQuestion {
            margin: *margin,
            tolerance: 1e-6,
            steps_max: u64::MAX,
            ..EdgeQuestion::default()
        };
        let effort = &mut Effort::unlimited();
        let both = [&ends[0][..], &ends[1][..]];
        let answer = cell.check_edges(question, both, effort).pop().unwrap();
        let is_free_at_end = keeps(cell, &ends[1], *margin);
        self.in_contact_at_the_end += usize::from(!is_free_at_end);
        let (until, contact) = match &answer {
            EdgeAnswer::Free => {
                self.free += 1;
                assert!(is_free_at_end, "{story}: free, and in contact at the end");
                (1.0, None)
            }
            EdgeAnswer::Contact { free_until, contact_at, pair } => {
                self.contacts += 1;
                let at = between(ends, *contact_at);
                assert!(*margin > 0.0 || !keeps(cell, &at, 0.0), "{story}: {answer:?}");
                (*free_until, Some((*contact_at, *pair)))
            }
            EdgeAnswer::Undecided { free_until, .. } => {
                self.undecided += 1;
                (*free_until, None)
            }
            other @ (EdgeAnswer::Bad(_) | EdgeAnswer::Turns | EdgeAnswer::Stopped { .. }) => {
                panic!("{story}: {other:?}")
            }
        };
        if until <= 0.0 {
            return;
        }
        for k in 0..=24 {
            // Half of them near the end, where the two are nearest.
            let share = if k < 12 { f64::from(k) / 12.0 } else { 1.0 - 0.5f64.powi(2 * k - 24) };
            let t = until * share;
            assert!(keeps(cell, &between(ends, t), *margin), "{story}: {answer:?} at {t}");
        }
        assert!(keeps(cell, &between(ends, until), *margin), "{story}: {answer:?} at {until}");
        let made = cell.certify_edge(question, both, &answer, effort).unwrap();
        if let Some(certificate) = made {
            self.judged += 1;
            let (margin, free_until) = (*margin, until);
            let claim = EdgeClaim { ends: both, margin, free_until, contact };
            let judged = judge_edge(&cell.subject(PairScope::All), &claim, &certificate, effort);
            assert_eq!(judged, Ok(()), "{story}: {answer:?}");
        }
    }
}

/// A base of 1.00000049 times the identity takes a box of a metre on a joint that slides by a metre
/// to 1.500000735, into an obstacle at 1.5000007. That edge was proven free, and both judges
/// agreed.
#[test]
fn a_base_that_stretches_takes_a_sliding_box_into_what_stands_just_beyond_its_own_length() {
    let joint = Joint {
        kind: "prismatic",
        parent: 0,
        at: Vec3::zeros(),
        turn: Vec3::zeros(),
        axis: Vec3::x(),
        half: Vec3::repeat(0.5),
        centre: Vec3::zeros(),
    };
    let robot = robot_of(&urdf(&[joint])).unwrap();
    let s = 1.000_000_49;
    let base = Pose::from_matrix(Vec3::zeros(), [s, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, s]).unwrap();
    let mut seen = Seen::default();
    for (place, is_free) in [(2.000_000_7, false), (2.000_000_8, true)] {
        let pose = Pose::translation(place, 0.0, 0.0);
        let obstacle = StillBody { pose, ..still_box(Vec3::repeat(0.5)) };
        let instance = Instance { robot: &robot, world_from_base: base };
        let cell = Cell::new(&[instance], vec![obstacle]);
        let close = Close { cell, ends: [vec![0.0], vec![1.0]], margin: 0.0 };
        seen.look(&close, "one joint");
        assert_eq!(keeps(&close.cell, &[1.0], 0.0), is_free);
    }
    assert!(seen.free == 1 && seen.contacts == 1 && seen.judged == 2, "{seen:?}");
}

/// Of boxes whose points are far from the origin of their frame the clearance from what is near the
/// origin took lengths in the frame for those in the world.
#[test]
fn no_box_is_said_to_be_farther_from_a_ball_than_it_is() {
    let mut random = Random(9);
    let mut tightest = f64::INFINITY;
    for _ in 0..2_000 {
        let far = random.unit_vector() * 10f64.powf(2.0 * random.signed());
        let half = random.vector().abs() + Vec3::repeat(0.01);
        let corner =
            |i: u32| far + Vec3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
        let polytope = hull(&(0..8).map(corner).collect::<Vec<_>>());
        let (place, inner) = (random.vector(), random.vector());
        let part = random.skewed_pose(inner);
        let pose = random.skewed_pose(place).compose(&part);
        let held = PlacedBox::new(&polytope, pose, pose.skew());
        // Beside the box, or where its points are counted from.
        let beside = [far, Vec3::zeros()][random.below(2) as usize];
        let centre = pose.apply_rounded(&(beside + random.vector() * 3.0));
        let point = hull(&[centre]);
        let pair = Pair::new(&polytope, pose, &point, Pose::identity());
        let effort = &mut Effort::unlimited();
        let exact = measure(&pair, Stops::default(), &mut Witness::default(), effort).unwrap();
        let told = held.clearance_from(&centre, 0.0);
        if exact.upper > 0.0 {
            assert!(told <= exact.upper, "{told} {exact:?}");
            tightest = tightest.min((exact.upper - told) / (far.norm() + 3.0));
        } else {
            assert!(told <= 0.0, "{told}");
        }
    }
    assert!(tightest < 1e-5, "the bound is far from all of them: {tightest}");
}

/// How many edges there are to look at; a few in the tests.
fn edges_to_look_at() -> u64 {
    std::env::var("SKEWED_EDGES").ok().and_then(|count| count.parse().ok()).unwrap_or(600)
}

#[test]
fn no_edge_is_proven_free_through_contact_whatever_matrices_it_stands_on() {
    let count = edges_to_look_at();
    let mut seen = Seen::default();
    for seed in 0..count {
        let mut random = Random(seed);
        let close = match seed % 4 {
            0 => on_one_carrier(&mut random),
            _ => towards_an_obstacle(&mut random),
        };
        seen.look(&close, &format!("seed {seed}"));
    }
    let least = usize::try_from(count).unwrap() / 10;
    assert!(seen.free > least && seen.contacts > least && seen.judged > 5 * least, "{seen:?}");
    assert!(seen.in_contact_at_the_end > least, "{seen:?}");
}
