//! Rows that compare what the account says with what the process holds, after load and after all
//! was given back.
//!
//! A process holds something beside what it gives out: its program, stacks, heaps that are not
//! full, what the first calls load. That is looked at after one round of the load; from then on
//! both figures move together.

use clearance_proto as api;
use clearance_proto::upload_polytope_request::Part;
use prost::bytes::Bytes;

use crate::memory::{MIB, bounds, small, used};
use crate::questions::{ball, cube, exhaustive, register};
use crate::row::row_on;
use crate::server::{Client, Server, resident, slowness};
use crate::strikes::{frame, pile};

/// Heaps that are not full, and pieces in use that keep others from being given back.
const SLACK: u64 = 8 * MIB;

/// What a process without any load may hold: its program, stacks and heaps. The program as tests
/// are built has several times the pages of the one that is built for use.
fn base_max() -> u64 {
    if slowness() == 1 { 48 * MIB } else { 72 * MIB }
}

/// What is held and said at some time.
pub(crate) struct Since {
    held: u64,
    said: u64,
}

impl Since {
    /// Now, when nothing is asked of the server.
    pub(crate) async fn now(server: &Server) -> Self {
        let now = Self { held: resident(server.id()), said: used(server).await };
        println!("  base: {} MiB held, {} said", now.held >> 20, now.said >> 20);
        assert!(now.held <= base_max(), "{} MiB are held without load", now.held >> 20);
        now
    }

    /// That as much more is held as is said, within a third.
    pub(crate) async fn agrees(&self, server: &Server, when: &str) {
        // What was just given back may still be on its way: pages between pieces that stay are
        // looked for every second.
        let mut last = (0, 0);
        for _ in 0..150 {
            let held = resident(server.id()).saturating_sub(self.held);
            let said = used(server).await.saturating_sub(self.said);
            last = (said >> 20, held >> 20);
            if held <= said * 4 / 3 + SLACK && said <= held * 4 / 3 + SLACK {
                println!("  {when}: {} MiB more are said, {} held", last.0, last.1);
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("{when}: {} MiB more are said, {} held", last.0, last.1);
    }
}

/// Asks about a registered ball with methods that build tables of it.
async fn ask_for_tables(client: &Client, alias: &str) {
    let options =
        |method: &str| Some(api::QueryOptions { method: method.to_owned(), ..Default::default() });
    for method in ["cd_dual", "hs_jump_plain"] {
        let asked = api::CheckCollisionRequest { options: options(method), ..exhaustive(alias) };
        client.queries().check_collision(asked).await.unwrap();
    }
    let api::CheckCollisionRequest { p, q, .. } = exhaustive(alias);
    let asked =
        api::MeasureDistanceRequest { p, q, options: options("h_walk"), ..Default::default() };
    client.queries().measure_distance(asked).await.unwrap();
}

async fn delete_all(client: &Client) {
    delete_above(client, 0).await;
}

/// Those of more vertices than that.
async fn delete_above(client: &Client, vertices: u32) {
    let list = api::ListPolytopesRequest { page_size: 1_000, ..Default::default() };
    let listed = client.polytopes().list_polytopes(list).await.unwrap().into_inner();
    for polytope in listed.polytopes.into_iter().filter(|one| one.vertex_count > vertices) {
        let key = Some(api::delete_polytope_request::Key::Id(polytope.id));
        let request = api::DeletePolytopeRequest { key, ..Default::default() };
        client.polytopes().delete_polytope(request).await.unwrap();
    }
}

/// The account counted what named methods might build whether anybody asked for them or not, and so
/// five times what was held. When all was deleted 42 MiB stayed, and 24 more with each round, in
/// heaps that a cached piece at their ends kept as high as they had been.
#[test]
fn the_account_says_what_the_process_holds_of_polytopes_with_their_tables() {
    row_on(&small(), "named methods on large polytopes", bounds(), async |server| {
        let points = if slowness() == 1 { 40_000 } else { 4_000 };
        let client = server.connect().await;
        let mut since = Since::now(server).await;
        for round in 0..3 {
            for k in 0..4 {
                register(&client, &format!("ball{k}"), ball(points + k)).await;
            }
            since.agrees(server, "registered").await;
            for k in 0..4 {
                ask_for_tables(&client, &format!("ball{k}")).await;
            }
            since.agrees(server, "asked about").await;
            delete_all(&client).await;
            since.agrees(server, "deleted").await;
            if round == 0 {
                since = Since::now(server).await;
            }
        }
    });
}

/// Small polytopes that stayed, registered between large ones that went, kept 175 MiB where 14 were
/// said: heaps are given back from their ends.
#[test]
fn small_polytopes_do_not_keep_the_memory_of_large_ones() {
    row_on(&small(), "small polytopes between large ones", bounds(), async |server| {
        let points = if slowness() == 1 { 40_000 } else { 4_000 };
        let client = server.connect().await;
        let since = Since::now(server).await;
        for k in 0..50 {
            let alias = format!("ball{k}");
            register(&client, &alias, ball(points + k)).await;
            ask_for_tables(&client, &alias).await;
            register(&client, &format!("cube{k}"), cube(f64::from(k))).await;
            if k % 5 == 4 {
                delete_above(&client, 8).await;
            }
        }
        since.agrees(server, "the cubes stay").await;
    });
}

/// Bodies in one place, looked at twice, and closed.
async fn sessions(server: &Server, client: &Client, since: &Since) {
    let count = if slowness() == 1 { 200 } else { 60 };
    let mut opened = Vec::new();
    for _ in 0..2 {
        let idle_timeout = Some(prost_types::Duration { seconds: 600, nanos: 0 });
        let open = api::OpenSessionRequest { idle_timeout, ..pile(count) };
        let session_id =
            client.sessions().open_session(open).await.unwrap().into_inner().session_id;
        let frames = vec![frame(1, 0..count, 1e-4)];
        let step = api::StepSessionRequest {
            session_id: session_id.clone(),
            frames,
            ..Default::default()
        };
        client.sessions().step_session(step).await.unwrap();
        opened.push(session_id);
    }
    since.agrees(server, "sessions").await;
    for session_id in opened {
        let close = api::CloseSessionRequest { session_id, ..Default::default() };
        client.sessions().close_session(close).await.unwrap();
    }
    since.agrees(server, "closed").await;
}

/// An upload of 48 MiB that is no polytope at its end.
async fn upload(client: Client) {
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let chunk = Bytes::from(vec![0xff; MIB as usize]);
    let parts = std::iter::once(Part::Header(header)).chain(vec![Part::Chunk(chunk); 48]);
    let parts = parts.map(|part| api::UploadPolytopeRequest { part: Some(part) });
    let parts = tokio_stream::iter(parts.collect::<Vec<_>>());
    client.polytopes().upload_polytope(parts).await.unwrap_err();
}

/// After five large sessions were closed 223 MiB stayed.
#[test]
fn the_account_says_what_the_process_holds_of_sessions_replies_and_uploads() {
    row_on(&small(), "sessions, replies and uploads", bounds(), async |server| {
        let client = server.connect().await;
        register(&client, "cube", cube(0.0)).await;
        register(&client, "large", ball(if slowness() == 1 { 40_000 } else { 4_000 })).await;
        let mut since = Since::now(server).await;
        for round in 0..2 {
            sessions(server, &client, &since).await;
            for _ in 0..20 {
                let key = Some(api::get_polytope_request::Key::Alias("large".to_owned()));
                let ask = api::GetPolytopeRequest {
                    key,
                    with_vertices: true,
                    with_facets: true,
                    reply_bytes_max: u64::MAX,
                    ..Default::default()
                };
                client.polytopes().get_polytope(ask).await.unwrap();
            }
            since.agrees(server, "replies taken").await;
            for _ in 0..2 {
                upload(client.clone()).await;
            }
            since.agrees(server, "uploads refused").await;
            if round == 0 {
                since = Since::now(server).await;
            }
        }
    });
}
