//! Every method of the interface is asked for much, of a server that has little to give: whatever
//! the process holds beyond what it held idle, the account says, but for a third and a constant.
//!
//! What is said and what is held are looked at every few milliseconds. What was given back stays
//! with the allocator for a moment, so what is held is compared with the most that was said lately.
//!
//! `CLEARANCE_ATTACK_METHOD=OpenSession` before it asks only the methods with that in their names.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clearance_proto as api;
use prost::Message;
use prost_types::FileDescriptorSet;

use crate::heavy::ask;
use crate::memory::{MIB, used};
use crate::row::TURN;
use crate::server::{MEMORY_FLAG, Server, Start, resident, slowness};

/// Names the methods that are asked.
const METHOD: &str = "CLEARANCE_ATTACK_METHOD";

/// So many methods are asked at once, each of a server of its own: bytes are compared here, and not
/// times.
const AT_ONCE: usize = 4;

/// What the server may give out, and the address space that it may have.
const BUDGET: u64 = 96 * MIB;
const ADDRESS_SPACE: u64 = 1 << 30;

/// Heaps that are not full, stacks, and what the first calls load.
const SLACK: u64 = 24 * MIB;

/// So long the allocator may keep what was given back: free pages are looked for every second.
const LATELY: Duration = Duration::from_millis(2_500);

/// What was said and held at some time.
struct Sample {
    at: Instant,
    said: u64,
    held: u64,
}

/// Looks at both until it is told to stop.
async fn watch(server: &Server, over: &AtomicBool) -> Vec<Sample> {
    let mut samples = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let (before, held) = (used(server).await, resident(server.id()));
        let said = before.max(used(server).await);
        samples.push(Sample { at: Instant::now(), said, held });
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    samples
}

/// The most that was held beyond what was said: in MiB what was held, and said lately.
fn worst(samples: &[Sample]) -> Option<(u64, u64)> {
    let base = samples.first()?.held;
    // What was built for tests takes longer over it, and so do four of it on two processors.
    let lately = if slowness() > 1 { 2 * LATELY } else { LATELY };
    let mut worst: Option<(u64, (u64, u64))> = None;
    for (index, sample) in samples.iter().enumerate() {
        // What is asked for next may have been made before it was looked at.
        let next = samples.get(index + 1).map_or(0, |next| next.said);
        let before = samples[..=index].iter().rev();
        let before = before.take_while(|before| sample.at - before.at <= lately);
        let said = before.map(|before| before.said).max().unwrap_or(0).max(next);
        let held = sample.held.saturating_sub(base);
        let beyond = held.saturating_sub(said + said / 3);
        if worst.is_none_or(|(most, ..)| beyond > most) {
            worst = Some((beyond, (held >> 20, said >> 20)));
        }
    }
    let (beyond, figures) = worst?;
    (beyond > SLACK).then_some(figures)
}

/// Asks the method for much; says by how much more was held than said.
async fn attack(method: &str) -> Option<String> {
    let flags = vec![MEMORY_FLAG.to_owned(), BUDGET.to_string()];
    let mut server = Server::started(&Start {
        flags,
        address_space_max: Some(ADDRESS_SPACE),
        ..Start::default()
    });
    let over = Arc::new(AtomicBool::new(false));
    let asking = async {
        // What is held idle is looked at first.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let time = Duration::from_secs(12);
        let has_row = tokio::time::timeout(time, ask(&server, method)).await.unwrap_or(true);
        over.store(true, Ordering::Relaxed);
        has_row
    };
    let (samples, has_row) = tokio::join!(watch(&server, &over), asking);
    if !has_row {
        return Some(format!("{method}: nobody has written what much is of it"));
    }
    let (said, held) = (samples.iter().map(|one| one.said >> 20).max(), resident(server.id()));
    println!("  {method}: {said:?} MiB said at most, {} held at the end", held >> 20);
    if let Some(status) = server.has_died() {
        return Some(format!("{method}: the server has died: {status}"));
    }
    let (held, said) = worst(&samples)?;
    Some(format!("{method}: {held} MiB were held, {said} said"))
}

/// Every method of the interface, as `Service/Method`.
fn methods() -> Vec<String> {
    let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap().file;
    let own = files.iter().filter(|file| file.package() == "clearance.v1");
    let services = own.flat_map(|file| &file.service);
    let of = |service: &prost_types::ServiceDescriptorProto| {
        let name = service.name().to_owned();
        let methods = service.method.iter().map(move |method| format!("{name}/{}", method.name()));
        methods.collect::<Vec<_>>()
    };
    services.flat_map(of).collect()
}

/// Robots of a hundred kilobytes took gigabytes that nobody had counted, sessions of compounds 7.8.
/// A new method fails this test until it is said in `heavy` what much is of it.
#[test]
fn whatever_is_asked_the_account_says_what_is_held() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let only = std::env::var(METHOD).unwrap_or_default();
    let methods = methods();
    assert!(methods.len() > 30, "{methods:?}");
    let chosen: Vec<_> = methods.iter().filter(|method| method.contains(&only)).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let attack_in_turn = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        while let Some(method) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.lock().unwrap().extend(runtime.block_on(attack(method)));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(attack_in_turn);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
