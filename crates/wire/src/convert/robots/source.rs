//! What a robot is built of, as it is kept: the request that registered it, and the content of the
//! registered bodies that it names, so that it can be built again when these are deleted.

use std::collections::BTreeMap;

use prost::Message;

use super::registration::AskedRobot;
use crate::path::Path;
use crate::status::Failure;
use clearance_bodies::content::{ContentError, building_bytes_of};
use clearance_bodies::{Body, ContentId};
use clearance_geometry::effort::Effort;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_runtime::robots::{RegisteredRobot, RobotBuilder, RobotWork, Unbuilt};
use clearance_runtime::settings::Limits;

/// Builds robots of what [`AskedRobot::source`] says.
#[derive(Clone, Copy, Debug)]
pub struct RobotSources;

impl AskedRobot {
    /// What it is built of, to be kept.
    pub fn source(&self) -> Vec<u8> {
        written(&self.request, &self.bodies)
    }

    /// How many bytes that are, about.
    pub fn source_bytes(&self) -> u64 {
        let bodies = self.bodies.values().map(Body::content_bytes);
        self.request.encoded_len() as u64 + bodies.sum::<u64>()
    }
}

/// The request without its secrets, then each body: its id and its content, each after its length.
fn written(request: &api::RegisterRobotRequest, bodies: &BTreeMap<String, Body>) -> Vec<u8> {
    let mut request = request.clone();
    request.robot_key.clear();
    request.validate_only = false;
    let mut bytes = Vec::new();
    let mut put = |part: &[u8]| {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    };
    put(&request.encode_to_vec());
    for (id, body) in bodies {
        put(id.as_bytes());
        put(&body.content());
    }
    bytes
}

/// What was read, with the contents by their ids.
struct Source<'a> {
    request: api::RegisterRobotRequest,
    contents: BTreeMap<&'a str, &'a [u8]>,
}

impl<'a> Source<'a> {
    fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let mut part = || -> Option<&'a [u8]> {
            let (length, rest) = bytes.split_first_chunk::<8>()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (part, rest) = rest.split_at_checked(length)?;
            bytes = rest;
            Some(part)
        };
        let request = api::RegisterRobotRequest::decode(part()?).ok()?;
        let mut contents = BTreeMap::new();
        while let Some(id) = part() {
            contents.insert(std::str::from_utf8(id).ok()?, part()?);
        }
        bytes.is_empty().then_some(Self { request, contents })
    }

    fn bodies(&self, effort: &mut Effort<'_>) -> Result<BTreeMap<&'a str, Body>, Unbuilt> {
        let build = |(id, content): (&&'a str, &&'a [u8])| {
            let named: ContentId = id.parse().map_err(|why| wrong(&why))?;
            let body = Body::of_content(&named, content, effort).map_err(|why| match &why {
                ContentError::Stopped(_) => Unbuilt::Late,
                ContentError::Digest | ContentError::Malformed(_) => wrong(&why),
            })?;
            Ok((*id, body))
        };
        self.contents.iter().map(build).collect()
    }
}

impl RobotBuilder for RobotSources {
    fn reading_bytes(&self, source: &[u8]) -> Option<u64> {
        let Source { request, contents } = Source::read(source)?;
        let bodies = contents.values().map(|content| building_bytes_of(content.len() as u64));
        let bodies = bodies.fold(0, u64::saturating_add);
        Some(AskedRobot::reading_bytes_of(&request).saturating_add(bodies))
    }

    fn build(
        &self,
        source: &[u8],
        limits: &Limits,
        until: &Until,
        work: &RobotWork,
    ) -> Result<RegisteredRobot, Unbuilt> {
        let source = Source::read(source).ok_or_else(|| wrong("it is not what was written"))?;
        let bodies = source.bodies(&mut Effort::until(u64::MAX, until))?;
        let body = |path: &Path<'_>, id: &str| {
            let body = bodies.get(id).cloned();
            body.ok_or_else(|| Failure::from(path.bad("is not there")))
        };
        let limits = &as_registered(limits);
        let built = AskedRobot::with_bodies(source.request, limits, body)
            .and_then(|asked| asked.build(limits, until, work));
        built.map_err(|failure| {
            if matches!(failure, Failure::Deadline) {
                Unbuilt::Late
            } else if let Failure::Limit(exceeded) = &failure {
                Unbuilt::Limit(exceeded.to_string())
            } else {
                wrong(&failure)
            }
        })
    }
}

/// The limits without those that it was within when it was registered: an operator may have lowered
/// one since then. Its memory is bounded all the same.
fn as_registered(limits: &Limits) -> Limits {
    Limits {
        robot_xml_nodes_max: u64::MAX,
        robot_links_max: u64::MAX,
        robot_parts_max: u64::MAX,
        robot_depth_max: u64::MAX,
        triangles_max: u64::MAX,
        ..limits.clone()
    }
}

fn wrong(why: &(impl ToString + ?Sized)) -> Unbuilt {
    Unbuilt::Wrong(why.to_string())
}
