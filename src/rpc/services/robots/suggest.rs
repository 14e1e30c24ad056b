//! Pairs of a robot's links that need no check, as sampled configurations suggest.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;

use super::Caller;
use super::check::{room_for_faces, size_of};
use super::chunks::{Chunks, in_chunks};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_proto as api;
use clearance_robot::Robot;
use clearance_robot::cell::Cell;
use clearance_robot::sampled::{PairCount, SampledRobot};
use clearance_runtime::compute::JobSize;
use clearance_runtime::compute::costs::{CELL_POINT, CONFIGURATION, times};
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_runtime::quotas::QuotaKind;
use clearance_wire::convert::options::cost_to_wire;
use clearance_wire::convert::paging::reply_bytes;
use clearance_wire::convert::robots::suggestion::{PAIR_BYTES, samples_of, suggested};
use clearance_wire::path::Path;
use clearance_wire::status::{Failure, TooLong};

/// Lists of counts that are made at once: each has an entry for every pair of links.
const LISTS: usize = 16;

/// Samples that a thread takes at a time at least.
const CHUNK_MIN: usize = 64;

/// Samples a robot, and counts the call.
pub(super) async fn once(
    caller: Caller<'_>,
    request: api::SuggestAllowedPairsRequest,
) -> Result<api::SuggestAllowedPairsResponse, Failure> {
    let answered = answer(caller, request).await;
    caller.shared.metrics.count(QuestionKind::Configurations, Ending::of(&answered, |_| false));
    answered
}

async fn answer(
    caller: Caller<'_>,
    request: api::SuggestAllowedPairsRequest,
) -> Result<api::SuggestAllowedPairsResponse, Failure> {
    let Caller { shared, quota, deadline, .. } = caller;
    let bytes_max = reply_bytes(request.reply_bytes_max, shared.limits());
    let samples = samples_of(&request, shared.limits())?;
    let path = Path::ROOT.field("robot_id");
    let registered = shared.catalogue().robot(&path, &request.robot_id)?;
    let robot = registered.robot.clone();
    if robot.kinematics.tree().variables.is_empty() {
        return Err(path.bad("the robot has no joint that moves").into());
    }
    let (ready, work) = ready(caller, &robot).await?;
    let pairs = ready.pairs().len();
    if PAIR_BYTES.saturating_mul(pairs as u64) > bytes_max {
        return Err(TooLong::Answers { bytes_max }.into());
    }
    let count = samples as usize;
    shared.quotas.charge(QuotaKind::Configurations, count as u64)?;
    let guess = times(CONFIGURATION, count).max(Duration::from_nanos(pairs as u64));
    let load = size_of(caller, guess, count, ready.cell());
    let room = room_for_faces(caller, ready.cell())?;
    let memory = quota.reserve(MemoryKind::Replies, 0)?;
    let (until, clock) = (deadline.until().clone(), shared.clock.clone());
    let (compute, metrics) = (shared.compute.clone(), shared.metrics.clone());
    let job = move || {
        let _room = (work, room);
        let start = clock.now();
        let size = count.div_ceil(LISTS).max(CHUNK_MIN);
        let chunks = Chunks { count, size, bytes_max: u64::MAX };
        let check = |range: Range<usize>| {
            let mut effort = Effort::until(u64::MAX, &until);
            let numbers = range.start as u64..range.end as u64;
            let counts = ready.count(request.seed, numbers, &mut effort);
            (counts, (pairs * std::mem::size_of::<PairCount>()) as u64, effort.cost)
        };
        let (counts, cost, _memory) = in_chunks(&compute, chunks, memory, check)?;
        let counts = added(counts, pairs).map_err(|_| Failure::Deadline)?;
        let counted = ready.pairs().iter().cloned().zip(counts);
        let mut answer = suggested(&robot, counted, samples, request.with_never);
        metrics.add(QuestionKind::Configurations, &cost);
        answer.cost = Some(cost_to_wire(&cost, clock.now().duration_since(start)));
        if answer.encoded_len() as u64 > bytes_max {
            return Err(TooLong::Answers { bytes_max }.into());
        }
        Ok(answer)
    };
    caller.run(load, job).await?
}

/// The robot with its pairs, and the memory that these take.
async fn ready(
    caller: Caller<'_>,
    robot: &Arc<Robot>,
) -> Result<(SampledRobot, Reservation), Failure> {
    let links = robot.links.iter().filter(|link| !link.parts.is_empty()).count();
    let bytes = Cell::bytes_of_robots(&[&**robot])
        .saturating_add(Cell::bytes_of_pairs([links, 0, 0]))
        .saturating_add(SampledRobot::bytes_of(links));
    let work = caller.quota.reserve(MemoryKind::Work, bytes as u64)?;
    let (until, robot) = (caller.deadline.until().clone(), robot.clone());
    let estimate = times(CELL_POINT, links.saturating_mul(links));
    let load = JobSize::of(caller.intake.extent(), estimate);
    let job = move || SampledRobot::new(&robot, &Effort::until(u64::MAX, &until));
    let ready = caller.run(load, job).await?.map_err(|_| Failure::Deadline)?;
    Ok((ready, work))
}

/// What all lists say of each pair.
fn added(
    lists: Vec<Result<Vec<PairCount>, Stopped>>,
    pairs: usize,
) -> Result<Vec<PairCount>, Stopped> {
    let mut all = vec![PairCount::default(); pairs];
    for list in lists {
        for (sum, one) in all.iter_mut().zip(list?) {
            sum.in_contact += one.in_contact;
            sum.open += one.open;
        }
    }
    Ok(all)
}
