//! A session over frames: a cart rolls past a wall, and every pair of every report is verified.
//!
//! ```sh
//! cargo run --release -- serve
//! cargo run -p clearance-client --example frames -- http://127.0.0.1:50061
//! ```
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use clearance_client::{Client, Session, api};

fn at(x: f64, y: f64) -> api::Pose {
    api::Pose { translation: Some(api::Vector3 { x, y, z: 0.0 }), orientation: None }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:50061".to_owned());
    let client = Client::connect(&address).await?;
    let corners: Vec<[f64; 3]> =
        (0..8).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1))).collect();
    let cube = client.register_points(&corners).await?;

    let wall = api::Body { fixed: true, ..cube.body(1, at(0.0, 0.0)) };
    let state =
        api::SessionState { bodies: vec![wall, cube.body(2, at(4.0, 0.5))], ..Default::default() };
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        first_contacts: true,
        certificates: true,
        ..Default::default()
    };
    let request =
        api::OpenSessionRequest { state: Some(state), report: Some(report), ..Default::default() };
    let mut session = Session::open(&client, request).await?;
    // From x = 4 in steps of a metre; the last one goes through the wall.
    for x in [3.0, 2.0, 1.0, -2.0] {
        let moved = api::BodyPose { id: Some(2), pose: Some(at(x, 0.5)), ..Default::default() };
        let report = session.step(api::Frame { poses: vec![moved], ..Default::default() }).await?;
        let proven = session.verify(&report)?;
        let [pair] = &report.pairs[..] else { return Err("one pair is checked".into()) };
        let distance = pair.distance.unwrap_or_default();
        println!(
            "x = {x}: {:?}, {} m away, {} pair proven",
            pair.verdict(),
            distance.lower,
            proven.pairs
        );
        for event in &report.events {
            let time = event.time.unwrap_or_default();
            println!("    {:?} between t = {} and {}", event.kind(), time.lower, time.upper);
        }
    }
    Ok(session.close().await?)
}
