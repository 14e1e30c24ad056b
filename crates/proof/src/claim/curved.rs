//! Bodies that are no polytopes: what is stated of polytopes around them and in them.

use super::motion::Outcome;
use super::range::Span;
use super::verdict::Verdict;
use crate::Vec3;

/// What a curved body is, without a radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurvedForm {
    /// `(x/a)² + (y/b)² <= 1` and `|z| <= c`.
    Cylinder,
    /// The hull of the ellipse with a and b in the plane `z = -c`, and of the apex at `z = c`;
    /// where c is negative the apex is below.
    Cone,
    /// `(x/a)² + (y/b)² + (z/c)² <= 1`.
    Ellipsoid,
}

/// A form with its half sizes a, b and c along the axes of its own frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvedCore {
    /// Says which formula the half sizes go into.
    pub form: CurvedForm,
    /// Positive and finite; c of a cone may be negative.
    pub half: Vec3,
}

/// What is said of two bodies, or of polytopes around them or in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideClaim {
    /// How they stand; of a motion at t = 0.
    pub verdict: Verdict,
    /// Whether they are within the margin of the question, if that is said.
    pub is_within: Option<bool>,
    /// What is said beside that.
    pub measured: Measured,
}

/// What is said of two bodies beside how they stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    /// No more is said than how they stand.
    Nothing,
    /// Their distance is between these, metres.
    Distance([f64; 2]),
    /// Their depth is between these, metres.
    Depth([f64; 2]),
    /// Brackets of the first and the last t for which they are in contact along a direction; none:
    /// never.
    Range(Option<Span>),
    /// It is said when they first meet.
    Course {
        /// Says whether they meet.
        outcome: Outcome,
        /// They are free on `[0, t_free]`.
        t_free: f64,
        /// They are in contact by then, if the outcome is contact.
        t_contact: f64,
    },
}
