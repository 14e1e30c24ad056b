//! The linear program of two small vertex sets, and its primal-dual interior-point iteration.
//!
//! Source: Akgunduz, Banerjee, Mehrotra, *A Linear Programming Solution for Exact Collision
//! Detection*, 2005, §3 and §4.3; the corrected step after Mehrotra, *On the Implementation of a
//! Primal-Dual Interior Point Method*, 1992.
//!
//! With `u` from the weighted mean of P's vertices to that of Q's, the primal is: least `μ φ` with
//! `Σ α v - Σ β w + u φ = 0`, `Σ α = Σ β = 1`, nothing negative. `φ = 1` is feasible for any
//! weights. The dual is: greatest `π4 + π5` with `v·π + π4 + s = 0`, `-w·π + π5 + s = 0` and
//! `u·π + s = μ`, no slack `s` negative. So `π4 + π5 > 0` shows a vector π along which every w is
//! beyond every v, and `φ = 0` a common point: either stops the iteration early.

use arrayvec::ArrayVec;
use nalgebra::{Cholesky, Matrix5, U5, Vector5};

use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::binary::power_of_two;
use crate::number::tolerance::PROGRAM_CONTACT;
use crate::witness::{DualVariables, SET_MAX};

/// Several times the most that the paper reports; near contact the end may not come earlier.
const ITERATIONS_MAX: u32 = 40;

/// The part of the way to the boundary that a step goes.
const STEP_PART: f64 = 0.99;

/// A shorter step than this, in either problem, is taken again with a centring term.
const SHORT_STEP: f64 = 0.3;

/// The least shift of the slacks, as a part of their spread: about a millionth (the ε of (22),
/// which the text only calls small). No shift leaves a slack at zero, from where no step leads
/// away.
const SHIFT_MIN: f64 = power_of_two(-20);

/// A vertex set of each body; in units of about the size of the scene.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) p: &'a [Vec3],
    pub(super) q: &'a [Vec3],
}

/// Where the dual variables begin.
#[derive(Clone, Copy, Debug)]
pub(super) enum DualStart {
    /// Nothing is known: without a normal, and as far off as the farthest vertex (§3.3).
    Farthest,
    /// The weights are known to be good: without a normal, and off by a part of what they leave.
    NearWeights,
    /// These separated the sets lately.
    Planes(DualVariables),
}

/// How far off the dual variables begin beside known weights, as a part of μ. All products of a
/// variable and its slack are about as large then as that of φ. From 0.1 to 10 it makes no
/// difference of more than a tenth.
const NEAR: f64 = 0.3;

/// SetWeights of P's vertices, then of Q's; each group sums to one.
pub(super) type SetWeights = ArrayVec<f64, SET_MAX>;

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Solved {
    /// Along the normal all of Q's set is beyond all of P's; with the weights so far.
    Separated(DualVariables, SetWeights),
    /// The weighted means coincide, or nearly.
    Meeting(SetWeights),
    /// Neither within the iterations, or the sets are flat.
    Stuck,
}

/// A value for each column: the vertices', then φ's.
type VariableRow = ArrayVec<f64, { SET_MAX + 1 }>;

struct Iterate<'a> {
    program: &'a Program<'a>,
    u: Vec3,
    mu: f64,
    /// α, β, φ.
    x: VariableRow,
    s: VariableRow,
    pi: Vector5<f64>,
}

/// A direction for all variables.
struct NewtonStep {
    x: VariableRow,
    s: VariableRow,
    pi: Vector5<f64>,
}

/// Solves until one side is known.
pub(super) fn solve(
    program: &Program<'_>,
    weights: &SetWeights,
    dual: DualStart,
    effort: &mut Effort<'_>,
) -> Result<Solved, Stopped> {
    let mut at = Iterate::start(program, weights, dual);
    if at.mu == 0.0 {
        return Ok(Solved::Meeting(weights.clone()));
    }
    for _ in 0..ITERATIONS_MAX {
        if at.pi[3] + at.pi[4] > 0.0 {
            let normal = at.pi.fixed_rows::<3>(0).into_owned();
            let dual = DualVariables { normal, offsets: [at.pi[3], at.pi[4]] };
            return Ok(Solved::Separated(dual, at.x.into_iter().take(weights.len()).collect()));
        }
        if at.mu * at.x[at.last()] <= PROGRAM_CONTACT {
            return Ok(Solved::Meeting(at.x.into_iter().take(weights.len()).collect()));
        }
        effort.spend_step()?;
        if at.advance().is_none() {
            break;
        }
    }
    Ok(Solved::Stuck)
}

impl<'a> Iterate<'a> {
    /// Feasible for both problems (§3.3, and §4.1 with the dual variables of an earlier frame).
    fn start(program: &'a Program<'a>, weights: &SetWeights, dual: DualStart) -> Self {
        let (of_p, of_q) = weights.split_at(program.p.len());
        let mean = |points: &[Vec3], weights: &[f64]| -> Vec3 {
            points.iter().zip(weights).map(|(point, weight)| point * *weight).sum()
        };
        let u = mean(program.q, of_q) - mean(program.p, of_p);
        let mu = u.amax();
        let mut x: VariableRow = weights.iter().copied().collect();
        x.push(1.0);
        let mut at = Self { program, u, mu, x, s: VariableRow::new(), pi: Vector5::zeros() };
        let planes = match dual {
            DualStart::Planes(last) => at.limited(&last),
            DualStart::Farthest | DualStart::NearWeights => None,
        };
        match planes {
            Some(DualVariables { normal, offsets }) => {
                at.pi.fixed_rows_mut::<3>(0).copy_from(&normal);
                (at.pi[3], at.pi[4]) = (offsets[0], offsets[1]);
                // (21) to (24). The slack of φ has neither offset in it, and is positive already.
                let slacks = || (0..at.last()).map(|k| at.slack(k));
                let least = slacks().fold(f64::INFINITY, f64::min);
                let most = slacks().fold(0.0, f64::max);
                let shift = (-1.5 * least).max(SHIFT_MIN * (most - least));
                at.pi[3] -= shift;
                at.pi[4] -= shift;
            }
            None => {
                let off = if matches!(dual, DualStart::NearWeights) {
                    NEAR * mu
                } else {
                    program.p.iter().chain(program.q).map(Vec3::amax).fold(0.0, f64::max)
                };
                at.pi[3] = -off;
                at.pi[4] = -off;
            }
        }
        at.s = (0..=at.last()).map(|k| at.slack(k)).collect();
        at
    }

    /// Scaled so that the slack of φ is positive: half of μ, or as long as μ. None of what is no
    /// plane.
    fn limited(&self, last: &DualVariables) -> Option<DualVariables> {
        let value = self.u.dot(&last.normal);
        let scale = if value > 0.0 { 0.5 * self.mu / value } else { self.mu / last.normal.amax() };
        let [of_p, of_q] = last.offsets.map(|offset| offset * scale);
        let normal = last.normal * scale;
        let is_plane = (normal.amax() + of_p.abs() + of_q.abs()).is_finite();
        is_plane.then_some(DualVariables { normal, offsets: [of_p, of_q] })
    }

    fn last(&self) -> usize {
        self.program.p.len() + self.program.q.len()
    }

    /// The constraints' column of variable `k`.
    fn column(&self, k: usize) -> Vector5<f64> {
        let of_p = self.program.p.len();
        if k < of_p {
            let v = self.program.p[k];
            Vector5::new(v.x, v.y, v.z, 1.0, 0.0)
        } else if k < self.last() {
            let w = self.program.q[k - of_p];
            Vector5::new(-w.x, -w.y, -w.z, 0.0, 1.0)
        } else {
            Vector5::new(self.u.x, self.u.y, self.u.z, 0.0, 0.0)
        }
    }

    fn slack(&self, k: usize) -> f64 {
        let cost = if k == self.last() { self.mu } else { 0.0 };
        cost - self.column(k).dot(&self.pi)
    }

    /// One predictor step, corrected when it is short; none when the 5x5 matrix is singular.
    fn advance(&mut self) -> Option<()> {
        let factors = self.factors()?;
        let mut step = self.direction(&factors, |_| 0.0);
        let (primal, dual) = (longest(&self.x, &step.x), longest(&self.s, &step.s));
        let meets = primal.is_ended_by == Some(self.last());
        if !meets && primal.length.min(dual.length) < SHORT_STEP {
            let count = (self.last() + 1) as f64;
            let gap = |x: &dyn Fn(usize) -> f64| (0..=self.last()).map(x).sum::<f64>() / count;
            let now = gap(&|k| self.x[k] * self.s[k]);
            let (far_x, far_s) = (primal.length.min(1.0), dual.length.min(1.0));
            let then = gap(&|k| (self.x[k] + far_x * step.x[k]) * (self.s[k] + far_s * step.s[k]));
            let centre = now * (then / now).clamp(0.0, 1.0).powi(3);
            step = self.direction(&factors, |k| centre - step.x[k] * step.s[k]);
        }
        self.take(&step);
        self.is_inside().then_some(())
    }

    fn is_inside(&self) -> bool {
        self.x.iter().chain(&self.s).all(|value| *value >= 0.0)
    }

    fn factors(&self) -> Option<Cholesky<f64, U5>> {
        let mut matrix = Matrix5::zeros();
        for k in 0..=self.last() {
            let column = self.column(k);
            matrix += column * column.transpose() * (self.x[k] / self.s[k]);
        }
        matrix.cholesky()
    }

    /// `S dx + X ds = complement - X S, A dx = 0, Aᵀ dπ + ds = 0`.
    fn direction(
        &self,
        factors: &Cholesky<f64, U5>,
        complement: impl Fn(usize) -> f64,
    ) -> NewtonStep {
        let mut right = Vector5::new(0.0, 0.0, 0.0, 1.0, 1.0);
        for k in 0..=self.last() {
            right -= self.column(k) * (complement(k) / self.s[k]);
        }
        let pi = factors.solve(&right);
        let s: VariableRow = (0..=self.last()).map(|k| -self.column(k).dot(&pi)).collect();
        let x = (0..=self.last())
            .map(|k| (complement(k) - self.x[k] * s[k]) / self.s[k] - self.x[k])
            .collect();
        NewtonStep { x, s, pi }
    }

    fn take(&mut self, step: &NewtonStep) {
        let (primal, dual) = (longest(&self.x, &step.x), longest(&self.s, &step.s));
        // φ may become zero, however far that is: every point of the way is feasible for the
        // primal, and this one ends the iteration.
        let meets = primal.is_ended_by == Some(self.last());
        let part_x = if meets { primal.length } else { (STEP_PART * primal.length).min(1.0) };
        let part_s = (STEP_PART * dual.length).min(1.0);
        for k in 0..=self.last() {
            self.x[k] += part_x * step.x[k];
            self.s[k] += part_s * step.s[k];
        }
        if meets {
            let last = self.last();
            self.x[last] = 0.0;
        }
        self.pi += step.pi * part_s;
    }
}

/// How far a step can go before a value becomes negative, and which does.
struct Longest {
    length: f64,
    is_ended_by: Option<usize>,
}

fn longest(values: &VariableRow, step: &VariableRow) -> Longest {
    let mut found = Longest { length: f64::INFINITY, is_ended_by: None };
    for (k, (value, change)) in values.iter().zip(step).enumerate() {
        if *change < 0.0 && value / -change < found.length {
            found = Longest { length: value / -change, is_ended_by: Some(k) };
        }
    }
    found
}

#[cfg(test)]
mod potential;
