//! Certificates, to the wire and back.

use arrayvec::ArrayVec;

use crate::geometry::{
    direction, direction_to_wire, pair, pair_to_wire, pairs_to_wire, verdict, verdict_to_wire,
};
use crate::path::{BadField, Path};
use clearance_proof::claim::{
    ConvexProof, DepthSide, FirstContact, Frame, Link, RangeEnd, RangeProof, RoundedProof,
    StaticProof, Surface,
};
use clearance_proof::vertex_pair::VertexPair;
use clearance_proto as api;

/// The proof of a verdict.
pub fn proof_to_wire(proof: &StaticProof) -> api::StaticCertificate {
    proof_with_margin_to_wire(proof, &[])
}

/// The proof of a verdict and, if that is of separation, the pairs that show what is said of a
/// margin; in contact there is nothing to show.
pub fn proof_with_margin_to_wire(
    proof: &StaticProof,
    margin_pairs: &[VertexPair],
) -> api::StaticCertificate {
    use api::static_certificate::Proof;
    let proof = match proof {
        StaticProof::Separated { direction } => Proof::Separated(api::SeparatedProof {
            direction: Some(direction_to_wire(direction)),
            margin_pairs: pairs_to_wire(margin_pairs),
        }),
        StaticProof::Touching { direction, pairs } => Proof::Touching(api::TouchingProof {
            direction: Some(direction_to_wire(direction)),
            pairs: pairs_to_wire(pairs),
        }),
        StaticProof::Overlapping { pairs } => {
            let pairs = pairs_to_wire(pairs);
            Proof::Overlapping(api::OverlappingProof { pairs, margin_depth: None })
        }
    };
    api::StaticCertificate { proof: Some(proof) }
}

/// The proof of a verdict on bodies that may be rounded and, of separated ones, the pairs that show
/// what is said of a margin.
pub fn convex_proof_to_wire(
    proof: &ConvexProof,
    margin_pairs: &[VertexPair],
) -> api::StaticCertificate {
    match proof {
        ConvexProof::Polytopes(proof) => proof_with_margin_to_wire(proof, margin_pairs),
        ConvexProof::Rounded(proof) => rounded_to_wire(proof, margin_pairs),
    }
}

/// The proof of a verdict on bodies that may be rounded, from the wire.
pub fn convex_proof(
    path: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<ConvexProof, BadField> {
    match wire.and_then(|wire| wire.proof.as_ref()) {
        Some(api::static_certificate::Proof::Rounded(wire)) => {
            rounded_proof(&path.field("rounded"), wire).map(ConvexProof::Rounded)
        }
        _ => proof(path, wire).map(ConvexProof::Polytopes),
    }
}

/// The proof of a verdict on rounded bodies, and the pairs that show what is said of a margin.
pub fn rounded_to_wire(
    proof: &RoundedProof,
    margin_pairs: &[VertexPair],
) -> api::StaticCertificate {
    let rounded = api::RoundedProof {
        verdict: verdict_to_wire(proof.verdict).into(),
        pairs: pairs_to_wire(&proof.pairs),
        margin_pairs: pairs_to_wire(margin_pairs),
        ..Default::default()
    };
    api::StaticCertificate { proof: Some(api::static_certificate::Proof::Rounded(rounded)) }
}

/// The proof of a verdict on rounded bodies, from the wire.
fn rounded_proof(path: &Path<'_>, wire: &api::RoundedProof) -> Result<RoundedProof, BadField> {
    let verdict = verdict(&path.field("verdict"), wire.verdict())?;
    let solid = [("cover", wire.cover.is_some()), ("inner_vertex", wire.inner_vertex.is_some())];
    if let Some((name, _)) = solid.into_iter().find(|(_, is_there)| *is_there) {
        return Err(path.field(name).bad("is about polyhedra"));
    }
    Ok(RoundedProof { verdict, pairs: at_most(&path.field("pairs"), &wire.pairs)? })
}

/// The proof of a verdict, from the wire.
pub fn proof(
    path: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<StaticProof, BadField> {
    use api::static_certificate::Proof;
    let proof = wire.and_then(|wire| wire.proof.as_ref());
    match proof.ok_or_else(|| path.bad("is required"))? {
        Proof::Separated(separated) => {
            let path = path.field("separated");
            let direction = direction(&path.field("direction"), separated.direction.as_ref())?;
            Ok(StaticProof::Separated { direction })
        }
        Proof::Touching(touching) => {
            let path = path.field("touching");
            let direction = direction(&path.field("direction"), touching.direction.as_ref())?;
            let pairs = at_most(&path.field("pairs"), &touching.pairs)?;
            Ok(StaticProof::Touching { direction, pairs })
        }
        Proof::Overlapping(overlapping) => {
            let path = path.field("overlapping");
            Ok(StaticProof::Overlapping {
                pairs: at_most(&path.field("pairs"), &overlapping.pairs)?,
            })
        }
        Proof::Solid(_) => Err(path.field("solid").bad("says nothing about hulls")),
        Proof::Rounded(_) => Err(path.field("rounded").bad("is about rounded bodies")),
        Proof::Curved(_) => Err(path.field("curved").bad("is about curved bodies")),
        Proof::Compound(_) => {
            Err(path.field("compound").bad("is about bodies of several parts: compounds"))
        }
    }
}

/// The same proof with what shows on which side of a margin below 0 the bodies are that it proves
/// to overlap; of others the verdict tells it.
#[must_use]
pub fn with_margin_depth(
    mut certificate: api::StaticCertificate,
    depth: Option<&DepthSide>,
) -> api::StaticCertificate {
    use api::static_certificate::Proof;
    let margin_depth = depth.map(margin_depth_to_wire);
    match &mut certificate.proof {
        Some(Proof::Overlapping(proof)) => proof.margin_depth = margin_depth,
        Some(Proof::Rounded(proof)) => proof.margin_depth = margin_depth,
        _ => {}
    }
    certificate
}

fn margin_depth_to_wire(depth: &DepthSide) -> api::MarginDepth {
    use api::margin_depth::Shown;
    let shown = match depth {
        DepthSide::Less(direction) => Shown::Less(direction_to_wire(direction)),
        DepthSide::AtLeast(surface) => Shown::AtLeast(surface_to_wire(surface)),
    };
    api::MarginDepth { shown: Some(shown) }
}

/// What shows how two bodies compare with a margin: see [`clearance_proof::claim::MarginClaim`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarginShown {
    /// At most three.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// Of a margin below 0.
    pub depth: Option<DepthSide>,
}

/// What shows what is said of a margin, from the wire.
pub fn margin_shown(
    path: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<MarginShown, BadField> {
    use api::static_certificate::Proof;
    let (name, depth) = match wire.and_then(|wire| wire.proof.as_ref()) {
        Some(Proof::Overlapping(proof)) => ("overlapping", proof.margin_depth.as_ref()),
        Some(Proof::Rounded(proof)) => ("rounded", proof.margin_depth.as_ref()),
        _ => ("", None),
    };
    let path_of_depth = path.field(name);
    let path_of_depth = path_of_depth.field("margin_depth");
    let depth = depth.map(|wire| margin_depth(&path_of_depth, wire)).transpose()?;
    Ok(MarginShown { pairs: margin_pairs(path, wire)?, depth })
}

fn margin_depth(path: &Path<'_>, wire: &api::MarginDepth) -> Result<DepthSide, BadField> {
    use api::margin_depth::Shown;
    match &wire.shown {
        Some(Shown::Less(wire)) => direction(&path.field("less"), Some(wire)).map(DepthSide::Less),
        Some(Shown::AtLeast(wire)) => {
            surface(&path.field("at_least"), wire).map(DepthSide::AtLeast)
        }
        None => Err(path.bad("is required to have `less` or `at_least`")),
    }
}

/// The pairs that show what is said of a margin, from the wire.
pub fn margin_pairs(
    path: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<ArrayVec<VertexPair, 3>, BadField> {
    use api::static_certificate::Proof;
    match wire.and_then(|wire| wire.proof.as_ref()) {
        Some(Proof::Separated(separated)) => {
            at_most(&path.field("separated").field("margin_pairs"), &separated.margin_pairs)
        }
        Some(Proof::Rounded(rounded)) => {
            at_most(&path.field("rounded").field("margin_pairs"), &rounded.margin_pairs)
        }
        Some(Proof::Solid(solid)) => {
            at_most(&path.field("solid").field("margin_pairs"), &solid.margin_pairs)
        }
        _ => Ok(ArrayVec::new()),
    }
}

/// At most `N` vertex pairs.
pub fn at_most<const N: usize>(
    path: &Path<'_>,
    wire: &[api::VertexPair],
) -> Result<ArrayVec<VertexPair, N>, BadField> {
    if wire.len() > N {
        return Err(path.bad(format!("must have at most {N} entries")));
    }
    Ok(wire.iter().map(pair).collect())
}

/// The proof of a range along a direction.
pub fn range_to_wire(proof: &RangeProof) -> api::RangeCertificate {
    let end = |end: &RangeEnd| api::RangeEnd {
        direction: Some(direction_to_wire(&end.direction)),
        pairs: pairs_to_wire(&end.pairs),
    };
    match proof {
        RangeProof::Never { direction } => {
            let never = Some(direction_to_wire(direction));
            api::RangeCertificate { never, enter: None, exit: None }
        }
        RangeProof::Meets { enter, exit } => {
            let enter = enter.as_ref().map(end);
            api::RangeCertificate { never: None, enter, exit: Some(end(exit)) }
        }
    }
}

/// The proof of a range along a direction, from the wire.
pub fn range(path: &Path<'_>, wire: &api::RangeCertificate) -> Result<RangeProof, BadField> {
    let end = |name, wire: &api::RangeEnd| {
        let path = path.field(name);
        Ok(RangeEnd {
            direction: direction(&path.field("direction"), wire.direction.as_ref())?,
            pairs: at_most(&path.field("pairs"), &wire.pairs)?,
        })
    };
    match (&wire.never, &wire.enter, &wire.exit) {
        (Some(never), None, None) => {
            Ok(RangeProof::Never { direction: direction(&path.field("never"), Some(never))? })
        }
        (None, enter, Some(exit)) => {
            let enter = enter.as_ref().map(|wire| end("enter", wire)).transpose()?;
            Ok(RangeProof::Meets { enter, exit: end("exit", exit)? })
        }
        _ => Err(path.bad("must have either `never` or `exit`")),
    }
}

/// A surface for the wire.
pub fn surface_to_wire(surface: &Surface) -> api::Surface {
    api::Surface {
        corners: pairs_to_wire(&surface.corners),
        triangles: surface.triangles.iter().flatten().copied().collect(),
    }
}

/// A surface from the wire.
pub fn surface(path: &Path<'_>, wire: &api::Surface) -> Result<Surface, BadField> {
    let (triangles, rest) = wire.triangles.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(path.field("triangles").bad("must have three indices for each triangle"));
    }
    Ok(Surface { corners: wire.corners.iter().map(pair).collect(), triangles: triangles.to_vec() })
}

/// The proof of a first contact.
pub fn motion_to_wire(contact: &FirstContact) -> api::MotionCertificate {
    api::MotionCertificate {
        initial: Some(proof_to_wire(&contact.initial)),
        chain: contact.chain.iter().map(link_to_wire).collect(),
        contact_pairs: contact.pairs.iter().map(pair_to_wire).collect(),
        parts: Vec::new(),
        solid: None,
    }
}

/// A link for the wire.
pub fn link_to_wire(link: &Link) -> api::ChainLink {
    let frame = match link.frame {
        Frame::World => api::DirectionFrame::World,
        Frame::P => api::DirectionFrame::P,
        Frame::Q => api::DirectionFrame::Q,
    };
    api::ChainLink {
        t0: link.t0,
        t1: link.t1,
        frame: frame.into(),
        direction: Some(direction_to_wire(&link.direction)),
    }
}

/// A chain from the wire.
pub fn chain(path: &Path<'_>, wire: &[api::ChainLink]) -> Result<Vec<Link>, BadField> {
    wire.iter().enumerate().map(|(index, link_wire)| link(&path.index(index), link_wire)).collect()
}

fn link(path: &Path<'_>, wire: &api::ChainLink) -> Result<Link, BadField> {
    let frame = match path.field("frame").known(wire.frame)? {
        api::DirectionFrame::World => Frame::World,
        api::DirectionFrame::P => Frame::P,
        api::DirectionFrame::Q => Frame::Q,
        api::DirectionFrame::Unspecified => return Err(path.field("frame").bad("is required")),
    };
    let direction = direction(&path.field("direction"), wire.direction.as_ref())?;
    Ok(Link { t0: wire.t0, t1: wire.t1, frame, direction })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_proof::Vec3;
    use clearance_proof::claim::{Axis, Direction, Verdict};

    #[test]
    fn every_form_of_a_proof_survives_the_wire() {
        let at = |i, j| VertexPair { i, j };
        let directions = [
            Direction::Vector(Vec3::new(1.0, -0.5, 1e-300)),
            Direction::Normal { pairs: [at(0, 1), at(2, 3), at(4, 5)], negative: true },
            Direction::EdgeNormal { pairs: [at(7, 0), at(0, 7)], axis: Axis::Y, negative: false },
            Direction::Nearest { pairs: [at(0, 1), at(2, 3), at(2, 3)], negative: false },
            Direction::Nearest { pairs: [at(5, 1); 3], negative: true },
            Direction::SweptNormal { pairs: [at(1, 2), at(3, 0)], negative: true },
            Direction::SweptAxis { axis: Axis::Z, negative: false },
        ];
        let separated = directions.map(|direction| StaticProof::Separated { direction });
        let touching = directions.map(|direction| StaticProof::Touching {
            direction,
            pairs: [at(1, 1), at(2, 2)].into_iter().collect(),
        });
        let pairs = (0..6).map(|k| at(k, k + 1)).collect();
        let overlapping = StaticProof::Overlapping { pairs };
        for known in separated.into_iter().chain(touching).chain([overlapping]) {
            let wire = proof_to_wire(&known);
            assert_eq!(proof(&Path::ROOT, Some(&wire)).unwrap(), known);
        }
    }

    #[test]
    fn what_shows_a_depth_beside_a_margin_survives_the_wire() {
        let at = |i, j| VertexPair { i, j };
        let surface = Surface { corners: vec![at(0, 1), at(2, 3)], triangles: vec![[0, 1, 0]] };
        let direction = Direction::Normal { pairs: [at(0, 1), at(2, 3), at(4, 5)], negative: true };
        let pairs = (0..4).map(|k| at(k, k + 1)).collect();
        let overlapping = proof_to_wire(&StaticProof::Overlapping { pairs });
        let pairs = [at(1, 2)].into_iter().collect();
        let of_rounded = RoundedProof { verdict: Verdict::Overlapping, pairs };
        for depth in [None, Some(DepthSide::Less(direction)), Some(DepthSide::AtLeast(surface))] {
            for proof in [overlapping.clone(), rounded_to_wire(&of_rounded, &[])] {
                let wire = with_margin_depth(proof, depth.as_ref());
                let found = margin_shown(&Path::ROOT, Some(&wire)).unwrap();
                assert_eq!(found, MarginShown { pairs: ArrayVec::new(), depth: depth.clone() });
            }
        }
        let empty = Some(api::MarginDepth { shown: None });
        let proof = api::OverlappingProof { pairs: Vec::new(), margin_depth: empty };
        let proof = Some(api::static_certificate::Proof::Overlapping(proof));
        let wire = api::StaticCertificate { proof };
        let refused = margin_shown(&Path::ROOT, Some(&wire)).unwrap_err().to_string();
        assert!(refused.starts_with("overlapping.margin_depth: "), "{refused}");
    }

    #[test]
    fn every_form_of_a_range_survives_the_wire() {
        let pair = VertexPair { i: 3, j: 1 };
        let direction = Direction::Normal { pairs: [pair; 3], negative: true };
        let end = RangeEnd { direction, pairs: [pair; 4].into() };
        let known = [
            RangeProof::Never { direction },
            RangeProof::Meets { enter: None, exit: end.clone() },
            RangeProof::Meets { enter: Some(end.clone()), exit: end },
        ];
        for known in known {
            assert_eq!(range(&Path::ROOT, &range_to_wire(&known)).unwrap(), known);
            let both = api::RangeCertificate {
                never: Some(direction_to_wire(&direction)),
                exit: Some(api::RangeEnd::default()),
                ..range_to_wire(&known)
            };
            assert!(range(&Path::ROOT, &both).is_err());
        }
        assert!(range(&Path::ROOT, &api::RangeCertificate::default()).is_err());
    }

    #[test]
    fn a_proof_of_the_wrong_shape_is_refused_with_its_path() {
        let path = Path::ROOT.field("certificate");
        assert!(proof(&path, None).is_err());
        let pairs = vec![api::VertexPair::default(); 7];
        let wire = api::StaticCertificate {
            proof: Some(api::static_certificate::Proof::Overlapping(api::OverlappingProof {
                pairs,
                margin_depth: None,
            })),
        };
        let refused = proof(&path, Some(&wire)).unwrap_err().to_string();
        assert!(refused.starts_with("certificate.overlapping.pairs: "), "{refused}");
    }
}
