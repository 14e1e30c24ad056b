//! The judges of all that [`claim`](super::claim) states: from scratch, looking at every vertex.
//! They share no code with the searches, so that a mistake in a search costs a refused certificate,
//! never a false one; `tests/architecture` lists the rooms that a judge may use.

mod below_zero;
mod cells;
mod collision;
mod compounds;
mod convex;
mod cover;
mod curved;
mod depth;
mod direction;
mod distance;
mod exact;
mod faces;
mod inside;
mod link;
mod measures;
mod meeting;
mod motion;
mod named;
mod nearest;
mod passing;
mod pieces;
mod range;
mod refusal;
mod rounded;
mod solids;
mod still;
mod surfaces;
mod verdict;

pub use collision::judge_collision;
pub use compounds::{
    judge_compounds, judge_compounds_beside, judge_compounds_margin, judge_compounds_motion,
};
pub use convex::{judge_convex, judge_convex_margin, judge_rounded_motion};
pub use curved::{judge_around, judge_between, judge_inside};
pub use depth::judge_depth;
pub use direction::{LinkSweep, exact_direction_of_link};
pub use distance::{judge_distance, judge_distance_with, judge_margin, judge_zero};
pub use exact::{gap_along, scalar_product};
pub use faces::{InnerFacet, judge_faces, judge_inner_facet};
pub use measures::{judge_compounds_depth, judge_compounds_distance};
pub use motion::{judge_first_contact, judge_motion};
pub use range::{judge_range, judge_rounded_range};
pub use refusal::Refusal;
pub use rounded::{RoundedBodies, judge_rounded, judge_rounded_depth, judge_rounded_distance};
pub use solids::{judge_solid_motion, judge_solids};
pub use surfaces::{
    judge_rounded_solids, judge_solid_course, judge_solid_distance, judge_solid_margin,
};
pub use verdict::{judge_static, judge_static_with};
