//! Where the search looks for contact: a little ahead of what is free, and then, if the bracket
//! came out too wide, back again.

use arrayvec::ArrayVec;

use super::flat::Flat;
use super::moving::{Moving, Side};
use super::nearest::{LOOSE, Near, ROUGH, TIGHT};
use super::step::Step;
use super::{Search, contact};
use crate::geometry::effort::Effort;
use crate::geometry::pair::VertexPair;

/// Contact is near when the gap is less than this part of what a bracket may be wide, times the
/// speed; and is then looked for this much beyond. The rest is for contact at another speed.
const NEAR: f64 = 0.25;
const BEYOND: f64 = 0.5;
/// Part of the default clearance tolerance's share that a bracket takes where a few steps more
/// spare the rest: references of turning bodies are known as well.
const SPARING: f64 = 0.1;
/// How often a bracket that is too wide is halved.
const HALVINGS_MAX: u32 = 8;
impl Search<'_> {
    /// Contact at this speed is near when the gap is less.
    pub(super) fn near(&self, closing: f64) -> f64 {
        NEAR * (self.time_tolerance * closing + self.tolerance)
    }

    /// Where to look for a proof of contact after a step that ends near it: as far beyond contact
    /// along its heading as a part of what a bracket may be wide.
    pub(super) fn near_contact(&self, step: &Step) -> Option<f64> {
        let closing = -step.gap.rate;
        let width = self.time_tolerance * closing + self.tolerance;
        let is_near = closing > 0.0 && step.surplus < self.near(closing);
        // What is found too late is brought forward. Where a tolerance was asked for, that is to be
        // rare.
        let is_asked_for = self.question.clearance_tolerance.is_some();
        let beyond = if is_asked_for { 0.5 * BEYOND } else { BEYOND };
        is_near.then(|| (self.t + (step.surplus + beyond * width) / closing).min(1.0))
    }

    /// Pairs that prove contact at time t, if they can be found. If not, `seed` becomes what is
    /// nearest then, from where the search goes on.
    pub(super) fn contact_at(
        &mut self,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Option<ArrayVec<VertexPair, 6>> {
        let world = self.world_direction(t);
        let resolution = ROUGH * self.resolution(None);
        let (flat, question) = (&self.flat, self.question);
        let flat = |moving: &Moving<'_>| {
            let flat = flat.get_or_init(|| Flat::of(question)).as_ref()?;
            Some(flat.prove(moving, t, &world))
        };
        let good_enough = resolution.max(TIGHT);
        contact::prove(
            &mut self.moving,
            t,
            (self.margin, good_enough),
            (&world, &mut self.seed),
            flat,
            effort,
        )
    }

    /// Contact proven earlier, if it can be, while the bracket is wider than what was asked for: a
    /// heading may close more slowly than the bodies do, and then looking ahead by what it allows
    /// is too far.
    pub(super) fn brought_forward(
        &mut self,
        free: f64,
        found: (f64, ArrayVec<VertexPair, 6>),
        effort: &mut Effort<'_>,
    ) -> (f64, ArrayVec<VertexPair, 6>) {
        let (mut t, mut pairs) = found;
        let width = self.width_asked_for(free, t, effort);
        let mut not_before = free;
        for _ in 0..HALVINGS_MAX {
            if t - free <= width {
                break;
            }
            let half = not_before + 0.5 * (t - not_before);
            match self.contact_at(half, effort) {
                Some(earlier) => (t, pairs) = (half, earlier),
                None => not_before = half,
            }
        }
        (t, pairs)
    }

    /// How wide a bracket from `free` to t is to be: the time tolerance, and where a clearance
    /// tolerance was asked for, what that is worth. Rounded.
    fn width_asked_for(&mut self, free: f64, t: f64, effort: &mut Effort<'_>) -> f64 {
        if self.question.clearance_tolerance.is_none() {
            return self.time_tolerance;
        }
        self.width_allowed(free, t, effort)
    }

    /// Whether a bracket from `free` to t is as narrow as the tolerances say. It may not be
    /// although contact was near along a heading: the bodies are then farther apart than it tells.
    /// With steps to spare, the default clearance tolerance is used up by a part only.
    pub(super) fn is_narrow(
        &mut self,
        free: f64,
        t: f64,
        has_spare: bool,
        effort: &mut Effort<'_>,
    ) -> bool {
        let is_asked_for = self.question.clearance_tolerance.is_some();
        let part = if has_spare && !is_asked_for { SPARING } else { 1.0 };
        let (width, least) = (t - free, self.time_tolerance);
        width <= least || width - least <= part * (self.width_allowed(free, t, effort) - least)
    }

    /// The time tolerance, and what the clearance tolerance is worth at the speed of the nearest
    /// points at `free` or, with a margin, at t. Rounded.
    pub(super) fn width_allowed(&mut self, free: f64, t: f64, effort: &mut Effort<'_>) -> f64 {
        let (time_tolerance, tolerance) = (self.time_tolerance, self.tolerance);
        let width = |speed: f64| time_tolerance + tolerance / speed;
        let moving = &self.moving;
        let turning = |side: &Side<'_>| side.plain.angle.abs() * side.extent.radius;
        let fastest = moving.apart.norm() + turning(&moving.p) + turning(&moving.q);
        // Mostly that is enough, and no nearest points have to be found.
        if t - free <= width(fastest) {
            return width(fastest);
        }
        // Without a margin there are no nearest points where the bracket ends.
        let speed = self.closing_speed(if self.margin > 0.0 { t } else { free }, effort);
        if speed > 0.0 { width(speed) } else { time_tolerance }
    }

    /// How fast the nearest points come nearer at time t; 0 where they do not, or where there are
    /// none.
    fn closing_speed(&mut self, t: f64, effort: &mut Effort<'_>) -> f64 {
        // Whoever brings contact forward asks, and whoever then judges the bracket asks again.
        if let Some((at, speed)) = self.speed
            && at.to_bits() == t.to_bits()
        {
            return speed;
        }
        let guess = self.world_direction(t);
        let mut near = Near::at(&mut self.moving, t);
        let nearest = near.nearest((&guess, &self.seed), LOOSE, effort);
        let gap = self.gap_across(&nearest, t, effort);
        let speed = gap.map_or(0.0, |gap| (-gap.rate).max(0.0));
        self.speed = Some((t, speed));
        speed
    }
}
