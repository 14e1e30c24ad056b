//! What a client has registered: to verify answers about it, and to register it again where a
//! server has forgotten it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::body::ConvexBody;
use clearance_certificates::path::Path;
use clearance_proof::Vec3;
use clearance_proto as api;
use clearance_proto::placed_body::Source;

/// Polytopes and robots that were registered.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Vertices in canonical order, by the polytope's id.
    vertices: BTreeMap<String, Arc<[Vec3]>>,
    /// Specifications of polytopes, by id and alias.
    specs: BTreeMap<(String, String), api::PolytopeSpec>,
    /// Requests, by the robot's id.
    robots: BTreeMap<String, api::RegisterRobotRequest>,
}

impl Known {
    /// Takes in a polytope.
    pub(crate) fn add_polytope(
        &mut self,
        id: &str,
        vertices: Arc<[Vec3]>,
        spec: api::PolytopeSpec,
    ) {
        self.vertices.insert(id.to_owned(), vertices);
        self.specs.insert((id.to_owned(), spec.alias.clone()), spec);
    }

    /// Takes in a robot.
    pub(crate) fn add_robot(&mut self, id: &str, request: api::RegisterRobotRequest) {
        self.robots.insert(id.to_owned(), request);
    }

    /// A convex body, if it was registered here by its points, or is named by its sizes, here or
    /// where it was registered. Those of a polyhedron are not those of its hull, and what is proven
    /// of either takes a judge that knows its faces.
    pub(crate) fn body(&self, source: &Source) -> Option<ConvexBody> {
        let id = match source {
            Source::Id(id) => id,
            Source::Alias(alias) => {
                let mut named = self.specs.keys().filter(|(_, known)| known == alias);
                let id = &named.next()?.0;
                // An alias that was moved names either of two.
                if named.next().is_some() {
                    return None;
                }
                id
            }
            Source::Rounded(shape) => return named(shape),
            Source::Vertices(_) | Source::Compound(_) => return None,
        };
        let mut specs = self.specs.iter().filter(|((known, _), _)| known == id);
        if let Some(api::polytope_spec::Source::Rounded(shape)) = &specs.next()?.1.source {
            return named(shape);
        }
        let known = self.vertices.get(id).filter(|_| !is_polyhedron(id));
        let known = known.filter(|vertices| !vertices.is_empty());
        known.map(|vertices| ConvexBody::Points(vertices.clone(), 0.0))
    }

    /// Everything, to be registered again.
    pub(crate) fn all(&self) -> (Vec<api::PolytopeSpec>, Vec<api::RegisterRobotRequest>) {
        (self.specs.values().cloned().collect(), self.robots.values().cloned().collect())
    }
}

/// The body that a shape names by its sizes; the server has taken these.
fn named(shape: &api::RoundedShape) -> Option<ConvexBody> {
    ConvexBody::named(&Path::ROOT, shape).ok().flatten()
}

/// Whether an id is that of a mesh that is kept as it is.
fn is_polyhedron(id: &str) -> bool {
    id.starts_with("m1-")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate about a hull would name vertices that the mesh lists elsewhere.
    #[test]
    fn vertices_of_polyhedra_are_not_told_as_those_of_hulls() {
        let mut known = Known::default();
        let vertices: Arc<[Vec3]> = [Vec3::zeros()].into();
        for id in ["p1-a", "m1-a"] {
            let spec = api::PolytopeSpec { alias: format!("of {id}"), ..Default::default() };
            known.add_polytope(id, vertices.clone(), spec);
        }
        let told = |source| known.body(&source).is_some();
        assert!(told(Source::Id("p1-a".to_owned())) && told(Source::Alias("of p1-a".to_owned())));
        assert!(!told(Source::Id("m1-a".to_owned())) && !told(Source::Alias("of m1-a".to_owned())));
    }
}
