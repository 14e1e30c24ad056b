//! Calls through the door inside a process, from Rust: what `benches/python_door.py` is held
//! against. For each file of its folder, a request as that script has written it, the least of
//! several rounds. `cargo bench --bench door -- FOLDER`

#![expect(clippy::print_stdout, reason = "a bench prints what it has measured")]

use std::error::Error;
use std::time::{Duration, Instant};

use clearance::rpc::door::Door;
use clearance_runtime::settings::Settings;
use prost::bytes::Bytes;
use tokio::sync::mpsc;

/// How often everything is timed; the least time counts, which others disturb least.
const ROUNDS: usize = 15;

/// Calls of one round of a small question.
const CALLS: u32 = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let Some(folder) = folder else { return Ok(()) };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let _inside = runtime.enter();
    let door = Door::open(Settings::default())?;
    let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        let (method, messages) = read(&std::fs::read(file.path())?)?;
        let kind = name.split('-').nth(1).unwrap_or_default();
        let least = (0..ROUNDS).map(|_| match kind {
            "once" => runtime.block_on(calls(&door, &method, &messages, 1)),
            "stream" => runtime.block_on(stream(&door, &method, &messages)),
            "session" => runtime.block_on(session(&door, &method, &messages)),
            _ => runtime.block_on(calls(&door, &method, &messages, CALLS)),
        });
        let least = least.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
        println!("{name}\t{}", least.as_secs_f64());
    }
    runtime.shutdown_background();
    Ok(())
}

/// A method, and messages, each after its length.
fn read(bytes: &[u8]) -> Result<(String, Vec<Bytes>), Box<dyn Error>> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some((length, more)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let (part, more) = more.split_at_checked(length).ok_or("a part is cut")?;
        parts.push(Bytes::copy_from_slice(part));
        rest = more;
    }
    let method = parts.first().ok_or("no method")?;
    Ok((String::from_utf8(method.to_vec())?, parts.split_off(1)))
}

/// The time of one call, each of the messages being one.
async fn calls(
    door: &Door,
    method: &str,
    messages: &[Bytes],
    count: u32,
) -> Result<Duration, tonic::Status> {
    let begin = Instant::now();
    for _ in 0..count {
        for message in messages {
            std::hint::black_box(door.call(method, message.clone(), None).await?);
        }
    }
    Ok(begin.elapsed() / count)
}

/// The time of one of the calls after the first message, which opens the session that they are
/// about, in place of the one before.
async fn session(door: &Door, method: &str, messages: &[Bytes]) -> Result<Duration, tonic::Status> {
    let Some((open, frames)) = messages.split_first() else { return Ok(Duration::ZERO) };
    door.call("/clearance.v1.SessionService/OpenSession", open.clone(), None).await?;
    let count = u32::try_from(frames.len()).unwrap_or(u32::MAX).max(1);
    Ok(calls(door, method, frames, 1).await? / count)
}

/// The time of a stream with these messages.
async fn stream(door: &Door, method: &str, messages: &[Bytes]) -> Result<Duration, tonic::Status> {
    let begin = Instant::now();
    let (requests, receiver) = mpsc::channel(1);
    let sent = messages.to_vec();
    let sending = tokio::spawn(async move {
        for message in sent {
            // Whoever receives says what became of it.
            let _ = requests.send(message).await;
        }
    });
    let mut reply = door.stream(method, receiver, None).await?;
    while let Some(answer) = reply.next().await? {
        std::hint::black_box(answer);
    }
    let _ = sending.await;
    Ok(begin.elapsed())
}
