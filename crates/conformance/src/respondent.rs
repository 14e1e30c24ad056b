//! Somebody who answers cases: the library or a server, told apart only here.

use super::cases::Case;
use clearance_geometry::Vec3;
use clearance_geometry::claim::FirstContact;
use clearance_geometry::distance::Distance;
use clearance_geometry::effort::Cost;
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::penetration::{Depth, Range};
use clearance_geometry::separation::Decision;

/// A case, and its pair as built here. A server is asked by the case's own numbers.
pub(crate) struct Asked<'a> {
    pub(crate) case: &'a Case,
    pub(crate) pair: Pair<'a>,
}

impl Asked<'_> {
    /// The question when they meet.
    pub(crate) fn motion_question(&self) -> Question<'_> {
        let [motion_p, motion_q] = self.case.motions();
        Question {
            reach: self.case.contact_margin.into(),
            deviation_p: self.case.deviation,
            ..Question::new(self.pair, motion_p, motion_q)
        }
    }
}

/// What is said of one hull.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HullFacts {
    pub(crate) dimension: u8,
    /// Merged facets of a solid; of anything less it does not matter.
    pub(crate) faces: usize,
    pub(crate) volume: f64,
    /// For each vertex the lowest given point that is it.
    pub(crate) given_of_vertex: Vec<u32>,
}

/// Answers questions, or says in words why not.
pub(crate) trait Respondent {
    /// Learns a point set that later cases name by `id`.
    fn learn(&mut self, id: u64, points: &[[f64; 3]]) -> Result<(), String>;
    /// Describes the hull of these points.
    fn hull(&mut self, points: &[[f64; 3]]) -> Result<HullFacts, String>;
    /// How the pair stands at t = 0.
    fn decide(&mut self, asked: &Asked<'_>) -> Result<Decision, String>;
    /// How far apart.
    fn distance(&mut self, asked: &Asked<'_>) -> Result<Distance, String>;
    /// How deep, with the surface that proves the lower bound.
    fn depth(&mut self, asked: &Asked<'_>) -> Result<Depth, String>;
    /// The range of contact along a direction.
    fn along(&mut self, asked: &Asked<'_>, direction: &Vec3) -> Result<Range, String>;
    /// When they first meet.
    fn first_contact(&mut self, asked: &Asked<'_>) -> Result<FirstContact, String>;
    /// What the answers have cost since this was last called.
    fn take_cost(&mut self) -> Cost;
}
