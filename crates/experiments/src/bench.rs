//! What the experiments share: shapes in random attitudes at a wanted distance, counts and times.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use super::{Curve, Panel};
use clearance_geometry::effort::{Cost, Effort};
use clearance_geometry::hull::samples::Random;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{CollisionMethod, METHODS};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, penetration};

/// Repetitions of a timed query; the fastest counts, so that interruptions do not.
const REPETITIONS: u32 = 3;

/// An attitude drawn evenly from all rotations, without translation.
pub(super) fn attitude(random: &mut Random) -> Pose {
    // A uniform point of the unit ball in four dimensions has a uniform direction there.
    loop {
        let q: [f64; 4] = std::array::from_fn(|_| random.between(-1.0, 1.0));
        let square: f64 = q.iter().map(|c| c * c).sum();
        if square <= 1.0
            && square > 0.01
            && let Ok(pose) = Pose::from_quaternion(Vec3::zeros(), q)
        {
            return pose;
        }
    }
}

/// Two bodies in given attitudes, and where Q's origin is on the x axis when they make contact.
pub(super) struct Approach<'a> {
    bodies: [&'a Polytope; 2],
    poses: [Pose; 2],
    contact_x: f64,
}

impl<'a> Approach<'a> {
    /// P stays at the origin; Q comes along the x axis from beyond it.
    pub(super) fn new(bodies: [&'a Polytope; 2], poses: [Pose; 2]) -> Self {
        let reach = |body: &Polytope| body.vertices().iter().map(|v| v.norm()).fold(0.0, f64::max);
        let far = 2.0 * (reach(bodies[0]) + reach(bodies[1]));
        let mut approach = Self { bodies, poses, contact_x: far };
        let pair = approach.at(0.0);
        let mut effort = Effort::unlimited();
        let found = penetration::along(&pair, &Vec3::x(), &mut Witness::default(), &mut effort);
        let enter = found.ok().and_then(|range| range.span).map_or(far, |span| span.enter[0]);
        approach.contact_x = far - enter;
        approach
    }

    /// The pair at a signed distance: Q makes first contact when it is moved by `-distance` along
    /// x, which is negative for overlapping bodies, as on the papers' axes.
    pub(super) fn at(&self, distance: f64) -> Pair<'a> {
        let [p, q] = self.bodies;
        let [pose_p, mut pose_q] = self.poses;
        pose_q.translation = Vec3::x() * (self.contact_x + distance);
        Pair::new(p, pose_p, q, pose_q)
    }
}

/// What one query took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// Time of the fastest repetition.
    pub(super) microseconds: f64,
    /// Operations, which are the same in every repetition.
    pub(super) cost: Cost,
}

/// Runs a cold query a few times.
pub(super) fn take(query: impl FnMut(&mut Effort<'_>)) -> Taken {
    take_within(u64::MAX, query)
}

/// Runs a cold query a few times, for at most so many steps.
pub(super) fn take_within(steps: u64, mut query: impl FnMut(&mut Effort<'_>)) -> Taken {
    let mut taken = Taken { microseconds: f64::INFINITY, cost: Cost::default() };
    for _ in 0..REPETITIONS {
        let mut effort = Effort::with_steps(steps);
        let start = Instant::now();
        query(black_box(&mut effort));
        taken.microseconds = taken.microseconds.min(start.elapsed().as_secs_f64() * 1e6);
        taken.cost = effort.cost;
    }
    taken
}

/// The methods of these names that tell separated from overlapping, in the order of the table.
pub(super) fn separation_methods(names: &[&str]) -> Vec<&'static CollisionMethod> {
    METHODS.iter().filter(|row| names.contains(&row.name)).collect()
}

/// A method's search alone, cold: no test of bounding balls, no proof.
pub(super) fn search(method: &CollisionMethod, pair: &Pair<'_>) -> Taken {
    take(|effort| {
        // Without a budget nothing stops it.
        let _ = method.propose(pair, &mut Witness::default(), effort);
    })
}

/// Two panels over one axis: operations, and beside them times.
pub(super) fn counts_and_times(
    x_axis: &'static str,
    names: &[&str],
    counted: &str,
    counts: &'static str,
    times: &'static str,
) -> Vec<Panel> {
    let panel = |title: &str, y_axis| Panel {
        title: title.to_owned(),
        x_axis,
        y_axis,
        curves: curves(names),
        ..Panel::default()
    };
    vec![panel(counted, counts), panel("Time on this machine", times)]
}

/// Sums gathered by panel, curve and x; each point of a curve is the mean.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    sums: BTreeMap<(usize, usize, u64), (f64, u64)>,
}

impl Gathered {
    /// One more value of a curve at `x`.
    pub(super) fn add(&mut self, panel: usize, curve: usize, x: f64, value: f64) {
        let (sum, count) = self.sums.entry((panel, curve, ordered(x))).or_default();
        *sum += value;
        *count += 1;
    }

    /// Fills `panels`, which have their curves' names already, with means.
    pub(super) fn into_panels(self, mut panels: Vec<Panel>) -> Vec<Panel> {
        for ((panel, curve, x), (sum, count)) in self.sums {
            panels[panel].curves[curve].points.push((unordered(x), sum / count as f64));
        }
        panels
    }
}

/// Curves without points yet.
pub(super) fn curves(names: &[&str]) -> Vec<Curve> {
    names.iter().map(|name| Curve { name: (*name).to_owned(), points: Vec::new() }).collect()
}

/// Bits that are ordered as the numbers are.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    if x.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

fn unordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 0 { !bits } else { bits & !(1 << 63) })
}
