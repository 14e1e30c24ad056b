//! Bodies as declared, and where they are placed now.

use std::sync::Arc;

use super::bounds::{Ball, Box3};
use crate::geometry::motion::{Motion, Turn};
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::{COORDINATE_MAX, Pose};
use crate::geometry::{Mat3, Vec3};

/// The client's number for a body; unique in its scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// One convex piece of a body.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its shape; shared, immutable.
    pub polytope: Arc<Polytope>,
    /// From the part's frame to the body's.
    pub body_from_part: Pose,
}

/// A rigid body: one or several convex parts that move together.
#[derive(Clone, Debug)]
pub struct Body {
    /// The client's number for it.
    pub id: BodyId,
    /// For people; may be empty, need not be unique.
    pub name: String,
    /// At least one.
    pub parts: Vec<Part>,
    /// From the body's frame to the world.
    pub pose: Pose,
    /// Names of the groups it belongs to.
    pub groups: Vec<String>,
    /// Fixed bodies are not checked against each other.
    pub fixed: bool,
    /// Its share of a pair's margin, metres.
    pub margin: f64,
    /// The point in the body's frame that motions between frames turn about.
    pub pivot: Vec3,
    /// Proofs that a motion is free hold for every motion within this of the stated one, metres.
    pub deviation: f64,
}

impl Body {
    /// A body of one part in its own frame, at the origin.
    pub fn solid(id: u32, polytope: Arc<Polytope>) -> Self {
        Self {
            id: BodyId(id),
            name: String::new(),
            parts: vec![Part { polytope, body_from_part: Pose::identity() }],
            pose: Pose::identity(),
            groups: Vec::new(),
            fixed: false,
            margin: 0.0,
            pivot: Vec3::zeros(),
            deviation: 0.0,
        }
    }

    /// Memory that it takes in a scene beyond the shapes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        // A part is declared once and placed at most twice.
        const PART: usize = 3 * size_of::<PlacedPart>();
        let groups: usize = self.groups.iter().map(|name| size_of::<String>() + name.len()).sum();
        size_of::<Entry>() + self.parts.len() * PART + self.name.len() + groups
    }

    /// Places the body elsewhere.
    #[must_use]
    pub fn placed(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// The body with every part placed, or none when a part would lie beyond the largest
    /// coordinate.
    pub(super) fn place(&self, pose: Pose) -> Option<Placement> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let world_from_part = pose.compose(&part.body_from_part);
            if !world_from_part.translation.iter().all(|c| c.abs() <= COORDINATE_MAX) {
                return None;
            }
            let bounds = Box3::of_placed(&part.polytope, &world_from_part);
            parts.push(PlacedPart { pose: world_from_part, bounds });
        }
        let bounds = parts.iter().map(|part| part.bounds).reduce(|a, b| a.union(&b))?;
        let ball = match &self.parts[..] {
            [part] => Ball::of_placed(&part.polytope, &parts[0].pose),
            _ => Ball::around(&bounds),
        };
        let pivot = pose.apply_rounded(&self.pivot);
        Some(Placement { rotation: pose.rotation, pivot, parts, bounds, ball })
    }
}

/// Where a body is: the twelve numbers of each part, about which every statement is.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    /// The body's, of which a motion from here takes its turn.
    pub(super) rotation: Mat3,
    /// The point in the world that a motion from here turns about.
    pub(super) pivot: Vec3,
    /// In the order of the body's parts.
    pub(super) parts: Vec<PlacedPart>,
    /// Holds every part.
    pub(super) bounds: Box3,
    /// Holds every part, too.
    pub(super) ball: Ball,
}

/// A part and the box that surely holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedPart {
    /// From the part's frame to the world.
    pub(super) pose: Pose,
    /// Holds the part, exactly.
    pub(super) bounds: Box3,
}

/// The motion of a body to this frame: its turn, and what holds the body and each of its parts on
/// the way.
#[derive(Clone, Debug)]
pub(super) struct Swept {
    pub(super) turn: Turn,
    pub(super) bounds: Box3,
    pub(super) ball: Ball,
    pub(super) parts: Vec<Box3>,
}

/// A body of a scene and where it has been.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// As declared; its pose and deviation are kept up to date.
    pub(super) body: Body,
    /// Where it is.
    pub(super) now: Placement,
    /// Where it was at the last answered frame, if it has moved since.
    pub(super) before: Option<Placement>,
    /// Since the last answered frame it was put somewhere: no motion is assumed.
    pub(super) teleported: bool,
    /// The widest deviation stated for the motion to this frame, metres; 0 before it moves.
    pub(super) deviation: f64,
    /// The frame that moved it last.
    pub(super) moved_by: u64,
    /// Changes whenever the pose does.
    pub(super) revision: u64,
    /// The way to this frame, while a frame that asks for first contacts is answered and the body
    /// has moved.
    pub(super) swept: Option<Swept>,
}

impl Entry {
    /// A body that is new.
    pub(super) fn new(body: Body, now: Placement) -> Self {
        Self {
            body,
            now,
            before: None,
            teleported: true,
            deviation: 0.0,
            moved_by: 0,
            revision: 0,
            swept: None,
        }
    }

    /// The next motion starts here.
    pub(super) fn settle(&mut self) {
        (self.before, self.swept) = (None, None);
        self.teleported = false;
        self.deviation = 0.0;
    }

    /// Where it was at the last answered frame.
    pub(super) fn start(&self) -> &Placement {
        self.before.as_ref().unwrap_or(&self.now)
    }

    /// How the body has turned since the last answered frame.
    fn turn(&self) -> Turn {
        Turn::between(&self.start().rotation, &self.now.rotation)
    }

    /// The motion of one part since the last answered frame: all parts take the body's turn.
    pub(super) fn motion_of(&self, part: usize) -> Motion {
        match (&self.before, &self.swept) {
            (Some(before), Some(swept)) => Motion::ToPose {
                end: self.now.parts[part].pose,
                pivot: Some(before.pivot),
                turn: Some(swept.turn),
            },
            (None, _) | (_, None) => Motion::rest(),
        }
    }

    /// Holds the body throughout the motion to this frame, if that is asked about; else where it
    /// is.
    pub(super) fn held(&self) -> &Box3 {
        self.swept.as_ref().map_or(&self.now.bounds, |swept| &swept.bounds)
    }

    /// Holds the body in the same way.
    pub(super) fn held_in_ball(&self) -> &Ball {
        self.swept.as_ref().map_or(&self.now.ball, |swept| &swept.ball)
    }

    /// Holds one part in the same way.
    pub(super) fn held_part(&self, part: usize) -> &Box3 {
        self.swept.as_ref().map_or(&self.now.parts[part].bounds, |swept| &swept.parts[part])
    }

    /// The motion to this frame.
    pub(super) fn way(&self) -> Swept {
        let turn = self.turn();
        let parts = 0..self.now.parts.len();
        let parts: Vec<_> = parts.map(|part| self.part_swept(part, &turn)).collect();
        let bounds = parts.iter().copied().reduce(|a, b| a.union(&b));
        let bounds = bounds.expect("a body has at least one part");
        Swept { turn, bounds, ball: self.ball_swept(&bounds, &turn), parts }
    }

    /// Holds the body throughout that motion and every motion within the deviation; `bounds` do.
    fn ball_swept(&self, bounds: &Box3, turn: &Turn) -> Ball {
        let (Some(before), [_]) = (&self.before, &self.now.parts[..]) else {
            return Ball::around(bounds);
        };
        let swept = Ball::swept(&before.ball, &self.now.ball, turn.angle, &before.pivot);
        if self.deviation > 0.0 { swept.inflated(self.deviation) } else { swept }
    }

    /// Holds one part throughout that motion and every motion within the deviation.
    fn part_swept(&self, part: usize, turn: &Turn) -> Box3 {
        let to = &self.now.parts[part].bounds;
        let swept = match &self.before {
            None => *to,
            Some(before) => Box3::swept(&before.parts[part].bounds, to, turn.angle, &before.pivot),
        };
        if self.deviation > 0.0 { swept.inflated(self.deviation) } else { swept }
    }
}
