//! Rows of connections that nobody uses: polite ones, which answer pings and stay.

use std::time::{Duration, Instant};

use clearance_proto as api;
use tonic_health::pb::HealthCheckRequest;

use crate::questions::cubes_apart;
use crate::row::row_on;
use crate::server::{Client, Server, Start, slowness};
use crate::watch::Bounds;

/// What a newcomer may wait at most.
const PROMPT: Duration = Duration::from_millis(250);

/// What the server says that `connections_max` is.
async fn connections_max(client: &Client) -> u64 {
    let info = client.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let limits = info.into_inner().limits;
    limits.iter().find(|limit| limit.name == "connections_max").unwrap().value
}

/// Connections from 250 addresses that ask nothing, each address well within its share.
async fn idle(server: &Server, count: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for k in 0..count {
        let address = [127, 0, 4, 1 + u8::try_from(k % 250).unwrap()];
        clients.push(server.connect_from(address).await);
    }
    clients
}

async fn newcomers_are_served_promptly(server: &Server, idle: &[Client]) {
    for last in 1..=20 {
        let start = Instant::now();
        let newcomer = server.connect_from([127, 0, 5, last]).await;
        let answer = newcomer.queries().check_collision(cubes_apart()).await.expect("served");
        assert_eq!(answer.into_inner().verdict(), api::Verdict::Separated);
        let time = start.elapsed();
        assert!(time < PROMPT * slowness(), "newcomer {last} waited for {time:?}");
    }
    // Those that gave way were told so: their next call goes over a new connection.
    for client in idle.iter().take(40) {
        client.health().check(HealthCheckRequest::default()).await.expect("sent away politely");
    }
}

/// The process had 1,024 descriptors, as most systems give at first, and as many connections were
/// allowed: about 1,010 took all of them, none was closed, and a newcomer waited for ever.
#[test]
fn idle_connections_give_way_to_newcomers_and_the_process_asks_for_descriptors() {
    let start = Start { descriptors: Some([1_024, 4_096]), ..Start::default() };
    row_on(
        &start,
        "1,200 idle connections, 1,024 descriptors",
        Bounds::default(),
        async |server| {
            let first = server.connect().await;
            assert_eq!(connections_max(&first).await, 1_024, "more descriptors were to be had");
            let idle = idle(server, 1_200).await;
            newcomers_are_served_promptly(server, &idle).await;
        },
    );
}

#[test]
fn with_few_descriptors_there_are_fewer_connections_and_newcomers_are_served() {
    let start = Start { descriptors: Some([256, 256]), ..Start::default() };
    row_on(&start, "300 idle connections, 256 descriptors", Bounds::default(), async |server| {
        let first = server.connect().await;
        assert_eq!(connections_max(&first).await, 192, "and it is told");
        let idle = idle(server, 300).await;
        newcomers_are_served_promptly(server, &idle).await;
    });
}
