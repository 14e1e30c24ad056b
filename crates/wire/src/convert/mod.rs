//! Wire to domain and back, one file for each family of messages. Whatever is wrong with a field is
//! said with its path.
//!
//! Registered bodies and limits are looked up in a [`catalogue::Catalogue`]; nothing else of the
//! server is known here.

pub mod body;
pub mod catalogue;
pub mod certificate;
pub mod compound;
pub mod curved;
pub mod described;
pub mod height_field;
pub mod keys;
pub mod motions;
pub mod options;
pub mod paging;
pub mod polytope;
pub mod proofs;
pub mod ranges;
pub mod robots;
pub mod rounded;
pub mod sessions;
pub mod several;
pub mod solids;

pub use clearance_certificates::geometry;
