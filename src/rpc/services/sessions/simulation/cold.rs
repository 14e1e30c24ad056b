//! Questions about two bodies where a model has them, asked from cold: no scene, no boxes, nothing
//! that is remembered.

use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;
use clearance_geometry::{contact_time, penetration, separation};
use clearance_scene::{Body, Part};

/// A body, and where it was at the last answered frame, if it has moved since.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) body: Body,
    pub(super) start: Option<Pose>,
    /// No motion is assumed.
    pub(super) is_put: bool,
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

/// When they first came within `margin` of each other since the last answered frame.
pub(super) fn way(p: &Placed, q: &Placed, margin: f64) -> Way {
    if p.start.is_none() && q.start.is_none() {
        let is_in_contact =
            stand(&p.body, &q.body) != Verdict::Separated || is_within(&p.body, &q.body, margin);
        return match is_in_contact {
            true => Way { outcome: Outcome::Contact, bracket: [0.0, 0.0] },
            false => Way { outcome: Outcome::NoContact, bracket: [1.0, 1.0] },
        };
    }
    let mut first = Way { outcome: Outcome::NoContact, bracket: [1.0, 1.0] };
    for question in questions(p, q, margin) {
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let found = contact_time::first_contact(&question, witness, effort);
        let found = found.expect("without a limit");
        first.bracket[0] = first.bracket[0].min(found.t_free);
        match (found.outcome, first.outcome) {
            (Outcome::Contact, _) => {
                first.outcome = Outcome::Contact;
                first.bracket[1] = first.bracket[1].min(found.t_contact);
            }
            (Outcome::Undecided, Outcome::NoContact) => first.outcome = Outcome::Undecided,
            (Outcome::Undecided | Outcome::NoContact, _) => {}
        }
    }
    first
}

/// Around the last moment since the last answered frame at which they were within `margin` of each
/// other, if either has moved.
pub(super) fn parting(p: &Placed, q: &Placed, margin: f64) -> Option<[f64; 2]> {
    if p.start.is_none() && q.start.is_none() {
        return None;
    }
    let mut last = [0.0_f64; 2];
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
        turn: Some(Turn::between(&start.rotation, &placed.body.pose.rotation)),
    };
    (start.compose(&part.body_from_part), motion)
}
