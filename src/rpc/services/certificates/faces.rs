//! Where bodies are said to meet, judged: that the faces named share a point, at the time that is
//! stated, or that the one facet named is inside the other body.

use clearance_bodies::PlacedBody;
use clearance_bodies::solid::BodyFace;
use clearance_geometry::claim::Solids;
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{InnerFacet, judge_faces, judge_inner_facet};
use clearance_geometry::motion::Motion;
use clearance_proto as api;
use clearance_wire::path::{BadField, Path};

/// What is named of two bodies that are in contact.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamedFaces {
    /// A face of each.
    OfBoth([BodyFace; 2]),
    /// A facet of P that is inside Q.
    OfP(u32),
    /// A facet of Q that is inside P.
    OfQ(u32),
}

impl NamedFaces {
    /// The faces that an answer names where bodies are said to meet, if it names any.
    pub(super) fn convert(
        path: &Path<'_>,
        wire: Option<&api::FaceContact>,
    ) -> Result<Option<Self>, BadField> {
        use api::face_contact::{PFace, QFace};
        let Some(api::FaceContact { p_face, q_face, .. }) = wire else { return Ok(None) };
        let ends = |api::EdgeEnds { from, to }: &api::EdgeEnds| BodyFace::Edge([*from, *to]);
        let p = p_face.as_ref().map(|face| match face {
            PFace::PVertex(vertex) => BodyFace::Vertex(*vertex),
            PFace::PEdge(edge) => ends(edge),
            PFace::PFacet(facet) => BodyFace::Facet(*facet),
        });
        let q = q_face.as_ref().map(|face| match face {
            QFace::QVertex(vertex) => BodyFace::Vertex(*vertex),
            QFace::QEdge(edge) => ends(edge),
            QFace::QFacet(facet) => BodyFace::Facet(*facet),
        });
        match (p, q) {
            (Some(p), Some(q)) => Ok(Some(Self::OfBoth([p, q]))),
            (Some(BodyFace::Facet(facet)), None) => Ok(Some(Self::OfP(facet))),
            (None, Some(BodyFace::Facet(facet))) => Ok(Some(Self::OfQ(facet))),
            _ => Err(path.bad("names a face of each body, or one facet that is inside the other")),
        }
    }

    /// Refuses it where no faces meet, or none that a judge knows of.
    pub(super) fn refuse(path: &Path<'_>, wire: Option<&api::FaceContact>) -> Result<(), BadField> {
        let why = "is said of polyhedra that meet, with a certificate about these themselves";
        if wire.is_some() { Err(path.bad(why)) } else { Ok(()) }
    }

    /// Whether the faces share a point at a time of the interval, or the facet is inside the other
    /// body at t = 0.
    pub(super) fn judge(
        &self,
        bodies: [&PlacedBody; 2],
        motions: [&Motion; 2],
        times: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let no_facet = || "face_contact: it names a facet that does not exist".to_owned();
        let judged = match self {
            Self::OfBoth(named) => {
                let [p, q] = [0, 1].map(|k| match &named[k] {
                    BodyFace::Vertex(vertex) => Some(std::slice::from_ref(vertex)),
                    BodyFace::Edge(ends) => Some(&ends[..]),
                    BodyFace::Facet(facet) => bodies[k].body.facet(*facet),
                });
                let faces = [p.ok_or_else(no_facet)?, q.ok_or_else(no_facet)?];
                let solids = Solids { p: bodies[0].solid(), q: bodies[1].solid() };
                judge_faces(&solids, faces, motions, times, effort)
            }
            Self::OfP(_) | Self::OfQ(_) if times != [0.0, 0.0] => {
                let why = "face_contact: one facet alone says how bodies overlap at t = 0";
                return Err(why.to_owned());
            }
            Self::OfP(facet) => {
                let corners = bodies[0].body.facet(*facet).ok_or_else(no_facet)?;
                let facet = InnerFacet { body: &bodies[0].solid(), corners, name: "P" };
                judge_inner_facet(facet, &bodies[1].solid(), &bodies[1].body.boundary()[..], effort)
            }
            Self::OfQ(facet) => {
                let corners = bodies[1].body.facet(*facet).ok_or_else(no_facet)?;
                let facet = InnerFacet { body: &bodies[1].solid(), corners, name: "Q" };
                judge_inner_facet(facet, &bodies[0].solid(), &bodies[0].body.boundary()[..], effort)
            }
        };
        judged.map_err(|refusal| format!("face_contact: {refusal}"))
    }
}
