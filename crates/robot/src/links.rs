//! Where the links of a cell are, with or without parts, and how joint values move them.
//!
//! The poses are those of the documented formula: that of the frame which moves the link, composed
//! with that of the link in it. A Jacobian is of the first order in all roundings: each entry is a
//! product of a unit axis and a lever, so it is off by some units of what the joints reach.

use super::cell::Cell;
use super::tree::Freedom;
use clearance_geometry::Vec3;
use clearance_geometry::pose::Pose;

/// How a joint value moves what its frame carries, for each unit of the value.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointMotion {
    /// The index of the value that moves it.
    pub(super) variable: usize,
    /// By how much more than that the joint itself changes.
    pub(super) multiplier: f64,
    /// How all that it carries turns, for each unit of the joint.
    pub(super) spin: Vec3,
    /// How all that it carries slides, for each unit of the joint.
    pub(super) slide: Vec3,
    /// What it turns about, in the world.
    pub(super) origin: Vec3,
}

impl JointMotion {
    /// The velocity of a point that the frame carries, for each unit of the joint.
    pub(super) fn velocity(&self, point: &Vec3) -> Vec3 {
        self.spin.cross(&(point - self.origin)) + self.slide
    }
}

/// Calls `visit` with the motion by each value of a frame that is placed there; `values` gives four
/// of them in a row.
pub(super) fn joint_motions(
    freedom: &Freedom,
    placed: &Pose,
    values: impl Fn(usize) -> [f64; 4],
    mut visit: impl FnMut(JointMotion),
) {
    let (none, origin) = (Vec3::zeros(), placed.translation);
    match *freedom {
        Freedom::Turn { axis, by } => {
            let spin = placed.rotation * axis;
            let (variable, multiplier) = (by.variable, by.multiplier);
            visit(JointMotion { variable, multiplier, spin, slide: none, origin });
        }
        Freedom::Slide { axis, by } => {
            // Its rotation is that of its origin.
            let slide = placed.rotation * axis;
            let (variable, multiplier) = (by.variable, by.multiplier);
            visit(JointMotion { variable, multiplier, spin: none, slide, origin });
        }
        Freedom::Ball { variable: first } => {
            let q = values(first);
            for k in 0..4 {
                let spin = placed.rotation * spin_in_frame(&q, k);
                let (variable, multiplier) = (first + k, 1.0);
                visit(JointMotion { variable, multiplier, spin, slide: none, origin });
            }
        }
    }
}

/// The angular velocity, in the turned frame, with component k of a quaternion x, y, z, w that is
/// normalised when it is used: `2 conj(q) dq` without its real part, over the square of the norm.
fn spin_in_frame(q: &[f64; 4], k: usize) -> Vec3 {
    let squared = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
    let (v, w) = (Vec3::new(q[0], q[1], q[2]), q[3]);
    let mut unit = Vec3::zeros();
    let spin = if k == 3 {
        -v
    } else {
        unit[k] = 1.0;
        unit * w - v.cross(&unit)
    };
    spin * (2.0 / squared)
}

/// Where links are in a configuration.
#[derive(Clone, Debug)]
pub struct LinksPlaced<'a> {
    cell: &'a Cell,
    values: &'a [f64],
    frames: Vec<Pose>,
}

impl Cell {
    /// The links of all robots, with parts or without.
    pub fn link_count(&self) -> usize {
        self.placed_links.len()
    }

    /// Where the links are in a configuration that [`Kinematics::check`] accepts.
    ///
    /// [`Kinematics::check`]: super::kinematics::Kinematics::check
    pub fn links_in<'a>(&'a self, values: &'a [f64]) -> LinksPlaced<'a> {
        LinksPlaced { cell: self, values, frames: self.kinematics.place_one(values) }
    }
}

impl LinksPlaced<'_> {
    /// The links of all robots in a row, in the world.
    pub fn poses(&self) -> impl Iterator<Item = Pose> + '_ {
        self.cell.placed_links.iter().map(|link| link.placed(&self.frames))
    }

    /// Six rows of as many numbers as a configuration has: the velocity of the link's origin and
    /// its angular velocity with each joint value, in the world.
    pub fn jacobian(&self, link: usize) -> Vec<f64> {
        let (tree, link) = (self.cell.kinematics.tree(), &self.cell.placed_links[link]);
        let width = self.cell.variable_count();
        let mut rows = vec![0.0; 6 * width];
        let point = link.placed(&self.frames).translation;
        let values = |first: usize| std::array::from_fn(|k| self.values[first + k]);
        for frame in tree.chain(link.frame) {
            let freedom = &tree.frames[frame].freedom;
            joint_motions(freedom, &self.frames[frame], values, |motion| {
                let (velocity, JointMotion { spin, .. }) = (motion.velocity(&point), motion);
                for axis in 0..3 {
                    let at = axis * width + motion.variable;
                    rows[at] += motion.multiplier * velocity[axis];
                    rows[at + 3 * width] += motion.multiplier * spin[axis];
                }
            });
        }
        rows
    }
}
