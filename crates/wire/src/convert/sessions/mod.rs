//! What sessions are told and what they report: bodies and rules, frames, reports, declared states;
//! what a scene is asked and what it answers.

pub mod casts;
pub mod changes;
pub mod claimed;
pub mod cut;
pub mod declare;
pub mod frame;
pub mod hits;
pub mod inquiry;
pub mod known;
pub mod methods;
pub mod names;
pub mod news;
pub mod own_filters;
pub mod packed;
pub mod packed_pairs;
pub mod pair;
pub mod plan;
pub mod proofs;
pub mod report;
pub mod robots;
pub mod since;
pub mod size;
pub mod state;
