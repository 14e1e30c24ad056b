//! One body's motion in plain floating point, with bounds on what rounding costs: ten times as fast
//! as enclosures, and where a gap is far above those bounds just as good a proof.
//!
//! The numbers are the middles of the [`Track`]'s enclosures; what they may be off by (the
//! *slacks*) enters the bounds. With u the unit round-off, α the slack of a coordinate of the axis
//! and `κ = min(1, |θ|)`:
//!
//! - a coordinate of `a × w` has two products and a difference: it errs by at most
//!   `(5u + 2α) |w|`; one of `a × (a × w)` by at most `(15u + 6α) |w|`;
//! - sine and versine err by `8uκ` and `12uκ` and are at most κ and 2κ;
//! - so a coordinate of `(Rot - 1) w = sin (a × w) + vers (a × (a × w))` errs by at most
//!   `κ (5u + 2α + 30u + 12α + 20u + 9u) |w| <= κ (64u + 14α) |w|`, and the vector by less than
//!   [`Plain::turn_error`] `|w|`, which leaves room for second-order terms and for R, whose columns
//!   are longer than 1 by up to 10⁻⁶.

use super::track::Track;
use crate::number::interval::{self, Interval, IntervalVec};
use crate::number::rounding::{UNDERFLOW, UNIT, length};
use crate::number::tolerance;
use crate::number::trig::RoundedTrig;
use crate::{Mat3, Vec3};

/// Up to this many vertices, looking at all of them for an extent costs less than a step.
pub const SCANNED_MAX: u32 = 32;
/// More than all the products that underflow can add to a sum here: fewer than four thousand, each
/// by less than [`UNDERFLOW`]. In units of a velocity of 1e250 a body of one metre is only 1e70
/// times as long as this.
pub const UNDERFLOWN: f64 = 4096.0 * UNDERFLOW;

/// See the module.
#[derive(Clone, Debug)]
pub struct Plain {
    rotation: Mat3,
    /// E, what a motion to a pose adds to the rotation linearly in t.
    pub residue: Option<Mat3>,
    /// `a × R` and `a × (a × R)`, and the same of the lever: what the sine and the versine bring
    /// in.
    rotation_turned: [Mat3; 2],
    lever_turned: [Vec3; 2],
    /// The unit axis, zero when the body does not turn.
    pub axis: Vec3,
    /// θ, radians per step.
    pub angle: f64,
    /// From the pivot to the body's centre, from which its vertices are counted here.
    pub lever: Vec3,
    /// The length of the lever, rounded.
    pub lever_length: f64,
    /// Per step.
    pub velocity: Vec3,
    /// The length of the velocity, rounded.
    pub velocity_length: f64,
    /// `(Rot - 1) w` and `(Rot(-t) - 1) w` err by at most this times |w|.
    pub turn_error: f64,
    /// What a coordinate of the axis may be off by.
    pub axis_slack: f64,
    /// What a coordinate of the lever may be off by.
    pub lever_slack: f64,
    /// What a coordinate of the velocity may be off by.
    pub velocity_slack: f64,
    /// What an entry of the residue may be off by.
    pub residue_slack: f64,
    /// What scaling into the units of the track may add to a length.
    pub scaling_slack: f64,
}

/// What the middles may be off by; 0 where the coordinates are exact.
fn slack(v: &IntervalVec) -> f64 {
    let one = |c: &Interval| {
        let width = c.high() - c.low();
        if width > 0.0 { 0.5 * width + 2.0 * UNIT * c.magnitude() } else { 0.0 }
    };
    v.iter().map(one).fold(0.0, f64::max)
}

impl Plain {
    /// The rounded numbers of this track.
    pub fn new(track: &Track) -> Self {
        let axis_slack = slack(track.axis());
        let residue = track.residue();
        let (rotation, axis) = (*track.rotation(), interval::middle(track.axis()));
        let lever = interval::middle(&track.lever);
        let velocity = interval::middle(&track.velocity);
        let turned = |m: &Mat3| {
            let of = |k: usize| axis.cross(&m.column(k));
            Mat3::from_columns(&[of(0), of(1), of(2)])
        };
        let rotation_once = turned(&rotation);
        let lever_once = axis.cross(&lever);
        Self {
            rotation,
            residue: residue.map(|rows| Mat3::from_fn(|i, k| rows[i][k].middle())),
            rotation_turned: [rotation_once, turned(&rotation_once)],
            lever_turned: [lever_once, axis.cross(&lever_once)],
            axis,
            angle: track.angle,
            lever,
            lever_length: length(&lever),
            velocity,
            velocity_length: length(&velocity),
            turn_error: track.angle.abs().min(1.0) * (168.0 * UNIT + 28.0 * axis_slack),
            axis_slack,
            lever_slack: slack(&track.lever),
            velocity_slack: slack(&track.velocity),
            residue_slack: residue.map_or(0.0, |rows| rows.iter().map(slack).fold(0.0, f64::max)),
            scaling_slack: track.slack(),
        }
    }

    /// Whether the body turns.
    #[inline]
    pub fn turns(&self) -> bool {
        self.angle.abs() > 0.0
    }

    /// `θ a`
    #[inline]
    pub fn spin(&self) -> Vec3 {
        self.axis * self.angle
    }

    /// The sine and versine of the angle at time t; `None` after a million quarter turns.
    #[inline(always)]
    pub fn trig(&self, t: f64) -> Option<RoundedTrig> {
        RoundedTrig::of_product(self.angle, t)
    }

    /// `(Rot(t) - 1) w`
    #[inline(always)]
    pub fn turned_less(&self, trig: &RoundedTrig, w: &Vec3) -> Vec3 {
        let once = self.axis.cross(w);
        once * trig.sine + self.axis.cross(&once) * trig.versine
    }

    /// `(Rot(-t) - 1) w`
    #[inline]
    pub fn turned_back_less(&self, trig: &RoundedTrig, w: &Vec3) -> Vec3 {
        self.turned_less(&RoundedTrig { sine: -trig.sine, ..*trig }, w)
    }

    /// `Rᵀ s`: s in the body's frame at t = 0.
    #[inline]
    pub fn to_body(&self, s: &Vec3) -> Vec3 {
        self.rotation.tr_mul(s)
    }

    /// `R v + l`
    #[inline]
    pub fn arm(&self, v: &Vec3) -> Vec3 {
        self.rotation * v + self.lever
    }

    /// `Eᵀ s`: the rate at which the residue moves a vertex along s, by the vertex.
    #[inline]
    pub fn residue_to_body(&self, s: &Vec3) -> Vec3 {
        self.residue.as_ref().map_or_else(Vec3::zeros, |e| e.tr_mul(s))
    }

    /// `E v`
    #[inline]
    pub fn residue_of(&self, v: &Vec3) -> Vec3 {
        self.residue.map_or_else(Vec3::zeros, |e| e * v)
    }

    /// `x(t) - (R m + t0)` of vertex v, within [`Self::error`].
    #[inline]
    pub fn place_from_start(&self, trig: &RoundedTrig, t: f64, v: &Vec3) -> Vec3 {
        let turned = self.rotation * v;
        let x = (turned + self.velocity * t) + self.turned_less(trig, &(turned + self.lever));
        if self.residue.is_some() { x + self.residue_of(v) * t } else { x }
    }

    /// `A = R + (Rot - 1) R + t E` and `m = u t + (Rot - 1) l` at time t, so that a vertex v is at
    /// `x(t) - (R c + t0) = A v + m` for the centre c, within [`Self::error`].
    #[inline(always)]
    pub fn pose_from_start(&self, trig: &RoundedTrig, t: f64) -> (Mat3, Vec3) {
        let [once, twice] = &self.rotation_turned;
        let mut rotation = self.rotation + (once * trig.sine + twice * trig.versine);
        if let Some(e) = &self.residue {
            rotation += e * t;
        }
        let [once, twice] = &self.lever_turned;
        (rotation, self.velocity * t + (once * trig.sine + twice * trig.versine))
    }

    /// What the height of any vertex along a vector of length 1, or the length of a place, may be
    /// off by. `reach` bounds |v|.
    ///
    /// A height is `g·v + s·m` with `g = Aᵀ s`. Every entry of `(Rot - 1) R` errs by 64uκ in
    /// rounding, so that times any v of length 1 by three times as much; the axis is off for all
    /// entries alike, which is 28ακ as for one vector: together less than `turn_error + 32uκ`. The
    /// sums that form A add 7u, those for the residue `11u |E| + 4 slack of E`; products by A or Aᵀ
    /// 6u, and `g·v` 4u, twice where a rounded maximum stands for the exact one. m errs by
    /// `turn_error |l|`, by 2κ times the slack of l, by `2u |u|` and the slack of u, and by its own
    /// sum; `s·m` and further sums by 6u of all that is summed, with |m| at most `|u| + 2κ |l|`.
    pub fn error(&self, reach: f64) -> f64 {
        let turn = self.angle.abs().min(1.0);
        let residue = self.residue.as_ref().map_or(0.0, size_of);
        let of_vertices = reach
            * (self.turn_error
                + 32.0 * UNIT * turn
                + 40.0 * UNIT
                + 32.0 * UNIT * residue
                + 4.0 * self.residue_slack);
        let of_lever =
            self.lever_length * (self.turn_error + 32.0 * UNIT * turn) + 4.0 * self.lever_slack;
        let of_velocity = 16.0 * UNIT * self.velocity_length + 2.0 * self.velocity_slack;
        1.25 * (of_vertices + of_lever + of_velocity + 64.0 * self.scaling_slack + UNDERFLOWN)
    }

    /// At least `|s × a|`, for s of length 1 up to rounding.
    #[inline(always)]
    pub fn across(&self, s: &Vec3) -> f64 {
        let across = s.cross(&self.axis).norm();
        if across > tolerance::ACROSS_WELL {
            return (across + 16.0 * UNIT + 4.0 * self.axis_slack) * (1.0 + 8.0 * UNIT);
        }
        self.across_nearly_none(s)
    }

    /// Along the axis, where nothing bends: as close to zero as can be proven.
    #[cold]
    fn across_nearly_none(&self, s: &Vec3) -> f64 {
        let enclosed = self.axis.map(|c| {
            if self.axis_slack > 0.0 {
                Interval::around(c, self.axis_slack)
            } else {
                Interval::point(c)
            }
        });
        interval::norm(&interval::cross(&interval::point(s), &enclosed.into())).high()
    }

    /// At least `|Ω - Ω'|`, with the other body's spin Ω'.
    pub fn spin_against(&self, other: &Self) -> f64 {
        let off = |b: &Self| b.angle.abs() * (8.0 * UNIT + 2.0 * b.axis_slack);
        let between = length(&(self.spin() - other.spin())) + UNDERFLOWN;
        (between + off(self) + off(other)) * (1.0 + 8.0 * UNIT)
    }

    /// At least `|θ a × w|` for w known up to `slack`.
    pub fn whirl(&self, w: &Vec3, slack: f64) -> f64 {
        let rounding = (16.0 * UNIT + 4.0 * self.axis_slack) * length(w) + UNDERFLOWN;
        self.angle.abs() * (length(&self.axis.cross(w)) + rounding + slack) * (1.0 + 8.0 * UNIT)
    }

    /// What the lever, the velocity and sums of a few such may be off by.
    pub fn length_slack(&self) -> f64 {
        2.0 * (self.lever_slack + self.velocity_slack)
            + 16.0 * UNIT * (self.lever_length + self.velocity_length)
            + UNDERFLOWN
    }
}

/// The root of the sum of the squares of all entries, which bounds `|m v| / |v|`.
pub fn size_of(m: &Mat3) -> f64 {
    length(&Vec3::from_iterator(m.column_iter().map(|column| length(&column.into_owned()))))
}
