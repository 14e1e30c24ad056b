//! One question and its answer, which is not taken on trust.
//!
//! ```sh
//! cargo run --release -- serve
//! cargo run -p clearance-client --example first_verdict -- http://127.0.0.1:50061
//! ```
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use clearance_client::{Client, api};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:50061".to_owned());
    let client = Client::connect(&address).await?;
    let corners: Vec<[f64; 3]> =
        (0..8).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1))).collect();
    let cube = client.register_points(&corners).await?;

    for x in [1.25, 1.0, 0.75] {
        let question = api::MeasureDistanceRequest {
            p: Some(cube.at([0.0, 0.0, 0.0])),
            q: Some(cube.at([x, 0.0, 0.0])),
            ..Default::default()
        };
        let answer = client.measure_distance(question.clone()).await?;
        client.verify(&question, &answer)?;
        let distance = answer.distance.unwrap_or_default();
        println!(
            "at x = {x}: {:?}, between {} m and {} m, proven",
            answer.verdict(),
            distance.lower,
            distance.upper
        );
    }
    Ok(())
}
