//! Which method answers each question of a scene, and whether somebody asked for it by its name.
//!
//! Every question has a method of its own. One that was asked for by name has a witness of its own
//! for each pair of parts, so that it goes on from what it left itself, and its work is counted
//! apart. All others share a witness.

use clearance_geometry::contact_time;
use clearance_geometry::distance::{self, DistanceMethod};
use clearance_geometry::effort::Cost;
use clearance_geometry::penetration::{self, RangeMethod};
use clearance_geometry::polytope::Tables;
use clearance_geometry::separation::{self, CollisionMethod};

/// The method of a question.
#[derive(Debug)]
pub struct Chosen<M: 'static> {
    /// The row of the table that answers.
    pub method: &'static M,
    /// Whether it was asked for by name, though it may be the default.
    pub is_named: bool,
}

impl<M> Clone for Chosen<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Chosen<M> {}

impl<M> Chosen<M> {
    /// The first of a table, which nobody asked for.
    pub fn default_of(table: &'static [M]) -> Self {
        Self { method: &table[0], is_named: false }
    }

    /// One that was asked for by name.
    pub fn named(method: &'static M) -> Self {
        Self { method, is_named: true }
    }
}

/// A question about a pair that has a method of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedOf {
    /// How the bodies stand.
    Verdict,
    /// How far apart they are.
    Distance,
    /// When they first meet between two frames.
    FirstContact,
    /// For which `t >= 0` they are in contact when one of them moves by `t d`.
    Along,
    /// Whether they are within a margin, and how deep they overlap: the default's alone.
    Other,
}

impl AskedOf {
    /// How many there are.
    pub const ALL: usize = 5;
}

/// What the answers to each question cost, by [`AskedOf`].
pub type CostOfEach = [Cost; AskedOf::ALL];

/// The methods of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Methods {
    /// How verdicts are reached.
    pub verdict: Chosen<CollisionMethod>,
    /// How distances are measured.
    pub distance: Chosen<DistanceMethod>,
    /// How first contacts between two frames are found.
    pub first_contact: Chosen<contact_time::Method>,
    /// How ranges along a direction are found.
    pub along: Chosen<RangeMethod>,
}

impl Default for Methods {
    fn default() -> Self {
        Self {
            verdict: Chosen::default_of(separation::METHODS),
            distance: Chosen::default_of(distance::METHODS),
            first_contact: Chosen::default_of(contact_time::METHODS),
            along: Chosen::default_of(penetration::METHODS),
        }
    }
}

impl From<&'static CollisionMethod> for Methods {
    /// Verdicts by this one, which is named unless it is the default.
    fn from(method: &'static CollisionMethod) -> Self {
        // Not by address: the tables are constants, which may lie in several places.
        let is_named = method.name != separation::METHODS[0].name;
        Self { verdict: Chosen { method, is_named }, ..Self::default() }
    }
}

impl Methods {
    /// Whether this question's was asked for by name.
    pub(super) fn is_named(&self, asked: AskedOf) -> bool {
        match asked {
            AskedOf::Verdict => self.verdict.is_named,
            AskedOf::Distance => self.distance.is_named,
            AskedOf::FirstContact => self.first_contact.is_named,
            AskedOf::Along => self.along.is_named,
            AskedOf::Other => false,
        }
    }

    /// Whether any was.
    pub fn are_named(&self) -> bool {
        self.verdict.is_named
            || self.distance.is_named
            || self.first_contact.is_named
            || self.along.is_named
    }

    /// What they have built of bodies that are first asked about.
    pub fn tables(&self) -> [Tables; 4] {
        [
            self.verdict.method.tables,
            self.distance.method.tables,
            self.first_contact.method.tables,
            self.along.method.tables,
        ]
    }

    /// Whether all are the defaults, named or not, which alone estimates are about.
    pub fn are_defaults(&self) -> bool {
        self.verdict.method.name == separation::METHODS[0].name
            && self.distance.method.name == distance::METHODS[0].name
            && self.first_contact.method.name == contact_time::METHODS[0].name
            && self.along.method.name == penetration::METHODS[0].name
    }
}
