//! What a client has registered: to verify answers about it, and to register it again where a
//! server has forgotten it.

use std::collections::BTreeMap;
use std::sync::Arc;

use clearance_proof::Vec3;
use clearance_proto as api;

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

    /// The vertices of a polytope, if it was registered here by its points.
    pub(crate) fn vertices(&self, source: &api::placed_body::Source) -> Option<Arc<[Vec3]>> {
        let id = match source {
            api::placed_body::Source::Id(id) => id,
            api::placed_body::Source::Alias(alias) => {
                let mut named = self.specs.keys().filter(|(_, known)| known == alias);
                let id = &named.next()?.0;
                // An alias that was moved names either of two.
                if named.next().is_some() {
                    return None;
                }
                id
            }
            api::placed_body::Source::Vertices(_)
            | api::placed_body::Source::Rounded(_)
            | api::placed_body::Source::Compound(_) => return None,
        };
        self.vertices.get(id).filter(|vertices| !vertices.is_empty()).cloned()
    }

    /// Everything, to be registered again.
    pub(crate) fn all(&self) -> (Vec<api::PolytopeSpec>, Vec<api::RegisterRobotRequest>) {
        (self.specs.values().cloned().collect(), self.robots.values().cloned().collect())
    }
}
