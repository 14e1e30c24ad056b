//! Where links are, and their Jacobians against products of matrices of which one is a derivative.

use super::kinematics::CRANE;
use super::samples::{configurations, panda, robot_of};
use crate::Robot;
use crate::cell::{Cell, Instance};
use crate::tree::Freedom;
use clearance_geometry::pose::Pose;
use clearance_geometry::{Mat3, Vec3};
use clearance_samples::Random;

/// A matrix and its derivative by a joint value, as a rotation and a translation each.
#[derive(Clone, Copy)]
struct Moving {
    place: (Mat3, Vec3),
    speed: (Mat3, Vec3),
}

impl Moving {
    fn times(&self, other: &Self) -> Self {
        let ((a, s), (da, ds)) = (self.place, self.speed);
        let ((b, t), (db, dt)) = (other.place, other.speed);
        Self { place: (a * b, a * t + s), speed: (da * b + a * db, da * t + a * dt + ds) }
    }
}

fn still(rotation: Mat3, translation: Vec3) -> Moving {
    Moving { place: (rotation, translation), speed: (Mat3::zeros(), Vec3::zeros()) }
}

/// The rotation of a quaternion x, y, z, w by its formula, without a norm of 1.
fn turned(q: [f64; 4]) -> Mat3 {
    let [x, y, z, w] = q;
    let norm = x * x + y * y + z * z + w * w;
    Mat3::new(
        w * w + x * x - y * y - z * z,
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        w * w - x * x + y * y - z * z,
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        w * w - x * x - y * y + z * z,
    ) / norm
}

/// A frame in its parent, and how it moves with a value.
fn local(robot: &Robot, frame: usize, values: &[f64], variable: usize) -> Moving {
    let frame = &robot.kinematics.tree().frames[frame];
    let origin = still(frame.parent_from_joint.rotation, frame.parent_from_joint.translation);
    let moved = match frame.freedom {
        Freedom::Turn { axis, by } => {
            let x = by.multiplier * values[by.variable] + by.offset;
            let (s, c) = x.sin_cos();
            let k = axis.cross_matrix();
            let speed = if by.variable == variable { by.multiplier } else { 0.0 };
            Moving {
                place: (Mat3::identity() + k * s + k * k * (1.0 - c), Vec3::zeros()),
                speed: ((k * c + k * k * s) * speed, Vec3::zeros()),
            }
        }
        Freedom::Slide { axis, by } => {
            let x = by.multiplier * values[by.variable] + by.offset;
            let speed = if by.variable == variable { by.multiplier } else { 0.0 };
            Moving { place: (Mat3::identity(), axis * x), speed: (Mat3::zeros(), axis * speed) }
        }
        Freedom::Ball { variable: first } => {
            let q: [f64; 4] = std::array::from_fn(|k| values[first + k]);
            let mut speed = Mat3::zeros();
            if (first..first + 4).contains(&variable) {
                // A rational function of few degrees: a difference of fourth order is exact enough.
                let h = 1e-3;
                let at = |by: f64| {
                    let mut q = q;
                    q[variable - first] += by;
                    turned(q)
                };
                let first_order = (at(h) - at(-h)) * (8.0 / (12.0 * h));
                speed = first_order - (at(2.0 * h) - at(-2.0 * h)) / (12.0 * h);
            }
            Moving { place: (turned(q), Vec3::zeros()), speed: (speed, Vec3::zeros()) }
        }
    };
    origin.times(&moved)
}

/// The greatest difference of all Jacobians, without those of floating joints and with them.
fn compare(robot: &Robot, values: &[f64]) -> [f64; 2] {
    let instance = Instance { robot, world_from_base: Pose::identity() };
    let cell = Cell::new(&[instance], Vec::new());
    let (tree, width) = (robot.kinematics.tree(), cell.variable_count());
    let links = cell.links_in(values);
    let poses: Vec<Pose> = links.poses().collect();
    assert_eq!((poses.len(), cell.link_count()), (robot.links.len(), robot.links.len()));
    let mut off = [0.0f64; 2];
    for (at, link) in robot.links.iter().enumerate() {
        let found = links.jacobian(at);
        assert_eq!(found.len(), 6 * width);
        for variable in 0..width {
            let mut chain: Vec<usize> = tree.chain(link.frame).collect();
            chain.reverse();
            let mut all = still(Mat3::identity(), Vec3::zeros());
            for frame in chain {
                all = all.times(&local(robot, frame, values, variable));
            }
            let in_frame = &link.frame_from_link;
            all = all.times(&still(in_frame.rotation, in_frame.translation));
            assert!((all.place.1 - poses[at].translation).amax() < 1e-13);
            // The derivative times the transpose is the matrix of the angular velocity.
            let spin = all.speed.0 * all.place.0.transpose();
            let turning = Vec3::new(spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]);
            let wanted = all.speed.1.iter().chain(turning.iter());
            let is_ball = tree.frames.iter().any(|frame| {
                matches!(frame.freedom, Freedom::Ball { variable: first }
                    if (first..first + 4).contains(&variable))
            });
            for (row, wanted) in wanted.enumerate() {
                let by = (found[row * width + variable] - wanted).abs();
                off[usize::from(is_ball)] = off[usize::from(is_ball)].max(by);
            }
        }
    }
    off
}

/// Fingers that follow, one by a slide and one by a turn, each with a tip beside its joint.
const GRIPPER: &str = r#"<robot name="gripper"><link name="base"/><link name="palm"/>
  <link name="slid"/><link name="turned"/><link name="tip"/>
  <joint name="a" type="continuous"><parent link="base"/><child link="palm"/>
  <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.4 0.5"/><axis xyz="0 0.6 0.8"/></joint>
  <joint name="b" type="prismatic"><parent link="palm"/><child link="slid"/>
  <axis xyz="1 0 0"/><limit lower="-2" upper="2"/></joint>
  <joint name="c" type="revolute"><parent link="slid"/><child link="turned"/>
  <axis xyz="0 1 0"/><limit lower="-9" upper="9"/>
  <mimic joint="a" multiplier="3" offset="0.25"/></joint>
  <joint name="d" type="fixed"><parent link="turned"/><child link="tip"/>
  <origin xyz="0.5 0.1 -0.7"/></joint></robot>"#;

#[test]
fn jacobians_are_those_of_the_product_of_the_joints_to_1e_12() {
    let robot = panda();
    for values in configurations(20, &mut Random(2)).chunks_exact(8) {
        assert!(compare(&robot, values)[0] < 1e-12);
    }
    let gripper = robot_of(GRIPPER).unwrap();
    let mut random = Random(4);
    for _ in 0..20 {
        let values: Vec<f64> = (0..2).map(|_| random.signed()).collect();
        assert!(compare(&gripper, &values)[0] < 1e-12);
    }
    let crane = robot_of(CRANE).unwrap();
    let mut random = Random(3);
    for _ in 0..20 {
        let values: Vec<f64> = (0..12).map(|_| 2.0 * random.signed()).collect();
        let off = compare(&crane, &values);
        assert!(off[0] < 1e-12 && off[1] < 1e-8, "{off:?}");
    }
}

#[test]
fn poses_of_links_are_the_documented_formula_on_any_base() {
    let robot = panda();
    let base = Pose::from_quaternion(Vec3::new(1.0, -2.0, 0.5), [0.3, 0.1, -0.7, 0.2]).unwrap();
    let still = Instance { robot: &robot, world_from_base: Pose::identity() };
    let cell = Cell::new(&[still, Instance { robot: &robot, world_from_base: base }], Vec::new());
    let values = configurations(2, &mut Random(5));
    let frames = cell.kinematics().place_one(&values);
    let poses: Vec<Pose> = cell.links_in(&values).poses().collect();
    let (links, own) = (robot.links.len(), robot.kinematics.tree().frames.len());
    for (at, pose) in poses.iter().enumerate() {
        let link = &robot.links[at % links];
        let expected = match link.frame {
            Some(frame) => frames[frame + own * (at / links)].compose(&link.frame_from_link),
            None if at < links => link.frame_from_link,
            None => base.compose(&link.frame_from_link),
        };
        assert_eq!(*pose, expected, "{at}");
    }
}
