//! The walk of a ray down a tree of boxes, near ones first.

use arrayvec::ArrayVec;

use super::local::LocalRay;
use super::sight::{Facing, TriangleSight, look};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::polyhedron::tree::Extent;
use crate::polyhedron::wide::WIDTH;

/// A body as a ray sees it.
pub(super) trait RayTree {
    /// A group of triangles.
    type Group: Copy;

    /// All, with at most when the ray comes to it; none: it certainly misses it up to then.
    fn root(&self, ray: &LocalRay, until: f64) -> Option<(f64, Self::Group)>;

    /// The groups that a group is made of which the ray does not certainly miss up to then; none:
    /// it is looked at triangle by triangle.
    fn parts(
        &self,
        group: Self::Group,
        ray: &LocalRay,
        until: f64,
    ) -> Option<MetGroups<Self::Group>>;

    /// Hands over the triangles of a group with their numbers.
    fn each(&self, group: Self::Group, look: impl FnMut(u32, &[Vec3; 3]));

    /// The corners of a triangle.
    fn corners(&self, triangle: u32) -> [Vec3; 3];

    /// The box around all of it.
    fn whole(&self) -> Extent;

    /// At least its largest coordinate.
    fn reach(&self) -> f64 {
        let Extent { low, high } = self.whole();
        low.amax().max(high.amax())
    }
}

/// Groups with at most when a ray comes to them.
pub(super) type MetGroups<G> = ArrayVec<(f64, G), WIDTH>;

/// A triangle that a ray may meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct RayCandidate {
    pub(super) triangle: u32,
    /// See [`TriangleSight`].
    pub(super) facing: Option<Facing>,
    from: f64,
    /// The ray certainly meets it, after the start and by the end, within its edges.
    pub(super) is_certain: bool,
}

/// Triangles that a ray may meet, of which the first is what is asked for.
#[derive(Debug)]
pub(super) struct RayCandidates {
    near: ArrayVec<RayCandidate, CANDIDATES_MAX>,
    /// At least when the ray has certainly met one; infinite: perhaps never.
    until: f64,
}

/// More are left to another search: a ray along the edges of a mesh meets a few of them at a time.
const CANDIDATES_MAX: usize = 32;

/// Groups that wait: three for each level of a tree of quarters of 2^16 blocks a side, and seven
/// for each level of a tree of eighths of 2^31 triangles.
const OPEN_MAX: usize = 96;

impl RayCandidates {
    /// Those that may be the first.
    pub(super) fn within_first(&self) -> impl Iterator<Item = RayCandidate> + '_ {
        self.near.iter().filter(|one| one.from <= self.until).copied()
    }

    /// The ray certainly meets none.
    pub(super) fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// How the ray comes through the first one, if it certainly meets that in its inside, and no
    /// other one before or with it.
    pub(super) fn only_certain(&self) -> Option<Facing> {
        let mut first = self.within_first();
        let (one, other) = (first.next()?, first.next());
        if other.is_none() && one.is_certain { one.facing } else { None }
    }

    fn take(&mut self, triangle: u32, sight: &TriangleSight) -> bool {
        let &TriangleSight { from, until, facing, is_within } = sight;
        let is_certain = is_within && facing.is_some() && from > 0.0 && until <= 1.0;
        if is_certain && until < self.until {
            self.until = until;
            self.near.retain(|one| one.from <= until);
        }
        let candidate = RayCandidate { triangle, facing, from, is_certain };
        self.near.try_push(candidate).is_ok()
    }

    /// Beyond this nothing matters.
    fn limit(&self) -> f64 {
        self.until.min(1.0)
    }
}

/// The triangles that a ray may meet first. None: there are too many to tell. Each box that the ray
/// comes to is a step.
#[inline(always)]
pub(super) fn walk<T: RayTree>(
    ray: &LocalRay,
    tree: &T,
    effort: &mut Effort<'_>,
) -> Result<Option<RayCandidates>, Stopped> {
    let mut found = RayCandidates { near: ArrayVec::new(), until: f64::INFINITY };
    let mut open: ArrayVec<(f64, T::Group), OPEN_MAX> = ArrayVec::new();
    open.extend(tree.root(ray, 1.0));
    while let Some((from, group)) = open.pop() {
        if from > found.limit() {
            continue;
        }
        effort.spend_step()?;
        let Some(mut met) = tree.parts(group, ray, found.limit()) else {
            let mut is_full = false;
            tree.each(
                group,
                #[inline(always)]
                |triangle, corners| {
                    let sight = look(ray, corners, found.limit());
                    is_full |= sight.is_some_and(|sight| !found.take(triangle, &sight));
                },
            );
            if is_full {
                return Ok(None);
            }
            continue;
        };
        // The nearest is looked at first: it is pushed last.
        met.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
        for part in met {
            if open.try_push(part).is_err() {
                return Ok(None);
            }
        }
    }
    Ok(Some(found))
}
