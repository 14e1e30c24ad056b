//! The table: which question about bodies of which kinds is answered, and by what.
//!
//! Each question about two bodies has a file. It begins with the question's entries, an exhaustive
//! match over the two kinds: by what it is answered, or what is not answered, in words. Below
//! stands what each way does. [`place`] has what else is done with single bodies.
//!
//! A question goes three steps: `of` looks the entry up, `prepare` makes of the bodies what the way
//! needs, and `answer` answers within an effort.

pub mod along;
mod below_zero;
mod between;
mod between_proof;
mod boundaries;
mod cells;
mod cells_depth;
mod course;
mod deep_contact;
pub mod depth;
pub mod distance;
pub mod first_collision;
pub mod first_contact;
pub mod hulls;
mod passing;
pub mod place;
pub mod proof;
pub mod proof_size;
mod radii;
mod refined;
pub mod row;
mod supports;
pub mod verdict;

use std::fmt;

use self::place::Place;
use self::row::look_up;
use crate::kind::Kind;

pub use self::row::{Needs, NotAnswered, Wanted, Way};

/// What may be asked about two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Separated, touching or overlapping.
    Verdict,
    /// Whether the distance is within a margin.
    Margin,
    /// How far they are from each other.
    Distance,
    /// How far one can move along a direction before they meet, and where they part again.
    DistanceAlong,
    /// How deep they overlap.
    Depth,
    /// When they first meet, if nothing turns.
    FirstContact,
    /// When they first meet where one of them turns.
    FirstContactTurning,
    /// When they first meet within a margin or deviations.
    FirstContactWithSlack,
    /// Which of several bodies first meet, if nothing turns.
    FirstCollision,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 9] = [
        Self::Verdict,
        Self::Margin,
        Self::Distance,
        Self::DistanceAlong,
        Self::Depth,
        Self::FirstContact,
        Self::FirstContactTurning,
        Self::FirstContactWithSlack,
        Self::FirstCollision,
    ];

    /// What it is called in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Margin => "verdict with a margin",
            Self::Distance => "distance",
            Self::DistanceAlong => "distance along a direction",
            Self::Depth => "depth",
            Self::FirstContact => "first contact by translation",
            Self::FirstContactTurning => "first contact of bodies that turn",
            Self::FirstContactWithSlack => "first contact within a margin or deviations",
            Self::FirstCollision => "first collision of several",
        }
    }

    /// Whether it is answered about bodies of these kinds; if not, why.
    pub fn check(self, kinds: [Kind; 2]) -> Result<(), NotAnswered> {
        match self {
            Self::Verdict => look_up(kinds, verdict::entry).map(drop),
            Self::Margin => look_up(kinds, verdict::entry_with_margin).map(drop),
            Self::Distance => look_up(kinds, distance::entry).map(drop),
            Self::DistanceAlong => look_up(kinds, along::entry).map(drop),
            Self::Depth => look_up(kinds, depth::entry).map(drop),
            Self::FirstContact => look_up(kinds, first_contact::entry).map(drop),
            Self::FirstContactTurning => look_up(kinds, first_contact::entry_turning).map(drop),
            Self::FirstContactWithSlack => {
                look_up(kinds, first_contact::entry_with_slack).map(drop)
            }
            Self::FirstCollision => look_up(kinds, first_collision::entry).map(drop),
        }
    }
}

/// What proofs about bodies of these kinds are about: those of a height field about its surface.
pub fn proof_way_of(kinds: [Kind; 2]) -> Result<Way, NotAnswered> {
    look_up(kinds, verdict::entry)?;
    look_up(kinds.map(Kind::as_proven), verdict::entry)
}

/// What is answered about two bodies of these kinds.
pub fn topics_of(kinds: [Kind; 2]) -> impl Iterator<Item = Topic> {
    Topic::ALL.into_iter().filter(move |topic| topic.check(kinds).is_ok())
}

/// The places where a body of this kind may be.
pub fn places_of(kind: Kind) -> impl Iterator<Item = Place> {
    Place::ALL.into_iter().filter(move |place| place.takes(kind).is_ok())
}

impl NotAnswered {
    /// What is not answered, and what is about the same bodies.
    pub fn with_instead(&self) -> String {
        let Self { what, kinds, .. } = self;
        let topics: Vec<&str> = topics_of(*kinds).map(Topic::name).collect();
        match topics.len() {
            0 => format!("{what}; nothing is answered about these two"),
            _ => format!("{what}; about these two are answered: {}", topics.join(", ")),
        }
    }
}

/// The refusal in words, with what is answered instead.
impl fmt::Display for NotAnswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not answered: {}", self.with_instead())
    }
}

impl std::error::Error for NotAnswered {}

#[cfg(test)]
mod along_tests;
#[cfg(test)]
mod below_zero_tests;
#[cfg(test)]
mod cloud_tests;
#[cfg(test)]
mod collision_tests;
#[cfg(test)]
mod curved_tests;
#[cfg(test)]
mod deep_contact_tests;
#[cfg(test)]
mod tests;
