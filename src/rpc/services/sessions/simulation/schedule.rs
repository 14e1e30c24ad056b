//! What happens to a session, step by step. A step is a kind and random numbers of its own, so that
//! what is left of a schedule when others are taken out still makes sense.

use super::arms;
use super::check::Wrong;
use super::frames::{self, Sent};
use super::model::Asked;
use super::world::{By, Ground, World};
use clearance_samples::Random;
use clearance_scene::Frame;

/// One step of a schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    kind: Kind,
    random: u64,
}

/// What a step of a schedule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A frame moves some bodies.
    Moves,
    /// All bodies move, in a keyframe.
    Keyframe,
    /// Bodies go and come.
    Bodies,
    Rules,
    /// Bodies and rules change entry by entry.
    Changes,
    /// Robots go and come, take something up and let it go.
    Arms,
    /// All of it, with moves, in frames that are answered one by one or merged.
    Several,
    /// A frame is lost on its way: the next one waits for a keyframe, or names its base.
    Lost,
    /// The reply is lost or the frame doubled on its way: it is repeated.
    Repeated,
    /// Two frames change places on their way.
    Swapped,
    /// An old frame comes late.
    Late,
    TakeOver,
    HangUp,
    /// The caller goes away.
    Cancelled,
    /// An answer may take few steps.
    Hurried,
    /// The session is opened again on its server, with what it tells.
    Restart,
    /// On the other server, with what this one tells or with what the client knows.
    HandOver,
    /// Witnesses are given up.
    Slim,
    /// GetSession tells what the client knows.
    Look,
    /// The scene is asked as it stands, or at a frame that was asked about.
    Ask,
    AskPast,
    /// A follower knows what there is.
    Follow,
}

/// Each as often as it is to happen.
const KINDS: [Kind; 49] = {
    use Kind::*;
    [
        Moves, Moves, Moves, Moves, Moves, Moves, Moves, Moves, Moves, Moves, Keyframe, Bodies,
        Arms, Arms, Arms, Bodies, Bodies, Rules, Rules, Changes, Changes, Changes, Changes,
        Several, Several, Several, Lost, Repeated, Swapped, Late, TakeOver, HangUp, Cancelled,
        Hurried, Restart, HandOver, HandOver, Slim, Look, Ask, Ask, Ask, Ask, AskPast, AskPast,
        AskPast, AskPast, Follow, Follow,
    ]
};

/// How much happened in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    answers: u64,
    events: u64,
    link_events: u64,
    /// Questions to scenes that stand, and to past ones.
    questions: [u64; 2],
    followed: u64,
}

impl Totals {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            answers: self.answers + other.answers,
            events: self.events + other.events,
            link_events: self.link_events + other.link_events,
            questions: [0, 1].map(|k| self.questions[k] + other.questions[k]),
            followed: self.followed + other.followed,
        }
    }

    pub(super) fn is_plenty(&self) -> bool {
        let [now, past] = self.questions;
        self.answers > 38_000
            && self.events > 7_500
            && self.link_events > 1_000
            && now > 3_500
            && past > 800
            && self.followed > 1_500
    }
}

/// The schedule of a seed.
pub(super) fn of(seed: u64) -> Vec<Op> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9));
    let mut step =
        || Op { kind: KINDS[random.below(KINDS.len() as u32) as usize], random: random.bits() };
    (0..26).map(|_| step()).collect()
}

/// Runs a schedule; says what was wrong first.
pub(super) fn run(ground: &Ground, seed: u64, ops: &[Op]) -> Result<Totals, Wrong> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("no more than a timer").block_on(async {
        let mut world = World::open(ground, &mut Random(seed)).await?;
        for op in ops {
            let done = step(&mut world, *op).await;
            done.map_err(|wrong| format!("{:?}: {wrong}", op.kind))?;
        }
        world.look().await?;
        let World { answers, events, link_events, questions, followed, .. } = world;
        Ok(Totals { answers, events, link_events, questions, followed })
    })
}

async fn step(world: &mut World, op: Op) -> Result<(), Wrong> {
    let random = &mut Random(op.random);
    let merges = random.below(2) == 0;
    match op.kind {
        Kind::Moves | Kind::Keyframe | Kind::Bodies | Kind::Rules | Kind::Changes | Kind::Arms => {
            let sent = [frame(world, op.kind, random)];
            world.send(&sent, by(random), merges).await
        }
        Kind::Several => several(world, random, merges).await,
        Kind::Lost => {
            let mut sent = frame(world, Kind::Moves, random);
            renumber(&mut sent, world.model.applied + 2, None);
            world.send(&[sent], by(random), merges).await?;
            let mut next = frame(world, Kind::Keyframe, random);
            let is_whole = random.below(2) == 0;
            next.frame.keyframe = is_whole;
            next.wire.keyframe = is_whole;
            let base = (!is_whole).then_some(world.model.applied);
            renumber(&mut next, world.model.applied + 3, base);
            world.send(&[next], by(random), merges).await
        }
        Kind::Repeated => {
            let sent = frame(world, Kind::Moves, random);
            let by_one = by(random);
            world.send(std::slice::from_ref(&sent), by_one, merges).await?;
            world.send(&[sent], by(random), merges).await
        }
        Kind::Swapped => {
            let first = frame(world, Kind::Moves, random);
            let mut second = frame(world, Kind::Moves, random);
            renumber(&mut second, first.frame.id + 1, None);
            world.send(&[second.clone(), first, second], by(random), merges).await
        }
        Kind::Late => {
            let mut sent = frame(world, Kind::Bodies, random);
            renumber(&mut sent, world.model.applied.saturating_sub(1).max(1), None);
            world.send(&[sent], by(random), merges).await
        }
        Kind::TakeOver => {
            let sent = frame(world, Kind::Moves, random);
            world.take_over(&[sent], merges).await
        }
        Kind::HangUp => {
            world.detach();
            Ok(())
        }
        Kind::Cancelled => {
            let sent = frame(world, Kind::Moves, random);
            world.cancel(&sent, random.below(4)).await
        }
        Kind::Hurried => {
            let mut sent = frame(world, Kind::Moves, random);
            let steps = 1 + u64::from(random.below(4));
            sent.asked.steps = Some(steps);
            sent.wire.budget =
                Some(Box::new(clearance_proto::Budget { steps: Some(steps), time: None }));
            world.send(&[sent], by(random), merges).await
        }
        Kind::Restart => world.reopen(false, true).await,
        Kind::HandOver => world.reopen(true, random.below(2) == 0).await,
        Kind::Slim => world.slim().await,
        Kind::Look => world.look().await.map(drop),
        Kind::Ask => world.ask(random).await,
        Kind::AskPast => world.ask_past(random).await,
        Kind::Follow => world.follow().await,
    }
}

fn by(random: &mut Random) -> By {
    if random.below(2) == 0 { By::Call } else { By::Stream }
}

/// The next frame, and what it asks.
fn frame(world: &mut World, kind: Kind, random: &mut Random) -> Sent {
    let asked = frames::asked(random, &world.asked);
    world.asked = asked;
    let frame = changes(world, kind, random);
    world.shapes.sent(frame, asked, random)
}

fn changes(world: &World, kind: Kind, random: &mut Random) -> Frame {
    let mut frame = frames::next(&world.model, random);
    if kind == Kind::Keyframe {
        frame.keyframe = true;
        frame.moves = frames::moves(&world.model, random, true);
        frame.robots = arms::moves(&world.model, random, true);
    }
    if kind == Kind::Arms {
        arms::change(&mut frame, &world.model, &world.shapes, random);
    }
    if kind == Kind::Bodies {
        frames::change_bodies(&mut frame, &world.model, &world.shapes, random);
    }
    if kind == Kind::Changes {
        frames::change(&mut frame, &world.model, &world.shapes, random);
    }
    if kind == Kind::Rules {
        frame.rules = Some(frames::rules(&world.model, random));
    }
    frame
}

fn renumber(sent: &mut Sent, id: u64, base: Option<u64>) {
    (sent.frame.id, sent.wire.frame_id) = (id, id);
    (sent.frame.base, sent.wire.base_frame_id) = (base, base);
}

/// Some frames in a row, underway at once.
async fn several(world: &mut World, random: &mut Random, merges: bool) -> Result<(), Wrong> {
    let mut sent: Vec<Sent> = Vec::new();
    // What they build on is not known to the server yet.
    let mut ahead = world.model.clone();
    for _ in 0..2 + random.below(3) {
        let kinds =
            [Kind::Moves, Kind::Moves, Kind::Bodies, Kind::Rules, Kind::Changes, Kind::Arms];
        let kind = kinds[random.below(6) as usize];
        std::mem::swap(&mut world.model, &mut ahead);
        let asked: Asked = world.asked;
        let one = changes(world, kind, random);
        let one = world.shapes.sent(one, asked, random);
        // Whether it is applied, the model will say again.
        world.model.apply(&one.frame);
        std::mem::swap(&mut world.model, &mut ahead);
        sent.push(one);
    }
    world.send(&sent, by(random), merges).await
}
