//! The services, one room for each.

pub mod certificates;
pub mod health;
pub mod info;
pub mod polytopes;
pub mod queries;
pub mod robots;
pub mod sessions;
