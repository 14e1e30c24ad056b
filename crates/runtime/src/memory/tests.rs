//! What is given out, to whom, and what others still get.

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::settings::Limits;

const MIB: u64 = 1 << 20;

fn memory_budget(mib: u64) -> MemoryBudget {
    let limits = Limits { memory_bytes_max: mib * MIB, ..Limits::default() };
    MemoryBudget::new(limits.memory_bytes_max())
}

fn client(memory_budget: &MemoryBudget, last: u8) -> MemoryQuota {
    memory_budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
}

/// Takes MiB by MiB until it is refused; tells how many.
fn fill(quota: &MemoryQuota, held: &mut Vec<Reservation>) -> usize {
    let before = held.len();
    while let Ok(reservation) = quota.reserve(MemoryKind::Work, MIB) {
        held.push(reservation);
    }
    held.len() - before
}

#[test]
fn what_is_given_back_can_be_taken_again() {
    let memory_budget = memory_budget(64);
    let quota = client(&memory_budget, 1);
    let mut held = quota.reserve(MemoryKind::Uploads, 10 * MIB).unwrap();
    held.grow_to(20 * MIB).unwrap();
    assert_eq!(
        (memory_budget.used(MemoryKind::Uploads), memory_budget.total()),
        (20 * MIB, 20 * MIB)
    );
    let refused = held.grow_to(60 * MIB).unwrap_err();
    assert_eq!((refused.0.name, held.bytes()), ("memory_bytes_max", 20 * MIB));
    assert!(held.grow_to(u64::MAX).is_err() && memory_budget.refusals() == 2);
    held.set(5 * MIB);
    assert_eq!(memory_budget.total(), 5 * MIB);
    drop(held);
    assert_eq!((memory_budget.used(MemoryKind::Uploads), memory_budget.total()), (0, 0));
}

#[test]
fn whoever_takes_all_it_can_get_leaves_something_for_the_next() {
    let memory_budget = memory_budget(1_024);
    let mut held = Vec::new();
    let greedy: Vec<usize> =
        (1..=3).map(|last| fill(&client(&memory_budget, last), &mut held)).collect();
    assert_eq!(greedy, [768, 128, 1], "three quarters, and what leaves an eighth");
    // Small needs are met still, also of the same principal.
    let small = client(&memory_budget, 1).reserve(MemoryKind::Decoded, MIB);
    assert!(small.is_ok());
}

#[test]
fn small_calls_go_on_when_more_is_held_than_there_is() {
    let memory_budget = memory_budget(64);
    let held = client(&memory_budget, 1).hold(MemoryKind::Sessions, 100 * MIB);
    let other = client(&memory_budget, 2);
    let own = other.reserve(MemoryKind::Calls, CONNECTION_BYTES).unwrap();
    let calls: Vec<_> = (0..4).map(|_| other.reserve(MemoryKind::Calls, CALL_BYTES)).collect();
    assert!(calls.iter().all(Result::is_ok));
    assert!(other.reserve(MemoryKind::Calls, CALL_BYTES).is_err(), "no more than four");
    drop((held, own, calls));
    assert_eq!(memory_budget.total(), 0);
}

#[test]
fn shares_are_by_principal_whatever_the_connection() {
    let memory_budget = memory_budget(1_024);
    let mut held = Vec::new();
    let first = fill(&client(&memory_budget, 1), &mut held);
    let again = fill(&client(&memory_budget, 1), &mut held);
    assert!(first == 768 && again <= 1, "{first} and {again}");
    let lasting = client(&memory_budget, 1).lasting();
    let (little, much) = (128 << 10, MIB);
    assert!(lasting.reserve(MemoryKind::Sessions, much).is_err(), "no more than a ration");
    assert!(lasting.reserve(MemoryKind::Sessions, little).is_ok(), "of what lasts");
    held.clear();
    assert!(lasting.reserve(MemoryKind::Sessions, much).is_ok());
}

#[test]
fn places_are_shared_like_bytes() {
    let memory_budget = memory_budget(64);
    let [greedy, other] = [1, 2].map(|last| client(&memory_budget, last).lasting());
    let mut held = Vec::new();
    while greedy.may_have_another(MemoryKind::Sessions, held.len() as u64, 1_000) {
        held.push(greedy.reserve(MemoryKind::Sessions, 1).unwrap());
    }
    assert_eq!(held.len(), 558);
    assert!(other.may_have_another(MemoryKind::Sessions, 558, 1_000));
    held.pop();
    assert!(greedy.may_have_another(MemoryKind::Sessions, 557, 1_000));
}

#[test]
fn bytes_of_a_kind_with_a_limit_of_its_own_are_shared_too() {
    let memory_budget = memory_budget(64);
    let [greedy, other] = [1, 2].map(|last| client(&memory_budget, last).lasting());
    let (kind, limit) = (MemoryKind::Replies, 16 * MIB);
    let mut held = Vec::new();
    while greedy.room_for(kind, memory_budget.used(kind), limit) >= MIB {
        held.push(greedy.reserve(kind, MIB).unwrap());
    }
    assert_eq!(held.len(), 9, "three quarters of three quarters");
    assert_eq!(other.room_for(kind, memory_budget.used(kind), limit), 9 * MIB / 4);
    assert_eq!(greedy.room_for(MemoryKind::Uploads, 0, limit), 9 * MIB, "another kind");
}

/// Whoever is told apart by what is in the headers has a share of its own, not its connection's.
#[test]
fn calls_of_another_principal_over_a_connection_are_not_its_peers() {
    let memory_budget = memory_budget(64);
    let peer = client(&memory_budget, 1);
    let mut held = Vec::new();
    fill(&peer, &mut held);
    let other = peer.for_call_of(Principal::at(Ipv4Addr::new(10, 0, 0, 2).into()));
    let reservation = other.reserve(MemoryKind::Work, 2 * MIB).expect("its own share");
    assert!(!reservation.is_of(&peer) && !peer.may_have_another(MemoryKind::Work, 64, 64));
    assert!(peer.reserve(MemoryKind::Work, 2 * MIB).is_err());
    let same = peer.for_call_of(Principal::at(Ipv4Addr::new(10, 0, 0, 1).into()));
    assert!(same.reserve(MemoryKind::Calls, 1).unwrap().is_of(&peer));
}

#[test]
fn forgotten_principals_take_no_room() {
    let memory_budget = memory_budget(64);
    (0..100).for_each(|last| drop(client(&memory_budget, last)));
    assert!(memory_budget.0.principals.lock().unwrap().len() <= 2);
}

/// 250 streams of a connection that nobody read had all that their principal may have, and health
/// was refused on the same connection.
#[test]
fn a_principal_that_has_its_share_has_calls_still() {
    let memory_budget = memory_budget(512);
    let (own, mut held) = (client(&memory_budget, 1), Vec::new());
    fill(&own, &mut held);
    assert!(own.reserve(MemoryKind::Work, CALL_BYTES).is_err());
    let mut calls = Vec::new();
    while let Ok(call) = own.reserve(MemoryKind::Calls, CALL_BYTES) {
        calls.push(call);
    }
    assert_eq!(calls.len(), 1_024, "a thirty-second of a half");
}

/// In what outlives connections a newcomer found nothing any more: three principals had it all.
#[test]
fn whoever_keeps_little_gets_it_however_much_the_others_keep() {
    let memory_budget = memory_budget(512);
    let mut held = Vec::new();
    for last in 0..5 {
        let quota = client(&memory_budget, last).lasting();
        while let Ok(one) = quota.reserve(MemoryKind::Sessions, MIB / 4) {
            held.push(one);
        }
    }
    for last in 0..=255 {
        let quota = memory_budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 1, last))).lasting();
        let session = quota.reserve(MemoryKind::Sessions, 100 << 10);
        held.push(session.unwrap_or_else(|_| panic!("room for {last}")));
        let more = quota.reserve(MemoryKind::Sessions, MIB);
        assert!(more.is_err(), "no more than a ration");
    }
    // What small calls need is left.
    let small = client(&memory_budget, 200).reserve(MemoryKind::Decoded, MIB);
    assert!(small.is_ok());
}
