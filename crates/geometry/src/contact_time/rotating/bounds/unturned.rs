//! Heights that no rotation changes: along the axis that a body turns about, or along any direction
//! for a body that does not turn. They change linearly in time, so everything about them can be
//! computed exactly. Bodies that keep to one plane across such a direction share it for good.

use crate::Vec3;
use crate::contact_time::travel::is_parallel;
use crate::motion::Motion;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::number::tolerance::LEVEL;
use crate::pair::Placed;
use crate::pair::Question;
use crate::pose::Pose;

/// Vertices of P and of Q that have exactly the same height along a direction at every time.
#[derive(Debug)]
pub(in super::super) struct SharedPlane {
    /// The two coordinates that tell the plane's points from each other.
    pub(in super::super) shown: [usize; 2],
    /// How the third coordinate falls with each of them, rounded.
    pub(in super::super) slopes: [f64; 2],
    pub(in super::super) p: Vec<u32>,
    pub(in super::super) q: Vec<u32>,
}

impl SharedPlane {
    /// The plane that the bodies share at all times, if there is one: across a coordinate axis, or
    /// across the axis that a body turns about.
    pub(in super::super) fn of(question: &Question<'_>) -> Option<Self> {
        normals(question).find_map(|n| Self::across(question, &n))
    }

    /// The plane across `normal` that these vertices of P and Q share at some time.
    pub(in super::super) fn through(normal: &Vec3, p: Vec<u32>, q: Vec<u32>) -> Self {
        let hidden = normal.iamax();
        let shown = [(hidden + 1) % 3, (hidden + 2) % 3];
        let slopes = shown.map(|k| normal[k] / normal[hidden]);
        Self { shown, slopes, p, q }
    }

    fn across(question: &Question<'_>, normal: &Vec3) -> Option<Self> {
        let (p, q) = (&question.pair.p, &question.pair.q);
        let of_p = rate_along(p, &question.motion_p, normal)?;
        let of_q = rate_along(q, &question.motion_q, normal)?;
        if (&of_q - &of_p).sign() != Sign::Zero {
            return None;
        }
        let hidden = normal.iamax();
        let upright = normal / normal[hidden];
        let (low_p, high_p) = range(p, &upright);
        let (low_q, high_q) = range(q, &upright);
        let reach = reach_along(p, &upright) + reach_along(q, &upright);
        // This looks for candidates; which vertices are in the plane is decided exactly.
        let near = |a: f64, b: f64| (a - b).abs() <= LEVEL * reach;
        let level = if near(high_p, low_q) {
            high_p
        } else if near(low_p, high_q) {
            low_p
        } else {
            return None;
        };
        let close = |placed: &Placed<'_>| -> Vec<(u32, Dyadic)> {
            (0..placed.body.vertex_count())
                .filter(|&i| near(rounded_height(placed, i, &upright), level))
                .map(|i| (i, exact_height(placed, i, normal)))
                .collect()
        };
        let (p, q) = (close(p), close(q));
        let (_, level) = p.first()?;
        let exactly_there = |all: &[(u32, Dyadic)]| -> Vec<u32> {
            all.iter().filter(|(_, h)| h == level).map(|(i, _)| *i).collect()
        };
        let plane = Self::through(normal, exactly_there(&p), exactly_there(&q));
        (!plane.q.is_empty()).then_some(plane)
    }
}

/// Directions along which a rotation may leave heights as they are: the coordinate axes, and the
/// axes that bodies turn about.
pub(in super::super) fn normals(question: &Question<'_>) -> impl Iterator<Item = Vec3> {
    let of_screw = |motion: &Motion| match motion {
        Motion::Screw { axis, angle, .. } if angle.abs() > 0.0 => Some(*axis),
        Motion::Linear { .. } | Motion::Screw { .. } | Motion::ToPose { .. } => None,
    };
    let turning = [of_screw(&question.motion_p), of_screw(&question.motion_q)];
    [Vec3::x(), Vec3::y(), Vec3::z()].into_iter().chain(turning.into_iter().flatten())
}

/// How fast the height along `normal` of every point of the body changes, exactly; `None` if a
/// rotation changes heights along it.
pub(in super::super) fn rate_along(
    placed: &Placed<'_>,
    motion: &Motion,
    normal: &Vec3,
) -> Option<Dyadic> {
    match motion {
        Motion::Linear { velocity } => Some(along_exactly(normal, velocity)),
        Motion::Screw { velocity, axis, angle, .. } => (angle.abs() <= 0.0
            || is_parallel(axis, normal))
        .then(|| along_exactly(normal, velocity)),
        Motion::ToPose { end, turn, .. } => {
            let start = &placed.pose;
            let axis = Motion::turn_to(start, end, turn).axis;
            let row = |pose: &Pose, k| along_exactly(normal, &pose.rotation.column(k).into());
            let keeps = (0..3).all(|k| row(start, k) == row(end, k)) && is_parallel(&axis, normal);
            let height = |pose: &Pose| along_exactly(normal, &pose.translation);
            keeps.then(|| &height(end) - &height(start))
        }
    }
}

/// The scalar product of a and b, exactly.
fn along_exactly(a: &Vec3, b: &Vec3) -> Dyadic {
    (0..3)
        .filter(|&k| a[k].abs() > 0.0)
        .fold(Dyadic::zero(), |sum, k| &sum + &(&Dyadic::from(a[k]) * &Dyadic::from(b[k])))
}

/// How high vertex i is along `normal` at t = 0, rounded.
pub(in super::super) fn rounded_height(placed: &Placed<'_>, i: u32, normal: &Vec3) -> f64 {
    normal.dot(&(placed.pose.rotation * placed.body.vertex(i) + placed.pose.translation))
}

/// An upper bound of the sum of the sizes of the numbers that a rounded height is a sum of.
pub(in super::super) fn reach_along(placed: &Placed<'_>, normal: &Vec3) -> f64 {
    let Pose { rotation, translation } = &placed.pose;
    normal.abs().dot(&(rotation.abs() * placed.body.bounds().reach + translation.abs()))
}

/// How high vertex i is along `normal` at t = 0, exactly.
pub(in super::super) fn exact_height(placed: &Placed<'_>, i: u32, normal: &Vec3) -> Dyadic {
    let Pose { rotation, translation } = &placed.pose;
    let v = placed.body.vertex(i);
    (0..3).fold(along_exactly(normal, translation), |sum, k| {
        &sum + &(&along_exactly(normal, &rotation.column(k).into()) * &Dyadic::from(v[k]))
    })
}

fn range(placed: &Placed<'_>, normal: &Vec3) -> (f64, f64) {
    (0..placed.body.vertex_count())
        .map(|i| rounded_height(placed, i, normal))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)))
}
