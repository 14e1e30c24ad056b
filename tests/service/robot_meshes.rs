//! Robots and cells with meshes that are taken as they are.

use std::fmt::Write;

use api::robot_mesh::Source;
use api::robot_obstacle::Shape;
use api::{Outcome, Verdict};
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use tonic::{Code, Status};

use crate::polyhedra::{channel, keep, register, with_boxes};
use crate::robots::{check as ask, robots, verdicts};
use crate::server::{Server, check, verify};

/// On three slides and a turn, with a part of this geometry at the end.
fn hand(geometry: &str) -> String {
    let slide = |name: &str, parent: &str, child: &str, axis: &str| {
        format!(
            "<joint name='{name}' type='prismatic'><parent link='{parent}'/><child link='{child}'/>\
             <axis xyz='{axis}'/><limit lower='-9' upper='9' velocity='1'/></joint>"
        )
    };
    let turn = "<joint name='turn' type='continuous'><parent link='c'/><child link='hand'/>\
                <axis xyz='0.6 0 0.8'/></joint>";
    format!(
        "<robot name='r'><link name='base'/><link name='a'/><link name='b'/><link name='c'/>\
         <link name='hand'><collision><geometry>{geometry}</geometry></collision></link>\
         {}{}{}{turn}</robot>",
        slide("x", "base", "a", "1 0 0"),
        slide("y", "a", "b", "0 1 0"),
        slide("z", "b", "c", "0 0 1")
    )
}

const MESH: &str = "<mesh filename='package://r/u.obj'/>";
const PEG: &str = "<box size='0.5 0.5 0.5'/>";

/// The text of a mesh file.
fn obj(mesh: &api::Mesh) -> Vec<u8> {
    let mut text = String::new();
    for v in mesh.vertices.as_ref().unwrap().xyz.chunks(3) {
        writeln!(text, "v {} {} {}", v[0], v[1], v[2]).unwrap();
    }
    for t in mesh.triangles.chunks(3) {
        writeln!(text, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1).unwrap();
    }
    text.into_bytes()
}

fn with_mesh(source: Source, treatment: api::MeshTreatment) -> api::RegisterRobotRequest {
    api::RegisterRobotRequest {
        urdf: hand(MESH),
        meshes: vec![api::RobotMesh { name: "u.obj".to_owned(), source: Some(source) }],
        mesh_treatment: treatment.into(),
        ..Default::default()
    }
}

fn content(mesh: &api::Mesh) -> Source {
    Source::Content(obj(mesh).into())
}

async fn registered(
    server: &Server,
    request: api::RegisterRobotRequest,
) -> Result<api::Robot, Status> {
    Ok(robots(server).register_robot(request).await?.into_inner().robot.unwrap())
}

fn cell(robot: &api::Robot, obstacles: &[&str]) -> api::RobotCell {
    let obstacle = |alias: &&str| api::RobotObstacle {
        shape: Some(Shape::Alias((*alias).to_owned())),
        pose: None,
        ..Default::default()
    };
    api::RobotCell {
        robots: vec![api::RobotInstance {
            robot_id: robot.id.clone(),
            base: None,
            ..Default::default()
        }],
        obstacles: obstacles.iter().map(obstacle).collect(),
        ..Default::default()
    }
}

/// The channel is 3 by 3 by 1, and the peg a half: some are in its slot.
fn values(count: usize, random: &mut Random) -> Vec<f64> {
    let mut all = Vec::new();
    for _ in 0..count {
        let ranges = [[-1.0, 4.0], [-1.0, 4.0], [0.0, 1.0], [-3.0, 3.0]];
        all.extend(ranges.map(|[low, high]| random.between(low, high)));
    }
    // In the slot, on its walls and its floor, and in a wall.
    let exact = [[1.5, 2.0, 0.5], [1.25, 2.0, 0.5], [1.5, 1.25, 0.5], [0.5, 2.0, 0.5]];
    all.extend(exact.iter().flat_map(|[x, y, z]| [*x, *y, *z, 0.0]));
    all
}

#[tokio::test]
async fn a_mesh_as_an_obstacle_is_answered_as_its_boxes_are() {
    let server = with_boxes().await;
    let mut client = robots(&server);
    let request = api::RegisterRobotRequest { urdf: hand(PEG), ..Default::default() };
    let robot = registered(&server, request).await.unwrap();
    let cells = [cell(&robot, &["channel"]), cell(&robot, &["floor", "left", "right"])];
    let values = values(200, &mut Random::new(5));
    let mut told = Vec::new();
    for cell in &cells {
        let asked = ask(cell, api::CheckMode::AllPairs, &values);
        let pairs = client.check_configurations(asked).await.unwrap().into_inner();
        let asked = ask(cell, api::CheckMode::Clearance, &values);
        let clearances = client.check_configurations(asked).await.unwrap().into_inner();
        assert_eq!(verdicts(&pairs), verdicts(&clearances));
        told.push(clearances);
    }
    let [whole, in_boxes] = &told[..] else { panic!("two cells") };
    assert_eq!(verdicts(whole), verdicts(in_boxes));
    let (verdicts, mut seen) = (verdicts(whole), [0; 3]);
    for (at, verdict) in verdicts.iter().enumerate() {
        let of = |told: &api::CheckConfigurationsResponse| {
            [told.clearance_lowers[at], told.clearance_uppers[at]]
        };
        let ([lower, upper], [of_boxes, until]) = (of(whole), of(in_boxes));
        assert!(lower <= until && of_boxes <= upper, "{at}");
        match verdict {
            Verdict::Separated => assert!(upper - lower <= 1e-12 * upper, "{at}"),
            Verdict::Touching => assert_eq!([lower, upper], [0.0; 2]),
            _ => assert!(lower < 0.0 && upper <= 0.0),
        }
        seen[*verdict as usize - 1] += 1;
    }
    assert_eq!(
        verdicts[200..],
        [Verdict::Separated, Verdict::Touching, Verdict::Touching, Verdict::Overlapping]
    );
    assert!(seen[0] > 40 && seen[1] == 2 && seen[2] > 40, "{seen:?}");
}

#[tokio::test]
async fn a_mesh_of_a_link_is_a_polyhedron_where_the_registration_says_so() {
    let server = with_boxes().await;
    let mut client = robots(&server);
    let known = register(&server, keep("again", channel())).await.unwrap().polytope.unwrap();
    let mut told = Vec::new();
    for (source, treatment) in [
        (content(&channel()), api::MeshTreatment::Polyhedron),
        (Source::Id(known.id.clone()), api::MeshTreatment::Unspecified),
        (content(&channel()), api::MeshTreatment::Hull),
        (content(&channel()), api::MeshTreatment::Unspecified),
    ] {
        let robot = registered(&server, with_mesh(source, treatment)).await.unwrap();
        let asked = ask(
            &cell(&robot, &["peg"]),
            api::CheckMode::FirstPair,
            &[
                // The peg, from 0 to a half, is in the slot, and in the floor.
                -1.25, -2.0, 0.0, 0.0, -1.25, -0.5, 0.0, 0.0,
            ],
        );
        let answer = client.check_configurations(asked).await.unwrap().into_inner();
        told.push((robot, verdicts(&answer)));
    }
    let [as_it_is, by_id, hull, unspecified] = &told[..] else { panic!("four robots") };
    for (robot, verdicts) in [as_it_is, by_id, unspecified] {
        assert_eq!(*verdicts, [Verdict::Separated, Verdict::Overlapping]);
        let part = &robot.parts[0];
        assert_eq!((part.polytope_id.as_str(), part.mesh.as_str()), (&*known.id, &MESH[16..33]));
        assert_eq!((part.gap, part.gap_lower, part.convex), (Some(0.0), Some(0.0), None));
        assert_eq!(robot.notes.is_empty(), robot.id != unspecified.0.id);
    }
    let note = "link \"hand\": the mesh \"package://r/u.obj\" is not convex and is taken as it is, \
                the region that it bounds; its hull would stand out by ";
    assert!(unspecified.0.notes[0].starts_with(note), "{:?}", unspecified.0.notes);
    assert_eq!((as_it_is.0.parts[0].closed, by_id.0.parts[0].closed), (Some(true), None));
    assert_eq!(hull.1, [Verdict::Overlapping; 2]);
    assert!(hull.0.parts[0].polytope_id.starts_with("p1-") && hull.0.notes.len() == 1);
    let ids = [&as_it_is.0.id, &by_id.0.id, &hull.0.id];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
}

#[tokio::test]
async fn a_mesh_of_a_link_in_pieces_leaves_its_slot_free() {
    let server = with_boxes().await;
    let mut client = robots(&server);
    let request = with_mesh(content(&channel()), api::MeshTreatment::Decompose);
    let robot = registered(&server, request.clone()).await.unwrap();
    // Both walls and the floor.
    assert_eq!(robot.parts.len(), 3);
    for part in &robot.parts {
        assert!(part.polytope_id.starts_with("p1-") && part.mesh == MESH[16..33]);
        assert!(part.gap_lower() <= part.gap() && part.gap() < 0.06, "{part:?}");
        assert_eq!((part.closed, part.convex), (None, None));
    }
    let note = "link \"hand\": the mesh \"package://r/u.obj\" is not convex; 3 convex pieces that \
                hold it stand for it, and stand out by ";
    assert!(robot.notes[0].starts_with(note), "{:?}", robot.notes);
    // In the slot, and in the floor.
    let values = [-1.25, -2.0, 0.0, 0.0, -1.25, -0.5, 0.0, 0.0];
    let asked = ask(&cell(&robot, &["peg"]), api::CheckMode::FirstPair, &values);
    let answer = client.check_configurations(asked).await.unwrap().into_inner();
    assert_eq!(verdicts(&answer), [Verdict::Separated, Verdict::Overlapping]);
    let again = registered(&server, request).await.unwrap();
    assert_eq!(again, robot);
}

#[tokio::test]
async fn what_is_not_answered_of_meshes_of_robots_is_refused_with_its_field() {
    let server = with_boxes().await;
    let mut client = robots(&server);
    let mut open = channel();
    open.triangles.truncate(open.triangles.len() - 3);
    let request = with_mesh(content(&open), api::MeshTreatment::Polyhedron);
    let status = registered(&server, request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "NOT_A_POLYHEDRON", "meshes[0]");
    let said = "meshes[0]: the mesh bounds no polyhedron: \"package://r/u.obj\" of link \"hand\": \
                the mesh is open at the edge from";
    assert!(status.message().starts_with(said), "{}", status.message());

    let mut request = with_mesh(content(&channel()), api::MeshTreatment::Hull);
    request.mesh_treatment = 99;
    let status = registered(&server, request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "mesh_treatment");

    let request = with_mesh(content(&channel()), api::MeshTreatment::Polyhedron);
    let robot = registered(&server, request).await.unwrap();
    let mut flat = cell(&robot, &["peg"]);
    let plate = api::Points { xyz: vec![0., 0., 0., 1., 0., 0., 0., 1., 0.] };
    flat.obstacles.push(api::RobotObstacle {
        shape: Some(Shape::Vertices(plate)),
        pose: None,
        ..Default::default()
    });
    let asked = ask(&flat, api::CheckMode::FirstPair, &[0.0; 4]);
    let status = client.check_configurations(asked).await.unwrap_err();
    check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", "cell.obstacles[1]");

    // In sessions the links are what they are in cells, and so is what is not answered.
    let arm = api::SessionRobot { id: Some(1), robot_id: robot.id.clone(), ..Default::default() };
    let state = Some(api::SessionState { robots: vec![arm], ..Default::default() });
    let report = Some(api::ReportOptions { contact_polygons: true, ..Default::default() });
    let request = api::OpenSessionRequest { state, report, ..Default::default() };
    let status = server.sessions().open_session(request).await.unwrap_err();
    check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", "report.contact_polygons");
}

/// The slot is one wide, and the peg a half.
#[tokio::test]
async fn edges_through_a_slot_are_free_and_all_of_it_is_certified() {
    let server = with_boxes().await;
    let mut client = robots(&server);
    let request = api::RegisterRobotRequest { urdf: hand(PEG), ..Default::default() };
    let robot = registered(&server, request).await.unwrap();
    let [out, above, low, beside] =
        [[1.5, 5.0, 0.5, 0.0], [1.5, 3.5, 0.5, 0.0], [1.5, 1.0, 0.5, 0.0], [1.5, 2.0, 0.5, 0.5]];
    let edges = [[out, above], [above, beside], [out, low]];
    let [starts, ends] = [0, 1].map(|end| edges.map(|edge| edge[end]).concat());
    let request = |cell, margin| api::CheckEdgesRequest {
        cell: Some(cell),
        starts: starts.clone(),
        ends: ends.clone(),
        margin,
        certificate: true,
        ..Default::default()
    };
    let claim = |question: &api::CheckEdgesRequest, answer: &api::CheckEdgesResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        api::verify_certificate_request::Claim::Edges(api::EdgesClaim { question, answer })
    };
    for margin in [0.0, 0.125] {
        let question = request(cell(&robot, &["channel"]), margin);
        let answer = client.check_edges(question.clone()).await.unwrap().into_inner();
        let outcomes: Vec<Outcome> = answer.outcomes().collect();
        assert_eq!(outcomes, [Outcome::NoContact, Outcome::NoContact, Outcome::Contact]);
        // From 5 down to 1.25 and the margin, of 4.
        let until = (3.75 - margin) / 4.0;
        assert!(answer.free_until[2] < until && answer.contact_at[0] >= until);
        assert_eq!(verify(&server, claim(&question, &answer)).await, Ok(()));
        let in_boxes = request(cell(&robot, &["floor", "left", "right"]), margin);
        let shown = client.check_edges(in_boxes).await.unwrap().into_inner();
        assert_eq!(shown.outcomes, answer.outcomes);

        let pieces = answer.certificates[1].pieces.iter();
        let with_cover = pieces.enumerate().find(|(_, piece)| !piece.covers.is_empty());
        let (at, _) = with_cover.expect("the hull is in the way");
        let mut changed = answer.clone();
        changed.certificates[1].pieces[at].covers.clear();
        let refusal = verify(&server, claim(&question, &changed)).await.unwrap_err();
        let said =
            format!("edge 1: piece {at}: the gap of the bodies [0, 1]: the direction is zero");
        assert!(refusal.starts_with(&said), "{refusal}");
        let mut changed = answer.clone();
        changed.certificates[1].pieces[at].covers[0].steps.pop();
        let refusal = verify(&server, claim(&question, &changed)).await.unwrap_err();
        assert!(refusal.contains("the cover is not one of all pairs of faces"), "{refusal}");
    }
    // A contact of the hull of the channel is none of the channel.
    let question = request(cell(&robot, &["channel"]), 0.0);
    let hull = api::RobotObstacle {
        shape: Some(Shape::Vertices(channel().vertices.unwrap())),
        pose: None,
        ..Default::default()
    };
    let mut of_hull = question.clone();
    of_hull.cell.as_mut().unwrap().obstacles = vec![hull];
    (of_hull.starts, of_hull.ends) = (above.to_vec(), low.to_vec());
    let answer = client.check_edges(of_hull.clone()).await.unwrap().into_inner();
    assert_eq!(verify(&server, claim(&of_hull, &answer)).await, Ok(()));
    let forged = api::CheckEdgesRequest { cell: question.cell.clone(), ..of_hull };
    let refusal = verify(&server, claim(&forged, &answer)).await.unwrap_err();
    assert!(refusal.contains("contact of a hull is none of a mesh"), "{refusal}");
}

/// A channel that is nothing but its sides, and links that are.
#[tokio::test]
async fn surfaces_are_obstacles_and_links_and_edges_among_them_are_certified() {
    let server = with_boxes().await;
    let mut client = robots(&server);
    let sides = |alias: &str| api::PolytopeSpec {
        treatment: api::MeshTreatment::Surface.into(),
        ..keep(alias, channel())
    };
    let known = register(&server, sides("sides")).await.unwrap().polytope.unwrap();
    let request = api::RegisterRobotRequest { urdf: hand(PEG), ..Default::default() };
    let peg = registered(&server, request).await.unwrap();
    // In the slot, on a side, through a side, and within the material, which is not there.
    let values = [[1.5, 2.0, 0.5], [1.25, 2.0, 0.5], [1.125, 2.0, 0.5], [0.5, 2.0, 0.5]].concat();
    let values: Vec<f64> = values.chunks(3).flat_map(|at| [at, &[0.0]].concat()).collect();
    let expected =
        [Verdict::Separated, Verdict::Touching, Verdict::Overlapping, Verdict::Separated];
    for mode in [api::CheckMode::AllPairs, api::CheckMode::Clearance] {
        let asked = ask(&cell(&peg, &["sides"]), mode, &values);
        let answer = client.check_configurations(asked).await.unwrap().into_inner();
        assert_eq!(verdicts(&answer), expected);
    }
    let mut open = channel();
    open.triangles.truncate(open.triangles.len() - 3);
    let mut links = Vec::new();
    for (source, treatment) in [
        (content(&channel()), api::MeshTreatment::Surface),
        (Source::Id(known.id.clone()), api::MeshTreatment::Unspecified),
        (content(&open), api::MeshTreatment::Unspecified),
    ] {
        links.push(registered(&server, with_mesh(source, treatment)).await.unwrap());
    }
    for robot in &links {
        let part = &robot.parts[0];
        assert!(part.polytope_id.starts_with("s1-"), "{}", part.polytope_id);
        assert_eq!((part.gap, part.closed, part.convex), (Some(0.0), None, None));
    }
    assert!(links[0].parts[0].polytope_id == known.id && links[0].notes.is_empty());
    let said = "bounds no region (the mesh is open at the edge";
    assert!(links[2].notes[0].contains(said), "{:?}", links[2].notes);
    for (robot, obstacle) in [(&peg, "sides"), (&links[0], "peg"), (&links[2], "channel")] {
        let question = api::CheckEdgesRequest {
            cell: Some(cell(robot, &[obstacle])),
            starts: [[1.5, 3.5, 0.5, 0.0], [-1.25, -2.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]].concat(),
            ends: [[1.5, 1.5, 0.5, 0.5], [-1.25, -0.5, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0]].concat(),
            certificate: true,
            ..Default::default()
        };
        let answer = client.check_edges(question.clone()).await.unwrap().into_inner();
        assert!(answer.outcomes().all(|outcome| outcome != Outcome::Undecided));
        assert!(
            answer.certificates.iter().all(|one| one.contact.is_some() || !one.pieces.is_empty())
        );
        let claim = |answer: &api::CheckEdgesResponse| {
            let (question, answer) = (Some(question.clone()), Some(answer.clone()));
            api::verify_certificate_request::Claim::Edges(api::EdgesClaim { question, answer })
        };
        assert_eq!(verify(&server, claim(&answer)).await, Ok(()));
    }
}
