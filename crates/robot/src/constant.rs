//! Pairs of parts of a robot whose clearance no joint value changes.
//!
//! Two parts move as one if the joints between them change nothing of either: each turns about an
//! axis that the points of the part lie on, as of balls and capsules. And if one joint turns one of
//! them beside the other, the gap between the planes across its axis that hold them apart stays the
//! same. The parts are exactly as far apart as these in every configuration if a point of the one
//! in its plane goes round a circle that the other has in its plane: the point of the axis in both,
//! or a vertex of the one while the other is convex and has eight points around the circle. On a
//! UR5 that are a box around its end and the flat face of its wrist. What follows is a bracket,
//! widened by how far points are from where that says.

use super::body::PartBody;
use super::cell::{Cell, Instance};
use super::clearances::{Measured, SignedClearance, signed_clearance};
use super::error::BuildError;
use super::model::{CONSTANT_ROUNDING, ConstantPair, Robot};
use super::room::BuildRoom;
use super::stand::{Block, LANES, Poses, Stand};
use super::still::StillBody;
use super::tree::{Freedom, Unit};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::convex_hull_with;
use clearance_geometry::number::rounding::UNIT;
use clearance_geometry::number::tolerance::{CONSTANT_WITHIN, ON_AXIS};
use clearance_geometry::pose::Pose;

/// Pairs that are found at most; there are no more in what is built.
const PAIRS_MAX: usize = 1000;

/// Up to which frame the joints that carry a part change nothing of it.
#[derive(Clone, Copy, Debug)]
struct Idle {
    /// The first frame that does; none: no joint does.
    frame: Option<usize>,
    /// How far its points may be from where that says, metres.
    off_by: f64,
}

/// Two parts with at most one joint between them that changes anything.
#[derive(Clone, Copy, Debug)]
struct BarelyJoined {
    parts: [usize; 2],
    /// The frame that turns; none: they move as one.
    turning: Option<usize>,
    off_by: f64,
}

/// A candidate that is held apart by planes across an axis.
#[derive(Clone, Debug)]
struct HeldApart {
    parts: [usize; 2],
    gap: f64,
    ways: Vec<NearPoints>,
    off_by: f64,
}

/// Points of two parts, in the world, that show them to be as near as their planes are.
type NearPoints = [Vec<Vec3>; 2];

/// Points around a circle.
const AROUND: usize = 8;

/// The pairs of a robot that is read, whose parts take so many bytes.
pub(super) fn constant_pairs(
    robot: &Robot,
    bytes: usize,
    room: &dyn BuildRoom,
    effort: &mut Effort<'_>,
) -> Result<Vec<ConstantPair>, BuildError> {
    let candidates = candidates(robot, effort)?;
    let rest = robot.rest();
    if candidates.is_empty() || robot.kinematics.check(&rest).is_err() {
        return Ok(Vec::new());
    }
    let frames = robot.kinematics.place_one(&rest);
    let (mut as_one, mut apart) = (Vec::new(), Vec::new());
    for candidate in candidates {
        effort.spend_step()?;
        match candidate.turning {
            None => as_one.push(candidate),
            Some(frame) => apart.extend(held_apart(robot, &frames, candidate, frame)),
        }
    }
    if as_one.is_empty() && apart.is_empty() {
        return Ok(Vec::new());
    }
    let has_meshes = robot.parts.iter().any(|part| part.body.mesh().is_some());
    let bodies = robot.parts.iter().map(|part| &part.body);
    let solids =
        if has_meshes { Cell::bytes_of_solids(bodies, POINTS_MAX * apart.len()) } else { 0 };
    let of_points = apart.len() * POINTS_MAX * POINT_BYTES;
    if !room.holds(bytes + Cell::bytes_of_robots(&[robot]) + solids + of_points) {
        return Err(BuildError::NoRoom);
    }
    let mut still = Vec::new();
    for point in apart.iter().flat_map(|one| &one.ways).flatten().flatten() {
        still.push(ball_around(point, effort)?);
    }
    let instance = Instance { robot, world_from_base: Pose::identity() };
    let cell = Cell::new(&[instance], still);
    let (mut block, mut poses) = (Block::default(), Poses::default());
    block.place(&cell, &[&rest[..]; LANES]);
    let mut stand = block.stand(&cell, 0, &mut poses);
    let mut found = Vec::new();
    for one in &as_one {
        found.extend(measured(&mut stand, one, effort)?);
    }
    let mut next = cell.part_count();
    for one in &apart {
        let first = next;
        next += one.ways.iter().flatten().map(Vec::len).sum::<usize>();
        found.extend(shown_apart(&mut stand, one, first, effort)?);
    }
    found.sort_by_key(|one: &ConstantPair| one.pair);
    found.truncate(PAIRS_MAX);
    Ok(found)
}

/// The points of all ways of a pair, at most, and what each takes as a body.
const POINTS_MAX: usize = 2 * (AROUND + 2);
const POINT_BYTES: usize = 4 << 10;

/// A ball around a point of an axis: what it is in contact with has a point so near.
fn ball_around(point: &Vec3, effort: &mut Effort<'_>) -> Result<StillBody, BuildError> {
    let hull = convex_hull_with(&[Vec3::zeros()], effort);
    let hull = hull.map_err(|_| BuildError::Stopped(Stopped::Deadline))?;
    let polytope = std::sync::Arc::new(hull.polytope);
    let body = PartBody::from(polytope).rounded(ON_AXIS);
    Ok(StillBody { body, pose: Pose::translation(point.x, point.y, point.z) })
}

impl Robot {
    /// Joint values of 0, and no turn of floating joints.
    fn rest(&self) -> Vec<f64> {
        let variables = &self.kinematics.tree().variables;
        let turns = |k: usize| variables[k].unit == Unit::Quaternion;
        // The last of the four is the real part.
        let is_real = |k: usize| turns(k) && !(k + 1 < variables.len() && self.is_within(k + 1));
        (0..variables.len()).map(|k| if is_real(k) { 1.0 } else { 0.0 }).collect()
    }

    /// Whether a value is one of a quaternion, and not its first.
    fn is_within(&self, variable: usize) -> bool {
        self.kinematics.tree().frames.iter().any(|frame| match frame.freedom {
            Freedom::Ball { variable: first } => (first + 1..first + 4).contains(&variable),
            Freedom::Turn { .. } | Freedom::Slide { .. } => false,
        })
    }
}

/// Pairs of parts that few joints part, in order.
fn candidates(robot: &Robot, effort: &mut Effort<'_>) -> Result<Vec<BarelyJoined>, Stopped> {
    let idle: Vec<Idle> = (0..robot.parts.len()).map(|part| idle_of(robot, part)).collect();
    let has_parts = |link: &usize| !robot.links[*link].parts.is_empty();
    let links: Vec<usize> = (0..robot.links.len()).filter(has_parts).collect();
    let mut found = Vec::new();
    for (at, a) in links.iter().enumerate() {
        for b in &links[at + 1..] {
            effort.spend_step()?;
            if !is_asked(robot, [*a, *b]) {
                continue;
            }
            for i in robot.links[*a].parts.clone() {
                effort.look_at_clock()?;
                for k in robot.links[*b].parts.clone() {
                    let Some(turning) = between(robot, idle[i].frame, idle[k].frame) else {
                        continue;
                    };
                    let off_by = idle[i].off_by + idle[k].off_by;
                    found.push(BarelyJoined { parts: [i, k], turning, off_by });
                    if found.len() >= CANDIDATES_MAX {
                        return Ok(found);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Candidates that are looked at.
const CANDIDATES_MAX: usize = 500;

/// Whether a pair of links may be asked.
fn is_asked(robot: &Robot, links: [usize; 2]) -> bool {
    let moves = links.iter().any(|link| robot.links[*link].frame.is_some());
    moves && (robot.is_checked(links) || robot.is_joined(links))
}

/// Up to where joints change nothing of a part.
fn idle_of(robot: &Robot, part: usize) -> Idle {
    let tree = robot.kinematics.tree();
    let of_part = &robot.parts[part];
    let mut at = Idle { frame: robot.links[of_part.link].frame, off_by: 0.0 };
    if of_part.body.curved().is_some() || of_part.body.mesh().is_some() {
        return at;
    }
    // A ball or a capsule: more points of a polytope are on no axis.
    let mut points: Vec<Vec3> = of_part.body.vertices().to_vec();
    if points.len() > 2 {
        return at;
    }
    points.iter_mut().for_each(|point| *point = of_part.frame_from_part.apply_rounded(point));
    while let Some(frame) = at.frame {
        let joint = &tree.frames[frame];
        let Freedom::Turn { axis, .. } = joint.freedom else { break };
        let off = |point: &Vec3| (point - axis * axis.dot(point)).norm();
        let farthest = points.iter().map(off).fold(0.0, f64::max);
        if farthest > ON_AXIS {
            break;
        }
        points.iter_mut().for_each(|point| *point = joint.parent_from_joint.apply_rounded(point));
        at = Idle { frame: joint.parent, off_by: at.off_by + 2.0 * farthest };
    }
    at
}

/// The only frame between two that turns; none: there are more, or it does not turn.
fn between(robot: &Robot, a: Option<usize>, b: Option<usize>) -> Option<Option<usize>> {
    let frames = &robot.kinematics.tree().frames;
    let (mut a, mut b, mut turning) = (a, b, None);
    while a != b {
        // Parents have lower indices.
        let upper = if a > b { &mut a } else { &mut b };
        let frame = (*upper)?;
        if turning.is_some() || !matches!(frames[frame].freedom, Freedom::Turn { .. }) {
            return None;
        }
        turning = Some(frame);
        *upper = frames[frame].parent;
    }
    Some(turning)
}

/// Where a part is.
fn pose_of(robot: &Robot, frames: &[Pose], part: usize) -> Pose {
    let of_part = &robot.parts[part];
    let frame = robot.links[of_part.link].frame;
    frame.map_or(of_part.frame_from_part, |frame| frames[frame].compose(&of_part.frame_from_part))
}

/// How far a part reaches along an axis, and where it is nearest to that at both ends.
#[derive(Clone, Copy, Debug)]
struct AxisEnds {
    heights: [f64; 2],
    /// From the axis, a point of the hull at each end, across.
    across: [Vec3; 2],
}

fn extent(robot: &Robot, frames: &[Pose], part: usize, axis: &Axis) -> AxisEnds {
    let (pose, body) = (pose_of(robot, frames, part), &robot.parts[part].body);
    let points: Vec<Vec3> =
        body.hull().vertices().iter().map(|point| pose.apply_rounded(point)).collect();
    let height = |point: &Vec3| axis.along.dot(&(point - axis.origin));
    let ends = [1.0, -1.0].map(|sign| {
        let least = points.iter().map(|p| sign * height(p)).fold(f64::INFINITY, f64::min);
        let across = |point: &Vec3| point - axis.origin - axis.along * height(point);
        let at_end = points.iter().filter(|p| sign * height(p) <= least + 0.5 * ON_AXIS);
        let nearest = at_end.map(across).min_by(|a, b| a.norm().total_cmp(&b.norm()));
        (sign * least - sign * body.radius(), nearest.unwrap_or_default())
    });
    AxisEnds { heights: ends.map(|end| end.0), across: ends.map(|end| end.1) }
}

/// A line that something turns about, in the world.
#[derive(Clone, Copy, Debug)]
struct Axis {
    origin: Vec3,
    along: Vec3,
}

impl Axis {
    fn point(&self, height: f64) -> Vec3 {
        self.origin + self.along * height
    }

    /// Points around the circle that a point goes round, at a height: the circle is in their hull.
    fn around(&self, height: f64, across: &Vec3) -> Vec<Vec3> {
        let turn = std::f64::consts::TAU / AROUND as f64;
        let beside = self.along.cross(across);
        let wide = 1.0 / (0.5 * turn).cos();
        let corner = |k: usize| {
            let (sine, cosine) = (turn * k as f64).sin_cos();
            self.point(height) + (across * cosine + beside * sine) * (wide * (1.0 + ON_AXIS))
        };
        (0..AROUND).map(corner).collect()
    }
}

/// Two parts and the planes across an axis that hold them apart, if there are some.
fn held_apart(
    robot: &Robot,
    frames: &[Pose],
    candidate: BarelyJoined,
    frame: usize,
) -> Option<HeldApart> {
    let BarelyJoined { parts, off_by, .. } = candidate;
    let Freedom::Turn { axis, .. } = robot.kinematics.tree().frames[frame].freedom else {
        return None;
    };
    let along = frames[frame].rotation * axis;
    let axis = Axis { origin: frames[frame].translation, along };
    let [first, second] = parts.map(|part| extent(robot, frames, part, &axis));
    let ends = if second.heights[0] > first.heights[1] { [1, 0] } else { [0, 1] };
    let heights = [first.heights[ends[0]], second.heights[ends[1]]];
    let gap = if ends == [1, 0] { heights[1] - heights[0] } else { heights[0] - heights[1] };
    if gap <= 0.0 {
        return None;
    }
    let mut ways: Vec<NearPoints> = vec![heights.map(|height| vec![axis.point(height)])];
    let across = [first.across[ends[0]], second.across[ends[1]]];
    let is_convex = |side: usize| robot.parts[parts[side]].body.mesh().is_none();
    for side in [0, 1] {
        if is_convex(1 - side) {
            let own = vec![axis.point(heights[side]) + across[side]];
            let other = axis.around(heights[1 - side], &across[side]);
            ways.push(if side == 0 { [own, other] } else { [other, own] });
        }
    }
    Some(HeldApart { parts, gap, ways, off_by })
}

/// What a number of parts takes from the certainty of a place, metres: by how far from the base
/// they are.
fn rounding(stand: &mut Stand<'_>, pair: [u32; 2]) -> f64 {
    let reach = pair.map(|part| {
        let (pose, hull) = (stand.pose(part), stand.cell.hull(part));
        pose.translation.norm() + 2.0 * hull.bounds().radius
    });
    let frames = stand.cell.kinematics.tree().frames.iter();
    let origins = frames.map(|frame| frame.parent_from_joint.translation.norm());
    CONSTANT_ROUNDING * UNIT * (reach[0] + reach[1] + origins.sum::<f64>())
}

/// A pair that has a bracket, if that is narrow enough, and above 0.
fn bracketed(stand: &Stand<'_>, pair: [u32; 2], [lower, upper]: [f64; 2]) -> Option<ConstantPair> {
    let radii = stand.radii(pair);
    let stretched = upper + radii[0] + radii[1];
    let is_narrow = lower > 0.0 && upper - lower <= CONSTANT_WITHIN;
    is_narrow.then_some(ConstantPair { pair, lower, upper, stretched })
}

fn numbers(parts: [usize; 2]) -> [u32; 2] {
    parts.map(|part| u32::try_from(part).unwrap_or(u32::MAX))
}

/// Two parts that move as one, as far apart as they are.
fn measured(
    stand: &mut Stand<'_>,
    candidate: &BarelyJoined,
    effort: &mut Effort<'_>,
) -> Result<Option<ConstantPair>, Stopped> {
    let pair = numbers(candidate.parts);
    let slack = candidate.off_by + rounding(stand, pair);
    let known = match signed_clearance(stand, pair, f64::INFINITY, effort) {
        Ok(Measured::Known(SignedClearance { lower, upper, .. })) => Some([lower, upper]),
        Ok(Measured::Farther | Measured::Contact) | Err(Stopped::Unresolved) => None,
        Err(why) => return Err(why),
    };
    Ok(known.and_then(|[lower, upper]| bracketed(stand, pair, [lower - slack, upper + slack])))
}

/// Two parts that planes hold apart, if one of the ways shows them to be as near as these. Their
/// points stand still from this number on.
fn shown_apart(
    stand: &mut Stand<'_>,
    apart: &HeldApart,
    first: usize,
    effort: &mut Effort<'_>,
) -> Result<Option<ConstantPair>, Stopped> {
    let HeldApart { parts, gap, off_by, .. } = *apart;
    let pair = numbers(parts);
    let slack = off_by + rounding(stand, pair);
    let mut next = first;
    for way in &apart.ways {
        let mut is_shown = true;
        for (part, points) in parts.into_iter().zip(way) {
            for still in next..next + points.len() {
                effort.look_at_clock()?;
                is_shown = is_shown && is_met(stand, [part, still], effort)?;
            }
            next += points.len();
        }
        if is_shown {
            return Ok(bracketed(stand, pair, [gap - slack, gap + 2.0 * ON_AXIS + slack]));
        }
    }
    Ok(None)
}

/// Whether a part has a point that is as near to one that stands still as its ball tells.
fn is_met(
    stand: &mut Stand<'_>,
    [part, still]: [usize; 2],
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    match stand.verdict(Stand::numbers(part, still), effort) {
        Ok(verdict) => Ok(verdict != Verdict::Separated),
        Err(Stopped::Unresolved) => Ok(false),
        Err(why) => Err(why),
    }
}
