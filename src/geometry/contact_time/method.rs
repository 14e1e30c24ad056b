//! The ways to search for the first contact of translating bodies.

use super::prism;
use crate::geometry::Vec3;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::pair::Pair;
use crate::geometry::separation::cast::{self, Cast};

/// A way to search; one file and one row of [`METHODS`] each.
#[derive(Debug)]
pub struct Method {
    /// Its name on the wire and in the tables.
    pub name: &'static str,
    /// Who described it, and where.
    pub source: &'static str,
    /// What its proposals amount to.
    pub proves: &'static str,
    /// What a query costs.
    pub cost: &'static str,
    /// Proposes where the ray `{t u}`, t from 0 to a limit, enters M.
    pub(super) cast: Search,
}

type Search = fn(&Pair<'_>, &Vec3, f64, &mut Effort<'_>) -> Result<Cast, Stopped>;

/// Every method by name; the first is the default.
pub const METHODS: &[Method] = &[PORTAL_CAST, prism::METHOD];

const PORTAL_CAST: Method = Method {
    name: "portal_cast",
    source: "after Snethen 2008 (XenoCollide)",
    proves: "that translating bodies never meet, by a vector; or the faces that meet first",
    cost: "about eight supporting pairs",
    cast: cast::cast,
};
