//! Robots: files to a robot and its description; cells; answers about configurations.

pub mod answer;
pub mod cell;
pub mod certificates;
pub mod check;
pub mod clouds;
pub mod coverage;
pub mod description;
mod digested;
pub mod edges;
mod obstacles;
pub mod registration;
mod rules;
pub mod source;
pub mod suggestion;
