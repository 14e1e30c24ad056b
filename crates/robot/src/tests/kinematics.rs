//! Where joint values put links: against pinocchio, against lanes, and against matrices by hand.

use super::samples::{panda, robot_of};
use crate::kinematics::{ConfigurationError, pose_of_lane};
use clearance_geometry::Vec3;
use clearance_samples::Random;

#[test]
fn the_panda_has_its_links_where_pinocchio_puts_them() {
    let (robot, mut checked) = (panda(), 0);
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace().map(|word| word.parse().unwrap()).collect()
    };
    for line in include_str!("panda_frames.txt").lines().filter(|line| !line.starts_with('#')) {
        let [values, link, expected] = line.split('|').collect::<Vec<_>>()[..] else { panic!() };
        let placed = robot.kinematics.place_one(&numbers(values));
        let link = &robot.links[robot.link(link.trim()).unwrap()];
        let pose = placed[link.frame.unwrap()].compose(&link.frame_from_link);
        let expected = numbers(expected);
        for (k, wanted) in expected[..9].iter().enumerate() {
            let entry = pose.rotation[(k / 3, k % 3)];
            assert!((entry - wanted).abs() < 1e-14, "{}: entry {k}", link.name);
            checked += 1;
        }
        for k in 0..3 {
            assert!((pose.translation[k] - expected[9 + k]).abs() < 1e-14, "{}", link.name);
        }
    }
    assert_eq!(checked, 24 * 9);
}

#[test]
fn four_configurations_at_a_time_are_placed_like_one_to_the_last_bit() {
    let robot = panda();
    let mut random = Random(5);
    for _ in 0..200 {
        let sample =
            |random: &mut Random| -> Vec<f64> { (0..8).map(|_| 4.0 * random.signed()).collect() };
        let four: [Vec<f64>; 4] = std::array::from_fn(|_| sample(&mut random));
        let mut lanes = Vec::new();
        robot.kinematics.place(&[&four[0], &four[1], &four[2], &four[3]], &mut lanes);
        for (lane, values) in four.iter().enumerate() {
            let one = robot.kinematics.place_one(values);
            let of_lane: Vec<_> = lanes.iter().map(|frame| pose_of_lane(frame, lane)).collect();
            assert_eq!(one, of_lane);
        }
    }
}

pub(super) const CRANE: &str = r#"<robot name="crane">
  <link name="base"/><link name="cart"/><link name="boom"/><link name="hook"><collision>
    <origin xyz="0 0 -1"/><geometry><box size="1 1 2"/></geometry></collision></link>
  <link name="float"/><link name="disc"/>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/>
    <origin xyz="0 0 3"/><axis xyz="0 2 0"/><limit lower="-1" upper="2"/></joint>
  <joint name="swing" type="continuous"><parent link="cart"/><child link="boom"/>
    <axis xyz="0 0 -1"/></joint>
  <joint name="hang" type="revolute"><parent link="boom"/><child link="hook"/>
    <origin xyz="5 0 0" rpy="0 1.5707963267948966 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1"/><mimic joint="swing" multiplier="-2" offset="0.5"/></joint>
  <joint name="free" type="floating"><parent link="base"/><child link="float"/></joint>
  <joint name="plane" type="planar"><parent link="base"/><child link="disc"/>
    <axis xyz="0 0 1"/></joint>
</robot>"#;

#[test]
fn every_type_of_joint_moves_its_child_as_the_urdf_means_it() {
    let robot = robot_of(CRANE).unwrap();
    let names: Vec<&str> =
        robot.kinematics.tree().variables.iter().map(|v| v.name.as_str()).collect();
    let floating = ["/x", "/y", "/z", "/qx", "/qy", "/qz", "/qw"].map(|s| format!("free{s}"));
    let planar = ["plane/x", "plane/y", "plane/theta"];
    let all = ["rail", "swing"].into_iter().chain(floating.iter().map(String::as_str));
    assert_eq!(names, all.chain(planar).collect::<Vec<_>>());
    let quarter = std::f64::consts::FRAC_PI_2;
    let values = [0.75, quarter, 1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 1.0, 7.0, 8.0, quarter];
    let placed = robot.kinematics.place_one(&values);
    let at = |link: &str, point: Vec3| {
        let link = &robot.links[robot.link(link).unwrap()];
        placed[link.frame.unwrap()].compose(&link.frame_from_link).apply_rounded(&point)
    };
    let near = |point: Vec3, [x, y, z]: [f64; 3]| {
        assert!((point - Vec3::new(x, y, z)).amax() < 1e-14, "{point}");
    };
    near(at("cart", Vec3::zeros()), [0.0, 0.75, 3.0]);
    // Down is the axis, so the boom turns the other way: its x points along -y.
    near(at("boom", Vec3::x()), [0.0, -0.25, 3.0]);
    near(at("hook", Vec3::zeros()), [0.0, -4.25, 3.0]);
    // The hook's z is the boom's x; its x, before it turns by 0.5 - 2 (π / 2), points down.
    near(at("hook", Vec3::z()), [0.0, -5.25, 3.0]);
    let (sine, cosine) = (0.5 - 2.0 * quarter).sin_cos();
    near(at("hook", Vec3::x()), [sine, -4.25, 3.0 - cosine]);
    near(at("float", Vec3::x()), [1.0, 3.0, 3.0]);
    near(at("disc", Vec3::x()), [7.0, 9.0, 0.0]);
}

#[test]
fn values_that_place_nothing_are_refused() {
    let robot = robot_of(CRANE).unwrap();
    let good = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let with = |index: usize, value: f64| {
        let mut values = good;
        values[index] = value;
        robot.kinematics.check(&values)
    };
    assert_eq!(with(0, 0.5), Ok(()));
    for value in [f64::NAN, f64::INFINITY, -2e6] {
        for index in [0, 1, 2, 9, 11] {
            assert_eq!(with(index, value), Err(ConfigurationError::Value { index }));
        }
    }
    for value in [0.0, f64::NAN, 1e200] {
        assert_eq!(with(8, value), Err(ConfigurationError::Quaternion { index: 5 }));
    }
}
