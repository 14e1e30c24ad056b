//! Robots: what a URDF describes, where joint values put its links, and questions about thousands
//! of configurations at a time.
//!
//! A robot is a tree of joints ([`tree`]) whose links carry parts ([`model`]): polytopes, and
//! polyhedra where meshes are taken as they are ([`body`]). The formula
//! by which joint values become the twelve numbers of every part is in [`kinematics`]; everything
//! that is said about a configuration is said about these numbers, exactly.
//!
//! | you want | you take |
//! |---|---|
//! | a robot from its files | [`Robot::build`], with [`urdf`], [`srdf`] and [`mesh`] |
//! | where joint values put its links | [`kinematics::Kinematics`] |
//! | robots among bodies that stand still | [`cell`] |
//! | the same by the rules of a session, with what hangs on links | [`pairing`] |
//! | contacts and clearances of many configurations | [`check`], their gradients [`gradient`] |
//! | all pairs that are near | [`below`] |
//! | where links are, and how joint values move them | [`links`] |
//! | which links meet in sampled configurations | [`sampled`] |
//! | whether an edge between two configurations is free, or where it ends | [`edge`] |
//! | to check what is claimed of an edge | [`judge`], which shares no code with the search |
//!
//! ```
//! use clearance_geometry::effort::Effort;
//! use clearance_robot::urdf::{Description, DescriptionLimits};
//!
//! let urdf = r#"<robot name="lift"><link name="base"/><link name="table"/>
//!     <joint name="up" type="prismatic"><parent link="base"/><child link="table"/>
//!     <axis xyz="0 0 1"/><limit lower="0" upper="2" effort="1" velocity="1"/></joint></robot>"#;
//! let limits =
//!     DescriptionLimits { nodes_max: 100, links_max: 10, parts_max: 10, depth_max: 10 };
//! let lift = Description::read(urdf, &limits, &mut Effort::unlimited()).unwrap();
//! assert_eq!((lift.name.as_str(), lift.links.len(), lift.joints.len()), ("lift", 2, 1));
//!
//! // Whatever is wrong is said with its line.
//! let wrong = Description::read("<robot name='r'>", &limits, &mut Effort::unlimited());
//! assert!(wrong.is_err());
//! ```

mod apart;
mod assembly;
pub mod ball;
pub mod below;
pub mod body;
mod build;
pub mod cell;
mod certify;
pub mod check;
pub mod claim;
mod clearances;
pub mod cloud;
mod cloud_curved;
mod cloud_mesh;
mod constant;
mod curved;
mod deep;
mod doubts;
pub mod edge;
pub mod error;
mod footprint;
pub mod gradient;
pub mod judge;
pub mod kinematics;
pub mod links;
pub mod meeting;
pub mod mesh;
pub mod model;
pub mod pairing;
pub mod parts;
pub mod path;
pub mod room;
pub mod round;
pub mod sampled;
mod solids;
mod speed;
pub mod srdf;
mod stand;
pub mod still;
mod subject;
pub mod tree;
pub mod urdf;
mod within;
mod xml;

pub use self::error::{RobotError, shown};
pub use self::model::Robot;

#[cfg(test)]
pub(crate) mod tests;
