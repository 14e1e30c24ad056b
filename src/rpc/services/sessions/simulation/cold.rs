//! Questions about two bodies where a model has them, asked from cold: no scene, no boxes, nothing
//! that is remembered.

use std::sync::Arc;

use super::spins::Spin;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, TIME_TOLERANCE, Verdict};
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;
use clearance_geometry::{contact_time, penetration, separation};
use clearance_robot::body::PartBody;
use clearance_robot::meeting::{
    Course, Met, Rendezvous, Traveller, first_meeting, first_meeting_backwards,
};
use clearance_robot::path::{BaseWay, ChainPath};
use clearance_scene::{Body, Part};

/// A body, and where it was at the last answered frame, if it has moved since.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) body: Body,
    pub(super) start: Option<Pose>,
    /// No motion is assumed.
    pub(super) is_put: bool,
    /// How it turned since then, if it says so.
    pub(super) spin: Spin,
    /// What moves it, of a link of a robot and of what it carries.
    pub(super) carried: Option<Carried>,
    /// Its way since the last answered frame, if it has moved with a robot.
    pub(super) path: Option<Arc<ChainPath>>,
}

impl Placed {
    /// One that is new, or new here.
    pub(super) fn new(body: Body) -> Self {
        Self { body, start: None, is_put: true, spin: Spin::Unsaid, carried: None, path: None }
    }

    /// Its next way begins here.
    pub(super) fn settle(&mut self, is_put: bool) {
        (self.start, self.spin) = (None, Spin::Unsaid);
        (self.path, self.is_put) = (None, is_put);
    }

    /// How it turned from there to where it is.
    fn turn(&self, start: &Pose) -> Turn {
        match self.spin {
            Spin::Said(spin) => Turn { axis: spin, angle: spin.norm() },
            Spin::Unsaid | Spin::Lost => Turn::between(&start.rotation, &self.body.pose.rotation),
        }
    }

    /// Whether it is a link.
    pub(super) fn is_link(&self) -> bool {
        self.carried.as_ref().is_some_and(|by| by.is_link)
    }
}

/// Where a robot has a body that it moves.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    pub(super) robot: u32,
    /// The frame of its chain; none: its base.
    pub(super) frame: Option<usize>,
    pub(super) frame_from_body: Pose,
    pub(super) is_link: bool,
}

/// How two bodies met between two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way {
    pub(super) outcome: Outcome,
    pub(super) bracket: [f64; 2],
}

/// Calls `ask` with every part of P beside every part of Q.
fn parts<'a>(p: &'a Body, q: &'a Body) -> impl Iterator<Item = Pair<'a>> {
    p.parts.iter().flat_map(move |a| {
        q.parts.iter().map(move |b| {
            let [pose_p, pose_q] =
                [p.pose.compose(&a.body_from_part), q.pose.compose(&b.body_from_part)];
            Pair::new(&a.polytope, pose_p, &b.polytope, pose_q)
        })
    })
}

/// How they stand.
pub(super) fn stand(p: &Body, q: &Body) -> Verdict {
    let verdict = |pair: Pair<'_>| {
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let decision = separation::decide(&pair, &separation::METHODS[0], witness, effort);
        decision.expect("without a limit").verdict()
    };
    parts(p, q).map(verdict).fold(Verdict::Separated, Verdict::max)
}

/// Whether the distance of two separated bodies is at most this, metres, exactly.
pub(super) fn is_within(p: &Body, q: &Body, metres: f64) -> bool {
    metres > 0.0
        && parts(p, q).any(|pair| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            distance::is_within(&pair, metres, witness, effort).expect("without a limit")
        })
}

/// Whether they overlap at least as deep as a margin below 0 says, exactly.
pub(super) fn is_deep(p: &Body, q: &Body, margin: f64) -> bool {
    parts(p, q).any(|pair| {
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let found = penetration::compare(&pair, margin, false, witness, effort);
        found.expect("without a limit").compared.is_within
    })
}

/// A bracket of their distance, metres.
pub(super) fn distance(p: &Body, q: &Body) -> [f64; 2] {
    parts(p, q).fold([f64::INFINITY; 2], |[lower, upper], pair| {
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let measured = distance::measure(&pair, Stops::default(), witness, effort);
        let measured = measured.expect("without a limit");
        [lower.min(measured.lower), upper.min(measured.upper)]
    })
}

/// The parts of a body beside a point.
fn beside_point<'a>(
    point: &'a Polytope,
    from: Vec3,
    body: &'a Body,
) -> impl Iterator<Item = Pair<'a>> {
    body.parts.iter().map(move |part| {
        let pose = body.pose.compose(&part.body_from_part);
        Pair::new(point, Pose::translation(from.x, from.y, from.z), &part.polytope, pose)
    })
}

fn point() -> Polytope {
    clearance_samples::hull(&[Vec3::zeros()])
}

/// Around the time at which a ray first meets a body, if it does.
pub(super) fn ray(body: &Body, [from, by]: [Vec3; 2]) -> Option<[f64; 2]> {
    let point = point();
    let mut first: Option<[f64; 2]> = None;
    for pair in beside_point(&point, from, body) {
        let question = Question::new(pair, Motion::Linear { velocity: by }, Motion::rest());
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let found = contact_time::first_contact(&question, witness, effort);
        let found = found.expect("without a limit");
        if found.outcome == Outcome::Contact {
            let known = first.unwrap_or([1.0; 2]);
            first = Some([known[0].min(found.t_free), known[1].min(found.t_contact)]);
        }
    }
    first
}

/// Around the time at which a ray leaves a body of one part that it meets.
pub(super) fn ray_leaves(body: &Body, [from, by]: [Vec3; 2]) -> [f64; 2] {
    let point = point();
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    let mut exit = [0.0; 2];
    for pair in beside_point(&point, from, body) {
        let found = penetration::along(&pair, &by, witness, effort).expect("without a limit");
        exit = found.span.map_or(exit, |span| span.exit);
    }
    exit
}

/// How every two of their parts move since the last answered frame.
fn questions<'a>(p: &'a Placed, q: &'a Placed, margin: f64) -> impl Iterator<Item = Question<'a>> {
    let pairs =
        p.body.parts.iter().flat_map(|of_p| q.body.parts.iter().map(move |of_q| [of_p, of_q]));
    pairs.map(move |[part_p, part_q]| {
        let (from_p, motion_p) = motion(p, part_p);
        let (from_q, motion_q) = motion(q, part_q);
        let pair = Pair::new(&part_p.polytope, from_p, &part_q.polytope, from_q);
        Question { reach: margin.into(), ..Question::new(pair, motion_p, motion_q) }
    })
}

/// When they first came within `margin` of each other since the last answered frame, or were so
/// deep in each other where it is below 0.
pub(super) fn way(p: &Placed, q: &Placed, margin: f64) -> Way {
    if p.start.is_none() && q.start.is_none() {
        let is_in_contact = if margin < 0.0 {
            is_deep(&p.body, &q.body, margin)
        } else {
            stand(&p.body, &q.body) != Verdict::Separated || is_within(&p.body, &q.body, margin)
        };
        return match is_in_contact {
            true => Way { outcome: Outcome::Contact, bracket: [0.0, 0.0] },
            false => Way { outcome: Outcome::NoContact, bracket: [1.0, 1.0] },
        };
    }
    let mut first = Way { outcome: Outcome::NoContact, bracket: [1.0, 1.0] };
    if margin < 0.0 || p.path.is_some() || q.path.is_some() {
        for [a, b] in travellers(p, q) {
            let effort = &mut Effort::unlimited();
            first.take(&first_meeting([&a, &b], asked(margin), effort));
        }
        return first;
    }
    for question in questions(p, q, margin) {
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let found = contact_time::first_contact(&question, witness, effort);
        let found = found.expect("without a limit");
        let (outcome, t_free, t_contact) = (found.outcome, found.t_free, found.t_contact);
        first.take(&Met { outcome, t_free, t_contact, stopped: None });
    }
    first
}

impl Way {
    /// The first of this and of what became of two more parts.
    fn take(&mut self, found: &Met) {
        self.bracket[0] = self.bracket[0].min(found.t_free);
        match (found.outcome, self.outcome) {
            (Outcome::Contact, _) => {
                self.outcome = Outcome::Contact;
                self.bracket[1] = self.bracket[1].min(found.t_contact);
            }
            (Outcome::Undecided, Outcome::NoContact) => self.outcome = Outcome::Undecided,
            (Outcome::Undecided | Outcome::NoContact, _) => {}
        }
    }
}

/// What is asked of two parts of which robots move one or both.
fn asked(margin: f64) -> Rendezvous {
    Rendezvous { margin, tolerance: TIME_TOLERANCE, deviation: 0.0 }
}

/// Every two of their parts on their ways.
fn travellers(p: &Placed, q: &Placed) -> Vec<[Traveller; 2]> {
    let both = |of_p: &Part| {
        let beside = |of_q: &Part| [traveller(p, of_p), traveller(q, of_q)];
        q.body.parts.iter().map(beside).collect::<Vec<_>>()
    };
    p.body.parts.iter().flat_map(both).collect()
}

/// A part on its way: along the path of its robot, or as a body goes by itself.
fn traveller(placed: &Placed, part: &Part) -> Traveller {
    let body = PartBody::new(part.polytope.clone(), None);
    let end = placed.body.pose;
    let course = match (&placed.path, &placed.carried, &placed.start) {
        (Some(path), Some(by), _) => {
            let hung = by.frame_from_body.compose(&part.body_from_part);
            Course::On(path.clone(), path.hanging(by.frame, &hung))
        }
        (_, _, Some(start)) => {
            let pivot = start.apply_rounded(&placed.body.pivot);
            let turn = placed.turn(start);
            let way = BaseWay { ends: [*start, end], pivot, turn };
            let path = Arc::new(ChainPath::of_body(&way).expect("short ways"));
            let hanging = path.hanging(None, &part.body_from_part);
            Course::On(path, hanging)
        }
        (_, _, None) => Course::Still(end.compose(&part.body_from_part)),
    };
    Traveller { body, course }
}

/// Around the last moment since the last answered frame at which they were within `margin` of each
/// other, if either has moved.
pub(super) fn parting(p: &Placed, q: &Placed, margin: f64) -> Option<[f64; 2]> {
    if p.start.is_none() && q.start.is_none() {
        return None;
    }
    let mut last = [0.0_f64; 2];
    if p.path.is_some() || q.path.is_some() {
        for [a, b] in travellers(p, q) {
            let effort = &mut Effort::unlimited();
            let back = first_meeting_backwards([&a, &b], asked(margin), effort);
            let contact = if back.outcome == Outcome::Contact { 1.0 - back.t_contact } else { 0.0 };
            let free = if back.outcome == Outcome::NoContact { 0.0 } else { 1.0 - back.t_free };
            last = [last[0].max(contact), last[1].max(free)];
        }
        return Some(last);
    }
    for question in questions(p, q, margin) {
        let method = &contact_time::METHODS[0];
        let found = contact_time::last_contact_by(method, &question, &mut Effort::unlimited());
        let found = found.expect("without a limit").expect("a motion between poses");
        last = [0, 1].map(|end| last[end].max(found.bracket[end]));
    }
    Some(last)
}

/// Where a part was, and its motion since: all parts take the turn of their body.
fn motion(placed: &Placed, part: &Part) -> (Pose, Motion) {
    let end = placed.body.pose.compose(&part.body_from_part);
    let Some(start) = &placed.start else { return (end, Motion::rest()) };
    let motion = Motion::ToPose {
        end,
        pivot: Some(start.apply_rounded(&placed.body.pivot)),
        turn: Some(placed.turn(start)),
    };
    (start.compose(&part.body_from_part), motion)
}
