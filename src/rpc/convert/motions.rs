//! How the two bodies of a question about first contact move.

use super::body::AskedBody;
use super::geometry::tolerance;
use crate::rpc::path::{BadField, NotImplemented, Path};
use clearance_certificates::hulls::Moves;
use clearance_geometry::claim::TIME_TOLERANCE;
use clearance_geometry::contact_time::{
    Method, Travel, names_of_those_that_answer_all, translation_of,
};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair;
use clearance_geometry::pair::Pair;
use clearance_proto as api;

/// How the bodies move, and how finely to look.
#[derive(Clone, Copy, Debug)]
pub struct Motions {
    moves: Moves,
    time_tolerance: f64,
    clearance_tolerance: Option<f64>,
}

impl Motions {
    /// Checks everything that can be wrong with it.
    pub fn convert(path: &Path<'_>, wire: &api::FindFirstContactRequest) -> Result<Self, BadField> {
        let finely = |name, value: Option<f64>| {
            value.map(|value| tolerance(&path.field(name), value)).transpose()
        };
        Ok(Self {
            moves: Moves::convert(path, wire)?,
            time_tolerance: finely("time_tolerance", wire.time_tolerance)?
                .unwrap_or(TIME_TOLERANCE),
            clearance_tolerance: finely("clearance_tolerance", wire.clearance_tolerance)?,
        })
    }

    /// How far polyhedra come, which are asked about only without slack and where nothing turns.
    pub fn travels(
        &self,
        path: &Path<'_>,
        [p, q]: [&AskedBody; 2],
    ) -> Result<[Travel; 2], NotImplemented> {
        let slacks = [
            ("p_deviation", self.moves.deviation_p),
            ("q_deviation", self.moves.deviation_q),
            ("margin", self.moves.margin),
        ];
        if let Some((field, _)) = slacks.iter().find(|(_, slack)| *slack > 0.0) {
            let what = "margins and deviations of polyhedra";
            return Err(path.field(field).not_implemented(what));
        }
        let travel = |field: &'static str, motion: &Motion, body: &AskedBody| {
            let turns = || path.field(field).not_implemented("polyhedra that turn");
            translation_of(motion, body.pose()).ok_or_else(turns)
        };
        let [motion_p, motion_q] = self.of_bodies();
        Ok([travel("p_motion", motion_p, p)?, travel("q_motion", motion_q, q)?])
    }

    /// How P and Q move, without how finely to look.
    pub fn moves(&self) -> Moves {
        self.moves
    }

    /// How P and Q move.
    pub fn of_bodies(&self) -> [&Motion; 2] {
        [&self.moves.motion_p, &self.moves.motion_q]
    }

    /// The motions, if contact is meant exactly: no margin and no deviation.
    pub fn without_slack(&self) -> Option<[&Motion; 2]> {
        let Moves { margin, deviation_p, deviation_q, .. } = self.moves;
        let has_none = [margin, deviation_p, deviation_q].iter().all(|slack| *slack <= 0.0);
        has_none.then_some(self.of_bodies())
    }

    /// That the method answers these motions of these bodies; whoever named it is told which do.
    pub fn check_method(
        &self,
        path: &Path<'_>,
        method: &Method,
        [p, q]: [&AskedBody; 2],
    ) -> Result<(), BadField> {
        let is_translation = |[of_p, of_q]: [&Motion; 2]| {
            translation_of(of_p, p.pose()).is_some() && translation_of(of_q, q.pose()).is_some()
        };
        if method.answers_all() || self.without_slack().is_some_and(is_translation) {
            return Ok(());
        }
        let name = method.name;
        Err(path.bad(format!(
            "{name} answers bodies that only translate, without margin and deviations; this \
             question is for {}",
            names_of_those_that_answer_all()
        )))
    }

    /// The question about a pair.
    pub fn about<'a>(&self, pair: Pair<'a>) -> pair::Question<'a> {
        let Moves { motion_p, motion_q, deviation_p, deviation_q, margin } = self.moves;
        pair::Question {
            pair,
            motion_p,
            motion_q,
            deviation_p,
            deviation_q,
            margin,
            time_tolerance: self.time_tolerance,
            clearance_tolerance: self.clearance_tolerance,
        }
    }
}
