//! What a ray meets first of a body that is made of triangles: the way of a point in a straight
//! line, against a tree of boxes.
//!
//! The ray is looked at in the frame of the body, where the boxes and triangles are exact and the
//! ray is known within an error bound (`local`). Boxes that it certainly misses, or comes to only
//! after it has certainly met a triangle, are passed by (`walk`), and so are triangles (`sight`).
//! The few triangles that are left, mostly one, are told to the last bit: in numbers of twice the
//! precision (`sharp`) or exactly, like any two convex bodies that move. So the time is that of
//! the general search ([`crate::faces::contact`]).
//!
//! Where the ray starts inside a region, it leaves the region through the first triangle that it
//! meets. Where that is not certain, or it meets none, rays along the axes tell. What they leave
//! open, whoever asks has to find out in another way.
//!
//! What is met of all that is on the way, face by face, [`passing`] tells, and with which faces a
//! body is in contact where it stands [`resting`] does.

mod field;
mod local;
mod mesh;
pub mod passing;
pub mod resting;
pub mod seam;
mod sharp;
mod sight;
#[cfg(test)]
mod tests;
mod walk;

use crate::Vec3;
use crate::claim::{Outcome, Verdict};
use crate::contact_time::first_contact;
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::motion::Motion;
use crate::pair::{Pair, Placed, Question};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::processor;
use crate::terrain::HeightField;
use crate::witness::Witness;

use self::local::LocalRay;
use self::mesh::MeshBoxes;
use self::sight::Facing;
use self::walk::{RayCandidate, RayTree, walk};
use crate::polyhedron::TriangleBody;

/// The way of a point.
#[derive(Clone, Copy, Debug)]
pub struct Ray<'a> {
    /// The point, in its own frame a polytope of one vertex, which is the origin.
    pub point: &'a Polytope,
    /// Where it is at t = 0.
    pub from: Vec3,
    /// How far and where it comes until t = 1.
    pub by: Vec3,
}

/// What a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// How the point stands at the start: if not separated, the time is 0.
    pub initial: Verdict,
    /// The point is free before the first, and is met by the second, which are neighbours.
    pub time: [f64; 2],
    /// The unit normal of the triangle that is met, against the ray, rounded; none in contact at
    /// the start, and where only triangles are met that the ray is in the plane of.
    pub normal: Option<Vec3>,
}

/// What is found out of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RayAnswer {
    /// It is free of the body.
    Free,
    /// It meets the body.
    Meets(RayHit),
    /// Too much was too close to call.
    Open,
}

/// What a ray meets of triangles in a pose.
pub fn meet_triangles(
    ray: &Ray<'_>,
    body: &TriangleBody,
    pose: &Pose,
    effort: &mut Effort<'_>,
) -> Result<RayAnswer, Stopped> {
    let boxes = MeshBoxes::new(body.surface());
    let is_region = body.region().is_some();
    effort.one_question(|effort| {
        processor::dispatch(
            #[inline(always)]
            || meet(ray, &boxes, pose, is_region, effort),
        )
    })
}

/// What a ray meets of a height field in a pose.
pub fn meet_field(
    ray: &Ray<'_>,
    field: &HeightField,
    pose: &Pose,
    effort: &mut Effort<'_>,
) -> Result<RayAnswer, Stopped> {
    effort.one_question(|effort| {
        processor::dispatch(
            #[inline(always)]
            || meet(ray, field, pose, false, effort),
        )
    })
}

#[inline(always)]
fn meet(
    ray: &Ray<'_>,
    tree: &impl RayTree,
    pose: &Pose,
    is_region: bool,
    effort: &mut Effort<'_>,
) -> Result<RayAnswer, Stopped> {
    let Some(local) = LocalRay::new(ray, pose, tree.reach()) else { return Ok(RayAnswer::Open) };
    let Some(near) = walk(&local, tree, effort)? else { return Ok(RayAnswer::Open) };
    let mut first = First::default();
    for candidate in near.within_first() {
        effort.spend_step()?;
        let asked = AskedTriangle { ray, pose, tree, candidate };
        if !asked.look(&mut first, effort)? {
            return Ok(RayAnswer::Open);
        }
    }
    if first.touches || !is_region {
        return Ok(first.answer(ray));
    }
    let is_inside = match near.only_certain().filter(|_| first.hit.is_some()) {
        Some(facing) => Some(facing == Facing::Along),
        None => is_inside(&local, tree, effort)?,
    };
    Ok(match is_inside {
        None => RayAnswer::Open,
        Some(true) => at_start(Verdict::Overlapping),
        Some(false) => first.answer(ray),
    })
}

fn at_start(initial: Verdict) -> RayAnswer {
    RayAnswer::Meets(RayHit { initial, time: [0.0; 2], normal: None })
}

/// Whether the start of the ray, which is on no triangle, is inside the region that they bound: the
/// first triangle that a ray along an axis certainly meets alone says it.
fn is_inside(
    local: &LocalRay,
    tree: &impl RayTree,
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    for axis in local.ways_out(&tree.whole()) {
        let Some(near) = walk(&axis, tree, effort)? else { continue };
        if near.is_empty() {
            return Ok(Some(false));
        }
        if let Some(facing) = near.only_certain() {
            return Ok(Some(facing == Facing::Along));
        }
    }
    Ok(None)
}

/// The first of what was asked exactly.
#[derive(Debug, Default)]
struct First {
    touches: bool,
    hit: Option<FirstHit>,
}

#[derive(Debug)]
struct FirstHit {
    time: [f64; 2],
    /// The lowest number of a triangle that is met then, with its normal, if one has any.
    normal: Option<(u32, Vec3)>,
}

impl First {
    fn take(&mut self, time: [f64; 2], normal: Option<(u32, Vec3)>) {
        match &mut self.hit {
            Some(known) if known.time[1] < time[1] => {}
            Some(known) if known.time[1] <= time[1] => {
                let lower = normal.filter(|new| known.normal.is_none_or(|old| new.0 < old.0));
                known.normal = lower.or(known.normal);
            }
            _ => self.hit = Some(FirstHit { time, normal }),
        }
    }

    fn answer(&self, ray: &Ray<'_>) -> RayAnswer {
        if self.touches {
            return at_start(Verdict::Touching);
        }
        let Some(FirstHit { time, normal }) = self.hit else { return RayAnswer::Free };
        let against = |normal: Vec3| if normal.dot(&ray.by) > 0.0 { -normal } else { normal };
        let normal = normal.map(|(_, normal)| against(normal));
        RayAnswer::Meets(RayHit { initial: Verdict::Separated, time, normal })
    }
}

/// A triangle that is asked exactly.
struct AskedTriangle<'a, T: RayTree> {
    ray: &'a Ray<'a>,
    pose: &'a Pose,
    tree: &'a T,
    candidate: RayCandidate,
}

impl<T: RayTree> AskedTriangle<'_, T> {
    /// False: the exact search did not find it out.
    fn look(&self, first: &mut First, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        let Self { ray, pose, tree, candidate } = self;
        if candidate.is_certain
            && let Some(time) = sharp::time(ray, &tree.corners(candidate.triangle), pose)
        {
            first.take(time, self.normal());
            return Ok(true);
        }
        effort.cost.exact_stages += 1;
        let Ok(triangle) = convex_hull(&tree.corners(candidate.triangle)) else {
            return Ok(false);
        };
        let from = Pose::translation(ray.from.x, ray.from.y, ray.from.z);
        let p = Placed { body: ray.point, pose: from };
        let pair = Pair { p, q: Placed { body: &triangle.polytope, pose: **pose } };
        let motion = Motion::Linear { velocity: ray.by };
        let question = Question::new(pair, motion, Motion::rest());
        let found = first_contact(&question, &mut Witness::default(), effort)?;
        if found.initial.verdict() != Verdict::Separated {
            first.touches = true;
            return Ok(true);
        }
        match found.outcome {
            Outcome::Contact => first.take([found.t_free, found.t_contact], self.normal()),
            Outcome::NoContact => {}
            Outcome::Undecided => return Ok(false),
        }
        Ok(found.stopped.is_none())
    }

    /// None where the ray is in the plane of the triangle, or may be.
    fn normal(&self) -> Option<(u32, Vec3)> {
        self.candidate.facing?;
        let [a, b, c] = self.tree.corners(self.candidate.triangle);
        let (u, v) = (self.pose.rotation * (b - a), self.pose.rotation * (c - a));
        let normal = (u / u.amax()).cross(&(v / v.amax()));
        let length = normal.norm();
        let is_usable = length > 0.0 && length.is_finite();
        is_usable.then(|| (self.candidate.triangle, normal / length))
    }
}
