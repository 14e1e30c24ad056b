//! Parts and obstacles that are polyhedra, against the boxes that they are the union of.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::samples::{ROBOT_LIMITS, still_box};
use crate::Robot;
use crate::body::PartBody;
use crate::cell::{BodyPair, Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked, SignedClearance};
use crate::claim::{EdgeCertificate, EdgeClaim, EdgeContactProof, GapProof, PairGap};
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::judge::{EdgeRefusal, judge_edge};
use crate::mesh::MeshData;
use crate::model::{BuildError, Sources};
use crate::pairing::PairScope;
use crate::parts::{MeshContent, MeshFiles, MeshTreatment, PartSource};
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{SolidProof, Verdict};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::{Polyhedron, TriangleBody};
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

/// A channel along y, open above, in units of a sixteenth of a metre: its profile in x and z.
const PROFILE: [[f64; 2]; 8] = [
    [-2.0, -2.0],
    [2.0, -2.0],
    [2.0, 2.0],
    [1.0, 2.0],
    [1.0, -1.0],
    [-1.0, -1.0],
    [-1.0, 2.0],
    [-2.0, 2.0],
];
/// The triangles of the profile, counter-clockwise.
const PROFILE_TRIANGLES: [[u32; 3]; 6] =
    [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
/// Half of its length.
const HALF_LENGTH: f64 = 3.0;
/// The boxes that it is the union of, each by its middle and its half sizes: what is inside the
/// channel is inside one of them.
const CHANNEL_BOXES: [[[f64; 3]; 2]; 3] = [
    [[-1.5, 0.0, 0.0], [0.5, HALF_LENGTH, 2.0]],
    [[1.5, 0.0, 0.0], [0.5, HALF_LENGTH, 2.0]],
    [[0.0, 0.0, -1.5], [2.0, HALF_LENGTH, 0.5]],
];
const UNIT: f64 = 0.0625;

/// The channel as a closed mesh.
pub(super) fn channel() -> MeshData {
    let at = |y: f64| PROFILE.map(|[x, z]| Vec3::new(x, y, z) * UNIT);
    let vertices = [at(-HALF_LENGTH), at(HALF_LENGTH)].concat();
    let mut triangles = PROFILE_TRIANGLES.to_vec();
    triangles.extend(PROFILE_TRIANGLES.map(|[a, b, c]| [a + 8, c + 8, b + 8]));
    for k in 0..8 {
        let next = (k + 1) % 8;
        triangles.extend([[k, k + 8, next], [next, k + 8, next + 8]]);
    }
    MeshData::new(vertices, triangles)
}

pub(super) fn polyhedron(mesh: &MeshData) -> PartBody {
    let solid = Polyhedron::new(&mesh.vertices, &mesh.triangles, &mut Effort::unlimited()).unwrap();
    let hull = convex_hull(solid.vertices()).unwrap().polytope;
    PartBody::new(Arc::new(hull), Some(TriangleBody::Region(Arc::new(solid))))
}

/// A cube of this half size, as it is wound or inside out.
pub(super) fn cube(half: f64, is_hollow: bool) -> MeshData {
    let corner = |k: u32| Vec3::from_fn(|axis, _| if k >> axis & 1 == 1 { half } else { -half });
    let faces =
        [[0, 2, 3, 1], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6], [4, 5, 7, 6]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]: &[u32; 4]| {
        let two = [[a, b, c], [a, c, d]];
        if is_hollow { two.map(|[a, b, c]| [a, c, b]) } else { two }
    });
    MeshData::new((0..8).map(corner).collect(), triangles.collect())
}

/// Both meshes as one.
pub(super) fn joined(first: &MeshData, second: &MeshData) -> MeshData {
    let shift = first.vertices.len() as u32;
    let moved = second.triangles.iter().map(|triangle| triangle.map(|corner| corner + shift));
    MeshData::new(
        [&first.vertices[..], &second.vertices].concat(),
        first.triangles.iter().copied().chain(moved).collect(),
    )
}

/// A hand that goes everywhere, with a finger that turns; `part` is the shape of both.
pub(super) fn urdf(part: &str) -> String {
    let slide = |name: &str, parent: &str, child: &str, axis: &str| {
        format!(
            "<joint name='{name}' type='prismatic'><parent link='{parent}'/><child link='{child}'/>\
             <axis xyz='{axis}'/><limit lower='-9' upper='9' velocity='1'/></joint>"
        )
    };
    let turn = |name: &str, parent: &str, child: &str, axis: &str, at: &str| {
        format!(
            "<joint name='{name}' type='continuous'><origin xyz='{at}'/><parent link='{parent}'/>\
             <child link='{child}'/><axis xyz='{axis}'/></joint>"
        )
    };
    let bare = ["base", "a", "b", "c"].map(|link| format!("<link name='{link}'/>")).concat();
    format!(
        "<robot name='hand'>{bare}<link name='palm'>{part}</link><link name='arm'/>\
         <link name='finger'>{part}</link>{}{}{}{}{}{}</robot>",
        slide("x", "base", "a", "1 0 0"),
        slide("y", "a", "b", "0 1 0"),
        slide("z", "b", "c", "0 0 1"),
        turn("turn", "c", "palm", "0.6 0 0.8", "0 0 0"),
        turn("swing", "palm", "arm", "0 1 0", "0.25 0 0"),
        turn("curl", "arm", "finger", "1 0 0", "0.2 0 0.1"),
    )
}

pub(super) const MESH_PART: &str =
    "<collision><geometry><mesh filename='package://hand/u.obj'/></geometry></collision>";

pub(super) fn robot(
    urdf: &str,
    mesh: &MeshData,
    mesh_treatment: MeshTreatment,
) -> Result<Robot, BuildError> {
    let mesh = MeshContent::Mesh(Arc::new(mesh.clone()));
    let meshes: MeshFiles = [("u.obj".to_owned(), mesh)].into();
    let sources = Sources {
        urdf,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment,
    };
    Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited())
}

/// The hand whose links are channels, or the three boxes each.
pub(super) fn hands() -> [Robot; 2] {
    let boxes: String = CHANNEL_BOXES
        .map(|[middle, half]| {
            let text = |of: [f64; 3], by: f64| of.map(|x| (x * by).to_string()).join(" ");
            format!(
                "<collision><origin xyz='{}'/><geometry><box size='{}'/></geometry></collision>",
                text(middle, UNIT),
                text(half, 2.0 * UNIT)
            )
        })
        .concat();
    let treatment = MeshTreatment::Polyhedron;
    [urdf(MESH_PART), urdf(&boxes)].map(|urdf| robot(&urdf, &channel(), treatment).unwrap())
}

/// Channels that stand still, and the three boxes of each.
fn still_channels(poses: &[Pose]) -> [Vec<StillBody>; 2] {
    let solid = polyhedron(&channel());
    let whole = poses.iter().map(|pose| StillBody { body: solid.clone(), pose: *pose });
    let in_boxes = poses.iter().flat_map(|pose| {
        CHANNEL_BOXES.map(|[middle, half]| {
            let corner = |k: u32| {
                Vec3::from_fn(|axis, _| {
                    let sign = if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
                    (middle[axis] + sign * half[axis]) * UNIT
                })
            };
            let corners: Vec<Vec3> = (0..8).map(corner).collect();
            let polytope = Arc::new(convex_hull(&corners).unwrap().polytope);
            StillBody { body: polytope.into(), pose: *pose }
        })
    });
    [whole.collect(), in_boxes.collect()]
}

/// What stands still at these places, whole and in pieces.
pub(super) type StillTwice = fn(&[Pose]) -> [Vec<StillBody>; 2];

/// The same scene twice: of channels, and of their boxes; and which things of it the bodies of each
/// are: its links, and what stands still.
pub(super) struct Twice {
    pub(super) cells: [Cell; 2],
    things: [Vec<usize>; 2],
}

impl Twice {
    fn new(channels: usize, others: usize, random: &mut Random) -> Self {
        Self::of((hands(), still_channels, 3), channels, others, random)
    }

    /// Of hands and of channels that stand still, twice: the second ones in so many pieces each.
    pub(super) fn of(
        (hands, still_channels, pieces): ([Robot; 2], StillTwice, usize),
        channels: usize,
        others: usize,
        random: &mut Random,
    ) -> Self {
        let poses: Vec<Pose> = (0..channels)
            .map(|_| {
                let centre = random.vector() * 0.8;
                random.pose(centre)
            })
            .collect();
        let small = |random: &mut Random| {
            let half = random.vector().abs() * 0.02 + Vec3::repeat(0.005);
            let centre = random.vector();
            StillBody { pose: random.pose(centre), ..still_box(half) }
        };
        let others: Vec<StillBody> = (0..others).map(|_| small(random)).collect();
        let [whole, in_pieces] = still_channels(&poses);
        let of = |robot: &Robot, channels: Vec<StillBody>, each: usize| {
            let still: Vec<StillBody> =
                channels.into_iter().chain(others.iter().cloned()).collect();
            let mut things: Vec<usize> = robot.parts.iter().map(|part| part.link).collect();
            let links = robot.links.len();
            things.extend((0..poses.len()).flat_map(|at| vec![links + at; each]));
            things.extend((0..others.len()).map(|at| links + poses.len() + at));
            (Cell::new(&[Instance { robot, world_from_base: Pose::identity() }], still), things)
        };
        let [of_meshes, of_pieces] = hands;
        let (first, of_first) = of(&of_meshes, whole, 1);
        let (second, of_second) = of(&of_pieces, in_pieces, pieces);
        Self { cells: [first, second], things: [of_first, of_second] }
    }

    /// Configurations, half of them with the palm at something that stands still.
    pub(super) fn values(&self, count: usize, random: &mut Random) -> Vec<f64> {
        let still = self.cells[0].still.bodies();
        let one = |random: &mut Random| {
            let chosen = random.signed() * 2.0 * still.len() as f64;
            let at = match still.get(chosen.max(0.0) as usize).filter(|_| chosen >= 0.0) {
                Some(body) => body.pose.translation + random.vector() * 0.05,
                None => random.vector() * 1.1,
            };
            [at.x, at.y, at.z, 3.0 * random.signed(), 3.0 * random.signed(), 3.0 * random.signed()]
        };
        (0..count).flat_map(|_| one(random)).collect()
    }

    /// How the things that meet stand: overlapping if some of their bodies do.
    pub(super) fn contacts(&self, of: usize, values: &[f64]) -> Vec<BTreeMap<[usize; 2], Verdict>> {
        let checked = ask(&self.cells[of], CheckMode::AllPairs, values);
        let things = &self.things[of];
        let of_one = |checked: &Checked| {
            let mut met: BTreeMap<[usize; 2], Verdict> = BTreeMap::new();
            for (pair, verdict) in &pairs_of(checked) {
                let pair = pair.map(|body| things[body as usize]);
                let known = met.entry(pair).or_insert(*verdict);
                if *verdict == Verdict::Overlapping {
                    *known = *verdict;
                }
            }
            met
        };
        checked.iter().map(of_one).collect()
    }
}

pub(super) fn ask(cell: &Cell, mode: CheckMode, values: &[f64]) -> Vec<Checked> {
    let question = CheckQuestion { mode, with_gradient: false, ..CheckQuestion::default() };
    cell.check(question, values, &mut Effort::unlimited())
}

/// The pairs in contact.
pub(super) fn pairs_of(checked: &Checked) -> Vec<(BodyPair, Verdict)> {
    if *checked == Checked::Free {
        return Vec::new();
    }
    let Checked::Contact(pairs) = checked else { panic!("{checked:?}") };
    pairs.clone()
}

#[test]
fn links_and_obstacles_that_are_meshes_stand_as_their_boxes_do() {
    let random = &mut Random(21);
    let twice = Twice::new(6, 12, random);
    let values = twice.values(150, random);
    let [whole, in_boxes] = [0, 1].map(|of| twice.contacts(of, &values));
    let mut seen = [0; 2];
    for (at, (whole, in_boxes)) in whole.iter().zip(&in_boxes).enumerate() {
        assert_eq!(whole, in_boxes, "{at}");
        seen[usize::from(whole.is_empty())] += 1;
    }
    assert!(seen[0] > 40 && seen[1] > 30, "{seen:?}");
    // The first pair that is found is one of them.
    let first = ask(&twice.cells[0], CheckMode::FirstPair, &values);
    for (first, all) in first.iter().zip(&whole) {
        assert_eq!(*first == Checked::Free, all.is_empty());
        for (pair, verdict) in pairs_of(first) {
            let things = pair.map(|body| twice.things[0][body as usize]);
            assert_eq!(all.get(&things), Some(&verdict));
        }
    }
}

#[test]
fn hulls_meet_where_these_meshes_do_not() {
    let random = &mut Random(21);
    let twice = Twice::new(6, 12, random);
    let values = twice.values(200, random);
    let as_hull = robot(&urdf(MESH_PART), &channel(), MeshTreatment::Hull).unwrap();
    assert!(as_hull.parts.iter().all(|part| part.body.polytope().is_some()));
    let hull = |still: &StillBody| StillBody { body: still.body.hull().clone().into(), ..*still };
    let still: Vec<StillBody> = twice.cells[0].still.bodies().iter().map(hull).collect();
    let instance = Instance { robot: &as_hull, world_from_base: Pose::identity() };
    let cell = Cell::new(&[instance], still);
    assert!(cell.solids.is_none());
    let [of_hulls, of_meshes] = [&cell, &twice.cells[0]].map(|cell| {
        let checked = ask(cell, CheckMode::FirstPair, &values);
        checked.iter().filter(|one| **one == Checked::Free).count()
    });
    assert!(of_hulls + 5 < of_meshes, "{of_hulls} {of_meshes}");
}

pub(super) fn clearances(checked: &Checked) -> &[Option<SignedClearance>] {
    let Checked::Clearance(found) = checked else { panic!("{checked:?}") };
    found
}

/// Those of boxes that overlap are depths; of meshes they are known within the depth of hulls.
#[test]
fn clearances_of_meshes_are_those_of_their_boxes() {
    let random = &mut Random(22);
    let twice = Twice::new(6, 12, random);
    let values = twice.values(60, random);
    let mut seen = [0; 2];
    for mode in [CheckMode::Clearance, CheckMode::LinkClearance] {
        let [whole, in_boxes] = twice.cells.each_ref().map(|cell| ask(cell, mode, &values));
        for (at, (whole, in_boxes)) in whole.iter().zip(&in_boxes).enumerate() {
            for (whole, in_boxes) in clearances(whole).iter().zip(clearances(in_boxes)) {
                let [whole, in_boxes] = [whole, in_boxes].map(|one| one.as_ref().unwrap());
                assert_eq!(whole.verdict, in_boxes.verdict, "{at}");
                assert!(whole.lower <= in_boxes.upper && in_boxes.lower <= whole.upper, "{at}");
                let is_apart = whole.verdict == Some(Verdict::Separated);
                seen[usize::from(is_apart)] += 1;
                if is_apart {
                    assert!(whole.upper - whole.lower <= 1e-12 * whole.upper, "{whole:?}");
                    let of = |of: usize, pair: BodyPair| {
                        pair.map(|body| twice.things[of][body as usize])
                    };
                    assert_eq!(of(0, whole.pair), of(1, in_boxes.pair), "{at}");
                } else {
                    assert!(whole.lower < 0.0 && whole.upper <= 0.0, "{whole:?}");
                }
            }
        }
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
}

#[test]
fn gradients_beside_meshes_are_those_beside_their_boxes() {
    let random = &mut Random(23);
    let twice = Twice::new(4, 12, random);
    let values = twice.values(40, random);
    let question = CheckQuestion {
        mode: CheckMode::Clearance,
        with_gradient: true,
        ..CheckQuestion::default()
    };
    let [whole, in_boxes] = twice.cells.each_ref().map(|cell| {
        let checked = cell.check(question, &values, &mut Effort::unlimited());
        checked.iter().map(|one| clearances(one)[0].clone().unwrap()).collect::<Vec<_>>()
    });
    let mut seen = [0; 2];
    for (whole, in_boxes) in whole.iter().zip(&in_boxes) {
        seen[usize::from(whole.verdict == Some(Verdict::Separated))] += 1;
        if whole.verdict != Some(Verdict::Separated) {
            assert!(whole.geometry.is_none());
            continue;
        }
        let [whole, in_boxes] = [whole, in_boxes].map(|one| one.geometry.as_ref().unwrap());
        assert!((whole.normal - in_boxes.normal).norm() < 1e-9, "{whole:?} {in_boxes:?}");
        let apart = whole.gradient.iter().zip(&in_boxes.gradient).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-9, "{whole:?} {in_boxes:?}");
    }
    assert!(seen[0] > 3 && seen[1] > 10, "{seen:?}");
}

/// A cube on three slides.
pub(super) fn slider(size: f64) -> Robot {
    let part =
        format!("<collision><geometry><box size='{size} {size} {size}'/></geometry></collision>");
    let slide = |name: &str, parent: &str, child: &str, axis: &str| {
        format!(
            "<joint name='{name}' type='prismatic'><parent link='{parent}'/><child link='{child}'/>\
             <axis xyz='{axis}'/><limit lower='-9' upper='9' velocity='1'/></joint>"
        )
    };
    let urdf = format!(
        "<robot name='slider'><link name='base'/><link name='a'/><link name='b'/>\
         <link name='cube'>{part}</link>{}{}{}</robot>",
        slide("x", "base", "a", "1 0 0"),
        slide("y", "a", "b", "0 1 0"),
        slide("z", "b", "cube", "0 0 1")
    );
    super::samples::robot_of(&urdf).unwrap()
}

pub(super) fn among(robot: &Robot, body: PartBody) -> Cell {
    let still = vec![StillBody { body, pose: Pose::identity() }];
    Cell::new(&[Instance { robot, world_from_base: Pose::identity() }], still)
}

/// The wall is between 1 and 2 metres from the middle.
#[test]
fn a_link_in_a_cavity_is_free_and_one_wholly_in_the_wall_is_not() {
    let hollow = joined(&cube(2.0, false), &cube(1.0, true));
    let cell = among(&slider(0.5), polyhedron(&hollow));
    let at = |x: f64| -> (Verdict, [f64; 2]) {
        let values = [x, 0.25, 0.0];
        let clearance = ask(&cell, CheckMode::Clearance, &values);
        let found = clearances(&clearance[0])[0].clone().unwrap();
        let pairs = pairs_of(&ask(&cell, CheckMode::AllPairs, &values)[0]);
        let verdict = found.verdict.unwrap();
        let is_free = verdict == Verdict::Separated;
        assert_eq!(pairs, if is_free { vec![] } else { vec![([0, 1], verdict)] });
        (verdict, [found.lower, found.upper])
    };
    let apart = |x: f64, distance: f64| {
        let (verdict, [lower, upper]) = at(x);
        assert_eq!(verdict, Verdict::Separated, "{x}");
        assert!(lower <= distance && distance <= upper && upper - lower < 1e-11, "{x}");
    };
    apart(0.0, 0.5);
    apart(0.5, 0.25);
    assert_eq!(at(0.75), (Verdict::Touching, [0.0; 2]));
    assert_eq!(at(0.75_f64.next_down()).0, Verdict::Separated);
    assert_eq!(at(0.75_f64.next_up()).0, Verdict::Overlapping);
    let (verdict, [lower, upper]) = at(1.5);
    assert_eq!(verdict, Verdict::Overlapping);
    // It leaves the wall by 0.75 in truth.
    assert!(lower <= -0.75 && -0.75 <= upper);
    assert_eq!(at(2.25), (Verdict::Touching, [0.0; 2]));
    apart(3.0, 0.75);
}

/// How many edges are free, how many end on their way and how many at once, in two cells that are
/// the same: they end alike.
pub(super) fn ends_alike(some: &[EdgeAnswer], others: &[EdgeAnswer]) -> [usize; 3] {
    let mut seen = [0; 3];
    for answers in some.iter().zip(others) {
        match answers {
            (EdgeAnswer::Free, EdgeAnswer::Free) => seen[0] += 1,
            (
                EdgeAnswer::Contact { free_until, contact_at, .. },
                EdgeAnswer::Contact { free_until: other_free, contact_at: other_at, .. },
            ) => {
                seen[if *contact_at > 0.0 { 1 } else { 2 }] += 1;
                assert!(contact_at - free_until <= 1e-6);
                assert!(free_until <= other_at && other_free <= contact_at);
            }
            other => panic!("{other:?}"),
        }
    }
    seen
}

#[test]
fn edges_among_meshes_end_as_those_among_their_boxes() {
    let random = &mut Random(24);
    let twice = Twice::new(5, 12, random);
    let (from, step) = (twice.values(80, random), twice.values(80, random));
    let to: Vec<f64> = from.iter().zip(&step).map(|(a, b)| a + 0.3 * b).collect();
    for margin in [0.0, 0.01] {
        let question =
            EdgeQuestion { margin, tolerance: 1e-6, steps_max: 1 << 20, ..EdgeQuestion::default() };
        let [whole, in_boxes] = twice
            .cells
            .each_ref()
            .map(|cell| cell.check_edges(question, [&from, &to], &mut Effort::unlimited()));
        let seen = ends_alike(&whole, &in_boxes);
        assert!(seen[0] > 5 && seen[1] > 5 && seen[2] > 5, "{seen:?}");
    }
}

/// The hulls of a channel and of what goes along in it meet all the way.
#[test]
fn a_path_through_a_channel_is_free_and_one_into_its_floor_ends_there() {
    let cell = among(&slider(0.0625), polyhedron(&channel()));
    let question = EdgeQuestion {
        margin: 0.0,
        tolerance: 1e-6,
        steps_max: 1 << 20,
        ..EdgeQuestion::default()
    };
    let ask = |from: [f64; 3], to: [f64; 3]| {
        cell.check_edges(question, [&from, &to], &mut Effort::unlimited()).remove(0)
    };
    assert_eq!(ask([0.0, -1.0, 0.0], [0.0, 1.0, 0.0]), EdgeAnswer::Free);
    let EdgeAnswer::Contact { free_until, contact_at, pair } = ask([0.0; 3], [0.0, 0.0, -0.0625])
    else {
        panic!("the floor is 0.0625 below the middle, and the cube reaches half of that down");
    };
    assert!(free_until < 0.5 && (0.5..0.500_001).contains(&contact_at) && pair == [0, 1]);
}

/// An edge in a cell, and what is said of it.
pub(super) struct Told<'a> {
    cell: &'a Cell,
    ends: [Vec<f64>; 2],
    margin: f64,
    pub(super) answer: EdgeAnswer,
    pub(super) certificate: EdgeCertificate,
}

impl<'a> Told<'a> {
    pub(super) fn of(cell: &'a Cell, ends: [Vec<f64>; 2], margin: f64) -> Self {
        let question =
            EdgeQuestion { margin, tolerance: 1e-6, steps_max: 1 << 20, ..EdgeQuestion::default() };
        let effort = &mut Effort::unlimited();
        let [from, to] = &ends;
        let answer = cell.check_edges(question, [from, to], effort).remove(0);
        Self::certified(cell, ends, margin, answer)
    }

    /// What was answered about an edge.
    pub(super) fn certified(
        cell: &'a Cell,
        ends: [Vec<f64>; 2],
        margin: f64,
        answer: EdgeAnswer,
    ) -> Self {
        let question =
            EdgeQuestion { margin, tolerance: 1e-6, steps_max: 1 << 20, ..EdgeQuestion::default() };
        let ([from, to], effort) = (&ends, &mut Effort::unlimited());
        let certificate = cell.certify_edge(question, [from, to], &answer, effort).unwrap();
        Self { cell, answer, certificate: certificate.unwrap_or_default(), ends, margin }
    }

    pub(super) fn judged(&self) -> Result<(), EdgeRefusal> {
        self.judged_with_radii(0.0)
    }

    /// The same where links have balls around their points that are larger by this, metres.
    pub(super) fn judged_with_radii(&self, by: f64) -> Result<(), EdgeRefusal> {
        let (mut free_until, mut contact) = (1.0, None);
        if let EdgeAnswer::Contact { free_until: until, contact_at, pair } = self.answer {
            (free_until, contact) = (until, Some((contact_at, pair)));
        }
        assert_eq!(contact.is_none(), self.answer == EdgeAnswer::Free);
        let ends = [&self.ends[0][..], &self.ends[1]];
        let claim = EdgeClaim { ends, margin: self.margin, free_until, contact };
        let mut subject = self.cell.subject(PairScope::All);
        subject.parts.iter_mut().for_each(|part| part.radius = (part.radius + by).max(0.0));
        judge_edge(&subject, &claim, &self.certificate, &mut Effort::unlimited())
    }

    pub(super) fn covers(&self) -> usize {
        let gaps = self.certificate.pieces.iter().flat_map(|piece| &piece.gaps);
        gaps.filter(|gap| matches!(gap.shown, GapProof::Cover(_))).count()
    }
}

#[test]
fn edges_of_meshes_are_certified_and_changed_certificates_refused() {
    let random = &mut Random(26);
    let twice = Twice::new(4, 8, random);
    let (mut seen, mut covers) = ([0; 3], 0);
    for at in 0..36 {
        let (from, step) = (twice.values(1, random), twice.values(1, random));
        let to = from.iter().zip(&step).map(|(a, b)| a + 0.1 * b).collect();
        let mut told = Told::of(&twice.cells[0], [from, to], [0.0, 0.03][at % 2]);
        covers += told.covers();
        assert_eq!(told.judged(), Ok(()), "{at}");
        match &told.certificate.contact {
            None => seen[0] += 1,
            Some(EdgeContactProof::Near(_)) => seen[1] += 1,
            Some(_) => seen[2] += 1,
        }
        let pieces = told.certificate.pieces.clone();
        for (k, piece) in pieces.iter().enumerate() {
            for (g, gap) in piece.gaps.iter().enumerate() {
                let GapProof::Cover(cover) = &gap.shown else { continue };
                let mut short = cover.clone();
                short.steps.pop();
                told.certificate.pieces[k].gaps[g].shown = GapProof::Cover(short);
                assert!(matches!(told.judged(), Err(EdgeRefusal::Gap(piece, ..)) if piece == k));
                told.certificate.pieces[k].gaps[g] = PairGap { gap: gap.gap + 0.5, ..gap.clone() };
                assert!(matches!(told.judged(), Err(EdgeRefusal::Gap(piece, ..)) if piece == k));
                told.certificate.pieces[k].gaps[g] = gap.clone();
            }
        }
        if told.certificate.contact.take().is_some() {
            assert!(matches!(told.judged(), Err(EdgeRefusal::Contact(_))));
        }
    }
    assert!(covers > 20 && seen.iter().all(|count| *count > 1), "{covers} {seen:?}");
}

/// The hulls of both meet all the way, and the channel is in contact with nothing.
#[test]
fn what_is_shown_of_a_hull_in_contact_is_none_of_what_is_in_it() {
    let cell = among(&slider(0.0625), polyhedron(&channel()));
    let told = Told::of(&cell, [vec![0.0, -1.0, 0.0], vec![0.0, 1.0, 0.0]], 0.0);
    assert!(told.answer == EdgeAnswer::Free && told.covers() > 0);
    assert_eq!(told.judged(), Ok(()));
    let hull = cell.still.bodies()[0].body.hull().clone();
    let of_hull = among(&slider(0.0625), hull.into());
    let told = Told::of(&of_hull, [vec![0.0, -1.0, 0.0], vec![0.0, 1.0, 0.0]], 0.0);
    assert!(matches!(told.answer, EdgeAnswer::Contact { .. }));
    assert_eq!(told.judged(), Ok(()));
    let forged = Told { cell: &cell, ..told };
    let why = "the contact: the stated bound is not implied: contact of a hull is none of a \
               mesh";
    assert_eq!(forged.judged().unwrap_err().to_string(), why);
    // A link wholly in the wall of what is hollow has a point inside both.
    let hollow = joined(&cube(2.0, false), &cube(1.0, true));
    let cell = among(&slider(0.25), polyhedron(&hollow));
    let told = Told::of(&cell, [vec![1.5, 0.0, 0.0], vec![1.5, 0.1, 0.0]], 0.0);
    let shown = &told.certificate.contact;
    assert!(matches!(shown, Some(EdgeContactProof::Solids(SolidProof::InnerPoint(_)))));
    assert_eq!(told.judged(), Ok(()));
}

#[test]
fn a_mesh_that_bounds_nothing_is_refused_with_its_link_and_file() {
    let mut open = channel();
    open.triangles.pop();
    let error = robot(&urdf(MESH_PART), &open, MeshTreatment::Polyhedron).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("link \"palm\": the mesh \"package://hand/u.obj\" bounds no polyhedron: ")
            && text.contains("the mesh is open at the edge from"),
        "{text}"
    );
    let inside_out = cube(1.0, true);
    let error = robot(&urdf(MESH_PART), &inside_out, MeshTreatment::Polyhedron).unwrap_err();
    assert!(error.to_string().contains("inside out"), "{error}");
    // As a hull it is no worse than before.
    assert!(robot(&urdf(MESH_PART), &open, MeshTreatment::Hull).is_ok());
}

#[test]
fn meshes_are_scaled_mirrored_and_shared() {
    let part = MESH_PART.replace("u.obj'/>", "u.obj' scale='-1 1 2'/>");
    let robot = robot(&urdf(&part), &channel(), MeshTreatment::Polyhedron).unwrap();
    let solids = robot.parts.iter().map(|part| part.body.mesh().unwrap().region().unwrap());
    let solids: Vec<&Arc<Polyhedron>> = solids.collect();
    assert!(solids.len() == 2 && Arc::ptr_eq(solids[0], solids[1]));
    let volume = 2.0 * 6.0 * (4.0 * 4.0 - 2.0 * 3.0) * UNIT * UNIT * UNIT;
    assert!((solids[0].volume() - volume).abs() < 1e-12, "{}", solids[0].volume());
    let file = "package://hand/u.obj".to_owned();
    let source = PartSource::AsItIs { filename: file };
    assert!(robot.parts.iter().all(|part| part.source == source && part.is_own));
    // It is counted once, with what it keeps.
    let bytes = robot.heap_bytes();
    assert!(bytes > solids[0].bytes() && bytes < 2 * solids[0].bytes(), "{bytes}");
}

#[test]
fn a_polytope_without_volume_beside_a_mesh_has_no_answer() {
    let flat = still_box(Vec3::new(1.0, 1.0, 0.0));
    let [robot, _] = hands();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let cell = Cell::new(&[instance], vec![flat.clone()]);
    assert_eq!(cell.flat_beside_polyhedron(), Some([0, 2]));
    let checked = ask(&cell, CheckMode::FirstPair, &[0.0, 0.0, 0.05, 0.0, 0.0, 0.0]);
    assert_eq!(checked[0], Checked::Stopped(Stopped::Unresolved));
    // Beside another polytope it has.
    let cell = among(&slider(1.0), flat.body);
    assert_eq!((cell.flat_beside_polyhedron(), cell.bytes_of_question()), (None, 0));
}

#[test]
fn what_solids_of_a_cell_take_is_counted() {
    let twice = Twice::new(4, 4, &mut Random(25));
    let [whole, in_boxes] = &twice.cells;
    let solid = polyhedron(&channel());
    // That of the links, and that of what stands still.
    let bytes = 2 * solid.mesh().unwrap().bytes();
    assert!(whole.heap_bytes() > bytes, "{}", whole.heap_bytes());
    assert!(whole.bytes_of_question() >= 2 * 16 * 1024 && in_boxes.bytes_of_question() == 0);
    assert!(whole.nanoseconds_of_faces() > 0 && in_boxes.nanoseconds_of_faces() == 0);
}
