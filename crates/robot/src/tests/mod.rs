//! Robots against numbers of others, and descriptions that are wrong.

mod below;
mod certify;
pub(crate) mod check;
mod cloud_edges;
mod cloud_meshes;
mod clouds;
mod constant;
mod curved;
mod curved_edges;
mod deep;
mod doubling;
mod edge;
mod faces;
mod kinematics;
mod links;
mod noticing;
mod pieces;
mod reading;
mod room;
mod rounded;
mod sampled;
mod skewed;
mod solids;
mod surfaces;

#[path = "../../../samples/src/robots.rs"]
#[expect(unreachable_pub, reason = "the other crates see them")]
pub(crate) mod samples;
