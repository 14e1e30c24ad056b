//! Robots of a scene in configurations of their own against frames that move them there: every
//! pair that a configuration can change stands as the report says, and no other one is told.

use super::fields::{both as field_of, field};
use super::mesh_robots::hand;
use super::meshes::{channel, scaled};
use super::robots::{frame, placed, to};
use super::surfaces::sides_of;
use super::*;
use crate::planning::{NoPlanningCell, PlanningCell};
use crate::{
    Attached, BodyChange, PairMargin, RobotChanges, RobotId, RobotMove, RuleChanges, Rules,
    SceneRobot,
};
use clearance_bodies::kinds::curved::{CurvedCore, CurvedForm};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};
use clearance_robot::check::{CheckMode, CheckQuestion, Checked};
use clearance_robot::edge::{EdgeAnswer, EdgeQuestion};

const HAND: u32 = 100;
const OTHER: u32 = 200;

/// Balls around points.
fn cloud(random: &mut Random, radius: f64) -> Part {
    let points: Vec<Vec3> = (0..40).map(|_| random.vector() * 0.6).collect();
    let points = TriangleSurface::of_points(&points).unwrap();
    let hull = Arc::new(convex_hull(points.vertices()).unwrap().polytope);
    Part { radius, ..Part::of_mesh(TriangleBody::Surface(Arc::new(points)), hull) }
}

/// A body of every kind and of several parts, with groups, masks and margins.
fn around(random: &mut Random) -> Vec<Body> {
    let segment = Arc::new(samples::hull(&[Vec3::zeros(), Vec3::new(0.0, 0.0, 0.6)]));
    let core = CurvedCore { form: CurvedForm::Cylinder, half: Vec3::new(0.3, 0.3, 0.4) };
    let curved = clearance_bodies::Body::of_curved(core, 0.0, &mut Effort::unlimited());
    let shifted = |part: Part, x: f64| Part { body_from_part: at(x, 0.1, -0.2), ..part };
    let capsule = Part { radius: 0.2, ..Part::of(segment) };
    let several = vec![
        shifted(Part::of(cube(0.2)), 0.3),
        shifted(capsule.clone(), -0.3),
        shifted(Part::of(Arc::new(samples::ball(30, 7))), 1.2),
    ];
    let [ground, _] = field_of(field(4, random));
    let parts = [
        vec![Part::of(cube(0.3))],
        vec![capsule],
        vec![Part::of(Arc::new(samples::ball(24, 3)))],
        vec![scaled(&channel(1.0), 0.3)],
        vec![sides_of(&scaled(&channel(1.0), 0.3))],
        vec![cloud(random, 0.15)],
        vec![cloud(random, 0.0)],
        vec![Part::of_curved(&curved.unwrap()).unwrap()],
        several.clone(),
        // What robots carry.
        several,
        vec![Part::of(cube(0.15))],
        vec![ground],
    ];
    let place = |(id, parts): (u32, Vec<Part>)| {
        let place = random.vector() * 1.6;
        let margin = [0.0, 0.05, 0.2][random.below(3) as usize];
        let category = 1 << random.below(3);
        let mask = if random.below(4) == 0 { !1 } else { Body::MASK };
        let groups = ["a", "b"].into_iter().filter(|_| random.below(2) == 0);
        let groups = groups.map(str::to_owned).collect();
        let body = Body { margin, category, mask, groups, ..Body::without_parts() };
        let fixed = random.below(3) == 0;
        let pose = random.pose(place);
        Body { id: BodyId(id), parts, fixed, ..body }.placed(pose)
    };
    (1..).zip(parts).map(place).collect()
}

/// Two hands that carry something each, among such bodies.
fn scene(seed: u64, has_margins: bool) -> Scene {
    let mut random = Random(seed);
    let mut bodies = around(&mut random);
    let palm =
        [Part::of(cube(0.25)), Part { body_from_part: at(0.2, 0.0, 0.1), ..Part::of(cube(0.2)) }];
    let robot = Arc::new(hand(&palm));
    let carry = |body: u32, link: &str, touches: &[&str]| Attached {
        body: BodyId(body),
        link: link.to_owned(),
        link_from_body: None,
        touch_links: touches.iter().map(|&link| link.to_owned()).collect(),
    };
    let mut robots = vec![
        SceneRobot {
            attached: vec![carry(10, "finger", &["palm"]), carry(11, "arm", &[])],
            base: random.pose(Vec3::new(0.1, -0.2, 0.05)),
            ..placed(HAND, &robot)
        },
        SceneRobot { base: random.pose(Vec3::zeros()), ..placed(OTHER, &robot) },
    ];
    let mut rules = Rules {
        ignored_pairs: vec![[BodyId(1), BodyId(HAND + 4)], [BodyId(10), BodyId(3)]],
        margins: vec![
            PairMargin { pair: [BodyId(HAND + 4), BodyId(2)], margin: 0.4 },
            PairMargin { pair: [BodyId(HAND + 6), BodyId(OTHER + 4)], margin: 0.1 },
            PairMargin { pair: [BodyId(4), BodyId(11)], margin: 0.0 },
        ],
        ..Rules::default()
    };
    if seed.is_multiple_of(3) {
        rules.checked_groups = vec![["a".to_owned(), "b".to_owned()]];
        robots[0].traits.groups = ["a"].into();
        robots[1].traits.groups = ["b", "a"].into();
    }
    if has_margins {
        robots[0].paddings[6] = 0.07;
    } else {
        rules.margins.clear();
        bodies.iter_mut().for_each(|body| body.margin = 0.0);
    }
    declare(Declaration { bodies, robots, rules, ..Declaration::default() })
}

fn values(random: &mut Random) -> Vec<f64> {
    let turns = |k: usize| if k < 3 { 1.2 } else { 3.0 };
    (0..6).map(|k| random.signed() * turns(k)).collect()
}

fn ids(robots: &[u32]) -> Vec<RobotId> {
    robots.iter().map(|id| RobotId(*id)).collect()
}

#[track_caller]
fn built(scene: &Scene, robots: &[u32], before: Option<&PlanningCell>) -> PlanningCell {
    let copy = scene.planning_copy(&ids(robots)).unwrap();
    assert!(copy.size() > 1 && copy.working_bytes() > 1_000);
    copy.build(before, &Effort::unlimited()).unwrap()
}

/// How the pairs stand that are in contact or within their margin; none: nobody knows.
type Told = BTreeMap<[u32; 2], Option<Verdict>>;

/// What a report says of pairs of which one body at least moves with the joints of these robots.
fn reported(scene: &Scene, robots: &[u32], report: &Report) -> Told {
    let moves = |id: BodyId| {
        let entry = &scene.entries[scene.index_of(id).unwrap() as usize];
        let by = entry.carrier.as_ref();
        by.is_some_and(|by| by.frame.is_some() && robots.contains(&by.robot.0))
    };
    let pairs = report.pairs.iter().filter(|pair| moves(pair.p) || moves(pair.q));
    let near = pairs.filter(|pair| {
        pair.verdict != Some(Verdict::Separated) || pair.within_margin == Some(true)
    });
    near.map(|pair| ([pair.p.0, pair.q.0], pair.verdict)).collect()
}

fn in_order([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

fn told(checked: &Checked) -> Told {
    match checked {
        Checked::Free => BTreeMap::new(),
        Checked::Contact(found) => {
            found.iter().map(|(pair, verdict)| (in_order(*pair), Some(*verdict))).collect()
        }
        Checked::Open { contacts, pairs } => {
            let open = pairs.iter().map(|pair| (in_order(*pair), None));
            contacts.iter().map(|(pair, it)| (in_order(*pair), Some(*it))).chain(open).collect()
        }
        Checked::Clearance(_) | Checked::Below(_) | Checked::Bad(_) | Checked::Stopped(_) => {
            panic!("{checked:?}")
        }
    }
}

fn ask(planned: &PlanningCell, mode: CheckMode, values: &[f64]) -> Checked {
    let question = CheckQuestion { mode, with_gradient: false, ..CheckQuestion::default() };
    planned.cell.check(question, values, &mut Effort::unlimited()).remove(0)
}

/// Moves these robots by a frame, as a configuration says.
fn go(scene: &mut Scene, robots: &[u32], values: &[f64]) -> Arc<Report> {
    let each = values.chunks(6).zip(robots);
    let moves = each.map(|(values, id)| RobotMove { teleported: true, ..to(*id, values) });
    step(scene, &frame(scene.frame() + 1, moves.collect()), &all())
}

/// Compares a configuration with a frame; counts what is told.
fn compare(
    scene: &mut Scene,
    planned: &PlanningCell,
    (robots, values): (&[u32], &[f64]),
    seen: &mut BTreeMap<Option<Verdict>, u32>,
) {
    let all_pairs = told(&ask(planned, CheckMode::AllPairs, values));
    let first = told(&ask(planned, CheckMode::FirstPair, values));
    let clearance = ask(planned, CheckMode::Clearance, values);
    let report = go(scene, robots, values);
    let expected = reported(scene, robots, &report);
    assert_eq!(all_pairs, expected, "{values:?}");
    let is_contact = |verdict: &Option<Verdict>| {
        matches!(verdict, Some(Verdict::Touching | Verdict::Overlapping))
    };
    assert_eq!(first.is_empty(), expected.is_empty());
    assert!(first.iter().all(|(pair, verdict)| expected.get(pair) == Some(verdict)), "{first:?}");
    assert_eq!(first.values().any(is_contact), expected.values().any(is_contact));
    let Checked::Clearance(least) = clearance else { panic!("{clearance:?}") };
    let [Some(least)] = &least[..] else { panic!("no pair is asked") };
    if least.verdict.is_some() && expected.values().all(Option::is_some) {
        let worst = expected.values().flatten().copied().fold(Verdict::Separated, Verdict::max);
        assert_eq!(least.verdict, Some(worst), "{least:?} {expected:?}");
        let pair = in_order(least.pair);
        assert!(worst == Verdict::Separated || expected.contains_key(&pair), "{least:?}");
    }
    expected.values().for_each(|verdict| *seen.entry(*verdict).or_default() += 1);
    *seen.entry(None).or_default() += u32::from(expected.is_empty());
}

/// Verdicts, margins and rules, of one robot, of both in either order, and of one that meets the
/// other where that stands; what was built before the frames came is right after them.
#[test]
fn configurations_are_answered_as_frames_that_move_the_robots_there() {
    let mut seen = BTreeMap::new();
    for seed in 0..8 {
        let mut random = Random(500 + seed);
        let mut scene = scene(30 + seed, seed % 4 != 3);
        go(&mut scene, &[HAND, OTHER], &[values(&mut random), values(&mut random)].concat());
        for robots in [&[HAND][..], &[OTHER], &[OTHER, HAND]] {
            let version = scene.planning_version(&ids(robots)).unwrap();
            let planned = built(&scene, robots, None);
            for _ in 0..6 {
                let values: Vec<Vec<f64>> = robots.iter().map(|_| values(&mut random)).collect();
                compare(&mut scene, &planned, (robots, &values.concat()), &mut seen);
                assert_eq!(scene.planning_version(&ids(robots)).unwrap(), version);
            }
        }
    }
    let count = |verdict| seen.get(&Some(verdict)).copied().unwrap_or_default();
    assert!(count(Verdict::Overlapping) > 100 && count(Verdict::Separated) > 20, "{seen:?}");
}

/// What touches exactly is told so, also where a robot carries it by an offset, and a part that
/// overlaps counts for the whole body.
#[test]
fn exact_contact_of_what_is_carried_is_told_as_the_scene_tells_it() {
    let robot = Arc::new(hand(&[Part::of(cube(0.25))]));
    let two = vec![
        Part { body_from_part: at(0.0, 0.0, 0.5), ..Part::of(cube(0.25)) },
        Part::of(cube(0.25)),
    ];
    let carried = Attached {
        body: BodyId(1),
        link: "palm".to_owned(),
        link_from_body: Some(at(0.0, 1.0, 0.0)),
        touch_links: Vec::new(),
    };
    let bodies = vec![
        super::meshes::body(1, vec![Part::of(cube(0.25))]),
        super::meshes::body(2, two).placed(at(0.0, 1.0, -0.75)),
    ];
    let robots = vec![SceneRobot { attached: vec![carried], ..placed(HAND, &robot) }];
    let mut scene = declare(Declaration { bodies, robots, ..Declaration::default() });
    let planned = built(&scene, &[HAND], None);
    let mut seen = BTreeMap::new();
    for (z, expected) in [(0.25, Verdict::Touching), (0.0, Verdict::Overlapping)] {
        let values = [0.0, 0.0, z, 0.0, 0.0, 0.0];
        let found = told(&ask(&planned, CheckMode::FirstPair, &values));
        assert_eq!(found, BTreeMap::from([([1, 2], Some(expected))]));
        compare(&mut scene, &planned, (&[HAND], &values), &mut seen);
    }
}

/// Every change but of the joint values asked about makes the cell another one, which is then right
/// again; a change that changes nothing does not.
#[test]
fn a_cell_holds_until_a_frame_changes_more_than_its_joint_values() {
    let mut random = Random(77);
    let mut scene = scene(31, true);
    let asked = ids(&[HAND]);
    let mut planned = built(&scene, &[HAND], None);
    let mut version = scene.planning_version(&asked).unwrap();
    let restated = scene.body(BodyId(1)).unwrap().pose;
    let still = super::frame(1, vec![moved(1, restated)]);
    step(&mut scene, &still, &all());
    assert_eq!(scene.planning_version(&asked).unwrap(), version);
    let robot = |change: RobotMove| RobotChanges { moves: vec![change], ..Default::default() };
    let nothing = Frame::default;
    let margin = BodyChange {
        id: BodyId(3),
        parts: Vec::new(),
        left_groups: Vec::new(),
        joined_groups: Vec::new(),
        fixed: None,
        category: None,
        mask: None,
        margin: Some(0.3),
        continuous: None,
    };
    let other = RobotMove { base: Some(at(0.4, 0.3, 0.1)), ..to(OTHER, &values(&mut random)) };
    let changes = [
        Frame { moves: vec![moved(2, at(0.2, 0.1, 0.0))], ..nothing() },
        Frame { robots: robot(RobotMove { base: None, ..other.clone() }), ..nothing() },
        Frame { robots: robot(RobotMove { values: None, ..other }), ..nothing() },
        Frame {
            robots: robot(RobotMove { base: Some(at(0.0, 0.5, 0.0)), ..to(HAND, &[0.0; 6]) }),
            ..nothing()
        },
        Frame {
            rule_changes: Some(RuleChanges {
                added_ignored_pairs: vec![[BodyId(2), BodyId(HAND + 6)]],
                ..RuleChanges::default()
            }),
            ..nothing()
        },
        Frame { changed: vec![margin], ..nothing() },
        Frame { removed: vec![BodyId(9)], ..nothing() },
        Frame {
            robots: RobotChanges { detached: vec![BodyId(11)], ..RobotChanges::default() },
            ..nothing()
        },
    ];
    let mut seen = BTreeMap::new();
    for change in changes {
        let id = scene.frame() + 1;
        step(&mut scene, &Frame { id, teleported: true, ..change.clone() }, &all());
        let next = scene.planning_version(&asked).unwrap();
        assert_ne!(next, version, "{change:?}");
        version = next;
        planned = built(&scene, &[HAND], Some(&planned));
        for _ in 0..3 {
            let values = values(&mut random);
            compare(&mut scene, &planned, (&[HAND], &values), &mut seen);
        }
    }
    assert_eq!(scene.planning_version(&ids(&[HAND, 7])), None);
    assert!(scene.planning_copy(&ids(&[7])).is_none());
}

/// An edge is free, in contact or within a margin where frames along it are.
#[test]
fn edges_end_where_frames_along_them_meet_or_come_within_margins() {
    let (mut free, mut met, mut near) = (0, 0, 0);
    for seed in 0..12 {
        let mut random = Random(900 + seed);
        let mut scene = scene(60 + seed, true);
        let planned = built(&scene, &[HAND], None);
        let question = EdgeQuestion {
            margin: 0.0,
            tolerance: 1e-6,
            steps_max: 100_000,
            ..EdgeQuestion::default()
        };
        for _ in 0..16 {
            let from = values(&mut random);
            let by = values(&mut random);
            let end: Vec<f64> = from.iter().zip(&by).map(|(a, b)| a + 0.1 * b).collect();
            let edge = [&from[..], &end];
            let answer = planned.cell.check_edges(question, edge, &mut Effort::unlimited());
            let mut stands = |t: f64| {
                let lerp = |(a, b): (&f64, &f64)| if t >= 1.0 { *b } else { a + t * (b - a) };
                let values: Vec<f64> = from.iter().zip(&end).map(lerp).collect();
                let report = go(&mut scene, &[HAND], &values);
                reported(&scene, &[HAND], &report)
            };
            let until = match &answer[0] {
                EdgeAnswer::Free => {
                    free += 1;
                    1.0
                }
                EdgeAnswer::Contact { free_until, contact_at, pair } => {
                    let told = stands(*contact_at);
                    let verdict = told.get(&in_order(*pair));
                    assert!(verdict.is_some(), "{answer:?} {told:?}");
                    near +=
                        u32::from(*contact_at > 0.0 && verdict == Some(&Some(Verdict::Separated)));
                    met += u32::from(*contact_at > 0.0);
                    *free_until
                }
                EdgeAnswer::Undecided { free_until, .. } => *free_until,
                EdgeAnswer::Bad(_) | EdgeAnswer::Turns | EdgeAnswer::Stopped { .. } => {
                    panic!("{answer:?}")
                }
            };
            for k in 0..6 {
                let t = until * f64::from(k) / 6.0;
                if until > 0.0 {
                    let told = stands(t);
                    assert!(told.values().all(|it| it.is_none()), "{answer:?} at {t}: {told:?}");
                }
            }
        }
    }
    assert!(free > 5 && met > 3 && near > 2, "{free} {met} {near}");
}

/// A cloud that a robot carries is refused by its id; one that stands still is taken over from the
/// cell before.
#[test]
fn clouds_are_kept_from_cell_to_cell_and_not_carried() {
    let mut random = Random(5);
    let robot = Arc::new(hand(&[Part::of(cube(0.25))]));
    let body = super::meshes::body(1, vec![cloud(&mut random, 0.1)]).placed(at(3.0, 0.0, 0.0));
    let robots = vec![placed(HAND, &robot)];
    let mut scene = declare(Declaration { bodies: vec![body], robots, ..Declaration::default() });
    let small = |scene: &Scene, before: Option<&PlanningCell>| {
        scene.planning_copy(&ids(&[HAND])).unwrap().build(before, &Effort::unlimited())
    };
    let first = small(&scene, None).unwrap();
    step(&mut scene, &super::frame(1, vec![moved(1, at(4.0, 0.0, 0.0))]), &all());
    let second = small(&scene, Some(&first)).unwrap();
    assert!(second.shares_clouds_with(&first));
    let attached = Attached {
        body: BodyId(1),
        link: "palm".to_owned(),
        link_from_body: None,
        touch_links: Vec::new(),
    };
    let attached = vec![(RobotId(HAND), attached)];
    let robots = RobotChanges { attached, ..RobotChanges::default() };
    step(&mut scene, &Frame { id: 2, robots, ..Frame::default() }, &all());
    let NoPlanningCell::NotAnswered { body, what } = small(&scene, Some(&second)).unwrap_err()
    else {
        panic!("there was time")
    };
    assert!(body == BodyId(1) && what.contains("clouds"), "{what}");
}
