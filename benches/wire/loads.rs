//! Small scenes: two bodies as fast as it goes, and many sessions at a steady pace.

use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tokio::time::MissedTickBehavior;

use super::Figures;
use super::asked::Asked;
use super::echo;
use super::process::{Process, Served};
use super::scene::{STREAM, attach, drifters, frame, open, register, state};
use super::talk::{Talk, connect};

fn figure(name: impl Into<String>, value: f64) -> (String, f64) {
    (name.into(), value)
}

/// Frames a second and microseconds of processor time a frame, with so many frames in flight.
async fn throughput(
    process: &Process,
    talk: &mut Talk,
    frames: &[Bytes],
    in_flight: usize,
) -> (f64, f64) {
    let (start, spent) = (Instant::now(), process.spent());
    let mut replies = 0;
    for (index, frame) in frames.iter().enumerate() {
        talk.send(frame.clone()).await;
        if index + 1 >= in_flight {
            let _ = talk.receive().await;
            replies += 1;
        }
    }
    for _ in replies..frames.len() {
        let _ = talk.receive().await;
    }
    let count = frames.len() as f64;
    (count / start.elapsed().as_secs_f64(), (process.spent() - spent) / count * 1e6)
}

/// Two bodies.
pub(crate) async fn two(served: &Served) -> Figures {
    const FRAMES: u64 = 20_000;
    let asked = Asked { bodies: 2, moving: 1.0, first_contacts: false, chosen: 0.0, pace: 0.01 };
    let mut figures = Figures::new();
    for in_flight in [1, 16] {
        let mut drifters = drifters(&asked);
        let channel = connect(served.ours.port).await;
        let ids = register(channel.clone()).await;
        open(channel.clone(), "two", state(&drifters, &ids), false).await;
        let frames: Vec<Bytes> = (1..=FRAMES).map(|id| frame(&mut drifters, 1.0, id)).collect();
        let mut talk = Talk::begin(channel, STREAM, attach("two")).await;
        let ours = throughput(&served.ours, &mut talk, &frames, in_flight).await;
        drop(talk);
        let channel = connect(served.echo.port).await;
        let mut talk = Talk::begin(channel, echo::METHOD, frames[0].clone()).await;
        let _ = talk.receive().await;
        let echo = throughput(&served.echo, &mut talk, &frames, in_flight).await;
        for (name, (rate, spent)) in [("server", ours), ("echo", echo)] {
            figures.push(figure(format!("{name}, {in_flight} in flight, frames a second"), rate));
            figures.push(figure(format!("{name}, {in_flight} in flight, us a frame"), spent));
        }
    }
    figures
}

const SESSIONS: usize = 200;
const SECONDS: u64 = 4;
const HERTZ: u64 = 60;

/// 200 sessions of 50 bodies that all move, 60 times a second, on ten connections.
pub(crate) async fn fleet(served: &Served) -> Figures {
    let asked = Asked { bodies: 50, moving: 1.0, first_contacts: false, chosen: 0.0, pace: 1.0 };
    let mut before = drifters(&asked);
    let channel = connect(served.ours.port).await;
    let ids = register(channel.clone()).await;
    for session in 0..SESSIONS {
        let id = format!("fleet-{session}");
        open(channel.clone(), &id, state(&before, &ids), false).await;
    }
    let frames: Vec<Bytes> = (1..=SECONDS * HERTZ).map(|id| frame(&mut before, 1.0, id)).collect();
    let mut figures = Figures::new();
    for (name, process, method) in
        [("server", &served.ours, STREAM), ("echo", &served.echo, echo::METHOD)]
    {
        let mut channels = Vec::new();
        for _ in 0..10 {
            channels.push(connect(process.port).await);
        }
        let mut talks = Vec::new();
        for session in 0..SESSIONS {
            let first = if method == STREAM {
                attach(&format!("fleet-{session}"))
            } else {
                frames[0].clone()
            };
            let mut talk = Talk::begin(channels[session % 10].clone(), method, first).await;
            if method != STREAM {
                let _ = talk.receive().await;
            }
            talks.push(talk);
        }
        let spent = process.spent();
        let start = Instant::now();
        let every = Duration::from_micros(1_000_000 / HERTZ);
        let running: Vec<_> = (0_u32..)
            .zip(talks)
            .map(|(session, talk)| {
                // Spread over the time of a frame.
                let offset = every * session / SESSIONS as u32;
                tokio::spawn(pace(talk, frames.clone(), offset))
            })
            .collect();
        let mut late = Vec::new();
        for one in running {
            late.extend(one.await.expect("it ran"));
        }
        let elapsed = start.elapsed().as_secs_f64();
        let count = late.len() as f64;
        late.sort_unstable_by(f64::total_cmp);
        let spent = (process.spent() - spent) / count * 1e6;
        figures.push(figure(format!("{name}, us a frame"), spent));
        figures.push(figure(format!("{name}, frames a second"), count / elapsed));
        let at = |share: f64| late[((late.len() - 1) as f64 * share) as usize];
        figures.push(figure(format!("{name}, latency p50, us"), at(0.5) * 1e6));
        figures.push(figure(format!("{name}, latency p99, us"), at(0.99) * 1e6));
    }
    figures
}

/// Sends the frames at their times, the first after `offset`; how long each reply took, seconds.
async fn pace(mut talk: Talk, frames: Vec<Bytes>, offset: Duration) -> Vec<f64> {
    tokio::time::sleep(offset).await;
    let mut times = tokio::time::interval(Duration::from_micros(1_000_000 / HERTZ));
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut late = Vec::with_capacity(frames.len());
    for frame in frames {
        times.tick().await;
        let start = Instant::now();
        talk.send(frame).await;
        let _ = talk.receive().await;
        late.push(start.elapsed().as_secs_f64());
    }
    late
}
