//! How a pair of bodies stands, and everything else that may be asked about it.

pub(crate) mod answer;
pub(crate) mod contact;
pub(crate) mod measures;
pub(crate) mod meet;
pub(crate) mod meshes;
pub(crate) mod notes;
pub(crate) mod ranges;
pub(crate) mod report;
pub(crate) mod stand;
pub(crate) mod state;
pub(crate) mod two_parts;
pub(crate) mod work;
