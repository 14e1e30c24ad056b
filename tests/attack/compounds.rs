//! Rows of sessions whose bodies have many parts each.

use std::time::Duration;

use clearance_proto as api;
use tonic::Code;

use crate::memory::{MIB, bounds, small, until_given_back};
use crate::row::row_on;
use crate::server::{Client, Server, Start, slowness};
use crate::strikes::session;
use crate::watch::Bounds;

/// A small tetrahedron, as a part at this place.
fn tetrahedron(at: [f64; 3]) -> api::PlacedBody {
    let corner = |k: usize| [0, 1, 2].map(|axis| at[axis] + if axis + 1 == k { 0.05 } else { 0.0 });
    let xyz = (0..4).flat_map(corner).collect();
    let source = Some(api::placed_body::Source::Vertices(api::Points { xyz }));
    api::PlacedBody { source, pose: None }
}

/// Bodies of so many tetrahedra in the same square, of which no two meet; every pair of them is
/// asked for with its distance and the proofs.
pub(crate) fn close_combs(bodies: u32, parts: u32) -> api::OpenSessionRequest {
    let body = |id: u32| {
        let [x, y] = [id % 7, id / 7].map(|step| 0.12 * f64::from(step));
        let place = |k: u32| [x + f64::from(k % 16), y + f64::from(k / 16), 0.0];
        let parts = (0..parts).map(|k| tetrahedron(place(k))).collect();
        api::Body { id: Some(id), parts, ..Default::default() }
    };
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        certificates: true,
        ..Default::default()
    };
    let idle_timeout = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    let bodies = (0..bodies).map(body).collect();
    api::OpenSessionRequest { report: Some(report), idle_timeout, ..session(bodies) }
}

/// What others may notice of it.
fn bounds_of(resident_max: u64) -> Bounds {
    Bounds {
        health_p99: Duration::from_millis(50),
        health_worst: Duration::from_millis(250),
        resident_max,
        ..Bounds::default()
    }
}

/// Forty bodies of 256 parts, or as many as are answered in as much time without optimisation.
fn forty() -> api::OpenSessionRequest {
    let bodies = if slowness() == 1 { 40 } else { 8 };
    let time = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    api::OpenSessionRequest {
        budget: Some(api::Budget { time, ..Default::default() }),
        ..close_combs(bodies, 256)
    }
}

/// Opens it twice at a time: each is answered without the pairs whose proofs have no room, or
/// refused for want of memory.
async fn open_two(server: &Server) {
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let client = server.connect().await;
        calls.spawn(async move { open(&client).await });
    }
    let answered = calls.join_all().await.into_iter().filter(|is| *is).count();
    assert!(answered > 0, "one of them is answered");
}

async fn open(client: &Client) -> bool {
    match client.sessions().open_session(forty()).await {
        Ok(opened) => {
            let report = opened.into_inner().report.unwrap();
            let told = report.pairs.len() as u64 + report.omitted_pairs;
            let counts = report.counts.unwrap();
            let pairs = counts.separated + counts.touching + counts.overlapping + counts.undecided;
            assert_eq!(told, pairs, "what is not told is counted");
            true
        }
        Err(status) => {
            assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
            false
        }
    }
}

/// The process was aborted after 19 s.
#[test]
fn sessions_of_compounds_end_no_process_of_a_gibibyte() {
    let start = Start { address_space_max: Some(1 << 30), ..Start::default() };
    let bounds = bounds_of(700 * MIB);
    row_on(&start, "2 sessions of compounds, 1 GiB", bounds, async |server| {
        open_two(server).await;
    });
}

/// 7.8 GB were held.
#[test]
fn sessions_of_compounds_stay_within_the_memory_there_is() {
    let bounds = bounds_of(bounds().resident_max);
    row_on(&small(), "2 sessions of compounds", bounds, async |server| {
        open_two(server).await;
        let client = server.connect().await;
        let request = api::ListSessionsRequest { page_size: 1_000, ..Default::default() };
        let listed = client.sessions().list_sessions(request).await.unwrap().into_inner();
        for session in listed.sessions {
            let session_id = session.session_id;
            let request = api::CloseSessionRequest { session_id, ..Default::default() };
            client.sessions().close_session(request).await.unwrap();
        }
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}
