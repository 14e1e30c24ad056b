//! Questions that take long, asked by clients that do not stay.

use std::time::Duration;

use tonic::{Code, Request};

use crate::questions::{about_a_hull, ball, exhaustive, register};
use crate::row::row;
use crate::server::slowness;
use crate::watch::Bounds;

/// They were taken for small, ran on the threads that speak to clients, and went on for eighty
/// seconds after the deadline: health was not answered for eleven seconds.
#[test]
fn four_exhaustive_questions_about_large_bodies_hold_nobody_up() {
    row("4 exhaustive, 1,290 vertices", Bounds::default(), async |server| {
        let client = server.connect().await;
        register(&client, "ball", ball(1_290)).await;
        let asked = (0..4).map(|_| {
            let mut request = Request::new(exhaustive("ball"));
            request.set_timeout(Duration::from_millis(500));
            let mut queries = client.queries();
            tokio::spawn(async move { queries.check_collision(request).await })
        });
        for answer in asked.collect::<Vec<_>>() {
            match answer.await.unwrap() {
                Ok(_) => {}
                Err(status) => assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}"),
            }
        }
        // The pool is free at once: a question that needs it is answered.
        let mut queries = client.queries();
        let answer = queries.check_collision(about_a_hull(2_000));
        let patience = Duration::from_secs(1) * slowness();
        tokio::time::timeout(patience, answer).await.expect("soon").expect("answered");
    });
}
