//! Two bodies of which one at least is a polyhedron, a surface or a cloud, as their boundaries: how
//! they stand, how far apart they are, and what proves it. Each question begins with their hulls:
//! what is apart, proves it of the bodies.

use std::sync::OnceLock;

use super::hulls::ReadyHulls;
use super::proof::VerdictProof;
use super::row::{FLAT, NotAnswered, Wanted};
use crate::body::{Body, PlacedBody};
use crate::kind::Kind;
use crate::solid::{Meeting, ReadySolid};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{RoundedSolidProof, SolidProof, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::contact_time::polyhedra::{self, Faces};
use clearance_geometry::distance::{Compared, compare};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::standing::{self, Standing};
use clearance_geometry::faces::{Clear, Surfaces, common, margin, prove_clear, prove_solids};
use clearance_geometry::pair::Pair;
use clearance_geometry::polyhedron::{Boundary, BoundaryKind};
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;

/// The bodies, ready.
#[derive(Clone, Debug)]
pub(super) enum ReadyBoundaries {
    /// None is rounded, and none a surface.
    Solids([SolidOnDemand; 2]),
    /// One is a rounded polytope, a surface or a cloud.
    Pieces(ReadyHulls),
}

/// A body that is made a solid when somebody asks for it: most pairs are told by their hulls.
#[derive(Clone, Debug)]
pub(super) struct SolidOnDemand {
    placed: PlacedBody,
    made: OnceLock<Box<ReadySolid>>,
}

impl SolidOnDemand {
    /// None: the body bounds no volume.
    fn new(placed: PlacedBody) -> Option<Self> {
        let is_solid = ReadySolid::is_solid(&placed.body);
        is_solid.then_some(Self { placed, made: OnceLock::new() })
    }

    fn solid(&self) -> &ReadySolid {
        let make = || ReadySolid::new(self.placed.clone()).expect("the body bounds a volume");
        self.made.get_or_init(|| Box::new(make()))
    }
}

/// How the bodies stand.
#[derive(Clone, Debug)]
pub(super) struct BodiesStand {
    pub(super) verdict: Verdict,
    shown: StandBy,
}

/// Says what shows how the bodies stand.
#[derive(Clone, Debug)]
enum StandBy {
    /// Their hulls are apart, as this proves.
    Hulls(VerdictProof),
    /// Faces that meet, if any do.
    Faces(Option<Faces>),
    /// One is rounded, or a surface.
    Pieces(Standing),
}

/// How bodies compare with a margin.
#[derive(Clone, Debug)]
pub(super) struct Within {
    /// With the pairs that show it, of the bodies or of their hulls.
    pub(super) compared: Compared,
    /// The hulls are beyond the margin, and the pairs are theirs.
    is_by_hulls: bool,
}

impl ReadyBoundaries {
    /// Makes them ready; refuses what is no solid.
    pub(super) fn new(bodies: [PlacedBody; 2]) -> Result<Self, NotAnswered> {
        let kinds = bodies.each_ref().map(|placed| placed.body.kind());
        if kinds.iter().any(|kind| matches!(kind, Kind::Rounded | Kind::Surface | Kind::Cloud)) {
            return Ok(Self::Pieces(ReadyHulls::new(bodies)));
        }
        let [p, q] = bodies;
        let ready = |field, placed| {
            SolidOnDemand::new(placed).ok_or(NotAnswered { field, what: FLAT, kinds })
        };
        Ok(Self::Solids([ready("p", p)?, ready("q", q)?]))
    }

    /// The hulls of both, or what is rounded of them.
    pub(super) fn hulls(&self) -> Pair<'_> {
        match self {
            Self::Solids([p, q]) => Pair { p: p.placed.hull(), q: q.placed.hull() },
            Self::Pieces(hulls) => hulls.pair(),
        }
    }

    /// What is rounded of them, if one is.
    pub(super) fn rounded_hulls(&self) -> Option<RoundedPair<'_>> {
        match self {
            Self::Solids(_) => None,
            Self::Pieces(hulls) => {
                let pair = hulls.rounded();
                pair.radii.iter().any(|radius| *radius > 0.0).then_some(pair)
            }
        }
    }

    fn is_rounded(&self) -> bool {
        self.rounded_hulls().is_some()
    }

    /// Metres.
    fn radii(&self) -> [f64; 2] {
        match self {
            Self::Solids(_) => [0.0; 2],
            Self::Pieces(hulls) => hulls.rounded().radii,
        }
    }

    /// Both as solids, if none is rounded.
    pub(super) fn solids(&self) -> Option<[&ReadySolid; 2]> {
        match self {
            Self::Solids([p, q]) => Some([p.solid(), q.solid()]),
            Self::Pieces(_) => None,
        }
    }

    /// Puts the same bodies elsewhere.
    pub(super) fn moved_to(&self, poses: [Pose; 2]) -> Self {
        match self {
            Self::Solids([p, q]) => {
                let moved = |solid: &SolidOnDemand, pose| {
                    let made = solid.made.get().map(|made| Box::new(made.moved_to(pose)));
                    let placed = PlacedBody { pose, ..solid.placed.clone() };
                    SolidOnDemand { placed, made: made.map_or_else(OnceLock::new, OnceLock::from) }
                };
                Self::Solids([moved(p, poses[0]), moved(q, poses[1])])
            }
            Self::Pieces(hulls) => {
                let [p, q] = hulls.bodies();
                let moved = |placed: &PlacedBody, pose| PlacedBody { pose, ..placed.clone() };
                Self::Pieces(ReadyHulls::new([moved(p, poses[0]), moved(q, poses[1])]))
            }
        }
    }

    /// Both as their boundaries.
    pub(super) fn surfaces(&self) -> Surfaces<'_> {
        let bodies = match self {
            Self::Solids([p, q]) => [boundary(&p.placed), boundary(&q.placed)],
            Self::Pieces(hulls) => hulls.bodies().each_ref().map(boundary),
        };
        Surfaces { bodies, radii: self.radii() }
    }

    /// How they stand, exactly.
    pub(super) fn stand(&self, effort: &mut Effort<'_>) -> Result<BodiesStand, Stopped> {
        let witness = &mut Witness::default();
        let of_hulls = match self.rounded_hulls() {
            None => {
                VerdictProof::OfHulls(decide(&self.hulls(), &METHODS[0], witness, effort)?.proof)
            }
            Some(pair) => VerdictProof::OfRounded(rounded::verdict(&pair, witness, effort)?),
        };
        if of_hulls.verdict() == Verdict::Separated {
            // The faces were not asked.
            effort.cost.by_bounds += 1;
            return Ok(BodiesStand {
                verdict: Verdict::Separated,
                shown: StandBy::Hulls(of_hulls),
            });
        }
        match self {
            Self::Solids([p, q]) => {
                let [p, q] = [p.solid(), q.solid()];
                let (verdict, faces) = polyhedra::verdict(p.posed(), q.posed(), effort)?;
                Ok(BodiesStand { verdict, shown: StandBy::Faces(faces) })
            }
            Self::Pieces(_) => {
                let found = standing::stand(&self.surfaces(), effort)?;
                Ok(BodiesStand { verdict: found.verdict(), shown: StandBy::Pieces(found) })
            }
        }
    }

    /// Whether they are within a margin, exactly.
    pub(super) fn within(
        &self,
        stand: &BodiesStand,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Within, Stopped> {
        if stand.verdict != Verdict::Separated {
            let compared = Compared::bare(true);
            return Ok(Within { compared, is_by_hulls: false });
        }
        if let StandBy::Hulls(_) = stand.shown {
            let witness = &mut Witness::default();
            let compared = match self.rounded_hulls() {
                None => compare(&self.hulls(), margin, witness, effort)?,
                Some(pair) => rounded::compare(&pair, margin, witness, effort)?,
            };
            if !compared.is_within {
                return Ok(Within { compared, is_by_hulls: true });
            }
        }
        let compared = margin::compare(&self.surfaces(), margin, effort)?;
        Ok(Within { compared, is_by_hulls: false })
    }

    /// The proof of how they stand, and of what is said of a margin.
    pub(super) fn prove(
        &self,
        stand: &BodiesStand,
        within: Option<(f64, &Within)>,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<VerdictProof, Unproven> {
        let are_hulls_enough = within.is_none_or(|(_, found)| found.is_by_hulls);
        match (&stand.shown, within) {
            (StandBy::Hulls(proof), _) if are_hulls_enough => return Ok(proof.clone()),
            (_, Some((margin, found))) if !found.compared.is_within => {
                return self.prove_apart(Clear::Beyond(margin), wanted, effort);
            }
            _ => {}
        }
        let steps_max = wanted.cover_steps_max;
        match (self, &stand.shown) {
            (Self::Solids([p, q]), shown) => {
                let shapes = [&p.solid().shape(), &q.solid().shape()];
                let faces = match shown {
                    StandBy::Faces(faces) => faces.as_ref(),
                    StandBy::Hulls(_) | StandBy::Pieces(_) => None,
                };
                prove_solids(shapes, stand.verdict, faces, steps_max, effort)
                    .map(VerdictProof::OfSolids)
            }
            (Self::Pieces(_), StandBy::Pieces(found)) => {
                let (found, surfaces) = (found.clone(), self.surfaces());
                if self.is_rounded() {
                    let proof = found.prove(&surfaces, steps_max, effort);
                    return proof.map(VerdictProof::OfRoundedSolids);
                }
                found.prove_pieces(&surfaces, steps_max, effort).map(VerdictProof::OfSolids)
            }
            (Self::Pieces(_), StandBy::Hulls(_) | StandBy::Faces(_)) => {
                self.prove_apart(Clear::Beyond(0.0), wanted, effort)
            }
        }
    }

    /// The proof that they are as far apart as that.
    pub(super) fn prove_apart(
        &self,
        clear: Clear<'_>,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<VerdictProof, Unproven> {
        let cover = prove_clear(&self.surfaces(), clear, wanted.cover_steps_max, effort)?;
        Ok(if self.is_rounded() {
            VerdictProof::OfRoundedSolids(RoundedSolidProof::Apart(cover))
        } else {
            VerdictProof::OfSolids(SolidProof::Separated(cover))
        })
    }

    /// Where faces meet, of bodies that are in contact and not rounded.
    pub(super) fn meeting(&self, stand: &BodiesStand) -> Option<Meeting> {
        match (self, &stand.shown) {
            (Self::Solids([p, q]), StandBy::Faces(Some(faces))) => {
                Some(Meeting::new([p.solid(), q.solid()], faces, None))
            }
            _ => None,
        }
    }

    /// A point of both, of bodies in contact: nearly the same twice.
    pub(super) fn common_points(
        &self,
        stand: &BodiesStand,
        effort: &mut Effort<'_>,
    ) -> Result<Option<[Vec3; 2]>, Stopped> {
        let surfaces = self.surfaces();
        match &stand.shown {
            StandBy::Hulls(_) | StandBy::Faces(None) | StandBy::Pieces(Standing::Apart) => Ok(None),
            StandBy::Faces(Some(faces)) => {
                let corner = |body: usize, triangle: u32| self.corners(body, triangle);
                match *faces {
                    Faces::PInQ { triangle } => Ok(corner(0, triangle).and_then(|[first, ..]| {
                        common::points_of_vertex(&surfaces.bodies[0], first)
                    })),
                    Faces::QInP { triangle } => Ok(corner(1, triangle).and_then(|[first, ..]| {
                        common::points_of_vertex(&surfaces.bodies[1], first)
                    })),
                    Faces::Triangles { of_p, of_q } => {
                        let (Some(p), Some(q)) = (corner(0, of_p), corner(1, of_q)) else {
                            return Ok(None);
                        };
                        common::points_of_faces(&surfaces, [&p, &q], effort)
                    }
                    Faces::VertexAndTriangle { .. }
                    | Faces::TriangleAndVertex { .. }
                    | Faces::Edges { .. } => Ok(None),
                }
            }
            StandBy::Pieces(Standing::Touching(pairs) | Standing::Near(pairs)) => {
                let of_p: Vec<u32> = pairs.iter().map(|pair| pair.i).collect();
                let of_q: Vec<u32> = pairs.iter().map(|pair| pair.j).collect();
                common::points_of_faces(&surfaces, [&of_p, &of_q], effort)
            }
            StandBy::Pieces(Standing::Entered(entry)) => {
                Ok(common::points_of_entry(&surfaces, entry))
            }
            StandBy::Pieces(Standing::Inside(vertex)) => {
                let is_other = |body: &&Boundary<'_>| !matches!(body.kind, BoundaryKind::Region(_));
                let rounded = surfaces.bodies.iter().find(is_other);
                Ok(rounded.and_then(|body| common::points_of_vertex(body, *vertex)))
            }
        }
    }

    /// The corners of a triangle of the polyhedron that a body is or was made.
    fn corners(&self, body: usize, triangle: u32) -> Option<[u32; 3]> {
        let solid = self.solids()?[body];
        solid.shape().body.triangles().get(triangle as usize).copied()
    }
}

/// What bounds a body.
fn boundary(placed: &PlacedBody) -> Boundary<'_> {
    let kind = match &placed.body {
        // A height field is asked by its cells, and is never here.
        Body::Polytope(_) | Body::Rounded(_) | Body::HeightField(_) | Body::Curved(_) => {
            BoundaryKind::Hull
        }
        Body::Polyhedron(mesh) => BoundaryKind::Region(&mesh.polyhedron),
        Body::Surface(body) => BoundaryKind::Surface(&body.surface),
        Body::Cloud(body) => BoundaryKind::Surface(&body.points),
    };
    Boundary { kind, hull: placed.body.hull(), pose: placed.pose }
}
