//! What waits is counted, given back, and given up.

use std::net::{IpAddr, Ipv4Addr};
use std::task::Waker;

use super::*;
use clearance_runtime::memory::{MemoryBudget, MemoryKind};
use clearance_runtime::settings::Limits;

const MIB: usize = 1 << 20;

fn memory_budget(mib: u64) -> MemoryBudget {
    let limits = Limits { memory_bytes_max: mib << 20, ..Limits::default() };
    MemoryBudget::new(limits.memory_bytes_max())
}

fn client(memory_budget: &MemoryBudget, last: u8) -> MemoryQuota {
    memory_budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
}

fn connection(quota: MemoryQuota) -> Unread {
    let unread = Unread::new(quota);
    unread.came(&[0; super::super::frames::PREFACE_BYTES]);
    unread
}

/// A stream begins.
fn begin(unread: &Unread, stream: u32) {
    let mut frame = vec![0, 0, 0, 1, 0];
    frame.extend(stream.to_be_bytes());
    unread.came(&frame);
}

/// So many frames of 16,000 bytes come.
fn data(unread: &Unread, stream: u32, count: usize) {
    for _ in 0..count {
        let mut frame = vec![0, 0x3e, 0x80, 0, 0];
        frame.extend(stream.to_be_bytes());
        frame.resize(9 + 16_000, 0);
        unread.came(&frame);
    }
}

fn is_beyond(unread: &Unread) -> bool {
    unread.poll_beyond(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn what_nobody_reads_is_in_the_account_until_it_is_read_or_its_call_is_over() {
    let memory_budget = memory_budget(512);
    let unread = connection(client(&memory_budget, 1));
    let used = || memory_budget.used(MemoryKind::Receiving) as usize;
    begin(&unread, 1);
    let (first, _told) = unread.take_on(1);
    data(&unread, 1, 2);
    assert_eq!(used(), 0, "so little is part of the connection");
    data(&unread, 1, 60);
    assert!((992_000..1_200_000).contains(&used()), "{}", used());
    for _ in 0..40 {
        first.read(16_000);
    }
    assert!((352_000..560_000).contains(&used()), "{}", used());
    // Frames of a stream that nobody has taken on yet, and of one that was refused.
    begin(&unread, 3);
    data(&unread, 3, 60);
    begin(&unread, 5);
    assert!(used() > 1_300_000, "{}", used());
    let (fifth, _told) = unread.take_on(5);
    assert!(used() < 560_000, "{}", used());
    drop(first);
    assert_eq!(used(), 0);
    data(&unread, 1, 60);
    assert_eq!(used(), 0, "of a call that is over nothing is kept");
    drop(fifth);
}

/// Data frames of one byte take two hundred times as much while they wait.
#[test]
fn frames_of_one_byte_are_counted_for_what_they_take() {
    let memory_budget = memory_budget(512);
    let unread = connection(client(&memory_budget, 1));
    begin(&unread, 1);
    let _call = unread.take_on(1);
    let frame = [0, 0, 1, 0, 0, 0, 0, 0, 1, 7];
    unread.came(&frame.repeat(10_000));
    assert!(memory_budget.total() > 10_000 * 256, "{}", memory_budget.total());
}

#[test]
fn the_stream_with_most_is_given_up_where_there_is_no_memory() {
    let memory_budget = memory_budget(16);
    let unread = connection(client(&memory_budget, 1));
    let others = client(&memory_budget, 2).hold(MemoryKind::Work, 14 << 20);
    let mut calls: Vec<_> = [1, 3, 5]
        .map(|stream| {
            begin(&unread, stream);
            unread.take_on(stream)
        })
        .into();
    data(&unread, 1, 4);
    data(&unread, 3, 61);
    data(&unread, 5, 8);
    assert_eq!(
        calls.iter_mut().map(|(_, told)| told.try_recv().is_ok()).collect::<Vec<_>>(),
        [false, true, false]
    );
    calls.remove(1);
    assert!(!is_beyond(&unread));
    assert!(memory_budget.used(MemoryKind::Receiving) as usize <= MIB / 2);
    drop(others);
}

#[test]
fn a_stream_gives_way_when_others_need_its_memory() {
    let memory_budget = memory_budget(16);
    let unread = connection(client(&memory_budget, 1));
    begin(&unread, 1);
    let (call, mut told) = unread.take_on(1);
    data(&unread, 1, 60);
    assert!(!is_beyond(&unread) && told.try_recv().is_err());
    let held = client(&memory_budget, 3).hold(MemoryKind::Work, 14 << 20);
    let needed = client(&memory_budget, 2).reserve(MemoryKind::Work, 200 << 10);
    assert!(!is_beyond(&unread));
    assert!(told.try_recv().is_ok());
    drop((call, needed, held));
    assert_eq!(memory_budget.total(), 0);
}

#[test]
fn a_connection_ends_that_has_no_stream_to_give_up() {
    let memory_budget = memory_budget(16);
    let unread = connection(client(&memory_budget, 1));
    let _others = client(&memory_budget, 2).hold(MemoryKind::Work, 15 << 20);
    begin(&unread, 1);
    data(&unread, 1, 100);
    assert!(is_beyond(&unread));
}
