//! Where a chain of joints puts its frames, and how far they get along a path: by the formulas of
//! `docs/robots.md`, from the numbers of the tree.

use super::Middle;
use crate::tree::{Drive, Freedom, Tree, TreeFrame};
use clearance_proof::number::rounding::{BOUND_SLACK, UNIT};
use clearance_proof::number::trig_lanes::{ANGLE_MAX, sine_and_versine};
use clearance_proof::pose::Pose;
use clearance_proof::{Mat3, Vec3};

/// Row times column, summed from left to right.
fn row_times(m: &Mat3, row: usize, v: &Vec3) -> f64 {
    (m[(row, 0)] * v.x + m[(row, 1)] * v.y) + m[(row, 2)] * v.z
}

fn times(a: &Mat3, b: &Mat3) -> Mat3 {
    Mat3::from_fn(|i, k| row_times(a, i, &b.column(k).into_owned()))
}

/// The pose of what is at `inner` in a frame that is at `outer`.
pub(super) fn carried(outer: &Pose, inner: &Pose) -> Pose {
    let turned = Vec3::from_fn(|i, _| row_times(&outer.rotation, i, &inner.translation));
    Pose {
        rotation: times(&outer.rotation, &inner.rotation),
        translation: turned + outer.translation,
    }
}

fn driven(by: &Drive, values: &[f64]) -> f64 {
    by.multiplier * values[by.variable] + by.offset
}

/// Where the frame is in that of its parent.
fn local(origin: &Pose, freedom: &Freedom, values: &[f64]) -> Pose {
    let mut placed = *origin;
    match freedom {
        Freedom::Turn { axis, by } => {
            let [sine, versine] = sine_and_versine(&[driven(by, values)]);
            let cross = Mat3::new(0.0, -axis.z, axis.y, axis.z, 0.0, -axis.x, -axis.y, axis.x, 0.0);
            let by_sine = times(&origin.rotation, &cross);
            let by_versine = times(&by_sine, &cross);
            placed.rotation += by_sine * sine[0] + by_versine * versine[0];
        }
        Freedom::Slide { axis, by } => {
            let x = driven(by, values);
            placed.translation += Vec3::from_fn(|i, _| row_times(&origin.rotation, i, axis) * x);
        }
        Freedom::Ball { variable } => {
            let q = &values[*variable..*variable + 4];
            let turned = Pose::from_quaternion(Vec3::zeros(), [q[3], q[0], q[1], q[2]]);
            let turned = turned.map_or(Mat3::identity(), |pose| pose.rotation);
            placed.rotation = times(&origin.rotation, &turned);
        }
    }
    placed
}

/// Every frame of the tree in a configuration.
pub(super) fn place(tree: &Tree, values: &[f64]) -> Vec<Pose> {
    let mut placed: Vec<Pose> = Vec::with_capacity(tree.frames.len());
    for frame in &tree.frames {
        let own = local(&frame.parent_from_joint, &frame.freedom, values);
        let pose = match frame.parent {
            None => own,
            Some(parent) => carried(&placed[parent], &own),
        };
        placed.push(pose);
    }
    placed
}

/// Points of a frame, as far as their motion is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) frame: Option<usize>,
    /// No point is farther from the frame's origin.
    pub(super) lever: f64,
    /// A ball around them, in the frame.
    pub(super) centre: Vec3,
    pub(super) radius: f64,
    /// By how much a length in the frame may be longer in the world.
    pub(super) stretch: f64,
}

/// By how much a matrix makes a length longer at most: half of the greatest sum of absolute values
/// in a row of `MᵀM - 1`, each entry of which rounds by less than 5u.
fn stretch(m: &Mat3) -> f64 {
    let entry = |i: usize, k: usize| {
        let product = row_times(&m.transpose(), i, &m.column(k).into_owned());
        if i == k { (product - 1.0).abs() } else { product.abs() }
    };
    let row = |i: usize| entry(i, 0) + entry(i, 1) + entry(i, 2);
    1.0 + 0.5 * (row(0).max(row(1)).max(row(2)) + 16.0 * UNIT)
}

/// The product of the stretches of all origins from a frame to the base.
pub(super) fn stretch_to_world(tree: &Tree, frame: Option<usize>) -> f64 {
    tree.chain(frame).map(|k| stretch(&tree.frames[k].parent_from_joint.rotation)).product()
}

impl Load {
    /// The middle of the least box around some placed points, and how far they are from it and from
    /// the origin.
    pub(super) fn of(tree: &Tree, frame: Option<usize>, pose: &Pose, points: &[Vec3]) -> Self {
        let placed =
            |v: &Vec3| Vec3::from_fn(|i, _| row_times(&pose.rotation, i, v) + pose.translation[i]);
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for v in points.iter().map(placed) {
            (low, high) = (low.inf(&v), high.sup(&v));
        }
        let centre = low + (high - low) * 0.5;
        let farthest =
            |from: &Vec3| points.iter().map(|v| (placed(v) - from).norm()).fold(0.0, f64::max);
        let size = farthest(&Vec3::zeros());
        let slack = size * BOUND_SLACK;
        let (lever, radius) = (size + slack, farthest(&centre) + slack);
        Self { frame, lever, centre, radius, stretch: stretch_to_world(tree, frame) }
    }
}

/// A path in the joint values.
#[derive(Debug)]
pub(super) struct PathRates {
    /// By frame: how fast it turns or slides, signed.
    rates: Vec<f64>,
    /// By frame: by how much its origin stretches.
    stretches: Vec<f64>,
    /// By frame: the joint's greatest absolute value on the way, with the offset of a mimic.
    farthest: Vec<f64>,
}

impl PathRates {
    /// None: a quaternion changes, or a value is out of the range that joints understand.
    pub(super) fn between(tree: &Tree, [from, to]: [&[f64]; 2]) -> Option<Self> {
        let of_origin = |frame: &TreeFrame| stretch(&frame.parent_from_joint.rotation);
        let stretches = tree.frames.iter().map(of_origin).collect();
        let mut path = Self { rates: Vec::new(), stretches, farthest: Vec::new() };
        for frame in &tree.frames {
            let (rate, far) = match &frame.freedom {
                Freedom::Turn { by, .. } | Freedom::Slide { by, .. } => {
                    let (a, b) = (driven(by, from), driven(by, to));
                    (b - a, a.abs().max(b.abs()) + by.offset.abs())
                }
                Freedom::Ball { variable } => {
                    let four = *variable..*variable + 4;
                    let bits = |values: &[f64]| {
                        values[four.clone()].iter().map(|q| q.to_bits()).collect::<Vec<_>>()
                    };
                    if bits(from) != bits(to) {
                        return None;
                    }
                    (0.0, 1.0)
                }
            };
            if far.is_nan() || far > ANGLE_MAX {
                return None;
            }
            path.rates.push(rate);
            path.farthest.push(far);
        }
        Some(path)
    }

    /// How much farther from its computed place than by motion a point may be, metres: three times
    /// the sum of 40u of the reach for each frame's rotation, 4u for its place, 8u for its sine and
    /// 4u for the joint values.
    pub(super) fn rounding(&self, tree: &Tree, load: &Load) -> f64 {
        let (mut lever, mut turned, mut frames) = (load.lever, 0.0, 2.0);
        for k in tree.chain(load.frame) {
            frames += 1.0;
            match tree.frames[k].freedom {
                Freedom::Turn { .. } => turned += (self.farthest[k] + 4.0) * lever,
                Freedom::Ball { .. } => turned += 4.0 * lever,
                Freedom::Slide { .. } => {
                    turned += self.farthest[k];
                    lever += self.farthest[k];
                }
            }
            lever = lever * self.stretches[k] + tree.frames[k].parent_from_joint.translation.norm();
        }
        UNIT * (160.0 * frames * lever + 16.0 * turned)
    }

    /// At least how fast points get away from where they are in the middle of a piece, in the mean
    /// over half of it, as seen from a frame that carries theirs: no more than the reach of the
    /// chain allows, and no more than their speed in the middle and half of what it can grow by.
    /// All are lengths in the world, which every origin on the way there may stretch. The axes in
    /// the middle make the speed there that of a rigid body, which a stretched one is but for four
    /// times what it is stretched by.
    pub(super) fn speed(
        &self,
        tree: &Tree,
        load: &Load,
        seen_from: Option<usize>,
        middle: &Middle,
    ) -> f64 {
        let (placed, half) = (&middle.frames, middle.half);
        let (mut lever, mut most, mut growth) = (load.lever, 0.0, 0.0);
        let (mut velocity, mut spin) = (Vec3::zeros(), Vec3::zeros());
        let Some(own) = load.frame else { return 0.0 };
        let world =
            |frame: usize, v: &Vec3| Vec3::from_fn(|i, _| row_times(&placed[frame].rotation, i, v));
        let centre = world(own, &load.centre) + placed[own].translation;
        let mut is_seen = true;
        for k in tree.chain(load.frame) {
            is_seen &= Some(k) != seen_from;
            if !is_seen {
                (most, growth) = (most * self.stretches[k], growth * self.stretches[k]);
                continue;
            }
            let rate = self.rates[k];
            match &tree.frames[k].freedom {
                Freedom::Turn { axis, .. } => {
                    growth += rate.abs() * (rate.abs() * lever + 2.0 * most);
                    most += rate.abs() * lever;
                    let turning = world(k, axis) * rate;
                    velocity += turning.cross(&(centre - placed[k].translation));
                    spin += turning;
                }
                Freedom::Slide { axis, .. } => {
                    most += rate.abs();
                    velocity += world(k, axis) * rate;
                    lever += self.farthest[k];
                }
                Freedom::Ball { .. } => {}
            }
            lever = lever * self.stretches[k] + tree.frames[k].parent_from_joint.translation.norm();
            (most, growth) = (most * self.stretches[k], growth * self.stretches[k]);
        }
        let skew = 4.0 * (load.stretch - 1.0);
        let now = velocity.norm()
            + spin.norm() * load.radius * load.stretch
            + most * (skew + BOUND_SLACK);
        most.min(now + 0.5 * half * growth) * (1.0 + BOUND_SLACK)
    }

    /// At least how fast points get higher or lower along a direction, in the mean over half of a
    /// piece: no more than the tilts of the axes allow at any time, and no more than in the middle
    /// and half of what that can grow by. A joint changes heights by its speed times its tilt, the
    /// product of the direction with its axis, times the lever; and what joints do to the direction
    /// as others see it, tilts these. See `docs/robots.md`.
    pub(super) fn speed_along(
        &self,
        tree: &Tree,
        load: &Load,
        seen: &SeenHeights,
        middle: &Middle,
    ) -> f64 {
        let (placed, half) = (&middle.frames, middle.half);
        let Some(own) = load.frame else { return 0.0 };
        let tilts = self.tilts(tree, load, seen, middle);
        let world =
            |frame: usize, v: &Vec3| Vec3::from_fn(|i, _| row_times(&placed[frame].rotation, i, v));
        let centre = world(own, &load.centre) + placed[own].translation;
        let skew = 4.0 * (load.stretch - 1.0) + BOUND_SLACK;
        let (mut lever, mut most, mut growth) = (load.lever, 0.0, 0.0);
        let (mut steepest, mut off) = (0.0, 0.0);
        let (mut rise, mut gradient) = (0.0, Vec3::zeros());
        for tilt in tilts.iter().rev() {
            let k = tilt.frame;
            let rate = self.rates[k];
            let wrong = 16.0 * tilt.error + skew * tilt.now.norm();
            match &tree.frames[k].freedom {
                Freedom::Turn { .. } => {
                    growth += rate.abs() * tilt.most * (rate.abs() * lever + 2.0 * most);
                    steepest += rate.abs() * tilt.most * lever;
                    off += rate.abs() * wrong * lever;
                    let turning = world(k, &tilt.now) * rate;
                    rise += turning.dot(&(centre - placed[k].translation));
                    gradient += turning;
                    most += rate.abs() * lever;
                }
                Freedom::Slide { .. } => {
                    steepest += rate.abs() * tilt.most;
                    off += rate.abs() * wrong;
                    rise += tilt.now.x * rate;
                    most += rate.abs();
                    lever += self.farthest[k];
                }
                Freedom::Ball { .. } => {}
            }
            lever = lever * self.stretches[k] + tree.frames[k].parent_from_joint.translation.norm();
            most *= self.stretches[k];
        }
        let now = rise.abs() + gradient.norm() * load.radius * load.stretch + off;
        steepest.min(now + 0.5 * half * growth) * (1.0 + BOUND_SLACK)
    }

    /// The tilts of the joints below the frame that heights are seen from, from there on.
    fn tilts(&self, tree: &Tree, load: &Load, seen: &SeenHeights, middle: &Middle) -> Vec<Tilt> {
        let mut chain: Vec<usize> = tree.chain(load.frame).collect();
        chain.reverse();
        let (mut frames, mut turned, mut swing) = (2.0, 0.0, 0.0);
        let mut tilts = Vec::with_capacity(chain.len());
        for k in chain {
            let freedom = &tree.frames[k].freedom;
            frames += 1.0;
            turned += match freedom {
                Freedom::Turn { .. } => self.farthest[k] + 4.0,
                Freedom::Ball { .. } => 4.0,
                Freedom::Slide { .. } => 0.0,
            };
            if Some(k) == seen.seen_from {
                swing = 0.0;
                tilts.clear();
                continue;
            }
            let transposed = middle.frames[k].rotation.transpose();
            let there = Vec3::from_fn(|i, _| row_times(&transposed, i, &seen.along));
            let now = match freedom {
                Freedom::Turn { axis, .. } => there.cross(axis),
                Freedom::Slide { axis, .. } => Vec3::new(there.dot(axis), 0.0, 0.0),
                Freedom::Ball { .. } => Vec3::zeros(),
            };
            let error = UNIT * (160.0 * frames + 16.0 * turned);
            let swung = now.norm() + error + middle.half * load.stretch * swing;
            let most = swung.min(load.stretch * (1.0 + BOUND_SLACK));
            if let Freedom::Turn { .. } = freedom {
                swing += self.rates[k].abs() * most;
            }
            tilts.push(Tilt { frame: k, now, error, most });
        }
        tilts
    }
}

/// How heights are measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenHeights {
    /// From a frame where the middle of the piece finds it; none: from the base.
    pub(super) seen_from: Option<usize>,
    /// A unit vector in the world.
    pub(super) along: Vec3,
}

/// How a joint changes heights.
struct Tilt {
    frame: usize,
    /// The product of the direction, as the frame sees it, with its axis; of what slides its first
    /// coordinate.
    now: Vec3,
    /// By how much that may be wrong.
    error: f64,
    /// Its length at any time of the piece, at most.
    most: f64,
}
