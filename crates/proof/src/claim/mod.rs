//! What answers assert, each with the proof that comes with it. [`judge`](super::judge) checks all
//! of it from scratch.

mod bodies;
mod compounds;
mod course;
mod curved;
mod depth;
mod direction;
mod distance;
mod motion;
mod range;
mod reach;
mod rounded;
mod solids;
mod verdict;

pub use bodies::{Bodies, Points};
pub use compounds::{
    Compounds, DepthClaim, DepthEntries, KnownParts, MotionEntries, PartBound, PartMotion,
    PartStatement, Parts,
};
pub use course::{CLEARANCE_TOLERANCE_MIN, Course, TIME_TOLERANCE};
pub use curved::{CurvedCore, CurvedForm, Measured, SideClaim};
pub use depth::Surface;
pub use direction::{Axis, Direction};
pub use distance::{DepthSide, MarginClaim};
pub use motion::{FirstContact, Frame, Link, MotionClaim, Outcome};
pub use range::{RangeClaim, RangeEnd, RangeProof, Span};
pub use reach::Reach;
pub use rounded::{ConvexProof, RoundedDepthClaim, RoundedMotionClaim, RoundedProof};
pub use solids::{
    CollisionClaim, CollisionProof, Cover, CoverStep, Face, InnerPoint, MovingSolid, PairCover,
    RoundedSolidProof, RoundedSolids, Solid, SolidClaim, SolidCourse, SolidDistanceClaim,
    SolidKind, SolidMarginClaim, SolidMarginProof, SolidMotionProof, SolidProof, Solids,
    VISITS_MAX,
};
pub use verdict::{StaticProof, Verdict};
