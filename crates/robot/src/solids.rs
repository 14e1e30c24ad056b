//! Bodies of a cell one of which at least is a polyhedron, by the faces that bound them.
//!
//! A question about two bodies begins with their hulls: what is apart there is apart, and the faces
//! are not asked. A cell of polytopes alone has nothing of this.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::body::PartBody;
use super::claim::EdgeContactProof;
use clearance_geometry::claim::{Cover, Reach, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::{Unproven, prove_verdict};
use clearance_geometry::contact_time::polyhedra::{self, Faces, PosedPolyhedron};
use clearance_geometry::distance::{self, DistanceSide, Stops, compare_beyond};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::distance::FaceDistance;
use clearance_geometry::faces::{self, Clear, Surfaces, margin, prove_clear};
use clearance_geometry::pair::{Pair, Placed};
use clearance_geometry::polyhedron::{HulledBody, PlacedPoints, Polyhedron};
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;

/// A body as what bounds it.
#[derive(Clone, Debug)]
struct FacedBody {
    polyhedron: Arc<Polyhedron>,
    /// Whether the body is a polytope, of which the polyhedron was made.
    is_hull: bool,
}

/// All bodies of a cell that has a polyhedron, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Solids {
    /// None: a polytope without volume.
    bodies: Vec<Option<FacedBody>>,
    /// By body.
    are_meshes: Vec<bool>,
    /// Where those are that stand still, after so many parts of robots.
    still: Vec<PlacedOnce>,
    part_count: usize,
}

/// Where the points of a body are: placed when its faces are first asked for in that pose.
pub(super) type PlacedOnce = Arc<OnceLock<PlacedPoints>>;

/// What is made of a polytope for each of its vertices, bytes: the vertex with two triangles, their
/// boxes in the tree, and the lists that they are made from.
const MADE_BYTES_PER_VERTEX: usize = 512;

/// What a question makes of a polyhedron for each of its vertices, bytes: the vertex where it is
/// and the boxes of two triangles there, and its share of the groups that a search has open.
const PLACED_BYTES_PER_VERTEX: usize = 2048;

/// A cover in a certificate has at most so many steps and links.
const COVER_STEPS_MAX: u64 = 1 << 14;

/// What a question about a solid takes at most, nanoseconds for each of its vertices: a generous
/// guess.
const NANOSECONDS_PER_VERTEX: u64 = 2_000;

impl Solids {
    /// Of all bodies in order, so many parts of robots first; none: they are polytopes.
    pub(super) fn new<'a>(
        bodies: impl Iterator<Item = &'a PartBody> + Clone,
        part_count: usize,
    ) -> Option<Self> {
        if bodies.clone().all(|body| body.polyhedron().is_none()) {
            return None;
        }
        // Parts that are one polytope are one solid.
        let mut made: BTreeMap<usize, Option<Arc<Polyhedron>>> = BTreeMap::new();
        let mut solid = |body: &PartBody| match body {
            PartBody::Polyhedron(body) => {
                Some(FacedBody { polyhedron: body.polyhedron.clone(), is_hull: false })
            }
            // No polyhedron is asked about a cloud.
            PartBody::Cloud(_) => None,
            PartBody::Polytope(polytope) => {
                let make = || Polyhedron::of_polytope(polytope).map(|(made, _)| Arc::new(made));
                let known = made.entry(Arc::as_ptr(polytope) as usize).or_insert_with(make);
                known.clone().map(|polyhedron| FacedBody { polyhedron, is_hull: true })
            }
        };
        let are_meshes = bodies.clone().map(|body| body.polyhedron().is_some()).collect();
        let bodies: Vec<Option<FacedBody>> = bodies.map(&mut solid).collect();
        let still = bodies[part_count..].iter().map(|_| PlacedOnce::default()).collect();
        Some(Self { bodies, are_meshes, still, part_count })
    }

    /// What is made of polytopes with so many vertices in all, bytes at most.
    pub(super) fn bytes_to_make(vertices: usize) -> usize {
        MADE_BYTES_PER_VERTEX * vertices
    }

    /// Memory that it takes, estimated, with the polyhedra.
    pub(super) fn heap_bytes(&self) -> usize {
        let mut known = BTreeSet::new();
        let bytes = |solid: &FacedBody| {
            let is_new = known.insert(Arc::as_ptr(&solid.polyhedron) as usize);
            if is_new { solid.polyhedron.bytes() } else { 0 }
        };
        size_of_val(&*self.bodies)
            + size_of_val(&*self.are_meshes)
            + size_of_val(&*self.still)
            + self.bodies.iter().flatten().map(bytes).sum::<usize>()
            + placed_bytes(&self.bodies[self.part_count..])
    }

    /// What a question about a configuration takes while it is answered, bytes at most: all parts
    /// of robots where they are, and the faces of two bodies.
    pub(super) fn bytes_of_question(&self) -> usize {
        let mut sizes: Vec<usize> = self.vertex_counts().collect();
        sizes.sort_unstable();
        let two = sizes.iter().rev().take(2).sum::<usize>();
        PLACED_BYTES_PER_VERTEX * two + placed_bytes(&self.bodies[..self.part_count])
    }

    /// How long the faces of all bodies may take in one configuration, nanoseconds: a generous
    /// guess.
    pub(super) fn nanoseconds(&self) -> u64 {
        NANOSECONDS_PER_VERTEX.saturating_mul(self.vertex_counts().sum::<usize>() as u64)
    }

    fn vertex_counts(&self) -> impl Iterator<Item = usize> {
        self.bodies.iter().flatten().map(|solid| solid.polyhedron.vertices().len())
    }

    /// Whether a body is a polyhedron.
    pub(super) fn is_mesh(&self, body: usize) -> bool {
        self.are_meshes[body]
    }

    /// A body, if it is a polyhedron.
    pub(super) fn mesh(&self, body: usize) -> Option<&Polyhedron> {
        let faced = self.bodies[body].as_ref().filter(|faced| !faced.is_hull);
        faced.map(|faced| &*faced.polyhedron)
    }

    /// Whether a body is a polytope without volume.
    pub(super) fn is_flat(&self, body: usize) -> bool {
        self.bodies[body].is_none()
    }

    /// Where a body is, if it stands still.
    pub(super) fn placed(&self, body: usize) -> Option<&PlacedOnce> {
        body.checked_sub(self.part_count).map(|still| &self.still[still])
    }

    /// Two bodies as their faces, where these and their hulls are placed.
    pub(super) fn pair<'a>(
        &'a self,
        bodies: [usize; 2],
        hulls: Pair<'a>,
        placed: [PlacedOnce; 2],
    ) -> SolidPair<'a> {
        SolidPair { solids: bodies.map(|body| self.bodies[body].as_ref()), hulls, placed }
    }
}

/// What it takes to have these bodies placed, bytes.
fn placed_bytes(bodies: &[Option<FacedBody>]) -> usize {
    let of = |solid: &FacedBody| PlacedPoints::bytes_of(&solid.polyhedron);
    bodies.iter().flatten().map(of).sum()
}

/// Two placed bodies of which one at least is a polyhedron. The other one is no polytope without
/// volume: a pair with such a one is not answered.
#[derive(Clone, Debug)]
pub(super) struct SolidPair<'a> {
    /// None: a polytope without volume.
    solids: [Option<&'a FacedBody>; 2],
    hulls: Pair<'a>,
    placed: [PlacedOnce; 2],
}

/// How far apart two bodies are, if that is less than is of interest.
#[derive(Clone, Debug)]
pub(super) enum HowFar {
    /// Farther.
    Beyond,
    /// As far as that.
    Apart(FaceDistance),
    /// They touch or overlap.
    Contact(Verdict),
}

impl<'a> SolidPair<'a> {
    /// Both as boundaries with their hulls.
    fn shapes(&self) -> Result<[HulledBody<'a>; 2], Stopped> {
        let shape = |solid: &'a FacedBody, hull: Placed<'a>| HulledBody {
            body: &solid.polyhedron,
            pose: hull.pose,
            hull: hull.body,
            is_hull: solid.is_hull,
        };
        match self.solids {
            [Some(p), Some(q)] => Ok([shape(p, self.hulls.p), shape(q, self.hulls.q)]),
            _ => Err(Stopped::Unresolved),
        }
    }

    /// How they stand, exactly.
    pub(super) fn verdict(&self, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        let of_hulls = decide(&self.hulls, &METHODS[0], &mut Witness::default(), effort)?;
        if of_hulls.verdict() == Verdict::Separated {
            return Ok(Verdict::Separated);
        }
        Ok(self.verdict_by_faces(effort)?.0)
    }

    /// How they stand whose hulls meet, and faces that show it.
    fn verdict_by_faces(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<(Verdict, Option<Faces>), Stopped> {
        let shapes = self.shapes()?;
        let placed = [0, 1].map(|k| {
            let HulledBody { body, pose, .. } = shapes[k];
            let points = self.placed[k].get_or_init(|| PlacedPoints::new(body, &pose));
            (PosedPolyhedron { body, pose }, points)
        });
        polyhedra::verdict_of_placed(placed, effort)
    }

    /// How far apart they are, unless that is more than `stops` asks for.
    pub(super) fn distance(
        &self,
        stops: Stops,
        effort: &mut Effort<'_>,
    ) -> Result<HowFar, Stopped> {
        let shapes = self.shapes()?;
        let witness = &mut Witness::default();
        let (of_hulls, is_beyond) = match stops.above {
            Some(above) => {
                let found = distance::measure(&self.hulls, stops, witness, effort)?;
                (found.decision.verdict(), found.lower > above)
            }
            None => (decide(&self.hulls, &METHODS[0], witness, effort)?.verdict(), false),
        };
        if of_hulls == Verdict::Separated {
            if is_beyond {
                return Ok(HowFar::Beyond);
            }
        } else {
            let (verdict, _) = self.verdict_by_faces(effort)?;
            if verdict != Verdict::Separated {
                return Ok(HowFar::Contact(verdict));
            }
        }
        let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
        let found = faces::distance::measure(&surfaces, stops, effort)?;
        if let Some(why) = found.stopped {
            return Err(why);
        }
        let is_beyond = stops.above.is_some_and(|above| found.lower > above);
        Ok(if is_beyond { HowFar::Beyond } else { HowFar::Apart(found) })
    }

    /// A cover that shows that they are farther apart than that; none: they are not.
    pub(super) fn cover_beyond(
        &self,
        gap: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Cover>, Unproven> {
        let side = self.side(Reach::ZERO, gap, &mut Witness::default(), effort)?;
        if side != DistanceSide::Beyond {
            return Ok(None);
        }
        let shapes = self.shapes()?;
        let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
        prove_clear(&surfaces, Clear::Beyond(gap), COVER_STEPS_MAX, effort).map(Some)
    }

    /// The proof that they are in contact, or no farther apart than the margin.
    pub(super) fn contact(
        &self,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<EdgeContactProof, Unproven> {
        let (verdict, faces) = self.verdict_by_faces(effort)?;
        let [p, q] = &self.shapes()?;
        if verdict == Verdict::Separated {
            let near = margin::compare(&Surfaces::new([p, q]), margin, effort)?;
            return Ok(EdgeContactProof::Near(near.pairs));
        }
        prove_verdict([p, q], verdict, faces.as_ref(), COVER_STEPS_MAX, effort)
            .map(EdgeContactProof::Solids)
    }

    /// How they stand: in contact, which is to be no farther apart than `reach`, or how far apart
    /// beside `within`, which is no less.
    pub(super) fn side(
        &self,
        reach: Reach,
        within: f64,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<DistanceSide, Stopped> {
        let of_hulls = compare_beyond(&self.hulls, within, witness, effort)?;
        if of_hulls == DistanceSide::Beyond {
            return Ok(DistanceSide::Beyond);
        }
        if of_hulls == DistanceSide::Contact
            && self.verdict_by_faces(effort)?.0 != Verdict::Separated
        {
            return Ok(DistanceSide::Contact);
        }
        let [lower, reach] = reach.bounds();
        if lower < reach {
            // Of rounded bodies, of which none is a polyhedron.
            return Err(Stopped::Unresolved);
        }
        let shapes = self.shapes()?;
        let surfaces = Surfaces::new([&shapes[0], &shapes[1]]);
        if reach > 0.0 && margin::compare(&surfaces, reach, effort)?.is_within {
            return Ok(DistanceSide::Contact);
        }
        let is_within = margin::compare(&surfaces, within, effort)?.is_within;
        Ok(if is_within { DistanceSide::Within } else { DistanceSide::Beyond })
    }
}
