//! How boxes that stand along the axes stand to each other: exactly, before anything is searched.
//!
//! Boxes that touch face to face are what no error bound decides, and levels and shelves are full
//! of them. M is a box, so its two ends on each axis tell.

use arrayvec::ArrayVec;

use super::Decision;
use crate::Vec3;
use crate::aligned::{DifferenceBox, Wide, along, half_face, others};
use crate::claim::{Direction, StaticProof};
use crate::number::rounding::{BOUND_SLACK, gamma};
use crate::pair::Pair;
use crate::witness::Witness;

/// The verdict of two boxes along the axes, which is left in the witness, too. None: they are none,
/// or not seen to be.
#[inline(never)]
pub(super) fn decide(pair: &Pair<'_>, witness: &mut Witness) -> Option<Decision> {
    let m = DifferenceBox::of(pair)?;
    let apart = (0..3).find(|k| m.low[*k] > 0 || m.high[*k] < 0);
    if let Some(axis) = apart {
        let is_against = m.high[axis] < 0;
        let direction = along(axis, is_against);
        let mut far = [false; 3];
        far[axis] = is_against;
        return Some(separated(direction, m.corners(&[far]), witness));
    }
    let border = (0..3).find(|k| m.low[*k] == 0 || m.high[*k] == 0);
    let Some(axis) = border else { return Some(overlapping(&m, witness)) };
    let is_far = m.low[axis] != 0;
    // Where the origin is on the face, as parts of the lengths of the other two axes.
    let [a, b] = others(axis);
    let (part_a, part_b) =
        (Wide::product(-m.low[a], m.length(b)), Wide::product(-m.low[b], m.length(a)));
    let pairs: ArrayVec<_, 3> = m.corners(&half_face(axis, is_far, part_a >= part_b));
    let direction = along(axis, is_far);
    witness.direction = Some(direction);
    witness.pairs = pairs.iter().copied().collect();
    let direction = Direction::Vector(direction);
    Some(Decision { proof: StaticProof::Touching { direction, pairs } })
}

fn separated(
    direction: Vec3,
    support: ArrayVec<crate::pair::VertexPair, 6>,
    witness: &mut Witness,
) -> Decision {
    witness.direction = Some(direction);
    witness.pairs = support;
    super::filter::separated_by(direction)
}

/// The origin is inside M. Corners that hold it strictly: four of which no two are on one edge, if
/// it is surely inside of these; else the six of the half of M on its side of a diagonal plane.
fn overlapping(m: &DifferenceBox<'_>, witness: &mut Witness) -> Decision {
    // Each part rounds three times, and a sum of three of them twice.
    let part = |axis: usize| -m.low[axis] as f64 / m.length(axis) as f64;
    let x = [part(0), part(1), part(2)];
    let pairs = m.corners(&around(x));
    witness.pairs.clone_from(&pairs);
    Decision { proof: StaticProof::Overlapping { pairs } }
}

/// How far the origin is inside M at least, metres; none: they do not overlap, are no boxes along
/// the axes, or are not seen to be. Where the proof takes more than four corners, no ball
/// within four of them tells it.
pub(super) fn room(pair: &Pair<'_>) -> Option<f64> {
    let m = DifferenceBox::of(pair)?;
    let least = (0..3).flat_map(|axis| [-m.low[axis], m.high[axis]]).min()?;
    // It is rounded once, and once more among the least numbers; beyond their range there is none.
    let metres = (least as f64 * 2.0_f64.powi(m.exponent) * (1.0 - BOUND_SLACK)).next_down();
    (least > 0).then_some(metres)
}

/// What a sum of three parts may be off by.
const PART_ERROR: f64 = gamma(32);

/// The corners of a unit cube that hold the point strictly, which is inside the cube.
fn around(x: [f64; 3]) -> ArrayVec<[bool; 3], 6> {
    for is_odd in [false, true] {
        let [a, b, c] = if is_odd { x.map(|x| 1.0 - x) } else { x };
        let is_below = |one: f64, two: f64| one + PART_ERROR < two;
        let is_inside = is_below(a, b + c)
            && is_below(b, c + a)
            && is_below(c, a + b)
            && is_below(a + b + c, 2.0);
        if is_inside {
            let four = [[false; 3], [false, true, true], [true, false, true], [true, true, false]];
            return four.into_iter().map(|far| far.map(|far| far != is_odd)).collect();
        }
    }
    // Surely on one side of a diagonal of one of the faces: else it would be near the centre.
    let sides = (0..3).flat_map(|axis| [(axis, false), (axis, true)]);
    let side = |(axis, is_falling): (usize, bool)| {
        let [a, b] = others(axis);
        let height = if is_falling { x[a] + x[b] - 1.0 } else { x[a] - x[b] };
        (axis, is_falling, height)
    };
    let farthest = sides.map(side).max_by(|one, two| one.2.abs().total_cmp(&two.2.abs()));
    let (axis, is_falling, height) = farthest.expect("there are six");
    let [a, b] = others(axis);
    // The corner of the face off the diagonal, on the point's side.
    let is_far_a = height > 0.0;
    let is_far_b = if is_falling { is_far_a } else { !is_far_a };
    let diagonal =
        if is_falling { [[true, false], [false, true]] } else { [[false; 2], [true; 2]] };
    let triangle = [[is_far_a, is_far_b], diagonal[0], diagonal[1]];
    let both = triangle.into_iter().flat_map(|[of_a, of_b]| {
        [false, true].map(|is_far| {
            let mut far = [false; 3];
            (far[axis], far[a], far[b]) = (is_far, of_a, of_b);
            far
        })
    });
    both.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Bodies, Points, Verdict};
    use crate::effort::Effort;
    use crate::judge::judge_static_with;
    use crate::pose::Pose;
    use crate::samples::{Random, cuboid};
    use crate::separation::{METHODS, exact};

    fn bodies<'a>(pair: &'a Pair<'a>) -> Bodies<'a> {
        let [p, q] = [&pair.p, &pair.q]
            .map(|placed| Points { points: placed.body.vertices(), pose: placed.pose });
        Bodies { p, q }
    }

    /// One of the rotations of a cube.
    fn quarter_turns(random: &mut Random) -> crate::Mat3 {
        let mut rotation = crate::Mat3::identity();
        for _ in 0..random.below(5) {
            let turn = match random.below(3) {
                0 => crate::Mat3::new(1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0),
                1 => crate::Mat3::new(0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0),
                _ => crate::Mat3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0),
            };
            rotation = turn * rotation;
        }
        rotation
    }

    /// The new stage tells what the exact stage tells, and what it says is proven.
    #[test]
    fn boxes_along_the_axes_stand_as_the_exact_stage_says() {
        let mut random = Random(17);
        let sizes = [0.25, 0.5, 0.1, 1.0, 3.0];
        let mut counts = [0; 3];
        for round in 0..6_000 {
            let mut half = || sizes[random.below(5) as usize];
            let (a, b) = ([half(), half(), half()], [half(), half(), half()]);
            let (p, q) = (cuboid(a[0], a[1], a[2]), cuboid(b[0], b[1], b[2]));
            let mut step = || match round % 3 {
                0 => 0.25 * f64::from(random.below(17)) - 2.0,
                1 => 0.1 * f64::from(random.below(21)) - 1.0,
                _ => 2.0 * random.signed(),
            };
            let mut place = || Vec3::new(step(), step(), step());
            let (from, to) = (place(), place());
            let at = |rotation, translation| Pose { rotation, translation };
            let (turn_p, turn_q) = (quarter_turns(&mut random), quarter_turns(&mut random));
            let pair = Pair::new(&p, at(turn_p, from), &q, at(turn_q, to));
            let witness = &mut Witness::default();
            let found = decide(&pair, witness).expect("boxes along the axes");
            let mut m = crate::difference::exact::Difference::new(&pair);
            let effort = &mut Effort::unlimited();
            let wanted = exact::prove(&mut m, effort).unwrap();
            assert_eq!(found.verdict(), wanted.verdict(), "{pair:?}");
            judge_static_with(bodies(&pair), &found.proof, effort).unwrap();
            let whole = super::super::decide(&pair, &METHODS[0], witness, effort).unwrap();
            assert_eq!(whole.verdict(), wanted.verdict());
            counts[wanted.verdict() as usize] += 1;
        }
        assert!(counts.iter().all(|count| *count > 80), "{counts:?}");
        assert_eq!(Verdict::Separated as usize, 0);
    }

    #[test]
    fn corners_around_any_point_of_a_cube_hold_it_strictly() {
        let mut random = Random(18);
        let edge = [1e-14, 1e-9, 0.25, 0.5, 0.75, 1.0 - 1e-9];
        for _ in 0..4_000 {
            let x = [(); 3].map(|()| match random.below(3) {
                0 => 0.5 + 0.499 * random.signed(),
                _ => edge[random.below(6) as usize],
            });
            let cube = cuboid(0.5, 0.5, 0.5);
            let point = crate::hull::samples::polytope_of(&[Vec3::zeros()]);
            let to = Pose::translation(0.5 - x[0], 0.5 - x[1], 0.5 - x[2]);
            let pair = Pair::new(&point, Pose::identity(), &cube, to);
            let found = decide(&pair, &mut Witness::default()).expect("a point and a cube");
            assert_eq!(found.verdict(), Verdict::Overlapping, "{x:?}");
            let effort = &mut Effort::unlimited();
            judge_static_with(bodies(&pair), &found.proof, effort).unwrap();
        }
    }

    /// Cubes in a grid that overlap at their edges had no room, so each motion had all looked at.
    #[test]
    fn boxes_that_overlap_have_the_room_of_their_nearest_face() {
        let cube = cuboid(0.5, 0.5, 0.5);
        for (place, deep) in [([0.9, 0.9, 0.0], 0.1), ([0.25, -0.5, 0.75], 0.25)] {
            let to = Pose::translation(place[0], place[1], place[2]);
            let pair = Pair::new(&cube, Pose::identity(), &cube, to);
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let decision = super::super::decide(&pair, &METHODS[0], witness, effort).unwrap();
            let room = super::super::room_of(&pair, &decision, witness);
            assert!(room > 0.0 && room <= deep && room < super::room(&pair).unwrap().next_up());
            assert!((super::room(&pair).unwrap() - deep).abs() < 1e-9 * deep);
        }
        let beside = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(1.0, 0.0, 0.0));
        assert_eq!(super::room(&beside), None);
    }

    #[test]
    fn a_box_that_is_turned_by_a_last_bit_is_no_box_along_the_axes() {
        let cube = cuboid(0.5, 0.5, 0.5);
        let mut pose = Pose::translation(1.0, 0.0, 0.0);
        let ask = |pose: Pose| {
            let pair = Pair::new(&cube, Pose::identity(), &cube, pose);
            decide(&pair, &mut Witness::default()).is_some()
        };
        assert!(ask(pose));
        pose.rotation[(0, 1)] = f64::from_bits(1);
        assert!(!ask(pose));
        pose.rotation[(0, 1)] = 0.0;
        pose.rotation[(2, 2)] = 1.0_f64.next_up();
        assert!(!ask(pose));
        // Numbers that are too far apart are for the exact stage.
        assert!(!ask(Pose::translation(1.0, 1e-30, 1e30)));
    }
}
