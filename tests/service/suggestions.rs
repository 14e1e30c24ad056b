//! Pairs of links that samples suggest to leave out, as counts and as an SRDF.

use std::fmt::Write;

use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::Code;

use crate::robots::{SLIDER, robots};
use crate::server::{Server, check, soon};
use crate::session_robots::register;

/// A base, an arm whose boxes overlap those of the base and of the wrist in every configuration, a
/// wrist whose box reaches the base whatever the joints do, and a tip that meets nothing.
fn arm() -> String {
    let mut urdf = "<robot name='a &amp; b'>".to_owned();
    let links = [("base", 1.0, 0.0), ("upper", 0.2, 0.1), ("wrist", 1.2, 0.1), ("tip", 0.05, 0.0)];
    for (name, size, x) in links {
        // Writing to a text cannot fail.
        let _ = write!(
            urdf,
            "<link name='{name}&quot;'><collision><origin xyz='{x} 0 0'/><geometry>\
             <box size='{size} {size} {size}'/></geometry></collision></link>"
        );
    }
    for (at, [parent, child]) in
        [["base", "upper"], ["upper", "wrist"], ["wrist", "tip"]].iter().enumerate()
    {
        let (x, limit) = ([0.3, 0.3, 5.0][at], [0.1, 3.0, 0.1][at]);
        let _ = write!(
            urdf,
            "<joint name='j{at}' type='revolute'><parent link='{parent}&quot;'/>\
             <child link='{child}&quot;'/><origin xyz='{x} 0 0'/><axis xyz='0 0 1'/>\
             <limit lower='-{limit}' upper='{limit}' velocity='1'/></joint>"
        );
    }
    urdf.push_str("</robot>");
    urdf
}

fn of(urdf: &str, srdf: &str) -> api::RegisterRobotRequest {
    let (urdf, srdf) = (urdf.to_owned(), srdf.to_owned());
    api::RegisterRobotRequest { urdf, srdf, ..Default::default() }
}

async fn suggest(
    server: &Server,
    request: api::SuggestAllowedPairsRequest,
) -> api::SuggestAllowedPairsResponse {
    soon(robots(server).suggest_allowed_pairs(request)).await.unwrap().into_inner()
}

fn about(robot: &api::Robot, samples: u32, seed: u64) -> api::SuggestAllowedPairsRequest {
    let robot_id = robot.id.clone();
    api::SuggestAllowedPairsRequest { robot_id, samples, seed, ..Default::default() }
}

/// How many of some configurations of a robot alone are free.
async fn free(server: &Server, robot: &api::Robot) -> usize {
    let instance = api::RobotInstance { robot_id: robot.id.clone(), ..Default::default() };
    let values: Vec<f64> =
        (0..100).flat_map(|k| [0.0, f64::from(k % 60) / 20.0 - 1.5, 0.0]).collect();
    let asked = api::CheckConfigurationsRequest {
        cell: Some(api::RobotCell { robots: vec![instance], ..Default::default() }),
        values,
        ..Default::default()
    };
    let answer = robots(server).check_configurations(asked).await.unwrap().into_inner();
    answer.verdicts().filter(|verdict| *verdict == api::Verdict::Separated).count()
}

/// Of a link's neighbour beyond the next one, which it overlaps for ever, a robot without an SRDF
/// was never free, and nobody said which pair to leave out.
#[tokio::test]
async fn a_robot_that_is_never_free_is_free_with_the_srdf_that_samples_suggest() {
    let server = Server::start().await;
    let urdf = arm();
    let robot = register(&server, of(&urdf, "")).await;
    assert_eq!(free(&server, &robot).await, 0);
    let answer = suggest(&server, about(&robot, 200, 7)).await;
    let told = |pair: &api::SampledLinkPair| {
        (pair.first, pair.second, pair.in_contact, pair.allowed(), pair.suggested)
    };
    use api::AllowedPairReason::{Adjacent, Unspecified};
    let expected = [
        (0, 1, 200, Adjacent, true),
        (0, 2, 200, Unspecified, true),
        (0, 3, 0, Unspecified, false),
        (1, 2, 200, Adjacent, true),
        (1, 3, 0, Unspecified, false),
        (2, 3, 0, Adjacent, true),
    ];
    assert_eq!(answer.pairs.iter().map(told).collect::<Vec<_>>(), expected);
    let again = register(&server, of(&urdf, &answer.srdf)).await;
    assert_eq!(free(&server, &again).await, 100, "{}", answer.srdf);
    let always: Vec<_> = again.allowed_pairs.iter().filter(|pair| pair.text == "Always").collect();
    let [always] = always[..] else { panic!("{:?}", again.allowed_pairs) };
    assert_eq!((always.first, always.second), (0, 2));
    // With what is never in contact nothing is left to check, until it is asked.
    let never = api::SuggestAllowedPairsRequest { with_never: true, ..about(&robot, 200, 7) };
    let never = suggest(&server, never).await;
    assert!(never.pairs.iter().all(|pair| pair.suggested), "{never:?}");
    assert_eq!(never.srdf.matches("reason=\"Never\"").count(), 2, "{}", never.srdf);
    // Given back, the pairs of the SRDF are those of the robot, and are told as such.
    let kept = suggest(&server, about(&again, 10, 1)).await;
    assert_eq!(kept.srdf, answer.srdf);
    let reasons = kept.pairs.iter().filter(|pair| pair.allowed() == api::AllowedPairReason::Srdf);
    assert_eq!(reasons.count(), 4);
}

/// A ball that turns about itself stays as far away as it is, whatever is sampled.
#[tokio::test]
async fn pairs_that_no_value_changes_are_constant_and_those_of_the_srdf_stay_in_it() {
    let server = Server::start().await;
    let urdf = r#"<robot name="r"><link name="a"><collision><geometry>
      <sphere radius="1"/></geometry></collision></link><link name="b"/><link name="c"><collision>
      <geometry><sphere radius="1"/></geometry></collision></link><link name="d"><collision>
      <origin xyz="4 9 0"/><geometry>
      <sphere radius="1"/></geometry></collision></link>
      <joint name="x" type="continuous"><parent link="a"/><child link="b"/>
      <origin xyz="3 0 0"/><axis xyz="1 0 0"/></joint>
      <joint name="y" type="continuous"><parent link="b"/><child link="c"/>
      <axis xyz="0 1 0"/></joint>
      <joint name="z" type="continuous"><parent link="c"/><child link="d"/>
      <origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>
      </robot>"#;
    let srdf = r#"<robot name="r">
      <disable_collisions link1="d" link2="a" reason="User &lt;me&gt;"/></robot>"#;
    let robot = register(&server, of(urdf, srdf)).await;
    let answer = suggest(&server, about(&robot, 50, 1)).await;
    let told: Vec<_> = answer
        .pairs
        .iter()
        .map(|pair| (pair.first, pair.second, pair.allowed(), pair.constant, pair.suggested))
        .collect();
    use api::AllowedPairReason::{Adjacent, Srdf, Unspecified};
    let expected =
        [(0, 2, Unspecified, true, true), (0, 3, Srdf, false, true), (2, 3, Adjacent, false, true)];
    assert_eq!(told, expected);
    assert!(answer.srdf.contains(r#"link1="a" link2="d" reason="User &lt;me&gt;""#), "{answer:?}");
    assert!(answer.srdf.contains(r#"link1="a" link2="c" reason="Never""#), "{answer:?}");
}

/// What is sampled depends on the seed alone, not on who looks at it or on how many there are.
#[tokio::test]
async fn samples_are_those_of_the_seed_and_of_nothing_else() {
    let mut told: Vec<api::SuggestAllowedPairsResponse> = Vec::new();
    for _ in 0..2 {
        let server = Server::start().await;
        let robot = register(&server, crate::robots::panda()).await;
        let twice = [
            suggest(&server, about(&robot, 0, 5)).await,
            suggest(&server, about(&robot, 0, 5)).await,
            suggest(&server, about(&robot, 0, 6)).await,
        ];
        told.extend(twice.map(|one| api::SuggestAllowedPairsResponse { cost: None, ..one }));
    }
    assert!(told.iter().all(|one| one.samples == 1_000));
    assert!(told.iter().flat_map(|one| &one.pairs).all(|pair| pair.undecided == 0));
    for other in [1, 3, 4] {
        assert_eq!(told[other], told[0]);
    }
    assert_eq!(told[5], told[2]);
    assert_ne!(told[2].pairs, told[0].pairs);
}

#[tokio::test]
async fn what_cannot_be_sampled_is_refused_with_its_field() {
    let limits = Limits { configurations_max: 2_000, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let robot = register(&server, of(SLIDER, "")).await;
    let still = "<robot name='r'><link name='a'/></robot>";
    let still = register(&server, of(still, "")).await;
    let nobody = api::Robot { id: "r2-0".to_owned(), ..Default::default() };
    let cases = [
        (about(&robot, 2_001, 0), Code::InvalidArgument, "LIMIT_EXCEEDED", "samples"),
        (about(&nobody, 1, 0), Code::NotFound, "UNKNOWN_ROBOT", "robot_id"),
        (about(&still, 1, 0), Code::InvalidArgument, "BAD_FIELD", "robot_id"),
    ];
    for (request, code, reason, field) in cases {
        let status = robots(&server).suggest_allowed_pairs(request).await.unwrap_err();
        check(&status, code, reason, field);
    }
    let urdf = arm();
    let robot = register(&server, of(&urdf, "")).await;
    let small = api::SuggestAllowedPairsRequest { reply_bytes_max: 8, ..about(&robot, 9, 0) };
    let status = robots(&server).suggest_allowed_pairs(small).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "reply_bytes_max");
}
