//! The cell around the arm: a table with shelf, bins, conveyor and fixtures, and the motion that
//! the arm makes in it. Most things are hulls of points; bins are meshes as they are, balls are
//! balls, and a cable is the points that a camera sees. All lengths in metres; the robot stands at
//! the origin, the table top at z = 0.

use super::robot::turn;
use super::shapes::{OpenBox, coil, pebble, turned};
use super::trajectory::Trajectory;
use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::cuboid;
use clearance_geometry::pose::Pose;

/// A thing that stands around.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle {
    /// For people.
    pub(crate) name: String,
    /// What it is made of, in its own frame.
    pub(crate) form: ObstacleForm,
    /// Where it stands.
    pub(crate) pose: Pose,
}

/// What a thing that stands around is made of.
#[derive(Clone, Debug)]
pub(crate) enum ObstacleForm {
    /// The hull of these points.
    Hull(Vec<Vec3>),
    /// The ball around the origin with this radius, exactly.
    Ball(f64),
    /// Points as a camera gives them, with balls of this radius around them.
    Cloud(Vec<Vec3>, f64),
    /// What a closed mesh bounds, hollow where it is.
    Mesh(OpenBox),
}

impl ObstacleForm {
    /// The hulls that it is made of, each of these points, with balls of this radius around all of
    /// them.
    pub(crate) fn pieces(&self) -> (Vec<Vec<Vec3>>, f64) {
        match self {
            Self::Hull(points) => (vec![points.clone()], 0.0),
            Self::Ball(radius) => (vec![vec![Vec3::zeros()]], *radius),
            Self::Cloud(points, radius) => {
                (points.iter().map(|point| vec![*point]).collect(), *radius)
            }
            Self::Mesh(open_box) => (open_box.pieces(), 0.0),
        }
    }
}

/// Everything that stands around.
pub(crate) fn obstacles() -> Vec<Obstacle> {
    let mut cell = Cell(Vec::new());
    cell.add_table();
    cell.add_shelf();
    cell.add_bin("left", 0.62, 11);
    cell.add_bin("right", -0.62, 61);
    cell.add_conveyor();
    cell.add_fixtures();
    cell.add_thin_things();
    cell.add_cable();
    cell.0
}

struct Cell(Vec<Obstacle>);

impl Cell {
    /// Puts one thing at a place, turned about the vertical.
    fn put(&mut self, name: impl Into<String>, points: Vec<Vec3>, at: [f64; 3], yaw: f64) {
        self.put_turned(name, points, turned_at(at, &Vec3::z(), yaw));
    }

    fn put_turned(&mut self, name: impl Into<String>, points: Vec<Vec3>, pose: Pose) {
        self.put_form(name, ObstacleForm::Hull(points), pose);
    }

    fn put_form(&mut self, name: impl Into<String>, form: ObstacleForm, pose: Pose) {
        self.0.push(Obstacle { name: name.into(), form, pose });
    }

    fn add_table(&mut self) {
        self.put("table top", cuboid(1.9, 1.9, 0.04), [0.2, 0.0, -0.021], 0.0);
        for (i, (x, y)) in (1..).zip([(-0.7, -0.9), (-0.7, 0.9), (1.1, -0.9), (1.1, 0.9)]) {
            self.put(format!("table leg {i}"), cuboid(0.06, 0.06, 0.7), [x, y, -0.392], 0.0);
        }
    }

    fn add_shelf(&mut self) {
        for (i, z) in (1..).zip([0.10, 0.40, 0.70, 1.0]) {
            self.put(format!("shelf board {i}"), cuboid(0.30, 0.80, 0.02), [0.80, 0.0, z], 0.0);
        }
        for (side, y) in [("left", 0.41), ("right", -0.41)] {
            self.put(format!("shelf {side}"), cuboid(0.30, 0.02, 1.02), [0.80, y, 0.51], 0.0);
        }
        self.put("shelf back", cuboid(0.01, 0.84, 1.02), [0.956, 0.0, 0.51], 0.0);
        for (i, z) in [(0_u32, 0.111), (1, 0.411), (2, 0.711)] {
            let (n, k) = (i + 1, f64::from(i));
            self.put(format!("bottle {n}"), bottle(), [0.80, -0.30 + 0.04 * k, z], 0.0);
            let can =
                turned(&[(0.032, 0.0), (0.0335, 0.003), (0.0335, 0.119), (0.031, 0.122)], 128);
            self.put(format!("can {n}"), can, [0.84, -0.16 - 0.02 * k, z], 0.0);
            let height = 0.14 + 0.03 * k;
            let carton = cuboid(0.12, 0.16, height);
            self.put(format!("carton {n}"), carton, [0.84, 0.30, z + 0.5 * height + 1e-4], 0.1 * k);
            let at = [0.84 - 0.04 * k, 0.13 + 0.02 * k, z + 0.0502];
            let at = Pose::translation(at[0], at[1], at[2]);
            self.put_form(format!("ball {n}"), ObstacleForm::Ball(0.05), at);
        }
        self.put("parcel", cuboid(0.24, 0.30, 0.18), [0.80, 0.20, 1.101], 0.2);
        let drum = turned(&[(0.10, 0.0), (0.104, 0.01), (0.104, 0.19), (0.10, 0.2)], 256);
        self.put("drum", drum, [0.80, -0.22, 1.011], 0.0);
    }

    /// A bin as it is, a mesh with a hollow, and in it eight pebbles of 60 to 1,320 points.
    fn add_bin(&mut self, side: &str, y: f64, seed: u64) {
        let walls = OpenBox { outer: [0.40, 0.32, 0.165], wall: 0.01 };
        let at = Pose::translation(0.15, y, 0.001);
        self.put_form(format!("{side} bin"), ObstacleForm::Mesh(walls), at);
        for k in 0..8_u32 {
            let x = 0.015 + 0.09 * f64::from(k % 4);
            let at = [x, y - 0.07 + 0.14 * f64::from(k / 4), 0.052];
            let count = 60 + 180 * k as usize;
            let points = pebble([0.075, 0.10, 0.07], count, seed + u64::from(k));
            self.put(format!("{side} part {}", k + 1), points, at, 0.7 * f64::from(k));
        }
    }

    fn add_conveyor(&mut self) {
        self.put("conveyor belt", cuboid(0.30, 1.5, 0.08), [-0.55, 0.0, 0.25], 0.0);
        for (i, x) in [(1, -0.39), (2, -0.71)] {
            self.put(format!("conveyor rail {i}"), cuboid(0.02, 1.5, 0.05), [x, 0.0, 0.27], 0.0);
        }
        for k in 0..5_u32 {
            let (wide, tall) = (f64::from(k % 2), f64::from(k % 3));
            let package = cuboid(0.14 + 0.02 * wide, 0.16, 0.10 + 0.02 * tall);
            let at = [-0.55, -0.6 + 0.3 * f64::from(k), 0.3401 + 0.01 * tall];
            self.put(format!("package {}", k + 1), package, at, 0.15 * f64::from(k));
        }
    }

    fn add_fixtures(&mut self) {
        self.put("vice", cuboid(0.16, 0.12, 0.05), [0.42, -0.30, 0.026], 0.0);
        for (i, x) in [(1, 0.36), (2, 0.46)] {
            self.put(format!("vice jaw {i}"), cuboid(0.03, 0.12, 0.06), [x, -0.30, 0.082], 0.0);
        }
        let workpiece = turned(&[(0.02, 0.0), (0.022, 0.002), (0.022, 0.088), (0.02, 0.09)], 200);
        self.put("workpiece", workpiece, [0.408, -0.30, 0.06], 0.0);
        let post = turned(&[(0.015, 0.0), (0.015, 1.15)], 48);
        self.put("camera post", post, [0.46, 0.453, 0.0], 0.0);
        self.put("camera", cuboid(0.10, 0.06, 0.05), [0.45, 0.44, 1.18], 0.8);
        for (i, y) in [(1, -0.93), (2, 0.93)] {
            let post = cuboid(0.04, 0.04, 1.2);
            self.put(format!("light curtain {i}"), post, [-0.72, y, 0.601], 0.0);
        }
    }

    /// Three things so thin that the fast arm is past them within one frame: a whisker of 1.6 mm, a
    /// sign of 0.8 mm standing on its corner, and a wire of 1.2 mm that sticks out from a post.
    fn add_thin_things(&mut self) {
        let whisker = turned(&[(0.0008, 0.001), (0.0008, 0.2588)], 12);
        self.put("whisker", whisker, [0.6066, -0.0997, 0.0], 0.0);

        let (edge, corner) = (0.10, Vec3::new(0.5023, -0.351, 0.2606));
        let down = edge * std::f64::consts::FRAC_1_SQRT_2;
        let centre = corner - Vec3::z() * down;
        let on_corner = turned_at(centre.into(), &Vec3::y(), std::f64::consts::FRAC_PI_4);
        self.put_turned("sign", cuboid(edge, 0.0008, edge), on_corner);
        let stand = turned(&[(0.004, 0.001), (0.004, centre.z - down - 0.001)], 24);
        self.put("sign stand", stand, [corner.x, corner.y, 0.0], 0.0);

        // The wire's free end, and the way from it to the post.
        let (end, outward) = (Vec3::new(0.1629, -0.4004, 1.0916), Vec3::new(-0.19, -0.982, 0.0));
        let wire = turned(&[(0.0006, 0.0), (0.0006, 0.54)], 12);
        // A quarter turn takes z to the horizontal direction square to the axis.
        let axis = Vec3::z().cross(&outward).normalize();
        self.put_turned("wire", wire, turned_at(end.into(), &axis, std::f64::consts::FRAC_PI_2));
        self.put("wire post", cuboid(0.03, 0.03, 1.2), [0.0574, -0.9465, 0.601], 0.0);
    }

    /// A coil of cable as a camera sees it: points seven millimetres apart.
    fn add_cable(&mut self) {
        let coil = ObstacleForm::Cloud(coil(0.07, 3.0, 200), 0.006);
        self.put_form("cable", coil, Pose::translation(-0.17, 0.62, 0.007));
    }
}

/// About a thousand vertices.
fn bottle() -> Vec<Vec3> {
    let profile = [
        (0.030, 0.0),
        (0.034, 0.004),
        (0.036, 0.010),
        (0.0365, 0.05),
        (0.0365, 0.09),
        (0.0355, 0.11),
        (0.033, 0.125),
        (0.029, 0.138),
        (0.024, 0.15),
        (0.019, 0.16),
        (0.0135, 0.166),
        (0.012, 0.168),
        (0.008, 0.170),
        (0.0, 0.171),
    ];
    turned(&profile, 90)
}

/// How far each finger is open, metres.
const OPEN: f64 = 0.02;

/// Ten seconds: into the shelf, where a finger brushes a ball; past the camera post with a bump;
/// down into the left bin, where the fingers sink into a part; fast across the front, over whisker
/// and sign; down into the right bin without contact; a throw upwards at 2.5 m/s past the wire;
/// home. Joint speeds stay within the limits of the URDF.
pub(crate) fn motion() -> Trajectory {
    Trajectory::through(&[
        (0.0, [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, OPEN]),
        (1.1, [0.0, -0.586, 0.0, -2.639, 0.0, 3.286, 0.785, OPEN]),
        (1.9, [0.076, 0.164, -0.029, -1.988, 0.092, 3.575, 0.785, OPEN]),
        (2.25, [0.249, 0.353, -0.075, -1.811, 0.17, 3.541, 0.785, OPEN]),
        (3.0, [0.606, -0.56, -0.233, -2.464, 0.215, 2.774, 0.785, OPEN]),
        (3.95, [1.23, 0.118, -0.002, -1.835, 0.0, 1.954, 0.785, OPEN]),
        (4.55, [1.249, 0.53, 0.0, -2.021, 0.0, 2.55, 0.785, OPEN]),
        (5.1, [1.153, 0.175, -0.01, -1.863, 0.002, 2.038, 0.785, OPEN]),
        (5.85, [-0.17, 0.175, -0.135, -2.134, -0.602, 2.492, 0.785, OPEN]),
        (6.65, [-1.235, 0.166, 0.002, -1.85, 0.0, 2.016, 0.785, OPEN]),
        (7.1, [-1.329, 0.547, -0.005, -1.875, 0.004, 2.421, 0.785, OPEN]),
        (7.5, [-1.295, 0.078, 0.004, -2.079, 0.087, 2.277, 0.785, OPEN]),
        (7.95, [-1.28, 0.32, 0.0, -2.05, 0.0, 1.5, 0.785, OPEN]),
        (8.7, [-1.2, -0.45, 0.0, -0.95, 0.0, 2.7, 0.785, OPEN]),
        (9.2, [-0.9, -0.75, 0.0, -1.1, 0.0, 2.55, 0.785, OPEN]),
        (10.0, [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, OPEN]),
    ])
}

/// The pose of a thing at a place, metres, that is turned about an axis, radians.
fn turned_at(at: [f64; 3], axis: &Vec3, angle: f64) -> Pose {
    Pose { rotation: turn(axis, angle), translation: at.into() }
}

#[cfg(test)]
mod tests {
    use super::super::robot::Panda;
    use super::*;
    use clearance_geometry::hull::convex_hull;

    #[test]
    fn the_cell_has_over_sixty_obstacles_some_with_a_thousand_vertices() {
        let obstacles = obstacles();
        assert!(obstacles.len() >= 60, "{}", obstacles.len());
        let vertices = |o: &Obstacle| match &o.form {
            ObstacleForm::Hull(points) => convex_hull(points).unwrap().polytope.vertex_count(),
            ObstacleForm::Ball(_) | ObstacleForm::Cloud(..) | ObstacleForm::Mesh(_) => 0,
        };
        let large = obstacles.iter().filter(|o| vertices(o) >= 1000).count();
        assert!(large >= 4, "{large}");
        let mut names: Vec<&str> = obstacles.iter().map(|o| o.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), obstacles.len(), "names are unique");
    }

    #[test]
    fn the_motion_keeps_within_the_joint_limits_of_the_urdf() {
        let (robot, motion) = (Panda::read().unwrap(), motion());
        let variables = &robot.robot().kinematics.tree().variables;
        let step_s = 1e-3;
        for k in 0..10_000 {
            let time = f64::from(k) * step_s;
            let (now, next) = (motion.at(time), motion.at(time + step_s));
            for (coordinate, (a, b)) in variables.iter().zip(now.iter().zip(&next)) {
                let (low, high) = (coordinate.lower, coordinate.upper);
                assert!((low..=high).contains(a), "{} at {time}", coordinate.name);
                let speed = (b - a).abs() / step_s;
                assert!(speed <= coordinate.velocity, "{} at {time}", coordinate.name);
            }
        }
    }
}
