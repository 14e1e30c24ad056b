//! Where bodies are said to meet, judged: that the faces named share a point, at the time that is
//! stated.

use crate::geometry::claim::Solids;
use crate::geometry::effort::Effort;
use crate::geometry::judge::judge_faces;
use crate::geometry::motion::Motion;
use crate::rpc::api;
use crate::rpc::convert::body::JudgedBody;
use crate::rpc::path::{BadField, Path};

/// A face of each body.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedFaces([Named; 2]);

#[derive(Clone, Copy, Debug)]
enum Named {
    Vertex(u32),
    Edge([u32; 2]),
    Facet(u32),
}

impl NamedFaces {
    /// The faces that an answer names where bodies are said to meet, if it names any.
    pub(super) fn convert(
        path: &Path<'_>,
        wire: Option<&api::FaceContact>,
    ) -> Result<Option<Self>, BadField> {
        use api::face_contact::{PFace, QFace};
        let Some(api::FaceContact { p_face, q_face, .. }) = wire else { return Ok(None) };
        let ends = |api::EdgeEnds { from, to }: &api::EdgeEnds| Named::Edge([*from, *to]);
        let p = p_face.as_ref().map(|face| match face {
            PFace::PVertex(vertex) => Named::Vertex(*vertex),
            PFace::PEdge(edge) => ends(edge),
            PFace::PFacet(facet) => Named::Facet(*facet),
        });
        let q = q_face.as_ref().map(|face| match face {
            QFace::QVertex(vertex) => Named::Vertex(*vertex),
            QFace::QEdge(edge) => ends(edge),
            QFace::QFacet(facet) => Named::Facet(*facet),
        });
        let (Some(p), Some(q)) = (p, q) else {
            return Err(path.bad("is judged where it names a face of each: without it the rest is"));
        };
        Ok(Some(Self([p, q])))
    }

    /// Refuses it where no faces meet, or none that a judge knows of.
    pub(super) fn refuse(path: &Path<'_>, wire: Option<&api::FaceContact>) -> Result<(), BadField> {
        let why = "is said of polyhedra that meet, with a certificate about these themselves";
        if wire.is_some() { Err(path.bad(why)) } else { Ok(()) }
    }

    /// Whether they share a point at a time of the interval.
    pub(super) fn judge(
        &self,
        bodies: [&JudgedBody; 2],
        motions: [&Motion; 2],
        times: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let [p, q] = [0, 1].map(|k| match &self.0[k] {
            Named::Vertex(vertex) => Some(std::slice::from_ref(vertex)),
            Named::Edge(ends) => Some(&ends[..]),
            Named::Facet(facet) => bodies[k].facet(*facet),
        });
        let (Some(p), Some(q)) = (p, q) else {
            return Err("face_contact: it names a facet that does not exist".to_owned());
        };
        let solids = Solids { p: bodies[0].solid(), q: bodies[1].solid() };
        judge_faces(&solids, [p, q], motions, times, effort)
            .map_err(|refusal| format!("face_contact: {refusal}"))
    }
}
