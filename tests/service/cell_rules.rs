//! What a cell says of pairs: ignored ones, paddings and what links carry, beside a session that
//! says the same; which pairs are asked, all below a distance, where links are and how they move.

use std::collections::BTreeMap;

use api::cell_body::Body as Named;
use api::robot_obstacle::Shape;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::{Code, Status};

use crate::robots::{cell_of, check as configurations, panda, robots, slider};
use crate::server::{Server, check, vector};
use crate::session_robots::{open, placed, register, shares};
use crate::sessions::{cube_at, started};

const ARM: u32 = 100;
const TOOL: u32 = 50;
const BOXES: usize = 9;

type Answer = api::CheckConfigurationsResponse;

async fn told(server: &Server, asked: api::CheckConfigurationsRequest) -> Result<Answer, Status> {
    Ok(robots(server).check_configurations(asked).await?.into_inner())
}

fn link(name: &str) -> Option<api::CellBody> {
    Some(api::CellBody { robot: 0, body: Some(Named::Link(name.to_owned())) })
}

fn named(body: Named) -> Option<api::CellBody> {
    Some(api::CellBody { robot: 0, body: Some(body) })
}

fn pair(first: Option<api::CellBody>, second: Option<api::CellBody>) -> api::CellPair {
    api::CellPair { first, second }
}

fn at(x: f64, y: f64, z: f64) -> Option<api::Pose> {
    Some(api::Pose { translation: vector(x, y, z), orientation: None })
}

/// A Panda with a tool among nine boxes, with rules: as a cell, as a session, and the
/// configurations that are asked about.
pub(crate) struct TwoWays {
    pub(crate) server: Server,
    pub(crate) robot: api::Robot,
    pub(crate) cell: api::RobotCell,
    pub(crate) scene: api::RobotScene,
    pub(crate) values: Vec<f64>,
}

impl TwoWays {
    pub(crate) async fn start() -> Self {
        let server = started().await;
        let robot = register(&server, panda()).await;
        let share = shares(40 * 8 + 40);
        let place = |k: usize| {
            let of = |axis: usize| share[320 + 3 * k + axis];
            let side = if of(0) < 0.5 { -1.0 } else { 1.0 };
            at(side * (0.4 + 0.3 * of(0)), of(1) - 0.5, of(2))
        };
        let corner = |k: i32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.1 } else { -0.1 });
        let points = || api::Points { xyz: (0..8).flat_map(corner).collect() };
        let margin = |k: usize| if k.is_multiple_of(2) { 0.05 } else { 0.0 };
        let paddings = vec![api::LinkPadding { link: "panda_link5".to_owned(), padding: 0.03 }];
        let fingers = ["panda_leftfinger", "panda_rightfinger"].map(str::to_owned).to_vec();
        let hand = "panda_hand".to_owned();

        let part = || {
            let source = Some(api::placed_body::Source::Vertices(points()));
            api::PlacedBody { source, pose: None }
        };
        let still = |k: usize| api::Body {
            id: Some(1 + k as u32),
            parts: vec![part()],
            pose: place(k),
            fixed: true,
            margin: margin(k),
            ..Default::default()
        };
        let tool =
            api::Body { id: Some(TOOL), parts: vec![part()], margin: 0.02, ..Default::default() };
        let hung = api::AttachedBody {
            body_id: Some(TOOL),
            link: hand.clone(),
            pose: at(0.0, 0.0, 0.17),
            touch_links: fingers.clone(),
            ..Default::default()
        };
        let arm = api::SessionRobot {
            attached: vec![hung],
            paddings: paddings.clone(),
            ..placed(ARM, &robot)
        };
        let rules = api::PairRules {
            ignored_pairs: vec![
                api::BodyPair { a: Some(3), b: Some(ARM + 5) },
                api::BodyPair { a: Some(ARM + 7), b: Some(ARM + 1) },
                api::BodyPair { a: Some(TOOL), b: Some(6) },
            ],
            ..Default::default()
        };
        let state = api::SessionState {
            bodies: (0..BOXES).map(still).chain([tool]).collect(),
            robots: vec![arm],
            rules: Some(rules),
            ..Default::default()
        };
        server.sessions().open_session(open("s", state, false)).await.unwrap();

        let obstacle = |k: usize| api::RobotObstacle {
            shape: Some(Shape::Vertices(points())),
            pose: place(k),
            name: format!("box {k}"),
            padding: margin(k),
        };
        let tool = api::RobotObstacle {
            shape: Some(Shape::Vertices(points())),
            pose: at(0.0, 0.0, 0.17),
            name: "tool".to_owned(),
            padding: 0.02,
        };
        let carried = api::CarriedBody { link: hand, body: Some(tool), touch_links: fingers };
        let instance = api::RobotInstance {
            robot_id: robot.id.clone(),
            base: None,
            paddings,
            attached: vec![carried],
        };
        let cell = api::RobotCell {
            robots: vec![instance],
            obstacles: (0..BOXES).map(obstacle).collect(),
            ignored_pairs: vec![
                pair(named(Named::LinkIndex(5)), named(Named::ObstacleIndex(2))),
                pair(link("panda_link1"), link("panda_link7")),
                pair(
                    named(Named::Obstacle("box 5".to_owned())),
                    named(Named::Attached("tool".to_owned())),
                ),
            ],
            ..Default::default()
        };
        let (session_id, ids) = ("s".to_owned(), vec![ARM]);
        let scene = api::RobotScene { session_id, robots: ids, ..Default::default() };
        let limit = |k: usize| &robot.variables[k % 8];
        let value = |(k, share): (usize, &f64)| {
            limit(k).lower() + (limit(k).upper() - limit(k).lower()) * share
        };
        let values = share[..320].iter().enumerate().map(value).collect();
        Self { server, robot, cell, scene, values }
    }

    /// The id in the session of a body of the cell.
    fn id(&self, number: u32) -> u32 {
        let parts = self.robot.parts.len() as u32;
        match self.robot.parts.get(number as usize) {
            Some(part) => ARM + part.link,
            None if number == parts => TOOL,
            None => number - parts,
        }
    }

    /// The same question both ways.
    async fn ask(&self, asked: api::CheckConfigurationsRequest) -> [Answer; 2] {
        let values = self.values.clone();
        let asked = api::CheckConfigurationsRequest { values, ..asked };
        let cell = Some(self.cell.clone());
        let of_cell = api::CheckConfigurationsRequest { cell, ..asked.clone() };
        let of_scene = api::CheckConfigurationsRequest { scene: Some(self.scene.clone()), ..asked };
        [told(&self.server, of_cell).await.unwrap(), told(&self.server, of_scene).await.unwrap()]
    }

    /// The contacts of every configuration by ids, each with the worst verdict of its parts.
    fn contacts(&self, answer: &Answer, is_cell: bool) -> Vec<BTreeMap<(u32, u32), api::Verdict>> {
        let mut all = vec![BTreeMap::new(); answer.count as usize];
        for (k, verdict) in answer.contact_verdicts().enumerate() {
            let two = [answer.contact_firsts[k], answer.contact_seconds[k]];
            let [a, b] = if is_cell { two.map(|number| self.id(number)) } else { two };
            let map: &mut BTreeMap<_, _> = &mut all[answer.contact_indices[k] as usize];
            let known = map.entry((a, b)).or_insert(verdict);
            *known = (*known).max(verdict);
        }
        all
    }

    fn pairs(&self, firsts: &[u32], seconds: &[u32]) -> Vec<[u32; 2]> {
        let both = firsts.iter().zip(seconds);
        both.map(|(a, b)| [*a, *b].map(|number| self.id(number))).collect()
    }
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

pub(crate) const SCOPES: [api::PairScope; 3] =
    [api::PairScope::Unspecified, api::PairScope::World, api::PairScope::Self_];

#[tokio::test]
async fn a_cell_and_a_session_with_the_same_rules_give_the_same_answers_to_the_last_bit() {
    let two = TwoWays::start().await;
    let mut seen = [0; 4];
    for scope in SCOPES {
        let ask = |mode: api::CheckMode| api::CheckConfigurationsRequest {
            mode: mode.into(),
            pair_scope: scope.into(),
            with_gradient: true,
            ..Default::default()
        };
        let [cell, scene] = two.ask(ask(api::CheckMode::AllPairs)).await;
        let contacts = two.contacts(&cell, true);
        assert_eq!(contacts, two.contacts(&scene, false), "{scope:?}");
        assert_eq!(cell.verdicts, scene.verdicts);
        assert_eq!(cell.within_margin_indices, scene.within_margin_indices);
        for pairs in &contacts {
            let near = api::Verdict::Separated;
            seen[0] += usize::from(pairs.is_empty());
            seen[1] += pairs.values().filter(|verdict| **verdict == near).count();
            seen[2] += pairs.keys().filter(|(a, b)| *a == TOOL || *b == TOOL).count();
            // What is ignored is never told.
            for ignored in [(ARM + 5, 3), (ARM + 1, ARM + 7), (TOOL, 6), (ARM + 9, TOOL)] {
                assert!(!pairs.contains_key(&ignored), "{ignored:?}");
            }
        }
        for mode in [api::CheckMode::FirstPair, api::CheckMode::Clearance] {
            let [cell, scene] = two.ask(ask(mode)).await;
            assert_eq!(two.contacts(&cell, true), two.contacts(&scene, false));
            assert_eq!(cell.within_margin_indices, scene.within_margin_indices);
            assert_eq!(bits(&cell.clearance_lowers), bits(&scene.clearance_lowers));
            assert_eq!(bits(&cell.clearance_uppers), bits(&scene.clearance_uppers));
            assert_eq!(bits(&cell.gradients), bits(&scene.gradients));
            let named = two.pairs(&cell.clearance_firsts, &cell.clearance_seconds);
            let of_scene = scene.clearance_firsts.iter().zip(&scene.clearance_seconds);
            assert_eq!(named, of_scene.map(|(a, b)| [*a, *b]).collect::<Vec<_>>());
        }
        let below = api::CheckConfigurationsRequest {
            below: 0.08,
            with_link_poses: true,
            jacobian_links: vec![9, 3],
            ..ask(api::CheckMode::PairsBelow)
        };
        let [cell, scene] = two.ask(below).await;
        assert_eq!((cell.verdicts, cell.cut_indices), (scene.verdicts.clone(), vec![]));
        assert_eq!(bits(&cell.link_poses), bits(&scene.link_poses));
        assert_eq!(bits(&cell.jacobians), bits(&scene.jacobians));
        assert_eq!(cell.jacobians.len(), 40 * 2 * 48);
        assert_eq!(cell.link_poses.len(), 40 * 12 * two.robot.links.len());
        let mut of_bodies: BTreeMap<(u32, [u32; 2]), [f64; 2]> = BTreeMap::new();
        let named = two.pairs(&cell.clearance_firsts, &cell.clearance_seconds);
        for (k, pair) in named.into_iter().enumerate() {
            let bracket = [cell.clearance_lowers[k], cell.clearance_uppers[k]];
            let known = of_bodies.entry((cell.clearance_indices[k], pair)).or_insert(bracket);
            *known = [known[0].min(bracket[0]), known[1].min(bracket[1])];
        }
        let entries = (0..scene.clearance_indices.len()).map(|k| {
            let pair = [scene.clearance_firsts[k], scene.clearance_seconds[k]];
            let bracket = [scene.clearance_lowers[k], scene.clearance_uppers[k]];
            ((scene.clearance_indices[k], pair), bracket)
        });
        assert_eq!(of_bodies, entries.collect::<BTreeMap<_, _>>(), "{scope:?}");
        seen[3] += of_bodies.len();
    }
    assert!(seen[0] > 5 && seen[1] > 5 && seen[2] > 5 && seen[3] > 100, "{seen:?}");
}

#[tokio::test]
async fn edges_in_a_cell_and_in_a_session_with_the_same_rules_end_at_the_same_bit() {
    let two = TwoWays::start().await;
    let starts = two.values[..160].to_vec();
    let near = |(a, b): (&f64, &f64)| 0.9 * a + 0.1 * b;
    let ends: Vec<f64> = starts.iter().zip(&two.values[160..]).map(near).collect();
    for scope in SCOPES {
        let asked = api::CheckEdgesRequest {
            starts: starts.clone(),
            ends: ends.clone(),
            pair_scope: scope.into(),
            ..Default::default()
        };
        let of_cell = api::CheckEdgesRequest { cell: Some(two.cell.clone()), ..asked.clone() };
        let of_scene = api::CheckEdgesRequest { scene: Some(two.scene.clone()), ..asked };
        let mut client = robots(&two.server);
        let cell = client.check_edges(of_cell).await.unwrap().into_inner();
        let scene = client.check_edges(of_scene).await.unwrap().into_inner();
        assert_eq!(cell.outcomes, scene.outcomes, "{scope:?}");
        assert_eq!(bits(&cell.free_until), bits(&scene.free_until));
        assert_eq!(bits(&cell.contact_at), bits(&scene.contact_at));
        let named = two.pairs(&cell.near_firsts, &cell.near_seconds);
        let of_scene = scene.near_firsts.iter().zip(&scene.near_seconds);
        assert_eq!(named, of_scene.map(|(a, b)| [*a, *b]).collect::<Vec<_>>());
        let contact = i32::from(api::Outcome::Contact);
        assert!(scope != api::PairScope::Unspecified || cell.outcomes.contains(&contact));
    }
}

/// Each kind of pair alone, and no other.
#[tokio::test]
async fn pairs_of_the_world_and_of_the_robot_make_all_pairs() {
    let two = TwoWays::start().await;
    let mut found = Vec::new();
    for scope in SCOPES {
        let asked = api::CheckConfigurationsRequest {
            mode: api::CheckMode::AllPairs.into(),
            pair_scope: scope.into(),
            ..Default::default()
        };
        let [cell, _] = two.ask(asked).await;
        found.push(two.contacts(&cell, true));
    }
    let [all, world, own] = &found[..] else { panic!() };
    let is_still = |id: &u32| *id <= BOXES as u32;
    for ((all, world), own) in all.iter().zip(world).zip(own) {
        assert!(world.keys().all(|(_, b)| is_still(b)) && !own.keys().any(|(_, b)| is_still(b)));
        let both: BTreeMap<_, _> = world.iter().chain(own).map(|(k, v)| (*k, *v)).collect();
        assert_eq!(*all, both);
    }
    assert!(world.iter().any(|one| !one.is_empty()) && own.iter().any(|one| !one.is_empty()));
}

const ARM_OF_TWO: &str = r#"<robot name="two"><link name="base"/>
  <link name="upper"><collision><origin xyz="0.5 0 0"/><geometry><box size="1 0.2 0.2"/></geometry>
  </collision></link>
  <link name="lower"><collision><origin xyz="0.55 0 0"/><geometry><box size="1 0.2 0.2"/></geometry>
  </collision></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
  <axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
  <origin xyz="1.2 0 0"/><axis xyz="0 0 1"/></joint></robot>"#;

/// Folded by half a turn the lower arm lies in the upper one.
#[tokio::test]
async fn links_that_a_joint_joins_are_checked_if_that_is_asked_for() {
    let server = started().await;
    let cell = cell_of(&server, ARM_OF_TWO, vec![]).await;
    let joined = api::RobotCell { adjacent_links: true, ..cell.clone() };
    let values = [0.3, 0.0, 0.3, std::f64::consts::PI];
    let ask = async |cell: &api::RobotCell| {
        let asked = configurations(cell, api::CheckMode::AllPairs, &values);
        told(&server, asked).await.unwrap().contact_indices
    };
    assert_eq!(ask(&cell).await, [0; 0]);
    assert_eq!(ask(&joined).await, [1]);
    let ignored = vec![pair(link("upper"), link("lower"))];
    assert_eq!(ask(&api::RobotCell { ignored_pairs: ignored, ..joined }).await, [0; 0]);

    let urdf = ARM_OF_TWO.to_owned();
    let robot = register(&server, api::RegisterRobotRequest { urdf, ..Default::default() }).await;
    for (id, is_ignored) in [("asked", false), ("ignored", true)] {
        let ignored_pairs = if is_ignored {
            vec![api::BodyPair { a: Some(ARM + 2), b: Some(ARM + 1) }]
        } else {
            vec![]
        };
        let state = api::SessionState {
            robots: vec![placed(ARM, &robot)],
            rules: Some(api::PairRules { ignored_pairs, ..Default::default() }),
            ..Default::default()
        };
        server.sessions().open_session(open(id, state, false)).await.unwrap();
        for adjacent_links in [true, false, true] {
            let session_id = id.to_owned();
            let scene = api::RobotScene { session_id, adjacent_links, ..Default::default() };
            let asked = api::CheckConfigurationsRequest {
                scene: Some(scene),
                mode: api::CheckMode::AllPairs.into(),
                values: values.to_vec(),
                ..Default::default()
            };
            let told = told(&server, asked).await.unwrap();
            let is_told = adjacent_links && !is_ignored;
            assert_eq!(told.contact_indices, vec![1; usize::from(is_told)], "{id}");
            if is_told {
                assert_eq!([told.contact_firsts[0], told.contact_seconds[0]], [ARM + 1, ARM + 2]);
            }
        }
    }
}

fn boxed(size: f64, x: f64) -> api::RobotObstacle {
    let size = vector(size, size, size).unwrap();
    api::RobotObstacle {
        shape: Some(Shape::Box(size)),
        pose: at(x, 0.0, 0.0),
        ..Default::default()
    }
}

/// The cart of the slider is a cube of 1 around its value, the wall begins at 2.5.
#[tokio::test]
async fn what_is_carried_and_padded_counts_to_the_last_bit() {
    let server = Server::start().await;
    let cell = slider(&server).await;
    let body = Some(boxed(0.5, 0.75));
    let carried = api::CarriedBody { link: "cart".to_owned(), body, touch_links: vec![] };
    let robot = api::RobotInstance { attached: vec![carried], ..cell.robots[0].clone() };
    let carrying = api::RobotCell { robots: vec![robot], ..cell.clone() };
    // Its far side is 1 ahead of the value.
    let values = [1.5, 1.5 - 4.0 * f64::EPSILON, 1.5 + 4.0 * f64::EPSILON, -4.0];
    let ask = async |cell: &api::RobotCell, mode| {
        told(&server, configurations(cell, mode, &values)).await.unwrap()
    };
    let shown = ask(&carrying, api::CheckMode::AllPairs).await;
    let verdicts: Vec<api::Verdict> = shown.verdicts().collect();
    let [touching, overlapping, free] =
        [api::Verdict::Touching, api::Verdict::Overlapping, api::Verdict::Separated];
    assert_eq!(verdicts, [touching, free, overlapping, free]);
    // The cart is part 0, what it carries 1, the wall 2.
    assert_eq!((shown.contact_firsts, shown.contact_seconds), (vec![1, 1], vec![2, 2]));
    let links = ask(&carrying, api::CheckMode::LinkClearance).await;
    assert_eq!(links.clearances_per_configuration, 2);
    assert_eq!(links.clearance_firsts[..2], [0, 1]);

    // Paddings do not shift a verdict; a pair is within them up to and with the last bit.
    let mut padded = carrying.clone();
    padded.robots[0].attached[0].body.as_mut().unwrap().padding = 0.25;
    padded.obstacles[0].padding = 0.25;
    let values = [1.0, 1.0 - 4.0 * f64::EPSILON, 1.5, 0.0];
    let mode = api::CheckMode::AllPairs;
    let told = told(&server, configurations(&padded, mode, &values)).await.unwrap();
    let verdicts: Vec<api::Verdict> = told.verdicts().collect();
    assert_eq!(verdicts, [free, free, touching, free]);
    assert_eq!(told.within_margin_indices, [0, 2]);
    let listed: Vec<api::Verdict> = told.contact_verdicts().collect();
    assert_eq!((told.contact_indices, listed), (vec![0, 2], vec![free, touching]));
    // An edge ends where the padding begins.
    let edges = api::CheckEdgesRequest {
        cell: Some(padded),
        starts: vec![0.0],
        ends: vec![4.0],
        ..Default::default()
    };
    let edges = robots(&server).check_edges(edges).await.unwrap().into_inner();
    assert!((edges.contact_at[0] - 0.25).abs() < 2e-6, "{edges:?}");
}

#[tokio::test]
async fn what_is_wrong_with_the_rules_of_a_cell_is_told_with_its_path() {
    let limits = Limits { rules_per_cell_max: 2, attached_per_cell_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let good = slider(&server).await;
    let refused = async |cell: api::RobotCell| {
        let asked = configurations(&cell, api::CheckMode::FirstPair, &[0.0]);
        told(&server, asked).await.unwrap_err()
    };
    let with_pair = |one: api::CellPair| api::RobotCell {
        ignored_pairs: vec![pair(link("cart"), link("rail")), one],
        ..good.clone()
    };
    let cart = || link("cart");
    for (one, field) in [
        (pair(cart(), None), "second"),
        (pair(Some(api::CellBody::default()), cart()), "first"),
        (pair(cart(), cart()), "second"),
        (pair(cart(), link("wing")), "second.link"),
        (pair(cart(), named(Named::LinkIndex(2))), "second.link_index"),
        (pair(cart(), named(Named::Attached("tool".to_owned()))), "second.attached"),
        (pair(cart(), named(Named::AttachedIndex(0))), "second.attached_index"),
        (pair(cart(), named(Named::Obstacle("wall".to_owned()))), "second.obstacle"),
        (pair(cart(), named(Named::Obstacle(String::new()))), "second.obstacle"),
        (pair(cart(), named(Named::ObstacleIndex(1))), "second.obstacle_index"),
        (pair(Some(api::CellBody { robot: 1, ..cart().unwrap() }), cart()), "first.robot"),
        (
            pair(cart(), Some(api::CellBody { robot: 1, body: Some(Named::ObstacleIndex(0)) })),
            "second.robot",
        ),
    ] {
        let field = format!("cell.ignored_pairs[1].{field}");
        check(&refused(with_pair(one)).await, Code::InvalidArgument, "BAD_FIELD", &field);
    }
    let three = vec![pair(link("cart"), link("rail")); 3];
    let many = api::RobotCell { ignored_pairs: three, ..good.clone() };
    let status = refused(many).await;
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "cell.ignored_pairs");

    let with_robot = |change: &dyn Fn(&mut api::RobotInstance)| {
        let mut cell = good.clone();
        change(&mut cell.robots[0]);
        cell
    };
    let carry = |link: &str, body| api::CarriedBody {
        link: link.to_owned(),
        body,
        touch_links: vec!["rail".to_owned(), "wing".to_owned()],
    };
    let cloud = api::PointCloud { xyz: vec![0.0; 3], ..Default::default() };
    let cloud = api::RobotObstacle { shape: Some(Shape::Cloud(cloud)), ..Default::default() };
    let at = "cell.robots[0].attached[0]";
    for (one, code, field) in [
        (carry("wing", Some(boxed(1.0, 0.0))), Code::InvalidArgument, ".link"),
        (carry("cart", Some(boxed(1.0, 0.0))), Code::InvalidArgument, ".touch_links[1]"),
        (
            api::CarriedBody { touch_links: vec![], ..carry("cart", None) },
            Code::InvalidArgument,
            ".body",
        ),
        (
            api::CarriedBody { touch_links: vec![], ..carry("cart", Some(boxed(0.0, 0.0))) },
            Code::InvalidArgument,
            ".body.box",
        ),
        (
            api::CarriedBody { touch_links: vec![], ..carry("cart", Some(cloud)) },
            Code::Unimplemented,
            ".body.cloud",
        ),
    ] {
        let cell = with_robot(&|robot| robot.attached = vec![one.clone()]);
        let reason = if code == Code::Unimplemented { "NOT_IMPLEMENTED" } else { "BAD_FIELD" };
        check(&refused(cell).await, code, reason, &format!("{at}{field}"));
    }
    let two = with_robot(&|robot| robot.attached = vec![carry("cart", None), carry("cart", None)]);
    let status = refused(two).await;
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "cell.robots[0].attached");
    for (link, padding, field) in [("wing", 0.0, "link"), ("cart", f64::NAN, "padding")] {
        let padding = api::LinkPadding { link: link.to_owned(), padding };
        let cell = with_robot(&|robot| robot.paddings = vec![padding.clone()]);
        let field = format!("cell.robots[0].paddings[0].{field}");
        check(&refused(cell).await, Code::InvalidArgument, "BAD_FIELD", &field);
    }
    let mut named_twice = good.clone();
    named_twice.obstacles = vec![
        api::RobotObstacle { name: "wall".to_owned(), ..boxed(1.0, 3.0) },
        api::RobotObstacle { name: "wall".to_owned(), ..boxed(1.0, 6.0) },
    ];
    named_twice.ignored_pairs = vec![pair(cart(), named(Named::Obstacle("wall".to_owned())))];
    let field = "cell.ignored_pairs[0].second.obstacle";
    check(&refused(named_twice).await, Code::InvalidArgument, "BAD_FIELD", field);
}

/// A cell with a rule is another cell than the one without, also while both are kept.
#[tokio::test]
async fn cells_that_are_kept_are_told_apart_by_their_rules() {
    let server = Server::start().await;
    let plain = slider(&server).await;
    let ignoring = api::RobotCell {
        ignored_pairs: vec![pair(link("cart"), named(Named::ObstacleIndex(0)))],
        ..plain.clone()
    };
    let mut padded = plain.clone();
    padded.robots[0].paddings = vec![api::LinkPadding { link: "cart".to_owned(), padding: 0.5 }];
    for _ in 0..2 {
        for (cell, contacts, within) in
            [(&plain, 1, vec![1]), (&ignoring, 0, vec![]), (&padded, 2, vec![0, 1])]
        {
            let asked = configurations(cell, api::CheckMode::AllPairs, &[1.75, 2.5]);
            let told = told(&server, asked).await.unwrap();
            let is_padded = cell.robots[0].paddings.len();
            assert_eq!(told.contact_indices.len(), contacts);
            let expected = if is_padded > 0 { within } else { vec![] };
            assert_eq!(told.within_margin_indices, expected);
            assert!(!told.cell_not_kept);
        }
    }
}

#[tokio::test]
async fn pairs_below_a_distance_are_cut_before_the_work_and_the_nearest_are_told() {
    let server = Server::start().await;
    let boxes = (0..20).map(|k| boxed(1.0, 3.0 + 2.0 * f64::from(k))).collect();
    let cell = api::RobotCell { obstacles: boxes, ..slider(&server).await };
    let ask = |below: f64, pairs_max: u32| api::CheckConfigurationsRequest {
        below,
        pairs_max,
        ..configurations(&cell, api::CheckMode::PairsBelow, &[0.0, 2.0, 2.5])
    };
    let all = told(&server, ask(6.0, 0)).await.unwrap();
    // At 0 the gaps are 2, 4, 6, ...; exactly 6 is listed. At 2 the first one touches.
    let is_near = |found: &[f64], wanted: &[f64]| {
        found.len() == wanted.len()
            && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs())
    };
    assert_eq!(all.clearance_indices[..7], [0, 0, 0, 1, 1, 1, 1]);
    let gaps = [2.0, 4.0, 6.0, 0.0, 2.0, 4.0, 6.0];
    assert!(is_near(&all.clearance_uppers[..7], &gaps), "{:?}", all.clearance_uppers);
    assert!(is_near(&all.clearance_lowers[..7], &gaps), "{:?}", all.clearance_lowers);
    assert_eq!(all.cut_indices, [0; 0]);
    assert_eq!(all.clearance_seconds[..3], [1, 2, 3]);
    let verdicts: Vec<api::Verdict> = all.clearance_verdicts().collect();
    assert_eq!([verdicts[0], verdicts[3]], [api::Verdict::Separated, api::Verdict::Touching]);
    let of_all: Vec<api::Verdict> = all.verdicts().collect();
    let expected = [api::Verdict::Separated, api::Verdict::Touching, api::Verdict::Overlapping];
    assert_eq!(of_all, expected);
    let two = told(&server, ask(6.0, 2)).await.unwrap();
    assert!(is_near(&two.clearance_uppers[..4], &[2.0, 4.0, 0.0, 2.0]), "{two:?}");
    assert_eq!(two.cut_indices, [0, 1, 2]);
    let contacts = told(&server, ask(0.0, 0)).await.unwrap();
    assert_eq!(contacts.clearance_indices, [1, 2]);

    // What may not fit is refused before any of it is looked at; what is not said is cut.
    let small = |pairs_max| api::CheckConfigurationsRequest {
        reply_bytes_max: 1_500,
        ..ask(100.0, pairs_max)
    };
    let status = told(&server, small(20)).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let cut = told(&server, small(0)).await.unwrap();
    let each = cut.clearance_indices.iter().filter(|index| **index == 0).count();
    assert!((1..20).contains(&each) && cut.cut_indices == [0, 1, 2], "{cut:?}");
    assert!(prost::Message::encoded_len(&cut) <= 1_500);

    for (asked, field) in [
        (ask(-1.0, 0), "below"),
        (ask(f64::NAN, 0), "below"),
        (api::CheckConfigurationsRequest { mode: 0, ..ask(1.0, 0) }, "below"),
        (api::CheckConfigurationsRequest { mode: 0, ..ask(0.0, 1) }, "pairs_max"),
        (api::CheckConfigurationsRequest { pair_scope: 9, ..ask(0.0, 1) }, "pair_scope"),
        (
            api::CheckConfigurationsRequest { jacobian_links: vec![0, 2], ..ask(0.0, 1) },
            "jacobian_links[1]",
        ),
        (
            api::CheckConfigurationsRequest { jacobian_links: vec![1, 1], ..ask(0.0, 1) },
            "jacobian_links[1]",
        ),
    ] {
        let status = told(&server, asked).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
    let status = told(&server, ask(1.0, 10_001)).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "pairs_max");
}

#[tokio::test]
async fn links_are_where_a_session_puts_them_and_refused_configurations_have_none() {
    let server = started().await;
    let robot = register(&server, panda()).await;
    let state = api::SessionState {
        bodies: vec![cube_at(1, 5.0)],
        robots: vec![placed(ARM, &robot)],
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    let scene = api::RobotScene { session_id: "s".to_owned(), ..Default::default() };
    let good = [0.1, -0.2, 0.3, -1.5, 0.2, 1.7, 0.4, 0.02];
    let mut bad = good;
    bad[2] = f64::NAN;
    let mut beyond = good;
    beyond[0] = 4.0;
    let asked = api::CheckConfigurationsRequest {
        scene: Some(scene),
        values: [bad, good, beyond].concat(),
        with_link_poses: true,
        jacobian_links: vec![8],
        ..Default::default()
    };
    let told = told(&server, asked).await.unwrap();
    let (links, width) = (robot.links.len() * 12, 48);
    let is_none = |numbers: &[f64]| numbers.iter().all(|number| number.is_nan());
    assert!(is_none(&told.link_poses[..links]) && is_none(&told.link_poses[2 * links..]));
    assert!(is_none(&told.jacobians[..width]) && is_none(&told.jacobians[2 * width..]));
    assert_eq!([told.link_poses.len(), told.jacobians.len()], [3 * links, 3 * width]);
    let poses = &told.link_poses[links..2 * links];
    // The base is at the origin; every rotation is one.
    assert_eq!(poses[..12], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    for link in poses.chunks(12) {
        let row = |i: usize| -> f64 { link[3 * i..3 * i + 3].iter().map(|x| x * x).sum() };
        assert!((0..3).all(|i| (row(i) - 1.0).abs() < 1e-12), "{link:?}");
    }
    // The first joint turns the flange about the vertical through the base.
    let (jacobian, flange) = (&told.jacobians[width..2 * width], &poses[8 * 12 + 9..9 * 12]);
    let column = |k: usize| -> Vec<f64> { (0..6).map(|row| jacobian[8 * row + k]).collect() };
    let expected = [-flange[1], flange[0], 0.0, 0.0, 0.0, 1.0];
    for (found, wanted) in column(0).iter().zip(expected) {
        assert!((found - wanted).abs() < 1e-12, "{:?} {expected:?}", column(0));
    }
    assert!(column(7).iter().all(|entry| *entry == 0.0), "fingers move no flange");
}

/// The tip turns before the flat face of the wrist, always a tenth away.
const WRIST: &str = r#"<robot name="wrist"><link name="base"/>
  <link name="wrist"><collision><geometry><box size="0.2 1 1"/></geometry></collision></link>
  <link name="flange"/>
  <link name="tip"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <joint name="a" type="prismatic"><parent link="base"/><child link="wrist"/><axis xyz="1 0 0"/>
  <limit lower="-9" upper="9"/></joint>
  <joint name="b" type="continuous"><parent link="wrist"/><child link="flange"/>
  <axis xyz="1 0 0"/></joint>
  <joint name="c" type="fixed"><parent link="flange"/><child link="tip"/>
  <origin xyz="0.3 0 0"/></joint></robot>"#;

#[tokio::test]
async fn a_pair_that_no_value_changes_is_told_once_and_hides_no_clearance() {
    let server = started().await;
    let urdf = WRIST.to_owned();
    let robot = register(&server, api::RegisterRobotRequest { urdf, ..Default::default() }).await;
    let [one] = &robot.constant_pairs[..] else { panic!("{:?}", robot.constant_pairs) };
    assert_eq!([one.first, one.second], [0, 1]);
    assert!(one.lower <= 0.1 && 0.1 <= one.upper && one.upper - one.lower <= 1e-6, "{one:?}");
    let is_told = |note: &String| note.contains("\"wrist\"") && note.contains("\"tip\"");
    assert_eq!(robot.notes.iter().filter(|note| is_told(note)).count(), 1);

    let cell = api::RobotCell {
        robots: vec![api::RobotInstance { robot_id: robot.id.clone(), ..Default::default() }],
        obstacles: vec![boxed(1.0, 3.0)],
        ..Default::default()
    };
    let state = api::SessionState {
        bodies: vec![cube_at(1, 2.5)],
        robots: vec![placed(ARM, &robot)],
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    let scene = api::RobotScene { session_id: "s".to_owned(), ..Default::default() };
    for mode in
        [api::CheckMode::Clearance, api::CheckMode::LinkClearance, api::CheckMode::PairsBelow]
    {
        let below = if mode == api::CheckMode::PairsBelow { 9.0 } else { 0.0 };
        let asked = api::CheckConfigurationsRequest {
            below,
            ..configurations(&cell, mode, &[0.0, 0.5, 1.0, 2.0])
        };
        let of_scene = api::CheckConfigurationsRequest {
            cell: None,
            scene: Some(scene.clone()),
            ..asked.clone()
        };
        let of_cell = told(&server, asked.clone()).await.unwrap();
        assert_eq!((of_cell.constant_firsts, of_cell.constant_seconds), (vec![0], vec![1]));
        let bracket = [of_cell.constant_lowers[0], of_cell.constant_uppers[0]];
        assert!(bracket[0] <= 0.1 && 0.1 <= bracket[1] && bracket[1] - bracket[0] <= 1e-6);
        // Every clearance is one with the block.
        assert!(of_cell.clearance_seconds.iter().all(|second| *second == 2));
        assert!((of_cell.clearance_uppers.iter().copied().fold(9.0, f64::min) - 1.1).abs() < 1e-9);
        let in_scene = told(&server, of_scene).await.unwrap();
        assert_eq!(in_scene.constant_firsts, [ARM + 1]);
        assert_eq!(in_scene.constant_seconds, [ARM + 3]);
        assert_eq!(bits(&in_scene.constant_lowers), bits(&[bracket[0]]));
        assert!(in_scene.clearance_seconds.iter().all(|second| *second == 1));
        let world = api::PairScope::World.into();
        let asked = api::CheckConfigurationsRequest { pair_scope: world, ..asked };
        assert_eq!(told(&server, asked).await.unwrap().constant_firsts, [0; 0]);
    }
    // Padded it is within its margin all the time, which is told as ever.
    let mut padded = cell;
    padded.robots[0].paddings = vec![api::LinkPadding { link: "tip".to_owned(), padding: 0.2 }];
    let asked = configurations(&padded, api::CheckMode::AllPairs, &[0.0, 0.5]);
    let told = told(&server, asked).await.unwrap();
    assert_eq!((told.contact_firsts, told.contact_seconds), (vec![0], vec![1]));
    assert_eq!((told.within_margin_indices, told.constant_firsts), (vec![0], vec![]));
}
