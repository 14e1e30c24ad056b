//! What sessions are told and what they report: bodies and rules, frames, reports, declared states.

pub mod declare;
pub mod frame;
pub mod packed;
pub mod plan;
pub mod report;
pub mod state;
