//! One search for the first contact of turning bodies: what it is told, where it is, and what it
//! has proven.

use std::cell::OnceCell;

use arrayvec::ArrayVec;

use super::bounds::body::MovingBody;
use super::bounds::moving::{MeasuredHeading, Moving};
use super::bounds::unturned::SharedPlane;
use crate::Vec3;
use crate::claim::CLEARANCE_TOLERANCE_MIN;
use crate::claim::{Frame, Link};
use crate::difference::ellipsoids::direction_between;
use crate::motion::{self, Boxed};
use crate::number::rounding::unit;
use crate::number::scale::PowerOfTwo;
use crate::number::tolerance::{CLEARANCE, LENGTH_LEAST};
use crate::pair::Question;
use crate::pair::{Pair, Placed, VertexPair};
use crate::pose::Pose;

/// The search probes for a proof of contact once `gap < PROBE_GAP x bracket width x closing speed`.
/// The probe is placed [`PROBE_LEAD`] bracket widths past the predicted contact, which leaves the
/// rest of the width for an error in the speed.
const PROBE_GAP: f64 = 0.25;
const PROBE_LEAD: f64 = 0.5;

/// Vertex pairs that prove a contact.
pub(super) type ContactPairs = ArrayVec<VertexPair, 6>;

/// A proven contact: its time, and the pairs that prove it.
#[derive(Clone, Debug)]
pub(super) struct ContactAt {
    pub(super) t: f64,
    pub(super) pairs: ContactPairs,
}

/// A search in progress.
pub(super) struct TurningSearch<'a> {
    pub(super) told: SearchTold<'a>,
    pub(super) moving: Moving<'a>,
    pub(super) at: Position,
    pub(super) proven: Proven,
}

/// What a search is told. Lengths are in the search's units: metres times a power of two.
pub(super) struct SearchTold<'a> {
    pub(super) question: &'a Question<'a>,
    /// How far from each other the bodies have to stay for freedom: the margin and the
    /// deviations.
    pub(super) clear: f64,
    /// How close the bodies have to come for contact.
    pub(super) margin: f64,
    /// The clearance tolerance.
    pub(super) tolerance: f64,
    /// The plane that the bodies share, once it was looked for.
    shared_plane: OnceCell<Option<SharedPlane>>,
}

/// Where a search is.
pub(super) struct Position {
    /// The time up to which everything is proven free or, after the free part, not deeper than
    /// allowed.
    pub(super) t: f64,
    /// The heading in use, with the gap along it at t.
    pub(super) heading: Option<MeasuredHeading>,
    /// The direction from body to body at the start, where balls around the bodies gave no link.
    pub(super) towards: Vec3,
    /// The surplus that the heading left when it was found.
    pub(super) surplus_found: f64,
    /// The corners of M that were nearest the origin when a direction was last sought.
    pub(super) seed: ArrayVec<VertexPair, 4>,
    /// What served best when headings were slow.
    pub(super) habit: Habit,
    /// How fast the nearest points approached each other at the time that was last asked about.
    pub(super) speed: Option<ClosingSpeed>,
}

/// How fast the nearest points approach each other at a time, per step.
#[derive(Clone, Copy)]
pub(super) struct ClosingSpeed {
    pub(super) t: f64,
    pub(super) speed: f64,
}

/// Where to look for a direction when headings are slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// How far ahead in time, in units of the step that the heading at hand certifies.
    pub(super) ahead: f64,
    /// The frame that the direction is then fixed in.
    pub(super) frame: Frame,
}

/// What got furthest when all ways to find a direction were compared last, and how often it has
/// been used since.
#[derive(Default)]
pub(super) struct Habit {
    /// The look that got furthest, and its uses.
    pub(super) look: Option<(Look, u32)>,
    /// Steps along the normal of a moment later.
    pub(super) tilts: u32,
}

/// What a search has proven.
#[derive(Default)]
pub(super) struct Proven {
    /// Links that cover [0, t] as free, up to the end of the free part.
    pub(super) chain: Vec<Link>,
    /// Pieces that a judge needs for the last link.
    pub(super) pieces: u32,
    /// Contact that was proven in a bracket wider than it may be: the free part goes on.
    pub(super) late: Option<ContactAt>,
    /// The free part ended where rounding held it up, and what comes after it was proven by other
    /// means.
    pub(super) is_held_up: bool,
}

impl<'a> TurningSearch<'a> {
    pub(super) fn new(question: &'a Question<'a>) -> Self {
        let scale = scale_of(question);
        let told = SearchTold::new(question, scale);
        Self {
            // Made here and not before, so that it is not moved.
            moving: Moving::new(question, scale, told.clear),
            told,
            at: Position::at_start(),
            proven: Proven::default(),
        }
    }

    /// The direction from body to body at the start, as far as their sizes tell.
    pub(super) fn direction_at_start(&self) -> Vec3 {
        let moving = &self.moving.pair;
        let centre =
            |side: &MovingBody<'_>| side.plain.arm(&side.track.local(&side.body.bounds().centre));
        let towards = moving.pivots() + centre(&moving.q) - centre(&moving.p);
        let Pair { p, q } = &self.told.question.pair;
        let is_scaled = moving.p.track.slack() > 0.0;
        let towards = if is_scaled { towards } else { direction_between(p, q, &towards) };
        unit(&towards).unwrap_or_else(Vec3::x)
    }

    /// From now on headings have to keep this distance between the bodies, the one in use as well.
    pub(super) fn keep_clear(&mut self, clear: f64) {
        self.moving.clear = clear;
        if let Some(known) = &mut self.at.heading {
            known.keep_clear(clear);
        }
    }

    /// To which part of itself a distance has to be known for the surplus over the margin to be
    /// known as far as it matters.
    pub(super) fn resolution(&self, known: Option<&MeasuredHeading>) -> f64 {
        let SearchTold { clear, tolerance, .. } = self.told;
        if clear <= 0.0 {
            return 1.0;
        }
        let surplus = known.map_or(0.0, |known| known.surplus_over(clear)).max(tolerance);
        surplus / (surplus + clear)
    }
}

impl<'a> SearchTold<'a> {
    fn new(question: &'a Question<'a>, scale: Option<PowerOfTwo>) -> Self {
        let scaled = |x: f64| match scale {
            None => x,
            Some(scale) => scale.times(x).next_up(),
        };
        // Scaling rounds towards "farther" for freedom, and towards "closer" for contact.
        let [least, most] = question.reach.bounds();
        let kept = scaled(most) + scaled(question.deviation_p);
        let clear = (kept + scaled(question.deviation_q)).next_up().next_up();
        let margin = match scale {
            None => least,
            Some(scale) => scale.times(least).next_down().max(0.0),
        };
        let clear = if clear > LENGTH_LEAST { clear } else { 0.0 };
        let size = scaled(scene_size(question));
        let asked = question.clearance_tolerance.map_or(CLEARANCE * size, scaled);
        let tolerance = asked.max(CLEARANCE_TOLERANCE_MIN * size);
        Self { question, clear, margin, tolerance, shared_plane: OnceCell::new() }
    }

    pub(super) fn time_tolerance(&self) -> f64 {
        self.question.time_tolerance
    }

    /// Whether the question names a clearance tolerance, so that brackets may use all of it.
    pub(super) fn asks_for_clearance(&self) -> bool {
        self.question.clearance_tolerance.is_some()
    }

    /// The gap below which bodies that close at this speed are near contact.
    pub(super) fn probe_gap(&self, closing: f64) -> f64 {
        PROBE_GAP * (self.time_tolerance() * closing + self.tolerance)
    }

    /// Where to probe for contact of bodies with this gap that close at this speed, counted from
    /// now.
    pub(super) fn probe_lead(&self, gap: f64, closing: f64) -> f64 {
        let width = self.time_tolerance() * closing + self.tolerance;
        // A bracket that comes out too wide is made narrower, at a cost. Where a tolerance was
        // asked for, that is to be rare.
        let lead = if self.asks_for_clearance() { 0.5 * PROBE_LEAD } else { PROBE_LEAD };
        (gap + lead * width) / closing
    }

    /// The plane that the bodies share at all times, if there is one.
    pub(super) fn shared_plane(&self) -> Option<&SharedPlane> {
        self.shared_plane.get_or_init(|| SharedPlane::of(self.question)).as_ref()
    }
}

impl Position {
    fn at_start() -> Self {
        Self {
            t: 0.0,
            heading: None,
            towards: Vec3::x(),
            surplus_found: f64::INFINITY,
            seed: ArrayVec::new(),
            habit: Habit::default(),
            speed: None,
        }
    }

    /// The surplus along the heading in use.
    pub(super) fn surplus(&self) -> Option<f64> {
        self.heading.as_ref().map(MeasuredHeading::surplus)
    }
}

/// The larger of size and world at t = 0, rounded. The world's part is that of the turned bounding
/// boxes.
fn scene_size(question: &Question<'_>) -> f64 {
    let pair = &question.pair;
    let one = |placed: &Placed<'_>| {
        let bounds = placed.body.bounds();
        let half = 0.5 * bounds.high - 0.5 * bounds.low;
        let Pose { rotation, translation } = &placed.pose;
        let world = rotation.abs() * half + (rotation * bounds.centre + translation).abs();
        (2.0 * half.amax()).max(world.amax())
    };
    one(&pair.p).max(one(&pair.q))
}

/// The power of two that lengths are multiplied by where they are too large or too small for
/// squares: see [`motion::scale_of`].
pub(super) fn scale_of(question: &Question<'_>) -> Option<PowerOfTwo> {
    let Pair { p, q } = &question.pair;
    let (of_p, of_q) = (p.body.bounds(), q.body.bounds());
    motion::scale_of(
        &Boxed { pose: &p.pose, motion: &question.motion_p, low: of_p.low, high: of_p.high },
        &Boxed { pose: &q.pose, motion: &question.motion_q, low: of_q.low, high: of_q.high },
    )
}
