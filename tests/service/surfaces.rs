//! Meshes kept as the triangles that they are, and what is answered about them: from outside what
//! is answered about what they bound; and nothing is inside them.

use api::polytope_spec::Source;
use api::static_certificate::Proof;
use api::{Outcome, Verdict};
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use tonic::Code;

use crate::polyhedra::{channel, keep, placed, register, with_channel};
use crate::server::{Server, body, cube, vector, verify};
use crate::solid_measures::of_distance;
use crate::solid_proofs::{of_collision, of_motion};

pub(crate) fn surface(alias: &str, mesh: api::Mesh) -> api::PolytopeSpec {
    let treatment = api::MeshTreatment::Surface.into();
    api::PolytopeSpec { treatment, ..keep(alias, mesh) }
}

/// A channel as a region and as a surface, a floor of two triangles, and a peg.
async fn with_surfaces() -> Server {
    let (server, _) = with_channel().await;
    register(&server, surface("shell", channel())).await.unwrap();
    let xyz = vec![-4., -4., 0., 4., -4., 0., 4., 4., 0., -4., 4., 0.];
    let floor =
        api::Mesh { vertices: Some(api::Points { xyz }), triangles: vec![0, 1, 2, 0, 2, 3] };
    register(&server, surface("floor", floor)).await.unwrap();
    server
}

#[tokio::test]
async fn a_surface_is_kept_under_one_id_however_it_is_drawn_and_described() {
    let server = Server::start().await;
    let mesh = |xyz: Vec<f64>, triangles: Vec<u32>| api::Mesh {
        vertices: Some(api::Points { xyz }),
        triangles,
    };
    // Two squares that cross, one of them drawn twice and turned over, and a point that is unused.
    let xyz = vec![
        0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0., 9., 9., 9., 0.5, 0.5, -1., 0.5, 0.5, 1.,
    ];
    let plain = mesh(xyz.clone(), vec![0, 1, 2, 0, 2, 3, 0, 5, 6]);
    let drawn_twice = mesh(xyz, vec![2, 1, 0, 0, 1, 2, 3, 0, 2, 6, 0, 5, 0, 5, 6]);
    let report = register(&server, surface("plain", plain.clone())).await.unwrap();
    let described = report.polytope.unwrap();
    assert!(described.id.starts_with("s1-") && described.id.len() == 67, "{}", described.id);
    let counts = [described.vertex_count, described.edge_count, described.face_count];
    assert_eq!((counts, described.dimension, described.shell_count), ([6, 8, 3], 2, 0));
    assert!(described.volume.abs() <= 0.0 && described.hierarchy_size == 0);
    assert_eq!(described.bounds_high, vector(1., 1., 1.));
    assert_eq!((report.points_given, report.points_dropped), (6, 0));
    assert_eq!(report.vertex_of_given[4], -1);
    let again = register(&server, surface("again", drawn_twice)).await.unwrap();
    assert!(again.already_registered);
    assert_eq!(again.polytope.unwrap().id, described.id);
    // What bounds nothing is no polyhedron, and points alone are no surface.
    let refused = register(&server, keep("open", plain)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let points = api::PolytopeSpec {
        source: Some(Source::Vertices(api::Points { xyz: cube() })),
        ..surface("points", api::Mesh::default())
    };
    let refused = register(&server, points).await.unwrap_err();
    assert!(refused.message().contains("only a mesh is a surface"), "{}", refused.message());
    assert!(refused.message().contains("polytopes[0].treatment"), "{}", refused.message());
}

#[tokio::test]
async fn from_outside_a_surface_is_answered_as_what_it_bounds() {
    let server = with_surfaces().await;
    let random = &mut Random::new(7);
    let mut stood = [0; 4];
    for round in 0..60 {
        let mut eighths = |least: f64| least + random.below(33) as f64 / 8.0;
        let (x, y) = (eighths(-1.0), eighths(-1.0));
        let other = match round % 3 {
            0 => api::PlacedBody {
                source: Some(api::placed_body::Source::Rounded(api::RoundedShape {
                    core: None,
                    radius: 0.25,
                    scale: None,
                })),
                ..placed("peg", x, y)
            },
            _ => placed("peg", x, y),
        };
        let margin = Some(0.25);
        let about = |name: &str| api::MeasureDistanceRequest {
            p: Some(placed(name, 0.0, 0.0)),
            q: Some(other.clone()),
            margin,
            ..Default::default()
        };
        let question = about("shell");
        let found = server.queries().measure_distance(question.clone()).await.unwrap().into_inner();
        let region =
            server.queries().measure_distance(about("channel")).await.unwrap().into_inner();
        verify(&server, of_distance(&question, &found)).await.unwrap();
        stood[found.verdict() as usize] += 1;
        let collision = api::CheckCollisionRequest {
            p: question.p.clone(),
            q: question.q.clone(),
            margin,
            ..Default::default()
        };
        let answer =
            server.queries().check_collision(collision.clone()).await.unwrap().into_inner();
        assert_eq!(answer.verdict(), found.verdict(), "{question:?}");
        assert!(!answer.uncertified && answer.face_contact.is_none());
        verify(&server, of_collision(&collision, &answer)).await.unwrap();
        let mut lie = answer.clone();
        lie.set_verdict(match answer.verdict() {
            Verdict::Overlapping => Verdict::Touching,
            _ => Verdict::Overlapping,
        });
        assert!(verify(&server, of_collision(&collision, &lie)).await.is_err(), "{lie:?}");
        if region.verdict() == Verdict::Separated {
            let [found, expected] = [&found, &region].map(|answer| answer.distance.unwrap());
            assert!(found.lower <= expected.upper && expected.lower <= found.upper);
            assert_eq!(answer.within_margin, region.within_margin);
        }
        // What overlaps a surface overlaps what this bounds.
        assert!(found.verdict() <= region.verdict(), "{question:?}");
    }
    assert!(stood[1..].iter().all(|count| *count > 3), "{stood:?}");
}

#[tokio::test]
async fn a_closed_surface_has_room_inside() {
    let server = with_surfaces().await;
    let xyz: Vec<f64> = cube().iter().map(|x| 4.0 * x - 2.0).collect();
    let triangles = vec![
        0, 1, 3, 0, 3, 2, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4,
        1, 3, 7, 1, 7, 5,
    ];
    let mesh = api::Mesh { vertices: Some(api::Points { xyz }), triangles };
    register(&server, surface("room", mesh)).await.unwrap();
    let falls = |speed: f64| {
        let velocity = vector(0.0, 0.0, -speed);
        let kind = Some(api::motion::Kind::Linear(api::LinearMotion { velocity }));
        api::FindFirstContactRequest {
            p: Some(placed("room", 0.0, 0.0)),
            q: Some(placed("peg", 0.0, 0.0)),
            q_motion: Some(api::Motion { kind }),
            impact: true,
            ..Default::default()
        }
    };
    for (speed, outcome) in [(1.0, Outcome::NoContact), (4.0, Outcome::Contact)] {
        let question = falls(speed);
        let answer =
            server.queries().find_first_contact(question.clone()).await.unwrap().into_inner();
        assert_eq!((answer.outcome(), answer.initial_verdict()), (outcome, Verdict::Separated));
        if outcome == Outcome::Contact {
            assert!(answer.t_free <= 0.5 && answer.t_contact.unwrap() >= 0.5, "{answer:?}");
            assert!(answer.t_contact.unwrap() - answer.t_free < 1e-9, "{answer:?}");
        }
        verify(&server, of_motion(&question, &answer)).await.unwrap();
        let mut lie = answer;
        lie.t_free = (2.0 * lie.t_free).min(1.0);
        lie.t_contact = Some((2.0 * lie.t_contact.unwrap_or(1.0)).min(1.0));
        lie.set_outcome(Outcome::Contact);
        assert!(verify(&server, of_motion(&question, &lie)).await.is_err());
    }
}

/// The floor is cut along no edge by a peg that stands half in it.
#[tokio::test]
async fn proofs_about_surfaces_are_of_pieces() {
    let server = with_surfaces().await;
    for (z, expected) in
        [(0.0, Verdict::Touching), (-0.5, Verdict::Overlapping), (0.5, Verdict::Separated)]
    {
        let pose = api::Pose { translation: vector(1.0, 0.0, z), orientation: None };
        let q = api::PlacedBody { pose: Some(pose), ..body("shell", 0.0) };
        let question = api::CheckCollisionRequest {
            p: Some(placed("floor", 0.0, 0.0)),
            q: Some(q),
            ..Default::default()
        };
        let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
        assert_eq!(answer.verdict(), expected, "{z}");
        let proof = answer.certificate.as_ref().unwrap().proof.as_ref().unwrap();
        let is_of_pieces = match proof {
            Proof::Solid(solid) => matches!(
                solid.proof,
                Some(
                    api::solid_proof::Proof::TouchingPieces(_)
                        | api::solid_proof::Proof::OverlappingPieces(_)
                )
            ),
            _ => false,
        };
        assert_eq!(is_of_pieces, expected != Verdict::Separated, "{proof:?}");
        verify(&server, of_collision(&question, &answer)).await.unwrap();
    }
}

/// A sheet beside a channel: in its slot, against the slot's walls, and in a wall.
#[tokio::test]
async fn a_sheet_is_inside_a_polyhedron_where_this_has_a_wall() {
    let server = with_surfaces().await;
    let xyz = vec![0., 0., 0., 0.5, 0., 0., 0.5, 0.5, 0., 0., 0.5, 0.];
    let mesh = api::Mesh { vertices: Some(api::Points { xyz }), triangles: vec![0, 1, 2, 0, 2, 3] };
    register(&server, surface("sheet", mesh)).await.unwrap();
    for (x, y, expected) in [
        (1.25, 1.5, Verdict::Separated),
        (1.0, 1.5, Verdict::Touching),
        (1f64.next_down(), 1.5, Verdict::Overlapping),
        (1.5, 1.0, Verdict::Touching),
        (0.25, 0.25, Verdict::Overlapping),
        (2.5, 2.5, Verdict::Overlapping),
    ] {
        let pose = api::Pose { translation: vector(x, y, 0.5), orientation: None };
        let sheet = api::PlacedBody { pose: Some(pose), ..body("sheet", 0.0) };
        let channel = placed("channel", 0.0, 0.0);
        for (p, q) in [(sheet.clone(), channel.clone()), (channel, sheet)] {
            let question =
                api::CheckCollisionRequest { p: Some(p), q: Some(q), ..Default::default() };
            let answer =
                server.queries().check_collision(question.clone()).await.unwrap().into_inner();
            assert_eq!(answer.verdict(), expected, "{x} {y}");
            verify(&server, of_collision(&question, &answer)).await.unwrap();
            for lie in [Verdict::Separated, Verdict::Touching, Verdict::Overlapping] {
                let mut answer = answer.clone();
                answer.set_verdict(lie);
                let judged = verify(&server, of_collision(&question, &answer)).await;
                assert_eq!(judged.is_ok(), lie == expected, "{x} {y} {lie:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_not_answered_about_surfaces_is_refused_with_its_field() {
    let server = with_surfaces().await;
    let p = Some(placed("shell", 0.0, 0.0));
    let along = api::MeasureDistanceAlongRequest {
        p: p.clone(),
        q: Some(placed("peg", 9.0, 0.0)),
        direction: vector(1.0, 0.0, 0.0),
        ..Default::default()
    };
    let refused = server.queries().measure_distance_along(along).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
    assert!(refused.message().contains("this question about surfaces"), "{}", refused.message());
}
