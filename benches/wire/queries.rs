//! Rays and hulls through a scene that stands still.

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_proto::session_service_client::SessionServiceClient;

use super::Figures;
use super::asked::Asked;
use super::field::side;
use super::process::Served;
use super::scene::{drifters, open, register, state};
use super::talk::connect;

/// How far rays and hulls go: five body sizes, and through the whole scene.
const SHORT: f64 = 8.5;

/// Questions a second of one processor.
pub(crate) async fn measure(kind: &str, bodies: u32, served: &Served) -> Figures {
    let asked = Asked { bodies, moving: 0.0, first_contacts: false, chosen: 0.0, pace: 1.0 };
    let channel = connect(served.ours.port).await;
    let ids = register(channel.clone()).await;
    open(channel.clone(), "rays", state(&drifters(&asked), &ids), false).await;
    let mut client = SessionServiceClient::new(channel)
        .max_encoding_message_size(1 << 30)
        .max_decoding_message_size(1 << 30);
    let mut random = Random::new(11);
    let side = side(bodies);
    let mut figures = Figures::new();
    let lengths: &[(&str, f64)] = match kind {
        "rays" => &[("8.5 m", SHORT), ("through all", side)],
        _ => &[("8.5 m", SHORT)],
    };
    for &(name, length) in lengths {
        let mut way = || {
            let place = Vec3::from_fn(|_, _| random.between(0.0, side));
            [place, random.direction() * length]
        };
        let (calls, each) = match kind {
            "rays" => (5, 20_000),
            "hulls" => (5, 10_000),
            _ => (5, 1_000),
        };
        let requests: Vec<api::QuerySceneRequest> = (0..=calls)
            .map(|_| {
                let ways = (0..each).map(|_| way());
                match kind {
                    "rays" => of_rays(ways),
                    "hulls" => of_hulls(ways, &ids[3]),
                    _ => of_single_hulls(ways, &ids[3]),
                }
            })
            .collect();
        let (mut spent, mut met) = (0.0, 0);
        for (index, request) in requests.into_iter().enumerate() {
            // The first warms up.
            if index == 1 {
                (spent, met) = (served.ours.spent(), 0);
            }
            let reply = client.query_scene(request).await.expect("answered").into_inner();
            met += reply.packed_hits.map_or(0, |hits| askers(&hits));
            met += reply.packed_cast_hits.map_or(0, |hits| askers(&hits));
            met += reply.answers.iter().filter(|answer| !answer.hits.is_empty()).count();
        }
        let count = f64::from(calls * each);
        let rate = count / (served.ours.spent() - spent);
        figures.push((format!("server, {kind} of {name}, a second and core"), rate));
        figures.push((
            format!("server, {kind} of {name}, share that met, %"),
            met as f64 / count * 100.0,
        ));
    }
    figures
}

fn of_rays(ways: impl Iterator<Item = [Vec3; 2]>) -> api::QuerySceneRequest {
    let (mut origins, mut displacements) = (Vec::new(), Vec::new());
    for [from, by] in ways {
        origins.extend(from.iter().copied());
        displacements.extend(by.iter().copied());
    }
    let rays = api::PackedRays {
        origins: origins.into(),
        displacements: displacements.into(),
        ..Default::default()
    };
    let session_id = "rays".to_owned();
    api::QuerySceneRequest { session_id, packed_rays: Some(rays), ..Default::default() }
}

/// How many rays or casts met something.
fn askers(hits: &api::PackedHits) -> usize {
    hits.rays.chunk_by(|a, b| a == b).count()
}

fn of_hulls(ways: impl Iterator<Item = [Vec3; 2]>, id: &str) -> api::QuerySceneRequest {
    let (mut translations, mut displacements) = (Vec::new(), Vec::new());
    for [from, by] in ways {
        translations.extend(from.iter().copied());
        displacements.extend(by.iter().copied());
    }
    let casts = api::PackedCasts {
        translations: translations.into(),
        displacements: displacements.into(),
        ..Default::default()
    };
    let source = Some(api::placed_body::Source::Id(id.to_owned()));
    api::QuerySceneRequest {
        session_id: "rays".to_owned(),
        cast_bodies: vec![api::PlacedBody { source, pose: None }],
        packed_casts: Some(casts),
        ..Default::default()
    }
}

fn of_single_hulls(ways: impl Iterator<Item = [Vec3; 2]>, id: &str) -> api::QuerySceneRequest {
    let vector = |v: Vec3| Some(api::Vector3 { x: v.x, y: v.y, z: v.z });
    let query = |[from, by]: [Vec3; 2]| {
        let pose = api::Pose { translation: vector(from), orientation: None };
        let source = Some(api::placed_body::Source::Id(id.to_owned()));
        let linear = api::LinearMotion { velocity: vector(by) };
        let motion = api::Motion { kind: Some(api::motion::Kind::Linear(linear)) };
        let cast = api::ShapeCast {
            body: Some(api::PlacedBody { source, pose: Some(pose) }),
            motion: Some(motion),
            ..Default::default()
        };
        api::SceneQuery {
            kind: Some(api::scene_query::Kind::ShapeCast(cast)),
            ..Default::default()
        }
    };
    let session_id = "rays".to_owned();
    api::QuerySceneRequest { session_id, queries: ways.map(query).collect(), ..Default::default() }
}
