//! Rows of many addresses: whoever comes late finds something of all that is counted.

use std::time::{Duration, Instant};

use clearance_proto as api;
use tonic::{Code, Status};

use crate::memory::{MIB, bounds, small, until_given_back};
use crate::questions::{cube, cubes_apart, register};
use crate::row::row_on;
use crate::server::{Client, slowness};

/// So many addresses take all that they can get.
const GREEDY: u8 = 6;

/// So many come in all, beside the one whose session is watched.
const ADDRESSES: u16 = 255;

/// An address of this machine.
fn address(k: u16) -> [u8; 4] {
    [127, 0, 6 + u8::try_from(k / 250).unwrap(), 1 + u8::try_from(k % 250).unwrap()]
}

async fn open(client: &Client) -> Result<String, Status> {
    let idle_timeout = Some(prost_types::Duration { seconds: 600, nanos: 0 });
    let request = api::OpenSessionRequest { idle_timeout, ..Default::default() };
    Ok(client.sessions().open_session(request).await?.into_inner().session_id)
}

/// Claims names, each of a point of its own from the `first` one on.
async fn name(client: &Client, first: usize, aliases: Vec<String>) -> Result<(), Status> {
    let spec = |(k, alias): (usize, String)| {
        let xyz = vec![(first + k) as f64, 0.5, 0.25];
        let source = Some(api::polytope_spec::Source::Vertices(api::Points { xyz }));
        let alias_key = format!("the-key-of-{alias}");
        api::PolytopeSpec { source, alias, alias_key, ..Default::default() }
    };
    let polytopes = aliases.into_iter().enumerate().map(spec).collect();
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    client.polytopes().register_polytopes(request).await.map(drop)
}

async fn watch(
    client: &Client,
    session_id: &str,
) -> Result<tonic::Streaming<api::WatchSessionResponse>, Status> {
    let request =
        api::WatchSessionRequest { session_id: session_id.to_owned(), ..Default::default() };
    client.sessions().watch_session(request).await.map(tonic::Response::into_inner)
}

/// Tries until it is refused; tells how often it was not.
async fn all_of<T>(mut one: impl AsyncFnMut(usize) -> Result<T, Status>) -> Vec<T> {
    let mut got = Vec::new();
    loop {
        match one(got.len()).await {
            Ok(more) => got.push(more),
            Err(status) => {
                assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
                return got;
            }
        }
    }
}

/// Five addresses had all of a thousand sessions (750, 187, 47, 12 and 3), and the sixth was
/// refused; names had no share at all, and those who watch one session none by address.
#[test]
fn of_all_that_is_counted_256_addresses_get_some() {
    let mut start = small();
    start.flags.extend(["--aliases-max".to_owned(), "4000".to_owned()]);
    row_on(&start, "256 addresses, all that they can get", bounds(), async |server| {
        let owner = server.connect_from([127, 0, 9, 1]).await;
        let watched = open(&owner).await.unwrap();
        let (mut clients, mut watchers) = (Vec::new(), Vec::new());
        for k in 0..u16::from(GREEDY) {
            let client = server.connect_from(address(k)).await;
            let sessions = all_of(async |_| open(&client).await).await.len();
            let names = all_of(async |n| {
                let aliases = (0..20).map(|m| format!("greedy-{k}-{n}-{m}")).collect();
                name(&client, 20 * n, aliases).await
            });
            let names = 20 * names.await.len();
            // Of another tenant nobody can watch anything.
            let news = if server.is_secured() {
                Vec::new()
            } else {
                all_of(async |_| watch(&client, &watched).await).await
            };
            println!("  {sessions} sessions, {names} names, {} watch", news.len());
            watchers.extend(news);
            clients.push(client);
        }
        let mut longest = Duration::ZERO;
        for k in u16::from(GREEDY)..ADDRESSES {
            let asked = Instant::now();
            let client = server.connect_from(address(k)).await;
            open(&client).await.unwrap_or_else(|status| panic!("a session for {k}: {status:?}"));
            let mine = name(&client, 0, vec![format!("of-{k}")]).await;
            mine.unwrap_or_else(|status| panic!("a name for {k}: {status:?}"));
            client.queries().check_collision(cubes_apart()).await.expect("an answer");
            // Of 64 seats sixteen are kept.
            if k < u16::from(GREEDY) + 8 && !server.is_secured() {
                watchers.push(watch(&client, &watched).await.expect("a seat"));
            }
            longest = longest.max(asked.elapsed());
            clients.push(client);
        }
        println!("  the longest of the others took {longest:.2?}");
        assert!(longest < Duration::from_secs(1) * slowness(), "{longest:?}");
        register(&owner, "mine", cube(0.25)).await;
        drop((clients, watchers));
        // Sessions and names stay, little as they are.
        until_given_back(server, 48 * MIB, 200 * MIB).await;
    });
}
