//! Robots that are registered, however their files came: built, described, kept and claimed.

use std::sync::Arc;

use super::{described, room_for, unknown};
use crate::rpc::shared::Shared;
use clearance_proto as api;
use clearance_runtime::archive::keeper::NotKept;
use clearance_runtime::compute::costs::{ROBOT_FILE_BYTE, times};
use clearance_runtime::compute::{Counted, JobSize};
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{MemoryKind, MemoryQuota};
use clearance_runtime::quotas::QuotaKind;
use clearance_runtime::robots::{RegisteredRobot, RobotWork};
use clearance_runtime::sessions::owner::{KeyDigest, new_key};
use clearance_transport::intake::Intake;
use clearance_wire::convert::keys::digest;
use clearance_wire::convert::robots::registration::AskedRobot;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A robot that is to be registered, with all of its files.
pub(super) struct ArrivedRobot {
    pub(super) request: api::RegisterRobotRequest,
    /// All that it holds, as it was counted; none: it came in chunks.
    pub(super) extent: Option<Counted>,
}

/// Builds a robot, and registers it unless it is only to be read.
pub(super) async fn register(
    shared: &Shared,
    arrived: ArrivedRobot,
    deadline: &Deadline,
    intake: &Intake,
) -> Result<api::RegisterRobotResponse, Failure> {
    let ArrivedRobot { mut request, extent } = arrived;
    let quota = intake.quota().clone();
    let key = std::mem::take(&mut request.robot_key);
    let brought = digest(&Path::ROOT.field("robot_key"), &key)?;
    let asked = AskedRobot::convert(request, &shared.catalogue())?;
    let estimate = times(ROBOT_FILE_BYTE, asked.size());
    let validate_only = asked.validate_only();
    let work = RobotWork::new(quota.reserve(MemoryKind::Work, asked.reading_bytes())?);
    let (settings, until) = (shared.settings.clone(), deadline.until().clone());
    let source_bytes = if shared.robots().is_kept() { asked.source_bytes() } else { 0 };
    let of_source = quota.reserve(MemoryKind::Work, source_bytes)?;
    let load = extent.map_or(JobSize::UNKNOWN, |extent| JobSize::of(extent, estimate));
    let building = shared.compute.run(load, move || {
        let source = if source_bytes > 0 { asked.source() } else { Vec::new() };
        let robot = asked.build(&settings.limits, &until, &work)?;
        work.settle(&robot);
        Ok::<_, Failure>((robot, work, source))
    });
    let (robot, work, source) = building.await??;
    let robot = Arc::new(robot);
    let _room = room_for(shared, intake, std::slice::from_ref(&robot))?;
    // Robots of one id are described alike, so this is what is told of the one that is kept; once
    // it is registered, nothing may fail any more.
    let told = described(shared, vec![robot.clone()]).await?.pop();
    if validate_only {
        let already_registered = shared.robots().knows(&robot.id);
        let robot_key = String::new();
        return Ok(api::RegisterRobotResponse { robot: told, already_registered, robot_key });
    }
    shared.refuse_while_draining()?;
    let fresh = new_key()?;
    // What was built is counted as registered from here on.
    drop(work);
    let registering = shared.changing(move |shared| {
        let registered = keep(shared, NewRobot { robot, source, brought, fresh }, &quota);
        drop(of_source);
        registered
    });
    let (already_registered, robot_key) = registering.await??;
    Ok(api::RegisterRobotResponse { robot: told, already_registered, robot_key })
}

/// A robot that is built and not registered yet.
struct NewRobot {
    robot: Arc<RegisteredRobot>,
    /// What it is built of again, where it outlives the process.
    source: Vec<u8>,
    /// The key that was brought.
    brought: Option<KeyDigest>,
    /// The key that it gets where it is to have one and none was brought.
    fresh: String,
}

/// Registers and claims a robot; says whether it was there before, and the key that was made.
fn keep(shared: &Shared, new: NewRobot, quota: &MemoryQuota) -> Result<(bool, String), Failure> {
    let NewRobot { robot, source, brought, fresh } = new;
    if !shared.robots().knows(&robot.id) {
        shared.quotas.hold(QuotaKind::Bytes, shared.registered_bytes() + robot.bytes())?;
    }
    let registered = shared.robots().register(&robot, &source, quota, shared.limits())?;
    let (robot, already_registered) = registered;
    let is_open = brought.is_some() || already_registered || shared.leaves_open;
    let robot_key = if is_open { String::new() } else { fresh };
    let made = (!robot_key.is_empty()).then(|| KeyDigest::of(&robot_key));
    if let Err(refused) = claim(shared, &robot.id, brought.or(made), quota) {
        if !already_registered {
            // Unless somebody else has claimed it meanwhile.
            let _ = shared.robots().delete(&robot.id, &[]);
        }
        return Err(refused);
    }
    Ok((already_registered, robot_key))
}

/// Claims a robot that is registered, if there is a key for it.
fn claim(
    shared: &Shared,
    id: &str,
    key: Option<KeyDigest>,
    quota: &MemoryQuota,
) -> Result<(), Failure> {
    let Some(key) = key else { return Ok(()) };
    match shared.robots().claim(id, key, quota, shared.limits()) {
        Ok(true) => Ok(()),
        // Somebody has deleted it meanwhile.
        Ok(false) => Err(unknown("id", id)),
        Err(NotKept::Full(limit)) if limit.name == "keys_per_robot_max" => {
            Err(limit.exceeded_at("robot_key").into())
        }
        Err(why) => Err(why.into()),
    }
}
