//! Packed reports tell all that nested ones do.

use clearance_proto as api;
use clearance_proto::PairSelection;
use clearance_wire::convert::sessions::packed_pairs::{truncate, unpack};
use prost::Message;

use crate::compounds::parts;
use crate::robots::{SLIDER, robots};
use crate::server::{Server, body, vector};
use crate::sessions::{pose, started, step};

const SLIDER_ID: u32 = 100;
const FRAMES: u64 = 12;

fn placed(id: u32, parts: Vec<api::PlacedBody>) -> api::Body {
    api::Body { id: Some(id), parts, pose: pose(3.0 * f64::from(id)), ..Default::default() }
}

/// Cubes, bodies of two parts, a margin, and a robot; some of it touches, some overlaps.
async fn scene(server: &Server) -> api::SessionState {
    let urdf = SLIDER.to_owned();
    let request = api::RegisterRobotRequest { urdf, ..Default::default() };
    let robot = robots(server).register_robot(request).await.unwrap().into_inner().robot.unwrap();
    let [p, q] = parts();
    let cube = || vec![body("cube", 0.0)];
    let margin =
        api::PairMargin { pair: Some(api::BodyPair { a: Some(1), b: Some(2) }), margin: 0.25 };
    api::SessionState {
        bodies: vec![placed(1, cube()), placed(2, cube()), placed(3, p), placed(4, q)],
        rules: Some(api::PairRules { margins: vec![margin], ..Default::default() }),
        robots: vec![api::SessionRobot {
            id: Some(SLIDER_ID),
            robot_id: robot.id,
            fixed_base: true,
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// Where the bodies are in a frame: in pieces of a quarter, so that faces meet, or between them.
fn moved(frame_id: u64, report: &api::ReportOptions) -> api::Frame {
    let at = |id: u64| {
        let quarters = (frame_id * 7 + id * id * 5) % 13;
        let between = if frame_id.is_multiple_of(3) { 0.1 * id as f64 } else { 0.0 };
        vector(0.25 * quarters as f64 + between, 0.5 * ((id + frame_id) % 2) as f64, 0.0)
    };
    let poses = (1..=4).map(|id| api::BodyPose {
        id: Some(id as u32),
        pose: Some(api::Pose { translation: at(id), orientation: None }),
        ..Default::default()
    });
    let values = vec![0.1 * frame_id as f64];
    api::Frame {
        frame_id,
        poses: poses.collect(),
        robot_moves: vec![api::RobotMove { id: Some(SLIDER_ID), values, ..Default::default() }],
        report: Some(Box::new(*report)),
        ..Default::default()
    }
}

/// Every question that can be asked of a pair, those that this bit pattern names.
fn asked(bits: u32) -> api::ReportOptions {
    let has = |bit: u32| bits >> bit & 1 == 1;
    let mut report = api::ReportOptions {
        distances: has(0),
        closest_points: has(0),
        depths: has(1),
        first_contacts: has(2),
        certificates: has(3),
        normals: has(4),
        contact_polygons: has(5),
        along: has(6).then(|| vector(1.0, 0.5, 0.0)).flatten(),
        ..Default::default()
    };
    report.set_pairs(PairSelection::All);
    report
}

async fn reports(
    server: &Server,
    id: &str,
    state: &api::SessionState,
    asked: &api::ReportOptions,
    budget: Option<api::Budget>,
) -> Vec<api::FrameReport> {
    let request = api::OpenSessionRequest {
        session_id: id.to_owned(),
        state: Some(state.clone()),
        report: Some(*asked),
        budget,
        ..Default::default()
    };
    server.sessions().open_session(request).await.unwrap();
    let frames = (1..=FRAMES).map(|frame_id| moved(frame_id, asked)).collect();
    step(server, id, frames).await.unwrap()
}

/// A report without what differs from one session to another.
fn bare(report: &api::FrameReport) -> api::FrameReport {
    api::FrameReport { cost: None, pairs: Vec::new(), packed_pairs: None, ..report.clone() }
}

/// Points, depths, normals, polygons, first contacts, ranges, proofs and links were left out of
/// packed reports without a word.
#[tokio::test]
async fn packed_reports_tell_all_that_nested_ones_tell() {
    let server = started().await;
    let state = scene(&server).await;
    let few = Some(api::Budget { steps: Some(4), time: None });
    let mut seen = [0; 10];
    for (bits, budget) in
        (0..=127).step_by(9).map(|bits| (bits, None)).chain([(127, None), (119, few), (127, few)])
    {
        let plain = asked(bits);
        let flat = api::ReportOptions { packed: true, ..plain };
        let (one, other) = (format!("plain-{bits}"), format!("packed-{bits}"));
        let (one, other) = match budget {
            None => (one, other),
            Some(_) => (one + "-few", other + "-few"),
        };
        let plain = reports(&server, &one, &state, &plain, budget).await;
        let flat = reports(&server, &other, &state, &flat, budget).await;
        assert_eq!(plain.len(), flat.len());
        for (plain, flat) in plain.iter().zip(&flat) {
            assert_eq!(bare(plain), bare(flat));
            let mut packed = flat.packed_pairs.clone().unwrap();
            assert_eq!(unpack(&packed), plain.pairs, "{bits}");
            for pair in &plain.pairs {
                let polygon = pair.contact_polygon.first();
                seen[0] += usize::from(pair.closest_a.is_some());
                seen[1] += usize::from(pair.depth.is_some());
                seen[2] += usize::from(pair.normal.is_some());
                seen[3] += usize::from(polygon.is_some());
                seen[4] += usize::from(pair.along.as_ref().is_some_and(|of| of.enter.is_some()));
                seen[5] += usize::from(pair.certificate.is_some());
                seen[6] += usize::from(pair.a_part > Some(0) || pair.b_part > Some(0));
                seen[7] += usize::from(pair.stopped != 0);
                seen[8] += usize::from(pair.within_margin.is_some());
                seen[9] +=
                    usize::from(pair.first_contact.as_ref().is_some_and(|of| of.outcome == 1));
            }
            // As a report is that was cut.
            for count in (0..packed.a.len()).rev() {
                truncate(&mut packed, count);
                assert_eq!(unpack(&packed), plain.pairs[..count]);
            }
            assert!(packed.encoded_len() < 8, "{packed:?}");
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}
