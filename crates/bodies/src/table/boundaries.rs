//! Two bodies of which one at least is a polyhedron, as their boundaries: how they stand, how far
//! apart they are, and what proves it. Each question begins with their hulls: what is apart, proves
//! it of the bodies.

use std::sync::OnceLock;

use arrayvec::ArrayVec;

use super::hulls::ReadyHulls;
use super::row::{FLAT, NotAnswered, Wanted};
use super::verdict::VerdictProof;
use crate::body::{Body, PlacedBody};
use crate::kind::Kind;
use crate::solid::{Meeting, ReadySolid};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{RoundedSolidProof, SolidProof, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::{Unproven, prove_verdict};
use clearance_geometry::contact_time::polyhedra::{self, Faces};
use clearance_geometry::distance::{Compared, compare};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::standing::{self, Standing};
use clearance_geometry::faces::{Clear, Surfaces, common, margin, prove_clear};
use clearance_geometry::pair::Pair;
use clearance_geometry::polyhedron::Boundary;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;

/// The bodies, ready.
#[derive(Clone, Debug)]
pub(super) enum ReadyBoundaries {
    /// None is rounded.
    Solids([SolidOnDemand; 2]),
    /// One is a rounded polytope.
    Rounded(ReadyHulls, [PlacedBody; 2]),
}

/// A body that is made a solid when somebody asks for it: most pairs are told by their hulls.
#[derive(Clone, Debug)]
pub(super) struct SolidOnDemand {
    placed: PlacedBody,
    made: OnceLock<ReadySolid>,
}

impl SolidOnDemand {
    /// None: the body bounds no volume.
    fn new(placed: PlacedBody) -> Option<Self> {
        let is_solid = ReadySolid::is_solid(&placed.body);
        is_solid.then_some(Self { placed, made: OnceLock::new() })
    }

    fn solid(&self) -> &ReadySolid {
        let make = || ReadySolid::new(self.placed.clone()).expect("the body bounds a volume");
        self.made.get_or_init(make)
    }
}

/// How the bodies stand.
#[derive(Clone, Debug)]
pub(super) struct Stand {
    pub(super) verdict: Verdict,
    shown: Shown,
}

/// What shows that.
#[derive(Clone, Debug)]
enum Shown {
    /// Their hulls are apart, as this proves.
    ByHulls(VerdictProof),
    /// Faces that meet, if any do.
    ByFaces(Option<Faces>),
    /// One is rounded.
    ByRadii(Standing),
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
        if kinds.contains(&Kind::Rounded) {
            return Ok(Self::Rounded(ReadyHulls::new(bodies.clone()), bodies));
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
            Self::Rounded(hulls, _) => hulls.pair(),
        }
    }

    /// What is rounded of them, if one is.
    pub(super) fn rounded_hulls(&self) -> Option<RoundedPair<'_>> {
        match self {
            Self::Solids(_) => None,
            Self::Rounded(hulls, _) => Some(hulls.rounded()),
        }
    }

    /// Metres.
    fn radii(&self) -> [f64; 2] {
        match self {
            Self::Solids(_) => [0.0; 2],
            Self::Rounded(hulls, _) => hulls.rounded().radii,
        }
    }

    /// Both as solids, if none is rounded.
    pub(super) fn solids(&self) -> Option<[&ReadySolid; 2]> {
        match self {
            Self::Solids([p, q]) => Some([p.solid(), q.solid()]),
            Self::Rounded(..) => None,
        }
    }

    /// The same bodies elsewhere.
    pub(super) fn moved_to(&self, poses: [Pose; 2]) -> Self {
        match self {
            Self::Solids([p, q]) => {
                let moved = |solid: &SolidOnDemand, pose| SolidOnDemand {
                    placed: PlacedBody { pose, ..solid.placed.clone() },
                    made: solid
                        .made
                        .get()
                        .map(|made| made.moved_to(pose))
                        .map_or_else(OnceLock::new, OnceLock::from),
                };
                Self::Solids([moved(p, poses[0]), moved(q, poses[1])])
            }
            Self::Rounded(_, [p, q]) => {
                let moved = |placed: &PlacedBody, pose| PlacedBody { pose, ..placed.clone() };
                let bodies = [moved(p, poses[0]), moved(q, poses[1])];
                Self::Rounded(ReadyHulls::new(bodies.clone()), bodies)
            }
        }
    }

    /// Both as their boundaries.
    pub(super) fn surfaces(&self) -> Surfaces<'_> {
        let bodies = match self {
            Self::Solids([p, q]) => [boundary(&p.placed), boundary(&q.placed)],
            Self::Rounded(_, [p, q]) => [boundary(p), boundary(q)],
        };
        Surfaces { bodies, radii: self.radii() }
    }

    /// How they stand, exactly.
    pub(super) fn stand(&self, effort: &mut Effort<'_>) -> Result<Stand, Stopped> {
        let of_hulls = match self {
            Self::Solids(_) => {
                let witness = &mut Witness::default();
                let found = decide(&self.hulls(), &METHODS[0], witness, effort)?;
                VerdictProof::OfHulls(found.proof)
            }
            Self::Rounded(hulls, _) => {
                let witness = &mut Witness::default();
                VerdictProof::OfRounded(rounded::verdict(&hulls.rounded(), witness, effort)?)
            }
        };
        if of_hulls.verdict() == Verdict::Separated {
            // The faces were not asked.
            effort.cost.by_bounds += 1;
            return Ok(Stand { verdict: Verdict::Separated, shown: Shown::ByHulls(of_hulls) });
        }
        match self {
            Self::Solids([p, q]) => {
                let [p, q] = [p.solid(), q.solid()];
                let (verdict, faces) = polyhedra::verdict(p.posed(), q.posed(), effort)?;
                Ok(Stand { verdict, shown: Shown::ByFaces(faces) })
            }
            Self::Rounded(..) => {
                let found = standing::stand(&self.surfaces(), effort)?;
                Ok(Stand { verdict: found.verdict(), shown: Shown::ByRadii(found) })
            }
        }
    }

    /// Whether they are within a margin, exactly.
    pub(super) fn within(
        &self,
        stand: &Stand,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Within, Stopped> {
        let (mut is_by_hulls, none) = (false, ArrayVec::new());
        if stand.verdict != Verdict::Separated {
            return Ok(Within { compared: Compared { is_within: true, pairs: none }, is_by_hulls });
        }
        if let Shown::ByHulls(_) = stand.shown {
            let witness = &mut Witness::default();
            let compared = match self {
                Self::Solids(_) => compare(&self.hulls(), margin, witness, effort)?,
                Self::Rounded(hulls, _) => {
                    rounded::compare(&hulls.rounded(), margin, witness, effort)?
                }
            };
            if !compared.is_within {
                is_by_hulls = true;
                return Ok(Within { compared, is_by_hulls });
            }
        }
        let compared = margin::compare(&self.surfaces(), margin, effort)?;
        Ok(Within { compared, is_by_hulls })
    }

    /// The proof of how they stand, and of what is said of a margin.
    pub(super) fn prove(
        &self,
        stand: &Stand,
        within: Option<(f64, &Within)>,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<VerdictProof, Unproven> {
        let are_hulls_enough = within.is_none_or(|(_, found)| found.is_by_hulls);
        match (&stand.shown, within) {
            (Shown::ByHulls(proof), _) if are_hulls_enough => return Ok(proof.clone()),
            (_, Some((margin, found))) if !found.compared.is_within => {
                return self.prove_apart(Clear::Beyond(margin), wanted, effort);
            }
            _ => {}
        }
        let steps_max = wanted.cover_steps_max;
        match (self, &stand.shown) {
            (Self::Solids([p, q]), Shown::ByHulls(_) | Shown::ByRadii(_)) => {
                let shapes = [&p.solid().shape(), &q.solid().shape()];
                prove_verdict(shapes, stand.verdict, None, steps_max, effort)
                    .map(VerdictProof::OfSolids)
            }
            (Self::Solids([p, q]), Shown::ByFaces(faces)) => {
                let shapes = [&p.solid().shape(), &q.solid().shape()];
                prove_verdict(shapes, stand.verdict, faces.as_ref(), steps_max, effort)
                    .map(VerdictProof::OfSolids)
            }
            (Self::Rounded(..), Shown::ByRadii(found)) => {
                let found = found.clone().prove(&self.surfaces(), steps_max, effort);
                found.map(VerdictProof::OfRoundedSolids)
            }
            (Self::Rounded(..), Shown::ByHulls(_) | Shown::ByFaces(_)) => {
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
        Ok(match self {
            Self::Solids(_) => VerdictProof::OfSolids(SolidProof::Separated(cover)),
            Self::Rounded(..) => VerdictProof::OfRoundedSolids(RoundedSolidProof::Apart(cover)),
        })
    }

    /// Where faces meet, of bodies that are in contact and not rounded.
    pub(super) fn meeting(&self, stand: &Stand) -> Option<Meeting> {
        match (self, &stand.shown) {
            (Self::Solids([p, q]), Shown::ByFaces(Some(faces))) => {
                Some(Meeting::new([p.solid(), q.solid()], faces, None))
            }
            _ => None,
        }
    }

    /// A point of both, of bodies in contact: nearly the same twice.
    pub(super) fn common_points(
        &self,
        stand: &Stand,
        effort: &mut Effort<'_>,
    ) -> Result<Option<[Vec3; 2]>, Stopped> {
        let surfaces = self.surfaces();
        match &stand.shown {
            Shown::ByHulls(_) | Shown::ByFaces(None) | Shown::ByRadii(Standing::Apart) => Ok(None),
            Shown::ByFaces(Some(faces)) => {
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
            Shown::ByRadii(Standing::Touching(pairs) | Standing::Near(pairs)) => {
                let of_p: Vec<u32> = pairs.iter().map(|pair| pair.i).collect();
                let of_q: Vec<u32> = pairs.iter().map(|pair| pair.j).collect();
                common::points_of_faces(&surfaces, [&of_p, &of_q], effort)
            }
            Shown::ByRadii(Standing::Inside) => {
                let polytope = surfaces.bodies.iter().find(|body| body.mesh.is_none());
                Ok(polytope.and_then(|body| common::points_of_vertex(body, 0)))
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
    let mesh = match &placed.body {
        Body::Polytope(_) | Body::Rounded(_) => None,
        Body::Polyhedron(mesh) => Some(&*mesh.polyhedron),
    };
    Boundary { mesh, hull: placed.body.hull(), pose: placed.pose }
}
