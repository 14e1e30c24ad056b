//! Smooth joint trajectories: cubic splines through waypoints, twice continuously differentiable,
//! at rest at both ends.

/// A spline through waypoints of several coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Trajectory {
    times_s: Vec<f64>,
    waypoints: Vec<Vec<f64>>,
    /// First derivative of every coordinate at every waypoint, a second.
    slopes: Vec<Vec<f64>>,
}

impl Trajectory {
    /// Through `(time in seconds, coordinates)`, in order of time; at least two.
    pub(crate) fn through<const N: usize>(waypoints: &[(f64, [f64; N])]) -> Self {
        let times_s: Vec<f64> = waypoints.iter().map(|(time, _)| *time).collect();
        let columns: Vec<Vec<f64>> = (0..N)
            .map(|k| {
                let values: Vec<f64> = waypoints.iter().map(|(_, q)| q[k]).collect();
                clamped_slopes(&times_s, &values)
            })
            .collect();
        Self {
            slopes: (0..times_s.len())
                .map(|i| columns.iter().map(|column| column[i]).collect())
                .collect(),
            waypoints: waypoints.iter().map(|(_, q)| q.to_vec()).collect(),
            times_s,
        }
    }

    /// When it ends, seconds.
    pub(crate) fn end_s(&self) -> f64 {
        self.times_s.last().copied().unwrap_or(0.0)
    }

    /// The coordinates at a time; before the start and after the end, those there.
    pub(crate) fn at(&self, time_s: f64) -> Vec<f64> {
        let time_s = time_s.clamp(self.times_s[0], self.end_s());
        let after = self.times_s.partition_point(|knot| *knot <= time_s);
        let i = after.clamp(1, self.times_s.len() - 1) - 1;
        let width = self.times_s[i + 1] - self.times_s[i];
        let s = (time_s - self.times_s[i]) / width;
        // The cubic Hermite basis: values and slopes at both ends.
        let (value_0, slope_0) =
            ((1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s), s * (1.0 - s) * (1.0 - s));
        let (value_1, slope_1) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0));
        (0..self.waypoints[i].len())
            .map(|k| {
                self.waypoints[i][k] * value_0
                    + self.waypoints[i + 1][k] * value_1
                    + (self.slopes[i][k] * slope_0 + self.slopes[i + 1][k] * slope_1) * width
            })
            .collect()
    }
}

/// Slopes at the knots of the cubic spline with continuous second derivative and slope 0 at both
/// ends: a tridiagonal system, solved by elimination (de Boor, *A Practical Guide to Splines*,
/// chapter IV).
fn clamped_slopes(times_s: &[f64], values: &[f64]) -> Vec<f64> {
    let last = times_s.len() - 1;
    let width = |i: usize| times_s[i + 1] - times_s[i];
    let secant = |i: usize| (values[i + 1] - values[i]) / width(i);
    let mut slopes = vec![0.0; last + 1];
    // Row i: width(i) m[i-1] + 2 (width(i-1) + width(i)) m[i] + width(i-1) m[i+1] = right side.
    let mut upper = vec![0.0; last + 1];
    for i in 1..last {
        let right = 3.0 * (width(i) * secant(i - 1) + width(i - 1) * secant(i));
        let pivot = 2.0 * (width(i - 1) + width(i)) - width(i) * upper[i - 1];
        upper[i] = width(i - 1) / pivot;
        slopes[i] = (right - width(i) * slopes[i - 1]) / pivot;
    }
    for i in (1..last).rev() {
        slopes[i] -= upper[i] * slopes[i + 1];
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Trajectory {
        Trajectory::through(&[
            (0.0, [0.0, 1.0]),
            (0.7, [1.5, 1.0]),
            (1.0, [-0.5, 0.0]),
            (2.5, [0.25, -2.0]),
        ])
    }

    #[test]
    fn it_passes_through_its_waypoints_and_rests_at_both_ends() {
        let spline = example();
        for (time, q) in [(0.0, [0.0, 1.0]), (0.7, [1.5, 1.0]), (1.0, [-0.5, 0.0])] {
            let at = spline.at(time);
            assert!((at[0] - q[0]).abs() + (at[1] - q[1]).abs() < 1e-14, "{time}: {at:?}");
        }
        let step = 1e-6;
        for (a, b) in [(0.0, step), (2.5 - step, 2.5)] {
            assert!((spline.at(b)[0] - spline.at(a)[0]).abs() < 1e-10);
        }
    }

    #[test]
    fn its_second_derivative_does_not_jump_at_a_waypoint() {
        let spline = example();
        let h = 1e-4;
        let second = |t: f64| {
            let [a, b, c] = [t - h, t, t + h].map(|t| spline.at(t)[0]);
            (a - 2.0 * b + c) / (h * h)
        };
        for knot in [0.7, 1.0] {
            let jump = second(knot + 2.0 * h) - second(knot - 2.0 * h);
            assert!(jump.abs() < 0.3, "{knot}: {jump}");
        }
        // The bound can fail: within one piece the second derivative moves much more.
        assert!((second(0.95) - second(0.75)).abs() > 3.0);
    }
}
