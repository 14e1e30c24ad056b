//! Certificates of edges in cells with rules: which pairs they cover is told and judged.

use std::collections::BTreeMap;

use api::cell_body::Body as Named;
use api::robot_obstacle::Shape;
use clearance_proto as api;
use clearance_proto::query_service_client::QueryServiceClient;
use clearance_runtime::settings::Limits;
use tonic::{Code, Status};

use crate::cell_rules::{SCOPES, TwoWays};
use crate::robots::{check as configurations, robots, slider};
use crate::server::{Server, check, vector};

async fn asked(server: &Server, request: &api::CheckEdgesRequest) -> api::CheckEdgesResponse {
    robots(server).check_edges(request.clone()).await.unwrap().into_inner()
}

/// The refusal of what is claimed; empty: it is valid.
async fn judged(
    server: &Server,
    question: &api::CheckEdgesRequest,
    answer: &api::CheckEdgesResponse,
) -> Result<String, Status> {
    let (question, answer) = (Some(question.clone()), Some(answer.clone()));
    let claim = api::EdgesClaim { question, answer };
    let claim = Some(api::verify_certificate_request::Claim::Edges(claim));
    let mut queries = QueryServiceClient::new(server.channel.clone());
    let request = api::VerifyCertificateRequest { claim };
    let reply = queries.verify_certificate(request).await?.into_inner();
    assert_eq!(reply.valid, reply.refusal.is_empty());
    Ok(reply.refusal)
}

/// What is left out: by pair of bodies, the rule.
fn left_out(answer: &api::CheckEdgesResponse) -> BTreeMap<[u32; 2], api::LeftOutRule> {
    let told = answer.coverage.as_ref().expect("it says what is covered");
    let pairs = told.firsts.iter().zip(&told.seconds).map(|(a, b)| [*a, *b]);
    pairs.zip(told.rules()).collect()
}

/// Edges of the arm that carries a tool, a tenth of the way to another configuration.
fn edges_of(two: &TwoWays, scope: api::PairScope) -> api::CheckEdgesRequest {
    let near = |(a, b): (&f64, &f64)| 0.9 * a + 0.1 * b;
    let starts = two.values[..160].to_vec();
    api::CheckEdgesRequest {
        cell: Some(two.cell.clone()),
        ends: starts.iter().zip(&two.values[160..]).map(near).collect(),
        starts,
        certificate: true,
        pair_scope: scope.into(),
        ..Default::default()
    }
}

/// The number of the first part of a link.
fn part_of(two: &TwoWays, link: &str) -> u32 {
    let links = &two.robot.links;
    let index = links.iter().position(|one| one.name == link).unwrap() as u32;
    two.robot.parts.iter().position(|part| part.link == index).unwrap() as u32
}

#[tokio::test]
async fn certificates_in_a_cell_with_rules_are_accepted_and_say_what_rules_leave_out() {
    let two = TwoWays::start().await;
    let (server, parts) = (&two.server, two.robot.parts.len() as u32);
    let (tool, first_box) = (parts, parts + 1);
    let mut covered = Vec::new();
    for scope in SCOPES {
        let question = edges_of(&two, scope);
        let answer = asked(server, &question).await;
        assert!(answer.certificates.iter().any(|one| !one.pieces.is_empty()));
        assert!(answer.certificates.iter().any(|one| one.contact.is_some()), "{scope:?}");
        assert_eq!(judged(server, &question, &answer).await.unwrap(), "", "{scope:?}");
        let told = answer.coverage.as_ref().unwrap();
        assert_eq!(told.pair_scope(), scope);
        let known = left_out(&answer);
        assert!(told.firsts.is_sorted() && known.len() == told.rules.len());
        let of_links = |told| (scope != api::PairScope::World).then_some(told);
        let of_world = |told| (scope != api::PairScope::Self_).then_some(told);
        let rule = |a: u32, b: u32| known.get(&[a.min(b), a.max(b)]).copied();
        let part = |link: &str| part_of(&two, link);
        assert_eq!(
            rule(part("panda_link3"), part("panda_link4")),
            of_links(api::LeftOutRule::Srdf)
        );
        assert_eq!(rule(part("panda_hand"), tool), None, "no joint moves the two");
        assert_eq!(rule(part("panda_leftfinger"), tool), of_links(api::LeftOutRule::Carried));
        assert_eq!(rule(tool, first_box + 5), of_world(api::LeftOutRule::Ignored));
        assert_eq!(rule(tool, first_box + 4), None);
        assert_eq!(rule(part("panda_link5"), first_box + 2), of_world(api::LeftOutRule::Ignored));
        covered.push(told.covered);
    }
    assert_eq!(covered[0], covered[1] + covered[2]);
}

#[tokio::test]
async fn what_is_said_to_be_covered_is_judged() {
    let two = TwoWays::start().await;
    let question = edges_of(&two, api::PairScope::Unspecified);
    let answer = asked(&two.server, &question).await;
    let refused = async |change: &dyn Fn(&mut api::PairCoverage)| {
        let mut changed = answer.clone();
        change(changed.coverage.as_mut().unwrap());
        judged(&two.server, &question, &changed).await
    };
    let drop_last = |told: &mut api::PairCoverage| {
        told.firsts.pop();
        told.seconds.pop();
        told.rules.pop();
    };
    let fewer = refused(&drop_last).await.unwrap();
    assert!(fewer.contains("is left out, and it is not said"), "{fewer}");
    let counted = refused(&|told| told.covered += 1).await.unwrap();
    assert!(counted.starts_with("the pairs that are covered:"), "{counted}");
    let other = refused(&|told| told.rules[0] = api::LeftOutRule::Ignored.into()).await.unwrap();
    assert!(other.contains("by another rule"), "{other}");
    let more = refused(&|told| {
        let last = [told.firsts.len() - 1; 2];
        told.firsts.push(told.firsts[last[0]]);
        told.seconds.push(told.seconds[last[1]] + 1);
        told.rules.push(api::LeftOutRule::Ignored.into());
    });
    assert!(more.await.unwrap().contains("is said to be left out"));
    let path = |field: &str| format!("edges.answer.coverage{field}");
    for (change, field) in [
        (&(|told: &mut api::PairCoverage| told.rules[0] = 0) as &dyn Fn(&mut _), ".rules[0]"),
        (&|told: &mut api::PairCoverage| told.rules[0] = 99, ".rules[0]"),
        (&|told: &mut api::PairCoverage| told.seconds.truncate(1), ".seconds"),
        (&|told: &mut api::PairCoverage| told.pair_scope = 1, ".pair_scope"),
    ] {
        let status = refused(change).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", &path(field));
    }
    let without = api::CheckEdgesResponse { coverage: None, ..answer.clone() };
    let status = judged(&two.server, &question, &without).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", &path(""));
    // A certificate of a cell that ignores a pair is none of one that does not.
    let mut stricter = question.clone();
    stricter.cell.as_mut().unwrap().ignored_pairs.clear();
    let mut told = asked(&two.server, &stricter).await;
    told.coverage.clone_from(&answer.coverage);
    assert_ne!(judged(&two.server, &stricter, &told).await.unwrap(), "");
}

fn boxed(size: f64, x: f64) -> api::RobotObstacle {
    let pose = Some(api::Pose { translation: vector(x, 0.0, 0.0), orientation: None });
    let shape = Some(Shape::Box(vector(size, size, size).unwrap()));
    api::RobotObstacle { shape, pose, ..Default::default() }
}

/// The cart is a cube of 1 around its value and carries one of 0.5 in front; the wall begins at
/// 2.5. With paddings of 0.25 each an edge ends at 1.0.
#[tokio::test]
async fn paddings_are_kept_all_along_and_a_certificate_with_less_is_refused() {
    let server = Server::start().await;
    let mut cell = slider(&server).await;
    let mut body = boxed(0.5, 0.75);
    body.padding = 0.25;
    cell.obstacles[0].padding = 0.25;
    let link = "cart".to_owned();
    let carried = api::CarriedBody { link, body: Some(body), touch_links: vec![] };
    cell.robots[0].attached.push(carried);
    let question = |cell: &api::RobotCell, ends: Vec<f64>| api::CheckEdgesRequest {
        cell: Some(cell.clone()),
        starts: vec![-4.0; ends.len()],
        ends,
        certificate: true,
        ..Default::default()
    };
    let padded = question(&cell, vec![0.9, 1.1, 1.6]);
    let answer = asked(&server, &padded).await;
    let outcomes: Vec<_> = answer.outcomes().collect();
    let contact = api::Outcome::Contact;
    assert_eq!(outcomes, [api::Outcome::NoContact, contact, contact]);
    assert_eq!(judged(&server, &padded, &answer).await.unwrap(), "");
    // Shown with paddings, it holds without; and not the other way round.
    let mut plain = cell.clone();
    plain.obstacles[0].padding = 0.0;
    plain.robots[0].attached[0].body.as_mut().unwrap().padding = 0.0;
    let plain = question(&plain, vec![0.9, 1.1, 1.4]);
    let without = asked(&server, &plain).await;
    assert!(without.outcomes().all(|one| one == api::Outcome::NoContact), "{without:?}");
    assert_eq!(judged(&server, &plain, &without).await.unwrap(), "");
    let strict = question(&cell, vec![0.9, 1.1, 1.4]);
    let refusal = judged(&server, &strict, &without).await.unwrap();
    assert!(refusal.ends_with("nothing shows that the bodies [1, 2] stay apart"), "{refusal}");
    // Of a path as well, and of a scope that leaves the wall out.
    let path = api::CheckPathRequest {
        cell: Some(cell.clone()),
        waypoints: vec![-4.0, -2.0, 0.5],
        certificate: true,
        ..Default::default()
    };
    let told = robots(&server).check_path(path).await.unwrap().into_inner().edges.unwrap();
    assert_eq!(told.coverage, answer.coverage);
    let scope = api::PairScope::Self_.into();
    let own = api::CheckEdgesRequest { pair_scope: scope, ..question(&cell, vec![2.0]) };
    let told = asked(&server, &own).await;
    assert_eq!(told.outcomes().next(), Some(api::Outcome::NoContact));
    assert_eq!(judged(&server, &own, &told).await.unwrap(), "");
    cell.ignored_pairs.push(api::CellPair {
        first: Some(api::CellBody { robot: 0, body: Some(Named::AttachedIndex(0)) }),
        second: Some(api::CellBody { robot: 0, body: Some(Named::ObstacleIndex(0)) }),
    });
    let through = question(&cell, vec![1.6]);
    let told = asked(&server, &through).await;
    assert_eq!(left_out(&told)[&[1, 2]], api::LeftOutRule::Ignored);
    assert_eq!(judged(&server, &through, &told).await.unwrap(), "");
}

#[tokio::test]
async fn a_reply_that_does_not_take_what_is_left_out_is_refused_before_the_work() {
    let two = TwoWays::start().await;
    let question = edges_of(&two, api::PairScope::Unspecified);
    let short = api::CheckEdgesRequest { reply_bytes_max: 300, ..question };
    let status = robots(&two.server).check_edges(short).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
}

/// The cart is a cube of 1 around its value; both obstacles have a padding, and one of the two a
/// margin of its own with the cart, which holds in place of the sum.
#[tokio::test]
async fn the_margin_of_a_pair_holds_in_place_of_its_paddings() {
    let limits = Limits { rules_per_cell_max: 3, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let mut cell = slider(&server).await;
    cell.obstacles =
        [3.0, -3.0].map(|x| api::RobotObstacle { padding: 0.25, ..boxed(1.0, x) }).to_vec();
    let body = |body| Some(api::CellBody { robot: 0, body: Some(body) });
    let cart = || body(Named::Link("cart".to_owned()));
    let of = |second, margin| {
        let pair = api::CellPair { first: cart(), second };
        api::CellMargin { pair: Some(pair), margin }
    };
    let with =
        |margins: Vec<api::CellMargin>| api::RobotCell { pair_margins: margins, ..cell.clone() };
    let wide = with(vec![of(body(Named::ObstacleIndex(1)), 1.0)]);
    let none = with(vec![of(body(Named::ObstacleIndex(1)), 0.0)]);
    // A wall from 2.5 on, and one up to -2.5: both a quarter away, then the second so far.
    let values = [1.75, 1.7, -1.75, -1.7, -1.0, -0.9];
    for _ in 0..2 {
        for (cell, within) in [(&cell, vec![0, 2]), (&wide, vec![0, 2, 3, 4]), (&none, vec![0])] {
            let asked = configurations(cell, api::CheckMode::AllPairs, &values);
            let told = robots(&server).check_configurations(asked).await.unwrap().into_inner();
            assert_eq!(told.within_margin_indices, within);
        }
    }
    let question = api::CheckEdgesRequest {
        cell: Some(wide.clone()),
        starts: vec![0.0; 3],
        ends: vec![1.7, -0.9, -2.0],
        certificate: true,
        ..Default::default()
    };
    let answer = asked(&server, &question).await;
    assert!((answer.contact_at[0] - 0.5).abs() < 1e-5, "{answer:?}");
    assert_eq!(judged(&server, &question, &answer).await.unwrap(), "");
    let mut wider = question.clone();
    wider.cell.as_mut().unwrap().pair_margins[0].margin = 1.25;
    assert_ne!(judged(&server, &wider, &answer).await.unwrap(), "");

    let wall = || body(Named::ObstacleIndex(0));
    let two_ways = api::CellPair { first: wall(), second: cart() };
    let again = api::CellMargin { pair: Some(two_ways), margin: 0.5 };
    for (margins, reason, field) in [
        (vec![of(wall(), 0.5), again], "BAD_FIELD", "[1].pair"),
        (vec![of(wall(), f64::NAN)], "BAD_FIELD", "[0].margin"),
        (vec![api::CellMargin::default()], "BAD_FIELD", "[0].pair"),
        (vec![of(cart(), 0.0)], "BAD_FIELD", "[0].pair.second"),
        (
            vec![of(body(Named::ObstacleIndex(2)), 0.0)],
            "BAD_FIELD",
            "[0].pair.second.obstacle_index",
        ),
        (vec![of(wall(), 0.5); 4], "LIMIT_EXCEEDED", ""),
    ] {
        let asked = configurations(&with(margins), api::CheckMode::FirstPair, &[0.0]);
        let status = robots(&server).check_configurations(asked).await.unwrap_err();
        check(&status, Code::InvalidArgument, reason, &format!("cell.pair_margins{field}"));
    }
}
