//! Many questions in one call. Each is answered from cold, so the order does not matter.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prost::Message;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tonic::Request;

use super::along::AskedAlong;
use super::collision::CollisionQuestion;
use super::distance::AskedDistance;
use super::first_contact::AskedFirstContact;
use super::penetration::PenetrationQuestion;
use super::question::{Question, Run, count};
use crate::rpc::shared::Shared;
use clearance_proto as api;
use clearance_proto::batch_query_answer::Answer;
use clearance_proto::batch_query_item::Question as Wire;
use clearance_runtime::compute::{JobSize, Refused};
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{CALL_BYTES, MemoryKind, Reservation};
use clearance_runtime::metrics::Ending;
use clearance_runtime::settings::Limit;
use clearance_transport::intake::Intake;
use clearance_transport::timing::deadline;
use clearance_transport::unsent::{ANSWER_FACTOR, Room, SMALL_REPLY, Unsent};
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::Failure;

type AnswerItem = Box<dyn FnOnce(&Run) -> Result<Answer, Failure> + Send>;

/// A question of any kind, checked.
struct AskedItem {
    estimate: Option<Duration>,
    /// What the hulls that are to be built for it take.
    working_bytes: u64,
    time: Option<Duration>,
    answer: AnswerItem,
}

impl AskedItem {
    fn new<Q: Question>(
        path: &Path<'_>,
        wire: &Q::Wire,
        shared: &Shared,
        wrap: fn(Q::Answer) -> Answer,
    ) -> Result<Self, Failure> {
        let question = Q::convert(path, wire, &shared.catalogue())
            .inspect_err(|_| shared.metrics.count(Q::KIND, Ending::Refused))?;
        Ok(Self {
            estimate: question.common().estimate(),
            working_bytes: question.common().working_bytes(),
            time: question.common().options.time,
            answer: Box::new(move |run| {
                let answer = question.answer(run);
                count::<Q>(&run.metrics, &answer);
                answer.map(wrap)
            }),
        })
    }

    fn convert(
        path: &Path<'_>,
        item: &api::BatchQueryItem,
        shared: &Shared,
    ) -> Result<Self, Failure> {
        let question = item.question.as_ref();
        match question.ok_or_else(|| path.bad("needs a question"))? {
            Wire::CheckCollision(wire) => {
                let path = path.field("check_collision");
                Self::new::<CollisionQuestion>(&path, wire, shared, Answer::CheckCollision)
            }
            Wire::MeasureDistance(wire) => {
                let path = path.field("measure_distance");
                Self::new::<AskedDistance>(&path, wire, shared, Answer::MeasureDistance)
            }
            Wire::MeasureDistanceAlong(wire) => {
                let path = path.field("measure_distance_along");
                Self::new::<AskedAlong>(&path, wire, shared, Answer::MeasureDistanceAlong)
            }
            Wire::MeasurePenetration(wire) => {
                let path = path.field("measure_penetration");
                Self::new::<PenetrationQuestion>(&path, wire, shared, Answer::MeasurePenetration)
            }
            Wire::FindFirstContact(wire) => {
                let path = path.field("find_first_contact");
                Self::new::<AskedFirstContact>(&path, wire, shared, Answer::FindFirstContact)
            }
        }
    }
}

/// Answers every question; what is wrong with one is said in its place.
pub(super) async fn answer(
    shared: &Shared,
    request: Request<api::BatchQueryRequest>,
) -> Result<api::BatchQueryResponse, Failure> {
    let items = &request.get_ref().items;
    let list = Path::ROOT.field("items");
    list.within(shared.settings.limits.batch_items_max(), items.len())?;
    let deadline = deadline(shared.limits(), request.metadata(), None)?;
    let (mut total, mut hulls) = (Some(Duration::ZERO), Vec::new());
    // Of questions with a time of their own; they live as long as this call.
    let mut deadlines = Vec::new();
    let mut jobs = Vec::with_capacity(items.len());
    let intake = Intake::of(&request);
    let convert = |(index, item)| AskedItem::convert(&list.index(index), item, shared);
    let asked: Vec<_> = intake.look_through(|| items.iter().enumerate().map(convert).collect());
    for asked in asked {
        jobs.push(asked.map(|asked| {
            total = total.zip(asked.estimate).map(|(total, time)| total + time);
            hulls.push(asked.working_bytes);
            let run = match asked.time {
                None => Run::new(shared, &deadline),
                Some(time) => {
                    let own = Deadline::after(time.min(deadline.time()));
                    let run = Run::new(shared, &own);
                    deadlines.push(own);
                    run
                }
            };
            (asked.answer, run)
        }));
    }
    let load = total.map_or(JobSize::UNKNOWN, |time| JobSize::of(intake.extent(), time));
    let is_small = load.is_small();
    let kept = Kept::new(shared, &request)?;
    // Until the job is done, whether somebody waits for it or not.
    let work = intake.work(at_a_time(hulls, shared.compute.threads()))?;
    let job = move || -> Vec<api::BatchQueryAnswer> {
        // On the caller's thread the parallel iterator would still wake the workers.
        let answers = if is_small {
            jobs.into_iter().map(|job| kept.one(job)).collect()
        } else {
            jobs.into_par_iter().map(|job| kept.one(job)).collect()
        };
        drop(work);
        answers
    };
    let answers = shared.compute.run(load, job).await?;
    Ok(api::BatchQueryResponse { answers })
}

/// What the questions take that so many threads are working on, at worst: those that take most.
fn at_a_time(mut bytes: Vec<u64>, threads: usize) -> u64 {
    bytes.sort_unstable_by_key(|bytes| std::cmp::Reverse(*bytes));
    bytes.iter().take(threads).sum()
}

/// What the answers of a batch take while the others are found.
struct Kept {
    /// Bytes of the answers, as they will be sent.
    bytes: AtomicU64,
    bytes_max: Limit,
    held: Mutex<HeldForAnswers>,
    unsent: Unsent,
    intake: Intake,
}

/// What is held for the answers.
struct HeldForAnswers {
    memory: Reservation,
    /// For the reply that they will be, so that it is not refused after the work.
    rooms: Vec<Room>,
}

/// Room for a reply is taken in pieces of this size.
const ROOM_BYTES: usize = 128 << 10;

impl Kept {
    fn new(shared: &Shared, request: &Request<api::BatchQueryRequest>) -> Result<Self, Failure> {
        let intake = Intake::of(request);
        let memory = intake.quota().reserve(MemoryKind::Work, 0)?;
        let held = Mutex::new(HeldForAnswers { memory, rooms: Vec::new() });
        let bytes_max = shared.limits().batch_reply_bytes_max();
        let (bytes, unsent) = (AtomicU64::new(0), shared.unsent.clone());
        Ok(Self { bytes, bytes_max, held, unsent, intake })
    }

    /// Answers one question, if there is room for its answer: what is refused is told in its place,
    /// and costs nothing.
    fn one(&self, job: Result<(AnswerItem, Run), Failure>) -> api::BatchQueryAnswer {
        let room = self.admits(self.bytes.load(Ordering::Relaxed));
        let answer = room.and(job).and_then(|(answer, run)| {
            // A bug in one search must not take the answers of the others with it.
            let answer = catch_unwind(AssertUnwindSafe(|| answer(&run)));
            let answer = answer.unwrap_or(Err(Refused::Panicked.into()))?;
            let answer = api::BatchQueryAnswer { answer: Some(answer) };
            let bytes = answer.encoded_len() as u64;
            let all = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            // It stays counted when it is refused: the questions that follow are not begun.
            self.admits(all)?;
            Ok(answer)
        });
        answer.unwrap_or_else(|failure| api::BatchQueryAnswer {
            answer: Some(Answer::Status(failure.to_item())),
        })
    }

    fn admits(&self, bytes: u64) -> Result<(), Failure> {
        if bytes > self.bytes_max.value {
            return Err(self.bytes_max.reached().into());
        }
        // What is small is part of the call.
        if ANSWER_FACTOR * bytes > CALL_BYTES {
            let mut held = self.held.lock().expect("nothing panics while holding it");
            held.memory.grow_to(ANSWER_FACTOR * bytes)?;
            while bytes > SMALL_REPLY as u64 && bytes > (held.rooms.len() * ROOM_BYTES) as u64 {
                held.rooms.extend(self.unsent.reserve(ROOM_BYTES, &self.intake)?);
            }
        }
        Ok(())
    }
}
