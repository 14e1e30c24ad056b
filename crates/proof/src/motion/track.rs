//! One body's motion in the form that every motion has here, with enclosures.
//!
//! All three motions are
//! `x(t) = t0 + R v + u t + (Rot(a, θ t) - 1)(R v + l) + t E v`
//! with the *lever* `l = t0 - c` from the pivot to the body's origin, the velocity u, the axis a of
//! length 1 and the *residue* E (zero but for motions to a pose). The rotation enters by what it
//! changes, so a far pivot and a small angle do not cancel: `(Rot(a, φ) - 1) w = sin φ (a × w) +
//! (1 - cos φ) (a × (a × w))`.
//!
//! Nor do points that all lie far from their body's origin lose their digits: they are counted from
//! a *centre* m among them, so that `v - m` takes v's part and `R m + t0` that of t0. Both are
//! exact.

use super::Motion;
use super::units::{Home, METRES, SCALING_SLACK, Units};
use crate::number::interval::{
    self, Interval, IntervalVec, add, cross, dot_exact, norm, scaled, sub,
};
use crate::number::rounding::{SQUARES, UNIT};
use crate::number::scale::PowerOfTwo;
use crate::number::trig::Trig;
use crate::pose::Pose;
use crate::{Mat3, Vec3};

/// See the module. Lengths are in metres, or in metres times `scale` if there is one.
#[derive(Clone, Debug)]
pub struct Track {
    rotation: Mat3,
    /// None for metres from the body's origin.
    pub(super) units: Option<Units>,
    /// `l`, from the pivot to the body's centre.
    pub lever: IntervalVec,
    /// `u`, per step.
    pub velocity: IntervalVec,
    axis: IntervalVec,
    /// θ, radians per step; 0 when the body does not turn.
    pub angle: f64,
    residue: Option<[IntervalVec; 3]>,
}

const NOWHERE: IntervalVec = [Interval::ZERO; 3];

impl Track {
    /// The motion from `pose`, in these units.
    pub fn new(pose: &Pose, motion: &Motion, units: Units) -> Self {
        let mut track = Self {
            rotation: pose.rotation,
            units: (units != METRES).then_some(units),
            lever: NOWHERE,
            velocity: NOWHERE,
            axis: NOWHERE,
            angle: 0.0,
            residue: None,
        };
        let home = Home { pose: *pose, centre: units.centre };
        let lever_from = |pivot: &Option<Vec3>| match pivot {
            None if units.centre == Vec3::zeros() => NOWHERE,
            Some(c) if units == METRES => {
                sub(&interval::point(&pose.translation), &interval::point(c))
            }
            pivot => {
                let at = Pose { translation: pivot.unwrap_or(pose.translation), ..*pose };
                units.difference(&home, &Home { pose: at, centre: Vec3::zeros() })
            }
        };
        match motion {
            Motion::Linear { velocity } => track.velocity = times(velocity, units.scale),
            Motion::Screw { pivot, velocity, axis, angle } => {
                track.lever = lever_from(pivot);
                track.velocity = times(velocity, units.scale);
                track.turn_about(axis, *angle);
            }
            Motion::ToPose { end, pivot, turn } => {
                track.lever = lever_from(pivot);
                let turn = Motion::turn_to(pose, end, turn);
                track.turn_about(&turn.axis, turn.angle);
                track.end_at(&home, end);
            }
        }
        track
    }

    fn turn_about(&mut self, axis: &Vec3, angle: f64) {
        let largest = axis.amax();
        if largest > 0.0 && angle.abs() > 0.0 {
            self.axis = along_unit(axis, largest);
            self.angle = angle;
        }
    }

    /// The velocity and the residue that make x(1) the end pose.
    fn end_at(&mut self, home: &Home, end: &Pose) {
        let trig = Trig::of_product(self.angle, 1.0);
        let lever_turned = self.turned_less(&trig, &self.lever);
        let travel = match self.units {
            // Exact when the difference is an f64.
            None => std::array::from_fn(|i| {
                Interval::difference(end.translation[i], home.pose.translation[i])
            }),
            Some(units) => units.difference(&Home { pose: *end, ..*home }, home),
        };
        self.velocity = sub(&travel, &lever_turned);
        let columns: [IntervalVec; 3] = std::array::from_fn(|k| {
            let from = interval::point(&self.rotation.column(k).into());
            let to = interval::point(&end.rotation.column(k).into());
            sub(&sub(&to, &from), &self.turned_less(&trig, &from))
        });
        let moved = columns.iter().flatten().any(|x| x.magnitude() > 0.0);
        // Rows, so that a row times v is a coordinate.
        self.residue =
            moved.then(|| std::array::from_fn(|i| std::array::from_fn(|k| columns[k][i])));
    }

    /// The sine and cosine of the angle at time t.
    #[inline]
    pub fn trig(&self, t: f64) -> Trig {
        Trig::of_product(self.angle, t)
    }

    /// Whether the body turns.
    #[inline]
    pub fn turns(&self) -> bool {
        self.angle.abs() > 0.0
    }

    /// The unit axis.
    #[inline]
    pub fn axis(&self) -> &IntervalVec {
        &self.axis
    }

    /// `θ a`, radians per step.
    pub fn spin(&self) -> IntervalVec {
        self.axis.map(|c| c.scale(self.angle))
    }

    /// `(Rot(t) - 1) w`
    #[inline]
    pub fn turned_less(&self, trig: &Trig, w: &IntervalVec) -> IntervalVec {
        if !self.turns() {
            return NOWHERE;
        }
        let once = cross(&self.axis, w);
        let twice = cross(&self.axis, &once);
        add(&scaled(&once, trig.sine), &scaled(&twice, trig.versine))
    }

    /// `(Rot(-t) - 1) w`
    #[inline]
    pub fn turned_back_less(&self, trig: &Trig, w: &IntervalVec) -> IntervalVec {
        self.turned_less(&Trig { sine: -trig.sine, ..*trig }, w)
    }

    /// `R v`, in this track's units.
    #[inline]
    pub fn turned_vertex(&self, v: &Vec3) -> IntervalVec {
        let v = self.local(v);
        let row = |i: usize| dot_exact(&self.row(i), &v);
        [row(0), row(1), row(2)].map(|c| self.with_slack(c))
    }

    /// `x(t) - (R m + t0)` of vertex v.
    pub fn place_from_start(&self, trig: &Trig, t: f64, v: &Vec3) -> IntervalVec {
        let turned = self.turned_vertex(v);
        let drift = self.velocity.map(|c| c.scale(t));
        let turn = self.turned_less(trig, &add(&turned, &self.lever));
        let x = add(&add(&turned, &drift), &turn);
        match &self.residue {
            None => x,
            Some(_) => add(&x, &self.residue_of(v).map(|c| c.scale(t))),
        }
    }

    /// `E v`
    pub fn residue_of(&self, v: &Vec3) -> IntervalVec {
        let Some(rows) = &self.residue else { return NOWHERE };
        let v = self.local(v);
        [0, 1, 2].map(|i| self.with_slack(dot_exact(&rows[i], &v)))
    }

    /// `Rᵀ w`
    #[inline]
    pub fn to_body(&self, w: &IntervalVec) -> IntervalVec {
        let r = &self.rotation;
        let column = |k: usize| dot_exact(w, &Vec3::new(r[(0, k)], r[(1, k)], r[(2, k)]));
        [column(0), column(1), column(2)]
    }

    /// `Eᵀ w`
    #[inline]
    pub fn residue_to_body(&self, w: &IntervalVec) -> IntervalVec {
        let Some(e) = &self.residue else { return NOWHERE };
        let column = |k: usize| (e[0][k] * w[0] + e[1][k] * w[1]) + e[2][k] * w[2];
        [column(0), column(1), column(2)]
    }

    /// Whether there is a residue.
    pub fn has_residue(&self) -> bool {
        self.residue.is_some()
    }

    /// `v` in this track's units, up to [`Self::slack`] per coordinate.
    #[inline]
    pub fn local(&self, v: &Vec3) -> Vec3 {
        match &self.units {
            None => *v,
            Some(units) => units.local(v),
        }
    }

    /// Whether its lengths are in metres from the body's origin: [`Self::local`] changes nothing.
    #[inline]
    pub fn is_in_metres(&self) -> bool {
        self.units.is_none()
    }

    /// At least the largest absolute coordinate, per axis, of the points in a box in this track's
    /// units, up to [`Self::slack`].
    pub fn reach(&self, low: &Vec3, high: &Vec3) -> Vec3 {
        self.local(low).abs().sup(&self.local(high).abs())
    }

    /// A length in this track's unit, up to [`Self::slack`].
    pub fn length(&self, metres: f64) -> f64 {
        self.scale().map_or(metres, |scale| scale.times(metres))
    }

    fn scale(&self) -> Option<PowerOfTwo> {
        self.units.and_then(|units| units.scale)
    }

    /// What [`Self::local`] may be off by, per coordinate.
    #[inline]
    pub fn slack(&self) -> f64 {
        if self.scale().is_some() { SCALING_SLACK } else { 0.0 }
    }

    #[inline]
    fn with_slack(&self, c: Interval) -> Interval {
        if self.scale().is_some() { c + Interval::around(0.0, 8.0 * SCALING_SLACK) } else { c }
    }

    fn row(&self, i: usize) -> IntervalVec {
        let r = &self.rotation;
        [r[(i, 0)], r[(i, 1)], r[(i, 2)]].map(Interval::point)
    }

    /// `R`
    #[inline]
    pub fn rotation(&self) -> &Mat3 {
        &self.rotation
    }

    /// The rows of E, if there is a residue.
    #[inline]
    pub fn residue(&self) -> Option<&[IntervalVec; 3]> {
        self.residue.as_ref()
    }
}

/// The vector of length 1 along `axis`, whose largest component has this size.
///
/// The square of the length rounds by less than 3u relative, its root by half of that and u, a
/// quotient by u: less than 4u in all, and the underflow of a component that is far below the
/// others.
fn along_unit(axis: &Vec3, largest: f64) -> IntervalVec {
    if axis.iter().filter(|c| c.abs() > 0.0).count() == 1 {
        // A coordinate axis is exact.
        return [axis.x, axis.y, axis.z]
            .map(|c| Interval::point(if c.abs() > 0.0 { c.signum() } else { 0.0 }));
    }
    let squared = axis.norm_squared();
    if SQUARES.contains(&squared) {
        let length = squared.sqrt();
        let along = |c: f64| {
            let part = c / length;
            Interval::around(part, 4.0 * UNIT * part.abs())
        };
        // One by one: mapped as an array, each would be a call.
        return [along(axis.x), along(axis.y), along(axis.z)];
    }
    // Division by the largest component keeps squares clear of overflow and underflow.
    let part = |x: f64| {
        let ratio = x / largest;
        Interval::new(ratio.next_down(), ratio.next_up())
    };
    let parts = [part(axis.x), part(axis.y), part(axis.z)];
    let shrink = norm(&parts).reciprocal_of_positive();
    parts.map(|part| part * shrink)
}

/// An exact vector in scaled units; the slack of scaling is below one unit in the last place or
/// below the smallest number, which the rounding outward covers.
fn times(v: &Vec3, scale: Option<PowerOfTwo>) -> IntervalVec {
    match scale {
        None => interval::point(v),
        Some(scale) => [v.x, v.y, v.z].map(|x| {
            let y = scale.times(x);
            Interval::new(y.next_down(), y.next_up())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::dyadic::Dyadic;
    use clearance_geometry::hull::samples::Random;

    fn random_pose(random: &mut Random) -> Pose {
        let q = [(); 4].map(|()| random.between(-1.0, 1.0));
        Pose::from_quaternion(random.in_ball() * 10.0, q).expect("not zero")
    }

    /// `R v + t` minus the start's translation, exactly.
    fn exact(pose: &Pose, v: &Vec3, start: &Vec3) -> [Dyadic; 3] {
        [0, 1, 2].map(|i| {
            let product = |k: usize| &Dyadic::from(pose.rotation[(i, k)]) * &Dyadic::from(v[k]);
            let turned = &(&product(0) + &product(1)) + &product(2);
            &(&turned + &Dyadic::from(pose.translation[i])) - &Dyadic::from(start[i])
        })
    }

    fn assert_encloses(place: &IntervalVec, exact: &[Dyadic; 3], width: f64) {
        for (interval, exact) in place.iter().zip(exact) {
            let (low, high) = (Dyadic::from(interval.low()), Dyadic::from(interval.high()));
            assert!(low <= *exact && *exact <= high, "{interval:?}");
            assert!(interval.high() - interval.low() <= width, "{interval:?}");
        }
    }

    #[test]
    fn a_motion_to_a_pose_starts_and_ends_at_exactly_the_given_poses() {
        let mut random = Random::new(11);
        for round in 0..300 {
            let (start, mut end) = (random_pose(&mut random), random_pose(&mut random));
            if round % 3 == 0 {
                // Half turns, and no turn at all.
                end.rotation = start.rotation;
                if round % 2 == 0 {
                    end.rotation.column_mut(0).neg_mut();
                    end.rotation.column_mut(1).neg_mut();
                }
            }
            let pivot = (round % 2 == 1).then(|| random.in_ball() * 20.0);
            let track = Track::new(&start, &Motion::ToPose { end, pivot, turn: None }, METRES);
            let v = random.in_ball();
            let at = |t: f64| track.place_from_start(&track.trig(t), t, &v);
            assert_encloses(&at(0.0), &exact(&start, &v, &start.translation), 1e-13);
            assert_encloses(&at(1.0), &exact(&end, &v, &start.translation), 2e-12);
        }
    }

    #[test]
    fn a_quarter_turn_about_a_pivot_takes_each_point_where_it_belongs() {
        let motion = Motion::Screw {
            pivot: Some(Vec3::new(1.0, 0.0, 0.0)),
            velocity: Vec3::new(0.0, 0.0, 2.0),
            axis: Vec3::new(0.0, 0.0, 1e-200),
            angle: std::f64::consts::FRAC_PI_2,
        };
        let track = Track::new(&Pose::translation(3.0, 0.0, 0.0), &motion, METRES);
        // (3, 1, 0) turns about (1, 0, 0) to (0, 2, 0) and rises by 2.
        let place = track.place_from_start(&track.trig(1.0), 1.0, &Vec3::new(0.0, 1.0, 0.0));
        let place = interval::middle(&place) + Vec3::new(3.0, 0.0, 0.0);
        assert!((place - Vec3::new(0.0, 2.0, 2.0)).norm() < 1e-14, "{place}");
    }
}
