//! Proofs about bodies that need not be convex, to the wire and back.

use arrayvec::ArrayVec;

use super::certificate::{at_most, chain, link_to_wire};
use super::geometry::{pairs_to_wire, vector, vector_to_wire, verdict, verdict_to_wire};
use crate::path::{BadField, Path};
use clearance_bodies::Unproven;
use clearance_bodies::solid::{BodyFace, Meeting};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    CollisionProof, Cover, CoverStep, Face, InnerPoint, PairCover, RoundedSolidProof,
    SolidMotionProof, SolidProof, Verdict,
};
use clearance_geometry::pair::VertexPair;
use clearance_proto as api;
use clearance_proto::solid_proof::Proof;

/// The proof of a verdict and, of bodies within a margin, the pairs that show it.
pub fn proof_to_wire(proof: &SolidProof, margin_pairs: &[VertexPair]) -> api::StaticCertificate {
    let proof = match proof {
        SolidProof::Separated(cover) => Proof::Separated(cover_to_wire(cover)),
        SolidProof::Touching { faces, from, way } => Proof::Touching(api::SolidTouch {
            faces: Some(faces_to_wire(faces)),
            from: Some(vector_to_wire(from)),
            way: Some(cover_to_wire(way)),
        }),
        SolidProof::TouchingPieces { pairs, cover } => Proof::TouchingPieces(api::PieceTouch {
            pairs: pairs_to_wire(pairs),
            cover: Some(cover_to_wire(cover)),
        }),
        SolidProof::Crossing(triangles) => {
            Proof::Crossing(faces_to_wire(&triangles.map(Face::from)))
        }
        SolidProof::OverlappingPieces(pairs) => {
            Proof::OverlappingPieces(api::PiecePairs { pairs: pairs_to_wire(pairs) })
        }
        SolidProof::InnerPiece { triangle, weights } => Proof::InnerPiece(api::InnerPiece {
            triangle: triangle.to_vec(),
            weights: weights.to_vec(),
        }),
        SolidProof::InnerPoint(InnerPoint { terms: [point, offset], vertices: [of_p, of_q] }) => {
            Proof::InnerPoint(api::InnerPoint {
                point: Some(vector_to_wire(point)),
                offset: Some(vector_to_wire(offset)),
                p_vertices: of_p.to_vec(),
                q_vertices: of_q.to_vec(),
            })
        }
    };
    let margin_pairs = pairs_to_wire(margin_pairs);
    let solid = api::SolidProof { proof: Some(proof), margin_pairs };
    api::StaticCertificate { proof: Some(api::static_certificate::Proof::Solid(solid)) }
}

/// The proof of a verdict, from the wire.
pub fn proof(path: &Path<'_>, wire: &api::SolidProof) -> Result<SolidProof, BadField> {
    match wire.proof.as_ref().ok_or_else(|| path.bad("is required"))? {
        Proof::Separated(wire) => Ok(SolidProof::Separated(cover(&path.field("separated"), wire)?)),
        Proof::Touching(wire) => {
            let path = path.field("touching");
            let way = required(&path.field("way"), wire.way.as_ref())?;
            let start = path.field("from");
            Ok(SolidProof::Touching {
                faces: faces(&path.field("faces"), wire.faces.as_ref())?,
                from: vector(&start, Some(required(&start, wire.from.as_ref())?))?,
                way: cover(&path.field("way"), way)?,
            })
        }
        Proof::TouchingPieces(wire) => {
            let path = path.field("touching_pieces");
            let at = path.field("cover");
            Ok(SolidProof::TouchingPieces {
                pairs: at_most(&path.field("pairs"), &wire.pairs)?,
                cover: cover(&at, required(&at, wire.cover.as_ref())?)?,
            })
        }
        Proof::OverlappingPieces(wire) => {
            let path = path.field("overlapping_pieces");
            at_most(&path.field("pairs"), &wire.pairs).map(SolidProof::OverlappingPieces)
        }
        Proof::Crossing(wire) => {
            let path = path.field("crossing");
            let triangle = |name, wire: &[u32]| {
                wire.try_into().map_err(|_| path.field(name).bad("must have three entries"))
            };
            Ok(SolidProof::Crossing([triangle("p", &wire.p)?, triangle("q", &wire.q)?]))
        }
        Proof::InnerPiece(api::InnerPiece { triangle, weights }) => {
            let path = path.field("inner_piece");
            let three = |name| path.field(name).bad("must have three entries");
            Ok(SolidProof::InnerPiece {
                triangle: triangle[..].try_into().map_err(|_| three("triangle"))?,
                weights: weights[..].try_into().map_err(|_| three("weights"))?,
            })
        }
        Proof::InnerPoint(wire) => {
            let path = path.field("inner_point");
            let at = path.field("point");
            Ok(SolidProof::InnerPoint(InnerPoint {
                terms: [
                    vector(&at, Some(required(&at, wire.point.as_ref())?))?,
                    wire.offset.as_ref().map_or(Ok(Vec3::zeros()), |offset| {
                        vector(&path.field("offset"), Some(offset))
                    })?,
                ],
                vertices: [
                    vertices(&path.field("p_vertices"), &wire.p_vertices)?,
                    vertices(&path.field("q_vertices"), &wire.q_vertices)?,
                ],
            }))
        }
    }
}

/// The proof of how a rounded polytope and a polyhedron stand.
pub fn rounded_to_wire(
    proof: &RoundedSolidProof,
    margin_pairs: &[VertexPair],
) -> api::StaticCertificate {
    let (pairs, cover, inner_vertex) = match proof {
        RoundedSolidProof::Apart(cover) => (Vec::new(), Some(cover), None),
        RoundedSolidProof::Touching { pairs, cover } => (pairs_to_wire(pairs), Some(cover), None),
        RoundedSolidProof::Near(pairs) => (pairs_to_wire(pairs), None, None),
        RoundedSolidProof::Inside(vertex) => (Vec::new(), None, Some(*vertex)),
    };
    let rounded = api::RoundedProof {
        verdict: verdict_to_wire(proof.verdict()).into(),
        pairs,
        margin_pairs: pairs_to_wire(margin_pairs),
        cover: cover.map(cover_to_wire),
        inner_vertex,
        margin_depth: None,
    };
    api::StaticCertificate { proof: Some(api::static_certificate::Proof::Rounded(rounded)) }
}

/// The proof of how a rounded polytope and a polyhedron stand, from the wire; none: it is about
/// their hulls, which are apart.
pub fn rounded(
    path: &Path<'_>,
    wire: &api::RoundedProof,
) -> Result<Option<RoundedSolidProof>, BadField> {
    let at = path.field("cover");
    let cover = wire.cover.as_ref().map(|wire| cover(&at, wire)).transpose()?;
    let pairs = at_most(&path.field("pairs"), &wire.pairs)?;
    let stands = verdict(&path.field("verdict"), wire.verdict())?;
    Ok(match (stands, cover, wire.inner_vertex) {
        (Verdict::Separated, None, None) => None,
        (Verdict::Separated, Some(cover), None) if pairs.is_empty() => {
            Some(RoundedSolidProof::Apart(cover))
        }
        (Verdict::Touching, Some(cover), None) => {
            Some(RoundedSolidProof::Touching { pairs, cover })
        }
        (Verdict::Overlapping, None, None) => Some(RoundedSolidProof::Near(pairs)),
        (Verdict::Overlapping, None, Some(vertex)) if pairs.is_empty() => {
            Some(RoundedSolidProof::Inside(vertex))
        }
        _ => return Err(path.bad("has a cover, pairs or a vertex that its verdict does not have")),
    })
}

/// The proof of a first contact, or of there being none; and of how the bodies stand at t = 0, if
/// that does not say it.
pub fn motion_to_wire(
    proof: &SolidMotionProof,
    initial: Option<api::StaticCertificate>,
) -> api::MotionCertificate {
    let has_cover = !proof.free.steps.is_empty();
    let solid = api::SolidMotionProof {
        free: has_cover.then(|| cover_to_wire(&proof.free)),
        contact: proof.faces.as_ref().map(faces_to_wire),
        contact_pairs: pairs_to_wire(&proof.pairs),
    };
    api::MotionCertificate { initial, solid: Some(solid), ..Default::default() }
}

/// The proof of a first contact, from the wire.
pub fn motion(path: &Path<'_>, wire: &api::SolidMotionProof) -> Result<SolidMotionProof, BadField> {
    let at = path.field("free");
    let free = wire.free.as_ref().map(|free| cover(&at, free)).transpose()?;
    let contact = wire.contact.as_ref();
    Ok(SolidMotionProof {
        free: free.unwrap_or_default(),
        faces: contact.map(|wire| faces(&path.field("contact"), Some(wire))).transpose()?,
        pairs: at_most(&path.field("contact_pairs"), &wire.contact_pairs)?,
    })
}

/// The proof of a first contact among several bodies.
pub fn collision_to_wire(proof: &CollisionProof) -> api::CollisionCertificate {
    let (contact, free) = match proof {
        CollisionProof::AtStart(proof) => {
            let initial = Some(proof_to_wire(proof, &[]));
            return api::CollisionCertificate {
                contact: Some(api::MotionCertificate { initial, ..Default::default() }),
                free: Vec::new(),
            };
        }
        CollisionProof::Later { contact, free } => (contact, free),
    };
    let freedom = |PairCover { pair: [p, q], cover }: &PairCover| api::PairFreedom {
        pair: Some(api::PlacePair { p: *p, q: *q }),
        cover: Some(cover_to_wire(cover)),
    };
    api::CollisionCertificate {
        contact: contact.as_ref().map(|proof| motion_to_wire(proof, None)),
        free: free.iter().map(freedom).collect(),
    }
}

/// The proof of a first contact among several bodies, from the wire.
pub fn collision(
    path: &Path<'_>,
    wire: &api::CollisionCertificate,
) -> Result<CollisionProof, BadField> {
    let at = path.field("contact");
    let contact = match &wire.contact {
        None => None,
        Some(api::MotionCertificate { solid: Some(wire), .. }) => {
            Some(motion(&at.field("solid"), wire)?)
        }
        Some(api::MotionCertificate { initial, .. }) => {
            let at = at.field("initial");
            let at = at.field("solid");
            return match initial.as_ref().and_then(|initial| initial.proof.as_ref()) {
                Some(api::static_certificate::Proof::Solid(wire)) => {
                    Ok(CollisionProof::AtStart(proof(&at, wire)?))
                }
                _ => Err(at.bad("is required")),
            };
        }
    };
    let list = path.field("free");
    let freedom = |(index, wire): (usize, &api::PairFreedom)| {
        let path = list.index(index);
        let api::PlacePair { p, q } = *required(&path.field("pair"), wire.pair.as_ref())?;
        let at = path.field("cover");
        Ok(PairCover { pair: [p, q], cover: cover(&at, required(&at, wire.cover.as_ref())?)? })
    };
    let free = wire.free.iter().enumerate().map(freedom).collect::<Result<_, BadField>>()?;
    Ok(CollisionProof::Later { contact, free })
}

/// Where bodies meet.
pub fn meeting_to_wire(meeting: &Meeting) -> api::FaceContact {
    use api::face_contact::{PFace, QFace};
    let edge = |[from, to]: [u32; 2]| api::EdgeEnds { from, to };
    api::FaceContact {
        p_face: meeting.p.map(|face| match face {
            BodyFace::Vertex(vertex) => PFace::PVertex(vertex),
            BodyFace::Edge(ends) => PFace::PEdge(edge(ends)),
            BodyFace::Facet(facet) => PFace::PFacet(facet),
        }),
        q_face: meeting.q.map(|face| match face {
            BodyFace::Vertex(vertex) => QFace::QVertex(vertex),
            BodyFace::Edge(ends) => QFace::QEdge(edge(ends)),
            BodyFace::Facet(facet) => QFace::QFacet(facet),
        }),
        point: meeting.point.as_ref().map(vector_to_wire),
    }
}

/// Why there is no proof.
pub fn unproven_to_wire(why: Unproven) -> api::UncertifiedReason {
    match why {
        Unproven::TooLong => api::UncertifiedReason::TooLong,
        Unproven::NoWay => api::UncertifiedReason::NoWay,
        Unproven::TooThin => api::UncertifiedReason::TooThin,
        Unproven::Unresolved => api::UncertifiedReason::Unresolved,
        Unproven::NoClaim => api::UncertifiedReason::NoClaim,
        Unproven::Stopped(_) => api::UncertifiedReason::Stopped,
    }
}

fn faces_to_wire([of_p, of_q]: &[Face; 2]) -> api::FacePair {
    api::FacePair { p: of_p.to_vec(), q: of_q.to_vec() }
}

fn faces(path: &Path<'_>, wire: Option<&api::FacePair>) -> Result<[Face; 2], BadField> {
    let wire = required(path, wire)?;
    Ok([vertices(&path.field("p"), &wire.p)?, vertices(&path.field("q"), &wire.q)?])
}

fn vertices<const N: usize>(path: &Path<'_>, wire: &[u32]) -> Result<ArrayVec<u32, N>, BadField> {
    wire.try_into().map_err(|_| path.bad(format!("must have at most {N} entries")))
}

/// A cover, to the wire.
pub fn cover_to_wire(cover: &Cover) -> api::FaceCover {
    let step = |step: &CoverStep| {
        let (split, chain) = match step {
            CoverStep::SplitP => (api::CoverSplit::P, Vec::new()),
            CoverStep::SplitQ => (api::CoverSplit::Q, Vec::new()),
            CoverStep::Apart(chain) => {
                (api::CoverSplit::Unspecified, chain.iter().map(link_to_wire).collect())
            }
        };
        api::CoverStep { split: split.into(), chain }
    };
    api::FaceCover {
        p_order: cover.order_p.clone(),
        q_order: cover.order_q.clone(),
        steps: cover.steps.iter().map(step).collect(),
    }
}

/// A cover, from the wire: as long as a message can hold; the judge has a limit of its own for what
/// it looks at.
pub fn cover(path: &Path<'_>, wire: &api::FaceCover) -> Result<Cover, BadField> {
    let list = path.field("steps");
    let step = |(index, step): (usize, &api::CoverStep)| {
        let path = list.index(index);
        let split = match path.field("split").known(step.split)? {
            api::CoverSplit::Unspecified => {
                return Ok(CoverStep::Apart(chain(&path.field("chain"), &step.chain)?));
            }
            api::CoverSplit::P => CoverStep::SplitP,
            api::CoverSplit::Q => CoverStep::SplitQ,
        };
        if step.chain.is_empty() {
            Ok(split)
        } else {
            Err(path.field("chain").bad("must be empty where there is a split"))
        }
    };
    Ok(Cover {
        order_p: wire.p_order.clone(),
        order_q: wire.q_order.clone(),
        steps: wire.steps.iter().enumerate().map(step).collect::<Result<_, _>>()?,
    })
}

fn required<'a, T>(path: &Path<'_>, wire: Option<&'a T>) -> Result<&'a T, BadField> {
    wire.ok_or_else(|| path.bad("is required"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::claim::{Direction, Frame, Link};

    fn some_cover() -> Cover {
        let direction = Direction::Vector(Vec3::new(1.0, -0.5, 0.25));
        let link = Link { t0: 0.0, t1: 0.75, frame: Frame::World, direction };
        let apart = CoverStep::Apart(vec![link]);
        let steps = vec![CoverStep::SplitQ, CoverStep::SplitP, apart.clone(), apart.clone(), apart];
        Cover { order_p: vec![1, 0, 2, 3], order_q: vec![], steps }
    }

    fn face(vertices: &[u32]) -> Face {
        vertices.try_into().unwrap()
    }

    #[test]
    fn every_form_of_a_proof_survives_the_wire() {
        let faces = [face(&[3]), face(&[5, 1])];
        let inner = InnerPoint {
            terms: [Vec3::new(1.0, 2.0, 3.0), Vec3::new(1e-300, 0.0, -1.0)],
            vertices: [[].into_iter().collect(), (0..6).collect()],
        };
        for known in [
            SolidProof::Separated(some_cover()),
            SolidProof::Touching { faces: faces.clone(), from: Vec3::y(), way: some_cover() },
            SolidProof::Crossing([[0, 1, 2], [9, 8, 7]]),
            SolidProof::InnerPoint(inner),
        ] {
            let Some(api::static_certificate::Proof::Solid(wire)) =
                proof_to_wire(&known, &[]).proof
            else {
                panic!("{known:?}")
            };
            assert_eq!(proof(&Path::ROOT, &wire).unwrap(), known);
        }
        let free = vec![PairCover { pair: [0, 7], cover: some_cover() }];
        let pairs: ArrayVec<VertexPair, 6> = [VertexPair { i: 3, j: 4 }; 2].into_iter().collect();
        for known in [
            RoundedSolidProof::Apart(some_cover()),
            RoundedSolidProof::Touching { pairs: pairs.clone(), cover: some_cover() },
            RoundedSolidProof::Near(pairs.clone()),
            RoundedSolidProof::Inside(2),
        ] {
            let Some(api::static_certificate::Proof::Rounded(wire)) =
                rounded_to_wire(&known, &[]).proof
            else {
                panic!("{known:?}")
            };
            assert_eq!(rounded(&Path::ROOT, &wire).unwrap(), Some(known));
        }
        for faces in [None, Some(faces)] {
            let known = SolidMotionProof { free: some_cover(), faces, pairs: pairs.clone() };
            let wire = motion_to_wire(&known, None).solid.unwrap();
            assert_eq!(motion(&Path::ROOT, &wire).unwrap(), known);
            for contact in [None, Some(known)] {
                let known = CollisionProof::Later { contact, free: free.clone() };
                assert_eq!(collision(&Path::ROOT, &collision_to_wire(&known)).unwrap(), known);
            }
        }
        let known = CollisionProof::AtStart(SolidProof::Crossing([[0, 1, 2], [9, 8, 7]]));
        assert_eq!(collision(&Path::ROOT, &collision_to_wire(&known)).unwrap(), known);
    }

    #[test]
    fn a_proof_of_the_wrong_shape_is_refused_with_its_path() {
        let refused = |wire: Proof| {
            let wire = api::SolidProof { proof: Some(wire), margin_pairs: Vec::new() };
            proof(&Path::ROOT.field("solid"), &wire).unwrap_err().to_string()
        };
        let two = api::FacePair { p: vec![1, 2, 3], q: vec![1, 2] };
        assert!(refused(Proof::Crossing(two)).starts_with("solid.crossing.q: "));
        let mut cover = cover_to_wire(&some_cover());
        cover.steps[1].chain = cover.steps[2].chain.clone();
        let said = refused(Proof::Separated(cover.clone()));
        assert!(said.starts_with("solid.separated.steps[1].chain: "), "{said}");
        cover.steps[1].split = 7;
        let said = refused(Proof::Separated(cover));
        assert!(said.starts_with("solid.separated.steps[1].split: "), "{said}");
        let four = api::FacePair { p: vec![1], q: vec![1, 2, 3, 4] };
        let touch =
            api::SolidTouch { faces: Some(four), from: None, way: Some(Default::default()) };
        let said = refused(Proof::Touching(touch));
        assert!(said.starts_with("solid.touching.faces.q: "), "{said}");
        // A proof that lacked one of these was judged as one about the origin.
        let touch = api::SolidTouch {
            faces: Some(api::FacePair { p: vec![1], q: vec![1] }),
            from: None,
            way: Some(Default::default()),
        };
        let said = refused(Proof::Touching(touch));
        assert!(said.starts_with("solid.touching.from: "), "{said}");
        let said = refused(Proof::InnerPoint(Default::default()));
        assert!(said.starts_with("solid.inner_point.point: "), "{said}");
        let of_several = |contact, free| {
            let wire = api::CollisionCertificate { contact, free };
            collision(&Path::ROOT.field("certificate"), &wire).unwrap_err().to_string()
        };
        let said = of_several(Some(Default::default()), Vec::new());
        assert!(said.starts_with("certificate.contact.initial.solid: "), "{said}");
        let said = of_several(None, vec![Default::default()]);
        assert!(said.starts_with("certificate.free[0].pair: "), "{said}");
    }
}
