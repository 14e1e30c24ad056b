//! Rows of clients that ask for much and take nothing.

use std::time::Duration;

use clearance_proto as api;
use prost::Message;
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

use crate::memory::{call_for_reply, framed};
use crate::questions::{ball, register};
use crate::row::row;
use crate::server::{Client, slowness};
use crate::watch::Bounds;

/// A reply of one or two megabytes.
fn large() -> api::GetPolytopeRequest {
    let key = Some(api::get_polytope_request::Key::Alias("large".to_owned()));
    api::GetPolytopeRequest {
        key,
        with_vertices: true,
        with_facets: true,
        reply_bytes_max: u64::MAX,
        ..Default::default()
    }
}

/// For 65 KB sent nobody else got a large reply, for as long as the one who had sent them liked.
#[test]
fn replies_that_one_client_does_not_take_keep_no_other_from_its_own() {
    row("400 replies not taken", Bounds::default(), async |server| {
        let other = server.connect().await;
        let points = if slowness() == 1 { 40_000 } else { 16_000 };
        register(&other, "large", ball(points)).await;
        if server.is_secured() {
            // The other's is not there for another tenant.
            register(&server.connect_from([127, 0, 0, 2]).await, "large", ball(points)).await;
        }
        let message = framed(&large().encode_to_vec(), 0);
        let (mut kept, mut refused) = (Vec::new(), 0);
        for _ in 0..4 {
            let Client(channel) = server.connect_from([127, 0, 0, 2]).await;
            for _ in 0..100 {
                let request = call_for_reply("PolytopeService/GetPolytope", message.clone());
                let reply = channel.clone().ready().await.unwrap().call(request).await.unwrap();
                match Status::from_header_map(reply.headers()) {
                    None => kept.push(reply),
                    Some(status) => {
                        assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
                        refused += 1;
                    }
                }
            }
        }
        println!("  {} replies are not taken, {refused} were refused", kept.len());
        assert!(kept.len() > 50 && refused > 10, "{} kept, {refused} refused", kept.len());
        for _ in 0..10 {
            let mut polytopes = other.polytopes();
            let asked = polytopes.get_polytope(large());
            let asked = tokio::time::timeout(Duration::from_secs(2) * slowness(), asked).await;
            asked.expect("soon").expect("room for another client's large reply");
        }
    });
}
