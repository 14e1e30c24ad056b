//! Bodies of a cell one of which at least is made of triangles, by the faces that bound them, or is
//! curved ([`super::curved`]).
//!
//! A question about two bodies begins with their hulls: what is apart there is apart, and the faces
//! are not asked. A cell of polytopes alone has nothing of this.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::body::{HulledMesh, PartBody};
use super::claim::EdgeContactProof;
use super::curved::{self, COVER_STEPS_MAX, CurvedPair, HowFar, InTheirPlaces};
use clearance_bodies::Body;
use clearance_geometry::claim::{Cover, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::contact_time::polyhedra::{self, Faces, PosedPolyhedron};
use clearance_geometry::distance::{self, DistanceSide, Stops, compare_beyond};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::standing::{self, Standing};
use clearance_geometry::faces::{self, Clear, Surfaces, margin, prove_clear, prove_solids};
use clearance_geometry::pair::{Pair, Placed};
use clearance_geometry::polyhedron::{
    Boundary, BoundaryKind, HulledBody, PlacedPoints, Polyhedron, TriangleBody,
};
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;

/// A body as what bounds it.
#[derive(Clone, Debug)]
enum FacedBody {
    /// A polytope, and what was made of it to stand beside regions; none of one without volume, and
    /// where no body is a region.
    Hull(Option<Arc<Polyhedron>>),
    /// A polytope with balls of this radius around all its points, metres.
    Rounded(f64),
    /// A curved body, which has no faces; what it takes beside its hull, bytes.
    Curved(usize),
    /// A mesh, or points with balls around them.
    Mesh(HulledMesh),
}

impl FacedBody {
    fn boundary_kind(&self) -> BoundaryKind<'_> {
        match self {
            Self::Hull(_) | Self::Rounded(_) | Self::Curved(_) => BoundaryKind::Hull,
            Self::Mesh(body) => body.mesh.boundary_kind(),
        }
    }

    /// What it is beside a region: of a surface and of what is rounded nothing.
    fn solid(&self) -> Option<&Arc<Polyhedron>> {
        match self {
            Self::Hull(made) => made.as_ref(),
            Self::Rounded(_) | Self::Curved(_) => None,
            Self::Mesh(body) => body.mesh.region(),
        }
    }

    fn is_region(&self) -> bool {
        matches!(self, Self::Mesh(HulledMesh { mesh: TriangleBody::Region(_), .. }))
    }

    fn is_surface(&self) -> bool {
        matches!(self, Self::Mesh(HulledMesh { mesh: TriangleBody::Surface(_), .. }))
    }

    /// The radius of the balls around all its points, metres.
    fn radius(&self) -> f64 {
        match self {
            Self::Rounded(radius) => *radius,
            Self::Mesh(body) => body.radius(),
            Self::Hull(_) | Self::Curved(_) => 0.0,
        }
    }

    /// Its vertices, or half of its triangles if that is more: by what a question about it takes.
    fn size(&self) -> usize {
        let of = |vertices: usize, triangles: usize| vertices.max(triangles.div_ceil(2));
        match self {
            Self::Hull(made) => made.as_ref().map_or(0, |made| made.vertices().len()),
            Self::Rounded(_) | Self::Curved(_) => 0,
            Self::Mesh(HulledMesh { mesh, .. }) => {
                of(mesh.surface().vertices().len(), mesh.surface().triangles().len())
            }
        }
    }
}

/// All bodies of a cell that has a mesh or a curved body, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Solids {
    bodies: Vec<FacedBody>,
    /// Where those are that stand still, after so many parts of robots.
    still: Vec<PlacedOnce>,
    part_count: usize,
    /// As the table knows them; none: no body is curved.
    whole: Vec<Body>,
    /// How many are curved.
    curved_count: usize,
}

/// Where the points of a body are: placed when its faces are first asked for in that pose.
pub(super) type PlacedOnce = Arc<OnceLock<PlacedPoints>>;

/// What is made of a polytope for each of its vertices, bytes: the vertex with two triangles, their
/// boxes in the tree, and the lists that they are made from.
const MADE_BYTES_PER_VERTEX: usize = 512;

/// What a question makes of a mesh for each of its vertices, bytes: the vertex where it is and the
/// boxes of two triangles there, and its share of the groups that a search has open.
const PLACED_BYTES_PER_VERTEX: usize = 2048;

/// What a question about a mesh takes at most, nanoseconds for each of its vertices: a generous
/// guess.
const NANOSECONDS_PER_VERTEX: u64 = 2_000;

impl Solids {
    /// Of all bodies in order, so many parts of robots first; none: they are polytopes.
    pub(super) fn new<'a>(
        bodies: impl Iterator<Item = &'a PartBody> + Clone,
        part_count: usize,
    ) -> Option<Self> {
        let curved_count = bodies.clone().filter(|body| body.curved().is_some()).count();
        if curved_count == 0 && bodies.clone().all(|body| body.mesh().is_none()) {
            return None;
        }
        let whole = match curved_count {
            0 => Vec::new(),
            _ => bodies.clone().map(PartBody::whole).collect(),
        };
        let has_regions = bodies.clone().any(PartBody::is_region);
        // Parts that are one polytope are one solid.
        let mut made: BTreeMap<usize, Option<Arc<Polyhedron>>> = BTreeMap::new();
        let faced = |body: &PartBody| match body {
            PartBody::Mesh(body) => FacedBody::Mesh(body.clone()),
            PartBody::Rounded(_) => FacedBody::Rounded(body.radius()),
            PartBody::Curved(part) => FacedBody::Curved(part.beside_hull_bytes()),
            PartBody::Polytope(_) if !has_regions => FacedBody::Hull(None),
            // No mesh is asked about a cloud.
            PartBody::Cloud(_) => FacedBody::Hull(None),
            PartBody::Polytope(polytope) => {
                let make = || Polyhedron::of_polytope(polytope).map(|(made, _)| Arc::new(made));
                let known = made.entry(Arc::as_ptr(polytope) as usize).or_insert_with(make);
                FacedBody::Hull(known.clone())
            }
        };
        let bodies: Vec<FacedBody> = bodies.map(faced).collect();
        let still = bodies[part_count..].iter().map(|_| PlacedOnce::default()).collect();
        Some(Self { bodies, still, part_count, whole, curved_count })
    }

    /// What is made of polytopes with so many vertices in all, bytes at most.
    pub(super) fn bytes_to_make(vertices: usize) -> usize {
        MADE_BYTES_PER_VERTEX * vertices
    }

    /// Memory that it takes, estimated, with the meshes.
    pub(super) fn heap_bytes(&self) -> usize {
        let mut known = BTreeSet::new();
        let bytes = |faced: &FacedBody| match faced {
            FacedBody::Hull(None) | FacedBody::Rounded(_) => 0,
            FacedBody::Curved(bytes) => *bytes,
            FacedBody::Hull(Some(made)) => {
                let is_new = known.insert(Arc::as_ptr(made) as usize);
                if is_new { made.bytes() } else { 0 }
            }
            FacedBody::Mesh(HulledMesh { mesh, .. }) => {
                if known.insert(mesh.address()) {
                    mesh.bytes()
                } else {
                    0
                }
            }
        };
        size_of_val(&*self.bodies)
            + size_of_val(&*self.whole)
            + size_of_val(&*self.still)
            + self.bodies.iter().map(bytes).sum::<usize>()
            + placed_bytes(&self.bodies[self.part_count..])
    }

    /// What a question about a configuration takes while it is answered, bytes at most: all parts
    /// of robots where they are, and the faces of two bodies.
    pub(super) fn bytes_of_question(&self) -> usize {
        let mut sizes: Vec<usize> = self.bodies.iter().map(FacedBody::size).collect();
        sizes.sort_unstable();
        let two = sizes.iter().rev().take(2).sum::<usize>();
        let of_curved = if self.curved_count > 0 { curved::bytes_of_question() } else { 0 };
        PLACED_BYTES_PER_VERTEX * two + placed_bytes(&self.bodies[..self.part_count]) + of_curved
    }

    /// How long the faces of all bodies may take in one configuration, nanoseconds: a generous
    /// guess.
    pub(super) fn nanoseconds(&self) -> u64 {
        let size = self.bodies.iter().map(FacedBody::size).sum::<usize>();
        let of_curved = curved::NANOSECONDS.saturating_mul(self.curved_count as u64);
        NANOSECONDS_PER_VERTEX.saturating_mul(size as u64).saturating_add(of_curved)
    }

    /// Whether a body is made of triangles, or curved.
    pub(super) fn is_mesh(&self, body: usize) -> bool {
        matches!(self.bodies[body], FacedBody::Mesh(_) | FacedBody::Curved(_))
    }

    /// Whether two bodies are a region and a polytope without volume.
    pub(super) fn is_flat_beside_region(&self, bodies: [usize; 2]) -> bool {
        let [a, b] = bodies.map(|body| &self.bodies[body]);
        let is_flat = |body: &FacedBody| matches!(body, FacedBody::Hull(None));
        a.is_region() && is_flat(b) || is_flat(a) && b.is_region()
    }

    /// Where a body is, if it stands still.
    pub(super) fn placed(&self, body: usize) -> Option<&PlacedOnce> {
        body.checked_sub(self.part_count).map(|still| &self.still[still])
    }

    /// Two bodies as their faces, where these and their hulls are placed; with the radii of the
    /// balls around all their points, metres.
    pub(super) fn pair<'a>(
        &'a self,
        bodies: [usize; 2],
        hulls: Pair<'a>,
        placed: [PlacedOnce; 2],
        radii: [f64; 2],
    ) -> SolidPair<'a> {
        let numbers = bodies;
        let bodies = numbers.map(|body| &self.bodies[body]);
        let is_curved = bodies.iter().any(|body| matches!(body, FacedBody::Curved(_)));
        let curved = is_curved.then(|| CurvedPair {
            bodies: numbers.map(|body| &self.whole[body]),
            hulls: RoundedPair { cores: hulls, radii },
        });
        SolidPair { bodies, hulls, placed, curved }
    }
}

/// What it takes to have these bodies placed, bytes.
fn placed_bytes(bodies: &[FacedBody]) -> usize {
    bodies.iter().filter_map(FacedBody::solid).map(|solid| PlacedPoints::bytes_of(solid)).sum()
}

/// Two placed bodies of which one at least is a mesh. Beside a region the other one is no polytope
/// without volume, unless it is rounded: a pair with such a one is not answered.
#[derive(Clone, Debug)]
pub(super) struct SolidPair<'a> {
    bodies: [&'a FacedBody; 2],
    hulls: Pair<'a>,
    placed: [PlacedOnce; 2],
    /// If one of them is curved: then all is asked there.
    curved: Option<CurvedPair<'a>>,
}

/// How two bodies stand whose hulls meet, and what shows it.
enum FacesStand {
    /// Of regions and polytopes; with faces that meet, if any do.
    Solids(Verdict, Option<Faces>),
    /// Of a surface and another body, or of a rounded one.
    Pieces(Standing),
}

impl FacesStand {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Solids(verdict, _) => *verdict,
            Self::Pieces(found) => found.verdict(),
        }
    }
}

impl<'a> SolidPair<'a> {
    /// Both as solids with their hulls, of which none is a surface.
    fn shapes(&self) -> Result<[HulledBody<'a>; 2], Stopped> {
        let shape = |body: &'a FacedBody, hull: Placed<'a>| {
            let is_hull = matches!(body, FacedBody::Hull(_));
            let solid = body.solid().ok_or(Stopped::Unresolved)?;
            Ok(HulledBody { body: solid, pose: hull.pose, hull: hull.body, is_hull })
        };
        let [p, q] = self.bodies;
        Ok([shape(p, self.hulls.p)?, shape(q, self.hulls.q)?])
    }

    /// The radii of the balls around all their points, metres.
    fn radii(&self) -> [f64; 2] {
        self.bodies.map(FacedBody::radius)
    }

    fn is_rounded(&self) -> bool {
        self.radii().iter().any(|radius| *radius > 0.0)
    }

    /// Both as their boundaries.
    fn surfaces(&self) -> Surfaces<'a> {
        let boundary = |body: &'a FacedBody, hull: Placed<'a>| Boundary {
            kind: body.boundary_kind(),
            hull: hull.body,
            pose: hull.pose,
        };
        let [p, q] = self.bodies;
        let bodies = [boundary(p, self.hulls.p), boundary(q, self.hulls.q)];
        Surfaces { bodies, radii: self.radii() }
    }

    /// The same without balls around their points.
    fn cores(&self) -> Surfaces<'a> {
        Surfaces { radii: [0.0; 2], ..self.surfaces() }
    }

    /// The hulls, with balls around their points.
    fn rounded_hulls(&self) -> RoundedPair<'a> {
        RoundedPair { cores: self.hulls, radii: self.radii() }
    }

    /// How the hulls stand.
    fn verdict_of_hulls(
        &self,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Verdict, Stopped> {
        if self.is_rounded() {
            return Ok(rounded::verdict(&self.rounded_hulls(), witness, effort)?.verdict);
        }
        Ok(decide(&self.hulls, &METHODS[0], witness, effort)?.verdict())
    }

    /// Both, if one of them is curved.
    pub(super) fn curved(&self) -> Option<&CurvedPair<'a>> {
        self.curved.as_ref()
    }

    /// Asks about the same two, one of which at least is a mesh, with polytopes in the places of
    /// those that are curved, with their balls; none: both are convex.
    pub(super) fn with_polytopes<R>(
        &self,
        polytopes: &InTheirPlaces,
        ask: impl FnOnce(&SolidPair<'_>) -> R,
    ) -> Option<R> {
        let is_mesh = |body: &&FacedBody| matches!(body, FacedBody::Mesh(_));
        if !self.bodies.iter().any(is_mesh) {
            return None;
        }
        let radii = self.curved.as_ref().map_or([0.0; 2], |curved| curved.hulls.radii);
        let has_region = self.bodies.iter().any(|body| body.is_region());
        let faced = |k: usize| match self.bodies[k] {
            FacedBody::Curved(_) if radii[k] > 0.0 => FacedBody::Rounded(radii[k]),
            FacedBody::Curved(_) if has_region => {
                let made = Polyhedron::of_polytope(&polytopes[k]);
                FacedBody::Hull(made.map(|(made, _)| Arc::new(made)))
            }
            FacedBody::Curved(_) => FacedBody::Hull(None),
            body @ (FacedBody::Hull(_) | FacedBody::Rounded(_) | FacedBody::Mesh(_)) => {
                body.clone()
            }
        };
        let placed = |k: usize| match self.bodies[k] {
            FacedBody::Curved(_) => PlacedOnce::default(),
            FacedBody::Hull(_) | FacedBody::Rounded(_) | FacedBody::Mesh(_) => {
                self.placed[k].clone()
            }
        };
        let bodies = [faced(0), faced(1)];
        let [p, q] = [self.hulls.p.pose, self.hulls.q.pose];
        Some(ask(&SolidPair {
            bodies: bodies.each_ref(),
            hulls: Pair::new(&polytopes[0], p, &polytopes[1], q),
            placed: [placed(0), placed(1)],
            curved: None,
        }))
    }

    /// How they stand, exactly; of what is curved it may be unresolved.
    pub(super) fn verdict(&self, effort: &mut Effort<'_>) -> Result<Verdict, Stopped> {
        if let Some(curved) = &self.curved {
            return curved.verdict(effort);
        }
        if self.verdict_of_hulls(&mut Witness::default(), effort)? == Verdict::Separated {
            return Ok(Verdict::Separated);
        }
        Ok(self.stand_by_faces(effort)?.verdict())
    }

    /// How they stand whose hulls meet.
    fn stand_by_faces(&self, effort: &mut Effort<'_>) -> Result<FacesStand, Stopped> {
        if self.is_rounded() || self.bodies.iter().any(|body| body.is_surface()) {
            return Ok(FacesStand::Pieces(standing::stand(&self.surfaces(), effort)?));
        }
        let shapes = self.shapes()?;
        let placed = [0, 1].map(|k| {
            let HulledBody { body, pose, .. } = shapes[k];
            let points = self.placed[k].get_or_init(|| PlacedPoints::new(body, &pose));
            (PosedPolyhedron { body, pose }, points)
        });
        let (verdict, faces) = polyhedra::verdict_of_placed(placed, effort)?;
        Ok(FacesStand::Solids(verdict, faces))
    }

    /// How far apart they are, unless that is more than `stops` asks for.
    pub(super) fn distance(
        &self,
        stops: Stops,
        effort: &mut Effort<'_>,
    ) -> Result<HowFar, Stopped> {
        if let Some(curved) = &self.curved {
            return curved.distance(stops, effort);
        }
        let witness = &mut Witness::default();
        let (of_hulls, is_beyond) = match stops.above {
            Some(above) if self.is_rounded() => {
                let (pair, method) = (self.rounded_hulls(), &distance::METHODS[0]);
                let found = rounded::measure(&pair, method, stops, witness, effort)?;
                (found.proof.verdict, found.lower > above)
            }
            Some(above) => {
                let found = distance::measure(&self.hulls, stops, witness, effort)?;
                (found.decision.verdict(), found.lower > above)
            }
            None => (self.verdict_of_hulls(witness, effort)?, false),
        };
        if of_hulls == Verdict::Separated {
            if is_beyond {
                return Ok(HowFar::Beyond);
            }
        } else {
            let verdict = self.stand_by_faces(effort)?.verdict();
            if verdict != Verdict::Separated {
                return Ok(HowFar::Contact(verdict));
            }
        }
        let found = faces::distance::measure(&self.surfaces(), stops, effort)?;
        if let Some(why) = found.stopped {
            return Err(why);
        }
        let is_beyond = stops.above.is_some_and(|above| found.lower > above);
        Ok(if is_beyond { HowFar::Beyond } else { HowFar::Apart(found) })
    }

    /// A cover that shows that they are farther apart than that, without balls around their points;
    /// none: they are not. The radii are no more than that.
    pub(super) fn cover_beyond(
        &self,
        gap: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Cover>, Unproven> {
        if self.curved.is_some() {
            // That is asked of polytopes around them.
            return Ok(None);
        }
        let side = self.side(0.0, gap, &mut Witness::default(), effort)?;
        if side != DistanceSide::Beyond {
            return Ok(None);
        }
        prove_clear(&self.cores(), Clear::Beyond(gap), COVER_STEPS_MAX, effort).map(Some)
    }

    /// The proof that they are in contact, or no farther apart than the margin.
    pub(super) fn contact(
        &self,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<EdgeContactProof, Unproven> {
        if self.curved.is_some() {
            // That is asked of polytopes in them.
            return Err(Unproven::NoWay);
        }
        let stand = self.stand_by_faces(effort)?;
        let touches_by_radii = self.is_rounded() && stand.verdict() == Verdict::Touching;
        if stand.verdict() == Verdict::Separated || touches_by_radii {
            let near = margin::compare(&self.surfaces(), margin, effort)?;
            return Ok(EdgeContactProof::Near(near.pairs));
        }
        let proof = match stand {
            FacesStand::Solids(verdict, faces) => {
                let [p, q] = &self.shapes()?;
                prove_solids([p, q], verdict, faces.as_ref(), COVER_STEPS_MAX, effort)
            }
            FacesStand::Pieces(found) if self.is_rounded() => {
                let proof = found.prove(&self.surfaces(), COVER_STEPS_MAX, effort);
                return proof.map(EdgeContactProof::Rounded);
            }
            FacesStand::Pieces(found) => {
                found.prove_pieces(&self.surfaces(), COVER_STEPS_MAX, effort)
            }
        };
        proof.map(EdgeContactProof::Solids)
    }

    /// How they stand: in contact, which is to be no farther apart than `margin`, or how far apart
    /// without balls around their points beside `within`, which is no less than the radii and the
    /// margin.
    pub(super) fn side(
        &self,
        margin: f64,
        within: f64,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<DistanceSide, Stopped> {
        let of_hulls = compare_beyond(&self.hulls, within, witness, effort)?;
        if of_hulls == DistanceSide::Beyond {
            return Ok(DistanceSide::Beyond);
        }
        if self.is_rounded() {
            return self.rounded_side(margin, within, effort);
        }
        // Without a region neither is within the other where their triangles share no point.
        let is_by_faces = self.bodies.iter().all(|body| !body.is_region());
        if is_by_faces && !margin::compare(&self.surfaces(), within, effort)?.is_within {
            return Ok(DistanceSide::Beyond);
        }
        if of_hulls == DistanceSide::Contact
            && self.stand_by_faces(effort)?.verdict() != Verdict::Separated
        {
            return Ok(DistanceSide::Contact);
        }
        let surfaces = self.surfaces();
        if margin > 0.0 && margin::compare(&surfaces, margin, effort)?.is_within {
            return Ok(DistanceSide::Contact);
        }
        let is_within = is_by_faces || margin::compare(&surfaces, within, effort)?.is_within;
        Ok(if is_within { DistanceSide::Within } else { DistanceSide::Beyond })
    }

    /// The same of two bodies of which one is rounded.
    fn rounded_side(
        &self,
        margin: f64,
        within: f64,
        effort: &mut Effort<'_>,
    ) -> Result<DistanceSide, Stopped> {
        let rounded = self.surfaces();
        let is_contact = standing::stand(&rounded, effort)?.verdict() != Verdict::Separated;
        if is_contact || margin > 0.0 && margin::compare(&rounded, margin, effort)?.is_within {
            return Ok(DistanceSide::Contact);
        }
        let is_within = margin::compare(&self.cores(), within, effort)?.is_within;
        Ok(if is_within { DistanceSide::Within } else { DistanceSide::Beyond })
    }
}
