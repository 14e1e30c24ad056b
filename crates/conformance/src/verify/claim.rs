//! What one answer claims, and whether its certificate proves it.

use arrayvec::ArrayVec;

use super::{Findings, Hulls};
use crate::answer::{
    CaseAnswer, WrittenCertificate, WrittenDirection, WrittenEnd, WrittenLink, WrittenRange,
    WrittenSurface,
};
use crate::cases::{Case, Kind};
use clearance_geometry::claim::{
    Axis, Bodies, Course, Direction, Frame, Link, MotionClaim, Outcome, Points, RangeClaim,
    RangeEnd, RangeProof, Span, StaticProof, Surface,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{
    Refusal, judge_depth, judge_distance, judge_motion, judge_range, judge_static,
};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::pose::Pose;

/// Judges every claim of an answer.
pub(super) fn judge(case: &Case, hulls: &Hulls, answer: &CaseAnswer) -> Result<Findings, String> {
    let bodies = Bodies {
        p: place(hulls, case.p, case.translation_p, case.quaternion_p)?,
        q: place(hulls, case.q, case.translation_q, case.quaternion_q)?,
    };
    let certificate = answer.certificate.as_ref().ok_or("no certificate")?;
    match case.kind {
        Kind::Static => judge_placed(case, &bodies, answer, certificate),
        Kind::Linear | Kind::Screw => judge_moving(case, bodies, answer, certificate),
    }
}

fn place(hulls: &Hulls, id: u64, t: [f64; 3], q: [f64; 4]) -> Result<Points<'_>, String> {
    let points = hulls.get(&id).filter(|points| !points.is_empty());
    let points = points.ok_or_else(|| format!("hull {id} has no points"))?;
    let pose = Pose::from_quaternion(t.into(), q).map_err(words)?;
    Ok(Points { points, pose })
}

fn judge_placed(
    case: &Case,
    bodies: &Bodies<'_>,
    answer: &CaseAnswer,
    certificate: &WrittenCertificate,
) -> Result<Findings, String> {
    let proof = static_proof(&answer.verdict, certificate)?;
    let proof_verdict = proof.verdict();
    judge_static(*bodies, &proof).map_err(words)?;
    let mut found = Findings::default();
    found.proven.push(format!("static {}", answer.verdict));
    if let Some(range) = &certificate.range {
        let dir = case.dir.as_ref().ok_or("a range, and no direction")?;
        let (span, proof) = written_range(answer, range)?;
        let (along, proof) = (dir.d.into(), Some(&proof));
        let claim = RangeClaim { along, verdict: proof_verdict, span, proof };
        judge_range(*bodies, &claim, &mut Effort::unlimited()).map_err(words)?;
        found.proven.push("range along a direction".to_owned());
    } else if answer.enter.is_some() || answer.exit.is_some() {
        found.open.push("range along a direction".to_owned());
    }
    if let Some((lower, upper)) = bracket(answer.distance_lower, answer.distance_upper)? {
        if matches!(proof, StaticProof::Separated { .. }) {
            let pairs = vertex_pairs(&certificate.distance_pairs);
            judge_distance(*bodies, lower, upper, &pairs).map_err(words)?;
        } else if lower > 0.0 {
            return Err("a distance in contact".to_owned());
        }
        found.proven.push("distance".to_owned());
    }
    if let Some((lower, upper)) = bracket(answer.depth_lower, answer.depth_upper)? {
        let open = if matches!(proof, StaticProof::Overlapping { .. }) {
            !judge_written_depth(bodies, (lower, upper), certificate)?
        } else if lower > 0.0 {
            return Err("a depth without overlap".to_owned());
        } else {
            false
        };
        let list = if open { &mut found.open } else { &mut found.proven };
        list.push("depth".to_owned());
    }
    Ok(found)
}

/// The brackets of a range, of which the answer says the outer bounds, and what proves them.
fn written_range(
    answer: &CaseAnswer,
    range: &WrittenRange,
) -> Result<(Option<Span>, RangeProof), String> {
    let end = |end: &WrittenEnd| -> Result<RangeEnd, String> {
        let pairs = at_most(&vertex_pairs(&end.pairs), "one to four")?;
        Ok(RangeEnd { direction: direction(&end.direction)?, pairs })
    };
    let (span, proof) = match range {
        WrittenRange { never: Some(never), enter: None, exit: None } => {
            (None, RangeProof::Never { direction: direction(never)? })
        }
        WrittenRange { never: None, enter, exit: Some(exit) } => {
            let begins = enter.as_ref().map_or([0.0, 0.0], |enter| enter.bracket);
            let enter = enter.as_ref().map(end).transpose()?;
            let span = Span { enter: begins, exit: exit.bracket };
            (Some(span), RangeProof::Meets { enter, exit: end(exit)? })
        }
        _ => return Err("a range ends, or is never".to_owned()),
    };
    let said = (answer.enter, answer.exit);
    if said != (span.map(|span| span.enter[0]), span.map(|span| span.exit[1])) {
        return Err("the range is not that of the answer".to_owned());
    }
    Ok((span, proof))
}

/// Whether there is a certificate; if there is, it holds.
fn judge_written_depth(
    bodies: &Bodies<'_>,
    (lower, upper): (f64, f64),
    certificate: &WrittenCertificate,
) -> Result<bool, String> {
    let Some(face) = &certificate.face else { return Ok(false) };
    if certificate.surface.is_none() && lower > 0.0 {
        return Err("no surface proves the lower bound".to_owned());
    }
    let surface = certificate.surface.as_ref().map(surface);
    judge_depth(
        *bodies,
        [lower, upper],
        &direction(face)?,
        surface.as_ref(),
        &mut Effort::unlimited(),
    )
    .map_err(words)?;
    Ok(true)
}

fn judge_moving(
    case: &Case,
    bodies: Bodies<'_>,
    answer: &CaseAnswer,
    certificate: &WrittenCertificate,
) -> Result<Findings, String> {
    let outcome = match answer.verdict.as_ref() {
        "CONTACT" => Outcome::Contact,
        "NO_CONTACT" => Outcome::NoContact,
        "UNDECIDED" => Outcome::Undecided,
        other => return Err(format!("no verdict {other:?}")),
    };
    let at_end = (outcome == Outcome::NoContact).then_some(1.0);
    let t_free = answer.t_free.or(at_end).ok_or("no t_free")?;
    let t_contact = match outcome {
        Outcome::Contact => answer.t_contact.ok_or("no t_contact")?,
        Outcome::NoContact | Outcome::Undecided => 1.0,
    };
    let [motion_p, motion_q] = case.motions();
    for motion in [&motion_p, &motion_q] {
        let Motion::Screw { axis, angle, .. } = motion else { continue };
        if axis.amax() <= 0.0 && angle.abs() > 0.0 {
            return Err("the axis is zero".to_owned());
        }
    }
    let chain: Result<Vec<Link>, String> = certificate.chain.iter().flatten().map(link).collect();
    let chain = chain?;
    let WrittenDirection { direction, direction_pairs, direction_nearest, .. } =
        &certificate.direction;
    let forms = [direction.is_some(), direction_pairs.is_some(), direction_nearest.is_some()];
    let is_given = chain.is_empty() && forms.contains(&true);
    let initial = is_given.then(|| static_proof("SEPARATED", certificate)).transpose()?;
    let claim = MotionClaim {
        outcome,
        t_free,
        t_contact,
        chain: &chain,
        pairs: &vertex_pairs(&certificate.pairs),
        initial: initial.as_ref(),
    };
    let (margin, deviation_p, deviation_q) = (case.contact_margin, case.deviation, 0.0);
    if ![margin, deviation_p].into_iter().all(|x| (0.0..f64::INFINITY).contains(&x)) {
        return Err("a margin is finite and at least 0".to_owned());
    }
    let course =
        Course { bodies, motion_p, motion_q, reach: margin.into(), deviation_p, deviation_q };
    judge_motion(&course, &claim, &mut Effort::unlimited()).map_err(words)?;
    let kind = if case.kind == Kind::Screw { "screw" } else { "linear" };
    Ok(Findings { proven: vec![format!("{kind} {}", answer.verdict)], open: Vec::new() })
}

/// Both bounds or neither.
fn bracket(lower: Option<f64>, upper: Option<f64>) -> Result<Option<(f64, f64)>, String> {
    let is_bound = |x: f64| (0.0..f64::INFINITY).contains(&x);
    match (lower, upper) {
        (None, None) => Ok(None),
        (Some(lower), Some(upper)) if is_bound(lower) && is_bound(upper) => {
            Ok(Some((lower, upper)))
        }
        _ => Err("a bracket has two finite bounds, at least 0".to_owned()),
    }
}

fn static_proof(verdict: &str, certificate: &WrittenCertificate) -> Result<StaticProof, String> {
    let pairs = vertex_pairs(&certificate.pairs);
    match verdict {
        "SEPARATED" => Ok(StaticProof::Separated { direction: direction(&certificate.direction)? }),
        "TOUCHING" => Ok(StaticProof::Touching {
            direction: direction(&certificate.direction)?,
            pairs: at_most(&pairs, "one to three")?,
        }),
        "OVERLAPPING" => Ok(StaticProof::Overlapping { pairs: at_most(&pairs, "four to six")? }),
        other => Err(format!("no verdict {other:?}")),
    }
}

fn at_most<const N: usize>(
    pairs: &[VertexPair],
    count: &'static str,
) -> Result<ArrayVec<VertexPair, N>, String> {
    ArrayVec::try_from(pairs).map_err(|_| words(Refusal::PairCount(count)))
}

fn vertex_pairs(written: &[[u32; 2]]) -> Vec<VertexPair> {
    written.iter().map(|&[i, j]| VertexPair { i, j }).collect()
}

fn surface(written: &WrittenSurface) -> Surface {
    Surface { corners: vertex_pairs(&written.corners), triangles: written.triangles.clone() }
}

fn link(written: &WrittenLink) -> Result<Link, String> {
    let frame = match written.frame.as_ref() {
        "world" => Frame::World,
        "p" => Frame::P,
        "q" => Frame::Q,
        other => return Err(format!("no frame {other:?}")),
    };
    let direction = direction(&written.direction)?;
    Ok(Link { t0: written.t0, t1: written.t1, frame, direction })
}

/// What vertex pairs name a direction by.
enum PairForm {
    Normal,
    Swept,
    Nearest,
}

/// Exactly one of the forms.
fn direction(written: &WrittenDirection) -> Result<Direction, String> {
    let WrittenDirection { direction, direction_pairs, direction_swept, direction_nearest, .. } =
        written;
    let (pairs, form) = match (direction, direction_pairs, direction_swept, direction_nearest) {
        (Some(vector), None, None, None) => return Ok(Direction::Vector((*vector).into())),
        (None, Some(pairs), None, None) => (vertex_pairs(pairs), PairForm::Normal),
        (None, None, Some(pairs), None) => (vertex_pairs(pairs), PairForm::Swept),
        (None, None, None, Some(pairs)) => (vertex_pairs(pairs), PairForm::Nearest),
        _ => return Err("not one form of direction".to_owned()),
    };
    let negative = match written.direction_sign {
        Some(1) => false,
        Some(-1) => true,
        Some(_) | None => return Err("the direction's sign is not 1 or -1".to_owned()),
    };
    let axis = match written.direction_axis {
        None => None,
        Some(0) => Some(Axis::X),
        Some(1) => Some(Axis::Y),
        Some(2) => Some(Axis::Z),
        Some(_) => return Err("no such axis".to_owned()),
    };
    let nearest = |pairs| Ok(Direction::Nearest { pairs, negative });
    match (form, axis, pairs.as_slice()) {
        (PairForm::Normal, None, &[a, b, c]) => {
            Ok(Direction::Normal { pairs: [a, b, c], negative })
        }
        (PairForm::Normal, Some(axis), &[a, b]) => {
            Ok(Direction::EdgeNormal { pairs: [a, b], axis, negative })
        }
        (PairForm::Nearest, None, &[a, b, c]) => nearest([a, b, c]),
        (PairForm::Nearest, None, &[a, b]) => nearest([a, b, b]),
        (PairForm::Nearest, None, &[a]) => nearest([a; 3]),
        (PairForm::Swept, None, &[a, b]) => Ok(Direction::SweptNormal { pairs: [a, b], negative }),
        (PairForm::Swept, Some(axis), []) => Ok(Direction::SweptAxis { axis, negative }),
        _ => Err("this form of direction takes another number of vertex pairs".to_owned()),
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
