//! Rows of robots: few bytes that ask for very many answers.

use std::time::Duration;

use clearance::rpc::api;
use tokio_stream::StreamExt;

use crate::memory::{MIB, bounds, small, until_given_back};
use crate::row::row_on;
use crate::scenes::cut_off;
use crate::server::Client;
use crate::strikes::configurations;

/// Nobody had tried: a million configurations over each of four streams whose clients take no
/// answer. Answers, cells and the work itself were free, and messages stayed counted until the
/// stream ended.
#[test]
fn configurations_without_end_whose_answers_are_not_taken_are_bounded() {
    row_on(&small(), "4 streams of a million configurations", bounds(), async |server| {
        let check = configurations(&server.connect().await, 50_000).await.expect("registered");
        let away = cut_off();
        for _ in 0..4 {
            let (address, check) = (server.address, check.clone());
            away.spawn(async move {
                let client = Client::to(address).await;
                let request = api::StreamConfigurationsRequest { check: Some(check) };
                let sent = tokio_stream::iter(std::iter::repeat_n(request, 20));
                let endless = sent.chain(tokio_stream::pending());
                let _answers = client.robots().stream_configurations(endless).await.unwrap();
                std::future::pending::<()>().await;
            });
        }
        tokio::time::sleep(Duration::from_secs(4)).await;
        away.shutdown_background();
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}
