//! Answers about robots' configurations against every pair decided by itself, from cold, with no
//! bound in front: floor 1 alone.
//!
//! ```text
//! cargo bench --bench robot_truth -- 100000 [SAMPLE.jsonl]
//! ```
//!
//! So many configurations in all of five robots without radii: the Panda, a gantry, a base that
//! drives with an arm on it, a body that flies, and a snake, each among boxes and hulls. Of every
//! configuration the first pair in contact and all of them are compared, of every 40th the least
//! clearance. Ends with an error if one is wrong. SAMPLE.jsonl gets the nearest pair of each of
//! those, with the verdict and the clearance, for `benches/robot_truth.py`, which asks an oracle
//! that shares nothing with this project. As a test it asks a few.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "robots/scene.rs"]
mod scene;

use std::fmt::Write as _;
use std::sync::Arc;

use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, polytope_of};
use clearance_geometry::pair::Pair;
use clearance_geometry::penetration;
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, polytope::Polytope, pose::Pose};
use clearance_robot::cell::{BodyPair, Cell, Instance};
use clearance_robot::check::{CheckMode, CheckQuestion, Checked, SignedClearance};
use clearance_robot::parts::MeshTreatment;
use clearance_robot::still::StillBody;
use clearance_robot::{Robot, model::Sources};

use scene::{LIMITS, boxes, panda};

/// One clearance in so many configurations.
const CLEARANCE_EACH: usize = 40;

const GANTRY: &str = r#"<robot name="gantry"><link name="rail"/>
<link name="x"><collision><geometry><box size="0.2 1.4 0.1"/></geometry></collision></link>
<link name="y"><collision><geometry><box size="0.25 0.2 0.2"/></geometry></collision></link>
<link name="z"><collision><geometry><capsule radius="0.05" length="0.6"/></geometry></collision>
</link>
<link name="tool"><collision><origin xyz="0.1 0 -0.35" rpy="0 0.7 0"/>
<geometry><cylinder radius="0.04" length="0.3"/></geometry></collision></link>
<joint name="a" type="prismatic"><parent link="rail"/><child link="x"/><origin xyz="0 0 1.2"/>
<axis xyz="1 0 0"/><limit lower="-0.8" upper="0.8"/></joint>
<joint name="b" type="prismatic"><parent link="x"/><child link="y"/><axis xyz="0 1 0"/>
<limit lower="-0.7" upper="0.7"/></joint>
<joint name="c" type="prismatic"><parent link="y"/><child link="z"/><axis xyz="0 0 1"/>
<limit lower="-0.8" upper="0.1"/></joint>
<joint name="d" type="continuous"><parent link="z"/><child link="tool"/><axis xyz="0 0 1"/></joint>
</robot>"#;

const DRIVER: &str = r#"<robot name="driver"><link name="floor"/>
<link name="base"><collision><origin xyz="0 0 0.15"/><geometry><box size="0.5 0.4 0.3"/></geometry>
</collision></link>
<link name="one"><collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.06" length="0.4"/>
</geometry></collision></link>
<link name="two"><collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/>
</geometry></collision></link>
<link name="ball"><collision>
<geometry><cylinder radius="0.09" length="0.1"/></geometry></collision></link>
<joint name="drive" type="planar"><parent link="floor"/><child link="base"/>
<axis xyz="0 0 1"/></joint>
<joint name="s" type="revolute"><parent link="base"/><child link="one"/><origin xyz="0.1 0 0.3"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
<joint name="e" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0 0 0.4"/>
<axis xyz="0.6 0.8 0"/><limit lower="-2.5" upper="2.5" velocity="1" effort="1"/></joint>
<joint name="w" type="revolute"><parent link="two"/><child link="ball"/><origin xyz="0 0.1 0.45"/>
<axis xyz="0 0 1"/><limit lower="-4" upper="4" velocity="1" effort="1"/>
<mimic joint="e" multiplier="-1.5" offset="0.2"/></joint></robot>"#;

const FLYER: &str = r#"<robot name="flyer"><link name="world"/>
<link name="body"><collision><geometry><box size="0.3 0.3 0.08"/></geometry></collision>
<collision><origin xyz="0.3 0 0"/>
<geometry><cylinder radius="0.12" length="0.03"/></geometry></collision>
<collision><origin xyz="-0.3 0 0"/>
<geometry><cylinder radius="0.12" length="0.03"/></geometry></collision>
<collision><origin xyz="0 0.3 0"/>
<geometry><cylinder radius="0.1" length="0.2"/></geometry></collision></link>
<joint name="fly" type="floating"><parent link="world"/><child link="body"/></joint></robot>"#;

/// Twelve links in a row, every third axis across.
fn snake() -> String {
    let mut urdf = String::from("<robot name=\"snake\"><link name=\"l0\"/>");
    for k in 1..=12 {
        let axis = ["1 0 0", "0 1 0", "0 0.8 0.6"][k % 3];
        let _ = write!(
            urdf,
            r#"<link name="l{k}"><collision><origin xyz="0 0 0.07" rpy="0.1 0 {k}"/><geometry>
            <box size="0.05 0.07 0.12"/></geometry></collision></link>
            <joint name="j{k}" type="revolute">
            <parent link="l{}"/><child link="l{k}"/><origin xyz="0 0 0.14"/><axis xyz="{axis}"/>
            <limit lower="-1.6" upper="1.6" velocity="1" effort="1"/></joint>"#,
            k - 1
        );
    }
    urdf + "</robot>"
}

/// Hulls where the boxes are.
fn hulls(count: usize, random: &mut Random) -> Vec<StillBody> {
    let mut all = boxes(count, random);
    for body in &mut all {
        let size = random.between(0.03, 0.12);
        let points: Vec<Vec3> = (0..24).map(|_| random.direction() * size).collect();
        body.body = Arc::new(polytope_of(&points)).into();
    }
    all
}

fn robot_of(urdf: &str) -> Robot {
    let meshes = std::collections::BTreeMap::new();
    let sources = Sources {
        urdf,
        srdf: None,
        meshes: &meshes,
        // Polytopes for cylinders: the oracle knows no others.
        gap_max: Some(0.0005),
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build(&sources, &LIMITS, &mut Effort::unlimited()).expect("a robot")
}

/// Joint values within the limits; of those without, within a metre or a turn.
fn configurations(cell: &Cell, count: usize, random: &mut Random) -> Vec<f64> {
    let variables = &cell.kinematics().tree().variables;
    let mut values = Vec::with_capacity(count * variables.len());
    for _ in 0..count {
        let within = |lower: f64, upper: f64| {
            if lower.is_finite() && upper.is_finite() { [lower, upper] } else { [-1.0, 1.0] }
        };
        values.extend(variables.iter().map(|v| {
            let [lower, upper] = within(v.lower, v.upper);
            random.between(lower, upper)
        }));
    }
    values
}

struct Tally {
    configurations: usize,
    contacts: usize,
    clearances: usize,
    wrong: usize,
    sample: String,
}

/// Every body of the cell in a configuration.
type PlacedBodies<'a> = Vec<(&'a Polytope, Pose)>;

fn pair_of<'a>(bodies: &PlacedBodies<'a>, pair: BodyPair) -> Pair<'a> {
    let [(p, a), (q, b)] = pair.map(|body| bodies[body as usize]);
    Pair::new(p, a, q, b)
}

fn compare(cell: &Cell, values: &[f64], tally: &mut Tally) {
    let ask = |mode: CheckMode| {
        let question = CheckQuestion { mode, with_gradient: false, ..CheckQuestion::default() };
        cell.check(question, values, &mut Effort::unlimited())
    };
    let (first, all) = (ask(CheckMode::FirstPair), ask(CheckMode::AllPairs));
    let (pairs, width) = (cell.pairs(), cell.variable_count());
    for (at, values) in values.chunks_exact(width).enumerate() {
        let bodies = cell.placed_hulls(values);
        let mut wanted = Vec::new();
        for pair in &pairs {
            let placed = pair_of(&bodies, *pair);
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let decided = decide(&placed, &METHODS[0], witness, effort).expect("no limit");
            if decided.verdict() != Verdict::Separated {
                wanted.push((*pair, decided.verdict()));
            }
        }
        wanted.sort_by_key(|(pair, _)| *pair);
        let is_right = match (&first[at], &all[at]) {
            (Checked::Free, Checked::Free) => wanted.is_empty(),
            (Checked::Contact(one), Checked::Contact(all)) => {
                *all == wanted && one.len() == 1 && wanted.contains(&one[0])
            }
            _ => false,
        };
        tally.configurations += 1;
        tally.contacts += usize::from(!wanted.is_empty());
        if !is_right {
            tally.wrong += 1;
            println!("wrong: {values:?}: {:?}, {:?}, not {wanted:?}", first[at], all[at]);
        }
        if at % CLEARANCE_EACH == 0 {
            compare_clearance(cell, values, (&bodies, &pairs), tally);
        }
    }
}

fn compare_clearance(
    cell: &Cell,
    values: &[f64],
    (bodies, pairs): (&PlacedBodies<'_>, &[BodyPair]),
    tally: &mut Tally,
) {
    let question = CheckQuestion {
        mode: CheckMode::Clearance,
        with_gradient: false,
        ..CheckQuestion::default()
    };
    let answers = cell.check(question, values, &mut Effort::unlimited());
    let [Checked::Clearance(found)] = &answers[..] else { panic!("{answers:?}") };
    let Some(found) = &found[0] else { panic!("{answers:?}") };
    let mut least = [f64::INFINITY; 2];
    for pair in pairs {
        let placed = pair_of(bodies, *pair);
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let apart = distance::measure(&placed, Stops::default(), witness, effort);
        let apart = apart.expect("no limit");
        let bracket = if apart.decision.verdict() == Verdict::Separated {
            [apart.lower, apart.upper]
        } else {
            let depth = penetration::measure(&placed, false, witness, effort).expect("no limit");
            [-depth.upper, -depth.lower]
        };
        least = [least[0].min(bracket[0]), least[1].min(bracket[1])];
    }
    tally.clearances += 1;
    if !(found.lower <= least[1] && least[0] <= found.upper) {
        tally.wrong += 1;
        println!("wrong: {values:?}: {found:?}, not in {least:?}");
    }
    write_sample(pair_of(bodies, found.pair), found, &mut tally.sample);
}

/// A line of JSON: both bodies' vertices and poses, the verdict and the bracket, with numbers
/// written so that they are read as the same bits.
fn write_sample(pair: Pair<'_>, found: &SignedClearance, out: &mut String) {
    let vector = |v: &Vec3| format!("[{:?},{:?},{:?}]", v.x, v.y, v.z);
    let body = |body: &Polytope, pose: &Pose| {
        let vertices: Vec<String> = body.vertices().iter().map(vector).collect();
        let rows: Vec<String> = (0..3).map(|i| vector(&pose.rotation.row(i).transpose())).collect();
        let at = vector(&pose.translation);
        format!(r#"{{"x":[{}],"R":[{}],"t":{at}}}"#, vertices.join(","), rows.join(","))
    };
    let [p, q] = [&pair.p, &pair.q].map(|placed| body(placed.body, &placed.pose));
    let SignedClearance { verdict, lower, upper, .. } = found;
    let verdict = verdict.expect("of polytopes");
    let _ = writeln!(
        out,
        r#"{{"p":{p},"q":{q},"verdict":"{verdict:?}","lower":{lower:?},"upper":{upper:?}}}"#
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_test = !arguments.iter().any(|argument| argument == "--bench");
    let mut given = arguments.iter().filter(|argument| !argument.starts_with('-'));
    let total: usize = given.next().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let each = if is_test { 20 } else { total.div_ceil(5) };
    let robots = [
        ("panda", panda()),
        ("gantry", robot_of(GANTRY)),
        ("driver", robot_of(DRIVER)),
        ("flyer", robot_of(FLYER)),
        ("snake", robot_of(&snake())),
    ];
    let (mut wrong, mut samples, mut sum) = (0, String::new(), 0);
    for (name, robot) in &robots {
        let mut random = Random::new(5);
        let mut still = boxes(25, &mut random);
        still.extend(hulls(15, &mut random));
        let instance = Instance { robot, world_from_base: Pose::translation(0.02, -0.01, 0.0) };
        let cell = Cell::new(&[instance], still);
        let mut tally = Tally {
            configurations: 0,
            contacts: 0,
            clearances: 0,
            wrong: 0,
            sample: String::new(),
        };
        let values = configurations(&cell, each, &mut random);
        compare(&cell, &values, &mut tally);
        println!(
            "{name}: {} configurations of {} pairs, {} in contact; {} clearances; {} wrong",
            tally.configurations,
            cell.pair_count(),
            tally.contacts,
            tally.clearances,
            tally.wrong
        );
        wrong += tally.wrong;
        sum += tally.configurations;
        samples += &tally.sample;
    }
    println!("{sum} configurations, {wrong} wrong");
    if let Some(file) = given.next() {
        std::fs::write(file, samples).expect("the file can be written");
    }
    assert_eq!(wrong, 0);
}
