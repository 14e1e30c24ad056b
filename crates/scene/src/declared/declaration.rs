//! The declared state of a scene: with it, any server can continue.

use crate::declared::body::{Body, BodyId};
use crate::declared::error::{DeclarationError, Problem, is_length, is_margin};
use crate::declared::robots::SceneRobot;
use crate::declared::rules::Rules;
use clearance_geometry::pose::COORDINATE_MAX;

/// Everything that decides the answers of a scene.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    /// In any order; ids are unique.
    pub bodies: Vec<Body>,
    /// In any order; their links are bodies beside those.
    pub robots: Vec<SceneRobot>,
    /// Which pairs are checked.
    pub rules: Rules,
    /// A contact begins when the distance is at most this, metres: at most `release_margin`.
    pub begin_margin: f64,
    /// A contact ends when the distance exceeds this, metres.
    pub release_margin: f64,
    /// Contacts announced as begun and not as ended.
    pub contacts: Vec<Contact>,
    /// The frame at which the bodies stand so; 0: none yet.
    pub frame: u64,
}

/// A contact that has been announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The two bodies that are in contact.
    pub pair: [BodyId; 2],
    /// The frame whose report announced it.
    pub began_frame: u64,
}

/// Checks the numbers of one body; `path` leads to it.
pub(crate) fn check_body(body: &Body, path: &str) -> Result<(), DeclarationError> {
    let fail =
        |field: &str, problem| Err(DeclarationError::new(format!("{path}.{field}"), problem));
    if body.parts.is_empty() {
        return fail("parts", Problem::NoParts);
    }
    if !is_margin(body.margin) {
        return fail("margin", Problem::NotAMargin);
    }
    if !is_length(body.deviation) {
        return fail("deviation", Problem::NotALength);
    }
    if !body.pivot.iter().all(|c| c.abs() <= COORDINATE_MAX) {
        return fail("pivot", Problem::NotAPoint);
    }
    Ok(())
}
